//! Lines in every shape, batches, and what a tap sees and changes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, quick};
use crate::tap::{Emit, Forward, Frame, Kind, OnMessage, OnStop, PassThrough};
use crate::{Ended, Ending, ServeOptions, Stop, Tap};

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_simple_text"}}"#;

#[tokio::test]
async fn broken_lines_do_not_stop_the_server() {
    async fn case(line: &str, answer: Option<Value>) {
        let mut client = Client::ready(quick()).await;
        client.send_text(&format!("{line}\n")).await;
        if let Some(answer) = answer {
            assert_eq!(client.message().await, answer, "{line}");
        }
        let (before, _) = client.request("ping", json!({})).await;
        assert_eq!(before, [Value::Null; 0], "{line}");
    }
    let invalid = |id: Option<Value>| {
        let mut answer = json!({"jsonrpc": "2.0"});
        if let Some(id) = id {
            answer["id"] = id;
        }
        answer["error"] = json!({"code": -32600, "message": "Invalid request"});
        Some(answer)
    };
    case("no json", None).await;
    let broken = json!({"jsonrpc": "2.0",
        "error": {"code": -32700, "message": "Parse error: the line is not JSON"}});
    case(r#"{"jsonrpc":"2.0","id":1"#, Some(broken)).await;
    case("", None).await;
    case("  \r", None).await;
    case(
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":{"a":1}}"#,
        None,
    )
    .await;
    case(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, None).await;
    case(r#"{"jsonrpc":"2.0","id":99,"result":{},"error":{}}"#, None).await;
    case("null", invalid(None)).await;
    case("[]", invalid(None)).await;
    case("3", invalid(None)).await;
    case(r#"{"jsonrpc":"2.0"}"#, invalid(None)).await;
    case(
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        invalid(None),
    )
    .await;
    case(
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        invalid(None),
    )
    .await;
    case(r#"{"id":"a","method":"ping"}"#, invalid(Some(json!("a")))).await;
    case(
        r#"{"jsonrpc":"1.0","id":5,"method":"ping"}"#,
        invalid(Some(json!(5))),
    )
    .await;
    case(
        r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#,
        invalid(None),
    )
    .await;
}

#[tokio::test]
async fn unknown_methods_are_not_found() {
    let mut client = Client::ready(quick()).await;
    for method in ["nope", "tools/nope", "tasks/list", ""] {
        let error = client.refused(method, json!({})).await;
        assert_eq!(error["code"], -32601, "{method}");
    }
}

#[tokio::test]
async fn ids_come_back_as_they_were() {
    let mut client = Client::ready(quick()).await;
    for id in [
        json!(1),
        json!("1"),
        json!(""),
        json!(-5),
        json!(9_007_199_254_740_993_u64),
    ] {
        let answer = client
            .ask(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn an_id_that_no_answer_could_bear_is_no_request() {
    let mut client = Client::ready(quick()).await;
    for id in ["9223372036854775808", "18446744073709551616", "1.5"] {
        client
            .send_text(&format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n"
            ))
            .await;
        let answer = client.message().await;
        assert_eq!(answer["id"].to_string(), id);
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
}

#[tokio::test]
async fn lines_may_come_in_pieces_and_without_an_end() {
    let mut client = Client::ready(quick()).await;
    for byte in CALL.chars() {
        client.send_text(&byte.to_string()).await;
        tokio::task::yield_now().await;
    }
    client.send_text("\r\n\u{feff}").await;
    assert_eq!(client.message().await["id"], 1);
    client.send_text(&CALL.replace(":1,", ":2,")).await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.write)
        .await
        .unwrap();
    assert_eq!(client.message().await["id"], 2);
    assert_eq!(client.server.await.unwrap(), Ended::Clean);
}

#[tokio::test]
async fn what_cannot_be_read_whole_is_refused_under_its_id() {
    async fn case(line: &str, wanted: Option<Value>) {
        let mut client = Client::ready(quick()).await;
        client.send_text(line).await;
        client.send_text("\n").await;
        if let Some(id) = wanted {
            let answer = client.message().await;
            assert_eq!(
                (&answer["id"], &answer["error"]["code"]),
                (&id, &json!(-32600))
            );
        }
        let (before, _) = client.request("ping", json!({})).await;
        assert_eq!(before, [Value::Null; 0]);
    }
    let long = "x".repeat(17 << 20);
    let call = |arguments: &str, id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"echo","arguments":{arguments}}},"id":{id}}}"#
        )
    };
    let deep = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        format!(r#"{{"message":{open}{close}}}"#)
    };
    case(&long, None).await;
    case(
        &call(&format!(r#"{{"message":"{long}"}}"#), "5"),
        Some(json!(5)),
    )
    .await;
    case(&call(&deep(130), "\"five\""), Some(json!("five"))).await;
    case(&call(&deep(100_000), "6"), Some(json!(6))).await;
    case(&call(r#"{"message":"\ud800"}"#, "7"), Some(json!(7))).await;
    case(&call(&deep(130), "[]"), Some(Value::Null)).await;
    let notification = call(&deep(130), "0").replace(r#","id":0"#, "");
    case(&notification, None).await;
}

#[tokio::test]
async fn a_batch_is_answered_as_one_array_at_its_revision() {
    let mut client = Client::start(ServeOptions::default());
    client.initialize("2025-03-26").await;
    let ping = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
    let slow = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "slow", "arguments": {"milliseconds": 10},
    }});
    let note = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let answers = client
        .ask(json!([ping(json!(1)), slow, note, ping(json!("b"))]))
        .await;
    let mut ids: Vec<String> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|a| a["id"].to_string())
        .collect();
    ids.sort();
    assert_eq!(ids, ["\"b\"", "1", "3"]);
    // Notifications alone get no answer, and a cancelled member goes without one.
    client.send(&json!([note])).await;
    let hang = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {
        "name": "slow", "arguments": {"hang": true},
    }});
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}});
    let answers = client.ask(json!([hang, ping(json!(5)), cancel])).await;
    assert_eq!(answers, json!([{"jsonrpc": "2.0", "id": 5, "result": {}}]));
}

