//! Scalars by the core schema of YAML 1.2: null, booleans and numbers; everything else is text, so `yes`, `on` and dates
//! stay as they are.

use serde_json::Number;

use super::{
    go,
    node::{Kind, Style},
};
use crate::Dialect;

/// The value of a scalar without quotes and without a tag; `None` for a number that JSON does not have.
pub(super) fn plain(text: &str, dialect: Dialect) -> Option<Kind> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Kind::Null),
        "true" | "True" | "TRUE" => return Some(Kind::Flag(true, text.to_owned())),
        "false" | "False" | "FALSE" => return Some(Kind::Flag(false, text.to_owned())),
        ".nan" | ".NaN" | ".NAN" => return None,
        _ => {}
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return None;
    }
    let is_numeric =
        text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
    let number = match dialect {
        _ if !is_numeric => None,
        Dialect::Native => number(text),
        Dialect::Compat => go::number(text),
    };
    Some(match number {
        Some(number) => Kind::Number(number, text.to_owned()),
        None => Kind::Text(text.to_owned(), Style::Plain),
    })
}

/// The number that a text stands for, with all its digits.
pub(super) fn number(text: &str) -> Option<Number> {
    let based = |digits: &str, base| {
        let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
        let number = u128::from_str_radix(digits, base).ok()?;
        number.to_string().parse().ok()
    };
    if let Some(digits) = text.strip_prefix("0x") {
        return based(digits, 16);
    }
    match text.strip_prefix("0o") {
        Some(digits) => based(digits, 8),
        None => decimal_number(text),
    }
}

/// The number that a text of decimal digits stands for. JSON has no `.5`, no `1.` and no `007`; it checks the rest.
pub(super) fn decimal_number(text: &str) -> Option<Number> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let end = unsigned.find(|it: char| !it.is_ascii_digit());
    let (whole, rest) = unsigned.split_at(end.unwrap_or(unsigned.len()));
    let (fraction, exponent) = rest.split_at(rest.find(['e', 'E']).unwrap_or(rest.len()));
    if whole.is_empty() && matches!(fraction, "" | ".") {
        return None;
    }
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    let fraction = if fraction == "." { ".0" } else { fraction };
    format!("{sign}{whole}{fraction}{exponent}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Kind, plain};

    fn case(text: &str, expected: &str) {
        let shown = match plain(text, Dialect::Native) {
            Some(Kind::Null) => "null".to_owned(),
            Some(Kind::Flag(flag, _)) => format!("flag {flag}"),
            Some(Kind::Number(number, _)) => format!("number {number}"),
            Some(Kind::Text(text, _)) => format!("text {text}"),
            Some(Kind::List(_) | Kind::Map(_)) => "collection".to_owned(),
            None => "not json".to_owned(),
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
