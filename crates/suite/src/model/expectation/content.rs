//! Expectations about the content.

use serde_json::Value;

/// An expectation about the content.
#[derive(Debug, Clone)]
pub enum ContentWanted {
    /// `content`: the content blocks are these, in order, each given partially.
    Blocks(Vec<ContentRule>),
}

/// One content block: members that must be equal (partially), and its size.
#[derive(Debug, Clone)]
pub struct ContentRule {
    /// Members, compared partially and deeply.
    pub members: Value,
    /// At least so many bytes of decoded `data` (or of `text`).
    pub min_bytes: Option<u64>,
}
