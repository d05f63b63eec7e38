//! Expectations about a list of tool calls.

use serde_json::Value;

use mcp::observation::TraceOutcome;

/// One rule over a list of tool calls.
#[derive(Debug, Clone)]
pub enum TrajectoryRule {
    /// `order`: these tools are called one after another, others may lie between.
    Order(Vec<String>),
    /// `presence`: each of these tools is called.
    Presence(Vec<String>),
    /// `absence`: none of these tools is called.
    Absence(Vec<String>),
    /// `args_contain`: some call (the first one, the Go tool's way) of the tool has these arguments, partially.
    ArgsContain {
        /// The tool.
        tool: String,
        /// Part of its arguments.
        args: Value,
        /// Which calls are looked at.
        among: Among,
    },
    /// `count`: the tool is called so often.
    Count {
        /// The tool.
        tool: String,
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
    /// `never_after`: once `after` was called, `tool` is not called any more.
    NeverAfter {
        /// The tool.
        tool: String,
        /// The tool it must not follow.
        after: String,
    },
    /// `adjacent`: these tools are called one right after another.
    Adjacent(Vec<String>),
    /// `outcome`: every call of the tool ended so.
    Outcome {
        /// The tool.
        tool: String,
        /// How.
        outcome: TraceOutcome,
    },
    /// `within_ms`: the first call of `from` (or the first call) and the last call of `to` (or the last call)
    /// are at most so far apart.
    WithinMs {
        /// The longest time, in milliseconds.
        limit_ms: u64,
        /// Where it begins.
        from: Option<String>,
        /// Where it ends.
        to: Option<String>,
    },
}

/// Which calls of a tool `args_contain` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    /// Any call may match, arguments compared exactly, partially and deeply.
    Any,
    /// Only the first call, top-level arguments compared as the Go tool prints them.
    First,
}
