//! A session that the server does not know any more: where nothing was asked in it yet, a new one is begun, once
//! (MCP "Session Management": a client that receives 404 starts a new session).

use super::{Observed, Session, call::Pending, dialogue::Life};
use crate::{observation::finding::FindingCode, transport::Lack};

impl Session {
    /// Whether this request found no session, and was the first in it: nothing can have had an effect yet.
    pub(super) fn may_renew(&self, pending: &Pending) -> bool {
        let dialogue = &self.exchange.dialogue;
        dialogue.lack == Lack::Session
            && self.first.as_ref() == Some(&pending.ticket.id)
            && dialogue.requests.open().len() == 1
    }

    /// Begins a new session, and sends the request again.
    pub(super) async fn renew(&mut self, pending: &mut Pending) -> Observed<()> {
        let phase = self.seen.reached;
        let dialogue = &mut self.exchange.dialogue;
        let message = format!("the session was not known any more at {}", pending.what);
        dialogue
            .record
            .note_bare(FindingCode::SessionForgotten, message);
        dialogue.requests.give_up(&pending.ticket.id);
        dialogue.lack = Lack::Answer;
        dialogue.life = Life::Beginning;
        dialogue.facts = None;
        self.facts = None;
        if let Some(http) = self.exchange.connection.http_only() {
            http.forget_session();
        }
        Box::pin(self.need_hands()).await?;
        self.seen.reached = phase;
        let params = pending.params.clone();
        pending.ticket.id = self.exchange.ask(pending.method, params).await.id;
        Ok(())
    }
}
