//! Frames sent as they are written, malformed ones too, and every frame that comes back.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::{
    Observed, Session,
    dialogue::{Dialogue, Transcript},
    exchange::Halt,
};
use crate::{
    observation::answer::{Answer, Body, FrameAnswer, FrameAnswers, Reply},
    protocol::message::{Id, Response, RpcError},
    suite::{model::subject::RawFrame, template::Bindings},
};

/// What the server owes for the frames that were sent.
#[derive(Debug, Default)]
struct Owed {
    /// Answers to requests.
    requests: Vec<Id>,
    /// Answers without an id, for what is no request and no notification.
    nameless: usize,
}

impl Owed {
    /// Whether everything came. Where nothing is owed, something may still come.
    fn is_paid(&self, dialogue: &Dialogue) -> bool {
        let nameless = dialogue
            .transcript
            .as_ref()
            .map_or(0, |transcript| transcript.nameless.len());
        let owes = !self.requests.is_empty() || self.nameless > 0;
        let open = self.requests.iter().any(|id| dialogue.requests.is_open(id));
        owes && !open && nameless >= self.nameless
    }

    fn add(&mut self, session: &mut Session, value: &Value) {
        let method = value.get("method").and_then(Value::as_str);
        let id = value.get("id").and_then(Id::from_value);
        match (method, id) {
            (Some(method), Some(id)) => {
                session.exchange.open(id.clone(), method);
                self.requests.push(id);
            }
            (Some(_), None) => {}
            (None, _) => self.nameless += 1,
        }
    }
}

impl Session {
    /// The bytes of a frame, with its values.
    pub(super) fn raw_frame(&self, frame: &RawFrame, bindings: &Bindings) -> Observed<String> {
        match frame {
            RawFrame::Json(value) => Ok(self.value(value, bindings)?.to_string()),
            RawFrame::Text(text) => self.text(text, bindings),
        }
    }

    /// Sends the frames and takes what comes until every request is answered or the time is over.
    pub(super) async fn raw_exchange(
        &mut self,
        frames: &[String],
        within: Duration,
        deadline: Instant,
    ) -> Observed<()> {
        let what = "the raw frames";
        let began = Instant::now();
        let record = &self.exchange.dialogue.record;
        let from = (record.notifications.len(), record.server_requests.len());
        self.exchange.dialogue.transcript = Some(Transcript::default());
        let mut owed = Owed::default();
        for frame in frames {
            match serde_json::from_str::<Value>(frame) {
                Ok(Value::Array(batch)) if !batch.is_empty() => {
                    for value in &batch {
                        owed.add(self, value);
                    }
                }
                Ok(value) => owed.add(self, &value),
                Err(_) => owed.nameless += 1,
            }
            if let Err(halt) = self.exchange.send(frame.as_bytes(), deadline).await {
                return Err(self.disrupt(halt, what).await);
            }
        }
        let until = began + within;
        let waited = self
            .exchange
            .until(until.min(deadline), |dialogue| owed.is_paid(dialogue))
            .await;
        match waited {
            Err(Halt::Deadline) if deadline < until => {
                return Err(self.disrupt(Halt::Deadline, what).await);
            }
            // What came before the end is what is observed, unless an answer was due.
            Err(Halt::Closed) if !self.exchange.dialogue.requests.open().is_empty() => {
                return Err(self.disrupt(Halt::Closed, what).await);
            }
            Ok(()) | Err(Halt::Deadline | Halt::Closed | Halt::Deaf(_) | Halt::Broken(_)) => {}
        }
        let answers = self.answers_to(owed);
        self.exchange.dialogue.requests.cancel_all();
        self.seen.answer = Some(self.raw_answer(began, from, answers));
        Ok(())
    }

    /// What was answered to the requests, and what without an id.
    fn answers_to(&mut self, owed: Owed) -> FrameAnswers {
        let requests = &mut self.exchange.dialogue.requests;
        let mut found = FrameAnswers::default();
        for id in owed.requests {
            match requests.take(&id) {
                Some(settled) => found.answers.push(answer_of(&settled.response)),
                None if requests.is_open(&id) => found.unanswered.push(id),
                // One id sent twice has one answer.
                None => {}
            }
        }
        let transcript = self.exchange.dialogue.transcript.as_ref();
        let nameless = transcript.map(|transcript| &transcript.nameless[..]);
        let nameless = nameless.unwrap_or_default().iter();
        found.answers.extend(nameless.map(answer_of));
        found
    }

    fn raw_answer(
        &mut self,
        began: Instant,
        from: (usize, usize),
        answers: FrameAnswers,
    ) -> Answer {
        let transcript = self.exchange.dialogue.transcript.take();
        let frames = transcript.unwrap_or_default().frames;
        let text = frames.join("\n");
        let pages: Vec<Value> = frames
            .into_iter()
            .map(|frame| serde_json::from_str(&frame).unwrap_or(Value::String(frame)))
            .collect();
        let record = &self.exchange.dialogue.record;
        Answer {
            took: began.elapsed(),
            bytes: text.len(),
            body: Body::Result(Reply {
                raw: Value::Array(pages.clone()),
                text,
                pages,
                frames: Some(Box::new(answers)),
                ..Reply::default()
            }),
            progress_token: None,
            notifications: from.0..record.notifications.len(),
            server_requests: from.1..record.server_requests.len(),
            tool: None,
            arguments: Value::Null,
        }
    }
}

/// What kind of answer this is.
fn answer_of(response: &Response) -> FrameAnswer {
    let is_tool_error = |result: &Value| result.get("isError") == Some(&Value::Bool(true));
    match (&response.error, &response.result) {
        (Some(error), _) => FrameAnswer::ProtocolError(RpcError::from_value(error)),
        (None, Some(result)) if is_tool_error(result) => FrameAnswer::ToolError,
        (None, _) => FrameAnswer::Success,
    }
}
