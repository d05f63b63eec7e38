//! `json_path` and `structured`: values at paths of a JSON document. A path that matches several places must
//! hold at each of them, except that a list given to `equals` may be the list of what was matched;
//! a path that matches nothing holds only for `exists: false` (and, when it can match several places, for
//! the empty list, if what it chooses from is there).

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::{
    ask::{Ask, first_of},
    go,
    json::{
        beside_others, difference, document,
        document::{no_document, no_structured},
        list::{self, Matched},
        matcher, near,
        same::{Extent, same},
        several::Others,
        steps,
    },
    outcome::verdict::{Mismatch, Verdict},
    phrase, view,
};
use mcp::{
    json::json_path,
    observation::{Observation, answer::Reply},
};
use suite::{
    model::{
        counted::CountedStep,
        expectation::{Matcher, PathRule, ValueRule},
    },
    written::Part,
};

/// A place that a path leads to.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// The place as people write it.
    pub place: String,
    /// What is there.
    pub value: &'a Value,
}

/// The places that a path leads to, or why that cannot be told.
pub(crate) fn query<'a>(
    written: &str,
    path: &JsonPath,
    document: &'a Value,
) -> Result<Vec<Node<'a>>, String> {
    let found = json_path::query((written, path), document, steps::location);
    let found = found.map_err(|reason| format!("{} {reason}", phrase::quoted(written)))?;
    let nodes = found
        .into_iter()
        .map(|(place, value)| Node { place, value });
    Ok(nodes.collect())
}

/// Which document the paths are applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The text read as JSON.
    Text,
    /// `structuredContent`.
    Structured,
}

impl Source {
    fn key(self) -> &'static str {
        match self {
            Self::Text => "json_path",
            Self::Structured => "structured",
        }
    }
}

/// Whether a path can match more than one place.
pub(crate) fn can_match_several(path: &JsonPath) -> bool {
    steps::of_path(path).is_none()
}

/// What there is instead of a path that leads nowhere, when it can lead to one place only.
pub(crate) fn near_path(path: &JsonPath, document: &Value) -> Option<String> {
    near::path(&steps::of_path(path)?, document)
}

/// What rules want, as a clause: ``the text to have `$.a` `1` ``.
pub(super) fn ask_rules(source: Source, rules: &[PathRule]) -> Ask {
    let place = match source {
        Source::Text => "the text to be JSON",
        Source::Structured => "structured content",
    };
    let clauses: Vec<String> = rules.iter().map(placed).collect();
    let wanted = if clauses.is_empty() {
        place.to_owned()
    } else {
        format!("{place} with {}", phrase::joined(&clauses, "and"))
    };
    Ask::new(source.key(), wanted)
}

/// What a rule wants, its path included.
fn placed(rule: &PathRule) -> String {
    format!("{}: {}", phrase::quoted(&rule.written), clause(&rule.rule))
}

/// What a rule wants of the value at its path.
pub(super) fn clause(rule: &ValueRule) -> String {
    match rule {
        ValueRule::Equals(wanted) => phrase::value(wanted),
        ValueRule::Loosely(wanted) => format!("{} (printed alike)", phrase::value(wanted)),
        ValueRule::Matchers(matchers) => matcher::clauses(matchers),
    }
}

/// Values at paths of the text or of the structured content.
pub(super) fn rules(source: Source, rules: &[PathRule], seen: &Observation) -> Verdict {
    let whole = ask_rules(source, rules);
    let mut unknown = None;
    let verdict = view::with_reply(seen, &whole, |reply| {
        let document = match source {
            Source::Text => document(&reply.text).map_err(|none| no_document(&none, &whole, reply)),
            Source::Structured => {
                let structured = reply.structured().cloned();
                structured.ok_or_else(|| no_structured(&whole, reply))
            }
        };
        let document = match document {
            Ok(document) => document,
            Err(mismatch) => return vec![mismatch],
        };
        let mut all = Vec::new();
        for (index, rule) in rules.iter().enumerate() {
            let mut mismatches = look(source, rule, &document).unwrap_or_else(|reason| {
                unknown.get_or_insert(reason);
                Vec::new()
            });
            if source == Source::Text {
                let ask = Ask::new(source.key(), placed(rule));
                mismatches = beside_others(&ask, reply, others(rule), mismatches);
            }
            all.extend(
                mismatches
                    .into_iter()
                    .map(|it| it.within(Part::Entry(index))),
            );
        }
        all
    });
    match (unknown, verdict) {
        (Some(reason), Verdict::Held) => Verdict::Unknowable(reason),
        (_, verdict) => verdict,
    }
}

