//! The shapes of messages by revision: which members they have, which of them are required, and of what type.
//! A table of our own, compared with the published schemas by a test. Only what a server sends.

mod check;
mod content;
mod lifecycle;
mod lists;
mod notifications;
mod requests;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub use self::check::{Flaw, FlawKind, check};
use super::{
    method::Method,
    revision::Revision::{self, V2024_11_05},
};

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Anything.
    Any,
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A number.
    Number,
    /// A number from 0 to 1.
    Ratio,
    /// An integer.
    Integer,
    /// An integer from 0 on.
    Natural,
    /// An integer or null.
    IntegerOrNull,
    /// An id or a progress token: a string or an integer.
    Token,
    /// An object with any members.
    Object,
    /// This string.
    Const(&'static str),
    /// One of these strings.
    Words(&'static [&'static str]),
    /// An array of these.
    List(&'static Self),
    /// The same of so many at most.
    AtMost(usize, &'static Self),
    /// A field of a form: the schema of a text, a number or a flag, or where a revision has it of a choice of several.
    Field,
    /// An object whose values are these.
    Map(&'static Self),
    /// An object with known members.
    Record(&'static Record),
    /// One of some records, told apart by their `type`.
    Kinds(&'static [Kind]),
    /// One of some records, told apart by the member that only one of them has.
    Either(&'static [(&'static str, &'static Record)]),
    /// One of these, or from a revision on an array of them.
    OneOrMany(&'static Self, Revision),
}

/// An object with known members; others are allowed.
#[derive(Debug)]
pub struct Record {
    /// The name in the schema.
    pub name: &'static str,
    /// The members.
    pub members: &'static [Member],
}

/// One of a closed set of records.
#[derive(Debug)]
pub struct Kind {
    /// Its `type`.
    pub tag: &'static str,
    /// Its members.
    pub record: &'static Record,
    /// The first revision that has it.
    pub since: Revision,
}

/// A member of a record.
#[derive(Debug, Clone, Copy)]
pub struct Member {
    /// Its name.
    pub name: &'static str,
    /// What its value may be.
    pub shape: Shape,
    /// Whether it may be missing.
    pub need: Need,
    /// The first revision that has it.
    pub since: Revision,
    /// The first revision that does not have it any more.
    pub until: Option<Revision>,
}

/// Whether a member may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must be there.
    Required,
    /// It may be missing.
    Optional,
    /// It may be missing in this revision alone.
    RequiredBut(Revision),
}

/// A record, the name it has in the schema, and its members.
const fn named(name: &'static str) -> Record {
    Record { name, members: &[] }
}

/// A record that the schema has no name for.
const fn unnamed(members: &'static [Member]) -> Record {
    named("").of(members)
}

impl Record {
    const fn of(self, members: &'static [Member]) -> Self {
        Self { members, ..self }
    }
}

const fn kind(tag: &'static str, record: &'static Record, since: Revision) -> Kind {
    Kind { tag, record, since }
}

const fn required(name: &'static str, shape: Shape) -> Member {
    Member {
        name,
        shape,
        need: Need::Required,
        since: V2024_11_05,
        until: None,
    }
}

const fn optional(name: &'static str, shape: Shape) -> Member {
    Member {
        need: Need::Optional,
        ..required(name, shape)
    }
}

impl Member {
    const fn since(self, since: Revision) -> Self {
        Self { since, ..self }
    }

    const fn until(self, until: Revision) -> Self {
        Self {
            until: Some(until),
            ..self
        }
    }

    /// Whether this revision has it.
    pub fn is_in(&self, revision: Revision) -> bool {
        self.since <= revision && self.until.is_none_or(|until| revision < until)
    }

    /// Whether it must be there in this revision.
    pub fn is_required(&self, revision: Revision) -> bool {
        match self.need {
            Need::Required => true,
            Need::Optional => false,
            Need::RequiredBut(other) => revision != other,
        }
    }
}

/// The result of a method.
pub fn result(method: Method) -> &'static Record {
    match method {
        Method::Initialize => &lifecycle::INITIALIZE_RESULT,
        Method::Discover => &lifecycle::DISCOVER_RESULT,
        Method::Ping
        | Method::ResourcesSubscribe
        | Method::ResourcesUnsubscribe
        | Method::LoggingSetLevel
        | Method::TasksGet
        | Method::TasksUpdate
        | Method::TasksCancel => &lifecycle::RESULT,
        Method::ToolsList => &lists::LIST_TOOLS_RESULT,
        Method::ToolsCall => &content::CALL_TOOL_RESULT,
        Method::ResourcesList => &lists::LIST_RESOURCES_RESULT,
        Method::ResourceTemplatesList => &lists::LIST_RESOURCE_TEMPLATES_RESULT,
        Method::ResourcesRead => &content::READ_RESOURCE_RESULT,
        Method::PromptsList => &lists::LIST_PROMPTS_RESULT,
        Method::PromptsGet => &content::GET_PROMPT_RESULT,
        Method::CompletionComplete => &lists::COMPLETE_RESULT,
        Method::SubscriptionsListen => &lifecycle::LISTEN_RESULT,
    }
}

/// A result that asks for input.
pub fn input_required() -> &'static Record {
    &lifecycle::INPUT_REQUIRED_RESULT
}

/// The parameters of a notification; `None` where nothing is required of them.
pub fn notification(method: &str) -> Option<&'static Record> {
    notifications::ALL
        .iter()
        .find(|(name, _)| *name == method)
        .map(|(_, params)| *params)
}

/// The parameters of a server's request; `None` where nothing is required of them.
pub fn request(method: &str, revision: Revision, params: &Value) -> Option<&'static Record> {
    match method {
        "sampling/createMessage" => Some(&requests::CREATE_MESSAGE),
        "elicitation/create" if revision.has_elicitation_modes() && is_for_url(params) => {
            Some(&requests::ELICIT_URL)
        }
        "elicitation/create" => Some(&requests::ELICIT_FORM),
        _ => None,
    }
}

/// Whether an elicitation sends the user to a URL, where there are modes.
pub fn is_for_url(params: &Value) -> bool {
    params.get("mode").and_then(Value::as_str) == Some("url")
}
