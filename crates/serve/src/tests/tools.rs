//! Each tool as a client sees it.

use serde_json::{Value, json};

use super::{Client, quick};
use crate::{FileTools, Offer, Profile, Selection, ServeOptions, State};

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test]
async fn simple_text_takes_anything() {
    let mut client = Client::ready(quick()).await;
    let plain = client.call("test_simple_text", json!({})).await;
    assert!(!text(&plain).is_empty());
    let more = client.call("test_simple_text", json!({"x": [1]})).await;
    assert_eq!(plain, more);
    let (_, bare) = client
        .request("tools/call", json!({"name": "test_simple_text"}))
        .await;
    assert_eq!(bare["result"], plain);
}

#[tokio::test]
async fn echo_gives_back_every_digit() {
    let mut client = Client::ready(quick()).await;
    let digits = "123456789012345678901234567890123456789012";
    client
        .send_text(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"echo\",\
             \"arguments\":{{\"message\":\"m\",\"extras\":{{\"n\":{digits},\"f\":1.10}},\"odd\":-0,\
             \"with_meta\":true}},\"_meta\":{{\"progressToken\":\"t\",\"own\":{digits}}}}}}}\n"
        ))
        .await;
    let line = client.line().await;
    assert!(
        line.contains(&format!(
            "\"structuredContent\":{{\"message\":\"m\",\"extras\":{{\"n\":{digits},\"f\":1.10}},\
             \"injected\":{{\"odd\":-0}},\"_meta\":{{\"progressToken\":\"t\",\"own\":{digits}}}}}"
        )),
        "{line}"
    );
    let message: Value = serde_json::from_str(&line).unwrap();
    let mirror: Value = serde_json::from_str(text(&message["result"])).unwrap();
    assert_eq!(mirror, message["result"]["structuredContent"]);
}

#[tokio::test]
async fn reply_gives_exactly_what_is_asked() {
    let mut client = Client::ready(quick()).await;
    let wanted = json!({
        "content": [{"type": "hologram", "depth": 3}, {"type": "text", "text": ""}],
        "structuredContent": [1, null],
        "isError": true,
        "_meta": {"a/b": 1},
    });
    assert_eq!(client.call("reply", wanted.clone()).await, wanted);
    let short = client.call("reply", json!({"text": "t"})).await;
    assert_eq!(short, json!({"content": [{"type": "text", "text": "t"}]}));
    assert_eq!(
        client.call("reply", json!({})).await,
        json!({"content": []})
    );
}

#[tokio::test]
async fn structured_keeps_to_its_schema_or_not() {
    let mut client = Client::ready(quick()).await;
    let (_, list) = client.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let schema = &tools
        .iter()
        .find(|tool| tool["name"] == "structured")
        .unwrap()["outputSchema"];
    let fits = jsonschema::validator_for(schema).unwrap();
    for (variant, fitting, mirrored) in [
        ("valid", true, true),
        ("mismatch", false, true),
        ("missing", false, false),
        ("mirror_differs", true, false),
        ("non_object", false, true),
    ] {
        let result = client.call("structured", json!({"variant": variant})).await;
        let content = &result["structuredContent"];
        assert_eq!(fits.is_valid(content), fitting, "{variant}");
        let mirror: Value = serde_json::from_str(text(&result)).unwrap();
        assert_eq!(mirror == *content, mirrored, "{variant}");
    }
}

#[tokio::test]
async fn error_fails_on_both_layers() {
    let mut client = Client::ready(quick()).await;
    let plain = client.call("error", json!({})).await;
    assert_eq!(plain["isError"], true);
    assert_eq!(text(&plain), "synthetic error");
    let shown = client
        .call(
            "error",
            json!({"message": "no", "as_tool": true, "category": "auth"}),
        )
        .await;
    assert_eq!(text(&shown), "no");
    assert_eq!(shown["structuredContent"], json!({"triggered": true}));
    let asked = json!({"layer": "rpc", "code": -32050, "message": "no", "data": {"a": [1]}});
    let error = client
        .refused("tools/call", json!({"name": "error", "arguments": asked}))
        .await;
    assert_eq!(
        error,
        json!({"code": -32050, "message": "no", "data": {"a": [1]}})
    );
}

