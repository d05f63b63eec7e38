//! Numbers as the Go tool's YAML library reads them, which keeps parts of YAML 1.1: `0644` is octal, `_` may stand
//! between digits, and other bases may have a sign.

use serde_json::Number;

use super::scalar;

/// The number that a plain scalar is there.
pub(crate) fn number(text: &str) -> Option<Number> {
    if text.starts_with('.') {
        return scalar::number(&text.replace('_', ""));
    }
    if !starts_number(text) {
        return scalar::number(text);
    }
    let digits = text.replace('_', "");
    based(&digits).or_else(|| scalar::decimal_number(&digits))
}

/// The number that a plain scalar is there and not here; the first look is cheap, and for most it is the last.
pub(crate) fn other_number(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suspicious = unsigned.len() > 1 && unsigned.starts_with('0') || text.contains('_');
    if !suspicious || !(starts_number(text) || text.starts_with('.')) {
        return None;
    }
    number(text).filter(|there| scalar::number(text).as_ref() != Some(there))
}

fn starts_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-'))
}

/// A whole number of another base than ten, as far as it has 64 bits.
fn based(text: &str) -> Option<Number> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let rest = unsigned.strip_prefix('0')?;
    let (digits, base) = match rest.as_bytes().first()? {
        b'x' | b'X' => (&rest[1..], 16),
        b'o' | b'O' => (&rest[1..], 8),
        b'b' | b'B' => (&rest[1..], 2),
        _ => (rest, 8),
    };
    if digits.starts_with('+') {
        return None;
    }
    let value = u64::from_str_radix(digits, base).ok()?;
    if text.starts_with('-') {
        return 0_i64.checked_sub_unsigned(value).map(Number::from);
    }
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::{number, other_number};

    #[test]
    fn numbers_are_those_of_the_go_tool() {
        let case = |text: &str, there: Option<&str>, differs: bool| {
            let shown = number(text).map(|number| number.to_string());
            assert_eq!(shown.as_deref(), there, "{text}");
            assert_eq!(other_number(text).is_some(), differs, "{text}");
        };
        case("0644", Some("420"), true);
        case("-0644", Some("-420"), true);
        case("010", Some("8"), true);
        case("1_000_000", Some("1000000"), true);
        case("1_000.5", Some("1000.5"), true);
        case("0_7", Some("7"), true);
        case("0b11", Some("3"), true);
        case("-0x10", Some("-16"), true);
        case("+0o17", Some("15"), true);
        case("0X1f", Some("31"), true);
        case("0x1F", Some("31"), false);
        case("0o17", Some("15"), false);
        case("007", Some("7"), false);
        case("08", Some("8"), false);
        case("0", Some("0"), false);
        case("-0", Some("-0"), false);
        case("0.5", Some("0.5"), false);
        case("00.5", Some("0.5"), false);
        case("1e1", Some("1e+1"), false);
        case(
            "12345678901234567890123",
            Some("12345678901234567890123"),
            false,
        );
        case("0x", None, false);
        case("0x+1", None, false);
        case("2024-01-01", None, false);
        case("0123-45", None, false);
        case("1.2_3.4", None, false);
        case("_1", None, false);
        case(".5_0", Some("0.50"), true);
        case(".5_0e1_0", Some("0.50e+10"), true);
        case(".5", Some("0.5"), false);
    }
}
