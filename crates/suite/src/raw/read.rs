//! From nodes to the types of keys. A value that does not fit is reported, and reading goes on.

use serde_json::Value;

use crate::{
    Dialect,
    problems::{self, Problems},
    raw::ShapeDoc,
    yaml::{At, Entry, Key, Kind, Leaf, MERGE, Node, Style, go},
};
use text::diagnostic::Severity;

/// A type that a key of the format can take.
pub(crate) trait Readable: Sized {
    /// Whether a key without a value means something.
    const TAKES_NOTHING: bool = false;

    /// The value; one that does not fit is reported.
    fn read(node: Node, reading: &mut Reading) -> Option<Self>;

    /// The type in words: `a text`, `a list of texts`.
    fn words() -> String;

    /// The type as JSON Schema.
    fn schema() -> Value;

    /// Adds the maps that it contains.
    fn shapes(_into: &mut Vec<&'static ShapeDoc>) {}
}

/// A key that is there.
#[derive(Debug)]
pub(crate) struct Field<T> {
    /// Its value.
    pub(crate) value: T,
    /// The place of the key.
    pub(crate) key: At,
    /// The place of the value.
    pub(crate) at: At,
}

impl<T> Field<T> {
    /// The place of key and value.
    pub(crate) fn place(&self) -> At {
        self.key.until(self.at)
    }
}

/// The value of a key that may be absent.
pub(crate) fn value<T>(field: Option<Field<T>>) -> Option<T> {
    field.map(|field| field.value)
}

/// The place of a key that may be absent.
#[expect(clippy::ref_option, reason = "callers keep the field")]
pub(crate) fn key<T>(field: &Option<Field<T>>) -> Option<At> {
    field.as_ref().map(|field| field.key)
}

/// How the keys begin that are the author's own.
pub(crate) const OWN_KEYS: &str = "x-";

/// The maps that may have such keys.
const AT_THE_TOP: [&str; 2] = ["an assertion", "the settings file"];

/// The state of reading.
#[derive(Debug)]
pub(crate) struct Reading {
    /// The problems so far.
    pub(crate) problems: Problems,
    /// Whose rules apply.
    pub(crate) dialect: Dialect,
    /// The place of a value that can take one of several forms, and all of these in words.
    forms: Option<(At, fn() -> String)>,
}

impl Reading {
    /// The beginning of a document.
    pub(crate) fn new(problems: Problems, dialect: Dialect) -> Self {
        Self {
            problems,
            dialect,
            forms: None,
        }
    }

    /// Reads a value as one of the forms of `U`. If it has none of them, the problem names all.
    pub(crate) fn one_form<U: Readable, T>(
        &mut self,
        node: Node,
        read: fn(Node, &mut Self) -> Option<T>,
    ) -> Option<T> {
        let at = node.at;
        let is_inner = self.forms.as_ref().is_some_and(|(outer, _)| *outer == at);
        // Data that was filled in has no place by which it could be known again.
        if is_inner || at.span.start == at.span.end {
            return read(node, self);
        }
        let outer = self.forms.replace((at, U::words));
        let found = read(node, self);
        self.forms = outer;
        found
    }

    /// The forms of the value at a place, in words.
    fn forms_at(&self, at: At) -> Option<String> {
        let forms = self.forms.filter(|(place, _)| *place == at);
        forms.map(|(_, words)| words())
    }

    /// The entries of a map with these keys. The problem of a scalar in its place names them.
    pub(crate) fn shape(&mut self, node: Node, owner: &str, keys: &[&str]) -> Option<Vec<Entry>> {
        if node.written().is_none() || self.forms_at(node.at).is_some() {
            return self.map(node, "a map");
        }
        let problem = problems::no_map(&node.what(), owner, keys);
        self.problems
            .add(first_line(node.at, &self.problems), problem);
        None
    }

