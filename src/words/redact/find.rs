//! Where a secret stands in a text: whole, or as much of it as a cut left over. Texts are shortened before anybody knows
//! what is secret in them, so what stands at the mark of a cut is compared with every beginning and end of a secret.

use std::ops::Range;

use super::{
    SHORTEST_BYTES,
    layers::{LONGEST_ESCAPE, SIGNS},
};
use crate::words::text::CUT;

/// What stands where something was left out: our own mark, and the one of many others.
const MARKS: [&str; 2] = [CUT, "..."];

/// A part of a text between two cuts that is at least so long is compared without its ends, which may be halves of
/// escapes.
const LONG_BETWEEN: usize = 4 * LONGEST_ESCAPE;

/// Tells every place of a secret in a text.
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

/// Tells every part between two cuts that is out of the middle of a secret.
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
        let inner = if between.len() < LONG_BETWEEN {
            between
        } else {
            let (from, to) = (LONGEST_ESCAPE, between.len() - LONGEST_ESCAPE);
            &between[between.ceil_char_boundary(from)..between.floor_char_boundary(to)]
        };
        let is_part = |secret: &str| inner.len() >= least(secret) && secret.contains(inner);
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

/// Where the cut is, if the text was cut at this place, be it through an escape or a character.
fn cut_behind(text: &str, at: usize) -> Option<usize> {
    // What an escape begins with may have been taken for a character of the secret.
    let before = text[..at].ends_with(SIGNS).then(|| at - 1);
    torn_up_to(text, at).or_else(|| torn_up_to(text, before?))
}

/// Where the cut is behind what it left over of an escape or a character, if anything.
fn torn_up_to(text: &str, at: usize) -> Option<usize> {
    let reach = text.floor_char_boundary(at + LONGEST_ESCAPE);
    let places = (at..=reach).filter(|place| text.is_char_boundary(*place));
    let is_mark = |place: &usize| MARKS.iter().any(|mark| text[*place..].starts_with(mark));
    places
        .take_while(|place| {
            let rest = &text[at..*place];
            let begins = rest.starts_with(SIGNS) || rest.starts_with('\u{fffd}');
            let is_entity = rest.strip_prefix('&').is_some_and(is_name);
            rest.is_empty() || begins && is_torn(rest) || is_entity
        })
        .find(is_mark)
}

/// The same, looking back.
fn cut_before(text: &str, at: usize) -> Option<usize> {
    let reach = text.ceil_char_boundary(at.saturating_sub(LONGEST_ESCAPE));
    let places = (reach..=at).rev().filter(|it| text.is_char_boundary(*it));
    let is_mark = |place: &usize| MARKS.iter().any(|mark| text[..*place].ends_with(mark));
    places
        .take_while(|place| {
            let rest = &text[*place..at];
            is_torn(rest) || rest.strip_suffix(';').is_some_and(is_name)
        })
        .find(is_mark)
}

/// Whether a text can be what a cut left over of an escape or of a character.
fn is_torn(rest: &str) -> bool {
    rest.chars().all(|character| {
        character.is_ascii_hexdigit()
            || matches!(
                character,
                '\\' | '%'
                    | '/'
                    | '"'
                    | '\''
                    | 'u'
                    | 'x'
                    | 'n'
                    | 'r'
                    | 't'
                    | '{'
                    | '}'
                    | '\u{fffd}'
            )
    })
}

/// Whether a text can be out of the name between `&` and `;`.
fn is_name(rest: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '#' | '&');
    rest.chars().all(plain)
}
