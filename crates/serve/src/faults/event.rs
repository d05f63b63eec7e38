//! What faults did, for the journal. How it is written there is not known here.

use serde_json::Value;

use super::catalogue::Fault;
use crate::tap::Ticket;

/// A fault that happened, for the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Firing {
    /// The rule as it was written.
    pub rule: String,
    /// Its fault.
    pub fault: Fault,
    /// Which occurrence of the rule's place it was.
    pub n: u64,
    /// The request that it was about.
    pub id: Option<Value>,
}

/// An answer on its way out, for the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The ticket of its `Out`.
    pub ticket: Ticket,
    /// The id of the request.
    pub id: Value,
    /// The answer as faults left it.
    pub message: Value,
    /// How many bytes go out for it.
    pub bytes: u64,
}

/// The events since the journal last asked, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A rule fired.
    Fired(Firing),
    /// An answer is on its way out.
    Sent(Sent),
    /// The answer of this ticket was cancelled on its way.
    Forgotten(Ticket),
}
