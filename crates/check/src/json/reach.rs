//! What the rest of a list that was not fetched to its end can change at the end of a path.

use serde_json::Value;
use serde_json_path::JsonPath;

use super::{list, rules::query, steps};
use crate::{traits::Sway, unfetched::Beginning};
use mcp::json::json_path;
use suite::model::{
    counted::{CountedPath, StepKind},
    expectation::{Comparison, LengthRule, Matcher, PathRule, ValueRule},
};

/// Where a path leads in an answer with such a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To what is not of the list, or into an item that is known.
    Known,
    /// To the list itself.
    List,
    /// To places in it, of which there may be more.
    Places,
    /// Nobody can say.
    Unclear,
}

/// What the rest of a list can do to the verdict of a rule.
pub(crate) fn sway(rule: &PathRule, document: &Value, list: Beginning<'_>) -> Sway {
    let from = rule.chosen_from.as_deref().map(|step| &step.path);
    match reach((&rule.written, &rule.path), from, list) {
        Reach::Known => Sway::NONE,
        Reach::List => of_list(&rule.rule, list),
        Reach::Places => {
            let nodes = query(&rule.written, &rule.path, document);
            let is_somewhere = nodes.is_ok_and(|nodes| !nodes.is_empty());
            if !is_somewhere || list::compares(&rule.rule) {
                Sway::BOTH
            } else if only_wants_something(&rule.rule) {
                Sway::NONE
            } else {
                // It has to hold at each place.
                Sway::LOSES
            }
        }
        Reach::Unclear => Sway::BOTH,
    }
}

/// What it can do to a bound on the number of items, to which `more` of them do this.
pub(crate) fn sway_of_count(path: &CountedPath, list: Beginning<'_>, more: Sway) -> Sway {
    let choice = path
        .steps
        .iter()
        .position(|step| step.kind == StepKind::Choice);
    let from = choice.and_then(|at| path.steps.get(at.checked_sub(1)?));
    let from = from.map(|step| &step.path);
    match reach((&path.written, &path.path), from, list) {
        Reach::Known => Sway::NONE,
        Reach::List => more,
        Reach::Places if path.ends() == StepKind::Choice => more,
        Reach::Places | Reach::Unclear => Sway::BOTH,
    }
}

/// Where a path leads; `from` is where it leads before its first step that can match several places.
fn reach(
    (written, path): (&str, &JsonPath),
    from: Option<&JsonPath>,
    list: Beginning<'_>,
) -> Reach {
    let leads = |path: &JsonPath| {
        let steps = steps::of_path(path)?;
        let mut steps = steps.into_iter();
        Some(match (steps.next(), steps.next()) {
            (None, _) => Reach::Unclear,
            (Some(steps::Step::Name(name)), _) if name != list.member => Reach::Known,
            (Some(steps::Step::Name(_)), None) => Reach::List,
            (Some(steps::Step::Name(_)), Some(steps::Step::Index(at))) => {
                let is_known = usize::try_from(at).is_ok_and(|at| at < list.items);
                if is_known {
                    Reach::Known
                } else {
                    Reach::Unclear
                }
            }
            // There is no member of a list, and no item of the whole.
            (Some(steps::Step::Name(_)), Some(steps::Step::Name(_)))
            | (Some(steps::Step::Index(_)), _) => Reach::Known,
        })
    };
    if let Some(reach) = leads(path) {
        return reach;
    }
    match from.and_then(leads) {
        Some(Reach::List) if only_adds(written) => Reach::Places,
        Some(Reach::Known) if only_adds(written) => Reach::Known,
        Some(Reach::Known | Reach::List | Reach::Places | Reach::Unclear) | None => Reach::Unclear,
    }
}

/// Whether a path that chooses among items chooses, of more of them, the same ones and perhaps others: it counts none from
/// the end, and its filters do not look beyond the item.
fn only_adds(path: &str) -> bool {
    let mut at = 0;
    while let Some(sign) = path.get(at..).and_then(|rest| rest.chars().next()) {
        match sign {
            '\'' | '"' => at += json_path::quoted(&path[at..], sign),
            '-' | '$' if at > 0 => return false,
            other => at += other.len_utf8(),
        }
    }
    true
}

/// Whether a rule wants nothing but that something is there.
fn only_wants_something(rule: &ValueRule) -> bool {
    match rule {
        ValueRule::Matchers(matchers) => matchers
            .iter()
            .all(|matcher| matches!(matcher, Matcher::Exists(true))),
        ValueRule::Equals(_) | ValueRule::Loosely(_) => false,
    }
}

/// What more items do to a rule about the list itself.
fn of_list(rule: &ValueRule, list: Beginning<'_>) -> Sway {
    match rule {
        ValueRule::Equals(wanted) => of_equal(wanted, list),
        ValueRule::Loosely(_) => Sway::BOTH,
        ValueRule::Matchers(matchers) => matchers
            .iter()
            .map(|matcher| of_matcher(matcher, list))
            .fold(Sway::NONE, Sway::or),
    }
}

fn of_equal(wanted: &Value, list: Beginning<'_>) -> Sway {
    match wanted.as_array() {
        Some(wanted) if wanted.len() >= list.items => Sway::BOTH,
        // It is longer already, or no list is wanted.
        Some(_) | None => Sway::NONE,
    }
}

fn of_matcher(matcher: &Matcher, list: Beginning<'_>) -> Sway {
    match matcher {
        // No list is of these, whatever it holds.
        Matcher::Exists(_) | Matcher::Type(_) | Matcher::Compare(..) | Matcher::Matches(_) => {
            Sway::NONE
        }
        Matcher::Contains(_) => Sway::GAINS,
        Matcher::Length(LengthRule::Exactly(wanted)) => {
            if *wanted < list.items as u64 {
                Sway::NONE
            } else {
                Sway::BOTH
            }
        }
        Matcher::Length(LengthRule::Within(bounds)) => bounds
            .iter()
            .map(|(comparison, _)| match comparison {
                Comparison::Greater | Comparison::AtLeast => Sway::GAINS,
                Comparison::Less | Comparison::AtMost => Sway::LOSES,
            })
            .fold(Sway::NONE, Sway::or),
        Matcher::OneOf(wanted) => wanted
            .iter()
            .map(|wanted| of_equal(wanted, list))
            .fold(Sway::NONE, Sway::or),
        Matcher::Equals(wanted) => of_equal(wanted, list),
        Matcher::Not(_) => Sway::BOTH,
    }
}
