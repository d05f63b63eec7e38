//! A value of a wrong type is a problem at its place, wherever a suite or its settings can have one.

use std::{collections::BTreeSet, ops::Range};

use serde_json::{Value, json};

use super::{Sample, schema::documents};
use crate::{
    lower::ACTIONS,
    model::Entry,
    raw::{
        ShapeDoc,
        assertion::{RawAssertion, SUBJECTS},
        settings::RawSettings,
        shape::definition,
    },
    schema::json_schema,
};
use text::{
    diagnostic::{Diagnostic, Severity},
    source::Span,
};

/// Stands where the value under test belongs.
const HOLE: &str = "@hole@";

/// A value of every type, as JSON and so as YAML.
const VALUES: [(&str, &str); 7] = [
    ("boolean", "true"),
    ("number", "5"),
    ("string", "\"word\""),
    ("string", "\"{{marked}}\""),
    ("array", "[]"),
    ("array", "[{\"a\": 1}, \"b\"]"),
    ("object", "{}"),
];

/// The places of the format: a document with a hole in it, and what the hole takes. Each shape is met once.
struct Places {
    known: BTreeSet<&'static str>,
    found: Vec<(Value, Value)>,
}

impl Places {
    fn of(root: &'static ShapeDoc) -> Vec<(Value, Value)> {
        let mut places = Self {
            known: BTreeSet::new(),
            found: Vec::new(),
        };
        places.shape(root, &|value| value);
        places.found
    }

    /// The keys of a map that stands where `around` puts it.
    fn shape(&mut self, shape: &'static ShapeDoc, around: &dyn Fn(Value) -> Value) {
        if !self.known.insert(shape.name) {
            return;
        }
        for key in shape.keys {
            let inner = |value: Value| around(json!({ key.key: value }));
            let mut below = Vec::new();
            (key.shapes)(&mut below);
            self.place(&(key.schema)(), &below, &inner);
        }
    }

