//! One way to talk to a server, whatever carries the messages. A [`Connection`] moves messages with what the transport
//! says of them, and records every frame. What a message means is the session's affair; starting the server is
//! `host`'s.

pub mod clock;
pub mod http;
pub mod stdio;
#[cfg(test)]
pub mod tests;
pub mod tls;
pub mod wire;

use tokio::{task::coop::consume_budget, time::Instant};

use self::{
    clock::JobClock,
    http::{Http, HttpParts},
    stdio::{Stdio, StdioParts},
    wire::WireLog,
};
use crate::{
    observation::finding::FindingCode,
    protocol::{
        frame::FrameMeta,
        message::Id,
        revision::{Lifecycle, Revision},
    },
};

/// A connection to a server. Dropping it closes both directions.
pub enum Connection {
    /// Lines over the standard streams of a process or a container.
    Stdio(Box<Stdio>),
    /// Exchanges over streamable HTTP.
    Http(Box<Http>),
}

/// A message that is to be sent.
#[derive(Debug, Clone, Copy)]
pub struct Outgoing<'a> {
    /// The message, or what a suite sends in place of one.
    pub bytes: &'a [u8],
    /// What it is sent for.
    pub purpose: Purpose,
}

/// The purpose of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The server is expected to take it: a failure to send it is reported.
    Asks,
    /// It answers a request of the server, which need not read it.
    Replies,
}

/// Why a message could not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendFailure {
    /// The server does not read any more.
    #[error("the server closed its input")]
    Closed,
    /// Sending failed in another way.
    #[error("cannot write to the server: {0}")]
    Failed(String),
}

/// What came from the server, or became of what was sent to it.
#[derive(Debug, PartialEq, Eq)]
pub enum Inbound {
    /// A message, or whatever came in place of one.
    Message {
        /// Its bytes; may be none.
        bytes: Vec<u8>,
        /// What the transport says of it.
        meta: FrameMeta,
        /// When its last byte was read, in microseconds of the job.
        at_us: u64,
    },
    /// A message over 64 MiB; the rest of it is skipped.
    TooLong {
        /// Bytes of it seen so far.
        length: usize,
        /// Its beginning.
        head: Vec<u8>,
        /// Microseconds since the job began.
        at_us: u64,
    },
    /// Something that the transport's specification forbids, which keeps no message from being read.
    Noted(FindingCode, String),
    /// A request was sent, and its answer cannot come any more.
    Unanswered {
        /// Its id.
        id: Id,
        /// Whether that is the end of the session.
        lack: Lack,
        /// Why, in one line.
        reason: String,
        /// What came in place of the answer; may be nothing.
        shown: Vec<u8>,
        /// When that was known, in microseconds of the job.
        at_us: u64,
    },
    /// A delayed message was sent, or can no longer be sent.
    Sent(Result<(), SendFailure>),
    /// Nothing more will come.
    Closed,
}

/// The missing part of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lack {
    /// The answer.
    #[default]
    Answer,
    /// The session too, which the server does not know any more.
    Session,
}

/// What was given to [`Connection::send`] and is not sent yet. The greater includes the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsent {
    /// Everything is sent.
    Nothing,
    /// Only replies wait.
    Replies,
    /// Something that is expected of the server waits.
    Asks,
}

impl Connection {
    /// A connection over standard streams.
    pub fn stdio(parts: StdioParts) -> Self {
        Self::Stdio(Box::new(Stdio::new(parts)))
    }

    /// A connection over streamable HTTP; nothing is sent before the first message. Fails for a url or a header that HTTP
    /// cannot carry.
    pub fn http(parts: HttpParts) -> Result<Self, String> {
        Ok(Self::Http(Box::new(Http::new(parts)?)))
    }

    /// Both sides speak this revision from now on.
    pub fn agreed_on(&mut self, revision: Revision) {
        match self {
            Self::Stdio(_) => {}
            Self::Http(http) => http.agreed_on(revision),
        }
    }

