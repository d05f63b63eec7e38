//! Text that flows from the output of one tool into the input of another: an injection flows with it, and a circle of such
//! tools may never end.

use std::collections::{BTreeSet, HashMap, VecDeque};

use serde_json::{Map, Value};

use super::is_among;
use crate::inspect::lint::{
    rule::{Findings, rules},
    schema::types,
    view::{Parameter, View, parameters},
};
use report::inspection::Kind;

rules! {
    "E105" "free-text-propagation" Error "medium" [go security] Server(free_text):
        "free text of one tool's output is another tool's input" =>
        "narrow the parameter with `enum`, `pattern` or `format`, so that not every text passes";
    "E107" "circular-dependency" Warning "medium" [go] Server(circular):
        "tools need each other's outputs in a circle" =>
        "let one tool of the circle take a value that the user gives";
}

/// Names that so many tools have that they connect nothing.
const GENERIC: &str = "id ids name names path paths url urls uri uris query content contents text type kind status state title \
    description message messages body data value values key format language count limit offset page cursor \
    size total result results output input file files date time timestamp error success ok items metadata";

/// The most circles that are told.
const MOST_CIRCLES: usize = 20;

/// A property of a tool's schema.
struct End<'a> {
    tool: usize,
    parameter: Parameter<'a>,
}

/// The tools that give and that take a property of each name that connects tools. What a tool takes itself it only repeats.
fn ends<'a>(view: &'a View<'_>) -> HashMap<String, (Vec<End<'a>>, Vec<End<'a>>)> {
    let mut ends: HashMap<String, (Vec<End<'a>>, Vec<End<'a>>)> = HashMap::new();
    for (tool, it) in view.tools.iter().enumerate() {
        let given = it.output.as_ref().map(parameters).unwrap_or_default();
        let taken = it.input.as_ref().map(parameters).unwrap_or_default();
        let own: BTreeSet<Vec<String>> = taken.iter().map(|it| it.words.clone()).collect();
        for (list, is_given) in [(given, true), (taken, false)] {
            for parameter in list {
                let last = parameter
                    .words
                    .last()
                    .map(String::as_str)
                    .unwrap_or_default();
                if is_among(last, GENERIC) || (is_given && own.contains(&parameter.words)) {
                    continue;
                }
                let (giving, taking) = ends.entry(parameter.words.join("_")).or_default();
                let end = End { tool, parameter };
                let side = if is_given { giving } else { taking };
                side.push(end);
            }
        }
    }
    ends
}

fn is_free(parameter: &Parameter<'_>) -> bool {
    let is_text = |part: &&Map<String, Value>| types(part) == ["string"];
    let narrowed = parameter.has(&["enum", "const", "pattern", "format"]);
    parameter.parts.iter().any(is_text) && !narrowed
}

fn free_text(view: &View<'_>, found: &mut Findings<'_>) {
    for (giving, taking) in ends(view).values() {
        for taken in taking.iter().filter(|it| is_free(&it.parameter)) {
            let mut sources = giving.iter();
            let source = sources.find(|it| it.tool != taken.tool && is_free(&it.parameter));
            if let Some(source) = source {
                let (name, from) = (taken.parameter.name, view.tools[source.tool].name);
                let output = source.parameter.name;
                let message = format!(
                    "`{name}` takes free text, and the output `{output}` of `{from}` is such text"
                );
                let tool = view.tools[taken.tool].name;
                found
                    .about(Kind::Tool, tool)
                    .say(&taken.parameter.pointer, message);
            }
        }
    }
}

fn circular(view: &View<'_>, found: &mut Findings<'_>) {
    let ends = ends(view);
    let mut gives: Vec<Vec<&str>> = vec![Vec::new(); view.tools.len()];
    for (name, (giving, _)) in &ends {
        for end in giving {
            gives[end.tool].push(name);
        }
    }
    for names in &mut gives {
        names.sort_unstable();
    }
    let takers = |name: &str| ends.get(name).map_or(&[][..], |(_, taking)| taking);
    let mut told: BTreeSet<Vec<usize>> = BTreeSet::new();
    for start in 0..view.tools.len() {
        if told.len() == MOST_CIRCLES || told.iter().any(|circle| circle.contains(&start)) {
            continue;
        }
        let Some(circle) = circle(start, &gives, &takers) else {
            continue;
        };
        let names: Vec<String> = circle
            .iter()
            .map(|at| format!("`{}`", view.tools[*at].name))
            .collect();
        let mut set = circle.clone();
        set.sort_unstable();
        if told.insert(set) {
            let message = format!(
                "tools need each other's outputs in a circle: {}",
                names.join(" → ")
            );
            found
                .about(Kind::Tool, view.tools[start].name)
                .say("", message);
        }
    }
}

/// The shortest way from a tool back to itself.
fn circle<'a>(
    start: usize,
    gives: &[Vec<&str>],
    takers: &impl Fn(&str) -> &'a [End<'a>],
) -> Option<Vec<usize>> {
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(tool) = waiting.pop_front() {
        for name in &gives[tool] {
            let ways = takers(name)
                .iter()
                .map(|it| it.tool)
                .filter(|it| *it != tool);
            for next in ways.clone() {
                if next == start {
                    let mut way = vec![start, tool];
                    while let Some(at) = way.last().and_then(|at| before.get(at)) {
                        way.push(*at);
                    }
                    way.reverse();
                    return Some(way);
                }
            }
            // A name that was passed leads nowhere new.
            if !passed.insert(name) {
                continue;
            }
            for next in ways {
                if let std::collections::hash_map::Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(tool);
                    waiting.push_back(next);
                }
            }
        }
    }
    None
}