/// What a tap saw, one line an event.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn add(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Tap for Seen {
    fn start(&mut self) -> Vec<Emit> {
        self.add("start".to_owned());
        Vec::new()
    }

    fn incoming(&mut self, frame: &Frame<'_>) -> OnMessage {
        self.add(format!("in {}", shown(frame)));
        OnMessage::untouched()
    }

    fn noise(&mut self, line: &[u8]) {
        self.add(format!("noise {}", String::from_utf8_lossy(line)));
    }

    fn outgoing(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        self.add(format!("out {}", shown(frame)));
        vec![Emit::Bytes(line)]
    }

    fn stop(&mut self, why: Stop) -> OnStop {
        self.add(format!("stop {why:?}"));
        OnStop::Go(Vec::new())
    }

    fn ended(&mut self) {
        self.add("ended".to_owned());
    }
}

fn shown(frame: &Frame<'_>) -> String {
    format!(
        "{:?} {} {} {}",
        frame.kind,
        frame.method.unwrap_or("-"),
        frame.id.map_or_else(|| "-".to_owned(), Value::to_string),
        frame.target.unwrap_or("-"),
    )
}

#[tokio::test]
async fn a_tap_sees_every_frame_with_its_method_and_target() {
    let seen = Seen::default();
    let mut client = Client::tapped(quick(), Box::new(seen.clone()));
    client.initialize("2025-06-18").await;
    client.call("echo", json!({"message": "a"})).await;
    client
        .request("resources/read", json!({"uri": "test://static-text"}))
        .await;
    client.send_text("noise\n").await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": "r", "method": "tools/call", "params": {"name": "list_roots"}}))
        .await;
    let question = client.message().await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}}))
        .await;
    client.message().await;
    client.close().await;
    assert_eq!(
        seen.lines(),
        [
            "start",
            "in Request initialize 0 -",
            "out Answer initialize 0 -",
            "in Notification notifications/initialized - -",
            "in Request tools/call 101 echo",
            "out Answer tools/call 101 echo",
            "in Request resources/read 102 test://static-text",
            "out Answer resources/read 102 test://static-text",
            "noise noise",
            "in Request tools/call \"r\" list_roots",
            "out Request roots/list 0 -",
            "in Answer roots/list 0 -",
            "out Answer tools/call \"r\" list_roots",
            "stop Eof",
            "ended",
        ]
    );
}

