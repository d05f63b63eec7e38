//! Shared by the commands that ask a server: from its options to a session, and to the end of what was started.

use std::{
    collections::HashMap,
    fmt::Display,
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;

use super::{
    Context, findings,
    running::{self, Refusal, engine, input::regular_text, unless_panicked, usage},
    runtime,
};
use crate::{
    cli::{
        run::RunArgs,
        server::{CatalogArgs, ServerArgs},
    },
    deliver::stdout::Stdout,
    inspect::{
        catalog::Offer,
        effect::{Effect, Effects},
        sample::{Sources, Which, first_file, sample_of},
        server::{Asked, Declares, Open, Unanswered},
        written,
    },
    run::RunEnd,
};
use host::{
    container::{Containers, image::ReadyImage, labels::RunName},
    fixture::Fixture,
    host::Host,
    launch::add_secrets,
};
use mcp::{
    observation::{catalog::Listing, disruption::Phase},
    script::{
        client::RevisionWanted,
        template::{Bindings, Template},
    },
};
use suite::{
    discover::{self, LoadOptions},
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::{
        container::{Container, ImageBase},
        revisions::Asked as Wanted,
        server::{EnvPart, EnvValue, Launch, Program, Server, Target},
    },
    plan::{
        self, ServerOverride,
        place::{Isolation, Places},
    },
    settings::{NamedTarget, Settings, ToolSample},
};
use text::{clean, diagnostic::Severity, exit::ExitCode, redact::Secrets, source::Origin, web};

/// Prints an answer: JSON as it is, text through the log of the workflow, which lets nothing in it be a command.
pub(super) fn print(text: &str, is_json: bool, context: &Context) -> Result<(), Refusal> {
    let mut out = match &context.log {
        Some(log) if !is_json => {
            log.begin();
            Stdout::over(log.clone(), &context.streams)
        }
        Some(_) | None => Stdout::new(&context.streams),
    };
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Refusal::could_not_run(format!("cannot write `stdout`: {error}")))
}

/// The text of a file that an option names.
pub(super) fn read(path: &Path, longest: u64) -> Result<String, Refusal> {
    regular_text(path, longest).map_err(|error| unusable(path, error))
}

/// Refuses a file that an option names.
pub(super) fn unusable(path: &Path, why: impl Display) -> Refusal {
    Refusal::invalid(format!("`{}` cannot be used: {why}", path.display()))
}

/// What a server offers, from a file or in a session of its own, to the last entry. Half a catalog is refused: what is
/// wrong in its other half would stay hidden.
pub(super) fn offer(args: &CatalogArgs, context: &Context) -> Result<Offer, Refusal> {
    let (offer, _) = offered(args, context)?;
    complete(&offer)?;
    Ok(offer)
}

/// What a server offers, as far as it said, and the values that are not shown of it; written where the options say.
pub(super) fn offered(args: &CatalogArgs, context: &Context) -> Result<(Offer, Secrets), Refusal> {
    let (offer, secrets) = if let Some(path) = &args.catalog {
        let text = read(path, LONGEST_CATALOG)?;
        let offer = Offer::from_json(&text).map_err(|why| unusable(path, why))?;
        (offer, Secrets::default())
    } else {
        let typed = Typed::read(&args.server, context)?;
        let offer = typed.ask(context, async |open| Ok(open.offer().await))?;
        (offer, typed.secrets)
    };
    save(args, &offer, context)?;
    Ok((offer, secrets))
}

/// Writes the offer where the options say.
pub(super) fn save(args: &CatalogArgs, offer: &Offer, context: &Context) -> Result<(), Refusal> {
    let Some(path) = &args.save_catalog else {
        return Ok(());
    };
    findings::write(path, &format!("{:#}\n", offer.json()), context)
}

/// Refuses lists that are not known to their end.
pub(super) fn complete(offer: &Offer) -> Result<(), Refusal> {
    match &offer.missing {
        None => Ok(()),
        Some(missing) => {
            let message = format!("the lists are not complete: {}", clean(missing));
            Err(Refusal::could_not_run(message))
        }
    }
}

/// The folder of the nearest settings file upwards, and what the file says; `None` if there is none.
pub(super) fn settings(context: &Context) -> Result<Option<(PathBuf, Settings)>, Refusal> {
    let options = LoadOptions {
        dialect: None,
        unset_variables: UnsetVariables::Warn,
        server_from: ServerFrom::Elsewhere,
        image_from: ImageFrom::Suite,
        started_in: StartedIn::Processes,
        fixture_from: FixtureFrom::Elsewhere,
        environment: &context.environment,
        servers_in: None,
    };
    let Some((folder, settings, mut problems)) = discover::nearest_settings(&options) else {
        return Ok(None);
    };
    problems.retain(|it| it.severity == Severity::Error);
    if problems.is_empty() {
        return Ok(Some((folder, settings)));
    }
    Err(Refusal::invalid("the settings file cannot be used").beside(problems))
}

