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
    let (mut all, mut word) = (Vec::new(), String::new());
    for sign in text.chars() {
        match sign {
            '\'' | '’' => {}
            _ if sign.is_alphanumeric() => word.extend(sign.to_lowercase()),
            _ if word.is_empty() => {}
            _ => all.push(std::mem::take(&mut word)),
        }
    }
    if !word.is_empty() {
        all.push(word);
    }
    all
}

/// Whether a word is one of a list with blanks between them.
pub(super) fn is_among(word: &str, list: &str) -> bool {
    let mut all = list.as_bytes().split(|it| *it == b' ');
    all.any(|it| it == word.as_bytes())
}

/// A word without the ending of its plural or of its third person.
fn stem(word: &str) -> &str {
    let stem = word.strip_suffix("ies").or_else(|| word.strip_suffix('s'));
    stem.filter(|it| it.len() > 2).unwrap_or(word)
}
