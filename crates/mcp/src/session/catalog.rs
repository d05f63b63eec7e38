//! The catalog of a server: every list it declares, asked for in a session in which nothing is called.

use tokio::time::Instant;

use super::Session;
use crate::{
    observation::{
        answer::Body,
        catalog::{Catalog, Listing},
    },
    protocol::{method::Method, revision::Revision},
    script::template::Bindings,
};

/// What JSON-RPC answers to a method that does not exist: many servers have resources and no templates.
const METHOD_NOT_FOUND: i64 = -32601;

/// The outcome of asking a server for its lists.
#[derive(Debug, Default)]
pub struct Listed {
    /// What is known now.
    pub catalog: Catalog,
    /// Why a list that the server declares is not known: the reason of the first such list.
    pub missing: Option<String>,
}

impl Session {
    /// Makes the handshake, with these values in what the client answers; gives back why that failed.
    pub async fn greet(
        &mut self,
        bindings: &Bindings,
        deadline: Instant,
    ) -> Result<Revision, String> {
        self.exchange.dialogue.client.bind(bindings);
        self.deadline = deadline;
        let greeted = self.need_hands().await;
        greeted.map_err(|disruption| disruption.message)?;
        Ok(self.exchange.dialogue.revision)
    }

    /// Fetches all that the server declares to list, after the handshake. What was found before stays with the
    /// session: it is no finding of a list.
    pub async fn catalog(&mut self, deadline: Instant) -> Listed {
        self.deadline = deadline;
        let mut listed = Listed::default();
        let before = std::mem::take(&mut self.record().findings);
        for listing in Listing::ALL {
            self.declared_list(listing, &mut listed).await;
        }
        listed.catalog.findings = std::mem::replace(&mut self.record().findings, before);
        listed
    }

    async fn declared_list(&mut self, listing: Listing, listed: &mut Listed) {
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
            listed.catalog.unknown.push(listing);
            return;
        }
        let answer = match self.list(method, None).await {
            Ok(answer) => answer,
            Err(disruption) => {
                // A server that owes this list would owe the next one too.
                self.usable = false;
                listed.miss(listing, || disruption.message);
                return;
            }
        };
        let items = match answer.body {
            Body::Result(mut reply) => {
                if let Some(unfetched) = reply.unfetched.take() {
                    listed.miss(listing, || unfetched.reason);
                }
                let items = reply.raw.get_mut(listing.member());
                items.and_then(|it| it.as_array_mut().map(std::mem::take))
            }
            Body::ProtocolError(error) if error.code == Some(METHOD_NOT_FOUND) => return,
            Body::ProtocolError(_) => None,
        };
        match items {
            Some(items) => *listed.catalog.list_mut(listing) = Some(items),
            None => listed.miss(listing, || {
                format!("`{}` was not answered with a list", method.name())
            }),
        }
    }
}

impl Listed {
    /// Notes a list that could not be fetched, or not to its end. The first reason stays.
    fn miss(&mut self, listing: Listing, why: impl FnOnce() -> String) {
        self.catalog.unknown.push(listing);
        self.missing.get_or_insert_with(why);
    }
}
