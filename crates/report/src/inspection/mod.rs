//! What a look at a server found: by `lint` and the other commands that judge a server without a suite, and the formats
//! of that.
//!
//! - [`Finding`] is one statement about a server, with a stable code and a [fingerprint](Finding::fingerprint).
//! - [`Inspection`] is all of them, with what was looked at and what was not called. [`Inspection::cleaned`] masks and
//!   cleans every text; the formats take only that.
//! - [`terminal`], [`markdown`], [`sarif`] and [`junit`] are formats. JSON differs by command; [`json`] is the part that
//!   all share.

pub mod json;
pub mod markdown;
pub mod sarif;
pub mod terminal;
#[cfg(test)]
mod tests;

use std::{borrow::Cow, collections::HashMap, sync::Arc};

pub use crate::junit::inspection as junit;
use crate::{cleaner::Cleaner, sarif::fingerprint};
use text::{count, head};

/// The most characters of an evidence.
const LONGEST_EVIDENCE: usize = 300;

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The server as a whole.
    Server,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource, by its URI.
    Resource,
    /// A resource template, by its URI template.
    Template,
}

impl Kind {
    /// The word for one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "template",
        }
    }

    /// `tool NAME`; of the server only the word.
    pub fn titled(self, name: &str) -> String {
        let title = format!("{} {name}", self.word());
        title.trim_end().to_owned()
    }
}

/// How bad a finding is; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// A client or a model stumbles over it.
    Error,
    /// Worth mending.
    Warning,
    /// Worth knowing.
    Info,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Info];

    /// The word in every format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// Whether a finding counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    #[default]
    Counts,
    /// The baseline knows it.
    Known,
    /// The settings allow it, for this reason.
    Allowed(String),
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The path as given.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// Where a file begins.
    pub fn beginning(file: String) -> Self {
        let (line, column) = (1, 1);
        Self { file, line, column }
    }
}

/// One statement about a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The stable code of the rule.
    pub code: &'static str,
    /// What it is about.
    pub kind: Kind,
    /// The name of that; of the server empty.
    pub name: String,
    /// The part that it is about, as a JSON Pointer from the entry; empty for the whole.
    pub pointer: String,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// What to write instead.
    pub help: Option<Cow<'static, str>>,
    /// The text or value that shows it.
    pub evidence: Option<String>,
    /// Where it stands in a file.
    pub place: Option<Place>,
    /// Whether it counts.
    pub standing: Standing,
}

impl Finding {
    /// What a rule says about the server as a whole, without a message.
    pub fn new(code: &'static str, severity: Severity, help: Cow<'static, str>) -> Self {
        Self {
            code,
            kind: Kind::Server,
            name: String::new(),
            pointer: String::new(),
            severity,
            message: String::new(),
            help: Some(help),
            evidence: None,
            place: None,
            standing: Standing::Counts,
        }
    }

    /// Identifies a finding across runs: the code, what it is about, and which part of that. Message, line and order may
    /// change.
    pub fn fingerprint(&self) -> String {
        fingerprint([self.code, self.kind.word(), &self.name, &self.pointer])
    }

    /// `tool NAME`; of the server only the word.
    pub(crate) fn about(&self) -> String {
        self.kind.titled(&self.name)
    }

    /// Whether it counts.
    pub fn counts(&self) -> bool {
        self.standing == Standing::Counts
    }

    /// What stands below its message, each part behind a word.
    pub(crate) fn below(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let at = (!self.pointer.is_empty()).then_some(&*self.pointer);
        let found = self.evidence.as_deref();
        let parts = [
            ("at", at),
            ("found", found),
            ("help:", self.help.as_deref()),
        ];
        parts
            .into_iter()
            .filter_map(|(word, part)| Some((word, part?)))
    }
}

/// A check, for formats that describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// The stable code.
    pub code: &'static str,
    /// The name in words divided by `-`.
    pub name: &'static str,
    /// What is wrong where it fires, in one sentence.
    pub title: Cow<'static, str>,
    /// What to write instead.
    pub help: Cow<'static, str>,
    /// How bad it usually is.
    pub severity: Severity,
    /// How often it is right: `very-high`, `high`, `medium`, `low`.
    pub precision: &'static str,
    /// At most ten words to select by.
    pub tags: &'static [&'static str],
}

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// What it is.
    pub kind: Kind,
    /// Its name; of the server empty.
    pub name: String,
    /// The codes of the checks that ran on it.
    pub checks: Arc<[&'static str]>,
}

/// Something that was not called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCalled {
    /// What it is.
    pub kind: Kind,
    /// Its name.
    pub name: String,
    /// Why not.
    pub reason: String,
    /// The option that calls it, if one does.
    pub option: Option<String>,
}

