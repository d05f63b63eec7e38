//! Expectations about the kind of answer.

use serde_json::Value;

use mcp::script::pattern::Pattern;

/// An expectation about the kind of answer.
#[derive(Debug, Clone)]
pub enum AnswerWanted {
    /// `not_error`: the answer is a result that is not a tool error; `false`: a tool error.
    NotError(bool),
    /// `is_error`: the answer is a tool error; `false`: a result that is not one.
    IsError(bool),
    /// `refused`: the answer is a tool error or a JSON-RPC error; `false`: a result that is not a tool error.
    Refused(bool),
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
