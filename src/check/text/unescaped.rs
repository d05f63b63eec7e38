//! Whether an expectation of a text holds when the strings that the text under test has as JSON writes them are
//! looked at as they are. What must not hold must not hold then either.

use crate::{
    check::text::hidden::{self, Part},
    observation::{Proof, answer::Reply},
    suite::model::expectation::Expectation,
};

/// The string that makes the expectation hold, with its path.
pub(in crate::check) fn holds(
    wanted: &Expectation,
    (reply, proof): (&Reply, Proof),
) -> Option<(String, String)> {
    let is_meant = matches!(
        wanted,
        Expectation::Contains(_)
            | Expectation::ContainsAny(_)
            | Expectation::InOrder(_)
            | Expectation::MatchesRegex(_)
    );
    if !is_meant {
        return None;
    }
    let parts = hidden::all(reply, proof);
    let found = first(wanted, reply, &parts)?;
    Some((found.path.clone(), found.unescaped()?.to_owned()))
}

/// The first part that the expectation needs; `None` when it does not hold with the parts either.
fn first<'a>(wanted: &Expectation, reply: &Reply, parts: &'a [Part<'a>]) -> Option<&'a Part<'a>> {
    let part = |has: &dyn Fn(&str) -> bool| {
        let mut found = parts.iter();
        found.find(|part| part.unescaped().is_some_and(has))
    };
    let text = reply.text.as_str();
    if let Expectation::Contains(words) = wanted {
        let missing = words.iter().filter(|words| !text.contains(words.as_str()));
        return all(missing.map(|words| part(&|text| text.contains(words.as_str()))));
    }
    if let Expectation::ContainsAny(words) = wanted {
        return part(&|text| words.iter().any(|words| text.contains(words.as_str())));
    }
    if let Expectation::InOrder(words) = wanted {
        return part(&|text| {
            let mut rest = Some(text);
            words.iter().all(|words| {
                rest = rest.and_then(|rest| rest.split_once(words.as_str()).map(|(_, rest)| rest));
                rest.is_some()
            })
        });
    }
    if let Expectation::MatchesRegex(patterns) = wanted {
        let missing = patterns.iter().filter(|pattern| !pattern.is_match(text));
        return all(missing.map(|pattern| part(&|text| pattern.is_match(text))));
    }
    None
}

/// The first of these, when none is missing.
fn all<'a>(parts: impl Iterator<Item = Option<&'a Part<'a>>>) -> Option<&'a Part<'a>> {
    let parts: Option<Vec<&Part<'a>>> = parts.collect();
    parts?.first().copied()
}
