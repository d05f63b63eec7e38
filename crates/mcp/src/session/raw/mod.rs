//! Frames sent as they are written, malformed ones too, and every frame that comes back.

mod asked;
mod findings;

use serde_json::Value;
use tokio::time::Instant;

use self::asked::{Form, Frame, SentRequest};
use super::{
    Observed, OnEnd, Session,
    correlation::{Fit, Settled, id_value},
    dialogue::{Dialogue, Transcript},
    exchange::Halt,
};
use crate::{
    observation::answer::{Answer, Answered, Body, FrameAnswer, FrameAnswers, Rendering, Reply},
    protocol::{
        message::{Id, Response, RpcError},
        method::Method,
    },
    script::subject::{RawExchange, RawFrame},
};

/// What tells a tool error from other results.
const IS_ERROR: &str = "isError";

/// The answers that are due for the frames that were sent.
#[derive(Debug, Default)]
struct Owed {
    /// Answers to requests.
    requests: Vec<SentRequest>,
    /// Answers without an id, for what has none that could be answered.
    nameless: usize,
}

impl Owed {
    /// Whether everything came that can. Where nothing is owed, something may still come.
    fn is_paid(&self, dialogue: &Dialogue) -> bool {
        let owes = !self.requests.is_empty() || self.nameless > 0;
        let transcript = dialogue.transcript.as_ref();
        let is_lost = |id: &&Id| {
            let mut lost = transcript.into_iter().flat_map(|it| &it.lost);
            lost.any(|(other, _)| other == *id)
        };
        let (named, open): (Vec<&Id>, Vec<&Id>) = Self::open(dialogue)
            .filter(|id| !is_lost(id))
            .partition(|id| self.form(id) == Form::Valid);
        let nameless = transcript.map_or(0, |it| it.nameless);
        owes && named.is_empty() && nameless >= self.unread(dialogue) + open.len()
    }

    /// The requests that wait.
    fn open(dialogue: &Dialogue) -> impl Iterator<Item = &Id> {
        dialogue.requests.open().iter().map(|open| &open.id)
    }

    /// The form of the request with this id.
    fn form(&self, id: &Id) -> Form {
        let asked = self.requests.iter().find(|asked| asked.id == *id);
        asked.map_or(Form::Valid, |asked| asked.form)
    }

    /// How many of the answers without an id are those to what has none. An error with an id that nobody asked with is
    /// taken for one of them.
    fn unread(&self, dialogue: &Dialogue) -> usize {
        let misnamed = dialogue.transcript.as_ref().map_or(0, |it| it.misnamed);
        self.nameless.saturating_sub(misnamed)
    }

