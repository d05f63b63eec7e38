//! Results as expectations see them: the text under test by method, as the Go tool renders it, and the members
//! of a tool result. Pure.

use serde_json::Value;

use crate::{
    observation::answer::{Rendering, Reply},
    protocol::method::Method,
};

/// A usable result seen through its method.
pub(super) fn reply(method: Method, result: Value) -> Reply {
    let (text, rendering) = match method {
        Method::ToolsCall => return tool(result),
        Method::ResourcesRead => {
            let rendering = Rendering::Contents { asked: None };
            (resource_text(&result), rendering)
        }
        Method::PromptsGet => (prompt_text(&result), Rendering::Messages),
        Method::ResourcesList | Method::PromptsList | Method::CompletionComplete => {
            (in_order(&result), Rendering::Json)
        }
        Method::Initialize
        | Method::Discover
        | Method::Ping
        | Method::ToolsList
        | Method::ResourceTemplatesList
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::LoggingSetLevel
        | Method::SubscriptionsListen
        | Method::TasksGet
        | Method::TasksUpdate
        | Method::TasksCancel => (result.to_string(), Rendering::Json),
    };
    Reply {
        raw: result,
        text,
        rendering,
        ..Reply::default()
    }
}

/// The pages of a list as one result: the first page with the items of all, and no cursor.
pub(super) fn merged(method: Method, mut pages: Vec<Value>) -> Reply {
    let Some(member) = method.list_member().filter(|_| pages.len() > 1) else {
        let Some(page) = pages.pop() else {
            return Reply::default();
        };
        let mut reply = reply(method, page.clone());
        reply.pages = vec![page];
        return reply;
    };
    let items: Vec<Value> = pages
        .iter()
        .filter_map(|page| page.get(member).and_then(Value::as_array))
        .flatten()
        .cloned()
        .collect();
    let mut whole = pages.first().cloned().unwrap_or_default();
    if let Value::Object(members) = &mut whole {
        members.shift_remove("nextCursor");
        members.insert(member.to_owned(), Value::Array(items));
    }
    let mut reply = reply(method, whole);
    reply.pages = pages;
    reply
}

fn tool(result: Value) -> Reply {
    let content = result.get("content").and_then(Value::as_array);
    let content = content.cloned().unwrap_or_default();
    let texts: Vec<&str> = content.iter().filter_map(block_text).collect();
    Reply {
        text: texts.join("\n"),
        rendering: Rendering::Blocks,
        structured: result.get("structuredContent").cloned(),
        is_error: result.get("isError").and_then(Value::as_bool) == Some(true),
        content,
        raw: result,
        ..Reply::default()
    }
}

/// The members in the order in which the Go tool writes those of lists and completions, from the outside to the inside;
/// none occurs in two places of different order.
const MEMBERS: &str = "annotations _meta nextCursor uri name title description mimeType size arguments required \
    icons resources prompts completion values total hasMore audience priority";

/// A result as JSON, its members in the Go tool's order, whatever the server's is; others after them.
fn in_order(result: &Value) -> String {
    sorted(result, Depth::Known).to_string()
}

/// Whether the members of an object are those of the protocol.
#[derive(Clone, Copy)]
enum Depth {
    /// They are.
    Known,
    /// They are whatever the server likes, sorted as the Go tool sorts maps.
    Free,
}

fn sorted(value: &Value, depth: Depth) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| sorted(item, depth)).collect(),
        Value::Object(members) => {
            let place = |key: &str| match depth {
                Depth::Known => MEMBERS.split(' ').position(|known| known == key),
                Depth::Free => None,
            };
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| (place(key).unwrap_or(usize::MAX), key.as_str()));
            let inner = |key: &str| if key == "_meta" { Depth::Free } else { depth };
            let members = members
                .into_iter()
                .map(|(key, member)| (key.clone(), sorted(member, inner(key))));
            Value::Object(members.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The text of a block of type `text`.
fn block_text(block: &Value) -> Option<&str> {
    let is_text = block.get("type").and_then(Value::as_str) == Some("text");
    block
        .get("text")
        .and_then(Value::as_str)
        .filter(|_| is_text)
}

/// Texts as they are; of binary contents the type and the length of the base64 text.
fn resource_text(result: &Value) -> String {
    let contents = result.get("contents").and_then(Value::as_array);
    let parts: Vec<String> = contents
        .into_iter()
        .flatten()
        .filter_map(|part| {
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                return Some(text.to_owned());
            }
            let blob = part.get("blob").and_then(Value::as_str)?;
            let mime = part.get("mimeType").and_then(Value::as_str);
            let mime = mime.unwrap_or_default();
            Some(format!("<blob mimeType={mime:?} len={}>", blob.len()))
        })
        .collect();
    parts.join("\n")
}

