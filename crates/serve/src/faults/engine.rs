//! Which rules fire when, and what comes of it: frames in, things to do out. Nothing is done here.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use mcp::protocol::meta::SUBSCRIPTION_ID;
use serde_json::Value;

use super::armed::{Armed, fire};
use super::catalogue::Fault;
use super::effects::{Deaf, Effect, EffectContext, Hold, lifecycle, lists, results};
use super::event::{Event, Firing, Sent};
use super::place::{Site, When};
use super::reply::{Finished, Reply};
use super::rule::Rule;
use super::style::Style;
use crate::State;
use crate::tap::{Emit, Ending, Forward, Frame, Kind, OnMessage, OnStop, Stop, Ticket};

/// How long an answer waits for requests that the client sends at the same time.
const COMPANY: Duration = Duration::from_millis(100);

/// How often that wait is renewed while such requests are still without an answer.
const COMPANY_ROUNDS: u32 = 20;

/// After this a deaf server ends by itself, so that a forgotten one does not leak.
const DEAF_FOR: Duration = Duration::from_mins(10);

/// The first message of a stream of notifications.
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

const RELEASE: Ticket = 1;
const GIVE_UP: Ticket = 2;

/// A rule that will fire on the answer of a request, and which occurrence it was.
#[derive(Debug, Clone, Copy)]
struct Shot {
    rule: usize,
    n: u64,
}

/// A request whose answer a rule will change.
#[derive(Debug)]
struct Due {
    shots: Vec<Shot>,
    id: Value,
    token: Option<Value>,
    cursor: Option<String>,
    /// Requests in the order of their coming.
    arrival: u64,
}

/// An answer that waits.
#[derive(Debug)]
struct Held {
    id: Value,
    arrival: u64,
    finished: Finished,
}

/// The rules of one server and what became of them so far.
#[derive(Debug, Default)]
pub struct Engine {
    armed: Vec<Armed>,
    /// How everything is written.
    stream: Style,
    due: HashMap<String, Due>,
    /// Ids of requests that faults sent.
    asked: HashSet<String>,
    /// How many ids were made up and how many requests came.
    serial: u64,
    /// Answers that wait for a cancel, by the id of their request.
    until_cancelled: HashMap<String, Held>,
    until_later: Vec<Held>,
    /// Answers that are not out yet, with the ids of their requests.
    leaving: Vec<(Ticket, Value)>,
    /// How many answers were let go.
    released: Ticket,
    rounds: u32,
    prompts_refused: bool,
    events: Vec<Event>,
}

impl Engine {
    /// An engine for these rules, in order; draws come from `seed`, counters are kept in `state`.
    pub fn new(rules: Vec<Rule>, seed: u64, state: &State) -> Self {
        Self::of(Armed::all(rules, seed, state))
    }

    /// An engine for another conversation with the same server: its rules count on.
    pub fn beside(&self) -> Self {
        Self::of(self.armed.clone())
    }

