//! What changed in an entry of a list that has the same name as before.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    ADDED, Change, Level, risk,
    schema::{self, Flow},
    wording::difference,
};
use crate::inclusion;
use mcp::observation::catalog::Listing;

/// Members with a rule of their own. Clients may show all others.
const KNOWN: [&str; 11] = [
    "annotations",
    "arguments",
    "description",
    "execution",
    "inputSchema",
    "mimeType",
    "name",
    "outputSchema",
    "title",
    "uri",
    "uriTemplate",
];

/// Compares two versions of an entry.
pub(super) fn compare(listing: Listing, old: &Value, new: &Value) -> Vec<Change> {
    if old == new {
        return Vec::new();
    }
    let mut found = risk::compare(old, new);
    let mut texts = vec!["title", "description"];
    match listing {
        Listing::Tools => found.extend(tool(old, new)),
        Listing::Prompts => {
            let [old, new] = [old, new].map(arguments);
            found.extend(schema::compare(("argument", Flow::In), &old, &new));
        }
        Listing::Resources | Listing::ResourceTemplates => {
            texts.splice(..0, ["name", "mimeType"]);
        }
    }
    found.extend(texts.iter().filter_map(|it| text(it, [&old[it], &new[it]])));
    let others = changed(old, new).into_iter();
    let others = others.filter(|name| !KNOWN.contains(name));
    found.extend(others.map(|name| Change::new(Level::Safe, format!("`{name}` changed"))));
    found
}

fn tool(old: &Value, new: &Value) -> Vec<Change> {
    let input = |tool: &Value| tool.get("inputSchema").cloned().unwrap_or(true.into());
    let mut found = schema::compare(("parameter", Flow::In), &input(old), &input(new));
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(old), Some(new)) => found.extend(schema::compare(("output", Flow::Out), old, new)),
        (Some(old), None) => {
            let all = schema::compare(("output", Flow::Out), old, &json!({"type": "object"}));
            found.push(Change {
                witness: all.into_iter().find_map(|it| it.witness),
                ..Change::new(Level::Breaking, "the output schema was removed")
            });
        }
        (None, Some(_)) => found.push(Change::new(Level::Safe, "an output schema was added")),
        (None, None) => {}
    }
    found.extend(hints(old, new));
    found
}

/// The hints of a tool, and how it may be run. Clients ask people before they call what may destroy something, and not before
/// they read; a caller that knows no tasks cannot call what requires them.
fn hints(old: &Value, new: &Value) -> Vec<Change> {
    let reads = |all: &Value| all["readOnlyHint"] == true;
    let destroys = |all: &Value| !reads(all) && all["destructiveHint"] != false;
    let mut found = Vec::new();
    for group in ["annotations", "execution"] {
        let (before, now) = (&old[group], &new[group]);
        for name in changed(before, now) {
            let (one, other) = (before.get(name), now.get(name));
            let is_lost = match name {
                "readOnlyHint" => reads(before) && !reads(now),
                "destructiveHint" => !reads(before) && !destroys(before) && destroys(now),
                "taskSupport" => {
                    other.is_some_and(|it| it == "required")
                        || one.is_some() && other.is_none_or(|it| it == "forbidden")
                }
                _ => false,
            };
            let level = if is_lost {
                Level::Breaking
            } else {
                usual(name, one, other)
            };
            let what = format!("{name}: {} → {}", shown(one), shown(other));
            found.push(Change {
                is_hint: group == "annotations",
                ..Change::new(level, what)
            });
        }
    }
    found
}

/// How an entry that is new is told. A tool that says that it destroys is nothing to take in unseen.
pub(super) fn added(new: &Value) -> Change {
    let hints = &new["annotations"];
    if hints["destructiveHint"] == true && hints["readOnlyHint"] != true {
        Change::new(Level::Risky, "was added with `destructiveHint`")
    } else {
        Change::new(Level::Safe, ADDED)
    }
}

/// The level of a hint that neither takes nor breaks anything: to say what holds anyway is safe.
fn usual(name: &str, old: Option<&Value>, new: Option<&Value>) -> Level {
    let default = match name {
        "destructiveHint" | "openWorldHint" => Some(true.into()),
        "idempotentHint" | "readOnlyHint" => Some(false.into()),
        "taskSupport" => Some("forbidden".into()),
        _ => None,
    };
    if old.or(default.as_ref()) == new.or(default.as_ref()) {
        Level::Safe
    } else {
        Level::Risky
    }
}

/// The members that two objects do not have alike.
fn changed<'a>(one: &'a Value, other: &'a Value) -> BTreeSet<&'a str> {
    let both = [one, other].into_iter().filter_map(Value::as_object);
    let names = both.flat_map(Map::keys).map(String::as_str);
    names.filter(|it| one.get(it) != other.get(it)).collect()
}

/// A text before and now.
pub(super) fn text(what: &str, said: [&Value; 2]) -> Option<Change> {
    let [old, new] = said.map(|it| it.as_str().unwrap_or_default().trim());
    (old != new).then(|| Change {
        wording: Some(difference(old, new)),
        ..Change::new(Level::Risky, format!("{what} changed"))
    })
}

/// The arguments of a prompt as a schema. They are all texts.
fn arguments(prompt: &Value) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in prompt["arguments"].as_array().into_iter().flatten() {
        let Some(name) = argument["name"].as_str() else {
            continue;
        };
        if argument["required"] == true {
            required.push(name);
        }
        let mut schema = json!({"type": "string"});
        for word in ["title", "description"] {
            if let Some(said) = argument.get(word) {
                schema[word] = said.clone();
            }
        }
        properties.insert(name.to_owned(), schema);
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// A value in a few characters.
pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or("not set".to_owned(), inclusion::shown)
}
