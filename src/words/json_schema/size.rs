//! Whether the numbers of a document can be calculated with.

use serde_json::Value;

use crate::words::number;

/// Numbers with more digits, or an exponent beyond this, are too large to be calculated with.
pub(crate) const MOST_DIGITS: u16 = 4_096;

/// Whether every number of a document is of ordinary size: a validator that writes numbers out in full would
/// need gigabytes for `1e999999999`, and hours for a million digits.
pub(crate) fn is_calculable(document: &Value) -> bool {
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
