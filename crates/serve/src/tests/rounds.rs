//! Questions to the client, in a session and in rounds, and lists that change.

use serde_json::{Value, json};

use super::{Client, quick};
use crate::ServeOptions;

/// A request without a handshake, of a client with these capabilities.
async fn modern(client: &mut Client, method: &str, mut params: Value, can: &Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": can,
    });
    let (before, answer) = client.request(method, params).await;
    assert_eq!(
        before,
        [Value::Null; 0],
        "{method}: the server must not ask"
    );
    answer
}

fn everything() -> Value {
    json!({"sampling": {}, "elicitation": {}, "roots": {}})
}

fn accepted(content: &Value) -> Value {
    json!({"action": "accept", "content": content})
}

#[tokio::test]
async fn each_round_brings_the_answers_of_the_ones_before() {
    let mut client = Client::start(quick());
    let name = "test_input_required_result_multi_round";
    let call = |again: Value| {
        let mut params = json!({"name": name, "arguments": {}});
        params
            .as_object_mut()
            .unwrap()
            .extend(again.as_object().unwrap().clone());
        params
    };
    let can = everything();
    let first = modern(&mut client, "tools/call", call(json!({})), &can).await;
    let first = &first["result"];
    assert_eq!(first["resultType"], "input_required");
    assert!(first["inputRequests"].get("step1").is_some(), "{first}");
    let again = json!({"inputResponses": {"step1": accepted(&json!({"name": "Ada"}))}, "requestState": first["requestState"]});
    let second = modern(&mut client, "tools/call", call(again.clone()), &can).await;
    let second = &second["result"];
    assert_eq!(
        second["inputRequests"]
            .as_object()
            .map(|it| it.keys().collect::<Vec<_>>()),
        Some(vec![&"step2".to_owned()])
    );
    assert_ne!(second["requestState"], first["requestState"]);
    // What does not fit the question is asked for again.
    let odd = json!({"inputResponses": {"step2": 5}, "requestState": second["requestState"]});
    let asked = modern(&mut client, "tools/call", call(odd), &can).await;
    assert_eq!(asked["result"]["requestState"], second["requestState"]);
    let again = json!({"inputResponses": {"step2": accepted(&json!({"ok": true}))}, "requestState": second["requestState"]});
    let third = modern(&mut client, "tools/call", call(again), &can).await;
    let third = &third["result"];
    assert_eq!(third["resultType"], "complete");
    assert_eq!(
        third["structuredContent"]["step1"]["content"]["name"],
        "Ada"
    );
    assert_eq!(third["structuredContent"]["step2"]["content"]["ok"], true);
    // Answers without their state do not count.
    let bare = json!({"inputResponses": {"step1": accepted(&json!({"name": "Ada"}))}});
    let bare = modern(&mut client, "tools/call", call(bare), &can).await;
    assert_eq!(&bare["result"], first);
}

#[tokio::test]
async fn a_state_is_good_for_its_own_request_only() {
    let mut client = Client::start(quick());
    let can = everything();
    let name = "test_input_required_result_request_state";
    let first = modern(&mut client, "tools/call", json!({"name": name}), &can).await;
    let state = first["result"]["requestState"].as_str().unwrap();
    for (method, mut params, state) in [
        ("tools/call", json!({"name": name}), format!("{state}x")),
        ("tools/call", json!({"name": name}), String::new()),
        (
            "tools/call",
            json!({"name": "test_input_required_result_tampered_state"}),
            state.to_owned(),
        ),
        (
            "resources/read",
            json!({"uri": "test://input-required"}),
            state.to_owned(),
        ),
    ] {
        params["requestState"] = state.into();
        params["inputResponses"] = json!({"confirm": accepted(&json!({"ok": true}))});
        let refused = modern(&mut client, method, params.clone(), &can).await;
        assert_eq!(refused["error"]["code"], -32602, "{params}: {refused}");
    }
}

