//! How a server is reached, as the suite says it, and how the client behaves towards it.

use std::{path::PathBuf, time::Duration};

use serde_json::Value;

use super::{container::Container, pattern::Pattern};
use crate::{
    protocol::revision::Revision,
    suite::template::{Template, ValueTemplate},
};

/// The profiles of the embedded server, as `serve --profile` takes them.
pub(crate) const PROFILES: [&str; 4] = ["conformance", "minimal", "empty", "paginated"];

/// The `server` block after merging the settings' default.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// What is started or connected to.
    pub(crate) target: Target,
}

/// The ways to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// A process that speaks over stdin and stdout.
    Process(Launch),
    /// The embedded server, started as a process of our own executable.
    Builtin {
        /// Its profile.
        profile: String,
        /// Further arguments of `serve`.
        args: Vec<Template>,
        /// The rest of the launch: environment, directory.
        launch: Launch,
    },
    /// A server behind a url; loads and validates, running it is an `Error` until that transport comes.
    Url {
        /// Which protocol is spoken there.
        transport: UrlTransport,
        /// Where.
        url: Template,
        /// Sent with each request; never shown.
        headers: Vec<(String, EnvValue)>,
        /// How requests are authorised.
        auth: Option<Box<Auth>>,
        /// The process that is started before; without `listening`, what is said of one that takes the url's place.
        launch: Box<Launch>,
        /// The container that it is started in.
        container: Option<Box<Container>>,
        /// How the process that is started comes to listen; `None`: the server is there already.
        listening: Option<Box<Listening>>,
    },
    /// A program in a container.
    Container {
        /// The container.
        container: Box<Container>,
        /// What is started inside.
        program: Program,
    },
    /// No server: a trajectory.
    None,
}

impl Target {
    /// How its program is started; `None` without one.
    pub(crate) fn launch(&self) -> Option<&Launch> {
        match self {
            Self::Process(launch) | Self::Builtin { launch, .. } => Some(launch),
            Self::Url { launch, .. } => Some(launch),
            Self::Container { program, .. } => Some(program.launch()),
            Self::None => None,
        }
    }

    fn launch_mut(&mut self) -> Option<&mut Launch> {
        match self {
            Self::Process(launch)
            | Self::Builtin { launch, .. }
            | Self::Container {
                program: Program::Launched(launch) | Program::Builtin { launch, .. },
                ..
            } => Some(launch),
            Self::Url { launch, .. } => Some(launch),
            Self::None => None,
        }
    }

    /// The same with the variables that an assertion's own file gives its server.
    pub(crate) fn with_own_variables_of(mut self, assertions: &Self) -> Self {
        let has_port = match &self {
            Self::Url { .. } => true,
            Self::Process(_) | Self::Builtin { .. } | Self::Container { .. } | Self::None => false,
        };
        if let (Some(launch), Some(own)) = (self.launch_mut(), assertions.launch()) {
            if has_port {
                launch.take_own_of(own);
            } else {
                launch.take_own_of(&own.clone().without_port());
            }
        }
        self
    }
}

/// What is started inside a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Program {
    /// A command; without one, the image's own.
    Launched(Launch),
    /// The embedded server.
    Builtin {
        /// Its profile.
        profile: String,
        /// Further arguments of `serve`.
        args: Vec<Template>,
        /// The rest of the launch: environment, directory.
        launch: Launch,
    },
}

impl Program {
    /// Environment, directory, and the command where there is one.
    pub(crate) fn launch(&self) -> &Launch {
        match self {
            Self::Launched(launch) | Self::Builtin { launch, .. } => launch,
        }
    }
}

/// How a server that is started for the assertion comes to listen on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listening {
    /// The embedded server's profile, when it is the embedded one.
    pub(crate) builtin: Option<String>,
    /// How to tell that it is ready.
    pub(crate) ready: Ready,
    /// How long that may take; `None`: the assertion's timeout.
    pub(crate) timeout: Option<Duration>,
}

/// How to tell that a launched server is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ready {
    /// A line of its output in which this is found.
    Log(Pattern),
    /// Its port is open.
    Port,
    /// This path is answered.
    Http(Template),
}

/// How requests are authorised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Auth {
    /// By a token.
    Bearer(EnvValue),
    /// By a token that the client gets itself.
    ClientCredentials {
        /// Where tokens are had; `None`: found by the server's metadata.
        token_url: Option<EnvValue>,
        /// The client's id.
        id: EnvValue,
        /// The client's secret.
        secret: EnvValue,
        /// The scope asked for.
        scope: Option<String>,
    },
}

impl Auth {
    /// What it is made of, all of it secret.
    pub(crate) fn values(&self) -> Vec<&EnvValue> {
        match self {
            Self::Bearer(token) => vec![token],
            Self::ClientCredentials {
                token_url,
                id,
                secret,
                scope: _,
            } => token_url.iter().chain([id, secret]).collect(),
        }
    }
}

/// The transports of a url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UrlTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

