//! How the client behaves towards a server: the revision it asks for, what it declares, and how it answers requests.

use serde_json::Value;

use super::{
    pattern::Pattern,
    template::{Template, ValueTemplate},
};
use crate::protocol::revision::Revision;

/// The revision to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RevisionWanted {
    /// The newest revision with a handshake that both know; the newest without one where the server refuses to shake hands.
    #[default]
    Auto,
    /// This one.
    Exactly(Revision),
}

/// The capabilities of the client and its answers to the server's requests.
#[derive(Debug, Clone, Default)]
pub struct ClientBehaviour {
    /// The revision to ask for.
    pub revision: RevisionWanted,
    /// Paths of the workspace; `Some` declares `roots`.
    pub roots: Option<Vec<Template>>,
    /// Replies to `sampling/createMessage` in order, the last one repeats; `Some` declares `sampling`.
    pub sampling: Option<Vec<SamplingReply>>,
    /// Replies to `elicitation/create`; `Some` declares `elicitation`.
    pub elicitation: Option<ElicitationReplies>,
    /// The `tasks` capability as written.
    pub tasks: Option<Value>,
}

/// One reply to a sampling request.
#[derive(Debug, Clone)]
pub enum SamplingReply {
    /// A message.
    Message {
        /// Its text.
        text: Template,
        /// The model named, `mock` by default.
        model: Template,
        /// Why it stopped, `endTurn` by default.
        stop_reason: Template,
    },
    /// A JSON-RPC error.
    Reject {
        /// Its code.
        code: i64,
        /// Its message.
        message: Template,
    },
}

/// How elicitations are answered.
#[derive(Debug, Clone)]
pub enum ElicitationReplies {
    /// In order; the last one repeats.
    InOrder(Vec<ElicitationReply>),
    /// The first whose pattern matches the request's message; none: `-32603`.
    ByMessage(Vec<(Pattern, ElicitationReply)>),
}

/// One answer to an elicitation.
#[derive(Debug, Clone)]
pub struct ElicitationReply {
    /// The choice of the user.
    pub action: ElicitationAction,
    /// The form's content, where there is one.
    pub content: Option<ValueTemplate>,
}

/// What a user can do with an elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElicitationAction {
    /// Submit.
    Accept,
    /// Say no.
    Decline,
    /// Close it.
    Cancel,
}

impl ElicitationAction {
    /// The word on the wire.
    pub fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl ClientBehaviour {
    /// Whether it declares nothing and asks for no revision.
    pub fn is_usual(&self) -> bool {
        self.declared().is_empty()
    }

    /// The capabilities that it declares, sorted by name, then `revision DATE` where it asks for one. What a server lists
    /// may depend on them.
    pub fn declared(&self) -> Vec<String> {
        let capabilities = [
            ("elicitation", self.elicitation.is_some()),
            ("roots", self.roots.is_some()),
            ("sampling", self.sampling.is_some()),
            ("tasks", self.tasks.is_some()),
        ];
        let declared = capabilities.into_iter().filter(|(_, declared)| *declared);
        let mut declared: Vec<String> = declared.map(|(name, _)| name.to_owned()).collect();
        if let RevisionWanted::Exactly(revision) = self.revision {
            declared.push(format!("revision {}", revision.name()));
        }
        declared
    }

    /// This behaviour, and what it leaves open from another one.
    pub fn or(&self, other: &Self) -> Self {
        Self {
            revision: match self.revision {
                RevisionWanted::Auto => other.revision,
                RevisionWanted::Exactly(_) => self.revision,
            },
            roots: self.roots.clone().or_else(|| other.roots.clone()),
            sampling: self.sampling.clone().or_else(|| other.sampling.clone()),
            elicitation: self
                .elicitation
                .clone()
                .or_else(|| other.elicitation.clone()),
            tasks: self.tasks.clone().or_else(|| other.tasks.clone()),
        }
    }

    /// Whether `{{fixture}}` stands in what is declared or answered.
    pub fn names_fixture(&self) -> bool {
        let Self {
            revision: _,
            roots,
            sampling,
            elicitation,
            tasks: _,
        } = self;
        let in_reply = |reply: &ElicitationReply| {
            let content = reply.content.as_ref();
            content.is_some_and(ValueTemplate::names_fixture)
        };
        roots.iter().flatten().any(Template::names_fixture)
            || sampling.iter().flatten().any(|reply| match reply {
                SamplingReply::Message { text, .. } => text.names_fixture(),
                SamplingReply::Reject { .. } => false,
            })
            || elicitation.as_ref().is_some_and(|replies| match replies {
                ElicitationReplies::InOrder(replies) => replies.iter().any(in_reply),
                ElicitationReplies::ByMessage(replies) => {
                    replies.iter().any(|(_, reply)| in_reply(reply))
                }
            })
    }
}
