//! `{{name}}` in the suite's texts: `{{fixture}}`, `{{env.NAME}}`, `{{port}}` and captured values. Names are
//! checked when the suite is loaded; a text is rendered once when the value is needed; what is inserted is
//! never expanded again.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value};

use super::{Dialect, rendered};
use crate::json::walk::walk;
use text::environment::Environment;

/// A text that may hold `{{name}}` markers, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The text as the suite has it.
    pub text: String,
}

/// A JSON value whose string leaves may hold markers, as written.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueTemplate {
    /// The value as the suite has it.
    pub value: Value,
}

/// The values that names stand for in one job.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    /// The path of the fixture's copy as the server sees it.
    pub fixture: Option<String>,
    /// The environment `{{env.NAME}}` is read from.
    pub environment: Arc<Environment>,
    /// The values that setup steps captured so far.
    pub captured: BTreeMap<String, Value>,
    /// The captures that failed because their step was answered with an error.
    pub uncaptured: BTreeMap<String, Uncaptured>,
    /// Whose rules say what a captured value is as text.
    pub dialect: Dialect,
    /// Whether names that nothing defines stay as they are (the Go tool's way) or are an error.
    pub unknown: UnknownNames,
}

/// Why a step did not capture what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncaptured {
    /// The step and the error it was answered with, for people.
    pub reason: String,
    /// The answer, as text.
    pub frame: String,
}

/// What happens to a `{{name}}` that nothing defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownNames {
    /// It is an error naming the known ones.
    #[default]
    Refuse,
    /// It stays as it is.
    Keep,
}

/// A marker names something that has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{{{{name}}}}}` has no value here{}", self.why())]
pub struct UnknownName {
    /// The name between the braces.
    pub name: String,
    /// Why the step that captures it did not.
    pub uncaptured: Option<Uncaptured>,
}

impl UnknownName {
    fn why(&self) -> String {
        match &self.uncaptured {
            Some(uncaptured) => format!(": it is captured by {}", uncaptured.reason),
            None => String::new(),
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text that stays.
    Text(String),
    /// `{{{{`, which writes `{{`.
    Escape,
    /// `{{name}}`.
    Name {
        /// The name.
        name: String,
        /// As written, braces and `!` included.
        written: String,
        /// Whether it ends in `!`.
        form: Form,
    },
}

/// How a value is put in the place of a marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text.
    Text,
    /// With its JSON type, when the marker is all there is.
    Typed,
}

/// A part of a text whose markers were replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The text of the author, in the suite or in a variable of the environment.
    Written(String),
    /// What came in the place of another marker: it means nothing but itself.
    Data(String),
}

impl Part {
    /// The text of it.
    pub fn text(&self) -> &str {
        match self {
            Self::Written(text) | Self::Data(text) => text,
        }
    }
}

/// The pieces of a text, in order.
pub fn pieces(text: &str, dialect: Dialect) -> Vec<Piece> {
    pieces_with(text, dialect, &is_name)
}

/// The pieces of a text in which `is_name` says what is a name. The Go tool knows no escape, and `!` is nothing special.
pub fn pieces_with(text: &str, dialect: Dialect, is_name: &dyn Fn(&str) -> bool) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut kept = 0;
    while let Some(at) = rest[kept..].find("{{").map(|at| at + kept) {
        let (piece, length) = if dialect == Dialect::Native && rest[at..].starts_with("{{{{") {
            (Piece::Escape, 4)
        } else if let Some((piece, length)) = marker(&rest[at..], dialect, is_name) {
            (piece, length)
        } else {
            kept = at + 1;
            continue;
        };
        if at > 0 {
            pieces.push(Piece::Text(rest[..at].to_owned()));
        }
        pieces.push(piece);
        rest = &rest[at + length..];
        kept = 0;
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

/// The marker a text begins with, and its length.
fn marker(text: &str, dialect: Dialect, is_name: &dyn Fn(&str) -> bool) -> Option<(Piece, usize)> {
    let inner = text.strip_prefix("{{")?;
    let end = inner.find("}}")?;
    let (name, form) = match (inner[..end].strip_suffix('!'), dialect) {
        (Some(name), Dialect::Native) => (name, Form::Typed),
        (Some(_), Dialect::Compat) | (None, Dialect::Native | Dialect::Compat) => {
            (&inner[..end], Form::Text)
        }
    };
    let length = 2 + end + 2;
    let piece = || Piece::Name {
        name: name.to_owned(),
        written: text[..length].to_owned(),
        form,
    };
    is_name(name).then(|| (piece(), length))
}

/// The length of the marker or escape that a text begins with.
pub fn marker_length(text: &str) -> Option<usize> {
    if text.starts_with("{{{{") {
        return Some(4);
    }
    marker(text, Dialect::Native, &is_name).map(|(_, length)| length)
}

/// Whether a text can be the name of a value: a letter or `_`, then letters, digits, `_`, `-`, `.`.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|other| other.is_alphanumeric() || matches!(other, '_' | '-' | '.'))
}

