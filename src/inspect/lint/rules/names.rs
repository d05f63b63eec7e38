//! Names and schemas that the protocol or some model APIs refuse.

use crate::inspect::lint::{
    rule::{Findings, rules},
    schema::{BRANCHES, Schema},
    view::Tool,
};
use serde_json::Value;

rules! {
    "E140" "name-outside-grammar" Error "very-high" [] Tool(grammar):
        "the tool's name is not one that MCP allows" =>
        "use 1 to 128 letters, digits, `_`, `-` and `.`";
    "W140" "name-refused-by-models" Warning "high" [] Tool(name):
        "some model APIs refuse the tool's name, and with it the whole request" =>
        "use 1 to 64 letters, digits, `_` and `-`";
    "W141" "property-refused-by-models" Warning "high" [] Tool(properties):
        "some model APIs refuse the name of a property, and with it the whole request" =>
        "use 1 to 64 letters, digits, `_`, `.` and `-`";
    "W142" "combinator-at-root" Warning "high" [] Tool(root):
        "some model APIs refuse `anyOf`, `oneOf` and `allOf` at the root of `inputSchema`, and with it the whole request" =>
        "state the properties at the root, and check combinations in the tool";
}

/// Whether a name has at most so many ASCII letters, digits and these signs, and is not empty.
pub(in crate::inspect::lint) fn is_plain(name: &str, signs: &str, most: usize) -> bool {
    let is_allowed = |it: char| it.is_ascii_alphanumeric() || signs.contains(it);
    !name.is_empty() && name.len() <= most && name.chars().all(is_allowed)
}

fn grammar(tool: &Tool<'_>, found: &mut Findings<'_>) {
    if tool.name.is_empty() {
        found.say("/name", "the tool has no name");
    } else if !is_plain(tool.name, "_-.", 128) {
        let message = format!("MCP does not allow the name `{}`", tool.name);
        found.say("/name", message);
    }
}

fn name(tool: &Tool<'_>, found: &mut Findings<'_>) {
    if is_plain(tool.name, "_-.", 128) && !is_plain(tool.name, "_-", 64) {
        let message = format!("some model APIs refuse the name `{}`", tool.name);
        found.say("/name", message);
    }
}

fn properties(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for place in tool.input.iter().flat_map(Schema::places) {
        let properties = place.schema.get("properties").and_then(Value::as_object);
        let names = properties.into_iter().flatten().map(|(name, _)| name);
        for name in names.filter(|it| !is_plain(it, "_.-", 64)) {
            let message = format!("some model APIs refuse the name of the property `{name}`");
            found.say(format!("{}/properties", place.pointer), message);
        }
    }
}

fn root(tool: &Tool<'_>, found: &mut Findings<'_>) {
    for word in BRANCHES {
        if tool.input.as_ref().is_some_and(|it| it.get(word).is_some()) {
            let message = format!("`{word}` is at the root of `inputSchema`");
            found.say(format!("/inputSchema/{word}"), message);
        }
    }
}
