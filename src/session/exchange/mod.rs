//! Lines in and out, and the time they take: sends requests, waits for what is due, and ends a wait at once when
//! nothing usable can come any more. What lines mean is the dialogue's.

mod receive;

use std::{collections::VecDeque, pin::Pin, time::Duration};

use serde_json::{Value, json};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    correlation::{Settled, id_value},
    dialogue::{Break, Dialogue, Heard},
};
use crate::{
    observation::process::ExitStatus,
    protocol::{
        frame::LineEnd,
        message::{self, Id},
    },
    transport::link::{Link, Purpose, Received, SendFailure},
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

/// How much of our replies a server may leave unread while it is still listened to.
const UNREAD: usize = 8 * 1024 * 1024;

/// Lines that are taken before other tasks get their turn.
const LINES_A_TURN: usize = 256;

/// Resolves with the way the server's process ended.
pub(crate) type Exited = Pin<Box<dyn Future<Output = ExitStatus> + Send>>;

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

/// What is asked.
#[derive(Debug)]
pub(super) struct Ask<'a> {
    /// The method.
    pub(super) method: &'a str,
    /// The parameters, null for none.
    pub(super) params: Value,
    /// Whether progress may be told.
    pub(super) progress: ProgressWish,
}

/// Whether a request carries a progress token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressWish {
    /// `_meta.progressToken` is the request's id.
    Token,
    /// There is none.
    None,
}

/// A link and what is said over it.
pub(super) struct Exchange {
    link: Link,
    /// What is known and recorded.
    pub(super) dialogue: Dialogue,
    exited: Option<Exited>,
    exit: Option<ExitStatus>,
    closed: bool,
    /// When the server's input was closed, in microseconds of the job.
    closed_at_us: Option<u64>,
    suspect_until: Option<Instant>,
    deaf: Option<(String, Instant)>,
    last_line: Option<Instant>,
    /// How long this process may not have run in this assertion.
    lost: Duration,
}

impl Exchange {
    /// Speaks over a link. `exited` tells how the process behind it ended, where there is one.
    pub(super) fn new(link: Link, dialogue: Dialogue, exited: Option<Exited>) -> Self {
        Self {
            link,
            dialogue,
            exited,
            exit: None,
            closed: false,
            closed_at_us: None,
            suspect_until: None,
            deaf: None,
            last_line: None,
            lost: Duration::ZERO,
        }
    }

    /// The link, for its record and its clock.
    pub(super) fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    /// Whether nothing more will come.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// When the server's input was closed, in microseconds of the job; `None` as long as it is open.
    pub(super) fn closed_at_us(&self) -> Option<u64> {
        self.closed_at_us
    }

    /// Whether all that was said is written.
    pub(super) fn is_idle(&self) -> bool {
        self.link.is_idle()
    }

    /// Sends a request with the next integer id.
    pub(super) async fn ask(&mut self, ask: Ask<'_>) -> Ticket {
        let number = self.dialogue.requests.next_number();
        let id = Id::Number(number.to_string());
        let mut params = ask.params;
        if let (ProgressWish::Token, Value::Object(members)) = (ask.progress, &mut params) {
            members.insert("_meta".into(), json!({ "progressToken": number }));
            self.dialogue.progress.expect(id.clone(), id.clone());
        }
        let ticket = self.open(id, ask.method);
        let request = message::request(&number.into(), ask.method, &params);
        self.send(&request).await;
        ticket
    }

    /// Notes a request that is sent, whatever form it has.
    pub(super) fn open(&mut self, id: Id, method: &str) -> Ticket {
        let now = self.link.clock().at_us();
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
        if let Err(failure) = self.link.send(frame, Purpose::Asks).await {
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

    /// Takes lines until something holds.
    pub(super) async fn until(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Dialogue) -> bool,
    ) -> Result<(), Halt> {
        self.listen(deadline, |exchange| done(&exchange.dialogue))
            .await
    }

    /// Takes lines until all that was said is written, or something holds.
    pub(super) async fn until_written(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Dialogue) -> bool,
    ) -> Result<(), Halt> {
        self.listen(deadline, |exchange| {
            exchange.is_idle() || done(&exchange.dialogue)
        })
        .await
    }

