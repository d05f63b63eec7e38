//! `assert_sampling` and `assert_elicitation`: tools during which the server asks the client.

use super::{Lowering, expectation::has_markers, subject::OptionalSubject};
use crate::{
    model::expectation::{Family, ServerRequestWanted, TrafficWanted, Wanted},
    raw::{
        Field,
        asked::{RawAsked, names},
        read::value,
        subject::{RawElicitation, RawSampling},
        value::Deferred,
    },
    yaml::{At, Key, Kind},
};
use mcp::script::{
    client::{
        ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply, SamplingReply,
    },
    subject::Subject,
    template::Template,
};

/// The request of a server that samples.
const SAMPLING: &str = "sampling/createMessage";

impl Lowering<'_> {
    /// `assert_sampling`
    pub(super) fn sampling_subject(
        &mut self,
        field: Field<Box<RawSampling>>,
        client: &mut ClientBehaviour,
    ) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let reply = SamplingReply::Message {
            text: self.template_or(raw.mock_text, ""),
            model: self.template_or(raw.mock_model, "mock"),
            stop_reason: Template::new(self.usual_stop()),
        };
        client.sampling.get_or_insert_with(|| vec![reply]);
        let mut wanted = self.answer(raw.expect, at);
        wanted.extend(self.request_wanted(raw.expect_request, SAMPLING, at));
        let call = self.subject_call(raw.tool, raw.args, "`assert_sampling`", at)?;
        Some((Subject::Sampling(call), wanted))
    }

    /// `assert_elicitation`
    pub(super) fn elicitation_subject(
        &mut self,
        field: Field<Box<RawElicitation>>,
        client: &mut ClientBehaviour,
    ) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let answer = value(raw.answer).map(|answer| self.elicitation(answer));
        client.elicitation.get_or_insert_with(|| {
            answer.unwrap_or_else(|| {
                ElicitationReplies::InOrder(vec![ElicitationReply {
                    action: ElicitationAction::Accept,
                    content: None,
                }])
            })
        });
        let mut wanted = self.answer(raw.expect, at);
        wanted.extend(self.request_wanted(raw.expect_request, "elicitation/create", at));
        let call = self.subject_call(raw.tool, raw.args, "`assert_elicitation`", at)?;
        Some((Subject::Elicitation(call), wanted))
    }

    /// What the server must have asked: what the suite says, and that it asked this at all unless the suite says how
    /// often. The Go tool does not look at what was sampled, and has no `assert_elicitation`.
    fn request_wanted(
        &mut self,
        field: Option<Field<Deferred<RawAsked>>>,
        method: &'static str,
        at: At,
    ) -> Vec<Wanted> {
        let mut all = Vec::new();
        let is_named = field.as_ref().is_some_and(|it| names(&it.value.0, method));
        if !is_named && (!self.is_compat() || method != SAMPLING) {
            let request = ServerRequestWanted {
                method: method.to_owned(),
                count: None,
                params: None,
            };
            let wanted = TrafficWanted::ServerRequests(vec![request]);
            all.push(self.wanted("server_requests", at, wanted));
        }
        let field = field.filter(|field| field.value.0.kind != Kind::List(Vec::new()));
        all.extend(field.and_then(|field| self.requests(field, method)));
        all
    }

    /// `expect_request`
    fn requests(
        &mut self,
        field: Field<Deferred<RawAsked>>,
        method: &'static str,
    ) -> Option<Wanted> {
        let key = "expect_request";
        let family = Family::Request(method);
        let place = field.place();
        let node = field.value.0;
        let name = Key {
            text: key.to_owned(),
            at: field.key,
        };
        if has_markers(&node) {
            return Some(self.later(family, key, &name, node));
        }
        self.check_leaves_and_keys(&node);
        self.family((family, key), place, node).pop()
    }
}
