//! Keys that take values of different types.

use std::marker::PhantomData;

use serde_json::{Value, json};

use super::{
    read::{Readable, Reading},
    shape::ShapeDoc,
    value::{Text, Texts, flag_word},
};
use crate::yaml::{Entry, Key, Kind, Node, Style};

/// A switch, or another value.
#[derive(Debug)]
pub(crate) enum FlagOr<T> {
    /// The switch.
    Flag(bool),
    /// The other value.
    Other(T),
}

impl<T: Readable> Readable for FlagOr<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            // A switch is written as a word, and `0` and `1` are meant as one.
            Kind::Number(..) => return reading.refuse(&node),
            Kind::Text(text, Style::Quoted) if matches!(text.as_str(), "true" | "false") => {}
            Kind::Flag(..) => {}
            Kind::Text(..) | Kind::Null | Kind::List(_) | Kind::Map(_) => {
                if flag_word(&node).is_none() {
                    let other = reading.one_form::<Self, T>(node, T::read);
                    return other.map(Self::Other);
                }
            }
        }
        bool::read(node, reading).map(Self::Flag)
    }

    fn words() -> String {
        format!("{} or {}", bool::words(), T::words())
    }

    fn schema() -> Value {
        json!({
            "anyOf": [bool::schema(), T::schema()],
            "not": { "type": "number" },
            // A switch in quotes is an error.
            "allOf": [{ "not": { "enum": ["true", "false"] } }],
        })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// A text, or another value.
#[derive(Debug)]
pub(crate) enum TextOr<T> {
    /// The text.
    Text(Text),
    /// The other value.
    Other(T),
}

impl<T: Readable> Readable for TextOr<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        if node.written().is_some() {
            return Text::read(node, reading).map(Self::Text);
        }
        let other = reading.one_form::<Self, T>(node, T::read);
        other.map(Self::Other)
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

/// A map, of which one key may be written alone: `docker: IMAGE` is `docker: {image: IMAGE}`.
#[derive(Debug)]
pub(crate) struct Short<S, T>(pub(crate) T, PhantomData<S>);

/// The key of a map that may be written alone.
pub(crate) trait Shorthand: Readable {
    /// Its name.
    const KEY: &'static str;

    /// The map that a short value means.
    fn spelled_out(node: Node) -> Node {
        if let Kind::Map(_) | Kind::Null = node.kind {
            return node;
        }
        let at = node.at;
        let text = Self::KEY.to_owned();
        let key = Key { text, at };
        let kind = Kind::Map(vec![Entry { key, value: node }]);
        Node { kind, at }
    }
}

impl<S: Readable, T: Shorthand> Readable for Short<S, T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let read = |node, reading: &mut Reading| T::read(T::spelled_out(node), reading);
        let map = reading.one_form::<Self, T>(node, read);
        map.map(|map| Self(map, PhantomData))
    }

    fn words() -> String {
        format!("{} or {}", S::words(), T::words())
    }

    fn schema() -> Value {
        json!({ "anyOf": [S::schema(), T::schema()] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

/// A map whose keys are all optional, so that no value and `true` say as much as `{}`.
#[derive(Debug)]
pub(crate) struct MapOrNothing<T>(pub(crate) Option<T>);

impl<T: Readable + Default> Readable for MapOrNothing<T> {
    const TAKES_NOTHING: bool = true;

    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Null => Some(Self(None)),
            Kind::Flag(true, _) => Some(Self(Some(T::default()))),
            Kind::Map(_) => T::read(node, reading).map(|map| Self(Some(map))),
            Kind::Flag(false, _) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                reading.refuse(&node)
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

/// Names, or the word `none`.
#[derive(Debug)]
pub(crate) struct NoneOrTexts(pub(crate) Vec<Text>);

impl Readable for NoneOrTexts {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        if node.written() == Some("none") {
            return Some(Self(Vec::new()));
        }
        let texts = reading.one_form::<Self, Texts>(node, Texts::read);
        texts.map(|Texts(texts)| Self(texts))
    }

    fn words() -> String {
        "`none` or a list of texts".into()
    }

    fn schema() -> Value {
        Texts::schema()
    }
}
