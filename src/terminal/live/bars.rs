//! Progress lines and bar on stderr.

use std::{
    io::{self, Write},
    os::fd::{AsRawFd, RawFd},
};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Streams, Tally};

/// The most redraws per second.
const DRAWINGS: u8 = 20;

/// A line for each running job and the bar below them.
pub(super) struct Bars {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
    bar: ProgressBar,
}

impl Bars {
    /// Bars on stderr, hidden if it is not a terminal.
    pub(super) fn new(streams: &Streams) -> Self {
        let terminal = Term::read_write_pair(io::stdin(), Canvas(streams.clone()));
        Self::on(ProgressDrawTarget::term(terminal, DRAWINGS))
    }

    fn on(target: ProgressDrawTarget) -> Self {
        let all = MultiProgress::with_draw_target(target);
        let bar = all.add(
            ProgressBar::new(0)
                .with_style(style("{elapsed:>6}  [{bar:30}] {pos}/{len}  {wide_msg}")),
        );
        Self {
            all,
            lines: Vec::new(),
            bar,
        }
    }

    /// Updates lines and counts.
    pub(super) fn draw(&mut self, lines: &[String], total: usize, finished: Tally) {
        while self.lines.len() > lines.len() {
            if let Some(line) = self.lines.pop() {
                line.finish_and_clear();
                self.all.remove(&line);
            }
        }
        while self.lines.len() < lines.len() {
            let line = ProgressBar::new_spinner().with_style(style("{wide_msg}"));
            self.lines.push(self.all.insert_before(&self.bar, line));
        }
        for (line, text) in self.lines.iter().zip(lines) {
            line.set_message(text.clone());
        }
        self.bar.set_length(total as u64);
        self.bar.set_position(finished.total() as u64);
        // Such as `2 failed, 1 error`; empty if all passed.
        self.bar.set_message(finished.besides().join(", "));
        self.bar.tick();
    }

    /// Hides the bars while `write` runs.
    pub(super) fn beside(&self, write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        self.all.suspend(write)
    }

    /// Removes the bars.
    pub(super) fn clear(self) {
        for line in &self.lines {
            line.finish_and_clear();
        }
        self.bar.finish_and_clear();
    }
}

/// Standard error without errors, because `indicatif` panics on them.
#[derive(Debug)]
struct Canvas(Streams);

impl Write for Canvas {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.say(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRawFd for Canvas {
    fn as_raw_fd(&self) -> RawFd {
        io::stderr().as_raw_fd()
    }
}

/// Parses a constant template; an invalid one would only look plain.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex, PoisonError},
    };

    use indicatif::{ProgressDrawTarget, TermLike};
    use unicode_width::UnicodeWidthStr;

    use super::{Bars, Tally};

    /// A narrow terminal that keeps what is written to it.
    #[derive(Debug, Clone, Default)]
    struct Narrow(Arc<Mutex<Vec<String>>>);

    impl Narrow {
        fn keep(&self, text: &str) {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(text.to_owned());
        }
    }

    impl TermLike for Narrow {
        fn width(&self) -> u16 {
            40
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.keep(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_of_wide_characters_fits_the_terminal() {
        let narrow = Narrow::default();
        let target = ProgressDrawTarget::term_like(Box::new(narrow.clone()));
        let mut bars = Bars::on(target);
        bars.draw(&["漢字😀".repeat(20)], 0, Tally::default());
        bars.clear();
        let kept = narrow.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wide: Vec<&String> = kept.iter().filter(|text| text.contains('漢')).collect();
        assert!(!wide.is_empty(), "{kept:?}");
        for text in wide {
            assert!(text.width() <= 40, "{}: {text:?}", text.width());
        }
    }
}
