//! Tags before scalars: those of YAML's core schema say what a value must be.

use serde_saphyr::granit_parser::Tag;

use super::{
    merge::MERGE,
    node::{Kind, Style},
    scalar,
};
use crate::Dialect;

/// Why a tag gives no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// The value is not this.
    Unfit(&'static str),
    /// The value is a number that JSON does not have.
    NotJson,
    /// The tag means nothing.
    Unknown,
}

/// The core name of a tag, or how it was written.
pub(super) fn tag_name(tag: &Tag) -> String {
    tag.core_suffix()
        .map_or_else(|| tag.original(), str::to_owned)
}

/// The value of a scalar with a tag.
pub(super) fn tagged(name: &str, text: &str, dialect: Dialect) -> Result<Kind, Misfit> {
    let expected = match name {
        // `!!str <<` does not merge.
        "!" if text == MERGE => return Ok(Kind::Text(text.to_owned(), Style::Plain)),
        "str" | "!" => return Ok(Kind::Text(text.to_owned(), Style::Quoted)),
        "int" => "a whole number",
        "float" => "a number",
        "bool" => "`true` or `false`",
        "null" => "`null`",
        _ => return Err(Misfit::Unknown),
    };
    match (name, scalar::plain(text, dialect)) {
        ("int", Some(Kind::Number(number, _))) if number.as_str().contains(['.', 'e', 'E']) => {
            Err(Misfit::Unfit(expected))
        }
        ("int" | "float", Some(kind @ Kind::Number(..)))
        | ("bool", Some(kind @ Kind::Flag(..)))
        | ("null", Some(kind @ Kind::Null)) => Ok(kind),
        ("float", None) => Err(Misfit::NotJson),
        _ => Err(Misfit::Unfit(expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Dialect, Kind, Misfit, tagged};

    fn told(name: &str, text: &str) -> String {
        match tagged(name, text, Dialect::Native) {
            Ok(Kind::Null) => "null".to_owned(),
            Ok(Kind::Flag(flag, _)) => format!("flag {flag}"),
            Ok(Kind::Number(number, _)) => format!("number {number}"),
            Ok(Kind::Text(text, style)) => format!("{style:?} {text}"),
            Ok(Kind::List(_) | Kind::Map(_)) => "collection".to_owned(),
            Err(Misfit::NotJson) => "not json".to_owned(),
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
        case("!foo", &["x"], "unknown");
    }
}
