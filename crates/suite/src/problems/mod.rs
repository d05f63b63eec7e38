//! Everything that can be wrong in the user's files: one constructor for each, which phrases it. Call sites
//! pass what they have. The drawing is done by `words::diagnostic`.

pub mod code;
mod files;
mod home;
mod shape;
mod values;
mod variables;
mod yaml;

use std::{collections::HashSet, sync::Arc};

pub use self::{files::*, home::nearest, shape::*, values::*, variables::*, yaml::*};
use crate::yaml::{At, MERGE, Source};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::{Origin, SourceFile, Span},
};

/// What tells problems apart: the code, the file and the place in it, the message.
type Told = (&'static str, Option<(usize, Span)>, String);

/// What was found to be wrong in one document, in the order of its discovery.
#[derive(Debug)]
pub struct Problems {
    /// The suite's file.
    suite: Arc<SourceFile>,
    /// The settings file whose defaults apply.
    settings: Option<Arc<SourceFile>>,
    /// What was noted so far.
    list: Vec<Diagnostic>,
    /// What tells the ones in the list apart.
    known: HashSet<Told>,
    /// Texts and keys that are filled in later: what will be wrong with them is not known yet.
    open: Vec<At>,
    /// Keys that are there and were refused, or were meant by others that were: they are not missing.
    refused: Vec<(String, At)>,
}

impl Problems {
    /// Nothing wrong yet in this file, read together with that settings file.
    pub fn new(suite: Arc<SourceFile>, settings: Option<Arc<SourceFile>>) -> Self {
        Self {
            suite,
            settings,
            list: Vec::new(),
            known: HashSet::new(),
            open: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// Nothing wrong yet in the same files.
    pub fn empty(&self) -> Self {
        Self::new(Arc::clone(&self.suite), self.settings.clone())
    }

    /// Nothing wrong yet in the same files, of which these texts and keys are filled in later.
    pub fn with_open(&self, open: Vec<At>) -> Self {
        let empty = self.empty();
        Self { open, ..empty }
    }

    /// The place as origin.
    pub fn origin(&self, at: At) -> Origin {
        let file = match (at.source, &self.settings) {
            (Source::Settings, Some(settings)) => settings,
            (Source::Settings, None) | (Source::Suite | Source::Data | Source::Filled(_), _) => {
                &self.suite
            }
        };
        Origin {
            file: Arc::clone(file),
            span: at.span,
        }
    }

    /// The file the documents are in.
    pub fn file(&self) -> &Arc<SourceFile> {
        &self.suite
    }

    /// Notes a problem, unless it depends on what is filled in later.
    pub fn add(&mut self, problem: Diagnostic) {
        let place = problem.origin.as_ref();
        let is_at = |open: &At| place.is_some_and(|place| lies_in(place, &self.origin(*open)));
        if !self.open.iter().any(is_at) {
            self.add_certain(problem);
        }
    }

    /// Notes a problem that is there whatever is filled in. The same one at the same place, as an alias makes it, is
    /// noted once.
    pub fn add_certain(&mut self, problem: Diagnostic) {
        let place = problem.origin.as_ref().map(|origin| {
            let file = Arc::as_ptr(&origin.file) as usize;
            (file, origin.span)
        });
        if self
            .known
            .insert((problem.code, place, problem.message.clone()))
        {
            self.list.push(problem);
        }
    }

    /// Notes several problems.
    pub fn add_all(&mut self, problems: Vec<Diagnostic>) {
        for problem in problems {
            self.add(problem);
        }
    }

    /// Whether an error lies within a place: what follows from it need not be told.
    pub fn is_broken(&self, at: At) -> bool {
        let place = self.origin(at);
        let mut errors = self.list.iter();
        self.is_open(at)
            || errors.any(|problem| {
                let origin = problem.origin.as_ref();
                problem.severity == Severity::Error
                    && origin.is_some_and(|origin| lies_in(origin, &place))
            })
    }

    /// Whether something is filled in later.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether something within a place is filled in later.
    pub fn is_open(&self, at: At) -> bool {
        let place = self.origin(at);
        let mut open = self.open.iter();
        open.any(|open| lies_in(&self.origin(*open), &place))
    }

    /// Notes a key that is there and was refused.
    pub fn refuse(&mut self, key: &str, at: At) {
        self.refused.push((key.to_owned(), at));
    }

    /// Whether one of the keys, or a merge that may have brought it, was refused from a place on.
    pub fn is_refused(&self, keys: &[&str], from: At) -> bool {
        self.refused.iter().any(|(key, at)| {
            (key == MERGE || keys.contains(&key.as_str()))
                && (at.source != from.source || at.span.start >= from.span.start)
        })
    }

    /// Whether a key was refused in the map at a place.
    pub fn is_refused_in(&self, key: &str, map: At) -> bool {
        self.refused.iter().any(|(refused, at)| {
            refused == key
                && at.source == map.source
                && (map.span.start..map.span.end).contains(&at.span.start)
        })
    }

    /// Drops the problems of a code that turned out not to matter.
    pub fn forget(&mut self, code: &str) {
        self.list.retain(|problem| problem.code != code);
        self.known.retain(|(known, ..)| *known != code);
    }

    /// How many were noted.
    pub fn count(&self) -> usize {
        self.list.len()
    }

    /// Makes warnings of those that were noted after so many.
    pub fn warn_from(&mut self, count: usize) {
        for problem in self.list.iter_mut().skip(count) {
            problem.severity = Severity::Warning;
        }
    }

    /// Hands out what was noted, in the order of the file.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        let mut list = std::mem::take(&mut self.list);
        list.sort_by_key(|problem| problem.origin.as_ref().map(|origin| origin.span.start));
        list
    }
}

/// Whether a place lies in another one.
fn lies_in(inner: &Origin, outer: &Origin) -> bool {
    Arc::ptr_eq(&inner.file, &outer.file)
        && outer.span.start <= inner.span.start
        && inner.span.end <= outer.span.end
}

/// A problem that makes the document unusable.
fn error(code: &'static str, origin: Origin, message: String) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message,
        origin: Some(origin),
        label: None,
        help: Vec::new(),
    }
}

/// Something that works, but probably not as meant.
fn warning(code: &'static str, origin: Origin, message: String) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..error(code, origin, message)
    }
}

/// Adds the words beside the caret.
fn labelled(mut problem: Diagnostic, label: impl Into<String>) -> Diagnostic {
    problem.label = Some(label.into());
    problem
}

/// Adds a line of help.
fn helped(mut problem: Diagnostic, help: impl Into<String>) -> Diagnostic {
    problem.help.push(help.into());
    problem
}

/// `did you mean …?`, or all that there is to choose from.
fn choices(found: &str, known: &[&str]) -> String {
    match text::nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", listed(known)),
    }
}

/// Names as people list them: `` `a`, `b` or `c` ``.
pub fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
