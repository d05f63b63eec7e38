//! Sessions: rmcp's own, under ids that come from the seed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ServerJsonRpcMessage};
use rmcp::service::RequestContext;
use rmcp::transport::WorkerTransport;
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, LocalSessionWorker, create_local_session,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use serde_json::Value;
use tokio::sync::Notify;

use super::HttpOptions;
use super::talk::Shared;
use crate::draw::{Pcg, fnv1a};
use crate::surface::RECONNECTS;

/// After how long a client is asked to come again.
pub(super) const RETRY: Duration = Duration::from_millis(500);

/// How long it may take to do so.
const AWAY: Duration = Duration::from_secs(30);

/// The word that the stream of a call was taken up again.
#[derive(Clone, Default)]
pub(crate) struct TakenUp(Arc<Notify>);

impl TakenUp {
    /// Waits for it where the stream of a call was closed: rmcp forgets a stream with its answer, so an answer before
    /// would be lost.
    pub(crate) async fn wait(context: &RequestContext<RoleServer>) {
        if let Some(Self(taken_up)) = context.extensions.get() {
            tokio::select! {
                () = context.ct.cancelled() => {}
                _ = tokio::time::timeout(AWAY, taken_up.notified()) => {}
            }
        }
    }
}

/// The sessions of one server.
pub(super) struct Sessions {
    local: LocalSessionManager,
    ids: Mutex<Pcg>,
    no_resume: bool,
    /// Calls whose streams were closed, by session: one of each.
    closed: Mutex<HashMap<SessionId, TakenUp>>,
    talks: Mutex<HashMap<String, Shared>>,
}

impl Sessions {
    /// Sessions whose ids come from `seed`.
    pub(super) fn new(seed: u64, http: &HttpOptions) -> Self {
        let mut local = LocalSessionManager::default();
        let config = &mut local.session_config;
        config.keep_alive = http.session_ttl.or(config.keep_alive);
        config.sse_retry = (!http.no_resume).then_some(RETRY);
        Self {
            local,
            ids: Mutex::new(Pcg::new(seed, fnv1a("sessions"))),
            no_resume: http.no_resume,
            closed: Mutex::default(),
            talks: Mutex::default(),
        }
    }

    /// Whether the stream of this message is closed with its first event, which is all that a client needs to come
    /// again for the answer. Calls come as requests that rmcp does not know (`inlet`).
    fn closes(&self, id: &SessionId, message: &mut ClientJsonRpcMessage) -> bool {
        let ClientJsonRpcMessage::Request(request) = message else {
            return false;
        };
        let ClientRequest::CustomRequest(call) = &mut request.request else {
            return false;
        };
        let name = call.params.as_ref().and_then(|params| params.get("name"));
        let closes = !self.no_resume
            && call.method == "tools/call"
            && name.and_then(Value::as_str) == Some(RECONNECTS);
        if closes {
            let taken_up = TakenUp::default();
            call.extensions.insert(taken_up.clone());
            self.closed().insert(id.clone(), taken_up);
        }
        closes
    }

    /// The events with their ids, where these lead anywhere.
    fn named(
        &self,
        events: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
    ) -> impl Stream<Item = ServerSseMessage> + Send + Sync + 'static {
        let no_resume = self.no_resume;
        events.map(move |mut event| {
            event.event_id = event.event_id.filter(|_| !no_resume);
            event
        })
    }

    fn closed(&self) -> MutexGuard<'_, HashMap<SessionId, TakenUp>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The messages of the session with this id, if it exists.
    pub(super) fn talk(&self, id: &str) -> Option<Shared> {
        self.talks().get(id).cloned()
    }

    /// A session of this id began with this.
    pub(super) fn began(&self, id: &str, talk: Shared) {
        self.talks().insert(id.to_owned(), talk);
    }

    /// Nobody says anything any more.
    pub(super) fn forget(&self) {
        self.talks().clear();
    }

    fn talks(&self) -> MutexGuard<'_, HashMap<String, Shared>> {
        self.talks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn next_id(&self) -> SessionId {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::from(format!("{:016x}{:016x}", ids.next_u64(), ids.next_u64()))
    }
}

type Failed = LocalSessionManagerError;

impl SessionManager for Sessions {
    type Error = Failed;
    type Transport = WorkerTransport<LocalSessionWorker>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Failed> {
        let id = self.next_id();
        let config = self.local.session_config.clone();
        let (handle, worker) = create_local_session(id.clone(), config);
        self.local.sessions.write().await.insert(id.clone(), handle);
        Ok((id, WorkerTransport::spawn(worker)))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Failed> {
        self.local.initialize_session(id, message).await
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Failed> {
        self.local.has_session(id).await
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Failed> {
        self.closed().remove(id);
        self.talks().remove(id.as_ref());
        self.local.close_session(id).await
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        mut message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failed> {
        let closes = self.closes(id, &mut message);
        let most = if closes { 1 } else { usize::MAX };
        let events = self.local.create_stream(id, message).await?;
        Ok(self.named(events).take(most))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Failed> {
        self.local.accept_message(id, message).await
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failed> {
        let events = self.local.create_standalone_stream(id).await?;
        Ok(self.named(events))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Failed> {
        let events = self.local.resume(id, last_event_id).await?;
        if let Some(closed) = self.closed().remove(id) {
            closed.0.notify_one();
        }
        Ok(events)
    }
}
