//! Where a path leads when the filters in it compare numbers by their value. The library compares them as floats,
//! of which one stands for many integers of twenty digits. Where that would make different numbers alike, it looks
//! at a document in which every number is exchanged for a float of its own, in the same order.

use std::cmp::Ordering;

use serde_json::{Number, Value};
use serde_json_path::{JsonPath, NormalizedPath};
use thiserror::Error;

use super::{number, walk::walk};

/// Why it cannot be told where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Untold {
    /// Numbers in its filters.
    #[error("compares numbers of so many digits that they cannot be told apart there")]
    TooLong,
    /// The work.
    #[error("leads to more places in this document than are followed")]
    TooMuch,
}

/// The places that a path leads to, each as the caller writes it, with what is there. The path is given as it was
/// written, with all digits of its numbers, and compiled. An error when its filters compare numbers that cannot be told
/// apart, or when it would take too long or too much memory.
pub fn query<'a, P>(
    (written, path): (&str, &JsonPath),
    document: &'a Value,
    place: impl Fn(&NormalizedPath<'_>) -> P,
) -> Result<Vec<(P, &'a Value)>, Untold> {
    if is_too_much(written, document) {
        return Err(Untold::TooMuch);
    }
    let exchanged = if written.contains('?') {
        exchanged(written, document)?
    } else {
        None
    };
    let found = path.query_located(exchanged.as_ref().unwrap_or(document));
    let there = found.iter().filter_map(|node| {
        let value = document.pointer(&node.location().to_json_pointer())?;
        Some((place(node.location()), value))
    });
    Ok(there.collect())
}

/// The most places that a path may lead to: the library remembers each with the steps to it.
const MOST_PLACES: usize = 8_000_000;

/// Whether a path that descends several times (`$..*..*`) may lead to more than [`MOST_PLACES`]: each descent meets a
/// value once for every value above it.
fn is_too_much(written: &str, document: &Value) -> bool {
    let descents = written.matches("..").count();
    if descents < 2 {
        return false;
    }
    let (mut values, mut deepest) = (0_usize, 1_usize);
    let mut open = vec![(document, 1)];
    while let Some((value, depth)) = open.pop() {
        values += 1;
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|it| (it, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let ways = (1..descents).fold(1, |ways: usize, _| ways.saturating_mul(deepest));
    values.saturating_mul(ways) > MOST_PLACES
}

/// The document with other numbers; `None` when floats tell its own ones apart. The numbers in the path keep their
/// floats, as the library knows them.
fn exchanged(written: &str, document: &Value) -> Result<Option<Value>, Untold> {
    let literals = literals(written);
    let mut all: Vec<&Number> = walk(document).filter_map(Value::as_number).collect();
    all.extend(&literals);
    if !all.iter().any(|number| is_long(number)) {
        return Ok(None);
    }
    all.sort_by(|left, right| number::compare(left, right));
    all.dedup_by(|left, right| number::compare(left, right) == Ordering::Equal);
    let floats: Option<Vec<f64>> = all.iter().map(|number| number.as_f64()).collect();
    if floats.is_some_and(|floats| floats.is_sorted_by(|left, right| left < right)) {
        return Ok(None);
    }
    // What these give is a number too, and would be compared with exchanged ones.
    let counts = ["length(", "count("].iter().any(|it| written.contains(it));
    let given = if counts {
        None
    } else {
        others(&all, &literals)
    };
    let given = given.ok_or(Untold::TooLong)?;
    let mut copy = document.clone();
    let mut open = vec![&mut copy];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(own) => {
                let at = all.binary_search_by(|number| number::compare(number, own));
                if let Some(other) = at.ok().and_then(|at| given.get(at)) {
                    *own = other.clone();
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    Ok(Some(copy))
}

/// The numbers in a path: those that its filters compare with, and indexes, which do no harm.
fn literals(written: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut rest = written;
    let mut is_in_name = false;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' | '"' => quoted(rest, first),
            '-' | '0'..='9' if !is_in_name => {
                let of_number = |sign: char| {
                    sign.is_ascii_digit() || matches!(sign, '.' | 'e' | 'E' | '+' | '-')
                };
                let length = rest.find(|sign| !of_number(sign)).unwrap_or(rest.len());
                found.extend(serde_json::from_str::<Number>(&rest[..length]));
                length
            }
            other => other.len_utf8(),
        };
        is_in_name = first.is_alphanumeric() || first == '_';
        rest = &rest[length..];
    }
    found
}

/// The length of the text in quotes that another text begins with; all of it where the quotes are not closed.
pub fn quoted(text: &str, quote: char) -> usize {
    end_of_quotes(text, quote).unwrap_or(text.len())
}

/// Where a text ends that begins with a quote, behind the quote that closes it.
pub fn end_of_quotes(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, sign)| {
        let is_end = sign == quote && !is_escaped;
        is_escaped = sign == '\\' && !is_escaped;
        is_end.then_some(at + 1)
    })
}

/// Whether another number could have the same float: those of fifteen digits each have their own.
fn is_long(number: &Number) -> bool {
    let text = number.as_str();
    text.len() > 15 || text.contains(['e', 'E'])
}