#[tokio::test]
async fn prompts_and_resources_ask_too() {
    let mut client = Client::start(quick());
    let can = everything();
    for (method, params, key, name) in [
        (
            "prompts/get",
            json!({"name": "test_input_required_result_prompt"}),
            "user_context",
            "name",
        ),
        (
            "resources/read",
            json!({"uri": "test://input-required"}),
            "user_text",
            "name",
        ),
    ] {
        let first = modern(&mut client, method, params.clone(), &can).await;
        let asked = &first["result"]["inputRequests"][key]["params"]["requestedSchema"];
        assert_eq!(asked["required"], json!([name]), "{first}");
        let mut again = params.clone();
        again["inputResponses"] = json!({key: accepted(&json!({name: "tea"}))});
        again["requestState"] = first["result"]["requestState"].clone();
        if again["requestState"].is_null() {
            again.as_object_mut().unwrap().remove("requestState");
        }
        let second = modern(&mut client, method, again, &can).await;
        assert_eq!(second["result"]["resultType"], "complete", "{second}");
        assert!(second.to_string().contains("tea"), "{second}");
        let cannot = modern(&mut client, method, params, &json!({})).await;
        assert_eq!(cannot["error"]["code"], -32021, "{cannot}");
    }
    let mut client = Client::ready(quick()).await;
    let get = json!({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "test_input_required_result_prompt"}});
    let asked = client.ask(get).await;
    assert_eq!(asked["method"], "elicitation/create");
    let answer =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": accepted(&json!({"name": "tea"}))});
    let got = client.ask(answer).await;
    assert!(
        got["result"]["messages"][0]["content"]["text"]
            .as_str()
            .unwrap()
            .contains("tea"),
        "{got}"
    );
}

#[tokio::test]
async fn only_what_a_client_can_is_asked() {
    let mut client = Client::start(quick());
    let name = json!({"name": "test_input_required_result_capabilities"});
    for (can, keys) in [
        (json!({"sampling": {}}), vec!["greeting"]),
        (
            json!({"elicitation": {}, "roots": {}}),
            vec!["client_roots", "user_name"],
        ),
    ] {
        let asked = modern(&mut client, "tools/call", name.clone(), &can).await;
        let mut found: Vec<&str> = asked["result"]["inputRequests"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        found.sort_unstable();
        assert_eq!(found, keys, "{asked}");
    }
    let nothing = modern(&mut client, "tools/call", name, &json!({})).await;
    assert_eq!(nothing["result"]["resultType"], "complete", "{nothing}");
}

#[tokio::test]
async fn a_session_is_asked_once_for_each_question() {
    let mut client = Client::ready(quick()).await;
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "test_input_required_result_multi_round"}});
    let mut message = client.ask(call).await;
    for content in [json!({"name": "Ada"}), json!({"ok": true})] {
        assert_eq!(message["method"], "elicitation/create", "{message}");
        message = client
            .ask(json!({"jsonrpc": "2.0", "id": message["id"], "result": accepted(&content)}))
            .await;
    }
    assert_eq!(
        message["result"]["structuredContent"]["step2"]["content"]["ok"], true,
        "{message}"
    );
}

#[tokio::test]
async fn a_changed_list_is_told_to_those_who_want_it() {
    async fn names(client: &mut Client, method: &str, key: &str) -> Vec<Value> {
        let (_, answer) = client.request(method, json!({})).await;
        let entries = answer["result"][key].as_array().unwrap();
        entries.iter().map(|entry| entry["name"].clone()).collect()
    }
    let mut client = Client::ready(quick()).await;
    for (tool, told, list, key, name) in [
        (
            "test_trigger_tool_change",
            "notifications/tools/list_changed",
            "tools/list",
            "tools",
            "test_dynamic_tool",
        ),
        (
            "test_trigger_prompt_change",
            "notifications/prompts/list_changed",
            "prompts/list",
            "prompts",
            "test_dynamic_prompt",
        ),
    ] {
        for there in [true, false] {
            let (before, answer) = client.request("tools/call", json!({"name": tool})).await;
            assert!(answer.get("result").is_some(), "{answer}");
            assert_eq!(
                before.iter().map(|it| &it["method"]).collect::<Vec<_>>(),
                [told]
            );
            let found = names(&mut client, list, key).await;
            assert_eq!(found.contains(&json!(name)), there, "{found:?}");
        }
    }
    client
        .request("tools/call", json!({"name": "test_trigger_tool_change"}))
        .await;
    let result = client.call("test_dynamic_tool", json!({})).await;
    assert_eq!(result["content"][0]["type"], "text");
}

#[tokio::test]
async fn a_stream_gets_the_changes_that_it_asked_for() {
    let mut client = Client::start(ServeOptions::default());
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let listen = json!({"jsonrpc": "2.0", "id": "l", "method": "subscriptions/listen",
        "params": {"_meta": meta, "notifications": {"promptsListChanged": true}}});
    let accepted = client.ask(listen).await;
    assert_eq!(
        accepted["method"],
        "notifications/subscriptions/acknowledged"
    );
    for (tool, heard) in [
        ("test_trigger_tool_change", 0),
        ("test_trigger_prompt_change", 1),
    ] {
        let (before, answer) = client
            .request("tools/call", json!({"_meta": meta, "name": tool}))
            .await;
        assert!(answer.get("result").is_some(), "{answer}");
        assert_eq!(before.len(), heard, "{before:?}");
        for told in before {
            assert_eq!(told["method"], "notifications/prompts/list_changed");
            assert_eq!(
                told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
                "l"
            );
        }
    }
}
