//! `min_results`, `max_results`, `net_delta`: how many items an array of the answer has, and one number that
//! editing tools report.

mod place;

use std::{borrow::Cow, cmp::Ordering};

use serde_json::{Number, Value};

use crate::{
    ask::{Ask, first_of},
    json::{self, Others},
    outcome::verdict::{Mismatch, Verdict},
    phrase, view,
};
use mcp::{
    json::number,
    observation::{Observation, Proof, answer::Reply},
};
use suite::model::expectation::{Precision, ResultCount};
use text::count;

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
        Some(path) => format!(" at {}", phrase::quoted(&path.written)),
        None => String::new(),
    };
    let results = count(rule.bound, "result");
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
        let elsewhere = elsewhere(rule, reply, seen.proof);
        if let Some(structured) = elsewhere {
            let mut missed = miscounted(&ask, side, rule, structured);
            for mismatch in &mut missed {
                mismatch.seen.insert_str(0, "in `structuredContent` ");
            }
            return missed;
        }
        let missed = match json::document_or_structured(reply) {
            Ok(document) => miscounted(&ask, side, rule, &document),
            Err(none) => vec![json::no_document(&none, &ask, reply)],
        };
        json::beside_others(&ask, reply, others, missed)
    })
}

/// The structured content, where a path leads nowhere in the text and somewhere there.
pub(super) fn elsewhere<'a>(
    rule: &ResultCount,
    reply: &'a Reply,
    proof: Proof,
) -> Option<&'a Value> {
    let path = rule.path.as_ref()?;
    let document = json::document(&reply.text).ok()?;
    let structured = json::beside(reply, &document, proof)?;
    let is_there = place::leads_nowhere(path, &document) && !place::leads_nowhere(path, structured);
    is_there.then_some(structured)
}

/// What is wrong with the number of items.
fn miscounted(ask: &Ask, side: Bound, rule: &ResultCount, document: &Value) -> Vec<Mismatch> {
    let counts = match counts(rule, document) {
        Ok(counts) => counts,
        Err(none) => return vec![none.mismatch(ask, document)],
    };
    let outside = |count: &&Count| match side {
        Bound::Least => (count.items as u64) < rule.bound,
        Bound::Most => count.items as u64 > rule.bound,
    };
    let mismatch = |count: &Count| Mismatch {
        path: Some(count.place.clone()),
        actual: Some(phrase::laid_out(document)),
        ..ask.miss(format!(
            "there {} {}",
            if count.items == 1 { "is" } else { "are" },
            count.items
        ))
    };
    first_of(counts.iter().filter(outside).map(mismatch))
}

/// The mismatch of `min_results` or `max_results`, asked otherwise, with a document that has nothing to count.
pub(super) fn uncountable(
    ask: &Ask,
    rule: &ResultCount,
    (reply, proof): (&Reply, Proof),
) -> Option<Mismatch> {
    let document = match elsewhere(rule, reply, proof) {
        Some(structured) => Cow::Borrowed(structured),
        None => json::document_or_structured(reply).ok()?,
    };
    let none = counts(rule, &document).err()?;
    Some(none.mismatch(ask, &document))
}

/// The array that is meant, or what a path leads to.
fn counts(rule: &ResultCount, document: &Value) -> Result<Vec<Count>, NoCount> {
    match &rule.path {
        Some(path) => place::counts(path, document),
        None => array(document).map(|count| vec![count]),
    }
}

/// How many items there are at a place.
#[derive(Debug)]
struct Count {
    place: String,
    items: usize,
}

/// Why nothing can be counted.
#[derive(Debug)]
struct NoCount {
    reason: String,
    hint: Option<String>,
}

impl NoCount {
    fn mismatch(self, ask: &Ask, document: &Value) -> Mismatch {
        Mismatch {
            actual: Some(phrase::laid_out(document)),
            hint: self.hint,
            ..ask.miss(self.reason)
        }
    }
}

/// The array that is meant where no path is given; `null` counts as an empty one.
fn array(document: &Value) -> Result<Count, NoCount> {
    let count = |items, place: &str| Count {
        place: place.to_owned(),
        items,
    };
    let reason = match document {
        Value::Array(items) => return Ok(count(items.len(), "$")),
        Value::Null => return Ok(count(0, "$")),
        Value::Object(members) => {
            let found = WELL_KNOWN
                .iter()
                .find_map(|name| Some((name, members.get(*name)?.as_array()?)));
            if let Some((name, items)) = found {
                return Ok(count(items.len(), &format!("$.{name}")));
            }
            format!(
                "the JSON object has no array under {}",
                phrase::list(&WELL_KNOWN, "or")
            )
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            format!("the JSON is {}, not an array", phrase::kind(document))
        }
    };
    Err(NoCount { reason, hint: None })
}

/// The member that `net_delta` looks at.
const NET_DELTA: &str = "net_delta";

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
        Err(none) => return Some(json::no_document(&none, ask, reply)),
    };
    let Some(value) = document.get(NET_DELTA) else {
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

/// The mismatch of `net_delta`, asked otherwise, with an answer that does not have it.
pub(super) fn no_delta(ask: &Ask, reply: &Reply) -> Option<Mismatch> {
    let document = json::document_or_structured(reply).ok()?;
    let is_there = document.get(NET_DELTA).is_some();
    (!is_there).then(|| without_delta(ask, &document, reply))
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
