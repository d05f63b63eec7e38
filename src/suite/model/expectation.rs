//! What an assertion wants. One YAML key under `expect`, one variant; the doc comment of a variant is its
//! entry in the reference.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde_json::{Number, Value};

use super::counted::CountedPath;
pub(crate) use super::value_rule::{
    Comparison, JsonType, LengthRule, Matcher, PathRule, ValueRule,
};
pub(crate) use crate::protocol::method::LogLevel;
use crate::{
    observation::finding::FindingCode,
    script::pattern::Pattern,
    suite::yaml::Node,
    words::{json_schema::Schema, source::Origin},
};

/// An expectation at its place.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// The YAML key, e.g. `contains`.
    pub(crate) key: &'static str,
    /// Key and value in the suite.
    pub(crate) origin: Origin,
    /// The expectation, or what it will be once its `{{…}}` have values.
    pub(crate) state: WantedState,
}

/// Whether an expectation is known at load.
#[derive(Debug, Clone)]
pub(crate) enum WantedState {
    /// It is.
    Ready(Expectation),
    /// Its value holds `{{…}}`: rendered when the bindings of the job are complete, then lowered by
    /// `suite::lower::expectation`.
    Templated(Box<Unresolved>),
}

/// An expectation whose value holds `{{…}}`.
#[derive(Debug, Clone)]
pub(crate) struct Unresolved {
    /// Which keys it is one of.
    pub(crate) family: Family,
    /// The value as the suite has it: how numbers and words are written is kept, since they may be meant as texts.
    pub(crate) value: Node,
    /// The files that schemas in it refer to, as they were at load: later there is no folder to look in.
    pub(crate) schema_files: SchemaFiles,
}

/// Files that schemas refer to, by their paths as the suite has them.
pub(crate) type SchemaFiles = BTreeMap<PathBuf, String>;

/// The places where expectations stand; some keys mean something else at another place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// `expect`.
    Answer,
    /// The `expect` of `assert_logging`.
    Logging,
    /// The `expect` of `assert_notifications`.
    Notifications,
    /// `expect_request`; the method is the one meant when none is written.
    Request(&'static str),
    /// A rule of `trajectory`.
    Trajectory,
}

/// Everything one `expect` key can ask. A suite holds very many of them: what is large stands in a box.
#[derive(Debug, Clone)]
pub(crate) enum Expectation {
    /// `not_error`: the answer is a result that is no tool error; `false` wants a tool error.
    NotError(bool),
    /// `is_error`: the answer is a tool error; `false` wants a result that is none.
    IsError(bool),
    /// `error`: the answer is this JSON-RPC error.
    Error(Box<ErrorWanted>),
    /// `not_empty`: text that is not blank, `null`, `[]` or `{}`, or any other content; `false` wants none.
    NotEmpty(bool),
    /// `equals`: the text is this, surrounding white space aside.
    Equals(String),
    /// `contains`: the text holds each of these.
    Contains(Vec<String>),
    /// `contains_any`: the text holds at least one of these; an empty list holds.
    ContainsAny(Vec<String>),
    /// `not_contains`: none of these occurs in any content, structured content included.
    NotContains(Vec<String>),
    /// `in_order`: the text holds these one after another.
    InOrder(Vec<String>),
    /// `matches_regex`: each of these patterns is found in the text.
    MatchesRegex(Vec<Pattern>),
    /// `json_path`: values in the text read as JSON.
    JsonPath(Vec<PathRule>),
    /// `structured`: values in `structuredContent`.
    Structured(Vec<PathRule>),
    /// `json_schema`: the text read as JSON, or else the structured content, satisfies this schema.
    JsonSchema(Box<SchemaRule>),
    /// `output_schema`: the structured content satisfies the tool's declared `outputSchema`; `false`: no check.
    OutputSchema(bool),
    /// `content`: the content blocks are these, in order, each given partially.
    Content(Vec<ContentRule>),
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
    /// `file_contains`: each file holds each of these texts.
    FileContains(Vec<FileTexts>),
    /// `file_not_contains`: each file exists and holds none of these texts.
    FileNotContains(Vec<FileTexts>),
    /// `file_equals`: each file is exactly this text.
    FileEquals(Vec<FileTexts>),
    /// `file_exists`: each path is there.
    FileExists(Vec<String>),
    /// `file_not_exists`: each path is not there.
    FileNotExists(Vec<String>),
    /// `file_unchanged`: each path is as it was before.
    FileUnchanged(Vec<String>),
    /// `only_changed`: nothing but these paths (globs) changed in the fixture.
    OnlyChanged(Vec<PathPattern>),
    /// `min_progress`: at least so many progress notifications for this call.
    MinProgress(u64),
    /// `progress`: how progress was told.
    Progress(ProgressWanted),
    /// `max_duration`: the answer came within this time.
    MaxDuration(Duration),
    /// `max_bytes`: the answer is at most so long.
    MaxBytes(u64),
    /// `notifications`: what the server told during the call.
    Notifications(Box<NotificationsWanted>),
    /// The `expect` of `assert_logging`: the log messages.
    Logging(Box<LoggingWanted>),
    /// `expect_notification` of `assert_resources`: whether `notifications/resources/updated` must come or must not. Of
    /// which resource is not asked: the update may be about a sub-resource of the one that was subscribed to.
    ResourceUpdated(Presence),
    /// `server_requests`: what the server asked of the client; an empty list: nothing.
    ServerRequests(Vec<ServerRequestWanted>),
    /// `stderr`: what the server wrote there.
    Stderr(Box<StderrWanted>),
    /// `exit`: how the server ended after the session was closed.
    Exit(ExitWanted),
    /// `findings`: no protocol findings but these.
    Findings(Vec<FindingCode>),
    /// `snapshot`: the answer is as stored; loads and validates, running it is an `Error` until snapshots come.
    Snapshot(
        #[expect(
            dead_code,
            reason = "validated with the suite; only the transport that runs it reads it"
        )]
        Box<Value>,
    ),
    /// One rule of `trajectory`.
    Trajectory(Box<TrajectoryRule>),
    /// `not`: each of these does not hold.
    Not(Vec<(&'static str, Self)>),
}

/// How exactly numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    /// As written.
    Exact,
    /// Cut to an integer first, as the Go tool does.
    Truncated,
}

