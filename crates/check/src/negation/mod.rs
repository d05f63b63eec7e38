//! `not`: expectations that must not hold. An answer without the array, member, path or schema that they need, or a missing
//! file, proves nothing and fails.

use crate::{
    answer,
    ask::{self, Ask},
    asked, content, files, json,
    outcome::verdict::{Mismatch, Verdict},
    phrase, text,
    traits::{Says, Sway, Traits},
    unfetched, view,
};
use mcp::observation::Observation;
use suite::{model::expectation::Expectation, written::Part};

pub(super) fn ask(inner: &[(&'static str, Expectation)]) -> Ask {
    let clauses: Vec<String> = inner
        .iter()
        .map(|(key, expectation)| format!("`{key}` ({})", asked(expectation).wanted))
        .collect();
    Ask::new(
        "not",
        format!("not {}", phrase::joined(&clauses, "and not")),
    )
}

pub(super) fn traits(inner: &[(&'static str, Expectation)]) -> Traits {
    let all = |wanted: &[Says]| {
        let mut inner = inner.iter();
        inner.all(|(_, one)| wanted.contains(&super::traits(one).says))
    };
    let late = inner
        .iter()
        .map(|(_, one)| super::traits(one).late.of_not());
    Traits {
        late: late.fold(Sway::NONE, Sway::or),
        holds_of_silence: all(&[Says::Text]),
        holds_of_failure: all(&[Says::Text, Says::Content]),
        ..Traits::PLAIN
    }
}

/// `not`: each of these does not hold.
pub(super) fn check(inner: &[(&'static str, Expectation)], seen: &Observation) -> Verdict {
    ask::all(inner.iter().map(|one| {
        let (key, _) = one;
        one_not(one, seen).within(Part::Member(key))
    }))
}

/// One expectation does not hold.
fn one_not(one: &(&'static str, Expectation), seen: &Observation) -> Verdict {
    let ask = ask(std::slice::from_ref(one));
    let (_, expectation) = one;
    if let Some(verdict) = unspoken(&ask, expectation, seen) {
        return unfetched::weigh_unspoken(expectation, verdict, seen);
    }
    match super::check(expectation, seen) {
        Verdict::Held => Verdict::Missed(vec![Mismatch {
            actual: view::reply(seen)
                .ok()
                .filter(|reply| !reply.text.is_empty() && speaks_of_result(expectation))
                .map(|reply| phrase::cut(&reply.text, 0)),
            ..ask.miss("it holds")
        }]),
        Verdict::Missed(_) => {
            if let Expectation::Text(wanted) = expectation {
                return text::not_unescaped(&ask, wanted, seen);
            }
            Verdict::Held
        }
        Verdict::Unknowable(reason) => Verdict::Unknowable(reason),
    }
}

/// The verdict when nothing came of what an expectation speaks of.
fn unspoken(ask: &Ask, expectation: &Expectation, seen: &Observation) -> Option<Verdict> {
    match expectation {
        Expectation::Answer(wanted) => answer::unspoken(ask, wanted, seen),
        Expectation::Text(_) => view::refusal(ask, seen),
        Expectation::Json(wanted) => json::unspoken(ask, wanted, seen),
        Expectation::Content(_) => content::unspoken(ask, seen),
        Expectation::Files(wanted) => files::unspoken(ask, wanted, seen),
        Expectation::Not(inner) => inner.iter().find_map(|(_, one)| unspoken(ask, one, seen)),
        Expectation::Traffic(_)
        | Expectation::Limits(_)
        | Expectation::Http(_)
        | Expectation::Process(_)
        | Expectation::Trajectory(_) => None,
    }
}

/// Whether the text of the answer says why an expectation holds.
fn speaks_of_result(expectation: &Expectation) -> bool {
    match super::traits(expectation).says {
        Says::Text | Says::Content => true,
        Says::Error | Says::Other => false,
    }
}

#[cfg(test)]
mod tests;
