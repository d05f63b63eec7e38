//! Faults of HTTP, as a client sees them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::http::{ACCEPT, JSON, Reply, Site, call, initialize, records};
use super::quick;
use crate::faults::catalogue::Fault;
use crate::http::HttpOptions;
use crate::tap::{JournalTo, TapOptions};

/// A server with these rules, and the session that a client of it has.
async fn site(rules: &[&str]) -> (Site, String) {
    let taps = TapOptions {
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
        ..TapOptions::default()
    };
    let site = Site::noted(quick(), HttpOptions::default(), &taps).await;
    let id = site.session("2025-06-18").await;
    (site, id)
}

/// What comes back for a call to a server with this rule.
async fn called(rule: &str) -> Reply {
    let (site, id) = site(&[rule]).await;
    let reply = hello(&site, &id).await;
    site.end().await;
    reply
}

async fn hello(site: &Site, id: &str) -> Reply {
    let headers = [
        ("mcp-session-id", id),
        ("mcp-protocol-version", "2025-06-18"),
    ];
    site.post(&headers, &call("test_simple_text", &json!({})))
        .await
}

#[tokio::test]
async fn heads_and_bodies_are_bent() {
    let status = called("status").await;
    assert_eq!((status.status, status.body.as_str()), (503, ""));
    assert_eq!(called("status:418").await.status, 418);
    let page = called("html-200").await;
    assert_eq!(
        (page.status, page.header("content-type")),
        (200, Some("text/html"))
    );
    assert!(page.body.contains("<title>"));
    let typed = called("wrong-content-type").await;
    assert_eq!(typed.header("content-type"), Some("text/plain"));
    assert!(serde_json::from_str::<Value>(&typed.body).unwrap()["result"].is_object());
    let empty = called("empty-200").await;
    assert_eq!((empty.status, empty.body.as_str()), (200, ""));
    assert_eq!(empty.header("content-type"), Some("application/json"));
    let packed = called("gzip").await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let many = called("429:7").await;
    assert_eq!((many.status, many.header("retry-after")), (429, Some("7")));
    let other = called("session-changes").await;
    assert_eq!(other.header("mcp-session-id"), Some("another-session"));
    assert_eq!(called("version-header-reject").await.status, 400);
}

#[tokio::test]
async fn streams_are_bent() {
    let plain = called("tools/call:echo@9=status").await;
    assert!(plain.body.contains("\"result\""));
    let without = called("sse-no-final").await;
    assert_eq!(without.header("content-type"), Some("text/event-stream"));
    assert!(
        !without.body.contains("result") && without.body.contains("retry:"),
        "{without:?}"
    );
    let cut = called("sse-cut-mid-event").await;
    assert!(
        plain.body.starts_with(&cut.body) && cut.body.contains("data: {\"jsonrpc\""),
        "{cut:?}"
    );
    assert!(cut.body.len() < plain.body.len() - 10, "{cut:?}");
    let crlf = called("sse-crlf").await;
    assert_eq!(crlf.body, plain.body.replace('\n', "\r\n"));
    let lines = called("sse-multiline-data").await;
    let data = lines
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let message: Value = serde_json::from_str(&data.collect::<String>()).unwrap();
    assert_eq!(message, plain.answer());
}

#[tokio::test]
async fn what_does_not_end_says_what_it_says() {
    for (rule, says, least) in [
        ("sse-comment-only", ": still here", 1),
        ("sse-never-flush", "text/event-stream", 1),
        ("chunk-never-ends", "\"result\"", 1),
        ("drip:200", "\r\n\r\n", 1),
    ] {
        let (site, id) = site(&[rule]).await;
        let headers = [ACCEPT, JSON, ("mcp-session-id", id.as_str())];
        let body = call("test_simple_text", &json!({})).to_string();
        let mut stream = site.connect("POST", &headers, &body).await;
        let mut seen = Vec::new();
        let reads = async {
            while !String::from_utf8_lossy(&seen).contains(says) {
                let read = stream.read_buf(&mut seen).await.unwrap();
                assert!(read >= least, "{rule}");
            }
        };
        tokio::time::timeout(Duration::from_secs(10), reads)
            .await
            .expect(rule);
        let rest = stream.read_to_end(&mut seen);
        let ended = tokio::time::timeout(Duration::from_millis(100), rest).await;
        assert!(ended.is_err(), "{rule}");
        site.end().await;
    }
}

