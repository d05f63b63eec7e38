//! The members of `_meta` that the protocol keeps for itself since 2026-07-28 (specification, "`_meta`").

use serde_json::{Map, Value};

use super::revision::Revision;

/// The revision that a request speaks.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Who asks.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// The capabilities of the client.
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The lowest level of the log messages that a request wants to have told.
const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Who answers.
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// The id of the `subscriptions/listen` that a notification belongs to.
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The extension by which a call may be answered with a task.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The members of `_meta` by which a request names its revision and its client, and the log messages that it wants.
pub fn of_client(
    revision: Revision,
    info: Value,
    capabilities: Value,
    log_level: Option<&str>,
) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert(PROTOCOL_VERSION.into(), revision.name().into());
    members.insert(CLIENT_INFO.into(), info);
    members.insert(CLIENT_CAPABILITIES.into(), capabilities);
    if let Some(level) = log_level {
        members.insert(LOG_LEVEL.into(), level.into());
    }
    members
}
