//! What the journal of a small conversation looks like.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::Journal;
use crate::faults::catalogue::Fault;
use crate::faults::event::{Firing, Sent};
use crate::tap::{Frame, JournalLevel, Kind};
use crate::{Clock, ClockMode};
use text::credential::SecretKeys;

/// A file that the test can look into at any time.
#[derive(Clone, Default)]
struct Paper(Arc<Mutex<Vec<u8>>>);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Paper {
    fn records(&self) -> Vec<Value> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        assert!(text.is_empty() || text.ends_with('\n'));
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn last(&self) -> Value {
        self.records().pop().unwrap()
    }
}

struct Rig {
    journal: Journal,
    paper: Paper,
    clock: Clock,
}

impl Rig {
    fn new() -> Self {
        let paper = Paper::default();
        let clock = Clock::new(ClockMode::Virtual, 1.0);
        let header = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "seed": 7,
            "profile": "conformance",
            "pid": null,
            "transports": ["stdio"],
            "level": JournalLevel::Calls,
            "rules": ["drop@2"],
        });
        let keys = Some(SecretKeys::default());
        let out = Box::new(paper.clone());
        let journal = Journal::start(
            out,
            clock.clone(),
            keys,
            ("stdio", JournalLevel::Calls),
            header,
        )
        .unwrap();
        Self {
            journal,
            paper,
            clock,
        }
    }

    fn hear(&mut self, message: &Value) {
        let kind = match message.get("id") {
            Some(_) => Kind::Request,
            None => Kind::Notification,
        };
        self.journal.incoming(&frame(message, kind)).unwrap();
    }

    fn call(&mut self, id: u64, tool: &str, arguments: &Value) {
        self.hear(&json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": tool, "arguments": arguments, "_meta": {"progressToken": id}},
        }));
    }

    fn answer(&mut self, id: u64, members: &Value) {
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        for (name, value) in members.as_object().unwrap() {
            answer[name] = value.clone();
        }
        self.leaves(id, &answer);
        self.journal.out(id).unwrap();
    }

    /// An answer is on its way, under the number of its request.
    fn leaves(&mut self, id: u64, answer: &Value) {
        self.journal.leaves(Sent {
            ticket: id,
            id: json!(id),
            message: answer.clone(),
            bytes: answer.to_string().len() as u64 + 1,
        });
    }

    fn notify(&mut self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.journal
            .outgoing(&frame(&message, Kind::Notification))
            .unwrap();
    }
}

fn frame(message: &Value, kind: Kind) -> Frame<'_> {
    Frame {
        message,
        kind,
        method: message["method"].as_str(),
        id: message.get("id"),
        target: None,
        cut: None,
        sender: None,
    }
}

#[tokio::test]
async fn a_conversation_from_header_to_end() {
    let mut rig = Rig::new();
    let client = json!({"name": "test", "version": "1"});
    rig.hear(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"clientInfo": client, "capabilities": {"roots": {}}}}));
    rig.answer(0, &json!({"result": {"protocolVersion": "2025-06-18"}}));
    rig.call(
        1,
        "echo",
        &json!({"message": "hi", "max_tokens": 3, "password": "hunter2"}),
    );
    rig.clock.sleep(Duration::from_millis(20)).await;
    rig.answer(
        1,
        &json!({"result": {"content": [{"type": "text", "text": "hi"}]}}),
    );
    rig.journal.end().unwrap();
    let wanted = json!([
        {"seq": 1, "ts": "1970-01-01T00:00:00.000Z", "dt_us": 0, "kind": "header",
         "version": env!("CARGO_PKG_VERSION"), "seed": 7, "profile": "conformance",
         "transports": ["stdio"], "level": "calls", "rules": ["drop@2"]},
        {"seq": 2, "ts": "1970-01-01T00:00:00.000Z", "dt_us": 0, "kind": "call", "tool": "echo",
         "args": {"message": "hi", "max_tokens": 3, "password": "[redacted]"},
         "method": "tools/call", "rpc_id": 1, "progress_token": 1, "transport": "stdio",
         "protocol": "2025-06-18", "era": "legacy",
         "client": {"name": "test", "version": "1", "capabilities": {"roots": {}}},
         "redacted": ["/args/password"]},
        {"seq": 3, "ts": "1970-01-01T00:00:00.020Z", "dt_us": 20000, "kind": "done", "of": 2,
         "ok": true, "is_error": false, "duration_ms": 20, "blocks": 1, "bytes_in": 165,
         "bytes_out": 76, "notifications": []},
        {"seq": 4, "ts": "1970-01-01T00:00:00.020Z", "dt_us": 20000, "kind": "end",
         "counts": {"header": 1, "call": 1, "done": 1}},
    ]);
    assert_eq!(Value::Array(rig.paper.records()), wanted);
}