/// All that a look at a server found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The command.
    pub command: &'static str,
    /// The name of the server for people.
    pub server: String,
    /// The command line that looks again.
    pub again: String,
    /// The file to which findings without a place belong, for code scanning.
    pub anchor: Option<Place>,
    /// The checks that ran.
    pub checks: Vec<Check>,
    /// What was looked at, in the order of the server.
    pub subjects: Vec<Subject>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was not called.
    pub not_called: Vec<NotCalled>,
    /// What people should know beside the findings.
    pub notes: Vec<String>,
}

impl Inspection {
    /// The same with every text masked, cleaned and bounded, and the findings in a fixed order.
    pub fn cleaned(mut self, cleaner: &Cleaner) -> Self {
        self.server = cleaner.line(&self.server);
        self.again = cleaner.line(&self.again);
        for subject in &mut self.subjects {
            subject.name = cleaner.line(&subject.name);
        }
        for it in &mut self.findings {
            it.name = cleaner.line(&it.name);
            it.pointer = cleaner.line(&it.pointer);
            it.message = cleaner.line(&it.message);
            it.help = it.help.take().map(|help| cleaner.line(&help).into());
            let evidence = it.evidence.take();
            it.evidence = evidence.map(|text| head(&cleaner.line(&text), LONGEST_EVIDENCE));
            if let Standing::Allowed(reason) = &mut it.standing {
                *reason = cleaner.line(reason);
            }
        }
        for it in &mut self.not_called {
            it.name = cleaner.line(&it.name);
            it.reason = cleaner.line(&it.reason);
        }
        for note in &mut self.notes {
            *note = cleaner.line(note);
        }
        self.sort();
        self
    }

    /// Puts the findings in an order that does not depend on how they were found: as the subjects, then the worst first.
    pub fn sort(&mut self) {
        let mut places = HashMap::new();
        for (place, subject) in self.subjects.iter().enumerate() {
            places
                .entry((subject.kind, &*subject.name))
                .or_insert(place);
        }
        self.findings.sort_by_cached_key(|it| {
            let place = places.get(&(it.kind, &*it.name)).copied();
            let about = (place.unwrap_or(usize::MAX), it.kind, it.name.clone());
            let which = (it.pointer.clone(), it.message.clone());
            (about, it.severity, it.code, which)
        });
    }

    /// The sorted findings by subject: what has errors that count first, then in the order of the server.
    pub fn groups(&self) -> Vec<&[Finding]> {
        let is_same =
            |one: &Finding, other: &Finding| (one.kind, &one.name) == (other.kind, &other.name);
        let mut groups: Vec<&[Finding]> = self.findings.chunk_by(is_same).collect();
        groups.sort_by_key(|group| {
            let counting = group.iter().filter(|it| it.counts());
            let worst = counting.map(|it| it.severity).min();
            (worst.is_none(), worst)
        });
        groups
    }

    /// Findings of a severity that count.
    pub fn count(&self, severity: Severity) -> usize {
        let counting = self.findings.iter().filter(|it| it.counts());
        counting.filter(|it| it.severity == severity).count()
    }

    /// Errors, warnings and infos that count.
    pub fn numbers(&self) -> [usize; 3] {
        Severity::ALL.map(|it| self.count(it))
    }

    /// `2 errors, 1 warning`, with infos, known and allowed findings where there are some.
    pub fn counts(&self) -> String {
        let [errors, warnings, infos] = self.numbers();
        let standing = |is: fn(&Standing) -> bool| {
            let all = self.findings.iter();
            all.filter(|it| is(&it.standing)).count()
        };
        let known = standing(|it| *it == Standing::Known);
        let allowed = standing(|it| matches!(it, Standing::Allowed(_)));
        let mut parts = vec![count(errors, "error"), count(warnings, "warning")];
        let optional = [
            (infos, count(infos, "info")),
            (known, format!("{known} known")),
            (allowed, format!("{allowed} allowed")),
        ];
        parts.extend(optional.into_iter().filter(|it| it.0 > 0).map(|it| it.1));
        parts.join(", ")
    }

    /// What was looked at: `3 tools, 1 prompt`; of `conform` the checks.
    pub fn looked_at(&self) -> String {
        if self.command == "conform" {
            return count(self.checks.len(), "check");
        }
        let kinds = [Kind::Tool, Kind::Prompt, Kind::Resource, Kind::Template];
        let shown = kinds.into_iter().filter_map(|kind| {
            let number = self.subjects.iter().filter(|it| it.kind == kind).count();
            (number > 0 || kind == Kind::Tool).then(|| count(number, kind.word()))
        });
        shown.collect::<Vec<_>>().join(", ")
    }
}
