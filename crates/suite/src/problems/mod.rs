//! Everything that can be wrong in the user's files: a constructor for each, which phrases it. Callers pass what they
//! have, and [`Problems`] adds the place.

pub(crate) mod code;
mod files;
mod home;
mod shape;
mod values;
mod variables;
mod yaml;

use std::{collections::HashSet, sync::Arc};

pub(crate) use self::{files::*, home::nearest, shape::*, values::*, variables::*, yaml::*};
use crate::yaml::{At, MERGE, Source};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::{Origin, SourceFile},
};

/// The problems of one document, in the order of their discovery.
#[derive(Debug)]
pub(crate) struct Problems {
    /// The suite's file.
    suite: Arc<SourceFile>,
    /// The settings file whose defaults apply.
    settings: Option<Arc<SourceFile>>,
    list: Vec<Diagnostic>,
    /// Texts and keys with `{{…}}` that have no value yet: problems in them are left for later.
    open: Vec<At>,
    /// Keys that are there and were refused: they are not reported as missing.
    refused: Vec<(String, At)>,
}

impl Problems {
    /// No problems in this file, which is read together with that settings file.
    pub(crate) fn new(suite: Arc<SourceFile>, settings: Option<Arc<SourceFile>>) -> Self {
        Self {
            suite,
            settings,
            list: Vec::new(),
            open: Vec::new(),
            refused: Vec::new(),
        }
    }

    /// No problems in the same files.
    pub(crate) fn empty(&self) -> Self {
        Self::new(Arc::clone(&self.suite), self.settings.clone())
    }

    /// No problems in the same files, of which these texts and keys have no value yet.
    pub(crate) fn with_open(&self, open: Vec<At>) -> Self {
        let empty = self.empty();
        Self { open, ..empty }
    }

    /// The place with its file.
    pub(crate) fn origin(&self, at: At) -> Origin {
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

    /// Adds a problem at a place, unless it depends on a value that is not known yet.
    pub(crate) fn add(&mut self, at: At, problem: Diagnostic) {
        if !self.open.iter().any(|open| open.contains(at)) {
            self.add_certain(at, problem);
        }
    }

    /// Adds a problem at a place, whichever value is filled in there.
    pub(crate) fn add_certain(&mut self, at: At, problem: Diagnostic) {
        self.list.push(Diagnostic {
            origin: Some(self.origin(at)),
            ..problem
        });
    }

    /// Adds problems that have their places.
    pub(crate) fn add_all(&mut self, problems: Vec<Diagnostic>) {
        self.list.extend(problems);
    }

    /// Whether an error was found within a place, or may be found there later.
    pub(crate) fn is_broken(&self, at: At) -> bool {
        let place = self.origin(at);
        let is_within = |problem: &Diagnostic| {
            let origin = problem.origin.as_ref();
            origin.is_some_and(|origin| {
                Arc::ptr_eq(&origin.file, &place.file)
                    && place.span.start <= origin.span.start
                    && origin.span.end <= place.span.end
            })
        };
        let mut errors = self.list.iter().filter(|it| it.severity == Severity::Error);
        self.is_open(at) || errors.any(is_within)
    }

    /// Whether any text has no value yet.
    pub(crate) fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether a text within a place has no value yet.
    pub(crate) fn is_open(&self, at: At) -> bool {
        self.open.iter().any(|open| at.contains(*open))
    }

    /// Notes a key that is there and was refused.
    pub(crate) fn refuse(&mut self, key: &str, at: At) {
        self.refused.push((key.to_owned(), at));
    }

    /// Whether one of the keys, or a merge that may have brought it, was refused from a place on.
    pub(crate) fn is_refused(&self, keys: &[&str], from: At) -> bool {
        self.refused.iter().any(|(key, at)| {
            (key == MERGE || keys.contains(&key.as_str()))
                && (at.source != from.source || at.span.start >= from.span.start)
        })
    }

    /// Drops the problems of a code that turned out not to matter.
    pub(crate) fn forget(&mut self, code: &str) {
        self.list.retain(|problem| problem.code != code);
    }

    /// The number of problems.
    pub(crate) fn count(&self) -> usize {
        self.list.len()
    }

    /// Makes warnings of all problems after this many.
    pub(crate) fn warn_from(&mut self, count: usize) {
        for problem in self.list.iter_mut().skip(count) {
            problem.severity = Severity::Warning;
        }
    }

    /// The problems in the order of the file. An alias repeats the problems of its value at the same place: they are
    /// given once.
    pub(crate) fn take(&mut self) -> Vec<Diagnostic> {
        let mut list = std::mem::take(&mut self.list);
        let mut known = HashSet::new();
        list.retain(|problem| {
            let span = problem.origin.as_ref().map(|origin| origin.span);
            known.insert((problem.code, span, problem.message.clone()))
        });
        list.sort_by_key(|problem| problem.origin.as_ref().map(|origin| origin.span.start));
        list
    }
}

/// A problem that makes the document unusable.
fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        message: message.into(),
        origin: None,
        label: None,
        help: Vec::new(),
    }
}

/// A document that works, but probably not as meant.
fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        severity: Severity::Warning,
        ..error(code, message)
    }
}

/// `did you mean …?`, or all words to choose from.
fn choices(found: &str, known: &[&str]) -> String {
    match text::nearest(found, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("one of {}", listed(known)),
    }
}

/// Names as a list in words: `` `a`, `b` or `c` ``.
fn listed(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "nothing".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}