/// The nearest settings file with those of its targets that are meant, the one of this name or all; and its folder.
pub(super) fn targets(
    chosen: Option<&str>,
    context: &Context,
) -> Result<(PathBuf, Settings), Refusal> {
    let found = settings(context)?.filter(|(_, it)| !it.targets.is_empty());
    let Some((folder, mut settings)) = found else {
        return Err(match chosen {
            None => Refusal::invalid("no server is given").with_help(
                "name it: `--server 'npx -y my-server'`, `--server URL`, or `-- npx -y my-server` at the end; or under \
                 `targets` in mcp-assert.yaml",
            ),
            Some(name) => Refusal::invalid(format!("unknown target `{name}`"))
                .with_help("no `mcp-assert.yaml` in this folder or above it has `targets`"),
        });
    };
    let names = [chosen.unwrap_or(running::ALL_TARGETS).to_owned()];
    (settings.targets, _) = running::targets(&names, &settings)?;
    Ok((folder, settings))
}

/// What the nearest settings say of arguments for tools.
pub(super) fn samples(context: &Context) -> Result<Arc<[ToolSample]>, Refusal> {
    let settings = settings(context)?;
    Ok(settings.map_or_else(Vec::new, |(_, it)| it.samples).into())
}

/// Refuses arguments of the settings that the schema of their tool refuses, and warns of those for a tool that is not
/// listed.
pub(super) fn check_samples(
    sources: &Sources,
    offer: &Offer,
    context: &Context,
) -> Result<(), Refusal> {
    for told in &*sources.samples {
        let name = &told.tool;
        let at = Some(told.at.clone());
        let Some(tool) = offer.catalog.tool(name) else {
            if !offer.catalog.knows_all_tools() {
                continue;
            }
            let names = offer.names(Listing::Tools);
            let unknown = Refusal::invalid(format!("unknown tool `{name}` in `samples`"));
            let mut warning = unknown
                .with_meant(name, "tools", &names)
                .at(at)
                .into_diagnostic();
            warning.severity = Severity::Warning;
            context.say(&format!("{}\n", warning.render(context.stderr_colour())));
            continue;
        };
        if let Some(why) = sample_of(tool, Which::Required, sources).refused {
            let message = format!("the schema of `{name}` refuses its sample: {why}");
            return Err(Refusal::invalid(message).at(at));
        }
    }
    Ok(())
}

