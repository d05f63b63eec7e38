//! Which answers to frames that are sent as they are written are seen, and what is owed for them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::server::{Act, Stage, class, codes, hands, line, text};
use crate::{
    observation::{
        answer::{FrameAnswer, FrameAnswers},
        finding::FindingCode,
    },
    suite::model::subject::{RawExchange, RawFrame, RawHandshake, Subject},
};

/// An error of a server.
fn refusal(id: &str, code: i64) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no"}}}}"#
    ))
}

/// What was answered, in short, what was not, and the findings; the server answers each line like this.
async fn sent(
    written: &str,
    mut plot: impl FnMut(&Value) -> Vec<Act> + Send + 'static,
) -> (Vec<String>, FrameAnswers, Vec<FindingCode>) {
    let subject = Subject::Raw(RawExchange {
        send: vec![RawFrame::Text(text(written))],
        handshake: RawHandshake::Made,
        within: Duration::from_secs(1),
    });
    let server = move |method: &str, _: usize, message: &Value| match method {
        "initialize" => vec![hands()],
        "notifications/initialized" => Vec::new(),
        _ => plot(message),
    };
    let mut stage = Stage::new(Box::new(server));
    let seen = stage.perform(&subject).await;
    assert_eq!(class(&seen), "result", "{written}");
    let findings = codes(&seen);
    let answer = seen.answer.unwrap();
    let frames = answer.reply().unwrap().frames.clone().unwrap();
    let kinds = frames.answers.iter().map(|answer| match &answer.kind {
        FrameAnswer::Success => "success".to_owned(),
        FrameAnswer::ToolError => "tool error".to_owned(),
        FrameAnswer::ProtocolError(error) => error.shown_code().unwrap_or_default(),
        FrameAnswer::Unclear(reason) => (*reason).to_owned(),
    });
    (kinds.collect(), *frames, findings)
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_a_cancel_that_was_read_is_told() {
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    let ping = r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#;
    let case = async |frames: [&str; 3], order: [&'static str; 2], wanted: &[FindingCode]| {
        let mut read = 0;
        let answers = move |message: &Value| {
            read += usize::from(!message.is_null());
            let ids = order.iter().filter(|_| read == 3);
            ids.map(|id| refusal(id, -1)).collect()
        };
        let (kinds, _, findings) = sent(&frames.join("\n"), answers).await;
        assert_eq!(kinds.len(), 2);
        assert_eq!(findings, wanted, "{frames:?}, {order:?}");
    };
    let after = &[FindingCode::AnswerAfterCancel];
    case([call, cancel, ping], ["6", "5"], after).await;
    // It may have been on its way, as may one that had been asked for before.
    case([call, cancel, ping], ["5", "6"], &[]).await;
    case([call, ping, cancel], ["6", "5"], &[]).await;
    let other = cancel.replace('5', "7");
    case([call, &other, ping], ["6", "5"], &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_text_is_as_many_frames_as_it_has_lines() {
    let named = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "nope"});
    let both = format!("{}\n{}\n", named(5), named(6));
    let began = Instant::now();
    // The line between the text's own newline and the frame's is empty.
    let answer = |message: &Value| {
        let request = (!message.is_null()).then(|| message["id"].to_string());
        request.iter().map(|id| refusal(id, -32601)).collect()
    };
    let (kinds, frames, findings) = sent(&both, answer).await;
    assert_eq!(kinds, ["-32601", "-32601"]);
    assert_eq!(frames.unanswered, []);
    assert_eq!(findings, []);
    let first = |message: &Value| match message["id"].as_u64() {
        Some(5) => vec![refusal("5", -32601)],
        Some(_) | None => Vec::new(),
    };
    assert!(
        began.elapsed() < Duration::from_millis(100),
        "it ends with the answers"
    );
    let (_, frames, _) = sent(&both, first).await;
    assert_eq!(frames.unanswered.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_error_is_seen_whatever_its_id_is() {
    for id in ["\"server-error\"", "0", "null"] {
        let began = Instant::now();
        let (kinds, ..) = sent("{bad", move |_| vec![refusal(id, -32700)]).await;
        assert_eq!(kinds, ["-32700"], "{id}");
        assert!(
            began.elapsed() < Duration::from_millis(100),
            "{id}: it ends with the answer"
        );
    }
    let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
    let good = || line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
    let beside = move |_: &Value| vec![refusal("99", -1), good()];
    let (kinds, _, findings) = sent(ping, beside).await;
    assert_eq!(kinds, ["-1", "success"]);
    assert_eq!(findings, [FindingCode::UnknownId]);
    // Of two answers to one request each is looked at.
    for (index, acts) in [[refusal("5", -1), good()], [good(), refusal("5", -1)]]
        .into_iter()
        .enumerate()
    {
        let twice = format!("{ping}\n{ping}");
        let mut acts = acts.into_iter();
        let (kinds, frames, _) = sent(&twice, move |_| acts.next().into_iter().collect()).await;
        let wanted = [["-1", "success"], ["success", "-1"]];
        assert_eq!(kinds, wanted[index]);
        assert_eq!(frames.unanswered, []);
    }
    // An error for another id does not answer an invalid request.
    let invalid = r#"{"id":5,"method":"x"}"#;
    let (_, frames, _) = sent(invalid, |_| vec![refusal("99", -32600)]).await;
    assert_eq!(frames.unanswered.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_no_whole_one_is_of_no_kind() {
    let case = async |members: &'static str, wanted: &str| {
        let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t"}}"#;
        let answer = format!(r#"{{"jsonrpc":"2.0","id":5{members}}}"#);
        let (kinds, ..) = sent(call, move |_| vec![line(&answer)]).await;
        assert_eq!(kinds, [wanted], "{members}");
    };
    case("", "the answer has neither `result` nor `error`").await;
    let both = r#","result":{},"error":{"code":1,"message":"x"}"#;
    case(both, "the answer has both `result` and `error`").await;
    let text = r#","result":{"content":[],"isError":"true"}"#;
    case(text, "`isError` of the answer is no boolean").await;
    case(r#","result":{"content":[],"isError":null}"#, "success").await;
    case(r#","result":{"content":[],"isError":true}"#, "tool error").await;
}
