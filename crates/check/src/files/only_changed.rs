//! `only_changed`: what changed in the fixture as a whole.

use super::{told, unlooked};
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
};
use mcp::observation::{
    Observation,
    files::{Change, PathKind},
};
use suite::model::expectation::PathPattern;

/// `only_changed`
pub(super) fn ask_only_changed(patterns: &[PathPattern]) -> Ask {
    let patterns: Vec<&str> = patterns
        .iter()
        .map(|pattern| pattern.written.as_str())
        .collect();
    Ask::new(
        "only_changed",
        match patterns.as_slice() {
            [] => "nothing in the fixture to change".to_owned(),
            patterns => format!(
                "nothing in the fixture but {} to change",
                phrase::list(patterns, "and")
            ),
        },
    )
}

/// `only_changed`: nothing but these paths changed in the fixture.
pub(super) fn only_changed(patterns: &[PathPattern], seen: &Observation) -> Verdict {
    let ask = ask_only_changed(patterns);
    let files = &seen.files;
    let Some(changed) = &files.changed else {
        return Verdict::Unknowable(
            "`only_changed` needs a fixture (`--fixture`) to compare with".to_owned(),
        );
    };
    let root = files.root.as_deref();
    let mismatches: Vec<Mismatch> = changed
        .iter()
        .filter(|(path, _)| !may_change(patterns, path, root))
        .map(|(path, change)| Mismatch {
            path: Some(path.clone()),
            ..ask.miss(match change {
                Change::Added => "it was added".to_owned(),
                Change::Removed => "it was removed".to_owned(),
                Change::Modified(altered) => told(*altered),
            })
        })
        .collect();
    let mut unseen = files.unseen.iter();
    match unseen.find(|(path, unseen)| !whatever_it_is(patterns, path, unseen.kind, root)) {
        Some((path, unseen)) if mismatches.is_empty() => unlooked(path, unseen),
        Some(_) | None => Verdict::from_mismatches(mismatches),
    }
}

/// Whether one of the patterns names a path.
fn may_change(patterns: &[PathPattern], path: &str, root: Option<&str>) -> bool {
    let names = names(path, root);
    let mut patterns = patterns.iter();
    patterns.any(|pattern| names.iter().any(|name| pattern.glob.is_match(name)))
}

/// Whether the patterns cover a path that could not be read; for a directory, everything in it.
fn whatever_it_is(
    patterns: &[PathPattern],
    path: &str,
    kind: PathKind,
    root: Option<&str>,
) -> bool {
    match kind {
        PathKind::File | PathKind::Link | PathKind::Special => may_change(patterns, path, root),
        PathKind::Directory => {
            // `**` at the end stands for any path: one that names something in the directory names all in it.
            let inner = if path == "." {
                "any".to_owned()
            } else {
                format!("{path}/any")
            };
            patterns
                .iter()
                .filter(|pattern| pattern.written == "**" || pattern.written.ends_with("/**"))
                .any(|pattern| may_change(std::slice::from_ref(pattern), &inner, root))
        }
    }
}

/// The names of a path of the fixture: relative to it, and as the server sees it.
fn names(path: &str, root: Option<&str>) -> Vec<String> {
    let whole = root.map(|root| match path {
        "." => root.to_owned(),
        path => format!("{root}/{path}"),
    });
    [path.to_owned()].into_iter().chain(whole).collect()
}
