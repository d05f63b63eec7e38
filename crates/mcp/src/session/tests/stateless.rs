//! Sessions without a handshake: what each request carries, what the server needs first, and streams of notifications.

use serde_json::{Value, json};

use super::server::{Act, Plot, Stage, class, codes, echo, hands, line, result, said, text, tool};
use crate::{
    observation::{Observation, answer::Interest, finding::FindingCode as F},
    protocol::revision::Revision,
    script::{
        client::{
            ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply,
            RevisionWanted, SamplingReply,
        },
        subject::{ListCall, ResourcesAction, ResourcesCall, Subject},
    },
};

/// The keys of what a request says of its client.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn stateless() -> ClientBehaviour {
    ClientBehaviour {
        revision: RevisionWanted::Exactly(Revision::V2026_07_28),
        ..ClientBehaviour::default()
    }
}

/// Who the server is.
fn discovered() -> Act {
    result(&json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {"listChanged": true}, "prompts": {}, "resources": {"subscribe": true}, "logging": {}},
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "scripted", "version": "1"}},
    }))
}

/// The complete answer of a tool.
fn done(text: &str) -> Act {
    result(&json!({"resultType": "complete", "content": [{"type": "text", "text": text}]}))
}

/// A plot that says who the server is, and plays this on every other request.
fn plot(mut on: impl FnMut(&str, usize, &Value) -> Vec<Act> + Send + 'static) -> Plot {
    Box::new(move |method, count, message| match method {
        "server/discover" => vec![discovered()],
        method if method.starts_with("notifications/") => Vec::new(),
        method => on(method, count, message),
    })
}

