//! What the patterns of a schema take when they are compiled, counted before: each is bounded by the validator, all of
//! them together are not. The count may be too high, and depends on nothing but the patterns.

use jsonschema::{FancyRegex, PatternOptions};
use regex_syntax::hir::{Class, Hir, HirKind};
use serde_json::{Map, Value};

use super::ecma::{self, Part};

/// The most memory one pattern of a schema may take, in bytes.
const LARGEST: usize = 6 * 1024 * 1024;

/// How often a pattern with look-around or a back reference may try another way before it is given up; a
/// few milliseconds.
const MOST_TRIES: usize = 100_000;

/// States that all patterns of a document may have together: some 160 bytes and a microsecond each, as measured.
const MOST_STATES: usize = 1_000_000;

/// More states than a pattern of the largest size has.
const STATES_OF_LARGEST: usize = LARGEST / 128;

/// How many states a range of characters beyond ASCII has, about: it is matched by its UTF-8 bytes.
const STATES_OF_RANGE: usize = 6;

/// The states of a group itself.
const GROUP: usize = 2;

/// What the validator is told about patterns.
pub(super) fn options() -> PatternOptions<FancyRegex> {
    PatternOptions::fancy_regex()
        .size_limit(LARGEST)
        .backtrack_limit(MOST_TRIES)
}

/// Whether all patterns of a document can be compiled.
pub(super) fn are_bearable(document: &Value) -> bool {
    let mut open = vec![document];
    let mut states = 0_usize;
    while let (Some(value), true) = (open.pop(), states <= MOST_STATES) {
        match value {
            Value::Object(map) => {
                let mut add = |pattern: &str| states = states.saturating_add(states_of(pattern));
                map.get("pattern").and_then(Value::as_str).map(&mut add);
                let named = map.get("patternProperties").and_then(Value::as_object);
                named.into_iter().flat_map(Map::keys).for_each(|it| add(it));
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    states <= MOST_STATES
}

fn states_of(pattern: &str) -> usize {
    match regex_syntax::parse(&ecma::pattern(pattern)) {
        Ok(hir) => of(&hir).min(STATES_OF_LARGEST),
        // Look-around and back references, which are taken apart and compiled in pieces.
        Err(_) => of_text(pattern),
    }
}

fn of(hir: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(of).fold(1, usize::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Bytes(class)) => class.ranges().len(),
        HirKind::Class(Class::Unicode(class)) => {
            let of_range = |end: char| if end.is_ascii() { 1 } else { STATES_OF_RANGE };
            class.ranges().iter().map(|it| of_range(it.end())).sum()
        }
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            let times = usize::try_from(times).unwrap_or(usize::MAX);
            of(&repetition.sub).saturating_add(1).saturating_mul(times)
        }
        HirKind::Capture(capture) => of(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// The states of a pattern that no tree is known of: those of its parts, as often as their counts say.
fn of_text(pattern: &str) -> usize {
    // Of every open group, what comes before its last part, and that part.
    let mut open = Vec::new();
    let (mut before, mut last) = (0_usize, 0_usize);
    let mut all = 0_usize;
    let mut parts = ecma::parts(pattern);
    // No part takes anything away, so the rest of a pattern that is too large need not be read.
    while let (Some(part), true) = (parts.next(), all <= MOST_STATES) {
        match part {
            Part::Times(times) => last = last.saturating_mul(times.max(1)),
            Part::Open => {
                open.push(before.saturating_add(last));
                (before, last) = (0, GROUP);
            }
            Part::Close => {
                last = before.saturating_add(last);
                before = open.pop().unwrap_or(0);
            }
            Part::Character(character) => {
                before = before.saturating_add(last);
                last = character.len_utf8();
            }
            Part::Translated(part) => {
                before = before.saturating_add(last);
                last = regex_syntax::parse(&part).map_or(part.len(), |hir| of(&hir));
            }
        }
        all = before.saturating_add(last);
    }
    open.into_iter().fold(all, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::are_bearable;

    fn many(count: usize, pattern: &str) -> Value {
        let all: Map<String, Value> = (0..count)
            .map(|n| (format!("p{n}"), json!({"pattern": format!("{pattern}{n}")})))
            .collect();
        json!({"properties": all})
    }

    #[test]
    fn patterns_that_take_gigabytes_together_are_not_compiled() {
        let case = |count: usize, pattern: &str, wanted: bool| {
            assert_eq!(
                are_bearable(&many(count, pattern)),
                wanted,
                "{count} x {pattern}"
            );
        };
        for pattern in [
            r"^\w{1,64}$",
            r"^[a-z][a-z0-9_-]*$",
            r"^\d{4}-\d{2}-\d{2}T",
            r"^(?=.*\d)\S+$",
        ] {
            case(1_000, pattern, true);
        }
        case(20, r"^(?=.*[A-Z])(?=.*\d).{8,128}$", true);
        for pattern in [
            r"^(?=.{1,253}$)(?!-)[a-z\d-]{1,63}(\.[a-z\d-]{1,63})*$",
            r"^(?=.*[\u{2028}\u{2029}\u{1000}])a\u{2028}$",
            r"^(?!\x{99}).*[{5000}]\{5000}\{5000}$",
            r"\b.*\bx",
        ] {
            case(100, pattern, true);
        }
        case(1, r"^\p{L}{60}$", true);
        case(2_000, r"\p{L}{60}", false);
        case(2_000, r"[^a]{900}", false);
        case(2_000, r"(?=a)\p{L}{60}", false);
        case(2_000, r"(?=a).{400}", false);
        case(2_000, r"(?!a)[^a]{900}", false);
        case(200, r"(?=a)(((a{50}){50}){50}){50}", false);
        case(200, r"(?=a)((a{50000}", false);
        case(200, r"(((a{50}){50}){50}){50}", false);
        let keys: Map<String, Value> = (0..2_000)
            .map(|n| (format!(r"\p{{L}}{{60}}{n}"), json!({})))
            .collect();
        assert!(!are_bearable(
            &json!({"items": [{"patternProperties": keys}]})
        ));
        assert!(are_bearable(
            &json!({"properties": {"pattern": {"type": "string"}}})
        ));
    }
}
