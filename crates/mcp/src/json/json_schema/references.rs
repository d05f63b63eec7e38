//! Where the local references of a schema lead: pointers, anchors and ids of the same document.

use std::{collections::HashMap, sync::OnceLock};

use percent_encoding::percent_decode_str;
use serde_json::Value;

/// A document that schemas stand in, with the names they have there.
#[derive(Debug)]
pub struct References<'a> {
    root: &'a Value,
    names: OnceLock<Names<'a>>,
}

/// Schemas by what references call them.
#[derive(Debug, Default)]
struct Names<'a> {
    ids: HashMap<&'a str, &'a Value>,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> References<'a> {
    /// Those of a document.
    pub fn new(root: &'a Value) -> Self {
        Self {
            root,
            names: OnceLock::new(),
        }
    }

    /// What a reference leads to; `None` where that is in another document, or nowhere.
    pub fn target(&self, reference: &str) -> Option<&'a Value> {
        let names = || self.names.get_or_init(|| names(self.root));
        let Some(fragment) = reference.strip_prefix('#') else {
            return names().ids.get(reference).copied();
        };
        let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(&fragment);
        }
        names().anchors.get(fragment.as_ref()).copied()
    }
}

/// The names of all schemas; of two that have one name, the one further up has it.
fn names(root: &Value) -> Names<'_> {
    let mut names = Names::default();
    let mut waiting = vec![root];
    while !waiting.is_empty() {
        for value in std::mem::take(&mut waiting) {
            match value {
                Value::Object(map) => {
                    let text = |keyword| map.get(keyword).and_then(Value::as_str);
                    if let Some(id) = text("$id") {
                        names.ids.entry(id).or_insert(value);
                    }
                    for anchor in ["$anchor", "$dynamicAnchor"].into_iter().filter_map(text) {
                        names.anchors.entry(anchor).or_insert(value);
                    }
                    waiting.extend(map.values());
                }
                Value::Array(items) => waiting.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
    }
    names
}
