//! The rules, by what they are about; and words as all of them compare them.

mod calls;
mod descriptions;
mod effects;
mod entries;
mod flow;
mod hidden;
mod instructions;
mod likeness;
mod names;
mod parameters;
mod schemas;
mod secrets;
mod server;
mod size;

use super::rule::Rule;

pub(super) use self::{hidden::visible, names::is_plain, size::tokens};

/// The rules of each file.
const RULES: [&[Rule]; 14] = [
    descriptions::RULES,
    parameters::RULES,
    likeness::RULES,
    flow::RULES,
    size::RULES,
    effects::RULES,
    schemas::RULES,
    names::RULES,
    server::RULES,
    entries::RULES,
    hidden::RULES,
    instructions::RULES,
    secrets::RULES,
    calls::RULES,
];

/// All rules.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.into_iter().flatten()
}

/// The rule of a code.
pub(crate) fn of(code: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.code == code)
}

/// The words of a text in small letters; of `don't` one word.
pub(super) fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase().replace(['\'', '’'], "");
    let words = text.split(|it: char| !it.is_alphanumeric());
    words
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether a word is one of a list with blanks between them.
pub(super) fn is_among(word: &str, list: &str) -> bool {
    list.split(' ').any(|it| it == word)
}

/// A word without the ending of its plural or of its third person.
fn stem(word: &str) -> &str {
    let stem = word.strip_suffix("ies").or_else(|| word.strip_suffix('s'));
    stem.filter(|it| it.len() > 2).unwrap_or(word)
}
