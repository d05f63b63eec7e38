//! Which new entry an old one may be under another name. Only a hint: for callers it is gone.

use serde_json::Value;

use super::Named;
use mcp::observation::catalog::Listing;
use text::nearest;

/// The most pairs of entries that are compared.
const MOST_PAIRS: usize = 2_000;

/// The entry among others that this one may be, if this one is also what the other one may be.
pub(super) fn mutual<'a>(
    listing: Listing,
    (name, entry): (&str, &Value),
    (others, own): (&Named<'a>, &Named<'_>),
) -> Option<&'a str> {
    let other = partner(listing, (name, entry), others)?;
    let back = partner(listing, (other, others.get(other)?), own);
    (back == Some(name)).then_some(other)
}

/// The entry among others that says the same, or whose name is like this one.
fn partner<'a>(
    listing: Listing,
    (name, entry): (&str, &Value),
    others: &Named<'a>,
) -> Option<&'a str> {
    if others.len() > MOST_PAIRS {
        return None;
    }
    let members: &[&str] = match listing {
        Listing::Tools => &["description", "inputSchema"],
        Listing::Prompts => &["description", "arguments"],
        Listing::Resources | Listing::ResourceTemplates => &["name", "description"],
    };
    let is_alike = |other: &Value| members.iter().all(|it| entry.get(it) == other.get(it));
    let mut alike = others.iter().filter(|(_, other)| is_alike(other));
    let says_something = members.iter().any(|it| entry.get(it).is_some());
    if let (true, Some((found, _)), None) = (says_something, alike.next(), alike.next()) {
        return Some(found);
    }
    nearest(name, others.keys().copied())
}
