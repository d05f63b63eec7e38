//! The comment on a pull request: what the change did to the suite and to the servers' surfaces, each line with a
//! link to its place at the head commit. Where the comment goes and whose it is, is `deliver`'s.

use std::{collections::BTreeMap, collections::BTreeSet};

use super::markdown::escape::{block, inline};
use crate::{
    RunReport,
    compare::{Change, Class},
    failure::{self, Detail, Frames, Times},
    record::{At, Record},
    surface::{Surface, SurfaceChange, TargetSurface, Weight},
    verdict::Verdict,
};
use check::outcome::Status;
use text::{address::encoded, count, redact::Secrets};

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

/// How much is said.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// Rows of all but the worst.
    rows: usize,
    /// Failures in full.
    details: usize,
    /// Characters of a name.
    name: usize,
}

/// From all to the least, until it fits; the worst rows stay.
const LEVELS: [Level; 6] = [
    level(50, 10, 200),
    level(50, 3, 200),
    level(50, 0, 120),
    level(20, 0, 60),
    level(5, 0, 40),
    level(0, 0, 30),
];

/// Rows of regressions and of breaking changes.
const WORST: usize = 50;

const fn level(rows: usize, details: usize, name: usize) -> Level {
    Level {
        rows,
        details,
        name,
    }
}

