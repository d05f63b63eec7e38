//! Where the bars are drawn. A terminal may go away in the middle of a run, and what draws the bars takes trouble with
//! it for a defect and panics: so it never hears of any.

use std::{
    io::{self, Write},
    mem,
    os::fd::{AsRawFd, RawFd},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use console::{Term, is_dumb};
use indicatif::TermLike;

use super::Paper;

/// The columns of standard output, if it is a terminal.
pub(super) fn columns_of_stdout() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(columns.into())
}

/// A terminal that is drawn on until it is gone.
#[derive(Debug)]
pub(super) struct Canvas {
    terminal: Term,
    strokes: Strokes,
    paper: Arc<dyn Paper>,
    gone: AtomicBool,
}

/// What is drawn in one go.
#[derive(Debug, Clone, Default)]
struct Strokes(Arc<Mutex<Vec<u8>>>);

impl Strokes {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for Strokes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for Strokes {
    /// Asked for the size of the terminal.
    fn as_raw_fd(&self) -> RawFd {
        io::stderr().as_raw_fd()
    }
}

impl Canvas {
    /// Standard error, if something can be drawn there.
    pub(super) fn of_stderr(paper: Arc<dyn Paper>) -> Option<Self> {
        let canvas = Self::on(paper);
        (canvas.terminal.is_term() && !is_dumb()).then_some(canvas)
    }

    fn on(paper: Arc<dyn Paper>) -> Self {
        let strokes = Strokes::default();
        Self {
            terminal: Term::read_write_pair(io::stdin(), strokes.clone()),
            strokes,
            paper,
            gone: AtomicBool::new(false),
        }
    }
}

impl TermLike for Canvas {
    fn width(&self) -> u16 {
        TermLike::width(&self.terminal)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.terminal)
    }

    fn move_cursor_up(&self, lines: usize) -> io::Result<()> {
        self.terminal.move_cursor_up(lines)
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.terminal.move_cursor_down(lines)
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.terminal.move_cursor_right(columns)
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.terminal.move_cursor_left(columns)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.terminal.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.terminal.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.terminal.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        let strokes = mem::take(&mut *self.strokes.lock());
        let is_gone = self.gone.load(Ordering::Relaxed);
        // That it fails is nobody's to know: what draws the bars would panic.
        if !strokes.is_empty() && !is_gone && self.paper.draw(&strokes).is_err() {
            self.gone.store(true, Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

    use super::{Canvas, Paper};

    #[derive(Debug, Default)]
    struct Gone(AtomicUsize);

    impl Paper for Gone {
        fn draw(&self, _: &[u8]) -> io::Result<()> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::from_raw_os_error(5))
        }

        fn is_read(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_terminal_that_is_gone_is_written_to_once_and_told_to_nobody() {
        let gone = Arc::new(Gone::default());
        let canvas = Canvas::on(Arc::clone(&gone) as Arc<dyn Paper>);
        let target = ProgressDrawTarget::term_like(Box::new(canvas));
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(ProgressBar::new(3));
        bar.set_message("drawn");
        bar.tick();
        assert_eq!(all.suspend(|| 7), 7);
        bar.finish_and_clear();
        assert_eq!(gone.0.load(Ordering::Relaxed), 1);
    }
}