/// Whether a rule speaks of more than the first JSON value: of every place that its path matches, or of what must
/// not be there.
fn others(rule: &PathRule) -> Others {
    if can_match_several(&rule.path) || forbids(&rule.rule) {
        Others::Matter
    } else {
        Others::Aside
    }
}

/// Whether a rule holds because something is not so.
fn forbids(rule: &ValueRule) -> bool {
    match rule {
        ValueRule::Equals(_) | ValueRule::Loosely(_) => false,
        ValueRule::Matchers(matchers) => matchers
            .iter()
            .any(|matcher| matches!(matcher, Matcher::Exists(false) | Matcher::Not(_))),
    }
}

/// One rule applied to a document; the reason when it cannot be told where its path leads.
fn look(source: Source, rule: &PathRule, document: &Value) -> Result<Vec<Mismatch>, String> {
    let ask = Ask::new(source.key(), clause(&rule.rule));
    let nodes = query(&rule.written, &rule.path, document)?;
    if !nodes.is_empty() {
        return Ok(unlike(&ask, rule, &nodes));
    }
    let missed = match of_nothing(&rule.rule) {
        Some(true) => None,
        Some(false) => Some(Mismatch {
            path: Some(rule.written.clone()),
            ..ask.miss("nothing is there")
        }),
        None => absent(&ask, rule, document),
    };
    Ok(missed.into_iter().collect())
}

/// The mismatch of rules, asked otherwise, when no more is known than that paths of theirs lead nowhere: that is no
/// proof that what is wanted there is not so.
pub(super) fn unspoken(
    ask: &Ask,
    source: Source,
    rules: &[PathRule],
    reply: &Reply,
) -> Option<Mismatch> {
    let document = match source {
        Source::Text => document(&reply.text).ok()?,
        Source::Structured => reply.structured()?.clone(),
    };
    let mut nowhere = None;
    for rule in rules {
        let nodes = query(&rule.written, &rule.path, &document).ok()?;
        if nodes.is_empty() && of_nothing(&rule.rule).is_none() {
            nowhere = nowhere.or_else(|| absent(ask, rule, &document));
        } else if look(source, rule, &document).is_ok_and(|mismatches| !mismatches.is_empty()) {
            return None;
        }
    }
    nowhere
}

