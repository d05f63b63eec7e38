//! The fault catalogue, row by row: class, findings, and whether the session ended at once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::server::{
    Act, DEADLINE, OK, Plot, Stage, bytes, class, codes, echo, hands, hands_with, line, on_call,
    result, said,
};
use crate::{
    observation::{
        Observation,
        disruption::DisruptionKind,
        finding::FindingCode::{self as F, self},
        process::ExitStatus,
    },
    script::{
        client::{ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply},
        subject::{ListCall, PromptsCall, Subject},
    },
};

/// When a session was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    AtOnce,
    AfterGrace,
    Deadline,
}

async fn act(subject: &Subject, plot: Plot) -> (Observation, End) {
    let began = Instant::now();
    let mut stage = Stage::new(plot);
    let mut seen = stage.perform(subject).await;
    let took = began.elapsed();
    let end = if took < Duration::from_millis(700) {
        End::AtOnce
    } else if took < Duration::from_millis(1_500) {
        End::AfterGrace
    } else {
        End::Deadline
    };
    let (remainder, _) = stage.close().await;
    remainder.add_to(&mut seen);
    (seen, end)
}

async fn call(name: &str, acts: Vec<Act>, wanted: &str, findings: &[FindingCode], ends: End) {
    play(name, on_call(acts), wanted, findings, ends).await;
}

async fn play(name: &str, plot: Plot, wanted: &str, findings: &[FindingCode], ends: End) {
    let (seen, end) = act(&echo(), plot).await;
    assert_eq!(class(&seen), wanted, "{name}: {:?}", seen.disruption);
    assert_eq!(codes(&seen), findings, "{name}: {:?}", seen.findings);
    assert_eq!(end, ends, "{name}");
}

fn answer(id: &str) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#
    ))
}

/// The usable answer with something put in its place.
fn bent(from: &str, to: &str) -> Act {
    assert!(OK.contains(from), "{from}");
    line(&OK.replace(from, to))
}

fn request(id: &str, method: &str) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#
    ))
}

fn notification(method: &str, params: &Value) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#
    ))
}

fn seconds(seconds: u64) -> Act {
    Act::Pause(Duration::from_secs(seconds))
}

