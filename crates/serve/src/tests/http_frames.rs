//! Faults of frames, batches and the journal's levels over both transports of HTTP.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};

use super::http::{ACCEPT, JSON, Site, call, initialize, records};
use super::quick;
use crate::http::{HttpOptions, Style};
use crate::tap::{JournalLevel, JournalTo, TapOptions};

async fn site(rules: &[&str], http: HttpOptions) -> (Site, String) {
    let taps = TapOptions {
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        ..TapOptions::default()
    };
    let site = Site::noted(quick(), http, &taps).await;
    let id = site.session("2025-06-18").await;
    (site, id)
}

fn hello() -> Value {
    call("test_simple_text", &json!({}))
}

#[tokio::test]
async fn frames_are_bent_in_streams_and_in_bodies() {
    for json_response in [false, true] {
        let http = || HttpOptions {
            json_response,
            ..HttpOptions::default()
        };
        let (site, id) = site(
            &[
                "tools/call@1=duplicate-reply",
                "tools/call@2=missing-jsonrpc",
            ],
            http(),
        )
        .await;
        let session = [("mcp-session-id", id.as_str())];
        let twice = site.post(&session, &hello()).await.messages();
        assert_eq!(twice.len(), 2, "{twice:?}");
        assert_eq!(twice[0], twice[1]);
        let bent = site.post(&session, &hello()).await;
        assert!(bent.answer()["result"].is_object() && bent.answer().get("jsonrpc").is_none());
        let kind = if json_response {
            "application/json"
        } else {
            "text/event-stream"
        };
        assert_eq!(bent.header("content-type"), Some(kind), "{bent:?}");
        let plain = site.post(&session, &hello()).await.messages();
        assert_eq!(plain.len(), 1);
        site.end().await;
    }
}

#[tokio::test]
async fn an_answer_that_is_dropped_leaves_its_stream_open() {
    let (site, id) = site(&["drop"], HttpOptions::default()).await;
    let headers = [ACCEPT, JSON, ("mcp-session-id", id.as_str())];
    let mut stream = site.connect("POST", &headers, &hello().to_string()).await;
    let mut seen = Vec::new();
    let read = stream.read_to_end(&mut seen);
    assert!(
        tokio::time::timeout(Duration::from_millis(200), read)
            .await
            .is_err()
    );
    assert!(!String::from_utf8_lossy(&seen).contains("result"));
    site.end().await;
}

#[tokio::test]
async fn what_nobody_asked_for_comes_before_the_next_answer_and_its_reply_goes_nowhere() {
    let (site, id) = site(&["unsolicited-roots"], HttpOptions::default()).await;
    let session = [("mcp-session-id", id.as_str())];
    let told = site.post(&session, &hello()).await.messages();
    assert_eq!(told[0]["method"], "roots/list", "{told:?}");
    let reply = json!({"jsonrpc": "2.0", "id": told[0]["id"], "result": {"roots": []}});
    assert_eq!(site.post(&session, &reply).await.status, 202);
    site.end().await;
}

#[tokio::test]
async fn answers_of_concurrent_calls_are_reversed() {
    let (site, id) = site(&["out-of-order"], HttpOptions::default()).await;
    let headers = [ACCEPT, JSON, ("mcp-session-id", id.as_str())];
    let mut first = hello();
    first["id"] = json!(8);
    let mut first = site.connect("POST", &headers, &first.to_string()).await;
    let second = site
        .post(&[("mcp-session-id", id.as_str())], &hello())
        .await;
    assert!(second.answer()["result"].is_object());
    let mut seen = String::new();
    first.read_to_string(&mut seen).await.unwrap();
    assert!(seen.contains("\"id\":8"), "{seen}");
    site.end().await;
}

#[tokio::test]
async fn a_batch_is_answered_as_one_array_at_its_revision() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    for (revision, status) in [("2025-03-26", 200), ("2025-06-18", 400)] {
        let id = site.session(revision).await;
        let mut other = hello();
        other["id"] = json!("other");
        let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
        let batch = json!([hello(), note, other]);
        let reply = site.post(&[("mcp-session-id", &id)], &batch).await;
        assert_eq!(reply.status, status, "{reply:?}");
        if status == 200 {
            let answer = reply.answer();
            let ids: Vec<&Value> = answer
                .as_array()
                .unwrap()
                .iter()
                .map(|one| &one["id"])
                .collect();
            assert_eq!(ids, [&hello()["id"], &json!("other")]);
            let told = site.post(&[("mcp-session-id", &id)], &json!([note])).await;
            assert_eq!(told.status, 202);
        }
    }
    site.end().await;
}

