//! Messages as lines over a pair of byte streams: the pipes of a process, or what a container engine carries. Lines are
//! received while a write waits, so that two full pipes never wait for each other; nothing is lost when a call is
//! cancelled.

mod input;
mod lines;

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
    time::{Instant, Sleep, sleep, timeout, timeout_at},
};

pub use self::input::Input;
use self::lines::{Lines, Piece};
use super::{Inbound, Outgoing, Purpose, SendFailure, Unsent, clock::JobClock, wire::WireLog};
use crate::protocol::frame::{Direction, Frame, FrameMeta, LONGEST_BYTES, LineEnd};

/// How long the stream is still read after the server's process ended: a process it left behind may hold it open.
const GRACE: Duration = Duration::from_millis(100);

/// How long what has come over a connection may take to be carried here, when we could not look for longer than that.
const CARRYING: Duration = Duration::from_millis(50);

/// As much as is carried in one look.
const CARRIED_BYTES: u64 = 64 * 1024;

/// Memory that unread replies may take before a further reply waits.
const UNREAD_BYTES: usize = 8 * 1024 * 1024;

/// Resolves when the other side is gone, although the stream may stay open.
pub type Gone = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A line that is to be written.
struct Waiting {
    /// With its line end.
    bytes: Vec<u8>,
    purpose: Purpose,
    recorded: bool,
}

impl Waiting {
    /// The bytes that it takes in memory, about: a short frame is the least of it.
    fn weight(&self) -> usize {
        self.bytes.len() + 2 * size_of::<Self>()
    }
}

/// What a connection is made of.
pub struct StdioParts {
    /// Written by the server.
    pub input: Input,
    /// Read by the server.
    pub output: Box<dyn AsyncWrite + Send + Unpin>,
    /// Tells that the server is gone; `None` when only the stream can tell.
    pub gone: Option<Gone>,
    /// The job's clock.
    pub clock: JobClock,
}

/// A connection over standard streams. Dropping it closes both directions.
pub struct Stdio {
    /// `None` once the stream has ended.
    input: Option<Input>,
    /// `None` once closed, by either side.
    output: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    presence: Presence,
    lines: Lines,
    /// Frames in their order, of which the first `sent` bytes are written.
    outbox: VecDeque<Waiting>,
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
    /// Whether a line had begun and not ended when the server's input was closed.
    closed_amid_line: bool,
    pub(super) clock: JobClock,
    pub(super) log: WireLog,
}

/// The facts about the server apart from its stream.
enum Presence {
    /// Only the stream can tell.
    Unknown,
    /// It is there; the future ends when it is gone.
    Watched(Gone),
    /// It is gone; the stream is read until the time is over.
    Leaving(Pin<Box<Sleep>>),
}

impl Stdio {
    pub(super) fn new(parts: StdioParts) -> Self {
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
            closed_amid_line: false,
            clock: parts.clock,
            log: WireLog::new(),
        }
    }

    pub(super) fn set_clock(&mut self, clock: JobClock) {
        self.clock = clock;
        self.read_at_us = 0;
        self.looked_at_us = None;
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.written
    }

    /// Sends one line; the newline is added.
    pub(super) async fn send(&mut self, message: Outgoing<'_>) -> Result<(), SendFailure> {
        let Outgoing { bytes, purpose } = message;
        if self.output.is_none() {
            return match purpose {
                Purpose::Asks => Err(SendFailure::Closed),
                Purpose::Replies => Ok(()),
            };
        }
        let mut line = Vec::with_capacity(bytes.len() + 1);
        line.extend_from_slice(bytes);
        line.push(b'\n');
        let line = Waiting {
            bytes: line,
            purpose,
            recorded: false,
        };
        if purpose == Purpose::Replies {
            self.replies += line.weight();
        }
        self.outbox.push_back(line);
        poll_fn(|context| match self.poll_write(context) {
            Poll::Ready(written) => Poll::Ready(written),
            Poll::Pending if purpose == Purpose::Replies && self.is_swamped() => {
                self.poll_flush(context)
            }
            Poll::Pending => Poll::Ready(Ok(())),
        })
        .await
    }

    pub(super) fn unsent(&self) -> Unsent {
        let waiting = self.outbox.iter().map(|line| match line.purpose {
            Purpose::Asks => Unsent::Asks,
            Purpose::Replies => Unsent::Replies,
        });
        waiting.max().unwrap_or(Unsent::Nothing)
    }

    fn is_swamped(&self) -> bool {
        self.replies > UNREAD_BYTES
    }

    pub(super) async fn next(&mut self) -> Inbound {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Reads what lies there at this moment, known to the runtime or not, as what had come by a time that is over. Where
    /// nobody looked between, because this process was stopped or this thread held up, nothing tells that it had not.
    pub(super) async fn look(&mut self, by_us: u64) {
        if self.looked_at_us.is_some_and(|looked| looked >= by_us) {
            return;
        }
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
    fn read_what_lies_there(&mut self) {
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
    pub(super) fn ready(&mut self) -> Option<Inbound> {
        if let Some(piece) = self.lines.next() {
            return Some(self.hand_out(piece));
        }
        self.input.is_none().then(|| self.last())
    }

    /// The rest when the stream has ended.
    fn last(&mut self) -> Inbound {
        let rest = self.lines.rest();
        rest.map_or(Inbound::Closed, |piece| self.hand_out(piece))
    }

    pub(super) fn unfinished(&self) -> &[u8] {
        self.lines.unfinished()
    }

    /// Closes the server's input; it may still be read from.
    pub(super) async fn close(&mut self, by: Instant) {
        let flush = poll_fn(|context| self.poll_flush(context));
        // Nothing follows that could tell of a failure.
        let _ = timeout_at(by, flush).await;
        self.closed_amid_line = !self.lines.unfinished().is_empty();
        self.close_output();
    }

    fn close_output(&mut self) {
        self.output = None;
        self.outbox = VecDeque::new();
        self.sent = 0;
        self.replies = 0;
    }

    /// Writes all that waits. Bytes are read meanwhile, and no line is handed out.
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
                self.close_output();
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
            let asks = |frame: &Waiting| frame.purpose == Purpose::Asks;
            let matters = self.outbox.iter().any(asks);
            self.close_output();
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

    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Inbound> {
        loop {
            if let Some(received) = self.ready() {
                return Poll::Ready(received);
            }
            if !self.outbox.is_empty()
                && let Poll::Ready(written) = self.poll_write(context)
            {
                return Poll::Ready(Inbound::Sent(written));
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

    fn hand_out(&self, piece: Piece) -> Inbound {
        let at_us = self.read_at_us;
        match piece {
            Piece::Line(bytes, end) => {
                let end = match end {
                    LineEnd::Missing if self.closed_amid_line => LineEnd::CutOff,
                    LineEnd::Newline | LineEnd::Missing | LineEnd::CutOff => end,
                };
                let meta = FrameMeta::Line(end);
                let frame = Frame::new(Direction::Received, at_us, &bytes);
                self.log.record(frame.with_meta(meta));
                Inbound::Message { bytes, meta, at_us }
            }
            Piece::TooLong { length, head } => {
                let mut frame = Frame::new(Direction::Received, at_us, &head);
                frame.length = length;
                self.log.record(frame);
                Inbound::TooLong {
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