#[tokio::test(start_paused = true)]
async fn bytes_on_stdout() {
    let pass = |name, acts, findings, ends| call(name, acts, "result", findings, ends);
    pass(
        "stdout-noise-between",
        vec![line("loading"), seconds(1), said("hi")],
        &[F::StdoutNoise],
        End::AfterGrace,
    )
    .await;
    let ansi = vec![bytes(b"\x1b[2J\x1b]0;title\x07\n"), said("hi")];
    pass("stdout-ansi", ansi, &[F::StdoutNoise], End::AtOnce).await;
    let bom = bytes(format!("\u{feff}{OK}\n").as_bytes());
    pass("stdout-bom", vec![bom], &[F::ByteOrderMark], End::AtOnce).await;
    let crlf = bytes(format!("{OK}\r\n").as_bytes());
    pass("stdout-crlf", vec![crlf], &[], End::AtOnce).await;
    let blank = vec![line(""), line("  "), said("hi")];
    pass("stdout-blank-lines", blank, &[F::BlankLine], End::AtOnce).await;
    let nul = vec![bytes(b"\0\n"), said("hi")];
    pass("nul-byte", nul, &[F::StdoutNoise], End::AtOnce).await;
    pass(
        "huge-line",
        vec![said(&"x".repeat(8 << 20))],
        &[],
        End::AtOnce,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn lines_that_are_cut_or_mixed() {
    let pass = |name, acts, findings, ends| call(name, acts, "result", findings, ends);
    let cut = vec![bytes(OK.as_bytes()), Act::Exit(ExitStatus::Code(0))];
    pass(
        "no-trailing-newline",
        cut,
        &[F::NoFinalNewline],
        End::AtOnce,
    )
    .await;
    let surrogate = vec![bent("hi", r"\ud800")];
    pass(
        "lone-surrogate",
        surrogate,
        &[F::LoneSurrogate],
        End::AtOnce,
    )
    .await;
    let midline = vec![bent("\"result\":", "\"result\": [info] x")];
    let violation = "violation (subject)";
    call(
        "stdout-noise-midline",
        midline,
        violation,
        &[F::NotJson],
        End::AtOnce,
    )
    .await;
    let pretty = vec![line("{"), line("  \"jsonrpc\": \"2.0\","), line("}")];
    let findings = &[F::StdoutNoise, F::NotJson];
    call("pretty-json", pretty, violation, findings, End::AtOnce).await;
    let open = vec![bytes(OK.as_bytes())];
    let findings = &[F::NoFinalNewline];
    call(
        "no-trailing-newline:open",
        open,
        "timeout (subject)",
        findings,
        End::Deadline,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_still_on_its_way_breaks_no_rule() {
    let (half, _) = OK.split_once("hi").unwrap();
    let timeout = "timeout (subject)";
    let slow = vec![bytes(half.as_bytes())];
    call("half a message", slow, timeout, &[], End::Deadline).await;
    let prompt = vec![bytes(b"Password: ")];
    let findings = &[F::StdoutNoise];
    call("a prompt", prompt, timeout, findings, End::Deadline).await;
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_text_are_shown_as_replaced() {
    let mut plot = on_call(Vec::new());
    let acts = Box::new(move |method: &str, count: usize, message: &Value| {
        if method != "tools/call" {
            return plot(method, count, message);
        }
        let answer = OK.replace("@id", &message["id"].to_string());
        let (before, after) = answer.split_once("hi").unwrap();
        let frame = [before.as_bytes(), b"a\xFFb", after.as_bytes(), b"\n"].concat();
        vec![bytes(&frame)]
    });
    let (seen, _) = act(&echo(), acts).await;
    assert_eq!(codes(&seen), [F::NotUtf8]);
    let answer = seen.answer.unwrap();
    assert_eq!(answer.reply().unwrap().text, "a\u{FFFD}b");
}

#[tokio::test(start_paused = true)]
async fn framing_of_another_protocol_is_named() {
    let framed = Box::new(|method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![bytes(b"Content-Length: 2\r\n\r\n{}")],
        _ => Vec::new(),
    });
    let (seen, end) = act(&echo(), framed).await;
    assert_eq!(class(&seen), "timeout (handshake)");
    assert_eq!(end, End::Deadline);
    assert!(codes(&seen).contains(&F::LspFraming), "{:?}", seen.findings);
    let help = seen.disruption.unwrap().help.unwrap();
    assert!(help.contains("Content-Length"), "{help}");
}

#[tokio::test(start_paused = true)]
async fn processes_that_end() {
    let exit = |status| vec![Act::Exit(status)];
    let crash = "crash (subject)";
    let code = exit(ExitStatus::Code(1));
    call("exit-mid-call", code, crash, &[], End::AtOnce).await;
    let abort = exit(ExitStatus::Signal(6));
    call("abort", abort, crash, &[], End::AtOnce).await;
    let close = vec![Act::CloseOutput];
    call(
        "close-stdout",
        close,
        "transport (subject)",
        &[],
        End::AtOnce,
    )
    .await;
    let after = vec![said("hi"), Act::Exit(ExitStatus::Code(1))];
    call("exit-after-reply", after, "result", &[], End::AtOnce).await;
    let before = Box::new(|_: &str, _: usize, _: &Value| vec![Act::Exit(ExitStatus::Code(7))]);
    let (seen, end) = act(&echo(), before).await;
    assert_eq!(
        (class(&seen).as_str(), end),
        ("crash (handshake)", End::AtOnce)
    );
    let message = seen.disruption.unwrap().message;
    assert_eq!(
        message,
        "the server ended with exit code 7 before it answered `initialize`"
    );
}

#[tokio::test(start_paused = true)]
async fn it_is_known_whether_a_server_that_ended_may_have_received_something() {
    let exit = Act::Exit(ExitStatus::Code(9));
    let plot = move |last: usize, acts: [Act; 2]| -> Plot {
        Box::new(move |method, before, _| match method {
            "initialize" => vec![hands()],
            "tools/call" if before == last => acts.to_vec(),
            "tools/call" => vec![said("hi")],
            _ => Vec::new(),
        })
    };
    let mut stage = Stage::new(plot(0, [said("hi"), exit.clone()]));
    assert_eq!(class(&stage.perform(&echo()).await), "result");
    stage.gone().await;
    assert_eq!(class(&stage.perform(&echo()).await), "crash (subject)");
    assert!(!stage.session.was_spoken_to());
    stage.session.catch_up().await;
    assert!(stage.session.is_closed());

    let mut stage = Stage::new(plot(1, [exit.clone(), exit]));
    assert_eq!(class(&stage.perform(&echo()).await), "result");
    assert_eq!(class(&stage.perform(&echo()).await), "crash (subject)");
    assert!(stage.session.was_spoken_to());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_reads_no_more_is_not_waited_for() {
    let plot = first(vec![hands(), Act::CloseInput]);
    let (seen, end) = act(&echo(), plot).await;
    assert_eq!(class(&seen), "transport (subject)");
    assert_eq!(end, End::AfterGrace);
    assert_eq!(
        seen.disruption.unwrap().message,
        "`tools/call` of `echo` could not be sent: the server closed its input"
    );
}

#[tokio::test(start_paused = true)]
async fn batches_are_legal_where_the_revision_has_them() {
    let plot = Box::new(|method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![result(&json!({
            "protocolVersion": "2025-03-26",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }))],
        "tools/call" => vec![line(&format!("[{OK}]"))],
        _ => Vec::new(),
    });
    play(
        "batch-reply at 2025-03-26",
        plot,
        "result",
        &[],
        End::AtOnce,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_cannot_be_used() {
    let violation =
        |name, acts, findings, ends| call(name, acts, "violation (subject)", findings, ends);
    let half = vec![line(&OK[..OK.len() / 2])];
    violation("truncated-json", half, &[F::NotJson], End::AtOnce).await;
    violation(
        "wrong-id",
        vec![answer("77")],
        &[F::UnknownId],
        End::AfterGrace,
    )
    .await;
    violation(
        "null-id",
        vec![answer("null")],
        &[F::NullId],
        End::AfterGrace,
    )
    .await;
    let both = vec![bent(
        "\"result\":",
        "\"error\":{\"code\":1,\"message\":\"x\"},\"result\":",
    )];
    violation("result-and-error", both, &[F::ResultAndError], End::AtOnce).await;
    let neither = vec![line(r#"{"jsonrpc":"2.0","id":@id}"#)];
    violation("neither", neither, &[F::NeitherResultNorError], End::AtOnce).await;
    let missing = vec![result(&json!({}))];
    violation("content-missing", missing, &[F::Schema], End::AtOnce).await;
    let null = vec![result(&json!({"content": null}))];
    violation("content-null", null, &[F::Schema], End::AtOnce).await;
    let nan = vec![bent("\"hi\"", "NaN")];
    violation("nan-number", nan, &[F::NotJson], End::AtOnce).await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_can_be_used_all_the_same() {
    let pass = |name, acts, findings| call(name, acts, "result", findings, End::AtOnce);
    let batch = vec![line(&format!("[{OK}]"))];
    pass("batch-reply", batch, &[F::Batch]).await;
    let missing = vec![bent("\"jsonrpc\":\"2.0\",", "")];
    pass("missing-jsonrpc", missing, &[F::JsonrpcMissing]).await;
    let old = vec![bent("\"2.0\"", "\"1.0\"")];
    pass("jsonrpc-1.0", old, &[F::JsonrpcVersion]).await;
    let flipped = vec![bent("@id", "\"@id\"")];
    pass("id-type-flip", flipped, &[F::IdType]).await;
    let stray = vec![answer("77"), said("hi")];
    pass("unknown-id", stray, &[F::UnknownId]).await;
    let twice = vec![said("hi"), said("other")];
    pass("duplicate-reply", twice, &[F::DuplicateAnswer]).await;
    let null = vec![bent("\"result\":", "\"error\":null,\"result\":")];
    pass("error: null", null, &[F::ResultAndError]).await;
    let collision = vec![request("2", "ping"), said("hi")];
    pass("id-collision", collision, &[]).await;
    let shallow = format!(
        "\"content\":[],\"_meta\":{{\"x\":{}{}}}",
        "[".repeat(100),
        "]".repeat(100)
    );
    let shallow = vec![line(&format!(
        r#"{{"jsonrpc":"2.0","id":@id,"result":{{{shallow}}}}}"#
    ))];
    pass("deep-json:100", shallow, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn answers_that_never_come() {
    let late =
        |name, acts, findings| call(name, acts, "timeout (subject)", findings, End::Deadline);
    late("drop", Vec::new(), &[]).await;
    late(
        "not-json",
        vec![line("this is not JSON")],
        &[F::StdoutNoise],
    )
    .await;
    late("json-null", vec![line("null")], &[F::NotAMessage]).await;
    late(
        "always the first id",
        vec![answer("1")],
        &[F::DuplicateAnswer],
    )
    .await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":@id,"result":{}}}"#,
        "[".repeat(10_000)
    );
    let deep = vec![line(&deep)];
    call(
        "deep-json",
        deep,
        "transport (subject)",
        &[F::TooDeep],
        End::AtOnce,
    )
    .await;
    let delay = vec![Act::Pause(Duration::from_millis(300)), said("hi")];
    call("delay", delay, "result", &[], End::AtOnce).await;
}

#[tokio::test(start_paused = true)]
async fn what_was_heard_for_an_earlier_assertion_was_heard() {
    let plot = Box::new(
        |method: &str, before: usize, _: &Value| match (method, before) {
            ("initialize", _) => vec![hands()],
            ("tools/call", 0) => vec![line(OK)],
            ("notifications/cancelled", _) => vec![line(&OK.replace("@id", "3"))],
            _ => Vec::new(),
        },
    );
    let mut stage = Stage::new(plot);
    assert_eq!(class(&stage.perform(&echo()).await), "result");
    let disruption = stage.perform(&echo()).await.disruption.unwrap();
    assert!(
        disruption
            .message
            .ends_with("; nothing was heard since the assertion began"),
        "{}",
        disruption.message
    );
    let help = disruption.help.unwrap();
    assert!(
        help.contains(" after the deadline, as soon as `notifications/cancelled` was sent: "),
        "{help}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_deadline_cancels_and_says_what_was_heard() {
    let plot = Box::new(|method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![hands()],
        "tools/call" => vec![line("oops: {}")],
        "notifications/cancelled" => vec![answer("2")],
        _ => Vec::new(),
    });
    let mut stage = Stage::new(plot);
    let seen = stage.perform(&echo()).await;
    assert_eq!(codes(&seen), [F::StdoutNoise]);
    let disruption = seen.disruption.unwrap();
    assert!(
        disruption
            .message
            .starts_with("no answer to `tools/call` of `echo`, sent "),
        "{}",
        disruption.message
    );
    assert_eq!(disruption.frame.as_deref(), Some("oops: {}"));
    let help = disruption.help.unwrap_or_default();
    assert!(help.contains("seems to read the server's stdin"), "{help}");
    let (_, received) = stage.close().await;
    assert_eq!(
        received.last().unwrap(),
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
            "requestId": 2, "reason": "the deadline has passed",
        }})
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_of_the_request_that_waits_is_the_likely_cause() {
    let case = async |acts: Vec<Act>, wanted: &str| {
        let mut stage = Stage::new(on_call(acts));
        let disruption = stage.perform(&echo()).await.disruption.unwrap();
        assert_eq!(disruption.kind, DisruptionKind::Timeout);
        assert_eq!(disruption.help.unwrap_or_default(), wanted);
    };
    let cancelled = |params: Value| notification("notifications/cancelled", &params);
    case(
        vec![cancelled(json!({"requestId": 2, "reason": "no quota"}))],
        "the likely cause: the server cancelled `tools/call` with the reason `no quota`, and only who asked may cancel",
    )
    .await;
    case(
        vec![cancelled(json!({"requestId": "2"}))],
        "the likely cause: the server cancelled `tools/call` without a reason, and only who asked may cancel",
    )
    .await;
    case(vec![cancelled(json!({"requestId": 7}))], "").await;
    // Its own request has the same id.
    case(
        vec![request("2", "ping"), cancelled(json!({"requestId": 2}))],
        "",
    )
    .await;
    case(
        vec![line(r#"{"jsonrpc":"2.0","id":@id,"method":"x","result":null}"#)],
        "the likely cause: a frame with the id of `tools/call` and a `result` has `method` too, `x`, which makes it a \
         request of the server and no answer",
    )
    .await;
    case(
        vec![request("2", "x")],
        "the likely cause: `x`, which no client serves",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_a_request_too_is_told_at_once() {
    let case = async |members: &str, told: &str| {
        let frame = format!(r#"{{"jsonrpc":"2.0","id":@id,{members}}}"#);
        let (seen, end) = act(&echo(), on_call(vec![line(&frame)])).await;
        assert_eq!(class(&seen), "violation (subject)", "{members}");
        assert_eq!(end, End::AtOnce, "{members}");
        let wanted = format!(
            "no usable answer to `tools/call` of `echo`: a frame with the id of `tools/call` and a {told}, which makes \
             it a request of the server and no answer"
        );
        assert_eq!(seen.disruption.unwrap().message, wanted);
    };
    case(
        r#""method":"tools/call","result":{"content":[]}"#,
        "`result` has `method` too, `tools/call`",
    )
    .await;
    case(
        r#""method":"x","result":null,"error":{"code":1,"message":"no"}"#,
        "`error` has `method` too, `x`",
    )
    .await;
    case(
        r#""method":"tools/call","error":null"#,
        "`error` has `method` too, `tools/call`",
    )
    .await;
    // Some libraries write what is absent as null, and both sides count their ids from 1.
    let own = line(r#"{"jsonrpc":"2.0","id":@id,"method":"ping","result":null,"error":null}"#);
    call("nulls", vec![own, said("hi")], "result", &[], End::AtOnce).await;
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_come_in_time_is_named() {
    let plot = |method: &str, count: usize, _: &Value| match method {
        "initialize" => vec![hands()],
        "tools/list" => vec![
            Act::Pause(DEADLINE / 4 + Duration::from_millis(1)),
            result(&json!({"tools": [], "nextCursor": count.to_string()})),
        ],
        _ => Vec::new(),
    };
    let mut stage = Stage::new(Box::new(plot));
    let seen = stage.perform(&Subject::Tools(ListCall::default())).await;
    let said = seen.disruption.unwrap().message;
    assert!(
        said.starts_with("no answer to page 4 of `tools/list`, sent "),
        "{said}"
    );
}

#[tokio::test(start_paused = true)]
async fn errors_with_flaws_are_errors() {
    let error = |error: &str| {
        vec![line(&format!(
            r#"{{"jsonrpc":"2.0","id":@id,"error":{error}}}"#
        ))]
    };
    let no_code = "protocol error (no code): no";
    let acts = error(r#"{"message":"no"}"#);
    call("error-no-code", acts, no_code, &[F::ErrorCode], End::AtOnce).await;
    let acts = error(r#"{"code":"-1","message":"no"}"#);
    call(
        "error-string-code",
        acts,
        no_code,
        &[F::ErrorCode],
        End::AtOnce,
    )
    .await;
    let acts = error(r#"{"code":-32602,"message":"no"}"#);
    call(
        "a good error",
        acts,
        "protocol error -32602: no",
        &[],
        End::AtOnce,
    )
    .await;
}

fn first(answer: Vec<Act>) -> Plot {
    Box::new(move |method, _, _| match method {
        "initialize" => answer.clone(),
        "tools/call" => vec![said("hi")],
        _ => Vec::new(),
    })
}

#[tokio::test(start_paused = true)]
async fn handshakes() {
    let facts = json!({"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}});
    let plot = first(vec![result(&facts)]);
    let violation = "violation (handshake)";
    play(
        "init-wrong-version",
        plot,
        violation,
        &[F::UnknownRevision],
        End::AtOnce,
    )
    .await;
    let facts = json!({"protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}});
    let plot = first(vec![result(&facts)]);
    play(
        "a stateless one",
        plot,
        violation,
        &[F::UnknownRevision],
        End::AtOnce,
    )
    .await;
    let facts =
        json!({"protocolVersion": "2025-06-18", "serverInfo": {"name": "x", "version": "1"}});
    let plot = first(vec![result(&facts)]);
    play(
        "init-no-capabilities",
        plot,
        violation,
        &[F::Schema],
        End::AtOnce,
    )
    .await;
    let error = r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32603,"message":"no"}}"#;
    let plot = first(vec![line(error)]);
    let refused = "protocol-error (handshake)";
    play("init-error", plot, refused, &[], End::AtOnce).await;
    let plot = first(Vec::new());
    play("init-hang", plot, "timeout (handshake)", &[], End::Deadline).await;
    let plot = first(vec![hands(), hands()]);
    play(
        "init-twice",
        plot,
        "result",
        &[F::DuplicateAnswer],
        End::AtOnce,
    )
    .await;
    let early = first(vec![request("9", "roots/list"), hands()]);
    let findings = &[F::RequestBeforeInitialized, F::CapabilityNotDeclared];
    play(
        "request-before-initialized",
        early,
        "result",
        findings,
        End::AtOnce,
    )
    .await;
    let ping = first(vec![request("9", "ping"), hands()]);
    play("ping is allowed", ping, "result", &[], End::AtOnce).await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_handshake_is_the_answer_of_its_own_subject() {
    let error = r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32603,"message":"no"}}"#;
    let (seen, _) = act(&Subject::Initialize, first(vec![line(error)])).await;
    assert_eq!(class(&seen), "protocol error -32603: no");
    let (seen, _) = act(&Subject::Initialize, first(vec![hands()])).await;
    assert_eq!(class(&seen), "result");
}

#[tokio::test(start_paused = true)]
async fn answers_to_notifications() {
    let cases = [("null", F::AnswerToNotification), ("0", F::UnknownId)];
    for (id, code) in cases {
        let stray = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        let plot = Box::new(move |method: &str, _: usize, _: &Value| match method {
            "initialize" => vec![hands()],
            "notifications/initialized" => vec![line(&stray)],
            _ => vec![said("hi")],
        });
        play(
            "reply-to-notification",
            plot,
            "result",
            &[code],
            End::AtOnce,
        )
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_a_notification_leaves_a_slow_tool_its_time() {
    let no = r#"{"code":-32601,"message":"no"}"#;
    let strays = [
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{no}}}"#),
        format!(r#"{{"jsonrpc":"2.0","error":{no}}}"#),
    ];
    for stray in strays {
        let plot = || -> Plot {
            let stray = stray.clone();
            Box::new(move |method, _, _| match method {
                "initialize" => vec![hands()],
                "notifications/initialized" => vec![line(&stray)],
                _ => vec![Act::Pause(Duration::from_millis(1_500)), said("hi")],
            })
        };
        let (seen, _) = act(&echo(), plot()).await;
        assert_eq!(class(&seen), "result", "{stray}");
        assert_eq!(codes(&seen), [F::AnswerToNotification], "{stray}");
        // One notification has one answer: the next one can only be the request's.
        let twice = Box::new(move |method: &str, _: usize, _: &Value| match method {
            "initialize" => vec![hands()],
            _ => vec![line(&stray)],
        });
        let (seen, _) = act(&echo(), twice).await;
        assert_eq!(class(&seen), "violation (subject)");
        assert_eq!(codes(&seen), [F::AnswerToNotification, F::NullId]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_without_an_id_may_be_meant_for_either() {
    let no = r#"{"code":-32000,"message":"no"}"#;
    let told = |what: &str| {
        format!(
            "an answer without an id{what}; it is meant for `tools/call`, or for a notification, which is not answered"
        )
    };
    for (stray, what) in [
        (
            r#"{"jsonrpc":"2.0","id":null,"result":{}}"#.to_owned(),
            String::new(),
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","error":{no}}}"#),
            format!(": {no}"),
        ),
    ] {
        // Nobody answered `notifications/initialized`, so that a slow tool may be behind it.
        let (seen, end) = act(&echo(), on_call(vec![line(&stray)])).await;
        assert_eq!(
            (class(&seen).as_str(), end),
            ("timeout (subject)", End::Deadline)
        );
        assert_eq!(codes(&seen), [F::NullId]);
        assert_eq!(seen.findings[0].message, told(&what));
        let help = seen.disruption.unwrap().help.unwrap();
        assert_eq!(help, format!("the likely cause: {}", told(&what)));
        let late = vec![line(&stray), seconds(2), said("hi")];
        let (seen, _) = act(&echo(), on_call(late)).await;
        assert_eq!(class(&seen), "result");
        assert_eq!(codes(&seen), [F::AnswerToNotification]);
        assert_eq!(
            seen.findings[0].message,
            format!("an answer to a notification{what}")
        );
        // Before the handshake is over there was no notification.
        let (seen, end) = act(&echo(), first(vec![line(&stray)])).await;
        assert_eq!(
            (class(&seen).as_str(), end),
            ("violation (handshake)", End::AfterGrace)
        );
        assert_eq!(codes(&seen), [F::NullId]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_none_is_said_to_be_what_it_is() {
    let cases = [
        ("[2]", "an array"),
        ("true", "a boolean"),
        (r#"{"a":1}"#, "an object"),
    ];
    for (id, what) in cases {
        let (seen, _) = act(&echo(), on_call(vec![answer(id)])).await;
        assert_eq!(codes(&seen), [F::NullId], "{id}");
        let said = seen.disruption.unwrap().message;
        let wanted = format!("an answer whose id is {what}, neither number nor text");
        assert!(said.ends_with(&wanted), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_line_in_json_is_no_message_whatever_its_members_are_called() {
    for member in [
        r#""id":"order-77""#,
        r#""id":null"#,
        r#""id":@id"#,
        r#""id":"@id""#,
        r#""id":@id,"error":{"code":104,"message":"reset"}"#,
        r#""id":@id,"result":{"rows":3}"#,
        r#""error":"connection reset, trying again""#,
        r#""result":{"rows":3}"#,
        r#""method":"GET","url":"/x""#,
        r#""method":"tools/call","id":@id"#,
        r#""method":"notifications/initialized""#,
    ] {
        let log = format!(r#"{{"level":30,{member},"msg":"a log line"}}"#);
        let acts = vec![line(&log), line(&log), seconds(2), said("hi")];
        let (seen, _) = act(&echo(), on_call(acts)).await;
        assert_eq!(class(&seen), "result", "{log}");
        assert_eq!(codes(&seen), [F::NotAMessage], "{log}");
        assert!(seen.notifications.is_empty(), "{log}");
        assert!(seen.server_requests.is_empty(), "{log}");
    }
    // What has nothing else is a message of a server that forgot a member.
    let failed = line(r#"{"id":@id,"error":{"code":-32000,"message":"no"}}"#);
    let (seen, _) = act(&echo(), on_call(vec![failed])).await;
    assert_eq!(class(&seen), "protocol error -32000: no");
    assert_eq!(codes(&seen), [F::JsonrpcMissing]);
    let told = line(r#"{"method":"notifications/tools/list_changed"}"#);
    let asked = line(r#"{"id":"a","method":"ping"}"#);
    let (seen, _) = act(&echo(), on_call(vec![told, asked, said("hi")])).await;
    assert_eq!(codes(&seen), [F::JsonrpcMissing]);
    assert_eq!(
        (seen.notifications.len(), seen.server_requests.len()),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn requests_with_ids_that_may_not_be() {
    let case = async |ids: &[&str], code: FindingCode, replies: Value| {
        let mut acts: Vec<Act> = ids.iter().map(|id| request(id, "ping")).collect();
        acts.push(said("hi"));
        let mut stage = Stage::new(on_call(acts));
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        assert_eq!(codes(&seen), [code], "{ids:?}");
        assert_eq!(seen.server_requests.len(), ids.len(), "{ids:?}");
        let (_, received) = stage.close().await;
        let answers = received.iter().filter(|sent| sent.get("method").is_none());
        let answers: Vec<Value> = answers
            .map(|sent| json!([sent["id"], sent["error"]["code"]]))
            .collect();
        assert_eq!(Value::from(answers), replies, "{ids:?}");
    };
    let none = json!([[null, -32600]]);
    case(&["null"], F::NullId, none.clone()).await;
    case(&["[1]"], F::NullId, none).await;
    case(&["1.5"], F::IdType, json!([[1.5, null]])).await;
    let both = json!([["a", null], ["a", null]]);
    case(&["\"a\"", "\"a\""], F::ReusedId, both).await;
    // A library that writes an absent id as null means a notification.
    let told = line(r#"{"jsonrpc":"2.0","id":null,"method":"notifications/tools/list_changed"}"#);
    let (seen, _) = act(&echo(), on_call(vec![told, said("hi")])).await;
    assert_eq!(codes(&seen), [F::NullId]);
    assert_eq!(
        (seen.notifications.len(), seen.server_requests.len()),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn capabilities_that_are_not_true() {
    let prompts = Subject::Prompts(PromptsCall::List(ListCall::default()));
    let missing = r#"{"jsonrpc":"2.0","id":@id,"error":{"code":-32601,"message":"no"}}"#;
    let (seen, _) = act(&prompts, on_call(vec![line(missing)])).await;
    assert_eq!(class(&seen), "protocol error -32601: no");
    assert_eq!(codes(&seen), [F::CapabilityNotServed]);
    // The server has no prompts without a model, and we had none.
    let asks = r#"{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    let mut asked = Value::Null;
    let passes_on = Box::new(
        move |method: &str, _: usize, message: &Value| match method {
            "initialize" => vec![hands()],
            "prompts/list" => {
                asked = message["id"].clone();
                vec![line(asks)]
            }
            "" => vec![line(&missing.replace("@id", &asked.to_string()))],
            _ => Vec::new(),
        },
    );
    let (seen, _) = act(&prompts, passes_on).await;
    assert_eq!(class(&seen), "protocol error -32601: no");
    assert_eq!(codes(&seen), [F::CapabilityNotDeclared]);
    let extra = Box::new(|method: &str, _: usize, _: &Value| match method {
        "initialize" => vec![hands_with(&json!({}))],
        "prompts/list" => vec![result(&json!({"prompts": []}))],
        _ => Vec::new(),
    });
    let (seen, _) = act(&prompts, extra).await;
    assert_eq!(class(&seen), "result");
    assert_eq!(codes(&seen), [F::CapabilityUndeclared]);
}

#[tokio::test(start_paused = true)]
async fn requests_that_the_revision_does_not_have() {
    async fn case(revision: &'static str, wanted: &[&str]) {
        let client = ClientBehaviour {
            elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
                action: ElicitationAction::Decline,
                content: None,
            }])),
            ..ClientBehaviour::default()
        };
        let asks = line(
            r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{}}}}"#,
        );
        let plot = Box::new(move |asked: &str, _: usize, _: &Value| match asked {
            "initialize" => vec![result(&json!({
                "protocolVersion": revision,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            }))],
            "tools/call" => vec![asks.clone(), said("hi")],
            _ => Vec::new(),
        });
        let mut stage = Stage::with(plot, &client);
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        let said = seen.findings.iter().map(|finding| finding.message.as_str());
        assert_eq!(said.collect::<Vec<_>>(), wanted, "{revision}");
        assert!(codes(&seen).iter().all(|code| *code == F::UnknownRequest));
        // The suite said how to answer, and the verdict is its own.
        let (_, received) = stage.close().await;
        let answer = received.iter().find(|sent| sent["id"] == "e").unwrap();
        assert_eq!(answer["result"], json!({"action": "decline"}));
    }
    for (revision, wanted) in [
        (
            "2024-11-05",
            "`elicitation/create`, which 2024-11-05 does not have",
        ),
        (
            "2025-03-26",
            "`elicitation/create`, which 2025-03-26 does not have",
        ),
    ] {
        case(revision, &[wanted]).await;
    }
    case("2025-06-18", &[]).await;
    case("2025-11-25", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn notifications_of_what_was_not_declared() {
    async fn case(capabilities: Value, method: &str, missing: Option<&str>) {
        let told = notification(method, &json!({"uri": "a://b", "level": "info", "data": 1}));
        let plot = Box::new(move |asked: &str, _: usize, _: &Value| match asked {
            "initialize" => vec![hands_with(&capabilities)],
            "tools/call" => vec![told.clone(), said("hi")],
            _ => Vec::new(),
        });
        let (seen, _) = act(&echo(), plot).await;
        assert_eq!(class(&seen), "result");
        let said: Vec<_> = seen
            .findings
            .iter()
            .filter(|finding| finding.code == F::CapabilityUndeclared)
            .map(|finding| finding.message.as_str())
            .filter(|message| message.starts_with(&format!("`{method}`")))
            .collect();
        let wanted =
            missing.map(|missing| format!("`{method}` comes, and `{missing}` is not declared"));
        assert_eq!(said, wanted.as_deref().into_iter().collect::<Vec<_>>());
    }
    for (name, changed) in [
        ("tools", "notifications/tools/list_changed"),
        ("prompts", "notifications/prompts/list_changed"),
        ("resources", "notifications/resources/list_changed"),
    ] {
        let member = format!("{name}.listChanged");
        case(json!({}), changed, Some(name)).await;
        case(json!({name: {}}), changed, Some(&member)).await;
        case(
            json!({name: {"listChanged": false}}),
            changed,
            Some(&member),
        )
        .await;
        case(json!({name: {"listChanged": true}}), changed, None).await;
    }
    let updated = "notifications/resources/updated";
    case(json!({"tools": {}}), updated, Some("resources")).await;
    case(
        json!({"resources": {}}),
        updated,
        Some("resources.subscribe"),
    )
    .await;
    case(json!({"resources": {"subscribe": true}}), updated, None).await;
    case(json!({}), "notifications/message", Some("logging")).await;
    case(json!({"logging": {}}), "notifications/message", None).await;
}

#[tokio::test(start_paused = true)]
async fn what_comes_before_the_handshake_is_held_against_its_answer() {
    let case = async |method: &str, declared: Value, wanted: &[F]| {
        let told = notification(method, &json!({"level": "info", "data": "x"}));
        let plot = Box::new(move |asked: &str, _: usize, _: &Value| match asked {
            "initialize" => vec![told.clone(), hands_with(&declared)],
            "tools/call" => vec![said("hi")],
            _ => Vec::new(),
        });
        let (seen, _) = act(&echo(), plot).await;
        assert_eq!(codes(&seen), wanted, "{method}");
    };
    let changed = "notifications/tools/list_changed";
    let early = F::EarlyNotification;
    let undeclared = F::CapabilityUndeclared;
    case(changed, json!({"tools": {"listChanged": true}}), &[early]).await;
    case(changed, json!({"tools": {}}), &[early, undeclared]).await;
    case(
        "notifications/message",
        json!({"tools": {}, "logging": {}}),
        &[],
    )
    .await;
    case("notifications/message", json!({"tools": {}}), &[undeclared]).await;
    case("notifications/x", json!({"tools": {}}), &[early]).await;
}

#[tokio::test(start_paused = true)]
async fn a_cause_is_named_only_where_it_can_be_one() {
    let case = async |said: &str, wanted: &str| {
        let (seen, _) = act(&echo(), on_call(vec![line(said)])).await;
        assert_eq!(class(&seen), "timeout (subject)", "{said}");
        let help = seen.disruption.unwrap().help.unwrap_or_default();
        assert_eq!(help, wanted, "{said}");
    };
    case("=== My MCP Server ===", "").await;
    case("[INFO] ready", "").await;
    case(r#"{"level":"info","msg":"loading"}"#, "").await;
    case(
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":5}}"#,
        "",
    )
    .await;
    case(
        "{'jsonrpc': '2.0', 'id': 2, 'result': {}}",
        "the likely cause: a line on stdout begins as an object does, and is not JSON",
    )
    .await;
    case(
        r#"{"id":2}"#,
        "the likely cause: valid JSON, but no JSON-RPC message",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn requests_nobody_declared() {
    for method in ["sampling/createMessage", "elicitation/create", "roots/list"] {
        let mut stage = Stage::new(on_call(vec![request("\"s\"", method), said("hi")]));
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        assert!(codes(&seen).contains(&F::CapabilityNotDeclared), "{method}");
        let (_, received) = stage.close().await;
        let refusal = received.iter().find(|sent| sent["id"] == "s").unwrap();
        assert_eq!(refusal["error"]["code"], -32601, "{received:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_that_no_revision_has() {
    // What only clients ask for is none that a server may.
    for method in ["foo/bar", "tools/list", "roots/lst"] {
        let mut stage = Stage::new(on_call(vec![request("\"s\"", method), said("hi")]));
        let seen = stage.perform(&echo()).await;
        assert_eq!(class(&seen), "result");
        assert_eq!(codes(&seen), [F::UnknownRequest], "{method}");
        let (_, received) = stage.close().await;
        let refusal = received.iter().find(|sent| sent["id"] == "s").unwrap();
        assert_eq!(refusal["error"]["code"], -32601, "{received:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn notifications_with_flaws() {
    let progress = |token: Value, value: f64| {
        notification(
            "notifications/progress",
            &json!({"progressToken": token, "progress": value}),
        )
    };
    let pass = |name, acts, findings| call(name, acts, "result", findings, End::AtOnce);
    let backwards = vec![progress(json!(2), 2.0), progress(json!(2), 1.0), said("hi")];
    pass("progress-backwards", backwards, &[F::ProgressNotGrowing]).await;
    let foreign = vec![progress(json!("theirs"), 1.0), said("hi")];
    pass(
        "progress-foreign-token",
        foreign,
        &[F::ForeignProgressToken],
    )
    .await;
    let after = vec![said("hi"), progress(json!(2), 1.0)];
    pass("progress-after-reply", after, &[F::ProgressAfterAnswer]).await;
    let loud = notification(
        "notifications/message",
        &json!({"level": "loud", "data": 1}),
    );
    pass(
        "log-bad-level",
        vec![loud, said("hi")],
        &[F::LogLevelUnknown],
    )
    .await;
    for (method, params) in [
        ("notifications/message", json!([1])),
        ("notifications/message", json!({"data": "x"})),
        ("notifications/message", json!({"level": 5, "data": "x"})),
        ("notifications/progress", json!([1])),
        ("notifications/progress", json!({"progress": 1})),
    ] {
        let (seen, _) = act(
            &echo(),
            on_call(vec![notification(method, &params), said("hi")]),
        )
        .await;
        assert!(
            codes(&seen).contains(&F::Schema),
            "{method} {params}: {:?}",
            codes(&seen)
        );
        assert!(
            !codes(&seen).contains(&F::ForeignProgressToken)
                && !codes(&seen).contains(&F::LogLevelUnknown)
        );
    }
    let mut storm: Vec<Act> = (0..1_000)
        .map(|_| notification("notifications/tools/list_changed", &json!({})))
        .collect();
    storm.push(said("hi"));
    pass("list-changed-storm", storm, &[F::NotificationFlood]).await;
    let mut flood: Vec<Act> = (0..11_000)
        .map(|value| progress(json!(2), f64::from(value)))
        .collect();
    flood.push(said("hi"));
    pass("progress-flood", flood, &[F::NotificationFlood]).await;
}

#[tokio::test(start_paused = true)]
async fn lists_without_end_end() {
    let plot = |page: fn(usize) -> Value| -> Plot {
        Box::new(move |method, count, _| match method {
            "initialize" => vec![hands()],
            "tools/list" => vec![result(&page(count))],
            _ => Vec::new(),
        })
    };
    let case = async |page: fn(usize) -> Value, pages: usize, code: FindingCode| {
        let (seen, end) = act(&Subject::Tools(ListCall::default()), plot(page)).await;
        assert_eq!(end, End::AtOnce);
        assert_eq!(codes(&seen), [code]);
        let answer = seen.answer.unwrap();
        let reply = answer.reply().unwrap();
        assert_eq!(reply.pages.len(), pages);
        let is_whole = code == F::EmptyCursor;
        assert_eq!(reply.unfetched.is_none(), is_whole, "{code}");
    };
    let repeat = |_| json!({"tools": [], "nextCursor": "A"});
    case(repeat, 1, F::CursorLoop).await;
    let turns = |count: usize| json!({"tools": [], "nextCursor": if count.is_multiple_of(2) { "A" } else { "B" }});
    case(turns, 2, F::CursorLoop).await;
    let empty = |_| json!({"tools": [], "nextCursor": ""});
    case(empty, 1, F::EmptyCursor).await;
    let endless = |count: usize| json!({"tools": [], "nextCursor": count.to_string()});
    case(endless, 1_000, F::TooManyPages).await;
}
