//! The real binary against real servers, and the rules of the source tree. One test binary, many modules.
#![allow(
    clippy::tests_outside_test_module,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "this whole crate is tests"
)]

mod action;
mod architecture;
mod broken_servers;
mod causes;
mod ci;
mod ci_sinks;
mod clients;
mod command_line;
mod compat;
mod completions;
mod conform;
mod container_contract;
mod containers;
mod diff;
mod docs;
mod engine;
mod faults;
mod faults_matrix;
mod fixtures;
mod github;
mod harness;
mod http;
mod images;
mod inspect;
mod interrupts;
mod limits;
mod lint;
mod lost_output;
mod outside;
mod promises;
mod published_servers;
mod red;
mod registry;
mod release;
mod running;
mod scheduling;
mod security;
mod serve;
mod serve_http;
mod shards;
mod stateless;
mod steps;
mod stopped;
mod surface;
mod survey;
mod tools;
mod verdicts;
mod waits;
mod wiring;
mod workflow_log;
