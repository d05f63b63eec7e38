//! YAML text to a tree of nodes with their places. Only this module uses the YAML parser.

pub(crate) mod go;
mod merge;
mod node;
mod scalar;
mod tag;
mod tree;

pub(crate) use self::{
    merge::MERGE,
    node::{At, Entry, Key, Kind, Leaf, Node, Source, Style},
    tree::{Document, parse},
};
