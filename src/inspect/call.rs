//! The answer to one call as people read it, and the assertion that it becomes.

use std::fmt::Write;

use serde_json::{Map, Value};

use mcp::{
    observation::{
        Observation,
        answer::{Body, Reply},
    },
    script::template::text_has_markers,
};
use text::{clean, clean_prose};

/// The most leaves of a structured answer that an assertion names.
const MOST_LEAVES: usize = 12;

/// The most characters of a line that an assertion looks for.
const LONGEST_LINE: usize = 120;

/// How a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answered {
    /// With a result.
    Result,
    /// With a result that says that the tool failed.
    ToolError,
    /// With a JSON-RPC error.
    ProtocolError,
}

/// How a call was answered; `None`: it was not.
pub(crate) fn answered(seen: &Observation) -> Option<Answered> {
    Some(match &seen.answer.as_ref()?.body {
        Body::Result(reply) if reply.is_error => Answered::ToolError,
        Body::Result(_) => Answered::Result,
        Body::ProtocolError(_) => Answered::ProtocolError,
    })
}

/// The result or the error object as it came.
pub(crate) fn raw(seen: &Observation) -> Option<&Value> {
    Some(match &seen.answer.as_ref()?.body {
        Body::Result(reply) => &reply.raw,
        Body::ProtocolError(error) => &error.raw,
    })
}

/// The answer for people: texts as they are, other content by its kind and size, structured content as JSON where there
/// is no text.
pub(crate) fn shown(seen: &Observation) -> String {
    let Some(answer) = &seen.answer else {
        return String::new();
    };
    match &answer.body {
        Body::Result(reply) => content(reply),
        Body::ProtocolError(error) => {
            let code = error
                .code
                .map(|code| format!(" {code}"))
                .unwrap_or_default();
            let mut out = format!("JSON-RPC error{code}: {}\n", clean(&error.message));
            if let Some(data) = &error.data {
                let _ = writeln!(out, "{}", clean(&format!("{data:#}")));
            }
            out
        }
    }
}

fn content(reply: &Reply) -> String {
    let mut out = String::new();
    for block in &reply.content {
        let kind = block.get("type").and_then(Value::as_str).unwrap_or("?");
        let member = |name: &str| block.get(name).and_then(Value::as_str);
        if let ("text", Some(text)) = (kind, member("text")) {
            let _ = writeln!(out, "{}", clean_prose(text.trim_end_matches('\n')));
            continue;
        }
        let size = member("data").or(member("blob")).map(str::len);
        let size = size.map(|it| format!(", {it} characters of base64"));
        let what = member("uri").or(member("mimeType")).unwrap_or_default();
        let line = format!("[{kind} {what}{}]", size.unwrap_or_default());
        let _ = writeln!(out, "{}", clean(&line).replace('\n', " "));
    }
    match reply.structured() {
        Some(value) if out.is_empty() => format!("{}\n", clean(&format!("{value:#}"))),
        Some(_) | None => out,
    }
}

/// What the server said during the call, a line each: progress, log messages, and other notifications.
pub(crate) fn beside(seen: &Observation) -> String {
    let during = seen
        .answer
        .as_ref()
        .map(|answer| answer.notifications.clone());
    let during = during.and_then(|range| seen.notifications.get(range));
    let mut out = String::new();
    for it in during.unwrap_or_default() {
        let of = |name: &str| it.params.get(name);
        let line = match it.method.as_str() {
            "notifications/progress" => {
                let (done, total) = (of("progress"), of("total"));
                let total = total
                    .map(|total| format!(" of {total}"))
                    .unwrap_or_default();
                let message = of("message").and_then(Value::as_str).unwrap_or_default();
                let done = done.map(Value::to_string).unwrap_or_default();
                format!("progress {done}{total} {message}")
            }
            "notifications/message" => {
                let level = of("level").and_then(Value::as_str).unwrap_or("?");
                let data = match of("data") {
                    Some(Value::String(text)) => text.clone(),
                    Some(data) => data.to_string(),
                    None => String::new(),
                };
                format!("{level}: {data}")
            }
            method => format!("{method} {}", it.params),
        };
        let _ = writeln!(out, "{}", clean(line.trim_end()).replace('\n', " "));
    }
    out
}

/// A call that becomes an assertion.
pub(crate) struct Kept<'a> {
    /// The server as the suite names it, a YAML flow mapping.
    pub(crate) server: String,
    /// The tool.
    pub(crate) tool: &'a str,
    /// Its arguments.
    pub(crate) arguments: &'a Value,
    /// Whether the tool declares what its structured content looks like.
    pub(crate) has_output_schema: bool,
    /// The answer.
    pub(crate) seen: &'a Observation,
    /// The answer to the same call once more; `None`: it may change something, and was called once.
    pub(crate) again: Option<&'a Observation>,
}

impl Kept<'_> {
    /// A suite file with one assertion: that the call is answered as it was, and, where two calls were, what of their
    /// answers is the same. Every scalar is written as JSON, which YAML reads alike.
    pub(crate) fn yaml(&self) -> String {
        let quoted = |text: &str| Value::from(text).to_string();
        let mut out = format!(
            "name: {}\nserver: {}\nassert:\n  tool: {}\n  args: {}\n  expect:\n",
            quoted(&format!("{} answers", self.tool)),
            self.server,
            quoted(self.tool),
            self.arguments,
        );
        match self.seen.answer.as_ref().map(|answer| &answer.body) {
            Some(Body::Result(reply)) if reply.is_error => out.push_str("    is_error: true\n"),
            Some(Body::Result(reply)) => {
                out.push_str("    not_error: true\n");
                if self.has_output_schema {
                    out.push_str("    output_schema: true\n");
                }
                self.stable(reply, &mut out);
            }
            Some(Body::ProtocolError(error)) => match error.code {
                Some(code) => {
                    let _ = writeln!(out, "    error: {{code: {code}}}");
                }
                None => out.push_str("    error: true\n"),
            },
            None => {}
        }
        out
    }

    /// What two answers have in common.
    fn stable(&self, reply: &Reply, out: &mut String) {
        let again = self.again.and_then(|seen| seen.answer.as_ref());
        let Some(Body::Result(again)) = again.map(|answer| &answer.body) else {
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
