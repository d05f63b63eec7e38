use serde_json::{Value, json};

use super::{
    Change, Level, compare,
    schema::{self, Flow},
    text,
};

/// The letter of the worst of some changes.
fn worst(found: &[Change]) -> &'static str {
    match found.iter().map(|it| it.level).max() {
        None => "-",
        Some(Level::Safe) => "S",
        Some(Level::Risky) => "R",
        Some(Level::Breaking) => "B",
    }
}

#[test]
fn pairs_have_their_classes_in_both_directions() {
    let (mut pairs, mut is_whole, mut wrong) = (0, false, Vec::new());
    for line in include_str!("pairs.txt").lines() {
        is_whole |= line == "# whole";
        let Some((classes, schemas)) = line.split_once("  ").filter(|_| !line.starts_with('#'))
        else {
            continue;
        };
        let schemas = schemas.split_once(" => ").unwrap();
        let schema = |text: &str| {
            let schema: Value = serde_json::from_str(text.trim()).unwrap();
            if is_whole {
                return schema;
            }
            json!({"type": "object", "properties": {"x": schema}, "required": ["x"]})
        };
        let (one, other) = (schema(schemas.0), schema(schemas.1));
        let found = |flow, old, new| schema::compare(("parameter", flow), old, new);
        let all = [
            found(Flow::In, &one, &other),
            found(Flow::In, &other, &one),
            found(Flow::Out, &one, &other),
            found(Flow::Out, &other, &one),
        ];
        pairs += 1;
        let classes: Vec<&str> = classes.split(' ').collect();
        let wanted = match classes[..] {
            [there, back] => [there, back, back, there],
            [there, back, out, home] => [there, back, out, home],
            _ => panic!("{line}"),
        };
        let got = all.each_ref().map(|it| worst(it));
        if got != wanted {
            wrong.push(format!("{line}\n  {} {all:#?}", got.join(" ")));
        }
        // What breaks callers is shown by a value.
        let shown = all
            .iter()
            .flatten()
            .filter(|it| it.level == Level::Breaking);
        for it in shown.filter(|it| it.witness.is_none()) {
            wrong.push(format!("{line}\n  no witness: {it:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {pairs}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(pairs >= 120, "{pairs}");
}

/// A catalog with most things that a server may list.
fn catalog() -> Value {
    json!({
        "protocol": "2025-11-25",
        "capabilities": {"tools": {"listChanged": true}, "prompts": {}},
        "instructions": "Read before you write.",
        "tools": [
            {"name": "add", "description": "Adds.", "inputSchema": {"type": "object", "required": ["a"],
                "properties": {"a": {"type": "integer"}, "mode": {"enum": ["x", "y"]}}}},
            {"name": "read", "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object"},
                "outputSchema": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}},
            {"name": "write", "annotations": {"destructiveHint": false}, "inputSchema": {"type": "object"}},
            {"name": "find_file", "description": "Finds.", "inputSchema": {"type": "object", "properties": {"q": {}}}},
        ],
        "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": false}]}],
        "resources": [{"uri": "a://1", "name": "one", "mimeType": "text/plain"}],
        "resourceTemplates": [],
    })
}

/// The changes after some members were set by their JSON pointers; `null` removes one.
fn after(edits: &[(&str, Value)]) -> String {
    let mut new = catalog();
    for (pointer, value) in edits {
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        let parent = new.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(all), Value::Null) => _ = all.shift_remove(member),
            (Value::Array(all), Value::Null) => _ = all.remove(member.parse().unwrap()),
            (Value::Array(all), value) if member == "-" => all.push(value.clone()),
            (parent, value) => parent[member] = value.clone(),
        }
    }
    text(&compare(&catalog(), &new))
}

fn case(edits: &[(&str, Value)], wanted: &str) {
    assert_eq!(after(edits).trim_end(), wanted, "{edits:?}");
}

