//! The lock file: what a server offers as YAML that people review. Sorted, so that only what changes shows in a diff; one
//! parameter a line; long texts line by line; characters that nobody sees are written out. Nothing is lost. Each target has a
//! document, and a second one where a client that declares nothing is offered something else.

use std::{cmp::Reverse, fmt::Write};

use serde_json::{Map, Value, json};

use mcp::observation::catalog::Listing;
use report::{
    changes::{self, Changes},
    surface::locked::{Clients, Lock},
};
use text::clean;

/// The first line of a file.
const HEAD: &str = "# What the server offers. Written by `mcp-assert lock`; `mcp-assert lock --update` writes it anew.\n";

/// What begins another document.
const NEXT: &str = "\n---\n";

/// The clients that declare nothing, as a document names them.
const PLAIN: &str = "declare nothing";

/// Schemas that are written property by property: the member, its properties, and those that are required.
const SCHEMAS: [[&str; 3]; 2] = [
    ["inputSchema", "parameters", "required"],
    ["outputSchema", "results", "results_required"],
];

/// Members of an entry that are written by themselves, in this order behind what tells it from the others; the rest shares a
/// line.
const MEMBERS: [&str; 10] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "arguments",
    "execution",
    "mimeType",
    "size",
];

/// What is offered to all clients, and to those that declare nothing where that differs.
pub(crate) fn joined(all: Lock, mut plain: Lock) -> Vec<Lock> {
    plain.clients = Clients::All;
    if document(&all) == document(&plain) {
        return vec![all];
    }
    plain.clients = Clients::Plain;
    vec![all, plain]
}

/// A file with what targets offer now; what it says of other targets stays.
pub(crate) fn updated(mut all: Vec<Lock>, offered: Vec<Lock>) -> Vec<Lock> {
    all.retain(|it| {
        let is_other = |new: &Lock| new.target.is_some() && new.target != it.target;
        it.target.is_some() && offered.iter().all(is_other)
    });
    all.extend(offered);
    all.sort_by(|one, other| one.target.cmp(&other.target));
    all
}

/// What changed of one target against a file. What the file says of all clients goes for those that declare nothing too, if
/// it says nothing of them.
pub(crate) fn compare(locked: &[Lock], offered: &[Lock]) -> Changes {
    let mut changes = Changes::default();
    for clients in [Clients::All, Clients::Plain] {
        let [old, new] = [locked, offered].map(|all| all.iter().find(|it| it.clients == clients));
        let is_told = old.or(new).is_some();
        let sides = old.or(locked.first()).zip(new.or(offered.first()));
        let Some((old, new)) = sides.filter(|_| is_told) else {
            continue;
        };
        let mut found = changes::compare(&old.catalog, &new.catalog);
        found.all.retain(|it| !changes.all.contains(it));
        changes.all.append(&mut found.all);
        changes.uncompared.append(&mut found.uncompared);
    }
    changes.all.sort_by_key(|it| Reverse(it.level));
    changes.uncompared.dedup();
    changes
}

/// The file.
pub(crate) fn write(all: &[Lock]) -> String {
    let documents: Vec<String> = all.iter().map(document).collect();
    HEAD.to_owned() + &documents.join(&NEXT[1..])
}

fn document(locked: &Lock) -> String {
    let catalog = &locked.catalog;
    let mut out = "lock: 1\n".to_owned();
    let is_plain = locked.clients == Clients::Plain;
    for (name, value) in [
        ("target", locked.target.as_deref().map(quoted)),
        ("clients", is_plain.then(|| quoted(PLAIN))),
        ("server", catalog.pointer("/serverInfo/name").map(flow)),
        ("capabilities", catalog.get("capabilities").map(flow)),
    ] {
        if let Some(value) = value {
            let _ = writeln!(out, "{name}: {value}");
        }
    }
    if let Some(instructions) = catalog.get("instructions") {
        line(&mut out, "", "instructions", instructions);
    }
    for listing in Listing::ALL {
        let Some(entries) = catalog[listing.member()].as_array() else {
            continue;
        };
        let mut entries: Vec<&Value> = entries.iter().collect();
        entries.sort_by_cached_key(|it| (it[listing.key()].as_str().map(str::to_owned), flow(it)));
        let none = if entries.is_empty() { " []" } else { "" };
        let _ = writeln!(out, "\n{}:{none}", listing.member());
        for it in entries {
            entry(&mut out, listing, it);
        }
    }
    out
}

