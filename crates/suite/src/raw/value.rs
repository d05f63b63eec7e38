//! The simple values that keys take: texts, switches, numbers, lists and tables of them.

use std::{marker::PhantomData, str::FromStr};

use serde_json::{Number, Value, json};

use super::{
    read::{Readable, Reading},
    shape::ShapeDoc,
};
use crate::{
    Dialect, problems,
    yaml::{At, Key, Kind, Node, Style, go},
};
use mcp::script::rendered::digits;

/// A text at its place. Numbers and booleans are taken as they were written.
#[derive(Debug, Clone)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

/// Texts; a single one need not be in a list.
#[derive(Debug, Default)]
pub struct Texts(pub Vec<Text>);

/// Things of one kind; a single one need not be in a list.
#[derive(Debug)]
pub struct OneOrMany<T>(pub Vec<T>);

/// A map from texts of the user's choice.
#[derive(Debug)]
pub struct Table<T>(pub Vec<(Key, T)>);

/// Texts by names of the user's choice; nothing is the empty text.
#[derive(Debug, Default)]
pub struct TextTable(pub Vec<(Key, Text)>);

/// A map that is taken as it is.
#[derive(Debug)]
pub struct Members(pub Node);

/// Any value, taken as it is.
#[derive(Debug)]
pub struct Anything(pub Node);

/// Something at its place.
#[derive(Debug)]
pub struct Placed<T> {
    /// The thing.
    pub value: T,
    /// Where it stands.
    pub at: At,
}

/// Something that is read later, since `{{…}}` in it may have to be filled in before.
#[derive(Debug)]
pub struct Deferred<T> {
    /// The value as it stands.
    pub node: Node,
    /// What it will be.
    becomes: PhantomData<T>,
}

/// A whole number from 0.
#[derive(Debug, Clone, Copy)]
pub struct Count(pub u64);

/// A whole number.
#[derive(Debug, Clone, Copy)]
pub struct Integer(pub i64);

impl Text {
    /// Whether nothing stands in it.
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }
}

impl Readable for Text {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let at = node.at;
        match node.kind {
            Kind::Text(text, _) | Kind::Flag(_, text) | Kind::Number(_, text) => {
                Some(Self { text, at })
            }
            Kind::Null | Kind::List(_) | Kind::Map(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "a text".into()
    }

    fn schema() -> Value {
        json!({ "type": ["string", "number", "boolean"] })
    }
}

impl Readable for bool {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Flag(flag, _) => Some(*flag),
            Kind::Text(text, Style::Plain) if flag_word(text).is_some() => flag_word(text),
            Kind::Null | Kind::Number(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "`true` or `false`".into()
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "boolean" }, flag_words(&["yes", "on", "y", "no", "off", "n"])] })
    }
}

/// Words in any case, as JSON Schema. Whether they stand in quotes it cannot say.
pub fn flag_words(words: &[&str]) -> Value {
    let letters = |letter: char| format!("[{letter}{}]", letter.to_ascii_uppercase());
    let words = words.iter().map(|word| word.chars().map(letters).collect());
    let words: Vec<String> = words.collect();
    json!({ "type": "string", "pattern": format!("^({})$", words.join("|")) })
}

