//! Messages in and out, and the time they take: sends requests, waits for what is due, and ends a wait at once when
//! nothing usable can come any more. What messages mean is the dialogue's.

mod receive;

use std::{collections::VecDeque, pin::Pin, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    correlation::{Settled, id_value},
    dialogue::{Break, Dialogue, ReceivedFrame},
};
use crate::{
    observation::process::ExitStatus,
    protocol::{
        message::{self, Id},
        method::Method,
    },
    transport::{Connection, Inbound, Outgoing, Purpose, SendFailure, Unsent},
};

/// How long the right answer may follow one that nobody asked for.
const SUSPICION: Duration = Duration::from_secs(1);

/// How long a process may take to be known as ended after its stream did, or a server that stopped reading may
/// go on writing.
const GRACE: Duration = Duration::from_millis(500);

/// How long a cancelled server is listened to.
const LINGER: Duration = Duration::from_millis(100);

/// How long no line has come when a line without its end is worth telling of.
const QUIET: Duration = Duration::from_millis(50);

/// Messages that are taken before other tasks get their turn.
const MESSAGES_A_TURN: usize = 256;

/// Resolves with the way the server's process ended.
pub type Exited = Pin<Box<dyn Future<Output = ExitStatus> + Send>>;

/// Why a wait ended without what was waited for.
#[derive(Debug)]
pub(super) enum Halt {
    /// A frame made the answer unusable.
    Broken(Break),
    /// Nothing more will come from the server.
    Closed,
    /// The server does not take what is sent.
    Deaf(String),
    /// The time is over.
    Deadline,
}

/// A request that was sent.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    /// Its id.
    pub(super) id: Id,
    /// How many notifications had been recorded before it.
    pub(super) notifications: usize,
    /// How many server requests had been recorded before it.
    pub(super) server_requests: usize,
}

/// A connection and what is said over it.
pub(super) struct Exchange {
    /// The connection, for its record and its clock too.
    pub(super) connection: Connection,
    /// The state and the record.
    pub(super) dialogue: Dialogue,
    exited: Option<Exited>,
    exit: Option<ExitStatus>,
    /// Whether nothing more will come.
    pub(super) closed: bool,
    /// When we closed the connection, in microseconds of the job; `None` as long as it is open.
    pub(super) closed_at_us: Option<u64>,
    suspect_until: Option<Instant>,
    deaf: Option<(String, Instant)>,
    last_came: Option<Instant>,
    /// How long this process may not have run in this assertion.
    lost: Duration,
}

impl Exchange {
    /// Speaks over a connection. `exited` tells how the process behind it ended, where there is one.
    pub(super) fn new(connection: Connection, dialogue: Dialogue, exited: Option<Exited>) -> Self {
        Self {
            connection,
            dialogue,
            exited,
            exit: None,
            closed: false,
            closed_at_us: None,
            suspect_until: None,
            deaf: None,
            last_came: None,
            lost: Duration::ZERO,
        }
    }

    /// Sends a request with the next integer id; a tool call carries it as its progress token too. What else its `_meta`
    /// holds is the revision's.
    pub(super) async fn ask(&mut self, method: Method, mut params: Value) -> Ticket {
        let number = self.dialogue.requests.next_number();
        let id = Id::Number(number.to_string());
        let mut meta = self.dialogue.envelope();
        if method == Method::ToolsCall {
            meta.insert("progressToken".into(), number.into());
            self.dialogue.progress.expect(id.clone(), id.clone());
        }
        if !meta.is_empty() {
            params["_meta"] = Value::Object(meta);
        }
        if method == Method::SubscriptionsListen {
            self.dialogue.listens(id.clone(), &params);
        }
        let ticket = self.open(id, method.name());
        let request = message::request(&number.into(), method.name(), &params);
        self.send(&request).await;
        ticket
    }

    /// Notes a request that is sent, whatever form it has.
    pub(super) fn open(&mut self, id: Id, method: &str) -> Ticket {
        let now = self.connection.clock().at_us();
        self.dialogue.asked(id.clone(), method, now);
        Ticket {
            id,
            notifications: self.dialogue.record.notifications.len(),
            server_requests: self.dialogue.record.server_requests.len(),
        }
    }

