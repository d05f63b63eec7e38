//! Where the bars are drawn. A terminal may go away in the middle of a run, and what draws the bars takes trouble with
//! it for a defect and panics: so it never hears of any.

use std::{
    io,
    sync::atomic::{AtomicBool, Ordering},
};

use console::{Term, is_dumb};
use indicatif::TermLike;

/// The columns of standard output, if it is a terminal.
pub(super) fn columns_of_stdout() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(columns.into())
}

/// A terminal that is drawn on until it is gone.
#[derive(Debug)]
pub(super) struct Canvas {
    terminal: Term,
    gone: AtomicBool,
}

impl Canvas {
    /// Standard error, if something can be drawn there.
    pub(super) fn of_stderr() -> Option<Self> {
        let terminal = Term::buffered_stderr();
        (terminal.is_term() && !is_dumb()).then(|| Self::on(terminal))
    }

    fn on(terminal: Term) -> Self {
        Self {
            terminal,
            gone: AtomicBool::new(false),
        }
    }

    /// Draws, unless it failed before. That it fails now is nobody's to know.
    #[expect(
        clippy::unnecessary_wraps,
        reason = "the trait that this is for wants a result"
    )]
    fn draw(&self, stroke: impl FnOnce(&Term) -> io::Result<()>) -> io::Result<()> {
        if !self.gone.load(Ordering::Relaxed) && stroke(&self.terminal).is_err() {
            self.gone.store(true, Ordering::Relaxed);
        }
        Ok(())
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
        self.draw(|terminal| terminal.move_cursor_up(lines))
    }

    fn move_cursor_down(&self, lines: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_down(lines))
    }

    fn move_cursor_right(&self, columns: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_right(columns))
    }

    fn move_cursor_left(&self, columns: usize) -> io::Result<()> {
        self.draw(|terminal| terminal.move_cursor_left(columns))
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.draw(|terminal| terminal.write_line(text))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.draw(|terminal| terminal.write_str(text))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.draw(Term::clear_line)
    }

    fn flush(&self) -> io::Result<()> {
        self.draw(Term::flush)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        io::{self, Write},
        os::fd::{AsRawFd, RawFd},
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
    };

    use console::Term;
    use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget};

    use super::Canvas;

    /// A terminal that is gone, and counts who still writes to it.
    #[derive(Debug)]
    struct Gone {
        /// Asked for its size.
        nothing: File,
        written: Arc<AtomicUsize>,
    }

    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.written.fetch_add(1, Ordering::Relaxed);
            Err(io::Error::from_raw_os_error(5))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl AsRawFd for Gone {
        fn as_raw_fd(&self) -> RawFd {
            self.nothing.as_raw_fd()
        }
    }

    #[test]
    fn a_terminal_that_is_gone_is_written_to_once_and_told_to_nobody() {
        let written = Arc::new(AtomicUsize::new(0));
        let nothing = File::open("/dev/null").unwrap();
        let gone = Gone {
            nothing: nothing.try_clone().unwrap(),
            written: Arc::clone(&written),
        };
        let canvas = Canvas::on(Term::read_write_pair(nothing, gone));
        let target = ProgressDrawTarget::term_like(Box::new(canvas));
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(ProgressBar::new(3));
        bar.set_message("drawn");
        bar.tick();
        assert_eq!(all.suspend(|| 7), 7);
        bar.finish_and_clear();
        assert_eq!(written.load(Ordering::Relaxed), 1);
    }
}
