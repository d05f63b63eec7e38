//! The methods this client calls, what their results must have, and the words of logging. Data only.

use serde_json::Value;

use super::revision::Revision;

/// A request of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The handshake.
    Initialize,
    /// Who the server is, where there is no handshake.
    Discover,
    /// A sign of life.
    Ping,
    /// The tools.
    ToolsList,
    /// A tool call.
    ToolsCall,
    /// The resources.
    ResourcesList,
    /// The resource templates.
    ResourceTemplatesList,
    /// A resource's content.
    ResourcesRead,
    /// Updates of a resource, please.
    ResourcesSubscribe,
    /// No more updates of a resource.
    ResourcesUnsubscribe,
    /// The prompts.
    PromptsList,
    /// A prompt's messages.
    PromptsGet,
    /// Proposals for an argument.
    CompletionComplete,
    /// The lowest level of log messages.
    LoggingSetLevel,
    /// A stream of notifications.
    SubscriptionsListen,
    /// How far a task is.
    TasksGet,
    /// What a task needs.
    TasksUpdate,
    /// No more of a task.
    TasksCancel,
}

impl Method {
    /// All of them.
    pub const ALL: [Self; 18] = [
        Self::Initialize,
        Self::Discover,
        Self::Ping,
        Self::ToolsList,
        Self::ToolsCall,
        Self::ResourcesList,
        Self::ResourceTemplatesList,
        Self::ResourcesRead,
        Self::ResourcesSubscribe,
        Self::ResourcesUnsubscribe,
        Self::PromptsList,
        Self::PromptsGet,
        Self::CompletionComplete,
        Self::LoggingSetLevel,
        Self::SubscriptionsListen,
        Self::TasksGet,
        Self::TasksUpdate,
        Self::TasksCancel,
    ];

    /// What there is to know of it.
    fn row(self) -> Row {
        match self {
            Self::Initialize => row("initialize").needs(&[
                ("protocolVersion", "a text"),
                ("capabilities", "an object"),
                ("serverInfo", "an object"),
            ]),
            Self::Discover => row("server/discover").needs(&[
                ("supportedVersions", "an array"),
                ("capabilities", "an object"),
            ]),
            Self::Ping => row("ping"),
            Self::ToolsList => row("tools/list")
                .of("tools")
                .lists("tools", "name")
                .needs(&[("tools", "an array")]),
            Self::ToolsCall => row("tools/call")
                .of("tools")
                .needs(&[("content", "an array")]),
            Self::ResourcesList => row("resources/list")
                .of("resources")
                .lists("resources", "uri")
                .needs(&[("resources", "an array")]),
            Self::ResourceTemplatesList => row("resources/templates/list")
                .of("resources")
                .lists("resourceTemplates", "uriTemplate")
                .needs(&[("resourceTemplates", "an array")]),
            Self::ResourcesRead => row("resources/read")
                .of("resources")
                .needs(&[("contents", "an array")]),
            Self::ResourcesSubscribe => row("resources/subscribe").of("resources"),
            Self::ResourcesUnsubscribe => row("resources/unsubscribe").of("resources"),
            Self::PromptsList => row("prompts/list")
                .of("prompts")
                .lists("prompts", "name")
                .needs(&[("prompts", "an array")]),
            Self::PromptsGet => row("prompts/get")
                .of("prompts")
                .needs(&[("messages", "an array")]),
            Self::CompletionComplete => row("completion/complete")
                .of("completions")
                .needs(&[("completion", "an object")]),
            Self::LoggingSetLevel => row("logging/setLevel").of("logging"),
            Self::SubscriptionsListen => row("subscriptions/listen").of("resources"),
            Self::TasksGet => row("tasks/get"),
            Self::TasksUpdate => row("tasks/update"),
            Self::TasksCancel => row("tasks/cancel"),
        }
    }

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// The method that tells who the server is, with which a session of this revision begins.
    pub fn that_begins(revision: Revision) -> Self {
        if revision.is_stateless() {
            Self::Discover
        } else {
            Self::Initialize
        }
    }

    /// Whether its answer may ask for input first ("Multi Round-Trip Requests", supported requests).
    pub fn may_ask_for_input(self) -> bool {
        matches!(
            self,
            Self::ToolsCall | Self::PromptsGet | Self::ResourcesRead
        )
    }

    /// Whether a result has something of what only a result of this method has.
    pub fn is_answered_by(self, result: &Value) -> bool {
        let mut members = self.row().required.iter();
        members.any(|(name, _)| result.get(name).is_some())
    }

    /// The server capability that a server with this method declares.
    pub fn capability(self) -> Option<&'static str> {
        self.row().capability
    }

    /// Where a list result keeps its items.
    pub fn list_member(self) -> Option<&'static str> {
        self.row().list.map(|(member, _)| member)
    }

    /// The member that names an item of a list.
    pub fn item_key(self) -> Option<&'static str> {
        self.row().list.map(|(_, key)| key)
    }

    /// Why a result of this method cannot be used: it is not an object, or a member that the method needs is
    /// missing or of another JSON type. A tool's result has something to look at when its content is structured
    /// alone, though the specification wants both.
    pub fn unusable(self, result: &Value) -> Option<String> {
        let Some(members) = result.as_object() else {
            return Some(format!("the result is {}, not an object", kind_of(result)));
        };
        let verdict = members.get("isError").filter(|_| self == Self::ToolsCall);
        if let Some(verdict) = verdict.filter(|it| !it.is_boolean() && !it.is_null()) {
            // Nobody can say whether it was meant to have failed.
            return Some(format!("`isError` is {}, not a boolean", kind_of(verdict)));
        }
        let is_structured = || {
            members
                .get("structuredContent")
                .is_some_and(Value::is_object)
        };
        let required = self.row().required.iter();
        required
            .copied()
            .find_map(|(name, kind)| match members.get(name) {
                None if self == Self::ToolsCall && is_structured() => None,
                None => Some(format!("`{name}` is missing")),
                Some(value) if kind_of(value) == kind => None,
                Some(value) => Some(format!("`{name}` is {}, not {kind}", kind_of(value))),
            })
    }
}

