//! The server over HTTP, to a client that writes its requests by hand.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::quick;
use crate::faults::catalogue::Carrier;
use crate::http::{Auth, HttpOptions, Keys, Listening, check_origin, serve};
use crate::layer;
use crate::tap::{JournalTo, TapOptions};
use crate::{Ended, Offer, Profile, Selection, ServeOptions, Stop};

pub(super) const ACCEPT: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(super) const JSON: (&str, &str) = ("content-type", "application/json");

/// A server that listens.
pub(super) struct Site {
    pub(super) address: String,
    stop: mpsc::Sender<Stop>,
    server: JoinHandle<Ended>,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    head: String,
    pub(super) body: String,
}

impl Reply {
    fn read(bytes: &[u8]) -> Self {
        // A body may be compressed.
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text
            .split_once("\r\n\r\n")
            .unwrap_or_else(|| panic!("{text:?}"));
        let body = if head.to_lowercase().contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_owned()
        };
        Self {
            status: head[9..12].parse().unwrap(),
            head: head.to_owned(),
            body,
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The messages of a stream, or the one of a JSON body.
    pub(super) fn messages(&self) -> Vec<Value> {
        if self.header("content-type") == Some("application/json") {
            return vec![serde_json::from_str(&self.body).unwrap()];
        }
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        data.filter(|data| !data.trim().is_empty())
            .map(|data| serde_json::from_str(data).unwrap())
            .collect()
    }

    /// The last message.
    pub(super) fn answer(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("{self:?}"))
    }
}

fn unchunked(mut body: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        out.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    out
}

impl Site {
    pub(super) async fn open(options: ServeOptions, http: HttpOptions) -> Self {
        Self::noted(options, http, &TapOptions::default()).await
    }

    pub(super) async fn noted(options: ServeOptions, http: HttpOptions, taps: &TapOptions) -> Self {
        let books = layer::books(taps, &options, http.style.carrier()).unwrap();
        let listening = Listening::bind("127.0.0.1:0").await.unwrap();
        let address = listening.address().to_string();
        let (stop, asked) = mpsc::channel(1);
        Self {
            address,
            stop,
            server: tokio::spawn(serve(options, http, books, listening, asked)),
        }
    }

    pub(super) async fn connect(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        self.connect_at((method, "/mcp"), headers, body).await
    }

    async fn connect_at(
        &self,
        (method, path): (&str, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> TcpStream {
        let mut head = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "host") {
            write!(head, "host: {}\r\n", self.address).unwrap();
        }
        for (name, value) in headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        let size = body.len();
        write!(head, "content-length: {size}\r\n\r\n{body}").unwrap();
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    pub(super) async fn request(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        self.request_at(method, "/mcp", headers, body).await
    }

    pub(super) async fn request_at(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut stream = self.connect_at((method, path), headers, body).await;
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        tokio::time::timeout(Duration::from_secs(10), read)
            .await
            .expect("the server should have answered")
            .unwrap();
        Reply::read(&bytes)
    }

    pub(super) async fn post(&self, headers: &[(&str, &str)], message: &Value) -> Reply {
        let mut all = vec![ACCEPT, JSON];
        all.extend(headers);
        self.request("POST", &all, &message.to_string()).await
    }

    /// The id of a new session, after its handshake.
    pub(super) async fn session(&self, revision: &str) -> String {
        let opened = self.post(&[], &initialize(revision)).await;
        assert_eq!(opened.status, 200, "{opened:?}");
        assert_eq!(opened.answer()["result"]["protocolVersion"], revision);
        let id = opened.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(
            self.post(&[("mcp-session-id", &id)], &ready).await.status,
            202
        );
        id
    }

    pub(super) async fn end(self) -> Ended {
        self.stop.send(Stop::Terminated).await.unwrap();
        self.server.await.unwrap()
    }
}

pub(super) fn initialize(revision: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision,
        "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

pub(super) fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
    }})
}

/// A request of the revision without sessions.
pub(super) fn modern(method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
}

const MODERN: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

