//! Expectations about the JSON of an answer.

use serde_json::Number;

use super::PathRule;
use crate::model::counted::CountedPath;
use mcp::json::json_schema::Schema;

/// An expectation about the JSON of the answer.
#[derive(Debug, Clone)]
pub enum JsonWanted {
    /// `json_path`: values in the text read as JSON.
    JsonPath(Vec<PathRule>),
    /// `structured`: values in `structuredContent`.
    Structured(Vec<PathRule>),
    /// `json_schema`: the text read as JSON, or else the structured content, satisfies this schema.
    JsonSchema(Box<SchemaRule>),
    /// `output_schema`: the structured content satisfies the tool's declared `outputSchema`; `false`: no check.
    OutputSchema(bool),
    /// `min_results`: an array in the answer has at least so many items.
    MinResults(Box<ResultCount>),
    /// `max_results`: an array in the answer has at most so many items.
    MaxResults(Box<ResultCount>),
    /// `net_delta`: the member `net_delta` of the answer is this number.
    NetDelta {
        /// The number.
        wanted: Number,
        /// Exact, or cut to an integer first.
        precision: Precision,
    },
}

/// `json_schema`: a compiled schema, and where it came from.
#[derive(Debug, Clone)]
pub struct SchemaRule {
    /// What the suite says: `inline`, or the file.
    pub written: String,
    /// The schema itself.
    pub schema: Schema,
}

/// `min_results`, `max_results`.
#[derive(Debug, Clone)]
pub struct ResultCount {
    /// The bound.
    pub bound: u64,
    /// Where the array is; `None`: the root or a well-known member.
    pub path: Option<CountedPath>,
}

/// How exactly numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// As written.
    Exact,
    /// Cut to an integer first, as the Go tool does.
    Truncated,
}