/// The description, then a line for each message: its text, or its content as JSON.
fn prompt_text(result: &Value) -> String {
    let description = result.get("description").and_then(Value::as_str);
    let messages = result.get("messages").and_then(Value::as_array);
    let messages = messages.into_iter().flatten().filter_map(|message| {
        let content = message.get("content")?;
        Some(match block_text(content) {
            Some(text) => text.to_owned(),
            None => content.to_string(),
        })
    });
    let description = description.filter(|text| !text.is_empty());
    let lines: Vec<String> = description
        .map(str::to_owned)
        .into_iter()
        .chain(messages)
        .collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Method, merged, reply};

    #[test]
    fn texts_are_rendered_by_method() {
        let case = |method, result, wanted: &str| assert_eq!(reply(method, result).text, wanted);
        case(
            Method::ToolsCall,
            json!({"content": [
                {"type": "text", "text": "a"},
                {"type": "image", "data": "", "mimeType": "image/png"},
                {"type": "text", "text": ""},
                {"type": "text", "text": "b"},
            ]}),
            "a\n\nb",
        );
        case(
            Method::ResourcesRead,
            json!({"contents": [
                {"uri": "x:1", "text": "a"},
                {"uri": "x:2", "blob": "AAAA", "mimeType": "image/png"},
                {"uri": "x:3", "blob": ""},
                {"uri": "x:4", "blob": "", "mimeType": "a/\"b\\\n"},
            ]}),
            "a\n<blob mimeType=\"image/png\" len=4>\n<blob mimeType=\"\" len=0>\n<blob mimeType=\"a/\\\"b\\\\\\n\" len=0>",
        );
        case(
            Method::PromptsGet,
            json!({"description": "d", "messages": [
                {"role": "user", "content": {"type": "text", "text": "hello"}},
                {"role": "user", "content": {"type": "image", "data": ""}},
            ]}),
            "d\nhello\n{\"type\":\"image\",\"data\":\"\"}",
        );
        case(
            Method::CompletionComplete,
            json!({"completion": {"values": ["a"], "hasMore": false}}),
            "{\"completion\":{\"values\":[\"a\"],\"hasMore\":false}}",
        );
    }

    #[test]
    fn lists_are_written_in_one_order_whatever_the_servers_is() {
        let case = |method, result, wanted: &str| assert_eq!(reply(method, result).text, wanted);
        case(
            Method::ResourcesList,
            json!({"resources": [{"x": 1, "mimeType": "text/plain", "name": "a", "uri": "a:1",
                "_meta": {"uri": 1, "b": {"d": 1, "c": 2}, "a": 3}}], "_meta": {}}),
            r#"{"_meta":{},"resources":[{"_meta":{"a":3,"b":{"c":2,"d":1},"uri":1},"uri":"a:1","name":"a","mimeType":"text/plain","x":1}]}"#,
        );
        case(
            Method::PromptsList,
            json!({"prompts": [{"arguments": [{"required": true, "name": "n"}], "description": "d", "name": "p"}]}),
            r#"{"prompts":[{"name":"p","description":"d","arguments":[{"name":"n","required":true}]}]}"#,
        );
        case(
            Method::CompletionComplete,
            json!({"completion": {"total": 2, "values": ["b", "a"]}}),
            r#"{"completion":{"values":["b","a"],"total":2}}"#,
        );
    }

    #[test]
    fn pages_become_one_list() {
        let reply = merged(
            Method::ToolsList,
            vec![
                json!({"tools": [{"name": "a"}], "nextCursor": "1", "_meta": {}}),
                json!({"tools": [{"name": "b"}]}),
            ],
        );
        assert_eq!(
            reply.text,
            "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"_meta\":{}}"
        );
        assert_eq!(reply.pages.len(), 2);
    }
}
