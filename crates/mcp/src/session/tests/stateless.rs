//! Sessions without a handshake: what each request carries, what the server needs first, and streams of notifications.

use serde_json::{Value, json};

use super::server::{Act, Plot, Stage, class, codes, echo, hands, line, result, said, text, tool};
use crate::{
    observation::{Observation, answer::Interest, finding::FindingCode as F},
    protocol::revision::Revision,
    script::{
        client::{ClientBehaviour, RevisionWanted},
        subject::{ListCall, Subject},
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
        "the server speaks 2025-06-18, 2025-11-25: `protocol` chooses a revision",
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
        "the server speaks 2099-01-01: `protocol` chooses a revision",
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