/// Masks the secrets of all texts in a value.
pub(super) fn mask(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = secrets.mask(text),
        Value::Array(items) => items.iter_mut().for_each(|it| mask(it, secrets)),
        Value::Object(members) => members.values_mut().for_each(|it| mask(it, secrets)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The longest catalog that is read, in bytes.
pub(super) const LONGEST_CATALOG: u64 = 256 << 20;

/// The most of a server's stderr that is shown behind an error, in characters.
const MOST_STDERR: usize = 2_000;

/// How long to wait for blocking work when the answers are there.
const LAST_WORK: Duration = Duration::from_millis(100);

/// A server as the command line names it, or one of the settings' targets.
pub(super) struct Typed {
    /// The options that name it.
    args: ServerArgs,
    /// As it was typed, for command lines that are shown; the name of a target.
    pub(super) text: String,
    /// The place of its name in the settings, of a target.
    pub(super) at: Option<Origin>,
    /// What its tools may do, as far as the settings say it of a target.
    pub(super) effects: Effects,
    /// How it is reached.
    server: Arc<Server>,
    revision: RevisionWanted,
    /// What the client declares.
    pub(super) declares: Declares,
    fixture: Option<Arc<Fixture>>,
    /// Values that are not shown.
    pub(super) secrets: Secrets,
}

impl Typed {
    /// Reads the options: the server that they name, else a target of the nearest settings.
    pub(super) fn read(args: &ServerArgs, context: &Context) -> Result<Self, Refusal> {
        let folder = args.how.fixture.as_deref();
        let mut fixture = folder.map(running::open_fixture).transpose()?;
        let mut target = None;
        let (text, server) = if let Some(named) = named(args)? {
            named
        } else {
            let (_, settings) = targets(args.target.as_deref(), context)?;
            if folder.is_none() {
                fixture = running::of_settings(&settings)?;
            }
            let only = target.insert(only(settings.targets)?);
            (only.name.clone(), Arc::new(only.server.clone()))
        };
        let server = with_headers(server, &args.how.headers)?;
        let revision = match (&target, args.how.protocol.as_slice()) {
            (Some(target), []) => target.client.revision,
            (_, typed) => revision(typed)?,
        };
        let bindings = Bindings {
            environment: Arc::clone(&context.environment),
            ..Bindings::default()
        };
        let mut secrets = Secrets::default();
        add_secrets(&server.target, &bindings, &mut secrets);
        Ok(Self {
            args: args.clone(),
            text,
            at: target.as_ref().map(|it| it.at.clone()),
            effects: target.map(|it| it.effects).unwrap_or_default(),
            server,
            revision,
            declares: Declares::Everything,
            fixture,
            secrets,
        })
    }

    /// Whether it is behind a url.
    pub(super) fn is_web(&self) -> bool {
        matches!(self.server.target, Target::Url { .. })
    }

    /// What may be called unasked: all in a container without a network, what probably only reads in a process or
    /// container that we started, what is declared to read behind a url.
    pub(super) fn allows(&self) -> Effect {
        match &self.server.target {
            Target::Container { container, .. } => match container.network.as_deref() {
                None | Some("none") => Effect::Destructive,
                Some(_) => Effect::Likely,
            },
            Target::Process(_) | Target::Builtin { .. } => Effect::Likely,
            Target::Url { .. } | Target::None => Effect::Read,
        }
    }

    /// What arguments can be made of: what the nearest settings say of tools, the fixture's first file, as the server sees
    /// it, and a listed resource.
    pub(super) fn sources(&self, context: &Context) -> Result<Sources, Refusal> {
        let fixture = self.fixture.as_deref();
        let file = fixture.and_then(|it| first_file(it.root()));
        Ok(Sources {
            file: file.map(|file| format!("{{{{fixture}}}}/{file}")),
            folder: fixture.map(|_| "{{fixture}}".to_owned()),
            resource: None,
            samples: samples(context)?,
        })
    }

    /// The server as a suite names it, a YAML flow mapping; `None` of a target, which the settings name. Values of options
    /// and variables whose names say that they are secret, and all headers, are taken from the environment;
    /// [`Self::needed`] names the variables.
    pub(super) fn yaml(&self) -> Option<String> {
        self.at.is_none().then(|| self.written().0)
    }

    /// Says how assertions are run that name no server, which are those of a target.
    pub(super) fn tell_target(&self, context: &Context) {
        if self.at.is_some() {
            let target = shell_words::quote(&self.text);
            context.say(&format!(
                "no server is named: run it with `--target {target}`, and with `mcp-assert.yaml` in the suite's folder\n"
            ));
        }
    }

    /// The variables that [`Self::yaml`] reads.
    pub(super) fn needed(&self) -> Vec<String> {
        self.written().1
    }

    fn written(&self) -> (String, Vec<String>) {
        written::server(&self.text, self.image(), &self.args.how.headers)
    }

    /// The image of its container, as it was typed.
    pub(super) fn image(&self) -> Option<&str> {
        self.args.docker.as_deref()
    }

    /// Starts the server and lists what it offers. It is ended again if the settings' arguments for a tool cannot be used.
    pub(super) async fn begun(
        &self,
        asked: &Asked<'_>,
        sources: &Sources,
        context: &Context,
    ) -> Result<(Open, Offer), Refusal> {
        let mut open = asked.open().await.map_err(|it| self.unanswered(it))?;
        let offer = open.offer().await;
        if let Err(refusal) = check_samples(sources, &offer, context) {
            Box::pin(open.end(asked.host)).await;
            return Err(refusal);
        }
        Ok((open, offer))
    }

    /// Starts the server, lets `question` talk to it, and ends all that was started.
    pub(super) fn ask<T>(
        &self,
        context: &Context,
        question: impl AsyncFnOnce(&mut Open) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        self.with_servers(context, async |asked| {
            let mut open = asked.open().await.map_err(|it| self.unanswered(it))?;
            let answered = question(&mut open).await;
            Box::pin(open.end(asked.host)).await;
            answered
        })
    }

    /// Lets `work` start as many servers as it wants, which it ends itself, and ends all that was started beside.
    pub(super) fn with_servers<T>(
        &self,
        context: &Context,
        work: impl AsyncFnOnce(&Asked<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        context.interrupts.listen();
        let runtime =
            runtime::of_this_thread().map_err(|error| Refusal::could_not_run(error.to_string()))?;
        let answered = unless_panicked((&runtime, context), async {
            host::sweep::before_run().await;
            let answered = self.worked(context, work).await;
            let end = if context.interrupts.came() {
                RunEnd::Interrupted
            } else {
                RunEnd::Completed
            };
            running::leave_nothing(context, end).await;
            answered
        });
        runtime.shutdown_timeout(LAST_WORK);
        if context.interrupts.came() {
            return Err(Refusal::new(ExitCode::Interrupted, "interrupted"));
        }
        answered
    }

    async fn worked<T>(
        &self,
        context: &Context,
        work: impl AsyncFnOnce(&Asked<'_>) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        let (containers, image) = self.made(context).await?;
        let host = Host {
            environment: Arc::clone(&context.environment),
            fixture: self.fixture.clone(),
            containers,
            interrupt: context.interrupts.token(),
            http: HashMap::new().into(),
        };
        let asked = Asked {
            target: &self.server.target,
            declares: self.declares,
            revision: self.revision,
            host: &host,
            effects: &self.effects,
            image,
            timeout: self.args.how.timeout,
        };
        work(&asked).await
    }

    /// The image that the container is made of, and the engine that makes it.
    async fn made(
        &self,
        context: &Context,
    ) -> Result<(Option<Arc<Containers>>, Option<Arc<ReadyImage>>), Refusal> {
        let Target::Container { container, .. } = &self.server.target else {
            return Ok((None, None));
        };
        let mut typed = RunArgs::default();
        typed
            .place
            .docker_host
            .clone_from(&self.args.how.docker_host);
        let name = RunName::new(&context.environment);
        let containers = engine::containers(&typed, context, name).await?;
        context.interrupts.hold(&containers);
        let Some(source) = container.source() else {
            return Err(Refusal::invalid("no image is given"));
        };
        let interrupt = context.interrupts.token();
        let image = containers.image((&source, None), &|_| {}, &interrupt).await;
        let image =
            image.map_err(|failure| self.unanswered(failure.disruption(Phase::Place).into()))?;
        Ok((Some(containers), Some(image)))
    }

    /// Why there is no answer, with the end of the server's stderr.
    pub(super) fn unanswered(&self, why: Unanswered) -> Refusal {
        let Unanswered { disruption, stderr } = why;
        let shown = |text: &str| clean(&self.secrets.mask(text));
        let refusal = Refusal::could_not_run(shown(&disruption.message));
        let help = disruption.help.iter().map(|it| shown(it));
        let refusal = help.fold(refusal, Refusal::with_help);
        let said = stderr.text();
        let said = said.trim_end();
        if said.is_empty() {
            return refusal;
        }
        let mut places = said.char_indices().rev();
        let from = places.nth(MOST_STDERR).map_or(0, |(at, _)| at);
        refusal.with_help(format!("the server's stderr:\n{}", shown(&said[from..])))
    }
}

/// The only one of the targets that are meant.
fn only(mut targets: Vec<NamedTarget>) -> Result<NamedTarget, Refusal> {
    let names: Vec<String> = targets.iter().map(|it| it.name.clone()).collect();
    let last = targets.pop().filter(|_| targets.is_empty());
    last.ok_or_else(|| {
        Refusal::invalid("the settings have several targets")
            .with_help(format!("name one with `--target`: {}", names.join(", ")))
    })
}

/// The server that the command line names, as it was typed and as it is reached, without the headers. An image alone starts
/// its own command.
fn named(args: &ServerArgs) -> Result<Option<(String, Arc<Server>)>, Refusal> {
    let image = args.docker.as_deref().map(ImageBase::from_text);
    let Some(text) = args.typed() else {
        let target = image.map(|image| Target::Container {
            container: Box::new(Container {
                image: Some(image),
                ..Container::default()
            }),
            program: Program::Launched(Launch::default()),
            served: None,
        });
        return Ok(target.map(|target| (String::new(), Arc::new(Server { target }))));
    };
    let places = Places {
        isolation: Isolation::AsWritten,
        image,
        ..Places::default()
    };
    let typed = ServerOverride::from_text(&text).map_err(|error| usage(&error))?;
    let server = plan::typed_server(&typed, &places).map_err(|error| usage(&error))?;
    Ok(Some((text, server)))
}

fn revision(typed: &[String]) -> Result<RevisionWanted, Refusal> {
    match running::protocol(typed)? {
        Wanted::Revision(revision) => Ok(revision),
        Wanted::Repeated(_) => Err(Refusal::invalid("`--protocol` takes one revision here")),
    }
}

/// The server with these headers on every request.
fn with_headers(server: Arc<Server>, headers: &[String]) -> Result<Arc<Server>, Refusal> {
    if headers.is_empty() {
        return Ok(server);
    }
    let mut server = Server::clone(&server);
    let Target::Url { endpoint, .. } = &mut server.target else {
        return Err(Refusal::invalid("`--header` is for servers behind a url"));
    };
    for header in headers {
        let (name, value) = header.split_once(':').unwrap_or_default();
        if !web::is_header_name(name.trim()) {
            let message = "invalid `--header`: expected `Name: value`";
            return Err(Refusal::invalid(message));
        }
        // Nothing is replaced in the value: the shell has done that.
        let parts = vec![EnvPart::Text(Template::new(value.trim()))];
        let header = (name.trim().to_owned(), EnvValue { parts });
        endpoint.headers.push(header);
    }
    Ok(Arc::new(server))
}
