//! Compares a value with its shape.

use serde_json::Value;

use super::{Kind, Record, Shape};
use crate::{
    json::number,
    protocol::{method::kind_of, revision::Revision},
};

/// Flaws of one value that are told.
const MOST_FLAWS: usize = 20;

/// The type of a field that holds several texts.
const MANY: &str = "array";

/// The types of the fields of a form; the last one is not in every revision.
const FIELD_TYPES: [&str; 5] = ["boolean", "integer", "number", "string", MANY];

/// A place where a value is not what its revision says.
#[derive(Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What kind.
    pub kind: FlawKind,
    /// Where and what, in one line.
    pub message: String,
}

/// Kinds of flaws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlawKind {
    /// A member is missing or of another type.
    Schema,
    /// A block is of a type that the revision does not have.
    UnknownKind,
}

/// The flaws of a value, the first [`MOST_FLAWS`] of them.
pub fn check(record: &Record, revision: Revision, value: &Value) -> Vec<Flaw> {
    let mut checking = Checking {
        revision,
        path: String::new(),
        flaws: Vec::new(),
    };
    checking.record(record, value);
    checking.flaws
}

struct Checking {
    revision: Revision,
    path: String,
    flaws: Vec<Flaw>,
}

impl Checking {
    fn record(&mut self, record: &Record, value: &Value) {
        let Some(members) = value.as_object() else {
            return self.wrong(value, "an object");
        };
        for member in record.members {
            if !member.is_in(self.revision) {
                continue;
            }
            match members.get(member.name) {
                Some(value) => self.at(member.name, |checking| checking.shape(member.shape, value)),
                None if member.is_required(self.revision) => self.missing(member.name),
                None => {}
            }
            if self.flaws.len() >= MOST_FLAWS {
                return;
            }
        }
    }

    fn shape(&mut self, shape: Shape, value: &Value) {
        let wanted = match shape {
            Shape::Any => return,
            Shape::Record(record) => return self.record(record, value),
            Shape::Kinds(kinds) => return self.kinds(kinds, value),
            Shape::Either(records) => return self.either(records, value),
            Shape::OneOrMany(one, since) if value.is_array() && since <= self.revision => {
                return self.list(*one, value);
            }
            Shape::OneOrMany(one, _) => return self.shape(*one, value),
            Shape::List(item) => return self.list(*item, value),
            Shape::AtMost(most, item) => return self.at_most(most, *item, value),
            Shape::Field => return self.field(value),
            Shape::Map(item) => return self.map(*item, value),
            Shape::Text => (value.is_string(), "a text"),
            Shape::Flag => (value.is_boolean(), "a boolean"),
            Shape::Number => (value.is_number(), "a number"),
            Shape::Ratio => (is_ratio(value), "a number from 0 to 1"),
            Shape::Integer => (is_integer(value), "an integer"),
            Shape::Natural => (is_natural(value), "an integer from 0 on"),
            Shape::IntegerOrNull => (value.is_null() || is_integer(value), "an integer or null"),
            Shape::Token => (value.is_string() || is_integer(value), "a text or integer"),
            Shape::Object => (value.is_object(), "an object"),
            Shape::Const(text) => (value.as_str() == Some(text), text),
            Shape::Words(words) => return self.words(words, value),
        };
        if !wanted.0 {
            self.wrong(value, wanted.1);
        }
    }

    fn words(&mut self, words: &[&str], value: &Value) {
        match value.as_str() {
            None => self.wrong(value, "a text"),
            Some(text) if words.contains(&text) => {}
            Some(_) => {
                let message = format!("is none of {}", words.join(", "));
                self.flaw(FlawKind::Schema, &message);
            }
        }
    }

    fn list(&mut self, shape: Shape, value: &Value) {
        let Some(items) = value.as_array() else {
            return self.wrong(value, "an array");
        };
        for (index, item) in items.iter().enumerate() {
            let length = self.path.len();
            self.path.push('[');
            self.path.push_str(&index.to_string());
            self.path.push(']');
            self.shape(shape, item);
            self.path.truncate(length);
            if self.flaws.len() >= MOST_FLAWS {
                return;
            }
        }
    }

    fn at_most(&mut self, most: usize, shape: Shape, value: &Value) {
        let count = value.as_array().map_or(0, Vec::len);
        if count > most {
            self.flaw(
                FlawKind::Schema,
                &format!("has {count} items, more than {most}"),
            );
        }
        self.list(shape, value);
    }

    /// A field of a form is flat, so that every client can show it. Other keywords of it are left alone.
    fn field(&mut self, value: &Value) {
        let Some(members) = value.as_object() else {
            return self.wrong(value, "an object");
        };
        let known = FIELD_TYPES.len() - usize::from(!self.revision.has_choices_of_several());
        let types = &FIELD_TYPES[..known];
        let Some(kind) = members.get("type") else {
            return self.missing("type");
        };
        self.at("type", |checking| checking.words(types, kind));
        if kind == MANY && types.contains(&MANY) {
            self.at("items", |checking| checking.choice(members.get("items")));
        }
    }