impl Template {
    /// The text of the suite.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// Whether `{{fixture}}` stands in it.
    pub fn names_fixture(&self) -> bool {
        text_names("fixture", &self.text)
    }

    /// Whether `{{port}}` stands in it.
    pub fn names_port(&self) -> bool {
        text_names("port", &self.text)
    }

    /// The text with every marker replaced by its value.
    pub fn render(&self, bindings: &Bindings) -> Result<String, UnknownName> {
        bindings.text(&self.text)
    }

    /// The parts of the text with every marker replaced by its value.
    pub fn parts(&self, bindings: &Bindings) -> Result<Vec<Part>, UnknownName> {
        bindings.parts(&bindings.pieces(&self.text))
    }
}

impl ValueTemplate {
    /// The value of the suite.
    pub fn new(value: Value) -> Self {
        Self { value }
    }

    /// Whether `{{fixture}}` stands in a string leaf.
    pub fn names_fixture(&self) -> bool {
        let mut texts = walk(&self.value).filter_map(Value::as_str);
        texts.any(|text| text_names("fixture", text))
    }

    /// The value with every marker in its string leaves replaced.
    pub fn render(&self, bindings: &Bindings) -> Result<Value, UnknownName> {
        bindings.value(&self.value)
    }
}

/// The variables that `{{env.NAME}}` names in a text.
pub fn variables(text: &str) -> impl Iterator<Item = String> {
    let pieces = pieces(text, Dialect::Native).into_iter();
    pieces.filter_map(|piece| match piece {
        Piece::Name { name, .. } => name.strip_prefix("env.").map(str::to_owned),
        Piece::Text(_) | Piece::Escape => None,
    })
}

fn text_names(wanted: &str, text: &str) -> bool {
    let is_wanted = |piece: &Piece| matches!(piece, Piece::Name { name, .. } if *name == wanted);
    text.contains("{{") && pieces(text, Dialect::Native).iter().any(is_wanted)
}

/// Whether a marker or an escape stands in a text.
pub fn text_has_markers(text: &str) -> bool {
    text.contains("{{")
        && pieces(text, Dialect::Native)
            .iter()
            .any(|piece| !matches!(piece, Piece::Text(_)))
}

