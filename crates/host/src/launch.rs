//! What is started for a job, spelled out: program, arguments, environment, with every `{{…}}` and `${…}`
//! filled in, and which of the values are secrets.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{
    container::{body::Command, image::ReadyImage},
    process::{ProcessSpec, StartFailure},
};
use mcp::{
    observation::disruption::{Disruption, DisruptionKind, Phase},
    script::template::{Bindings, Template, UnknownName},
    transport::{http::Style, tls::Trusted},
};
use suite::model::{
    runtime_rules::Lookup,
    server::{
        Auth, Directory, Endpoint, EnvPart, EnvValue, Inherit, Launch, Listening, Program, Ready,
        Server, Target, Trust, UrlTransport,
    },
};
use text::{environment::Environment, redact::Secrets};

/// A command line with its surroundings, ready to be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// The program.
    pub program: String,
    /// The file that is executed, where it is not to be found by that name.
    pub file: Option<PathBuf>,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it starts in; `None`: the caller's.
    pub directory: Option<PathBuf>,
    /// Variables on top of what is inherited.
    pub env: Vec<(String, String)>,
    /// What is inherited.
    pub inherit: Inherit,
}

/// What is started in a container of a line that was made for it.
impl From<CommandLine> for Command {
    fn from(line: CommandLine) -> Self {
        Self {
            program: (!line.program.is_empty()).then_some(line.program),
            args: line.args,
            env: line.env,
            workdir: line.directory.map(|folder| folder.display().to_string()),
        }
    }
}

impl CommandLine {
    /// As one would type it.
    pub fn shown(&self) -> String {
        let words = std::iter::once(&self.program).chain(&self.args);
        // Without a program it is the one of the container's image.
        shell_words::join(words.skip(usize::from(self.program.is_empty())))
    }
}

impl CommandLine {
    /// The same of a server. Where the image of a container says what is started, it is named, with that as far as it is
    /// known.
    pub fn shown_of(&self, server: &Server, image: Option<&ReadyImage>) -> String {
        let words = self.shown();
        match &server.target {
            Target::Container {
                container,
                program: Program::Launched(_),
                served: _,
            } if self.program.is_empty() => {
                let command = Command {
                    args: self.args.clone(),
                    ..Command::default()
                };
                let started = image.map(|image| shell_words::join(command.words(container, image)));
                container.labelled(&started.unwrap_or(words))
            }
            Target::Container { .. }
            | Target::Process(_)
            | Target::Builtin { .. }
            | Target::Url { .. }
            | Target::None => words,
        }
    }
}

/// Variables everybody may see, and values that would tear holes into ordinary text.
const PLAIN_VARIABLES: [&str; 11] = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "PWD", "TMPDIR", "LANG", "TERM", "HOSTNAME", "CI",
];
const PLAIN_VALUES: [&str; 4] = ["true", "false", "none", "null"];

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

/// A target, spelled out; a server that is started for a url listens on the port that is given. One that cannot be started
/// or reached here says why.
pub fn spelled(
    target: &Target,
    bindings: &Bindings,
    port: impl FnOnce() -> Result<u16, Disruption>,
) -> Result<Spelled, Disruption> {
    let (endpoint, listening) = match target {
        Target::Process(_) | Target::Builtin { .. } | Target::None => (None, None),
        Target::Url {
            endpoint,
            launch,
            listening,
        } => {
            let listening = listening.as_deref().map(|it| (it, Some(&**launch)));
            (Some(&**endpoint), listening)
        }
        Target::Container { served, .. } => match served.as_deref() {
            Some(served) => (Some(&served.endpoint), Some((&served.listening, None))),
            None => (None, None),
        },
    };
    let Some(endpoint) = endpoint else {
        return command_line(target, bindings).map(Spelled::Command);
    };
    let port = listening.map(|_| port()).transpose()?;
    let mut bindings = Cow::Borrowed(bindings);
    if let Some(port) = port {
        let captured = &mut bindings.to_mut().captured;
        captured.insert("port".to_owned(), port.into());
    }
    let bindings = &*bindings;
    let listener = match (listening, port) {
        (Some((listening, launch)), Some(port)) => {
            let command = match launch {
                Some(launch) => listening_line(launch, listening, bindings)?,
                None => command_line(target, bindings)?,
            };
            Some(listener(command, listening, port, bindings)?)
        }
        (Some(_) | None, _) => None,
    };
    reached(endpoint, listener, bindings).map(Spelled::Url)
}

