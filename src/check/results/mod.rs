//! `min_results`, `max_results`, `net_delta`: how many items an array of the answer has, and one number that
//! editing tools report.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::{
    check::{
        ask::Ask,
        json::{self, Others},
        phrase, view,
    },
    observation::{Observation, answer::Reply},
    outcome::verdict::{Mismatch, Verdict},
    suite::model::expectation::{Precision, ResultCount},
    words::{number, text::count},
};

/// The members an array is looked for in, in this order.
const WELL_KNOWN: [&str; 10] = [
    "locations",
    "items",
    "results",
    "references",
    "symbols",
    "resources",
    "prompts",
    "tools",
    "data",
    // What lists of templates have; the Go tool cannot count those.
    "resourceTemplates",
];

/// Which bound is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// `min_results`
    Least,
    /// `max_results`
    Most,
}

/// `min_results`, `max_results`
pub(super) fn ask_count(side: Bound, rule: &ResultCount) -> Ask {
    let place = match &rule.path {
        Some((written, _)) => format!(" at {}", phrase::quoted(written)),
        None => String::new(),
    };
    let bound = usize::try_from(rule.bound).unwrap_or(usize::MAX);
    let results = count(bound, "result");
    match side {
        Bound::Least => Ask::new("min_results", format!("at least {results}{place}")),
        Bound::Most => Ask::new("max_results", format!("at most {results}{place}")),
    }
}

/// `min_results`, `max_results`: an array in the answer has so many items. What the first of several JSON values
/// has enough of, all of them have.
pub(super) fn results(side: Bound, rule: &ResultCount, seen: &Observation) -> Verdict {
    let ask = ask_count(side, rule);
    let others = match side {
        Bound::Least => Others::Aside,
        Bound::Most => Others::Matter,
    };
    view::with_reply(seen, &ask, |reply| {
        let missed = miscounted(&ask, side, rule, reply);
        json::beside_others(&ask, reply, others, missed.into_iter().collect())
    })
}

/// What is wrong with the number of items.
fn miscounted(ask: &Ask, side: Bound, rule: &ResultCount, reply: &Reply) -> Option<Mismatch> {
    let document = match json::document_or_structured(reply) {
        Ok(document) => document,
        Err(none) => return Some(*none.mismatch(ask, reply)),
    };
    let (length, place) = match array(rule, &document) {
        Ok(found) => found,
        Err(reason) => {
            return Some(Mismatch {
                actual: Some(phrase::laid_out(&document)),
                hint: other_array(rule, &document),
                ..ask.miss(reason)
            });
        }
    };
    let holds = match side {
        Bound::Least => length as u64 >= rule.bound,
        Bound::Most => length as u64 <= rule.bound,
    };
    (!holds).then(|| Mismatch {
        path: Some(place),
        actual: Some(phrase::laid_out(&document)),
        ..ask.miss(format!(
            "there {} {length}",
            if length == 1 { "is" } else { "are" }
        ))
    })
}

/// The number of items of the array that is meant, and where it stands; `null` counts as an empty one. A path
/// that can match several places counts what it matches.
fn array(rule: &ResultCount, document: &Value) -> Result<(usize, String), String> {
    if let Some((written, path)) = &rule.path {
        let nodes = json::query(written, path, document)?;
        if json::can_match_several(path) {
            return Ok((nodes.len(), written.clone()));
        }
        return match nodes.first().map(|node| node.value) {
            None => Err(format!("nothing is at {}", phrase::quoted(written))),
            Some(Value::Array(items)) => Ok((items.len(), written.clone())),
            Some(Value::Null) => Ok((0, written.clone())),
            Some(other) => Err(format!(
                "{} is {}",
                phrase::quoted(written),
                phrase::kind(other)
            )),
        };
    }
    match document {
        Value::Array(items) => Ok((items.len(), "$".to_owned())),
        Value::Null => Ok((0, "$".to_owned())),
        Value::Object(members) => {
            let found = WELL_KNOWN
                .iter()
                .find_map(|name| Some((name, members.get(*name)?.as_array()?)));
            match found {
                Some((name, items)) => Ok((items.len(), format!("$.{name}"))),
                None => Err(format!(
                    "the JSON object has no array under {}",
                    phrase::list(&WELL_KNOWN, "or")
                )),
            }
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Err(format!(
            "the JSON is {}, not an array",
            phrase::kind(document)
        )),
    }
}

/// The array that was probably meant, when the object has exactly one.
fn other_array(rule: &ResultCount, document: &Value) -> Option<String> {
    let mut arrays = document
        .as_object()
        .filter(|_| rule.path.is_none())?
        .iter()
        .filter(|(_, value)| value.is_array());
    let (name, _) = arrays.next()?;
    if arrays.next().is_some() {
        return None;
    }
    Some(format!(
        "there is an array under {}: name it with `path`",
        phrase::quoted(name)
    ))
}

/// `net_delta`
pub(super) fn ask_net_delta(wanted: &Number) -> Ask {
    Ask::new(
        "net_delta",
        format!(
            "the member `net_delta` to be {}",
            phrase::quoted(wanted.as_str())
        ),
    )
}

/// `net_delta`: the member of that name is this number.
pub(super) fn net_delta(wanted: &Number, precision: Precision, seen: &Observation) -> Verdict {
    let ask = ask_net_delta(wanted);
    view::with_reply(seen, &ask, |reply| {
        let missed = other_delta(&ask, wanted, precision, reply);
        json::beside_others(&ask, reply, Others::Matter, missed.into_iter().collect())
    })
}

/// What is wrong with the member.
fn other_delta(
    ask: &Ask,
    wanted: &Number,
    precision: Precision,
    reply: &Reply,
) -> Option<Mismatch> {
    let document = match json::document_or_structured(reply) {
        Ok(document) => document,
        Err(none) => return Some(*none.mismatch(ask, reply)),
    };
    let Some(value) = document.get("net_delta") else {
        return Some(without_delta(ask, &document, reply));
    };
    let holds = value.as_number().is_some_and(|seen| {
        let seen = match precision {
            Precision::Exact => seen.clone(),
            Precision::Truncated => number::truncated(seen),
        };
        number::compare(&seen, wanted) == Ordering::Equal
    });
    (!holds).then(|| Mismatch {
        path: Some("$.net_delta".to_owned()),
        actual: Some(phrase::laid_out(&document)),
        hint: json::other_type(&Value::Number(wanted.clone()), value),
        ..ask.miss(phrase::found(value))
    })
}

fn without_delta(ask: &Ask, document: &Value, reply: &Reply) -> Mismatch {
    let seen = match document {
        Value::Object(_) => "the JSON object does not have it".to_owned(),
        Value::Array(items) => format!("the JSON is an array of {}", count(items.len(), "item")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            format!("the JSON is {}", phrase::kind(document))
        }
    };
    Mismatch {
        actual: Some(phrase::cut(&reply.text, 0)),
        ..ask.miss(seen)
    }
}

#[cfg(test)]
mod tests;
