//! What the client declares, how it answers, and which revision it asks for.

use serde_json::{Map, Value};

use super::Lowering;
use crate::{
    model::revisions::{Asked, Revisions, UnknownRevision, asked},
    problems,
    raw::{
        Field, Readable,
        client::{RawAnswer, RawCapabilities, RawClient, RawElicitations, RawSamplingReply},
        read::value,
        union::FlagOr,
        value::{OneOrMany, Text},
    },
    yaml::{Entry, Kind, Node},
};
use mcp::script::client::{
    ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply, RevisionWanted,
    SamplingReply,
};

/// What a user can do with an elicitation.
const ANSWERS: [ElicitationAction; 3] = [
    ElicitationAction::Accept,
    ElicitationAction::Decline,
    ElicitationAction::Cancel,
];

/// The client's behaviour, and the revisions that an assertion is repeated on.
pub(super) type ClientAndRevisions = (ClientBehaviour, Option<Revisions>);

/// `protocol`.
type Protocol = Option<Field<OneOrMany<Text>>>;

impl Lowering<'_> {
    /// The client's behaviour: that of `server`, and over it that of `client`.
    pub(super) fn client(
        &mut self,
        server_protocol: Protocol,
        server_capabilities: Option<Field<RawCapabilities>>,
        own: Option<Field<Box<RawClient>>>,
    ) -> ClientAndRevisions {
        let own = value(own).unwrap_or_default();
        let asked = match value(own.protocol.or(server_protocol)) {
            None => Asked::Revision(RevisionWanted::Auto),
            Some(words) => self.asked(&words.0),
        };
        let (revision, revisions) = match asked {
            Asked::Revision(wanted) => (wanted, None),
            Asked::Repeated(revisions) => (RevisionWanted::Auto, Some(revisions)),
        };
        let mut behaviour = ClientBehaviour {
            revision,
            ..ClientBehaviour::default()
        };
        let capabilities = [server_capabilities, own.client_capabilities];
        for capabilities in capabilities.into_iter().flatten() {
            self.capabilities(capabilities.value, &mut behaviour);
        }
        (behaviour, revisions)
    }

    fn asked(&mut self, words: &[Text]) -> Asked {
        let texts = words.iter().map(|word| word.text.as_str());
        asked(texts).unwrap_or_else(|UnknownRevision { index, known }| {
            let word = &words[index];
            let problem = problems::unknown_word(&word.text, "protocol revision", &known);
            self.problem(word.at, problem);
            Asked::Revision(RevisionWanted::Auto)
        })
    }

    /// Adds what a `client_capabilities` says.
    fn capabilities(&mut self, raw: RawCapabilities, behaviour: &mut ClientBehaviour) {
        if let Some(roots) = raw.roots {
            let paths = roots.value.0.into_iter();
            behaviour.roots = Some(paths.map(|path| self.template(path)).collect());
        }
        behaviour.sampling = match value(raw.sampling) {
            Some(FlagOr::Flag(true)) => {
                Some(vec![self.sampling_reply(RawSamplingReply::default())])
            }
            Some(FlagOr::Flag(false)) => None,
            Some(FlagOr::Other(replies)) => {
                let replies = replies.0.into_iter();
                Some(replies.map(|reply| self.sampling_reply(reply)).collect())
            }
            None => behaviour.sampling.take(),
        };
        if let Some(elicitation) = raw.elicitation {
            behaviour.elicitation = Some(self.elicitation(elicitation.value));
        }
        behaviour.tasks = match value(raw.tasks) {
            Some(FlagOr::Flag(true)) => Some(Value::Object(Map::new())),
            Some(FlagOr::Flag(false)) => None,
            Some(FlagOr::Other(members)) => Some(members.0.into_value()),
            None => behaviour.tasks.take(),
        };
    }

    /// One reply to a sampling request.
    fn sampling_reply(&mut self, raw: RawSamplingReply) -> SamplingReply {
        if let Some(reject) = value(raw.reject) {
            return SamplingReply::Reject {
                code: value(reject.code).unwrap_or(-1),
                message: self.template_or(reject.message, "rejected by the user"),
            };
        }
        SamplingReply::Message {
            text: self.template_or(raw.text, ""),
            model: self.template_or(raw.model, "mock"),
            stop_reason: self.template_or(raw.stop_reason, self.usual_stop()),
        }
    }

    /// The default `stopReason` of a reply: the protocol's word, or that of the Go tool.
    pub(super) fn usual_stop(&self) -> &'static str {
        if self.is_compat() {
            "end_turn"
        } else {
            "endTurn"
        }
    }

    /// How elicitations are answered.
    pub(super) fn elicitation(&mut self, raw: RawElicitations) -> ElicitationReplies {
        match raw {
            RawElicitations::InOrder(answers) => {
                let answers = answers.into_iter();
                let replies = answers.map(|answer| self.elicitation_reply(answer));
                ElicitationReplies::InOrder(replies.collect())
            }
            RawElicitations::ByMessage(table) => {
                let replies = table.0.into_iter().filter_map(|(key, answer)| {
                    let (text, at) = (key.text, key.at);
                    let reply = self.elicitation_reply(answer);
                    let pattern = self.text_at_load(Text { text, at });
                    Some((self.pattern(&pattern.text, at)?, reply))
                });
                ElicitationReplies::ByMessage(replies.collect())
            }
            RawElicitations::Content(node) => {
                ElicitationReplies::InOrder(vec![self.short_reply(node)])
            }
        }
    }

    /// The Go tool's short form: the content, with `action` among its members.
    fn short_reply(&mut self, node: Node) -> ElicitationReply {
        let at = node.at;
        let mut action = ElicitationAction::Accept;
        let mut content = None;
        let mut members = Vec::new();
        if let Kind::Map(entries) = node.kind {
            for Entry { key, value } in entries {
                match (key.text.as_str(), value.kind) {
                    ("action", Kind::Text(text, _)) => {
                        let at = value.at;
                        action = self.answer_action(&Text { text, at });
                    }
                    ("action", kind) if !self.is_compat() => {
                        let at = value.at;
                        self.reading.wrong_type(&Node { kind, at }, &Text::words());
                    }
                    ("content", kind) => content = Some(kind),
                    (_, kind) => {
                        let at = value.at;
                        let value = Node { kind, at };
                        members.push(Entry { key, value });
                    }
                }
            }
        }
        let kind = content.unwrap_or(Kind::Map(members));
        ElicitationReply {
            action,
            content: Some(self.sent(Node { kind, at })),
        }
    }

    /// One answer to an elicitation.
    fn elicitation_reply(&mut self, raw: RawAnswer) -> ElicitationReply {
        let action = raw.action.map(|action| self.answer_action(&action.value));
        ElicitationReply {
            action: action.unwrap_or(ElicitationAction::Accept),
            content: raw.content.map(|content| self.sent(content.value.0)),
        }
    }

    /// What the user does. The Go tool takes every unknown word for `accept`.
    fn answer_action(&mut self, word: &Text) -> ElicitationAction {
        let known = ANSWERS.into_iter().find(|it| it.word() == word.text);
        known.unwrap_or_else(|| {
            let words = ANSWERS.map(ElicitationAction::word);
            let problem = problems::unknown_word(&word.text, "elicitation action", &words);
            self.native_problem(word.at, problem);
            ElicitationAction::Accept
        })
    }
}
