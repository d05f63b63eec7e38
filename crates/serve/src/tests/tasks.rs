//! Calls whose result is fetched later.

use serde_json::{Value, json};

use super::{Client, quick};
use crate::{Clock, ClockMode, ServeOptions};

const TASKS: &str = "io.modelcontextprotocol/tasks";

async fn ask(client: &mut Client, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "extensions": {TASKS: {}}},
    });
    client.request(method, params).await.1
}

/// The task that a call makes.
async fn made(client: &mut Client, tool: &str, arguments: Value) -> Value {
    let answer = ask(
        client,
        "tools/call",
        json!({"name": tool, "arguments": arguments}),
    )
    .await;
    assert_eq!(answer["result"]["resultType"], "task", "{answer}");
    answer["result"]["taskId"].clone()
}

async fn look(client: &mut Client, id: &Value) -> Value {
    let answer = ask(client, "tasks/get", json!({"taskId": id})).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    answer["result"].clone()
}

/// Waits that nobody waits for the end of.
fn still() -> ServeOptions {
    ServeOptions {
        clock: Clock::new(
            ClockMode::read("fixed:2026-01-01T00:00:00Z").unwrap(),
            1000.0,
        ),
        ..ServeOptions::default()
    }
}

#[tokio::test]
async fn a_task_works_until_its_time_is_over() {
    let mut client = Client::start(still());
    let id = made(
        &mut client,
        "slow_compute",
        json!({"seconds": 5, "label": "x"}),
    )
    .await;
    let task = look(&mut client, &id).await;
    assert_eq!(task["status"], "working");
    assert_eq!(task["createdAt"], "2026-01-01T00:00:00.000Z");
    let cancelled = ask(&mut client, "tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(cancelled["result"]["resultType"], "complete");
    assert!(cancelled["result"].get("taskId").is_none(), "{cancelled}");
    assert_eq!(look(&mut client, &id).await["status"], "cancelled");

    let mut client = Client::start(quick());
    let id = made(
        &mut client,
        "slow_compute",
        json!({"seconds": 5, "label": "x"}),
    )
    .await;
    let task = look(&mut client, &id).await;
    assert_eq!(
        (&task["status"], &task["createdAt"]),
        (&json!("completed"), &json!("1970-01-01T00:00:00.000Z"))
    );
    assert_eq!(task["lastUpdatedAt"], "1970-01-01T00:00:05.000Z");
    assert_eq!(task["result"]["content"][0]["text"], "x is computed");
    ask(&mut client, "tasks/cancel", json!({"taskId": id})).await;
    assert_eq!(
        look(&mut client, &id).await["status"],
        "completed",
        "the end is the end"
    );
}

#[tokio::test]
async fn the_two_kinds_of_errors_end_a_task_in_two_ways() {
    let mut client = Client::start(quick());
    let id = made(&mut client, "failing_job", json!({})).await;
    let task = look(&mut client, &id).await;
    assert_eq!(
        (&task["status"], &task["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    let id = made(&mut client, "protocol_error_job", json!({})).await;
    let task = look(&mut client, &id).await;
    assert_eq!(
        (&task["status"], &task["error"]["code"]),
        (&json!("failed"), &json!(-32603))
    );
    assert!(task.get("result").is_none(), "{task}");
    let unknown = ask(&mut client, "tasks/get", json!({"taskId": "task-0"})).await;
    assert_eq!(unknown["error"]["code"], -32602);
}

#[tokio::test]
async fn a_task_asks_and_goes_on_when_all_is_answered() {
    let mut client = Client::start(quick());
    let id = made(&mut client, "multi_input", json!({})).await;
    let open = async |client: &mut Client| -> (Value, Vec<String>) {
        let task = look(client, &id).await;
        let open = task["inputRequests"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let mut open: Vec<String> = open.keys().cloned().collect();
        open.sort();
        (task["status"].clone(), open)
    };
    let answer = json!({"action": "accept", "content": {"name": "Ada"}});
    assert_eq!(
        open(&mut client).await,
        (
            json!("input_required"),
            vec!["first".to_owned(), "last".to_owned()]
        )
    );
    for (given, left) in [
        (json!({"nobody": answer}), 2),
        (json!({"first": 5}), 2),
        (json!({"first": answer}), 1),
        (json!({"last": answer, "first": 5}), 0),
    ] {
        let params = json!({"taskId": id, "inputResponses": given});
        let taken = ask(&mut client, "tasks/update", params).await;
        assert_eq!(taken["result"]["resultType"], "complete", "{taken}");
        assert_eq!(open(&mut client).await.1.len(), left, "{given}");
    }
    let task = look(&mut client, &id).await;
    assert_eq!(task["status"], "completed");
    let told = "the user says accept: {\"name\":\"Ada\"}";
    assert_eq!(
        task["result"]["content"][0]["text"],
        format!("{told}, {told}")
    );
}

#[tokio::test]
async fn who_knows_no_tasks_gets_results_or_a_refusal() {
    let mut client = Client::start(quick());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let slow =
        json!({"_meta": meta, "name": "slow_compute", "arguments": {"seconds": 60, "label": "x"}});
    let (_, answer) = client.request("tools/call", slow).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    let asks = json!({"_meta": meta, "name": "confirm_delete", "arguments": {"filename": "a"}});
    let (_, answer) = client.request("tools/call", asks).await;
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer}");
    for (method, params) in [
        ("tools/call", json!({"_meta": meta, "name": "failing_job"})),
        ("tasks/get", json!({"_meta": meta, "taskId": "x"})),
    ] {
        let error = client.refused(method, params).await;
        assert_eq!(error["code"], -32021, "{method}");
        assert!(
            error["data"]["requiredCapabilities"]["extensions"]
                .get(TASKS)
                .is_some(),
            "{error}"
        );
    }
    let mut client = Client::ready(quick()).await;
    let failed = client.call("failing_job", json!({})).await;
    assert_eq!(
        failed["isError"], true,
        "a session has no tasks, so it gets the result"
    );
}

#[tokio::test]
async fn ids_come_from_the_seed() {
    async fn ids(seed: u64) -> Vec<Value> {
        let mut client = Client::start(ServeOptions { seed, ..quick() });
        let mut ids = Vec::new();
        for _ in 0..2 {
            ids.push(made(&mut client, "failing_job", json!({})).await);
        }
        ids
    }
    let first = ids(1).await;
    assert_ne!(first[0], first[1]);
    assert_eq!(first, ids(1).await);
    assert_ne!(first, ids(2).await);
}