/// One entry as a block.
fn entry(out: &mut String, listing: Listing, entry: &Value) {
    let members = entry.as_object();
    let Some(members) = members.filter(|it| it.contains_key(listing.key())) else {
        let _ = writeln!(out, "  - {}", flow(&json!({ "whole": entry })));
        return;
    };
    let mut rest = members.clone();
    let mut block = String::new();
    for name in std::iter::once(listing.key()).chain(MEMBERS) {
        let names = SCHEMAS.iter().find(|it| it[0] == name);
        match (rest.shift_remove(name), names) {
            (Some(value), Some(names)) => schema(&mut block, *names, value),
            (Some(value), None) => line(&mut block, "    ", name, &value),
            (None, _) => {}
        }
    }
    if !rest.is_empty() {
        line(&mut block, "    ", "more", &Value::Object(rest));
    }
    let _ = write!(out, "  - {}", block.trim_start());
}

/// A schema: its properties one a line, what is required, and the rest of it.
fn schema(out: &mut String, [name, properties, required]: [&str; 3], schema: Value) {
    let Value::Object(mut rest) = schema else {
        return line(out, "    ", name, &schema);
    };
    if let Some(mut all) = rest.get("properties").and_then(Value::as_object).cloned() {
        rest.shift_remove("properties");
        all.sort_keys();
        let none = if all.is_empty() { " {}" } else { "" };
        let _ = writeln!(out, "    {properties}:{none}");
        for (name, it) in &all {
            let _ = writeln!(out, "      {}: {}", quoted(name), flow(it));
        }
    }
    if let Some(mut names) = rest.shift_remove("required") {
        if let Some(names) = names.as_array_mut() {
            names.sort_by_cached_key(Value::to_string);
        }
        line(out, "    ", required, &names);
    }
    line(out, "    ", name, &Value::Object(rest));
}

/// A member on one line; a text of several lines as their list.
fn line(out: &mut String, indent: &str, name: &str, value: &Value) {
    if let Some(text) = value.as_str().filter(|it| it.contains('\n')) {
        let _ = writeln!(out, "{indent}{name}:");
        for line in text.split('\n') {
            let _ = writeln!(out, "{indent}  - {}", quoted(line));
        }
        return;
    }
    // What a server gives in the place of a text is told apart from the lines of one.
    let is_text = ["title", "description", "instructions", "name"].contains(&name);
    let has_parts = value.is_array() || value.is_object();
    let value = if is_text && has_parts {
        flow(&json!({ "value": value }))
    } else {
        flow(value)
    };
    let _ = writeln!(out, "{indent}{name}: {value}");
}

