//! What is wrong with the answers to frames that were sent as they were written: the same as with other answers, where
//! it is beyond doubt what was asked. Findings, never verdicts.

use serde_json::Value;

use super::asked::SentRequest;
use crate::{
    protocol::{message::RpcError, method::Method, result::ResultKind, revision::Revision},
    session::{Session, correlation::Settled, inspect, lint},
};

impl Session {
    /// Looks into the answers, in the order of the requests; `before` is how many requests the server had made until
    /// the frames were sent.
    pub(super) fn look_into(&mut self, answers: Vec<(&SentRequest, Settled)>, before: usize) {
        // Where the frames shake hands, it is their answer that names the revision.
        let mut revision = self
            .facts
            .is_some()
            .then_some(self.exchange.dialogue.revision);
        for (asked, mut settled) in answers {
            let Some(method) = asked.method else {
                continue;
            };
            let (error, result) = (
                settled.response.error.take(),
                settled.response.result.take(),
            );
            match (error, result) {
                (Some(error), None) => {
                    let error = RpcError::from_value(&error);
                    let meanwhile = before..settled.server_requests;
                    self.refused(method, meanwhile, (&error, &settled.frame));
                }
                (None, Some(result)) => {
                    if method == Method::Initialize {
                        let named = result.get("protocolVersion").and_then(Value::as_str);
                        revision = named.and_then(Revision::from_name);
                    }
                    if let Some(revision) = revision {
                        self.look_into_result(method, revision, &result, &settled);
                    }
                }
                // That is told already.
                (Some(_), Some(_)) | (None, None) => {}
            }
        }
    }

    fn look_into_result(
        &mut self,
        method: Method,
        revision: Revision,
        result: &Value,
        settled: &Settled,
    ) {
        let unusable = match ResultKind::of(method, revision, result) {
            ResultKind::Complete => method.unusable(result),
            ResultKind::Unusable(reason) => Some(reason),
            ResultKind::Task => return,
            ResultKind::InputRequired(_) => {
                let record = &mut self.exchange.dialogue.record;
                let frame = settled.frame.as_bytes();
                return inspect::input_required(record, revision, (result, frame));
            }
        };
        if let Some(reason) = unusable {
            let what = format!("`{}`", method.name());
            self.note_unusable(&what, &reason, &settled.frame);
            return;
        }
        self.inspect(method, revision, result, settled);
        let items = method.list_member().and_then(|member| result.get(member));
        if let Some(items) = items.and_then(Value::as_array) {
            let record = &mut self.exchange.dialogue.record;
            lint::items(record, method, items, revision);
        }
    }
}
