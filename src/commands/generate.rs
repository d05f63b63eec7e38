//! `mcp-assert generate` and `mcp-assert init`: a suite from what a server offers.

use std::{
    fs,
    io::{self, Write},
    path::{Component, Path, PathBuf},
};

use serde_json::Value;

use super::{
    Context,
    asking::{self, Typed, complete, offer},
    audit::allowed,
    running::Refusal,
};
use crate::{
    cli::generate::{GenerateArgs, InitArgs},
    inspect::{
        audit::Audit,
        catalog::Offer,
        effect::{Effect, Effects, effect, reason},
        parameters::text,
        probe::Class,
        sample::{Sample, Sources, Which, sample_of},
        server::Declares,
        stub::{self, Here, Stub, Wanted},
    },
};
use mcp::observation::{Observation, catalog::Listing};
use text::{environment::Environment, exit::ExitCode};

/// Seconds that each assertion of a new suite has at least: a server that an installer brings starts slowly.
const LEAST_TIMEOUT: u64 = 30;

/// The names of a settings file.
const SETTINGS: [&str; 2] = ["mcp-assert.yaml", "mcp-assert.yml"];

/// Writes a suite: settings, assertions, and a workflow where it is wanted.
pub(super) fn init(args: &InitArgs, context: &Context) -> Result<ExitCode, Refusal> {
    match (args.server.typed(), &args.server.target) {
        (_, Some(_)) => Err(
            Refusal::invalid("`init` writes settings of its own").with_help(
                "`generate --output DIR --target NAME` adds assertions to a suite that is there",
            ),
        ),
        (Some(_), None) => begun(args, context),
        (None, None) => begun_without_server(&args.folder, context),
    }
}

/// Writes an assertion for each tool.
pub(super) fn generate(args: &GenerateArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let mut suite = Suite::new(&args.output, &context.environment);
    suite.overwrite = args.overwrite;
    if args.include_writes {
        suite.most = Effect::Destructive;
    }
    let is_named = SETTINGS.iter().any(|name| args.output.join(name).exists());
    if args.from.catalog.is_some() {
        let offer = offer(&args.from, context)?;
        let sources = Sources {
            samples: asking::samples(context)?,
            ..Sources::default()
        };
        asking::check_samples(&sources, &offer, context)?;
        let called = untouched(&offer, &sources, &Effects::default());
        suite.write_all(&offer, &called)?;
        return Ok(suite.told(context));
    }
    let mut typed = Typed::read(&args.from.server, context)?;
    typed.declares = Declares::Nothing;
    let probes = args.probe.then_some(args.allow);
    let allow = probes.map(|allow| allowed(allow, false).unwrap_or_else(|| typed.allows()));
    let (offer, called) = asked(&typed, allow, context)?;
    suite.server = typed.yaml().filter(|_| !is_named);
    suite.write_all(&offer, &called)?;
    tell_needed(&typed, context);
    Ok(suite.told(context))
}

fn begun(args: &InitArgs, context: &Context) -> Result<ExitCode, Refusal> {
    for name in SETTINGS {
        let settings = args.folder.join(name);
        if settings.exists() {
            return Err(exists(&settings)
                .with_help("`generate --output DIR` adds assertions to a suite that is there"));
        }
    }
    let mut typed = Typed::read(&args.server, context)?;
    typed.declares = Declares::Nothing;
    let (offer, called) = asked(&typed, Some(Effect::Read), context)?;
    let mut suite = Suite::new(&args.folder, &context.environment);
    suite.most = Effect::Read;
    let fixture = args.server.how.fixture.as_deref();
    let fixture = fixture.map(|fixture| {
        let path = from_folder(&args.folder, fixture).display().to_string();
        format!("fixture: {}\n", Value::from(path))
    });
    let settings = format!(
        "# The defaults of all assertions in this folder.\n{}defaults:\n  server: {}\n  timeout: {}s\n",
        fixture.unwrap_or_default(),
        typed.yaml().unwrap_or_default(),
        args.server.how.timeout.as_secs().max(LEAST_TIMEOUT)
    );
    suite.write(SETTINGS[0], &settings)?;
    suite.write_all(&offer, &called)?;
    if args.ci {
        write_workflow(&args.folder, &typed, context)?;
    }
    tell_needed(&typed, context);
    let code = suite.told(context);
    say_run(&[&args.folder.display().to_string()], context);
    Ok(code)
}