#[test]
fn a_call_is_on_paper_before_it_is_answered() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({}));
    assert_eq!(rig.paper.last()["tool"], "slow");
}

#[test]
fn only_calls_have_a_tool_at_the_top_and_their_arguments_are_objects() {
    let mut rig = Rig::new();
    rig.call(1, "echo", &json!([1]));
    rig.call(2, "echo", &Value::Null);
    rig.hear(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": 5}}));
    rig.journal
        .fault(&Firing {
            rule: "drop".to_owned(),
            fault: Fault::Drop,
            n: 1,
            id: Some(json!(2)),
        })
        .unwrap();
    rig.answer(1, &json!({"result": {}}));
    rig.journal.end().unwrap();
    let records = rig.paper.records();
    let calls: Vec<_> = records
        .iter()
        .filter(|one| one.get("tool").is_some())
        .collect();
    assert!(
        calls
            .iter()
            .all(|one| one["kind"] == "call" && one["tool"].is_string())
    );
    let arguments: Vec<_> = calls.iter().map(|one| one["args"].clone()).collect();
    assert_eq!(arguments, [json!({"_value": [1]}), json!({})]);
    let seqs: Vec<_> = records
        .iter()
        .map(|one| one["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn ends_say_what_went_wrong() {
    let case = |members: Value, wanted: Value| {
        let mut rig = Rig::new();
        rig.call(1, "error", &json!({"category": "auth"}));
        rig.answer(1, &members);
        let done = rig.paper.last();
        assert_eq!(done["error"], wanted, "{members}");
        assert_eq!(done["ok"], false, "{members}");
    };
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "token=b"}]);
    case(
        json!({"result": {"isError": true, "content": blocks}}),
        json!({"layer": "tool", "message": "a\ntoken=[redacted]", "category": "auth"}),
    );
    case(
        json!({"error": {"code": -32602, "message": "bad", "data": {"category": "input"}}}),
        json!({"layer": "rpc", "code": -32602, "message": "bad", "category": "input"}),
    );
}

#[tokio::test]
async fn calls_without_an_answer_are_closed_at_the_end() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({}));
    rig.call(2, "slow", &json!({}));
    rig.clock.sleep(Duration::from_millis(5)).await;
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 2}});
    rig.hear(&cancel);
    rig.journal.end().unwrap();
    let records = rig.paper.records();
    let [.., first, second, end] = &records[..] else {
        panic!("{records:?}");
    };
    assert_eq!(
        (&first["of"], &first["error"]["layer"]),
        (&json!(2), &json!("unfinished"))
    );
    assert_eq!(
        (&second["of"], &second["error"]["layer"]),
        (&json!(3), &json!("cancelled"))
    );
    assert_eq!(second["cancelled_at_ms"], 5);
    assert_eq!(end["counts"], json!({"header": 1, "call": 2, "done": 2}));
}

#[tokio::test]
async fn a_cancel_is_on_paper_before_anything_else_comes() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({"hang": true}));
    rig.clock.sleep(Duration::from_millis(5)).await;
    let cancel = json!({"method": "notifications/cancelled", "params": {"requestId": 1}});
    rig.hear(&cancel);
    rig.journal.cancelled(&json!(1)).unwrap();
    let done = rig.paper.last();
    assert_eq!(
        (&done["of"], &done["error"]["layer"]),
        (&json!(2), &json!("cancelled"))
    );
    assert_eq!(done["cancelled_at_ms"], 5);
    rig.hear(&cancel);
    rig.journal.cancelled(&json!(1)).unwrap();
    assert_eq!(rig.paper.records().len(), 3, "one cancel is one end");
    // An answer that was under way when the cancel came.
    rig.answer(1, &json!({"result": {"content": []}}));
    let done = rig.paper.last();
    assert_eq!((&done["of"], &done["ok"]), (&json!(2), &json!(true)));
    rig.journal.end().unwrap();
    let counts = json!({"header": 1, "call": 1, "done": 2});
    assert_eq!(rig.paper.last()["counts"], counts);
}

