//! Calls and lists as assertions: suite files that both this program and the Go tool read.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{catalog::Offer, parameters};
use mcp::{
    observation::{
        Observation,
        answer::{Answer, Body},
        catalog::Listing,
    },
    script::template::text_has_markers,
};
use text::clean;

/// The most leaves of a structured answer that an assertion names.
const MOST_LEAVES: usize = 12;

/// The most characters of a line that an assertion looks for.
const LONGEST_LINE: usize = 120;

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
    /// Why it is skipped.
    pub(crate) skip: Option<&'a str>,
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
            Wanted::ToolError => out.push_str("    is_error: true\n"),
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
            common(&one, &other, "$", &mut leaves);
            if !leaves.is_empty() {
                let _ = writeln!(out, "    {key}:");
            }
            for (path, value) in leaves.iter().take(MOST_LEAVES) {
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
            is_short && line.chars().any(char::is_alphanumeric) && !text_has_markers(line)
        };
        if let Some(line) = same.find(telling) {
            let _ = writeln!(out, "    contains: [{}]", Value::from(line));
        }
    }
}

/// The leaves that are equal in both values, by their paths. Names that a path would have to quote are left out.
fn common(one: &Value, other: &Value, path: &str, leaves: &mut Map<String, Value>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let is_plain = |name: &str| {
                name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
                    && name
                        .chars()
                        .all(|it| it.is_ascii_alphanumeric() || it == '_')
            };
            for (name, value) in one.iter().filter(|(name, _)| is_plain(name)) {
                if let Some(other) = other.get(name) {
                    common(value, other, &format!("{path}.{name}"), leaves);
                }
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                common(one, other, &format!("{path}[{index}]"), leaves);
            }
        }
        (one, other) => {
            let is_marked = one.as_str().is_some_and(text_has_markers);
            if one == other && !is_marked {
                leaves.insert(path.to_owned(), one.clone());
            }
        }
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
        let properties = schema.and_then(|it| it.get("properties")?.as_object());
        for (name, of) in properties
            .into_iter()
            .flatten()
            .filter(|(name, _)| is_plain(name))
        {
            if let Some(kind) = of.get("type").filter(|it| it.is_string()) {
                let path = format!("{at}.inputSchema.properties['{name}'].type");
                let _ = writeln!(out, "      {}: {kind}", quoted(&path));
            }
        }
        if let Some(required) = schema.and_then(|it| it.get("required")) {
            let path = format!("{at}.inputSchema.required");
            let _ = writeln!(out, "      {}: {required}", quoted(&path));
        }
    }
    out.push_str("timeout: 30s\n");
    (out.len() > before + "timeout: 30s\n".len()).then_some(out)
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
