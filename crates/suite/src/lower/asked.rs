//! `assert_sampling` and `assert_elicitation`: tools during which the server asks something of the client.

use super::{Lowering, subject::Lowered};
use crate::{
    Dialect,
    model::expectation::{Expectation, Family, ServerRequestWanted, TrafficWanted, Wanted},
    raw::{
        Field,
        asked::{self, RawAsked},
        subject::{RawElicitation, RawSampling},
        value::Deferred,
    },
    yaml::{At, Key},
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
    ) -> Lowered {
        let at = field.key;
        let RawSampling {
            tool,
            args,
            mock_text,
            mock_model,
            expect,
            expect_request,
        } = *field.value;
        let text = self.template_or(mock_text, "");
        let model = self.template_or(mock_model, "mock");
        if client.sampling.is_none() {
            client.sampling = Some(vec![SamplingReply::Message {
                text,
                model,
                stop_reason: Template::new(self.usual_stop()),
            }]);
        }
        let mut wanted = self.answer(expect, at);
        wanted.extend(self.request_wanted(expect_request, SAMPLING, at));
        let call = self.subject_call(tool, args, "`assert_sampling`", at)?;
        Some((Subject::Sampling(call), wanted))
    }

    /// `assert_elicitation`
    pub(super) fn elicitation_subject(
        &mut self,
        field: Field<Box<RawElicitation>>,
        client: &mut ClientBehaviour,
    ) -> Lowered {
        let at = field.key;
        let RawElicitation {
            tool,
            args,
            answer,
            expect,
            expect_request,
        } = *field.value;
        let answer = answer.map(|answer| self.elicitation(answer.value));
        if client.elicitation.is_none() {
            client.elicitation = Some(answer.unwrap_or_else(|| {
                ElicitationReplies::InOrder(vec![ElicitationReply {
                    action: ElicitationAction::Accept,
                    content: None,
                }])
            }));
        }
        let mut wanted = self.answer(expect, at);
        wanted.extend(self.request_wanted(expect_request, "elicitation/create", at));
        let call = self.subject_call(tool, args, "`assert_elicitation`", at)?;
        Some((Subject::Elicitation(call), wanted))
    }

    /// What the server must have asked: what the suite says, and that it asked this at all where the suite does not
    /// say how often. The Go tool does not look at what was sampled, and has no `assert_elicitation`.
    fn request_wanted(
        &mut self,
        field: Option<Field<Deferred<RawAsked>>>,
        method: &'static str,
        at: At,
    ) -> Vec<Wanted> {
        let mut all = Vec::new();
        let named = field.as_ref().map(|field| &field.value.node);
        let is_named = named.is_some_and(|node| asked::names(node, method));
        if !is_named && (self.dialect() == Dialect::Native || method != SAMPLING) {
            let request = ServerRequestWanted {
                method: method.to_owned(),
                count: None,
                params: None,
            };
            let expectation = Expectation::Traffic(TrafficWanted::ServerRequests(vec![request]));
            all.push(self.wanted("server_requests", at, expectation));
        }
        if let Some(field) = field.filter(|field| !asked::is_empty(&field.value.node)) {
            all.extend(self.requests(field, method));
        }
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
        let node = field.value.node;
        let name = Key {
            text: key.to_owned(),
            at: field.key,
        };
        if super::expectation::has_markers(&node) {
            return Some(self.later(family, key, &name, node));
        }
        self.check_leaves_and_keys(&node);
        let place = field.key.until(field.at);
        self.family((family, key), place, node).into_iter().next()
    }
}