#[tokio::test]
async fn wrong_calls_are_told_apart() {
    let mut client = Client::ready(quick()).await;
    let unknown = client.refused("tools/call", json!({"name": "nope"})).await;
    assert_eq!(unknown["code"], -32602);
    assert_eq!(unknown["message"], "unknown tool \"nope\"");
    let files = client
        .refused(
            "tools/call",
            json!({"name": "write_file", "arguments": {"path": "a"}}),
        )
        .await;
    assert_eq!(files["code"], -32602);
    for params in [
        json!({}),
        json!([]),
        json!({"name": 3}),
        json!({"name": "echo", "arguments": []}),
    ] {
        let error = client.refused("tools/call", params.clone()).await;
        assert_eq!(error["code"], -32602, "{params}");
        let told = error["message"].as_str().unwrap();
        assert!(!told.contains("struct"), "{told}");
    }
    let result = client.call("slow", json!({"milliseconds": "soon"})).await;
    assert_eq!(result["isError"], true);
    assert!(text(&result).contains("/milliseconds"), "{result}");
}

#[tokio::test]
async fn slow_reports_its_nominal_length_on_a_virtual_clock() {
    let mut client = Client::ready(quick()).await;
    for (asked, slept) in [
        (json!(0), 0),
        (json!(1500), 1500),
        (json!(-3), 0),
        (json!(99_999_999), 60_000),
        (json!(2.0), 2),
    ] {
        let result = client.call("slow", json!({"milliseconds": asked})).await;
        assert_eq!(
            result["structuredContent"],
            json!({"slept_ms": slept}),
            "{asked}"
        );
    }
}

#[tokio::test]
async fn a_cancelled_call_is_answered_only_when_it_is_late_on_purpose() {
    let mut client = Client::ready(ServeOptions::default()).await;
    for (id, late) in [(1, false), (2, true)] {
        client
            .send(
                &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
                    "name": "slow", "arguments": {"hang": true, "late": late},
                }}),
            )
            .await;
        client
            .send(
                &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
                    "requestId": id,
                }}),
            )
            .await;
    }
    let late = client.message().await;
    assert_eq!(late["id"], 2);
    assert!(late["result"]["structuredContent"]["slept_ms"].is_number());
    client.call("test_simple_text", json!({})).await;
}

#[tokio::test]
async fn flaky_fails_by_rate_and_by_count() {
    let mut client = Client::ready(quick()).await;
    for (call_id, fails) in [
        (0, true),
        (1, true),
        (2, false),
        (3, false),
        (5, true),
        (7, true),
    ] {
        let arguments = json!({"seed": "test", "call_id": call_id, "fail_rate": 0.5});
        let result = client.call("flaky", arguments).await;
        assert_eq!(result["isError"] == true, fails, "{call_id}: {result}");
    }
    let failed = client.call("flaky", json!({"seed": "test"})).await;
    assert_eq!(text(&failed), "flaky failure (roll=0.1331 < rate=0.5000)");
    for (rate, fails) in [(-1.0, false), (0.0, false), (1.0, true), (7.0, true)] {
        let result = client.call("flaky", json!({"fail_rate": rate})).await;
        assert_eq!(result["isError"] == true, fails, "{rate}");
    }
    let mut fates = String::new();
    for arguments in [
        json!({"mode": "first", "n": 2}),
        json!({"mode": "every", "n": 3}),
        json!({"mode": "first", "key": "other"}),
    ] {
        for _ in 0..6 {
            let result = client.call("flaky", arguments.clone()).await;
            fates.push(if result["isError"] == true { 'F' } else { '.' });
        }
        fates.push(' ');
    }
    assert_eq!(fates, "FF.... ..F..F F..... ");
}

#[tokio::test]
async fn counters_tell_fresh_servers_from_shared_ones() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.json");
    for round in 1..3 {
        let kept = ServeOptions {
            state: State::new(Some(file.clone())),
            ..quick()
        };
        let mut client = Client::ready(kept).await;
        client.call("counter", json!({})).await;
        let counted = client.call("counter", json!({})).await;
        let wanted = json!({"process": 2, "session": 2, "state": 2 * round});
        assert_eq!(counted["structuredContent"], wanted);
    }
    let mut client = Client::ready(quick()).await;
    let counted = client.call("counter", json!({})).await;
    assert_eq!(
        counted["structuredContent"],
        json!({"process": 1, "session": 1})
    );
}

