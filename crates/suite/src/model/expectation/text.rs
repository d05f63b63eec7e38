//! Expectations about the text.

use mcp::script::pattern::Pattern;

/// An expectation about the text under test.
#[derive(Debug, Clone)]
pub enum TextWanted {
    /// `not_empty`: text that is not blank, `null`, `[]` or `{}`, or any other content; `false`: none.
    NotEmpty(bool),
    /// `equals`: the text is this, surrounding white space aside.
    Equals(String),
    /// `contains`: the text holds each of these.
    Contains(Vec<String>),
    /// `contains_any`: the text holds at least one of these; an empty list holds.
    ContainsAny(Vec<String>),
    /// `not_contains`: none of these occurs in any content, structured content included.
    NotContains(Vec<String>),
    /// `in_order`: the text holds these one after another.
    InOrder(Vec<String>),
    /// `matches_regex`: each of these patterns is found in the text.
    MatchesRegex(Vec<Pattern>),
}