/// Whether something must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It must.
    Present,
    /// It must not.
    Absent,
}

/// A text wanted literally or by pattern (`/…/`).
#[derive(Debug, Clone)]
pub(crate) enum TextRule {
    /// Contained literally.
    Literal(String),
    /// Found by this pattern.
    Pattern(Pattern),
}

/// `error`: what the JSON-RPC error must be; what is absent is not looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ErrorWanted {
    /// Its code.
    pub(crate) code: Option<i64>,
    /// Its message.
    pub(crate) message: Option<TextRule>,
    /// Part of its data.
    pub(crate) data: Option<Value>,
}

/// `json_schema`: a compiled schema, and where it came from.
#[derive(Debug, Clone)]
pub(crate) struct SchemaRule {
    /// What the suite says: `inline`, or the file.
    pub(crate) written: String,
    /// The schema itself.
    pub(crate) schema: Schema,
}

/// One content block: members that must be equal (partially), and its size.
#[derive(Debug, Clone)]
pub(crate) struct ContentRule {
    /// Members, compared partially and deeply.
    pub(crate) members: Value,
    /// At least so many bytes of decoded `data` (or of `text`).
    pub(crate) min_bytes: Option<u64>,
}

/// `min_results`, `max_results`.
#[derive(Debug, Clone)]
pub(crate) struct ResultCount {
    /// The bound.
    pub(crate) bound: u64,
    /// Where the array is; `None`: the root or a well-known member.
    pub(crate) path: Option<CountedPath>,
}

/// A file and texts about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileTexts {
    /// The path, as [`crate::observation::files::FilesSeen::paths`] has it.
    pub(crate) path: String,
    /// The texts.
    pub(crate) texts: Vec<String>,
}

/// A glob over paths relative to the fixture.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    /// As written.
    pub(crate) written: String,
    /// Compiled.
    pub(crate) glob: globset::GlobMatcher,
}

/// `progress`; what is absent is not looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgressWanted {
    /// At least so many.
    pub(crate) min: Option<u64>,
    /// Whether each value is greater than the one before.
    pub(crate) monotonic: Option<bool>,
    /// Whether the last value is the total.
    pub(crate) last_equals_total: Option<bool>,
}