    /// The entries of a map whose keys have a meaning; those of a captured map have none.
    pub(crate) fn map(&mut self, node: Node, expected: &str) -> Option<Vec<Entry>> {
        if let Kind::Map(_) = node.kind
            && !node.at.is_written()
        {
            let problem = problems::wrong_type("a captured map", expected);
            self.problems.add(node.at, problem);
            return None;
        }
        let Kind::Map(mut entries) = node.kind else {
            self.wrong_type(&node, expected);
            return None;
        };
        // Any key may have come from a merge that failed.
        entries.retain(|Entry { key, value }| {
            let is_lost = key.text == MERGE && value.is_null() && self.problems.is_broken(value.at);
            if is_lost {
                self.problems.refuse(MERGE, key.at);
            }
            !is_lost
        });
        Some(entries)
    }

    /// The field of an entry; a key without value counts as absent.
    pub(crate) fn field<T: Readable>(&mut self, entry: Entry) -> Option<Field<T>> {
        let (key, at) = (entry.key.at, entry.value.at);
        let is_null = entry.value.is_null();
        let value = if is_null && self.problems.is_broken(at) {
            None
        } else if is_null && !T::TAKES_NOTHING {
            let problem = problems::empty_value(&entry.key.text);
            self.problems.add(key, problem);
            return None;
        } else {
            T::read(entry.value, self)
        };
        if value.is_none() {
            self.problems.refuse(&entry.key.text, key);
        }
        value.map(|value| Field { value, key, at })
    }

    /// Reports a key that does not exist; the Go tool ignores it with a warning. At the top a key that begins with `x-` is the
    /// author's own, for what anchors stand in.
    pub(crate) fn unknown_key(&mut self, key: &Key, owner: &str, known: &[&str]) {
        if key.text.starts_with(OWN_KEYS) && AT_THE_TOP.contains(&owner) {
            return;
        }
        let mut problem = problems::unknown_key(&key.text, owner, known);
        match self.dialect {
            Dialect::Compat => problem.severity = Severity::Warning,
            Dialect::Native => {
                if let Some(meant) = problems::nearest(&key.text, known) {
                    self.problems.refuse(meant, key.at);
                }
            }
        }
        self.problems.add(key.at, problem);
    }

    /// Reports the numbers in a value that the Go tool reads as other ones.
    pub(crate) fn check_numbers(&mut self, node: &Node) {
        if self.dialect == Dialect::Compat {
            return;
        }
        node.visit(&mut |leaf| {
            if let Leaf::Scalar(node) = leaf
                && let Kind::Number(_, written) | Kind::Text(written, Style::Plain) = &node.kind
                && let Some(there) = go::other_number(written)
            {
                let problem = problems::ambiguous_number(&node.what(), &there);
                self.problems.add(node.at, problem);
            }
        });
    }

    /// Reports a value of another type, unless its YAML is broken.
    pub(crate) fn wrong_type(&mut self, node: &Node, expected: &str) {
        if node.is_null() && self.problems.is_broken(node.at) {
            return;
        }
        let expected = self.forms_at(node.at).unwrap_or(expected.to_owned());
        let problem = problems::wrong_type(&node.what(), &expected);
        self.problems
            .add(first_line(node.at, &self.problems), problem);
    }

    /// Reports that a value is not of type `T`.
    pub(crate) fn refuse<T: Readable>(&mut self, node: &Node) -> Option<T> {
        self.wrong_type(node, &T::words());
        None
    }
}

/// The part of a place that lies in its first line, so that a caret is drawn and not a block.
pub(crate) fn first_line(at: At, problems: &Problems) -> At {
    let origin = problems.origin(at);
    let text = &origin.file.text;
    let shown = text.get(at.span.start..at.span.end).unwrap_or_default();
    let length = shown.find('\n').unwrap_or(shown.len());
    let mut first = at;
    first.span.end = at.span.start + shown[..length].trim_end().len();
    first
}
