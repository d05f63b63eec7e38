//! Carries what rmcp says past faults and journal to the client: each event of a stream, and each body, is a message.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Write;

use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, response};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bend;
use super::inlet::Answer;
use super::talk::{Owed, Shared, lock};
use crate::Clock;
use crate::layer::PatientStderr;
use crate::tap::{Emit, Flood, Outlet, is_forgotten};

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The answer that is sent to a client.
pub(super) struct Carried {
    talk: Shared,
    clock: Clock,
    /// Whether there is one message, and it is the body.
    is_plain: bool,
    /// The messages of rmcp, in order.
    from: VecDeque<BoxBody<Bytes, Infallible>>,
    /// The part of an event that has come.
    part: Vec<u8>,
    /// The lines of an event that is not a message.
    head: Vec<u8>,
    todo: VecDeque<Emit>,
    flood: Option<Box<dyn Iterator<Item = Vec<u8>> + Send + Sync>>,
    /// Messages about these requests that faults send later.
    late: mpsc::UnboundedReceiver<Vec<Emit>>,
    owed: Vec<Owed>,
    /// Whether an answer of rmcp was kept back.
    kept: bool,
}

impl Carried {
    /// Nothing so far; it answers what is `owed`.
    pub(super) fn new(talk: Shared, clock: Clock, owed: Vec<Owed>) -> Self {
        let mut shared = lock(&talk);
        let late = shared.way(owed.iter().map(|owed| &owed.id));
        let todo = if owed.is_empty() {
            Vec::new()
        } else {
            std::mem::take(&mut shared.mail)
        };
        drop(shared);
        Self {
            talk,
            clock,
            is_plain: false,
            from: VecDeque::new(),
            part: Vec::new(),
            head: Vec::new(),
            todo: todo.into(),
            flood: None,
            late,
            owed,
            kept: false,
        }
    }

    /// The answers of rmcp, one for each request, as one answer. It ends with `stop`.
    pub(super) async fn answer(mut self, answers: Vec<Answer>, stop: &CancellationToken) -> Answer {
        let mut head: Option<response::Parts> = None;
        for (at, answer) in answers.into_iter().enumerate() {
            let kind = answer.headers().get(CONTENT_TYPE).cloned();
            let (parts, body) = answer.into_parts();
            if kind == Some(EVENTS) {
                self.from.push_back(body);
            } else {
                let Ok(body) = body.collect().await;
                let body = body.to_bytes();
                let message = serde_json::from_slice(&body)
                    .ok()
                    .filter(|_| kind == Some(JSON));
                match (message, self.owed.get_mut(at)) {
                    (Some(message), _) => self.said(&message),
                    (None, Some(owed)) => {
                        owed.refused(parts.status.as_u16());
                        let body = Full::new(body).boxed();
                        return Answer::from_parts(parts, body);
                    }
                    (None, None) => return Answer::from_parts(parts, Full::new(body).boxed()),
                }
            }
            head.get_or_insert(parts);
        }
        self.is_plain = self.from.is_empty() && is_one_message(&self.todo);
        let mut answer = bend::as_events();
        if let Some(head) = head {
            *answer.status_mut() = head.status;
            answer.headers_mut().extend(head.headers);
        }
        answer.headers_mut().remove(CONTENT_LENGTH);
        if !self.is_plain {
            answer.headers_mut().insert(CONTENT_TYPE, EVENTS);
        } else {
            answer.headers_mut().remove(CACHE_CONTROL);
            let is_there = |emit: &Emit| matches!(emit, Emit::Bytes(_) | Emit::Out(_));
            if !self.todo.is_empty() && self.todo.iter().all(is_there) {
                let body = self.next().await.unwrap_or_default();
                return answer.map(|_| Full::new(Bytes::from(body)).boxed());
            }
        }
        let body = stream::unfold(self, |mut carried| async move {
            let chunk = carried.next().await?;
            Some((Bytes::from(chunk), carried))
        });
        bend::with(answer, bend::until(body, stop))
    }

    /// The next bytes to send.
    async fn next(&mut self) -> Option<Vec<u8>> {
        let mut chunk = Vec::new();
        loop {
            if let Some(more) = self.flood.as_mut().and_then(Iterator::next) {
                chunk.extend(more);
                return Some(chunk);
            }
            self.flood = None;
            let Some(emit) = self.todo.pop_front() else {
                if !chunk.is_empty() {
                    return Some(chunk);
                }
                self.more(&mut chunk).await?;
                continue;
            };
            let waits = matches!(emit, Emit::Delay(_) | Emit::Wake(..));
            if waits && !chunk.is_empty() {
                self.todo.push_front(emit);
                return Some(chunk);
            }
            self.perform(emit, &mut chunk).await;
        }
    }

