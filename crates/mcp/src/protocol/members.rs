//! Members that stand twice in an object of a JSON text. The parser keeps the last of them, other readers the first, or
//! they refuse the text (RFC 8259 § 4), so that what it says depends on who reads it.

use std::collections::HashSet;

use serde_json::Value;

/// A member that one object of a JSON text names twice. `value` is what the text was read as: where it has as many
/// members as are written, none was lost, and no name is looked at.
pub fn named_twice(text: &[u8], value: &Value) -> Option<String> {
    if written(text) == held(value) {
        return None;
    }
    Repeats::of(text).next()
}

/// How many members are written in a JSON text: one for each colon outside of its strings.
fn written(text: &[u8]) -> usize {
    let mut members = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => at = behind_string(text, at),
            b':' => {
                members += 1;
                at += 1;
            }
            _ => at += 1,
        }
    }
    members
}

/// How many members the objects in a value have.
fn held(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(items) => items.iter().map(held).sum(),
        Value::Object(members) => members.len() + members.values().map(held).sum::<usize>(),
    }
}

/// The place behind the string that begins here.
fn behind_string(text: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// The names that stand twice in an object, in the order of the text.
struct Repeats<'a> {
    text: &'a [u8],
    at: usize,
    /// The names of the objects that are open.
    open: Vec<HashSet<String>>,
}

impl<'a> Repeats<'a> {
    fn of(text: &'a [u8]) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
        }
    }

    /// Takes the name that begins here in, where a string is one, and passes over the string.
    fn name(&mut self) -> Option<String> {
        let start = self.at;
        self.at = behind_string(self.text, start);
        let mut behind = self.text[self.at..].iter();
        let next = behind.find(|byte| !byte.is_ascii_whitespace());
        if next != Some(&b':') {
            return None;
        }
        let name: String = serde_json::from_slice(&self.text[start..self.at]).ok()?;
        let is_new = self.open.last_mut()?.insert(name.clone());
        (!is_new).then_some(name)
    }
}

impl Iterator for Repeats<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while let Some(byte) = self.text.get(self.at) {
            match byte {
                b'"' => {
                    if let Some(name) = self.name() {
                        return Some(name);
                    }
                    continue;
                }
                b'{' => self.open.push(HashSet::new()),
                b'}' => drop(self.open.pop()),
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::named_twice;

    fn found(text: &str) -> Option<String> {
        let value: Value = serde_json::from_str(text).unwrap();
        named_twice(text.as_bytes(), &value)
    }

    #[test]
    fn only_members_of_one_object_are_compared() {
        let case = |text: &str, wanted: Option<&str>| {
            assert_eq!(found(text).as_deref(), wanted, "{text}");
        };
        case(r#"{"a":1,"b":{"a":2},"c":[{"a":3},{"a":4}]}"#, None);
        case(r#"{"a":"a\":","b":":\\","c":"{\"a\":1,\"a\":1}"}"#, None);
        case(r#"{"a":1,"a":1}"#, Some("a"));
        case(r#"{"r":{"ok":true , "ok" : false}}"#, Some("ok"));
        case(r#"[{"x":[{"b":1,"\u0062":2}]}]"#, Some("b"));
        case(r#"{"":1,"":2}"#, Some(""));
        case("[1,2,\"a\",\"a\"]", None);
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".{0,3}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_printed_from_a_value_names_none_twice(value in any_json()) {
            prop_assert_eq!(found(&value.to_string()), None);
            prop_assert_eq!(found(&format!("{value:#}")), None);
        }
    }
}