#[tokio::test]
async fn emit_sends_anything_during_the_call_or_after_it() {
    let mut client = Client::ready(quick()).await;
    let odd = json!({"method": "x/y", "params": [1, null], "count": 2, "interval_ms": 5});
    let (before, _) = client
        .request("tools/call", json!({"name": "emit", "arguments": odd}))
        .await;
    let wanted = json!({"jsonrpc": "2.0", "method": "x/y", "params": [1, null]});
    assert_eq!(before, [wanted.clone(), wanted]);
    let after = json!({"method": "x/z", "count": 3, "after_reply": true, "interval_ms": 5});
    let (before, answer) = client
        .request("tools/call", json!({"name": "emit", "arguments": after}))
        .await;
    assert_eq!(before, [Value::Null; 0]);
    assert_eq!(answer["result"]["structuredContent"], json!({"emitted": 3}));
    for _ in 0..3 {
        assert_eq!(
            client.message().await,
            json!({"jsonrpc": "2.0", "method": "x/z"})
        );
    }
}

#[tokio::test]
async fn progress_goes_to_those_who_ask_for_it() {
    let mut client = Client::ready(quick()).await;
    for token in [json!("t"), json!(7)] {
        let params = json!({"name": "test_tool_with_progress", "_meta": {"progressToken": token}});
        let (before, _) = client.request("tools/call", params).await;
        let seen: Vec<&Value> = before
            .iter()
            .map(|message| &message["params"]["progress"])
            .collect();
        assert_eq!(seen, [&json!(0), &json!(50), &json!(100)]);
        for message in &before {
            assert_eq!(message["method"], "notifications/progress");
            assert_eq!(message["params"]["progressToken"], token);
            assert_eq!(message["params"]["total"], 100);
        }
    }
    let (before, answer) = client
        .request("tools/call", json!({"name": "test_tool_with_progress"}))
        .await;
    assert_eq!(before, [Value::Null; 0]);
    assert!(!text(&answer["result"]).is_empty());
}

#[tokio::test]
async fn log_messages_honour_the_level() {
    let mut client = Client::ready(quick()).await;
    let mut seen = async |level: Option<&str>, arguments: Value| {
        if let Some(level) = level {
            let (_, answer) = client
                .request("logging/setLevel", json!({"level": level}))
                .await;
            assert_eq!(answer["result"], json!({}), "{level}");
        }
        let params = json!({"name": "test_tool_with_logging", "arguments": arguments});
        client.request("tools/call", params).await.0
    };
    let all = seen(None, json!({})).await;
    assert_eq!(all.len(), 3);
    assert_eq!(all[0]["method"], "notifications/message");
    assert_eq!(all[0]["params"]["level"], "info");
    assert_eq!(seen(Some("warning"), json!({})).await.len(), 0);
    assert_eq!(seen(None, json!({"level": "alert"})).await.len(), 3);
    assert_eq!(seen(Some("debug"), json!({})).await.len(), 3);
    let error = client
        .refused("logging/setLevel", json!({"level": "loud"}))
        .await;
    assert_eq!(error["code"], -32602);
}

/// Calls `tool`, answers what the server asks with `answer`, and gives the question and the result.
async fn asked(tool: &str, arguments: Value, answer: Value) -> (Value, Value) {
    let mut client = Client::ready(quick()).await;
    client
        .send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": tool, "arguments": arguments,
            }}),
        )
        .await;
    let question = client.message().await;
    let mut reply = json!({"jsonrpc": "2.0", "id": question["id"]});
    for (name, value) in answer.as_object().unwrap() {
        reply[name] = value.clone();
    }
    client.send(&reply).await;
    let result = client.message().await;
    assert_eq!(result["id"], 1, "{result}");
    (question, result["result"].clone())
}

