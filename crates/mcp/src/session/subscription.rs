//! Updates of a resource: asked for by a request of their own, or since 2026-07-28 on a stream that stays open
//! ("Subscriptions").

use serde_json::{Map, Value, json};

use super::{
    Observed, Session,
    call::{Call, Pending},
    correlation::{Settled, id_value},
};
use crate::{observation::disruption::DisruptionKind, protocol::method::Method};

/// What servers declare `listChanged` of, and the filter of a stream for it.
const CHANGES: [(&str, &str); 3] = [
    ("tools", "toolsListChanged"),
    ("prompts", "promptsListChanged"),
    ("resources", "resourcesListChanged"),
];

impl Session {
    /// The request for updates of a resource.
    pub(super) fn subscription(&self, uri: &str) -> Call {
        if self.exchange.dialogue.revision.is_stateless() {
            let wanted = json!({"notifications": {"resourceSubscriptions": [uri]}});
            Call::new(Method::SubscriptionsListen, wanted)
        } else {
            Call::new(Method::ResourcesSubscribe, json!({ "uri": uri }))
        }
    }

    /// Asks for word of every list of which the server declares that it tells of changes, where that comes on a stream
    /// alone. A server that refuses tells of none.
    pub(super) async fn hear_of_changes(&mut self) -> Observed<()> {
        let Some(facts) = &self.facts else {
            return Ok(());
        };
        let declared =
            |(capability, _): &(&str, &str)| facts.declares_part(capability, "listChanged");
        let filters = CHANGES.into_iter().filter(declared);
        let filters: Map<String, Value> = filters
            .map(|(_, filter)| (filter.to_owned(), true.into()))
            .collect();
        if self.exchange.dialogue.revision.is_stateless() && !filters.is_empty() {
            let wanted = json!({ "notifications": filters });
            self.call(Call::new(Method::SubscriptionsListen, wanted))
                .await?;
        }
        Ok(())
    }

    /// A stream was acknowledged, or what was asked for is not told on it. What comes after the acknowledgement is what
    /// the subscription brings.
    pub(super) fn opened(&mut self, pending: &mut Pending, settled: &Settled) -> Observed<()> {
        let (Some(result), None) = (&settled.response.result, &settled.response.error) else {
            return Ok(());
        };
        let what = &pending.what;
        let message = match result.get("notifications") {
            Some(honoured) if pending.uri.is_none() || names_a_resource(honoured) => {
                pending.ticket.notifications = settled.notifications;
                if let Some(uri) = &pending.uri {
                    self.streams.insert(uri.clone(), pending.ticket.id.clone());
                }
                return Ok(());
            }
            Some(_) => format!("the server acknowledged {what} without the resource"),
            None => format!("the server ended {what} before it acknowledged it"),
        };
        let disruption = self.cannot(DisruptionKind::ProtocolError, message);
        Err(disruption.with_frame(settled.frame.as_str()).into())
    }

    /// Asks for no more updates of a resource. Nothing comes back of the end of a stream, which is a cancellation.
    pub(super) async fn end_subscription(&mut self, uri: &str) -> Observed<()> {
        if !self.exchange.dialogue.revision.is_stateless() {
            let request = Call::new(Method::ResourcesUnsubscribe, json!({ "uri": uri }));
            let unsubscribed = self.call(request).await?;
            return self.accepted("`resources/unsubscribe`", &unsubscribed);
        }
        let Some(id) = self.streams.remove(uri) else {
            let message = format!("there is no subscription of `{uri}` to end");
            return Err(self.cannot(DisruptionKind::Invalid, message).into());
        };
        let params = json!({"requestId": id_value(&id)});
        self.exchange
            .notify("notifications/cancelled", &params)
            .await;
        Ok(())
    }
}

/// Whether updates of resources are among what is told.
fn names_a_resource(honoured: &Value) -> bool {
    let named = honoured
        .get("resourceSubscriptions")
        .and_then(Value::as_array);
    named.is_some_and(|named| !named.is_empty())
}
