//! Revisions, eras, and how a server ends.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, quick};
use crate::{Ended, OfferedEra, ServeOptions, Stop, offered_revisions};

/// The `_meta` of a request without a handshake.
fn meta(revision: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": revision,
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    })
}

fn speaking(era: OfferedEra, only: &[&str]) -> ServeOptions {
    let only: Vec<String> = only.iter().map(|&name| name.to_owned()).collect();
    ServeOptions {
        revisions: offered_revisions(era, &only).unwrap(),
        ..ServeOptions::default()
    }
}

#[tokio::test]
async fn the_revision_asked_for_is_spoken_where_it_can_be() {
    async fn case(asked: &str, spoken: &str) {
        let mut client = Client::start(ServeOptions::default());
        let answer = client.initialize(asked).await;
        assert_eq!(answer["result"]["protocolVersion"], spoken, "{asked}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "mcp-assert");
        let result = client.call("test_simple_text", json!({})).await;
        assert_eq!(result["content"][0]["type"], "text", "{asked}");
        assert!(result.get("resultType").is_none(), "{asked}");
        assert_eq!(client.close().await, Ended::Clean, "{asked}");
    }
    case("2024-11-05", "2024-11-05").await;
    case("2025-03-26", "2025-03-26").await;
    case("2025-06-18", "2025-06-18").await;
    case("2025-11-25", "2025-11-25").await;
    // The newest revision has no handshake, and the last one is none.
    case("2026-07-28", "2025-11-25").await;
    case("1999-01-01", "2025-11-25").await;
}

#[tokio::test]
async fn the_newest_revision_needs_no_handshake() {
    let mut client = Client::start(ServeOptions::default());
    let (_, found) = client
        .request("server/discover", json!({"_meta": meta("2026-07-28")}))
        .await;
    let revisions = &found["result"]["supportedVersions"];
    assert_eq!(revisions.as_array().map(Vec::len), Some(5), "{found}");
    let (_, answer) = client
        .request(
            "tools/call",
            json!({"_meta": meta("2026-07-28"), "name": "echo", "arguments": {"message": "a"}}),
        )
        .await;
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"message": "a"})
    );
    let server = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "mcp-assert");
    let exact = json!({"_meta": meta("2026-07-28"), "name": "reply", "arguments": {"text": "a"}});
    let (_, answer) = client.request("tools/call", exact).await;
    assert_eq!(
        answer["result"],
        json!({"content": [{"type": "text", "text": "a"}], "resultType": "complete"})
    );
    let unknown = client
        .refused("tools/list", json!({"_meta": meta("2099-01-01")}))
        .await;
    assert_eq!(unknown["code"], -32022);
    assert_eq!(unknown["data"]["requested"], "2099-01-01");
    let bare = client.refused("tools/list", json!({})).await;
    assert_eq!(bare["code"], -32602);
    let gone = client
        .refused("ping", json!({"_meta": meta("2026-07-28")}))
        .await;
    assert_eq!(gone["code"], -32601);
    assert_eq!(client.close().await, Ended::Clean);
}

#[tokio::test]
async fn without_a_handshake_the_call_comes_back_with_the_answer() {
    let mut client = Client::start(ServeOptions::default());
    let mut params = json!({
        "_meta": meta("2026-07-28"), "name": "test_sampling", "arguments": {"prompt": "why"},
    });
    let (before, first) = client.request("tools/call", params.clone()).await;
    assert_eq!(before, [Value::Null; 0], "the server must not ask");
    assert_eq!(first["result"]["resultType"], "input_required");
    let asked = &first["result"]["inputRequests"]["sampling"];
    assert_eq!(asked["method"], "sampling/createMessage");
    params["inputResponses"] = json!({"sampling": {
        "model": "m", "role": "assistant", "content": {"type": "text", "text": "because"},
    }});
    let (_, second) = client.request("tools/call", params).await;
    assert_eq!(second["result"]["resultType"], "complete");
    assert_eq!(
        second["result"]["content"][0]["text"],
        "the model says: because"
    );
    let missing = json!({"_meta": meta("2026-07-28"), "name": "list_roots"});
    let missing = client.refused("tools/call", missing).await;
    assert_eq!(missing["code"], -32021);
    assert_eq!(
        missing["data"]["requiredCapabilities"],
        json!({"roots": {}})
    );
}

#[tokio::test]
async fn an_old_server_knows_no_discovery() {
    let mut client = Client::start(speaking(OfferedEra::Legacy, &[]));
    let error = client
        .refused("server/discover", json!({"_meta": meta("2026-07-28")}))
        .await;
    assert_eq!(error["code"], -32601);
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn a_new_server_refuses_the_handshake_and_stays() {
    let mut client = Client::start(speaking(OfferedEra::Modern, &[]));
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    let (_, found) = client
        .request("server/discover", json!({"_meta": meta("2026-07-28")}))
        .await;
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
}

#[tokio::test]
async fn only_the_revisions_that_were_chosen_are_spoken() {
    let mut client = Client::start(speaking(OfferedEra::Both, &["2025-03-26"]));
    let answer = client.initialize("2025-11-25").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-03-26");
    let unknown = offered_revisions(OfferedEra::Both, &["2025-03-27".to_owned()]);
    assert!(unknown.unwrap_err().contains("2025-03-26"));
    assert!(offered_revisions(OfferedEra::Modern, &["2025-03-26".to_owned()]).is_err());
}

#[tokio::test]
async fn what_comes_before_the_first_request_does_no_harm() {
    let mut client = Client::start(ServeOptions::default());
    client
        .send_text(concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
            "\nnoise\n\n",
        ))
        .await;
    let (_, pong) = client.request("ping", json!({})).await;
    assert_eq!(pong["result"], json!({}));
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
}

#[tokio::test]
async fn a_signal_ends_the_server() {
    for why in [Stop::Terminated, Stop::Interrupted] {
        let mut client = Client::ready(ServeOptions::default()).await;
        client
            .send(
                &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                    "name": "slow", "arguments": {"hang": true},
                }}),
            )
            .await;
        client.stop.send(why).await.unwrap();
        assert_eq!(client.server.await.unwrap(), Ended::Clean, "{why:?}");
    }
}

#[tokio::test]
async fn a_server_ends_by_itself() {
    async fn ends(options: ServeOptions, requests: u64) {
        let mut client = Client::ready(options).await;
        for _ in 0..requests {
            client.call("test_simple_text", json!({})).await;
        }
        assert_eq!(client.server.await.unwrap(), Ended::Clean);
    }
    // `initialize` is the first of the requests.
    ends(
        ServeOptions {
            max_requests: Some(3),
            ..quick()
        },
        2,
    )
    .await;
    let moment = Some(Duration::from_millis(20));
    ends(
        ServeOptions {
            idle_exit: moment,
            ..quick()
        },
        0,
    )
    .await;
    ends(
        ServeOptions {
            exit_after: moment,
            ..quick()
        },
        0,
    )
    .await;
}

#[tokio::test]
async fn answers_that_only_take_time_are_given_after_the_end_of_input() {
    let mut client = Client::ready(ServeOptions::default()).await;
    client
        .send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "slow", "arguments": {"milliseconds": 30},
            }}),
        )
        .await;
    client
        .send(
            &json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "slow", "arguments": {"hang": true},
            }}),
        )
        .await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.write)
        .await
        .unwrap();
    let answer = client.message().await;
    assert_eq!(answer["id"], 1);
    assert_eq!(client.line().await, "", "a hanging call is not answered");
    assert_eq!(client.server.await.unwrap(), Ended::Clean);
}
