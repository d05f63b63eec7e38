//! The seam between the wire and what may bend or record it: faults and the journal.
//!
//! A tap sees every frame in both directions and says what goes out instead. It knows no handler,
//! and the wire knows no fault. What performs an [`Emit`] lives in `wire`.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// The kind of JSON-RPC message in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Has a method and an id.
    Request,
    /// Has a method and no id.
    Notification,
    /// A result or an error for an id.
    Answer,
}

/// One JSON-RPC message on its way, with all that is known of it without knowing a handler.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// The whole message.
    pub message: &'a Value,
    /// Request, notification or answer.
    pub kind: Kind,
    /// Its own method; of an answer, the method of the request that it answers.
    pub method: Option<&'a str>,
    /// The JSON-RPC id as it was written.
    pub id: Option<&'a Value>,
    /// Tool or prompt name, or URI, of the request (of an answer: of the request that it answers).
    pub target: Option<&'a str>,
    /// Bytes of a line that could not be read whole; the message is its outline.
    pub cut: Option<usize>,
    /// Who sends it, as the journal shows it, where that is told with each message.
    pub sender: Option<&'a Value>,
}

/// One thing that is done on the way out. A list of them is done in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Emit {
    /// Bytes for stdout as they are, flushed.
    Bytes(Vec<u8>),
    /// Bytes for stdout, one byte a write.
    Bytewise(Vec<u8>),
    /// Bytes for stderr as they are.
    Stderr(Vec<u8>),
    /// What follows in this list comes so much later by the server's clock; other frames overtake where that takes time.
    /// In the list of [`Tap::start`] nothing is read meanwhile.
    Delay(Duration),
    /// Many like pieces, made while they are written.
    Flood(Flood),
    /// Stdout is closed; the process lives on and what it writes is lost.
    CloseStdout,
    /// Our own executable is started with these arguments. It gets our stdout and nobody waits for it.
    Spawn(Vec<&'static str>),
    /// So many bytes of memory are taken and kept.
    TakeMemory(u64),
    /// The tap is asked for more when so much real time has passed, whatever the server's clock says:
    /// it waits for the client, not for itself.
    Wake(Duration, Ticket),
    /// The tap is told ([`Tap::out`]) that what stands before it in this list is out: just before the last byte is, so
    /// that nobody can have read it all and be ahead of the tap. It is not told when stdout is closed.
    Out(Ticket),
    /// What follows in this list answers the request of this id: where each request has a way of its own for its answer,
    /// it goes that way.
    To(Value),
    /// What is delayed together with the [`Emit::Out`] of this ticket is not done any more.
    Forget(Ticket),
    /// The server ends now.
    End(Ending),
}

impl Emit {
    /// The ticket of what is told when it is out.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        if let Self::Out(ticket) = self {
            Some(*ticket)
        } else {
            None
        }
    }
}

/// Whether all answers of a list are given up, if it holds any.
pub(crate) fn is_forgotten<'a>(
    emits: impl Iterator<Item = &'a Emit>,
    forgotten: &HashSet<Ticket>,
) -> bool {
    let mut tickets = emits.filter_map(Emit::ticket).peekable();
    tickets.peek().is_some() && tickets.all(|ticket| forgotten.contains(&ticket))
}

/// Identifies an [`Emit::Wake`] or [`Emit::Out`] to the tap that sent it.
pub type Ticket = u64;

/// Pieces of `head`, a number where wanted, and `tail`, so many times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flood {
    /// Where they go.
    pub outlet: Outlet,
    /// The beginning of each piece.
    pub head: Vec<u8>,
    /// Whether the number of the piece, from 1, stands between.
    pub numbered: bool,
    /// The end of each piece.
    pub tail: Vec<u8>,
    /// How many pieces.
    pub count: u64,
}

/// A stream of bytes that a server writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlet {
    /// Read by the client.
    Stdout,
    /// Read by people.
    Stderr,
}

impl Flood {
    /// How much is put together before it is written.
    const CHUNK: usize = 64 << 10;

    /// The pieces in chunks, none of which is much longer than [`Self::CHUNK`].
    pub fn chunks(&self) -> impl Iterator<Item = Vec<u8>> + Send + use<> {
        let flood = self.clone();
        let mut made = 0;
        std::iter::from_fn(move || {
            let mut chunk = Vec::new();
            while made < flood.count && chunk.len() < Self::CHUNK {
                made += 1;
                chunk.extend_from_slice(&flood.head);
                if flood.numbered {
                    chunk.extend_from_slice(made.to_string().as_bytes());
                }
                chunk.extend_from_slice(&flood.tail);
            }
            (!chunk.is_empty()).then_some(chunk)
        })
    }
}