    /// The options of a choice.
    fn choice(&mut self, items: Option<&Value>) {
        let Some(items) = items else {
            return self.flaw(FlawKind::Schema, "is missing");
        };
        let is_choice = ["enum", "anyOf"]
            .iter()
            .any(|key| items.get(key).is_some_and(Value::is_array));
        if !is_choice {
            self.flaw(
                FlawKind::Schema,
                "has neither of enum, anyOf: a list in a form is a choice of texts",
            );
        }
    }

    fn map(&mut self, shape: Shape, value: &Value) {
        let Some(members) = value.as_object() else {
            return self.wrong(value, "an object");
        };
        for (name, member) in members {
            self.at(name, |checking| checking.shape(shape, member));
            if self.flaws.len() >= MOST_FLAWS {
                return;
            }
        }
    }

    fn kinds(&mut self, kinds: &[Kind], value: &Value) {
        let Some(tag) = value.get("type") else {
            if value.is_object() {
                return self.missing("type");
            }
            return self.wrong(value, "an object");
        };
        let known = kinds
            .iter()
            .find(|kind| kind.since <= self.revision && tag.as_str() == Some(kind.tag));
        if let Some(kind) = known {
            return self.record(kind.record, value);
        }
        let tag = beginning(&tag.to_string());
        let message = format!("is of type {tag}, which {} does not have", self.revision);
        self.flaw(FlawKind::UnknownKind, &message);
    }

    fn either(&mut self, records: &[(&str, &Record)], value: &Value) {
        let found = records
            .iter()
            .find(|(member, _)| value.get(*member).is_some());
        match found {
            Some((_, record)) => self.record(record, value),
            None if value.is_object() => {
                let names: Vec<&str> = records.iter().map(|(member, _)| *member).collect();
                let message = format!("has neither of {}", names.join(", "));
                self.flaw(FlawKind::Schema, &message);
            }
            None => self.wrong(value, "an object"),
        }
    }

    fn at(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(&beginning(name));
        inside(self);
        self.path.truncate(length);
    }

    fn missing(&mut self, member: &str) {
        self.at(member, |checking| {
            checking.flaw(FlawKind::Schema, "is missing");
        });
    }

    fn wrong(&mut self, value: &Value, wanted: &str) {
        let message = format!("is {}, not {wanted}", kind_of(value));
        self.flaw(FlawKind::Schema, &message);
    }

    fn flaw(&mut self, kind: FlawKind, message: &str) {
        let message = match self.path.as_str() {
            "" => format!("it {message}"),
            path => format!("`{path}` {message}"),
        };
        self.flaws.push(Flaw { kind, message });
    }
}

/// As much of a server's own name for something as a message can bear.
fn beginning(name: &str) -> String {
    text::head(name, 60)
}

/// Whether a number has no fraction, however it is written.
fn is_integer(value: &Value) -> bool {
    value.as_number().is_some_and(number::is_integer)
}

/// Whether a number is an integer that is not below 0.
fn is_natural(value: &Value) -> bool {
    is_integer(value) && value.as_f64().is_some_and(|number| number >= 0.0)
}

