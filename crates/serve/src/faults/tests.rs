//! What each fault sends, as the bytes and deeds that the wire is asked for.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::catalogue::{Carrier, Fault};
use super::rule::Rule;
use super::{engine::Engine, event::Event};
use crate::State;
use crate::tap::{Emit, Ending, Forward, Frame, Kind, OnStop, Outlet, Stop};

/// An engine and the requests that are open.
struct Rig {
    engine: Engine,
    requests: Vec<Value>,
}

impl Rig {
    fn new(rules: &[&str]) -> Self {
        let read = |text: &&str| {
            Rule::parse(text, Carrier::Stdio).unwrap_or_else(|error| panic!("{text}: {error}"))
        };
        let rules = rules.iter().map(read).collect();
        Self {
            engine: Engine::new(rules, 7, &State::default()),
            requests: Vec::new(),
        }
    }

    fn hear(&mut self, message: &Value) -> (Forward, Vec<Emit>) {
        let kind = match (message.get("method"), message.get("id")) {
            (Some(_), Some(_)) => Kind::Request,
            (Some(_), None) => Kind::Notification,
            (None, _) => Kind::Answer,
        };
        if kind == Kind::Request {
            self.requests.push(message.clone());
        }
        let heard = self.engine.incoming(&frame(message, kind, message));
        (heard.forward, heard.emit)
    }

    fn answer(&mut self, answer: &Value) -> Vec<Emit> {
        let at = self
            .requests
            .iter()
            .position(|one| one["id"] == answer["id"]);
        let request = self.requests.remove(at.unwrap());
        let line = format!("{answer}\n").into_bytes();
        self.engine
            .outgoing(&frame(answer, Kind::Answer, &request), line)
    }

    /// One request and its answer.
    fn exchange(&mut self, method: &str, result: &Value) -> Vec<Emit> {
        let (_, mut emits) = self.hear(&request(3, method));
        emits.extend(self.answer(&json!({"jsonrpc": "2.0", "id": 3, "result": result})));
        emits
    }
}

fn frame<'a>(message: &'a Value, kind: Kind, request: &'a Value) -> Frame<'a> {
    Frame {
        message,
        kind,
        method: request["method"].as_str(),
        id: message.get("id"),
        target: request.pointer("/params/name").and_then(Value::as_str),
        cut: None,
        sender: None,
    }
}

