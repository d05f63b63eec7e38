//! The parts of the step summary, in their order.

use chrono::DateTime;

use super::{
    Level,
    escape::{LONGEST_INLINE, inline},
    ink::{Ink, base},
};
use crate::{
    End, RunReport,
    compare::{Change, Class, Comparison},
    failure::{self, Detail, Frames},
    noted::Noted,
    rank::Classes,
    record::Record,
    tally::Reliability,
    verdict::Verdict,
};
use check::outcome::Status;
use text::count;

/// Rows of a table, and details, when not all fit.
const SOME: usize = 50;

/// Rows of the list of slow assertions.
const SLOWEST: usize = 10;

/// Digits shown of a digest.
const DIGEST_DIGITS: usize = 64;

/// Lines of stderr in the longest page.
const STDERR_LINES: usize = 100;

/// Characters of a name in the shortest pages, which keep 50 regressions in 16 KiB.
const SHORT_INLINE: usize = 24;

/// Causes of the verdict.
const MOST_CAUSES: usize = 20;

/// A page being written; it ends early once it is too long.
pub(super) struct Page {
    level: Level,
    budget: usize,
    ink: Ink<'static>,
    pub(super) text: String,
}

impl Page {
    pub(super) fn new(report: &RunReport, level: Level, budget: usize) -> Self {
        Self {
            level,
            budget,
            ink: Ink {
                secrets: None,
                most: if level >= Level::Regressions {
                    SHORT_INLINE
                } else {
                    LONGEST_INLINE
                },
                files: base(&report.source),
            },
            text: String::new(),
        }
    }

    fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.budget
    }

    fn inline(&self, text: &str) -> String {
        self.ink.inline(text)
    }

    /// A titled table; rows beyond what fits are counted.
    fn table(&mut self, title: &str, head: &str, rows: &[String]) {
        if !rows.is_empty() {
            self.push(&format!("\n#### {title} ({})\n", rows.len()));
            self.rows(head, rows);
        }
    }

    /// A table without a title.
    fn rows(&mut self, head: &str, rows: &[String]) {
        self.push(&format!("\n| {head} |\n"));
        let columns = head.matches('|').count() + 1;
        self.push(&format!("|{}\n", "---|".repeat(columns)));
        let shown = self.most(rows.len()).min(rows.len());
        for row in &rows[..shown] {
            self.push(&format!("| {row} |\n"));
        }
        if rows.len() > shown {
            self.push(&format!("\n… and {} more\n", rows.len() - shown));
        }
    }

    /// How many of so many rows are shown.
    fn most(&self, all: usize) -> usize {
        if self.level >= Level::NoDetails {
            SOME
        } else {
            all
        }
    }
}

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

/// Why the totals may mean less than they seem to.
fn circumstances(report: &RunReport) -> String {
    // A stored run that cannot be read may have had everything.
    let verdict = report.judgement.as_ref().map(|it| it.verdict);
    let is_unknown = report.records.is_empty() && verdict == Some(Verdict::Incomplete);
    match (report.end, report.missing()) {
        (End::Interrupted, _) => format!("\nInterrupted{}.\n", report.left_undone(": ")),
        (End::Finished, _) if is_unknown => String::new(),
        (End::Finished, _) if report.tally().executed() == 0 => "\nNothing was run.\n".to_owned(),
        (End::Finished, 0) => String::new(),
        (End::Finished, missing) => {
            format!("\nEnded early: {} did not run.\n", count(missing, "job"))
        }
    }
}

/// Everything, as far as the page has room.
pub(super) fn all(page: &mut Page, report: &RunReport, left_out: &str) {
    page.push(&headline(report));
    for red in &report.reds {
        page.push(&format!("\n**Red**: {red}.\n"));
    }
    page.push(&circumstances(report));
    if let Some(judgement) = &report.judgement {
        page.push(&format!("\nVerdict: **{}**\n", judgement.verdict.word()));
        page.push(&page.ink.causes(report, MOST_CAUSES));
    }
    if !left_out.is_empty() {
        page.push(&format!("\n_Left out to fit: {left_out}._\n"));
    }
    if let Some(comparison) = &report.comparison {
        baseline(page, comparison);
    }
    if page.level > Level::NoDetails {
        return;
    }
    failures(page, report);
    let rows = page.most(usize::MAX);
    page.push(&page.ink.surface(report, (rows, rows)));
    flaky(page, report);
    earlier(page, report);
    if let Some(comparison) = &report.comparison {
        changes(page, comparison, Class::NewlySkipped);
        changes(page, comparison, Class::Removed);
        changes(page, comparison, Class::Slower);
    }
    findings(page, report);
    reliability(page, report);
    slowest(page, report);
    if page.level == Level::Everything {
        passing(page, report);
    }
    footer(page, report);
}

