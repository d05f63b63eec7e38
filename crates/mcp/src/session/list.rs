//! Lists: every page, or one; loops and floods end with a finding. Remembers what was listed, so that a list
//! that changes silently is noticed.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash, Hasher},
};

use serde_json::{Value, json};

use super::{Observed, Session, call::Call, lint, reply::merged};
use crate::{
    observation::{
        answer::{Answer, Body, Reply, Unfetched},
        finding::FindingCode,
    },
    protocol::method::Method,
};

/// Pages that are fetched of one list.
const MOST_PAGES: usize = 1_000;

/// Bytes of items after which no further page is fetched.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What was listed in a session, by method.
pub(super) type Lists = HashMap<Method, Vec<Value>>;

/// Compares a list with the one before, keeps it, and says what changed.
fn compare(lists: &mut Lists, method: Method, items: &[Value]) -> Option<&'static str> {
    let before = lists.insert(method, items.to_vec())?;
    if before == items {
        return None;
    }
    let sorted = |items: &[Value]| {
        let mut texts: Vec<String> = items.iter().map(Value::to_string).collect();
        texts.sort();
        texts
    };
    Some(if sorted(&before) == sorted(items) {
        "came in another order"
    } else {
        "changed"
    })
}

impl Session {
    /// Fetches a list: the page at a cursor, or all pages merged.
    pub(super) async fn list(&mut self, method: Method, at: Option<String>) -> Observed<Answer> {
        if let Some(cursor) = at {
            let call = Call::new(method, json!({ "cursor": cursor }));
            let mut answer = self.call(call).await?;
            if let Body::Result(reply) = &mut answer.body {
                reply.pages = vec![reply.raw.clone()];
            }
            return Ok(answer);
        }
        let mut whole = self.call(Call::new(method, Value::Null)).await?;
        let Body::Result(first) = &mut whole.body else {
            return Ok(whole);
        };
        let mut walk = Walk::new(method);
        let mut next = walk.turn(self, std::mem::take(&mut first.raw));
        while let Some(cursor) = next {
            let call = Call {
                page: Some(walk.pages.len() + 1),
                ..Call::new(method, json!({ "cursor": cursor }))
            };
            let page = self.call(call).await?;
            whole.took += page.took;
            whole.bytes += page.bytes;
            whole.at_us = page.at_us;
            whole.on_time = page.on_time;
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
        let unfetched = walk.unfetched();
        let mut reply = merged(method, walk.pages);
        reply.unfetched = unfetched;
        self.look_at(method, &reply);
        whole.body = Body::Result(reply);
        Ok(whole)
    }

    /// Notes what is wrong with a whole list, and whether it changed without a word.
    fn look_at(&mut self, method: Method, reply: &Reply) {
        let member = method.list_member().unwrap_or_default();
        let items = reply.raw.get(member).and_then(Value::as_array);
        let Some(items) = items else {
            return;
        };
        if method == Method::ToolsList {
            self.take_mirrored(items);
        }
        let told = self.exchange.dialogue.forget_change(method);
        let change = compare(&mut self.lists, method, items);
        let revision = self.exchange.dialogue.revision;
        lint::items(&mut self.exchange.dialogue.record, method, items, revision);
        let of = self.facts.as_ref().zip(method.capability());
        let owes_word = !revision.is_stateless()
            && of.is_some_and(|(facts, capability)| facts.declares_part(capability, "listChanged"));
        let record = &mut self.exchange.dialogue.record;
        // Only who declared that says when a list changes.
        if let (Some(change), false, true) = (change, told, owes_word) {
            let message = format!(
                "the list of `{}` {change} without a `list_changed` notification",
                method.name()
            );
            record.note_bare(FindingCode::ListChangedSilently, message);
        }
    }
}

/// The way through the pages.
struct Walk {
    method: Method,
    pages: Vec<Value>,
    /// The pages so far, each by the hash of its items and the cursor it names.
    visited: HashSet<u64>,
    bytes: usize,
    /// Why it ended before the list did.
    cut: Option<(FindingCode, String)>,
}

impl Walk {
    fn new(method: Method) -> Self {
        Self {
            method,
            pages: Vec::new(),
            visited: HashSet::new(),
            bytes: 0,
            cut: None,
        }
    }

    /// What was left behind.
    fn unfetched(&mut self) -> Option<Unfetched> {
        let (member, (code, reason)) = self.method.list_member().zip(self.cut.take())?;
        Some(Unfetched {
            code,
            member,
            reason,
        })
    }

    /// Keeps a page and says which cursor is next.
    fn turn(&mut self, session: &mut Session, page: Value) -> Option<String> {
        let method = self.method.name();
        let is_stateless = session.exchange.dialogue.revision.is_stateless();
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
                self.cut = Some((FindingCode::CursorLoop, message.clone()));
                record.note_bare(FindingCode::CursorLoop, message);
                return None;
            }
        }
        self.pages.push(page);
        match next {
            Some(cursor) if cursor.is_empty() && !is_stateless => {
                let message = format!("`{method}` ends with an empty `nextCursor`");
                record.note_bare(FindingCode::EmptyCursor, message);
                None
            }
            Some(_) if self.pages.len() >= MOST_PAGES || self.bytes > MOST_BYTES => {
                let message = format!("`{method}` goes on after {} pages", self.pages.len());
                self.cut = Some((FindingCode::TooManyPages, message.clone()));
                record.note_bare(FindingCode::TooManyPages, message);
                None
            }
            other => other,
        }
    }
}
