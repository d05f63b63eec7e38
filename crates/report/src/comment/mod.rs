//! The comment on a pull request: what the change did to the suite and to the servers' surfaces, each line with a
//! link to its place at the head commit. Where the comment goes and whose it is, is `deliver`'s.

use std::{collections::BTreeMap, collections::BTreeSet};

use super::markdown::{
    escape::inline,
    ink::{Ink, listed},
};
use crate::{
    RunReport,
    compare::{Class, Comparison},
    failure::{Detail, Frames, Times},
    record::Record,
    surface::Surface,
    verdict::Verdict,
};
use check::outcome::Status;
use text::redact::Secrets;

/// Bytes of a comment; GitHub takes 65,536 characters.
pub const COMMENT_BYTES: usize = 65_000;

/// Servers that are named.
const MOST_SERVERS: usize = 10;

/// Lines of stderr in a detail.
const STDERR_LINES: usize = 10;

/// What the comment says besides the run.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The address of the files at the head commit.
    pub files: Option<String>,
    /// The address of the run.
    pub run: Option<String>,
    /// The head commit.
    pub head: Option<String>,
    /// Values that foreign text must not show. Our own words, and the links that are made of them, may hold one by
    /// chance: a secret that reads `pass` or is the number of the run tears no holes into them.
    pub secrets: Secrets,
}

/// How much is said: rows of all but the worst, failures in full, characters of a name. From all to the least, until it
/// fits; the worst rows stay.
const LEVELS: [(usize, usize, usize); 4] = [(50, 10, 200), (50, 0, 120), (20, 0, 60), (0, 0, 30)];

/// Rows of regressions and of breaking changes.
const WORST: usize = 50;

impl RunReport {
    /// Whether the run differs from its baseline in something that a change can be asked about.
    pub fn has_news(&self) -> bool {
        let mut changes = self.comparison.iter().flat_map(|it| &it.changes);
        changes.any(|it| it.class != Class::StillFailing && it.class != Class::Unchanged)
            || self.surface.as_ref().is_some_and(Surface::has_changes)
    }

    /// Whether the run is not as it should be.
    pub fn is_bad(&self) -> bool {
        let verdict = self.judgement.as_ref().map(|it| it.verdict);
        self.tally().is_red() || verdict.is_none_or(|verdict| verdict != Verdict::Pass)
    }
}

/// The comment, without its marker, in at most so many bytes.
pub fn within(report: &RunReport, around: &Surroundings, budget: usize) -> String {
    for (rows, details, most) in LEVELS {
        let page = Page {
            report,
            around,
            ink: Ink {
                secrets: Some(&around.secrets),
                most,
                files: around.files.clone(),
            },
            rows,
            details,
        };
        let text = page.text();
        if text.len() <= budget {
            return text;
        }
    }
    let mut text = headline(report);
    text.truncate(budget);
    text
}

fn headline(report: &RunReport) -> String {
    let tally = report.tally();
    let verdict = report.judgement.as_ref().map(|it| it.verdict.word());
    let first = [
        verdict.unwrap_or("not judged").to_owned(),
        format!("{}/{} passed", tally.passed, tally.executed()),
    ];
    let parts = [first.to_vec(), tally.besides()].concat();
    format!("### mcp-assert: {}\n", parts.join(", "))
}

struct Page<'a> {
    report: &'a RunReport,
    around: &'a Surroundings,
    ink: Ink<'a>,
    /// Rows of all but the worst.
    rows: usize,
    /// Failures in full.
    details: usize,
}

