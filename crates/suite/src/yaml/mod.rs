//! YAML text to a tree of nodes with their places. Only this module uses the YAML parser.

pub(crate) mod go;
mod merge;
mod node;
mod scalar;
mod tag;
mod tree;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use self::{
    merge::MERGE,
    node::{At, Entry, Key, Kind, Leaf, Node, Source, Style},
    tree::{Document, parse},
};

use crate::{Dialect, problems::Problems};
use text::source::SourceFile;

/// The value of a YAML text of one document; otherwise why it has none.
pub fn value(text: &str) -> Result<Value, String> {
    let file = Arc::new(SourceFile::new(String::new(), text.to_owned()));
    let problems = Problems::new(file, None);
    let mut documents = parse(text, Source::Suite, problems, Dialect::Native);
    let document = documents.next().ok_or("it is empty")?;
    if documents.next().is_some() {
        return Err("it has several documents".to_owned());
    }
    match (document.problems.first(), document.root) {
        (Some(problem), _) => {
            let line = problem.origin.as_ref().map(|it| it.position().line);
            let line = line.map(|it| format!(" in line {it}")).unwrap_or_default();
            Err(format!("{}{line}", problem.message))
        }
        (None, root) => Ok(root.map(Node::into_value).unwrap_or_default()),
    }
}
