//! What the client declares, how it answers, and which revision it asks for.

use serde_json::{Map, Value};

use super::Lowering;
use crate::{
    Dialect,
    model::revisions::{Asked, Revisions, UnknownRevision, asked},
    problems,
    raw::{
        Field, Readable,
        client::{
            RawAnswer, RawCapabilities, RawClient, RawElicitations, RawReject, RawSamplingReply,
        },
        union::FlagOr,
        value::{Integer, OneOrMany, Text},
    },
    yaml::{Entry, Key, Kind, Node, Source},
};
use mcp::script::{
    client::{
        ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply, RevisionWanted,
        SamplingReply,
    },
    template::ValueTemplate,
};

/// What a user can do with an elicitation.
const ANSWERS: [ElicitationAction; 3] = [
    ElicitationAction::Accept,
    ElicitationAction::Decline,
    ElicitationAction::Cancel,
];

/// What is said about the client: its behaviour, and the revisions that an assertion is repeated on.
pub(super) type ClientSays = (ClientBehaviour, Option<Revisions>);

impl Lowering<'_> {
    /// The client's behaviour: what `server` says, and over it what `client` says.
    pub(super) fn client(
        &mut self,
        server_protocol: Option<Field<OneOrMany<Text>>>,
        server_capabilities: Option<Field<RawCapabilities>>,
        own: Option<Field<Box<RawClient>>>,
    ) -> ClientSays {
        let RawClient {
            protocol,
            client_capabilities,
        } = *own.map(|own| own.value).unwrap_or_default();
        self.check_revisions(server_protocol.as_ref(), protocol.as_ref());
        let (revision, revisions) = self.revisions(protocol.or(server_protocol));
        let mut behaviour = ClientBehaviour {
            revision,
            ..ClientBehaviour::default()
        };
        for capabilities in [server_capabilities, client_capabilities]
            .into_iter()
            .flatten()
        {
            self.capabilities(capabilities.value, &mut behaviour);
        }
        (behaviour, revisions)
    }

    /// Tells the revision of a `server` that one of `client` in the same document takes the place of.
    fn check_revisions(
        &mut self,
        server: Option<&Field<OneOrMany<Text>>>,
        client: Option<&Field<OneOrMany<Text>>>,
    ) {
        let (Some(server), Some(client)) = (server, client) else {
            return;
        };
        let words = |field: &Field<OneOrMany<Text>>| -> Vec<String> {
            let texts = field.value.0.iter();
            texts.map(|it| it.text.to_ascii_lowercase()).collect()
        };
        let is_one_document =
            server.key.source == Source::Suite && client.key.source == Source::Suite;
        if is_one_document && words(server) != words(client) {
            self.problem(server.key, |origin| {
                let reason = "`client` asks for another revision";
                problems::no_effect(origin, "protocol", reason)
            });
        }
    }

    /// The revision to ask for, and those that the assertion is repeated on.
    fn revisions(
        &mut self,
        field: Option<Field<OneOrMany<Text>>>,
    ) -> (RevisionWanted, Option<Revisions>) {
        let asked = match field.map(|field| field.value.0) {
            None => return (RevisionWanted::Auto, None),
            Some(words) => self.asked(&words),
        };
        match asked {
            Asked::Revision(wanted) => (wanted, None),
            Asked::Repeated(revisions) => (RevisionWanted::Auto, Some(revisions)),
        }
    }

    fn asked(&mut self, words: &[Text]) -> Asked {
        let texts = words.iter().map(|word| word.text.as_str());
        match asked(texts) {
            Ok(asked) => asked,
            Err(UnknownRevision { index, known }) => {
                let word = &words[index];
                self.problem(word.at, |origin| {
                    problems::unknown_word(origin, &word.text, "protocol revision", &known)
                });
                Asked::Revision(RevisionWanted::Auto)
            }
        }
    }

    /// Adds what a `client_capabilities` says.
    fn capabilities(&mut self, raw: RawCapabilities, behaviour: &mut ClientBehaviour) {
        let RawCapabilities {
            roots,
            sampling,
            elicitation,
            tasks,
        } = raw;
        if let Some(roots) = roots {
            let paths = roots.value.0.into_iter();
            behaviour.roots = Some(paths.map(|path| self.template(path)).collect());
        }
        if let Some(sampling) = sampling {
            let replies = sampling.value.0.into_iter();
            behaviour.sampling = Some(replies.map(|reply| self.sampling_reply(reply)).collect());
        }
        if let Some(elicitation) = elicitation {
            behaviour.elicitation = Some(self.elicitation(elicitation.value));
        }
        behaviour.tasks = match tasks.map(|tasks| tasks.value) {
            Some(FlagOr::Flag(true)) => Some(Value::Object(Map::new())),
            Some(FlagOr::Flag(false)) => None,
            Some(FlagOr::Other(members)) => Some(members.0.into_value()),
            None => behaviour.tasks.take(),
        };
    }

    /// One reply to a sampling request.
    fn sampling_reply(&mut self, raw: RawSamplingReply) -> SamplingReply {
        let RawSamplingReply {
            text,
            model,
            stop_reason,
            reject,
        } = raw;
        if let Some(reject) = reject {
            let RawReject { code, message } = reject.value;
            return SamplingReply::Reject {
                code: code.map_or(-1, |code| {
                    let Integer(code) = code.value;
                    code
                }),
                message: self.template_or(message, "rejected by the user"),
            };
        }
        SamplingReply::Message {
            text: self.template_or(text, ""),
            model: self.template_or(model, "mock"),
            stop_reason: self.template_or(stop_reason, self.usual_stop()),
        }
    }

    /// Why a reply stopped unless the suite says so. The Go tool has a word of its own for it.
    pub(super) fn usual_stop(&self) -> &'static str {
        match self.dialect() {
            Dialect::Native => "endTurn",
            Dialect::Compat => "end_turn",
        }
    }

    /// How elicitations are answered.
    pub(super) fn elicitation(&mut self, raw: RawElicitations) -> ElicitationReplies {
        match raw {
            RawElicitations::InOrder(answers) => ElicitationReplies::InOrder(
                answers
                    .into_iter()
                    .map(|answer| self.elicitation_reply(answer))
                    .collect(),
            ),
            RawElicitations::ByMessage(table) => ElicitationReplies::ByMessage(
                table
                    .0
                    .into_iter()
                    .filter_map(|(key, answer)| {
                        let reply = self.elicitation_reply(answer);
                        let Key { text, at } = key;
                        let wanted = self.text_at_load(Text { text, at });
                        Some((self.pattern(&wanted.text, at)?, reply))
                    })
                    .collect(),
            ),
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
                match (key.text.as_str(), &value.kind) {
                    ("action", Kind::Text(word, _)) => {
                        let at = value.at;
                        action = self.answer_action(&Text {
                            text: word.clone(),
                            at,
                        });
                    }
                    ("action", _) if self.dialect() == Dialect::Native => {
                        self.reading.wrong_type(&value, &Text::words());
                    }
                    ("content", _) => content = Some(value),
                    _ => members.push(Entry { key, value }),
                }
            }
        }
        let content = content.unwrap_or(Node {
            kind: Kind::Map(members),
            at,
        });
        ElicitationReply {
            action,
            content: Some(self.sent(content)),
        }
    }

    /// One answer to an elicitation.
    fn elicitation_reply(&mut self, raw: RawAnswer) -> ElicitationReply {
        let RawAnswer { action, content } = raw;
        let action = action.map_or(ElicitationAction::Accept, |action| {
            self.answer_action(&action.value)
        });
        let content: Option<ValueTemplate> = content.map(|content| self.sent(content.value.0));
        ElicitationReply { action, content }
    }

    /// What the user does. The Go tool takes every other word for `accept`.
    fn answer_action(&mut self, word: &Text) -> ElicitationAction {
        if let Some(action) = ANSWERS
            .into_iter()
            .find(|action| action.word() == word.text)
        {
            return action;
        }
        let words = ANSWERS.map(ElicitationAction::word);
        self.native_problem(word.at, |origin| {
            problems::unknown_word(origin, &word.text, "answer to an elicitation", &words)
        });
        ElicitationAction::Accept
    }
}
