//! YAML text to a tree of nodes with their places. Owns the YAML parser: nothing else sees its types. What is
//! wrong with the YAML itself is collected here; what the tree means is read by `suite::raw`.

pub(crate) mod go;
mod merge;
pub(crate) mod node;
mod scalar;
mod tag;
mod tree;

pub(crate) use self::{
    merge::MERGE,
    node::{At, Entry, Key, Kind, Node, Source, Style},
    tree::{Document, parse},
};
