//! Scalars with a tag such as `!!int`: what they are, or why they are not what their tag says.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Number;

use super::{
    go,
    node::{Kind, Style},
    scalar::{self, NotJson},
};
use crate::suite::Dialect;

/// Why a scalar is not what its tag says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotThat {
    /// A number in YAML and none in JSON.
    Json,
    /// No base64.
    Base64,
    /// Nothing of the kind that a core tag asks for, which is said here for people.
    Kind(&'static str),
    /// The tag itself means nothing.
    Tag,
}

impl From<NotJson> for NotThat {
    fn from(_: NotJson) -> Self {
        Self::Json
    }
}

/// The value of a scalar with a tag, which is given by its core name or as it was written. Quotes do not matter.
pub(super) fn tagged(tag: &str, text: &str, dialect: Dialect) -> Result<Kind, NotThat> {
    let quoted = |text: String| Kind::Text(text, Style::Quoted);
    match tag {
        "str" | "!" | "timestamp" => Ok(quoted(text.to_owned())),
        "binary" => binary(text).map(quoted).ok_or(NotThat::Base64),
        "int" => match number(text, dialect).filter(is_integer) {
            Some(number) => Ok(Kind::Number(number, text.to_owned())),
            None => Err(NotThat::Kind("whole number")),
        },
        "float" => match number(text, dialect) {
            Some(number) => Ok(Kind::Number(number, text.to_owned())),
            None => match scalar::plain(text, dialect)? {
                kind @ Kind::Number(..) => Ok(kind),
                Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => {
                    Err(NotThat::Kind("number"))
                }
            },
        },
        "bool" => match scalar::plain(text, dialect) {
            Ok(kind @ Kind::Flag(..)) => Ok(kind),
            Ok(_) | Err(NotJson) => Err(NotThat::Kind("boolean")),
        },
        "null" => match scalar::plain(text, dialect) {
            Ok(Kind::Null) => Ok(Kind::Null),
            Ok(_) | Err(NotJson) => Err(NotThat::Kind("null")),
        },
        _ => Err(NotThat::Tag),
    }
}

/// The number a text stands for. Who asks for one in so many words means it in the Go tool's notation too.
fn number(text: &str, dialect: Dialect) -> Option<Number> {
    scalar::number_of(text, dialect).or_else(|| go::number(text))
}

/// Whether a number is written without fraction and exponent.
fn is_integer(number: &Number) -> bool {
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
    use super::{Dialect, Kind, NotThat, tagged};

    #[test]
    fn a_scalar_is_what_its_tag_says_or_a_problem() {
        let case = |tag: &str, text: &str, expected: &str| {
            for dialect in [Dialect::Native, Dialect::Compat] {
                let shown = match tagged(tag, text, dialect) {
                    Ok(Kind::Null) => "null".to_owned(),
                    Ok(Kind::Flag(flag, _)) => format!("flag {flag}"),
                    Ok(Kind::Number(number, _)) => format!("number {number}"),
                    Ok(Kind::Text(text, _)) => format!("text {text}"),
                    Ok(Kind::List(_) | Kind::Map(_)) => "collection".to_owned(),
                    Err(NotThat::Json) => "not json".to_owned(),
                    Err(NotThat::Base64) => "no base64".to_owned(),
                    Err(NotThat::Kind(kind)) => format!("no {kind}"),
                    Err(NotThat::Tag) => "unknown".to_owned(),
                };
                assert_eq!(shown, expected, "!!{tag} {text}, {dialect:?}");
            }
        };
        case("bool", "true", "flag true");
        case("bool", "False", "flag false");
        for text in ["yes", "no", "on", "y", "1", "", "x", ".inf"] {
            case("bool", text, "no boolean");
        }
        case("null", "~", "null");
        case("null", "", "null");
        case("null", "x", "no null");
        case("int", "5", "number 5");
        case("int", "0x10", "number 16");
        case("int", "1_000", "number 1000");
        case("int", "99999999999999999999", "number 99999999999999999999");
        for text in ["5.5", "5.0", "1e3", "true", "", "x", ".inf"] {
            case("int", text, "no whole number");
        }
        case("float", "5", "number 5");
        case("float", "1.5", "number 1.5");
        case("float", ".inf", "not json");
        case("float", "x", "no number");
        case("float", "", "no number");
        case("str", "yes", "text yes");
        case("binary", "aGk=", "text hi");
        case("binary", "%", "no base64");
        case("!secret", "x", "unknown");
    }
}
