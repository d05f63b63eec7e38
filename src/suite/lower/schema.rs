//! `json_schema`: written in the suite, or a file relative to it; a relative `$ref` names a
//! file beside. Nothing is ever fetched.

use std::path::Path;

use serde_json::Value;

use super::Lowering;
use crate::{
    suite::{
        model::expectation::SchemaRule,
        problems,
        raw::{Field, union::TextOr, value::Anything},
    },
    words::json_schema::{self, Base, Schema},
};

impl Lowering<'_> {
    /// The compiled schema of a key.
    pub(super) fn json_schema(&mut self, field: Field<TextOr<Anything>>) -> Option<SchemaRule> {
        let at = field.at;
        let (written, found) = match field.value {
            TextOr::Map(Anything(node)) => {
                let found = self.compiled_schema(&node.into_value(), Base::Suite);
                ("inline".to_owned(), found)
            }
            TextOr::Text(path) if matches!(path.text.as_str(), "true" | "false") => {
                self.problem(at, |origin| problems::bare_schema(origin, &path.text));
                return None;
            }
            TextOr::Text(path) => {
                let read = (self.around.read_file)(Path::new(&path.text));
                let found = read.and_then(|text| {
                    let schema = serde_json::from_str::<Value>(&text)
                        .map_err(|error| format!("`{}` is no JSON: {error}", path.text))?;
                    self.compiled_schema(&schema, Base::File(Path::new(&path.text)))
                });
                (path.text, found)
            }
        };
        match found {
            Ok(schema) => Some(SchemaRule { written, schema }),
            Err(reason) => {
                self.problem(at, |origin| problems::bad_schema(origin, &reason));
                None
            }
        }
    }

    /// A schema, together with the files it refers to.
    fn compiled_schema(&self, schema: &Value, base: Base<'_>) -> Result<Schema, String> {
        if !(schema.is_object() || schema.is_boolean()) {
            return Err("it is neither a map nor a boolean".into());
        }
        json_schema::compile_beside(schema, base, self.around.read_file)
    }
}