fn refuse(error: &str) -> Act {
    line(&format!(r#"{{"jsonrpc":"2.0","id":@id,"error":{error}}}"#))
}

fn asks(members: &Value) -> Act {
    let mut asked = json!({"resultType": "input_required"});
    for (name, value) in members.as_object().unwrap() {
        asked[name] = value.clone();
    }
    result(&asked)
}

/// The disruption in one line, and its help.
fn told(seen: &Observation) -> (String, String) {
    let disruption = seen.disruption.as_ref().unwrap();
    let help = disruption.help.clone().unwrap_or_default();
    (disruption.message.clone(), help)
}

#[tokio::test(start_paused = true)]
async fn each_request_says_who_asks_and_nothing_else_is_sent() {
    let mut stage = Stage::with(plot(|_, _, _| vec![done("hi")]), &stateless());
    for _ in 0..2 {
        let seen = stage.perform(&echo()).await;
        assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
        let facts = seen.session.unwrap();
        assert_eq!(facts.revision, Revision::V2026_07_28);
        assert_eq!(facts.server().as_deref(), Some("scripted 1"));
        assert!(facts.declares_part("resources", "subscribe"));
    }
    let (_, received) = stage.close().await;
    let methods: Vec<&str> = received
        .iter()
        .filter_map(|it| it["method"].as_str())
        .collect();
    assert_eq!(methods, ["server/discover", "tools/call", "tools/call"]);
    for request in &received {
        let meta = &request["params"]["_meta"];
        assert_eq!(meta[VERSION], "2026-07-28");
        assert_eq!(meta[CAPABILITIES], json!({}));
        assert_eq!(meta[CLIENT]["name"], "mcp-assert");
        assert_eq!(meta.get(LEVEL), None);
    }
    assert_eq!(received[0]["params"]["_meta"].get("progressToken"), None);
    assert_eq!(received[2]["params"]["_meta"]["progressToken"], 3);
}

#[tokio::test(start_paused = true)]
async fn capabilities_stand_in_each_request_in_the_words_of_the_revision() {
    let client = ClientBehaviour {
        roots: Some(vec![text("/a")]),
        sampling: Some(vec![]),
        ..stateless()
    };
    let mut stage = Stage::with(plot(|_, _, _| vec![done("hi")]), &client);
    stage.perform(&echo()).await;
    let (_, received) = stage.close().await;
    let declared = &received[1]["params"]["_meta"][CAPABILITIES];
    assert_eq!(*declared, json!({"roots": {}, "sampling": {}}));
}

#[tokio::test(start_paused = true)]
async fn who_the_server_is_is_what_the_subject_looks_at() {
    let mut stage = Stage::with(plot(|_, _, _| vec![]), &stateless());
    let seen = stage.perform(&Subject::Initialize).await;
    let answer = seen.answer.unwrap();
    assert_eq!(
        answer.reply().unwrap().raw["supportedVersions"],
        json!(["2026-07-28"])
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_says_what_it_speaks() {
    let case = async |error: &'static str, message: &str, help: &str| {
        let mut stage = Stage::with(Box::new(move |_, _, _| vec![refuse(error)]), &stateless());
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "protocol-error (handshake)");
        assert_eq!(told(&seen), (message.to_owned(), help.to_owned()));
        let seen = stage.perform(&Subject::Initialize).await;
        assert!(
            class(&seen).starts_with("protocol error -32"),
            "{}",
            class(&seen)
        );
    };
    case(
        r#"{"code":-32022,"message":"no","data":{"requested":"2026-07-28","supported":["2025-06-18","2025-11-25"]}}"#,
        "`server/discover` was refused with -32022 (unsupported protocol version): no",
        "the server speaks 2025-06-18, 2025-11-25; write `protocol: 2025-11-25`",
    )
    .await;
    case(
        r#"{"code":-32601,"message":"Method not found"}"#,
        "`server/discover` was refused with -32601: Method not found",
        "every server of 2026-07-28 answers `server/discover`; without `protocol` a handshake is made first",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_request_of_the_server_is_a_finding_and_is_not_answered() {
    for method in ["roots/list", "ping"] {
        let ask = format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}"}}"#);
        let client = ClientBehaviour {
            roots: Some(vec![]),
            ..stateless()
        };
        let acts = move |_: &str, _: usize, _: &Value| vec![line(&ask), done("hi")];
        let mut stage = Stage::with(plot(acts), &client);
        let seen = stage.perform(&echo()).await;
        assert_eq!(codes(&seen), [F::UnknownRequest]);
        assert_eq!(seen.server_requests.len(), 1);
        let (_, received) = stage.close().await;
        assert_eq!(received.len(), 2, "{received:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_is_told_by_a_cancellation() {
    let mut stage = Stage::with(plot(|_, _, _| vec![]), &stateless());
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "timeout (subject)");
    let (_, received) = stage.close().await;
    assert_eq!(received[2]["method"], "notifications/cancelled");
    assert_eq!(received[2]["params"]["requestId"], 2);
}

#[tokio::test(start_paused = true)]
async fn an_empty_cursor_is_one_like_any_other() {
    let pages = |_: &str, count: usize, _: &Value| {
        let mut page = json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "public"});
        let schema = json!({"type": "object"});
        page["tools"] = json!([{"name": format!("t{count}"), "inputSchema": schema}]);
        if count == 0 {
            page["nextCursor"] = "".into();
        }
        vec![result(&page)]
    };
    let mut stage = Stage::with(plot(pages), &stateless());
    let seen = stage.perform(&Subject::Tools(ListCall::default())).await;
    assert_eq!(codes(&seen), []);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.reply().unwrap().pages.len(), 2);
    let (_, received) = stage.close().await;
    assert_eq!(received[2]["params"]["cursor"], "");
}

#[tokio::test(start_paused = true)]
async fn a_result_is_what_it_says() {
    let case = async |answer: Value, wanted: &str, codes_wanted: &[F]| {
        let mut stage = Stage::with(plot(move |_, _, _| vec![result(&answer)]), &stateless());
        let seen = stage.perform(&echo()).await;
        assert_eq!(
            (class(&seen).as_str(), codes(&seen).as_slice()),
            (wanted, codes_wanted)
        );
    };
    case(
        json!({"resultType": "complete", "content": []}),
        "result",
        &[],
    )
    .await;
    case(json!({"content": []}), "result", &[F::Schema]).await;
    let any = json!({"resultType": "complete", "content": [], "structuredContent": [1]});
    case(any, "result", &[]).await;
    let task = json!({"resultType": "task", "taskId": "1", "content": []});
    case(task, "violation (subject)", &[F::Schema]).await;
    let nothing = json!({"resultType": "input_required"});
    case(nothing, "violation (subject)", &[F::Schema]).await;
}

#[tokio::test(start_paused = true)]
async fn without_a_wanted_revision_a_refused_handshake_is_done_without() {
    let modern = |refusal: &'static str| -> Plot {
        Box::new(move |method, _, _| match method {
            "initialize" => vec![refuse(refusal)],
            "server/discover" => vec![discovered()],
            _ => vec![done("hi")],
        })
    };
    for refusal in [
        r#"{"code":-32601,"message":"Method not found"}"#,
        r#"{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}"#,
        r#"{"code":-32022,"message":"no"}"#,
    ] {
        let mut stage = Stage::new(modern(refusal));
        let seen = stage.perform(&echo()).await;
        assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
        assert_eq!(seen.session.unwrap().revision, Revision::V2026_07_28);
        let (_, received) = stage.close().await;
        let methods: Vec<&str> = received
            .iter()
            .filter_map(|it| it["method"].as_str())
            .collect();
        assert_eq!(methods, ["initialize", "server/discover", "tools/call"]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_handshake_that_is_refused_for_good_stays_refused() {
    let case =
        async |initialize: &'static str, discover: &'static str, asked: usize, help: &str| {
            let plot: Plot = Box::new(move |method, _, _| match method {
                "initialize" => vec![refuse(initialize)],
                _ => vec![refuse(discover)],
            });
            let mut stage = Stage::new(plot);
            let seen = stage.perform(&echo()).await;
            let (message, told) = told(&seen);
            assert!(
                message.starts_with("`initialize` was refused with -32"),
                "{message}"
            );
            assert_eq!(told, help);
            assert_eq!(stage.close().await.1.len(), asked);
        };
    let unknown = r#"{"code":-32601,"message":"Method not found"}"#;
    case(unknown, unknown, 2, "").await;
    case(r#"{"code":-32603,"message":"broken"}"#, unknown, 1, "").await;
    case(
        r#"{"code":-32022,"message":"no","data":{"supported":["2099-01-01"],"requested":"2025-11-25"}}"#,
        unknown,
        1,
        "the server speaks 2099-01-01, of which none is known here",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn who_shakes_hands_is_asked_nothing_else() {
    let plot: Plot = Box::new(|method, _, _| match method {
        "initialize" => vec![hands()],
        "tools/call" => vec![said("hi")],
        _ => vec![],
    });
    let mut stage = Stage::new(plot);
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "result");
    let (_, received) = stage.close().await;
    assert_eq!(received.len(), 3, "{received:?}");
}

/// A client that samples, fills in forms, and has a root.
fn helpful() -> ClientBehaviour {
    let sample = |said: &str| SamplingReply::Message {
        text: text(said),
        model: text("mock"),
        stop_reason: text("endTurn"),
    };
    ClientBehaviour {
        roots: Some(vec![text("/a")]),
        sampling: Some(vec![sample("one"), sample("two")]),
        elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
            action: ElicitationAction::Decline,
            content: None,
        }])),
        ..stateless()
    }
}

fn sampling() -> Value {
    let messages = json!([{"role": "user", "content": {"type": "text", "text": "why?"}}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 9}})
}