fn request(id: u64, method: &str) -> Value {
    let params = json!({"name": "test_simple_text", "_meta": {"progressToken": 3}});
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn notification(method: &str) -> Value {
    json!({"jsonrpc": "2.0", "method": method})
}

fn hello() -> Value {
    json!({"content": [{"type": "text", "text": "hello"}]})
}

/// Emits as a person would write them down; runs of bytes are one text.
fn shown(emits: &[Emit]) -> String {
    emits
        .iter()
        .map(|emit| match emit {
            Emit::Bytes(bytes) => bytes.escape_ascii().to_string(),
            Emit::Bytewise(bytes) => format!("<one by one>{}", bytes.escape_ascii()),
            Emit::Stderr(bytes) => format!("<stderr {}>", bytes.len()),
            Emit::Delay(length) => format!("<delay {length:?}>"),
            Emit::Flood(flood) => {
                let bytes: usize = flood.chunks().map(|chunk| chunk.len()).sum();
                let outlet = match flood.outlet {
                    Outlet::Stdout => "stdout",
                    Outlet::Stderr => "stderr",
                };
                format!("<{bytes} bytes on {outlet}>")
            }
            Emit::CloseStdout => "<close stdout>".to_owned(),
            Emit::Spawn(arguments) => format!("<spawn {}>", arguments.join(" ")),
            Emit::Wake(length, _) => format!("<wake {length:?}>"),
            Emit::Out(_) | Emit::To(_) => String::new(),
            Emit::Forget(ticket) => format!("<forget {ticket}>"),
            Emit::End(Ending::Exit(code)) => format!("<exit {code}>"),
            Emit::End(Ending::Abort) => "<abort>".to_owned(),
            Emit::End(Ending::Segv) => "<segv>".to_owned(),
            Emit::TakeMemory(size) => format!("<take {size}>"),
        })
        .collect()
}

/// The messages among the bytes on stdout.
fn messages(emits: &[Emit]) -> Vec<Value> {
    let mut bytes = Vec::new();
    for emit in emits {
        match emit {
            Emit::Bytes(part) | Emit::Bytewise(part) => bytes.extend_from_slice(part),
            Emit::Flood(flood) if flood.outlet == Outlet::Stdout => {
                bytes.extend(flood.chunks().flatten());
            }
            Emit::Flood(_)
            | Emit::Stderr(_)
            | Emit::Delay(_)
            | Emit::CloseStdout
            | Emit::Spawn(_)
            | Emit::TakeMemory(_)
            | Emit::Wake(..)
            | Emit::Out(_)
            | Emit::To(_)
            | Emit::Forget(_)
            | Emit::End(_) => {}
        }
    }
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn without_a_rule_every_byte_goes_as_it_came() {
    let texts = [
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"content\":[]}}\n",
        "{ \"id\" : 3, \"result\": {\"n\": 1e400, \"m\": 1.0}, \"jsonrpc\": \"2.0\" }\n",
    ];
    for rules in [
        &[][..],
        &["prompts/get=drop"],
        &["tools/call:other=drop"],
        &["*@2=drop"],
    ] {
        for text in texts {
            let mut rig = Rig::new(rules);
            assert_eq!(rig.engine.start(), []);
            let request = request(3, "tools/call");
            assert_eq!(rig.hear(&request), (Forward::AsItCame, vec![]));
            let message = serde_json::from_str(text).unwrap();
            let sent = rig
                .engine
                .outgoing(&frame(&message, Kind::Answer, &request), text.into());
            let wanted = [Emit::Bytes(text.into()), Emit::Out(1)];
            assert_eq!(sent, wanted, "{rules:?}");
            assert_eq!(rig.engine.stop(Stop::Eof), OnStop::Go(vec![]));
        }
    }
}

const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hello"}]}}"#;

/// Asserts on all that is done for one call that says hello.
fn case(rule: &str, wanted: &str) {
    let mut rig = Rig::new(&[rule]);
    assert_eq!(rig.engine.start(), []);
    let sent = shown(&rig.exchange("tools/call", &hello()));
    assert_eq!(
        sent.replace("\\\"", "\""),
        wanted.replace("HELLO", HELLO),
        "{rule}"
    );
}

#[test]
fn bytes_on_an_answer() {
    case(
        "stdout-noise-between:2s",
        r"still working on it\n<delay 2s>HELLO\n",
    );
    case(
        "stdout-noise-midline",
        r#"{"jsonrpc":"2.0",WARN cache miss "id":3,"result":{"content":[{"type":"text","text":"hello"}]}}\n"#,
    );
    case(
        "stdout-ansi",
        r"\x1b[2J\x1b[1;31mready\x1b[0m \x1b]0;title\x07\nHELLO\n",
    );
    case("tools/call=stdout-bom", r"\xef\xbb\xbfHELLO\n");
    case("tools/call=stdout-crlf", r"HELLO\r\n");
    case("tools/call=stdout-blank-lines", r"\nHELLO\n\n");
    case(
        "pretty-json",
        r#"{\n  "jsonrpc": "2.0",\n  "id": 3,\n  "result": {\n    "content": [\n      {\n        "type": "text",\n        "text": "hello"\n      }\n    ]\n  }\n}\n"#,
    );
    case("tools/call=lsp-framing", r"Content-Length: 78\r\n\r\nHELLO");
    case("no-trailing-newline", "HELLO<exit 0>");
    case("no-trailing-newline:open", "HELLO");
    case(
        "invalid-utf8",
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hello\xff"}]}}\n"#,
    );
    case("nul-byte", r"\x00\nHELLO\n");
    case(
        "huge-line:1MiB",
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"hello<1048498 bytes on stdout>"}]}}\n"#,
    );
    case(
        "huge-line:10",
        &format!(r"{}<0 bytes on stdout>{}\n", &HELLO[..73], &HELLO[73..]),
    );
    case(
        "stderr-flood:1000",
        r"<960 bytes on stderr><stderr 40>HELLO\n",
    );
    case("split-writes", r"<one by one>HELLO\n");
}