/// `notifications`, and the `expect` of `assert_notifications`.
#[derive(Debug, Clone, Default)]
pub(crate) struct NotificationsWanted {
    /// Which ones are looked at.
    pub(crate) since: Since,
    /// At least so many.
    pub(crate) min_count: Option<u64>,
    /// At most so many.
    pub(crate) max_count: Option<u64>,
    /// Each of these methods occurs.
    pub(crate) methods: Vec<String>,
    /// None of these methods occurs.
    pub(crate) not_methods: Vec<String>,
    /// These methods occur one after another.
    pub(crate) in_order: Vec<String>,
    /// Each of these texts occurs in the parameters (compact JSON without `_meta`) of some notification.
    pub(crate) contains_data: Vec<String>,
    /// None of these texts occurs there.
    pub(crate) not_contains_data: Vec<String>,
    /// What progress of our own requests is where something must not come.
    pub(crate) provoked: Provoked,
}

/// What progress of our own requests is to an expectation that something does not come: we ask for it with every call,
/// and a server that is not asked tells none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Provoked {
    /// A notification like any other: the suite names it.
    #[default]
    Counted,
    /// Not counted against a limit.
    Uncounted,
    /// As if it had not come: the Go tool does not ask for it.
    PassedOver,
}

/// From when on notifications count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Since {
    /// From the call of the subject on: `notifications` under `expect`.
    #[default]
    TheCall,
    /// From the first byte on, those of the setup included, as the Go tool counts them: `assert_notifications`.
    TheBeginning,
}

/// The `expect` of `assert_logging`.
#[derive(Debug, Clone, Default)]
pub(crate) struct LoggingWanted {
    /// At least so many messages.
    pub(crate) min_messages: Option<u64>,
    /// At most so many messages.
    pub(crate) max_messages: Option<u64>,
    /// A message of each of these levels.
    pub(crate) contains_level: Vec<String>,
    /// Each of these texts in the data of some message: the text itself when `data` is a string, else
    /// compact JSON; the Go tool's `map[k:v]` rendering is accepted too.
    pub(crate) contains_data: Vec<String>,
    /// No message below this level.
    pub(crate) not_below: Option<LogLevel>,
}

/// One entry of `server_requests`, `expect_request` included.
#[derive(Debug, Clone)]
pub(crate) struct ServerRequestWanted {
    /// The method asked for, e.g. `sampling/createMessage`.
    pub(crate) method: String,
    /// How often; `None`: at least once.
    pub(crate) count: Option<u64>,
    /// Part of the parameters of those that count.
    pub(crate) params: Option<Value>,
}

/// `stderr`.
#[derive(Debug, Clone, Default)]
pub(crate) struct StderrWanted {
    /// It holds each of these.
    pub(crate) contains: Vec<String>,
    /// It holds none of these.
    pub(crate) not_contains: Vec<String>,
    /// Each of these patterns is found in it.
    pub(crate) matches: Vec<Pattern>,
}

/// `exit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExitWanted {
    /// With this code.
    Code(i32),
    /// Cleanly (code 0 on the end of stdin, nothing left behind), or not.
    Clean(bool),
}

/// One rule over a list of tool calls.
#[derive(Debug, Clone)]
pub(crate) enum TrajectoryRule {
    /// `order`: these tools are called one after another, others may lie between.
    Order(Vec<String>),
    /// `presence`: each of these tools is called.
    Presence(Vec<String>),
    /// `absence`: none of these tools is called.
    Absence(Vec<String>),
    /// `args_contain`: some call (the first one, the Go tool's way) of the tool has these arguments, partially.
    ArgsContain {
        /// The tool.
        tool: String,
        /// Part of its arguments.
        args: Value,
        /// Which calls are looked at.
        among: Among,
    },
    /// `count`: the tool is called so often.
    Count {
        /// The tool.
        tool: String,
        /// At least.
        min: Option<u64>,
        /// At most.
        max: Option<u64>,
    },
    /// `never_after`: once `after` was called, `tool` is not called any more.
    NeverAfter {
        /// The tool.
        tool: String,
        /// The tool it must not follow.
        after: String,
    },
    /// `adjacent`: these tools are called one right after another.
    Adjacent(Vec<String>),
    /// `outcome`: every call of the tool ended so.
    Outcome {
        /// The tool.
        tool: String,
        /// How.
        outcome: crate::observation::TraceOutcome,
    },
    /// `within_ms`: the first call of `from` (or the first call) and the last call of `to` (or the last call)
    /// are at most so far apart.
    WithinMs {
        /// The longest time, in milliseconds.
        limit_ms: u64,
        /// Where it begins.
        from: Option<String>,
        /// Where it ends.
        to: Option<String>,
    },
}

/// Which calls of a tool `args_contain` looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Among {
    /// Any call may match, arguments compared exactly, partially and deeply.
    Any,
    /// Only the first call, top-level arguments compared as the Go tool prints them.
    First,
}