/// What is wrong at the places of a path.
fn unlike(ask: &Ask, rule: &PathRule, nodes: &[Node<'_>]) -> Vec<Mismatch> {
    let matched = if can_match_several(&rule.path) {
        Matched::List(nodes)
    } else {
        Matched::One
    };
    let mismatches = nodes.iter().flat_map(|node| {
        let path = match matched {
            Matched::One => &rule.written,
            Matched::List(_) => &node.place,
        };
        let found = wrong(&rule.rule, node.value, matched, ask).into_iter();
        found.map(move |mismatch| Mismatch {
            path: Some(match mismatch.path {
                Some(inner) => format!("{path}{inner}"),
                None => path.clone(),
            }),
            ..mismatch
        })
    });
    let mismatches = first_of(mismatches);
    let of_list = if mismatches.is_empty() {
        Vec::new()
    } else {
        unlike_list(ask, rule, matched)
    };
    if of_list.is_empty() {
        mismatches
    } else {
        of_list
    }
}

/// What a rule says of a place where nothing is; `None` when it speaks of what should be there.
fn of_nothing(rule: &ValueRule) -> Option<bool> {
    let ValueRule::Matchers(matchers) = rule else {
        return None;
    };
    let said = matchers.iter().map(|matcher| match matcher {
        Matcher::Exists(wanted) => Some(!wanted),
        Matcher::Not(rule) => of_nothing(rule).map(|holds| !holds),
        Matcher::Type(_)
        | Matcher::Compare(..)
        | Matcher::Matches(_)
        | Matcher::Contains(_)
        | Matcher::Length(_)
        | Matcher::OneOf(_)
        | Matcher::Equals(_) => None,
    });
    let said: Vec<Option<bool>> = said.collect();
    if said.contains(&Some(false)) {
        return Some(false);
    }
    (!said.contains(&None)).then_some(true)
}

/// The mismatch when a path matches nothing, unless that is what an empty list wants.
fn absent(ask: &Ask, rule: &PathRule, document: &Value) -> Option<Mismatch> {
    let steps = steps::of_path(&rule.path);
    if steps.is_none() && list::wants_empty(&rule.rule) {
        let from = rule.chosen_from.as_deref()?;
        return not_chosen_from(ask, rule, (from, document));
    }
    Some(Mismatch {
        path: Some(rule.written.clone()),
        actual: Some(phrase::laid_out(near::deepest(steps.as_deref(), document))),
        hint: steps.and_then(|steps| near::path(&steps, document)),
        ..ask.miss("nothing is there")
    })
}

/// The mismatch when there is nothing that a path could have chosen from: that nothing was chosen proves nothing then.
fn not_chosen_from(
    ask: &Ask,
    rule: &PathRule,
    (from, document): (&CountedStep, &Value),
) -> Option<Mismatch> {
    let nodes = query(&from.written, &from.path, document).ok()?;
    let written = phrase::quoted(&from.written);
    let (seen, hint) = match nodes.first().map(|node| node.value) {
        Some(Value::Array(_) | Value::Object(_) | Value::Null) => return None,
        Some(other) => (format!("{written} is {}", phrase::kind(other)), None),
        None => (
            format!("nothing is at {written}"),
            near_path(&from.path, document),
        ),
    };
    let steps = steps::of_path(&from.path);
    Some(Mismatch {
        path: Some(rule.written.clone()),
        actual: Some(phrase::laid_out(near::deepest(steps.as_deref(), document))),
        hint,
        ..ask.miss(seen)
    })
}

/// What is wrong with the list of what was matched, as far as a rule compares with a list.
fn unlike_list(ask: &Ask, rule: &PathRule, matched: Matched<'_>) -> Vec<Mismatch> {
    let Some(list) = matched.shown().filter(|_| list::compares(&rule.rule)) else {
        return Vec::new();
    };
    let mut mismatches = match &rule.rule {
        ValueRule::Matchers(matchers) => matchers
            .iter()
            .filter(|one| list::matcher_compares(one))
            .filter_map(|one| matcher::hold(one, &list, Matched::One, ask.key))
            .collect(),
        ValueRule::Equals(_) | ValueRule::Loosely(_) => wrong(&rule.rule, &list, Matched::One, ask),
    };
    for mismatch in &mut mismatches {
        mismatch.path = Some(rule.written.clone());
    }
    mismatches
}

/// What is wrong with a value; nothing when the rule holds. A path in a mismatch leads into the value.
fn wrong(rule: &ValueRule, value: &Value, matched: Matched<'_>, ask: &Ask) -> Vec<Mismatch> {
    let one = match rule {
        ValueRule::Equals(wanted) if matched.is(wanted) => None,
        ValueRule::Equals(wanted) => unequal(wanted, value, ask),
        ValueRule::Loosely(wanted) => {
            let alike = same(wanted, value)
                || go::print(wanted, go::Floats::AsWritten) == go::print(value, go::Floats::All);
            if alike {
                None
            } else {
                unequal(wanted, value, ask)
            }
        }
        ValueRule::Matchers(matchers) => {
            let all = matchers.iter();
            return all
                .filter_map(|one| matcher::hold(one, value, matched, ask.key))
                .collect();
        }
    };
    one.into_iter().collect()
}

/// The mismatch of two values, down to where they part.
pub(super) fn unequal(wanted: &Value, value: &Value, ask: &Ask) -> Option<Mismatch> {
    let difference = difference(wanted, value, Extent::Whole)?;
    let hint = near::value(&difference);
    let nested = !difference.path.is_empty();
    Some(Mismatch {
        expected: Some(phrase::laid_out(wanted)),
        actual: Some(phrase::laid_out(value)),
        hint: match (nested, hint) {
            (false, hint) => hint,
            (true, None) => Some(difference.sentence()),
            (true, Some(hint)) => Some(format!("{}; {hint}", difference.sentence())),
        },
        ..ask.miss(phrase::found(value))
    })
}

/// Whether a value satisfies a rule.
pub(super) fn satisfies(rule: &ValueRule, value: &Value, matched: Matched<'_>) -> bool {
    wrong(rule, value, matched, &Ask::new("", "")).is_empty()
}

#[cfg(test)]
mod tests;
