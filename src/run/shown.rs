//! The call that a failure is about, for the reports: the subject's, or a step's.

use check::outcome::CallShown;
use mcp::{
    observation::{
        Observation, StepPart, StepSeen,
        answer::{Answer, Body, Reply},
        disruption::{Disruption, Phase},
    },
    script::{
        subject::{PromptsCall, ResourcesAction, Subject},
        template::Template,
    },
};
use suite::plan::job::RunJob;

/// The call that an outcome is about: of the step that could not be observed, else of the subject. One that was not
/// answered is not shown, and no other one in its place.
pub(super) fn call(
    work: &RunJob,
    seen: &Observation,
    disruption: Option<&Disruption>,
) -> Option<CallShown> {
    let step = disruption.and_then(|disruption| Some((disruption.step?, disruption.phase)));
    let Some((index, phase)) = step else {
        let answer = seen.answer.as_ref()?;
        return Some(of(request(&work.body.subject), answer));
    };
    let part = match phase {
        Phase::Setup => StepPart::Setup,
        Phase::Place | Phase::Start | Phase::Handshake | Phase::Subject => StepPart::Subject,
    };
    let is_meant = |step: &&StepSeen| step.part == part && step.index == index;
    of_step(seen.steps.iter().find(is_meant)?)
}

/// The call of a step that was answered.
pub(super) fn of_step(step: &StepSeen) -> Option<CallShown> {
    let answer = step.answer.as_ref()?;
    Some(of(step.label.clone(), answer))
}

fn of(label: String, answer: &Answer) -> CallShown {
    let label = match &answer.tool {
        Some(tool) => format!("tool `{tool}`"),
        None => label,
    };
    let text = match &answer.body {
        Body::Result(reply) => text_of(reply),
        Body::ProtocolError(error) => error.raw.to_string(),
    };
    CallShown {
        label,
        arguments: answer.arguments.clone(),
        answer: Some(text),
    }
}

/// The text of a result, or what it has instead.
fn text_of(reply: &Reply) -> String {
    if !reply.text.is_empty() {
        return reply.text.clone();
    }
    if let Some(head) = &reply.http {
        return format!("HTTP {} without a body", head.status);
    }
    let blocks = reply
        .content
        .iter()
        .filter_map(|block| block.get("type")?.as_str());
    let blocks = blocks.filter(|kind| *kind != "text");
    let structured = reply.structured.iter().map(|_| "structuredContent");
    let instead: Vec<&str> = blocks.chain(structured).collect();
    if instead.is_empty() {
        return String::new();
    }
    format!("no text: {}", instead.join(", "))
}

/// What a subject sent, when that was no tool call.
fn request(subject: &Subject) -> String {
    let of = |method: &str, what: &Template| format!("{method} of `{}`", what.text);
    match subject {
        Subject::Tools(_) => "tools/list".to_owned(),
        Subject::Initialize => "the handshake".to_owned(),
        Subject::Resources(call) => match (&call.action, &call.subscribe) {
            (Some(ResourcesAction::List(_)), _) => "resources/list".to_owned(),
            (Some(ResourcesAction::Templates(_)), _) => "resources/templates/list".to_owned(),
            (Some(ResourcesAction::Read(uri)), _) => of("resources/read", uri),
            (None, Some(uri)) => of("resources/subscribe", uri),
            (None, None) => subject.key().to_owned(),
        },
        Subject::Prompts(PromptsCall::List(_)) => "prompts/list".to_owned(),
        Subject::Prompts(PromptsCall::Get { name, .. }) => of("prompts/get", name),
        Subject::Completion(_) => "completion/complete".to_owned(),
        Subject::Raw(_) => "the frames of `raw`".to_owned(),
        Subject::Http(call) => call.what(),
        Subject::Logging { .. } => "logging/setLevel".to_owned(),
        Subject::Tool(_)
        | Subject::Sampling(_)
        | Subject::Elicitation(_)
        | Subject::Notifications { .. }
        | Subject::Trajectory(_)
        | Subject::Steps { .. } => subject.key().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::text_of;
    use mcp::observation::answer::Reply;

    #[test]
    fn a_result_without_text_says_what_it_has() {
        let case = |content: serde_json::Value, wanted: &str| {
            let reply = Reply {
                content: content.as_array().cloned().unwrap_or_default(),
                ..Reply::default()
            };
            assert_eq!(text_of(&reply), wanted);
        };
        case(
            json!([{"type": "image"}, {"type": "resource_link"}]),
            "no text: image, resource_link",
        );
        case(json!([{"type": "text", "text": ""}]), "");
        case(json!([]), "");
    }
}
