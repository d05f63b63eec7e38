//! Which kind of answer is wanted.

use serde_json::Value;

use mcp::script::pattern::Pattern;

/// Which kind of answer is wanted.
#[derive(Debug, Clone)]
pub enum AnswerWanted {
    /// `not_error`: the answer is a result that is no tool error; `false` wants a tool error.
    NotError(bool),
    /// `is_error`: the answer is a tool error; `false` wants a result that is none.
    IsError(bool),
    /// `error`: the answer is this JSON-RPC error.
    Error(Box<ErrorWanted>),
}

/// `error`: what the JSON-RPC error must be; what is absent is not looked at.
#[derive(Debug, Clone, Default)]
pub struct ErrorWanted {
    /// Its code.
    pub code: Option<i64>,
    /// Its message.
    pub message: Option<TextRule>,
    /// Part of its data.
    pub data: Option<Value>,
}

/// A text wanted literally or by pattern (`/…/`).
#[derive(Debug, Clone)]
pub enum TextRule {
    /// Contained literally.
    Literal(String),
    /// Found by this pattern.
    Pattern(Pattern),
}
