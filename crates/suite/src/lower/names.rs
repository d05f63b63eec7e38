//! `{{name}}`: which names are known at a place, and problems of those that are not.

use serde_json::{Map, Value};

use super::{Lowering, UnsetVariables};
use crate::{
    problems,
    raw::{Field, step::RawStep, value::Text},
    yaml::{At, Key, Kind, Leaf, Node},
};
use mcp::script::template::{Piece, Template, ValueTemplate, is_name, pieces, text_has_markers};
use text::environment::is_variable_name;

/// Names that captures cannot have.
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
        if !text_has_markers(&text.text) || self.is_compat() {
            return text;
        }
        let around = self.around;
        let at = text.at;
        let mut filled = String::new();
        for piece in pieces(&text.text, self.dialect()) {
            match piece {
                Piece::Text(plain) => filled.push_str(&plain),
                Piece::Escape => filled.push_str("{{"),
                Piece::Name { name, written, .. } => {
                    let variable = name.strip_prefix("env.");
                    let value = variable.and_then(|it| around.environment.variable(it));
                    if variable.is_some() {
                        self.check_name(&name, &written, at);
                    } else {
                        self.problem(self.within(at, &written), problems::too_early(&written));
                    }
                    filled.push_str(value.unwrap_or(&written));
                }
            }
        }
        Text { text: filled, at }
    }

    /// A value with markers whose names are checked. Names in its keys are not filled in.
    pub(super) fn value_template(&mut self, node: Node) -> ValueTemplate {
        self.check_leaves(&node);
        if !self.is_compat() {
            node.visit(&mut |leaf| {
                if let Leaf::Key(key) = leaf {
                    self.check_key(key);
                }
            });
        }
        ValueTemplate::new(node.into_value())
    }

    /// Reports the names in a key of a value that is sent.
    fn check_key(&mut self, key: &Key) {
        for piece in pieces(&key.text, self.dialect()) {
            if let Piece::Name { written, .. } = piece {
                let place = self.within(key.at, &written);
                self.problem(place, problems::marker_in_key(&written));
            }
        }
    }

    /// An empty map.
    pub(super) fn no_members() -> ValueTemplate {
        ValueTemplate::new(Value::Object(Map::new()))
    }

    /// Checks the names in all texts of a value.
    pub(super) fn check_leaves(&mut self, node: &Node) {
        node.visit(&mut |leaf| {
            if let Leaf::Scalar(node) = leaf
                && let Kind::Text(text, _) = &node.kind
            {
                self.check_markers(text, node.at);
            }
        });
    }

    /// Checks the names in all texts and keys of a value.
    pub(super) fn check_leaves_and_keys(&mut self, node: &Node) {
        self.check_leaves(node);
        node.visit(&mut |leaf| {
            if let Leaf::Key(key) = leaf {
                self.check_markers(&key.text, key.at);
            }
        });
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
        let variable = name.strip_prefix("env.");
        if name == "fixture" && !self.captured.contains(name) {
            self.uses_fixture = true;
        }
        if self.is_compat() {
            return;
        }
        if let Some(variable) = variable {
            let mut variables = self.compiled.variables.borrow_mut();
            variables.insert(variable.to_owned());
        }
        if self.is_known(name) {
            return;
        }
        let environment = self.around.environment;
        let problem = match (variable, self.captures.get(name)) {
            (None, _) if name == "fixture" && self.is_skipped => return,
            (None, _) if name == "fixture" => problems::no_fixture(),
            (Some(variable), _) if !is_variable_name(variable) => {
                problems::bad_variable_name(variable)
            }
            (Some(_), _) if self.is_skipped || self.around.unset == UnsetVariables::Later => return,
            (Some(variable), _) if environment.is_unreadable(variable) => {
                problems::unreadable_env(variable)
            }
            (Some(variable), _) => problems::no_such_env(variable),
            (None, Some(at)) => {
                let captured = self.reading.problems.origin(*at).location();
                problems::captured_too_late(name, &captured)
            }
            (None, None) => {
                let mut known: Vec<&str> = self.captured.iter().map(String::as_str).collect();
                known.push("fixture");
                known.extend(self.port.then_some("port"));
                known.push("env.NAME");
                problems::unknown_variable(name, &known)
            }
        };
        self.problem(self.within(at, written), problem);
    }

    /// Reports `{{ name }}` where the name is known: probably its value is meant.
    fn check_blanks(&mut self, plain: &str, at: At) {
        let mut rest = plain;
        while let Some((_, behind)) = rest.split_once("{{") {
            rest = behind;
            let inner = behind.split_once("}}").map_or("", |(inner, _)| inner);
            let name = inner.trim();
            if is_name(name) && (name == "fixture" || self.is_known(name)) {
                let written = format!("{{{{{inner}}}}}");
                let place = self.within(at, &written);
                self.native_problem(place, problems::no_variable(&written, name));
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

    /// The part of a place where a text stands as it was written, or the whole place.
    pub(crate) fn within(&self, at: At, written: &str) -> At {
        let origin = self.reading.problems.origin(at);
        let shown = origin.file.text.get(at.span.start..at.span.end);
        let Some(offset) = shown.and_then(|shown| shown.find(written)) else {
            return at;
        };
        let mut part = at;
        part.span.start += offset;
        part.span.end = part.span.start + written.len();
        part
    }

    /// Notes the captures of steps before any of them is lowered, to report their use before they have a value.
    pub(super) fn announce(&mut self, steps: &[RawStep]) {
        let captures = steps.iter().filter_map(|step| step.capture.as_ref());
        for (key, _) in captures.flat_map(|capture| &capture.value.0) {
            self.captures.insert(key.text.clone(), key.at);
        }
    }

    /// Adds the name of a capture to those that are known from here on. The Go tool takes any name.
    pub(super) fn define(&mut self, name: &str, at: At) {
        let is_free = is_name(name) && !RESERVED.contains(&name) && !name.starts_with("env.");
        if !is_free {
            self.native_problem(at, problems::bad_capture(name));
        }
        self.captured.insert(name.to_owned());
    }
}
