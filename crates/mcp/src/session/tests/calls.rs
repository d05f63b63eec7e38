//! What subjects do, and what is seen of them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::server::{
    Act, DEADLINE, OK, Plot, Stage, Waiting, class, codes, echo, hands, hands_with, line, on_call,
    result, said, text, tool,
};
use crate::{
    observation::{answer::Body, finding::FindingCode},
    script::{
        client::{ClientBehaviour, SamplingReply},
        subject::{
            Capture, CapturePath, CaptureSource, CompletionCall, ListCall, OnToolError,
            PromptsCall, RawExchange, RawFrame, RawHandshake, ResourcesAction, ResourcesCall, Step,
            StepAction, StepOrder, Subject,
        },
        template::ValueTemplate,
    },
    session::Listed,
};

#[tokio::test(start_paused = true)]
async fn a_tool_call_is_a_handshake_and_a_call() {
    let mut stage = Stage::new(on_call(vec![said("hello")]));
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "result");
    assert_eq!(codes(&seen), []);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.reply().unwrap().text, "hello");
    assert_eq!(answer.arguments, json!({"message": "hi"}));
    assert_eq!(answer.progress_token, Some(json!(2)));
    assert_eq!(seen.wire.len(), 5);
    assert_eq!(
        seen.session.unwrap().server().as_deref(),
        Some("scripted 1")
    );
    let (_, received) = stage.close().await;
    assert_eq!(
        received[0],
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "mcp-assert", "version": env!("CARGO_PKG_VERSION")},
        }})
    );
    assert_eq!(
        received[1],
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
    );
    assert_eq!(
        received[2],
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"message": "hi"}, "_meta": {"progressToken": 2},
        }})
    );
}

#[tokio::test(start_paused = true)]
async fn assertions_take_turns_on_one_session() {
    let mut stage = Stage::new(on_call(vec![said("hello")]));
    for turn in 0..3 {
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        assert_eq!(seen.wire.len(), if turn == 0 { 5 } else { 2 });
        assert!(seen.session.is_some());
        assert!(stage.session.is_usable());
    }
}

#[tokio::test(start_paused = true)]
async fn all_pages_of_a_list_are_merged_and_one_page_is_left_as_it_is() {
    let plot = |method: &str, _: usize, message: &Value| match method {
        "initialize" => vec![hands()],
        "tools/list" => {
            let schema = json!({"type": "object"});
            vec![match message["params"]["cursor"].as_str() {
                None => result(
                    &json!({"tools": [{"name": "a", "inputSchema": schema}], "nextCursor": "2"}),
                ),
                Some("2") => result(
                    &json!({"tools": [{"name": "b", "inputSchema": schema}], "nextCursor": "3"}),
                ),
                Some(_) => result(&json!({"tools": []})),
            }]
        }
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let seen = stage.perform(&Subject::Tools(ListCall::default())).await;
    let Some(Body::Result(reply)) = seen.answer.map(|answer| answer.body) else {
        panic!("no result")
    };
    assert_eq!(reply.pages.len(), 3);
    assert_eq!(
        reply.text,
        r#"{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]}"#
    );
    let page = Subject::Tools(ListCall {
        cursor: Some(text("2")),
    });
    let seen = stage.perform(&page).await;
    let Some(Body::Result(reply)) = seen.answer.map(|answer| answer.body) else {
        panic!("no result")
    };
    assert_eq!(reply.raw["nextCursor"], "3");
    assert_eq!(reply.pages.len(), 1);
}

/// A server whose prompts, resources and tools work, and that tells the client what it does.
pub(super) fn helpful() -> Plot {
    Box::new(|method, _, message| {
        let params = &message["params"];
        let update = || {
            told(
                "notifications/resources/updated",
                &json!({"uri": "test://a"}),
            )
        };
        match method {
            "initialize" => vec![hands()],
            "ping" | "logging/setLevel" | "resources/unsubscribe" => vec![result(&json!({}))],
            "resources/subscribe" => vec![result(&json!({})), update()],
            "resources/read" => vec![result(&json!({"contents": [
                {"uri": params["uri"], "text": "content"},
            ]}))],
            "resources/list" => vec![result(&json!({"resources": [
                {"uri": "test://a", "name": "a"},
            ]}))],
            "prompts/get" => vec![result(&json!({"messages": [
                {"role": "user", "content": {"type": "text", "text": params["arguments"]["who"]}},
            ]}))],
            "completion/complete" => vec![result(&json!({"completion": {
                "values": [params["argument"]["value"], params["context"]["arguments"]["a"]],
            }}))],
            "tools/call" => match params["name"].as_str() {
                Some("log") => vec![
                    told(
                        "notifications/message",
                        &json!({"level": "info", "data": "one"}),
                    ),
                    said("logged"),
                    Act::Pause(Duration::from_millis(20)),
                    told(
                        "notifications/message",
                        &json!({"level": "error", "data": "two"}),
                    ),
                ],
                Some("id") => vec![said(r#"{"id": 17}"#)],
                Some("fail") => vec![result(&json!({
                    "content": [{"type": "text", "text": "went wrong"}], "isError": true,
                }))],
                Some("ask") => vec![line(
                    r#"{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"maxTokens":9,"messages":[]}}"#,
                )],
                _ => vec![said(&params["arguments"].to_string())],
            },
            // The client's answer to the question of `ask`; the call that waits has id 2.
            "" if message["id"] == "q" => vec![line(&format!(
                r#"{{"jsonrpc":"2.0","id":2,"result":{{"content":[{}]}}}}"#,
                message["result"]["content"]
            ))],
            _ => Vec::new(),
        }
    })
}

pub(super) fn told(method: &str, params: &Value) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#
    ))
}