#[tokio::test]
async fn a_session_lists_calls_and_ends() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-11-25").await;
    let of_session = [("mcp-session-id", id.as_str())];
    let list = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list"});
    let listed = site.post(&of_session, &list).await.answer();
    assert_eq!(listed["id"], "a");
    assert_eq!(listed["result"]["tools"][0]["name"], "test_simple_text");
    let big = "123456789012345678901234567890123456789012";
    let arguments: Value =
        serde_json::from_str(&format!("{{\"message\": \"hi\", \"n\": {big}}}")).unwrap();
    let called = site.post(&of_session, &call("echo", &arguments)).await;
    assert_eq!(called.header("content-type"), Some("text/event-stream"));
    let result = &called.answer()["result"];
    assert_eq!(result["structuredContent"]["message"], "hi", "{called:?}");
    assert!(called.body.contains(big), "{called:?}");
    let unknown = site
        .post(&of_session, &call("nobody", &json!({})))
        .await
        .answer();
    assert_eq!(unknown["error"]["code"], -32602);
    assert_eq!(site.request("DELETE", &of_session, "").await.status, 202);
    assert_eq!(site.post(&of_session, &list).await.status, 404);
    assert_eq!(site.request("DELETE", &of_session, "").await.status, 404);
    assert_eq!(site.end().await, Ended::Clean);
}

#[tokio::test]
async fn every_revision_with_a_handshake_is_spoken() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        site.session(revision).await;
    }
    site.end().await;
}

#[tokio::test]
async fn a_reply_is_any_json_over_http_too() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    let odd = json!({"content": [{"type": "hologram", "n": 1}], "_meta": {"a": [1.5]}});
    let replied = site
        .post(&[("mcp-session-id", &id)], &call("reply", &odd))
        .await;
    assert_eq!(
        replied.answer()["result"]["content"],
        odd["content"],
        "{replied:?}"
    );
    site.end().await;
}

#[tokio::test]
async fn sessions_count_apart_and_have_ids_of_the_seed() {
    let mut ids = Vec::new();
    for _ in 0..2 {
        let site = Site::open(quick(), HttpOptions::default()).await;
        let (a, b) = (
            site.session("2025-06-18").await,
            site.session("2025-06-18").await,
        );
        for (id, session, process) in [(&a, 1, 1), (&b, 1, 2), (&a, 2, 3)] {
            let counted = site
                .post(&[("mcp-session-id", id)], &call("counter", &json!({})))
                .await;
            let counted = &counted.answer()["result"]["structuredContent"];
            assert_eq!(*counted, json!({"process": process, "session": session}));
        }
        ids.push((a, b));
        site.end().await;
    }
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0].0, ids[0].1);
}

#[tokio::test]
async fn a_session_has_to_be_named_and_known() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    assert_eq!(site.post(&[], &list).await.status, 400);
    assert_eq!(
        site.post(&[("mcp-session-id", "nobody")], &list)
            .await
            .status,
        404
    );
    let accept = ("accept", "text/event-stream");
    let unknown = [accept, ("mcp-session-id", "nobody")];
    assert_eq!(site.request("GET", &unknown, "").await.status, 404);
    assert_eq!(site.request("DELETE", &unknown, "").await.status, 404);
    assert_eq!(site.request("PUT", &[], "").await.status, 405);
    site.end().await;
}

