//! Misbehaviour on request: which deviations exist, the rules that ask for them, and the tap that makes them.
//!
//! Nothing here knows a handler. Faults bend frames on their way between the protocol core and the
//! byte stream; what performs them is `serve::wire`. Without a rule every byte goes as it came.

pub mod argument;
mod armed;
pub mod catalogue;
mod effects;
pub mod engine;
pub mod event;
pub(crate) mod exchange;
pub mod file;
pub mod orphan;
pub mod place;
mod reply;
pub mod rule;
mod style;

#[cfg(test)]
mod tests;