#[test]
fn answers_that_come_late_in_pieces_or_never() {
    case("delay:2s", r"<delay 2s>HELLO\n");
    case("drop", "");
    case("not-json", r"the answer is on its way\n");
    case("json-null", r"null\n");
    case(
        "truncated-json",
        r#"{"jsonrpc":"2.0","id":3,"result":{"cont\n"#,
    );
    case("batch-reply", r"[HELLO]\n");
    case("duplicate-reply", r"HELLO\nHELLO\n");
    case("exit-mid-call:3", "<exit 3>");
    case("exit-after-reply:4", r"HELLO\n<exit 4>");
    case("abort", "<abort>");
    case("segv", "<segv>");
    case("close-stdout", "<close stdout>");
    case("oom-cap:64KiB", "<take 65536><abort>");
}

#[test]
fn bytes_for_the_whole_stream() {
    let case = |rule: &str, wanted: &[&str]| {
        let mut rig = Rig::new(&[rule]);
        let mut found = vec![shown(&rig.engine.start())];
        found.push(shown(&rig.exchange("initialize", &json!({}))));
        let note = notification("notifications/message");
        let line = format!("{note}\n").into_bytes();
        let emits = rig
            .engine
            .outgoing(&frame(&note, Kind::Notification, &note), line);
        found.push(shown(&emits));
        let found: Vec<_> = found
            .iter()
            .map(|text| text.replace("\\\"", "\""))
            .collect();
        let fill = |text: &&str| {
            text.replace("ONE", r#"{"jsonrpc":"2.0","id":3,"result":{}}"#)
                .replace(
                    "TWO",
                    r#"{"jsonrpc":"2.0","method":"notifications/message"}"#,
                )
        };
        assert_eq!(found, wanted.iter().map(fill).collect::<Vec<_>>(), "{rule}");
    };
    let banner = r"Starting the server\nLoading plugins: 3 found\nListening for messages\n";
    case("stdout-banner", &[banner, r"ONE\n", r"TWO\n"]);
    case("stdout-bom", &["", r"\xef\xbb\xbfONE\n", r"TWO\n"]);
    case("stdout-crlf", &["", r"ONE\r\n", r"TWO\r\n"]);
    case("stdout-blank-lines", &["", r"\nONE\n\n", r"\nTWO\n\n"]);
    let (one, two) = (
        r"Content-Length: 36\r\n\r\nONE",
        r"Content-Length: 50\r\n\r\nTWO",
    );
    case("lsp-framing", &["", one, two]);
    case(
        "start=split-writes",
        &["", r"<one by one>ONE\n", r"<one by one>TWO\n"],
    );
    case("exit-before-init:9", &["<exit 9>", r"ONE\n", r"TWO\n"]);
    case("slow-start:2s", &["<delay 2s>", r"ONE\n", r"TWO\n"]);
    case(
        "orphan-grandchild",
        &["<spawn serve --hold-stdout>", r"ONE\n", r"TWO\n"],
    );
}

#[test]
fn ends_that_are_not_heard() {
    let case = |rule: &str, why: Stop, stays: bool| {
        let leave = Rig::new(&[rule]).engine.stop(why);
        assert_eq!(matches!(leave, OnStop::Stay(_)), stays, "{rule} {why:?}");
    };
    case("ignore-stdin-eof", Stop::Eof, true);
    case("ignore-stdin-eof", Stop::Terminated, false);
    case("ignore-stdin-eof", Stop::Interrupted, false);
    case("ignore-sigterm", Stop::Eof, true);
    case("ignore-sigterm", Stop::Terminated, true);
    case("ignore-sigterm", Stop::Limit, false);
    let OnStop::Stay(emits) = Rig::new(&["ignore-sigterm"]).engine.stop(Stop::Eof) else {
        panic!("it left");
    };
    assert_eq!(
        shown(&emits),
        "<wake 600s>",
        "a forgotten server ends by itself"
    );
}

/// Asserts on the messages that come of one exchange under one rule.
fn sends(rule: &str, method: &str, result: &Value, wanted: &Value) {
    let mut rig = Rig::new(&[rule]);
    let found = messages(&rig.exchange(method, result));
    assert_eq!(Value::Array(found), *wanted, "{rule}");
}

#[test]
fn envelopes() {
    let case = |rule: &str, wanted: Value| sends(rule, "tools/call", &json!({}), &wanted);
    let error = |error: Value| json!([{"jsonrpc": "2.0", "id": 3, "error": error}]);
    let right = json!({"jsonrpc": "2.0", "id": 3, "result": {}});
    case("missing-jsonrpc", json!([{"id": 3, "result": {}}]));
    case(
        "jsonrpc-1.0",
        json!([{"jsonrpc": "1.0", "id": 3, "result": {}}]),
    );
    case(
        "wrong-id",
        json!([{"jsonrpc": "2.0", "id": 1_000_003, "result": {}}]),
    );
    case(
        "null-id",
        json!([{"jsonrpc": "2.0", "id": null, "result": {}}]),
    );
    case(
        "id-type-flip",
        json!([{"jsonrpc": "2.0", "id": "3", "result": {}}]),
    );
    case(
        "unknown-id",
        json!([{"jsonrpc": "2.0", "id": 1_000_003, "result": {}}, right]),
    );
    let both = json!({"code": -32603, "message": "both at once"});
    case(
        "result-and-error",
        json!([{"jsonrpc": "2.0", "id": 3, "result": {}, "error": both}]),
    );
    case("neither", json!([{"jsonrpc": "2.0", "id": 3}]));
    case(
        "error-no-code",
        error(json!({"message": "an error without a code"})),
    );
    let text = json!({"code": "-32603", "message": "an error whose code is text"});
    case("error-string-code", error(text));
    case(
        "id-collision",
        json!([{"jsonrpc": "2.0", "id": 3, "method": "ping"}, right]),
    );
}

#[test]
fn ids_that_are_text_are_bent_as_well() {
    let case = |rule: &str, id: Value, wanted: Value| {
        let mut rig = Rig::new(&[rule]);
        rig.hear(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call"}));
        let sent = rig.answer(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
        assert_eq!(messages(&sent)[0]["id"], wanted, "{rule}");
    };
    case("id-type-flip", json!("7"), json!(7));
    case("id-type-flip", json!("call-7"), json!(6));
    case("wrong-id", json!("a"), json!("a-other"));
}

#[test]
fn the_answer_after_the_cancel() {
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}});
    let mut rig = Rig::new(&["reply-after-cancel"]);
    assert_eq!(rig.exchange("tools/call", &hello()), []);
    assert_eq!(
        rig.engine.take_events().len(),
        1,
        "it fired and nothing is sent yet"
    );
    let (forward, sent) = rig.hear(&cancel);
    assert_eq!(forward, Forward::AsItCame);
    assert_eq!(
        messages(&sent),
        [serde_json::from_str::<Value>(HELLO).unwrap()]
    );
    assert!(matches!(rig.engine.take_events()[..], [Event::Sent(_)]));

    let mut hanging = Rig::new(&["reply-after-cancel"]);
    hanging.hear(&request(3, "tools/call"));
    let (_, sent) = hanging.hear(&cancel);
    assert_eq!(
        messages(&sent)[0]["result"]["content"][0]["text"],
        "too late"
    );
    assert_eq!(hanging.hear(&cancel).1, []);
}

