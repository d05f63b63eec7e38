//! The tree that YAML is read into: scalars by the core schema of YAML 1.2, lists, maps in their order, each
//! with its place.

use serde_json::{Map, Number, Value};

use text::source::Span;

/// The file a place lies in: a document is read together with the defaults of the settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// The suite's file.
    #[default]
    Suite,
    /// The settings file.
    Settings,
    /// None: this is captured data.
    Data,
    /// None: this is a text of which `{{…}}` was filled in, the one of this number.
    Filled(usize),
}

/// A place in one of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct At {
    /// The file.
    pub source: Source,
    /// The bytes.
    pub span: Span,
}

impl At {
    /// The place of what no file has.
    pub fn of(source: Source) -> Self {
        let span = Span::default();
        Self { source, span }
    }

    /// Whether the author wrote what is here, and nothing was filled in.
    pub fn is_written(self) -> bool {
        match self.source {
            Source::Suite | Source::Settings => true,
            Source::Data | Source::Filled(_) => false,
        }
    }

    /// From the beginning of this place to the end of another one of the same file.
    pub fn until(self, end: Self) -> Self {
        // What an alias stands for was written before it.
        if self.source != end.source || end.span.end <= self.span.start {
            return self;
        }
        Self {
            source: self.source,
            span: Span {
                start: self.span.start,
                end: end.span.end,
            },
        }
    }
}

/// A value in YAML.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Where it stands.
    pub at: At,
}

/// The kinds of values.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Nothing, `~`, `null`.
    Null,
    /// `true` or `false`, and how it was written.
    Flag(bool, String),
    /// A number, and how it was written.
    Number(Number, String),
    /// A text.
    Text(String, Style),
    /// A sequence.
    List(Vec<Node>),
    /// A mapping; keys are unique.
    Map(Vec<Entry>),
}

/// How a text was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// In quotes or as a block.
    Quoted,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A key of a mapping. Keys that are numbers, booleans or null are taken by their text.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub at: At,
}

impl Node {
    /// The value of a key, when this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, when this is a map that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|entry| entry.key.text == key),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => None,
        }
    }

    /// Whether nothing is there.
    pub fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// What it is, for messages: `a list`, ``the number `3` ``.
    pub fn what(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".into(),
            Kind::Flag(_, written) => format!("`{written}`"),
            Kind::Number(_, written) => format!("the number `{written}`"),
            Kind::Text(text, _) if text.chars().count() <= 40 && !text.contains('\n') => {
                format!("the text `{text}`")
            }
            Kind::Text(..) => "a text".into(),
            Kind::List(_) => "a list".into(),
            Kind::Map(_) => "a map".into(),
        }
    }

    /// The same value as JSON.
    pub fn into_value(self) -> Value {
        match self.kind {
            Kind::Null => Value::Null,
            Kind::Flag(flag, _) => Value::Bool(flag),
            Kind::Number(number, _) => Value::Number(number),
            Kind::Text(text, _) => Value::String(text),
            Kind::List(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Kind::Map(entries) => {
                let mut members = Map::with_capacity(entries.len());
                for entry in entries {
                    members.insert(entry.key.text, entry.value.into_value());
                }
                Value::Object(members)
            }
        }
    }

    /// The same map with numbers and booleans as the texts they were written as.
    pub fn with_texts(mut self) -> Self {
        if let Kind::Map(entries) = &mut self.kind {
            for entry in entries {
                if let Kind::Flag(_, written) | Kind::Number(_, written) = &mut entry.value.kind {
                    entry.value.kind = Kind::Text(std::mem::take(written), Style::Plain);
                }
            }
        }
        self
    }

    /// JSON as a tree, every part at the same place.
    pub fn from_value(value: Value, at: At) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(flag) => Kind::Flag(flag, flag.to_string()),
            Value::Number(number) => {
                let written = number.to_string();
                Kind::Number(number, written)
            }
            Value::String(text) => Kind::Text(text, Style::Quoted),
            Value::Array(items) => Kind::List(
                items
                    .into_iter()
                    .map(|item| Self::from_value(item, at))
                    .collect(),
            ),
            Value::Object(members) => Kind::Map(
                members
                    .into_iter()
                    .map(|(text, value)| Entry {
                        key: Key { text, at },
                        value: Self::from_value(value, at),
                    })
                    .collect(),
            ),
        };
        Self { kind, at }
    }

    /// How many nodes the tree has, and how deep it is; used to bound what aliases multiply.
    pub fn measure(&self) -> (usize, usize) {
        let children: Vec<(usize, usize)> = match &self.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => return (1, 1),
            Kind::List(items) => items.iter().map(Self::measure).collect(),
            Kind::Map(entries) => entries.iter().map(|entry| entry.value.measure()).collect(),
        };
        let nodes = children.iter().map(|(nodes, _)| nodes).sum::<usize>();
        let depth = children.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        (nodes + 1, depth + 1)
    }
}
