//! Who may come: fixed keys, each with the name of its owner.

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};

use super::inlet::{Answer, plain};

/// The header of a key that is not a token.
const API_KEY: &str = "x-api-key";

/// The credentials that a request needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Auth {
    /// Nothing.
    #[default]
    None,
    /// One of these keys, in `X-API-Key` or as a bearer token.
    Key(Keys),
    /// One of these keys, as a bearer token.
    Bearer(Keys),
}

/// Keys and the names of their owners.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Keys(Vec<(String, [u8; 32])>);

impl std::fmt::Debug for Keys {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Keys {
    /// Adds a key that is written `NAME=VALUE`; the error says what is wrong with it, without its value.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let Some((name, key)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            return Err("it has no name; write `NAME=VALUE`".to_owned());
        };
        let visible = |byte: u8| (0x21..=0x7e).contains(&byte);
        if key.is_empty() || !key.bytes().all(visible) {
            return Err(format!(
                "the key of `{name}` has to be visible ASCII characters"
            ));
        }
        self.0.push((name.to_owned(), digest(key.as_bytes())));
        Ok(())
    }

    /// The owner of a key. Every key is compared, whole and by its digest, so the time that it takes says nothing.
    fn owner(&self, shown: &[u8]) -> Option<&str> {
        let shown = digest(shown);
        self.0.iter().fold(None, |found, (name, key)| {
            let differs = key.iter().zip(shown).fold(0, |all, (a, b)| all | (a ^ b));
            if differs == 0 {
                Some(name.as_str())
            } else {
                found
            }
        })
    }
}

/// Who came, where somebody had to show a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity(pub(crate) String);

impl Auth {
    /// Who sends a request with these headers, or how it is refused.
    pub(super) fn admit(&self, headers: &HeaderMap) -> Result<Option<Identity>, Box<Answer>> {
        let (keys, shown) = match self {
            Self::None => return Ok(None),
            Self::Key(keys) => (keys, api_key(headers).or_else(|| bearer(headers))),
            Self::Bearer(keys) => (keys, bearer(headers)),
        };
        if let Some(name) = shown.and_then(|shown| keys.owner(shown)) {
            return Ok(Some(Identity(name.to_owned())));
        }
        let challenge = if matches!(self, Self::Key(_)) {
            "ApiKey realm=\"mcp-assert\""
        } else if shown.is_none() {
            // RFC 6750: a request without a token is told nothing of errors.
            "Bearer realm=\"mcp-assert\""
        } else {
            "Bearer realm=\"mcp-assert\", error=\"invalid_token\", error_description=\"the token is not known\""
        };
        Err(Box::new(refused(challenge)))
    }
}

fn refused(challenge: &'static str) -> Answer {
    let mut answer = plain(StatusCode::UNAUTHORIZED, "Unauthorized: a key is needed");
    let challenge = HeaderValue::from_static(challenge);
    answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    answer
}

fn api_key(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(API_KEY).map(HeaderValue::as_bytes)
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let value = headers.get(AUTHORIZATION)?.as_bytes();
    let (scheme, token) = value.split_at_checked("bearer ".len())?;
    scheme
        .eq_ignore_ascii_case(b"bearer ")
        .then(|| token.trim_ascii_start())
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}
