//! Observations for tests, from a line or two each.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{check, outcome::verdict::Verdict};
use mcp::{
    observation::{
        NotificationSeen, Observation,
        answer::{Answer, Answered, Body, FrameAnswer, FrameAnswers, Rendering, Reply},
    },
    protocol::message::{Id, RpcError},
};
use suite::model::expectation::Expectation;

/// An answer with this body.
pub(super) fn answer(body: Body) -> Answer {
    Answer {
        body,
        took: Duration::from_millis(12),
        bytes: 120,
        at_us: 0,
        on_time: usize::MAX,
        progress_token: Some(json!("token-1")),
        notifications: 0..usize::MAX,
        server_requests: 0..usize::MAX,
        tool: Some("echo".to_owned()),
        arguments: json!({}),
        unserved: None,
        interest: None,
    }
}

/// An observation with this answer.
pub(super) fn observed(body: Body) -> Observation {
    Observation {
        answer: Some(answer(body)),
        ..Observation::default()
    }
}

/// The observation of a tool result, given as the `result` member.
pub(super) fn tool(raw: Value) -> Observation {
    let content: Vec<Value> = raw["content"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&str> = content
        .iter()
        .filter(|block| block["type"] == "text")
        .filter_map(|block| block["text"].as_str())
        .collect();
    observed(Body::Result(Reply {
        text: texts.join("\n"),
        rendering: Rendering::Blocks,
        structured: raw.get("structuredContent").cloned(),
        is_error: raw["isError"] == true,
        content,
        raw,
        ..Reply::default()
    }))
}

/// A list of so many items as SDKs send it: a text for each, and the whole beside.
pub(super) fn listed(items: usize) -> Observation {
    let ids: Vec<Value> = (1..=items).map(|id| json!({ "id": id })).collect();
    let texts = ids
        .iter()
        .map(|id| json!({"type": "text", "text": id.to_string()}));
    tool(
        json!({"content": texts.collect::<Vec<_>>(), "structuredContent": {"result": ids, "n": 5}}),
    )
}

/// The observation of a result whose text was made like this.
pub(super) fn rendered(rendering: Rendering, text: &str, raw: Value) -> Observation {
    observed(Body::Result(Reply {
        text: text.to_owned(),
        rendering,
        raw,
        ..Reply::default()
    }))
}

/// The observation of a result that is looked at as JSON.
pub(super) fn json(raw: Value) -> Observation {
    rendered(Rendering::Json, &raw.to_string(), raw)
}

/// The observation of a tool result with this text.
pub(super) fn says(text: &str) -> Observation {
    tool(json!({"content": [{"type": "text", "text": text}]}))
}

/// The observation of a tool error with this text.
pub(super) fn fails(text: &str) -> Observation {
    tool(json!({"content": [{"type": "text", "text": text}], "isError": true}))
}

/// The observation of a JSON-RPC error.
pub(super) fn refuses(error: &Value) -> Observation {
    observed(Body::ProtocolError(RpcError::from_value(error)))
}

/// The observation of frames that were answered like this, and of requests with these ids that were not.
pub(super) fn frames(answers: Vec<FrameAnswer>, unanswered: &[u64]) -> Observation {
    let text = if answers.is_empty() { "" } else { "{…}" };
    let answers = (1..).zip(answers).map(|(id, kind): (u64, _)| Answered {
        id: Some(Id::Number(id.to_string())),
        kind,
    });
    observed(Body::Result(Reply {
        text: text.to_owned(),
        frames: Some(Box::new(FrameAnswers {
            answers: answers.collect(),
            unanswered: unanswered
                .iter()
                .map(|id| Id::Number(id.to_string()))
                .collect(),
            lack: None,
        })),
        ..Reply::default()
    }))
}

/// The same observation with these notifications during the call, each as method and parameters.
pub(super) fn telling(mut seen: Observation, notifications: &[(&str, Value)]) -> Observation {
    seen.notifications = notifications
        .iter()
        .map(|(method, params)| NotificationSeen {
            method: (*method).to_owned(),
            params: params.clone(),
            provoked: false,
        })
        .collect();
    seen
}

/// What is said about each case, one after another.
pub(super) fn report(cases: &[(Expectation, Observation)]) -> String {
    let lines = cases
        .iter()
        .map(|(wanted, seen)| told(&check(wanted, seen)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Asserts that each of these holds.
pub(super) fn hold(cases: &[(Expectation, Observation)]) {
    for (wanted, seen) in cases {
        assert_eq!(told(&check(wanted, seen)), "held", "{wanted:?}");
    }
}

/// A verdict as text: `held`, `unknowable: …`, or each mismatch with its headline, hint and the value shown.
pub(super) fn told(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Held => "held".to_owned(),
        Verdict::Unknowable(reason) => format!("unknowable: {reason}"),
        Verdict::Missed(mismatches) => {
            assert!(!mismatches.is_empty(), "missed without a mismatch");
            let lines = mismatches.iter().map(|mismatch| {
                let hint = mismatch.hint.as_ref();
                let hint = hint
                    .map(|hint| format!("\n  hint: {hint}"))
                    .unwrap_or_default();
                format!("{}{hint}", mismatch.headline())
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    }
}