    /// Sends a frame; what the server does not take at once goes out while lines are taken. That it does not read
    /// any more is known at once, and told when an answer is due.
    pub(super) async fn send(&mut self, frame: &[u8]) {
        let message = Outgoing {
            bytes: frame,
            purpose: Purpose::Asks,
        };
        if let Err(failure) = self.connection.send(message).await {
            self.miss(&failure);
        }
    }

    /// Sends a notification.
    pub(super) async fn notify(&mut self, method: &str, params: &Value) {
        self.dialogue.notified();
        self.send(&message::notification(method, params)).await;
    }

    fn miss(&mut self, failure: &SendFailure) {
        self.deaf = Some((failure.to_string(), Instant::now() + GRACE));
    }

    /// Waits for the answer to a request.
    pub(super) async fn answer(&mut self, id: &Id, deadline: Instant) -> Result<Settled, Halt> {
        let known = self.with_lost(deadline);
        let is_answered = |dialogue: &Dialogue| !dialogue.requests.is_open(id);
        let mut waited = self.until(known, is_answered).await;
        let extended = self.with_lost(deadline);
        // Once: a machine that is late each time must not wait for ever.
        if matches!(waited, Err(Halt::Deadline)) && extended > known {
            waited = self.until(extended, is_answered).await;
        }
        waited?;
        if let Some(broken) = self.dialogue.broken.take() {
            return Err(Halt::Broken(broken));
        }
        self.dialogue.requests.take(id).ok_or(Halt::Closed)
    }

