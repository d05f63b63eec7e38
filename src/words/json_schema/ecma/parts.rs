//! A pattern of ECMA-262 taken apart, as far as its size depends on it: groups, counts, and what matches one character.

use super::{
    class,
    escape::Escape,
    pattern::{count, translated},
};

/// A part of a pattern.
pub(in crate::words::json_schema) enum Part {
    /// A group begins.
    Open,
    /// A group ends.
    Close,
    /// How often the part before is written at most, or at least where there is no most: `{2,3}`.
    Times(usize),
    /// A character, or something of a group or a repeat that is as long.
    Character(char),
    /// A class, an escape, or `.`, in the words of the engine.
    Translated(String),
}

/// The parts of a pattern, in order.
pub(in crate::words::json_schema) fn parts(text: &str) -> impl Iterator<Item = Part> {
    let mut rest = text;
    std::iter::from_fn(move || next(&mut rest))
}

fn next(rest: &mut &str) -> Option<Part> {
    let written = *rest;
    let character = written.chars().next()?;
    let behind = &written[character.len_utf8()..];
    *rest = behind;
    let is_whole = match character {
        '(' => return Some(Part::Open),
        ')' => return Some(Part::Close),
        '{' => {
            let counted = count(behind).map(|(least, most, behind)| {
                *rest = behind;
                Part::Times(most.unwrap_or(least))
            });
            return Some(counted.unwrap_or(Part::Character('{')));
        }
        '\\' => Escape::read(rest).is_some(),
        '[' => class::read(rest).is_some(),
        '.' => true,
        _ => false,
    };
    Some(if is_whole {
        Part::Translated(translated(&written[..written.len() - rest.len()]))
    } else {
        Part::Character(character)
    })
}
