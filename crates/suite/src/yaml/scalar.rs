//! Scalars by the core schema of YAML 1.2: what is null, a boolean, a number; everything else is text, so
//! `yes`, `on` and dates stay as they are.

use serde_json::Number;

use super::{
    go,
    node::{Kind, Style},
};
use crate::Dialect;

/// A plain scalar that is a number in YAML and none in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotJson;

/// What a scalar without quotes and without a tag means.
pub(super) fn plain(text: &str, dialect: Dialect) -> Result<Kind, NotJson> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Kind::Null),
        "true" | "True" | "TRUE" => return Ok(Kind::Flag(true, text.to_owned())),
        "false" | "False" | "FALSE" => return Ok(Kind::Flag(false, text.to_owned())),
        _ => {}
    }
    let first = text.as_bytes().first().copied().unwrap_or_default();
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Ok(Kind::Text(text.to_owned(), Style::Plain));
    }
    if is_not_finite(text) {
        return Err(NotJson);
    }
    Ok(match number_of(text, dialect) {
        Some(number) => Kind::Number(number, text.to_owned()),
        None => Kind::Text(text.to_owned(), Style::Plain),
    })
}

/// Whether the text is an infinity or not-a-number of YAML.
fn is_not_finite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// The number a text stands for by these rules.
pub(super) fn number_of(text: &str, dialect: Dialect) -> Option<Number> {
    match dialect {
        Dialect::Native => number(text),
        Dialect::Compat => go::number(text),
    }
}

/// The number a text stands for, with all its digits.
pub(super) fn number(text: &str) -> Option<Number> {
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    decimal_number(text)
}

/// The number a text of decimal digits stands for.
pub(super) fn decimal_number(text: &str) -> Option<Number> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let json = decimal(unsigned)?;
    format!("{sign}{json}").parse().ok()
}

/// Digits of another base as a decimal number of any length.
fn radix(digits: &str, base: u32) -> Option<Number> {
    if digits.is_empty() || digits.len() > 4_096 {
        return None;
    }
    let mut decimal = vec![0_u8];
    for digit in digits.chars() {
        let mut carry = digit.to_digit(base)?;
        for place in &mut decimal {
            let value = u32::from(*place) * base + carry;
            *place = u8::try_from(value % 10).ok()?;
            carry = value / 10;
        }
        while carry > 0 {
            decimal.push(u8::try_from(carry % 10).ok()?);
            carry /= 10;
        }
    }
    let text: String = decimal
        .iter()
        .rev()
        .map(|place| char::from(b'0' + place))
        .collect();
    text.parse().ok()
}

/// An unsigned decimal number of YAML in the notation of JSON: `.5` has no leading digit there, `1.` no
/// fraction, `007` too many zeros.
fn decimal(text: &str) -> Option<String> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !fraction.is_none_or(digits) {
        return None;
    }
    if whole.is_empty() && fraction.is_none_or(str::is_empty) {
        return None;
    }
    let trimmed = whole.trim_start_matches('0');
    let mut json = if trimmed.is_empty() { "0" } else { trimmed }.to_owned();
    if let Some(fraction) = fraction {
        json.push('.');
        json.push_str(if fraction.is_empty() { "0" } else { fraction });
    }
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if unsigned.is_empty() || !digits(unsigned) {
            return None;
        }
        json.push('e');
        json.push_str(exponent);
    }
    Some(json)
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Kind, NotJson, plain};

    fn case(text: &str, expected: &str) {
        let shown = match plain(text, Dialect::Native) {
            Ok(Kind::Null) => "null".to_owned(),
            Ok(Kind::Flag(flag, _)) => format!("flag {flag}"),
            Ok(Kind::Number(number, _)) => format!("number {number}"),
            Ok(Kind::Text(text, _)) => format!("text {text}"),
            Ok(Kind::List(_) | Kind::Map(_)) => "collection".to_owned(),
            Err(NotJson) => "not json".to_owned(),
        };
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        case("", "null");
        case("~", "null");
        case("True", "flag true");
        case("yes", "text yes");
        case("on", "text on");
        case("2024-01-01", "text 2024-01-01");
        case("12", "number 12");
        case("+12", "number 12");
        case("-0x1F", "text -0x1F");
        case("0x1F", "number 31");
        case("0o17", "number 15");
        case("017", "number 17");
        case("1.0", "number 1.0");
        case("1e3", "number 1e+3");
        case(".5", "number 0.5");
        case("-.5", "number -0.5");
        case("1.", "number 1.0");
        case("1_000", "text 1_000");
        case("1.2.3", "text 1.2.3");
        case("-", "text -");
        case(".", "text .");
        case("12:30", "text 12:30");
        case(
            "340282366920938463463374607431768211456",
            "number 340282366920938463463374607431768211456",
        );
        case("0xFFFFFFFFFFFFFFFFFF", "number 4722366482869645213695");
        case("-.inf", "not json");
        case(".nan", "not json");
    }
}
