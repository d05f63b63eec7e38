//! What changed in the schema of arguments or results, by parameter.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    Change, Level,
    entry::{shown, text},
};
use crate::inclusion::{self, Declaration, Gap, Place, Proof, Rule, Search};

/// Which way values go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    /// From callers to the server, which must take what it took.
    In,
    /// From the server to callers, who must understand what they get.
    Out,
}

/// Which of the two schemas takes more than the other one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Larger {
    Old,
    New,
}

/// What changed; `noun` is what a property is called.
pub(super) fn compare((noun, flow): (&str, Flow), old: &Value, new: &Value) -> Vec<Change> {
    if old == new {
        return Vec::new();
    }
    let gaps = |larger, search| match larger {
        Larger::Old => inclusion::gaps(old, new, search),
        Larger::New => inclusion::gaps(new, old, search),
    };
    let (harmful, harmless) = match flow {
        Flow::In => (Larger::Old, Larger::New),
        Flow::Out => (Larger::New, Larger::Old),
    };
    let subject = |path: &str| match path {
        "" => format!("all {noun}s"),
        path => format!("{noun} `{path}`"),
    };
    let mut all = Vec::new();
    let mut told: Vec<(String, Option<Rule>)> = Vec::new();
    for gap in gaps(harmful, Search::Witness) {
        told.push((gap.path.clone(), Some(gap.rule.clone())));
        let level = level(&gap, flow);
        all.push(found(&subject(&gap.path), level, harmful, gap));
    }
    for (place, declaration) in inclusion::declarations(old, new) {
        let path = path(&place);
        let is_said = matches!(declaration, Declaration::Said(..));
        if is_said || !told.iter().any(|(other, _)| *other == path) {
            let of = (flow, old, &place);
            all.extend(declaration_found(&subject(&path), of, &declaration));
        }
        if !is_said {
            told.push((path, None));
        }
    }
    // What does no harm needs no witness.
    for gap in gaps(harmless, Search::Nothing) {
        let is_known = |(path, rule): &(String, Option<Rule>)| {
            let behind = gap.path.strip_prefix(path.as_str());
            match rule {
                None => behind.is_some_and(|it| it.is_empty() || it.starts_with(['.', '['])),
                Some(rule) => behind == Some("") && gap.rule != Rule::Values && *rule == gap.rule,
            }
        };
        if !told.iter().any(is_known) {
            all.push(found(&subject(&gap.path), Level::Safe, harmless, gap));
        }
    }
    all
}

/// Whom a gap in the harmful direction concerns.
fn level(gap: &Gap, flow: Flow) -> Level {
    match (&gap.rule, flow, &gap.proof) {
        (Rule::Undeclared, Flow::In, _) => Level::Breaking,
        // Whoever reads the result sees one more member than it knows.
        (Rule::Undeclared, Flow::Out, _) | (Rule::Closed, _, _) | (_, _, Proof::Unproven(_)) => {
            Level::Risky
        }
        (_, _, Proof::Witness(_)) => Level::Breaking,
    }
}

fn found(subject: &str, level: Level, larger: Larger, gap: Gap) -> Change {
    let mut found = Change::new(level, format!("{subject}: {}", words(larger, &gap)));
    let explains_itself = gap.rule == Rule::Closed || gap.rule == Rule::Undeclared;
    match gap.proof {
        _ if level == Level::Safe => {}
        Proof::Witness(value) => found.witness = Some(value),
        Proof::Unproven(_) if explains_itself => {}
        Proof::Unproven(why) => found.unproven = Some(Cow::Borrowed(why)),
    }
    found
}

/// A gap in words.
fn words(larger: Larger, gap: &Gap) -> String {
    let is_old = larger == Larger::Old;
    let choose = |of_old: &str, of_new: &str| (if is_old { of_old } else { of_new }).to_owned();
    match (&gap.rule, &gap.inner, &gap.outer) {
        (Rule::Nothing, _, _) => choose("has no valid value any more", "has valid values now"),
        (Rule::Undeclared, _, _) => choose("was removed", "was added"),
        (Rule::Closed, _, _) => choose(
            "further properties are refused or limited now",
            "further properties are not refused or limited any more",
        ),
        (Rule::Required, _, _) => choose("is required now", "is not required any more"),
        (Rule::Values, Some(values), _) => {
            format!(
                "{}: {values}",
                choose("removed from its values", "added to its values")
            )
        }
        (Rule::Values, None, values) => {
            let values = values.as_deref().unwrap_or_default();
            choose(
                &format!("only {values} now"),
                &format!("not only {values} any more"),
            )
        }
        (Rule::Keyword(keyword), None, None) => format!("`{keyword}` changed"),
        (Rule::Keyword(keyword), inner, outer) => {
            let (old, new) = if is_old {
                (inner, outer)
            } else {
                (outer, inner)
            };
            let word = |it: &Option<String>| it.as_deref().unwrap_or("none").to_owned();
            format!("`{keyword}`: {} → {}", word(old), word(new))
        }
    }
}

fn declaration_found(
    subject: &str,
    (flow, old, place): (Flow, &Value, &Place),
    declaration: &Declaration,
) -> Option<Change> {
    Some(match declaration {
        Declaration::Removed if flow == Flow::In => Change {
            witness: inclusion::having(old, place),
            ..Change::new(Level::Breaking, format!("{subject}: was removed"))
        },
        Declaration::Removed => Change::new(Level::Risky, format!("{subject}: was removed")),
        Declaration::Added => Change::new(Level::Safe, format!("{subject}: was added")),
        Declaration::Said("default", before, now) => {
            let (before, now) = (shown(before.as_ref()), shown(now.as_ref()));
            Change::new(
                Level::Risky,
                format!("{subject}: default: {before} → {now}"),
            )
        }
        Declaration::Said(keyword, before, now) => {
            let said = [before, now].map(|it| it.as_ref().unwrap_or(&Value::Null));
            let said = text(keyword, said)?;
            let what = format!("{subject}: {}", said.what);
            Change { what, ..said }
        }
    })
}

/// A place as people write it.
fn path(place: &Place) -> String {
    let mut path = String::new();
    for step in place {
        match step {
            None => path += "[]",
            Some(name) if path.is_empty() => path += name,
            Some(name) => path = format!("{path}.{name}"),
        }
    }
    path
}