    async fn listen(
        &mut self,
        deadline: Instant,
        mut done: impl FnMut(&Self) -> bool,
    ) -> Result<(), Halt> {
        let mut lines = 0_usize;
        loop {
            self.reply(deadline).await?;
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
            lines += 1;
            if lines.is_multiple_of(LINES_A_TURN) {
                tokio::task::yield_now().await;
            }
        }
    }

    /// Notes what has come of a line whose end has not.
    pub(super) fn note_unfinished(&mut self) {
        // In the middle of a flood the last line is always unfinished.
        let quiet = self.last_line.is_none_or(|at| at.elapsed() >= QUIET);
        if quiet {
            self.dialogue.unfinished(self.link.unfinished());
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

    /// Closes the server's input and takes what it still says, until its stream ends. What it asked until then is
    /// answered: a server that waits for an answer does not end. Gives back how much it asked when it was too late.
    pub(super) async fn finish(&mut self, deadline: Instant) -> usize {
        self.take_arrived().await;
        let soon = deadline.min(Instant::now() + LINGER);
        // A server that does not take its answers is not waited for.
        if self.reply(soon).await.is_ok() {
            let _ = timeout_at(soon, self.link.flush()).await;
        }
        self.dialogue.outbox = VecDeque::new();
        self.dialogue.unanswered = Some(0);
        self.closed_at_us = Some(self.link.clock().at_us());
        let is_amid_line = !self.link.unfinished().is_empty();
        self.link.close();
        while !self.closed && Instant::now() < deadline {
            match timeout_at(deadline, self.link.receive()).await {
                // The rest of a line that had begun is cut off by our close.
                Ok(Received::Line {
                    bytes,
                    end: LineEnd::Missing,
                    ..
                }) => {
                    if !is_amid_line {
                        self.dialogue.hear_last(bytes);
                    }
                }
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
        let mut lines = 0_usize;
        while !self.closed && self.dialogue.broken.is_none() && !self.is_swamped() {
            tokio::select! {
                biased;
                done = &mut work => return done,
                received = self.link.receive() => self.take(received),
            }
            while let Some(reply) = self.dialogue.outbox.pop_front() {
                // That a reply is not read shows where it matters.
                let _ = self.link.send(&reply, Purpose::Replies).await;
            }
            lines += 1;
            if lines.is_multiple_of(LINES_A_TURN) {
                tokio::task::yield_now().await;
            }
        }
        work.await
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

    /// Sends the replies that are due. To a server that goes on asking and reads none of them nobody listens: they
    /// would fill the memory.
    async fn reply(&mut self, deadline: Instant) -> Result<(), Halt> {
        while let Some(reply) = self.dialogue.outbox.pop_front() {
            // That a reply is not read does not keep the answer from coming.
            let _ = self.link.send(&reply, Purpose::Replies).await;
            if self.is_swamped() {
                let flushed = timeout_at(deadline, self.link.flush()).await;
                if let Err(failure) = flushed.map_err(|_| Halt::Deadline)? {
                    self.miss(&failure);
                }
            }
        }
        Ok(())
    }

    /// Whether so many replies are unread that nobody listens.
    pub(super) fn is_swamped(&self) -> bool {
        self.link.waiting_replies() > UNREAD
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

    fn take(&mut self, received: Received) {
        self.last_line = Some(Instant::now());
        match received {
            Received::Line { bytes, end, at_us } => self.dialogue.hear(Heard {
                bytes: &bytes,
                end,
                at_us,
            }),
            Received::TooLong {
                length,
                head,
                at_us,
            } => self.dialogue.hear_too_long(&head, length, at_us),
            Received::Sent(Ok(())) => {}
            Received::Sent(Err(failure)) => self.miss(&failure),
            Received::Closed => self.closed = true,
        }
    }
}
