//! What the official Rust SDK's types say to a result: a client built on them loses what they refuse.

use rmcp::model;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::protocol::method::Method;

/// Why the official types cannot read a result; `None` when they can.
pub(super) fn refusal(method: Method, result: &Value) -> Option<String> {
    match method {
        Method::Initialize => read::<model::InitializeResult>(result),
        Method::Discover => read::<model::DiscoverResult>(result),
        Method::Ping
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::LoggingSetLevel
        | Method::SubscriptionsListen
        | Method::TasksGet
        | Method::TasksUpdate
        | Method::TasksCancel => None,
        Method::ToolsList => read::<model::ListToolsResult>(result),
        Method::ToolsCall => read::<model::CallToolResult>(result),
        Method::ResourcesList => read::<model::ListResourcesResult>(result),
        Method::ResourceTemplatesList => read::<model::ListResourceTemplatesResult>(result),
        Method::ResourcesRead => read::<model::ReadResourceResult>(result),
        Method::PromptsList => read::<model::ListPromptsResult>(result),
        Method::PromptsGet => read::<model::GetPromptResult>(result),
        Method::CompletionComplete => read::<model::CompleteResult>(result),
    }
}

fn read<T: DeserializeOwned>(result: &Value) -> Option<String> {
    // A value is decoded, not a text: numbers that keep their digits do not survive the types' untagged unions.
    let error = T::deserialize(result).err()?;
    Some(text::head(&error.to_string(), 200))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Method, refusal};

    fn case(method: Method, value: &Value, refused: bool) {
        assert_eq!(refusal(method, value).is_some(), refused, "{value}");
    }

    #[test]
    fn the_types_refuse_what_a_client_would_lose() {
        let text = json!({"type": "text", "text": "x"});
        case(Method::ToolsCall, &json!({"content": [text]}), false);
        case(
            Method::ToolsCall,
            &json!({"content": [text], "structuredContent": {"n": 1.5, "big": 9_007_199_254_740_993_u64}}),
            false,
        );
        case(
            Method::ToolsCall,
            &json!({"content": [{"type": "text"}]}),
            true,
        );
        case(
            Method::ToolsCall,
            &json!({"content": [{"type": "video"}]}),
            true,
        );
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "number", "minimum": 0}}});
        case(
            Method::ToolsList,
            &json!({"tools": [{"name": "a", "inputSchema": schema}]}),
            false,
        );
        case(Method::ToolsList, &json!({"tools": [{"name": "a"}]}), true);
        case(
            Method::Initialize,
            &json!({"protocolVersion": "2025-06-18", "capabilities": {}}),
            true,
        );
        case(
            Method::Initialize,
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {"listChanged": true}, "experimental": {"x": {"n": 1}}},
                "serverInfo": {"name": "a", "version": "1"},
            }),
            false,
        );
    }

    #[test]
    fn the_types_read_what_the_revisions_have() {
        let text = json!({"type": "text", "text": "x"});
        case(
            Method::ResourcesRead,
            &json!({"contents": [{"uri": "x:1"}]}),
            true,
        );
        case(
            Method::ResourcesRead,
            &json!({"contents": [{"uri": "x:1", "text": ""}]}),
            false,
        );
        case(
            Method::ResourcesList,
            &json!({"resources": [{"uri": "x:1", "name": "a", "size": 3, "annotations": {"priority": 0.5}}]}),
            false,
        );
        case(
            Method::PromptsGet,
            &json!({"messages": [{"role": "user", "content": text}]}),
            false,
        );
        case(
            Method::CompletionComplete,
            &json!({"completion": {"values": ["a"], "total": 100, "hasMore": true}}),
            false,
        );
    }
}