/// The counts of each class, and the regressions.
fn baseline(page: &mut Page, comparison: &Comparison) {
    let against = page.inline(&comparison.against);
    let counts = comparison.counts(&Class::ALL);
    page.push(&format!("\nAgainst {against}: {counts}\n"));
    if page.level <= Level::Regressions {
        changes(page, comparison, Class::Regressed);
    }
}

fn changes(page: &mut Page, comparison: &Comparison, class: Class) {
    let row = |it: &Change| format!("{} | {}", page.inline(&it.name), it.transition());
    let rows: Vec<String> = comparison.of(class).map(row).collect();
    page.table(class.title(), "Assertion | Change", &rows);
}

/// The outcomes as rows, each of its status, its name, and more.
fn outcomes<'a>(
    page: &Page,
    report: &RunReport,
    records: impl IntoIterator<Item = &'a Record>,
    more: impl Fn(&'a Record) -> String,
) -> Vec<String> {
    let row = |record: &'a Record| {
        let name = page.inline(&record.display_name(report.trials));
        format!("{} | {name} | {}", record.status.word(), more(record))
    };
    records.into_iter().map(row).collect()
}

/// What is red: a table, then the details of each.
fn failures(page: &mut Page, report: &RunReport) {
    let red = Classes::of(report).red(report);
    let rows = outcomes(page, report, red.iter().copied(), |record| {
        let at = record.place_of(record.first_mismatch());
        let place = page
            .ink
            .linked(&format!("{}:{}", at.file, at.line), Some(record));
        format!("{place} | {}", milliseconds(record.duration_us))
    });
    page.table("Not passed", "Status | Assertion | Where | Duration", &rows);
    let usual = Detail::usual(report.trials);
    let (detail, shown) = match page.level {
        Level::Everything => (
            Detail {
                stderr_lines: STDERR_LINES,
                ..usual
            },
            red.len(),
        ),
        Level::SomeDetails => (
            Detail {
                frames: Frames::None,
                ..usual
            },
            SOME,
        ),
        Level::NoDetails | Level::Regressions | Level::Bare => return,
    };
    for record in red.iter().take(shown) {
        if page.is_full() {
            return;
        }
        page.push(&page.ink.failure(record, &detail, " open"));
    }
}

/// What failed before passes, where that makes the run red.
fn earlier(page: &mut Page, report: &RunReport) {
    if report.reds.is_empty() || page.level > Level::SomeDetails {
        return;
    }
    let detail = Detail::usual(report.trials);
    for record in report.records.iter().filter(|it| it.is_flaky()).take(SOME) {
        if page.is_full() {
            return;
        }
        let name = record.display_name(report.trials);
        let lines = failure::earlier(record, &detail);
        let lines: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
        page.push(
            &page
                .ink
                .details(("FLAKY", &name), &lines.join("\n"), " open"),
        );
    }
}

fn flaky(page: &mut Page, report: &RunReport) {
    let flaky = report.records.iter().filter(|it| it.is_flaky());
    let row = |record: &Record| {
        let name = page.inline(&record.display_name(report.trials));
        let first = record.attempts.first().map_or("", |it| it.detail.as_str());
        format!(
            "{name} | {} | {}",
            record.attempts.len() + 1,
            page.inline(first)
        )
    };
    let rows: Vec<String> = flaky.map(row).collect();
    page.table("Flaky", "Assertion | Attempts | First failure", &rows);
}