    fn of(armed: Vec<Armed>) -> Self {
        Self {
            armed,
            ..Self::default()
        }
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Before the first byte is read.
    pub fn start(&mut self) -> Vec<Emit> {
        let (shots, mut emits) = self.fire_at(|armed| armed.rule.when == When::Start, None, None);
        for shot in shots {
            let rule = &self.armed[shot.rule].rule;
            match rule.fault.row().effect {
                Effect::Start(does) => emits.extend(does(&rule.given)),
                Effect::Dress(dress) => dress(&mut self.stream),
                Effect::Write(bytes) => emits.push(Emit::Bytes(bytes.to_vec())),
                // Their sites are elsewhere.
                Effect::Bend(_)
                | Effect::Omit(_)
                | Effect::Set(_)
                | Effect::Fail(_)
                | Effect::Block(_)
                | Effect::Instead(_)
                | Effect::Send(_)
                | Effect::Hold(_)
                | Effect::Deaf(_)
                | Effect::Distort(_)
                | Effect::Refuse(_) => {}
            }
            self.fired(shot, None);
        }
        emits
    }

    /// A message of the client came.
    pub fn incoming(&mut self, frame: &Frame<'_>) -> OnMessage {
        match frame.kind {
            Kind::Request => self.request(frame),
            Kind::Notification => self.notification(frame),
            Kind::Answer => OnMessage {
                forward: match frame.id {
                    Some(id) if self.asked.remove(&id.to_string()) => Forward::Nothing,
                    Some(_) | None => Forward::AsItCame,
                },
                emit: Vec::new(),
            },
        }
    }

    /// A message goes out; `line` is its text with the newline.
    pub fn outgoing(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        match (frame.kind, frame.id) {
            (Kind::Answer, Some(id)) => self.answer(frame, id, line),
            (Kind::Notification, _) if frame.method == Some(ACKNOWLEDGED) => {
                self.acknowledgement(frame, line)
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => {
                if self.stream == Style::default() {
                    return vec![Emit::Bytes(line)];
                }
                let reply = Reply::new(frame.message, line, self.stream);
                self.stream.mark = false;
                reply.finish().emits
            }
        }
    }

    /// Somebody wants the server to end.
    pub fn stop(&mut self, why: Stop) -> OnStop {
        let (shots, mut emits) = self.fire_at(|armed| armed.rule.when == When::Stop, None, None);
        let mut stay = false;
        for shot in shots {
            // The sites of other effects are elsewhere.
            let Effect::Deaf(deaf) = self.armed[shot.rule].rule.fault.row().effect else {
                continue;
            };
            let ignored = match (deaf, why) {
                (Deaf::ToEof | Deaf::ToEofAndSigterm, Stop::Eof)
                | (Deaf::ToEofAndSigterm, Stop::Terminated) => true,
                (Deaf::ToEof, Stop::Terminated) | (_, Stop::Interrupted | Stop::Limit) => false,
            };
            if ignored {
                stay = true;
                self.fired(shot, None);
            }
        }
        if stay {
            emits.push(Emit::Wake(DEAF_FOR, GIVE_UP));
            OnStop::Stay(emits)
        } else {
            OnStop::Go(emits)
        }
    }

    /// A time that was asked for has come.
    pub fn wake(&mut self, ticket: Ticket) -> Vec<Emit> {
        if ticket == GIVE_UP {
            return vec![Emit::End(Ending::Exit(0))];
        }
        let company = self
            .due
            .values()
            .any(|due| self.holds(&due.shots) == Some(Hold::UntilLaterOnes));
        if company && self.rounds < COMPANY_ROUNDS {
            self.rounds += 1;
            return vec![Emit::Wake(COMPANY, RELEASE)];
        }
        self.rounds = 0;
        let mut held = std::mem::take(&mut self.until_later);
        held.sort_by_key(|held| std::cmp::Reverse(held.arrival));
        held.into_iter()
            .flat_map(|held| self.release_by_itself(held))
            .collect()
    }

    /// The request of this id gets no answer.
    pub fn refused(&mut self, id: &Value) {
        self.due.remove(&id.to_string());
    }

    /// An answer is out.
    pub fn out(&mut self, ticket: Ticket) {
        self.leaving.retain(|(one, _)| *one != ticket);
    }

    fn request(&mut self, frame: &Frame<'_>) -> OnMessage {
        self.serial += 1;
        let cursor = text_at(frame.message, "/params/cursor");
        let (shots, emit) = self.fire_at(
            |armed| match armed.rule.when {
                When::AnyRequest => true,
                When::Message(method) => frame.method == Some(method),
                When::Start | When::Stop => false,
            },
            frame.target,
            cursor.as_deref(),
        );
        let forward = match &cursor {
            Some(cursor) if self.is_ours(cursor) => lists::without_cursor(frame.message),
            Some(_) | None => Forward::AsItCame,
        };
        if let Some(id) = frame.id
            && !shots.is_empty()
        {
            let token = frame.message.pointer("/params/_meta/progressToken");
            let due = Due {
                shots,
                id: id.clone(),
                token: token.cloned(),
                cursor,
                arrival: self.serial,
            };
            self.due.insert(id.to_string(), due);
        }
        OnMessage { forward, emit }
    }

    fn notification(&mut self, frame: &Frame<'_>) -> OnMessage {
        let mut heard = OnMessage::untouched();
        if frame.method == Some("notifications/cancelled")
            && let Some(id) = frame.message.pointer("/params/requestId")
        {
            heard.emit = self.cancelled(id);
        }
        let (shots, emits) = self.fire_at(
            |armed| matches!(armed.rule.when, When::Message(method) if frame.method == Some(method)),
            None,
            None,
        );
        heard.emit.extend(emits);
        for shot in shots {
            heard.emit.extend(self.send(shot));
        }
        heard
    }

    fn send(&mut self, shot: Shot) -> Vec<Emit> {
        let fresh = self.fresh();
        let rule = &self.armed[shot.rule].rule;
        let Effect::Send(send) = rule.fault.row().effect else {
            return Vec::new();
        };
        let message = send(EffectContext {
            given: &rule.given,
            id: &Value::Null,
            token: None,
            cursor: None,
            fresh: &fresh,
        });
        if message.get("method").is_some() {
            self.asked.insert(Value::String(fresh).to_string());
        }
        self.fired(shot, None);
        let reply = Reply::of(&message, self.stream);
        self.stream.mark = false;
        reply.finish().emits
    }

    fn answer(&mut self, frame: &Frame<'_>, id: &Value, line: Vec<u8>) -> Vec<Emit> {
        let due = self.due.remove(&id.to_string());
        let mut reply = Reply::new(frame.message, line, self.stream);
        self.stream.mark = false;
        self.keep_promises(frame, &mut reply);
        let mut until = None;
        let arrival = due.as_ref().map_or(0, |due| due.arrival);
        if let Some(due) = due {
            until = self.holds(&due.shots);
            for shot in &due.shots {
                self.bend(&mut reply, &due, *shot);
                self.fired(*shot, Some(id));
            }
        }
        let held = Held {
            id: id.clone(),
            arrival,
            finished: reply.finish(),
        };
        match until {
            None => self.release(held),
            Some(Hold::UntilCancelled) => {
                self.until_cancelled.insert(id.to_string(), held);
                Vec::new()
            }
            Some(Hold::UntilLaterOnes) => {
                self.until_later.push(held);
                match self.until_later.len() {
                    1 => vec![Emit::Wake(COMPANY, RELEASE)],
                    _ => Vec::new(),
                }
            }
        }
    }

    /// The answer to a request for a stream comes at its end; faults of its beginning sit on the acknowledgement.
    fn acknowledgement(&mut self, frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        let mut reply = Reply::new(frame.message, line, self.stream);
        self.stream.mark = false;
        let meta = frame.message.pointer("/params/_meta");
        let id = meta.and_then(|meta| meta.get(SUBSCRIPTION_ID));
        if let Some(due) = id.and_then(|id| self.due.remove(&id.to_string())) {
            for shot in &due.shots {
                if self.armed[shot.rule].rule.fault.row().site == Site::Listen {
                    self.bend(&mut reply, &due, *shot);
                    self.fired(*shot, id);
                }
            }
        }
        reply.finish().emits
    }

    fn bend(&mut self, reply: &mut Reply, due: &Due, shot: Shot) {
        let fresh = self.fresh();
        let rule = &self.armed[shot.rule].rule;
        let moment = EffectContext {
            given: &rule.given,
            id: &due.id,
            token: due.token.as_ref(),
            cursor: due.cursor.as_deref(),
            fresh: &fresh,
        };
        match rule.fault.row().effect {
            Effect::Bend(bend) => bend(reply, moment),
            Effect::Dress(dress) => dress(&mut reply.style),
            Effect::Omit(members) => members.iter().for_each(|at| reply.omit(at)),
            Effect::Set((at, value)) => reply.set(at, written(value)),
            Effect::Fail(error) => reply.fail(written(error)),
            Effect::Block(block) => reply.add_block(written(block)),
            Effect::Instead(bytes) => reply.instead([Emit::Bytes(bytes.to_vec())]),
            Effect::Write(bytes) => reply.before(Emit::Bytes(bytes.to_vec())),
            Effect::Send(send) => reply.ask_before(send(moment)),
            Effect::Hold(_)
            | Effect::Start(_)
            | Effect::Deaf(_)
            | Effect::Distort(_)
            | Effect::Refuse(_) => {}
        }
        if rule.fault == Fault::CapLieMissing {
            self.prompts_refused = true;
        }
    }

    /// Changes answers that the rules of some faults do not name but their second halves need.
    fn keep_promises(&self, frame: &Frame<'_>, reply: &mut Reply) {
        if self.prompts_refused
            && frame
                .method
                .is_some_and(|name| name.starts_with("prompts/"))
        {
            lifecycle::refuse_prompts(reply);
        }
        if frame.method != Some("tools/list") {
            return;
        }
        for Armed { rule, .. } in &self.armed {
            let about = |name: &str| rule.is_about(Some(name));
            if matches!(
                rule.fault,
                Fault::StructuredMismatch | Fault::StructuredMissing
            ) {
                results::promise_schema(reply, about);
            } else if rule.fault == Fault::PromptInjection {
                results::inject_descriptions(reply, about);
            }
        }
    }

    /// The answer that waited for this cancel; one is made up where there is none yet. An answer that was only held up
    /// is not sent any more.
    fn cancelled(&mut self, id: &Value) -> Vec<Emit> {
        if let Some(held) = self.until_cancelled.remove(&id.to_string()) {
            return self.late(held);
        }
        let Some(due) = self.due.remove(&id.to_string()) else {
            return self.forget(id);
        };
        if self.holds(&due.shots) != Some(Hold::UntilCancelled) {
            return Vec::new();
        }
        for shot in &due.shots {
            self.fired(*shot, Some(id));
        }
        let content = serde_json::json!([{"type": "text", "text": "too late"}]);
        let message =
            serde_json::json!({"jsonrpc": "2.0", "id": id, "result": {"content": content}});
        let finished = Reply::of(&message, self.stream).finish();
        self.late(Held {
            id: id.clone(),
            arrival: due.arrival,
            finished,
        })
    }

    /// An answer to a cancel is not cancelled by another cancel.
    fn late(&mut self, held: Held) -> Vec<Emit> {
        let id = held.id.clone();
        let emits = self.release_by_itself(held);
        self.leaving.retain(|(_, of)| *of != id);
        emits
    }

    fn forget(&mut self, id: &Value) -> Vec<Emit> {
        self.until_later.retain(|held| held.id != *id);
        let mut emits = Vec::new();
        for (ticket, _) in self.leaving.extract_if(.., |(_, of)| of == id) {
            self.events.push(Event::Forgotten(ticket));
            emits.push(Emit::Forget(ticket));
        }
        emits
    }

    /// Sent when the answer has not the wanted form.
    fn release_by_itself(&mut self, held: Held) -> Vec<Emit> {
        let mut emits = vec![Emit::To(held.id.clone())];
        emits.extend(self.release(held));
        emits
    }

    fn release(&mut self, held: Held) -> Vec<Emit> {
        let Held {
            id, mut finished, ..
        } = held;
        self.asked
            .extend(finished.asked.iter().map(Value::to_string));
        let bytes = finished.bytes();
        if let Some(message) = finished.message {
            self.released += 1;
            let ticket = self.released;
            finished.emits.insert(finished.sent_at, Emit::Out(ticket));
            self.leaving.push((ticket, id.clone()));
            self.events.push(Event::Sent(Sent {
                ticket,
                id,
                message,
                bytes,
            }));
        }
        finished.emits
    }

    fn holds(&self, shots: &[Shot]) -> Option<Hold> {
        shots.iter().find_map(|shot| {
            let effect = self.armed[shot.rule].rule.fault.row().effect;
            if let Effect::Hold(hold) = effect {
                Some(hold)
            } else {
                None
            }
        })
    }

    /// Counts the rules at a place, and says which of them fire; what goes wrong is for stderr.
    fn fire_at(
        &mut self,
        at: impl Fn(&Armed) -> bool,
        target: Option<&str>,
        cursor: Option<&str>,
    ) -> (Vec<Shot>, Vec<Emit>) {
        let armed = self.armed.iter_mut().enumerate();
        let (fired, lost) = fire(armed.filter(|(_, armed)| at(armed)), target, cursor);
        let shots = fired.into_iter().map(|(rule, n)| Shot { rule, n });
        let lost = lost.into_iter().map(|text| Emit::Stderr(text.into_bytes()));
        (shots.collect(), lost.collect())
    }

    fn fired(&mut self, shot: Shot, id: Option<&Value>) {
        let rule = &self.armed[shot.rule].rule;
        self.events.push(Event::Fired(Firing {
            rule: rule.text.clone(),
            fault: rule.fault,
            n: shot.n,
            id: id.cloned(),
        }));
    }

    /// Whether a cursor is one that a fault gave out.
    fn is_ours(&self, cursor: &str) -> bool {
        lists::CURSORS.contains(&cursor)
            && self.armed.iter().any(|armed| {
                matches!(
                    armed.rule.fault,
                    Fault::CursorLoop | Fault::CursorRepeat | Fault::CursorEmpty
                )
            })
    }

    fn fresh(&mut self) -> String {
        self.serial += 1;
        format!("fault-{}", self.serial)
    }
}

fn text_at(message: &Value, pointer: &str) -> Option<String> {
    message.pointer(pointer)?.as_str().map(str::to_owned)
}

/// JSON of the catalogue, every text of which a test puts into an answer.
fn written(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}
