//! The `server` block: what is started or connected to.

use super::{Lowering, StartedIn, client::ClientSays, docker::names_image};
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
        docker::RawDocker,
        server::{
            KEYS_OF_A_SERVER, RawAuth, RawClientCredentials, RawLaunch, RawReady, RawServer, RawTls,
        },
        union::{FlagOr, TextOr},
        value::{OneOrMany, Text, TextTable, Texts},
    },
    yaml::{At, Source},
};
use mcp::script::template::Template;

/// What `server` says about the client.
pub(super) type ClientSide = (
    Option<Field<OneOrMany<Text>>>,
    Option<Field<RawCapabilities>>,
);

/// The transports of `transport`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Transport {
    /// `stdio`
    Stdio,
    /// `http`, `sse`
    Url(UrlTransport),
}

/// The parts of the block that start a process.
struct Started {
    command: Option<Field<Text>>,
    args: Option<Field<Texts>>,
    cwd: Option<Field<Text>>,
    env: Option<Field<TextTable>>,
    inherit_env: Option<Field<FlagOr<Texts>>>,
}

/// The parts of the block that reach a url.
struct Reached {
    builtin: Option<Field<Text>>,
    url: Option<Field<Text>>,
    headers: Option<Field<TextTable>>,
    launch: Option<Field<RawLaunch>>,
    auth: Option<Field<RawAuth>>,
    tls: Option<Field<RawTls>>,
    parallel: Option<Field<bool>>,
}

impl Reached {
    /// Whether the server is started before it is reached.
    fn is_started(&self) -> bool {
        self.launch.is_some() || self.builtin.is_some()
    }
}

/// Tells the embedded server to listen; of a container not the loopback address is reached from outside.
fn listen_at(process: &mut Launch, transport: UrlTransport, container: Option<&Container>) {
    let address = match container {
        Some(_) => "0.0.0.0:{{port}}",
        None => "127.0.0.1:{{port}}",
    };
    let words = [transport.flag(), address];
    process.args.extend(words.map(Template::new));
}

/// How the embedded server comes to listen.
fn embedded(profile: String) -> Listening {
    Listening {
        builtin: Some(profile),
        ready: Ready::Port,
        timeout: None,
    }
}

/// What is started in a container to listen there.
fn in_container(mut launch: Launch, builtin: Option<&String>) -> Program {
    match builtin {
        None => Program::Launched(launch),
        Some(profile) => Program::Builtin {
            profile: profile.clone(),
            args: std::mem::take(&mut launch.args),
            launch,
        },
    }
}