/// A url with every name filled in.
fn reached(
    endpoint: &Endpoint,
    listener: Option<Listener>,
    bindings: &Bindings,
) -> Result<Reached, Disruption> {
    let mut headers = endpoint
        .headers
        .iter()
        .map(|(name, value)| Ok((name.clone(), expand(value, bindings)?)))
        .collect::<Result<Vec<_>, Disruption>>()?;
    match &endpoint.auth {
        None => {}
        Some(Auth::Bearer(token)) => {
            let token = expand(token, bindings)?;
            headers.push(("Authorization".to_owned(), format!("Bearer {token}")));
        }
        Some(Auth::ClientCredentials { .. }) => {
            return Err(unsupported(
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
        trusted: trusted(&endpoint.trust, bindings)?,
        listener,
    })
}

fn trusted(trust: &Trust, bindings: &Bindings) -> Result<Trusted, Disruption> {
    Ok(match trust {
        Trust::Usual => Trusted::Usual,
        Trust::Anyone => Trusted::Anyone,
        Trust::Also(file) => {
            let file = directory(file, bindings)?;
            Trusted::Also(bindings.environment.directory.join(file))
        }
    })
}

/// How a server that was told its port comes to listen there.
fn listener(
    command: CommandLine,
    listening: &Listening,
    port: u16,
    bindings: &Bindings,
) -> Result<Listener, Disruption> {
    let ready = match &listening.ready {
        Ready::Http(path) => Ready::Http(Template::new(render(path, bindings)?)),
        ready @ (Ready::Log(_) | Ready::Port) => ready.clone(),
    };
    Ok(Listener {
        command,
        port,
        ready,
        timeout: listening.timeout,
    })
}

/// The process that is started for a url.
fn listening_line(
    launch: &Launch,
    listening: &Listening,
    bindings: &Bindings,
) -> Result<CommandLine, Disruption> {
    if let Some(profile) = &listening.builtin {
        return embedded(profile, &launch.args, launch, bindings);
    }
    let program = launch
        .command
        .as_ref()
        .ok_or_else(|| invalid("`launch` has no `command`"))?;
    let args = render_all(&launch.args, bindings)?;
    fill(launch, render(program, bindings)?, args, bindings)
}

/// The embedded server, started as a process of this executable.
fn embedded(
    profile: &str,
    args: &[Template],
    launch: &Launch,
    bindings: &Bindings,
) -> Result<CommandLine, Disruption> {
    let environment = &bindings.environment;
    let program = environment.executable.display().to_string();
    let line = fill(launch, program, serve(profile, args, bindings)?, bindings)?;
    Ok(CommandLine {
        file: Some(environment.program.clone()),
        ..line
    })
}

/// The command line of a target that is spoken to over its standard streams.
fn command_line(target: &Target, bindings: &Bindings) -> Result<CommandLine, Disruption> {
    match target {
        Target::Process(launch) => {
            let program = launch.command.as_ref().ok_or_else(|| {
                invalid("the server has no `command`")
                    .with_help(
                        "say what to start under `server: {command: …}`, or run with `--server` or `--target`",
                    )
            })?;
            fill(
                launch,
                render(program, bindings)?,
                render_all(&launch.args, bindings)?,
                bindings,
            )
        }
        Target::Builtin {
            profile,
            args,
            launch,
        } => embedded(profile, args, launch, bindings),
        Target::Url { endpoint, .. } => {
            Err(invalid(format!("`{}` is no command", endpoint.url.text)))
        }
        Target::Container { program, .. } => {
            let command = contained(program, bindings)?;
            Ok(CommandLine {
                program: command.program.unwrap_or_default(),
                file: None,
                args: command.args,
                directory: command.workdir.map(PathBuf::from),
                env: command.env,
                inherit: Inherit::Nothing,
            })
        }
        Target::None => Err(invalid("the assertion has no `server`")),
    }
}

/// The process that a command line becomes in this run.
pub(super) fn process_spec(
    line: CommandLine,
    environment: &Arc<Environment>,
    lookup: Lookup,
) -> ProcessSpec {
    ProcessSpec {
        inherit: line.inherit,
        program: line.program,
        file: line.file,
        args: line.args,
        directory: line.directory.map_or_else(
            || environment.directory.clone(),
            |own| environment.directory.join(own),
        ),
        env: line.env,
        environment: Arc::clone(environment),
        search_path: environment.raw("PATH").unwrap_or_default().to_owned(),
        lookup,
    }
}

/// What is started in a container. Nothing of ours is inherited there.
pub fn contained(program: &Program, bindings: &Bindings) -> Result<Command, Disruption> {
    let (words, launch) = match program {
        Program::Launched(launch) => {
            let program = launch.command.as_ref();
            let program = program.map(|word| render(word, bindings)).transpose()?;
            ((program, render_all(&launch.args, bindings)?), launch)
        }
        Program::Builtin {
            profile,
            args,
            launch,
        } => ((None, serve(profile, args, bindings)?), launch),
    };
    let filled = fill(launch, String::new(), Vec::new(), bindings)?;
    let workdir = filled.directory.map(|folder| folder.display().to_string());
    if let Some(folder) = workdir.as_ref().filter(|folder| !folder.starts_with('/')) {
        return Err(
            invalid(format!("`cwd` leads to `{folder}`, a path of this machine"))
                .with_help("inside a container write an absolute path, or `docker: {workdir: …}`"),
        );
    }
    Ok(Command {
        program: words.0,
        args: words.1,
        env: filled.env,
        workdir,
    })
}

/// Values that a server gets from variables and that no report may show; what `{{env.NAME}}` names is known of the
/// whole suite.
pub fn add_secrets(target: &Target, bindings: &Bindings, secrets: &mut Secrets) {
    let (values, container) = match target {
        Target::Process(launch) | Target::Builtin { launch, .. } => (values_of(&launch.env), None),
        Target::Container {
            container,
            program,
            served,
        } => {
            let mut values = values_of(&program.launch().env);
            if let Some(served) = served {
                values.extend(told(&served.endpoint));
            }
            (values, Some(container))
        }
        Target::Url {
            endpoint, launch, ..
        } => {
            let mut values = told(endpoint);
            values.extend(values_of(&launch.env));
            (values, None)
        }
        Target::None => (Vec::new(), None),
    };
    if let Some(container) = container {
        for (name, value) in &container.env_file {
            secrets.add_named(name, value);
        }
        // What the lines write into the image, the server can tell.
        for name in container.prepare.iter().flat_map(|prepare| &prepare.env) {
            add_secret(name, &bindings.environment, secrets);
        }
    }
    for value in values {
        add_values(value, &bindings.environment, secrets);
    }
}

/// The values of the variables that a value names, those of its defaults too.
fn add_values(value: &EnvValue, environment: &Environment, secrets: &mut Secrets) {
    for part in &value.parts {
        match part {
            EnvPart::Text(_) => {}
            EnvPart::Variable { name, default } => {
                add_secret(name, environment, secrets);
                if let Some(default) = default {
                    add_values(default, environment, secrets);
                }
            }
        }
    }
}

/// The value of a variable that a suite takes over, unless it is one that everybody may see.
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

/// What a server behind a url is told and nobody else.
fn told(endpoint: &Endpoint) -> Vec<&EnvValue> {
    let mut values = values_of(&endpoint.headers);
    values.extend(endpoint.auth.iter().flat_map(Auth::values));
    values
}

fn values_of(table: &[(String, EnvValue)]) -> Vec<&EnvValue> {
    table.iter().map(|(_, value)| value).collect()
}

fn fill(
    launch: &Launch,
    program: String,
    args: Vec<String>,
    bindings: &Bindings,
) -> Result<CommandLine, Disruption> {
    let env = launch
        .env
        .iter()
        .map(|(name, value)| Ok((name.clone(), expand(value, bindings)?)))
        .collect::<Result<_, Disruption>>()?;
    Ok(CommandLine {
        program,
        file: None,
        args,
        directory: launch
            .directory
            .as_ref()
            .map(|own| directory(own, bindings))
            .transpose()?,
        env,
        inherit: launch.inherit.clone(),
    })
}

/// A path that is relative to the file of the suite.
fn directory(own: &Directory, bindings: &Bindings) -> Result<PathBuf, Disruption> {
    let folder = own.folder.as_deref().unwrap_or(Path::new(""));
    Ok(folder.join(render(&own.place, bindings)?))
}

/// A value under `env`: an unset or empty variable gives its default, else nothing.
fn expand(value: &EnvValue, bindings: &Bindings) -> Result<String, Disruption> {
    let mut out = String::new();
    for part in &value.parts {
        match part {
            EnvPart::Text(text) => out.push_str(&render(text, bindings)?),
            EnvPart::Variable { name, default } => {
                let set = bindings
                    .environment
                    .variable(name)
                    .filter(|value| !value.is_empty());
                match (set, default) {
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
    let mut all = vec![
        "serve".to_owned(),
        "--profile".to_owned(),
        profile.to_owned(),
    ];
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

fn unsupported(message: impl Into<String>) -> Disruption {
    Disruption::new(DisruptionKind::Unsupported, Phase::Start, message)
}

/// A process that could not be started.
pub(super) fn not_started(failure: &StartFailure) -> Disruption {
    let disruption = Disruption::new(
        DisruptionKind::Start,
        Phase::Start,
        format!("the server could not be started: {failure}"),
    );
    match failure.help() {
        Some(help) => disruption.with_help(help),
        None => disruption,
    }
}
