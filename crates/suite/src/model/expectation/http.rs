//! What is wanted of a response of HTTP, but for its body.

use super::TextRule;

/// What must be so of the head of a response.
#[derive(Debug, Clone)]
pub enum HttpWanted {
    /// `status`: it is one of these, each three digits, or the first one and `xx`.
    Status(Vec<String>),
    /// `headers`: these are there, with such values.
    Headers(Vec<(String, TextRule)>),
}