#[tokio::test]
async fn only_hosts_and_origins_of_this_machine_are_answered_unless_others_are_allowed() {
    let http = HttpOptions {
        allow_hosts: vec!["bench.example".to_owned()],
        allow_origins: vec!["https://app.example:*".to_owned()],
        ..HttpOptions::default()
    };
    for (http, allowed) in [(HttpOptions::default(), 403), (http, 200)] {
        let site = Site::open(quick(), http).await;
        let case = async |header: (&str, &str)| {
            site.post(&[header], &initialize("2025-06-18")).await.status
        };
        for host in ["localhost", "localhost:1", "127.0.0.1:80", "[::1]:5"] {
            assert_eq!(case(("host", host)).await, 200, "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "10.0.0.1:80"] {
            assert_eq!(case(("host", host)).await, 403, "{host}");
        }
        for origin in [
            "http://localhost",
            "https://127.0.0.1:8443",
            "http://[::1]:3",
        ] {
            assert_eq!(case(("origin", origin)).await, 200, "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "http://localhost.evil.example",
            "x",
        ] {
            assert_eq!(case(("origin", origin)).await, 403, "{origin}");
        }
        assert_eq!(case(("host", "bench.example:9")).await, allowed);
        assert_eq!(case(("origin", "https://app.example:9")).await, allowed);
        site.end().await;
    }
}

#[test]
fn an_origin_is_a_scheme_and_a_host() {
    for right in [
        "null",
        "https://a.example",
        "http://a:1",
        "http://a:*",
        "http://[::1]:*",
    ] {
        assert_eq!(check_origin(right), Ok(()), "{right}");
    }
    for wrong in [
        "",
        "a.example",
        "http://",
        "http://a/",
        "http://a/b",
        "*",
        "http://a:b",
    ] {
        assert!(check_origin(wrong).is_err(), "{wrong}");
    }
}

#[tokio::test]
async fn requests_without_a_session_speak_the_newest_revision_on_the_same_path() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let discover = modern("server/discover", json!({}));
    let headers = [MODERN, ("mcp-method", "server/discover")];
    let found = site.post(&headers, &discover).await;
    assert_eq!(found.status, 200, "{found:?}");
    assert!(found.header("mcp-session-id").is_none());
    let asked = modern(
        "tools/call",
        json!({"name": "echo", "arguments": {"message": "hi"}}),
    );
    let headers = [MODERN, ("mcp-method", "tools/call"), ("mcp-name", "echo")];
    let called = site.post(&headers, &asked).await;
    let result = &called.answer()["result"];
    assert_eq!(result["structuredContent"]["message"], "hi", "{called:?}");
    assert_eq!(result["resultType"], "complete");
    let server = &result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"];
    assert_eq!(server, "mcp-assert");
    let headers = [MODERN, ("mcp-method", "tools/call"), ("mcp-name", "other")];
    let mismatched = site.post(&headers, &asked).await;
    assert_eq!(
        (mismatched.status, &mismatched.answer()["error"]["code"]),
        (400, &json!(-32020))
    );
    let unnamed = site.post(&[MODERN], &asked).await;
    assert_eq!(unnamed.status, 400, "{unnamed:?}");
    site.end().await;
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_call() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    let mut asked = call("test_tool_with_progress", &json!({}));
    asked["params"]["_meta"] = json!({"progressToken": 5});
    let told = site
        .post(&[("mcp-session-id", &id)], &asked)
        .await
        .messages();
    let methods: Vec<&Value> = told.iter().map(|message| &message["method"]).collect();
    assert_eq!(methods.len(), 4, "{told:?}");
    assert!(
        methods[..3]
            .iter()
            .all(|method| **method == "notifications/progress")
    );
    assert_eq!(told[0]["params"]["progressToken"], 5);
    site.end().await;
}

#[tokio::test]
async fn what_belongs_to_no_request_comes_on_the_stream_of_the_session() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    let of_session = [("accept", "text/event-stream"), ("mcp-session-id", &id)];
    let mut stream = BufReader::new(site.connect("GET", &of_session, "").await).lines();
    let emit = json!({"method": "notifications/message", "params": {"level": "info", "data": "later"}, "after_reply": true});
    site.post(&[("mcp-session-id", &id)], &call("emit", &emit))
        .await;
    let wanted = async {
        while let Some(line) = stream.next_line().await.unwrap() {
            if line.contains("later") {
                return;
            }
        }
        panic!("the stream ended");
    };
    tokio::time::timeout(Duration::from_secs(10), wanted)
        .await
        .unwrap();
    assert_eq!(site.end().await, Ended::Clean);
}

#[tokio::test]
async fn the_client_is_asked_on_the_stream_of_the_call() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    let headers = [ACCEPT, JSON, ("mcp-session-id", &id)];
    let asked = call("list_roots", &json!({})).to_string();
    let mut stream = BufReader::new(site.connect("POST", &headers, &asked).await).lines();
    let mut next = async || loop {
        let line = stream.next_line().await.unwrap().unwrap();
        if let Some(data) = line.strip_prefix("data:").filter(|data| data.contains('{')) {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    let question = next().await;
    assert_eq!(question["method"], "roots/list");
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///a"}]}});
    assert_eq!(
        site.post(&[("mcp-session-id", &id)], &answer).await.status,
        202
    );
    let result = next().await;
    assert_eq!(result["result"]["content"][0]["text"], "file:///a");
    site.end().await;
}

#[tokio::test]
async fn what_is_no_message_is_answered_as_json_rpc_has_it() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    for (body, code) in [
        ("{", -32700),
        ("[]", -32600),
        (
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"cursor\":5}}",
            -32602,
        ),
    ] {
        let refused = site.request("POST", &[ACCEPT, JSON], body).await;
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.answer()["error"]["code"], code, "{body}");
    }
    let text = site
        .request("POST", &[ACCEPT, ("content-type", "text/plain")], "{")
        .await;
    assert_eq!(text.status, 415);
    assert_eq!(site.request("POST", &[JSON], "{}").await.status, 400);
    site.end().await;
}

