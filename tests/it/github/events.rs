//! Recorded event payloads of GitHub, which tests change as needed.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::twin::REPOSITORY;

/// What `scripts/github-events` recorded.
static RECORDED: LazyLock<Value> = LazyLock::new(|| {
    serde_json::from_str(include_str!("events.json")).expect("the record is JSON")
});

/// A real payload of an event, of our repository.
pub(crate) fn payload(event: &str) -> Value {
    let mut payload = RECORDED["events"][event].clone();
    assert!(payload.is_object(), "nothing was recorded of {event}");
    set(&mut payload, "/repository/full_name", json!(REPOSITORY));
    set(&mut payload, "/repository/default_branch", json!("main"));
    payload
}

/// Changes an existing member: real payloads have every member that is read.
pub(crate) fn set(payload: &mut Value, pointer: &str, value: Value) {
    let there = payload.pointer_mut(pointer);
    *there.unwrap_or_else(|| panic!("no real payload has {pointer}")) = value;
}