/// Says how the suite is run.
fn say_run(words: &[&str], context: &Context) {
    let command = shell_words::join([&["mcp-assert", "run"], words].concat());
    context.say(&format!("try it: {command}\n"));
}

/// A path as files in a folder write it: relative, so that a commit of both holds elsewhere too. What shares nothing with
/// the folder stays absolute.
fn from_folder(folder: &Path, path: &Path) -> PathBuf {
    let whole = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    let (Ok(folder), Ok(path)) = (whole(folder), whole(path)) else {
        return path.to_owned();
    };
    let pairs = folder.components().zip(path.components());
    let shared = pairs.take_while(|(one, other)| one == other).count();
    if shared < 2 {
        return path;
    }
    let up = folder
        .components()
        .skip(shared)
        .map(|_| Component::ParentDir);
    up.chain(path.components().skip(shared)).collect()
}

/// The two files that the Go tool starts with.
fn begun_without_server(folder: &Path, context: &Context) -> Result<ExitCode, Refusal> {
    let path = folder.join("read_file.yaml");
    if path.exists() {
        return Err(exists(&path));
    }
    let mut suite = Suite::new(folder, &context.environment);
    suite.write("read_file.yaml", EXAMPLE)?;
    suite.write("fixtures/hello.txt", "Hello, world!\n")?;
    let code = suite.told(context);
    let fixtures = folder.join("fixtures").display().to_string();
    let folder = folder.display().to_string();
    say_run(&[&folder, "--fixture", &fixtures], context);
    Ok(code)
}

/// The assertion to start from: the keys that the Go tool's has.
const EXAMPLE: &str = r#"# An assertion: a tool of a server is called, and its answer compared with what is expected.
name: my_tool returns expected output
server:
  command: npx
  args: ["-y", "@modelcontextprotocol/server-filesystem", "{{fixture}}"]
assert:
  tool: read_file
  args:
    path: "{{fixture}}/hello.txt"
  expect:
    not_error: true
    not_empty: true
    contains: ["Hello, world!"]
timeout: 15s
"#;

/// A tool, and what came of calling it.
struct Called {
    name: String,
    has_output_schema: bool,
    sample: Sample,
    effect: Effect,
    /// Why it is not called for its effect.
    reason: String,
    seen: Option<Observation>,
    again: Option<Observation>,
}

/// The tools of an offer, none of them called.
fn untouched(offer: &Offer, sources: &Sources, told: &Effects) -> Vec<Called> {
    let tools = offer.entries(Listing::Tools).iter();
    let called = tools.map(|tool| Called {
        name: text(tool, "name").unwrap_or_default(),
        has_output_schema: tool.get("outputSchema").is_some(),
        sample: sample_of(tool, Which::Required, sources),
        effect: effect(tool, told),
        reason: reason(tool, told),
        seen: None,
        again: None,
    });
    called.collect()
}

/// What the server offers, and what its tools answer twice, as far as they may be called: `None` calls none.
fn asked(
    typed: &Typed,
    allow: Option<Effect>,
    context: &Context,
) -> Result<(Offer, Vec<Called>), Refusal> {
    let mut sources = typed.sources(context)?;
    typed.with_servers(context, async |asked| {
        let (mut open, offer) = typed.begun(asked, &sources, context).await?;
        let resources = offer.names(Listing::Resources);
        sources.resource = resources.first().map(|uri| (*uri).to_owned());
        let mut called = untouched(&offer, &sources, &typed.effects);
        for one in &mut called {
            if allow.is_none_or(|allow| one.effect > allow) || one.sample.refused.is_some() {
                continue;
            }
            one.seen = Some(open.call(&one.name, one.sample.arguments.clone()).await);
            if !open.is_usable() {
                Box::pin(open.end(asked.host)).await;
                open = asked.open().await.map_err(|it| typed.unanswered(it))?;
            }
        }
        Box::pin(open.end(asked.host)).await;
        // What an answer has in common with one of a fresh server does not hang on the calls before it.
        for one in called.iter_mut().filter(|one| one.seen.is_some()) {
            let mut fresh = asked.open().await.map_err(|it| typed.unanswered(it))?;
            one.again = Some(fresh.call(&one.name, one.sample.arguments.clone()).await);
            Box::pin(fresh.end(asked.host)).await;
        }
        complete(&offer)?;
        Ok((offer, called))
    })
}

