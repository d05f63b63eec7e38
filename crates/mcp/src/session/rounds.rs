//! What a server needs before it can answer: it says so in a result, the client behaves as the suite says, and the request
//! is sent again with what came of it ("Multi Round-Trip Requests").

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    Observed, Session,
    call::Pending,
    correlation::Settled,
    inspect,
    record::{brief, brief_name},
};
use crate::{
    observation::{ServerRequestSeen, disruption::DisruptionKind},
    protocol::{
        method::Method,
        result::{Input, InputRequired, ResultKind},
    },
};

/// How often one request is sent again: a server that never has enough must not be asked for ever.
const MOST_ROUNDS: usize = 10;

/// What came before the present sending of a request.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// How often it was sent.
    count: usize,
    /// How long its answers took.
    pub(super) took: Duration,
    /// How long they were.
    pub(super) bytes: usize,
}

/// What came in place of the last answer.
pub(super) enum Not {
    /// What the server needs first.
    Input(InputRequired),
    /// A task that will have it.
    Task,
}

impl Session {
    /// Whether a server may ask for input before it answers this method.
    pub(super) fn may_ask_for_input(&self, method: Method) -> bool {
        self.exchange.dialogue.revision.is_stateless() && method.may_ask_for_input()
    }

    /// What an answer is instead of the last one; `None` where it is that.
    pub(super) fn not_yet(
        &mut self,
        pending: &Pending,
        settled: &Settled,
    ) -> Observed<Option<Not>> {
        let revision = self.exchange.dialogue.revision;
        let (Some(result), None) = (&settled.response.result, &settled.response.error) else {
            return Ok(None);
        };
        match ResultKind::of(pending.method, revision, result) {
            ResultKind::Complete => Ok(None),
            ResultKind::InputRequired(asked) => Ok(Some(Not::Input(asked))),
            ResultKind::Task if self.exchange.dialogue.client.has_tasks() => Ok(Some(Not::Task)),
            ResultKind::Task => {
                let reason = "it is a task, and the client does not declare `tasks`";
                Err(self.unusable(&pending.what, reason, &settled.frame).into())
            }
            ResultKind::Unusable(reason) => {
                Err(self.unusable(&pending.what, &reason, &settled.frame).into())
            }
        }
    }

    /// Gives the server what it asks for, and sends the request again, with an id of its own.
    pub(super) async fn next_round(
        &mut self,
        pending: &mut Pending,
        settled: &Settled,
        asked: InputRequired,
    ) -> Observed<()> {
        let dialogue = &mut self.exchange.dialogue;
        if let Some(result) = &settled.response.result {
            let frame = settled.frame.as_bytes();
            inspect::input_required(&mut dialogue.record, dialogue.revision, (result, frame));
        }
        if pending.before.count == MOST_ROUNDS {
            let message = format!(
                "{} was sent {MOST_ROUNDS} times again with what the server asked for, and it asks for more",
                pending.what
            );
            let disruption = self.cannot(DisruptionKind::Violation, message);
            return Err(disruption.with_frame(settled.frame.as_str()).into());
        }
        let mut params = pending.params.clone();
        if let Some(requests) = asked.requests {
            params["inputResponses"] = self.give_all(requests, settled, &pending.what)?;
        }
        if let Some(state) = asked.state {
            params["requestState"] = state;
        }
        let ticket = self.exchange.ask(pending.method, params).await;
        pending.ticket.id = ticket.id;
        pending.before = Rounds {
            count: pending.before.count + 1,
            took: pending.before.took + settled.took(),
            bytes: pending.before.bytes + settled.bytes,
        };
        Ok(())
    }

    /// The client's answers to all questions of a server, by the server's keys.
    pub(super) fn give_all(
        &mut self,
        requests: Vec<(String, Input)>,
        settled: &Settled,
        what: &str,
    ) -> Observed<Value> {
        let mut responses = Map::new();
        for (key, input) in requests {
            responses.insert(key, self.give(input, settled, what)?);
        }
        Ok(Value::Object(responses))
    }

    /// What the client has for a server that asks for this. A refusal is nothing that can be sent: no response is an error.
    fn give(&mut self, input: Input, settled: &Settled, what: &str) -> Observed<Value> {
        let Input { method, params } = input;
        let at_us = self.exchange.connection.clock().at_us();
        let dialogue = &mut self.exchange.dialogue;
        let given = dialogue.consider(&method, &params, settled.frame.as_bytes());
        let is_served = dialogue.client.serves(&method);
        let bytes = params.to_string().len();
        let named = brief_name(&method);
        let seen = ServerRequestSeen { method, params };
        dialogue.record.server_request(seen, bytes, at_us);
        given.map_err(|refusal| {
            let message = format!(
                "{what} needs `{named}`, which the client refuses: {}",
                brief(&refusal.message.into())
            );
            let disruption = if is_served {
                let help = format!(
                    "in {} a client has no way to say that it refuses; an elicitation can be declined",
                    self.exchange.dialogue.revision
                );
                self.cannot(DisruptionKind::Unsupported, message)
                    .with_help(help)
            } else {
                self.cannot(DisruptionKind::Violation, message)
            };
            disruption.with_frame(settled.frame.as_str()).into()
        })
    }
}