pub(super) fn template(value: Value) -> ValueTemplate {
    ValueTemplate { value }
}

async fn answer_text(subject: &Subject) -> String {
    let mut stage = Stage::new(helpful());
    let seen = stage.perform(subject).await;
    assert!(seen.disruption.is_none(), "{:?}", seen.disruption);
    assert_eq!(codes(&seen), []);
    seen.answer.unwrap().reply().unwrap().text.clone()
}

#[tokio::test(start_paused = true)]
async fn prompts_completions_and_resources_are_asked_for() {
    let get = Subject::Prompts(PromptsCall::Get {
        name: text("greet"),
        arguments: template(json!({"who": "you"})),
    });
    assert_eq!(answer_text(&get).await, "you");
    assert_eq!(sent_with(&get).await, json!({"who": "you"}));
    let complete = Subject::Completion(Box::new(CompletionCall {
        reference: template(json!({"type": "ref/prompt", "name": "greet"})),
        argument: template(json!({"name": "who", "value": "y"})),
        context: Some(template(json!({"a": "c"}))),
    }));
    assert_eq!(
        answer_text(&complete).await,
        r#"{"completion":{"values":["y","c"]}}"#
    );
    assert_eq!(
        sent_with(&complete).await,
        json!({
            "ref": {"type": "ref/prompt", "name": "greet"},
            "argument": {"name": "who", "value": "y"},
            "context": {"arguments": {"a": "c"}},
        })
    );
    let read = Subject::Resources(Box::new(ResourcesCall {
        subscribe: None,
        action: Some(ResourcesAction::Read(text("test://a"))),
        unsubscribe: None,
        within: None,
    }));
    assert_eq!(answer_text(&read).await, "content");
    assert_eq!(sent_with(&read).await, Value::Null);
}

/// What a failure shows as the arguments of a call.
async fn sent_with(subject: &Subject) -> Value {
    let seen = Stage::new(helpful()).perform(subject).await;
    seen.answer.unwrap().arguments
}

