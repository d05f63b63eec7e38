//! Sessions against scripted servers on a stopped clock: what each misbehaviour is reported as, with which
//! findings, and whether the session ends at once.

mod server;

mod calls;
mod faults;
mod http;
mod raw;
mod stateless;
mod waits;
