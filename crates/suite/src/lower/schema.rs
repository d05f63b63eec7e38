//! `json_schema`: written in the suite, or a file relative to it; a relative `$ref` names a file beside. Nothing is
//! fetched.

use std::{cell::RefCell, path::Path};

use serde_json::Value;

use super::Lowering;
use crate::{
    model::expectation::{JsonWanted, SchemaFiles, SchemaRule},
    problems,
    raw::{
        Field,
        union::TextOr,
        value::{Anything, Text},
    },
    yaml::At,
};
use mcp::json::json_schema::{self, Base, Schema};

/// Why a schema file cannot be read.
const SCHEMA_BY_NAME: &str = "a schema file cannot be named by a `{{…}}`";

impl Lowering<'_> {
    /// The compiled schema of a key.
    pub(super) fn json_schema(&mut self, field: Field<TextOr<Anything>>) -> Option<JsonWanted> {
        let at = field.at;
        let (written, found) = match field.value {
            TextOr::Other(Anything(node)) => {
                let is_template = self.is_open(&node);
                let files = RefCell::default();
                let schema = node.into_value();
                self.check_keywords(&schema, at);
                let found = self.compiled_schema(&schema, Base::Suite, &files);
                if is_template {
                    self.schema_files.append(&mut files.into_inner());
                    // An error may depend on a value that is not known yet.
                    found.as_ref().ok()?;
                }
                ("inline".to_owned(), found)
            }
            // The files of schemas are read when a suite is loaded, before there are values.
            TextOr::Text(path) if self.reading.problems.is_open(path.at) => {
                let problem = problems::bad_schema(SCHEMA_BY_NAME);
                self.problems().add_certain(at, problem);
                return None;
            }
            TextOr::Text(path) => {
                let found = self.schema_of_file(&path, at);
                (path.text, found)
            }
        };
        match found {
            Ok(schema) => Some(JsonWanted::JsonSchema(Box::new(SchemaRule {
                written,
                schema,
            }))),
            Err(reason) => {
                self.problem(at, problems::bad_schema(&reason));
                None
            }
        }
    }

    /// The schema in a file.
    fn schema_of_file(&mut self, path: &Text, at: At) -> Result<Schema, String> {
        let text = (self.around.read_file)(Path::new(&path.text))?;
        let schema = serde_json::from_str::<Value>(&text)
            .map_err(|error| format!("`{}` is not JSON: {error}", path.text))?;
        self.check_keywords(&schema, at);
        let base = Base::File(Path::new(&path.text));
        self.compiled_schema(&schema, base, &RefCell::default())
    }

    /// Reports keys that are nearly a keyword. Any other key is the author's own.
    fn check_keywords(&mut self, schema: &Value, at: At) {
        for misspelt in json_schema::misspelt(schema) {
            let (key, near) = (&misspelt.key, misspelt.near);
            let place = self.within(at, key);
            self.problem(place, problems::misspelt_keyword(key, near));
        }
    }

    /// A schema, together with the files it refers to, which are noted.
    fn compiled_schema(
        &self,
        schema: &Value,
        base: Base<'_>,
        files: &RefCell<SchemaFiles>,
    ) -> Result<Schema, String> {
        if !(schema.is_object() || schema.is_boolean()) {
            return Err("it is neither a map nor a boolean".into());
        }
        let compiled = json_schema::compile_beside(schema, base, &|path| {
            let text = (self.around.read_file)(path)?;
            let mut files = files.borrow_mut();
            files.insert(path.to_owned(), text.clone());
            Ok(text)
        });
        compiled.map_err(|unusable| unusable.reason)
    }
}
