//! Listening when nothing is due: after answers of every kind, and in steps that wait.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{
    calls::{helpful, step, template, told, until},
    server::{
        Act, DEADLINE, Plot, Stage, Waiting, class, codes, echo, hands, hooks, line, on_call,
        result, said, text, tool,
    },
};
use crate::{
    observation::{finding::FindingCode, process::ExitStatus},
    script::{
        client::ClientBehaviour,
        subject::{
            CompletionCall, ListCall, PromptsCall, RawExchange, RawFrame, RawHandshake,
            ResourcesAction, ResourcesCall, StepAction, StepOrder, Subject,
        },
        template::Bindings,
    },
    session::{OnEnd, Script, Session},
    transport::tests::duplex,
};

/// A server that answers everything, and does this a moment later; after the handshake only where that is the subject.
fn afterwards(subject: &Subject, acts: Vec<Act>) -> Plot {
    let about_hands = matches!(subject, Subject::Initialize);
    Box::new(move |method, _, _| {
        let mut told = vec![Act::Pause(Duration::from_millis(40))];
        told.extend(acts.clone());
        match method {
            "initialize" => vec![hands()],
            "notifications/initialized" if about_hands => told,
            method if method.starts_with("notifications/") => Vec::new(),
            "tools/list" => [vec![result(&json!({"tools": []}))], told].concat(),
            "resources/read" => [vec![result(&json!({"contents": []}))], told].concat(),
            "prompts/get" => [vec![result(&json!({"messages": []}))], told].concat(),
            "completion/complete" => {
                [vec![result(&json!({"completion": {"values": []}}))], told].concat()
            }
            _ => [vec![said("hello")], told].concat(),
        }
    })
}