impl Lowering<'_> {
    /// A server with a name of its own, and what its block says about the client.
    pub fn named_server(&mut self, field: Field<Box<RawServer>>) -> (Server, ClientSays) {
        let at = field.key;
        let (server, (protocol, capabilities)) = self.server(Some(field), at);
        self.port = false;
        (server, self.client(protocol, capabilities, None))
    }

    /// The server, and what the block says about the client. `at`: the place to blame without a block.
    pub(super) fn server(
        &mut self,
        field: Option<Field<Box<RawServer>>>,
        at: At,
    ) -> (Server, ClientSide) {
        let place = field.as_ref().map_or(at, |field| field.key);
        let RawServer {
            command,
            args,
            cwd,
            env,
            inherit_env,
            transport,
            url,
            headers,
            launch,
            builtin,
            docker,
            protocol,
            client_capabilities,
            auth,
            tls,
            parallel,
        } = *field.map(|field| field.value).unwrap_or_default();
        if let Some(builtin) = &builtin {
            self.check_profile(&builtin.value);
        }
        let started = Started {
            command,
            args,
            cwd,
            env,
            inherit_env,
        };
        let reached = Reached {
            builtin,
            url,
            headers,
            launch,
            auth,
            tls,
            parallel,
        };
        self.check_one_program(&started, &reached);
        // An empty text is how an image that is not wanted is written in the Go tool.
        let is_empty = |docker: &TextOr<RawDocker>| match docker {
            TextOr::Text(image) => image.is_blank(),
            TextOr::Map(_) => false,
        };
        let docker = self.unless_empty("docker", docker, is_empty);
        let target = match self.transport(transport) {
            Transport::Url(transport) => {
                self.check_unstarted(docker.as_ref(), &reached);
                // Without an image it is a word for others, in the settings: nothing is missing here.
                let docker = docker.filter(|docker| reached.is_started() || names_image(docker));
                let container = self.contained(docker, &started, reached.builtin.as_ref());
                self.url_target(transport, (started, container), reached, place)
            }
            Transport::Stdio => {
                self.check_unreached(&reached);
                let url = reached.url.map(|field| field.key);
                self.stdio_target(reached.builtin, docker, started, (place, url))
            }
        };
        (Server { target }, (protocol, client_capabilities))
    }

    /// Tells of a server that is named twice.
    fn check_one_program(&mut self, started: &Started, reached: &Reached) {
        if started.command.is_some()
            && let Some(builtin) = &reached.builtin
        {
            self.problem(builtin.key, |origin| {
                problems::conflicting_keys(origin, &["command", "builtin"], "`server`")
            });
        }
    }

    /// Tells of an image for a server that nobody starts.
    fn check_unstarted(&mut self, docker: Option<&Field<TextOr<RawDocker>>>, reached: &Reached) {
        if let Some(docker) = docker
            && !reached.is_started()
        {
            let why = "the server behind the url is not started";
            self.problem(docker.key, |origin| {
                problems::no_effect(origin, "docker", why)
            });
        }
    }

    /// Tells a profile that the embedded server does not have.
    fn check_profile(&mut self, profile: &Text) {
        if !PROFILES.contains(&profile.text.as_str()) {
            self.problem(profile.at, |origin| {
                let what = "profile of the embedded server";
                problems::unknown_word(origin, &profile.text, what, &PROFILES)
            });
        }
    }

    /// The transport of a word, in any case.
    fn transport(&mut self, field: Option<Field<Text>>) -> Transport {
        let Some(field) = field else {
            return Transport::Stdio;
        };
        match field.value.text.to_ascii_lowercase().as_str() {
            "" | "stdio" => Transport::Stdio,
            "http" => Transport::Url(UrlTransport::Http),
            "sse" => Transport::Url(UrlTransport::Sse),
            _ => {
                self.problem(field.at, |origin| {
                    let known = ["stdio", "http", "sse"];
                    problems::unknown_word(origin, &field.value.text, "transport", &known)
                });
                Transport::Stdio
            }
        }
    }

    /// Tells keys that only a url has.
    fn check_unreached(&mut self, reached: &Reached) {
        let Reached {
            builtin: _,
            url,
            headers,
            launch,
            auth,
            tls,
            parallel,
        } = reached;
        let keys = [
            ("url", url.as_ref().map(|field| field.key)),
            ("headers", headers.as_ref().map(|field| field.key)),
            ("launch", launch.as_ref().map(|field| field.key)),
            ("auth", auth.as_ref().map(|field| field.key)),
            ("tls", tls.as_ref().map(|field| field.key)),
            ("parallel", parallel.as_ref().map(|field| field.key)),
        ];
        for (key, at) in keys {
            if let Some(at) = at {
                self.problem(at, |origin| {
                    problems::no_effect(origin, key, "the transport is `stdio`")
                });
            }
        }
    }

    /// A process of our own that speaks over its standard streams. The places are those of the block, and of a url that
    /// stands in it without its transport.
    fn stdio_target(
        &mut self,
        builtin: Option<Field<Text>>,
        docker: Option<Field<TextOr<RawDocker>>>,
        started: Started,
        (place, url): (At, Option<At>),
    ) -> Target {
        if let Some(inherit) = &started.inherit_env
            && docker.is_none()
            && self.around.started_in == StartedIn::Containers
        {
            self.check_inherited(inherit);
        }
        let container = self.contained(docker, &started, builtin.as_ref());
        let mut launch = self.launch(started);
        if let Some(builtin) = builtin {
            let args = std::mem::take(&mut launch.args);
            let profile = builtin.value.text;
            return match container {
                Some(container) => Target::Container {
                    container,
                    program: Program::Builtin {
                        profile,
                        args,
                        launch,
                    },
                    served: None,
                },
                None => Target::Builtin {
                    profile,
                    args,
                    launch,
                },
            };
        }
        if let Some(container) = container {
            return Target::Container {
                container,
                program: Program::Launched(launch),
                served: None,
            };
        }
        let problems = &self.reading.problems;
        let is_refused = problems.is_refused(&KEYS_OF_A_SERVER, place);
        if launch.command.is_none() && self.around.server_from.asks_the_suite() && !is_refused {
            match url {
                Some(url) => self.problem(url, problems::no_transport),
                None => self.problem(place, problems::no_server),
            }
        }
        Target::Process(launch)
    }

    /// The container of a process, where it is to have one.
    fn contained(
        &mut self,
        docker: Option<Field<TextOr<RawDocker>>>,
        started: &Started,
        builtin: Option<&Field<Text>>,
    ) -> Option<Box<Container>> {
        let docker = docker?;
        if let Some(cwd) = &started.cwd {
            self.inside_directory(cwd);
        }
        if let Some(inherit) = &started.inherit_env {
            self.check_inherited(inherit);
        }
        Some(Box::new(self.server_container(docker, builtin)))
    }

    /// A server behind a url, perhaps started before.
    fn url_target(
        &mut self,
        transport: UrlTransport,
        (started, container): (Started, Option<Box<Container>>),
        reached: Reached,
        place: At,
    ) -> Target {
        self.port = reached.is_started();
        let Reached {
            builtin,
            url,
            headers,
            launch,
            auth,
            tls,
            parallel,
        } = reached;
        let word = match transport {
            UrlTransport::Http => "http",
            UrlTransport::Sse => "sse",
        };
        // What the block says of a process holds for the one that is launched, and for one of the command line.
        let mut process = self.launch(started);
        let listening = match (launch, builtin) {
            (Some(launch), _) => Some(self.listening(launch, &mut process)),
            (None, Some(builtin)) => {
                listen_at(&mut process, transport, container.as_deref());
                Some(embedded(builtin.value.text))
            }
            (None, None) => None,
        };
        let url = match url {
            Some(url) => {
                self.check_url(&url.value, "{{");
                self.template(url.value)
            }
            None if listening.is_some() => Template::new("http://127.0.0.1:{{port}}/mcp"),
            None => {
                let is_refused = self.reading.problems.is_refused(&KEYS_OF_A_SERVER, place);
                if self.around.server_from.asks_the_suite() && !is_refused {
                    self.problem(place, |origin| problems::no_url(origin, word));
                }
                Template::new("")
            }
        };
        let endpoint = Endpoint {
            transport,
            url,
            headers: self.headers(headers),
            auth: auth.and_then(|auth| self.auth(auth)),
            trust: tls.map(|tls| self.trust(tls)).unwrap_or_default(),
            parallel: parallel.is_some_and(|it| it.value),
        };
        match (container, listening) {
            (Some(container), Some(listening)) => Target::Container {
                container,
                program: in_container(process, listening.builtin.as_ref()),
                served: Some(Box::new(Served {
                    endpoint,
                    listening,
                })),
            },
            (Some(_) | None, listening) => Target::Url {
                endpoint: Box::new(endpoint),
                launch: Box::new(process),
                listening: listening.map(Box::new),
            },
        }
    }

    fn headers(&mut self, headers: Option<Field<TextTable>>) -> Vec<(String, EnvValue)> {
        let headers = headers.map(|headers| headers.value).unwrap_or_default();
        for (name, _) in &headers.0 {
            self.check_header_name(name);
        }
        self.env_table(headers)
    }

    /// Which certificates are trusted.
    fn trust(&mut self, tls: Field<RawTls>) -> Trust {
        let RawTls { ca, insecure } = tls.value;
        match (ca, insecure.is_some_and(|it| it.value)) {
            (None, false) => Trust::Usual,
            (None, true) => Trust::Anyone,
            (Some(ca), false) => Trust::Also(self.directory(ca.value)),
            (Some(_), true) => {
                self.problem(tls.key, |origin| {
                    problems::conflicting_keys(origin, &["ca", "insecure"], "`tls`")
                });
                Trust::Usual
            }
        }
    }

    /// How a process is started.
    fn launch(&mut self, started: Started) -> Launch {
        let Started {
            command,
            args,
            cwd,
            env,
            inherit_env,
        } = started;
        let args = args.map(|args| args.value.0).unwrap_or_default();
        let own = env.iter().flat_map(|env| &env.value.0);
        let own = own.filter(|(key, _)| key.at.source != Source::Settings);
        let own = own.map(|(key, _)| key.text.clone()).collect();
        Launch {
            own,
            command: command
                .filter(|command| !command.value.text.trim().is_empty())
                .map(|command| self.template(command.value)),
            args: args.into_iter().map(|arg| self.template(arg)).collect(),
            directory: cwd.map(|cwd| self.directory(cwd.value)),
            env: env.map(|env| self.variables(env.value)).unwrap_or_default(),
            inherit: match inherit_env.map(|inherit| inherit.value) {
                None | Some(FlagOr::Flag(true)) => Inherit::All,
                Some(FlagOr::Flag(false)) => Inherit::Nothing,
                Some(FlagOr::Other(names)) => Inherit::Only(self.variable_names(names)),
            },
        }
    }

    /// Tells a directory of this machine where one of a container is meant.
    fn inside_directory(&mut self, cwd: &Field<Text>) {
        if !cwd.value.text.starts_with(['/', '{']) {
            self.problem(cwd.at, |origin| {
                let found = format!("`{}`", cwd.value.text);
                problems::wrong_type(origin, &found, "an absolute path inside the container")
            });
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
        let RawLaunch {
            command,
            args,
            env,
            ready,
            timeout,
        } = field.value;
        let command = self.required(command, "command", "`launch`", field.key);
        let ready = match ready {
            None => Ready::Port,
            Some(ready) => match ready.value {
                TextOr::Text(word) if word.text == "port" => Ready::Port,
                TextOr::Text(word) => {
                    self.problem(ready.at, |origin| {
                        problems::unknown_readiness(origin, &word.text)
                    });
                    Ready::Port
                }
                TextOr::Map(RawReady { log, port: _, http }) => match (log, http) {
                    (Some(log), _) => {
                        let log = self.text_at_load(log.value);
                        let pattern = self.pattern(&log.text, log.at);
                        pattern.map_or(Ready::Port, Ready::Log)
                    }
                    (None, Some(path)) => Ready::Http(self.template(path.value)),
                    (None, None) => Ready::Port,
                },
            },
        };
        let launched = self.launch(Started {
            command,
            args,
            cwd: None,
            env,
            inherit_env: None,
        });
        (process.command, process.args) = (launched.command, launched.args);
        process.set(launched.env);
        process.own.extend(launched.own);
        Listening {
            builtin: None,
            ready,
            timeout: self.duration(timeout),
        }
    }

    /// How requests are authorised.
    fn auth(&mut self, field: Field<RawAuth>) -> Option<Auth> {
        let at = field.key;
        let RawAuth {
            bearer,
            client_credentials,
        } = field.value;
        match (bearer, client_credentials) {
            (Some(bearer), None) => Some(Auth::Bearer(self.env_value(&bearer.value))),
            (None, Some(client)) => self.client_credentials(client),
            (Some(_), Some(_)) => {
                self.problem(at, |origin| {
                    let keys = ["bearer", "client_credentials"];
                    problems::conflicting_keys(origin, &keys, "`auth`")
                });
                None
            }
            (None, None) => {
                self.missing_one_of(&["bearer", "client_credentials"], "`auth`", at);
                None
            }
        }
    }

    /// An OAuth client.
    fn client_credentials(&mut self, field: Field<RawClientCredentials>) -> Option<Auth> {
        let at = field.key;
        let owner = "`client_credentials`";
        let RawClientCredentials {
            token_url,
            discover,
            id,
            secret,
            scope,
        } = field.value;
        let id = self.required(id, "id", owner, at);
        let secret = self.required(secret, "secret", owner, at);
        if let Some(url) = &token_url
            && !url.value.text.contains("{{")
        {
            self.check_url(&url.value, "$");
        }
        if token_url.is_none() && discover.is_none() {
            self.missing_one_of(&["token_url", "discover"], owner, at);
        }
        Some(Auth::ClientCredentials {
            token_url: token_url.map(|url| self.env_value(&url.value)),
            id: self.env_value(&id?.value),
            secret: self.env_value(&secret?.value),
            scope: scope.map(|scope| self.text_at_load(scope.value).text),
        })
    }
}
