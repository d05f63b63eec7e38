//! Lists: every page, or one; loops and floods end with a finding. Remembers what was listed, so that a list
//! that changes silently is noticed.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Observed, Session, call::Call, reply::merged};
use crate::{
    observation::{
        answer::{Answer, Body},
        finding::FindingCode,
    },
    protocol::method::Method,
};

/// Pages that are fetched of one list.
const MOST_PAGES: usize = 1_000;

/// Bytes of items after which no further page is fetched.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What was listed in this session, by method.
#[derive(Debug, Default)]
pub(super) struct Listed {}

/// Which pages of a list are wanted.
#[derive(Debug)]
pub(super) enum Pages {
    /// All, merged.
    All,
    /// The one at this cursor.
    At(String),
}

impl Session {
    /// Fetches a list.
    pub(super) async fn list(
        &mut self,
        method: Method,
        wanted: Pages,
        deadline: Instant,
    ) -> Observed<Answer> {
        if let Pages::At(cursor) = wanted {
            let call = Call::new(method, json!({ "cursor": cursor }));
            let mut answer = self.call(call, deadline).await?;
            if let Body::Result(reply) = &mut answer.body {
                reply.pages = vec![reply.raw.clone()];
            }
            return Ok(answer);
        }
        let mut whole = self.call(Call::new(method, Value::Null), deadline).await?;
        let Body::Result(first) = &mut whole.body else {
            return Ok(whole);
        };
        let mut walk = Walk::new(method);
        let mut next = walk.turn(self, std::mem::take(&mut first.raw));
        while let Some(cursor) = next {
            let call = Call::new(method, json!({ "cursor": cursor }));
            let page = self.call(call, deadline).await?;
            whole.took += page.took;
            whole.bytes += page.bytes;
            whole.notifications.end = page.notifications.end;
            whole.server_requests.end = page.server_requests.end;
            match page.body {
                Body::Result(reply) => next = walk.turn(self, reply.raw),
                Body::ProtocolError(error) => {
                    whole.body = Body::ProtocolError(error);
                    return Ok(whole);
                }
            }
        }
        whole.body = Body::Result(merged(method, walk.pages));
        Ok(whole)
    }
}

/// The way through the pages.
struct Walk {
    method: Method,
    pages: Vec<Value>,
    /// The pages so far, each by the hash of its items and the cursor it names.
    visited: HashSet<u64>,
    bytes: usize,
}

impl Walk {
    fn new(method: Method) -> Self {
        Self {
            method,
            pages: Vec::new(),
            visited: HashSet::new(),
            bytes: 0,
        }
    }

    /// Keeps a page and says which cursor is next.
    fn turn(&mut self, session: &mut Session, page: Value) -> Option<String> {
        let method = self.method.name();
        let record = &mut session.exchange.dialogue.record;
        let next = page.get("nextCursor").and_then(Value::as_str);
        let next = next.map(str::to_owned);
        if let Some(cursor) = &next {
            let items = self.method.list_member().and_then(|name| page.get(name));
            let items = items.map(Value::to_string).unwrap_or_default();
            let mut hash = DefaultHasher::new();
            (cursor, &items).hash(&mut hash);
            self.bytes = self.bytes.saturating_add(items.len());
            if !self.visited.insert(hash.finish()) {
                let message = format!("`{method}` came back to a cursor together with its page");
                record.note_bare(FindingCode::CursorLoop, message);
                return None;
            }
        }
        self.pages.push(page);
        match next {
            Some(cursor) if cursor.is_empty() => {
                let message = format!("`{method}` ends with an empty `nextCursor`");
                record.note_bare(FindingCode::EmptyCursor, message);
                None
            }
            Some(_) if self.pages.len() >= MOST_PAGES || self.bytes > MOST_BYTES => {
                let message = format!("`{method}` goes on after {} pages", self.pages.len());
                record.note_bare(FindingCode::TooManyPages, message);
                None
            }
            other => other,
        }
    }
}