#[tokio::test]
async fn a_call_that_is_late_on_purpose_ends_with_its_answer() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({"hang": true, "late": true}));
    rig.hear(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    rig.journal.cancelled(&json!(1)).unwrap();
    assert_eq!(rig.paper.last()["kind"], "call");
    rig.answer(1, &json!({"result": {"content": []}}));
    let done = rig.paper.last();
    assert_eq!(
        (&done["ok"], &done["cancelled_at_ms"]),
        (&json!(true), &json!(0))
    );
}

#[tokio::test]
async fn an_answer_ends_its_call_when_it_is_out() {
    let mut rig = Rig::new();
    rig.call(1, "echo", &json!({}));
    rig.leaves(1, &json!({"id": 1, "result": {"content": []}}));
    assert_eq!(rig.paper.last()["kind"], "call");
    rig.notify("notifications/message", &json!({"data": "afterwards"}));
    rig.clock.sleep(Duration::from_millis(5)).await;
    rig.journal.out(1).unwrap();
    let done = rig.paper.last();
    assert_eq!(
        (&done["ok"], &done["duration_ms"], &done["notifications"]),
        (&json!(true), &json!(5), &json!([]))
    );
    rig.journal.out(1).unwrap();
    assert_eq!(rig.paper.records().len(), 3);
}

#[test]
fn an_answer_that_never_got_out_is_none() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({}));
    rig.call(2, "slow", &json!({}));
    rig.leaves(
        2,
        &json!({"id": 2, "error": {"code": -32603, "message": "cancelled"}}),
    );
    rig.journal.end().unwrap();
    let records = rig.paper.records();
    for (at, of) in [(3, 2), (4, 3)] {
        assert_eq!(records[at]["of"], of);
        assert_eq!(records[at]["error"]["layer"], "unfinished");
        assert!(records[at].get("bytes_out").is_none());
    }
}

#[tokio::test]
async fn a_cancel_overtakes_an_answer_that_is_held_up() {
    let mut rig = Rig::new();
    rig.call(1, "echo", &json!({}));
    rig.leaves(1, &json!({"id": 1, "result": {"content": []}}));
    rig.clock.sleep(Duration::from_millis(5)).await;
    rig.hear(&json!({"method": "notifications/cancelled", "params": {"requestId": 1}}));
    rig.journal.forgotten(1).unwrap();
    rig.journal.cancelled(&json!(1)).unwrap();
    let done = rig.paper.last();
    assert_eq!(
        (&done["error"]["layer"], &done["cancelled_at_ms"]),
        (&json!("cancelled"), &json!(5))
    );
    rig.journal.end().unwrap();
    let counts = json!({"header": 1, "call": 1, "done": 1});
    assert_eq!(rig.paper.last()["counts"], counts);
}

#[test]
fn notifications_belong_to_the_call_of_their_token_or_to_the_latest() {
    let mut rig = Rig::new();
    rig.call(1, "slow", &json!({}));
    rig.call(2, "echo", &json!({}));
    rig.notify(
        "notifications/progress",
        &json!({"progressToken": 1, "progress": 1}),
    );
    for _ in 0..150 {
        rig.notify(
            "notifications/message",
            &json!({"level": "info", "data": "x"}),
        );
    }
    rig.answer(1, &json!({"result": {}}));
    let progress = json!({"progressToken": 1, "progress": 1});
    assert_eq!(
        rig.paper.last()["notifications"],
        json!([{"method": "notifications/progress", "params": progress}])
    );
    rig.answer(2, &json!({"result": {}}));
    let done = rig.paper.last();
    assert_eq!(done["notifications"].as_array().unwrap().len(), 100);
    assert_eq!(done["more_notifications"], 50);
}

#[test]
fn a_modern_request_names_its_revision_and_client_itself() {
    let mut rig = Rig::new();
    rig.hear(
        &json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {
            "name": "echo", "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "m", "version": "2"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }}),
    );
    let call = rig.paper.last();
    assert_eq!(
        (&call["era"], &call["protocol"]),
        (&json!("modern"), &json!("2026-07-28"))
    );
    assert_eq!(
        call["client"],
        json!({"name": "m", "version": "2", "capabilities": {}})
    );
    assert_eq!(call["rpc_id"], "a");
}
