//! What an assertion does: its subject, and the steps before it.

use std::time::Duration;

use crate::{
    observation::TraceCall,
    script::template::{Template, ValueTemplate},
};

/// The subject of an assertion. One YAML key, one variant.
#[derive(Debug, Clone)]
pub enum Subject {
    /// `assert`: one `tools/call`.
    Tool(ToolCall),
    /// `assert_tools`: `tools/list`, all pages.
    Tools(ListCall),
    /// `assert_initialize`: the handshake alone.
    Initialize,
    /// `assert_resources`.
    Resources(Box<ResourcesCall>),
    /// `assert_prompts`.
    Prompts(PromptsCall),
    /// `assert_completion`: `completion/complete`.
    Completion(Box<CompletionCall>),
    /// `assert_sampling`: a tool that asks the client for a sample.
    Sampling(ToolCall),
    /// `assert_elicitation`: a tool that asks the user.
    Elicitation(ToolCall),
    /// `assert_logging`: `logging/setLevel`, then a tool, then a wait for log messages.
    Logging {
        /// The level to set; `None` sends no `logging/setLevel`.
        level: Option<Template>,
        /// The tool to call after it.
        call: Option<Box<ToolCall>>,
        /// How long to wait for messages after it, when the suite says so.
        within: Option<Duration>,
    },
    /// `assert_notifications`: a tool, then a wait for notifications.
    Notifications {
        /// The tool to call.
        call: Box<ToolCall>,
        /// How long to wait for notifications after it, when the suite says so.
        within: Option<Duration>,
    },
    /// `trajectory` over `trace` or `audit_log`: no server.
    Trajectory(TraceSource),
    /// `steps`: several calls on one session.
    Steps {
        /// The steps.
        steps: Vec<Step>,
        /// One after another, or all at once.
        order: StepOrder,
    },
    /// `raw`: frames sent as written.
    Raw(RawExchange),
    /// `http`: one request of HTTP, on a connection of its own.
    Http(Box<HttpCall>),
}

/// What an assertion needs of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None: it is about a log.
    Nothing,
    /// One whose streams nobody talks over before or after: it is about the handshake, the process, or what the session
    /// hears, or changes what that is.
    Fresh,
    /// A session, whoever had it before.
    Session,
}

impl Subject {
    /// What it needs of its server.
    pub fn needs(&self) -> Needs {
        match self {
            Self::Resources(call) if call.subscribe.is_some() || call.unsubscribe.is_some() => {
                Needs::Fresh
            }
            Self::Tool(_)
            | Self::Tools(_)
            | Self::Resources(_)
            | Self::Prompts(_)
            | Self::Completion(_)
            | Self::Sampling(_)
            | Self::Elicitation(_)
            | Self::Steps { .. } => Needs::Session,
            Self::Initialize
            | Self::Logging { .. }
            | Self::Notifications { .. }
            | Self::Raw(_)
            | Self::Http(_) => Needs::Fresh,
            Self::Trajectory(_) => Needs::Nothing,
        }
    }

    /// The YAML key.
    pub fn key(&self) -> &'static str {
        match self {
            Self::Tool(_) => "assert",
            Self::Tools(_) => "assert_tools",
            Self::Initialize => "assert_initialize",
            Self::Resources(_) => "assert_resources",
            Self::Prompts(_) => "assert_prompts",
            Self::Completion(_) => "assert_completion",
            Self::Sampling(_) => "assert_sampling",
            Self::Elicitation(_) => "assert_elicitation",
            Self::Logging { .. } => "assert_logging",
            Self::Notifications { .. } => "assert_notifications",
            Self::Trajectory(_) => "trajectory",
            Self::Steps { .. } => "steps",
            Self::Raw(_) => "raw",
            Self::Http(_) => "http",
        }
    }

    /// How long the suite says that notifications and requests of the server are waited for after the answer.
    pub fn within(&self) -> Option<Duration> {
        if let Self::Logging { within, .. } | Self::Notifications { within, .. } = self {
            *within
        } else if let Self::Resources(call) = self {
            call.within
        } else {
            None
        }
    }

    /// Whether what is checked comes from a tool.
    pub fn calls_tools(&self) -> bool {
        matches!(
            self,
            Self::Tool(_)
                | Self::Sampling(_)
                | Self::Elicitation(_)
                | Self::Logging { .. }
                | Self::Notifications { .. }
                | Self::Steps { .. }
        )
    }

    /// The steps it is made of; none if it is made of something else.
    pub fn steps(&self) -> &[Step] {
        if let Self::Steps { steps, .. } = self {
            steps
        } else {
            &[]
        }
    }
}

/// Whether steps wait for each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepOrder {
    /// Each waits for the one before.
    OneByOne,
    /// All are sent before any answer is awaited.
    Parallel,
}

/// A `tools/call`.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The tool.
    pub tool: Template,
    /// Its arguments; an empty object when the suite has none.
    pub args: ValueTemplate,
}

/// A list request.
#[derive(Debug, Clone, Default)]
pub struct ListCall {
    /// A single page from this cursor; `None`: all pages.
    pub cursor: Option<Template>,
}

/// `assert_resources`: what is done, in this order: subscribe, the read or list, the wait, unsubscribe.
#[derive(Debug, Clone)]
pub struct ResourcesCall {
    /// `resources/subscribe` first.
    pub subscribe: Option<Template>,
    /// The request whose answer is checked; `None`: the answer to `subscribe` is.
    pub action: Option<ResourcesAction>,
    /// `resources/unsubscribe` at the end.
    pub unsubscribe: Option<Template>,
    /// How long to wait for notifications before that, when the suite says so.
    pub within: Option<Duration>,
}

