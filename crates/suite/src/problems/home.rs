//! What is said of a key that does not exist at its place: the words of other tools, the place where it would be right,
//! the nearest one. Nothing here turns what is wanted into its opposite.

use crate::raw::{
    ShapeDoc,
    assertion::{RawAssertion, SUBJECTS},
    expect::RawExpect,
    settings::RawSettings,
};

/// Words of other tools, and ours; letters and digits alone, in lower case.
const OTHERS: [(&str, &str); 24] = [
    ("arguments", "args"),
    ("params", "args"),
    ("parameters", "args"),
    ("input", "args"),
    ("args", "arguments"),
    ("containsall", "contains"),
    ("contentcontains", "contains"),
    ("textcontains", "contains"),
    ("includes", "contains"),
    ("notincludes", "not_contains"),
    ("excludes", "not_contains"),
    ("doesnotcontain", "not_contains"),
    ("regex", "matches_regex"),
    ("regexp", "matches_regex"),
    ("matches", "matches_regex"),
    ("match", "matches_regex"),
    ("pattern", "matches_regex"),
    ("schema", "json_schema"),
    ("jsonpaths", "json_path"),
    ("structuredcontent", "structured"),
    ("eq", "equals"),
    ("exact", "equals"),
    ("timeout", "max_duration"),
    ("uri", "read"),
];

/// The letters of words that are no name of one thing alone.
const SHORT: usize = 6;

/// The key of the map that is meant by an unknown one, or is near to it.
pub fn meant<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    word_of_others(key, known).or_else(|| nearest(key, known))
}

/// The key of the map for which other tools have this word.
pub(super) fn word_of_others<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let bare: String = key
        .chars()
        .filter(|sign| sign.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    let mut ours = OTHERS.iter().filter(|(other, _)| *other == bare);
    let ours = ours.find_map(|(_, ours)| known.iter().find(|known| *known == ours));
    ours.copied()
}

/// The nearest key of the map that does not want the opposite.
pub(super) fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let alike = known.iter().filter(|known| denies(known) == denies(key));
    text::nearest(key, alike.copied())
}

/// Whether a key wants that something is not so, the `not` in it misspelt or not.
fn denies(key: &str) -> bool {
    let mut words = String::new();
    for sign in key.chars() {
        if sign.is_uppercase() {
            words.push('_');
        }
        words.extend(sign.to_lowercase());
    }
    words.split(['_', '-', ' ']).any(|word| {
        let is_slip = word.len() < 4 && word.contains('n') && word.contains(['t', 'o']);
        let begins =
            word.starts_with("not") && !word.starts_with("noti") && !word.starts_with("note");
        is_slip && word != "net" && strsim::damerau_levenshtein(word, "not") < 2 || begins
    })
}

/// Where a key of another map belongs, seen from one in which the keys `beside` stand.
pub(super) fn home(key: &str, owner: &str, known: &[&str], beside: &[String]) -> Option<String> {
    if owner == format!("`{key}`") {
        return Some(format!(
            "it stands one level too deep, in another `{key}`: take one of them away"
        ));
    }
    if is_of_assertion(known) {
        return in_assertion(key, beside);
    }
    let mut shapes = Vec::new();
    RawAssertion::SHAPE.collect(&mut shapes);
    around(key, owner, &shapes).or_else(|| {
        let own = shapes.iter().find(|shape| shape.owner == owner);
        let own = own.copied().unwrap_or(RawAssertion::SHAPE);
        let mut below = ["expect", "notifications", "docker", "server"].into_iter();
        match below.find(|below| known.contains(below) && takes_below(own, below, key)) {
            Some(below) => Some(format!("`{key}` belongs under `{below}`")),
            None => elsewhere(key, &shapes),
        }
    })
}

/// The same at the top of a document.
fn in_assertion(key: &str, beside: &[String]) -> Option<String> {
    let is_there = |subject: &&&str| beside.iter().any(|key| key == **subject);
    let subject = SUBJECTS.iter().find(is_there).copied().unwrap_or("assert");
    let expects = RawExpect::KEYS.contains(&key);
    let is_its = takes_below(RawAssertion::SHAPE, subject, key);
    let told = match subject {
        "trajectory" if expects || key == "expect" => {
            "a `trajectory` takes no `expect`: its rules say what must hold".to_owned()
        }
        "trajectory" if is_its => format!("`{key}` belongs into a rule of `trajectory`"),
        "steps" if is_its => format!("`{key}` belongs into one of the `steps`"),
        "steps" if expects => format!("`{key}` belongs under `expect`, in one of the `steps`"),
        _ if is_its => format!("`{key}` belongs under `{subject}`"),
        _ if expects => {
            let shapes = shapes_of(RawAssertion::SHAPE, subject);
            let subject_takes = shapes
                .first()
                .is_some_and(|it| takes_below(it, "expect", key));
            return subject_takes
                .then(|| format!("`{key}` belongs under `expect`, in `{subject}`"));
        }
        _ if takes_below(RawAssertion::SHAPE, "server", key) => {
            format!("`{key}` belongs under `server`")
        }
        _ if RawSettings::KEYS.contains(&key) => {
            format!("`{key}` holds for a whole suite: it is a key of its `mcp-assert.yaml`")
        }
        _ => return None,
    };
    Some(told)
}

/// The map that has the key, where it holds the one in which it stands.
fn around(key: &str, owner: &str, shapes: &[&'static ShapeDoc]) -> Option<String> {
    let mut holders = Vec::new();
    for shape in shapes.iter().filter(|shape| has(shape, key)) {
        let inner = shape.keys.iter().find(|inner| {
            let below = shapes_of(shape, inner.key);
            below.first().is_some_and(|below| below.owner == owner)
        });
        holders.extend(inner.map(|inner| (shape.owner, inner.key)));
    }
    let (holder, inner) = *holders.first()?;
    if holders.iter().any(|(_, other)| *other != inner) {
        return None;
    }
    let beside = format!("`{key}` belongs beside `{inner}`");
    Some(match holders[..] {
        [_] => format!("{beside}, in {holder}"),
        _ => beside,
    })
}

/// The only map that has the key. A short word may mean anything.
fn elsewhere(key: &str, shapes: &[&'static ShapeDoc]) -> Option<String> {
    let mut holders = shapes.iter().filter(|shape| has(shape, key));
    let holder = holders
        .next()
        .filter(|_| key.contains('_') || key.len() > SHORT)?;
    holders
        .next()
        .is_none()
        .then(|| format!("`{key}` belongs under {}", holder.owner))
}

/// The maps below a key, its own first.
fn shapes_of(shape: &ShapeDoc, key: &str) -> Vec<&'static ShapeDoc> {
    let mut shapes = Vec::new();
    if let Some(doc) = shape.keys.iter().find(|doc| doc.key == key) {
        (doc.shapes)(&mut shapes);
    }
    shapes
}

fn has(shape: &ShapeDoc, key: &str) -> bool {
    shape.keys.iter().any(|doc| doc.key == key)
}

/// Whether the map below a key has another one.
fn takes_below(shape: &ShapeDoc, below: &str, key: &str) -> bool {
    let shapes = shapes_of(shape, below);
    shapes.first().is_some_and(|shape| has(shape, key))
}

/// Whether these are the keys of an assertion.
fn is_of_assertion(known: &[&str]) -> bool {
    known.contains(&"assert_tools")
}
