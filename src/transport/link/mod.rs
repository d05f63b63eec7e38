//! One connection to a server as lines of bytes, whatever carries them. Lines are received while a write waits, so
//! that two full pipes never wait for each other; nothing is lost when a call is cancelled.

mod input;

use std::{
    collections::VecDeque,
    future::poll_fn,
    io::{self, ErrorKind},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncWrite, ReadBuf},
    time::{Sleep, sleep, timeout},
};

pub(crate) use self::input::Input;
use super::{
    clock::JobClock,
    lines::{Lines, Piece},
    wire::WireLog,
};
use crate::protocol::frame::{Direction, Frame, LONGEST_BYTES, LineEnd};

/// How long the stream is still read after the server's process ended: a process it left behind may hold it open.
const GRACE: Duration = Duration::from_millis(100);

/// How long what has come over a connection may take to be carried here, when we could not look for longer than that.
const CARRYING: Duration = Duration::from_millis(50);

/// As much as is carried in one look.
const CARRIED_BYTES: u64 = 64 * 1024;

/// Resolves when the other side is gone, although the stream may stay open.
pub(crate) type Gone = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What came from the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Received {
    /// A line.
    Line {
        /// The line without its end; may be empty.
        bytes: Vec<u8>,
        /// How it ended.
        end: LineEnd,
        /// Microseconds since the job began, when its last byte was read.
        at_us: u64,
    },
    /// A line over 64 MiB; the rest of it is skipped.
    TooLong {
        /// Bytes of it seen so far.
        length: usize,
        /// Its beginning.
        head: Vec<u8>,
        /// Microseconds since the job began.
        at_us: u64,
    },
    /// What had to wait is written, or what an answer depends on will never be.
    Sent(Result<(), SendFailure>),
    /// Nothing more will come: the stream ended, or the process did.
    Closed,
}

/// What a frame is sent for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Something is expected of the server: that it cannot get this is told.
    Asks,
    /// The server asked: whether it reads this is its own affair.
    Replies,
}

/// A frame that is to be written.
struct Outgoing {
    /// With its line end.
    bytes: Vec<u8>,
    purpose: Purpose,
    recorded: bool,
}

impl Outgoing {
    /// The bytes that it takes in memory, about: a short frame is the least of it.
    fn weight(&self) -> usize {
        self.bytes.len() + 2 * size_of::<Self>()
    }
}

/// Why a frame could not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SendFailure {
    /// The server does not read any more.
    #[error("the server closed its input")]
    Closed,
    /// Writing failed in another way.
    #[error("cannot write to the server: {0}")]
    Failed(String),
}

/// What a link is made of.
pub(crate) struct LinkParts {
    /// What the server writes.
    pub(crate) input: Input,
    /// What the server reads.
    pub(crate) output: Box<dyn AsyncWrite + Send + Unpin>,
    /// Tells that the server is gone; `None` when only the stream can tell.
    pub(crate) gone: Option<Gone>,
    /// The job's clock.
    pub(crate) clock: JobClock,
}

/// A connection to a server. Dropping it closes both directions.
pub(crate) struct Link {
    /// `None` once the stream has ended.
    input: Option<Input>,
    /// `None` once closed, by either side.
    output: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    presence: Presence,
    lines: Lines,
    /// Frames in their order, of which the first `sent` bytes are written.
    outbox: VecDeque<Outgoing>,
    sent: usize,
    /// How many bytes of memory the replies in the outbox take.
    replies: usize,
    /// How many bytes the other side may have taken.
    written: u64,
    /// When the last bytes were read.
    read_at_us: u64,
    /// What is read now had come by then, as far as anybody can tell.
    came_by_us: Option<u64>,
    /// When it was last looked, whatever the runtime knew.
    looked_at_us: Option<u64>,
    clock: JobClock,
    log: WireLog,
}

/// What is known of the other side apart from its stream.
enum Presence {
    /// Only the stream can tell.
    Unknown,
    /// It is there; the future ends when it is gone.
    Watched(Gone),
    /// It is gone; the stream is read until the time is over.
    Leaving(Pin<Box<Sleep>>),
}

impl Link {
    /// A link over any pair of streams.
    pub(crate) fn new(parts: LinkParts) -> Self {
        Self {
            input: Some(parts.input),
            output: Some(parts.output),
            presence: parts.gone.map_or(Presence::Unknown, Presence::Watched),
            lines: Lines::new(LONGEST_BYTES),
            outbox: VecDeque::new(),
            sent: 0,
            replies: 0,
            written: 0,
            read_at_us: 0,
            came_by_us: None,
            looked_at_us: None,
            clock: parts.clock,
            log: WireLog::new(),
        }
    }

    /// The record of all frames; the handle stays good when the link is gone.
    pub(crate) fn log(&self) -> &WireLog {
        &self.log
    }

