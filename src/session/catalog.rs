//! The surface of a server: every list it declares, bounded in time. Asked for after a subject, so that it
//! changes nothing that was observed.

use tokio::time::Instant;

use super::{Remainder, Session, list::Pages, record::Record};
use crate::{
    observation::{
        answer::Body,
        catalog::{Catalog, Listing},
    },
    protocol::method::Method,
};

/// What JSON-RPC answers to a method that does not exist: many servers have resources and no templates.
const METHOD_NOT_FOUND: i64 = -32601;

impl Session {
    /// Fetches what the server declares to list. What is noticed about the lists belongs to no assertion; what
    /// the server said meanwhile belongs to the one before, and is handed out.
    pub(crate) async fn catalog(&mut self, deadline: Instant) -> (Catalog, Remainder) {
        self.aside = Some(Record::default());
        let mut catalog = Catalog::default();
        for listing in Listing::ALL {
            self.declared_list(listing, &mut catalog, deadline).await;
        }
        self.aside = None;
        let mut remainder = self.remainder();
        remainder.wire.clear();
        (catalog, remainder)
    }

    async fn declared_list(&mut self, listing: Listing, catalog: &mut Catalog, deadline: Instant) {
        let method = match listing {
            Listing::Tools => Method::ToolsList,
            Listing::Prompts => Method::PromptsList,
            Listing::Resources => Method::ResourcesList,
            Listing::ResourceTemplates => Method::ResourceTemplatesList,
        };
        let declared = method
            .capability()
            .zip(self.facts.as_ref())
            .is_some_and(|(capability, facts)| facts.declares(capability));
        if !declared {
            return;
        }
        if !self.is_usable() {
            catalog.unknown.push(listing);
            return;
        }
        let Ok(answer) = self.list(method, Pages::All, deadline).await else {
            // What waited for this list would wait for the next one too.
            self.usable = false;
            self.gave_up = true;
            catalog.unknown.push(listing);
            return;
        };
        let items = match answer.body {
            Body::Result(mut reply) => method
                .list_member()
                .and_then(|member| reply.raw.get_mut(member))
                .and_then(|items| items.as_array_mut().map(std::mem::take)),
            Body::ProtocolError(error) if error.code == Some(METHOD_NOT_FOUND) => return,
            Body::ProtocolError(_) => None,
        };
        match items {
            Some(items) => *catalog.list_mut(listing) = Some(items),
            None => catalog.unknown.push(listing),
        }
    }
}
