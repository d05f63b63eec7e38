//! The rules of `json_path` and `structured`: what is expected at places of a JSON document. Checking them is the
//! task of `check::json`.

use serde_json::{Number, Value};
use serde_json_path::JsonPath;

use super::counted::{self, CountedStep};
use mcp::script::pattern::Pattern;

/// A place in a JSON document and what must be there.
#[derive(Debug, Clone)]
pub struct PathRule {
    /// The path as written.
    pub written: String,
    /// The path, compiled.
    pub path: JsonPath,
    /// What it chooses from, if it can match several places.
    pub chosen_from: Option<Box<CountedStep>>,
    /// What is expected there.
    pub rule: ValueRule,
}

impl PathRule {
    /// A rule for a path that was compiled; the beginning of it is compiled in the same way.
    pub fn new(
        written: &str,
        path: JsonPath,
        rule: ValueRule,
        compile: impl Fn(&str) -> Option<JsonPath>,
    ) -> Self {
        Self {
            written: written.to_owned(),
            path,
            chosen_from: counted::chosen_from(written, compile).map(Box::new),
            rule,
        }
    }

    /// A rule for a path in the form of RFC 9535.
    #[cfg(any(test, feature = "testing"))]
    #[allow(clippy::expect_used, reason = "for tests")]
    pub fn at(written: &str, rule: ValueRule) -> Self {
        let compile = |text: &str| JsonPath::parse(text).ok();
        let path = compile(written).expect("tests have valid paths");
        Self::new(written, path, rule, compile)
    }
}

/// What a JSON value is expected to be.
#[derive(Debug, Clone)]
pub enum ValueRule {
    /// Equal, by type and value; numbers by value, whatever their notation.
    Equals(Value),
    /// Equal as the Go tool compares: by the text both are printed as (`1` and `"1"` are the same).
    Loosely(Value),
    /// A map of matchers; all must hold.
    Matchers(Vec<Matcher>),
}

/// One matcher of `json_path` and `structured`.
#[derive(Debug, Clone)]
pub enum Matcher {
    /// `exists`: whether anything is there.
    Exists(bool),
    /// `type`: the JSON type; an integer is a number too.
    Type(JsonType),
    /// `gt`, `ge`, `lt`, `le`.
    Compare(Comparison, Number),
    /// `matches`: a string in which the pattern is found.
    Matches(Pattern),
    /// `contains`: a string that holds this text, an array that holds this item, an object that holds these members.
    Contains(Value),
    /// `length`: of a string in characters, of an array or object in items.
    Length(LengthRule),
    /// `one_of`: equal to one of these.
    OneOf(Vec<Value>),
    /// `equals`: equal to this, even if it looks like a map of matchers.
    Equals(Value),
    /// `not`: equal to this, or these matchers, must not hold.
    Not(Box<ValueRule>),
}

/// The order wanted between the value and a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `gt`
    Greater,
    /// `ge`
    AtLeast,
    /// `lt`
    Less,
    /// `le`
    AtMost,
}

/// What a length is expected to be.
#[derive(Debug, Clone)]
pub enum LengthRule {
    /// Exactly this.
    Exactly(u64),
    /// Each of these.
    Within(Vec<(Comparison, Number)>),
}

/// The types of JSON, with the schema word `integer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonType {
    /// null
    Null,
    /// true, false
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}