    /// Takes messages until something holds.
    pub(super) async fn until(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Dialogue) -> bool,
    ) -> Result<(), Halt> {
        self.listen(deadline, |exchange| done(&exchange.dialogue))
            .await
    }

    /// Takes messages until all that was said is sent, or something holds.
    pub(super) async fn until_sent(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Dialogue) -> bool,
    ) -> Result<(), Halt> {
        self.listen(deadline, |exchange| {
            exchange.connection.unsent() == Unsent::Nothing || done(&exchange.dialogue)
        })
        .await
    }

    async fn listen(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Result<(), Halt> {
        let mut taken = 0_usize;
        loop {
            let replied = timeout_at(deadline, self.reply()).await;
            replied.map_err(|_| Halt::Deadline)?;
            if done(self) {
                return Ok(());
            }
            if let Some(broken) = self.dialogue.broken.take() {
                return Err(Halt::Broken(broken));
            }
            if self.closed {
                return Err(Halt::Closed);
            }
            let wake = self.wake(deadline);
            match self.receive_by(wake).await {
                Some(received) => self.take(received),
                None => return Err(self.overdue(deadline)),
            }
            taken += 1;
            if taken.is_multiple_of(MESSAGES_A_TURN) {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Notes what has come of a message whose end has not.
    pub(super) fn note_unfinished(&mut self) {
        // In the middle of a flood the last message is always unfinished.
        let quiet = self.last_came.is_none_or(|at| at.elapsed() >= QUIET);
        if quiet {
            self.dialogue.unfinished(self.connection.unfinished());
        }
    }

    /// Gives up what waits: tells the server, and listens for a short time.
    pub(super) async fn cancel(&mut self, reason: &str) {
        let until = Instant::now() + LINGER;
        for request in self.dialogue.requests.cancel_all() {
            let params = json!({"requestId": id_value(&request.id), "reason": reason});
            self.notify("notifications/cancelled", &params).await;
        }
        // Whatever ends this wait, the time is over already.
        let _ = self.until(until, |_| false).await;
    }

    /// Closes the connection and takes what the server still says, until nothing more comes. What it asked until then is
    /// answered: a server that waits for an answer does not end. Gives back how much it asked when it was too late.
    pub(super) async fn finish(&mut self, deadline: Instant) -> usize {
        self.take_arrived().await;
        let soon = deadline.min(Instant::now() + LINGER);
        // A server that does not take its answers is not waited for.
        let _ = timeout_at(soon, self.reply()).await;
        self.dialogue.outbox = VecDeque::new();
        self.dialogue.unanswered = Some(0);
        self.connection.close(soon).await;
        self.closed_at_us = Some(self.connection.clock().at_us());
        while !self.closed && Instant::now() < deadline {
            match timeout_at(deadline, self.connection.next()).await {
                Ok(received) => self.take(received),
                Err(_) => break,
            }
        }
        self.dialogue.unanswered.unwrap_or_default()
    }

    /// Does something else, and answers what the server asks until it is done: one that looks after its session with
    /// pings would take us for dead. What is wrong with what comes is left for the next wait to tell.
    pub(super) async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        let mut taken = 0_usize;
        while !self.closed && self.dialogue.broken.is_none() {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.answer_next() => {}
            }
            taken += 1;
            if taken.is_multiple_of(MESSAGES_A_TURN) {
                tokio::task::yield_now().await;
            }
        }
        work.await
    }

    /// Sends the replies that are due, and takes the next message.
    async fn answer_next(&mut self) {
        self.reply().await;
        let received = self.connection.next().await;
        self.take(received);
    }

    /// How the process ended, if that is known within a short time.
    pub(super) async fn exit(&mut self) -> Option<ExitStatus> {
        if let (None, Some(exited)) = (self.exit, &mut self.exited)
            && let Ok(status) = timeout(GRACE, exited.as_mut()).await
        {
            self.exit = Some(status);
            self.exited = None;
        }
        self.exit
    }

    /// Sends the replies that are due.
    async fn reply(&mut self) {
        while let Some(reply) = self.dialogue.outbox.pop_front() {
            let message = Outgoing {
                bytes: &reply,
                purpose: Purpose::Replies,
            };
            if let Err(failure) = self.connection.send(message).await {
                self.miss(&failure);
            }
        }
    }

    /// When the wait has to be looked at again.
    fn wake(&mut self, deadline: Instant) -> Instant {
        self.suspect_until = match &self.dialogue.suspect {
            Some(_) => self.suspect_until.or(Some(Instant::now() + SUSPICION)),
            None => None,
        };
        let deaf = self.deaf.as_ref().map(|(_, until)| *until);
        [self.suspect_until, deaf]
            .into_iter()
            .flatten()
            .fold(deadline, Instant::min)
    }

    /// Why a wait that came to its end did.
    fn overdue(&mut self, deadline: Instant) -> Halt {
        let now = Instant::now();
        if now < deadline {
            if let Some((reason, until)) = &self.deaf
                && now >= *until
            {
                return Halt::Deaf(reason.clone());
            }
            if let Some(suspect) = self.dialogue.suspect.take() {
                self.suspect_until = None;
                return Halt::Broken(suspect);
            }
        }
        Halt::Deadline
    }

    fn take(&mut self, received: Inbound) {
        self.last_came = Some(Instant::now());
        match received {
            Inbound::Message { bytes, meta, at_us } => {
                let heard = ReceivedFrame {
                    bytes: &bytes,
                    meta,
                    at_us,
                };
                if self.closed_at_us.is_some() && !meta.is_whole() {
                    self.dialogue.hear_last(heard);
                } else {
                    self.dialogue.hear(heard);
                }
            }
            Inbound::TooLong {
                length,
                head,
                at_us,
            } => self.dialogue.hear_too_long(&head, length, at_us),
            Inbound::Noted(code, message) => self.dialogue.record.note_bare(code, message),
            Inbound::Unanswered {
                id,
                lack,
                reason,
                shown,
                at_us,
            } => {
                let lacking = (lack, reason);
                self.dialogue
                    .unanswered_request(&id, lacking, &shown, at_us);
            }
            Inbound::Sent(Ok(())) => {}
            Inbound::Sent(Err(failure)) => self.miss(&failure),
            Inbound::Closed => self.closed = true,
        }
    }
}
