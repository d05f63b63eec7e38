//! What each fault does to a message, a stream or a process. The catalogue names one effect a row;
//! when it happens is the engine's business.

pub(super) mod bytes;
pub(super) mod envelope;
pub(super) mod lifecycle;
pub(super) mod lists;
pub(super) mod notifications;
pub(super) mod results;

use serde_json::Value;

use super::argument::ArgumentValue;
use super::exchange::{Distortion, Refusal};
use super::reply::Reply;
use super::style::Style;
use crate::tap::{Emit, Ending};

/// The request and the rule that a fault works with.
#[derive(Debug, Clone, Copy)]
pub(super) struct EffectContext<'a> {
    /// The rule's argument.
    pub(super) given: &'a ArgumentValue,
    /// The id of the request; null for a notification.
    pub(super) id: &'a Value,
    /// The progress token of the request.
    pub(super) token: Option<&'a Value>,
    /// The cursor of the request.
    pub(super) cursor: Option<&'a str>,
    /// An id that nobody used yet, for a request of ours.
    pub(super) fresh: &'a str,
}

/// The ways a fault works.
#[derive(Debug, Clone, Copy)]
pub(super) enum Effect {
    /// It bends an answer.
    Bend(fn(&mut Reply, EffectContext<'_>)),
    /// It changes how an answer, or everything, is written.
    Dress(fn(&mut Style)),
    /// It leaves out these members of an answer, as JSON Pointers.
    Omit(&'static [&'static str]),
    /// It puts this JSON at this JSON Pointer of an answer.
    Set((&'static str, &'static str)),
    /// It puts an error, as JSON, in the place of the result.
    Fail(&'static str),
    /// It adds a content block, as JSON.
    Block(&'static str),
    /// It sends these bytes instead of an answer.
    Instead(&'static [u8]),
    /// It writes bytes at the start or before an answer.
    Write(&'static [u8]),
    /// It sends a message on a notification or before an answer.
    Send(fn(EffectContext<'_>) -> Value),
    /// It does this at the start.
    Start(fn(&ArgumentValue) -> Vec<Emit>),
    /// It holds an answer back.
    Hold(Hold),
    /// It does not hear that it should end.
    Deaf(Deaf),
    /// It distorts an answer over HTTP.
    Distort(Distortion),
    /// It refuses a request over HTTP.
    Refuse(Refusal),
}

/// Until when an answer is held back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Until its request is cancelled.
    UntilCancelled,
    /// Until the answers of requests that came later are out.
    UntilLaterOnes,
}

/// The messages that the server ignores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deaf {
    /// EOF.
    ToEof,
    /// EOF and SIGTERM.
    ToEofAndSigterm,
}

/// Stdout stays open meanwhile: it is the crash that closes it.
pub(super) fn out_of_memory(reply: &mut Reply, moment: EffectContext<'_>) {
    let size = moment.given.count();
    reply.instead([Emit::TakeMemory(size), Emit::End(Ending::Abort)]);
}

/// A string of the answer that a reader would look at: the first text of the content, else the
/// first string of the result, else a note put there for the purpose.
fn text_mut(reply: &mut Reply) -> Option<&mut String> {
    let result = reply.message_mut().get_mut("result")?;
    let texts = [
        "/content/0/text",
        "/contents/0/text",
        "/messages/0/content/text",
    ];
    let is_text = |at: &&str| result.pointer(at).is_some_and(Value::is_string);
    let known = texts.into_iter().find(is_text).map(str::to_owned);
    let path = known.or_else(|| first_string(result)).unwrap_or_else(|| {
        result["_meta"] = serde_json::json!({"note": "-"});
        "/_meta/note".to_owned()
    });
    if let Value::String(text) = result.pointer_mut(&path)? {
        Some(text)
    } else {
        None
    }
}

/// The JSON Pointer of the first string in the value.
fn first_string(value: &Value) -> Option<String> {
    match value {
        Value::String(_) => Some(String::new()),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(index, item)| first_string(item).map(|path| format!("/{index}{path}"))),
        Value::Object(members) => members.iter().find_map(|(name, member)| {
            let name = name.replace('~', "~0").replace('/', "~1");
            first_string(member).map(|path| format!("/{name}{path}"))
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Puts `value` where any tool may have it: the structured content where there is none, else `_meta`.
fn put_extra(reply: &mut Reply, name: &str, value: Value) {
    let Some(result) = reply.result_mut() else {
        return;
    };
    let home = if result.contains_key("structuredContent") {
        "_meta"
    } else {
        "structuredContent"
    };
    let home = result.entry(home).or_insert_with(|| serde_json::json!({}));
    if !home.is_object() {
        *home = serde_json::json!({});
    }
    home[name] = value;
}