/// How a fault ends the process. The edge performs it after stdout is flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Exit with this code.
    Exit(u8),
    /// SIGABRT.
    Abort,
    /// SIGSEGV.
    Segv,
}

/// How an incoming message is passed on.
#[derive(Debug, Clone, PartialEq)]
pub enum Forward {
    /// It is passed on unchanged.
    AsItCame,
    /// This is passed on instead.
    Instead(Value),
    /// The message is dropped.
    Nothing,
}

/// A tap's decision about an incoming message.
#[derive(Debug, Clone, PartialEq)]
pub struct OnMessage {
    /// Passed on to the protocol core.
    pub forward: Forward,
    /// Sent at once, before any answer.
    pub emit: Vec<Emit>,
}

impl OnMessage {
    /// The message is passed on and nothing is sent.
    pub const fn untouched() -> Self {
        Self {
            forward: Forward::AsItCame,
            emit: Vec::new(),
        }
    }
}

/// Why the server is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The client closed our stdin.
    Eof,
    /// SIGTERM.
    Terminated,
    /// SIGINT.
    Interrupted,
    /// A limit of our own: `--max-requests`, `--idle-exit`, `--exit-after`.
    Limit,
}

/// Whether the server ends when it is asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnStop {
    /// These are done, then the server ends.
    Go(Vec<Emit>),
    /// These are done, and the server lives on.
    Stay(Vec<Emit>),
}

/// Sees each frame, and says what goes out. Calls come one at a time, in the order of the wire.
pub trait Tap: Send + 'static {
    /// Before the first byte is read.
    fn start(&mut self) -> Vec<Emit> {
        Vec::new()
    }

    /// A message came. Members of a batch come one by one.
    fn incoming(&mut self, _frame: &Frame<'_>) -> OnMessage {
        OnMessage::untouched()
    }

    /// A line came that is not a JSON-RPC message: no JSON, or JSON of another shape.
    fn noise(&mut self, _line: &[u8]) {}

    /// A message goes out; `line` is its text with the newline.
    fn outgoing(&mut self, _frame: &Frame<'_>, line: Vec<u8>) -> Vec<Emit> {
        vec![Emit::Bytes(line)]
    }

    /// The time of an [`Emit::Wake`] has come.
    fn wake(&mut self, _ticket: Ticket) -> Vec<Emit> {
        Vec::new()
    }

    /// Everything before the [`Emit::Out`] of this ticket was sent.
    fn out(&mut self, _ticket: Ticket) {}

    /// The request of this id gets no answer but this status of HTTP.
    fn refused(&mut self, _id: &Value, _status: u16) {}

    /// Somebody wants the server to end.
    fn stop(&mut self, _why: Stop) -> OnStop {
        OnStop::Go(Vec::new())
    }

    /// The server has ended; nothing is sent any more.
    fn ended(&mut self) {}
}

/// The tap that does nothing: every byte goes as it came.
#[derive(Debug, Default)]
pub struct PassThrough;

impl Tap for PassThrough {}

/// Where the journal is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalTo {
    /// `-`.
    Stderr,
    /// A file, made anew.
    File(PathBuf),
}

/// How much the journal holds; each level holds what those before it do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum JournalLevel {
    /// Calls, their ends, faults, who was sent away.
    #[default]
    Calls,
    /// Every request, answer and notification.
    Rpc,
    /// Every frame.
    Wire,
}

impl JournalLevel {
    /// Whether what `level` adds is there.
    pub fn holds(self, level: Self) -> bool {
        self >= level
    }
}

/// The options of faults and journal, as plain values.
#[derive(Debug, Clone, Default)]
pub struct TapOptions {
    /// `--fault`, in order.
    pub rules: Vec<String>,
    /// `--faults`.
    pub rules_file: Option<PathBuf>,
    /// `--journal`.
    pub journal: Option<JournalTo>,
    /// `--journal-level`.
    pub journal_level: JournalLevel,
    /// `--redact`, in order.
    pub redact: Vec<String>,
    /// `--no-redact`: secrets stay in the journal.
    pub no_redact: bool,
}
