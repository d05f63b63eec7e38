//! Files and documents that cannot be used: where they stand and what is said of them. What is wrong is found by
//! `suite::lower`.

use std::{collections::HashSet, sync::Arc};

use crate::{model::Case, problems::code, settings::Settings};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::{SourceFile, Span},
};

/// The file that a problem is in, with the text as far as it could be read.
pub(super) fn file_of(problem: &Diagnostic, shown: String) -> Arc<SourceFile> {
    match &problem.origin {
        Some(origin) => Arc::clone(&origin.file),
        None => Arc::new(SourceFile::new(shown, String::new())),
    }
}

/// A case that cannot be used stands where its first problem is, if that is in its own file.
pub(super) fn at_first_problem(case: Arc<Case>, problems: &[Diagnostic]) -> Arc<Case> {
    let errors = problems.iter().filter(|problem| is_error(problem));
    let mut origins = errors.filter_map(|problem| problem.origin.as_ref());
    match origins.find(|origin| Arc::ptr_eq(&origin.file, &case.origin.file)) {
        Some(origin) => Arc::new(Case {
            origin: origin.clone(),
            ..Case::clone(&case)
        }),
        None => case,
    }
}

/// Whether a problem makes its document unusable.
pub(super) fn is_error(problem: &Diagnostic) -> bool {
    problem.severity == Severity::Error
}

/// What is wrong with a document, beside settings of which nothing can be read: they may say which server to start.
pub(super) fn beside(settings: &Settings, mut problems: Vec<Diagnostic>) -> Vec<Diagnostic> {
    for problem in &mut problems {
        if is_of_unread(settings, problem) {
            "the settings, which may say which server to start, cannot be read"
                .clone_into(&mut problem.message);
        }
    }
    problems
}

/// Whether a problem only follows from settings of which nothing can be read.
fn is_of_unread(settings: &Settings, problem: &Diagnostic) -> bool {
    settings.is_unread && problem.code == code::NO_SERVER
}

/// What makes a document or a file unusable, one line each.
pub(super) fn reasons(problems: &[Diagnostic]) -> Vec<String> {
    let errors = problems.iter().filter(|problem| is_error(problem));
    errors.map(reason).collect()
}

/// A problem in one line, with its place.
pub(super) fn reason(problem: &Diagnostic) -> String {
    match &problem.origin {
        Some(origin) => format!("{}: {}", origin.location(), problem.message),
        None => problem.message.clone(),
    }
}

/// What was said of settings files: their defaults are read again with every document.
#[derive(Debug, Default)]
pub(super) struct Told {
    known: HashSet<(String, Span, &'static str, String)>,
}

impl Told {
    /// Whether a problem of a document is to be told, beside these settings.
    pub(super) fn is_news_of(&mut self, problem: &Diagnostic, settings: &Settings) -> bool {
        !is_of_unread(settings, problem) && self.is_news(problem, settings.file.as_ref())
    }

    /// Whether a problem is to be told: one of the settings file is told once.
    pub(super) fn is_news(
        &mut self,
        problem: &Diagnostic,
        settings: Option<&Arc<SourceFile>>,
    ) -> bool {
        match (&problem.origin, settings) {
            (Some(origin), Some(settings)) if Arc::ptr_eq(&origin.file, settings) => {
                let path = settings.path.to_string();
                let what = problem.message.clone();
                self.known.insert((path, origin.span, problem.code, what))
            }
            (Some(_) | None, _) => true,
        }
    }
}