/// What is written at a level about a call with secrets and a resource that is read, and the session.
async fn written(level: JournalLevel) -> (Vec<Value>, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.jsonl");
    let taps = TapOptions {
        journal: Some(JournalTo::File(file.clone())),
        journal_level: level,
        ..TapOptions::default()
    };
    let site = Site::noted(quick(), HttpOptions::default(), &taps).await;
    let id = site.session("2025-06-18").await;
    let session = [
        ("mcp-session-id", id.as_str()),
        ("authorization", "Bearer t0ps3cret-value"),
    ];
    let arguments =
        json!({"password": "hunter2", "max_tokens": 7, "message": "Bearer abcdefghijklm"});
    site.post(&session, &call("echo", &arguments)).await;
    let params = json!({"uri": "test://static-text"});
    let read = json!({"jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": params});
    site.post(&session, &read).await;
    site.end().await;
    let text = std::fs::read_to_string(&file).unwrap();
    for secret in ["hunter2", "abcdefghijklm", "t0ps3cret"] {
        assert!(!text.contains(secret), "{level:?}: {text}");
    }
    (records(&file), id)
}

#[tokio::test]
async fn levels_add_messages_and_frames_and_no_secrets() {
    for (level, wanted) in [
        (JournalLevel::Calls, [1, 1, 0, 0, 0]),
        (JournalLevel::Rpc, [1, 1, 4, 1, 0]),
        (JournalLevel::Wire, [1, 1, 4, 1, 7]),
    ] {
        let (records, id) = written(level).await;
        let of = |kind: &str| records.iter().filter(|it| it["kind"] == kind).count();
        assert_eq!(
            ["call", "done", "rpc", "notify", "frame"].map(of),
            wanted,
            "{records:#?}"
        );
        let one = |name: &str, value: &Value| records.iter().find(|it| it[name] == *value).unwrap();
        assert_eq!(one("kind", &json!("call"))["args"]["max_tokens"], 7);
        assert_eq!(one("kind", &json!("header"))["level"], json!(level));
        let result = one("kind", &json!("done")).get("result");
        assert_eq!(result.is_some(), level.holds(JournalLevel::Rpc));
        if level.holds(JournalLevel::Rpc) {
            let read = one("method", &json!("resources/read"));
            assert_eq!(read["uri"], "test://static-text");
            assert_eq!(read["session"], json!(id));
            assert!(one("of", &read["seq"])["result"]["contents"].is_array());
        }
    }
}

#[tokio::test]
async fn one_stream_brings_what_is_posted_beside_it_over_http_and_sse() {
    let http = HttpOptions {
        style: Style::EventStream,
        ..HttpOptions::default()
    };
    let site = Site::open(quick(), http).await;
    let stranger = [
        ("accept", "text/event-stream"),
        ("origin", "http://example.com"),
    ];
    assert_eq!(site.request("GET", &stranger, "").await.status, 403);
    let stream = site
        .connect("GET", &[("accept", "text/event-stream")], "")
        .await;
    let mut lines = BufReader::new(stream).lines();
    let mut data = async || {
        loop {
            let line = lines.next_line().await.unwrap().unwrap();
            if let Some(data) = line.strip_prefix("data: ") {
                return data.to_owned();
            }
        }
    };
    let endpoint = data().await;
    let query = endpoint.strip_prefix("/mcp?sessionId=").unwrap().to_owned();
    let body = initialize("2024-11-05").to_string();
    let post = async |query: &str, body: &str| {
        let path = format!("/mcp?sessionId={query}");
        site.request_at("POST", &path, &[JSON], body).await.status
    };
    assert_eq!(post("nobody", &body).await, 404);
    assert_eq!(post(&query, "no json").await, 400);
    assert_eq!(post(&query, &body).await, 202);
    let answer: Value = serde_json::from_str(&data().await).unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2024-11-05");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(post(&query, &ready.to_string()).await, 202);
    assert_eq!(post(&query, &hello().to_string()).await, 202);
    let answer: Value = serde_json::from_str(&data().await).unwrap();
    assert!(answer["result"]["content"].is_array(), "{answer}");
    site.end().await;
}