impl Bindings {
    /// The values for what is read: the address of a resource, a cursor, a log of calls. Without a fixture `{{fixture}}`
    /// is empty there in the Go tool, and nowhere else.
    pub fn of_reading(&self) -> Cow<'_, Self> {
        match (self.dialect, &self.fixture) {
            (Dialect::Compat, None) => self.with_fixture(Some(String::new())),
            (Dialect::Native | Dialect::Compat, _) => Cow::Borrowed(self),
        }
    }

    /// The values for addresses that are subscribed to: the Go tool sends `{{fixture}}` as it is.
    pub fn of_subscribing(&self) -> Cow<'_, Self> {
        match self.dialect {
            Dialect::Native => Cow::Borrowed(self),
            Dialect::Compat => self.with_fixture(None),
        }
    }

    fn with_fixture(&self, fixture: Option<String>) -> Cow<'_, Self> {
        Cow::Owned(Self {
            fixture,
            ..self.clone()
        })
    }

    /// What a name stands for. The Go tool fills in no variables of the environment.
    fn lookup(&self, name: &str) -> Option<Value> {
        if let (Some(variable), Dialect::Native) = (name.strip_prefix("env."), self.dialect) {
            return self
                .environment
                .variable(variable)
                .map(|text| Value::String(text.to_owned()));
        }
        match self.captured.get(name) {
            Some(value) => Some(value.clone()),
            None if name == "fixture" => self.fixture.clone().map(Value::String),
            None => None,
        }
    }

    /// A text with its markers replaced.
    fn text(&self, text: &str) -> Result<String, UnknownName> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        let parts = self.parts(&self.pieces(text))?;
        Ok(parts.iter().map(Part::text).collect())
    }

    /// The pieces of a text. Under the Go tool's rules what was captured has any name.
    pub fn pieces(&self, text: &str) -> Vec<Piece> {
        let known = |name: &str| is_name(name) || self.captured.contains_key(name);
        pieces_with(text, self.dialect, &known)
    }

    /// The parts of a text with its markers replaced.
    pub fn parts(&self, pieces: &[Piece]) -> Result<Vec<Part>, UnknownName> {
        let as_text = |value: &Value| rendered::as_text(value, self.dialect);
        let part = |piece: &Piece| {
            Ok(match piece {
                Piece::Text(text) => Part::Written(text.clone()),
                Piece::Escape => Part::Written(match self.unknown {
                    UnknownNames::Refuse => "{{".to_owned(),
                    UnknownNames::Keep => "{{{{".to_owned(),
                }),
                Piece::Name { name, written, .. } => match (self.lookup(name), self.unknown) {
                    (Some(value), _)
                        if name.starts_with("env.") && self.dialect == Dialect::Native =>
                    {
                        Part::Written(as_text(&value))
                    }
                    (Some(value), _) => Part::Data(as_text(&value)),
                    (None, UnknownNames::Keep) => Part::Written(written.clone()),
                    (None, UnknownNames::Refuse) => {
                        return Err(UnknownName {
                            name: name.clone(),
                            uncaptured: self.uncaptured.get(name).cloned(),
                        });
                    }
                },
            })
        };
        pieces.iter().map(part).collect()
    }

    /// A value with the markers in its string leaves replaced.
    fn value(&self, value: &Value) -> Result<Value, UnknownName> {
        Ok(match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
            Value::String(text) => {
                let whole = text
                    .ends_with("!}}")
                    .then(|| self.whole(&self.pieces(text)));
                match whole.flatten() {
                    Some(value) => value,
                    None => Value::String(self.text(text)?),
                }
            }
            Value::Array(items) => Value::Array(
                items
                    .iter()
                    .map(|item| self.value(item))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(members) => {
                let mut out = Map::with_capacity(members.len());
                for (key, member) in members {
                    out.insert(key.clone(), self.value(member)?);
                }
                Value::Object(out)
            }
        })
    }

    /// The value that a string leaf stands for: `{{name!}}` alone takes over the value's type.
    pub fn whole(&self, pieces: &[Piece]) -> Option<Value> {
        let [
            Piece::Name {
                name,
                form: Form::Typed,
                ..
            },
        ] = pieces
        else {
            return None;
        };
        self.lookup(name)
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, sync::Arc};

    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::{Value, json};

    use super::{Bindings, Dialect, Template, UnknownName, UnknownNames, ValueTemplate};
    use text::environment::Environment;

    fn bindings() -> Bindings {
        Bindings {
            fixture: Some("/tmp/f".into()),
            environment: Arc::new(Environment {
                variables: BTreeMap::from([("HOME".into(), "/home/x".into())]),
                ..Environment::default()
            }),
            captured: BTreeMap::from([
                ("id".into(), json!(42)),
                ("big".into(), "12345678901234567890123".parse().unwrap()),
                ("half".into(), "2.50".parse().unwrap()),
                ("thousand".into(), "1.0e3".parse().unwrap()),
                ("text".into(), json!("a {{id}} b")),
                ("list".into(), json!([1, "x"])),
                ("none".into(), Value::Null),
            ]),
            ..Bindings::default()
        }
    }

    #[test]
    fn markers_are_replaced_once() {
        let case = |text: &str, expected: &str| {
            assert_eq!(
                Template::new(text).render(&bindings()).as_deref(),
                Ok(expected),
                "{text}"
            );
        };
        case("{{fixture}}/a.txt", "/tmp/f/a.txt");
        case("{{env.HOME}}", "/home/x");
        case(
            "id={{id}}, big={{big}}, half={{half}}, {{thousand}}",
            "id=42, big=12345678901234567890123, half=2.5, 1000",
        );
        case("{{text}}", "a {{id}} b");
        case("{{list}} {{none}}", "[1,\"x\"] null");
        case(
            "{{ id }} {{a b}} {{}} {id} }} {{",
            "{{ id }} {{a b}} {{}} {id} }} {{",
        );
        case("{{{{id}}", "{{id}}");
        case("{{{id}}}", "{42}");
        case("{{{{{id}}}", "{{{id}}}");
        case("{{id!}}", "42");
        case("{{{{{{id}}}}", "{{42}}");
    }

    #[test]
    fn a_leaf_takes_over_the_type_only_when_asked() {
        let case = |value: Value, expected: Value| {
            let rendered = ValueTemplate::new(value.clone()).render(&bindings());
            assert_eq!(rendered, Ok(expected), "{value}");
        };
        case(json!({"a": "{{id!}}"}), json!({"a": 42}));
        case(json!({"a": "{{id}}"}), json!({"a": "42"}));
        case(json!(["{{list!}}", "x{{id!}}"]), json!([[1, "x"], "x42"]));
        case(json!({"{{id}}": 1}), json!({"{{id}}": 1}));
    }

    #[test]
    fn under_the_rules_of_the_go_tool_only_names_of_values_are_replaced() {
        let mut bindings = Bindings {
            unknown: UnknownNames::Keep,
            dialect: Dialect::Compat,
            ..bindings()
        };
        bindings.captured.insert("env.HOME".into(), json!("mine"));
        let case = |written: &str, expected: &str| {
            let text = Template::new(written).render(&bindings);
            assert_eq!(text.as_deref(), Ok(expected), "{written}");
            let value = ValueTemplate::new(json!([written])).render(&bindings);
            assert_eq!(value, Ok(json!([expected])), "{written}");
        };
        case("{{env.USER}}", "{{env.USER}}");
        case("{{env.HOME}}", "mine");
        case("{{id!}}", "{{id!}}");
        case("{{{{id}}}}", "{{42}}");
        case("{{{{x", "{{{{x");
        case("{{fixture}}", "/tmp/f");
    }

    #[test]
    fn names_without_value_are_told_or_kept() {
        let text = Template::new("{{nothing}} {{{{");
        assert_eq!(
            text.render(&bindings()),
            Err(UnknownName {
                name: "nothing".into(),
                uncaptured: None,
            })
        );
        let kept = Bindings {
            unknown: UnknownNames::Keep,
            ..bindings()
        };
        assert_eq!(text.render(&kept).as_deref(), Ok("{{nothing}} {{{{"));
    }

    proptest! {
        #[test]
        fn text_without_markers_is_left_alone(text in "[^{]*") {
            prop_assert_eq!(Template::new(text.clone()).render(&bindings()), Ok(text));
        }

        #[test]
        fn any_text_renders_or_names_what_is_missing(text in any::<String>(), braces in "[{}a!. ]{0,30}") {
            let _ = Template::new(text).render(&bindings());
            if let Err(unknown) = Template::new(braces.clone()).render(&bindings()) {
                proptest::prop_assert!(braces.contains(&unknown.name));
            }
        }
    }
}