fn is_ratio(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|number| (0.0..=1.0).contains(&number))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{FlawKind, check};
    use crate::protocol::{method::Method, revision::Revision, shape};

    fn flaws(method: Method, revision: Revision, value: &Value) -> Vec<(FlawKind, String)> {
        check(shape::result(method), revision, value)
            .into_iter()
            .map(|flaw| (flaw.kind, flaw.message))
            .collect()
    }

    #[test]
    fn a_flaw_says_where_and_what() {
        let case = |method, value: Value, wanted: Option<&str>| {
            let flaws = flaws(method, Revision::V2025_06_18, &value);
            let seen = flaws.first().map(|(_, message)| message.as_str());
            assert_eq!(seen, wanted, "{value}");
        };
        let call = Method::ToolsCall;
        case(call, json!({"content": [], "vendor": 1}), None);
        case(
            call,
            json!({"content": [], "isError": "yes"}),
            Some("`isError` is a text, not a boolean"),
        );
        case(
            call,
            json!({"content": [{"type": "text"}]}),
            Some("`content[0].text` is missing"),
        );
        case(
            call,
            json!({"content": [{"type": "resource", "resource": {"uri": "x:"}}]}),
            Some("`content[0].resource` has neither of text, blob"),
        );
        case(
            call,
            json!({"content": [{"type": "text", "text": "", "annotations": {"audience": ["robot"]}}]}),
            Some("`content[0].annotations.audience[0]` is none of assistant, user"),
        );
        case(
            call,
            json!({"content": [{"type": "text", "text": "", "annotations": {"priority": 7}}]}),
            Some("`content[0].annotations.priority` is a number, not a number from 0 to 1"),
        );
        case(
            Method::ToolsList,
            json!({"tools": [], "nextCursor": 3}),
            Some("`nextCursor` is a number, not a text"),
        );
    }

    #[test]
    fn a_form_is_flat() {
        let case = |revision, field: Value, wanted: Option<&str>| {
            let params = json!({"message": "who?", "requestedSchema": {"type": "object", "properties": {"a": field}}});
            let record = shape::request("elicitation/create", revision, &params).unwrap();
            let flaws = check(record, revision, &params);
            let seen = flaws.first().map(|flaw| flaw.message.as_str());
            let wanted = wanted.map(|wanted| format!("`requestedSchema.properties.a{wanted}"));
            assert_eq!(seen, wanted.as_deref(), "{field}");
        };
        let (old, new) = (Revision::V2025_06_18, Revision::V2025_11_25);
        for revision in [old, new] {
            for kind in ["boolean", "integer", "number", "string"] {
                case(revision, json!({"type": kind, "vendor": {}}), None);
            }
            let one = json!({"type": "string", "enum": ["x"], "enumNames": ["X"]});
            case(revision, one, None);
            let missing = Some(".type` is missing");
            case(revision, json!({"enum": ["x"]}), missing);
            case(revision, json!({"anyOf": [{"type": "string"}]}), missing);
            case(
                revision,
                json!({"type": ["string", "null"]}),
                Some(".type` is an array, not a text"),
            );
            case(
                revision,
                json!("string"),
                Some("` is a text, not an object"),
            );
        }
        let flat = ".type` is none of boolean, integer, number, string";
        let nested = json!({"type": "object", "properties": {"b": {"type": "string"}}});
        case(old, nested.clone(), Some(flat));
        case(new, nested.clone(), Some(&format!("{flat}, array")));
        let several = |items: Value| json!({"type": "array", "items": items});
        let texts = several(json!({"type": "string", "enum": ["x"]}));
        case(old, texts.clone(), Some(flat));
        case(new, texts, None);
        case(
            new,
            several(json!({"anyOf": [{"const": "x", "title": "X"}]})),
            None,
        );
        let no_choice =
            Some(".items` has neither of enum, anyOf: a list in a form is a choice of texts");
        case(new, several(nested), no_choice);
        case(new, several(json!({"type": "string"})), no_choice);
        case(new, json!({"type": "array"}), Some(".items` is missing"));
    }

    #[test]
    fn a_completion_has_a_hundred_values_at_most() {
        for (count, wanted) in [
            (100, None),
            (
                101,
                Some("`completion.values` has 101 items, more than 100"),
            ),
        ] {
            let value = json!({"completion": {"values": vec!["x"; count]}});
            let flaws = flaws(Method::CompletionComplete, Revision::V2024_11_05, &value);
            assert_eq!(flaws.first().map(|(_, told)| told.as_str()), wanted);
        }
    }

    #[test]
    fn content_kinds_belong_to_revisions() {
        let link = json!({"content": [{"type": "resource_link", "name": "a", "uri": "x:"}]});
        let case = |revision, kinds: usize| {
            let flaws = flaws(Method::ToolsCall, revision, &link);
            assert_eq!(flaws.len(), kinds, "{revision}: {flaws:?}");
            assert!(flaws.iter().all(|(kind, _)| *kind == FlawKind::UnknownKind));
        };
        case(Revision::V2024_11_05, 1);
        case(Revision::V2025_03_26, 1);
        case(Revision::V2025_06_18, 0);
        case(Revision::V2025_11_25, 0);
    }

    #[test]
    fn a_thousand_flaws_are_not_listed() {
        let tools: Vec<Value> = (0..1_000).map(|_| json!({})).collect();
        let flaws = flaws(
            Method::ToolsList,
            Revision::V2025_11_25,
            &json!({ "tools": tools }),
        );
        assert!(flaws.len() <= 22, "{}", flaws.len());
    }

    #[test]
    fn integers_may_be_large_or_written_with_a_point() {
        let case = |text: &str, flawed: bool| {
            let value: Value = serde_json::from_str(&format!(
                r#"{{"completion": {{"values": [], "total": {text}}}}}"#
            ))
            .unwrap();
            let flaws = flaws(Method::CompletionComplete, Revision::V2025_11_25, &value);
            assert_eq!(!flaws.is_empty(), flawed, "{text}");
        };
        case("3", false);
        case("3.0", false);
        case("1234567890123456789012345678901234567890", false);
        case("3.5", true);
        case("\"3\"", true);
    }
}
