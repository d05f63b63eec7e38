//! Text that flows from the output of one tool into the input of another: an injection flows with it, and a circle of such
//! tools may never end.

use std::collections::{BTreeSet, HashMap, VecDeque, hash_map::Entry};

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

/// Properties of tools by their names in words.
type Ends<'a> = HashMap<String, Vec<End<'a>>>;

/// What tools give, and what they take, under names that connect tools. What a tool takes itself it only repeats.
fn ends<'a>(view: &'a View<'_>) -> (Ends<'a>, Ends<'a>) {
    let (mut giving, mut taking) = (Ends::new(), Ends::new());
    for (tool, it) in view.tools.iter().enumerate() {
        let mut given = it.output.as_ref().map(parameters).unwrap_or_default();
        let taken = it.input.as_ref().map(parameters).unwrap_or_default();
        let own: BTreeSet<&Vec<String>> = taken.iter().map(|it| &it.words).collect();
        given.retain(|it| !own.contains(&it.words));
        for (list, side) in [(given, &mut giving), (taken, &mut taking)] {
            for parameter in list {
                if !is_among(parameter.words.last().map_or("", String::as_str), GENERIC) {
                    let ends = side.entry(parameter.words.join("_")).or_default();
                    ends.push(End { tool, parameter });
                }
            }
        }
    }
    (giving, taking)
}

fn is_free(parameter: &Parameter<'_>) -> bool {
    let is_text = |part: &&Map<String, Value>| types(part) == ["string"];
    let narrowed = parameter.has(&["enum", "const", "pattern", "format"]);
    parameter.parts.iter().any(is_text) && !narrowed
}

fn free_text(view: &View<'_>, found: &mut Findings<'_>) {
    let (giving, taking) = ends(view);
    for (name, taking) in &taking {
        for taken in taking.iter().filter(|it| is_free(&it.parameter)) {
            let mut sources = giving.get(name).into_iter().flatten();
            let source = sources.find(|it| it.tool != taken.tool && is_free(&it.parameter));
            if let Some(source) = source {
                let (name, output) = (taken.parameter.name, source.parameter.name);
                let from = view.tools[source.tool].name;
                let message = format!(
                    "`{name}` takes free text, and the output `{output}` of `{from}` is such text"
                );
                let found = found.about(Kind::Tool, view.tools[taken.tool].name);
                found.say(&taken.parameter.pointer, message);
            }
        }
    }
}

fn circular(view: &View<'_>, found: &mut Findings<'_>) {
    let (giving, taking) = ends(view);
    let mut gives: Vec<Vec<&str>> = vec![Vec::new(); view.tools.len()];
    for (name, ends) in &giving {
        for end in ends {
            gives[end.tool].push(name);
        }
    }
    for names in &mut gives {
        names.sort_unstable();
    }
    let mut told: Vec<Vec<usize>> = Vec::new();
    for start in 0..view.tools.len() {
        if told.len() == MOST_CIRCLES || told.iter().any(|circle| circle.contains(&start)) {
            continue;
        }
        if let Some(circle) = circle(start, &gives, &taking) {
            let names = circle
                .iter()
                .map(|at| format!("`{}`", view.tools[*at].name));
            let names = names.collect::<Vec<_>>().join(" → ");
            let message = format!("tools need each other's outputs in a circle: {names}");
            let found = found.about(Kind::Tool, view.tools[start].name);
            found.say("", message);
            told.push(circle);
        }
    }
}

/// The shortest way from a tool back to itself.
fn circle(start: usize, gives: &[Vec<&str>], taking: &Ends<'_>) -> Option<Vec<usize>> {
    let mut before: HashMap<usize, usize> = HashMap::new();
    let mut passed: BTreeSet<&str> = BTreeSet::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(tool) = waiting.pop_front() {
        // A name that was passed leads nowhere new.
        for name in gives[tool].iter().filter(|it| passed.insert(it)) {
            for next in taking.get(*name).into_iter().flatten().map(|it| it.tool) {
                if next == start {
                    let mut way = vec![start, tool];
                    while let Some(at) = way.last().and_then(|at| before.get(at)) {
                        way.push(*at);
                    }
                    way.reverse();
                    return Some(way);
                }
                if let Entry::Vacant(entry) = before.entry(next) {
                    entry.insert(tool);
                    waiting.push_back(next);
                }
            }
        }
    }
    None
}