/// A float for each of the numbers, in the same order; those of the path have their own. `None` when there are not
/// as many in between.
fn others(all: &[&Number], literals: &[Number]) -> Option<Vec<Number>> {
    let is_literal = |number: &Number| {
        let same = |literal| number::compare(number, literal) == Ordering::Equal;
        literals.iter().any(same)
    };
    let mut ranks = Vec::with_capacity(all.len());
    let mut low = rank(-f64::MAX) - 1;
    let mut rest = all;
    while !rest.is_empty() {
        let free = rest.iter().take_while(|number| !is_literal(number)).count();
        let high = match rest.get(free) {
            Some(literal) => rank(literal.as_f64()?),
            None => rank(f64::MAX) + 1,
        };
        let step = (high - low) / (i128::try_from(free).ok()? + 1);
        if step < 1 {
            return None;
        }
        ranks.extend((1..).map(|index| low + index * step).take(free));
        ranks.extend(rest.get(free).map(|_| high));
        rest = rest.get(free + 1..).unwrap_or_default();
        low = high;
    }
    ranks.into_iter().map(of_rank).collect()
}

/// The place of a float among all floats; 0 is that of zero.
fn rank(float: f64) -> i128 {
    let magnitude = i128::from(float.abs().to_bits());
    if float < 0.0 { -magnitude } else { magnitude }
}

fn of_rank(rank: i128) -> Option<Number> {
    let float = f64::from_bits(u64::try_from(rank.abs()).ok()?);
    Number::from_f64(if rank < 0 { -float } else { float })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use serde_json_path::{JsonPath, NormalizedPath};

    use super::{Untold, literals, query};

    fn pointer(place: &NormalizedPath<'_>) -> String {
        place.to_json_pointer()
    }

    fn places(path: &str, document: &str) -> Result<String, Untold> {
        let document: Value = serde_json::from_str(document).unwrap();
        let compiled = JsonPath::parse(path).unwrap();
        let places = query((path, &compiled), &document, pointer)?;
        let places: Vec<String> = places.into_iter().map(|(place, _)| place).collect();
        Ok(places.join(" "))
    }

    #[test]
    fn filters_compare_numbers_by_value() {
        let case = |path: &str, document: &str, wanted: &str| {
            assert_eq!(places(path, document).unwrap(), wanted, "{path}");
        };
        let ids = r#"[{"id":1234567890123456789},{"id":1234567890123456790,"n":"1"},{"id":12}]"#;
        case("$[?@.id == 1234567890123456700]", ids, "");
        case("$[?@.id == 1234567890123456790]", ids, "/1");
        case("$[?@.id != 1234567890123456790]", ids, "/0 /2");
        case("$[?@.id < 1234567890123456790].id", ids, "/0/id /2/id");
        case("$[?@['id']>=1234567890123456789]", ids, "/0 /1");
        case("$[?@.id == 12.0]", ids, "/2");
        case("$[?@.id == $[1].id]", ids, "/1");
        case("$[?@.n == '1']", ids, "/1");
        case("$[?length(@.n) == 1]", "[{\"n\":\"x\"}, 1e3]", "/0");
        let small = r#"{"a":[0.1,0.10000000000000000001,-1e400,1e400,1e401]}"#;
        case("$.a[?@ == 0.1]", small, "/a/0");
        case("$.a[?@ > 0.1]", small, "/a/1 /a/3 /a/4");
        case("$.a[?@ < -5]", small, "/a/2");
        case("$..[?@ > $.a[3]]", small, "/a/4");
    }

    #[test]
    fn what_cannot_be_told_apart_is_said() {
        let case = |path: &str| {
            let ids = r#"[{"id":1234567890123456789,"n":"x"},{"id":1234567890123456790}]"#;
            assert_eq!(places(path, ids), Err(Untold::TooLong), "{path}");
        };
        case("$[?@.id > 1234567890123456700 && @.id < 1234567890123456799]");
        case("$[?length(@.n) < @.id]");
        case("$[?@.id < 1e400]");
    }

    #[test]
    fn numbers_of_a_path_are_found_outside_of_names_and_texts() {
        let case = |path: &str, wanted: &[&str]| {
            assert_eq!(
                literals(path)
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>(),
                wanted,
                "{path}"
            );
        };
        case("$[?@.a1 == 5]", &["5"]);
        case("$[?-1.5e3<@.b2e9&&@[0]!=0]", &["-1.5e+3", "0", "0"]);
        case(r"$['it\'s 3', '4\\'][?@ == 6]", &["6"]);
        case(r#"$["\"7"][?@.x == 'a 8"9']"#, &[]);
        case("$[?@.x == '' || @.y == 3 || @.z == '']", &["3"]);
    }

    proptest! {
        #[test]
        fn agrees_with_integers(all: Vec<i128>, near in -3_i128..=3, wanted: usize) {
            let Some(pivot) = all.get(wanted % all.len().max(1)) else {
                return Ok(());
            };
            let pivot = pivot.saturating_add(near);
            let numbers = all.iter().map(ToString::to_string);
            let document: Value = numbers
                .map(|number| serde_json::from_str::<Value>(&number).unwrap())
                .collect();
            for (sign, holds) in [
                ("==", i128::eq as fn(&i128, &i128) -> bool),
                ("!=", i128::ne),
                ("<", i128::lt),
                (">=", i128::ge),
            ] {
                let path = format!("$[?@ {sign} {pivot}]");
                let compiled = JsonPath::parse(&path).unwrap();
                let found = query((&path, &compiled), &document, |_| ()).unwrap();
                let found: Vec<&Value> = found.into_iter().map(|((), value)| value).collect();
                let wanted: Vec<Value> = all
                    .iter()
                    .filter(|number| holds(number, &pivot))
                    .map(|number| json!(number))
                    .collect();
                prop_assert_eq!(found, wanted.iter().collect::<Vec<_>>());
            }
        }
    }
}