#[test]
fn changes_of_tools_are_told_by_level() {
    case(&[], "no changes");
    case(
        &[
            ("/tools/0/inputSchema/properties/mode/enum", json!(["x"])),
            ("/tools/0/description", json!("Adds numbers.")),
        ],
        "1 breaking, 1 risky, 0 safe\n\nbreaking\n  tool `add`: parameter `mode`: removed from its values: \"y\"\n      \
         witness: {\"a\":1,\"mode\":\"y\"}\n\nrisky\n  tool `add`: description changed\n      text: [-Adds.-] {+Adds numbers.+}",
    );
    case(
        &[
            ("/tools/1/annotations", Value::Null),
            ("/tools/2/annotations/destructiveHint", json!(true)),
        ],
        "2 breaking, 0 risky, 0 safe\n\nbreaking\n  tool `read`: readOnlyHint: true → not set\n  tool `write`: \
         destructiveHint: false → true",
    );
    case(
        &[
            ("/tools/1/outputSchema/required", Value::Null),
            ("/tools/1/outputSchema/properties/more", json!({})),
        ],
        "1 breaking, 0 risky, 1 safe\n\nbreaking\n  tool `read`: output `size`: is not required any more\n      \
         witness: {}\n\nsafe\n  tool `read`: output `more`: was added",
    );
    // One that came is not two that went.
    let two = json!([{"name": "simple_prompt"}, {"name": "complex_prompt"}]);
    let [old, new] = [two, json!([{"name": "simple-prompt"}])].map(|it| json!({ "prompts": it }));
    let said = text(&compare(&old, &new));
    assert_eq!(said.matches("perhaps").count(), 2, "{said}");
    case(
        &[("/tools/3/name", json!("search_files"))],
        "1 breaking, 0 risky, 1 safe\n\nbreaking\n  tool `find_file`: was removed; perhaps it is `search_files` now\n\n\
         safe\n  tool `search_files`: was added; perhaps it was `find_file`",
    );
}

#[test]
fn changes_of_the_rest_are_told_by_level() {
    case(
        &[
            (
                "/prompts/0/arguments",
                json!([{"name": "who", "required": true}, {"name": "how"}]),
            ),
            ("/resources/0/mimeType", json!("text/html")),
            ("/capabilities/tools", json!({})),
            ("/capabilities/logging", json!({})),
        ],
        "2 breaking, 1 risky, 2 safe\n\nbreaking\n  capability tools.listChanged: is not declared any more\n  prompt \
         `greet`: argument `who`: is required now\n      witness: {}\n\nrisky\n  resource `a://1`: mimeType changed\n      \
         text: [-text/plain-] {+text/html+}\n\nsafe\n  capability logging: is declared now\n  prompt `greet`: argument \
         `how`: was added",
    );
    case(
        &[
            ("/tools/0/title", json!("Add\u{200b}")),
            ("/instructions", Value::Null),
            ("/tools/0/_meta", json!({"a": 1})),
        ],
        "0 breaking, 3 risky, 1 safe\n\nrisky\n  instructions: instructions changed\n      text: [-Read before you \
         write.-]\n  tool `add`: has hidden characters in a text: Add\\u{200b}\n  tool `add`: title changed\n      \
         text: {+Add\\u{200b}+}\n\nsafe\n  tool `add`: `_meta` changed",
    );
    case(
        &[
            ("/tools/1/annotations/openWorldHint", json!(true)),
            ("/tools/2/execution", json!({"taskSupport": "required"})),
        ],
        "1 breaking, 0 risky, 1 safe\n\nbreaking\n  tool `write`: taskSupport: not set → \"required\"\n\nsafe\n  tool \
         `read`: openWorldHint: not set → true",
    );
    let bare = json!({"tools": catalog()["tools"]});
    let said = text(&compare(&bare, &catalog()));
    let wanted = "no changes; not compared, because one side does not tell: capabilities, instructions, prompts, resources\n";
    assert_eq!(said, wanted);
}

/// The same catalog with each of its lists and members in another order.
fn reordered(value: &Value, is_ordered: bool) -> Value {
    match value {
        Value::Array(items) => {
            let items = items.iter().map(|it| reordered(it, false));
            if is_ordered {
                items.collect()
            } else {
                items.rev().collect()
            }
        }
        Value::Object(members) => {
            let members = members.iter().rev();
            members
                .map(|(name, it)| (name.clone(), reordered(it, name == "prefixItems")))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[test]
fn the_order_of_lists_and_members_is_no_change() {
    let whole = catalog();
    assert_eq!(
        text(&compare(&whole, &reordered(&whole, false))),
        "no changes\n"
    );
}

#[test]
fn each_of_a_hundred_tools_has_its_changes() {
    let tools = |limit: u32| {
        let tool = |at: u32| {
            let schema = json!({"type": "object", "required": ["path"], "properties": {
                "path": {"type": "string", "maxLength": limit}, "mode": {"enum": ["a", "b", limit]},
                "deep": {"type": "object", "properties": {"list": {"type": "array", "items": {"type": "integer", "maximum": limit}}}}}});
            json!({"name": format!("tool_{at}"), "description": "Does something.", "inputSchema": schema})
        };
        json!({"capabilities": {}, "tools": (0..100).map(tool).collect::<Vec<_>>()})
    };
    let changes = compare(&tools(100), &tools(50));
    assert_eq!(changes.count(Level::Breaking), 300);
}
