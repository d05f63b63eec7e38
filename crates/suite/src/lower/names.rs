//! `{{name}}`: which names are known at a place, and what is wrong with those that are not.

use serde_json::Value;

use super::{Fate, Lowering};
use crate::{
    Dialect, problems,
    raw::{
        Field,
        step::RawStep,
        value::{Placed, Text},
    },
    yaml::{At, Key, Kind, Node},
};
use mcp::script::{
    subject::StepOrder,
    template::{Piece, Template, ValueTemplate, is_name, pieces, text_has_markers},
};
use text::environment::is_variable_name;

/// A capture of the document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coming {
    /// Its name there.
    at: At,
    /// When it has a value, for those that stand before it or with it.
    order: StepOrder,
}

/// Names that are never captures.
const RESERVED: [&str; 2] = ["fixture", "port"];

impl Lowering<'_> {
    /// A text with markers whose names are checked.
    pub(super) fn template(&mut self, text: Text) -> Template {
        self.check_markers(&text.text, text.at);
        Template::new(text.text)
    }

    /// The text of a key that may be absent, with markers whose names are checked.
    pub(super) fn template_or(&mut self, field: Option<Field<Text>>, usual: &str) -> Template {
        match field {
            Some(field) => self.template(field.value),
            None => Template::new(usual),
        }
    }

    /// A text that is needed before anything runs: variables of the environment are filled in, and other names have no
    /// value yet. The Go tool fills in nothing.
    pub(super) fn text_at_load(&mut self, text: Text) -> Text {
        if !text_has_markers(&text.text) || self.dialect() == Dialect::Compat {
            return text;
        }
        let around = self.around;
        let mut filled = String::new();
        for piece in pieces(&text.text, Dialect::Native) {
            match piece {
                Piece::Text(plain) => filled.push_str(&plain),
                Piece::Escape => filled.push_str("{{"),
                Piece::Name { name, written, .. } => {
                    let variable = name.strip_prefix("env.");
                    let value = variable.and_then(|it| around.environment.variable(it));
                    if variable.is_some() {
                        self.check_name(&name, &written, text.at);
                    } else {
                        let place = self.within(text.at, &written);
                        self.problem(place, |origin| problems::too_early(origin, &written));
                    }
                    filled.push_str(value.unwrap_or(&written));
                }
            }
        }
        Text {
            text: filled,
            at: text.at,
        }
    }

    /// A value with markers whose names are checked.
    pub(super) fn value_template(&mut self, node: Node) -> ValueTemplate {
        self.check_leaves(&node);
        if self.dialect() == Dialect::Native {
            self.check_keys(&node);
        }
        ValueTemplate::new(node.into_value())
    }

    /// Tells the names in keys of a value that is sent: those are not filled in.
    fn check_keys(&mut self, node: &Node) {
        match &node.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {}
            Kind::List(items) => items.iter().for_each(|item| self.check_keys(item)),
            Kind::Map(entries) => {
                for entry in entries {
                    self.check_key(&entry.key);
                    self.check_keys(&entry.value);
                }
            }
        }
    }

    /// Tells the names in one key.
    fn check_key(&mut self, key: &Key) {
        for piece in pieces(&key.text, Dialect::Native) {
            match piece {
                Piece::Text(_) | Piece::Escape => {}
                Piece::Name { written, .. } => {
                    let place = self.within(key.at, &written);
                    self.problem(place, |origin| problems::marker_in_key(origin, &written));
                }
            }
        }
    }

    /// An empty map.
    pub(super) fn no_members() -> ValueTemplate {
        ValueTemplate::new(Value::Object(serde_json::Map::new()))
    }

    /// Checks the names in all string leaves.
    pub(super) fn check_leaves(&mut self, node: &Node) {
        match &node.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) => {}
            Kind::Text(text, _) => self.check_markers(text, node.at),
            Kind::List(items) => items.iter().for_each(|item| self.check_leaves(item)),
            Kind::Map(entries) => entries
                .iter()
                .for_each(|entry| self.check_leaves(&entry.value)),
        }
    }

    /// Checks the names in all string leaves and keys.
    pub(super) fn check_leaves_and_keys(&mut self, node: &Node) {
        match &node.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) => {}
            Kind::Text(text, _) => self.check_markers(text, node.at),
            Kind::List(items) => items
                .iter()
                .for_each(|item| self.check_leaves_and_keys(item)),
            Kind::Map(entries) => {
                for entry in entries {
                    self.check_markers(&entry.key.text, entry.key.at);
                    self.check_leaves_and_keys(&entry.value);
                }
            }
        }
    }

    /// Checks the names in a text.
    pub(super) fn check_markers(&mut self, text: &str, at: At) {
        if !text.contains("{{") {
            return;
        }
        for piece in pieces(text, self.dialect()) {
            match piece {
                Piece::Escape => {}
                Piece::Text(plain) => self.check_blanks(&plain, at),
                Piece::Name { name, written, .. } => self.check_name(&name, &written, at),
            }
        }
    }

    /// Checks one name.
    fn check_name(&mut self, name: &str, written: &str, at: At) {
        if name == "fixture" && !self.captured.contains(name) {
            self.uses_fixture = true;
        }
        if let (Some(variable), Dialect::Native) = (name.strip_prefix("env."), self.dialect()) {
            self.compiled.names_variable(variable);
        }
        if self.is_known(name) || self.dialect() == Dialect::Compat {
            return;
        }
        let place = self.within(at, written);
        if name == "fixture" {
            if self.fate == Fate::Runs {
                self.problem(place, problems::no_fixture);
            }
            return;
        }
        if let Some(variable) = name.strip_prefix("env.") {
            if !is_variable_name(variable) {
                self.problem(place, |origin| {
                    problems::bad_variable_name(origin, variable)
                });
            } else if self.fate == Fate::Runs {
                let is_set = self.around.environment.is_unreadable(variable);
                self.problem(place, |origin| {
                    if is_set {
                        problems::unreadable_env(origin, variable)
                    } else {
                        problems::no_such_env(origin, variable)
                    }
                });
            }
            return;
        }
        if let Some(coming) = self.coming.get(name) {
            let origin = self.reading.problems.origin(coming.at);
            let order = coming.order;
            let position = origin.file.position(origin.span.start);
            let captured = format!("{}:{}", origin.file.path, position.line);
            self.problem(place, |origin| {
                problems::captured_too_late(origin, name, order, &captured)
            });
            return;
        }
        let known = self.known_names();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        self.problem(place, |origin| {
            problems::unknown_variable(origin, name, &known)
        });
    }

    /// Tells `{{ name }}` where the name is known: probably its value was meant.
    fn check_blanks(&mut self, plain: &str, at: At) {
        let mut rest = plain;
        while let Some((_, behind)) = rest.split_once("{{") {
            rest = behind;
            let inner = behind.split_once("}}").map_or("", |(inner, _)| inner);
            let name = inner.trim();
            if is_name(name) && (name == "fixture" || self.is_known(name)) {
                let written = format!("{{{{{inner}}}}}");
                let place = self.within(at, &written);
                self.native_problem(place, |origin| {
                    problems::no_variable(origin, &written, name)
                });
            }
        }
    }

    /// Whether a name has a value at this place.
    fn is_known(&self, name: &str) -> bool {
        match name.strip_prefix("env.") {
            Some(variable) => self.around.environment.variable(variable).is_some(),
            None => match name {
                "fixture" => self.fixture_from.may_be_there(),
                "port" if self.port => true,
                _ => self.captured.contains(name),
            },
        }
    }

    /// The names to choose from.
    fn known_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.captured.iter().cloned().collect();
        names.push("fixture".into());
        if self.port {
            names.push("port".into());
        }
        names.push("env.NAME".into());
        names
    }

    /// The part of a place where a text stands as it was written, or the whole place.
    pub fn within(&self, at: At, written: &str) -> At {
        let origin = self.reading.problems.origin(at);
        let shown = origin.file.text.get(at.span.start..at.span.end);
        match shown.and_then(|shown| shown.find(written)) {
            None => at,
            Some(offset) => {
                let mut part = at;
                part.span.start += offset;
                part.span.end = part.span.start + written.len();
                part
            }
        }
    }

    /// Notes the captures of steps before any of them is lowered, for those that speak of them too early.
    pub(super) fn announce(&mut self, steps: &[Placed<RawStep>], order: StepOrder) {
        let captures = steps.iter().filter_map(|step| step.value.capture.as_ref());
        for (key, _) in captures.flat_map(|capture| &capture.value.0) {
            let coming = Coming { at: key.at, order };
            self.coming.insert(key.text.clone(), coming);
        }
    }

    /// Adds the name of a capture to those that are known from here on. The Go tool takes any.
    pub(super) fn define(&mut self, name: &str, at: At) {
        let is_free = is_name(name) && !RESERVED.contains(&name) && !name.starts_with("env.");
        if !is_free {
            self.native_problem(at, |origin| problems::bad_capture(origin, name));
        }
        self.captured.insert(name.to_owned());
    }
}