#[tokio::test]
async fn a_profile_of_tools_alone_has_nothing_else() {
    let options = ServeOptions {
        offer: Offer::new(
            Profile::Minimal,
            &Selection::default(),
            None,
            crate::FileTools::Absent,
        )
        .unwrap(),
        profile: Profile::Minimal,
        ..quick()
    };
    let site = Site::open(options, HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    for method in ["resources/list", "prompts/list", "logging/setLevel"] {
        let asked =
            json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"level": "info"}});
        let answer = site.post(&[("mcp-session-id", &id)], &asked).await.answer();
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    site.end().await;
}

pub(super) fn records(journal: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(journal).unwrap();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[tokio::test]
async fn the_journal_names_the_session_of_each_call() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.jsonl");
    let taps = TapOptions {
        journal: Some(JournalTo::File(file.clone())),
        ..TapOptions::default()
    };
    let site = Site::noted(quick(), HttpOptions::default(), &taps).await;
    let id = site.session("2025-06-18").await;
    site.post(
        &[("mcp-session-id", &id)],
        &call("echo", &json!({"message": "hi"})),
    )
    .await;
    let asked = modern("tools/call", json!({"name": "nobody"}));
    site.post(
        &[MODERN, ("mcp-method", "tools/call"), ("mcp-name", "nobody")],
        &asked,
    )
    .await;
    let hangs = call("slow", &json!({"hang": true})).to_string();
    let open = site
        .connect("POST", &[ACCEPT, JSON, ("mcp-session-id", &id)], &hangs)
        .await;
    while !std::fs::read_to_string(&file).unwrap().contains("slow") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    site.end().await;
    drop(open);
    let records = records(&file);
    let kinds: Vec<&str> = records
        .iter()
        .map(|record| record["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "header", "call", "done", "call", "done", "call", "done", "end"
        ],
        "{records:?}"
    );
    assert_eq!(records[0]["transports"], json!(["http"]));
    let first = &records[1];
    assert_eq!(
        (&first["tool"], &first["session"]),
        (&json!("echo"), &json!(id))
    );
    assert_eq!(
        (&first["era"], &first["protocol"]),
        (&json!("legacy"), &json!("2025-06-18"))
    );
    assert_eq!(first["args"], json!({"message": "hi"}));
    assert_eq!(first["client"]["name"], "test");
    assert_eq!(records[2]["ok"], true);
    let second = &records[3];
    assert_eq!(
        (&second["era"], second.get("session")),
        (&json!("modern"), None)
    );
    assert_eq!(records[4]["error"]["code"], -32602);
    assert_eq!(records[6]["error"]["layer"], "unfinished");
}

#[tokio::test]
async fn a_server_ends_by_itself_after_so_many_requests_or_without_any() {
    let few = ServeOptions {
        max_requests: Some(2),
        ..quick()
    };
    let site = Site::open(few, HttpOptions::default()).await;
    let id = site.session("2025-06-18").await;
    site.post(&[("mcp-session-id", &id)], &call("echo", &json!({})))
        .await;
    let Site { server, .. } = site;
    assert_eq!(server.await.unwrap(), Ended::Clean);
    let idle = ServeOptions {
        idle_exit: Some(Duration::from_millis(50)),
        ..quick()
    };
    let site = Site::open(idle, HttpOptions::default()).await;
    let Site { server, stop, .. } = site;
    assert_eq!(server.await.unwrap(), Ended::Clean);
    drop(stop);
}