#[tokio::test(start_paused = true)]
async fn a_subscription_waits_for_its_update_and_ends() {
    let subject = Subject::Resources(Box::new(ResourcesCall {
        subscribe: Some(text("test://a")),
        action: Some(ResourcesAction::List(ListCall::default())),
        unsubscribe: Some(text("test://a")),
        within: None,
    }));
    let began = Instant::now();
    let mut stage = Stage::new(helpful());
    stage.wait = Some(until(1));
    let seen = stage.perform(&subject).await;
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "it ends early"
    );
    let answer = seen.answer.unwrap();
    assert_eq!(answer.notifications, 0..1);
    assert!(answer.reply().unwrap().text.contains("test://a"));
    let (_, received) = stage.close().await;
    let methods: Vec<_> = received
        .iter()
        .map(|sent| sent["method"].as_str())
        .collect();
    assert_eq!(
        methods[2..],
        [
            Some("resources/subscribe"),
            Some("resources/list"),
            Some("resources/unsubscribe"),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn subscriptions_that_are_served_are_declared() {
    let case = async |capabilities: Value, wanted: Option<&str>| {
        let mut rest = helpful();
        let plot: Plot = Box::new(move |method, count, params| match method {
            "initialize" => vec![hands_with(&capabilities)],
            _ => rest(method, count, params),
        });
        let subject = Subject::Resources(Box::new(ResourcesCall {
            subscribe: Some(text("test://a")),
            action: None,
            unsubscribe: None,
            within: None,
        }));
        let seen = Stage::new(plot).perform(&subject).await;
        let said: Vec<&str> = seen.findings.iter().map(|it| it.message.as_str()).collect();
        let about = "`resources/subscribe` is served";
        let found = said.iter().find(|message| message.starts_with(about));
        assert_eq!(found.is_some(), wanted.is_some(), "{said:?}");
        assert!(
            wanted.is_none_or(|name| found.is_some_and(|message| message.contains(name))),
            "{said:?}"
        );
    };
    case(json!({"resources": {"subscribe": true}}), None).await;
    case(json!({"resources": {}}), Some("`resources.subscribe`")).await;
    case(json!({}), Some("`resources`")).await;
}

#[tokio::test(start_paused = true)]
async fn log_messages_are_waited_for() {
    let case = async |wait, messages: usize, longest: u64| {
        let subject = Subject::Logging {
            level: Some(text("info")),
            call: Some(Box::new(tool("log", json!({})))),
            within: None,
        };
        let began = Instant::now();
        let mut stage = Stage::new(helpful());
        stage.wait = wait;
        let seen = stage.perform(&subject).await;
        assert!(began.elapsed() <= Duration::from_millis(longest));
        let answer = seen.answer.unwrap();
        assert_eq!((answer.notifications.len(), answer.on_time), (messages, 1));
    };
    case(None, 1, 5).await;
    case(Some(until(1)), 1, 5).await;
    case(Some(until(2)), 2, 50).await;
    let whole = Waiting {
        least: Duration::from_millis(500),
        ..until(1)
    };
    case(Some(whole), 2, 510).await;
}

#[tokio::test(start_paused = true)]
async fn a_level_is_set_before_the_setup_which_counts() {
    let case = async |call: Option<&str>, messages: usize| {
        let subject = Subject::Logging {
            level: Some(text("info")),
            call: call.map(|name| Box::new(tool(name, json!({})))),
            within: None,
        };
        let log = StepAction::Tool(tool("log", json!({})));
        let mut stage = Stage::new(helpful());
        let seen = stage.perform_after(&[step(log)], &subject).await;
        let answer = seen.answer.unwrap();
        assert_eq!(answer.notifications.start, 0, "{call:?}");
        assert!(answer.notifications.len() >= messages, "{call:?}");
        let (_, received) = stage.close().await;
        let methods = received[2..].iter().map(|sent| sent["method"].as_str());
        let called = call.map(|_| "tools/call");
        let wanted = [Some("logging/setLevel"), Some("tools/call"), called];
        let wanted: Vec<_> = wanted.into_iter().flatten().collect();
        assert_eq!(methods.flatten().collect::<Vec<_>>(), wanted);
    };
    case(None, 1).await;
    case(Some("log"), 2).await;
}

/// A wait of a second that ends when so many have come.
pub(super) fn until(count: usize) -> Waiting {
    Waiting {
        least: Duration::ZERO,
        most: Duration::from_secs(1),
        until: count,
    }
}

#[tokio::test(start_paused = true)]
async fn samples_come_from_the_client() {
    let client = ClientBehaviour {
        sampling: Some(vec![SamplingReply::Message {
            text: text("a sample"),
            model: text("mock"),
            stop_reason: text("endTurn"),
        }]),
        ..ClientBehaviour::default()
    };
    let mut stage = Stage::with(helpful(), &client);
    let subject = Subject::Sampling(tool("ask", json!({})));
    let seen = stage.perform(&subject).await;
    assert_eq!(codes(&seen), []);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.reply().unwrap().text, "a sample");
    assert_eq!(answer.server_requests, 0..1);
    assert_eq!(seen.server_requests[0].params["maxTokens"], 9);
    let (_, received) = stage.close().await;
    assert_eq!(
        received[0]["params"]["capabilities"],
        json!({"sampling": {}})
    );
}

pub(super) fn step(action: StepAction) -> Step {
    Step {
        action,
        captures: Vec::new(),
        on_tool_error: OnToolError::Stop,
    }
}

fn ping() -> Step {
    step(StepAction::Ping)
}

fn capture(name: &str, path: &str) -> Capture {
    Capture {
        name: name.into(),
        source: CaptureSource::Either,
        path: Some(CapturePath::Compiled(
            serde_json_path::JsonPath::parse(path).unwrap(),
        )),
        written: path.into(),
    }
}

#[tokio::test(start_paused = true)]
async fn captured_values_reach_the_subject() {
    let mut first = step(StepAction::Tool(tool("id", json!({}))));
    first.captures = vec![capture("id", "$.id")];
    let setup = [
        first,
        step(StepAction::Ping),
        step(StepAction::Read(text("test://{{id}}"))),
        step(StepAction::SetLevel(text("info"))),
        step(StepAction::Subscribe(text("test://a"))),
        step(StepAction::Wait(Duration::from_millis(10))),
        step(StepAction::Prompt {
            name: text("greet"),
            arguments: template(json!({"who": "you"})),
        }),
    ];
    let subject = Subject::Tool(tool("echo", json!({"text": "{{id}}", "typed": "{{id!}}"})));
    let mut stage = Stage::new(helpful());
    let seen = stage.perform_after(&setup, &subject).await;
    assert!(seen.disruption.is_none(), "{:?}", seen.disruption);
    let text = &seen.answer.as_ref().unwrap().reply().unwrap().text;
    assert_eq!(text, r#"{"text":"17","typed":17}"#);
    assert_eq!(stage.bindings.captured["id"], json!(17));
    assert_eq!(seen.steps.len(), 7);
    assert_eq!(seen.steps[0].label, "tool `id`");
    assert!(seen.steps[5].answer.is_none(), "a wait has no answer");
    let read = seen.steps[2].answer.as_ref().unwrap().reply().unwrap();
    assert_eq!(read.raw["contents"][0]["uri"], "test://17");
    assert!(seen.timings.subject <= seen.timings.setup);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_fails_ends_the_assertion() {
    let case = async |step: Step, wanted: &str, message: &str| {
        let setup = [ping(), step];
        let seen = Stage::new(helpful()).perform_after(&setup, &echo()).await;
        assert_eq!(class(&seen), wanted);
        let disruption = seen.disruption.unwrap();
        assert_eq!(disruption.message, message);
        assert_eq!(disruption.step, Some(1));
        assert!(seen.steps[1].answer.is_some(), "what came is kept");
    };
    case(
        step(StepAction::Tool(tool("fail", json!({})))),
        "step (setup)",
        "tool `fail` answered with a tool error: went wrong",
    )
    .await;
    let mut missing = step(StepAction::Tool(tool("id", json!({}))));
    missing.captures = vec![capture("name", "$.name")];
    case(
        missing,
        "step (setup)",
        "`name` cannot be captured from `$.name`: nothing is there",
    )
    .await;
    let mut allowed = step(StepAction::Tool(tool("fail", json!({}))));
    allowed.on_tool_error = OnToolError::Allowed;
    let seen = Stage::new(helpful())
        .perform_after(&[allowed], &echo())
        .await;
    assert_eq!(class(&seen), "result");
}

#[tokio::test(start_paused = true)]
async fn parallel_steps_are_all_in_flight_and_each_gets_its_answer() {
    let steps: Vec<Step> = (0..3)
        .map(|number| step(StepAction::Tool(tool("echo", json!({"n": number})))))
        .collect();
    let subject = Subject::Steps {
        steps,
        order: StepOrder::Parallel,
    };
    let mut waiting: Vec<String> = Vec::new();
    let plot = Box::new(move |method: &str, _: usize, message: &Value| {
        if method == "initialize" {
            return vec![hands()];
        }
        if method != "tools/call" {
            return Vec::new();
        }
        let text = message["params"]["arguments"]["n"].to_string();
        waiting.push(
            OK.replace("@id", &message["id"].to_string())
                .replace("hi", &text),
        );
        if waiting.len() < 3 {
            return Vec::new();
        }
        waiting.iter().rev().map(|answer| line(answer)).collect()
    });
    let seen = Stage::new(plot).perform(&subject).await;
    assert!(seen.disruption.is_none(), "{:?}", seen.disruption);
    assert_eq!(codes(&seen), []);
    let texts: Vec<_> = seen
        .steps
        .iter()
        .map(|step| step.answer.as_ref().unwrap().reply().unwrap().text.as_str())
        .collect();
    assert_eq!(texts, ["0", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn raw_frames_go_out_and_come_back_as_they_are() {
    let raw = |send, handshake| {
        Subject::Raw(RawExchange {
            send,
            handshake,
            within: Duration::from_millis(200),
        })
    };
    let json = |value| RawFrame::Json(template(value));
    let began = Instant::now();
    let chosen = json(json!({"jsonrpc": "2.0", "id": "my id", "method": "ping"}));
    let mut stage = Stage::new(helpful());
    let seen = stage.perform(&raw(vec![chosen], RawHandshake::Made)).await;
    assert_eq!(
        seen.answer.unwrap().reply().unwrap().text,
        r#"{"jsonrpc":"2.0","id":"my id","result":{}}"#
    );
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "it ends with the answer"
    );

    let malformed = RawFrame::Text(text("{\"jsonrpc\": \"2.0\", oops"));
    let refuse = |_: &str, _: usize, _: &Value| {
        vec![line(
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
        )]
    };
    let mut stage = Stage::new(Box::new(refuse));
    let seen = stage
        .perform(&raw(vec![malformed], RawHandshake::Omitted))
        .await;
    assert_eq!(class(&seen), "result");
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "it ends with the answer"
    );
    let (_, received) = stage.close().await;
    assert_eq!(received.len(), 1, "no handshake was made");

    let silent = json(json!({"jsonrpc": "2.0", "id": 5, "method": "void"}));
    let mut stage = Stage::new(on_call(Vec::new()));
    let seen = stage.perform(&raw(vec![silent], RawHandshake::Made)).await;
    assert_eq!(seen.answer.unwrap().reply().unwrap().text, "");
    assert!(began.elapsed() >= Duration::from_millis(200));
    assert!(stage.session.is_usable());
}

#[tokio::test(start_paused = true)]
async fn a_frame_with_an_id_is_a_request_whatever_its_method_is() {
    let refuse = |id: &str| {
        line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"no"}}}}"#
        ))
    };
    let case = async |sent: Value, acts: Vec<Act>, answered: usize| {
        let plot = move |method: &str, _: usize, message: &Value| match method {
            "initialize" => vec![hands()],
            _ if message.get("id").is_some() || message.is_array() => acts.clone(),
            _ => Vec::new(),
        };
        let subject = Subject::Raw(RawExchange {
            send: vec![RawFrame::Json(template(sent.clone()))],
            handshake: RawHandshake::Made,
            within: Duration::from_secs(1),
        });
        let began = Instant::now();
        let mut stage = Stage::new(Box::new(plot));
        let seen = stage.perform(&subject).await;
        assert!(
            began.elapsed() < Duration::from_millis(100),
            "{sent}: it ends with the answer"
        );
        let strays = [FindingCode::UnknownId, FindingCode::NullId];
        let is_stray = |code: &FindingCode| strays.contains(code);
        assert!(!codes(&seen).iter().any(is_stray), "{sent}");
        let answer = seen.answer.unwrap();
        let frames = answer.reply().unwrap().frames.clone().unwrap();
        assert_eq!(frames.answers.len(), answered, "{sent}");
        assert_eq!(frames.unanswered, [], "{sent}");
    };
    let named = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "x"});
    case(json!({"jsonrpc": "2.0", "id": 6}), vec![refuse("6")], 1).await;
    case(json!({"id": "a"}), vec![refuse("\"a\"")], 1).await;
    case(json!({"id": 6, "method": 5}), vec![refuse("6")], 1).await;
    case(json!({"id": 6, "method": null}), vec![refuse("6")], 1).await;
    case(json!([{"id": 6}]), vec![refuse("6")], 1).await;
    case(
        json!([{"id": 6}, {"id": 7, "method": "ping"}]),
        vec![refuse("6"), refuse("7")],
        2,
    )
    .await;
    // "Invalid Request" may come without the id.
    case(json!({"id": 6, "method": "x"}), vec![refuse("null")], 1).await;
    case(json!({"id": 6}), vec![refuse("null")], 1).await;
    // What has no id that an answer could carry is answered without one.
    case(named(json!({"a": 1})), vec![refuse("null")], 1).await;
    case(named(json!(true)), vec![refuse("null")], 1).await;
}

