//! The surface of a server: every list it declares, bounded in time. Asked for after a subject, so that it
//! changes nothing that was observed.

use serde_json::Value;
use tokio::time::Instant;

use super::{Remainder, Session, list::Pages, record::Record};
use crate::{
    observation::{answer::Body, catalog::Catalog},
    protocol::method::Method,
};

impl Session {
    /// Fetches what the server declares to list. What is noticed about the lists belongs to no assertion; what
    /// the server said meanwhile belongs to the one before, and is handed out.
    pub(crate) async fn catalog(&mut self, deadline: Instant) -> (Catalog, Remainder) {
        self.aside = Some(Record::default());
        let catalog = Catalog {
            tools: self.declared_list(Method::ToolsList, deadline).await,
            prompts: self.declared_list(Method::PromptsList, deadline).await,
            resources: self.declared_list(Method::ResourcesList, deadline).await,
            resource_templates: self
                .declared_list(Method::ResourceTemplatesList, deadline)
                .await,
        };
        self.aside = None;
        let mut remainder = self.remainder();
        remainder.wire.clear();
        (catalog, remainder)
    }

    async fn declared_list(&mut self, method: Method, deadline: Instant) -> Option<Vec<Value>> {
        let declared = method
            .capability()
            .zip(self.facts.as_ref())
            .is_some_and(|(capability, facts)| facts.declares(capability));
        if !declared || !self.is_usable() {
            return None;
        }
        let Ok(answer) = self.list(method, Pages::All, deadline).await else {
            // What waited for this list would wait for the next one too.
            self.usable = false;
            self.gave_up = true;
            return None;
        };
        let Body::Result(reply) = answer.body else {
            return None;
        };
        let items = reply.raw.get(method.list_member()?)?;
        items.as_array().cloned()
    }
}
