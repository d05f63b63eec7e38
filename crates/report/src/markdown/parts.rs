//! The parts of the page, in their order.

use chrono::DateTime;

use super::{
    Level,
    escape::{LONGEST_INLINE, block, inline},
    links::Links,
    opening,
    timeline::timeline,
};
use crate::{
    RunReport,
    compare::{Change, Class, Comparison},
    failure::{self, Detail, Frames},
    rank::Classes,
    record::Record,
    surface::{Surface, Weight},
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

/// A page being written; it ends early once it is too long.
pub(super) struct Page {
    level: Level,
    budget: usize,
    text: String,
}

impl Page {
    pub(super) fn new(level: Level, budget: usize) -> Self {
        Self {
            level,
            budget,
            text: String::new(),
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        if !self.is_full() {
            self.text.push_str(text);
        }
    }

    fn is_full(&self) -> bool {
        self.text.len() > self.budget
    }

    /// The page, unless it is too long.
    pub(super) fn finish(self) -> Option<String> {
        (self.text.len() <= self.budget).then_some(self.text)
    }

    /// Whether this part belongs to a page of this length.
    fn has(&self, last: Level) -> bool {
        self.level <= last
    }

    /// A text from outside, as short as the page needs it.
    pub(super) fn inline(&self, text: &str) -> String {
        let limit = if self.level >= Level::Regressions {
            SHORT_INLINE
        } else {
            LONGEST_INLINE
        };
        inline(text, limit)
    }

    /// A titled table; rows beyond what fits are counted.
    fn table<T>(&mut self, title: &str, head: &str, rows: &[T], row: impl Fn(&Self, &T) -> String) {
        if rows.is_empty() {
            return;
        }
        self.push(&format!("\n#### {title} ({})\n", rows.len()));
        self.rows(head, rows, row);
    }

    /// A table without a title.
    fn rows<T>(&mut self, head: &str, rows: &[T], row: impl Fn(&Self, &T) -> String) {
        self.push(&format!("\n{head}\n"));
        let columns = head.matches('|').count() - 1;
        self.push(&format!("|{}\n", "---|".repeat(columns)));
        let shown = if self.level >= Level::SomeRows {
            SOME
        } else {
            rows.len()
        };
        for entry in rows.iter().take(shown) {
            if self.is_full() {
                return;
            }
            let line = row(self, entry);
            self.push(&line);
            self.push("\n");
        }
        if rows.len() > shown {
            self.push(&format!("\n… and {} more\n", rows.len() - shown));
        }
    }
}

/// Everything, as far as the page has room.
pub(super) fn all(page: &mut Page, report: &RunReport) {
    page.push(&opening::headline(report));
    page.push(&opening::reds(report));
    page.push(&opening::circumstances(report));
    opening::verdict(page, report);
    if let Some(left_out) = page.level.left_out() {
        page.push(&format!("\n_Left out to fit: {left_out}._\n"));
    }
    if let Some(comparison) = &report.comparison {
        baseline(page, comparison);
    }
    if !page.has(Level::SomeRows) {
        return;
    }
    failures(page, report);
    surface(page, report);
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
    page.push(&timeline(&report.shards));
    if page.has(Level::Everything) {
        passing(page, report);
    }
    footer(page, report);
}

/// The counts of each class, and the regressions.
fn baseline(page: &mut Page, comparison: &Comparison) {
    let against = page.inline(&comparison.against);
    let counts = comparison.counts(&Class::ALL);
    page.push(&format!("\nAgainst {against}: {counts}\n"));
    if page.has(Level::Regressions) {
        changes(page, comparison, Class::Regressed);
    }
}

fn changes(page: &mut Page, comparison: &Comparison, class: Class) {
    let rows: Vec<&Change> = comparison.of(class).collect();
    page.table(
        class.title(),
        "| Assertion | Change |",
        &rows,
        |page, change| {
            format!(
                "| {} | {} |",
                page.inline(&change.name),
                change.transition()
            )
        },
    );
}

/// What is red: a table, then the details of each.
fn failures(page: &mut Page, report: &RunReport) {
    let red = Classes::of(report).red(report);
    let links = Links::of(&report.source);
    page.table(
        "Not passed",
        "| Status | Assertion | Where | Duration |",
        &red,
        |page, record| {
            format!(
                "| {} | {} | {} | {} |",
                record.status.word(),
                page.inline(&record.display_name(report.trials)),
                links.to(page, record),
                milliseconds(record.duration_us),
            )
        },
    );
    if !page.has(Level::SomeDetails) {
        return;
    }
    let usual = Detail::usual(report.trials);
    let (detail, shown) = if page.has(Level::NoPassing) {
        let stderr_lines = STDERR_LINES;
        let detail = Detail {
            stderr_lines,
            ..usual
        };
        (detail, red.len())
    } else {
        let frames = Frames::None;
        (Detail { frames, ..usual }, SOME)
    };
    for record in red.iter().take(shown) {
        if page.is_full() {
            return;
        }
        let name = record.display_name(report.trials);
        details(
            page,
            record.status.word(),
            &name,
            &failure::text(record, &detail),
        );
    }
}

fn details(page: &mut Page, word: &str, name: &str, text: &str) {
    let name = page.inline(name);
    page.push(&format!(
        "\n<details open><summary>{word} {name}</summary>\n"
    ));
    page.push(&block(text));
    page.push("</details>\n");
}

/// What failed before passes, where that makes the run red.
fn earlier(page: &mut Page, report: &RunReport) {
    if report.reds.is_empty() || !page.has(Level::SomeDetails) {
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
        details(page, "FLAKY", &name, &lines.join("\n"));
    }
}

/// What changed in what the servers offer.
fn surface(page: &mut Page, report: &RunReport) {
    for (name, why) in report.surface.iter().flat_map(Surface::uncompared) {
        let name = page.inline(name);
        page.push(&format!(
            "\n#### Surface of {name}: not compared\n\nThe reason: {why}.\n"
        ));
    }
    for target in report.surface.iter().flat_map(|it| &it.targets) {
        let rows: Vec<_> = target.changes.iter().collect();
        let unknown = target.unknown_lists();
        if rows.is_empty() && unknown.is_none() {
            continue;
        }
        let name = page.inline(&target.name);
        page.push(&format!(
            "\n#### Surface of {name}: {}, {} breaking\n",
            count(rows.len() + target.left_out, "change"),
            target.breaking
        ));
        if let Some(lists) = unknown {
            page.push(&format!("\nNot compared: {lists}\n"));
        }
        if rows.is_empty() {
            continue;
        }
        page.rows("| | What | Change |", &rows, |page, change| {
            let weight = match change.weight {
                Weight::Breaking => "breaking",
                Weight::Notable => "",
            };
            let wording = change.wording.as_ref().map(|it| page.inline(it));
            format!(
                "| {weight} | {} {} | {} {} |",
                change.listing.entry(),
                page.inline(&change.name),
                page.inline(&change.what),
                wording.unwrap_or_default(),
            )
        });
        if target.left_out > 0 {
            page.push(&format!("\n… and {} more\n", target.left_out));
        }
    }
}

fn flaky(page: &mut Page, report: &RunReport) {
    let rows: Vec<&Record> = report.records.iter().filter(|it| it.is_flaky()).collect();
    page.table(
        "Flaky",
        "| Assertion | Attempts | First failure |",
        &rows,
        |page, record| {
            let first = record.attempts.first().map_or("", |it| it.detail.as_str());
            format!(
                "| {} | {} | {} |",
                page.inline(&record.display_name(report.trials)),
                record.attempts.len() + 1,
                page.inline(first),
            )
        },
    );
}

/// Findings on what is not red; those of red outcomes stand in their details.
fn findings(page: &mut Page, report: &RunReport) {
    page.table(
        "Findings on passing assertions",
        "| Finding | Assertion | What |",
        &report.noted(),
        |page, noted| {
            format!(
                "| {} {} | {} | {} |",
                noted.finding.severity,
                page.inline(&noted.finding.code),
                page.inline(&noted.name(report.trials)),
                page.inline(&noted.finding.message),
            )
        },
    );
}

fn reliability(page: &mut Page, report: &RunReport) {
    if report.trials < 2 {
        return;
    }
    let rows: Vec<_> = report
        .assertions()
        .into_iter()
        .filter(|assertion| assertion.trials > 0)
        .collect();
    let word = |yes: bool| if yes { "YES" } else { "NO" };
    page.table(
        "Reliability",
        "| Assertion | Trials | Passed | pass@k | pass^k |",
        &rows,
        |page, it| {
            format!(
                "| {} | {} | {} | {} | {} |",
                page.inline(&it.record.name_on_target()),
                it.trials,
                it.passed,
                word(it.is_capable()),
                word(it.is_reliable()),
            )
        },
    );
    let capable = rows.iter().filter(|it| it.is_capable()).count();
    let reliable = rows.iter().filter(|it| it.is_reliable()).count();
    let total = rows.len();
    page.push(&format!(
        "\n**pass@k: {capable}/{total} capable, pass^k: {reliable}/{total} reliable**\n"
    ));
}

fn slowest(page: &mut Page, report: &RunReport) {
    let mut rows: Vec<&Record> = report
        .records
        .iter()
        .filter(|record| record.status != Status::Skip)
        .collect();
    if rows.len() < 2 {
        return;
    }
    rows.sort_by_key(|record| std::cmp::Reverse(record.duration_us));
    rows.truncate(SLOWEST);
    page.table(
        "Slowest",
        "| Assertion | Duration |",
        &rows,
        |page, record| {
            format!(
                "| {} | {} |",
                page.inline(&record.display_name(report.trials)),
                milliseconds(record.duration_us)
            )
        },
    );
}

/// What passed, and what was skipped and why; folded up.
fn passing(page: &mut Page, report: &RunReport) {
    let rows: Vec<&Record> = report
        .records
        .iter()
        .filter(|record| !record.status.is_red())
        .collect();
    if rows.is_empty() {
        return;
    }
    page.push(&format!(
        "\n<details><summary>Passed and skipped ({})</summary>\n",
        rows.len()
    ));
    page.rows(
        "| Status | Assertion | Duration | Reason |",
        &rows,
        |page, record| {
            let reason = match record.headline() {
                "" => String::new(),
                reason => page.inline(reason),
            };
            format!(
                "| {} | {} | {} | {reason} |",
                record.status.word(),
                page.inline(&record.display_name(report.trials)),
                milliseconds(record.duration_us),
            )
        },
    );
    page.push("\n</details>\n");
}

fn footer(page: &mut Page, report: &RunReport) {
    for note in &report.notes {
        let note = page.inline(note);
        page.push(&format!("\nNote: {note}\n"));
    }
    let started = i64::try_from(report.started_unix_ms)
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
        milliseconds(report.duration_us),
        count(report.jobs, "job"),
    ));
}

pub(super) fn milliseconds(micros: u64) -> String {
    format!("{} ms", micros / 1_000)
}