    async fn perform(&mut self, emit: Emit, chunk: &mut Vec<u8>) {
        match emit {
            Emit::Bytes(bytes) | Emit::Bytewise(bytes) => self.set(&bytes, chunk),
            Emit::Flood(flood) => self.flood = Some(Box::new(as_events(flood).chunks())),
            Emit::Delay(length) => {
                self.clock.sleep(length).await;
                if is_forgotten(self.todo.iter(), &lock(&self.talk).forgotten) {
                    self.todo.clear();
                }
            }
            Emit::Wake(length, ticket) => {
                tokio::time::sleep(length).await;
                lock(&self.talk).wake(ticket);
            }
            Emit::Out(ticket) => {
                lock(&self.talk).exchange.tap.out(ticket);
                self.owed.iter_mut().for_each(|owed| owed.settled = true);
            }
            // Without stderr there is nobody left to tell.
            Emit::Stderr(bytes) => drop(PatientStderr.write_all(&bytes)),
            // The first two were taken where they belong; of the others no rule is taken over HTTP.
            Emit::To(_)
            | Emit::Forget(_)
            | Emit::CloseStdout
            | Emit::Spawn(_)
            | Emit::TakeMemory(_)
            | Emit::End(_) => {}
        }
    }

    /// Waits for more to do, or for bytes that are not a message. An answer that was kept back may come yet.
    async fn more(&mut self, chunk: &mut Vec<u8>) -> Option<()> {
        loop {
            if let Some(at) = self.part.windows(2).position(|two| two == b"\n\n") {
                let rest = self.part.split_off(at + 2);
                let event = std::mem::replace(&mut self.part, rest);
                self.event(&event, chunk);
                return Some(());
            }
            let settled = self.owed.iter().all(|owed| owed.settled);
            let Some(from) = self.from.front_mut() else {
                let late = if self.kept && !settled {
                    self.late.recv().await?
                } else {
                    self.late.try_recv().ok()?
                };
                self.todo.extend(late);
                return Some(());
            };
            tokio::select! {
                biased;
                Some(late) = self.late.recv() => {
                    self.todo.extend(late);
                    return Some(());
                }
                frame = from.frame() => match frame {
                    Some(Ok(frame)) => self.part.extend(frame.into_data().unwrap_or_default()),
                    None => drop(self.from.pop_front()),
                }
            }
        }
    }

    /// An event of rmcp's, with the empty line that ends it.
    fn event(&mut self, event: &[u8], chunk: &mut Vec<u8>) {
        let lines = event.split_inclusive(|byte| *byte == b'\n');
        let (data, head): (Vec<&[u8]>, Vec<&[u8]>) =
            lines.partition(|line| line.starts_with(b"data:"));
        let data: Vec<&[u8]> = data.iter().map(|line| &line["data:".len()..]).collect();
        match serde_json::from_slice::<Value>(&data.concat()) {
            Ok(message) => {
                self.head = head.concat();
                self.head.pop();
                self.said(&message);
            }
            Err(_) => chunk.extend_from_slice(event),
        }
    }

    /// A message of rmcp's.
    fn said(&mut self, message: &Value) {
        let emits = lock(&self.talk).exchange.outgoing(message);
        let is_answer = message.get("method").is_none();
        self.kept |= is_answer && !emits.iter().any(|emit| matches!(emit, Emit::Out(_)));
        self.todo.extend(emits);
    }

    fn set(&mut self, bytes: &[u8], chunk: &mut Vec<u8>) {
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        if self.is_plain {
            return chunk.extend_from_slice(text);
        }
        chunk.append(&mut self.head);
        for line in text.split(|byte| *byte == b'\n') {
            chunk.extend_from_slice(b"data: ");
            chunk.extend_from_slice(line);
            chunk.push(b'\n');
        }
        chunk.push(b'\n');
    }
}

/// Whether a body has room for what is to be done.
fn is_one_message(todo: &VecDeque<Emit>) -> bool {
    let is_of_many = |emit: &Emit| matches!(emit, Emit::Flood(_));
    let messages = todo
        .iter()
        .filter(|emit| matches!(emit, Emit::Bytes(_) | Emit::Bytewise(_)));
    messages.count() <= 1 && !todo.iter().any(is_of_many)
}

/// A flood of messages as events.
fn as_events(flood: Flood) -> Flood {
    if flood.outlet == Outlet::Stderr {
        return flood;
    }
    let head = [b"data: ", flood.head.as_slice()].concat();
    let tail = [flood.tail.as_slice(), b"\n"].concat();
    Flood {
        head,
        tail,
        ..flood
    }
}
