//! A connection whose messages a test carries, by any transport: it takes what is sent from one channel, and puts what
//! comes into another.

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::{
    protocol::frame::{Direction, Frame, FrameMeta},
    transport::{Connection, Inbound, Outgoing, SendFailure, clock::JobClock, wire::WireLog},
};

/// The session's end.
pub struct Queue {
    /// `None` once closed.
    outgoing: Option<UnboundedSender<Vec<u8>>>,
    incoming: UnboundedReceiver<(Vec<u8>, FrameMeta)>,
    pub(in crate::transport) sent_bytes: u64,
    pub(in crate::transport) clock: JobClock,
    pub(in crate::transport) log: WireLog,
}

/// The carrier's end. Dropping `incoming` closes the connection.
pub struct Carrier {
    /// What the session sends, until it closes the connection.
    pub outgoing: UnboundedReceiver<Vec<u8>>,
    /// What the server says.
    pub incoming: UnboundedSender<(Vec<u8>, FrameMeta)>,
}

/// A connection and what carries it.
pub fn queue() -> (Connection, Carrier) {
    let (outgoing, sent) = mpsc::unbounded_channel();
    let (received, incoming) = mpsc::unbounded_channel();
    let queue = Queue {
        outgoing: Some(outgoing),
        incoming,
        sent_bytes: 0,
        clock: JobClock::start(),
        log: WireLog::new(),
    };
    let carrier = Carrier {
        outgoing: sent,
        incoming: received,
    };
    (Connection::Queue(queue), carrier)
}

impl Queue {
    pub(in crate::transport) fn send(&mut self, message: Outgoing<'_>) -> Result<(), SendFailure> {
        let bytes = message.bytes;
        let outgoing = self.outgoing.as_ref().ok_or(SendFailure::Closed)?;
        let frame = Frame::new(Direction::Sent, self.clock.at_us(), bytes);
        self.log.record(frame);
        self.sent_bytes += bytes.len() as u64;
        let sent = outgoing.send(bytes.to_vec());
        sent.map_err(|_| SendFailure::Closed)
    }

    pub(in crate::transport) async fn next(&mut self) -> Inbound {
        match self.incoming.recv().await {
            Some(message) => self.hand_out(message),
            None => Inbound::Closed,
        }
    }

    pub(in crate::transport) fn ready(&mut self) -> Option<Inbound> {
        let message = self.incoming.try_recv().ok()?;
        Some(self.hand_out(message))
    }

    pub(in crate::transport) fn close(&mut self) {
        self.outgoing = None;
    }

    fn hand_out(&self, (bytes, meta): (Vec<u8>, FrameMeta)) -> Inbound {
        let at_us = self.clock.at_us();
        let frame = Frame::new(Direction::Received, at_us, &bytes);
        self.log.record(frame.with_meta(meta));
        Inbound::Message { bytes, meta, at_us }
    }
}