#[tokio::test(start_paused = true)]
async fn a_catalog_is_what_is_declared() {
    let plot = |method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![hands_with(&json!({"tools": {}, "prompts": {}}))],
        "tools/list" => vec![
            told("notifications/late", &json!({})),
            result(&json!({"tools": [{"name": "a b"}]})),
        ],
        "prompts/list" => vec![result(&json!({"prompts": []}))],
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let deadline = Instant::now() + DEADLINE;
    stage
        .session
        .greet(&stage.bindings, deadline)
        .await
        .unwrap();
    let Listed { catalog, missing } = stage.session.catalog(deadline).await;
    assert_eq!(missing, None);
    assert_eq!(catalog.tool_names(), ["a b"]);
    assert_eq!(catalog.prompts, Some(Vec::new()));
    assert_eq!(catalog.resources, None);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_changes_without_a_word_is_noticed() {
    let case = async |changed: &'static str, word: bool, wanted: &[FindingCode]| {
        let plot = move |method: &str, count: usize, _: &Value| match method {
            "initialize" => vec![hands()],
            "tools/list" => {
                let first = r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]"#;
                let tools = if count == 0 { first } else { changed };
                let tools: Value = serde_json::from_str(tools).unwrap();
                let mut acts = vec![result(&json!({ "tools": tools }))];
                if word && count == 0 {
                    acts.push(told("notifications/tools/list_changed", &json!({})));
                }
                acts
            }
            _ => Vec::new(),
        };
        let mut stage = Stage::new(Box::new(plot));
        let lists = Subject::Tools(ListCall::default());
        let first = stage.perform(&lists).await;
        assert_eq!(codes(&first), [], "{changed}");
        let seen = stage.perform(&lists).await;
        assert_eq!(codes(&seen), wanted, "{changed}");
        assert!(
            first
                .answer
                .unwrap()
                .reply()
                .unwrap()
                .text
                .contains(r#""a""#)
        );
        assert!(stage.session.is_usable());
    };
    let silently = &[FindingCode::ListChangedSilently];
    let same = r#"[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}}]"#;
    let other_order = r#"[{"name":"b","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]"#;
    case(same, false, &[]).await;
    case(other_order, false, silently).await;
    case("[]", false, silently).await;
    case("[]", true, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn who_did_not_declare_it_need_not_tell_that_a_list_changes() {
    let plot = |method: &str, count: usize, _: &Value| match method {
        "initialize" => vec![hands_with(&json!({"tools": {}}))],
        "tools/list" => {
            let tool = json!({"name": "a", "inputSchema": {"type": "object"}});
            let tools = if count == 0 { vec![tool] } else { Vec::new() };
            vec![result(&json!({ "tools": tools }))]
        }
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let lists = Subject::Tools(ListCall::default());
    stage.perform(&lists).await;
    let seen = stage.perform(&lists).await;
    assert_eq!(codes(&seen), []);
}
