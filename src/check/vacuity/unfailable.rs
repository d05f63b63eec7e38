//! Expectations that hold whatever the server does.

use super::pattern;
use crate::{
    script::pattern::Pattern,
    suite::model::expectation::{Expectation, PathPattern, StderrWanted, TextRule, TrajectoryRule},
};

/// Why nothing can fail an expectation; `None` when something can.
pub(super) fn reason(expectation: &Expectation) -> Option<String> {
    if let Expectation::MinProgress(0) = expectation {
        return Some("`min_progress: 0` holds without any progress".to_owned());
    }
    if expectation.asks_nothing() {
        return Some(format!("`{}` asks for nothing", key_of(expectation)));
    }
    match expectation {
        Expectation::Contains(texts) | Expectation::InOrder(texts) => every(
            key_of(expectation),
            texts,
            String::is_empty,
            "the empty text, which every text contains",
        ),
        Expectation::ContainsAny(texts) if texts.iter().any(String::is_empty) => Some(
            "`contains_any` has the empty text among its choices, which every text contains".into(),
        ),
        Expectation::MatchesRegex(patterns) => open_patterns(patterns),
        Expectation::MinResults(rule) => {
            (rule.bound == 0).then(|| "`min_results: 0` holds for any number of results".to_owned())
        }
        Expectation::OnlyChanged(patterns) => open_globs(patterns),
        Expectation::FileExists(paths) => open_paths(paths),
        Expectation::Stderr(wanted) => {
            is_open_stderr(wanted).then(|| "`stderr` asks for nothing".to_owned())
        }
        Expectation::Not(inner) => open_not(inner),
        Expectation::Trajectory(rule) => open_rule(rule),
        Expectation::NotError(_)
        | Expectation::IsError(_)
        | Expectation::Error(_)
        | Expectation::NotEmpty(_)
        | Expectation::Equals(_)
        | Expectation::JsonPath(_)
        | Expectation::Structured(_)
        | Expectation::JsonSchema(_)
        | Expectation::Content(_)
        | Expectation::ContainsAny(_)
        | Expectation::NotContains(_)
        | Expectation::OutputSchema(_)
        | Expectation::MaxResults(_)
        | Expectation::NetDelta { .. }
        | Expectation::FileContains(_)
        | Expectation::FileNotContains(_)
        | Expectation::FileEquals(_)
        | Expectation::FileNotExists(_)
        | Expectation::FileUnchanged(_)
        | Expectation::MinProgress(_)
        | Expectation::Progress(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_)
        | Expectation::Notifications(_)
        | Expectation::Logging(_)
        | Expectation::ResourceUpdated(_)
        | Expectation::ServerRequests(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_) => None,
    }
}

/// The reason for paths that all lead to where files are looked for.
fn open_paths(paths: &[String]) -> Option<String> {
    let is_root = |path: &String| matches!(path.trim_end_matches('/'), "" | ".");
    every("file_exists", paths, is_root, "the folder of all files")
}

/// The reason for globs of which one is known to take every path.
fn open_globs(globs: &[PathPattern]) -> Option<String> {
    let all = |one: &&PathPattern| matches!(one.written.as_str(), "**" | "**/*" | "**/**");
    let open = globs.iter().find(all)?;
    Some(format!(
        "`only_changed` lets every path change: `{}`",
        open.written
    ))
}

/// Whether nothing is said about a text by a rule.
pub(super) fn is_open_text(rule: &TextRule) -> bool {
    match rule {
        TextRule::Literal(text) => text.is_empty(),
        TextRule::Pattern(one) => {
            pattern::is_empty_in_every_text(one) || pattern::is_in_every_text(one)
        }
    }
}

/// The reason for patterns that are all found in every text.
fn open_patterns(patterns: &[Pattern]) -> Option<String> {
    if patterns.iter().all(pattern::is_empty_in_every_text) {
        let of = "patterns that match the empty text, which every text has";
        return every("matches_regex", patterns, |_| true, of);
    }
    let open =
        |one: &Pattern| pattern::is_empty_in_every_text(one) || pattern::is_in_every_text(one);
    let of = "patterns that are found in every text";
    every("matches_regex", patterns, open, of)
}

/// The reason for a `not` of nothing, or of what never holds.
fn open_not(inner: &[(&'static str, Expectation)]) -> Option<String> {
    if !inner.iter().all(|(_, wanted)| never_holds(wanted)) {
        return None;
    }
    let of_patterns = |wanted: &Expectation| matches!(wanted, Expectation::MatchesRegex(_));
    let asked = if inner.iter().all(|(_, wanted)| of_patterns(wanted)) {
        "no pattern is found which no text can have"
    } else {
        "nothing holds which never can"
    };
    Some(format!("`not` asks only that {asked}"))
}

/// Whether an expectation never holds, as far as that is certain.
fn never_holds(expectation: &Expectation) -> bool {
    if let Expectation::Not(inner) = expectation {
        return inner.iter().any(|(_, wanted)| reason(wanted).is_some());
    }
    matches!(expectation, Expectation::MatchesRegex(patterns) if patterns.iter().any(pattern::is_in_no_text))
}

fn key_of(expectation: &Expectation) -> &'static str {
    crate::check::asked(expectation).key
}

/// The reason for a list of which every item is open.
fn every<T>(key: &str, items: &[T], open: impl Fn(&T) -> bool, of: &str) -> Option<String> {
    items
        .iter()
        .all(open)
        .then(|| format!("`{key}` asks only for {of}"))
}

fn is_open_stderr(wanted: &StderrWanted) -> bool {
    let StderrWanted {
        contains,
        not_contains,
        matches,
    } = wanted;
    contains.iter().all(String::is_empty)
        && not_contains.is_empty()
        && matches.iter().all(pattern::is_empty_in_every_text)
}

fn open_rule(rule: &TrajectoryRule) -> Option<String> {
    let open = match rule {
        TrajectoryRule::Order(tools) => tools.is_empty().then_some("order"),
        TrajectoryRule::Presence(tools) => tools.is_empty().then_some("presence"),
        TrajectoryRule::Absence(tools) => tools.is_empty().then_some("absence"),
        TrajectoryRule::Adjacent(tools) => tools.is_empty().then_some("adjacent"),
        TrajectoryRule::Count { min, max, .. } => {
            (min.unwrap_or(0) == 0 && max.is_none()).then_some("count")
        }
        TrajectoryRule::ArgsContain { .. }
        | TrajectoryRule::NeverAfter { .. }
        | TrajectoryRule::Outcome { .. }
        | TrajectoryRule::WithinMs { .. } => None,
    };
    open.map(|key| format!("`{key}` asks for nothing"))
}