#[tokio::test]
async fn a_tap_that_only_looks_changes_no_byte() {
    async fn bytes(tap: Box<dyn Tap>) -> Vec<String> {
        let mut client = Client::tapped(quick(), tap);
        client.initialize("2025-06-18").await;
        let mut lines = Vec::new();
        for (id, tool) in (1..).zip(["test_simple_text", "structured", "counter", "no such tool"]) {
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}});
            client.send(&call).await;
            lines.push(client.line().await);
        }
        lines
    }
    let plain = bytes(Box::new(PassThrough)).await;
    assert_eq!(bytes(Box::new(Seen::default())).await, plain);
    assert_eq!(plain.len(), 4);
}

/// Answers tool calls with a fixed list of emits.
struct Answers(Vec<Emit>);

impl Tap for Answers {
    fn incoming(&mut self, frame: &Frame<'_>) -> OnMessage {
        let forward = match (frame.kind, frame.method) {
            (Kind::Request, Some("ping")) => Forward::Nothing,
            (Kind::Request, Some("other/list")) => {
                let mut message = frame.message.clone();
                message["method"] = "prompts/list".into();
                Forward::Instead(message)
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => Forward::AsItCame,
        };
        OnMessage {
            forward,
            emit: Vec::new(),
        }
    }

    fn outgoing(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        if frame.kind == Kind::Answer && frame.method == Some("tools/call") {
            self.0.clone()
        } else {
            vec![Emit::Bytes(line)]
        }
    }
}

#[tokio::test]
async fn a_tap_replaces_delays_and_ends() {
    let text = |text: &str| Emit::Bytes(text.as_bytes().to_vec());
    let mut client = Client::tapped(
        quick(),
        Box::new(Answers(vec![
            text("first\n"),
            Emit::Delay(Duration::from_hours(1)),
            Emit::Bytewise(b"second\n".to_vec()),
            Emit::End(Ending::Exit(7)),
        ])),
    );
    client.initialize("2025-06-18").await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": 5, "method": "ping"}))
        .await;
    client
        .send(&json!({"jsonrpc": "2.0", "id": 6, "method": "other/list"}))
        .await;
    let listed = client.message().await;
    assert_eq!(listed["id"], 6, "the ping is swallowed");
    assert!(listed["result"]["prompts"].is_array());
    client.send_text(&format!("{CALL}\n")).await;
    assert_eq!(client.line().await, "first\n");
    assert_eq!(client.line().await, "second\n");
    assert_eq!(client.line().await, "", "stdout is closed");
    assert_eq!(client.server.await.unwrap(), Ended::Fault(Ending::Exit(7)));
}

#[tokio::test]
async fn a_closed_stdout_leaves_the_server_alive() {
    let mut client = Client::tapped(quick(), Box::new(Answers(vec![Emit::CloseStdout])));
    client.initialize("2025-06-18").await;
    client.send_text(&format!("{CALL}\n")).await;
    client.send_text(&format!("{CALL}\n")).await;
    assert!(!client.server.is_finished());
    assert_eq!(client.close().await, Ended::Clean);
}

/// Does not obey the first reason to end.
struct Stubborn(u32);

impl Tap for Stubborn {
    fn stop(&mut self, _why: Stop) -> OnStop {
        self.0 += 1;
        let line = Emit::Bytes(format!("{}\n", self.0).into_bytes());
        if self.0 < 3 {
            OnStop::Stay(vec![line])
        } else {
            OnStop::Go(vec![line])
        }
    }
}

#[tokio::test]
async fn a_stubborn_server_is_asked_again() {
    let mut client = Client::tapped(quick(), Box::new(Stubborn(0)));
    client.initialize("2025-06-18").await;
    tokio::io::AsyncWriteExt::shutdown(&mut client.write)
        .await
        .unwrap();
    assert_eq!(client.line().await, "1\n");
    client.stop.send(Stop::Terminated).await.unwrap();
    assert_eq!(client.line().await, "2\n");
    client.stop.send(Stop::Interrupted).await.unwrap();
    assert_eq!(client.line().await, "3\n");
    assert_eq!(client.server.await.unwrap(), Ended::Clean);
}
