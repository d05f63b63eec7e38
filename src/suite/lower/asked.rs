//! `assert_sampling` and `assert_elicitation`: tools during which the server asks something of the client.

use super::{Lowering, subject::Lowered};
use crate::suite::{
    Dialect,
    model::{
        expectation::{Expectation, Family, ServerRequestWanted, Wanted},
        server::{
            ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply, SamplingReply,
        },
        subject::Subject,
    },
    raw::{
        Field,
        asked::RawAsked,
        subject::{RawElicitation, RawSampling},
        value::Deferred,
    },
    template::Template,
    yaml::{At, Key},
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
        let text = mock_text.map_or_else(|| Template::new(""), |text| self.template(text.value));
        if client.sampling.is_none() {
            client.sampling = Some(vec![SamplingReply::Message {
                text,
                model: mock_model.map_or_else(|| "mock".into(), |model| model.value.text),
                stop_reason: "endTurn".into(),
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

    /// What the server must have asked: what the suite says, else that it asked at all. The Go tool does not look at
    /// what was sampled, and has no `assert_elicitation`.
    fn request_wanted(
        &mut self,
        field: Option<Field<Deferred<RawAsked>>>,
        method: &'static str,
        at: At,
    ) -> Option<Wanted> {
        let key = "expect_request";
        let family = Family::Request(method);
        match field {
            Some(field) => {
                let node = field.value.node;
                let text = key.to_owned();
                let name = Key {
                    text,
                    at: field.key,
                };
                if super::expectation::has_markers(&node) {
                    return Some(self.later(family, key, &name, node));
                }
                let place = field.key.until(field.at);
                let found = self.family(family, key, node).into_iter().next()?;
                let origin = self.reading.problems.origin(place);
                Some(Wanted { origin, ..found })
            }
            None if self.dialect() == Dialect::Native || method != SAMPLING => {
                let request = ServerRequestWanted {
                    method: method.to_owned(),
                    count: None,
                    params: None,
                };
                let expectation = Expectation::ServerRequests(vec![request]);
                Some(self.wanted("server_requests", at, expectation))
            }
            None => None,
        }
    }
}
