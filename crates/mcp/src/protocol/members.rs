//! Members that stand twice in an object of a JSON text. The parser keeps the last of them, other readers the first, or
//! they refuse the text (RFC 8259 § 4), so that what it says depends on who reads it.

use std::{borrow::Cow, collections::HashSet};

use serde::Deserialize;

/// A member that one object of a JSON text names twice: the first in the order of the text.
pub fn named_twice(text: &[u8]) -> Option<String> {
    let mut open: Vec<HashSet<Name<'_>>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => {
                let start = at;
                at = behind_string(text, start);
                let mut behind = text[at..].iter();
                if behind.find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
                    && let Ok(name) = serde_json::from_slice::<Name<'_>>(&text[start..at])
                    && let Some(names) = open.last_mut()
                    && let Some(Name(name)) = names.replace(name)
                {
                    return Some(name.into_owned());
                }
                continue;
            }
            b'{' => open.push(HashSet::new()),
            b'}' => drop(open.pop()),
            _ => {}
        }
        at += 1;
    }
    None
}

/// A name; only one with escapes is copied.
#[derive(PartialEq, Eq, Hash, Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::named_twice;

    fn found(text: &str) -> Option<String> {
        named_twice(text.as_bytes())
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
