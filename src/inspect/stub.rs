//! Calls and lists as assertions: suite files that both this program and the Go tool read.

use std::fmt::{Display, Write};

use serde_json::{Map, Value, json};

use super::{catalog::Offer, probe::SHORTEST_SECRET};
use check::{check, outcome::verdict::Verdict};
use mcp::{
    observation::{
        Observation,
        answer::{Answer, Body},
        catalog::Listing,
    },
    script::template::text_has_markers,
};
use suite::model::expectation::{Expectation, TextWanted};
use text::{clean, environment::Environment};

/// The most leaves of a structured answer that an assertion names.
const MOST_LEAVES: usize = 12;

/// The most characters of a line that an assertion looks for.
const LONGEST_LINE: usize = 120;

/// How the names of the variables begin by which a run knows its servers; each run has other values.
const OF_RUNS: &str = "MCP_ASSERT_";

/// How deep the types of parameters are named.
const MOST_LEVELS: usize = 4;

/// The longest name of a file, without its ending, in bytes.
const LONGEST_NAME: usize = 100;

/// A call of a tool that becomes an assertion.
pub(crate) struct Stub<'a> {
    /// The tool.
    pub(crate) tool: &'a str,
    /// Its arguments.
    pub(crate) arguments: &'a Value,
    /// Whether the tool declares what its structured content looks like.
    pub(crate) has_output_schema: bool,
    /// What a call is expected to be answered with.
    pub(crate) wanted: Wanted,
    /// The answers to two calls, of which what they have in common is expected.
    pub(crate) twice: Option<(&'a Observation, &'a Observation)>,
    /// Why it is skipped.
    pub(crate) skip: Option<&'a str>,
}

/// Values of the variables that a server inherits. What an answer has of them is not expected: it differs on another
/// machine, and it may be a secret.
#[derive(Debug, Default)]
pub(crate) struct Here(Vec<String>);

impl Here {
    pub(crate) fn of(environment: &Environment) -> Self {
        let values = environment
            .inherited()
            .filter_map(|(_, value)| value.to_str());
        Self(values.chain([OF_RUNS]).map(str::to_owned).collect())
    }

    /// Whether a text may be expected on another machine too, and means itself in a suite.
    fn is_general(&self, text: &str) -> bool {
        !text_has_markers(text) && !self.is_in(text)
    }

    /// Whether a text is one of the values, or has a long one or a folder in it.
    fn is_in(&self, text: &str) -> bool {
        self.0.iter().any(|value| {
            let is_telling =
                value.len() >= SHORTEST_SECRET || value.starts_with('/') && value.len() > 1;
            value == text || is_telling && text.contains(value.as_str())
        })
    }
}

/// How a call is expected to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// With a result.
    Result,
    /// With a result that says that the tool failed.
    ToolError,
    /// With a JSON-RPC error of this code, if it has one.
    ProtocolError(Option<i64>),
}

impl Wanted {
    /// As it was answered; with a result, where it was not.
    pub(crate) fn of(seen: Option<&Observation>) -> Self {
        match seen.and_then(|seen| Some(&seen.answer.as_ref()?.body)) {
            Some(Body::Result(reply)) if reply.is_error => Self::ToolError,
            Some(Body::Result(_)) | None => Self::Result,
            Some(Body::ProtocolError(error)) => Self::ProtocolError(error.code),
        }
    }
}

impl Stub<'_> {
    /// A suite file with one assertion: that the call is answered as it was, and, where two calls were, what of their
    /// answers is the same. The server is a YAML flow mapping; `None`: the settings name it. Every scalar is written as JSON,
    /// which YAML reads alike.
    pub(crate) fn yaml(&self, server: Option<&str>, here: &Here) -> String {
        let mut out = String::new();
        if let Some(why) = self.skip {
            // The Go tool refuses a text here.
            let _ = writeln!(out, "# Skipped: {}", clean(why).replace('\n', " "));
            out.push_str("skip: true\n");
        }
        let _ = writeln!(out, "name: {}", quoted(&format!("{} answers", self.tool)));
        if let Some(server) = server {
            let _ = writeln!(out, "server: {server}");
        }
        let (tool, arguments) = (quoted(self.tool), self.arguments);
        let _ = writeln!(
            out,
            "assert:\n  tool: {tool}\n  args: {arguments}\n  expect:"
        );
        match self.wanted {
            Wanted::Result => {
                out.push_str("    not_error: true\n");
                if self.has_output_schema {
                    out.push_str("    output_schema: true\n");
                }
                self.stable(here, &mut out);
            }
            Wanted::ToolError => {
                out.push_str("    is_error: true\n");
                self.stable(here, &mut out);
            }
            Wanted::ProtocolError(None) => out.push_str("    error: true\n"),
            Wanted::ProtocolError(Some(code)) => {
                let _ = writeln!(out, "    error: {{code: {code}}}");
            }
        }
        out.push_str("timeout: 30s\n");
        out
    }

    /// What two answers have in common.
    fn stable(&self, here: &Here, out: &mut String) {
        let Some((one, other)) = self.twice else {
            return;
        };
        let full = Expectation::Text(TextWanted::NotEmpty(true));
        if [one, other]
            .iter()
            .all(|seen| check(&full, seen) == Verdict::Held)
        {
            out.push_str("    not_empty: true\n");
        }
        let replies = [one, other].map(|seen| seen.answer.as_ref().and_then(Answer::reply));
        let [Some(reply), Some(again)] = replies else {
            return;
        };
        let (key, one, other) = match (reply.structured(), again.structured()) {
            (Some(one), Some(other)) => ("structured", Some(one.clone()), Some(other.clone())),
            (_, _) => ("json_path", document(&reply.text), document(&again.text)),
        };
        if let (Some(one), Some(other)) = (one, other) {
            let mut leaves = Map::new();
            common(here, (&one, &other), "$", &mut leaves);
            if !leaves.is_empty() {
                let _ = writeln!(out, "    {key}:");
            }
            // A type says less than a value.
            let (types, values): (Vec<_>, Vec<_>) = leaves.iter().partition(|it| it.1.is_object());
            for (path, value) in values.into_iter().chain(types).take(MOST_LEAVES) {
                self::path(out, path, value);
            }
            return;
        }
        let lines = reply.text.lines().zip(again.text.lines());
        let same = lines.filter(|(one, other)| one == other);
        let telling = |line: &&str| {
            let is_short = line.len() <= LONGEST_LINE;
            is_short && line.chars().any(char::is_alphanumeric) && here.is_general(line)
        };
        if let Some(line) = same.map(|(line, _)| line.trim()).find(telling) {
            let _ = writeln!(out, "    contains: [{}]", quoted(line));
        }
    }
}