/// A method's name, the capability that it needs, and where its list is and what names an item.
struct Row {
    name: &'static str,
    capability: Option<&'static str>,
    list: Option<(&'static str, &'static str)>,
    /// The members that a result cannot be used without, and their JSON types.
    required: &'static [(&'static str, &'static str)],
}

const fn row(name: &'static str) -> Row {
    Row {
        name,
        capability: None,
        list: None,
        required: &[],
    }
}

impl Row {
    const fn of(self, capability: &'static str) -> Self {
        Self {
            capability: Some(capability),
            ..self
        }
    }

    const fn needs(self, required: &'static [(&'static str, &'static str)]) -> Self {
        Self { required, ..self }
    }

    const fn lists(self, member: &'static str, key: &'static str) -> Self {
        Self {
            list: Some((member, key)),
            ..self
        }
    }
}

/// The JSON type of a value, for people.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The client capability that a request of the server needs; `None` for methods no revision has.
pub fn needs_client_capability(method: &str) -> Option<&'static str> {
    match method {
        "sampling/createMessage" => Some("sampling"),
        "elicitation/create" => Some("elicitation"),
        "roots/list" => Some("roots"),
        "tasks/get" | "tasks/result" | "tasks/list" | "tasks/cancel" => Some("tasks"),
        _ => None,
    }
}

/// The server capability that a notification needs, and its member where it has one for it.
pub fn needs_server_capability(notification: &str) -> Option<(&'static str, Option<&'static str>)> {
    match notification {
        "notifications/message" => Some(("logging", None)),
        "notifications/tools/list_changed" => Some(("tools", Some("listChanged"))),
        "notifications/prompts/list_changed" => Some(("prompts", Some("listChanged"))),
        "notifications/resources/list_changed" => Some(("resources", Some("listChanged"))),
        "notifications/resources/updated" => Some(("resources", Some("subscribe"))),
        _ => None,
    }
}

/// The filter of `subscriptions/listen` for this notification; `None` for those that do not come on streams.
pub fn stream_filter(notification: &str) -> Option<&'static str> {
    match notification {
        "notifications/tools/list_changed" => Some("toolsListChanged"),
        "notifications/prompts/list_changed" => Some("promptsListChanged"),
        "notifications/resources/list_changed" => Some("resourcesListChanged"),
        "notifications/resources/updated" => Some("resourceSubscriptions"),
        _ => None,
    }
}

/// Whether servers may ask for this method.
pub fn is_asked_by_servers(method: &str) -> bool {
    method == Method::Ping.name() || needs_client_capability(method).is_some()
}

/// Levels of log messages, the least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// debug
    Debug,
    /// info
    Info,
    /// notice
    Notice,
    /// warning
    Warning,
    /// error
    Error,
    /// critical
    Critical,
    /// alert
    Alert,
    /// emergency
    Emergency,
}

impl LogLevel {
    /// All of them, the least severe first.
    pub const ALL: [Self; 8] = [
        Self::Debug,
        Self::Info,
        Self::Notice,
        Self::Warning,
        Self::Error,
        Self::Critical,
        Self::Alert,
        Self::Emergency,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Method, is_asked_by_servers};

    #[test]
    fn results_are_usable_or_say_why_not() {
        let case = |method: Method, result, wanted: Option<&str>| {
            assert_eq!(method.unusable(&result).as_deref(), wanted);
        };
        case(Method::ToolsCall, json!({"content": []}), None);
        case(Method::ToolsCall, json!({}), Some("`content` is missing"));
        case(
            Method::ToolsCall,
            json!({"content": null}),
            Some("`content` is null, not an array"),
        );
        case(Method::ToolsCall, json!({"structuredContent": {}}), None);
        case(
            Method::ToolsCall,
            json!({"content": [], "isError": "true"}),
            Some("`isError` is a text, not a boolean"),
        );
        case(
            Method::ToolsCall,
            json!({"content": [], "isError": null}),
            None,
        );
        case(
            Method::ToolsCall,
            json!("done"),
            Some("the result is a text, not an object"),
        );
        case(Method::Ping, json!({}), None);
        case(
            Method::Initialize,
            json!({"protocolVersion": "2025-06-18", "serverInfo": {}}),
            Some("`capabilities` is missing"),
        );
    }

    #[test]
    fn what_servers_ask_is_known() {
        for method in [
            "ping",
            "sampling/createMessage",
            "elicitation/create",
            "roots/list",
            "tasks/get",
            "tasks/result",
            "tasks/list",
            "tasks/cancel",
        ] {
            assert!(is_asked_by_servers(method), "{method}");
        }
        for method in [
            "notifications/cancelled",
            "notifications/progress",
            "notifications/message",
            "notifications/resources/updated",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed",
            "notifications/prompts/list_changed",
            "notifications/elicitation/complete",
            "notifications/tasks/status",
            "notifications/subscriptions/acknowledged",
        ] {
            assert!(!is_asked_by_servers(method), "{method}");
        }
    }

    #[test]
    fn every_list_needs_its_items() {
        for method in Method::ALL {
            if let Some(member) = method.list_member() {
                assert_eq!(method.unusable(&json!({member: []})), None);
                assert!(method.unusable(&json!({member: {}})).is_some());
            }
        }
    }
}