    /// What a text is on the wire: a frame, or several, since frames are lines. JSON that is laid out over lines is owed
    /// the answers it asks for, though no server reads it as one frame.
    fn add_frames(&mut self, session: &mut Session, text: &str) {
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            return self.add_frame(session, (text, &value));
        }
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match serde_json::from_str::<Value>(line) {
                Ok(value) => self.add_frame(session, (line, &value)),
                Err(_) => self.nameless += 1,
            }
        }
    }

    /// A frame is about to be sent.
    fn add_frame(&mut self, session: &mut Session, (text, value): (&str, &Value)) {
        let has_batches = session.exchange.dialogue.revision.has_batches();
        let frame = Frame::of(text, value, has_batches);
        let batch = value.as_array().filter(|batch| !batch.is_empty());
        for value in batch.map_or(std::slice::from_ref(value), Vec::as_slice) {
            self.add(session, (value, frame));
        }
    }

    /// A frame, or a part of a batch, is about to be sent.
    fn add(&mut self, session: &mut Session, (value, frame): (&Value, Frame)) {
        let method = value.get("method").and_then(Value::as_str);
        let id = value.get("id").filter(|id| !id.is_null());
        let is_answer = value.get("result").is_some() || value.get("error").is_some();
        match (id.map(Id::from_value), method) {
            (Some(Some(id)), method) if method.is_some() || !is_answer => {
                let asked = SentRequest::new(id, value, frame);
                self.ask(session, (asked, value), method.unwrap_or_default());
            }
            (None, Some("notifications/cancelled")) => {
                let named = value
                    .get("params")
                    .and_then(|params| params.get("requestId"));
                if let Some(id) = named.and_then(Id::from_value) {
                    session.exchange.dialogue.requests.cancel(&id);
                }
            }
            // Another notification.
            (None, Some(_)) => {}
            (Some(_) | None, _) => self.nameless += 1,
        }
    }

    /// A request is about to be sent.
    fn ask(
        &mut self,
        session: &mut Session,
        (mut asked, value): (SentRequest, &Value),
        method: &str,
    ) {
        let dialogue = &mut session.exchange.dialogue;
        // Of two requests with one id nobody can say which one an answer is for.
        let mut others = self.requests.iter_mut();
        if let Some(other) = others.find(|other| other.id.same_but_for_type(&asked.id)) {
            (other.method, asked.method) = (None, None);
        }
        if matches!(
            dialogue.requests.fit(&asked.id),
            Fit::Open(_) | Fit::Retyped(_)
        ) {
            asked.method = None;
        }
        if method == Method::LoggingSetLevel.name() {
            dialogue.log_levels.ask(asked.log_level(value));
        }
        if method == Method::SubscriptionsListen.name() {
            dialogue.listens(asked.id.clone(), &value["params"]);
        }
        if let Some(token) = &asked.token {
            dialogue.progress.expect(token.clone(), asked.id.clone());
        }
        session.exchange.open(asked.id.clone(), method);
        self.requests.push(asked);
    }

    /// The request that carries a progress token, where it is one alone: whose progress is meant is known then.
    fn with_token(&self) -> Option<(&SentRequest, &Id)> {
        let mut all = self.requests.iter();
        let mut all = all.by_ref().filter_map(|it| Some((it, it.token.as_ref()?)));
        all.next().filter(|_| all.next().is_none())
    }

    /// How many answers without an id are not a deviation.
    fn due(&self) -> usize {
        let invalid = |asked: &&SentRequest| asked.form == Form::Invalid;
        self.nameless + self.requests.iter().filter(invalid).count()
    }
}

impl Session {
    /// Sends frames as they are written, and takes what comes until every request is answered or the time is over.
    pub(super) async fn raw(&mut self, exchange: &RawExchange, on_end: OnEnd) -> Observed<()> {
        let mut frames = Vec::with_capacity(exchange.send.len());
        for frame in &exchange.send {
            frames.push(match frame {
                RawFrame::Json(value) => self.value(value)?.to_string(),
                RawFrame::Text(text) => self.text(text)?,
            });
        }
        let what = "the raw frames";
        let began = Instant::now();
        let from = self.exchange.dialogue.record.arrived();
        self.exchange.dialogue.transcript = Some(Transcript::default());
        let mut owed = Owed::default();
        for frame in &frames {
            owed.add_frames(self, frame);
            if let Some(transcript) = &mut self.exchange.dialogue.transcript {
                transcript.due = owed.due();
                transcript.asked = owed.requests.iter().map(|it| it.id.clone()).collect();
            }
            self.exchange.send(frame.as_bytes()).await;
        }
        let until = began + exchange.within;
        let exchange = &mut self.exchange;
        let deadline = exchange.with_lost(self.deadline);
        let paid = |dialogue: &Dialogue| owed.is_paid(dialogue);
        // What was not said cannot be answered.
        let waited = match exchange.until_sent(deadline, paid).await {
            Err(Halt::Deadline) => return Err(self.disrupt(Halt::Deadline, what).await),
            Err(halt) => Err(halt),
            Ok(()) => exchange.until(until.min(deadline), paid).await,
        };
        match waited {
            Err(Halt::Deadline) if deadline < until => {
                return Err(self.disrupt(Halt::Deadline, what).await);
            }
            Err(halt @ (Halt::Closed | Halt::Deaf(_))) => {
                self.raw_ended(halt, &owed, on_end).await?;
            }
            Ok(()) | Err(Halt::Deadline | Halt::Broken(_)) => {}
        }
        let answers = self.answers_to(&owed);
        let requests = &mut self.exchange.dialogue.requests;
        let settled = owed.requests.iter();
        let settled: Vec<(&SentRequest, Settled)> = settled
            .filter_map(|asked| Some((asked, requests.take(&asked.id)?)))
            .collect();
        requests.cancel_all();
        let mut answer = self.raw_answer(began, from, answers);
        if let Some((asked, token)) = owed.with_token() {
            answer.progress_token = Some(id_value(token));
            let mut settled = settled.iter();
            if let Some((_, settled)) = settled.find(|(it, _)| it.id == asked.id) {
                answer.on_time = settled.notifications;
            }
        }
        self.look_into(settled, from.1);
        self.seen.answer = Some(answer);
        Ok(())
    }