/// How a process is started. No shell is involved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The program.
    pub(crate) command: Option<Template>,
    /// Its arguments.
    pub(crate) args: Vec<Template>,
    /// The directory it starts in; `None`: the caller's, in a container the image's.
    pub(crate) directory: Option<Directory>,
    /// Its environment variables, in the order of the suite.
    pub(crate) env: Vec<(String, EnvValue)>,
    /// The names of those that the assertion's own file gives: they hold on every target.
    pub(crate) own: Vec<String>,
    /// What it inherits.
    pub(crate) inherit: Inherit,
}

impl Launch {
    fn take_own_of(&mut self, assertions: &Self) {
        let is_own = |(name, _): &&(String, EnvValue)| assertions.own.contains(name);
        self.set(assertions.env.iter().filter(is_own).cloned());
    }

    /// The same for a process that does not listen: there is no port that a variable of it could name.
    pub(crate) fn without_port(mut self) -> Self {
        let names_port = |part: &EnvPart| match part {
            EnvPart::Text(text) => text.names_port(),
            EnvPart::Variable { .. } => false,
        };
        self.env.retain(|(_, value)| !value.any(&names_port));
        self
    }

    /// Gives it variables, in place of those of the same names.
    pub(in crate::suite) fn set(&mut self, env: impl IntoIterator<Item = (String, EnvValue)>) {
        for (name, value) in env {
            self.env.retain(|(other, _)| *other != name);
            self.env.push((name, value));
        }
    }
}

/// The directory a process starts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Directory {
    /// What a relative one starts from: the folder of the suite's file, which need be no text. A container has no such
    /// folder.
    pub(crate) folder: Option<PathBuf>,
    /// Where it is, as it is written.
    pub(crate) place: Template,
}

/// A value under `env`: `$X`, `${X}`, `${X:-default}`, `$$`, and `{{…}}`; a default is such a value too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnvValue {
    /// The parts in order.
    pub(crate) parts: Vec<EnvPart>,
}

impl EnvValue {
    /// Whether something holds of a part, be it one of a default.
    pub(crate) fn any(&self, holds: &dyn Fn(&EnvPart) -> bool) -> bool {
        self.parts.iter().any(|part| {
            holds(part)
                || match part {
                    EnvPart::Text(_) | EnvPart::Variable { default: None, .. } => false,
                    EnvPart::Variable {
                        default: Some(default),
                        ..
                    } => default.any(holds),
                }
        })
    }
}

/// A piece of a value under `env`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EnvPart {
    /// Text, with `{{…}}` in it.
    Text(Template),
    /// A variable of the caller's environment.
    Variable {
        /// Its name.
        name: String,
        /// What stands in when it is unset or empty.
        default: Option<EnvValue>,
    },
}

/// The part of the caller's environment a process gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Inherit {
    /// All of it.
    #[default]
    All,
    /// Nothing.
    Nothing,
    /// These variables.
    Only(Vec<String>),
}

/// The revision to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum RevisionWanted {
    /// The newest handshake revision both know.
    #[default]
    Auto,
    /// This one.
    Exactly(Revision),
}

/// What the client declares and how it answers the server's requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClientBehaviour {
    /// The revision to ask for.
    pub(crate) revision: RevisionWanted,
    /// Paths of the workspace; `Some` declares `roots`.
    pub(crate) roots: Option<Vec<Template>>,
    /// Replies to `sampling/createMessage` in order, the last one repeats; `Some` declares `sampling`.
    pub(crate) sampling: Option<Vec<SamplingReply>>,
    /// Replies to `elicitation/create`; `Some` declares `elicitation`.
    pub(crate) elicitation: Option<ElicitationReplies>,
    /// The `tasks` capability as written.
    pub(crate) tasks: Option<Value>,
}

/// One reply to a sampling request.
#[derive(Debug, Clone)]
pub(crate) enum SamplingReply {
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
pub(crate) enum ElicitationReplies {
    /// In order; the last one repeats.
    InOrder(Vec<ElicitationReply>),
    /// The first whose pattern matches the request's message; none: `-32603`.
    ByMessage(Vec<(Pattern, ElicitationReply)>),
}

/// One answer to an elicitation.
#[derive(Debug, Clone)]
pub(crate) struct ElicitationReply {
    /// What the user chose.
    pub(crate) action: ElicitationAction,
    /// The form's content, where there is one.
    pub(crate) content: Option<ValueTemplate>,
}

/// What a user can do with an elicitation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElicitationAction {
    /// Submit.
    Accept,
    /// Say no.
    Decline,
    /// Close it.
    Cancel,
}

impl ElicitationAction {
    /// The word on the wire.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

impl ClientBehaviour {
    /// Whether it declares nothing and asks for no revision.
    pub(crate) fn is_usual(&self) -> bool {
        let Self {
            revision,
            roots,
            sampling,
            elicitation,
            tasks,
        } = self;
        *revision == RevisionWanted::Auto
            && roots.is_none()
            && sampling.is_none()
            && elicitation.is_none()
            && tasks.is_none()
    }

    /// The capabilities that it declares, sorted by name, then `revision DATE` where it asks for one. What a server lists
    /// may hang on them.
    pub(crate) fn declared(&self) -> Vec<String> {
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
    pub(crate) fn or(&self, other: &Self) -> Self {
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
}
