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
use mcp::json::number::digits;

/// A text at its place. Numbers and booleans are taken as they were written.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// The text.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) at: At,
}

/// Texts; a single one need not be in a list.
#[derive(Debug, Default)]
pub(crate) struct Texts(pub(crate) Vec<Text>);

/// Values of one type; a single one need not be in a list.
#[derive(Debug)]
pub(crate) struct OneOrMany<T>(pub(crate) Vec<T>);

/// A map from texts of the user's choice.
#[derive(Debug)]
pub(crate) struct Table<T>(pub(crate) Vec<(Key, T)>);

/// Texts by names of the user's choice; a name without a value has the empty text.
#[derive(Debug, Default)]
pub(crate) struct TextTable(pub(crate) Vec<(Key, Text)>);

/// A map of any content.
#[derive(Debug)]
pub(crate) struct Members(pub(crate) Node);

/// Any value.
#[derive(Debug)]
pub(crate) struct Anything(pub(crate) Node);

/// A value that is read later, since `{{…}}` in it may have to be filled in before.
#[derive(Debug)]
pub(crate) struct Deferred<T>(pub(crate) Node, PhantomData<T>);

impl Text {
    /// Whether there is nothing but white space.
    pub(crate) fn is_blank(&self) -> bool {
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
            Kind::Null | Kind::List(_) | Kind::Map(_) => reading.refuse(&node),
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
        if let Kind::Flag(flag, _) = node.kind {
            return Some(flag);
        }
        flag_word(&node).or_else(|| reading.refuse(&node))
    }

    fn words() -> String {
        "`true` or `false`".into()
    }

    fn schema() -> Value {
        json!({ "anyOf": [{ "type": "boolean" }, any_case(&["yes", "on", "y", "no", "off", "n"])] })
    }
}

/// Words in any case, as JSON Schema.
pub(crate) fn any_case(words: &[&str]) -> Value {
    let letters = |letter: char| format!("[{letter}{}]", letter.to_ascii_uppercase());
    let words = words.iter().map(|word| word.chars().map(letters).collect());
    let words: Vec<String> = words.collect();
    json!({ "type": "string", "pattern": format!("^({})$", words.join("|")) })
}

/// A switch of YAML 1.1, which the Go tool takes where a boolean is expected.
pub(super) fn flag_word(node: &Node) -> Option<bool> {
    let Kind::Text(text, Style::Plain) = &node.kind else {
        return None;
    };
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" => Some(true),
        "no" | "off" | "n" => Some(false),
        _ => None,
    }
}

/// A whole number. A text that only the Go tool reads as a number can mean nothing else.
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
        let written = node.written().unwrap_or_default();
        let problem = problems::bad_number(written, expected);
        reading.problems.add(node.at, problem);
    }
    found
}

impl Readable for u64 {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let expected = "a whole number from 0 to 18446744073709551615";
        whole(&node, reading, expected)
    }

    fn words() -> String {
        "a whole number".into()
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 0 })
    }
}

impl Readable for i64 {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        whole(&node, reading, "a whole number of 64 bits")
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
        let Kind::Number(number, _) = node.kind else {
            return reading.refuse(&node);
        };
        Some(number)
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
        if let Kind::List(_) = node.kind {
            return Vec::read(node, reading).map(Self);
        }
        if node.written().is_none() {
            return reading.refuse(&node);
        }
        Text::read(node, reading).map(|text| Self(vec![text]))
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
    pub(crate) fn strings(self) -> Vec<String> {
        self.0.into_iter().map(|text| text.text).collect()
    }
}

/// The entries that could be read. One that could not was reported, which makes the document unusable; the others are
/// kept, so that problems inside of them are reported as well. `None` when none of them could be read.
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
        let Kind::List(mut items) = node.kind else {
            return reading.refuse(&node);
        };
        // The Go tool ignores items without a value.
        if reading.dialect == Dialect::Compat && !T::TAKES_NOTHING {
            items.retain(|item| !item.is_null());
        }
        readable(items.into_iter().map(|item| T::read(item, reading)))
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
        if let Kind::List(_) = node.kind {
            return Vec::read(node, reading).map(Self);
        }
        let one = reading.one_form::<Self, T>(node, T::read);
        one.map(|one| Self(vec![one]))
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
        let entries = reading.map(node, &Self::words())?.into_iter();
        let found = entries.map(|it| Some((it.key, T::read(it.value, reading)?)));
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
        let entries = reading.map(node, &Self::words())?.into_iter();
        let found = entries.map(|mut it| {
            if it.value.is_null() {
                it.value.kind = Kind::Text(String::new(), Style::Quoted);
            }
            Some((it.key, Text::read(it.value, reading)?))
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
        let Kind::Map(_) = node.kind else {
            return reading.refuse(&node);
        };
        reading.check_numbers(&node);
        Some(Self(node))
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

impl<T: Readable> Readable for Deferred<T> {
    fn read(node: Node, _reading: &mut Reading) -> Option<Self> {
        Some(Self(node, PhantomData))
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