#[tokio::test(start_paused = true)]
async fn a_server_gets_what_it_needs_and_is_called_again() {
    let kept = "s\u{e9}\"\\ \n";
    let schema = json!({"type": "object", "properties": {}});
    let elicitation = json!({"method": "elicitation/create", "params": {"message": "who?", "requestedSchema": schema}});
    let first = json!({
        "requestState": kept,
        "inputRequests": {"z": sampling(), "a": elicitation, "m": {"method": "roots/list"}},
    });
    let plot = plot(move |_, count, _| match count {
        0 => vec![asks(&first)],
        1 => vec![asks(&json!({"inputRequests": {"again": sampling()}}))],
        _ => vec![done("hi")],
    });
    let mut stage = Stage::with(plot, &helpful());
    let seen = stage.perform(&echo()).await;
    assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
    let asked: Vec<&str> = seen
        .server_requests
        .iter()
        .map(|it| it.method.as_str())
        .collect();
    let sample = "sampling/createMessage";
    assert_eq!(asked, [sample, "elicitation/create", "roots/list", sample]);
    assert_eq!(seen.server_requests[0].params["maxTokens"], 9);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.server_requests, 0..4);
    assert_eq!(answer.progress_token, Some(json!(4)));
    let (_, received) = stage.close().await;
    let [first, second, third] = &received[1..] else {
        panic!("{received:?}");
    };
    let given = |request: &Value| {
        let mut params = request["params"].clone();
        params.as_object_mut().unwrap().remove("_meta");
        params
    };
    let mut wanted = given(first);
    assert_eq!(
        wanted,
        json!({"name": "echo", "arguments": {"message": "hi"}})
    );
    let sampled = |text: &str| {
        let content = json!({"type": "text", "text": text});
        json!({"role": "assistant", "content": content, "model": "mock", "stopReason": "endTurn"})
    };
    wanted["inputResponses"] = json!({
        "z": sampled("one"), "a": {"action": "decline"}, "m": {"roots": [{"uri": "file:///a", "name": "a"}]},
    });
    wanted["requestState"] = kept.into();
    assert_eq!(given(second), wanted);
    wanted["inputResponses"] = json!({"again": sampled("two")});
    wanted.as_object_mut().unwrap().remove("requestState");
    assert_eq!(given(third), wanted);
    assert_eq!([&first["id"], &second["id"], &third["id"]], [2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_has_enough_is_told_of() {
    let plot = plot(|_, _, _| vec![asks(&json!({"requestState": "s"}))]);
    let mut stage = Stage::with(plot, &stateless());
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "violation (subject)");
    assert_eq!(
        told(&seen).0,
        "`tools/call` of `echo` was sent 10 times again with what the server asked for, and it asks for more"
    );
    let (_, received) = stage.close().await;
    assert_eq!(received.len(), 1 + 11);
    assert_eq!(received[2]["params"].get("inputResponses"), None);
}

#[tokio::test(start_paused = true)]
async fn what_the_client_refuses_ends_the_call() {
    let case = async |client: ClientBehaviour, kind: &str, message: &str, wanted: &[F]| {
        let plot = plot(|_, _, _| vec![asks(&json!({"inputRequests": {"a": sampling()}}))]);
        let mut stage = Stage::with(plot, &client);
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), kind);
        assert_eq!(told(&seen).0, message);
        assert_eq!(codes(&seen), wanted);
    };
    case(
        stateless(),
        "violation (subject)",
        "`tools/call` of `echo` needs `sampling/createMessage`, which the client refuses: \"this client does not serve \
         sampling/createMessage\"",
        &[F::CapabilityNotDeclared],
    )
    .await;
    let refusing = ClientBehaviour {
        sampling: Some(vec![SamplingReply::Reject {
            code: -1,
            message: text("not today"),
        }]),
        ..stateless()
    };
    case(
        refusing,
        "unsupported (subject)",
        "`tools/call` of `echo` needs `sampling/createMessage`, which the client refuses: \"not today\"",
        &[],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn input_is_asked_for_in_the_words_of_the_revision() {
    let url = json!({"mode": "url", "message": "go", "url": "https://a.test"});
    let asked = json!({"inputRequests": {
        "a": {"method": "elicitation/create", "params": url},
        "b": {"method": "elicitation/create", "params": {"mode": "form"}},
    }});
    let plot = plot(move |_, count, _| match count {
        0 => vec![asks(&asked)],
        _ => vec![done("hi")],
    });
    let mut stage = Stage::with(plot, &helpful());
    let seen = stage.perform(&echo()).await;
    let said: Vec<&str> = seen.findings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        said,
        [
            "`elicitation/create`: `message` is missing",
            "`elicitation/create`: `requestedSchema` is missing"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_level_stands_in_the_requests_that_it_is_for() {
    let logging = |call: bool| Subject::Logging {
        level: Some(text("warning")),
        call: call.then(|| Box::new(tool("log", json!({})))),
        within: None,
    };
    let log = |level: &str| {
        line(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"level":"{level}","data":"x"}}}}"#
        ))
    };
    let acts = move |_: &str, _: usize, _: &Value| vec![log("warning"), log("info"), done("hi")];
    let mut stage = Stage::with(plot(acts), &stateless());
    let seen = stage.perform(&logging(true)).await;
    assert_eq!(codes(&seen), [F::LogBelowLevel]);
    let answer = seen.answer.unwrap();
    assert_eq!(
        (answer.interest, answer.notifications),
        (Some(Interest::Logs), 0..2)
    );
    let (_, received) = stage.close().await;
    assert_eq!(received.len(), 2);
    assert_eq!(received[1]["params"]["_meta"][LEVEL], "warning");
    let mut stage = Stage::with(plot(acts), &stateless());
    let seen = stage.perform(&echo()).await;
    assert_eq!(
        codes(&seen),
        [F::LogBelowLevel, F::LogBelowLevel],
        "nobody asked"
    );
    let mut stage = Stage::with(plot(acts), &stateless());
    let seen = stage.perform(&logging(false)).await;
    assert_eq!(class(&seen), "unsupported (subject)");
}