/// The request of `assert_resources`.
#[derive(Debug, Clone)]
pub enum ResourcesAction {
    /// `resources/list`.
    List(ListCall),
    /// `resources/templates/list`.
    Templates(ListCall),
    /// `resources/read`.
    Read(Template),
}

/// The request of `assert_prompts`.
#[derive(Debug, Clone)]
pub enum PromptsCall {
    /// `prompts/list`.
    List(ListCall),
    /// `prompts/get`.
    Get {
        /// The prompt.
        name: Template,
        /// Its arguments.
        arguments: ValueTemplate,
    },
}

/// A `completion/complete`.
#[derive(Debug, Clone)]
pub struct CompletionCall {
    /// `ref`, as sent: `{type, name}` or `{type, uri}`.
    pub reference: ValueTemplate,
    /// `argument`: `{name, value}`.
    pub argument: ValueTemplate,
    /// `context.arguments`.
    pub context: Option<ValueTemplate>,
}

/// Where the calls of a trajectory come from.
#[derive(Debug, Clone)]
pub enum TraceSource {
    /// Written in the suite.
    Inline(Vec<TraceCall>),
    /// JSON lines in a file.
    AuditLog(Template),
}

/// Frames to send as they are.
#[derive(Debug, Clone)]
pub struct RawExchange {
    /// The frames to send, in order, after the handshake.
    pub send: Vec<RawFrame>,
    /// Whether the handshake is made before.
    pub handshake: RawHandshake,
    /// How long frames are waited for; ends early when every request among `send` is answered.
    pub within: Duration,
}

/// Whether a raw exchange begins with a handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RawHandshake {
    /// It does.
    Made,
    /// The frames are all that is sent.
    Omitted,
}

/// A frame of a raw exchange.
#[derive(Debug, Clone)]
pub enum RawFrame {
    /// A JSON value, sent compactly.
    Json(ValueTemplate),
    /// Text sent as it is, malformed or not.
    Text(Template),
}

/// A request of HTTP that is not a message of a session.
#[derive(Debug, Clone)]
pub struct HttpCall {
    /// Its method.
    pub method: String,
    /// Where it goes, from the server's url on; empty for that itself.
    pub path: Template,
    /// Its headers, by their names.
    pub headers: Vec<(String, Template)>,
    /// Whether those of the server are sent too.
    pub credentials: Credentials,
    /// Its body; JSON is sent with its type.
    pub body: Option<RawFrame>,
    /// How long a stream of events is read.
    pub within: Duration,
}

impl HttpCall {
    /// The request, for people.
    pub fn what(&self) -> String {
        match self.path.text.as_str() {
            "" => format!("`{}`", self.method),
            path => format!("`{} {path}`", self.method),
        }
    }
}

/// Whether a request carries the headers that the suite gives to every message for the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials {
    /// It does.
    Sent,
    /// It has its own headers alone.
    Withheld,
}

/// One call before the subject, or one of a `steps` subject.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its effect.
    pub action: StepAction,
    /// What is taken from its answer.
    pub captures: Vec<Capture>,
    /// The meaning of a tool error.
    pub on_tool_error: OnToolError,
}

/// What a step does.
#[derive(Debug, Clone)]
pub enum StepAction {
    /// `tools/call`.
    Tool(ToolCall),
    /// `resources/read`.
    Read(Template),
    /// `prompts/get`.
    Prompt {
        /// The prompt.
        name: Template,
        /// Its arguments.
        arguments: ValueTemplate,
    },
    /// `ping`.
    Ping,
    /// `logging/setLevel`.
    SetLevel(Template),
    /// `resources/subscribe`.
    Subscribe(Template),
    /// Nothing, for a while.
    Wait(Duration),
}

impl StepAction {
    /// Whether the server tells more, or less, by itself from then on.
    pub fn asks_to_be_told(&self) -> bool {
        match self {
            Self::SetLevel(_) | Self::Subscribe(_) => true,
            Self::Tool(_) | Self::Read(_) | Self::Prompt { .. } | Self::Ping | Self::Wait(_) => {
                false
            }
        }
    }
}

/// What a tool error or protocol error of a step means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnToolError {
    /// The assertion cannot be observed.
    Stop,
    /// It is an answer like any other, and the step's expectations judge it.
    Judged,
    /// It is an answer like any other, and no expectation need speak of it: `allow_error: true`.
    Allowed,
    /// A tool error is passed over, a protocol error stops: the Go tool's way.
    PassOver,
}

/// A value taken from a step's answer.
#[derive(Debug, Clone)]
pub struct Capture {
    /// The name it gets.
    pub name: String,
    /// Where it is looked for.
    pub source: CaptureSource,
    /// The path in it; `None` (`$`) takes the whole.
    pub path: Option<CapturePath>,
    /// The path as written.
    pub written: String,
}

/// The value that a capture's path is applied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureSource {
    /// The text parsed as JSON (else its first JSON value on lines of its own), else the structured content.
    Either,
    /// `text:`.
    Text,
    /// `structured:`.
    Structured,
}

/// A path.
#[derive(Debug, Clone)]
pub enum CapturePath {
    /// Compiled.
    Compiled(serde_json_path::JsonPath),
    /// With `{{…}}` that are filled in first.
    Template(Template),
}
