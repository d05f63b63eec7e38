//! Whether an expectation of a text holds when the strings that the text under test has as JSON writes them are
//! looked at as they are. What must not hold must not hold then either.

use crate::text::hidden::{self, Part};
use mcp::observation::{Proof, answer::Reply};
use suite::model::expectation::TextWanted;

/// The string that makes the expectation hold, with its path; `None` when it does not hold with the strings either.
pub(super) fn holds(
    wanted: &TextWanted,
    (reply, proof): (&Reply, Proof),
) -> Option<(String, String)> {
    let parts = hidden::all(reply, proof);
    let part = |has: &dyn Fn(&str) -> bool| {
        let mut found = parts.iter();
        found.find(|part| part.unescaped().is_some_and(has))
    };
    let text = reply.text.as_str();
    let found = match wanted {
        TextWanted::Contains(words) => {
            let missing = words.iter().filter(|words| !text.contains(words.as_str()));
            all(missing.map(|words| part(&|text| text.contains(words.as_str()))))
        }
        TextWanted::ContainsAny(words) => {
            part(&|text| words.iter().any(|words| text.contains(words.as_str())))
        }
        TextWanted::InOrder(words) => part(&|text| {
            let mut rest = Some(text);
            words.iter().all(|words| {
                rest = rest.and_then(|rest| rest.split_once(words.as_str()).map(|(_, rest)| rest));
                rest.is_some()
            })
        }),
        TextWanted::MatchesRegex(patterns) => {
            let missing = patterns.iter().filter(|pattern| !pattern.is_match(text));
            all(missing.map(|pattern| part(&|text| pattern.is_match(text))))
        }
        TextWanted::NotEmpty(_) | TextWanted::Equals(_) | TextWanted::NotContains(_) => None,
    }?;
    Some((found.path.clone(), found.unescaped()?.to_owned()))
}

/// The first of these, when none is missing.
fn all<'a>(parts: impl Iterator<Item = Option<&'a Part<'a>>>) -> Option<&'a Part<'a>> {
    let parts: Option<Vec<&Part<'a>>> = parts.collect();
    parts?.first().copied()
}
