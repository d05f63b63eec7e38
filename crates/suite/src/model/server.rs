//! How a server is reached, as the suite says it, and how the client behaves towards it.

use std::{path::PathBuf, time::Duration};

use super::container::Container;
use mcp::script::{pattern::Pattern, template::Template};

/// The profiles of the embedded server, as `serve --profile` takes them.
pub const PROFILES: [&str; 5] = ["conformance", "minimal", "empty", "paginated", "gateway"];

/// The `server` block after merging the settings' default.
#[derive(Debug, Clone)]
pub struct Server {
    /// What is started or connected to.
    pub target: Target,
}

/// The ways to reach a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
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
    /// A server behind a url.
    Url {
        /// Where it is, and how requests are sent to it.
        endpoint: Box<Endpoint>,
        /// The process that is started before; without `listening`, what is said of one that takes the url's place.
        launch: Box<Launch>,
        /// How the process that is started comes to listen; `None`: the server is there already.
        listening: Option<Box<Listening>>,
    },
    /// A program in a container.
    Container {
        /// The container.
        container: Box<Container>,
        /// What is started inside.
        program: Program,
        /// How it is reached; `None`: over its standard streams.
        served: Option<Box<Served>>,
    },
    /// No server: a trajectory.
    None,
}

impl Target {
    /// How its program is started; `None` without one.
    pub fn launch(&self) -> Option<&Launch> {
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

    /// The target with the variables that the assertion's own file gives its server.
    pub fn with_own_variables_of(mut self, assertions: &Self) -> Self {
        let has_port = matches!(self, Self::Url { .. });
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

/// A url, and how requests are sent to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Which protocol is spoken there.
    pub transport: UrlTransport,
    /// Where.
    pub url: Template,
    /// Sent with each request; never shown.
    pub headers: Vec<(String, EnvValue)>,
    /// How requests are authorised.
    pub auth: Option<Auth>,
    /// Which certificates are trusted.
    pub trust: Trust,
    /// Whether sessions there share no state, so that assertions may run at the same time.
    pub parallel: bool,
}

impl Endpoint {
    /// A url of which nothing else is said.
    pub fn of(url: Template) -> Self {
        Self {
            transport: UrlTransport::Http,
            url,
            headers: Vec::new(),
            auth: None,
            trust: Trust::Usual,
            parallel: false,
        }
    }
}

/// A server that is started for the assertion and reached over a url.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// Where it is.
    pub endpoint: Endpoint,
    /// How it comes to listen.
    pub listening: Listening,
}

/// What is started inside a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
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
    pub fn launch(&self) -> &Launch {
        match self {
            Self::Launched(launch) | Self::Builtin { launch, .. } => launch,
        }
    }
}

/// How a server that is started for the assertion comes to listen on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listening {
    /// The embedded server's profile, when it is the embedded one.
    pub builtin: Option<String>,
    /// How to tell that it is ready.
    pub ready: Ready,
    /// How long that may take; `None`: the assertion's timeout.
    pub timeout: Option<Duration>,
}

/// How to tell that a launched server is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ready {
    /// A line of its output in which this is found.
    Log(Pattern),
    /// Its port is open.
    Port,
    /// This path is answered.
    Http(Template),
}

/// How requests are authorised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// By a token.
    Bearer(EnvValue),
    /// By a token that the client gets itself.
    ClientCredentials {
        /// Where tokens are issued; `None`: found by the server's metadata.
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
    /// Its values, which are secret.
    pub fn values(&self) -> Vec<&EnvValue> {
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

/// Which certificates of servers are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those that the system trusts.
    #[default]
    Usual,
    /// Those, and the authorities of this file.
    Also(Directory),
    /// Any certificate.
    Anyone,
}

/// The transports of a url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UrlTransport {
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
}

impl UrlTransport {
    /// The option of `serve` that makes the embedded server speak it.
    pub fn flag(self) -> &'static str {
        match self {
            Self::Http => "--http",
            Self::Sse => "--sse",
        }
    }
}

/// How a process is started. No shell is involved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// The program.
    pub command: Option<Template>,
    /// Its arguments.
    pub args: Vec<Template>,
    /// The directory it starts in; `None`: the caller's, in a container the image's.
    pub directory: Option<Directory>,
    /// Its environment variables, in the order of the suite.
    pub env: Vec<(String, EnvValue)>,
    /// The names of those that the assertion's own file gives: they hold on every target.
    pub own: Vec<String>,
    /// What it inherits.
    pub inherit: Inherit,
}

impl Launch {
    fn take_own_of(&mut self, assertions: &Self) {
        let is_own = |(name, _): &&(String, EnvValue)| assertions.own.contains(name);
        self.set(assertions.env.iter().filter(is_own).cloned());
    }

    /// The launch without variables that name the port: the process does not listen.
    pub fn without_port(mut self) -> Self {
        let names_port = |part: &EnvPart| match part {
            EnvPart::Text(text) => text.names_port(),
            EnvPart::Variable { .. } => false,
        };
        self.env.retain(|(_, value)| !value.any(&names_port));
        self
    }

    /// Gives it variables, in place of those of the same names.
    pub fn set(&mut self, env: impl IntoIterator<Item = (String, EnvValue)>) {
        for (name, value) in env {
            self.env.retain(|(other, _)| *other != name);
            self.env.push((name, value));
        }
    }
}

/// The directory a process starts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// The base of a relative one: the folder of the suite's file, which may not be UTF-8. A container has no such
    /// folder.
    pub folder: Option<PathBuf>,
    /// Where it is, as it is written.
    pub place: Template,
}

/// A value under `env`: `$X`, `${X}`, `${X:-default}`, `$$`, and `{{…}}`; a default is such a value too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvValue {
    /// The parts in order.
    pub parts: Vec<EnvPart>,
}

impl EnvValue {
    /// Whether something holds of a part, be it one of a default.
    pub fn any(&self, holds: &dyn Fn(&EnvPart) -> bool) -> bool {
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
pub enum EnvPart {
    /// Text, with `{{…}}` in it.
    Text(Template),
    /// A variable of the caller's environment.
    Variable {
        /// Its name.
        name: String,
        /// The value when it is unset or empty.
        default: Option<EnvValue>,
    },
}

/// The part of the caller's environment a process gets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inherit {
    /// All of it.
    #[default]
    All,
    /// Nothing.
    Nothing,
    /// These variables.
    Only(Vec<String>),
}
