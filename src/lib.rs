//! `mcp-assert` tells authors of MCP servers whether their server works.
//!
//! The data's journey is the layout of the workspace:
//!
//! ```text
//! YAML ─ suite ─▶ plan ─▶ [ host: place, server ─▶ mcp: connection ─▶ session ] ─▶ Observation ─▶ check ─▶ Verdict
//!                                    (run drives the bracket, once per job)                         │
//!   terminal, files, summary, annotations, comment, badge ◀─ deliver ◀─ report ◀─ Outcome ◀─────────┘
//! ```
//!
//! *Observation*: all that the server did, as plain data; it knows nothing of what was wanted.
//! *Verdict*: what one expectation says about one observation.
//! *Outcome*: what the run says about one assertion.
//!
//! This package is the program; the crates of the workspace do not know it. `cli` is what was typed, `commands` has a file
//! or a folder for each verb, `run` makes outcomes of jobs, `deliver` brings texts to their places, `terminal` is the live
//! view. `inspect` asks a server questions without a suite. [`main`] is the entry point.

mod cli;
mod commands;
mod deliver;
mod inspect;
mod run;
mod terminal;

/// Runs the program with the arguments and the environment of this process.
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(commands::main())
}