#[test]
fn answers_of_concurrent_calls_are_reversed() {
    let mut rig = Rig::new(&["out-of-order"]);
    let answer = |id: u64| json!({"jsonrpc": "2.0", "id": id, "result": {}});
    rig.hear(&request(1, "tools/call"));
    assert_eq!(shown(&rig.answer(&answer(1))), "<wake 100ms>");
    rig.hear(&request(2, "tools/call"));
    rig.hear(&request(3, "tools/call"));
    assert_eq!(rig.answer(&answer(3)), []);
    let Emit::Wake(_, ticket) = rig.engine.wake(1)[0] else {
        panic!("the second request is still open");
    };
    assert_eq!(rig.answer(&answer(2)), []);
    let ids: Vec<_> = messages(&rig.engine.wake(ticket))
        .iter()
        .map(|one| one["id"].clone())
        .collect();
    assert_eq!(ids, [3, 2, 1]);
}

#[test]
fn a_hanging_call_does_not_hold_the_others_for_ever() {
    let mut rig = Rig::new(&["out-of-order"]);
    rig.hear(&request(1, "tools/call"));
    rig.exchange("tools/call", &json!({}));
    let rounds = (0..100).take_while(|_| matches!(rig.engine.wake(1)[..], [Emit::Wake(..)]));
    assert!(rounds.count() < 50);
}

