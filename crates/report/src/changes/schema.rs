//! What changed in the schema of arguments or results, by parameter.

use serde_json::Value;

use super::{
    Level,
    entry::{Found, shown, text},
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
pub(super) fn compare((noun, flow): (&str, Flow), old: &Value, new: &Value) -> Vec<Found> {
    if old == new {
        return Vec::new();
    }
    let declared = inclusion::declarations(old, new);
    // What does no harm needs no witness.
    let (harmful, harmless) = match flow {
        Flow::In => (
            (Larger::Old, inclusion::gaps(old, new, Search::Witness)),
            (Larger::New, inclusion::gaps(new, old, Search::Nothing)),
        ),
        Flow::Out => (
            (Larger::New, inclusion::gaps(new, old, Search::Witness)),
            (Larger::Old, inclusion::gaps(old, new, Search::Nothing)),
        ),
    };
    let subject = |path: &str| match path {
        "" => format!("all {noun}s"),
        path => format!("{noun} `{path}`"),
    };
    let mut all = Vec::new();
    let mut told: Vec<(String, Option<Rule>)> = Vec::new();
    for gap in harmful.1 {
        told.push((gap.path.clone(), Some(gap.rule.clone())));
        let level = level(&gap, flow);
        all.push(found(&subject(&gap.path), level, harmful.0, gap));
    }
    for (place, declaration) in declared {
        let path = path(&place);
        let is_told = match &declaration {
            Declaration::Removed | Declaration::Added => {
                told.iter().any(|(other, _)| *other == path)
            }
            Declaration::Said(..) => false,
        };
        if !is_told {
            all.extend(declaration_found(
                &subject(&path),
                (flow, old, &place),
                &declaration,
            ));
        }
        if declaration == Declaration::Removed || declaration == Declaration::Added {
            told.push((path, None));
        }
    }
    for gap in harmless.1 {
        let is_known = |(path, rule): &(String, Option<Rule>)| {
            *path == gap.path
                && (rule.is_none() || gap.rule != Rule::Values && *rule == Some(gap.rule.clone()))
                || rule.is_none()
                    && gap
                        .path
                        .strip_prefix(path.as_str())
                        .is_some_and(|it| it.starts_with(['.', '[']))
        };
        if !told.iter().any(is_known) {
            all.push(found(&subject(&gap.path), Level::Safe, harmless.0, gap));
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

fn found(subject: &str, level: Level, larger: Larger, gap: Gap) -> Found {
    let what = format!("{subject}: {}", words(larger, &gap));
    let harm = level > Level::Safe;
    let (witness, unproven) = match gap.proof {
        Proof::Witness(value) => (Some(value), None),
        Proof::Unproven(_) if gap.rule == Rule::Closed || gap.rule == Rule::Undeclared => {
            (None, None)
        }
        Proof::Unproven(why) => (None, Some(why)),
    };
    Found {
        witness: witness.filter(|_| harm),
        unproven: unproven.filter(|_| harm),
        ..Found::new(level, what)
    }
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
) -> Option<Found> {
    Some(match declaration {
        Declaration::Removed if flow == Flow::In => Found {
            witness: inclusion::having(old, place),
            ..Found::new(Level::Breaking, format!("{subject}: was removed"))
        },
        Declaration::Removed => Found::new(Level::Risky, format!("{subject}: was removed")),
        Declaration::Added => Found::new(Level::Safe, format!("{subject}: was added")),
        Declaration::Said("default", before, now) => {
            let (before, now) = (shown(before.as_ref()), shown(now.as_ref()));
            Found::new(
                Level::Risky,
                format!("{subject}: default: {before} → {now}"),
            )
        }
        Declaration::Said(keyword, before, now) => {
            let of = |it: &'_ Option<Value>| it.as_ref().and_then(Value::as_str).map(str::to_owned);
            let said = text(keyword, (of(before).as_deref(), of(now).as_deref()))?;
            let what = format!("{subject}: {}", said.what);
            Found { what, ..said }
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
