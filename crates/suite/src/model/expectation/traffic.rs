//! Expectations about the messages beside the answer.

use serde_json::Value;

use super::Beside;
use mcp::{observation::finding::FindingCode, protocol::method::LogLevel};

/// An expectation about messages of the server besides the answer.
#[derive(Debug, Clone)]
pub enum TrafficWanted {
    /// `min_progress`: at least so many progress notifications for this call.
    MinProgress(u64),
    /// `progress`: how progress was told.
    Progress(ProgressWanted),
    /// `notifications`: what the server told during the call.
    Notifications(Box<NotificationsWanted>),
    /// The `expect` of `assert_logging`: the log messages.
    Logging(Box<LoggingWanted>),
    /// `expect_notification` of `assert_resources`: whether `notifications/resources/updated` must come or must not. Of
    /// which resource is not asked: the update may be about a sub-resource of the one that was subscribed to.
    ResourceUpdated(Presence),
    /// `server_requests`: what the server asked of the client; an empty list: nothing.
    ServerRequests(Vec<ServerRequestWanted>),
    /// `findings`: no protocol findings but these.
    Findings(Vec<FindingCode>),
}

impl TrafficWanted {
    /// What it looks at; progress is told from that of other calls by its token.
    pub fn beside(&self) -> Option<Beside> {
        match self {
            Self::MinProgress(_) | Self::Progress(_) => None,
            Self::Notifications(_)
            | Self::Logging(_)
            | Self::ResourceUpdated(_)
            | Self::ServerRequests(_) => Some(Beside::Messages),
            Self::Findings(_) => Some(Beside::Findings),
        }
    }

    /// Whether nothing is asked for, whatever the server does.
    pub fn asks_nothing(&self) -> bool {
        match self {
            Self::MinProgress(least) => *least == 0,
            Self::Progress(wanted) => wanted.asks_nothing(),
            Self::Notifications(wanted) => wanted.asks_nothing(),
            Self::Logging(wanted) => wanted.asks_nothing(),
            // An empty list of what may come asks for something.
            Self::ResourceUpdated(_) | Self::ServerRequests(_) | Self::Findings(_) => false,
        }
    }
}

/// Whether something must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It must.
    Present,
    /// It must not.
    Absent,
}

/// `progress`; what is absent is not looked at.
#[derive(Debug, Clone, Default)]
pub struct ProgressWanted {
    /// At least so many.
    pub min: Option<u64>,
    /// Whether each value is greater than the one before.
    pub monotonic: Option<bool>,
    /// Whether the last value is the total.
    pub last_equals_total: Option<bool>,
}

impl ProgressWanted {
    /// Whether nothing is asked for.
    pub fn asks_nothing(&self) -> bool {
        let Self {
            min,
            monotonic,
            last_equals_total,
        } = self;
        min.unwrap_or(0) == 0 && monotonic.is_none() && last_equals_total.is_none()
    }
}

/// `notifications`, and the `expect` of `assert_notifications`.
#[derive(Debug, Clone, Default)]
pub struct NotificationsWanted {
    /// Which ones are looked at.
    pub since: Since,
    /// At least so many.
    pub min_count: Option<u64>,
    /// At most so many.
    pub max_count: Option<u64>,
    /// Each of these methods occurs.
    pub methods: Vec<String>,
    /// None of these methods occurs.
    pub not_methods: Vec<String>,
    /// These methods occur one after another.
    pub in_order: Vec<String>,
    /// Each of these texts occurs in the parameters (compact JSON without `_meta`) of some notification.
    pub contains_data: Vec<String>,
    /// None of these texts occurs there.
    pub not_contains_data: Vec<String>,
    /// How progress of our own requests counts.
    pub provoked: Provoked,
}

impl NotificationsWanted {
    /// Whether nothing is asked for.
    pub fn asks_nothing(&self) -> bool {
        self.wants_none()
            && self.max_count.is_none()
            && self.not_methods.is_empty()
            && self.not_contains_data.is_empty()
    }

    /// Whether nothing has to come.
    pub fn wants_none(&self) -> bool {
        let Self {
            since: _,
            min_count,
            max_count: _,
            methods,
            not_methods: _,
            in_order,
            contains_data,
            not_contains_data: _,
            provoked: _,
        } = self;
        let wanted = [methods, in_order, contains_data];
        min_count.unwrap_or(0) == 0 && wanted.iter().all(|list| list.is_empty())
    }
}

/// How progress of our own requests counts as unwanted: we ask for it with every call,
/// and a server that is not asked sends none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Provoked {
    /// A notification like any other: the suite names it.
    #[default]
    Counted,
    /// Not counted against a limit.
    Uncounted,
    /// Ignored: the Go tool does not ask for it.
    PassedOver,
}

/// From when on notifications count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Since {
    /// From the call of the subject on: `notifications` under `expect`.
    #[default]
    TheCall,
    /// From the first byte on, those of the setup included, as the Go tool counts them: `assert_notifications`.
    TheBeginning,
}

/// The `expect` of `assert_logging`.
#[derive(Debug, Clone, Default)]
pub struct LoggingWanted {
    /// At least so many messages.
    pub min_messages: Option<u64>,
    /// At most so many messages.
    pub max_messages: Option<u64>,
    /// A message of each of these levels.
    pub contains_level: Vec<String>,
    /// Each of these texts in the data of some message: the text itself when `data` is a string, else
    /// compact JSON; the Go tool's `map[k:v]` rendering is accepted too.
    pub contains_data: Vec<String>,
    /// No message below this level.
    pub not_below: Option<LogLevel>,
}

impl LoggingWanted {
    fn asks_nothing(&self) -> bool {
        self.wants_none() && self.max_messages.is_none() && self.not_below.is_none()
    }

    /// Whether nothing has to come.
    pub fn wants_none(&self) -> bool {
        let Self {
            min_messages,
            max_messages: _,
            contains_level,
            contains_data,
            not_below: _,
        } = self;
        min_messages.unwrap_or(0) == 0 && contains_level.is_empty() && contains_data.is_empty()
    }
}

/// One entry of `server_requests`, `expect_request` included.
#[derive(Debug, Clone)]
pub struct ServerRequestWanted {
    /// The method asked for, e.g. `sampling/createMessage`.
    pub method: String,
    /// How often; `None`: at least once.
    pub count: Option<u64>,
    /// Part of the parameters of those that count.
    pub params: Option<Value>,
}
