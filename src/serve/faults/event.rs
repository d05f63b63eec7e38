//! What faults did, for the journal. How it is written there is not known here.

use serde_json::Value;

use super::catalogue::Fault;
use crate::serve::tap::Ticket;

/// A fault that happened, for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Firing {
    /// The rule as it was written.
    pub(crate) rule: String,
    /// Its fault.
    pub(crate) fault: Fault,
    /// Which occurrence of the rule's place it was.
    pub(crate) n: u64,
    /// The request that it was about.
    pub(crate) id: Option<Value>,
}

/// An answer on its way out, for the journal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sent {
    /// What its `Out` bears.
    pub(crate) ticket: Ticket,
    /// The id of the request.
    pub(crate) id: Value,
    /// The answer as faults left it.
    pub(crate) message: Value,
    /// How many bytes go out for it.
    pub(crate) bytes: u64,
}

/// What happened since the journal last asked, in order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    /// A rule fired.
    Fired(Firing),
    /// An answer is on its way out.
    Sent(Sent),
    /// The answer of this ticket was cancelled on its way.
    Forgotten(Ticket),
}
