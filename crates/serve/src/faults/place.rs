//! Where a fault can sit: moments of the process and messages of the protocol.

/// Moments and messages that a rule can name before `:`, `@` or `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// The process starts; nothing was read yet.
    Start,
    /// The process is asked to end: EOF on stdin, or a signal.
    Stop,
    /// A message of the client with this method; a fault on a request sits on its answer.
    Message(Method),
    /// Every request of the client.
    AnyRequest,
}

/// A method that a client can send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// As on the wire.
    pub name: &'static str,
    /// Whether it asks for an answer.
    pub form: Form,
    /// What a rule's target is compared with.
    pub target: Named,
}

/// Whether a message asks for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It does.
    Request,
    /// It does not.
    Notification,
}

/// Whether a message names a tool, a prompt or a URI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// It does, so a rule can have a target.
    Something,
    /// It does not.
    Nothing,
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

const fn request(name: &'static str) -> Method {
    Method {
        name,
        form: Form::Request,
        target: Named::Nothing,
    }
}

const fn aimed(name: &'static str) -> Method {
    Method {
        name,
        form: Form::Request,
        target: Named::Something,
    }
}

const fn notification(name: &'static str) -> Method {
    Method {
        name,
        form: Form::Notification,
        target: Named::Nothing,
    }
}

/// Every method that a client can send, over all revisions.
pub const METHODS: &[Method] = &[
    request("initialize"),
    request("server/discover"),
    request("ping"),
    request("tools/list"),
    aimed("tools/call"),
    request("resources/list"),
    request("resources/templates/list"),
    aimed("resources/read"),
    aimed("resources/subscribe"),
    aimed("resources/unsubscribe"),
    request("prompts/list"),
    aimed("prompts/get"),
    request("completion/complete"),
    request("logging/setLevel"),
    request("subscriptions/listen"),
    request("tasks/list"),
    request("tasks/get"),
    request("tasks/result"),
    request("tasks/update"),
    request("tasks/cancel"),
    notification("notifications/initialized"),
    notification("notifications/cancelled"),
    notification("notifications/progress"),
    notification("notifications/roots/list_changed"),
    notification("notifications/tasks/status"),
];

impl When {
    /// The words that stand for a moment rather than a method.
    pub const MOMENTS: [&'static str; 3] = ["*", "start", "stop"];

    /// Reads a place; `None` when there is none of this name.
    pub fn named(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::AnyRequest),
            "start" => Some(Self::Start),
            "stop" => Some(Self::Stop),
            name => METHODS
                .iter()
                .find(|method| method.name == name)
                .map(|method| Self::Message(*method)),
        }
    }

    /// Its name in a rule.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::AnyRequest => "*",
            Self::Message(method) => method.name,
        }
    }

    /// Whether a rule at this place can have a target.
    pub const fn target(self) -> Named {
        match self {
            Self::Start | Self::Stop => Named::Nothing,
            Self::AnyRequest => Named::Something,
            Self::Message(method) => method.target,
        }
    }

    fn is_request(self) -> bool {
        match self {
            Self::Start | Self::Stop => false,
            Self::AnyRequest => true,
            Self::Message(method) => method.form == Form::Request,
        }
    }

    fn is_notification(self) -> bool {
        match self {
            Self::Start | Self::Stop | Self::AnyRequest => false,
            Self::Message(method) => method.form == Form::Notification,
        }
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
