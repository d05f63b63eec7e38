//! `mcp-assert` tells authors of MCP servers whether their server works.
//!
//! The data's journey is the layout of the crate:
//!
//! ```text
//! YAML ─ suite ─▶ plan ─▶ [ isolate ─▶ transport ─▶ session ] ─▶ Observation ─▶ check ─▶ Verdict
//!                             (run drives the bracket, once per job)                │
//! terminal, files, summary, annotations, comment, badge ◀─ deliver ◀─ report ◀─ Outcome ◀───┘
//! ```
//!
//! *Observation*: all that the server did, as plain data; it knows nothing of what was wanted.
//! *Verdict*: what one expectation says about one observation.
//! *Outcome*: what the run says about one assertion.
//!
//! A module knows only what stands before it on the journey; `tests/it/architecture.rs` reads the
//! sources and names every use that breaks the rule.

mod cli;
mod commands;
mod deliver;
mod inspect;
mod run;
mod terminal;
mod tls;

/// Runs the program with the arguments and the environment of this process.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(commands::main())
}