#[test]
fn faults_of_a_pipe_are_refused_by_name() {
    for rule in ["stdout-banner", "exit-mid-call", "split-writes"] {
        let taps = TapOptions {
            rules: vec![rule.to_owned()],
            ..TapOptions::default()
        };
        let problems = layer::books(&taps, &ServeOptions::default(), Carrier::Http);
        let problems = problems.err().unwrap();
        assert!(
            problems[0].contains(rule) && problems[0].contains("HTTP"),
            "{problems:?}"
        );
    }
}

#[tokio::test]
async fn without_sessions_each_request_stands_for_itself() {
    let http = HttpOptions {
        stateless: true,
        ..HttpOptions::default()
    };
    let site = Site::open(quick(), http).await;
    let opened = site.post(&[], &initialize("2025-06-18")).await;
    assert_eq!(opened.answer()["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(opened.header("mcp-session-id"), None);
    let headers = [
        ("mcp-protocol-version", "2025-06-18"),
        ("mcp-session-id", "any"),
    ];
    let called = site
        .post(&headers, &call("echo", &json!({"message": "hi"})))
        .await;
    assert_eq!(
        called.answer()["result"]["structuredContent"]["message"],
        "hi",
        "{called:?}"
    );
    for method in ["GET", "DELETE"] {
        let refused = site
            .request(method, &[("accept", "text/event-stream")], "")
            .await;
        assert_eq!(refused.status, 405, "{method}");
    }
    let late = json!({"method": "x/y", "after_reply": true});
    let refused = site.post(&headers, &call("emit", &late)).await.answer();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    site.end().await;
}

#[tokio::test]
async fn answers_are_json_unless_something_comes_before() {
    for stateless in [false, true] {
        let http = HttpOptions {
            stateless,
            json_response: true,
            ..HttpOptions::default()
        };
        let site = Site::open(quick(), http).await;
        let opened = site.post(&[], &initialize("2025-06-18")).await;
        let json = Some("application/json");
        assert_eq!(opened.header("content-type"), json, "{opened:?}");
        let id = opened.header("mcp-session-id").unwrap_or("none").to_owned();
        let headers = [("mcp-session-id", id.as_str())];
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(site.post(&headers, &ready).await.status, 202);
        let called = site
            .post(&headers, &call("echo", &json!({"message": "hi"})))
            .await;
        assert_eq!(called.header("content-type"), json);
        let length = called.body.len().to_string();
        assert_eq!(called.header("content-length"), Some(length.as_str()));
        assert_eq!(
            called.answer()["result"]["structuredContent"]["message"],
            "hi",
            "{called:?}"
        );
        let mut asked = call("test_tool_with_progress", &json!({}));
        asked["params"]["_meta"] = json!({"progressToken": 5});
        let told = site.post(&headers, &asked).await;
        assert_eq!(told.header("content-type"), Some("text/event-stream"));
        assert_eq!(told.messages().len(), 4, "{told:?}");
        let asked = modern("tools/call", json!({"name": "echo", "arguments": {}}));
        let headers = [MODERN, ("mcp-method", "tools/call"), ("mcp-name", "echo")];
        assert_eq!(
            site.post(&headers, &asked).await.header("content-type"),
            json
        );
        site.end().await;
    }
}

#[tokio::test]
async fn a_stream_is_taken_up_again_where_that_is_offered() {
    for no_resume in [false, true] {
        let http = HttpOptions {
            no_resume,
            ..HttpOptions::default()
        };
        let site = Site::open(quick(), http).await;
        let id = site.session("2025-11-25").await;
        let of_session = [("mcp-session-id", id.as_str())];
        let mut asked = call("test_tool_with_progress", &json!({}));
        asked["params"]["_meta"] = json!({"progressToken": 5});
        let told = site.post(&of_session, &asked).await;
        let ids: Vec<&str> = told
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("id:"))
            .map(str::trim)
            .collect();
        if no_resume {
            assert!(ids.is_empty() && !told.body.contains("retry:"), "{told:?}");
        } else {
            assert_eq!(ids.len(), 5, "{told:?}");
            assert!(told.body.contains("retry:"), "{told:?}");
        }
        site.end().await;
    }
}

#[tokio::test]
async fn a_call_goes_on_after_its_stream_broke_and_is_read_on_another() {
    let site = Site::open(ServeOptions::default(), HttpOptions::default()).await;
    let id = site.session("2025-11-25").await;
    let headers = [ACCEPT, JSON, ("mcp-session-id", id.as_str())];
    let asked = call("slow", &json!({"milliseconds": 200})).to_string();
    let mut broken = BufReader::new(site.connect("POST", &headers, &asked).await).lines();
    let event = loop {
        let line = broken.next_line().await.unwrap().unwrap();
        if let Some(event) = line.strip_prefix("id:") {
            break event.trim().to_owned();
        }
    };
    drop(broken);
    let again = [
        ("accept", "text/event-stream"),
        ("mcp-session-id", id.as_str()),
        ("last-event-id", event.as_str()),
    ];
    let mut stream = BufReader::new(site.connect("GET", &again, "").await).lines();
    let wanted = async {
        while let Some(line) = stream.next_line().await.unwrap() {
            if line.contains("slept_ms") {
                return;
            }
        }
        panic!("the stream ended");
    };
    tokio::time::timeout(Duration::from_secs(10), wanted)
        .await
        .unwrap();
    site.end().await;
}

#[tokio::test]
async fn a_session_that_nobody_uses_ends() {
    let http = HttpOptions {
        session_ttl: Some(Duration::from_millis(50)),
        ..HttpOptions::default()
    };
    let site = Site::open(quick(), http).await;
    let id = site.session("2025-06-18").await;
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    tokio::time::sleep(Duration::from_millis(500)).await;
    assert_eq!(
        site.post(&[("mcp-session-id", &id)], &list).await.status,
        404
    );
    site.end().await;
}

pub(super) fn keys() -> Keys {
    let mut keys = Keys::default();
    keys.add("alice=first-key").unwrap();
    keys.add("bob=second=key").unwrap();
    keys
}

#[tokio::test]
async fn without_a_key_nothing_is_answered_whatever_the_method() {
    let auths = [Auth::Key(keys()), Auth::Bearer(keys())];
    for (auth, api_key) in auths.into_iter().zip([200, 401]) {
        let http = HttpOptions {
            auth: auth.clone(),
            ..HttpOptions::default()
        };
        let site = Site::open(quick(), http).await;
        for method in ["GET", "POST", "DELETE", "PUT", "OPTIONS"] {
            let refused = site.request(method, &[ACCEPT, JSON], "{}").await;
            assert_eq!(refused.status, 401, "{auth:?} {method}");
            let challenge = refused.header("www-authenticate").unwrap();
            assert!(challenge.contains("realm=\"mcp-assert\""), "{challenge}");
            assert!(!challenge.contains("error"), "{challenge}");
        }
        let case =
            async |header: (&str, &str)| site.post(&[header], &initialize("2025-06-18")).await;
        for token in ["Bearer first-key", "bearer second=key"] {
            assert_eq!(
                case(("authorization", token)).await.status,
                200,
                "{auth:?} {token}"
            );
        }
        assert_eq!(
            case(("x-api-key", "first-key")).await.status,
            api_key,
            "{auth:?}"
        );
        for token in [
            "Bearer first-ke",
            "Bearer first-key2",
            "Bearer ",
            "Basic first-key",
            "first-key",
            "",
        ] {
            assert_eq!(
                case(("authorization", token)).await.status,
                401,
                "{auth:?} {token}"
            );
        }
        let unknown = case(("authorization", "Bearer other")).await;
        let challenge = unknown.header("www-authenticate").unwrap();
        let tells = matches!(auth, Auth::Bearer(_));
        assert_eq!(
            challenge.contains("error=\"invalid_token\""),
            tells,
            "{challenge}"
        );
        site.end().await;
    }
}

#[tokio::test]
async fn the_journal_names_the_owner_of_the_key_and_never_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal.jsonl");
    let taps = TapOptions {
        journal: Some(JournalTo::File(file.clone())),
        ..TapOptions::default()
    };
    let http = HttpOptions {
        auth: Auth::Key(keys()),
        stateless: true,
        ..HttpOptions::default()
    };
    let site = Site::noted(quick(), http, &taps).await;
    site.post(&[("x-api-key", "second=key")], &call("echo", &json!({})))
        .await;
    site.end().await;
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"identity\":\"bob\""), "{text}");
    assert!(!text.contains("second=key"), "{text}");
}

