//! Captured values as text, for the places where a `{{name}}` stands among other text: numbers with all their digits,
//! lists and maps as JSON; under the Go tool's rules with what its floats leave of them.

use serde_json::{Number, Value};

use super::Dialect;
use crate::json::number::digits;

/// A captured value as text: a string as it is, a whole number by its digits, another one shortly, everything else as
/// JSON with sorted keys.
pub fn as_text(value: &Value, dialect: Dialect) -> String {
    match (value, dialect) {
        (Value::String(text), _) => text.clone(),
        (Value::Number(number), Dialect::Native) => digits(number)
            .or_else(|| shortly(number))
            .unwrap_or_else(|| number.to_string()),
        (Value::Number(number), Dialect::Compat) => go_digits(number)
            .or_else(|| shortly(number))
            .unwrap_or_else(|| number.to_string()),
        (Value::Null | Value::Bool(_), _) => value.to_string(),
        (Value::Array(_) | Value::Object(_), Dialect::Native) => {
            let mut sorted = value.clone();
            sorted.sort_all_objects();
            sorted.to_string()
        }
        (Value::Array(_) | Value::Object(_), Dialect::Compat) => {
            let mut there = value.clone();
            rewrite_numbers(&mut there, go_number_of_float);
            there.sort_all_objects();
            go_escaped(&there.to_string())
        }
    }
}

/// Writes the numbers of a value in another notation, where there is one.
pub fn rewrite_numbers(value: &mut Value, notation: fn(&Number) -> Option<Number>) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(number) => {
            if let Some(other) = notation(number) {
                *number = other;
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rewrite_numbers(item, notation)),
        Value::Object(members) => members
            .values_mut()
            .for_each(|member| rewrite_numbers(member, notation)),
    }
}

/// A float as Go's JSON has it: with an exponent only when it is very large or very small.
pub fn go_number_of_float(number: &Number) -> Option<Number> {
    let value: f64 = number.as_str().parse().ok()?;
    if !value.is_finite() {
        return None;
    }
    let size = value.abs();
    let text = if value != 0.0 && !(1e-6..1e21).contains(&size) {
        format!("{value:e}")
    } else {
        value.to_string()
    };
    text.parse().ok()
}

/// JSON with what Go's JSON escapes, so that it can stand in HTML and in JavaScript. Outside of texts JSON has none of
/// it.
fn go_escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}

/// The digits of a number whose float is an integer of 64 bits: all that the Go tool writes by digits.
fn go_digits(number: &Number) -> Option<String> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let value: f64 = number.as_str().parse().ok()?;
    let fits = value.fract() == 0.0 && (-BEYOND..BEYOND).contains(&value);
    // Zero has no sign there.
    fits.then(|| format!("{:.0}", value + 0.0))
}

/// A number with a fraction as Go's `%g` has it: the digits that tell it apart, with an exponent of at least two digits
/// when that is below -4 or above 5.
fn shortly(number: &Number) -> Option<String> {
    let value: f64 = number.to_string().parse().ok()?;
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    Some(match exponent {
        -4..=5 => value.to_string(),
        _ => format!("{mantissa}e{exponent:+03}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{Dialect, as_text};

    fn shown(json: &str, dialect: Dialect) -> String {
        as_text(&serde_json::from_str(json).unwrap(), dialect)
    }

    #[test]
    fn whole_numbers_are_written_by_their_digits() {
        let case = |number: &str, expected: &str| {
            assert_eq!(shown(number, Dialect::Native), expected, "{number}");
        };
        case("1234567", "1234567");
        case("1e3", "1000");
        case("-2.0", "-2");
        case("1.50e1", "15");
        case("2500e-2", "25");
        case("-0", "0");
        case("0.0", "0");
        case("1e999999999", "1e+999999999");
    }

    #[test]
    fn fractions_are_written_as_go_writes_them() {
        let case = |number: &str, expected: &str| {
            assert_eq!(shown(number, Dialect::Native), expected, "{number}");
        };
        case("25e-1", "2.5");
        case("0.10", "0.1");
        case("0.0001", "0.0001");
        case("0.000001", "1e-06");
        case("0.00001234", "1.234e-05");
        case("-999999.5", "-999999.5");
        case("1234567.5", "1.2345675e+06");
        case("123456789.50", "1.234567895e+08");
        case("5e-324", "5e-324");
    }

    #[test]
    fn the_go_tool_has_floats() {
        let case = |json: &str, here: &str, there: &str| {
            assert_eq!(shown(json, Dialect::Native), here, "{json}");
            assert_eq!(shown(json, Dialect::Compat), there, "{json}, there");
        };
        case("1e21", "1000000000000000000000", "1e+21");
        case(
            "9223372036854775807",
            "9223372036854775807",
            "9.223372036854776e+18",
        );
        case(
            "-9223372036854775809",
            "-9223372036854775809",
            "-9223372036854775808",
        );
        case("9007199254740993", "9007199254740993", "9007199254740992");
        case("1e6", "1000000", "1000000");
        case("-0.0", "0", "0");
        case("1234567.5", "1.2345675e+06", "1.2345675e+06");
        case("1e-7", "1e-07", "1e-07");
        case("\"<&>\"", "<&>", "<&>");
        case("true", "true", "true");
        case(
            "{\"b\": \"<>&\u{e9}\u{2028}\", \"a\": 9007199254740993}",
            "{\"a\":9007199254740993,\"b\":\"<>&\u{e9}\u{2028}\"}",
            "{\"a\":9007199254740992,\"b\":\"\\u003c\\u003e\\u0026\u{e9}\\u2028\"}",
        );
        case(
            "[1.0, 1e3, 12345678901234567890123, 0.10, 1e-7, 0.000001, 1e20]",
            "[1.0,1e+3,12345678901234567890123,0.10,1e-7,0.000001,1e+20]",
            "[1,1000,1.2345678901234568e+22,0.1,1e-7,0.000001,100000000000000000000]",
        );
    }
}
