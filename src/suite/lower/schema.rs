//! `json_schema`: written in the suite, or a file relative to it. Nothing is ever fetched.

use std::path::Path;

use serde_json::Value;

use super::Lowering;
use crate::suite::{
    model::expectation::SchemaRule,
    problems,
    raw::{Field, union::TextOr, value::Anything},
};

/// The most memory one pattern of a schema may take, in bytes.
const LARGEST_PATTERN: usize = 4 * 1024 * 1024;

impl Lowering<'_> {
    /// The compiled schema of a key.
    pub(super) fn json_schema(&mut self, field: Field<TextOr<Anything>>) -> Option<SchemaRule> {
        let at = field.at;
        let (written, schema) = match field.value {
            TextOr::Map(Anything(node)) => ("inline".to_owned(), Ok(node.into_value())),
            TextOr::Text(path) => {
                let read = (self.around.read_file)(Path::new(&path.text));
                let schema = read.and_then(|text| {
                    serde_json::from_str::<Value>(&text)
                        .map_err(|error| format!("`{}` is no JSON: {error}", path.text))
                });
                (path.text, schema)
            }
        };
        match schema.and_then(|schema| compile(&schema)) {
            Ok(validator) => Some(SchemaRule { written, validator }),
            Err(reason) => {
                self.problem(at, |origin| problems::bad_schema(origin, &reason));
                None
            }
        }
    }
}

/// The validator of a schema: its own draft, 2020-12 when it names none.
fn compile(schema: &Value) -> Result<jsonschema::Validator, String> {
    if !(schema.is_object() || schema.is_boolean()) {
        return Err("it is neither a map nor a boolean".into());
    }
    jsonschema::options()
        .offline()
        .with_pattern_options(jsonschema::PatternOptions::regex().size_limit(LARGEST_PATTERN))
        .build(schema)
        .map_err(|error| {
            let place = error.instance_path().to_string();
            if place.is_empty() {
                error.to_string()
            } else {
                format!("{error}, at `{place}`")
            }
        })
}
