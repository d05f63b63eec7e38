//! What is certain about a regular expression without a text to look at.

use mcp::script::pattern::Pattern;

/// Whether the pattern is found in every text because it matches the empty text anywhere.
pub(super) fn is_open(pattern: &Pattern) -> bool {
    regex_syntax::parse(pattern.compiled()).is_ok_and(|parsed| {
        let properties = parsed.properties();
        properties.minimum_len() == Some(0) && properties.look_set().is_empty()
    })
}
