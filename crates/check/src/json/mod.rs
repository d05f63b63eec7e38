//! The family of JSON in the answer: `json_path`, `structured`, `json_schema`, `output_schema`, `min_results`,
//! `max_results`, `net_delta`.

pub(crate) mod document;
mod list;
mod matcher;
mod near;
mod results;
mod rules;
mod same;
mod schema;
mod several;
mod steps;

pub use self::schema::output_findings;
pub(super) use self::{
    document::{beside, document_or_structured, no_document, no_structured},
    near::{other_type, value as near_value},
    rules::{can_match_several, near_path, query},
    same::{Difference, Extent, contains_part, difference, part_of, same},
    schema::first_violation,
    several::{Others, beside_others, several, verdict_beside_others},
    steps::{Step, of_path as steps_of, step},
};
use self::{results::Bound, rules::Source};
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    traits::{Says, Sway, Traits},
    view,
};
pub(super) use mcp::json::json_text::document;
use mcp::observation::{Observation, Proof, answer::Reply};
use suite::model::expectation::{JsonWanted, ResultCount};

pub(super) fn check(wanted: &JsonWanted, seen: &Observation) -> Verdict {
    match wanted {
        JsonWanted::JsonPath(rules) => rules::rules(Source::Text, rules, seen),
        JsonWanted::Structured(rules) => rules::rules(Source::Structured, rules, seen),
        JsonWanted::JsonSchema(rule) => schema::json_schema(rule, seen),
        JsonWanted::OutputSchema(flag) => schema::output_schema(*flag, seen),
        JsonWanted::MinResults(count) => results::results(Bound::Least, count, seen),
        JsonWanted::MaxResults(count) => results::results(Bound::Most, count, seen),
        JsonWanted::NetDelta { wanted, precision } => results::net_delta(wanted, *precision, seen),
    }
}

pub(super) fn ask(wanted: &JsonWanted) -> Ask {
    match wanted {
        JsonWanted::JsonPath(rules) => rules::ask_rules(Source::Text, rules),
        JsonWanted::Structured(rules) => rules::ask_rules(Source::Structured, rules),
        JsonWanted::JsonSchema(rule) => schema::ask_schema(rule),
        JsonWanted::OutputSchema(_) => schema::ask_output(),
        JsonWanted::MinResults(count) => results::ask_count(Bound::Least, count),
        JsonWanted::MaxResults(count) => results::ask_count(Bound::Most, count),
        JsonWanted::NetDelta { wanted, .. } => results::ask_net_delta(wanted),
    }
}

pub(super) fn traits(wanted: &JsonWanted) -> Traits {
    let of_content = Traits {
        says: Says::Content,
        ..Traits::PLAIN
    };
    match wanted {
        JsonWanted::Structured(_) => of_content,
        JsonWanted::JsonPath(_) | JsonWanted::JsonSchema(_) => Traits {
            more: Sway::BOTH,
            ..of_content
        },
        JsonWanted::OutputSchema(_) | JsonWanted::NetDelta { .. } => Traits::PLAIN,
        JsonWanted::MinResults(count) => Traits {
            more: Sway::GAINS,
            unfailable: (count.bound == 0)
                .then(|| "`min_results: 0` holds for any number of results".to_owned()),
            ..Traits::PLAIN
        },
        JsonWanted::MaxResults(_) => Traits {
            more: Sway::LOSES,
            ..Traits::PLAIN
        },
    }
}

/// The verdict of `not` when the answer has nothing of what is spoken of.
pub(super) fn unspoken(ask: &Ask, wanted: &JsonWanted, seen: &Observation) -> Option<Verdict> {
    if let Some(refusal) = view::refusal(ask, seen) {
        return Some(refusal);
    }
    let reply = view::reply(seen).ok()?;
    let missing = match wanted {
        JsonWanted::JsonPath(rules) => document(&reply.text)
            .err()
            .map(|none| no_document(&none, ask, reply))
            .or_else(|| beside_several(ask, reply))
            .or_else(|| rules::unspoken(ask, Source::Text, rules, reply)),
        JsonWanted::Structured(rules) => without_structured(ask, reply)
            .or_else(|| rules::unspoken(ask, Source::Structured, rules, reply)),
        JsonWanted::JsonSchema(_) => without_json(ask, reply),
        JsonWanted::OutputSchema(_) => match without_structured(ask, reply) {
            None => return schema::without_schema(ask, seen),
            missing => missing,
        },
        JsonWanted::MinResults(count) | JsonWanted::MaxResults(count) => {
            without_count(ask, count, (reply, seen.proof))
        }
        JsonWanted::NetDelta { .. } => {
            without_json(ask, reply).or_else(|| results::no_delta(ask, reply))
        }
    };
    missing.map(|mismatch| Verdict::Missed(vec![mismatch]))
}

fn without_count(
    ask: &Ask,
    count: &ResultCount,
    (reply, proof): (&Reply, Proof),
) -> Option<Mismatch> {
    let is_elsewhere = results::elsewhere(count, reply, proof).is_some();
    let json = if is_elsewhere {
        None
    } else {
        without_json(ask, reply)
    };
    json.or_else(|| results::uncountable(ask, count, (reply, proof)))
}

/// The mismatch of an answer that is not one JSON value.
fn without_json(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    let none = document_or_structured(reply).err();
    none.map(|none| no_document(&none, ask, reply))
        .or_else(|| beside_several(ask, reply))
}

fn beside_several(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    several(&reply.text).map(|several| several.mismatch(ask, reply))
}

fn without_structured(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    let is_missing = reply.structured().is_none();
    is_missing.then(|| no_structured(ask, reply))
}

/// What an expectation that holds proves nothing about: the values after the first of several.
pub(super) fn unproven(wanted: &JsonWanted, seen: &Observation) -> Option<String> {
    let reply = view::reply(seen).ok()?;
    let looks_at_the_first = match wanted {
        JsonWanted::JsonPath(_) => true,
        JsonWanted::MinResults(count) => results::elsewhere(count, reply, seen.proof).is_none(),
        JsonWanted::Structured(_)
        | JsonWanted::JsonSchema(_)
        | JsonWanted::OutputSchema(_)
        | JsonWanted::MaxResults(_)
        | JsonWanted::NetDelta { .. } => false,
    };
    let several = several(&reply.text).filter(|_| looks_at_the_first)?;
    Some(format!(
        "`{}` looked at the first of the {} JSON values in the text, which proves nothing of the others",
        ask(wanted).key,
        several.values
    ))
}
