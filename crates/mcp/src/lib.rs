//! MCP, spoken: messages as data, transports, scripts, sessions, and the record of what a server did.
//!
//! Stands behind `text` and before everything else. It speaks to a server that somebody else started (`host` does), and
//! never sees an expectation: what it hands out is an [`Observation`](observation::Observation).
//!
//! - [`protocol`]: JSON-RPC and MCP as data. [`Revision`](protocol::revision::Revision) is the one table of what each
//!   revision has, [`shape`](protocol::shape) describes the messages.
//! - [`json`]: paths, schemas and numbers, thin over the libraries.
//! - [`transport`]: moves bytes. A [`Connection`](transport::Connection) has a variant for each transport, and records
//!   each frame in its wire log.
//! - [`script`]: what to do, without YAML: [`Subject`](script::subject::Subject), steps, the client's behaviour, and texts
//!   with markers. Whoever drives a session writes one; suites are not needed for it.
//! - [`session`]: [`Session::open`](session::Session::open) takes a connection,
//!   [`perform`](session::Session::perform) does the handshake, the steps and the subject,
//!   [`catalog`](session::Session::catalog) lists what a server offers, [`close`](session::Session::close) says what was
//!   left over.
//! - [`observation`]: what happened, as plain data.
//!
//! There is no typed client on the way of an assertion: it would hide what a tester must show (unknown content, duplicate
//! ids, noise on stdout). `rmcp` gives a second opinion on messages, nothing else. [`protocol`], [`json`], [`script`] and
//! [`observation`] are pure: no I/O, no clock, no async.

#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod json;
#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod observation;
#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod protocol;
#[cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]
pub mod script;
pub mod session;
pub mod transport;
