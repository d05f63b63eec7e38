//! `path` of `min_results` and `max_results`: what is counted where it leads, and whether a path that leads nowhere
//! counts as 0.

use serde_json::Value;

use super::{Count, NoCount};
use crate::{json, phrase};
use suite::model::counted::{CountedPath, CountedStep, StepKind};

/// How many results there are at each place of a path.
pub(super) fn counts(path: &CountedPath, document: &Value) -> Result<Vec<Count>, NoCount> {
    let nodes = json::query(&path.written, &path.path, document).map_err(NoCount::plain)?;
    let matches = || Count {
        place: path.written.clone(),
        items: nodes.len(),
    };
    if nodes.is_empty() {
        nothing_there(path, document)?;
        return Ok(vec![matches()]);
    }
    if path.ends() == StepKind::Choice {
        return Ok(vec![matches()]);
    }
    let is_single = !json::can_match_several(&path.path);
    let arrays: Vec<Count> = nodes
        .iter()
        .filter_map(|node| {
            let items = length(node.value)?;
            let place = if is_single {
                &path.written
            } else {
                &node.place
            };
            let place = place.clone();
            Some(Count { place, items })
        })
        .collect();
    let strange = nodes.iter().find(|node| length(node.value).is_none());
    match strange {
        None => Ok(arrays),
        Some(node) if is_single => Err(NoCount::plain(format!(
            "{} is {}",
            phrase::quoted(&path.written),
            phrase::kind(node.value)
        ))),
        Some(node) if nodes.iter().any(|node| node.value.is_array()) => {
            Err(NoCount::plain(format!(
                "{} leads to arrays and to other values: {} is {}",
                phrase::quoted(&path.written),
                phrase::quoted(&node.place),
                phrase::kind(node.value)
            )))
        }
        Some(_) => Ok(vec![matches()]),
    }
}

/// The number of items of an array; `null` counts as an empty one.
fn length(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) => Some(items.len()),
        Value::Null => Some(0),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
    }
}

/// Whether nothing is where a path leads, and nothing was chosen from on the way either.
pub(super) fn leads_nowhere(path: &CountedPath, document: &Value) -> bool {
    let is_empty = json::query(&path.written, &path.path, document).is_ok_and(|it| it.is_empty());
    is_empty && nothing_there(path, document).is_err()
}

/// Why a path leads nowhere; `Ok` if a list on the way is empty or a filter matches nothing.
fn nothing_there(path: &CountedPath, document: &Value) -> Result<(), NoCount> {
    let mut reached = vec![document];
    for (index, step) in path.steps.iter().enumerate() {
        let found = json::query(&step.written, &step.path, document).map_err(NoCount::plain)?;
        if !found.is_empty() {
            reached = found.into_iter().map(|node| node.value).collect();
            continue;
        }
        let before = index
            .checked_sub(1)
            .and_then(|before| path.steps.get(before));
        return match step.kind {
            StepKind::Named => Err(missing(step, document)),
            StepKind::Choice => chosen_from(before, &reached),
        };
    }
    Err(NoCount::plain(format!(
        "nothing is at {}",
        phrase::quoted(&path.written)
    )))
}

/// Fails if the values before a choice are neither lists nor maps.
fn chosen_from(before: Option<&CountedStep>, values: &[&Value]) -> Result<(), NoCount> {
    let is_container = |value: &Value| value.is_array() || value.is_object() || value.is_null();
    match values {
        [first, ..] if !values.iter().any(|value| is_container(value)) => {
            Err(NoCount::plain(format!(
                "{} is {}",
                phrase::quoted(before.map_or("$", |step| &step.written)),
                phrase::kind(first)
            )))
        }
        [..] => Ok(()),
    }
}

/// Why nothing can be counted behind a step that leads nowhere.
fn missing(step: &CountedStep, document: &Value) -> NoCount {
    NoCount {
        reason: format!("nothing is at {}", phrase::quoted(&step.written)),
        hint: json::near_path(&step.path, document),
    }
}

impl NoCount {
    fn plain(reason: String) -> Self {
        Self { reason, hint: None }
    }
}
