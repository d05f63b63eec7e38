//! What is started for a job, with every `{{…}}` and `${…}` filled in, and which of the values are secrets.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    container::{body, image::ReadyImage},
    process::StartFailure,
};
use mcp::{
    observation::disruption::{Disruption, DisruptionKind, Phase},
    script::template::{Bindings, Template, UnknownName},
    transport::{http::Style, tls::Trusted},
};
use suite::model::{
    container::Container,
    server::{
        Auth, Directory, Endpoint, EnvPart, EnvValue, Inherit, Launch, Program, Ready, Server,
        Target, Trust, UrlTransport,
    },
};
use text::{environment::Environment, redact::Secrets};

/// A command line with its surroundings, ready to be started on this machine or in a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program; empty: the one of the container's image.
    pub program: String,
    /// The file that is executed, where it is not found by that name.
    pub file: Option<PathBuf>,
    /// Its arguments; with an image's program and none of them, the image's.
    pub args: Vec<String>,
    /// The directory it starts in; `None`: the caller's, in a container the image's.
    pub directory: Option<PathBuf>,
    /// Variables on top of what is inherited.
    pub env: Vec<(String, String)>,
    /// What is inherited; in a container nothing is.
    pub inherit: Inherit,
}

impl CommandLine {
    /// The program, unless it is the one of the container's image.
    pub fn named(&self) -> Option<&str> {
        (!self.program.is_empty()).then_some(self.program.as_str())
    }

    /// As one would type it.
    pub fn shown(&self) -> String {
        shell_words::join(
            self.named()
                .into_iter()
                .chain(self.args.iter().map(|it| &**it)),
        )
    }

    /// What is started in a container, as `docker run` does it: the image's entry point stays in front of a command, which
    /// replaces the image's own. Not every engine keeps the entry point in images that are made here.
    pub fn words_in(&self, container: &Container, image: &ReadyImage) -> Vec<String> {
        let front = container.front(self.named());
        body::words(image, front, (self.named(), &self.args))
    }

    /// The server as people are shown it. The image is named where it says what is started, or puts its entry point in front.
    fn shown_of(&self, server: &Server, image: Option<&ReadyImage>) -> String {
        let typed = self.shown();
        match &server.target {
            Target::Container {
                container,
                program: Program::Launched(_),
                ..
            } => {
                let started = image.map(|image| shell_words::join(self.words_in(container, image)));
                let started = started.unwrap_or_else(|| typed.clone());
                if self.program.is_empty() || started != typed {
                    container.labelled(&started)
                } else {
                    typed
                }
            }
            Target::Container { .. }
            | Target::Process(_)
            | Target::Builtin { .. }
            | Target::Url { .. }
            | Target::None => typed,
        }
    }
}

/// A target with every name filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spelled {
    /// What is started and spoken to over its standard streams.
    Command(CommandLine),
    /// What is spoken to over HTTP.
    Url(Reached),
}

/// A server behind a url.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reached {
    /// The transport.
    pub style: Style,
    /// Where.
    pub url: String,
    /// The headers of each request.
    pub headers: Vec<(String, String)>,
    /// Which certificates are trusted.
    pub trusted: Trusted,
    /// What is started first.
    pub listener: Option<Listener>,
}

/// A process that listens on a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// What is started.
    pub command: CommandLine,
    /// The port.
    pub port: u16,
    /// How to tell that it is ready.
    pub ready: Ready,
    /// How long that may take; `None`: as long as the assertion.
    pub timeout: Option<Duration>,
}

impl Spelled {
    /// Whether the certificate of the server is not checked.
    pub fn trusts_anyone(&self) -> bool {
        match self {
            Self::Command(_) => false,
            Self::Url(reached) => reached.trusted == Trusted::Anyone,
        }
    }

    /// The server as people are shown it.
    pub fn shown_of(&self, server: &Server, image: Option<&ReadyImage>) -> String {
        match self {
            Self::Command(line) => line.shown_of(server, image),
            Self::Url(Reached { url, listener, .. }) => match listener {
                Some(listener) => format!("{} at {url}", listener.command.shown()),
                None => url.clone(),
            },
        }
    }
}

/// Fills in a target. A server that is started for a url listens on the given port.
pub fn spelled(
    target: &Target,
    bindings: &Bindings,
    port: impl FnOnce() -> Result<u16, Disruption>,
) -> Result<Spelled, Disruption> {
    let Some(endpoint) = endpoint(target) else {
        return command_line(target, bindings).map(Spelled::Command);
    };
    let listening = match target {
        Target::Url { listening, .. } => listening.as_deref(),
        Target::Container { served, .. } => served.as_deref().map(|served| &served.listening),
        Target::Process(_) | Target::Builtin { .. } | Target::None => None,
    };
    let mut bindings = Cow::Borrowed(bindings);
    let mut listener = None;
    if let Some(listening) = listening {
        let port = port()?;
        let captured = &mut bindings.to_mut().captured;
        captured.insert("port".to_owned(), port.into());
        listener = Some(Listener {
            command: command_line(target, &bindings)?,
            port,
            ready: match &listening.ready {
                Ready::Http(path) => Ready::Http(Template::new(render(path, &bindings)?)),
                ready @ (Ready::Log(_) | Ready::Port) => ready.clone(),
            },
            timeout: listening.timeout,
        });
    }
    reached(endpoint, listener, &bindings).map(Spelled::Url)
}