/// Why the assertion of a tool is skipped, if it is.
fn skipped(called: &Called, most: Effect) -> Option<String> {
    if let Some(seen) = &called.seen {
        let answers = |seen: &Observation| seen.answer.is_some();
        let both = answers(seen) && called.again.as_ref().is_some_and(answers);
        return (!both).then(|| "it did not answer when it was called".to_owned());
    }
    if let Some(why) = &called.sample.refused {
        let message = "replace the arguments; its own schema refuses these";
        return Some(format!("{message}: {why}"));
    }
    if called.effect > most {
        return Some(called.reason.clone());
    }
    let is_open = called.sample.arguments.to_string().contains("TODO");
    is_open.then(|| "replace TODO in the arguments".to_owned())
}

/// Writes an assertion for each tool that was probed: one that crashed gets one that stays red until it is mended.
pub(super) fn write_audited(
    folder: &Path,
    audit: &Audit,
    typed: &Typed,
    context: &Context,
) -> Result<(), Refusal> {
    let mut suite = Suite::new(folder, &context.environment);
    suite.server = typed.yaml();
    suite.taken.clear();
    for row in &audit.tools {
        let tool = audit.offer.catalog.tool(&row.name);
        let class = row.seen.class;
        suite.add(&Stub {
            tool: &row.name,
            arguments: &row.arguments,
            has_output_schema: tool.is_some_and(|tool| tool.get("outputSchema").is_some()),
            wanted: if class == Class::ToolError {
                Wanted::ToolError
            } else if class == Class::Rejected {
                Wanted::ProtocolError(row.seen.rpc_code)
            } else {
                Wanted::Result
            },
            twice: None,
            skip: (class == Class::Skipped).then_some(&row.seen.detail),
        })?;
    }
    tell_needed(typed, context);
    suite.told(context);
    Ok(())
}

/// Writes a workflow at the root of the repository, or here.
fn write_workflow(folder: &Path, typed: &Typed, context: &Context) -> Result<(), Refusal> {
    let here = &context.environment.directory;
    let repositories = here.ancestors().filter(|it| it.join(".git").exists());
    let root = repositories.last().unwrap_or(here);
    let suite = here.join(folder);
    let suite = suite.strip_prefix(root).unwrap_or(folder);
    let needed = typed.needed().into_iter();
    let lines = needed.map(|name| format!("          {name}: ${{{{ secrets.{name} }}}}\n"));
    let env: String = lines.collect();
    let place = match typed.image() {
        Some(_) => "",
        None => " --isolation process",
    };
    let (suite, install) = (Value::from(suite.display().to_string()), install(root));
    let text = format!(
        "{WORKFLOW}{install}      - uses: mcp-assert/action/setup@v1
      - run: mcp-assert ci --suite {suite}{place}
        env:
          GITHUB_TOKEN: ${{{{ github.token }}}}
{env}"
    );
    let mut files = Suite::new(&root.join(".github/workflows"), &context.environment);
    files.write("mcp-assert.yml", &text)?;
    files.told(context);
    Ok(())
}

/// The steps that install what a server of this repository needs, by the files at its root.
fn install(root: &Path) -> &'static str {
    let steps = [
        ("package-lock.json", "      - run: npm ci\n"),
        ("pyproject.toml", "      - run: pip install .\n"),
        (
            "requirements.txt",
            "      - run: pip install -r requirements.txt\n",
        ),
    ];
    let found = steps.into_iter().find(|(file, _)| root.join(file).exists());
    found.map_or("", |(_, step)| step)
}

/// A workflow up to the steps that install something. Its runner has Node.js and Python.
const WORKFLOW: &str = r"name: mcp-assert
on:
  push:
    branches: [main]
  pull_request:
  merge_group:

permissions: {}

jobs:
  mcp-assert:
    runs-on: ubuntu-24.04
    timeout-minutes: 20
    permissions:
      contents: read
      pull-requests: write # for the comment
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
";

