//! Where a secret stands in a text: whole, or as much of it as a cut left over. Texts are shortened before anybody knows
//! what is secret in them, so what stands at the mark of a cut is compared with every beginning and end of a secret.

use std::ops::Range;

use super::SHORTEST_BYTES;
use crate::CUT;

/// What stands where something was left out: our own mark, and the one of many others.
const MARKS: [&str; 2] = [CUT, "..."];

/// Calls `hide` with every place of a secret in a text.
pub(super) fn find(text: &str, secret: &str, mut hide: impl FnMut(Range<usize>)) {
    let least = least(secret);
    let beginning = &secret[..secret.ceil_char_boundary(least)];
    for at in all(text, beginning) {
        let same = same_ahead(&text[at..], secret);
        let end = at + same;
        if same == secret.len() {
            hide(at..end);
        } else if let Some(cut) = cut_behind(text, end) {
            hide(at..cut);
        }
    }
    let end = &secret[secret.floor_char_boundary(secret.len() - least)..];
    for at in all(text, end) {
        let behind = at + end.len();
        let start = behind - same_back(&text[..behind], secret);
        if let Some(cut) = cut_before(text, start) {
            hide(cut..behind);
        }
    }
}

/// Calls `hide` with every part between two cuts that lies within a secret.
pub(super) fn find_between<'a, All: Iterator<Item = &'a str>>(
    text: &str,
    secrets: impl Fn() -> All,
    mut hide: impl FnMut(Range<usize>),
) {
    let mut cuts: Vec<(usize, usize)> = MARKS
        .iter()
        .flat_map(|mark| {
            text.match_indices(mark)
                .map(|(at, _)| (at, at + mark.len()))
        })
        .collect();
    cuts.sort_unstable();
    for pair in cuts.windows(2) {
        let (start, end) = (pair[0].1, pair[1].0);
        let Some(between) = text.get(start..end) else {
            continue;
        };
        let is_part = |secret: &str| between.len() >= least(secret) && secret.contains(between);
        if secrets().any(is_part) {
            hide(start..end);
        }
    }
}

/// The fewest bytes of a secret that count as a part of it.
fn least(secret: &str) -> usize {
    SHORTEST_BYTES.min(secret.len().div_ceil(2)).max(1)
}

/// Every place of a part in a text, also where two overlap.
fn all<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = usize> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + text[from..].find(part)?;
        from = text.ceil_char_boundary(at + 1);
        Some(at)
    })
}

/// How many bytes two texts have in common at their beginnings, in whole characters.
fn same_ahead(text: &str, secret: &str) -> usize {
    let pairs = text.bytes().zip(secret.bytes());
    text.floor_char_boundary(pairs.take_while(|(one, other)| one == other).count())
}

/// How many bytes two texts have in common at their ends, in whole characters.
fn same_back(text: &str, secret: &str) -> usize {
    let pairs = text.bytes().rev().zip(secret.bytes().rev());
    let same = pairs.take_while(|(one, other)| one == other).count();
    text.len() - text.ceil_char_boundary(text.len() - same)
}

/// Where the cut is, if the text was cut at this place or within the character behind it.
fn cut_behind(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let cut = rest.trim_start_matches('\u{fffd}');
    let is_cut = MARKS.iter().any(|mark| cut.starts_with(mark));
    is_cut.then(|| text.len() - cut.len())
}

/// The same, looking back.
fn cut_before(text: &str, at: usize) -> Option<usize> {
    let cut = text[..at].trim_end_matches('\u{fffd}');
    MARKS
        .iter()
        .any(|mark| cut.ends_with(mark))
        .then_some(cut.len())
}
