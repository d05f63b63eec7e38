//! Expectations against observations, one file for each family of expectations. Pure: no I/O, no clock,
//! no environment. Knows nothing of sessions or reports.

mod ask;
mod content;
mod errors;
mod files;
mod findings;
mod go;
mod json;
mod limits;
mod logging;
mod negation;
mod notifications;
mod phrase;
mod process;
mod progress;
mod requests;
mod results;
mod schema;
mod text;
mod trajectory;
mod unfetched;
pub(crate) mod vacuity;
mod view;
pub(crate) mod waiting;

#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

use self::{
    ask::Ask,
    errors::Kind,
    files::{Paths, Texts},
    json::Source,
    results::Bound,
};
use crate::{
    observation::{
        Observation,
        answer::{Answer, Body},
        catalog::Catalog,
        finding::Finding,
    },
    outcome::verdict::{Mismatch, Verdict},
    suite::model::expectation::Expectation,
};

/// Says whether `seen` satisfies `wanted`. Total and pure.
pub(crate) fn check(wanted: &Expectation, seen: &Observation) -> Verdict {
    unfetched::weigh(wanted, judged(wanted, seen), seen)
}

/// Likewise, as if every list was fetched to its end.
fn judged(wanted: &Expectation, seen: &Observation) -> Verdict {
    match wanted {
        Expectation::NotError(flag) => errors::kind("not_error", not_error(*flag), seen),
        Expectation::IsError(flag) => errors::kind("is_error", not_error(!*flag), seen),
        Expectation::Error(wanted) => errors::error(wanted, seen),
        Expectation::NotEmpty(flag) => text::not_empty(*flag, seen),
        Expectation::Equals(wanted) => text::equals(wanted, seen),
        Expectation::Contains(wanted) => text::contains(wanted, seen),
        Expectation::ContainsAny(wanted) => text::contains_any(wanted, seen),
        Expectation::NotContains(wanted) => text::not_contains(wanted, seen),
        Expectation::InOrder(wanted) => text::in_order(wanted, seen),
        Expectation::MatchesRegex(wanted) => text::matches_regex(wanted, seen),
        Expectation::JsonPath(wanted) => json::rules(Source::Text, wanted, seen),
        Expectation::Structured(wanted) => json::rules(Source::Structured, wanted, seen),
        Expectation::JsonSchema(wanted) => schema::json_schema(wanted, seen),
        Expectation::OutputSchema(flag) => schema::output_schema(*flag, seen),
        Expectation::Content(wanted) => content::content(wanted, seen),
        Expectation::MinResults(wanted) => results::results(Bound::Least, wanted, seen),
        Expectation::MaxResults(wanted) => results::results(Bound::Most, wanted, seen),
        Expectation::NetDelta { wanted, precision } => results::net_delta(wanted, *precision, seen),
        Expectation::FileContains(wanted) => files::texts(Texts::Contained, wanted, seen),
        Expectation::FileNotContains(wanted) => files::texts(Texts::NotContained, wanted, seen),
        Expectation::FileEquals(wanted) => files::texts(Texts::Equal, wanted, seen),
        Expectation::FileExists(wanted) => files::paths(Paths::There, wanted, seen),
        Expectation::FileNotExists(wanted) => files::paths(Paths::Absent, wanted, seen),
        Expectation::FileUnchanged(wanted) => files::paths(Paths::Unchanged, wanted, seen),
        Expectation::OnlyChanged(wanted) => files::only_changed(wanted, seen),
        Expectation::MinProgress(least) => progress::at_least("min_progress", *least, seen),
        Expectation::Progress(wanted) => progress::progress(wanted, seen),
        Expectation::MaxDuration(limit) => limits::max_duration(*limit, seen),
        Expectation::MaxBytes(limit) => limits::max_bytes(*limit, seen),
        Expectation::Notifications(wanted) => notifications::notifications(wanted, seen),
        Expectation::Logging(wanted) => logging::logging(wanted, seen),
        Expectation::ResourceUpdated(wanted) => notifications::updated(*wanted, seen),
        Expectation::ServerRequests(wanted) => requests::server_requests(wanted, seen),
        Expectation::Stderr(wanted) => process::stderr(wanted, seen),
        Expectation::Exit(wanted) => process::exit(*wanted, seen),
        Expectation::Findings(allowed) => findings::findings(allowed, seen),
        Expectation::Snapshot(_) => {
            Verdict::Unknowable("snapshots cannot be compared in this version".to_owned())
        }
        Expectation::Trajectory(rule) => trajectory::trajectory(rule, seen),
        Expectation::Not(inner) => negation::not(inner, seen),
    }
}

/// What an expectation wants, as a clause that follows "expected".
pub(crate) fn wanted(expectation: &Expectation) -> String {
    asked(expectation).wanted
}

