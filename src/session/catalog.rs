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

/// What came of asking a server for its lists.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    /// What is known now.
    pub(crate) catalog: Catalog,
    /// Why a list that the server declares is not known: the first such list, and what became of it.
    pub(crate) missing: Option<String>,
    /// What the server said meanwhile.
    pub(crate) remainder: Remainder,
}

impl Session {
    /// Fetches what the server declares to list. What is noticed about the lists belongs to no assertion; what
    /// the server said meanwhile may belong to the one before, and is handed out.
    pub(crate) async fn catalog(&mut self, deadline: Instant) -> Surveyed {
        self.aside = Some(Record::default());
        let mut surveyed = Surveyed::default();
        for listing in Listing::ALL {
            self.declared_list(listing, &mut surveyed, deadline).await;
        }
        self.aside = None;
        surveyed.remainder = self.remainder();
        surveyed.remainder.wire.clear();
        surveyed
    }

    async fn declared_list(
        &mut self,
        listing: Listing,
        surveyed: &mut Surveyed,
        deadline: Instant,
    ) {
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
            surveyed.catalog.unknown.push(listing);
            return;
        }
        let answer = match self.list(method, Pages::All, deadline).await {
            Ok(answer) => answer,
            Err(disruption) => {
                // What waited for this list would wait for the next one too.
                self.usable = false;
                self.gave_up = true;
                surveyed.miss(listing, || disruption.message);
                return;
            }
        };
        let items = match answer.body {
            Body::Result(mut reply) => {
                if let Some(unfetched) = reply.unfetched.take() {
                    surveyed.miss(listing, || unfetched.reason);
                }
                method
                    .list_member()
                    .and_then(|member| reply.raw.get_mut(member))
                    .and_then(|items| items.as_array_mut().map(std::mem::take))
            }
            Body::ProtocolError(error) if error.code == Some(METHOD_NOT_FOUND) => return,
            Body::ProtocolError(_) => None,
        };
        match items {
            Some(items) => *surveyed.catalog.list_mut(listing) = Some(items),
            None => surveyed.miss(listing, || {
                format!("`{}` was not answered with a list", method.name())
            }),
        }
    }
}

impl Surveyed {
    /// Notes a list that could not be fetched, or not to its end. The first reason stays.
    fn miss(&mut self, listing: Listing, why: impl FnOnce() -> String) {
        self.catalog.unknown.push(listing);
        self.missing.get_or_insert_with(why);
    }
}
