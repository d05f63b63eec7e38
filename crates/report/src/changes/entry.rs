//! What changed in an entry of a list that has the same name as before.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    ADDED, Level, risk,
    schema::{self, Flow},
};
use mcp::observation::catalog::Listing;
use text::head;

/// Characters shown of a value.
const SHOWN: usize = 60;

/// One change, before it is safe to print.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    pub(super) level: Level,
    pub(super) what: String,
    /// The text before and now.
    pub(super) wording: Option<(String, String)>,
    pub(super) witness: Option<Value>,
    pub(super) unproven: Option<&'static str>,
    pub(super) is_hint: bool,
}

impl Found {
    pub(super) fn new(level: Level, what: impl Into<String>) -> Self {
        Self {
            level,
            what: what.into(),
            wording: None,
            witness: None,
            unproven: None,
            is_hint: false,
        }
    }
}

/// Members with a rule of their own.
const KNOWN: [&str; 12] = [
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
    "_meta",
];

/// Compares two versions of an entry.
pub(super) fn compare(listing: Listing, old: &Value, new: &Value) -> Vec<Found> {
    if old == new {
        return Vec::new();
    }
    let mut found = risk::compare(old, new);
    found.extend(match listing {
        Listing::Tools => tool(old, new),
        Listing::Prompts => {
            let [old, new] = [old, new].map(arguments);
            schema::compare(("argument", Flow::In), &old, &new)
        }
        Listing::Resources | Listing::ResourceTemplates => {
            let members = ["name", "mimeType"].into_iter();
            members.filter_map(|it| said(it, old, new)).collect()
        }
    });
    let texts = ["title", "description"].into_iter();
    found.extend(texts.filter_map(|it| said(it, old, new)));
    found.extend(others(old, new));
    found
}

fn tool(old: &Value, new: &Value) -> Vec<Found> {
    let input = |tool: &Value| tool.get("inputSchema").cloned().unwrap_or(true.into());
    let mut found = schema::compare(("parameter", Flow::In), &input(old), &input(new));
    found.extend(match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(old), Some(new)) => schema::compare(("output", Flow::Out), old, new),
        (Some(old), None) => {
            let all = schema::compare(("output", Flow::Out), old, &json!({"type": "object"}));
            let witness = all.into_iter().find_map(|it| it.witness);
            vec![Found {
                witness,
                ..Found::new(Level::Breaking, "the output schema was removed")
            }]
        }
        (None, Some(_)) => vec![Found::new(Level::Safe, "an output schema was added")],
        (None, None) => Vec::new(),
    });
    found.extend(hints(old, new));
    found
}

/// The hints of a tool, and how it may be run. Clients ask people before they call what may destroy something, and not before
/// they read; a caller that knows no tasks cannot call what requires them.
fn hints(old: &Value, new: &Value) -> Vec<Found> {
    let mut found = Vec::new();
    for group in ["annotations", "execution"] {
        let (before, now) = (members(old, group), members(new, group));
        let is = |all: &Map<String, Value>, name| all.get(name).and_then(Value::as_bool);
        let reads = |all| is(all, "readOnlyHint") == Some(true);
        let destroys = |all| !reads(all) && is(all, "destructiveHint") != Some(false);
        let changed = names(&before, &now).into_iter();
        for name in changed.filter(|name| before.get(*name) != now.get(*name)) {
            let (one, other) = (before.get(name), now.get(name));
            let is_lost = match name {
                "readOnlyHint" => reads(&before) && !reads(&now),
                "destructiveHint" => !reads(&before) && !destroys(&before) && destroys(&now),
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
            found.push(Found {
                is_hint: group == "annotations",
                ..Found::new(level, what)
            });
        }
    }
    found
}

/// How an entry that is new is told. A tool that says that it destroys is nothing to take in unseen.
pub(super) fn added(new: &Value) -> Found {
    let hints = members(new, "annotations");
    let says = |hint| hints.get(hint) == Some(&Value::Bool(true));
    if says("destructiveHint") && !says("readOnlyHint") {
        Found::new(Level::Risky, "was added with `destructiveHint`")
    } else {
        Found::new(Level::Safe, ADDED)
    }
}

/// What holds of a hint that is not given.
const DEFAULTS: [(&str, &str); 5] = [
    ("destructiveHint", "true"),
    ("idempotentHint", "false"),
    ("openWorldHint", "true"),
    ("readOnlyHint", "false"),
    ("taskSupport", "\"forbidden\""),
];

/// The level of a hint that neither takes nor breaks anything: to say what holds anyway is safe.
fn usual(name: &str, old: Option<&Value>, new: Option<&Value>) -> Level {
    let default = DEFAULTS.iter().find(|(it, _)| *it == name);
    let effective = |value: Option<&Value>| {
        let given = value.map(Value::to_string);
        given.or(default.map(|(_, value)| (*value).to_owned()))
    };
    if effective(old) == effective(new) {
        Level::Safe
    } else {
        Level::Risky
    }
}

/// The members without a rule, and `_meta`: clients may show them.
fn others(old: &Value, new: &Value) -> Vec<Found> {
    let all = |entry: &Value| entry.as_object().cloned().unwrap_or_default();
    let (before, now) = (all(old), all(new));
    let is_other = |name: &&str| *name == "_meta" || !KNOWN.contains(name);
    let changed = names(&before, &now).into_iter().filter(is_other);
    let changed = changed.filter(|name| before.get(*name) != now.get(*name));
    changed
        .map(|name| Found::new(Level::Safe, format!("`{name}` changed")))
        .collect()
}

/// A text of an entry.
fn said(member: &str, old: &Value, new: &Value) -> Option<Found> {
    let of = |entry: &'_ Value| entry.get(member).and_then(Value::as_str).map(str::to_owned);
    text(member, (of(old).as_deref(), of(new).as_deref()))
}

/// A text before and now.
pub(super) fn text(what: &str, (old, new): (Option<&str>, Option<&str>)) -> Option<Found> {
    let [old, new] = [old, new].map(|it| it.unwrap_or_default().trim().to_owned());
    (old != new).then(|| Found {
        wording: Some((old, new)),
        ..Found::new(Level::Risky, format!("{what} changed"))
    })
}

/// The arguments of a prompt as a schema. They are all texts.
fn arguments(prompt: &Value) -> Value {
    let all = prompt.get("arguments").and_then(Value::as_array);
    let named = all.into_iter().flatten();
    let named = named.filter_map(|it| Some((it.get("name")?.as_str()?, it)));
    let needed = named
        .clone()
        .filter(|(_, it)| it.get("required") == Some(&Value::Bool(true)));
    let required: Value = needed.map(|(name, _)| name).collect();
    let properties = named.map(|(name, it)| {
        let said = ["title", "description"].into_iter();
        let said = said.filter_map(|word| Some((word.to_owned(), it.get(word)?.clone())));
        let kind = [("type".to_owned(), Value::from("string"))];
        (
            name.to_owned(),
            Value::Object(kind.into_iter().chain(said).collect()),
        )
    });
    json!({"type": "object", "properties": properties.collect::<Map<_, _>>(), "required": required})
}

fn members(entry: &Value, name: &str) -> Map<String, Value> {
    entry
        .get(name)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn names<'a>(one: &'a Map<String, Value>, other: &'a Map<String, Value>) -> BTreeSet<&'a str> {
    one.keys().chain(other.keys()).map(String::as_str).collect()
}

/// A value in a few characters.
pub(super) fn shown(value: Option<&Value>) -> String {
    value.map_or("not set".to_owned(), |it| head(&it.to_string(), SHOWN))
}
