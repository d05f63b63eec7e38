//! Misbehaviour on request: which deviations exist, the rules that ask for them, and the tap that makes them.
//!
//! Nothing here knows a handler. Faults bend frames on their way between the protocol core and the
//! byte stream; what performs them is `serve::wire`. Without a rule every byte goes as it came.

pub(crate) mod argument;
mod armed;
pub(crate) mod catalogue;
mod effects;
pub(crate) mod engine;
pub(crate) mod event;
pub(crate) mod file;
pub(crate) mod orphan;
pub(crate) mod place;
mod reply;
pub(crate) mod rule;
mod style;

#[cfg(test)]
mod tests;
