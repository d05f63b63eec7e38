//! Which servers and clients speak of the fixture: they cannot be had before there is a copy of it.

use super::server::{
    ClientBehaviour, ElicitationReplies, ElicitationReply, EnvPart, EnvValue, Launch, Program,
    SamplingReply, Target,
};
use crate::suite::template::{Template, ValueTemplate};

impl Target {
    /// Whether `{{fixture}}` stands in what is started or reached.
    pub(crate) fn names_fixture(&self) -> bool {
        match self {
            Self::Process(launch) => launch.names_fixture(),
            Self::Builtin {
                profile: _,
                args,
                launch,
            } => any(args) || launch.names_fixture(),
            Self::Url {
                url,
                headers,
                launch,
                ..
            } => url.names_fixture() || any_value(headers) || launch.names_fixture(),
            Self::Container {
                container: _,
                program,
            } => program.names_fixture(),
            Self::None => false,
        }
    }
}

impl Program {
    fn names_fixture(&self) -> bool {
        match self {
            Self::Launched(launch) => launch.names_fixture(),
            Self::Builtin {
                profile: _,
                args,
                launch,
            } => any(args) || launch.names_fixture(),
        }
    }
}

impl Launch {
    fn names_fixture(&self) -> bool {
        let Self {
            command,
            args,
            directory,
            env,
            own: _,
            inherit: _,
        } = self;
        any(command)
            || any(args)
            || any(directory.iter().map(|directory| &directory.place))
            || any_value(env)
    }
}

impl ClientBehaviour {
    /// Whether `{{fixture}}` stands in what is declared or answered.
    pub(crate) fn names_fixture(&self) -> bool {
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
        any(roots.iter().flatten())
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

fn any<'a>(texts: impl IntoIterator<Item = &'a Template>) -> bool {
    texts.into_iter().any(Template::names_fixture)
}

fn any_value(values: &[(String, EnvValue)]) -> bool {
    let names_fixture = |part: &EnvPart| match part {
        EnvPart::Text(text) => text.names_fixture(),
        EnvPart::Variable { .. } => false,
    };
    values.iter().any(|(_, value)| value.any(&names_fixture))
}
