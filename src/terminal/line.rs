//! The line of one outcome, in the shape people and plugins know: `PASS  name …  12ms`.

use unicode_width::UnicodeWidthStr;

use crate::{
    outcome::Status,
    report::{cleaner::one_line, record::Record},
    terminal::theme::{Paint, Theme},
    words::text::head,
};

/// Columns of the name.
const NAME_COLUMNS: usize = 60;

/// Columns of the duration.
const DURATION_COLUMNS: usize = 6;

/// Characters shown of the line below a red outcome.
const DETAIL_CHARACTERS: usize = 200;

/// The line, and below a red one what was wrong in a few words; without a final line end.
pub(crate) fn result(record: &Record, trials: u32, theme: Theme) -> String {
    let name = record.display_name(trials);
    let padding = " ".repeat(NAME_COLUMNS.saturating_sub(name.width()));
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
    use super::result;
    use crate::{report::tests::sample::sample, terminal::theme::Theme, words::diagnostic::Colour};

    #[test]
    fn each_outcome_has_its_line() {
        let report = sample();
        let lines: Vec<String> = report
            .records
            .iter()
            .map(|record| result(record, 1, Theme::new(Colour::Off)))
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }
}