/// Findings on what is not red; those of red outcomes stand in their details.
fn findings(page: &mut Page, report: &RunReport) {
    let row = |noted: Noted<'_>| {
        let finding = noted.finding;
        let name = page.inline(&noted.name(report.trials));
        let (code, message) = (page.inline(&finding.code), page.inline(&finding.message));
        format!("{} {code} | {name} | {message}", finding.severity)
    };
    let rows: Vec<String> = report.noted().into_iter().map(row).collect();
    page.table(
        "Findings on passing assertions",
        "Finding | Assertion | What",
        &rows,
    );
}

fn reliability(page: &mut Page, report: &RunReport) {
    if report.trials < 2 {
        return;
    }
    let mut tried = report.assertions();
    tried.retain(|assertion| assertion.trials > 0);
    let word = |yes: bool| if yes { "YES" } else { "NO" };
    let row = |it: &Reliability<'_>| {
        let name = page.inline(&it.record.name_on_target());
        let (capable, reliable) = (word(it.is_capable()), word(it.is_reliable()));
        format!(
            "{name} | {} | {} | {capable} | {reliable}",
            it.trials, it.passed
        )
    };
    let rows: Vec<String> = tried.iter().map(row).collect();
    page.table(
        "Reliability",
        "Assertion | Trials | Passed | pass@k | pass^k",
        &rows,
    );
    let capable = tried.iter().filter(|it| it.is_capable()).count();
    let reliable = tried.iter().filter(|it| it.is_reliable()).count();
    let total = tried.len();
    page.push(&format!(
        "\n**pass@k: {capable}/{total} capable, pass^k: {reliable}/{total} reliable**\n"
    ));
}

fn slowest(page: &mut Page, report: &RunReport) {
    let ran = report.records.iter().filter(|it| it.status != Status::Skip);
    let mut slowest: Vec<&Record> = ran.collect();
    if slowest.len() < 2 {
        return;
    }
    slowest.sort_by_key(|record| std::cmp::Reverse(record.duration_us));
    let row = |record: &&Record| {
        let name = page.inline(&record.display_name(report.trials));
        format!("{name} | {}", milliseconds(record.duration_us))
    };
    let rows: Vec<String> = slowest.iter().take(SLOWEST).map(row).collect();
    page.table("Slowest", "Assertion | Duration", &rows);
}

/// What passed, and what was skipped and why; folded up.
fn passing(page: &mut Page, report: &RunReport) {
    let green = report.records.iter().filter(|it| !it.status.is_red());
    let rows = outcomes(page, report, green, |record| {
        let reason = Some(record.headline()).filter(|it| !it.is_empty());
        let reason = reason.map(|it| page.inline(it)).unwrap_or_default();
        format!("{} | {reason}", milliseconds(record.duration_us))
    });
    if rows.is_empty() {
        return;
    }
    let number = rows.len();
    page.push(&format!(
        "\n<details><summary>Passed and skipped ({number})</summary>\n"
    ));
    page.rows("Status | Assertion | Duration | Reason", &rows);
    page.push("\n</details>\n");
}

fn footer(page: &mut Page, report: &RunReport) {
    for note in &report.notes {
        let note = page.inline(note);
        page.push(&format!("\nNote: {note}\n"));
    }
    let started = i64::try_from(report.timing.started_unix_ms)
        .ok()
        .and_then(DateTime::from_timestamp_millis)
        .map(|at| at.format("%Y-%m-%d %H:%M:%S UTC").to_string())
        .unwrap_or_default();
    let mut digests = String::new();
    let known = [
        ("plan", &report.plan.digest),
        ("binary", &report.tool.sha256),
    ];
    for (name, digest) in known {
        if let Some(digest) = digest {
            digests.extend([", ", name, " ", &inline(digest, DIGEST_DIGITS)]);
        }
    }
    let planned = match report.plan.planned_us {
        0 => String::new(),
        planned => format!("planned {}, took ", milliseconds(planned)),
    };
    page.push(&format!(
        "\n<sub>mcp-assert {}, {started}, {planned}{} with {}{digests}</sub>\n",
        inline(&report.tool.version, SHORT_INLINE),
        milliseconds(report.timing.duration_us),
        count(report.jobs, "job"),
    ));
}

pub(super) fn milliseconds(micros: u64) -> String {
    format!("{} ms", micros / 1_000)
}