/// The classes in the order they are told.
const TOLD: [Class; 9] = [
    Class::Regressed,
    Class::NewFailure,
    Class::StillFailing,
    Class::Fixed,
    Class::Removed,
    Class::NewlySkipped,
    Class::Flaky,
    Class::Slower,
    Class::New,
];

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
    for level in LEVELS {
        let page = Page {
            report,
            around,
            level,
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
    level: Level,
}

impl Page<'_> {
    fn inline(&self, text: &str) -> String {
        self.foreign(text, self.level.name)
    }

    /// Text from outside without its secrets, in at most so many characters.
    fn foreign(&self, text: &str, most: usize) -> String {
        inline(&self.around.secrets.mask(text), most)
    }

    fn text(&self) -> String {
        let mut parts = vec![headline(self.report), self.causes(), self.compared()];
        let records: BTreeMap<String, &Record> = self
            .report
            .records
            .iter()
            .rev()
            .map(|record| (record.key(), record))
            .collect();
        match &self.report.comparison {
            Some(comparison) => {
                for class in TOLD {
                    let changes: Vec<&Change> = comparison.of(class).collect();
                    parts.push(self.class(class, &changes, &records));
                }
            }
            None => parts.push(self.failures()),
        }
        parts.push(self.surface());
        parts.push(self.details());
        if self.level.details < LEVELS[0].details {
            parts.push(
                "\n_Parts were left out to fit; the report of the run has all._\n".to_owned(),
            );
        }
        parts.push(self.footer());
        parts.concat()
    }

    /// Why it is not a pass.
    fn causes(&self) -> String {
        let judgement = self.report.judgement.iter();
        let causes = judgement.flat_map(|it| &it.causes).take(10);
        let lines = causes.map(|cause| {
            let text = self.foreign(&cause.text, 200);
            format!("- {}: {text}\n", cause.verdict.word())
        });
        let lines: String = lines.collect();
        if lines.is_empty() {
            lines
        } else {
            format!("\n{lines}")
        }
    }

    /// What it was compared with, in numbers.
    fn compared(&self) -> String {
        let Some(comparison) = &self.report.comparison else {
            let reason = self.report.uncompared.as_deref();
            let reason = reason.filter(|it| !it.is_empty());
            let reason = reason.map(|it| format!(": {}", self.foreign(it, 200)));
            return format!("\nNot compared{}.\n", reason.unwrap_or_default());
        };
        let counts = comparison.counts(&TOLD);
        format!(
            "\nCompared with {}: {counts}.\n",
            self.foreign(&comparison.against, 200)
        )
    }

    fn class(
        &self,
        class: Class,
        changes: &[&Change],
        records: &BTreeMap<String, &Record>,
    ) -> String {
        let most = if class == Class::Regressed {
            WORST
        } else {
            self.level.rows
        };
        let rows = changes.iter().take(most).map(|change| {
            let record = records.get(&change.key).copied();
            let name = self.linked(&change.name, record);
            let what = match (class, change.before_us, change.now_us) {
                (Class::Slower, Some(before), Some(now)) => {
                    format!("{} ms, was {} ms", now / 1_000, before / 1_000)
                }
                _ => change.transition(),
            };
            let why = record.map(Record::headline).filter(|it| !it.is_empty());
            let why = why.map(|it| format!(": {}", self.inline(it)));
            format!("- {name}: {what}{}\n", why.unwrap_or_default())
        });
        section(
            class.title(),
            changes.len(),
            most,
            &rows.collect::<String>(),
        )
    }

    /// What is red where nothing is known of before.
    fn failures(&self) -> String {
        let red: Vec<&Record> = self.red();
        let rows = red.iter().take(WORST).map(|record| {
            let name = self.linked(&record.display_name(self.report.trials), Some(record));
            let why = self.inline(record.headline());
            format!("- {} {name}: {why}\n", record.status.word())
        });
        let rows: String = rows.collect();
        section("Not passed", red.len(), WORST, &rows)
    }

    fn red(&self) -> Vec<&Record> {
        let records = self.report.records.iter();
        records.filter(|record| record.status.is_red()).collect()
    }

    /// A name that leads to its place at the head commit.
    fn linked(&self, name: &str, record: Option<&Record>) -> String {
        let text = self.inline(name);
        let at = record.map(|record| {
            let evidence = record.evidence.as_ref();
            record.place_of(evidence.and_then(|it| it.mismatches.first()))
        });
        let place = at.zip(self.around.files.as_ref());
        // An address may not tell what the text beside it hides.
        let is_shown = |file: &str| self.around.secrets.mask(file) == file;
        let fits = |at: &At<'_>| is_inside(at.file) && is_shown(at.file);
        let Some((at, files)) = place.filter(|(at, _)| fits(at)) else {
            return text;
        };
        format!("[{text}]({files}/{}#L{})", encoded(at.file), at.line)
    }

    /// What changed in what the servers offer.
    fn surface(&self) -> String {
        let targets = self.report.surface.iter().flat_map(|it| &it.targets);
        let told = targets.clone().filter(|it| !it.changes.is_empty()).count();
        let most = WORST / told.max(1);
        let surface = self.report.surface.iter();
        let uncompared = surface.flat_map(Surface::uncompared).map(|(name, why)| {
            let name = self.inline(name);
            format!("\n#### Surface of {name}: not compared\n\nThe reason: {why}.\n")
        });
        let compared = targets.map(|target| self.target(target, most));
        uncompared.chain(compared).collect()
    }

    /// What changed in one target, with so many of the breaking changes.
    fn target(&self, target: &TargetSurface, most: usize) -> String {
        let (breaking, other): (Vec<_>, Vec<_>) = target
            .changes
            .iter()
            .partition(|it| it.weight == Weight::Breaking);
        if breaking.is_empty() && other.is_empty() && target.unknown.is_empty() {
            return String::new();
        }
        let number = target.changes.len() + target.left_out;
        let shown = breaking.iter().take(most);
        let shown = shown.chain(other.iter().take(self.level.rows));
        let rows: Vec<String> = shown.map(|it| self.surface_change(it)).collect();
        let left_out = number - rows.len();
        let more = (left_out > 0).then(|| format!("- … and {left_out} more\n"));
        let unknown = target.unknown_lists();
        let unknown = unknown.map_or_else(String::new, |it| format!("- not compared: {it}\n"));
        format!(
            "\n#### Surface of {}: {}, {} breaking\n\n{}{}{unknown}",
            self.inline(&target.name),
            count(number, "change"),
            target.breaking,
            rows.concat(),
            more.unwrap_or_default()
        )
    }

    fn surface_change(&self, change: &SurfaceChange) -> String {
        let weight = match change.weight {
            Weight::Breaking => "**breaking** ",
            Weight::Notable => "",
        };
        let wording = change
            .wording
            .as_ref()
            .map(|it| format!(" {}", self.inline(it)));
        format!(
            "- {weight}{} {}: {}{}\n",
            change.listing.entry(),
            self.inline(&change.name),
            self.inline(&change.what),
            wording.unwrap_or_default()
        )
    }

    /// The first failures in full, folded up.
    fn details(&self) -> String {
        let detail = Detail {
            trials: self.report.trials,
            frames: Frames::None,
            times: Times::Hidden,
            stderr_lines: STDERR_LINES,
        };
        let red = self.red().into_iter().take(self.level.details);
        let parts = red.map(|record| {
            let name = self.inline(&record.display_name(self.report.trials));
            format!(
                "\n<details><summary>{} {name}</summary>\n{}</details>\n",
                record.status.word(),
                block(&self.around.secrets.mask(&failure::text(record, &detail)))
            )
        });
        parts.collect::<Vec<_>>().concat()
    }

    /// Which servers, which commit, which run.
    fn footer(&self) -> String {
        let told = self
            .report
            .records
            .iter()
            .filter(|it| it.status != Status::Skip);
        let servers: BTreeSet<(&str, &str)> = told
            .filter_map(|it| Some((it.server.as_deref()?, it.revision.as_deref()?)))
            .collect();
        let named = servers.iter().take(MOST_SERVERS).map(|(server, revision)| {
            format!(
                "{} with {}",
                self.inline(server),
                self.foreign(revision, 30)
            )
        });
        let mut parts: Vec<String> = Vec::new();
        let named: Vec<String> = named.collect();
        if !named.is_empty() {
            let more = servers.len().saturating_sub(MOST_SERVERS);
            let more = (more > 0).then(|| format!(", and {more} more"));
            parts.push(format!(
                "Servers: {}{}",
                named.join(", "),
                more.unwrap_or_default()
            ));
        }
        parts.push(format!(
            "mcp-assert {}",
            inline(&self.report.tool.version, 30)
        ));
        if let Some(head) = &self.around.head {
            parts.push(format!("at {}", inline(head, 40)));
        }
        if let Some(run) = &self.around.run {
            parts.push(format!("[this run]({run})"));
        }
        format!("\n<sub>{}</sub>\n", parts.join(" · "))
    }
}

/// Whether a file lies in the repository, as far as its name tells.
fn is_inside(file: &str) -> bool {
    !file.starts_with('/') && !file.split('/').any(|part| part == ".." || part.is_empty())
}

fn section(title: &str, number: usize, most: usize, rows: &str) -> String {
    if number == 0 {
        return String::new();
    }
    let more = number.saturating_sub(most);
    let more = (more > 0).then(|| format!("- … and {more} more\n"));
    format!(
        "\n#### {title} ({number})\n\n{rows}{}",
        more.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests;
