//! From nodes to the types of keys, noting whatever does not fit and going on.

use serde_json::Value;

use crate::{
    Dialect,
    problems::{self, Problems},
    raw::ShapeDoc,
    yaml::{At, Entry, Key, Kind, MERGE, Node, Style, go},
};
use text::diagnostic::Severity;

/// What a key of the format can take.
pub trait Readable: Sized {
    /// Whether a key without a value means something.
    const TAKES_NOTHING: bool = false;

    /// The value, unless it does not fit; then that was noted.
    fn read(node: Node, reading: &mut Reading) -> Option<Self>;

    /// What it is, in words: `a text`, `a list of texts`.
    fn words() -> String;

    /// What it is, as JSON Schema.
    fn schema() -> Value;

    /// Adds the maps it contains.
    fn shapes(_into: &mut Vec<&'static ShapeDoc>) {}
}

/// A key that is there.
#[derive(Debug)]
pub struct Field<T> {
    /// Its value.
    pub value: T,
    /// The place of the key.
    pub key: At,
    /// The place of the value.
    pub at: At,
}

impl<T> Field<T> {
    /// The place of key and value.
    pub fn place(&self) -> At {
        self.key.until(self.at)
    }
}

/// What reading needs beside the node.
#[derive(Debug)]
pub struct Reading {
    /// What was found to be wrong.
    pub problems: Problems,
    /// Whose rules apply.
    pub dialect: Dialect,
    /// What the value that is read can be, where it is read as one of several forms.
    forms: Option<Forms>,
}

/// What a value of several forms can be.
#[derive(Debug)]
struct Forms {
    /// The place of the value.
    at: At,
    /// All of its forms, in words.
    words: fn() -> String,
    /// The words that are one of its forms.
    known: &'static [&'static str],
}

impl Reading {
    /// Nothing read yet.
    pub fn new(problems: Problems, dialect: Dialect) -> Self {
        Self {
            problems,
            dialect,
            forms: None,
        }
    }