/// The switches of YAML 1.1, which the Go tool takes where a boolean is wanted.
pub(super) fn flag_word(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" => Some(true),
        "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

/// A whole number. One that only the Go tool takes for a number can mean nothing else.
fn whole<N: FromStr>(node: &Node, reading: &mut Reading, expected: &str) -> Option<N> {
    let number = match &node.kind {
        Kind::Number(number, _) => {
            reading.check_numbers(node);
            Some(number.clone())
        }
        Kind::Text(text, Style::Plain) => go::other_number(text),
        Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => None,
    };
    let Some(number) = number else {
        reading.wrong_type(node, "a whole number");
        return None;
    };
    let found = digits(&number).and_then(|digits| digits.parse().ok());
    if found.is_none() {
        let origin = reading.problems.origin(node.at);
        let problem = problems::bad_number(origin, &written(node), expected);
        reading.problems.add(problem);
    }
    found
}

/// A scalar as it was written.
fn written(node: &Node) -> String {
    match &node.kind {
        Kind::Flag(_, text) | Kind::Number(_, text) | Kind::Text(text, _) => text.clone(),
        Kind::Null | Kind::List(_) | Kind::Map(_) => String::new(),
    }
}

impl Readable for Count {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let expected = "a whole number from 0 to 18446744073709551615";
        whole(&node, reading, expected).map(Self)
    }

    fn words() -> String {
        "a whole number".into()
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl Readable for Integer {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        whole(&node, reading, "a whole number of 64 bits").map(Self)
    }

    fn words() -> String {
        "a whole number".into()
    }

    fn schema() -> Value {
        json!({ "type": "integer" })
    }
}

impl Readable for Number {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        reading.check_numbers(&node);
        match node.kind {
            Kind::Number(number, _) => Some(number),
            Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "a number".into()
    }

    fn schema() -> Value {
        json!({ "type": "number" })
    }
}

impl Readable for Texts {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match node.kind {
            Kind::List(_) => Vec::read(node, reading).map(Self),
            Kind::Text(..) | Kind::Flag(..) | Kind::Number(..) => {
                Text::read(node, reading).map(|text| Self(vec![text]))
            }
            Kind::Null | Kind::Map(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "a text or a list of texts".into()
    }

    fn schema() -> Value {
        let one = Text::schema();
        json!({ "anyOf": [one, { "type": "array", "items": one }] })
    }
}

impl Texts {
    /// The texts without their places.
    pub fn strings(self) -> Vec<String> {
        self.0.into_iter().map(|text| text.text).collect()
    }
}

/// What can be read of several entries. One that cannot was told, which makes the document unusable; the others are
/// kept, so that whatever is wrong inside of them is told as well. `None` where none of them can be read.
fn readable<T>(entries: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let (mut found, mut is_refused) = (Vec::new(), false);
    for entry in entries {
        is_refused |= entry.is_none();
        found.extend(entry);
    }
    (!is_refused || !found.is_empty()).then_some(found)
}

impl<T: Readable> Readable for Vec<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match node.kind {
            Kind::List(items) => {
                // The Go tool passes over items that are nothing.
                let dropped = |item: &Node| {
                    item.is_null() && !T::TAKES_NOTHING && reading.dialect == Dialect::Compat
                };
                let items: Vec<Node> = items.into_iter().filter(|item| !dropped(item)).collect();
                readable(items.into_iter().map(|item| T::read(item, reading)))
            }
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::Map(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "a list".into()
    }

    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

impl<T: Readable> Readable for OneOrMany<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match node.kind {
            Kind::List(_) => Vec::read(node, reading).map(Self),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::Map(_) => {
                let one = reading.one_form::<Self, T>(node, &[], T::read);
                one.map(|one| Self(vec![one]))
            }
        }
    }

    fn words() -> String {
        format!("{} or a list", T::words())
    }

    fn schema() -> Value {
        json!({ "anyOf": [T::schema(), { "type": "array", "items": T::schema() }] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

impl<T: Readable> Readable for Table<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let entries = reading.map(node, &Self::words())?;
        let found = entries
            .into_iter()
            .map(|entry| T::read(entry.value, reading).map(|value| (entry.key, value)));
        readable(found).map(Self)
    }

    fn words() -> String {
        "a map".into()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": T::schema() })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

impl Readable for TextTable {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let entries = reading.map(node, &Self::words())?;
        let found = entries.into_iter().map(|entry| {
            let at = entry.value.at;
            let text = if entry.value.is_null() {
                let text = String::new();
                Some(Text { text, at })
            } else {
                Text::read(entry.value, reading)
            };
            text.map(|text| (entry.key, text))
        });
        readable(found).map(Self)
    }

    fn words() -> String {
        "a map of texts".into()
    }

    fn schema() -> Value {
        json!({ "type": "object", "additionalProperties": { "type": ["string", "number", "boolean", "null"] } })
    }
}

impl<T: Readable> Readable for Box<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        T::read(node, reading).map(Self::new)
    }

    fn words() -> String {
        T::words()
    }

    fn schema() -> Value {
        T::schema()
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

impl Readable for Members {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::Map(_) => {
                reading.check_numbers(&node);
                Some(Self(node))
            }
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                reading.wrong_type(&node, &Self::words());
                None
            }
        }
    }

    fn words() -> String {
        "a map".into()
    }

    fn schema() -> Value {
        json!({ "type": "object" })
    }
}

impl Readable for Anything {
    const TAKES_NOTHING: bool = true;

    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        reading.check_numbers(&node);
        Some(Self(node))
    }

    fn words() -> String {
        "any value".into()
    }

    fn schema() -> Value {
        json!({})
    }
}

impl<T: Readable> Readable for Placed<T> {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let at = node.at;
        T::read(node, reading).map(|value| Self { value, at })
    }

    fn words() -> String {
        T::words()
    }

    fn schema() -> Value {
        T::schema()
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}

impl<T: Readable> Readable for Deferred<T> {
    fn read(node: Node, _reading: &mut Reading) -> Option<Self> {
        Some(Self {
            node,
            becomes: PhantomData,
        })
    }

    fn words() -> String {
        T::words()
    }

    fn schema() -> Value {
        T::schema()
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        T::shapes(into);
    }
}
