//! Calls and lists as assertions: suite files that both this program and the Go tool read.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{catalog::Offer, parameters, probe::SHORTEST_SECRET};
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
    /// The server as the suite names it, a YAML flow mapping; `None`: the settings name it.
    pub(crate) server: Option<&'a str>,
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
    /// Values of variables, which another machine does not have.
    pub(crate) here: &'a Here,
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
    /// answers is the same. Every scalar is written as JSON, which YAML reads alike.
    pub(crate) fn yaml(&self) -> String {
        let mut out = String::new();
        if let Some(why) = self.skip {
            // The Go tool refuses a text here.
            let _ = writeln!(out, "# Skipped: {}", clean(why).replace('\n', " "));
            out.push_str("skip: true\n");
        }
        let _ = writeln!(out, "name: {}", quoted(&format!("{} answers", self.tool)));
        if let Some(server) = self.server {
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
                self.stable(&mut out);
            }
            Wanted::ToolError => {
                out.push_str("    is_error: true\n");
                self.stable(&mut out);
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
    fn stable(&self, out: &mut String) {
        let reply = |seen: &'_ Observation| seen.answer.as_ref().and_then(Answer::reply).cloned();
        let full = Expectation::Text(TextWanted::NotEmpty(true));
        let is_full = |seen| check(&full, seen) == Verdict::Held;
        if self
            .twice
            .is_some_and(|(one, other)| is_full(one) && is_full(other))
        {
            out.push_str("    not_empty: true\n");
        }
        let replies = self.twice.map(|(one, other)| (reply(one), reply(other)));
        let Some((Some(reply), Some(again))) = replies else {
            return;
        };
        let pairs = [
            (
                "structured",
                reply.structured().cloned(),
                again.structured().cloned(),
            ),
            ("json_path", document(&reply.text), document(&again.text)),
        ];
        for (key, one, other) in pairs {
            let (Some(one), Some(other)) = (one, other) else {
                continue;
            };
            let mut leaves = Map::new();
            self.common(&one, &other, "$", &mut leaves);
            if !leaves.is_empty() {
                let _ = writeln!(out, "    {key}:");
            }
            // A type says less than a value.
            let (types, values): (Vec<_>, Vec<_>) = leaves.iter().partition(|it| it.1.is_object());
            for (path, value) in values.into_iter().chain(types).take(MOST_LEAVES) {
                let _ = writeln!(out, "      {}: {value}", Value::from(path.as_str()));
            }
            return;
        }
        let lines = reply.text.lines().zip(again.text.lines());
        let mut same = lines
            .filter(|(one, other)| one == other)
            .map(|(line, _)| line.trim());
        let telling = |line: &&str| {
            let is_short = line.len() <= LONGEST_LINE;
            let is_general = !text_has_markers(line) && !self.here.is_in(line);
            is_short && line.chars().any(char::is_alphanumeric) && is_general
        };
        if let Some(line) = same.find(telling) {
            let _ = writeln!(out, "    contains: [{}]", Value::from(line));
        }
    }

    /// The leaves that both values have, by their paths: the value where it is equal, else the type outside of lists, whose
    /// items may be gone. Names that a path would have to quote are left out.
    fn common(&self, one: &Value, other: &Value, path: &str, leaves: &mut Map<String, Value>) {
        match (one, other) {
            (Value::Object(one), Value::Object(other)) => {
                let is_plain = |name: &str| {
                    !self.here.is_in(name)
                        && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
                        && name
                            .chars()
                            .all(|it| it.is_ascii_alphanumeric() || it == '_')
                };
                for (name, value) in one.iter().filter(|(name, _)| is_plain(name)) {
                    if let Some(other) = other.get(name) {
                        self.common(value, other, &format!("{path}.{name}"), leaves);
                    }
                }
            }
            (Value::Array(one), Value::Array(other)) => {
                for (index, (one, other)) in one.iter().zip(other).enumerate() {
                    self.common(one, other, &format!("{path}[{index}]"), leaves);
                }
            }
            (one, other) => {
                let is_general = |text: &str| !text_has_markers(text) && !self.here.is_in(text);
                if one == other {
                    if one.as_str().is_none_or(is_general) {
                        leaves.insert(path.to_owned(), one.clone());
                    }
                } else if kind(one) == kind(other) && !path.contains('[') {
                    leaves.insert(path.to_owned(), json!({"type": kind(one)}));
                }
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
        let Some(name) = parameters::text(tool, "name").filter(|it| is_plain(it)) else {
            continue;
        };
        let at = format!("$.tools[?@.name == '{name}']");
        let _ = writeln!(
            out,
            "      {}: {}",
            quoted(&format!("{at}.name")),
            quoted(&name)
        );
        let schema = tool.get("inputSchema");
        if let Some(schema) = schema {
            types(&format!("{at}.inputSchema"), schema, MOST_LEVELS, &mut out);
        }
        if let Some(required) = schema.and_then(|it| it.get("required")) {
            let path = format!("{at}.inputSchema.required");
            let _ = writeln!(out, "      {}: {required}", quoted(&path));
        }
    }
    out.push_str("timeout: 30s\n");
    (out.len() > before + "timeout: 30s\n".len()).then_some(out)
}

/// The types of what is in a schema, by their paths.
fn types(at: &str, schema: &Value, levels: usize, out: &mut String) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let plain = properties.filter(|(name, _)| is_plain(name));
    let mut parts: Vec<(String, &Value)> = plain
        .map(|(name, of)| (format!("{at}.properties['{name}']"), of))
        .collect();
    for word in ["anyOf", "oneOf"] {
        let branches = schema.get(word).and_then(Value::as_array);
        let branches = branches.into_iter().flatten().enumerate();
        parts.extend(branches.map(|(index, of)| (format!("{at}.{word}[{index}]"), of)));
    }
    parts.extend(schema.get("items").map(|of| (format!("{at}.items"), of)));
    for (at, of) in parts.into_iter().filter(|_| levels > 0) {
        if let Some(kind) = of.get("type").filter(|it| !it.is_object()) {
            let _ = writeln!(out, "      {}: {kind}", quoted(&format!("{at}.type")));
        }
        types(&at, of, levels - 1, out);
    }
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
    let mut name: String = tool
        .chars()
        .map(|it| if is_safe(it) { it } else { '_' })
        .collect();
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
