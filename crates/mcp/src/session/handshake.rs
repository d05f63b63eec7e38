//! The beginning of a session: `initialize`, the revision both speak, `notifications/initialized`; or, where there is no
//! handshake, `server/discover`.

use std::{mem, sync::Arc};

use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Observed, Session, call::Call, client::Client, dialogue::Life};
use crate::{
    observation::{
        SessionFacts,
        answer::{Answer, Body},
        disruption::{Disruption, DisruptionKind, Phase},
        finding::FindingCode,
    },
    protocol::{
        message::{METHOD_NOT_FOUND, RpcError, UNSUPPORTED_VERSION},
        method::Method,
        revision::Revision,
    },
    script::client::RevisionWanted,
};

impl Session {
    /// Makes the handshake, or asks who the server is where there is none; a refusal is an answer like any other. Sets the
    /// facts when it is done.
    pub(super) async fn shake_hands(&mut self) -> Observed<Answer> {
        self.seen.reached = Phase::Handshake;
        let began = Instant::now();
        let answer = if self.exchange.dialogue.revision.is_stateless() {
            self.discover().await
        } else {
            self.initialize_or_discover().await
        };
        self.seen.timings.handshake = began.elapsed();
        answer
    }

    /// The same, for everything that needs it to succeed.
    pub(super) async fn need_hands(&mut self) -> Observed<()> {
        if self.facts.is_some() {
            return Ok(());
        }
        let answer = self.shake_hands().await?;
        if let Body::ProtocolError(error) = &answer.body {
            let revision = self.exchange.dialogue.revision;
            let method = Method::that_begins(revision).name();
            let message = format!("`{method}` was refused with {error}");
            let disruption =
                Disruption::new(DisruptionKind::ProtocolError, Phase::Handshake, message);
            let mut disruption = disruption.with_frame(error.raw.to_string());
            disruption.help = way_out(error, revision);
            return Err(Box::new(disruption));
        }
        self.handshake = Some(answer);
        Ok(())
    }

    /// Makes the handshake; where the server refuses it because it has none, goes on without, unless the assertion wants
    /// the handshake.
    async fn initialize_or_discover(&mut self) -> Observed<Answer> {
        let refused = self.initialize().await?;
        if !self.may_have_no_handshake(&refused) {
            return Ok(refused);
        }
        let dialogue = &mut self.exchange.dialogue;
        let asked = mem::replace(&mut dialogue.revision, Revision::NEWEST_STATELESS);
        let discovered = Box::pin(self.discover()).await?;
        if discovered.reply().is_some() {
            return Ok(discovered);
        }
        self.exchange.dialogue.revision = asked;
        Ok(refused)
    }

    /// Whether the answer to a handshake leaves it open that the server speaks a revision without one.
    fn may_have_no_handshake(&mut self, answer: &Answer) -> bool {
        let Body::ProtocolError(error) = &answer.body else {
            return false;
        };
        let refuses = match error.code {
            Some(METHOD_NOT_FOUND) => true,
            Some(UNSUPPORTED_VERSION) => error
                .supported()
                .is_none_or(|named| named.contains(&Revision::NEWEST_STATELESS.name())),
            Some(_) | None => false,
        };
        refuses
            && self.exchange.dialogue.client.revision() == RevisionWanted::Auto
            && self.exchange.connection.carries(Revision::NEWEST_STATELESS)
    }

    async fn initialize(&mut self) -> Observed<Answer> {
        let asked = self.exchange.dialogue.revision;
        let params = json!({
            "protocolVersion": asked.name(),
            "capabilities": self.exchange.dialogue.client.capabilities(asked),
            "clientInfo": Client::info(),
        });
        let answer = self.call(Call::new(Method::Initialize, params)).await?;
        if let Some(reply) = answer.reply() {
            let result = reply.raw.clone();
            self.agree(result).await?;
        }
        Ok(answer)
    }

    /// Asks who the server is, and what it can do. A client need not, but without it nobody knows, and a server that only
    /// shakes hands may take another request for one of its own revision ("Versioning and Compatibility", matrix).
    async fn discover(&mut self) -> Observed<Answer> {
        let revision = self.exchange.dialogue.revision;
        if !self.exchange.connection.carries(revision) {
            let message = format!("{revision} has no transport `sse`: choose `transport: http`");
            return Err(self.cannot(DisruptionKind::Unsupported, message).into());
        }
        let answer = self.call(Call::new(Method::Discover, Value::Null)).await?;
        if let Some(reply) = answer.reply() {
            let result = reply.raw.clone();
            self.check_supported(revision, &result);
            self.begin_life(revision, result);
        }
        Ok(answer)
    }

    /// Notes that a server answers in a revision that it does not name.
    fn check_supported(&mut self, revision: Revision, result: &Value) {
        let named = result.get("supportedVersions").and_then(Value::as_array);
        let mut named = named.into_iter().flatten();
        if !named.any(|named| named.as_str() == Some(revision.name())) {
            let message = format!(
                "`server/discover` is answered in {revision}, which the answer does not name"
            );
            let frame = result.to_string();
            self.record()
                .note(FindingCode::OtherRevision, message, frame.as_bytes());
        }
    }

    /// From now on it is known who the server is.
    fn begin_life(&mut self, revision: Revision, result: Value) {
        let facts = Arc::new(SessionFacts {
            revision,
            initialize: result,
        });
        self.exchange.dialogue.revision = revision;
        self.exchange.connection.agreed_on(revision);
        self.exchange.dialogue.facts = Some(Arc::clone(&facts));
        self.facts = Some(facts);
        self.exchange.dialogue.life = Life::Open;
        self.exchange.dialogue.hold_early();
    }

    async fn agree(&mut self, result: Value) -> Observed<()> {
        let named = result.get("protocolVersion").and_then(Value::as_str);
        let named = named.unwrap_or_default();
        let revision = Revision::from_name(named).filter(|revision| !revision.is_stateless());
        let Some(revision) = revision else {
            let message = format!(
                "the server chose revision `{}`, which is none with a handshake",
                text::head(named, 60)
            );
            let frame = result.to_string();
            self.record().note(
                FindingCode::UnknownRevision,
                message.as_str(),
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
            self.record()
                .note(FindingCode::OtherRevision, message, frame.as_bytes());
        }
        self.begin_life(revision, result);
        self.exchange
            .notify("notifications/initialized", &Value::Null)
            .await;
        Ok(())
    }
}

/// What to do where a server refuses to begin a session of this revision.
fn way_out(error: &RpcError, revision: Revision) -> Option<String> {
    if let Some(supported) = error.supported() {
        let known = supported
            .iter()
            .filter_map(|name| Revision::from_name(name));
        let choice = known
            .max()
            .map(|newest| format!("; write `protocol: {newest}`"));
        let supported = text::head(&supported.join(", "), 200);
        return Some(format!(
            "the server speaks {supported}{}",
            choice.unwrap_or_else(|| ", of which none is known here".to_owned())
        ));
    }
    revision.is_stateless().then(|| {
        format!(
            "every server of {revision} answers `server/discover`; without `protocol` a handshake is made first"
        )
    })
}