/// Files of one folder, written and counted.
struct Suite {
    folder: PathBuf,
    overwrite: bool,
    /// The server as a suite names it; `None`: the settings name it.
    server: Option<String>,
    /// The most that a tool which was not called may do without its assertion being skipped.
    most: Effect,
    here: Here,
    /// Names of files that were given away.
    taken: Vec<String>,
    written: usize,
    kept: Vec<String>,
}

impl Suite {
    fn new(folder: &Path, environment: &Environment) -> Self {
        Self {
            folder: folder.to_owned(),
            overwrite: false,
            server: None,
            most: Effect::Likely,
            here: Here::of(environment),
            taken: vec!["tools".to_owned(), "mcp-assert".to_owned()],
            written: 0,
            kept: Vec::new(),
        }
    }

    /// Writes the assertion about the list, and one for each tool.
    fn write_all(&mut self, offer: &Offer, called: &[Called]) -> Result<(), Refusal> {
        if let Some(text) = stub::listed(offer, self.server.as_deref()) {
            self.write("tools.yaml", &text)?;
        }
        for one in called {
            self.add(&Stub {
                tool: &one.name,
                arguments: &one.sample.arguments,
                has_output_schema: one.has_output_schema,
                wanted: Wanted::of(one.seen.as_ref()),
                twice: one.seen.as_ref().zip(one.again.as_ref()),
                skip: skipped(one, self.most).as_deref(),
            })?;
        }
        Ok(())
    }

    /// Writes an assertion.
    fn add(&mut self, stub: &Stub<'_>) -> Result<(), Refusal> {
        let name = stub::file_name(stub.tool, &mut self.taken);
        let text = stub.yaml(self.server.as_deref(), &self.here);
        self.write(&format!("{name}.yaml"), &text)
    }

    /// Writes a file; one that is there stays unless it may be replaced.
    fn write(&mut self, name: &str, text: &str) -> Result<(), Refusal> {
        let path = self.folder.join(name);
        if self.overwrite && path.exists() {
            fs::write(&path, text).map_err(|error| unwritable(&path, &error))?;
        } else if !write_new(&path, text)? {
            self.kept.push(name.to_owned());
            return Ok(());
        }
        self.written += 1;
        Ok(())
    }

    /// Says what was written.
    fn told(&self, context: &Context) -> ExitCode {
        let folder = self.folder.display();
        context.say(&format!(
            "wrote {} to {folder}\n",
            text::count(self.written, "file")
        ));
        if !self.kept.is_empty() {
            let kept = super::running::enumerated(&self.kept);
            context.say(&format!("kept what was there: {kept}\n"));
        }
        ExitCode::Passed
    }
}

/// Refuses to write a file that is there.
pub(super) fn exists(path: &Path) -> Refusal {
    Refusal::invalid(format!("`{}` exists already", path.display()))
}

/// Writes a file, unless it is there already.
pub(super) fn write_new(path: &Path, text: &str) -> Result<bool, Refusal> {
    let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
    let file = folder.and_then(|()| fs::File::create_new(path));
    match file.and_then(|mut file| file.write_all(text.as_bytes())) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_file() => Ok(false),
        Err(error) => Err(unwritable(path, &error)),
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Refusal {
    Refusal::could_not_run(format!("cannot write `{}`: {error}", path.display()))
}

/// Says which variables the suite reads in place of secrets.
fn tell_needed(typed: &Typed, context: &Context) {
    typed.tell_target(context);
    let needed = typed.needed();
    if !needed.is_empty() {
        let needed = needed.join(", ");
        context.say(&format!("set these variables before a run: {needed}\n"));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::from_folder;

    #[test]
    fn a_fixture_is_named_from_the_folder_of_the_suite() {
        for (folder, path, wanted) in [
            ("evals", "evals/fixtures", "fixtures"),
            ("evals", "files", "../files"),
            ("evals/deep", "files", "../../files"),
            ("evals", "/no-such/files", "/no-such/files"),
        ] {
            let made = from_folder(Path::new(folder), Path::new(path));
            assert_eq!(made, Path::new(wanted), "{folder} {path}");
        }
    }
}
