//! Sets of the types of JSON.

use serde_json::Value;

use mcp::json::number;

/// A set of types, in which whole numbers and other ones are two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

impl Types {
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(2);
    pub(super) const INTEGER: Self = Self(4);
    pub(super) const FRACTION: Self = Self(8);
    pub(super) const STRING: Self = Self(16);
    pub(super) const ARRAY: Self = Self(32);
    pub(super) const OBJECT: Self = Self(64);
    pub(super) const NUMBER: Self = Self(4 | 8);
    /// The types whose values can be listed.
    pub(super) const FINITE: Self = Self(1 | 2);
    pub(super) const ALL: Self = Self(127);

    /// The type of a value.
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number::is_integer(number) => Self::INTEGER,
            Value::Number(_) => Self::FRACTION,
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// The types that the keyword `type` leaves.
    pub(super) fn declared(keyword: &Value) -> Self {
        match keyword {
            Value::String(word) => Self::named(word),
            Value::Array(words) => {
                let words = words.iter().filter_map(Value::as_str);
                words.fold(Self(0), |all, word| Self(all.0 | Self::named(word).0))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Self::ALL,
        }
    }

    fn named(word: &str) -> Self {
        match word {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            // No valid schema has another word.
            _ => Self(0),
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn has(self, any_of: Self) -> bool {
        !self.and(any_of).is_empty()
    }

    pub(super) fn is_within(self, other: Self) -> bool {
        self.without(other).is_empty()
    }

    /// Each of them alone.
    pub(super) fn each(self) -> impl Iterator<Item = Self> {
        let all = (0..7).map(|bit| Self(1 << bit));
        all.filter(move |it| self.has(*it))
    }

    /// The words, as `string or null`.
    pub(super) fn words(self) -> String {
        if self == Self::ALL {
            return "any type".to_owned();
        }
        let is_number = Self::NUMBER.is_within(self);
        let named = [
            (self.has(Self::STRING), "string"),
            (is_number, "number"),
            (self.has(Self::INTEGER) && !is_number, "integer"),
            (self.has(Self::FRACTION) && !is_number, "fraction"),
            (self.has(Self::BOOLEAN), "boolean"),
            (self.has(Self::ARRAY), "array"),
            (self.has(Self::OBJECT), "object"),
            (self.has(Self::NULL), "null"),
        ];
        let words = named.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
        words.collect::<Vec<_>>().join(" or ")
    }
}