/// One subject of each kind that has an answer.
fn subjects() -> Vec<Subject> {
    let call = || tool("echo", json!({}));
    let read = ResourcesCall {
        subscribe: None,
        action: Some(ResourcesAction::Read(text("test://a"))),
        unsubscribe: None,
        within: None,
    };
    let get = PromptsCall::Get {
        name: text("greet"),
        arguments: template(Value::Null),
    };
    let complete = CompletionCall {
        reference: template(json!({"type": "ref/prompt", "name": "greet"})),
        argument: template(json!({"name": "who", "value": "y"})),
        context: None,
    };
    let ping = json!({"jsonrpc": "2.0", "id": "mine", "method": "ping"});
    vec![
        Subject::Tool(call()),
        Subject::Tools(ListCall::default()),
        Subject::Initialize,
        Subject::Resources(Box::new(read)),
        Subject::Prompts(get),
        Subject::Completion(Box::new(complete)),
        Subject::Sampling(call()),
        Subject::Elicitation(call()),
        Subject::Logging {
            level: None,
            call: Some(Box::new(call())),
            within: None,
        },
        Subject::Notifications {
            call: Box::new(call()),
            within: None,
        },
        Subject::Raw(RawExchange {
            send: vec![RawFrame::Json(template(ping))],
            handshake: RawHandshake::Made,
            within: Duration::from_secs(1),
        }),
    ]
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_answer_of_any_subject_is_waited_for() {
    for subject in subjects() {
        let case = async |wait, least: usize| {
            let mut stage = Stage::new(afterwards(
                &subject,
                vec![told("notifications/x", &json!({}))],
            ));
            stage.wait = wait;
            let seen = stage.perform(&subject).await;
            assert_eq!(class(&seen), "result", "{subject:?}");
            let answer = seen.answer.unwrap();
            let late = answer.notifications.end.saturating_sub(answer.on_time);
            assert!(late >= least, "{late} of {subject:?}");
        };
        case(None, 0).await;
        case(Some(until(1)), 1).await;
        let whole = Waiting {
            least: Duration::from_millis(100),
            most: Duration::from_millis(100),
            until: 0,
        };
        case(Some(whole), 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_after_the_answer_of_any_step_is_waited_for() {
    for order in [StepOrder::OneByOne, StepOrder::Parallel] {
        let call = || step(StepAction::Tool(tool("echo", json!({}))));
        let subject = Subject::Steps {
            steps: vec![call(), call()],
            order,
        };
        let mut stage = Stage::new(afterwards(
            &subject,
            vec![told("notifications/x", &json!({}))],
        ));
        stage.wait = Some(Waiting {
            least: Duration::from_millis(100),
            most: Duration::from_millis(100),
            until: 0,
        });
        let seen = stage.perform_after(&[call()], &subject).await;
        assert!(seen.disruption.is_none(), "{:?}", seen.disruption);
        assert_eq!(seen.steps.len(), 3);
        for (index, step) in seen.steps.iter().enumerate() {
            let told = step.answer.as_ref().unwrap().notifications.clone();
            assert!(!told.is_empty(), "{order:?}, step {index}: {told:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_the_deadline_cuts_short_is_no_answer() {
    let minute = Duration::from_mins(1);
    let mut stage = Stage::new(helpful());
    stage.wait = Some(Waiting {
        least: minute,
        most: minute,
        until: 0,
    });
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "timeout (subject)");
    let mut stage = Stage::new(helpful());
    let pause = step(StepAction::Wait(minute));
    let seen = stage.perform_after(&[pause], &echo()).await;
    assert_eq!(class(&seen), "timeout (setup)");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_while_it_is_listened_to_was_not_observed() {
    let second = Duration::from_secs(1);
    let negative = Waiting {
        least: second,
        most: second,
        until: 0,
    };
    let ends = || vec![Act::Exit(ExitStatus::Signal(11))];
    let case = async |wait, on_end, wanted: &str| {
        for subject in subjects() {
            let mut stage = Stage::new(afterwards(&subject, ends()));
            stage.wait = Some(wait);
            stage.on_end = on_end;
            let seen = stage.perform(&subject).await;
            let class = class(&seen);
            assert!(
                class.starts_with(wanted),
                "{class} of {subject:?}: {:?}",
                seen.disruption
            );
            let message = seen.disruption.map(|disruption| disruption.message);
            let told = message.unwrap_or_default();
            assert!(wanted != "crash" || told.contains("SIGSEGV"), "{told}");
        }
    };
    case(negative, OnEnd::Disrupts, "crash").await;
    case(until(1), OnEnd::Disrupts, "crash").await;
    case(negative, OnEnd::IsObserved, "result").await;
    case(until(0), OnEnd::Disrupts, "result").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_of_a_raw_frame_was_not_observed() {
    let no_json = || RawFrame::Text(text("{not json"));
    let notification = || RawFrame::Text(text(r#"{"jsonrpc":"2.0","method":"x"}"#));
    let request = || RawFrame::Text(text(r#"{"jsonrpc":"2.0","id":9,"method":"x"}"#));
    let case = async |frame: RawFrame, status, on_end, wanted: Option<&str>| {
        let plot = move |method: &str, _: usize, _: &Value| match method {
            "initialize" => vec![hands()],
            "" | "x" => vec![Act::Exit(status)],
            _ => Vec::new(),
        };
        let mut stage = Stage::new(Box::new(plot));
        stage.on_end = on_end;
        let raw = Subject::Raw(RawExchange {
            send: vec![frame],
            handshake: RawHandshake::Made,
            within: Duration::from_millis(200),
        });
        let seen = stage.perform(&raw).await;
        let told = seen.disruption.map(|disruption| disruption.message);
        assert_eq!(told.as_deref(), wanted);
    };
    let (killed, zero) = (ExitStatus::Signal(11), ExitStatus::Code(0));
    let ended = "the server ended with SIGSEGV before it answered the raw frames";
    case(no_json(), killed, OnEnd::Disrupts, Some(ended)).await;
    case(request(), killed, OnEnd::Disrupts, Some(ended)).await;
    let ended = "the server ended with exit code 0 before it answered the raw frames";
    case(no_json(), zero, OnEnd::Disrupts, Some(ended)).await;
    case(request(), zero, OnEnd::IsObserved, Some(ended)).await;
    let ended = "the server ended with SIGSEGV while it was listened to after the raw frames";
    case(notification(), killed, OnEnd::Disrupts, Some(ended)).await;
    case(no_json(), killed, OnEnd::IsObserved, None).await;
    case(notification(), zero, OnEnd::IsObserved, None).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_before_the_session_is_closed_is_answered() {
    let plot = |method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![hands()],
        "notifications/initialized" => {
            vec![line(r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#)]
        }
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let seen = stage.perform(&Subject::Initialize).await;
    assert_eq!(class(&seen), "result");
    // The server takes its turn.
    tokio::time::sleep(Duration::from_millis(1)).await;
    let (remainder, received) = stage.close().await;
    assert!(!remainder.leaves_unanswered());
    let answer = json!({"jsonrpc": "2.0", "id": "q", "result": {}});
    assert_eq!(received.last(), Some(&answer));
}

#[tokio::test(start_paused = true)]
async fn the_wait_that_an_end_cuts_short_is_named() {
    let told = || told("notifications/x", &json!({}));
    let case = async |mut acts: Vec<Act>, wanted: &str| {
        acts.insert(0, said("hello"));
        acts.push(Act::Exit(ExitStatus::Code(3)));
        let mut stage = Stage::new(on_call(acts));
        stage.wait = Some(Waiting {
            least: Duration::from_millis(100),
            most: Duration::from_secs(1),
            until: 1,
        });
        let seen = stage.perform(&echo()).await;
        let message = seen.disruption.unwrap().message;
        assert_eq!(
            message,
            format!(
                "the server ended with exit code 3 before notifications had been waited for {wanted}"
            )
        );
    };
    case(vec![told()], "100 ms").await;
    case(Vec::new(), "1000 ms").await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_in_a_step_that_waits_was_not_observed() {
    let pause = || step(StepAction::Wait(Duration::from_secs(1)));
    let acts = vec![said("hello"), Act::Exit(ExitStatus::Code(3))];
    let call = step(StepAction::Tool(tool("echo", json!({}))));
    let subject = Subject::Steps {
        steps: vec![call, pause()],
        order: StepOrder::OneByOne,
    };
    let mut stage = Stage::new(on_call(acts.clone()));
    let seen = stage.perform(&subject).await;
    assert_eq!(class(&seen), "crash (subject)");
    let disruption = seen.disruption.unwrap();
    assert_eq!(
        disruption.message,
        "the server ended with exit code 3 in a wait of 1000 ms"
    );
    assert_eq!(disruption.step, Some(1));
    let mut stage = Stage::new(on_call(acts));
    stage.on_end = OnEnd::IsObserved;
    let seen = stage.perform(&subject).await;
    assert!(seen.disruption.is_none(), "{:?}", seen.disruption);
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_taken_although_the_request_cannot_be_written() {
    let (connection, mut peer) = duplex::duplex();
    let server = tokio::spawn(async move {
        peer.line().await;
        let hands = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
        peer.write(format!("{hands}\n").as_bytes()).await;
        peer.line().await;
        peer.part().await;
        let refusal = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"too large"}}"#;
        peer.write(format!("{refusal}\n").as_bytes()).await;
        peer
    });
    let mut session = Session::open(connection, &ClientBehaviour::default(), None);
    let subject = Subject::Tool(tool("echo", json!({"text": "a".repeat(1 << 20)})));
    let script = Script {
        setup: &[],
        subject: &subject,
        hooks: &hooks(None, Duration::ZERO),
    };
    let began = Instant::now();
    let mut bindings = Bindings::default();
    let performed = session.perform(script, &mut bindings, began + DEADLINE);
    let seen = Box::pin(performed).await;
    assert_eq!(class(&seen), "protocol error -32600: too large");
    assert!(began.elapsed() < DEADLINE);
    assert!(!session.is_usable(), "the line is not read to its end");
    let _peer = server.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_behind_questions_is_taken_although_no_reply_is_read() {
    let ping = line(r#"{"jsonrpc":"2.0","id":@id,"method":"ping"}"#);
    let mut acts = vec![ping; 5_000];
    acts.push(said("hi"));
    acts.push(Act::Pause(2 * DEADLINE));
    let mut stage = Stage::new(on_call(acts));
    let began = Instant::now();
    let seen = stage.perform(&echo()).await;
    assert_eq!(class(&seen), "result", "{:?}", seen.disruption);
    assert!(began.elapsed() < DEADLINE);
}

#[tokio::test]
async fn an_answer_that_came_while_nobody_could_look_is_not_late() {
    let stalls = |method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![hands()],
        "tools/call" => {
            // Nothing else runs on this thread meanwhile: then the answer and the end of the time are there at once, and
            // nobody can tell which was first.
            std::thread::sleep(DEADLINE + Duration::from_millis(100));
            vec![said("late")]
        }
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(stalls));
    let seen = stage.perform(&Subject::Tool(tool("echo", json!({})))).await;
    assert_eq!(class(&seen), "result", "{:?}", seen.disruption);
}

#[tokio::test(start_paused = true)]
async fn a_log_level_holds_from_its_answer_on() {
    let case = async |set: Vec<Act>, called: Vec<Act>, findings: &[FindingCode]| {
        let subject = Subject::Logging {
            level: Some(text("error")),
            call: Some(Box::new(tool("a", json!({})))),
            within: None,
        };
        let plot: Plot = Box::new(move |method, _, _| match method {
            "initialize" => vec![hands()],
            "logging/setLevel" => set.clone(),
            "tools/call" => called.clone(),
            _ => Vec::new(),
        });
        let seen = Stage::new(plot).perform(&subject).await;
        assert_eq!(codes(&seen), findings, "{:?}", seen.findings);
    };
    let note = || {
        told(
            "notifications/message",
            &json!({"level": "info", "data": "x"}),
        )
    };
    let done = || result(&json!({}));
    case(vec![note(), done()], vec![said("hi")], &[]).await;
    let after = [FindingCode::LogBelowLevel];
    case(vec![done()], vec![note(), said("hi")], &after).await;
}

/// A server that asks whether we are there, a second after each of its answers.
fn watchful() -> Plot {
    Box::new(|method, before, _| match method {
        "initialize" => vec![hands()],
        "tools/call" => vec![
            said("hi"),
            Act::Pause(Duration::from_secs(1)),
            line(&format!(
                r#"{{"jsonrpc":"2.0","id":"there {before}?","method":"ping"}}"#
            )),
        ],
        _ => Vec::new(),
    })
}

/// What a server received, in its order.
fn order(received: &[Value]) -> Vec<&str> {
    let words = received
        .iter()
        .map(|it| it["method"].as_str().or(it["id"].as_str()));
    words.map(Option::unwrap_or_default).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_is_answered_while_its_files_are_looked_at() {
    let mut stage = Stage::new(watchful());
    stage.look = Duration::from_millis(1_200);
    let call = || step(StepAction::Tool(tool("echo", json!({}))));
    let subject = Subject::Steps {
        steps: vec![call(), call()],
        order: StepOrder::OneByOne,
    };
    let seen = stage.perform(&subject).await;
    assert_eq!(seen.disruption.map(|it| it.message), None);
    let (_, received) = stage.close().await;
    assert_eq!(
        order(&received)[2..],
        ["tools/call", "there 0?", "tools/call", "there 1?"]
    );
}

#[tokio::test(start_paused = true)]
async fn what_comes_while_something_else_is_done_is_told_by_the_next_wait() {
    let plot = on_call(vec![
        said("hi"),
        Act::Pause(Duration::from_secs(1)),
        line("no frame"),
    ]);
    let mut stage = Stage::new(plot);
    assert_eq!(class(&stage.perform(&echo()).await), "result");
    let busy = tokio::time::sleep(2 * DEADLINE);
    stage.session.meanwhile(busy).await;
    let codes = codes(&stage.perform(&echo()).await);
    assert!(codes.contains(&FindingCode::StdoutNoise), "{codes:?}");
}
