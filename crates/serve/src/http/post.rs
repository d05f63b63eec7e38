//! What handlers say beside their answers, and what the journal hears of their calls, where messages come as HTTP requests.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{CustomNotification, ServerNotification};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, RoleServer};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::auth::Identity;
use crate::Clock;
use crate::faults::event::Sent;
use crate::journal::{Caller, Journal, client};
use crate::layer::{Books, PatientStderr};
use crate::tap::{Frame, Kind, Ticket};
use crate::wire::Written;

/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// The only ticket of a call's own page.
const ANSWER: Ticket = 0;

/// Work that goes on after the request that asked for it.
pub(super) type Later = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The way to the client of one server; that of one call where [`Self::of_call`] made it.
#[derive(Clone)]
pub(crate) struct Post {
    books: Books,
    clock: Clock,
    later: mpsc::UnboundedSender<Later>,
    /// The page of the call, where a journal is kept.
    page: Option<Arc<Mutex<Page>>>,
}

/// What the journal has of one call. Its end is written when it is answered, or else when it is dropped.
struct Page {
    books: Books,
    journal: Journal,
}

impl Post {
    pub(super) fn new(books: Books, clock: Clock, later: mpsc::UnboundedSender<Later>) -> Self {
        Self {
            books,
            clock,
            later,
            page: None,
        }
    }

    pub(crate) fn of_call(&self, params: &Value, context: &RequestContext<RoleServer>) -> Self {
        let page = self.books.beside(|| caller(context)).map(|journal| {
            let mut page = Page {
                books: self.books.clone(),
                journal,
            };
            page.called(params, context);
            Arc::new(Mutex::new(page))
        });
        Self {
            page,
            ..self.clone()
        }
    }

    pub(crate) fn answered(
        &self,
        context: &RequestContext<RoleServer>,
        answer: &Result<Value, ErrorData>,
    ) {
        if let Some(mut page) = self.page() {
            page.answered(context, answer);
        }
    }

    #[expect(clippy::unused_self, reason = "it is one of the ways to a human")]
    pub(crate) fn stderr(&self, text: &str) {
        // A closed stderr is no reason to stop answering.
        let _ = PatientStderr.write_all(text.as_bytes());
    }

    /// rmcp routes progress by its token to the stream of the call, and everything else to the stream of the session.
    pub(crate) async fn notify(
        &self,
        peer: &Peer<RoleServer>,
        method: &str,
        params: Option<Value>,
    ) -> io::Result<()> {
        if let Some(mut page) = self.page() {
            page.notified(method, params.as_ref());
        }
        peer.send_notification(notification(method, params))
            .await
            .map_err(io::Error::other)
    }

    pub(crate) fn after_reply(
        &self,
        context: &RequestContext<RoleServer>,
        messages: Vec<Value>,
        pause: Duration,
    ) -> io::Result<()> {
        if session(context).is_none() {
            return Err(io::Error::other(
                "no stream is left after the answer of a request without a session",
            ));
        }
        let (peer, clock) = (context.peer.clone(), self.clock.clone());
        let send = async move {
            for (at, message) in messages.into_iter().enumerate() {
                if at > 0 && !pause.is_zero() {
                    clock.sleep(pause).await;
                }
                let method = message.get("method").and_then(Value::as_str);
                let params = message.get("params").cloned();
                let sent = notification(method.unwrap_or_default(), params);
                // A session that ended meanwhile has nobody to tell.
                if peer.send_notification(sent).await.is_err() {
                    return;
                }
            }
        };
        self.later
            .send(Box::pin(send))
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn page(&self) -> Option<MutexGuard<'_, Page>> {
        let page = self.page.as_ref()?;
        Some(page.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Page {
    fn called(&mut self, params: &Value, context: &RequestContext<RoleServer>) {
        let mut params = params.clone();
        if let (Some(members), Some(written)) = (params.as_object_mut(), Written::of(context)) {
            members.shift_remove("arguments");
            let arguments = written.arguments.clone();
            members.extend(arguments.map(|arguments| ("arguments".to_owned(), arguments)));
            let meta = written.meta.clone();
            members.extend(meta.map(|meta| ("_meta".to_owned(), meta)));
        }
        let message = json!({
            "jsonrpc": "2.0", "id": context.id, "method": "tools/call", "params": params,
        });
        let frame = frame(&message, Kind::Request);
        self.books.note(self.journal.incoming(&frame));
    }

    fn notified(&mut self, method: &str, params: Option<&Value>) {
        let mut message = json!({"jsonrpc": "2.0", "method": method});
        if let Some(params) = params {
            message["params"] = params.clone();
        }
        self.journal.outgoing(&frame(&message, Kind::Notification));
    }

    fn answered(
        &mut self,
        context: &RequestContext<RoleServer>,
        answer: &Result<Value, ErrorData>,
    ) {
        let id = json!(context.id);
        if context.ct.is_cancelled() {
            if !self.books.are_closing() {
                let message = json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id},
                });
                let frame = frame(&message, Kind::Notification);
                self.books.note(self.journal.incoming(&frame));
            }
            self.books.note(self.journal.unfinished());
            return;
        }
        let mut message = json!({"jsonrpc": "2.0", "id": id});
        match answer {
            Ok(result) => message["result"] = result.clone(),
            Err(error) => message["error"] = json!(error),
        }
        let bytes = message.to_string().len();
        self.journal.leaves(&Sent {
            ticket: ANSWER,
            id,
            message,
            bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
        });
        self.books.note(self.journal.out(ANSWER));
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.books.note(self.journal.unfinished());
    }
}

fn caller(context: &RequestContext<RoleServer>) -> Caller {
    let parts = context.extensions.get::<http::request::Parts>();
    let identity = parts.and_then(|parts| parts.extensions.get::<Identity>());
    let identity = identity.map(|identity| identity.0.clone());
    let (Some(info), Some(session)) = (context.peer.peer_info(), session(context)) else {
        return Caller {
            identity,
            ..Caller::default()
        };
    };
    Caller {
        identity,
        session: Some(session),
        protocol: Some(info.protocol_version.to_string()),
        client: client(
            Some(&json!(info.client_info)),
            Some(&json!(info.capabilities)),
        ),
    }
}

/// The session that a request belongs to. One that brings its own revision belongs to none.
fn session(context: &RequestContext<RoleServer>) -> Option<String> {
    if context.meta.protocol_version().is_some() {
        return None;
    }
    let parts = context.extensions.get::<http::request::Parts>()?;
    let session = parts.headers.get(SESSION)?.to_str().ok()?;
    Some(session.to_owned())
}

fn notification(method: &str, params: Option<Value>) -> ServerNotification {
    let message = json!({"method": method, "params": params});
    match serde_json::from_value(message) {
        Ok(ServerNotification::ProgressNotification(progress)) => progress.into(),
        Ok(_) | Err(_) => {
            ServerNotification::CustomNotification(CustomNotification::new(method, params))
        }
    }
}

fn frame(message: &Value, kind: Kind) -> Frame<'_> {
    let target = message.pointer("/params/name");
    Frame {
        message,
        kind,
        method: message.get("method").and_then(Value::as_str),
        id: message.get("id"),
        target: target.and_then(Value::as_str),
        cut: None,
    }
}