#[tokio::test]
async fn the_client_is_asked_and_its_answer_shown() {
    let answer = json!({"model": "m", "role": "assistant", "stopReason": "endTurn",
        "content": {"type": "text", "text": "42"}});
    let (question, result) = asked(
        "test_sampling",
        json!({"prompt": "six by nine"}),
        json!({"result": answer}),
    )
    .await;
    assert_eq!(question["method"], "sampling/createMessage");
    assert_eq!(
        question["params"]["messages"][0]["content"]["text"],
        "six by nine"
    );
    assert_eq!(question["params"]["maxTokens"], 100);
    assert_eq!(text(&result), "the model says: 42");
    assert_eq!(result["structuredContent"], answer);

    let answer = json!({"action": "accept", "content": {"username": "a", "email": "a@b.c"}});
    let (question, result) = asked(
        "test_elicitation",
        json!({"message": "who"}),
        json!({"result": answer}),
    )
    .await;
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "who");
    assert!(
        text(&result).starts_with("the user says accept"),
        "{result}"
    );
    assert_eq!(result["structuredContent"], answer);
    let declined = json!({"result": {"action": "decline"}});
    let (_, result) = asked("test_elicitation", json!({"message": "who"}), declined).await;
    assert_eq!(text(&result), "the user says decline");

    let answer = json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "b"}]});
    let (question, result) = asked("list_roots", json!({}), json!({"result": answer})).await;
    assert_eq!(question["method"], "roots/list");
    assert_eq!(text(&result), "file:///a\nfile:///b");
    assert_eq!(result["structuredContent"], answer);
}

#[tokio::test]
async fn a_client_that_refuses_or_talks_nonsense_gives_a_tool_error() {
    let refusal = json!({"error": {"code": -1, "message": "no", "data": 3}});
    let (_, result) = asked("test_sampling", json!({"prompt": "p"}), refusal).await;
    assert_eq!(result["isError"], true);
    assert_eq!(text(&result), "the client refused: -1 no");
    for nonsense in [json!({"result": {}, "error": {}}), json!({"error": "no"})] {
        let (_, result) = asked("list_roots", json!({}), nonsense.clone()).await;
        assert_eq!(result["isError"], true, "{nonsense}: {result}");
    }
}

#[tokio::test]
async fn a_client_without_the_capability_is_not_asked() {
    let mut client = Client::start(quick());
    client
        .ask(
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }}),
        )
        .await;
    for (tool, arguments) in [
        ("test_sampling", json!({"prompt": "p"})),
        ("test_elicitation", json!({"message": "m"})),
        ("list_roots", json!({})),
    ] {
        let result = client.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}");
    }
}

#[tokio::test]
async fn a_client_is_not_asked_what_its_revision_does_not_have() {
    for (revision, asks) in [
        ("2024-11-05", false),
        ("2025-03-26", false),
        ("2025-06-18", true),
    ] {
        let mut client = Client::start(quick());
        client.initialize(revision).await;
        let params = json!({"name": "test_elicitation", "arguments": {"message": "m"}});
        let message = client
            .ask(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
            .await;
        if asks {
            assert_eq!(message["method"], "elicitation/create", "{revision}");
        } else {
            let result = &message["result"];
            assert_eq!(result["isError"], true, "{message}");
            let wanted = format!("revision {revision} has no \"elicitation/create\"");
            assert!(text(result).starts_with(&wanted), "{message}");
        }
    }
}

#[tokio::test]
async fn files_are_there_only_with_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let offer = Offer::new(
        Profile::Conformance,
        &Selection::default(),
        None,
        FileTools::Offered,
    );
    let options = ServeOptions {
        offer: offer.unwrap(),
        files: Some(folder.path().to_owned()),
        ..quick()
    };
    let mut client = Client::ready(options).await;
    let written = client
        .call("write_file", json!({"path": "a/b.txt", "text": "héllo"}))
        .await;
    assert_eq!(
        written["structuredContent"],
        json!({"path": "a/b.txt", "bytes": 6})
    );
    let file = folder.path().join("a/b.txt");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "héllo");
    let out = client
        .call("write_file", json!({"path": "../out.txt", "text": "x"}))
        .await;
    assert_eq!(out["isError"], true);
    let deleted = client.call("delete_file", json!({"path": "a/b.txt"})).await;
    assert_eq!(deleted["structuredContent"]["deleted"], true);
    assert!(!file.exists());
}
