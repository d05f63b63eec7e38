//! The step summary as Markdown: failures first, text from outside escaped, bounded in bytes. A page that is too long
//! loses whole parts, the least important first, and names them.

pub mod escape;
pub(super) mod ink;
mod parts;

use self::parts::Page;
use crate::RunReport;

/// Bytes of a step summary.
pub const SUMMARY_BYTES: usize = 1_000_000;

/// Bytes of all that a step writes into its summary. Of more the runner drops everything.
const SUMMARY_FILE_BYTES: usize = 1_048_576;

/// The minimum room for a summary, in bytes.
const LEAST_BYTES: usize = 1_000;

/// How much of the page is left. Each level has everything of the later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    /// All of it.
    Everything,
    /// Without the list of what passed, frames, stderr beyond 20 lines, and details beyond the first 50.
    SomeDetails,
    /// Without details, and without rows beyond 50 in a table.
    NoDetails,
    /// Only headline, totals and the first 50 regressions.
    Regressions,
    /// Only headline and totals.
    Bare,
}

impl Level {
    /// All levels with what each leaves out, the longest page first.
    const ALL: [(Self, &'static str); 5] = [
        (Self::Everything, ""),
        (
            Self::SomeDetails,
            "the list of what passed, frames, stderr beyond 20 lines, and details beyond the 50 worst",
        ),
        (Self::NoDetails, "all details and rows beyond 50 in a table"),
        (Self::Regressions, "everything but regressions"),
        (Self::Bare, "everything but the totals"),
    ];
}

/// The text for a step summary that already has `before` bytes: one line for a shard, `None` if there is no room, because
/// the runner drops a summary that is too long as a whole.
pub fn summary(report: &RunReport, before: usize) -> Option<String> {
    // One byte for a missing line end before us.
    let room = SUMMARY_FILE_BYTES.saturating_sub(before.saturating_add(1));
    if room < LEAST_BYTES {
        return None;
    }
    Some(if report.plan.shard == 0 {
        within(report, SUMMARY_BYTES.min(room))
    } else {
        line_of_shard(report)
    })
}

fn line_of_shard(report: &RunReport) -> String {
    let verdict = report.judgement.as_ref().map(|it| it.verdict.word());
    format!(
        "mcp-assert, shard {}/{}: {} in {}{}\n",
        report.plan.shard,
        report.plan.of,
        parts::counts(report),
        parts::milliseconds(report.timing.duration_us),
        verdict.map_or_else(String::new, |verdict| format!(", verdict: {verdict}")),
    )
}

/// The run as Markdown, for a page that has room for a step summary.
pub fn render(report: &RunReport) -> String {
    within(report, SUMMARY_BYTES)
}

/// The run as Markdown of at most `budget` bytes.
pub fn within(report: &RunReport, budget: usize) -> String {
    for (level, left_out) in Level::ALL {
        let mut page = Page::new(report, level, budget);
        parts::all(&mut page, report, left_out);
        if page.text.len() <= budget {
            return page.text;
        }
    }
    let mut text = parts::headline(report);
    text.truncate(budget);
    text
}

#[cfg(test)]
mod tests {
    use super::{SUMMARY_BYTES, render, summary, within};
    use crate::{
        baseline::Baseline,
        compare::{Scope, compare},
        sample::{UGLY, failure_with, outcome, report, sample},
    };

    #[test]
    fn a_page_keeps_within_any_budget_and_says_what_is_missing() {
        let sample = sample();
        let whole = render(&sample).len();
        for budget in (200..whole + 500).step_by(331) {
            let text = within(&sample, budget);
            assert!(text.len() <= budget, "{budget}: {}", text.len());
            assert!(
                text.starts_with("### mcp-assert: 3 passed, 2 failed"),
                "{text}"
            );
            let cut = text.len() < whole;
            assert_eq!(text.contains("Left out to fit"), cut, "{budget}: {text}");
        }
    }

    #[test]
    fn thousands_of_ugly_failures_fit_and_regressions_stay() {
        let green: Vec<_> = (0..500)
            .map(|index| outcome("a.yaml", &format!("{UGLY}{index}")))
            .collect();
        let red = (0..500).map(|index| failure_with("a.yaml", &format!("{UGLY}{index}"), UGLY));
        let baseline = Baseline::updated(None, &report(green, 1), Scope::Whole);
        let mut run = report(red.collect(), 1);
        run.comparison = Some(compare(&baseline, "main", &run, Scope::Whole));
        let summary = render(&run);
        assert!(summary.len() <= SUMMARY_BYTES);
        assert!(summary.contains("Regressions (500)"));
        let comment = within(&run, 20_000);
        assert!(comment.len() <= 20_000);
        assert!(comment.contains("Regressions (500)"), "{comment}");
        assert!(comment.contains("450 more"), "{comment}");
    }

    #[test]
    fn a_summary_takes_the_room_that_others_left() {
        let red = (0..3_000).map(|index| failure_with("a.yaml", &format!("n{index}"), UGLY));
        let run = report(red.collect(), 1);
        for before in [0, 40_000, 900_000, 1_047_000, 1_047_575] {
            let text = summary(&run, before).unwrap();
            assert!(text.len() <= SUMMARY_BYTES);
            assert!(
                before + 1 + text.len() <= 1_048_576,
                "{before}: {}",
                text.len()
            );
            assert!(text.starts_with("### mcp-assert: 0 passed"), "{before}");
        }
        for before in [1_047_576, 1_048_576, usize::MAX] {
            assert_eq!(summary(&run, before), None);
        }
    }

    #[test]
    fn a_green_run_has_the_known_heading() {
        let text = render(&report(vec![outcome("a.yaml", "a")], 1));
        assert!(text.starts_with("### mcp-assert: 1/1 passed\n"), "{text}");
    }
}