/// An expectation's key and clause.
fn asked(expectation: &Expectation) -> Ask {
    match expectation {
        Expectation::NotError(flag) => errors::ask_kind("not_error", not_error(*flag)),
        Expectation::IsError(flag) => errors::ask_kind("is_error", not_error(!*flag)),
        Expectation::Error(wanted) => errors::ask_error(wanted),
        Expectation::NotEmpty(flag) => text::ask_not_empty(*flag),
        Expectation::Equals(wanted) => text::ask_equals(wanted),
        Expectation::Contains(wanted) => text::ask_contains(wanted),
        Expectation::ContainsAny(wanted) => text::ask_contains_any(wanted),
        Expectation::NotContains(wanted) => text::ask_not_contains(wanted),
        Expectation::InOrder(wanted) => text::ask_in_order(wanted),
        Expectation::MatchesRegex(wanted) => text::ask_matches(&wanted.iter().collect::<Vec<_>>()),
        Expectation::JsonPath(wanted) => json::ask_rules(Source::Text, wanted),
        Expectation::Structured(wanted) => json::ask_rules(Source::Structured, wanted),
        Expectation::JsonSchema(wanted) => schema::ask_schema(wanted),
        Expectation::OutputSchema(_) => schema::ask_output(),
        Expectation::Content(wanted) => content::ask(wanted),
        Expectation::MinResults(wanted) => results::ask_count(Bound::Least, wanted),
        Expectation::MaxResults(wanted) => results::ask_count(Bound::Most, wanted),
        Expectation::NetDelta { wanted, .. } => results::ask_net_delta(wanted),
        Expectation::FileContains(wanted) => files::ask_texts(Texts::Contained, wanted),
        Expectation::FileNotContains(wanted) => files::ask_texts(Texts::NotContained, wanted),
        Expectation::FileEquals(wanted) => files::ask_texts(Texts::Equal, wanted),
        Expectation::FileExists(wanted) => files::ask_paths(Paths::There, wanted),
        Expectation::FileNotExists(wanted) => files::ask_paths(Paths::Absent, wanted),
        Expectation::FileUnchanged(wanted) => files::ask_paths(Paths::Unchanged, wanted),
        Expectation::OnlyChanged(wanted) => files::ask_only_changed(wanted),
        Expectation::MinProgress(least) => progress::ask_least("min_progress", *least),
        Expectation::Progress(wanted) => progress::ask(wanted),
        Expectation::MaxDuration(limit) => limits::ask_duration(*limit),
        Expectation::MaxBytes(limit) => limits::ask_bytes(*limit),
        Expectation::Notifications(wanted) => notifications::ask(wanted),
        Expectation::Logging(wanted) => logging::ask(wanted),
        Expectation::ResourceUpdated(wanted) => notifications::ask_updated(*wanted),
        Expectation::ServerRequests(wanted) => requests::ask(wanted),
        Expectation::Stderr(wanted) => process::ask_stderr(wanted),
        Expectation::Exit(wanted) => process::ask_exit(*wanted),
        Expectation::Findings(allowed) => findings::ask(allowed),
        Expectation::Snapshot(_) => Ask::new("snapshot", "the answer to be as stored"),
        Expectation::Trajectory(rule) => trajectory::ask(rule),
        Expectation::Not(inner) => negation::ask(inner),
    }
}

/// Why it cannot be told whether the server deviated from the protocol, if it cannot.
pub(crate) fn unheard_findings(seen: &Observation) -> Option<&'static str> {
    findings::unheard(seen)
}

/// The mismatch when the answer is a JSON-RPC error that no expectation speaks of: bounds on time, files or
/// notifications may hold all the same, and the call failed.
pub(crate) fn unasked_error(wanted: &[&Expectation], seen: &Observation) -> Option<Mismatch> {
    let answer = seen.answer.as_ref()?;
    let Body::ProtocolError(error) = &answer.body else {
        return None;
    };
    let is_error = |one: &Expectation| matches!(one, Expectation::Error(_));
    let is_asked = wanted.iter().any(|one| {
        is_error(one)
            || matches!(one, Expectation::Not(inner) if inner.iter().any(|(_, one)| is_error(one)))
    });
    let ask = Ask::new("not_error", "a result");
    (!is_asked).then(|| view::refused(&ask, error, answer.undeclared))
}

/// What an answer does against what its tool declares: deviations that can only be seen with the catalog.
pub(crate) fn findings_of_answer(answer: &Answer, catalog: &Catalog) -> Vec<Finding> {
    schema::output_findings(answer, catalog)
}

/// The kind of result that `not_error` with this flag wants.
fn not_error(flag: bool) -> Kind {
    if flag { Kind::Success } else { Kind::ToolError }
}
