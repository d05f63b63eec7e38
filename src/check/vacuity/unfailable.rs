//! Expectations that hold whatever the server does.

use regex::Regex;

use super::pattern;
use crate::suite::model::{
    expectation::{
        Expectation, LoggingWanted, NotificationsWanted, ProgressWanted, StderrWanted,
        TrajectoryRule,
    },
    pattern::Pattern,
};

/// Why nothing can fail an expectation; `None` when something can.
pub(super) fn reason(expectation: &Expectation) -> Option<String> {
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
        Expectation::ContainsAny(texts) => empty("contains_any", texts.is_empty()),
        Expectation::MatchesRegex(patterns) => open_patterns(patterns),
        Expectation::NotContains(texts) => empty("not_contains", texts.is_empty()),
        Expectation::OutputSchema(wanted) => empty("output_schema", !wanted),
        Expectation::MinResults(rule) => {
            (rule.bound == 0).then(|| "`min_results: 0` holds for any number of results".to_owned())
        }
        Expectation::MinProgress(least) => {
            (*least == 0).then(|| "`min_progress: 0` holds without any progress".to_owned())
        }
        Expectation::FileContains(files)
        | Expectation::FileNotContains(files)
        | Expectation::FileEquals(files) => empty(key_of(expectation), files.is_empty()),
        Expectation::FileExists(paths)
        | Expectation::FileNotExists(paths)
        | Expectation::FileUnchanged(paths) => empty(key_of(expectation), paths.is_empty()),
        Expectation::Progress(wanted) => empty("progress", is_open_progress(wanted)),
        Expectation::Notifications(wanted) => empty("notifications", is_open_told(wanted)),
        Expectation::Logging(wanted) => empty("assert_logging", is_open_logged(wanted)),
        Expectation::ServerRequests(wanted) => empty("server_requests", wanted.is_empty()),
        Expectation::Stderr(wanted) => empty("stderr", is_open_stderr(wanted)),
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
        | Expectation::MaxResults(_)
        | Expectation::NetDelta { .. }
        | Expectation::OnlyChanged(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_)
        | Expectation::ResourceUpdated(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_) => None,
    }
}

/// The reason for patterns that are all found in every text.
fn open_patterns(patterns: &[Pattern]) -> Option<String> {
    if patterns.iter().all(matches_anything) {
        let of = "patterns that match the empty text, which every text has";
        return every("matches_regex", patterns, |_| true, of);
    }
    let open = |one: &Pattern| matches_anything(one) || pattern::is_in_every_text(one);
    let of = "patterns that are found in every text";
    every("matches_regex", patterns, open, of)
}

/// The reason for a `not` of nothing, or of what never holds.
fn open_not(inner: &[(&'static str, Expectation)]) -> Option<String> {
    if inner.is_empty() {
        return empty("not", true);
    }
    let open = inner.iter().all(|(_, wanted)| never_holds(wanted));
    open.then(|| "`not` asks only that no pattern is found which no text can have".to_owned())
}

/// Whether an expectation holds for no text, as far as that is certain.
fn never_holds(expectation: &Expectation) -> bool {
    matches!(expectation, Expectation::MatchesRegex(patterns) if patterns.iter().any(pattern::is_in_no_text))
}

fn key_of(expectation: &Expectation) -> &'static str {
    crate::check::asked(expectation).key
}

/// The reason for a list of which every item is open, or which has none.
fn every<T>(key: &str, items: &[T], open: impl Fn(&T) -> bool, of: &str) -> Option<String> {
    if items.is_empty() {
        return empty(key, true);
    }
    items
        .iter()
        .all(open)
        .then(|| format!("`{key}` asks only for {of}"))
}

fn empty(key: &str, is_empty: bool) -> Option<String> {
    is_empty.then(|| format!("`{key}` asks for nothing"))
}

/// Whether a pattern is found in every text: it matches the empty text and is bound to no place, or only to
/// the beginning or only to the end. Patterns with other anchors are left alone.
fn matches_anything(pattern: &Pattern) -> bool {
    let written = pattern.compiled();
    let unbound = match (written.strip_prefix('^'), written.strip_suffix('$')) {
        (Some(rest), _) if is_unbound(rest) => rest,
        (_, Some(rest)) if is_unbound(rest) && !rest.ends_with('\\') => rest,
        _ if is_unbound(written) => written,
        _ => return false,
    };
    Regex::new(unbound).is_ok_and(|pattern| pattern.is_match(""))
}

/// Whether a pattern has nothing that binds it to a place in the text.
fn is_unbound(pattern: &str) -> bool {
    let without_classes = pattern.replace("[^", "[");
    !["^", "$", "\\b", "\\B", "\\A", "\\z", "\\<", "\\>"]
        .iter()
        .any(|anchor| without_classes.contains(anchor))
}

fn is_open_progress(wanted: &ProgressWanted) -> bool {
    let ProgressWanted {
        min,
        monotonic,
        last_equals_total,
    } = wanted;
    min.unwrap_or(0) == 0 && monotonic.is_none() && last_equals_total.is_none()
}

fn is_open_told(wanted: &NotificationsWanted) -> bool {
    let NotificationsWanted {
        since: _,
        min_count,
        max_count,
        methods,
        not_methods,
        in_order,
        contains_data,
        not_contains_data,
    } = wanted;
    let lists = [
        methods,
        not_methods,
        in_order,
        contains_data,
        not_contains_data,
    ];
    min_count.unwrap_or(0) == 0 && max_count.is_none() && lists.iter().all(|list| list.is_empty())
}

fn is_open_logged(wanted: &LoggingWanted) -> bool {
    let LoggingWanted {
        min_messages,
        max_messages,
        contains_level,
        contains_data,
        not_below,
    } = wanted;
    min_messages.unwrap_or(0) == 0
        && max_messages.is_none()
        && contains_level.is_empty()
        && contains_data.is_empty()
        && not_below.is_none()
}

fn is_open_stderr(wanted: &StderrWanted) -> bool {
    let StderrWanted {
        contains,
        not_contains,
        matches,
    } = wanted;
    contains.iter().all(String::is_empty)
        && not_contains.is_empty()
        && matches.iter().all(matches_anything)
}

fn open_rule(rule: &TrajectoryRule) -> Option<String> {
    match rule {
        TrajectoryRule::Order(tools) => empty("order", tools.is_empty()),
        TrajectoryRule::Presence(tools) => empty("presence", tools.is_empty()),
        TrajectoryRule::Absence(tools) => empty("absence", tools.is_empty()),
        TrajectoryRule::Adjacent(tools) => empty("adjacent", tools.is_empty()),
        TrajectoryRule::Count { min, max, .. } => {
            empty("count", min.unwrap_or(0) == 0 && max.is_none())
        }
        TrajectoryRule::ArgsContain { .. }
        | TrajectoryRule::NeverAfter { .. }
        | TrajectoryRule::Outcome { .. }
        | TrajectoryRule::WithinMs { .. } => None,
    }
}
