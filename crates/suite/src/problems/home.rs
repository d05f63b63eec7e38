//! Help for unknown keys: the nearest key, or the map that has it.

use crate::raw::{ShapeDoc, assertion::RawAssertion};

/// The nearest key of the map that does not ask for the opposite.
pub(crate) fn nearest<'a>(key: &str, known: &[&'a str]) -> Option<&'a str> {
    let alike = known.iter().filter(|known| denies(known) == denies(key));
    text::nearest(key, alike.copied())
}

/// Whether a key asks for the opposite.
fn denies(key: &str) -> bool {
    key.split('_').any(|word| word.starts_with("no"))
}

/// The maps that have a key, where it belongs to another one than the map it stands in.
pub(super) fn home(key: &str) -> Option<String> {
    let mut shapes = Vec::new();
    RawAssertion::SHAPE.collect(&mut shapes);
    let has = |shape: &&&'static ShapeDoc| shape.keys.iter().any(|doc| doc.key == key);
    let mut owners: Vec<&str> = shapes.iter().filter(has).map(|shape| shape.owner).collect();
    owners.dedup();
    match owners[..] {
        [] => None,
        [owner] => Some(format!("`{key}` is a key of {owner}")),
        [one, other] => Some(format!("`{key}` is a key of {one} and of {other}")),
        [one, other, ..] => Some(format!("`{key}` is a key of {one}, {other} and others")),
    }
}
