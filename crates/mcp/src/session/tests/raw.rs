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
    script::subject::{RawExchange, RawFrame, RawHandshake, Subject},
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
    case(text, "`isError` of the answer is not a boolean").await;
    case(r#","result":{"content":[],"isError":null}"#, "success").await;
    case(r#","result":{"content":[],"isError":true}"#, "tool error").await;
}

#[tokio::test(start_paused = true)]
async fn answers_to_requests_by_the_rules_are_looked_into() {
    use FindingCode as F;
    let case = async |request: &str, told: &'static str, wanted: &[F]| {
        let answer = move |message: &Value| {
            (!message.is_null())
                .then(|| line(told))
                .into_iter()
                .collect()
        };
        let (_, _, findings) = sent(request, answer).await;
        assert_eq!(findings, wanted, "{request} {told}");
    };
    let call = r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t"}}"#;
    let hologram = r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"hologram"}]}}"#;
    let unknown = &[F::UnknownContentType, F::TypedClientRejects];
    case(call, hologram, unknown).await;
    let bare = r#"{"jsonrpc":"2.0","id":5,"result":{}}"#;
    case(call, bare, &[F::Schema]).await;
    let words = r#"{"jsonrpc":"2.0","id":5,"result":{"content":"x"}}"#;
    case(call, words, &[F::Schema]).await;
    let list = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#;
    let text = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":"x"}}"#;
    case(list, text, &[F::Schema]).await;
    let odd_name = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[{"name":"a b","inputSchema":{"type":"object"}}]}}"#;
    case(list, odd_name, &[F::BadName]).await;
    let refused =
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}}"#;
    case(list, refused, &[F::CapabilityNotServed]).await;
    let good = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#;
    case(list, good, &[]).await;
    // What is not a request by the rules may be answered in any way.
    for odd in [
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":7}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"t","task":{}}}"#,
        r#"{"id":5,"method":"tools/call","params":{"name":"t"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"other/call","params":{"name":"t"}}"#,
    ] {
        case(odd, bare, &[]).await;
    }
    // Of two requests with one id nobody knows which one an answer is for.
    case(&format!("{call}\n{list}"), bare, &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_level_that_a_frame_sets_holds() {
    let told =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let case = async |level: &str, wanted: &[FindingCode]| {
        let set = format!(
            r#"{{"jsonrpc":"2.0","id":4,"method":"logging/setLevel","params":{{"level":{level}}}}}"#
        );
        let ping = r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#;
        let answer = |message: &Value| match message["id"].as_u64() {
            Some(4) => vec![line(r#"{"jsonrpc":"2.0","id":4,"result":{}}"#)],
            Some(5) => vec![line(told), line(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#)],
            Some(_) | None => Vec::new(),
        };
        let (_, _, findings) = sent(&format!("{set}\n{ping}"), answer).await;
        assert_eq!(findings, wanted, "{level}");
    };
    case("\"error\"", &[FindingCode::LogBelowLevel]).await;
    case("\"info\"", &[]).await;
    // Nobody knows which level that is.
    case("\"loud\"", &[]).await;
    case("7", &[]).await;
}

#[tokio::test(start_paused = true)]
async fn a_token_that_a_frame_carries_is_ours() {
    use FindingCode as F;
    let call = |id: u64, token: &Value| {
        let params = json!({"name": "t", "_meta": {"progressToken": token}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let told = |token: &Value, progress: u64| {
        let params = json!({"progressToken": token, "progress": progress});
        let told = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params});
        line(&told.to_string())
    };
    let done = || line(r#"{"jsonrpc":"2.0","id":5,"result":{"content":[]}}"#);
    let case = async |token: Value, acts: Vec<Act>, wanted: &[F]| {
        let mut acts = Some(acts);
        let plot = move |message: &Value| {
            let is_call = message["id"] == 5;
            acts.take_if(|_| is_call).unwrap_or_default()
        };
        let (_, _, findings) = sent(&call(5, &token), plot).await;
        assert_eq!(findings, wanted, "{token}");
    };
    for token in [json!("q"), json!(77)] {
        case(token.clone(), vec![told(&token, 1), done()], &[]).await;
        let stuck = vec![told(&token, 2), told(&token, 1), done()];
        case(token.clone(), stuck, &[F::ProgressNotGrowing]).await;
        let late = vec![told(&token, 1), done(), told(&token, 2)];
        case(token, late, &[F::ProgressAfterAnswer]).await;
    }
    let foreign = vec![told(&json!("other"), 1), done()];
    case(json!("q"), foreign, &[F::ForeignProgressToken]).await;
}
