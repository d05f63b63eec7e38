//! Tags before scalars, as the Go tool's YAML library takes them: those of YAML's own types say what a value must be, and
//! one that it is not is told instead of being read as something else.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Number;
use serde_saphyr::granit_parser::Tag;

use super::{
    go,
    merge::MERGE,
    node::{Kind, Style},
    scalar::{self, NotJson},
};
use crate::Dialect;

/// Why a tag gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// What is behind it is not this.
    Unfit(&'static str),
    /// It means nothing.
    Unknown,
}

/// The core name of a tag, or how it was written.
pub(super) fn tag_name(tag: &Tag) -> String {
    if let Some(name) = tag.core_suffix() {
        return name.to_owned();
    }
    let original = tag.original();
    match original.strip_prefix("!!") {
        Some(name @ ("binary" | "timestamp" | "merge")) => name.to_owned(),
        _ => original,
    }
}

/// What a scalar with a tag means; of its text is known whether it has no quotes.
pub(super) fn tagged(
    name: &str,
    (text, is_plain): (&str, bool),
    dialect: Dialect,
) -> Result<Result<Kind, NotJson>, Misfit> {
    let as_text = |style| Ok(Ok(Kind::Text(text.to_owned(), style)));
    match name {
        // Both merge, and `!!str <<` does not.
        "!" if is_plain && text == MERGE => as_text(Style::Plain),
        "merge" if text == MERGE => as_text(Style::Plain),
        "str" | "!" | "merge" | "timestamp" => as_text(Style::Quoted),
        "binary" => {
            let decoded = binary(text).ok_or(Misfit::Unfit("base64"))?;
            Ok(Ok(Kind::Text(decoded, Style::Quoted)))
        }
        "int" => {
            let number = number(text, dialect).filter(|(number, _)| is_whole(number));
            let (number, written) = number.ok_or(Misfit::Unfit("a whole number"))?;
            Ok(Ok(Kind::Number(number, written)))
        }
        "float" => match (number(text, dialect), scalar::plain(text, dialect)) {
            (Some((number, written)), _) => Ok(Ok(Kind::Number(number, written))),
            (None, Err(NotJson)) => Ok(Err(NotJson)),
            (None, Ok(_)) => Err(Misfit::Unfit("a number")),
        },
        "bool" => match scalar::plain(text, dialect) {
            Ok(flag @ Kind::Flag(..)) => Ok(Ok(flag)),
            Ok(_) | Err(NotJson) => Err(Misfit::Unfit("`true` or `false`")),
        },
        "null" => match scalar::plain(text, dialect) {
            Ok(Kind::Null) => Ok(Ok(Kind::Null)),
            Ok(_) | Err(NotJson) => Err(Misfit::Unfit("`null`")),
        },
        _ => Err(Misfit::Unknown),
    }
}

/// The number that a text stands for, and how it was written. That one is meant is known here: what only the Go tool
/// takes for a number is that number.
fn number(text: &str, dialect: Dialect) -> Option<(Number, String)> {
    if let Some(number) = scalar::number_of(text, dialect) {
        return Some((number, text.to_owned()));
    }
    let number = go::number(text)?;
    let written = number.to_string();
    Some((number, written))
}

/// Whether a number is written without a fraction and an exponent.
fn is_whole(number: &Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E'])
}

/// The text that base64 stands for, blanks among it left out; what is no UTF-8 becomes U+FFFD, as in Go's JSON.
fn binary(written: &str) -> Option<String> {
    let packed: String = written.split_ascii_whitespace().collect();
    let bytes = STANDARD.decode(packed).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Kind, Misfit, NotJson, tagged};

    fn told(name: &str, text: &str) -> String {
        match tagged(name, (text, true), Dialect::Native) {
            Ok(Ok(Kind::Null)) => "null".to_owned(),
            Ok(Ok(Kind::Flag(flag, _))) => format!("flag {flag}"),
            Ok(Ok(Kind::Number(number, _))) => format!("number {number}"),
            Ok(Ok(Kind::Text(text, style))) => format!("{style:?} {text}"),
            Ok(Ok(Kind::List(_) | Kind::Map(_))) => "collection".to_owned(),
            Ok(Err(NotJson)) => "not json".to_owned(),
            Err(Misfit::Unfit(wanted)) => format!("takes {wanted}"),
            Err(Misfit::Unknown) => "unknown".to_owned(),
        }
    }

    #[test]
    fn a_tag_says_what_a_value_must_be() {
        let case = |tag: &str, text: &str, wanted: &str| {
            assert_eq!(told(tag, text), wanted, "!!{tag} {text}");
        };
        case("int", "12", "number 12");
        case("int", "0x1F", "number 31");
        case("int", "1_0", "number 10");
        case("int", "-0x1F", "number -31");
        case(
            "int",
            "123456789012345678901",
            "number 123456789012345678901",
        );
        case("float", "1", "number 1");
        case("float", "1.5e3", "number 1.5e+3");
        case("float", ".inf", "not json");
        case("bool", "True", "flag true");
        case("null", "~", "null");
        case("str", "12", "Quoted 12");
        case("timestamp", "2024-02-29", "Quoted 2024-02-29");
        case("binary", "aGk=", "Quoted hi");
        case("merge", "<<", "Plain <<");
        case("merge", "x", "Quoted x");
        case("!", "<<", "Plain <<");
        case("str", "<<", "Quoted <<");
    }

    #[test]
    fn what_a_value_is_not_is_told() {
        let case = |tag: &str, texts: &[&str], wanted: &str| {
            for text in texts {
                assert_eq!(told(tag, text), wanted, "!!{tag} {text}");
            }
        };
        case(
            "int",
            &["a", "~", "true", "1.5", "1e3", "", ".inf"],
            "takes a whole number",
        );
        case("float", &["a", "true", "", "~"], "takes a number");
        case(
            "bool",
            &["yes", "on", "1", "", ".inf"],
            "takes `true` or `false`",
        );
        case("null", &["x", "0", "false"], "takes `null`");
        case("binary", &["a"], "takes base64");
        case("!foo", &["x"], "unknown");
    }
}
