//! The beginning of a session: `initialize`, the revision both speak, `notifications/initialized`.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Observed, Session, call::Call, dialogue::Life};
use crate::{
    observation::{
        SessionFacts,
        answer::{Answer, Body},
        disruption::{Disruption, DisruptionKind, Phase},
        finding::FindingCode,
    },
    protocol::{
        method::Method,
        revision::{Lifecycle, Revision},
    },
    script::client::RevisionWanted,
};

impl Session {
    /// Makes the handshake; a refusal is an answer like any other. Sets the facts when it is done.
    pub(super) async fn shake_hands(&mut self, deadline: Instant) -> Observed<Answer> {
        self.begin_phase(Phase::Handshake);
        let began = Instant::now();
        let asked = self.exchange.dialogue.revision;
        if asked.lifecycle() == Lifecycle::Stateless {
            let message = format!("{asked} has no handshake, and cannot be spoken yet");
            let help = "choose one of the revisions with a handshake, or leave `protocol` out";
            let disruption =
                Disruption::new(DisruptionKind::Unsupported, Phase::Handshake, message);
            return Err(Box::new(disruption.with_help(help)));
        }
        let params = json!({
            "protocolVersion": asked.name(),
            "capabilities": self.exchange.dialogue.client.capabilities(asked),
            "clientInfo": {"name": "mcp-assert", "version": env!("CARGO_PKG_VERSION")},
        });
        let answer = self
            .call(Call::new(Method::Initialize, params), deadline)
            .await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(disruption) => {
                self.seen.timings.handshake = began.elapsed();
                return Err(disruption);
            }
        };
        if let Some(reply) = answer.reply() {
            let result = reply.raw.clone();
            self.agree(result).await?;
        }
        self.seen.timings.handshake = began.elapsed();
        Ok(answer)
    }

    /// The same, for everything that needs the handshake to succeed.
    pub(super) async fn need_hands(&mut self, deadline: Instant) -> Observed<()> {
        if self.facts.is_some() {
            return Ok(());
        }
        let answer = self.shake_hands(deadline).await?;
        if let Body::ProtocolError(error) = &answer.body {
            let message = format!("`initialize` was refused with {error}");
            let disruption =
                Disruption::new(DisruptionKind::ProtocolError, Phase::Handshake, message);
            return Err(Box::new(disruption.with_frame(error.raw.to_string())));
        }
        self.handshake = Some(answer);
        Ok(())
    }

    async fn agree(&mut self, result: Value) -> Observed<()> {
        let named = result.get("protocolVersion").and_then(Value::as_str);
        let named = named.unwrap_or_default();
        let revision = Revision::from_name(named)
            .filter(|revision| revision.lifecycle() == Lifecycle::Handshake);
        let Some(revision) = revision else {
            let message = format!(
                "the server chose revision `{}`, which is none with a handshake",
                text::head(named, 60)
            );
            let frame = result.to_string();
            let record = &mut self.exchange.dialogue.record;
            record.note(
                FindingCode::UnknownRevision,
                message.clone(),
                frame.as_bytes(),
            );
            let disruption = Disruption::new(DisruptionKind::Violation, Phase::Handshake, message);
            return Err(Box::new(
                disruption.with_frame(super::record::shown(frame.as_bytes())),
            ));
        };
        if let RevisionWanted::Exactly(asked) = self.exchange.dialogue.client.revision()
            && asked != revision
        {
            let message =
                format!("the server chose revision {revision} where {asked} was asked for");
            let frame = result.to_string();
            let record = &mut self.exchange.dialogue.record;
            record.note(FindingCode::OtherRevision, message, frame.as_bytes());
        }
        self.exchange.dialogue.revision = revision;
        self.exchange.connection().agreed_on(revision);
        let facts = Arc::new(SessionFacts {
            revision,
            initialize: result,
        });
        self.exchange.dialogue.facts = Some(Arc::clone(&facts));
        self.facts = Some(facts);
        self.exchange.dialogue.life = Life::Open;
        self.exchange
            .notify("notifications/initialized", &Value::Null)
            .await;
        Ok(())
    }
}
