//! What is wrong inside a usable result: findings, never verdicts.

use serde_json::Value;

use super::{correlation::Settled, dialogue::Dialogue};
use crate::protocol::method::Method;

/// Looks at a usable result.
pub(super) fn result(
    _dialogue: &mut Dialogue,
    _method: Method,
    _result: &Value,
    _settled: &Settled,
) {
}
