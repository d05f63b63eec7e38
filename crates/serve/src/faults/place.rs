//! Where a fault can sit: moments of the process and messages of the protocol.

/// Moments and messages that a rule can name before `:`, `@` or `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The process starts; nothing was read yet.
    Start,
    /// The process is asked to end: EOF on stdin, or a signal.
    Stop,
    /// A message of the client with this method; a fault on a request sits on its answer.
    Message(&'static str),
    /// Every request of the client.
    AnyRequest,
}

/// Where a fault may be put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// Only at the start of the process.
    Start,
    /// Only at its end.
    Stop,
    /// For the whole stream from the start on, or on the answer of any request.
    StreamOrAnswer,
    /// On the answer of any request.
    Answer,
    /// On the answer of `initialize`.
    Handshake,
    /// On a notification of the client.
    Notification,
    /// On the answer of any request or on a notification of the client.
    AnyMessage,
    /// On the answer of `tools/list`.
    ToolList,
    /// On the answer of `tools/call`.
    ToolCall,
    /// On the acknowledgement of `subscriptions/listen`.
    Listen,
}

/// Every method that a client can send, over all revisions.
const METHODS: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/list",
    "tasks/get",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
];

impl When {
    /// Every name of a place.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ["*", "start", "stop"]
            .into_iter()
            .chain(METHODS.iter().copied())
    }

    /// Reads a place; `None` when there is none of this name.
    pub fn named(text: &str) -> Option<Self> {
        Self::names()
            .find(|name| *name == text)
            .map(|name| match name {
                "*" => Self::AnyRequest,
                "start" => Self::Start,
                "stop" => Self::Stop,
                method => Self::Message(method),
            })
    }

    /// Its name in a rule.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::AnyRequest => "*",
            Self::Message(method) => method,
        }
    }

    /// Whether a rule at this place can have a target: messages there name a tool, a prompt or a URI.
    pub fn has_target(self) -> bool {
        matches!(
            self.name(),
            "*" | "tools/call"
                | "resources/read"
                | "resources/subscribe"
                | "resources/unsubscribe"
                | "prompts/get"
        )
    }

    fn is_request(self) -> bool {
        self == Self::AnyRequest || matches!(self, Self::Message(_)) && !self.is_notification()
    }

    fn is_notification(self) -> bool {
        self.name().starts_with("notifications/")
    }
}

impl Site {
    /// Whether a fault of this site can sit at `when`.
    pub fn allows(self, when: When) -> bool {
        match self {
            Self::Start => when == When::Start,
            Self::Stop => when == When::Stop,
            Self::StreamOrAnswer => when == When::Start || when.is_request(),
            Self::Answer => when.is_request(),
            Self::Handshake => when.name() == "initialize",
            Self::Notification => when.is_notification(),
            Self::AnyMessage => when.is_request() || when.is_notification(),
            Self::ToolList => when.name() == "tools/list",
            Self::ToolCall => when.name() == "tools/call",
            Self::Listen => when.name() == "subscriptions/listen",
        }
    }

    /// Where it may sit, as a phrase for a person.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Start => "`start`",
            Self::Stop => "`stop`",
            Self::StreamOrAnswer => "`start`, a request, or `*`",
            Self::Answer => "a request, or `*`",
            Self::Handshake => "`initialize`",
            Self::Notification => "a notification of the client",
            Self::AnyMessage => "a request, a notification of the client, or `*`",
            Self::ToolList => "`tools/list`",
            Self::ToolCall => "`tools/call`",
            Self::Listen => "`subscriptions/listen`",
        }
    }
}
