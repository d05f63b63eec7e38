//! The tool and its arguments in one record of a log, under the names that are in use.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::text;
use crate::json::{json_text, walk::walk};

/// The call in a record of a log.
#[derive(Debug)]
pub(super) enum LogEntry {
    /// A tool was called with these arguments; null when there are none.
    Call {
        /// The tool.
        tool: String,
        /// The arguments.
        args: Value,
    },
    /// Nothing.
    Nothing,
    /// That there was one, but not of which tool; with the reason.
    Unreadable(&'static str),
}

/// Names of a tool; the first one that a record has counts.
const TOOLS: [&str; 3] = ["tool", "tool_name", "toolName"];

/// Names of arguments; the first one that a record has counts.
const ARGUMENTS: [&str; 5] = ["args", "arguments", "parameters", "params", "input"];

/// Reads a record.
pub(super) fn told(record: &Map<String, Value>) -> LogEntry {
    for key in TOOLS {
        match record.get(key) {
            None | Some(Value::Null | Value::Bool(_)) => {}
            Some(Value::String(tool)) => return call(tool, arguments(record)),
            Some(Value::Object(tool)) => return of_object(tool, record),
            Some(Value::Number(_) | Value::Array(_)) => {
                return LogEntry::Unreadable("what stands for its tool is not a text");
            }
        }
    }
    if text(record, "method") == Some("tools/call") {
        return of_request(record);
    }
    // A bare `name` is in many logs that are not about tools.
    match (text(record, "name"), record.contains_key("arguments")) {
        (Some(tool), true) => call(tool, arguments(record)),
        (Some(_), false) | (None, _) => LogEntry::Nothing,
    }
}

/// Whether a record may be read as that of a call, whichever value counts where one stands there twice.
pub(super) fn names_a_tool(record: &Map<String, Value>) -> bool {
    TOOLS.iter().any(|key| record.contains_key(*key))
        || record.contains_key("method")
        || record.contains_key("name") && record.contains_key("arguments")
}

fn call(tool: &str, args: Option<Value>) -> LogEntry {
    LogEntry::Call {
        tool: tool.to_owned(),
        args: args.unwrap_or_default(),
    }
}

/// A tool that is an object: a call has arguments there or beside it, a declaration has their schema.
fn of_object(tool: &Map<String, Value>, record: &Map<String, Value>) -> LogEntry {
    if tool.contains_key("inputSchema") {
        return LogEntry::Nothing;
    }
    let args = arguments(tool).or_else(|| arguments(record));
    match (text(tool, "name"), args) {
        (Some(name), Some(args)) => call(name, Some(args)),
        (Some(_), None) => {
            LogEntry::Unreadable("its tool is an object, and there are no arguments")
        }
        (None, _) => LogEntry::Unreadable("its tool is an object without a `name`"),
    }
}

/// A JSON-RPC request. Some logs repeat the method in their record of the answer.
fn of_request(record: &Map<String, Value>) -> LogEntry {
    let params = record.get("params").and_then(Value::as_object);
    match params.and_then(|params| Some((text(params, "name")?, arguments(params)))) {
        Some((tool, args)) => call(tool, args),
        None if record.contains_key("result") || record.contains_key("error") => LogEntry::Nothing,
        None => LogEntry::Unreadable("a `tools/call` without `params.name`"),
    }
}

/// The arguments of a call; as models write them they are the text of an object.
fn arguments(record: &Map<String, Value>) -> Option<Value> {
    let mut given = ARGUMENTS.iter().filter_map(|key| record.get(*key));
    let args = given.find(|args| !args.is_null())?;
    let of_text = args.as_str().and_then(|text| json_text::value(text).ok());
    Some(
        of_text
            .filter(Value::is_object)
            .unwrap_or_else(|| args.clone()),
    )
}

/// Texts of records that are not read as calls, by which a tool in them can be found.
#[derive(Debug, Default)]
pub(super) struct PassedOver(pub(super) BTreeMap<String, usize>);

impl PassedOver {
    /// No tool has a name of more bytes.
    const LONGEST: usize = 128;
    /// So many are kept.
    const MOST: usize = 10_000;

    /// Notes the texts of the values of a record.
    pub(super) fn note<'a>(&mut self, values: impl Iterator<Item = &'a Value>, line: usize) {
        for text in values.flat_map(walk).filter_map(Value::as_str) {
            if text.len() <= Self::LONGEST && self.0.len() < Self::MOST {
                self.0.entry(text.to_owned()).or_insert(line);
            }
        }
    }
}
