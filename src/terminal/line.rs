//! The result line of one outcome, such as `PASS  name …  12ms`.

use unicode_width::UnicodeWidthStr;

use crate::terminal::theme::{Paint, Theme};
use check::outcome::Status;
use report::{cleaner::one_line, record::Record};
use text::head;

/// The width of the name.
const NAME_COLUMNS: usize = 60;

/// The width of the duration.
const DURATION_COLUMNS: usize = 6;

/// The most characters of the second line.
const DETAIL_CHARACTERS: usize = 200;

/// The layout of result lines.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The trials of the run, which names may show.
    pub(crate) trials: u32,
    /// The width of the terminal, if it is one.
    pub(crate) columns: Option<usize>,
}

impl Room {
    /// The width that names are padded to, which does not exceed the terminal.
    fn of_name(self) -> usize {
        let around = "PASS  ".len() + " ".len() + DURATION_COLUMNS;
        let most = self
            .columns
            .map_or(NAME_COLUMNS, |all| all.saturating_sub(around));
        most.min(NAME_COLUMNS)
    }
}

/// The line, and for red outcomes a second line with the reason; without a final line end.
pub(crate) fn result(record: &Record, room: Room, theme: Theme) -> String {
    let name = record.display_name(room.trials);
    let padding = " ".repeat(room.of_name().saturating_sub(name.width()));
    let status = theme.paint(
        Paint::Status(record.status),
        &format!("{:<5}", record.status.word()),
    );
    let duration = format!("{}ms", record.duration_us / 1_000);
    let duration = theme.paint(Paint::Faint, &format!("{duration:>DURATION_COLUMNS$}"));
    let mut line = format!("{status} {name}{padding} {duration}");
    let headline = head(&one_line(record.headline()), DETAIL_CHARACTERS);
    match record.status {
        Status::Fail | Status::Error => {
            line.push_str("\n      ");
            line.push_str(&headline);
        }
        Status::Skip if !headline.is_empty() => {
            line.push_str("  ");
            line.push_str(&theme.paint(Paint::Faint, &headline));
        }
        Status::Pass if record.is_flaky() => {
            let attempt = record.attempts.len() + 1;
            let flaky = format!("  flaky: passed on attempt {attempt}");
            line.push_str(&theme.paint(Paint::Warning, &flaky));
        }
        Status::Pass | Status::Skip => {}
    }
    if let Some(other) = &record.server_of {
        let (first, rest) = line.split_once('\n').unwrap_or((&line, ""));
        let shared = theme.paint(Paint::Faint, &format!("  on the server of {other}"));
        let rest = if rest.is_empty() {
            String::new()
        } else {
            format!("\n{rest}")
        };
        line = format!("{first}{shared}{rest}");
    }
    line
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::{Room, result};
    use crate::terminal::theme::Theme;
    use report::sample::sample;
    use text::diagnostic::Colour;

    const UNBOUNDED: Room = Room {
        trials: 1,
        columns: None,
    };

    #[test]
    fn each_outcome_has_its_line() {
        let report = sample();
        let lines: Vec<String> = report
            .records
            .iter()
            .map(|record| result(record, UNBOUNDED, Theme::new(Colour::Off)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn blanks_make_no_line_longer_than_the_terminal() {
        let report = sample();
        let passed = &report.records[0];
        let width = |columns| {
            let room = Room {
                columns,
                ..UNBOUNDED
            };
            let line = result(passed, room, Theme::new(Colour::Off));
            line.lines().next().unwrap_or_default().trim_end().width()
        };
        let least = width(Some(0));
        assert!(least < 40, "{least}");
        assert_eq!((width(Some(40)), width(Some(200))), (40, width(None)));
    }
}
