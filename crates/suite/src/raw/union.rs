//! Keys that take values of different kinds.

use serde_json::{Value, json};

use super::{
    read::{Readable, Reading},
    shape::ShapeDoc,
    value::{Count, Text, Texts, flag_word},
};
use crate::yaml::{Kind, Node, Style};

/// A switch, or a text in its place.
#[derive(Debug)]
pub enum FlagOr<T> {
    /// The switch.
    Flag(bool),
    /// The other thing.
    Other(T),
}

impl<T: Readable> Readable for FlagOr<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let flag = match &node.kind {
            Kind::Flag(..) => true,
            Kind::Text(text, Style::Plain) => flag_word(text).is_some(),
            Kind::Text(text, Style::Quoted) => matches!(text.as_str(), "true" | "false"),
            Kind::Number(..) => {
                // 0 and 1 are meant as a switch, and a switch is written with a word.
                reading.wrong_type(&node, &Self::words());
                return None;
            }
            Kind::Null | Kind::List(_) | Kind::Map(_) => false,
        };
        if flag {
            bool::read(node, reading).map(Self::Flag)
        } else {
            let other = reading.one_form::<Self, T>(node, &[], T::read);
            other.map(Self::Other)
        }
    }

    fn words() -> String {
        format!("{} or {}", bool::words(), T::words())
    }

    fn schema() -> Value {
        json!({
            "anyOf": [bool::schema(), T::schema()],
            "not": { "type": "number" },
            // A quoted switch is none.
            "allOf": [{ "not": { "enum": ["true", "false"] } }],
        })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// A text, or a map with more to say.
#[derive(Debug)]
pub enum TextOr<T> {
    /// The text.
    Text(Text),
    /// The map.
    Map(T),
}

impl<T: Readable> Readable for TextOr<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Text(..) | Kind::Flag(..) | Kind::Number(..) => {
                Text::read(node, reading).map(Self::Text)
            }
            Kind::Null | Kind::List(_) | Kind::Map(_) => {
                let map = reading.one_form::<Self, T>(node, &[], T::read);
                map.map(Self::Map)
            }
        }
    }

    fn words() -> String {
        format!("a text or {}", T::words())
    }

    fn schema() -> Value {
        json!({ "anyOf": [Text::schema(), T::schema()] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// A number, or a map with more to say.
#[derive(Debug)]
pub enum CountOr<T> {
    /// The number.
    Count(u64),
    /// The map.
    Map(T),
}

impl<T: Readable> Readable for CountOr<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Map(_) => T::read(node, reading).map(Self::Map),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                let count = reading.one_form::<Self, Count>(node, &[], Count::read);
                count.map(|Count(count)| Self::Count(count))
            }
        }
    }

    fn words() -> String {
        format!("{} or {}", Count::words(), T::words())
    }

    fn schema() -> Value {
        json!({ "anyOf": [Count::schema(), T::schema()] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// A map whose keys are all optional, so that nothing and `true` say as much as `{}`.
#[derive(Debug)]
pub enum MapOrNothing<T> {
    /// No value at all.
    Nothing,
    /// `true` or the map.
    Map(T),
}

impl<T: Default> MapOrNothing<T> {
    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Nothing => true,
            Self::Map(_) => false,
        }
    }

    /// The map.
    pub fn map(self) -> T {
        match self {
            Self::Nothing => T::default(),
            Self::Map(map) => map,
        }
    }
}

impl<T: Readable + Default> Readable for MapOrNothing<T> {
    const TAKES_NOTHING: bool = true;

    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Null => Some(Self::Nothing),
            Kind::Flag(true, _) => Some(Self::Map(T::default())),
            Kind::Map(_) => T::read(node, reading).map(Self::Map),
            Kind::Flag(false, _) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        format!("`true` or {}", T::words())
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "null" }, { "const": true }, T::schema()] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// The word `none`, or names.
#[derive(Debug)]
pub enum NoneOrTexts {
    /// `none`.
    None,
    /// The names.
    Texts(Texts),
}

impl Readable for NoneOrTexts {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Text(text, _) if text == "none" => Some(Self::None),
            Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::Text(..)
            | Kind::List(_)
            | Kind::Map(_) => {
                let texts = reading.one_form::<Self, Texts>(node, &["none"], Texts::read);
                texts.map(Self::Texts)
            }
        }
    }

    fn words() -> String {
        "`none` or a list of texts".into()
    }

    fn schema() -> Value {
        Texts::schema()
    }
}