    /// One place, and what is inside of it.
    fn place(
        &mut self,
        takes: &Value,
        below: &[&'static ShapeDoc],
        around: &dyn Fn(Value) -> Value,
    ) {
        self.found.push((around(json!(HOLE)), takes.clone()));
        for part in parts(takes) {
            if let Some(items) = part.get("items") {
                self.place(items, below, &|value| around(json!([value])));
            }
            if let Some(members) = part.get("additionalProperties").filter(|it| it.is_object()) {
                self.place(members, below, &|value| around(json!({ "k": value })));
            }
            if let Some(name) = part["$ref"].as_str() {
                let name = name.trim_start_matches("#/$defs/");
                let shape = below.iter().find(|shape| definition(shape.name) == name);
                self.shape(shape.unwrap(), around);
            }
        }
    }
}

/// The alternatives of a schema.
fn parts(schema: &Value) -> Vec<&Value> {
    match schema["anyOf"].as_array() {
        Some(inner) => inner.iter().flat_map(parts).collect(),
        None => vec![schema],
    }
}

/// Whether a schema takes a value of a type, whatever the value.
fn takes(schema: &Value, kind: &str) -> bool {
    parts(schema).into_iter().any(|part| {
        let refused = part["not"]["type"] == kind;
        let named = match &part["type"] {
            Value::Array(kinds) => kinds.iter().any(|value| value == kind),
            Value::String(one) => one == kind || (one == "integer" && kind == "number"),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => {
                match part.get("const").or_else(|| part["enum"].get(0)) {
                    Some(Value::Bool(_)) => kind == "boolean",
                    Some(_) => kind == "string",
                    None if part.get("$ref").is_some() => kind == "object",
                    None => true,
                }
            }
        };
        // The words of a pattern are none of the values.
        named && !refused && part.get("pattern").is_none()
    }) && schema["not"]["type"] != kind
}

/// The value in the hole of a document, and where it then stands.
fn filled(document: &Value, value: &str) -> (String, Range<usize>) {
    let text = document.to_string();
    let hole = format!("\"{HOLE}\"");
    let at = text.find(&hole).unwrap();
    (text.replace(&hole, value), at..at + value.len())
}

fn is_told(problems: &[Diagnostic], place: &Range<usize>) -> bool {
    problems.iter().any(|problem| {
        let Some(Span { start, end }) = problem.origin.as_ref().map(|origin| origin.span) else {
            return false;
        };
        problem.severity == Severity::Error && place.start <= start && end <= place.end
    })
}

/// The document with what its maps need beside the place.
fn complete(mut document: Value) -> Value {
    let add = |map: Option<&mut Value>, keys: &[&str], key: &str| {
        if let Some(map) = map.and_then(Value::as_object_mut)
            && !keys.iter().any(|key| map.contains_key(*key))
        {
            map.insert(key.into(), json!("x"));
        }
    };
    let started = ["command", "builtin", "launch"];
    add(document.get_mut("server"), &started, "command");
    // What nothing looks at is passed over by the loader.
    if let Some(server) = document.get_mut("server").and_then(Value::as_object_mut)
        && (server.contains_key("auth") || server.contains_key("launch"))
    {
        server.insert("transport".into(), json!("http"));
        server.insert("url".into(), json!("http://x"));
    }
    let requests = document.pointer_mut("/setup/0/expect/server_requests");
    add(requests, &["method"], "method");
    let results = document.pointer_mut("/setup/0/expect/min_results");
    if let Some(results) = results.and_then(Value::as_object_mut) {
        results.entry("count").or_insert(json!(1));
    }
    if document.get("trace").is_some() {
        document["trajectory"] = json!([{ "type": "order", "tools": "a" }]);
    }
    for subject in ["assert", "assert_sampling", "assert_elicitation"] {
        add(document.get_mut(subject), &["tool"], "tool");
    }
    for steps in ["setup", "steps"] {
        let step = document.get_mut(steps).and_then(|steps| steps.get_mut(0));
        add(step, &ACTIONS, "tool");
    }
    whole(document)
}

#[test]
fn the_schema_takes_what_the_loader_takes() {
    let schema = jsonschema::validator_for(&json_schema()).unwrap();
    let more = ["yes", "null", "\"\"", "\"{{fixture}}\""];
    let values = VALUES.iter().map(|(_, value)| *value).chain(more);
    let values: Vec<&str> = values.collect();
    let places = Places::of(RawAssertion::SHAPE).into_iter();
    let texts: Vec<String> = places
        .map(|(place, _)| complete(place))
        .flat_map(|place| values.iter().map(move |value| filled(&place, value).0))
        .collect();
    let text = texts.join("\n---\n");
    let entries = Sample::one(&text).load().suite.entries;
    let documents = documents(&text);
    assert_eq!((entries.len(), documents.len()), (texts.len(), texts.len()));
    let taken = entries.iter().zip(&documents).zip(&texts);
    let taken = taken.filter(|((entry, _), _)| matches!(entry, Entry::Assertion(_)));
    let taken: Vec<_> = taken
        .map(|((_, document), text)| (document, text))
        .collect();
    assert!(taken.len() > 500, "{}", taken.len());
    let refused = taken
        .iter()
        .filter(|(document, _)| !schema.is_valid(document));
    let refused: Vec<&str> = refused.map(|(_, text)| text.as_str()).collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// A document around a place: with a server and a subject, unless the place is in one.
fn whole(mut document: Value) -> Value {
    let members = document.as_object_mut().unwrap();
    if !members.contains_key("server") {
        members.insert("server".into(), json!({ "command": "s" }));
    }
    if !members.keys().any(|key| SUBJECTS.contains(&key.as_str())) {
        members.insert("assert".into(), json!({ "tool": "x" }));
    }
    document
}

#[test]
fn a_value_of_a_wrong_type_in_a_suite_is_told_at_its_place() {
    let mut text = String::new();
    let mut cases = Vec::new();
    for (place, takes_here) in Places::of(RawAssertion::SHAPE) {
        let place = whole(place);
        for (_, value) in VALUES.iter().filter(|(kind, _)| !takes(&takes_here, kind)) {
            let (document, at) = filled(&place, value);
            let start = text.len();
            cases.push((document.clone(), start + at.start..start + at.end));
            text.push_str(&document);
            text.push_str("\n---\n");
        }
    }
    assert!(cases.len() > 500, "{}", cases.len());
    let problems = Sample::one(&text).load().suite.problems;
    let missed: Vec<&str> = cases
        .iter()
        .filter(|(_, place)| !is_told(&problems, place))
        .map(|(document, _)| document.as_str())
        .collect();
    assert_eq!(missed, [""; 0]);
}

#[test]
fn a_value_of_a_wrong_type_in_the_settings_is_told_at_its_place() {
    let mut missed = Vec::new();
    let places = Places::of(RawSettings::SHAPE).into_iter();
    let defaults = Places::of(RawAssertion::SHAPE).into_iter();
    let defaults = defaults
        .filter(|(place, _)| {
            let key = place.as_object().unwrap().keys().next().unwrap().as_str();
            ["server", "client", "tags", "timeout", "retries", "skip"].contains(&key)
        })
        .map(|(place, takes)| (json!({ "defaults": place }), takes));
    let itself = (json!({ "defaults": HOLE }), json!({ "type": "object" }));
    for (place, takes_here) in places.chain(defaults).chain([itself]) {
        for (_, value) in VALUES.iter().filter(|(kind, _)| !takes(&takes_here, kind)) {
            let (settings, at) = filled(&place, value);
            let sample = Sample::new(&[
                ("mcp-assert.yaml", &settings),
                ("a.yaml", "server: {command: s}\nassert: {tool: x}\n"),
            ]);
            if !is_told(&sample.load().suite.problems, &at) {
                missed.push(settings);
            }
        }
    }
    assert_eq!(missed, [""; 0]);
}

#[test]
fn whole_numbers_may_be_written_with_a_point() {
    let case = |expect: &str, wanted: &[&str]| {
        let text = format!("server: {{command: s}}\nassert: {{tool: x, expect: {expect}}}\n");
        let loaded = Sample::one(&text).load();
        let problems = loaded.suite.problems.iter();
        let codes: Vec<&str> = problems.map(|problem| problem.code).collect();
        assert_eq!(codes, wanted, "{expect}");
    };
    case("{json_path: {$.a: {length: 5.0}, $.b: {length: 1e1}}}", &[]);
    case("{min_results: 1.0, max_results: 1e1}", &[]);
    case("{json_path: {$.a: {length: 5.5}}}", &["bad-matcher"]);
    case("{json_path: {$.a: {length: -1}}}", &["bad-matcher"]);
}
