//! The same seed and the same requests give the same bytes.

use serde_json::json;

use super::{Client, quick};
use crate::ServeOptions;

/// All that a server writes to a client that sends everything at once.
async fn bytes(seed: u64) -> String {
    let options = ServeOptions { seed, ..quick() };
    let mut client = Client::start(options);
    let mut text = String::new();
    let mut id = 0;
    let mut add = |method: &str, params: serde_json::Value| {
        id += 1;
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        text.extend([line.to_string(), "\n".to_owned()]);
    };
    add(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}}),
    );
    for round in 0..10 {
        add("tools/call", json!({"name": "flaky"}));
        add(
            "tools/call",
            json!({"name": "test_tool_with_progress", "_meta": {"progressToken": round}}),
        );
        add(
            "tools/call",
            json!({"name": "slow", "arguments": {"milliseconds": 1000 - 100 * round}}),
        );
        add("tools/call", json!({"name": "counter"}));
        add(
            "tools/call",
            json!({"name": "emit", "arguments": {
            "method": "a/b", "count": 3, "interval_ms": 7, "after_reply": round % 2 == 0}}),
        );
        add(
            "resources/subscribe",
            json!({"uri": "test://watched-resource"}),
        );
        add("tools/list", json!({}));
    }
    client.send_text(&text).await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.write)
        .await
        .unwrap();
    let mut out = String::new();
    loop {
        let line = client.line().await;
        if line.is_empty() {
            return out;
        }
        out.push_str(&line);
    }
}

#[tokio::test]
async fn two_runs_write_the_same_bytes() {
    let first = bytes(1).await;
    assert_eq!(
        first
            .lines()
            .filter(|line| line.contains("\"id\":"))
            .count(),
        71
    );
    for _ in 0..6 {
        assert_eq!(bytes(1).await, first);
    }
    assert_ne!(bytes(2).await, first, "the seed has to matter");
}