const WATCHED: &str = "a://b";

/// `subscribe`, `read` where it is wanted, and `unsubscribe`.
fn watch(read: bool) -> Subject {
    Subject::Resources(Box::new(ResourcesCall {
        subscribe: Some(text(WATCHED)),
        action: read.then(|| ResourcesAction::Read(text(WATCHED))),
        unsubscribe: Some(text(WATCHED)),
        within: None,
    }))
}

fn of_stream(method: &str, rest: &str) -> Act {
    let meta = r#""_meta":{"io.modelcontextprotocol/subscriptionId":@id}"#;
    line(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{{meta},{rest}}}}}"#
    ))
}

#[tokio::test(start_paused = true)]
async fn updates_come_on_a_stream_that_is_cancelled_at_the_end() {
    let plot = plot(|method, _, _| match method {
        "subscriptions/listen" => vec![
            of_stream(
                "subscriptions/acknowledged",
                r#""notifications":{"resourceSubscriptions":["a://b"]}"#,
            ),
            of_stream("resources/updated", r#""uri":"a://b""#),
        ],
        _ => vec![result(&json!({
            "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            "contents": [{"uri": WATCHED, "text": "x"}],
        }))],
    });
    let mut stage = Stage::with(plot, &stateless());
    let seen = stage.perform(&watch(true)).await;
    assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
    let answer = seen.answer.unwrap();
    assert_eq!(answer.interest, Some(Interest::Updates(WATCHED.into())));
    let told = &seen.notifications[answer.notifications];
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].method, "notifications/resources/updated");
    let (_, received) = stage.close().await;
    let wanted = json!({"resourceSubscriptions": [WATCHED]});
    assert_eq!(received[1]["params"]["notifications"], wanted);
    assert_eq!(received[3]["method"], "notifications/cancelled");
    assert_eq!(received[3]["params"], json!({"requestId": 2}));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_not_opened_is_told_of() {
    let case = async |act: Act, wanted: &str| {
        let mut stage = Stage::with(plot(move |_, _, _| vec![act.clone()]), &stateless());
        let seen = stage.perform(&watch(true)).await;
        let message = seen.disruption.map(|disruption| disruption.message);
        assert_eq!(message.as_deref(), Some(wanted));
    };
    case(
        of_stream("subscriptions/acknowledged", r#""notifications":{}"#),
        "the server acknowledged `subscriptions/listen` without the resource",
    )
    .await;
    case(
        result(&json!({"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 2}})),
        "the server ended `subscriptions/listen` before it acknowledged it",
    )
    .await;
    case(
        refuse(r#"{"code":-32601,"message":"Method not found"}"#),
        "`subscriptions/listen` was refused with -32601: Method not found",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_stream_is_no_answer_that_nobody_asked_for() {
    let plot = plot(|_, _, _| {
        vec![
            of_stream(
                "subscriptions/acknowledged",
                r#""notifications":{"resourceSubscriptions":["a://b"]}"#,
            ),
            line(
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@id}}"#,
            ),
            result(
                &json!({"resultType": "complete", "_meta": {"io.modelcontextprotocol/subscriptionId": 2}}),
            ),
        ]
    });
    let mut stage = Stage::with(plot, &stateless());
    let seen = stage.perform(&watch(false)).await;
    assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
}

#[tokio::test(start_paused = true)]
async fn what_a_stream_was_not_asked_for_is_told_of() {
    let acknowledged = || {
        let honoured = r#""notifications":{"resourceSubscriptions":["a://b"]}"#;
        of_stream("subscriptions/acknowledged", honoured)
    };
    let updated = || of_stream("resources/updated", r#""uri":"a://b""#);
    let case = async |acts: Vec<Act>, wanted: &[F]| {
        let mut stage = Stage::with(plot(move |_, _, _| acts.clone()), &stateless());
        let seen = stage.perform(&watch(false)).await;
        assert_eq!(
            (class(&seen).as_str(), codes(&seen)),
            ("result", wanted.to_vec())
        );
    };
    case(vec![acknowledged(), updated()], &[]).await;
    case(vec![updated()], &[F::NotAcknowledged]).await;
    let changed = of_stream("tools/list_changed", r#""x":1"#);
    case(vec![acknowledged(), changed], &[F::UnaskedNotification]).await;
    let untagged =
        r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}"#;
    case(
        vec![acknowledged(), line(untagged)],
        &[F::UnaskedNotification],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn notifications_of_changed_lists_are_asked_for() {
    let plot = plot(|method, _, _| match method {
        "subscriptions/listen" => vec![
            of_stream(
                "subscriptions/acknowledged",
                r#""notifications":{"toolsListChanged":true}"#,
            ),
            of_stream("tools/list_changed", r#""x":1"#),
        ],
        _ => vec![done("hi")],
    });
    let mut stage = Stage::with(plot, &stateless());
    let Subject::Tool(call) = echo() else {
        panic!("a call of a tool");
    };
    let subject = Subject::Notifications {
        call: Box::new(call),
        within: None,
    };
    let seen = stage.perform(&subject).await;
    assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
    assert_eq!(seen.notifications.len(), 2);
    let (_, received) = stage.close().await;
    assert_eq!(
        received[1]["params"]["notifications"],
        json!({"toolsListChanged": true})
    );
}

/// A client that follows tasks, and answers elicitations.
fn following() -> ClientBehaviour {
    ClientBehaviour {
        tasks: Some(json!({})),
        elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
            action: ElicitationAction::Accept,
            content: None,
        }])),
        ..stateless()
    }
}

/// What a server says of its task.
fn task(result_type: &str, status: &str, more: &Value) -> Act {
    let mut told = json!({
        "resultType": result_type, "taskId": "t-1", "status": status, "pollIntervalMs": 20, "ttlMs": null,
        "createdAt": "2026-11-27T00:00:00Z", "lastUpdatedAt": "2026-11-27T00:00:00Z",
    });
    for (name, value) in more.as_object().unwrap() {
        told[name] = value.clone();
    }
    result(&told)
}

#[tokio::test(start_paused = true)]
async fn a_task_is_followed_to_its_answer_and_given_what_it_needs() {
    let needs = json!({"inputRequests": {"sure": {"method": "elicitation/create", "params": {
        "message": "sure?", "requestedSchema": {"type": "object", "properties": {}}}}}});
    let has = json!({"result": {"content": [{"type": "text", "text": "deleted"}]}});
    let plot = plot(move |method, count, _| match (method, count) {
        ("tools/call", _) => vec![task("task", "working", &json!({}))],
        ("tasks/update", _) => vec![result(&json!({"resultType": "complete"}))],
        ("tasks/get", 0) => vec![task("complete", "working", &json!({}))],
        ("tasks/get", 1 | 2) => vec![task("complete", "input_required", &needs)],
        _ => vec![task("complete", "completed", &has)],
    });
    let mut stage = Stage::with(plot, &following());
    let seen = stage.perform(&echo()).await;
    assert_eq!((class(&seen).as_str(), codes(&seen)), ("result", vec![]));
    assert_eq!(seen.answer.unwrap().reply().unwrap().text, "deleted");
    assert_eq!(
        seen.server_requests.len(),
        1,
        "what is given is not given again"
    );
    let (_, received) = stage.close().await;
    let methods: Vec<&str> = received
        .iter()
        .filter_map(|it| it["method"].as_str())
        .collect();
    let get = "tasks/get";
    let wanted = [
        "server/discover",
        "tools/call",
        get,
        get,
        "tasks/update",
        get,
        get,
    ];
    assert_eq!(methods, wanted);
    let declared = &received[1]["params"]["_meta"][CAPABILITIES];
    assert_eq!(
        declared["extensions"],
        json!({"io.modelcontextprotocol/tasks": {}})
    );
    assert_eq!(declared.get("tasks"), None);
    let update = &received[4]["params"];
    assert_eq!(update["taskId"], "t-1");
    assert_eq!(
        update["inputResponses"],
        json!({"sure": {"action": "accept"}})
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_may_fail_be_cancelled_or_be_refused() {
    let case = async |client: ClientBehaviour, end: Act, wanted: &str| {
        let plot = plot(move |method, _, _| match method {
            "tools/call" => vec![task("task", "working", &json!({}))],
            _ => vec![end.clone()],
        });
        let seen = Stage::with(plot, &client).perform(&echo()).await;
        assert_eq!(class(&seen), wanted);
    };
    let error = json!({"error": {"code": -32000, "message": "broken"}});
    let tool_error =
        json!({"result": {"content": [{"type": "text", "text": "no"}], "isError": true}});
    case(
        following(),
        task("complete", "failed", &error),
        "protocol error -32000: broken",
    )
    .await;
    case(
        following(),
        task("complete", "completed", &tool_error),
        "tool error",
    )
    .await;
    case(
        following(),
        task("complete", "cancelled", &json!({})),
        "protocol-error (subject)",
    )
    .await;
    case(
        following(),
        task("complete", "lost", &json!({})),
        "violation (subject)",
    )
    .await;
    case(
        following(),
        refuse(r#"{"code":-32602,"message":"which?"}"#),
        "protocol-error (subject)",
    )
    .await;
    case(stateless(), said(""), "violation (subject)").await;
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_is_cancelled() {
    let plot = plot(|method, _, _| match method {
        "tools/call" => vec![task("task", "working", &json!({}))],
        "tasks/get" => vec![task("complete", "working", &json!({}))],
        _ => vec![result(&json!({"resultType": "complete"}))],
    });
    let mut stage = Stage::with(plot, &following());
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "timeout (subject)");
    let (_, received) = stage.close().await;
    let cancelled = received.iter().filter(|it| it["method"] == "tasks/cancel");
    let cancelled: Vec<&Value> = cancelled.map(|it| &it["params"]["taskId"]).collect();
    assert_eq!(cancelled, ["t-1"]);
}
