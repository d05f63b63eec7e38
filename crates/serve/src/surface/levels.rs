//! Log levels: which messages a session wants.

use std::sync::atomic::{AtomicU8, Ordering};

use mcp::protocol::method;
use serde_json::Value;

/// The `_meta` key by which a request of the stateless revision asks for log messages.
const META_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// The level that `logging/setLevel` set; everything until then.
#[derive(Debug, Default)]
pub(super) struct LogLevel(AtomicU8);

impl LogLevel {
    /// Sets the level; false for a name that is none.
    pub(super) fn set(&self, name: &str) -> bool {
        let Some(level) = rank(name) else {
            return false;
        };
        self.0.store(level, Ordering::Relaxed);
        true
    }

    /// Whether a message of that level is wanted. Since the handshake is gone a request has to
    /// ask for messages by itself.
    pub(super) fn wants(&self, level: &str, meta: &Value, era: Era) -> bool {
        let least = match era {
            Era::Legacy => Some(self.0.load(Ordering::Relaxed)),
            Era::Modern => meta.get(META_LEVEL).and_then(Value::as_str).and_then(rank),
        };
        match (rank(level), least) {
            (Some(level), Some(least)) => level >= least,
            (None, _) | (_, None) => false,
        }
    }
}

/// With a handshake, or with metadata on each request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Era {
    /// The revisions with `initialize`.
    Legacy,
    /// 2026-07-28 and later.
    Modern,
}

/// The place of a level among all, from least to most severe.
fn rank(name: &str) -> Option<u8> {
    method::LogLevel::from_name(name).map(|level| level as u8)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_under_the_level_are_not_wanted() {
        let level = LogLevel::default();
        let none = json!({});
        assert!(level.wants("debug", &none, Era::Legacy));
        assert!(level.set("warning"));
        assert!(!level.wants("notice", &none, Era::Legacy));
        assert!(level.wants("warning", &none, Era::Legacy));
        assert!(level.wants("emergency", &none, Era::Legacy));
        assert!(!level.set("loud"));
    }

    #[test]
    fn a_stateless_request_gets_only_what_it_asks_for() {
        let level = LogLevel::default();
        assert!(!level.wants("emergency", &json!({}), Era::Modern));
        let meta = json!({META_LEVEL: "error"});
        assert!(level.wants("error", &meta, Era::Modern));
        assert!(!level.wants("info", &meta, Era::Modern));
    }
}