impl Page<'_> {
    fn text(&self) -> String {
        let report = self.report;
        let causes = self.ink.causes(report, 10);
        let mut parts = vec![headline(report), causes, self.compared()];
        match &report.comparison {
            Some(comparison) => {
                let records = report.records.iter().rev();
                let records = records.map(|record| (record.key(), record)).collect();
                parts.extend(Class::ALL.map(|class| self.class(class, comparison, &records)));
            }
            None => parts.push(self.failures()),
        }
        let surface = report.surface.iter().flat_map(|it| &it.targets);
        let told = surface.filter(|it| !it.changes.is_empty()).count();
        parts.push(self.ink.surface(report, (WORST / told.max(1), self.rows)));
        let detail = Detail {
            trials: report.trials,
            frames: Frames::None,
            times: Times::Hidden,
            stderr_lines: STDERR_LINES,
        };
        let red = self.red().take(self.details);
        parts.extend(red.map(|record| self.ink.failure(record, &detail, "")));
        if self.details == 0 {
            let text = "\n_Parts were left out to fit; the report of the run has all._\n";
            parts.push(text.to_owned());
        }
        parts.push(self.footer());
        parts.concat()
    }

    /// What it was compared with, in numbers.
    fn compared(&self) -> String {
        let Some(comparison) = &self.report.comparison else {
            let reason = self.report.uncompared.as_deref().unwrap_or_default();
            if reason.is_empty() {
                return "\nNot compared.\n".to_owned();
            }
            let reason = self.ink.inline(reason);
            return format!("\nNot compared: {reason}.\n");
        };
        let against = self.ink.inline(&comparison.against);
        format!(
            "\nCompared with {against}: {}.\n",
            comparison.counts(&Class::ALL)
        )
    }

    fn class(
        &self,
        class: Class,
        comparison: &Comparison,
        records: &BTreeMap<String, &Record>,
    ) -> String {
        let most = if class == Class::Regressed {
            WORST
        } else {
            self.rows
        };
        let rows = comparison.of(class).map(|change| {
            let record = records.get(&change.key).copied();
            let name = self.ink.linked(&change.name, record);
            let what = match (class, change.before_us, change.now_us) {
                (Class::Slower, Some(before), Some(now)) => {
                    format!("{} ms, was {} ms", now / 1_000, before / 1_000)
                }
                _ => change.transition(),
            };
            let why = record.map(Record::headline).filter(|it| !it.is_empty());
            let why = why.map(|it| format!(": {}", self.ink.inline(it)));
            format!("- {name}: {what}{}\n", why.unwrap_or_default())
        });
        section(class.title(), most, &rows.collect::<Vec<_>>())
    }

    /// What is red where nothing is known of before.
    fn failures(&self) -> String {
        let rows = self.red().map(|record| {
            let name = record.display_name(self.report.trials);
            let name = self.ink.linked(&name, Some(record));
            let why = self.ink.inline(record.headline());
            format!("- {} {name}: {why}\n", record.status.word())
        });
        section("Not passed", WORST, &rows.collect::<Vec<_>>())
    }

    fn red(&self) -> impl Iterator<Item = &Record> {
        let records = self.report.records.iter();
        records.filter(|record| record.status.is_red())
    }

    /// Which servers, which commit, which run.
    fn footer(&self) -> String {
        let records = self.report.records.iter();
        let told = records.filter(|it| it.status != Status::Skip);
        let servers: BTreeSet<(&str, &str)> = told
            .filter_map(|it| Some((it.server.as_deref()?, it.revision.as_deref()?)))
            .collect();
        let named = servers.iter().take(MOST_SERVERS).map(|(server, revision)| {
            format!(
                "{} with {}",
                self.ink.inline(server),
                self.ink.inline(revision)
            )
        });
        let mut named: Vec<String> = named.collect();
        if let more @ 1.. = servers.len().saturating_sub(MOST_SERVERS) {
            named.push(format!("and {more} more"));
        }
        let servers = (!named.is_empty()).then(|| format!("Servers: {}", named.join(", ")));
        let tool = format!("mcp-assert {}", inline(&self.report.tool.version, 30));
        let head = self
            .around
            .head
            .iter()
            .map(|it| format!("at {}", inline(it, 40)));
        let run = self.around.run.iter().map(|it| format!("[this run]({it})"));
        let parts: Vec<String> = servers
            .into_iter()
            .chain([tool])
            .chain(head)
            .chain(run)
            .collect();
        format!("\n<sub>{}</sub>\n", parts.join(" · "))
    }
}

fn section(title: &str, most: usize, rows: &[String]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    format!("\n#### {title} ({})\n{}", rows.len(), listed(rows, most))
}

#[cfg(test)]
mod tests;