    /// The clock all frames count from.
    pub(crate) fn clock(&self) -> JobClock {
        self.clock
    }

    /// Counts from another moment: the next assertion on the same session.
    pub(crate) fn set_clock(&mut self, clock: JobClock) {
        self.clock = clock;
        self.read_at_us = 0;
        self.looked_at_us = None;
    }

    /// How many bytes were written so far. The other side may have taken them, even where it is gone now.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Sends one frame; the newline is added. Never waits: what cannot be written at once goes out, whole and in its
    /// order, while lines are received.
    pub(crate) async fn send(&mut self, frame: &[u8], purpose: Purpose) -> Result<(), SendFailure> {
        if self.output.is_none() {
            return Err(SendFailure::Closed);
        }
        let mut bytes = Vec::with_capacity(frame.len() + 1);
        bytes.extend_from_slice(frame);
        bytes.push(b'\n');
        let frame = Outgoing {
            bytes,
            purpose,
            recorded: false,
        };
        if purpose == Purpose::Replies {
            self.replies += frame.weight();
        }
        self.outbox.push_back(frame);
        poll_fn(|context| match self.poll_write(context) {
            Poll::Ready(written) => Poll::Ready(written),
            Poll::Pending => Poll::Ready(Ok(())),
        })
        .await
    }

    /// Waits until all is written. Bytes are read meanwhile, and no line is handed out.
    pub(crate) async fn flush(&mut self) -> Result<(), SendFailure> {
        poll_fn(|context| self.poll_flush(context)).await
    }

