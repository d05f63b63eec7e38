//! The schemas that a catalog declares, compiled. What they say to an answer is `check`'s.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::json::json_schema::Schema;

/// The schemas of listed tools as they were compiled for the first answer that was held against them: every
/// further answer of the run is held against the same. Says nothing about the server that the lists do not say.
#[derive(Debug, Default)]
pub struct Schemas {
    compiled: Mutex<HashMap<SchemaOf, Option<Arc<Schema>>>>,
}

/// A tool's name and the key of one of its schemas.
type SchemaOf = (String, &'static str);

impl Schemas {
    /// What was made of the schema under `key` of a tool; `make` is asked once.
    pub fn compiled(
        &self,
        tool: &str,
        key: &'static str,
        make: impl FnOnce() -> Option<Schema>,
    ) -> Option<Arc<Schema>> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = compiled.entry((tool.to_owned(), key));
        entry.or_insert_with(|| make().map(Arc::new)).clone()
    }
}

impl Clone for Schemas {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Schemas {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Schemas {}