#[test]
fn a_key_has_a_name_and_can_be_a_header() {
    for wrong in ["", "key", "=key", "a=", "a=b c", "a=\u{e9}"] {
        let problem = Keys::default().add(wrong).unwrap_err();
        assert!(!problem.contains("b c"), "{problem}");
    }
    assert_eq!(format!("{:?}", keys()), "[\"alice\", \"bob\"]");
}

#[tokio::test]
async fn a_closed_stream_is_taken_up_again_for_the_answer() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let id = site.session("2025-11-25").await;
    let of_session = [("mcp-session-id", id.as_str())];
    let closed = site
        .post(&of_session, &call("test_reconnection", &json!({})))
        .await;
    assert_eq!(closed.messages(), [Value::Null; 0], "{closed:?}");
    assert!(closed.body.contains("retry:"), "{closed:?}");
    let event = closed
        .body
        .lines()
        .find_map(|line| line.strip_prefix("id:"));
    let event = event.unwrap().trim();
    let headers = [ACCEPT, of_session[0], ("last-event-id", event)];
    let mut stream = BufReader::new(site.connect("GET", &headers, "").await);
    let mut read = String::new();
    while !read.contains("on another stream") {
        let line = stream.read_line(&mut read);
        let length = tokio::time::timeout(Duration::from_secs(10), line).await;
        assert_ne!(length.unwrap().unwrap(), 0, "{read}");
    }
    assert!(read.contains("\"id\":1"), "{read}");
    drop(stream);
    site.end().await;

    let http = HttpOptions {
        no_resume: true,
        ..HttpOptions::default()
    };
    let site = Site::open(quick(), http).await;
    let id = site.session("2025-11-25").await;
    let of_session = [("mcp-session-id", id.as_str())];
    let answered = site
        .post(&of_session, &call("test_reconnection", &json!({})))
        .await;
    assert!(answered.answer().get("result").is_some(), "{answered:?}");
}