/// JSON on one line, members sorted.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by_key(|(name, _)| *name);
            let members = members
                .into_iter()
                .map(|(name, it)| format!("{}: {}", quoted(name), flow(it)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A text in quotes; what is not seen is written as an escape.
fn quoted(text: &str) -> String {
    let mut out = String::new();
    for character in Value::from(text).to_string().chars() {
        let code = u32::from(character);
        if character.is_ascii() && code != 0x7f
            || clean(character.encode_utf8(&mut [0; 4])).starts_with(character)
        {
            out.push(character);
        } else {
            let _ = write!(out, "\\U{code:08X}");
        }
    }
    out
}

/// What a file holds.
pub(crate) fn read(text: &str) -> Result<Vec<Lock>, String> {
    text.split(NEXT).map(read_document).collect()
}

fn read_document(text: &str) -> Result<Lock, String> {
    let Value::Object(mut whole) = suite::value_of_yaml(text)? else {
        return Err("it is not a lock file".to_owned());
    };
    if whole.shift_remove("lock") != Some(1.into()) {
        return Err("it is not a lock file of version 1: it has no `lock: 1`".to_owned());
    }
    let mut text_of = |name| match whole.shift_remove(name) {
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its `{name}` is no text")),
        None => Ok(None),
    };
    let target = text_of("target")?;
    let clients = match text_of("clients")?.as_deref() {
        None => Clients::All,
        Some(PLAIN) => Clients::Plain,
        Some(other) => return Err(format!("unknown `clients: {other}`: expected `{PLAIN}`")),
    };
    if let Some(name) = whole.shift_remove("server") {
        whole.insert("serverInfo".to_owned(), json!({ "name": name }));
    }
    restore(&mut whole, "instructions");
    for listing in Listing::ALL {
        let entries = whole
            .get_mut(listing.member())
            .and_then(Value::as_array_mut);
        for entry in entries.into_iter().flatten() {
            read_entry(entry);
        }
    }
    Ok(Lock {
        target,
        clients,
        catalog: Value::Object(whole),
    })
}

fn read_entry(entry: &mut Value) {
    let Value::Object(members) = entry else {
        return;
    };
    if let Some(whole) = members.shift_remove("whole") {
        *entry = whole;
        return;
    }
    for name in ["name", "title", "description"] {
        restore(members, name);
    }
    for [name, properties, required] in SCHEMAS {
        let parts = [(properties, "properties"), (required, "required")];
        for (member, keyword) in parts {
            let part = members.shift_remove(member);
            if let (Some(part), Some(Value::Object(schema))) = (part, members.get_mut(name)) {
                schema.insert(keyword.to_owned(), part);
            }
        }
    }
    if let Some(Value::Object(more)) = members.shift_remove("more") {
        members.extend(more);
    }
}

/// Puts the lines of a text together.
fn restore(members: &mut Map<String, Value>, name: &str) {
    let Some(value) = members.get_mut(name) else {
        return;
    };
    if let Some(lines) = value.as_array() {
        let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
        *value = lines.join("\n").into();
    } else if let Some(other) = value
        .as_object_mut()
        .and_then(|it| it.shift_remove("value"))
    {
        *value = other;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Clients, Lock, read, write};

    fn catalog() -> Value {
        json!({
            "serverInfo": {"name": "small"},
            "capabilities": {"tools": {"listChanged": true}},
            "instructions": "One.\n\n  Two.\n",
            "tools": [
                {"name": "b", "description": "<<: *a\u{200b}{{x}}\u{e0041}\u{85}", "inputSchema": true, "_meta": {"k": [1.0, 1e3, "\u{7f}"]}},
                {"name": "a", "title": "A", "annotations": {"readOnlyHint": true}, "inputSchema": {"type": "object",
                    "required": ["z", "<<"], "additionalProperties": false, "properties": {
                        "z": {"type": "integer", "minimum": 12_345_678_901_234_567_890_123_u128.to_string().parse::<serde_json::Number>().unwrap()},
                        "<<": {"enum": ["yes", "no", "~", "1", null, true]}, "a: b": {}}},
                    "outputSchema": {"type": "object", "properties": {}}, "more": 1, "parameters": {"x": 1}},
                {"name": "c", "description": ["x"], "title": {"value": 1}, "inputSchema": {"properties": [], "required": 3}},
                {"title": "nameless"}, 7, {"whole": 1},
            ],
            "prompts": [],
            "resources": [{"uri": "a://b", "name": "n", "size": 3}],
        })
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let locked = |target: Option<&str>, clients| Lock {
            target: target.map(str::to_owned),
            clients,
            catalog: catalog(),
        };
        let all = [
            locked(None, Clients::All),
            locked(Some("a: b"), Clients::Plain),
        ];
        let text = write(&all);
        let again = read(&text).unwrap_or_else(|why| panic!("{why}\n{text}"));
        assert_eq!(write(&again), text);
        assert_eq!(again[1].target.as_deref(), Some("a: b"));
        assert_eq!(again[1].clients, Clients::Plain);
        let again = again[0].catalog.clone();
        let sorted = |mut whole: Value| {
            let tools = whole["tools"].as_array_mut().unwrap();
            for tool in tools.iter_mut() {
                if let Some(required) = tool
                    .pointer_mut("/inputSchema/required")
                    .and_then(Value::as_array_mut)
                {
                    required.sort_by_key(Value::to_string);
                }
            }
            tools.sort_by_key(|tool| {
                let mut tool = tool.clone();
                tool.sort_all_objects();
                tool.to_string()
            });
            whole
        };
        assert_eq!(sorted(again), sorted(catalog()), "{text}");
        assert!(text.is_ascii(), "{text}");
    }

    #[test]
    fn other_files_are_refused() {
        for (text, wanted) in [
            ("a: 1", "no `lock: 1`"),
            ("- 1", "not a lock file"),
            ("lock: 1\ntarget: 1", "no text"),
            ("lock: 1\nclients: all", "expected `declare nothing`"),
            ("a: [", "line"),
            ("", "it is empty"),
        ] {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(wanted), "{text}: {refused}");
        }
    }
}