#[test]
fn handshakes() {
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}});
    let case = |rule: &str, wanted: Value| sends(rule, "initialize", &result, &wanted);
    let right = json!({"jsonrpc": "2.0", "id": 3, "result": result});
    let wrong = json!({"protocolVersion": "1999-01-01", "capabilities": {"tools": {}}});
    case(
        "init-wrong-version",
        json!([{"jsonrpc": "2.0", "id": 3, "result": wrong}]),
    );
    let bare = json!({"protocolVersion": "2025-06-18"});
    case(
        "init-no-capabilities",
        json!([{"jsonrpc": "2.0", "id": 3, "result": bare}]),
    );
    let error = json!({"code": -1, "message": "the server cannot start"});
    case(
        "init-error:-1",
        json!([{"jsonrpc": "2.0", "id": 3, "error": error}]),
    );
    case("init-hang", json!([]));
    case("init-twice", json!([right, right]));
    let roots = json!({"jsonrpc": "2.0", "id": "fault-2", "method": "roots/list"});
    case("request-before-initialized", json!([roots, right]));
}

#[test]
fn capabilities_that_lie() {
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"prompts": {}}});
    let mut rig = Rig::new(&["cap-lie-missing"]);
    let sent = messages(&rig.exchange("initialize", &json!({"capabilities": {}})));
    assert_eq!(sent[0]["result"]["capabilities"]["prompts"], json!({}));
    let sent = messages(&rig.exchange("prompts/list", &json!({"prompts": []})));
    assert_eq!(sent[0]["error"]["code"], -32601);
    assert_eq!(
        messages(&rig.exchange("tools/list", &json!({})))[0]["result"],
        json!({})
    );

    let mut rig = Rig::new(&["cap-lie-extra"]);
    let sent = messages(&rig.exchange("initialize", &result));
    assert_eq!(sent[0]["result"]["capabilities"], json!({}));
    let sent = messages(&rig.exchange("prompts/list", &json!({"prompts": []})));
    assert_eq!(sent[0]["result"], json!({"prompts": []}));
}

#[test]
fn messages_on_a_notification() {
    let case = |rule: &str, wanted: &str| {
        let mut rig = Rig::new(&[rule]);
        let (forward, sent) = rig.hear(&notification("notifications/initialized"));
        assert_eq!(forward, Forward::AsItCame);
        let sent = messages(&sent);
        assert_eq!(sent[0]["method"].as_str().unwrap_or("-"), wanted, "{rule}");
        let answer = json!({"jsonrpc": "2.0", "id": sent[0]["id"], "error": {}});
        if wanted == "-" {
            assert_eq!(sent, [json!({"jsonrpc": "2.0", "id": null, "result": {}})]);
        } else {
            assert_eq!(rig.hear(&answer).0, Forward::Nothing, "{rule}");
        }
        assert_eq!(rig.hear(&answer).0, Forward::AsItCame, "{rule}");
    };
    case("reply-to-notification", "-");
    case("unsolicited-sampling", "sampling/createMessage");
    case("unsolicited-elicitation", "elicitation/create");
    case("unsolicited-roots", "roots/list");
}

