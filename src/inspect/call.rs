//! The answer to one call, as people read it.

use std::fmt::Write;

use serde_json::Value;

use mcp::observation::{
    Observation,
    answer::{Body, Reply},
};
use text::{clean, clean_prose};

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
            let code = error.code.map_or(String::new(), |it| format!(" {it}"));
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
        let kind = block["type"].as_str().unwrap_or("?");
        let member = |name: &str| block[name].as_str();
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
    let answer = seen.answer.as_ref();
    let during = answer.and_then(|it| seen.notifications.get(it.notifications.clone()));
    let mut out = String::new();
    for it in during.unwrap_or_default() {
        let of = |name: &str| it.params.get(name);
        let line = match it.method.as_str() {
            "notifications/progress" => {
                let (done, total) = (of("progress"), of("total"));
                let total = total.map_or(String::new(), |it| format!(" of {it}"));
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
