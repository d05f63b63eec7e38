//! Expectations about an HTTP response, but for its body.

use super::TextRule;

/// An expectation about the head of a response.
#[derive(Debug, Clone)]
pub enum HttpWanted {
    /// `status`: it is one of these, each three digits, or the first one and `xx`.
    Status(Vec<String>),
    /// `headers`: these are there, with such values.
    Headers(Vec<(String, TextRule)>),
}