/// The url of a target, and what is sent there.
fn endpoint(target: &Target) -> Option<&Endpoint> {
    match target {
        Target::Url { endpoint, .. } => Some(endpoint),
        Target::Container { served, .. } => served.as_deref().map(|served| &served.endpoint),
        Target::Process(_) | Target::Builtin { .. } | Target::None => None,
    }
}

fn reached(
    endpoint: &Endpoint,
    listener: Option<Listener>,
    bindings: &Bindings,
) -> Result<Reached, Disruption> {
    let mut headers = expand_all(&endpoint.headers, bindings)?;
    match &endpoint.auth {
        None => {}
        Some(Auth::Bearer(token)) => {
            let token = expand(token, bindings)?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        Some(Auth::ClientCredentials { .. }) => {
            return Err(Disruption::new(
                DisruptionKind::Unsupported,
                Phase::Start,
                "`auth: {client_credentials: …}` is not supported by this version",
            ));
        }
    }
    Ok(Reached {
        style: match endpoint.transport {
            UrlTransport::Http => Style::Streamable,
            UrlTransport::Sse => Style::EventStream,
        },
        url: render(&endpoint.url, bindings)?,
        headers,
        trusted: match &endpoint.trust {
            Trust::Usual => Trusted::Usual,
            Trust::Anyone => Trusted::Anyone,
            Trust::Also(file) => {
                let file = directory(file, bindings)?;
                Trusted::Also(bindings.environment.directory.join(file))
            }
        },
        listener,
    })
}

/// The command line that a target is started with.
fn command_line(target: &Target, bindings: &Bindings) -> Result<CommandLine, Disruption> {
    match target {
        Target::Process(launch) => named(launch, bindings).unwrap_or_else(|| {
            Err(invalid("the server has no `command`").with_help(
                "say what to start under `server: {command: …}`, or run with `--server` or `--target`",
            ))
        }),
        Target::Builtin {
            profile,
            args,
            launch,
        } => embedded(profile, args, launch, bindings),
        Target::Url {
            launch, listening, ..
        } => match listening.as_ref().and_then(|it| it.builtin.as_ref()) {
            Some(profile) => embedded(profile, &launch.args, launch, bindings),
            None => named(launch, bindings)
                .unwrap_or_else(|| Err(invalid("`launch` has no `command`"))),
        },
        Target::Container { program, .. } => contained(program, bindings),
        Target::None => Err(invalid("the assertion has no `server`")),
    }
}

/// A program that the suite names, if it names one.
fn named(launch: &Launch, bindings: &Bindings) -> Option<Result<CommandLine, Disruption>> {
    let program = launch.command.as_ref()?;
    Some(render(program, bindings).and_then(|program| {
        Ok(CommandLine {
            program,
            args: render_all(&launch.args, bindings)?,
            ..surroundings(launch, bindings)?
        })
    }))
}

/// The embedded server, started as a process of this executable.
fn embedded(
    profile: &str,
    args: &[Template],
    launch: &Launch,
    bindings: &Bindings,
) -> Result<CommandLine, Disruption> {
    let environment = &bindings.environment;
    Ok(CommandLine {
        program: environment.executable.display().to_string(),
        file: Some(environment.program.clone()),
        args: serve(profile, args, bindings)?,
        ..surroundings(launch, bindings)?
    })
}

/// What is started in a container.
pub fn contained(program: &Program, bindings: &Bindings) -> Result<CommandLine, Disruption> {
    let line = CommandLine {
        inherit: Inherit::Nothing,
        ..surroundings(program.launch(), bindings)?
    };
    if let Some(folder) = line
        .directory
        .as_ref()
        .filter(|folder| folder.is_relative())
    {
        let folder = folder.display();
        return Err(
            invalid(format!("`cwd` leads to `{folder}`, a path of this machine"))
                .with_help("inside a container write an absolute path, or `docker: {workdir: …}`"),
        );
    }
    Ok(match program {
        Program::Launched(launch) => CommandLine {
            program: match &launch.command {
                Some(program) => render(program, bindings)?,
                None => String::new(),
            },
            args: render_all(&launch.args, bindings)?,
            ..line
        },
        Program::Builtin { profile, args, .. } => CommandLine {
            args: serve(profile, args, bindings)?,
            ..line
        },
    })
}

/// Variables that are not secret, and values that are too common in ordinary text to be masked.
const PLAIN_VARIABLES: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "LANG", "TERM", "HOSTNAME", "CI",
];
const PLAIN_VALUES: [&str; 4] = ["true", "false", "none", "null"];

