//! The `server` block: what is started or connected to.

use super::{
    Lowering, StartedIn,
    client::ClientAndRevisions,
    docker::{DockerField, names_image},
};
use crate::{
    model::{
        container::Container,
        server::{
            Auth, Directory, Endpoint, EnvValue, Inherit, Launch, Listening, PROFILES, Program,
            Ready, Served, Server, Target, Trust, UrlTransport,
        },
    },
    problems,
    raw::{
        Field,
        client::RawCapabilities,
        read::{key, value},
        server::{KEYS_OF_A_SERVER, RawAuth, RawClientCredentials, RawLaunch, RawServer, RawTls},
        union::{FlagOr, TextOr},
        value::{OneOrMany, Text, TextTable},
    },
    settings::effects_of,
    yaml::{At, Source},
};
use mcp::script::template::Template;

/// What `server` says about the client.
pub(super) type ClientSide = (
    Option<Field<OneOrMany<Text>>>,
    Option<Field<RawCapabilities>>,
);

impl Lowering<'_> {
    /// A server with a name of its own, and what its block says about the client.
    pub(crate) fn named_server(
        &mut self,
        field: Field<Box<RawServer>>,
    ) -> (Server, ClientAndRevisions) {
        let at = field.key;
        let (server, (protocol, capabilities)) = self.server(Some(field), at);
        self.port = false;
        (server, self.client(protocol, capabilities, None))
    }

    /// The server, and what the block says about the client. `at` is the place of problems without a block.
    pub(super) fn server(
        &mut self,
        field: Option<Field<Box<RawServer>>>,
        at: At,
    ) -> (Server, ClientSide) {
        let place = field.as_ref().map_or(at, |field| field.key);
        let mut raw = value(field).unwrap_or_default();
        let side = (raw.protocol.take(), raw.client_capabilities.take());
        if let Some(effects) = raw.effects.take() {
            let reason = "only a target of the settings takes it";
            self.no_effect([("effects", Some(effects.key))], reason);
            effects_of(effects.value, self);
        }
        if let Some(profile) = raw.builtin.as_ref().map(|builtin| &builtin.value)
            && !PROFILES.contains(&profile.text.as_str())
        {
            let what = "profile of the embedded server";
            let problem = problems::unknown_word(&profile.text, what, &PROFILES);
            self.problem(profile.at, problem);
        }
        if let (Some(_), Some(builtin)) = (&raw.command, &raw.builtin) {
            let keys = ["command", "builtin"];
            self.problem(builtin.key, problems::conflicting_keys(&keys, "`server`"));
        }
        // In suites of the Go tool an empty text means no image.
        let docker = raw.docker.take();
        let docker = self.unless_empty("docker", docker, |docker| {
            let image = docker.0.image.as_ref();
            image.is_some_and(|image| image.key == image.at && image.value.is_blank())
        });
        let target = match self.transport(raw.transport.take()) {
            Some(transport) => self.url_target(transport, *raw, docker, place),
            None => self.stdio_target(*raw, docker, place),
        };
        (Server { target }, side)
    }

    /// The transport of a word, in any case; `None` for `stdio`.
    fn transport(&mut self, field: Option<Field<Text>>) -> Option<UrlTransport> {
        let field = field?;
        match field.value.text.to_ascii_lowercase().as_str() {
            "http" => return Some(UrlTransport::Http),
            "sse" => return Some(UrlTransport::Sse),
            "" | "stdio" => {}
            _ => {
                let known = ["stdio", "http", "sse"];
                let problem = problems::unknown_word(&field.value.text, "transport", &known);
                self.problem(field.at, problem);
            }
        }
        None
    }

    /// A process that speaks over its standard streams.
    fn stdio_target(&mut self, raw: RawServer, docker: Option<DockerField>, place: At) -> Target {
        let strays = [
            ("url", key(&raw.url)),
            ("headers", key(&raw.headers)),
            ("launch", key(&raw.launch)),
            ("auth", key(&raw.auth)),
            ("tls", key(&raw.tls)),
            ("parallel", key(&raw.parallel)),
        ];
        self.no_effect(strays, "the transport is `stdio`");
        if docker.is_none() && self.around.started_in == StartedIn::Containers {
            self.check_inherited(raw.inherit_env.as_ref());
        }
        let container = docker.map(|docker| self.contained(docker, &raw));
        let url = key(&raw.url);
        let builtin = value(raw.builtin).map(|profile| profile.text);
        let mut launch = self.launch(raw.command, raw.args, raw.env);
        launch.directory = raw.cwd.map(|cwd| self.directory(cwd.value));
        launch.inherit = self.inherit(raw.inherit_env);
        let program = program(launch, builtin);
        if let Some(container) = container {
            return Target::Container {
                container,
                program,
                served: None,
            };
        }
        let launch = match program {
            Program::Builtin {
                profile,
                args,
                launch,
            } => {
                return Target::Builtin {
                    profile,
                    args,
                    launch,
                };
            }
            Program::Launched(launch) => launch,
        };
        if launch.command.is_none() && self.needs_a_server(place) {
            match url {
                Some(url) => self.problem(url, problems::no_transport()),
                None => self.problem(place, problems::no_server()),
            }
        }
        Target::Process(launch)
    }

    /// Whether a block that names no server is a problem.
    fn needs_a_server(&self, place: At) -> bool {
        let problems = &self.reading.problems;
        self.around.server_from.asks_the_suite() && !problems.is_refused(&KEYS_OF_A_SERVER, place)
    }

    /// The container of a process.
    fn contained(&mut self, docker: DockerField, raw: &RawServer) -> Box<Container> {
        if let Some(cwd) = &raw.cwd
            && !cwd.value.text.starts_with(['/', '{'])
        {
            let found = format!("`{}`", cwd.value.text);
            let expected = "an absolute path inside the container";
            self.problem(cwd.at, problems::wrong_type(&found, expected));
        }
        self.check_inherited(raw.inherit_env.as_ref());
        Box::new(self.server_container(docker, raw.builtin.as_ref()))
    }

    /// A server behind a url, which may be started before.
    fn url_target(
        &mut self,
        transport: UrlTransport,
        raw: RawServer,
        docker: Option<DockerField>,
        place: At,
    ) -> Target {
        self.port = raw.launch.is_some() || raw.builtin.is_some();
        if !self.port {
            let reason = "the server behind the url is not started";
            self.no_effect([("docker", key(&docker))], reason);
        }
        // In the settings a `docker` without an image is for other servers.
        let docker = docker.filter(|docker| self.port || names_image(docker));
        let container = docker.map(|docker| self.contained(docker, &raw));
        let builtin = value(raw.builtin).map(|profile| profile.text);
        // `command` and its neighbours are also for a process of the command line.
        let mut process = self.launch(raw.command, raw.args, raw.env);
        process.directory = raw.cwd.map(|cwd| self.directory(cwd.value));
        process.inherit = self.inherit(raw.inherit_env);
        let listening = match (raw.launch, builtin) {
            (Some(launch), _) => Some(self.listening(launch, &mut process)),
            (None, Some(builtin)) => {
                // The loopback address of a container is not reached from outside.
                let address = match container {
                    Some(_) => "0.0.0.0:{{port}}",
                    None => "127.0.0.1:{{port}}",
                };
                let words = [transport.flag(), address];
                process.args.extend(words.map(Template::new));
                Some(Listening {
                    builtin: Some(builtin),
                    ready: Ready::Port,
                    timeout: None,
                })
            }
            (None, None) => None,
        };
        let url = match raw.url {
            Some(url) => {
                self.check_url(&url.value, "{{");
                self.template(url.value)
            }
            None if listening.is_some() => Template::new("http://127.0.0.1:{{port}}/mcp"),
            None => self.no_url(transport, place),
        };
        let endpoint = Endpoint {
            transport,
            url,
            headers: self.headers(raw.headers),
            auth: raw.auth.and_then(|auth| self.auth(auth)),
            trust: raw.tls.map(|tls| self.trust(tls)).unwrap_or_default(),
            parallel: value(raw.parallel).unwrap_or_default(),
        };
        match (container, listening) {
            (Some(container), Some(listening)) => Target::Container {
                container,
                program: program(process, listening.builtin.clone()),
                served: Some(Box::new(Served {
                    endpoint,
                    listening,
                })),
            },
            (_, listening) => Target::Url {
                endpoint: Box::new(endpoint),
                launch: Box::new(process),
                listening: listening.map(Box::new),
            },
        }
    }

    /// Reports a missing url, unless another server may take its place.
    fn no_url(&mut self, transport: UrlTransport, place: At) -> Template {
        if self.needs_a_server(place) {
            let word = match transport {
                UrlTransport::Http => "http",
                UrlTransport::Sse => "sse",
            };
            self.problem(place, problems::no_url(word));
        }
        Template::new("")
    }

    fn headers(&mut self, headers: Option<Field<TextTable>>) -> Vec<(String, EnvValue)> {
        let headers = value(headers).unwrap_or_default();
        for (name, _) in &headers.0 {
            self.check_header_name(name);
        }
        self.env_table(headers)
    }

    /// Which certificates are trusted.
    fn trust(&mut self, tls: Field<RawTls>) -> Trust {
        let raw = tls.value;
        match (raw.ca, raw.insecure.is_some_and(|it| it.value)) {
            (None, false) => Trust::Usual,
            (None, true) => Trust::Anyone,
            (Some(ca), false) => Trust::Also(self.directory(ca.value)),
            (Some(_), true) => {
                let keys = ["ca", "insecure"];
                self.problem(tls.key, problems::conflicting_keys(&keys, "`tls`"));
                Trust::Usual
            }
        }
    }

    /// How a process is started.
    fn launch(
        &mut self,
        command: Option<Field<Text>>,
        args: Option<Field<super::Texts>>,
        env: Option<Field<TextTable>>,
    ) -> Launch {
        let env = value(env).unwrap_or_default();
        let own = env.0.iter().map(|(key, _)| key);
        let own = own.filter(|key| key.at.source != Source::Settings);
        let own = own.map(|key| key.text.clone()).collect();
        let command = value(command).filter(|command| !command.is_blank());
        let args = value(args).unwrap_or_default().0.into_iter();
        let is_shell = command.as_ref().is_some_and(|it| is_shell(&it.text));
        let args: Vec<Text> = args.collect();
        // A shell fills in what a client does not.
        for arg in args.iter().filter(|_| !is_shell) {
            if let Some((written, name)) = super::env::braced_name(&arg.text) {
                self.native_problem(arg.at, problems::not_expanded(written, name));
            }
        }
        let args = args.into_iter();
        Launch {
            own,
            command: command.map(|command| self.template(command)),
            args: args.map(|arg| self.template(arg)).collect(),
            env: self.variables(env),
            ..Launch::default()
        }
    }

    /// `inherit_env`
    fn inherit(&mut self, field: Option<Field<FlagOr<super::Texts>>>) -> Inherit {
        match value(field) {
            None | Some(FlagOr::Flag(true)) => Inherit::All,
            Some(FlagOr::Flag(false)) => Inherit::Nothing,
            Some(FlagOr::Other(names)) => Inherit::Only(self.variable_names(names)),
        }
    }

    /// A directory relative to the YAML file.
    fn directory(&mut self, cwd: Text) -> Directory {
        let place = self.template(cwd);
        let starts_elsewhere = place.text.starts_with('/') || place.text.starts_with("{{");
        Directory {
            folder: (!starts_elsewhere).then(|| self.around.directory.to_owned()),
            place,
        }
    }

    /// A server that listens on a port: `process` with the words of `launch` over it.
    fn listening(&mut self, field: Field<RawLaunch>, process: &mut Launch) -> Listening {
        let raw = field.value;
        let command = self.required(raw.command, "command", "`launch`", field.key);
        let ready = match raw.ready.map(|ready| ready.value) {
            Some(TextOr::Text(word)) => {
                if word.text != "port" {
                    self.problem(word.at, problems::unknown_readiness(&word.text));
                }
                Ready::Port
            }
            Some(TextOr::Other(raw)) => match (raw.log, raw.http, raw.port) {
                (Some(log), _, _) => {
                    let log = self.text_at_load(log.value);
                    let pattern = self.pattern(&log.text, log.at);
                    pattern.map_or(Ready::Port, Ready::Log)
                }
                (None, Some(path), _) => Ready::Http(self.template(path.value)),
                (None, None, _port) => Ready::Port,
            },
            None => Ready::Port,
        };
        let launched = self.launch(command, raw.args, raw.env);
        (process.command, process.args) = (launched.command, launched.args);
        process.set(launched.env);
        process.own.extend(launched.own);
        Listening {
            builtin: None,
            ready,
            timeout: self.duration(raw.timeout),
        }
    }

    /// How requests are authorised.
    fn auth(&mut self, field: Field<RawAuth>) -> Option<Auth> {
        let keys = ["bearer", "client_credentials"];
        match (field.value.bearer, field.value.client_credentials) {
            (Some(bearer), None) => Some(Auth::Bearer(self.env_value(&bearer.value))),
            (None, Some(client)) => self.client_credentials(client),
            (Some(_), Some(_)) => {
                self.problem(field.key, problems::conflicting_keys(&keys, "`auth`"));
                None
            }
            (None, None) => {
                self.missing_one_of(&keys, "`auth`", field.key);
                None
            }
        }
    }

    /// An OAuth client.
    fn client_credentials(&mut self, field: Field<RawClientCredentials>) -> Option<Auth> {
        let (raw, at) = (field.value, field.key);
        let owner = "`client_credentials`";
        let id = self.required(raw.id, "id", owner, at);
        let secret = self.required(raw.secret, "secret", owner, at);
        if let Some(url) = &raw.token_url
            && !url.value.text.contains("{{")
        {
            self.check_url(&url.value, "$");
        }
        if raw.token_url.is_none() && raw.discover.is_none() {
            self.missing_one_of(&["token_url", "discover"], owner, at);
        }
        Some(Auth::ClientCredentials {
            token_url: raw.token_url.map(|url| self.env_value(&url.value)),
            id: self.env_value(&id?.value),
            secret: self.env_value(&secret?.value),
            scope: value(raw.scope).map(|scope| self.text_at_load(scope).text),
        })
    }
}

/// Whether a program runs the text of an argument.
fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or_default();
    ["sh", "bash", "dash", "zsh", "ash", "fish"].contains(&name)
}

/// A command, or the embedded server of a profile.
fn program(mut launch: Launch, profile: Option<String>) -> Program {
    match profile {
        None => Program::Launched(launch),
        Some(profile) => Program::Builtin {
            profile,
            args: std::mem::take(&mut launch.args),
            launch,
        },
    }
}
