//! What only the step summary has: times, findings, the reliability of trials, and the list of all.

use super::{
    page::{Page, duration},
    room::Room,
};
use crate::{
    failure::{self, Detail},
    noted::Noted,
    record::Record,
    tally::{Reliability, sum},
};
use check::outcome::Status;
use text::count;

/// Rows of the list of slow assertions.
const SLOWEST: usize = 5;

/// Digits shown of a digest; `run.json` has all.
const DIGEST_DIGITS: usize = 12;

/// Flaky assertions that are shown in full where they make the run red.
const MOST_FLAKY: usize = 50;

/// What stands between the failures and the list of all.
pub(super) fn besides(page: &Page<'_>, room: &mut Room) -> String {
    let note = |it: &String| format!("\nNote: {}\n", page.ink.prose(it));
    let notes: String = page.report.notes.iter().map(note).collect();
    let parts = [
        room.part(earlier(page), "what failed before it passed"),
        findings(page, room),
        reliability(page, room),
        slowest(page, room),
        room.part(notes, "notes"),
    ];
    parts.concat()
}

/// A table with its title.
fn table(room: &mut Room, title: &str, head: &str, rows: &[String]) -> String {
    let columns = "---|".repeat(head.matches('|').count() + 1);
    let open = format!("\n#### {title}\n\n| {head} |\n|{columns}\n");
    let noun = format!("rows of {}", title.to_lowercase());
    let rows_of = rows.iter().map(|row| format!("| {row} |\n"));
    room.list((&open, ""), (rows.len(), &noun), rows_of)
}

/// What failed before passes, where that makes the run red.
fn earlier(page: &Page<'_>) -> String {
    if page.report.reds.is_empty() {
        return String::new();
    }
    let detail = Detail::usual(page.report.trials);
    let flaky = page.report.records.iter().filter(|it| it.is_flaky());
    let shown = flaky.take(MOST_FLAKY).map(|record| {
        let name = record.display_name(page.report.trials);
        let text = failure::diff(&failure::earlier(record, &detail));
        page.ink.details("⚠️", &name, &text, " open")
    });
    shown.collect()
}

/// Findings on what is not red; those of red outcomes stand in their details.
fn findings(page: &Page<'_>, room: &mut Room) -> String {
    let row = |noted: Noted<'_>| {
        let finding = noted.finding;
        let name = page.ink.inline(&noted.name(page.report.trials));
        let code = page.ink.inline(&finding.code);
        let message = page.ink.prose(&finding.message);
        format!("{} {code} | {name} | {message}", finding.severity)
    };
    let rows: Vec<String> = page.report.noted().into_iter().map(row).collect();
    let title = "Findings on passing assertions";
    table(room, title, "Finding | Assertion | What", &rows)
}

fn reliability(page: &Page<'_>, room: &mut Room) -> String {
    if page.report.trials < 2 {
        return String::new();
    }
    let mut tried = page.report.assertions();
    tried.retain(|assertion| assertion.trials > 0);
    let row = |it: &Reliability<'_>| {
        let name = page.ink.inline(&it.record.name_on_target());
        let [capable, reliable] = it.words();
        let (trials, passed) = (it.trials, it.passed);
        format!("{name} | {trials} | {passed} | {capable} | {reliable}")
    };
    let rows: Vec<String> = tried.iter().map(row).collect();
    let head = "Assertion | Trials | Passed | pass@k | pass^k";
    let sum = format!("\n**{}**\n", sum(&tried));
    let sum = room.part(sum, "the sum of the trials");
    table(room, "Reliability", head, &rows) + &sum
}

fn slowest(page: &Page<'_>, room: &mut Room) -> String {
    let records = page.report.records.iter();
    let ran = records.filter(|it| it.status != Status::Skip);
    let mut slowest: Vec<&Record> = ran.collect();
    if slowest.len() < 2 {
        return String::new();
    }
    slowest.sort_by_key(|record| std::cmp::Reverse(record.duration_us));
    let row = |record: &&Record| {
        let name = page.ink.inline(&record.display_name(page.report.trials));
        format!("{name} | {}", duration(record.duration_us))
    };
    let rows: Vec<String> = slowest.iter().take(SLOWEST).map(row).collect();
    table(room, "Slowest", "Assertion | Duration", &rows)
}

/// All outcomes, folded.
pub(super) fn all(page: &Page<'_>, room: &mut Room) -> String {
    let records = &page.report.records;
    let open = format!(
        "\n<details><summary>All {}</summary>\n\n| | Assertion | Duration | Why |\n|---|---|---|---|\n",
        count(records.len(), "outcome"),
    );
    let rows = records.iter().map(|record| {
        let icon = match record.status {
            Status::Pass if record.is_flaky() => "⚠️",
            Status::Pass => "✅",
            Status::Fail | Status::Error => "❌",
            Status::Skip => "⏭️",
        };
        let name = record.display_name(page.report.trials);
        let name = page.ink.linked(&name, Some(record));
        let time = duration(record.duration_us);
        format!(
            "| {icon} | {name} | {time} | {} |\n",
            page.ink.prose(record.headline())
        )
    });
    let around = (open.as_str(), "\n</details>\n");
    room.list(around, (records.len(), "rows of the list of all"), rows)
}

/// How long the run took, and of which plan and program it is.
pub(super) fn circumstances(page: &Page<'_>) -> Vec<String> {
    let report = page.report;
    let planned = match report.plan.planned_us {
        0 => String::new(),
        planned => format!("planned {}, ", duration(planned)),
    };
    let took = duration(report.timing.duration_us);
    let took = format!("{planned}took {took} with {}", count(report.jobs, "job"));
    let digests = [
        ("plan", &report.plan.digest),
        ("binary", &report.tool.sha256),
    ];
    let digests = digests.into_iter().filter_map(|(name, digest)| {
        Some(format!(
            "{name} {}",
            page.ink.inline(
                &digest
                    .as_ref()?
                    .chars()
                    .take(DIGEST_DIGITS)
                    .collect::<String>()
            )
        ))
    });
    [took].into_iter().chain(digests).collect()
}