/// Adds the values that a server gets from variables, which no report may show. Those of `{{env.NAME}}` are added for the
/// whole suite.
pub fn add_secrets(target: &Target, bindings: &Bindings, secrets: &mut Secrets) {
    let environment = &bindings.environment;
    if let Target::Container { container, .. } = target {
        for (name, value) in &container.env_file {
            secrets.add_named(name, value);
        }
        // The lines of `prepare` may write these into the image.
        for name in container.prepare.iter().flat_map(|prepare| &prepare.env) {
            add_secret(name, environment, secrets);
        }
    }
    let endpoint = endpoint(target);
    let env = target.launch().map(|launch| &launch.env);
    let tables = env.into_iter().chain(endpoint.map(|it| &it.headers));
    let auth = endpoint.and_then(|it| it.auth.as_ref()).into_iter();
    let values = tables.flatten().map(|(_, value)| value);
    for value in values.chain(auth.flat_map(Auth::values)) {
        add_values(value, environment, secrets);
    }
}

/// Adds the values of the variables that a value names, in its defaults too.
fn add_values(value: &EnvValue, environment: &Environment, secrets: &mut Secrets) {
    for part in &value.parts {
        if let EnvPart::Variable { name, default } = part {
            add_secret(name, environment, secrets);
            if let Some(default) = default {
                add_values(default, environment, secrets);
            }
        }
    }
}

/// Adds the value of a variable, unless it is not secret.
pub fn add_secret(name: &str, environment: &Environment, secrets: &mut Secrets) {
    let Some(value) = environment.variable(name) else {
        return;
    };
    let plain = PLAIN_VARIABLES.contains(&name)
        || name.starts_with("LC_")
        || PLAIN_VALUES.contains(&value.to_lowercase().as_str());
    if !plain {
        secrets.add_named(name, value);
    }
}

/// A command line of which only directory and variables are known.
fn surroundings(launch: &Launch, bindings: &Bindings) -> Result<CommandLine, Disruption> {
    let own = launch.directory.as_ref();
    Ok(CommandLine {
        directory: own.map(|own| directory(own, bindings)).transpose()?,
        env: expand_all(&launch.env, bindings)?,
        inherit: launch.inherit.clone(),
        ..CommandLine::default()
    })
}

/// A path that is relative to the file of the suite.
fn directory(own: &Directory, bindings: &Bindings) -> Result<PathBuf, Disruption> {
    let folder = own.folder.as_deref().unwrap_or(Path::new(""));
    Ok(folder.join(render(&own.place, bindings)?))
}

fn expand_all(
    table: &[(String, EnvValue)],
    bindings: &Bindings,
) -> Result<Vec<(String, String)>, Disruption> {
    let expand = |(name, value): &(String, EnvValue)| Ok((name.clone(), expand(value, bindings)?));
    table.iter().map(expand).collect()
}

/// A value under `env`. An unset or empty variable gives its default, else nothing.
fn expand(value: &EnvValue, bindings: &Bindings) -> Result<String, Disruption> {
    let mut out = String::new();
    for part in &value.parts {
        match part {
            EnvPart::Text(text) => out.push_str(&render(text, bindings)?),
            EnvPart::Variable { name, default } => {
                let set = bindings.environment.variable(name);
                match (set.filter(|value| !value.is_empty()), default) {
                    (Some(value), _) => out.push_str(value),
                    (None, Some(default)) => out.push_str(&expand(default, bindings)?),
                    (None, None) => {}
                }
            }
        }
    }
    Ok(out)
}

/// The arguments of our own executable when it is the embedded server.
fn serve(profile: &str, args: &[Template], bindings: &Bindings) -> Result<Vec<String>, Disruption> {
    let mut all = ["serve", "--profile", profile].map(str::to_owned).to_vec();
    all.extend(render_all(args, bindings)?);
    Ok(all)
}

fn render_all(texts: &[Template], bindings: &Bindings) -> Result<Vec<String>, Disruption> {
    texts.iter().map(|text| render(text, bindings)).collect()
}

fn render(text: &Template, bindings: &Bindings) -> Result<String, Disruption> {
    text.render(bindings).map_err(|UnknownName { name, .. }| {
        let help = if name == "fixture" {
            "give a fixture with --fixture DIR or `fixture:` in mcp-assert.yaml"
        } else {
            "only {{fixture}} and {{env.NAME}} have a value before the server runs"
        };
        invalid(format!(
            "`{}`: `{{{{{name}}}}}` has no value when the server is started",
            text.text
        ))
        .with_help(help)
    })
}

fn invalid(message: impl Into<String>) -> Disruption {
    Disruption::new(DisruptionKind::Invalid, Phase::Start, message)
}

/// A process that could not be started.
pub(super) fn not_started(failure: &StartFailure) -> Disruption {
    let message = format!("the server could not be started: {failure}");
    Disruption {
        help: failure.help().map(str::to_owned),
        ..Disruption::new(DisruptionKind::Start, Phase::Start, message)
    }
}
