//! What subjects do, and what is seen of them.

use serde_json::json;

use super::server::{Stage, class, codes, echo, hands, on_call, result, said, text};
use crate::{
    observation::answer::Body,
    suite::model::subject::{ListCall, Subject},
};

#[tokio::test(start_paused = true)]
async fn a_tool_call_is_a_handshake_and_a_call() {
    let mut stage = Stage::new(on_call(vec![said("hello")]));
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "result");
    assert_eq!(codes(&seen), []);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.reply().unwrap().text, "hello");
    assert_eq!(answer.arguments, json!({"message": "hi"}));
    assert_eq!(answer.progress_token, Some(json!(2)));
    assert_eq!(seen.wire.len(), 5);
    assert_eq!(
        seen.session.unwrap().server().as_deref(),
        Some("scripted 1")
    );
    let (_, received) = stage.close().await;
    assert_eq!(
        received[0],
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "mcp-assert", "version": env!("CARGO_PKG_VERSION")},
        }})
    );
    assert_eq!(
        received[1],
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    assert_eq!(
        received[2],
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"message": "hi"}, "_meta": {"progressToken": 2},
        }})
    );
}

#[tokio::test(start_paused = true)]
async fn assertions_take_turns_on_one_session() {
    let mut stage = Stage::new(on_call(vec![said("hello")]));
    for turn in 0..3 {
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        assert_eq!(seen.wire.len(), if turn == 0 { 5 } else { 2 });
        assert!(seen.session.is_some());
        assert!(stage.session.is_usable());
    }
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_are_merged_and_one_page_is_left_as_it_is() {
    let plot = |method: &str, _: usize, message: &serde_json::Value| match method {
        "initialize" => vec![hands()],
        "tools/list" => {
            let schema = json!({"type": "object"});
            vec![match message["params"]["cursor"].as_str() {
                None => result(
                    &json!({"tools": [{"name": "a", "inputSchema": schema}], "nextCursor": "2"}),
                ),
                Some("2") => result(
                    &json!({"tools": [{"name": "b", "inputSchema": schema}], "nextCursor": "3"}),
                ),
                Some(_) => result(&json!({"tools": []})),
            }]
        }
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let seen = stage.perform(&Subject::Tools(ListCall::default())).await;
    let Some(Body::Result(reply)) = seen.answer.map(|answer| answer.body) else {
        panic!("no result")
    };
    assert_eq!(reply.pages.len(), 3);
    assert_eq!(
        reply.text,
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]}"#
    );
    let page = Subject::Tools(ListCall {
        cursor: Some(text("2")),
    });
    let seen = stage.perform(&page).await;
    let Some(Body::Result(reply)) = seen.answer.map(|answer| answer.body) else {
        panic!("no result")
    };
    assert_eq!(reply.raw["nextCursor"], "3");
    assert_eq!(reply.pages.len(), 1);
}
