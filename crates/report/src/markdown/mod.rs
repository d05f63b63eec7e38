//! A run as Markdown: the step summary, and what the comment on a pull request shares with it. Text from outside is
//! escaped, pages are bounded in bytes.

pub mod escape;
mod ink;
pub(super) mod page;
mod parts;
mod room;

use self::page::Place;
use crate::{RunReport, comment::Surroundings};

/// Bytes of a step summary.
pub const SUMMARY_BYTES: usize = 1_000_000;

/// Bytes of all that a step writes into its summary. Of more the runner drops everything.
const SUMMARY_FILE_BYTES: usize = 1_048_576;

/// The minimum room for a summary, in bytes.
const LEAST_BYTES: usize = 1_000;

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
        page::counts(report),
        page::duration(report.timing.duration_us),
        verdict.map_or_else(String::new, |verdict| format!(", verdict: {verdict}")),
    )
}

/// The run as Markdown, for a page that has room for a step summary.
pub fn render(report: &RunReport) -> String {
    within(report, SUMMARY_BYTES)
}

/// The run as Markdown of at most `budget` bytes.
pub fn within(report: &RunReport, budget: usize) -> String {
    let source = &report.source;
    let around = Surroundings {
        files: ink::files(source),
        repository: ink::repository(source),
        head: source.head_sha.clone().or_else(|| source.sha.clone()),
        ..Surroundings::default()
    };
    page::within(report, &around, Place::Summary, budget)
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
        // Room for the line that says it is kept free.
        let whole = render(&sample).len() + 400;
        for budget in (200..whole + 900).step_by(331) {
            let text = within(&sample, budget);
            assert!(text.len() <= budget, "{budget}: {}", text.len());
            assert!(
                text.starts_with("### ❌ mcp-assert · 2 failures, 1 error"),
                "{text}"
            );
            let is_said = text.contains("eft out to fit");
            let is_whole = text.matches("<details").count() == 4
                && ["-> sent, <- received", "trace 20", "#### Slowest"]
                    .iter()
                    .all(|it| text.contains(it));
            // The first line alone has no room to say so.
            let is_bare = text.lines().count() == 1;
            assert!(is_said || is_whole || is_bare, "{budget}: {text}");
            assert!(!is_said || budget < whole, "{budget} of {whole}: {text}");
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
        assert!(summary.starts_with("### ❌ mcp-assert · 500 regressions\n"));
        assert!(summary.contains("<summary>450 more</summary>"), "{summary}");
        let short = within(&run, 20_000);
        assert!(short.len() <= 20_000);
        assert!(short.matches("\n| ❌ |").count() >= 50, "{short}");
    }

    #[test]
    fn a_summary_takes_the_room_that_others_left() {
        let red = (0..1_200).map(|index| failure_with("a.yaml", &format!("n{index}"), UGLY));
        let run = report(red.collect(), 1);
        for before in [0, 900_000, 1_047_575] {
            let text = summary(&run, before).unwrap();
            assert!(text.len() <= SUMMARY_BYTES);
            assert!(
                before + 1 + text.len() <= 1_048_576,
                "{before}: {}",
                text.len()
            );
            let headline = "### ❌ mcp-assert · 1200 failures";
            assert!(text.starts_with(headline), "{before}");
        }
        for before in [1_047_576, 1_048_576, usize::MAX] {
            assert_eq!(summary(&run, before), None);
        }
    }

    #[test]
    fn a_green_run_has_the_known_heading() {
        let text = render(&report(vec![outcome("a.yaml", "a")], 1));
        let headline = "### ✅ mcp-assert · 1 of 1 passed\n";
        assert!(text.starts_with(headline), "{text}");
    }
}
