//! The tree that YAML is read into: scalars by the core schema of YAML 1.2, lists, and maps in their order, each with
//! its place.

use serde_json::{Map, Number, Value};

use text::source::Span;

/// The file a place lies in: a document is read together with the defaults of the settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Source {
    /// The suite's file.
    #[default]
    Suite,
    /// The settings file.
    Settings,
    /// Captured data, which is in no file.
    Data,
    /// A text whose `{{…}}` were filled in, by its number.
    Filled(usize),
}

/// A place in one of the two files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct At {
    /// The file.
    pub(crate) source: Source,
    /// The bytes.
    pub(crate) span: Span,
}

impl At {
    /// The place of a value that is in no file.
    pub(crate) fn of(source: Source) -> Self {
        let span = Span::default();
        Self { source, span }
    }

    /// Whether the author wrote this value.
    pub(crate) fn is_written(self) -> bool {
        match self.source {
            Source::Suite | Source::Settings => true,
            Source::Data | Source::Filled(_) => false,
        }
    }

    /// Whether another place lies in this one.
    pub(crate) fn contains(self, inner: Self) -> bool {
        self.source == inner.source
            && self.span.start <= inner.span.start
            && inner.span.end <= self.span.end
    }

    /// From the beginning of this place to the end of another one of the same file.
    pub(crate) fn until(self, end: Self) -> Self {
        // The value of an alias stands before it.
        if self.source != end.source || end.span.end <= self.span.start {
            return self;
        }
        let (start, end) = (self.span.start, end.span.end);
        Self {
            source: self.source,
            span: Span { start, end },
        }
    }
}

/// A value in YAML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    /// The value.
    pub(crate) kind: Kind,
    /// Where it stands.
    pub(crate) at: At,
}

/// The kinds of values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
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
pub(crate) enum Style {
    /// Without quotes.
    Plain,
    /// In quotes or as a block.
    Quoted,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: Key,
    /// The value.
    pub(crate) value: Node,
}

/// A key of a mapping. Keys that are numbers, booleans or null are taken by their text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// The text.
    pub(crate) text: String,
    /// Where it stands.
    pub(crate) at: At,
}

/// A part of a tree.
pub(crate) enum Leaf<'a> {
    /// The key of an entry.
    Key(&'a Key),
    /// A value without parts.
    Scalar(&'a Node),
}

impl Node {
    /// The value of a key, when this is a map that has it.
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a key, when this is a map that has it.
    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key.text == key)
    }

    /// The entries, when this is a map.
    pub(crate) fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind {
            entries
        } else {
            &[]
        }
    }

    /// Whether there is no value.
    pub(crate) fn is_null(&self) -> bool {
        self.kind == Kind::Null
    }

    /// A text, a number or a boolean as it was written.
    pub(crate) fn written(&self) -> Option<&str> {
        match &self.kind {
            Kind::Flag(_, text) | Kind::Number(_, text) | Kind::Text(text, _) => Some(text),
            Kind::Null | Kind::List(_) | Kind::Map(_) => None,
        }
    }

    /// The value in words, for messages: `a list`, ``the number `3` ``.
    pub(crate) fn what(&self) -> String {
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

    /// Calls a function for each key and each scalar of the tree.
    pub(crate) fn visit(&self, see: &mut dyn FnMut(Leaf<'_>)) {
        match &self.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {
                see(Leaf::Scalar(self));
            }
            Kind::List(items) => items.iter().for_each(|item| item.visit(see)),
            Kind::Map(entries) => entries.iter().for_each(|entry| {
                see(Leaf::Key(&entry.key));
                entry.value.visit(see);
            }),
        }
    }

    /// The same value as JSON.
    pub(crate) fn into_value(self) -> Value {
        match self.kind {
            Kind::Null => Value::Null,
            Kind::Flag(flag, _) => Value::Bool(flag),
            Kind::Number(number, _) => Value::Number(number),
            Kind::Text(text, _) => Value::String(text),
            Kind::List(items) => items.into_iter().map(Self::into_value).collect(),
            Kind::Map(entries) => {
                let members = entries.into_iter();
                let members = members.map(|it| (it.key.text, it.value.into_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// The same map with numbers and booleans as the texts they were written as.
    pub(crate) fn with_texts(mut self) -> Self {
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
    pub(crate) fn from_value(value: Value, at: At) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(flag) => Kind::Flag(flag, flag.to_string()),
            Value::Number(number) => {
                let written = number.to_string();
                Kind::Number(number, written)
            }
            Value::String(text) => Kind::Text(text, Style::Quoted),
            Value::Array(items) => {
                let items = items.into_iter();
                Kind::List(items.map(|item| Self::from_value(item, at)).collect())
            }
            Value::Object(members) => {
                let entries = members.into_iter().map(|(text, value)| Entry {
                    key: Key { text, at },
                    value: Self::from_value(value, at),
                });
                Kind::Map(entries.collect())
            }
        };
        Self { kind, at }
    }

    /// The number of nodes in the tree and its depth; bounds the values that aliases repeat.
    pub(crate) fn measure(&self) -> (usize, usize) {
        let children: Vec<(usize, usize)> = match &self.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => return (1, 1),
            Kind::List(items) => items.iter().map(Self::measure).collect(),
            Kind::Map(entries) => entries.iter().map(|it| it.value.measure()).collect(),
        };
        let nodes = children.iter().map(|(nodes, _)| nodes).sum::<usize>();
        let depth = children.iter().map(|(_, depth)| *depth).max().unwrap_or(0);
        (nodes + 1, depth + 1)
    }
}
