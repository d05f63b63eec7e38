//! How a page begins: the counts, what they may not say, and the verdict with its causes.

use super::parts::Page;
use crate::{End, RunReport, verdict::Verdict};
use text::count;

/// Causes of the verdict.
const MOST_CAUSES: usize = 20;

/// The first line.
pub(super) fn headline(report: &RunReport) -> String {
    format!("### mcp-assert: {}\n", counts(report))
}

/// How many assertions of each kind there are; kinds without any are left out.
pub(super) fn counts(report: &RunReport) -> String {
    let tally = report.tally();
    let passed = if tally.is_red() {
        format!("{} passed", tally.passed)
    } else {
        format!("{}/{} passed", tally.passed, tally.executed())
    };
    [vec![passed], tally.besides()].concat().join(", ")
}

/// Why the run is red where no outcome is.
pub(super) fn reds(report: &RunReport) -> String {
    let line = |red: &String| format!("\n**Red**: {red}.\n");
    report.reds.iter().map(line).collect::<Vec<_>>().concat()
}

/// Whether it is not even known what was run: a stored run that cannot be read may have had everything.
fn is_unknown(report: &RunReport) -> bool {
    let verdict = report.judgement.as_ref().map(|it| it.verdict);
    report.records.is_empty() && verdict == Some(Verdict::Incomplete)
}

/// Why the totals may mean less than they seem to.
pub(super) fn circumstances(report: &RunReport) -> String {
    let missing = report.missing();
    match report.end {
        End::Interrupted => format!("\nInterrupted{}.\n", report.left_undone(": ")),
        End::Finished if is_unknown(report) => String::new(),
        End::Finished if report.tally().executed() == 0 => "\nNothing was run.\n".to_owned(),
        End::Finished if missing > 0 => {
            format!("\nEnded early: {} did not run.\n", count(missing, "job"))
        }
        End::Finished => String::new(),
    }
}

/// What is said of it all, and why.
pub(super) fn verdict(page: &mut Page, report: &RunReport) {
    let Some(judgement) = &report.judgement else {
        return;
    };
    page.push(&format!("\nVerdict: **{}**\n", judgement.verdict.word()));
    for cause in judgement.causes.iter().take(MOST_CAUSES) {
        let text = page.inline(&cause.text);
        page.push(&format!("- {}: {text}\n", cause.verdict.word()));
    }
    if judgement.causes.len() > MOST_CAUSES {
        let more = judgement.causes.len() - MOST_CAUSES;
        page.push(&format!("- … and {more} more\n"));
    }
}
