//! Who sends a request, as the journal shows it.

use std::net::IpAddr;

use http::header::{HeaderMap, HeaderName, USER_AGENT};
use serde_json::{Map, Value, json};
use text::credential::{REDACTED, SecretKeys};

use super::auth::Identity;
use super::post::SESSION;

/// Headers whose values nobody is shown, whatever is asked for.
const CREDENTIALS: [&str; 5] = [
    "authorization",
    "cookie",
    "proxy-authorization",
    "set-cookie",
    "x-api-key",
];

/// The other end of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Remote(pub(super) IpAddr);

/// The known facts of the sender, as members of a record.
pub(super) fn sender(parts: &http::request::Parts) -> Value {
    let text = |name: &str| {
        let value = parts.headers.get(name)?;
        Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let identity = parts.extensions.get::<Identity>();
    json!({
        "session": text(SESSION),
        "identity": identity.map(|identity| &identity.0),
        "peer": parts.extensions.get::<Remote>().map(|from| from.0),
        "forwarded_for": text("x-forwarded-for"),
        "user_agent": text(USER_AGENT.as_str()),
        "headers": headers(&parts.headers),
        "protocol": text("mcp-protocol-version"),
    })
}

/// The headers by name, in order of their names. Those that hold secrets show none.
pub(super) fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut names: Vec<&HeaderName> = headers.keys().collect();
    names.sort_unstable_by_key(|name| name.as_str());
    let keys = SecretKeys::default();
    let shown = |name: &HeaderName| {
        if CREDENTIALS.contains(&name.as_str()) || keys.holds(name.as_str()) {
            return json!([REDACTED]);
        }
        let values = headers.get_all(name).iter();
        values
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect()
    };
    names
        .iter()
        .map(|name| (name.to_string(), shown(name)))
        .collect()
}