    /// Reads a value as one of the forms of `U`; when it is none of them, all are told, and the nearest of the words
    /// among them.
    pub fn one_form<U: Readable, T>(
        &mut self,
        node: Node,
        known: &'static [&'static str],
        read: fn(Node, &mut Self) -> Option<T>,
    ) -> Option<T> {
        let at = node.at;
        let is_inner = self.forms.as_ref().is_some_and(|outer| outer.at == at);
        // What was filled in has no place by which it could be known again.
        if is_inner || at.span.start == at.span.end {
            return read(node, self);
        }
        let words = U::words;
        let outer = self.forms.replace(Forms { at, words, known });
        let found = read(node, self);
        self.forms = outer;
        found
    }

    /// The entries of a map that takes these keys. Whoever wrote something else is told them.
    pub fn shape(&mut self, node: Node, owner: &str, keys: &[&str]) -> Option<Vec<Entry>> {
        let takes_keys = matches!(
            &node.kind,
            Kind::Flag(..) | Kind::Number(..) | Kind::Text(..)
        );
        let has_forms = self.forms.as_ref().is_some_and(|it| it.at == node.at);
        if !takes_keys || has_forms {
            return self.map(node, "a map");
        }
        let origin = self.problems.origin(first_line(node.at, &self.problems));
        let problem = problems::no_map(origin, &node.what(), owner, keys);
        self.problems.add(problem);
        None
    }

    /// The entries of a map whose keys mean something; a captured map is a value and means nothing.
    pub fn map(&mut self, node: Node, expected: &str) -> Option<Vec<Entry>> {
        match node.kind {
            Kind::Map(_) if !node.at.is_written() => {
                let origin = self.problems.origin(node.at);
                self.problems
                    .add(problems::wrong_type(origin, "a captured map", expected));
                None
            }
            Kind::Map(entries) => Some(self.without_merges(entries)),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                self.wrong_type(&node, expected);
                None
            }
        }
    }

    /// The entries without merge keys that could not be filled in, which was told: any key may have come from those.
    fn without_merges(&mut self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let problems = &mut self.problems;
        entries.retain(|Entry { key, value }| {
            let is_lost = key.text == MERGE && value.is_null() && problems.is_broken(value.at);
            if is_lost {
                problems.refuse(MERGE, key.at);
            }
            !is_lost
        });
        entries
    }

    /// The field of an entry; a key without value is as good as absent.
    pub fn field<T: Readable>(&mut self, entry: Entry) -> Option<Field<T>> {
        let at = entry.value.at;
        if entry.value.is_null() && self.problems.is_broken(at) {
            self.problems.refuse(&entry.key.text, entry.key.at);
            return None;
        }
        if entry.value.is_null() && !T::TAKES_NOTHING {
            let origin = self.problems.origin(entry.key.at);
            self.problems
                .add(problems::empty_value(origin, &entry.key.text));
            return None;
        }
        let Some(value) = T::read(entry.value, self) else {
            self.problems.refuse(&entry.key.text, entry.key.at);
            return None;
        };
        Some(Field {
            value,
            key: entry.key.at,
            at,
        })
    }

    /// Notes a key that does not exist; the Go tool passes over it, so under its rules it is a warning.
    pub fn unknown_key(&mut self, key: &Key, owner: &str, known: &[&str]) {
        let origin = self.problems.origin(key.at);
        let mut problem = problems::unknown_key(origin, &key.text, owner, known);
        match self.dialect {
            Dialect::Compat => problem.severity = Severity::Warning,
            Dialect::Native => {
                if let Some(meant) = problems::nearest(&key.text, known) {
                    self.problems.refuse(meant, key.at);
                }
            }
        }
        self.problems.add(problem);
    }

    /// Notes the numbers in a value that the Go tool reads otherwise. Under its rules they were read so.
    pub fn check_numbers(&mut self, node: &Node) {
        match &node.kind {
            Kind::Number(_, written) | Kind::Text(written, Style::Plain)
                if self.dialect == Dialect::Native =>
            {
                if let Some(there) = go::other_number(written) {
                    let origin = self.problems.origin(node.at);
                    let problem = problems::ambiguous_number(origin, &node.what(), &there);
                    self.problems.add(problem);
                }
            }
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {}
            Kind::List(items) => items.iter().for_each(|item| self.check_numbers(item)),
            Kind::Map(entries) => entries
                .iter()
                .for_each(|entry| self.check_numbers(&entry.value)),
        }
    }

    /// Notes a value of another type, unless it is none because the YAML of it is broken.
    pub fn wrong_type(&mut self, node: &Node, expected: &str) {
        if node.is_null() && self.problems.is_broken(node.at) {
            return;
        }
        let origin = self.problems.origin(first_line(node.at, &self.problems));
        let forms = self.forms.as_ref().filter(|forms| forms.at == node.at);
        let problem = match (forms, &node.kind) {
            (None, _) => problems::wrong_type(origin, &node.what(), expected),
            (Some(forms), Kind::Text(text, _)) => {
                let problem = problems::wrong_type(origin, &node.what(), &(forms.words)());
                problems::with_nearest(problem, text, forms.known)
            }
            (Some(forms), _) => problems::wrong_type(origin, &node.what(), &(forms.words)()),
        };
        match node.kind {
            // One of these stays one, whatever is filled in.
            Kind::List(_) | Kind::Map(_) => self.problems.add_certain(problem),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {
                self.problems.add(problem);
            }
        }
    }
}

/// The part of a place that lies in its first line, so that a caret is drawn and not a block.
pub fn first_line(at: At, problems: &Problems) -> At {
    let origin = problems.origin(at);
    let text = &origin.file.text;
    let shown = text.get(at.span.start..at.span.end).unwrap_or_default();
    let length = shown.find('\n').unwrap_or(shown.len());
    let mut first = at;
    first.span.end = at.span.start + shown[..length].trim_end().len();
    first
}
