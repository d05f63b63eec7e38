//! Whether a document is small enough: its numbers for calculation, a schema's references for a validator that follows
//! them by recursion.

use serde_json::Value;

use crate::json::number;

/// Numbers with more digits, or an exponent beyond this, are too large to be calculated with.
pub const MOST_DIGITS: u16 = 4_096;

/// Whether every number of a document is of ordinary size: a validator that writes numbers out in full would
/// need gigabytes for `1e999999999`, and hours for a million digits.
pub fn is_calculable(document: &Value) -> bool {
    let mut open = vec![document];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) if !number::is_of_ordinary_size(number, MOST_DIGITS) => {
                return false;
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

/// The most references that a schema may have: a validator goes as deep as they lead.
pub(super) const MOST_REFERENCES: usize = 1_000;

/// Whether the references of a schema can be followed.
pub(super) fn is_followed(schema: &Value) -> bool {
    let mut open = vec![schema];
    let mut references = 0;
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for keyword in ["$ref", "$dynamicRef", "$recursiveRef"] {
                    references += usize::from(members.contains_key(keyword));
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    references <= MOST_REFERENCES
}