#[tokio::test]
async fn connections_break() {
    for rule in ["content-length-lie", "reset"] {
        let (site, id) = site(&[rule]).await;
        let headers = [ACCEPT, JSON, ("mcp-session-id", id.as_str())];
        let body = call("test_simple_text", &json!({})).to_string();
        let mut stream = site.connect("POST", &headers, &body).await;
        let mut seen = Vec::new();
        let read = stream.read_to_end(&mut seen).await;
        let text = String::from_utf8_lossy(&seen).into_owned();
        if rule == "reset" {
            let error = read.unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{text}");
        } else {
            let (head, body) = text.split_once("\r\n\r\n").unwrap();
            let promised = format!("content-length: {}", body.len() + 10);
            assert!(head.to_lowercase().contains(&promised), "{text}");
        }
        site.end().await;
    }
}

#[tokio::test]
async fn a_redirect_to_the_same_server_can_be_followed() {
    let (site, id) = site(&["redirect"]).await;
    let moved = hello(&site, &id).await;
    assert_eq!(
        (moved.status, moved.header("location")),
        (307, Some("/mcp?redirected"))
    );
    site.end().await;
    let away = called("redirect-cross-origin:308").await;
    assert_eq!(away.status, 308);
    assert!(
        away.header("location")
            .unwrap()
            .starts_with("http://elsewhere.invalid/")
    );
}

#[tokio::test]
async fn sessions_have_neither_stream_nor_end() {
    let (site, id) = site(&["get-405", "delete-405"]).await;
    for method in ["GET", "DELETE"] {
        let headers = [
            ("accept", "text/event-stream"),
            ("mcp-session-id", id.as_str()),
        ];
        assert_eq!(
            site.request(method, &headers, "").await.status,
            405,
            "{method}"
        );
    }
    assert_eq!(hello(&site, &id).await.status, 200);
    site.end().await;
}

#[tokio::test]
async fn a_session_expires_at_a_request() {
    let (site, id) = site(&["session-expires:3"]).await;
    assert_eq!(hello(&site, &id).await.status, 200);
    assert_eq!(hello(&site, &id).await.status, 404);
    assert_eq!(hello(&site, &id).await.status, 404);
    let again = site.post(&[], &initialize("2025-06-18")).await;
    assert_eq!(again.status, 200, "a new one is opened");
    site.end().await;
}

#[tokio::test]
async fn rules_count_aim_and_are_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.jsonl");
    let taps = TapOptions {
        rules: vec![
            "tools/call:echo@2=status:500".to_owned(),
            "body-on-202".to_owned(),
        ],
        journal: Some(JournalTo::File(file.clone())),
        ..TapOptions::default()
    };
    let site = Site::noted(quick(), HttpOptions::default(), &taps).await;
    let id = site.session("2025-06-18").await;
    let headers = [("mcp-session-id", id.as_str())];
    let mut seen = Vec::new();
    for tool in ["echo", "test_simple_text", "echo", "echo"] {
        seen.push(site.post(&headers, &call(tool, &json!({}))).await.status);
    }
    assert_eq!(seen, [200, 200, 500, 200]);
    site.end().await;
    let faults: Vec<(Value, Value)> = records(&file)
        .iter()
        .filter(|record| record["kind"] == "fault")
        .map(|record| (record["fault"].clone(), record["n"].clone()))
        .collect();
    assert_eq!(
        faults,
        [
            (json!("body-on-202"), json!(1)),
            (json!("status"), json!(2))
        ]
    );
}

#[tokio::test]
async fn every_fault_of_http_changes_an_exchange() {
    let on_http = |fault: &&Fault| fault.is_of_exchanges();
    for fault in Fault::ALL.iter().filter(on_http) {
        let id = fault.row().id;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("journal.jsonl");
        let taps = TapOptions {
            rules: vec![id.to_owned()],
            journal: Some(JournalTo::File(file.clone())),
            ..TapOptions::default()
        };
        let site = Site::noted(quick(), HttpOptions::default(), &taps).await;
        let session = site.post(&[], &initialize("2025-06-18")).await;
        let session = session
            .header("mcp-session-id")
            .unwrap_or("none")
            .to_owned();
        let headers = [("mcp-session-id", session.as_str())];
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        site.post(&headers, &ready).await;
        let mut open = Vec::new();
        for method in ["POST", "GET", "DELETE"] {
            let headers = [
                ACCEPT,
                JSON,
                headers[0],
                ("mcp-protocol-version", "2025-06-18"),
            ];
            let body = call("test_simple_text", &json!({})).to_string();
            // Some of the answers never end.
            open.push(site.connect(method, &headers, &body).await);
        }
        let fired = async {
            while !std::fs::read_to_string(&file)
                .unwrap()
                .contains("\"fault\":")
            {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), fired)
            .await
            .expect(id);
        site.end().await;
    }
}