#[test]
fn an_answer_that_is_held_up_is_not_sent_after_its_cancel() {
    let cancel = |id: u64| {
        let params = json!({ "requestId": id });
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
    };
    let mut rig = Rig::new(&["delay"]);
    let sent = rig.exchange("tools/call", &hello());
    let [Emit::Delay(_), Emit::Bytes(_), Emit::Out(1)] = sent[..] else {
        panic!("{sent:?}");
    };
    assert_eq!(rig.hear(&cancel(4)).1, []);
    assert_eq!(rig.hear(&cancel(3)).1, [Emit::Forget(1)]);
    assert_eq!(rig.engine.take_events().last(), Some(&Event::Forgotten(1)));
    assert_eq!(rig.hear(&cancel(3)).1, []);
    rig.exchange("tools/call", &hello());
    rig.engine.out(2);
    assert_eq!(rig.hear(&cancel(3)).1, [], "it is out");

    let mut rig = Rig::new(&["out-of-order"]);
    let sent = rig.exchange("tools/call", &hello());
    let [Emit::Wake(_, ticket)] = sent[..] else {
        panic!("{sent:?}");
    };
    rig.hear(&cancel(3));
    assert_eq!(rig.engine.wake(ticket), []);
}

#[test]
fn all_rules_that_match_fire_in_order_and_are_told() {
    let mut rig = Rig::new(&["delay:1s", "tools/call:test_*@1=duplicate-reply"]);
    let sent = shown(&rig.exchange("tools/call", &json!({})));
    let one = r#"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"#;
    assert_eq!(sent, format!("<delay 1s>{one}{one}"));
    let events = rig.engine.take_events();
    let [Event::Fired(first), Event::Fired(second), Event::Sent(sent)] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(
        (first.fault, first.n, &first.id),
        (Fault::Delay, 1, &Some(json!(3)))
    );
    assert_eq!(second.rule, "tools/call:test_*@1=duplicate-reply");
    assert_eq!(sent.id, json!(3));
    assert_eq!(
        shown(&rig.exchange("tools/call", &json!({}))),
        format!("<delay 1s>{one}")
    );
}

#[test]
fn every_fault_changes_what_goes_out() {
    let mut same = BTreeSet::new();
    let on_pipes = |fault: &&Fault| fault.row().carriers.contains(&Carrier::Stdio);
    for fault in Fault::ALL.iter().filter(on_pipes) {
        let id = fault.row().id;
        let plain = walk(&[]);
        if walk(&[id]) == plain {
            same.insert(id);
        }
    }
    assert_eq!(same, BTreeSet::new(), "these do nothing");
}

/// A small conversation from start to end, as it looks from outside.
fn walk(rules: &[&str]) -> Vec<String> {
    let mut rig = Rig::new(rules);
    let mut seen = vec![shown(&rig.engine.start())];
    let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
    let tools = json!({"tools": [tool("test_simple_text"), tool("echo")], "ttlMs": 0});
    let result =
        json!({"capabilities": {"tools": {}, "prompts": {}}, "protocolVersion": "2025-06-18"});
    seen.push(shown(&rig.exchange("initialize", &result)));
    seen.push(shown(
        &rig.hear(&notification("notifications/initialized")).1,
    ));
    for _ in 0..2 {
        seen.push(shown(&rig.exchange("tools/list", &tools)));
    }
    let mut called = hello();
    called["resultType"] = "complete".into();
    seen.push(shown(&rig.exchange("tools/call", &called)));
    seen.push(shown(
        &rig.exchange("prompts/list", &json!({"prompts": []})),
    ));
    rig.hear(&request(9, "subscriptions/listen"));
    let acknowledged = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": {"_meta": {"io.modelcontextprotocol/subscriptionId": 9}, "notifications": {}}});
    let told = frame(&acknowledged, Kind::Notification, &acknowledged);
    let line = format!("{acknowledged}\n").into_bytes();
    seen.push(shown(&rig.engine.outgoing(&told, line)));
    seen.push(format!("{:?}", rig.engine.stop(Stop::Eof)));
    seen
}
