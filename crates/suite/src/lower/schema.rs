//! `json_schema`: written in the suite, or a file relative to it; a relative `$ref` names a
//! file beside. Nothing is ever fetched.

use std::{cell::RefCell, path::Path};

use serde_json::Value;

use super::Lowering;
use crate::{
    model::expectation::{SchemaFiles, SchemaRule},
    problems,
    raw::{
        Field,
        union::TextOr,
        value::{Anything, Text},
    },
    yaml::{At, Entry, Kind, Node},
};
use mcp::{
    json::json_schema::{self, Base, Schema, Unusable},
    script::template::text_has_markers,
};

/// Why a schema file cannot be read.
pub(super) const SCHEMA_BY_NAME: &str = "a schema file cannot be named by a `{{…}}`";

impl Lowering<'_> {
    /// The compiled schema of a key.
    pub(super) fn json_schema(&mut self, field: Field<TextOr<Anything>>) -> Option<SchemaRule> {
        let at = field.at;
        let (written, found) = match field.value {
            TextOr::Map(Anything(mut node)) => {
                self.escape_data_in_patterns(&mut node);
                // What is wrong about a marker may be right about its value, of which nothing is known yet.
                let is_template = self.is_open(&node);
                let files = RefCell::default();
                let schema = node.into_value();
                self.check_keywords(&schema, at);
                let found = self.compiled_schema(&schema, Base::Suite, &files);
                if is_template {
                    self.schema_files.append(&mut files.into_inner());
                    let depends =
                        |unusable: &Unusable| unusable.about.as_ref().is_none_or(value_has_markers);
                    if found.as_ref().is_err_and(depends) {
                        return None;
                    }
                }
                ("inline".to_owned(), found)
            }
            // Schemas are compiled when a suite is loaded, before there are values.
            TextOr::Text(path) if self.reading.problems.is_open(path.at) => {
                let problem = |origin| problems::bad_schema(origin, SCHEMA_BY_NAME);
                self.certain_problem(at, problem);
                return None;
            }
            TextOr::Text(path) => {
                let found = self.schema_of_file(&path, at);
                (path.text, found)
            }
        };
        match found {
            Ok(schema) => Some(SchemaRule { written, schema }),
            Err(Unusable { reason, about: _ }) => {
                self.problem(at, |origin| problems::bad_schema(origin, &reason));
                None
            }
        }
    }

    /// What was filled in into the patterns of a schema means itself. Where a schema has data or names of the author's
    /// choice, `pattern` is no keyword.
    fn escape_data_in_patterns(&self, schema: &mut Node) {
        match &mut schema.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {}
            Kind::List(items) => {
                for item in items {
                    self.escape_data_in_patterns(item);
                }
            }
            Kind::Map(keywords) => {
                for keyword in keywords {
                    self.escape_data_in_keyword(keyword);
                }
            }
        }
    }

    fn escape_data_in_keyword(&self, Entry { key, value }: &mut Entry) {
        let keyword = key.text.as_str();
        if json_schema::DATA.contains(&keyword) {
            return;
        }
        match &mut value.kind {
            Kind::Text(text, _) if keyword == "pattern" => {
                *text = self.as_schema_pattern(text, value.at);
            }
            Kind::Map(members) if json_schema::NAMED_SCHEMAS.contains(&keyword) => {
                for Entry { key, value } in members {
                    if keyword == "patternProperties" {
                        key.text = self.as_schema_pattern(&key.text, key.at);
                    }
                    self.escape_data_in_patterns(value);
                }
            }
            Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::Text(..)
            | Kind::List(_)
            | Kind::Map(_) => self.escape_data_in_patterns(value),
        }
    }

    /// The schema in a file.
    fn schema_of_file(&mut self, path: &Text, at: At) -> Result<Schema, Unusable> {
        let text = (self.around.read_file)(Path::new(&path.text)).map_err(Unusable::whole)?;
        let schema = serde_json::from_str::<Value>(&text)
            .map_err(|error| Unusable::whole(format!("`{}` is no JSON: {error}", path.text)))?;
        self.check_keywords(&schema, at);
        let base = Base::File(Path::new(&path.text));
        self.compiled_schema(&schema, base, &RefCell::default())
    }

    /// Tells keys that are nearly a keyword. Any other key is the author's own.
    fn check_keywords(&mut self, schema: &Value, at: At) {
        for misspelt in json_schema::misspelt(schema) {
            let (key, near) = (&misspelt.key, misspelt.near);
            let place = self.within(at, key);
            self.problem(place, |origin| {
                problems::misspelt_keyword(origin, key, near)
            });
        }
    }

    /// A schema, together with the files it refers to, which are noted.
    fn compiled_schema(
        &self,
        schema: &Value,
        base: Base<'_>,
        files: &RefCell<SchemaFiles>,
    ) -> Result<Schema, Unusable> {
        if !(schema.is_object() || schema.is_boolean()) {
            return Err(Unusable::whole("it is neither a map nor a boolean"));
        }
        json_schema::compile_beside(schema, base, &|path| {
            let text = (self.around.read_file)(path)?;
            let mut files = files.borrow_mut();
            files.insert(path.to_owned(), text.clone());
            Ok(text)
        })
    }
}

/// Whether a marker stands in a part of a schema, or in the address of a document, where braces are escaped.
fn value_has_markers(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => text_has_markers(text) || text.contains("%7B%7B"),
        Value::Array(items) => items.iter().any(value_has_markers),
        Value::Object(members) => members
            .iter()
            .any(|(key, member)| text_has_markers(key) || value_has_markers(member)),
    }
}
