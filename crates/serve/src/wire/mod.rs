//! The pump between a byte stream and rmcp: lines to JSON values to rmcp's types, and back.
//!
//! ```text
//! bytes ⇄ reader, writer ⇄ exchange (tap, ids, batches) ⇄ transport ⇄ rmcp
//! ```
//!
//! Types are never decoded from text: with `serde_json`'s arbitrary precision only a `Value` keeps
//! numbers readable for untagged enums. No handler and no fault is known here.

mod exchange;
mod outline;
mod reader;
mod transport;
mod writer;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{Notify, mpsc, oneshot};

pub(super) use self::exchange::{Arrival, Exchange, WaitsFor, kind_of};
pub(super) use self::reader::{Limits, Reader, Written, for_rmcp, has_odd_cursor, typed};
pub(super) use self::transport::{Inbox, WireTransport};
pub(super) use self::writer::Writer;
use super::tap::{Emit, OnStop, Stop, Tap, Ticket};

/// The longest wait for a handler before the next message is handed to rmcp all the same.
const SETTLE: Duration = Duration::from_millis(250);

/// A command for the writer.
#[derive(Debug)]
enum Job {
    /// These, in order.
    Emit {
        emits: Vec<Emit>,
        /// Whether delays hold up what is queued behind.
        in_turn: bool,
        /// Hears when all but the delayed ones are done.
        done: oneshot::Sender<()>,
    },
    /// Nothing comes after this.
    Close,
}

/// The shared handle of one connection: frames out, and the word that a handler waits.
#[derive(Clone)]
pub(super) struct Wire {
    exchange: Arc<Mutex<Exchange>>,
    jobs: mpsc::UnboundedSender<Job>,
    settled: Arc<Notify>,
}

impl Wire {
    /// A wire and the queue that its writer works off.
    fn new(tap: Box<dyn Tap>) -> (Self, mpsc::UnboundedReceiver<Job>) {
        let (jobs, queue) = mpsc::unbounded_channel();
        let wire = Self {
            exchange: Arc::new(Mutex::new(Exchange::new(tap))),
            jobs,
            settled: Arc::new(Notify::new()),
        };
        (wire, queue)
    }

    /// Sends one message past rmcp, exactly as it is. It is queued before the future is polled.
    pub(super) fn send(
        &self,
        message: &Value,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let emits = self.exchange().outgoing(message);
        let written = self.queue(emits, false);
        self.settled.notify_waiters();
        async move { written.await.map_err(|_| io::ErrorKind::BrokenPipe.into()) }
    }

    /// Queues bytes for stderr.
    pub(super) fn stderr(&self, text: &str) {
        self.emit(vec![Emit::Stderr(text.as_bytes().to_vec())]);
    }

    /// The handler of `id` waits for `what`: reading goes on meanwhile.
    pub(super) fn park(&self, id: &RequestId, what: WaitsFor) {
        self.exchange().park(id, what);
        self.settled.notify_waiters();
    }

    /// The handler of `id` goes on.
    pub(super) fn resume(&self, id: &RequestId, after: WaitsFor) {
        self.exchange().resume(id, after);
        self.settled.notify_waiters();
    }

    /// Sends `messages` right after the answer to `id`, with `pause` between two.
    pub(super) fn after_reply(&self, id: &RequestId, messages: Vec<Value>, pause: Duration) {
        self.exchange().after_reply(id, messages, pause);
    }

    /// Asks the tap whether `why` ends the server; what it wants sent is queued.
    pub(super) fn stop(&self, why: Stop) -> bool {
        let (emits, ends) = match self.exchange().tap.stop(why) {
            OnStop::Go(emits) => (emits, true),
            OnStop::Stay(emits) => (emits, false),
        };
        self.emit(emits);
        ends
    }

    /// Asks the tap what it wants now that the time of its ticket has come.
    fn wake(&self, ticket: Ticket) -> Vec<Emit> {
        self.exchange().tap.wake(ticket)
    }

    /// Nothing is queued any more.
    pub(super) fn close(&self) {
        // A writer that has ended needs no word.
        let _ = self.jobs.send(Job::Close);
    }

    /// Tells the tap that all is over.
    pub(super) fn ended(&self) {
        self.exchange().tap.ended();
    }

    /// Does what the tap wants before the first byte is read.
    async fn start(&self) {
        let emits = self.exchange().tap.start();
        if emits.is_empty() {
            return;
        }
        // The writer may end first: then there is nothing left to wait for.
        let _ = self.queue(emits, true).await;
    }

    fn emit(&self, emits: Vec<Emit>) {
        if !emits.is_empty() {
            drop(self.queue(emits, false));
        }
    }

    /// Queues these; the receiver hears when they are done. A writer that has ended loses nothing that anybody could read.
    fn queue(&self, emits: Vec<Emit>, in_turn: bool) -> oneshot::Receiver<()> {
        let (done, written) = oneshot::channel();
        self.exchange().queued();
        let _ = self.jobs.send(Job::Emit {
            emits,
            in_turn,
            done,
        });
        written
    }

    /// The writer has done a job.
    fn written(&self) {
        self.exchange().written();
        self.settled.notify_waiters();
    }

    /// Everything before this ticket was sent.
    fn out(&self, ticket: Ticket) {
        self.exchange().tap.out(ticket);
    }

    /// Waits until each request handed to rmcp is answered, in writing, or waits for something outside, so that answers
    /// and journal come in one order however fast the lines arrive.
    async fn settle(&self) {
        let quiet = async {
            loop {
                let told = self.settled.notified();
                if self.exchange().is_settled() {
                    return;
                }
                told.await;
            }
        };
        // A handler that waits without saying so must not stop the reading for good, and neither must a client that
        // says all it has to say before it reads.
        if tokio::time::timeout(SETTLE, quiet).await.is_err() {
            self.exchange().give_up_waiting();
        }
    }

    /// Waits until no request is open, but for those that wait for the client.
    async fn answered(&self) {
        loop {
            let told = self.settled.notified();
            if self.exchange().is_answered() {
                return;
            }
            told.await;
        }
    }

    fn exchange(&self) -> MutexGuard<'_, Exchange> {
        self.exchange.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parts of a connection over `input`, `output` and `errors`.
pub(super) fn connect<R, W, E>(
    tap: Box<dyn Tap>,
    streams: super::Streams<R, W, E>,
    clock: super::Clock,
    limits: Limits,
) -> (Wire, Inbox, Reader<R>, Writer<W, E>)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    let (wire, queue) = Wire::new(tap);
    let (sender, inbox) = transport::inbox();
    let reader = Reader {
        input: BufReader::new(streams.input),
        wire: wire.clone(),
        core: sender,
        limits,
        requests: 0,
        part: Vec::new(),
        too_long: None,
    };
    let writer = Writer::new(queue, (streams.output, streams.errors), clock, wire.clone());
    (wire, inbox, reader, writer)
}