    /// Whether all is written.
    pub(crate) fn is_idle(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Whether something that is expected of the server is not all written.
    pub(crate) fn is_unheard(&self) -> bool {
        let mut waiting = self.outbox.iter();
        waiting.any(|frame| frame.purpose == Purpose::Asks)
    }

    /// How many bytes of memory the replies take that wait to be written.
    pub(crate) fn waiting_replies(&self) -> usize {
        self.replies
    }

    /// The next line. May be cancelled at any moment without loss.
    pub(crate) async fn receive(&mut self) -> Received {
        poll_fn(|context| self.poll_receive(context)).await
    }

    /// Whether it was looked at that time or later what lies there.
    pub(crate) fn has_looked_since(&self, at_us: u64) -> bool {
        self.looked_at_us.is_some_and(|looked| looked >= at_us)
    }

    /// Reads what lies there at this moment, known to the runtime or not, as what had come by a time that is over. Where
    /// nobody looked between, because this process was stopped or this thread held up, nothing tells that it had not.
    pub(crate) async fn look(&mut self, by_us: u64) {
        let now_us = self.clock.at_us();
        self.came_by_us = Some(by_us);
        self.looked_at_us = Some(now_us);
        match &self.input {
            Some(Input::Pipe(_)) => self.read_what_lies_there(),
            Some(Input::Carried(_)) => {
                let late = Duration::from_micros(now_us.saturating_sub(by_us));
                self.have_carried(late.min(CARRYING)).await;
            }
            None => {}
        }
        self.came_by_us = None;
    }

    /// Reads from a pipe what is in it at this moment, and no more: it may be filled faster than it is read.
    pub(crate) fn read_what_lies_there(&mut self) {
        let mut left = self.input.as_ref().map_or(0, Input::waiting);
        while let Some(input) = &mut self.input
            && !self.lines.has_plenty()
            && let Some(read) = input.read_now(self.lines.room())
        {
            let count = self.filled(read);
            if count == 0 || count as u64 > left {
                return;
            }
            left -= count as u64;
        }
    }

    /// Reads what is carried here as long as it keeps coming.
    async fn have_carried(&mut self, patience: Duration) {
        let mut left = CARRIED_BYTES;
        while self.input.is_some() && !self.lines.has_plenty() {
            let fill = poll_fn(|context| self.poll_fill(context));
            let Ok(count) = timeout(patience, fill).await else {
                return;
            };
            left = left.saturating_sub(count as u64);
            if left == 0 {
                return;
            }
        }
    }

    /// The next line of what was read, or the end that was read.
    pub(crate) fn next_read(&mut self) -> Option<Received> {
        if let Some(piece) = self.lines.next() {
            return Some(self.hand_out(piece));
        }
        self.input.is_none().then(|| self.last())
    }

    /// What is left when the stream has ended.
    fn last(&mut self) -> Received {
        let rest = self.lines.rest();
        rest.map_or(Received::Closed, |piece| self.hand_out(piece))
    }

    /// What was read of a line whose newline has not come; nothing while complete lines wait.
    pub(crate) fn unfinished(&self) -> &[u8] {
        self.lines.unfinished()
    }

    /// Closes the server's input; it may still be read from.
    pub(crate) fn close(&mut self) {
        self.output = None;
        self.outbox = VecDeque::new();
        self.sent = 0;
        self.replies = 0;
    }

    /// Reads and records until nothing more comes, so that a server that writes while it ends can end.
    #[cfg(test)]
    pub(crate) async fn drain(&mut self) {
        while self.receive().await != Received::Closed {}
    }

    fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendFailure>> {
        loop {
            if let Poll::Ready(written) = self.poll_write(context) {
                return Poll::Ready(written);
            }
            // The server may be unable to read before somebody reads what it writes.
            let readable = self.input.is_some() && !self.lines.has_plenty();
            if readable && self.poll_fill(context).is_ready() {
                continue;
            }
            if self.poll_gone(context).is_ready() {
                self.close();
                return Poll::Ready(Err(SendFailure::Closed));
            }
            return Poll::Pending;
        }
    }

    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), SendFailure>> {
        while let (Some(frame), Some(output)) = (self.outbox.front_mut(), &mut self.output) {
            if !frame.recorded {
                frame.recorded = true;
                let text = &frame.bytes[..frame.bytes.len() - 1];
                let recorded = Frame::new(Direction::Sent, self.clock.at_us(), text);
                self.log.record(recorded);
            }
            let waiting = &frame.bytes[self.sent..];
            let failure = match ready!(Pin::new(output).poll_write(context, waiting)) {
                Ok(count) if count > 0 => {
                    self.sent += count;
                    self.written += count as u64;
                    self.next_frame();
                    continue;
                }
                Ok(_) => SendFailure::Closed,
                Err(error) if error.kind() == ErrorKind::BrokenPipe => SendFailure::Closed,
                Err(error) => SendFailure::Failed(error.to_string()),
            };
            let asks = |frame: &Outgoing| frame.purpose == Purpose::Asks;
            let matters = self.outbox.iter().any(asks);
            self.close();
            return Poll::Ready(if matters { Err(failure) } else { Ok(()) });
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the first frame away when it is written.
    fn next_frame(&mut self) {
        let sent = self.sent;
        let Some(frame) = self.outbox.pop_front_if(|frame| frame.bytes.len() == sent) else {
            return;
        };
        self.sent = 0;
        if frame.purpose == Purpose::Replies {
            self.replies -= frame.weight();
        }
    }

    fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Received> {
        loop {
            if let Some(received) = self.next_read() {
                return Poll::Ready(received);
            }
            if !self.is_idle()
                && let Poll::Ready(written) = self.poll_write(context)
            {
                return Poll::Ready(Received::Sent(written));
            }
            if matches!(self.presence, Presence::Leaving(_)) && self.poll_gone(context).is_ready() {
                self.give_up_reading();
                continue;
            }
            if self.poll_fill(context).is_ready() {
                continue;
            }
            ready!(self.poll_gone(context));
            self.give_up_reading();
        }
    }

    /// Reads for the last time: what a server that is gone left behind may not be known yet.
    fn give_up_reading(&mut self) {
        self.read_what_lies_there();
        self.input = None;
    }

    /// Reads once.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<usize> {
        let Some(input) = &mut self.input else {
            return Poll::Ready(0);
        };
        let mut room = ReadBuf::new(self.lines.room());
        let read = ready!(input.poll_read(context, &mut room));
        let count = room.filled().len();
        Poll::Ready(self.filled(read.map(|()| count)))
    }

    /// Takes note of a read; the end of the stream and a failed read both take the input away.
    fn filled(&mut self, read: io::Result<usize>) -> usize {
        let count = read.unwrap_or_default();
        if count == 0 {
            self.input = None;
        } else {
            let now_us = self.clock.at_us();
            let came_us = self.came_by_us.map_or(now_us, |by_us| by_us.min(now_us));
            self.read_at_us = came_us.max(self.read_at_us);
            self.lines.filled(count);
        }
        count
    }

    /// Ready when the other side is gone and its time is over.
    fn poll_gone(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Presence::Watched(gone) = &mut self.presence {
            ready!(gone.as_mut().poll(context));
            self.presence = Presence::Leaving(Box::pin(sleep(GRACE)));
        }
        match &mut self.presence {
            Presence::Leaving(time) => time.as_mut().poll(context),
            Presence::Unknown | Presence::Watched(_) => Poll::Pending,
        }
    }

    fn hand_out(&self, piece: Piece) -> Received {
        let at_us = self.read_at_us;
        match piece {
            Piece::Line(bytes, end) => {
                let recorded = Frame::new(Direction::Received, at_us, &bytes);
                self.log.record(recorded);
                Received::Line { bytes, end, at_us }
            }
            Piece::TooLong { length, head } => {
                self.log.record(Frame {
                    direction: Direction::Received,
                    at_us,
                    bytes: head.clone(),
                    length,
                });
                Received::TooLong {
                    length,
                    head,
                    at_us,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
