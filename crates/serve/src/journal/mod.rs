//! The journal: what the server was asked and what it answered, as JSON lines.
//!
//! A call is written when it arrives, so the file has the order of the calls and a crash loses none;
//! its `done` follows and names it. Only calls have `tool` at the top, which makes the file an audit
//! log as it is. What is bent or lost on the way to the client is the business of `faults`; the
//! journal is told.

mod book;
mod scrub;
mod writer;

pub(crate) use self::book::Journal;

#[cfg(test)]
mod tests;
