//! Whether a document is small enough: its numbers for calculation, a schema's references for a validator that follows
//! them by recursion.

use serde_json::Value;

use crate::json::{number, walk::walk};

/// Numbers with more digits, or an exponent beyond this, are too large to be calculated with.
pub const MOST_DIGITS: u16 = 4_096;

/// Whether every number of a document is of ordinary size: a validator that writes numbers out in full would
/// need gigabytes for `1e999999999`, and hours for a million digits.
pub fn is_calculable(document: &Value) -> bool {
    let mut numbers = walk(document).filter_map(Value::as_number);
    numbers.all(|number| number::is_of_ordinary_size(number, MOST_DIGITS))
}

/// The most references that a schema may have: a validator goes as deep as they lead.
pub(super) const MOST_REFERENCES: usize = 1_000;

/// Whether the references of a schema can be followed.
pub(super) fn is_followed(schema: &Value) -> bool {
    let keywords = ["$ref", "$dynamicRef", "$recursiveRef"];
    let references =
        walk(schema).flat_map(|value| keywords.map(|keyword| value.get(keyword).is_some()));
    references.filter(|is_one| *is_one).count() <= MOST_REFERENCES
}