#[tokio::test]
async fn an_argument_has_to_be_what_its_header_says() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let case = async |header: Option<&str>, arguments: Value| {
        let message = modern(
            "tools/call",
            json!({"name": "test_custom_header", "arguments": arguments}),
        );
        let mut headers = vec![
            MODERN,
            ("mcp-method", "tools/call"),
            ("mcp-name", "test_custom_header"),
        ];
        headers.extend(header.map(|value| ("mcp-param-value", value)));
        let reply = site.post(&headers, &message).await;
        (reply.status, reply.answer())
    };
    let (status, answer) = case(Some("=?base64?SGVsbG8=?="), json!({"value": "Hello"})).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(
        answer["result"]["structuredContent"],
        json!({"value": "Hello"})
    );
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(case(None, json!({})).await.0, 200);
    for (header, arguments) in [
        (None, json!({"value": "Hello"})),
        (Some("Goodbye"), json!({"value": "Hello"})),
        (Some("Hello"), json!({})),
    ] {
        let (status, answer) = case(header, arguments.clone()).await;
        assert_eq!(
            (status, &answer["error"]["code"]),
            (400, &json!(-32020)),
            "{arguments}: {answer}"
        );
    }
}

#[tokio::test]
async fn answers_of_a_round_keep_their_digits() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    let big = "123456789012345678901234567890123456789012";
    let headers = [
        MODERN,
        ("mcp-method", "tools/call"),
        ("mcp-name", "test_elicitation"),
    ];
    let mut message = modern(
        "tools/call",
        json!({
            "name": "test_elicitation",
            "arguments": {"message": "who"},
            "inputResponses": {"elicitation": {"action": "accept", "content": {
                "n": serde_json::from_str::<Value>(big).unwrap(), "age": 30,
            }}},
        }),
    );
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {}});
    let reply = site.post(&headers, &message).await;
    assert!(
        reply.body.contains(&format!("\"n\":{big},\"age\":30")),
        "{reply:?}"
    );
}

#[tokio::test]
async fn what_a_revision_dropped_is_not_found_whatever_its_params() {
    let site = Site::open(quick(), HttpOptions::default()).await;
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "tasks/list",
    ] {
        let headers = [MODERN, ("mcp-method", method)];
        let reply = site.post(&headers, &modern(method, json!({}))).await;
        assert_eq!(
            (reply.status, &reply.answer()["error"]["code"]),
            (404, &json!(-32601)),
            "{method}"
        );
    }
}