    /// What it means that the server ended, or stopped reading, before the time was over: whatever answers were due, that
    /// it would have borne the frames cannot be seen. Where none of a request was due, the assertion may speak of the end.
    async fn raw_ended(&mut self, halt: Halt, owed: &Owed, on_end: OnEnd) -> Observed<()> {
        let asked = !self.exchange.dialogue.requests.open().is_empty();
        if on_end == OnEnd::IsObserved && !asked {
            return Ok(());
        }
        if matches!(halt, Halt::Closed) && !asked && owed.nameless == 0 {
            let when = "while it was listened to after the raw frames";
            return Err(self.ended(when).await.into());
        }
        Err(self.disrupt(halt, "the raw frames").await)
    }

    /// What was answered, and which requests were not.
    fn answers_to(&self, owed: &Owed) -> FrameAnswers {
        let dialogue = &self.exchange.dialogue;
        let Some(transcript) = &dialogue.transcript else {
            return FrameAnswers::default();
        };
        let mut spare = transcript.nameless.saturating_sub(owed.unread(dialogue));
        let is_unanswered = |id: &&Id| {
            if owed.form(id) == Form::Valid || spare == 0 {
                return true;
            }
            spare -= 1;
            false
        };
        FrameAnswers {
            unanswered: Owed::open(dialogue)
                .filter(is_unanswered)
                .cloned()
                .collect(),
            lack: transcript.lost.first().map(|(_, why)| why.clone()),
            answers: transcript
                .answers
                .iter()
                .map(|response| Answered {
                    id: response.id.clone(),
                    kind: kind_of(response),
                })
                .collect(),
        }
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
        let at_us = self.exchange.connection.clock().at_us();
        let record = &self.exchange.dialogue.record;
        Answer {
            took: began.elapsed(),
            bytes: text.len(),
            at_us,
            on_time: record.notifications.len(),
            body: Body::Result(Reply {
                raw: Value::Array(pages.clone()),
                text,
                rendering: Rendering::Json,
                pages,
                frames: Some(Box::new(answers)),
                ..Reply::default()
            }),
            progress_token: None,
            notifications: from.0..record.notifications.len(),
            server_requests: from.1..record.server_requests.len(),
            tool: None,
            arguments: Value::Null,
            unserved: None,
            interest: None,
        }
    }
}

/// What kind of answer this is.
fn kind_of(response: &Response) -> FrameAnswer {
    match (&response.error, &response.result) {
        (Some(_), Some(_)) => FrameAnswer::Unclear("the answer has both `result` and `error`"),
        (None, None) => FrameAnswer::Unclear("the answer has neither `result` nor `error`"),
        (Some(error), None) => FrameAnswer::ProtocolError(RpcError::from_value(error)),
        (None, Some(result)) => match result.get(IS_ERROR) {
            None | Some(Value::Null | Value::Bool(false)) => FrameAnswer::Success,
            Some(Value::Bool(true)) => FrameAnswer::ToolError,
            Some(Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_)) => {
                FrameAnswer::Unclear("`isError` of the answer is not a boolean")
            }
        },
    }
}
