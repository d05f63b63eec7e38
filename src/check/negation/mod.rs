//! `not`: expectations that must not hold. An answer they cannot speak of at all is no proof that they do not: one
//! without the array, the member, the place of a path or the declared schema that they look at. Nor is a file that is
//! not there.

use crate::{
    check::{
        ask,
        ask::Ask,
        check, content,
        errors::frames,
        files,
        json::{self, Source},
        results, schema,
        text::unescaped,
        unfetched, view, wanted,
    },
    observation::{
        Observation, Proof,
        answer::{Body, Reply},
    },
    outcome::verdict::{Mismatch, Verdict},
    suite::{
        model::expectation::{Expectation, PathRule, ResultCount, SchemaRule},
        written::Part,
    },
};

/// `not`
pub(super) fn ask(inner: &[(&'static str, Expectation)]) -> Ask {
    let clauses: Vec<String> = inner
        .iter()
        .map(|(key, expectation)| format!("`{key}` ({})", wanted(expectation)))
        .collect();
    Ask::new(
        "not",
        format!("not {}", super::phrase::joined(&clauses, "and not")),
    )
}

/// `not`: each of these does not hold.
pub(super) fn not(inner: &[(&'static str, Expectation)], seen: &Observation) -> Verdict {
    ask::all(inner.iter().map(|one| {
        let (key, _) = one;
        one_not(one, seen).within(Part::Member(key))
    }))
}

/// One expectation does not hold.
fn one_not(one: &(&'static str, Expectation), seen: &Observation) -> Verdict {
    let ask = ask(std::slice::from_ref(one));
    let (_, expectation) = one;
    if let Some(verdict) = beside_the_point(&ask, expectation, seen) {
        return unfetched::weigh_unspoken(expectation, verdict, seen);
    }
    match check(expectation, seen) {
        Verdict::Held => Verdict::Missed(vec![Mismatch {
            actual: view::reply(seen)
                .ok()
                .filter(|reply| !reply.text.is_empty() && !is_beside_text(expectation))
                .map(|reply| super::phrase::cut(&reply.text, 0)),
            ..ask.miss("it holds")
        }]),
        Verdict::Missed(_) => unescaped(&ask, expectation, seen),
        Verdict::Unknowable(reason) => Verdict::Unknowable(reason),
    }
}

/// The verdict on what does not hold of the text: it must not hold of what the text has as JSON writes it either.
fn unescaped(ask: &Ask, expectation: &Expectation, seen: &Observation) -> Verdict {
    let reply = view::reply(seen).ok();
    let found = reply.and_then(|reply| unescaped::holds(expectation, (reply, seen.proof)));
    let Some((path, text)) = found else {
        return Verdict::Held;
    };
    Verdict::Missed(vec![Mismatch {
        path: Some(path),
        actual: Some(super::phrase::cut(&text, 0)),
        hint: Some("the text has it as JSON escapes it; `not` looks at both".to_owned()),
        ..ask.miss("it holds here")
    }])
}

/// The verdict when the answer is of another kind than the expectation speaks of.
fn beside_the_point(ask: &Ask, expectation: &Expectation, seen: &Observation) -> Option<Verdict> {
    if let Expectation::Not(inner) = expectation {
        let mut inner = inner.iter();
        return inner.find_map(|(_, one)| beside_the_point(ask, one, seen));
    }
    if let (Proof::Strict, Some(mismatch)) = (seen.proof, files::unspoken(ask, expectation, seen)) {
        return Some(Verdict::Missed(vec![mismatch]));
    }
    let needs = needs(expectation);
    let answer = seen.answer.as_ref()?;
    let of_frames = answer
        .reply()
        .and_then(|reply| frames::beside_the_point(ask, expectation, reply));
    if let Some(mismatch) = of_frames {
        return Some(Verdict::Missed(vec![mismatch]));
    }
    let reply = match (&answer.body, needs) {
        (_, Needs::Nothing) => return None,
        (Body::ProtocolError(error), _) => {
            let mismatch = view::refused(ask, error, answer.undeclared);
            return Some(Verdict::Missed(vec![mismatch]));
        }
        (Body::Result(reply), _) => reply,
    };
    unspoken(ask, needs, reply, seen)
}

/// The verdict when the result has nothing of what an expectation speaks of.
fn unspoken(ask: &Ask, needs: Needs<'_>, reply: &Reply, seen: &Observation) -> Option<Verdict> {
    let missing = match needs {
        Needs::Nothing | Needs::Result => None,
        Needs::Schema(rule) => match (several(ask, reply), seen.proof) {
            // What the structured content says of the whole stands for its parts, as far as none of them is what is
            // not wanted.
            (Some(several), Proof::Strict) if reply.structured().is_some() => {
                schema::satisfies_some(rule, &reply.text).then_some(several)
            }
            (_, Proof::Strict | Proof::AsWritten) => without_json(ask, reply),
        },
        Needs::Results(rule) if results::is_elsewhere(rule, reply, seen.proof) => {
            results::uncountable(ask, rule, (reply, seen.proof))
        }
        Needs::Results(rule) => without_json(ask, reply)
            .or_else(|| results::uncountable(ask, rule, (reply, seen.proof))),
        Needs::Delta => without_json(ask, reply).or_else(|| results::no_delta(ask, reply)),
        Needs::JsonText(rules) => json::document(&reply.text)
            .err()
            .map(|none| *none.mismatch(ask, reply))
            .or_else(|| several(ask, reply))
            .or_else(|| json::unspoken(ask, Source::Text, rules, reply)),
        Needs::Structured(rules) => without_structured(ask, reply)
            .or_else(|| json::unspoken(ask, Source::Structured, rules, reply)),
        Needs::DeclaredSchema => match without_structured(ask, reply) {
            None => return schema::without_schema(ask, seen),
            missing => missing,
        },
        Needs::Blocks => (!content::has_blocks(reply)).then(|| content::without_blocks(ask)),
    };
    missing.map(|mismatch| Verdict::Missed(vec![mismatch]))
}

/// The mismatch of an answer that is not one JSON value.
fn without_json(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    let none = json::document_or_structured(reply).err();
    none.map(|none| *none.mismatch(ask, reply))
        .or_else(|| several(ask, reply))
}

fn several(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    json::several(&reply.text).map(|several| several.mismatch(ask, reply))
}

fn without_structured(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    let is_missing = reply.structured().is_none();
    is_missing.then(|| ask.miss("the answer has no structured content"))
}

/// What must be there for an expectation to speak of an answer.
#[derive(Debug, Clone, Copy)]
enum Needs<'a> {
    /// It speaks of other things than the result.
    Nothing,
    /// A result.
    Result,
    /// JSON, in the text or structured.
    Schema(&'a SchemaRule),
    /// An array in it.
    Results(&'a ResultCount),
    /// Its member `net_delta`.
    Delta,
    /// Something at paths of the JSON in the text.
    JsonText(&'a [PathRule]),
    /// Something at paths of the structured content.
    Structured(&'a [PathRule]),
    /// Structured content, and a schema that the tool declares for it.
    DeclaredSchema,
    /// Content blocks, or a list of them.
    Blocks,
}

fn needs(expectation: &Expectation) -> Needs<'_> {
    match expectation {
        Expectation::NotError(_)
        | Expectation::IsError(_)
        | Expectation::NotEmpty(_)
        | Expectation::Equals(_)
        | Expectation::Contains(_)
        | Expectation::ContainsAny(_)
        | Expectation::NotContains(_)
        | Expectation::InOrder(_)
        | Expectation::MatchesRegex(_) => Needs::Result,
        Expectation::Content(_) => Needs::Blocks,
        Expectation::JsonPath(rules) => Needs::JsonText(rules),
        Expectation::JsonSchema(rule) => Needs::Schema(rule),
        Expectation::MinResults(rule) | Expectation::MaxResults(rule) => Needs::Results(rule),
        Expectation::NetDelta { .. } => Needs::Delta,
        Expectation::Structured(rules) => Needs::Structured(rules),
        Expectation::OutputSchema(_) => Needs::DeclaredSchema,
        Expectation::Error(_)
        | Expectation::FileContains(_)
        | Expectation::FileNotContains(_)
        | Expectation::FileEquals(_)
        | Expectation::FileExists(_)
        | Expectation::FileNotExists(_)
        | Expectation::FileUnchanged(_)
        | Expectation::OnlyChanged(_)
        | Expectation::MinProgress(_)
        | Expectation::Progress(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_)
        | Expectation::Notifications(_)
        | Expectation::Logging(_)
        | Expectation::ResourceUpdated(_)
        | Expectation::ServerRequests(_)
        | Expectation::Stderr(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_)
        | Expectation::Trajectory(_)
        | Expectation::Not(_) => Needs::Nothing,
    }
}

/// Whether the text of the answer says nothing about why an expectation holds.
fn is_beside_text(expectation: &Expectation) -> bool {
    matches!(needs(expectation), Needs::Nothing)
}

#[cfg(test)]
mod tests;