/// The leaves that both values have, by their paths: the value where it is equal, else the type outside of lists, whose
/// items may be gone. Names that a path would have to quote are left out.
fn common(here: &Here, both: (&Value, &Value), path: &str, leaves: &mut Map<String, Value>) {
    match both {
        (Value::Object(one), Value::Object(other)) => {
            let is_plain = |name: &str| {
                let mut signs = name.chars();
                !here.is_in(name)
                    && !name.is_empty()
                    && !name.starts_with(|it: char| it.is_ascii_digit())
                    && signs.all(|it| it.is_ascii_alphanumeric() || it == '_')
            };
            for (name, value) in one.iter().filter(|(name, _)| is_plain(name)) {
                if let Some(other) = other.get(name) {
                    common(here, (value, other), &format!("{path}.{name}"), leaves);
                }
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for (index, pair) in one.iter().zip(other).enumerate() {
                common(here, pair, &format!("{path}[{index}]"), leaves);
            }
        }
        (one, other) => {
            if one == other {
                if one.as_str().is_none_or(|text| here.is_general(text)) {
                    leaves.insert(path.to_owned(), one.clone());
                }
            } else if kind(one) == kind(other) && !path.contains('[') {
                leaves.insert(path.to_owned(), json!({"type": kind(one)}));
            }
        }
    }
}

/// The word of `type` for a leaf.
fn kind(leaf: &Value) -> &'static str {
    match leaf {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The text as a JSON object or array.
fn document(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// A scalar as JSON, which YAML reads alike.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// An assertion that the tools are listed with the parameters and types that they have. `None` without tools.
pub(crate) fn listed(offer: &Offer, server: Option<&str>) -> Option<String> {
    let mut out = "name: the tools and their parameters\n".to_owned();
    if let Some(server) = server {
        let _ = writeln!(out, "server: {server}");
    }
    out.push_str("assert_tools:\n  expect:\n    json_path:\n");
    let before = out.len();
    for tool in offer.entries(Listing::Tools) {
        let Some(name) = tool["name"].as_str().filter(|it| is_plain(it)) else {
            continue;
        };
        let at = format!("$.tools[?@.name == '{name}']");
        path(&mut out, &format!("{at}.name"), quoted(name));
        let schema = &tool["inputSchema"];
        types(&format!("{at}.inputSchema"), schema, MOST_LEVELS, &mut out);
        if let Some(required) = schema.get("required") {
            path(&mut out, &format!("{at}.inputSchema.required"), required);
        }
    }
    out.push_str("timeout: 30s\n");
    (out.len() > before + "timeout: 30s\n".len()).then_some(out)
}

/// The types of what is in a schema, by their paths.
fn types(at: &str, schema: &Value, levels: usize, out: &mut String) {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let plain = properties.filter(|(name, _)| is_plain(name));
    let plain = plain.map(|(name, of)| (format!("{at}.properties['{name}']"), of));
    let mut parts: Vec<(String, &Value)> = plain.collect();
    for word in ["anyOf", "oneOf"] {
        let branches = schema[word].as_array().into_iter().flatten().enumerate();
        parts.extend(branches.map(|(index, of)| (format!("{at}.{word}[{index}]"), of)));
    }
    parts.extend(schema.get("items").map(|of| (format!("{at}.items"), of)));
    for (at, of) in parts.into_iter().filter(|_| levels > 0) {
        if let Some(kind) = of.get("type").filter(|it| !it.is_object()) {
            path(out, &format!("{at}.type"), kind);
        }
        types(&at, of, levels - 1, out);
    }
}

/// What a path leads to.
fn path(out: &mut String, path: &str, value: impl Display) {
    let _ = writeln!(out, "      {}: {value}", quoted(path));
}

/// Whether a name needs no escape in a path.
fn is_plain(name: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
    !name.is_empty() && name.chars().all(is_plain)
}

/// A file's name for a tool, without its ending: signs that a path would interpret become `_`. Names that were given
/// away already get a number.
pub(crate) fn file_name(tool: &str, taken: &mut Vec<String>) -> String {
    let is_safe = |it: char| it.is_ascii_alphanumeric() || it == '-' || it == '_';
    let mut name = tool.replace(|it| !is_safe(it), "_");
    name.truncate(LONGEST_NAME);
    if name.is_empty() {
        name.push('_');
    }
    let mut free = name.clone();
    let mut number = 2;
    while taken.contains(&free.to_lowercase()) {
        free = format!("{name}-{number}");
        number += 1;
    }
    taken.push(free.to_lowercase());
    free
}