    /// What only HTTP has.
    pub fn http_only(&mut self) -> Option<&mut Http> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(http) => Some(http),
        }
    }

    /// Whether messages of this revision can be sent over it: over HTTP+SSE there is a handshake.
    pub fn carries(&self, revision: Revision) -> bool {
        match self {
            Self::Stdio(_) => true,
            Self::Http(http) => {
                !http.has_one_stream() || revision.lifecycle() == Lifecycle::Handshake
            }
        }
    }

    /// Sends one message. What cannot be sent at once goes out, whole and in its order, while [`Self::next`] is awaited. A
    /// reply waits here while many replies are unread, so that they do not fill the memory. May be cancelled without loss.
    pub async fn send(&mut self, message: Outgoing<'_>) -> Result<(), SendFailure> {
        match self {
            Self::Stdio(stdio) => stdio.send(message).await,
            Self::Http(http) => http.send(message),
        }
    }

    /// Waits for what comes next. May be cancelled without loss. After [`Inbound::Closed`] it is that again.
    pub async fn next(&mut self) -> Inbound {
        // One read brings very many short messages: a flood must not keep the timers of its task waiting.
        consume_budget().await;
        match self {
            Self::Stdio(stdio) => stdio.next().await,
            Self::Http(http) => http.next().await,
        }
    }

    /// Makes what had come by a time that is over, in microseconds of the job, available to [`Self::ready`].
    pub async fn look(&mut self, by_us: u64) {
        match self {
            Self::Stdio(stdio) => stdio.look(by_us).await,
            Self::Http(http) => http.look().await,
        }
    }

    /// The next of what was read already, without waiting.
    pub fn ready(&mut self) -> Option<Inbound> {
        match self {
            Self::Stdio(stdio) => stdio.ready(),
            Self::Http(http) => http.ready(),
        }
    }

    /// The part of an incomplete message that has come; nothing while complete messages wait.
    pub fn unfinished(&self) -> &[u8] {
        match self {
            Self::Stdio(stdio) => stdio.unfinished(),
            Self::Http(_) => &[],
        }
    }

    /// What is not sent yet.
    pub fn unsent(&self) -> Unsent {
        match self {
            Self::Stdio(stdio) => stdio.unsent(),
            Self::Http(_) => Unsent::Nothing,
        }
    }

    /// How many bytes were sent so far. The server may have received them, even where it is gone now.
    pub fn sent_bytes(&self) -> u64 {
        match self {
            Self::Stdio(stdio) => stdio.sent_bytes(),
            Self::Http(http) => http.sent_bytes(),
        }
    }

    /// Says to the server that nothing more will be sent, after waiting until `by` for what is not sent yet. What the
    /// server still says is received until [`Inbound::Closed`].
    pub async fn close(&mut self, by: Instant) {
        match self {
            Self::Stdio(stdio) => stdio.close(by).await,
            Self::Http(http) => http.close(by).await,
        }
    }

    /// The record of all frames; the handle stays good when the connection is gone.
    pub fn log(&self) -> &WireLog {
        match self {
            Self::Stdio(stdio) => &stdio.log,
            Self::Http(http) => &http.log,
        }
    }

    /// The clock all frames count from.
    pub fn clock(&self) -> JobClock {
        match self {
            Self::Stdio(stdio) => stdio.clock,
            Self::Http(http) => http.clock,
        }
    }

    /// Counts from another moment: the next assertion on the same session.
    pub fn set_clock(&mut self, clock: JobClock) {
        match self {
            Self::Stdio(stdio) => stdio.set_clock(clock),
            Self::Http(http) => http.clock = clock,
        }
    }

    /// Reads and records until nothing more comes, so that a server that writes while it ends can end.
    #[cfg(any(test, feature = "testing"))]
    pub async fn drain(&mut self) {
        while self.next().await != Inbound::Closed {}
    }
}
