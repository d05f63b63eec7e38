//! JSON in texts, its numbers, paths and schemas: thin over the libraries.

pub mod json_path;
pub mod json_schema;
pub mod json_text;
pub mod number;
pub mod outside;
pub mod walk;
