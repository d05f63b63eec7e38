//! `mcp-assert.yaml` at a suite's root: defaults for its assertions, named targets, and what the command line
//! leaves open.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use globset::{Glob, GlobBuilder, GlobMatcher};
use serde_json::{Number, Value};

use crate::{
    Dialect,
    lower::{Compiled, Lowering, Surroundings},
    model::{container::Container, revisions::Revisions, server::Server},
    problems::{self, Problems},
    raw::{
        Field, Readable, Reading,
        assertion::{RawAssertion, SUBJECTS},
        docker::RawDocker,
        read::value,
        server::RawServer,
        settings::{RawLint, RawSettings},
        union::Shorthand,
        value::{Members, Table, Text, Texts},
    },
    yaml::{self, At, Key, Kind, Node, Source},
};
use mcp::script::client::ClientBehaviour;
use text::{
    diagnostic::Diagnostic,
    source::{Origin, SourceFile},
};

/// The settings file. A missing key is left to the command line and its defaults.
#[derive(Debug, Default)]
pub struct Settings {
    /// Servers by name, in the order of the file.
    pub targets: Vec<NamedTarget>,
    /// The defaults of containers.
    pub docker: Option<Container>,
    /// The folder copied fresh for every assertion.
    pub fixture: Option<PathBuf>,
    /// Where the file names it.
    pub fixture_at: Option<Origin>,
    /// How many assertions run at once.
    pub jobs: Option<u64>,
    /// Reports to write, `FORMAT=PATH`; invalid ones are left out.
    pub report: Vec<String>,
    /// The baseline to compare with.
    pub baseline: Option<PathBuf>,
    /// The percentage that must pass.
    pub threshold: Option<Number>,
    /// Whether the Go tool's verdicts are wanted.
    pub compat: bool,
    /// Arguments for tools.
    pub samples: Vec<ToolSample>,
    /// The files that tools are written in.
    pub sources: Vec<SourceFiles>,
    /// What `lint` takes.
    pub lint: LintSettings,
    /// The keys about the whole run, each with its entry in the file.
    pub(super) of_run: Vec<(&'static str, Origin)>,
    /// The defaults of assertions.
    pub(super) defaults: Option<Node>,
    /// The file.
    pub(super) file: Option<Arc<SourceFile>>,
    /// Whether there is a file that cannot be read.
    pub(super) is_unread: bool,
}

/// Arguments with which a tool is called where nobody chooses others.
#[derive(Debug, Clone)]
pub struct ToolSample {
    /// The name of the tool, not looked up.
    pub tool: String,
    /// The arguments, not compared with the tool's schema.
    pub arguments: Value,
    /// The place of the name in the file.
    pub at: Origin,
}

/// Files that a pattern matches.
#[derive(Debug)]
pub struct SourceFiles {
    /// The folder below which they lie.
    pub folder: PathBuf,
    /// The pattern of their paths from there.
    pub glob: GlobMatcher,
    /// The pattern as it was written.
    pub written: String,
}

/// What the settings say of `lint`.
#[derive(Debug, Default)]
pub struct LintSettings {
    /// Severities by code, in the order of the file, each with its place. Codes are not looked up.
    pub rules: Vec<(String, RuleLevel, Origin)>,
    /// Findings that are as they should be.
    pub allow: Vec<Allowed>,
}

/// How bad the findings of a rule are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleLevel {
    /// The rule does not run.
    Off,
    /// Worth knowing.
    Info,
    /// Worth mending.
    Warning,
    /// An error.
    Error,
}

/// Findings that are as they should be.
#[derive(Debug)]
pub struct Allowed {
    /// The code of the rule, not looked up.
    pub code: String,
    /// The names that they are about; all without one.
    pub name: Option<GlobMatcher>,
    /// The place that they are about; all without one.
    pub pointer: Option<String>,
    /// Why.
    pub reason: String,
    /// The place in the file.
    pub at: Origin,
}

/// A server that `--target` selects by its name.
#[derive(Debug, Clone)]
pub struct NamedTarget {
    /// The name.
    pub name: String,
    /// The server, instead of the one an assertion names.
    pub server: Server,
    /// What its block says about the client.
    pub client: ClientBehaviour,
    /// The revisions that assertions on it are repeated on, where it names several.
    pub revisions: Option<Revisions>,
    /// What calls of its tools may do.
    pub effects: Effects,
    /// The place of the name in the file.
    pub at: Origin,
}

/// What a call of a tool may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// It only reads.
    Read,
    /// It probably only reads.
    Likely,
    /// It changes something, and destroys nothing.
    Write,
    /// Anything else.
    Destructive,
}

impl Effect {
    /// All of them, the mildest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Likely, Self::Write, Self::Destructive];

    /// The word for `--allow` and in the settings.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Likely => "likely",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}

/// What the user says of tools, by patterns of their names.
#[derive(Debug, Clone, Default)]
pub struct Effects(Vec<(GlobMatcher, Effect)>);

impl FromIterator<(GlobMatcher, Effect)> for Effects {
    fn from_iter<I: IntoIterator<Item = (GlobMatcher, Effect)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl Effects {
    /// What is said of a tool: under its name, else under the pattern that fits it with the most characters besides `*`
    /// and `?`. Of patterns that fit equally well the greater effect holds.
    pub fn of(&self, tool: &str) -> Option<Effect> {
        let ranked = self.0.iter().filter_map(|(glob, effect)| {
            let pattern = glob.glob().glob();
            let is_name = pattern == tool;
            let characters = pattern.chars().filter(|it| !"*?".contains(*it)).count();
            (is_name || glob.is_match(tool)).then_some((is_name, characters, *effect))
        });
        ranked.max().map(|(_, _, effect)| effect)
    }
}

/// Keys of an assertion that cannot have a default.
const NO_DEFAULT: [&str; 5] = ["name", "description", "trace", "audit_log", "parallel"];

/// The formats of `report`, as `--report` takes them.
pub const REPORTS: [&str; 6] = ["results", "json", "junit", "markdown", "badge", "sarif"];

/// Keys of `server` that say what is started or reached. A server with one of its own takes none of the defaults.
const MEANS: [&str; 4] = ["command", "builtin", "url", "launch"];

/// Keys of `server` that only have a meaning beside one of [`MEANS`].
const OF_MEANS: [&str; 2] = ["args", "transport"];

/// Reads the settings; `around.directory` is the folder of the file.
pub(super) fn read(
    file: &Arc<SourceFile>,
    around: &Surroundings<'_>,
    compiled: &Compiled,
) -> (Settings, Vec<Diagnostic>) {
    let mut problems = Problems::new(Arc::clone(file), Some(Arc::clone(file)));
    let (root, is_unread) = root_of(file, &mut problems);
    let mut reading = Reading::new(problems, Dialect::Native);
    let root = root.filter(|root| !root.is_null());
    let raw = root.and_then(|root| RawSettings::read(root, &mut reading));
    let mut raw = raw.unwrap_or_default();
    let mut lowering = Lowering::new(reading, around, compiled);
    let docker = value(raw.docker.take()).map(|docker| lowering.docker(docker.0));
    // The servers of `targets` are merged over it.
    let around = Surroundings {
        docker: docker.as_ref(),
        ..*around
    };
    let mut lowering = Lowering::new(lowering.reading, &around, compiled);
    let settings = lower(raw, &mut lowering, around.directory);
    let problems = lowering.reading.problems.take();
    let settings = Settings {
        docker,
        file: Some(Arc::clone(file)),
        is_unread,
        ..settings
    };
    (settings, problems)
}

/// The one document of the file, and whether its YAML is broken.
fn root_of(file: &Arc<SourceFile>, problems: &mut Problems) -> (Option<Node>, bool) {
    let mut root = None;
    let mut is_broken = false;
    let empty = problems.empty();
    for document in yaml::parse(&file.text, Source::Settings, empty, Dialect::Native) {
        is_broken |= document.root.is_none() && !document.problems.is_empty();
        problems.add_all(document.problems);
        if root.is_some() && document.root.as_ref().is_some_and(|it| !it.is_null()) {
            problems.add(document.at, problems::further_settings());
        }
        root = root.or(document.root);
    }
    (root, is_broken)
}

/// The settings of a raw file.
fn lower(raw: RawSettings, lowering: &mut Lowering<'_>, directory: &Path) -> Settings {
    let place = |field: Option<At>| Some(lowering.reading.problems.origin(field?));
    let fixture_at = place(raw.fixture.as_ref().map(|field| field.at));
    let keys = [
        ("targets", raw.targets.as_ref().map(Field::place)),
        ("fixture", raw.fixture.as_ref().map(Field::place)),
        ("jobs", raw.jobs.as_ref().map(Field::place)),
        ("report", raw.report.as_ref().map(Field::place)),
        ("baseline", raw.baseline.as_ref().map(Field::place)),
    ];
    let of_run = keys.into_iter();
    let of_run = of_run.filter_map(|(key, at)| Some((key, place(at)?)));
    let of_run = of_run.collect();
    if let Some(jobs) = raw.jobs.as_ref().filter(|jobs| jobs.value == 0) {
        lowering.problem(jobs.at, problems::bad_number("0", "at least one job"));
    }
    let is_percentage = |threshold: &Number| {
        let number = threshold.as_f64();
        number.is_some_and(|it| (0.0..=100.0).contains(&it))
    };
    if let Some(threshold) = raw
        .threshold
        .as_ref()
        .filter(|it| !is_percentage(&it.value))
    {
        let expected = "a percentage from 0 to 100";
        let problem = problems::bad_number(&threshold.value.to_string(), expected);
        lowering.problem(threshold.at, problem);
    }
    Settings {
        defaults: raw
            .defaults
            .and_then(|defaults| check_defaults(defaults.value.0, lowering)),
        targets: value(raw.targets)
            .map(|targets| named_targets(targets, lowering))
            .unwrap_or_default(),
        fixture_at,
        fixture: path("fixture", raw.fixture, lowering, directory),
        jobs: value(raw.jobs).filter(|jobs| *jobs > 0),
        report: value(raw.report)
            .map(|report| reports(report, lowering))
            .unwrap_or_default(),
        baseline: path("baseline", raw.baseline, lowering, directory),
        threshold: value(raw.threshold).filter(is_percentage),
        compat: value(raw.compat).unwrap_or_default(),
        samples: value(raw.samples)
            .map(|samples| tool_samples(samples, lowering))
            .unwrap_or_default(),
        sources: value(raw.sources)
            .map(|sources| source_files(sources, lowering, directory))
            .unwrap_or_default(),
        lint: value(raw.lint)
            .map(|lint| lint_settings(*lint, lowering))
            .unwrap_or_default(),
        of_run,
        ..Settings::default()
    }
}

/// Arguments for tools, in the order of the file.
fn tool_samples(table: Table<Members>, lowering: &Lowering<'_>) -> Vec<ToolSample> {
    let samples = table.0.into_iter().map(|(key, Members(node))| ToolSample {
        at: lowering.reading.problems.origin(key.at),
        tool: key.text,
        arguments: node.into_value(),
    });
    samples.collect()
}

/// The patterns of source files, each with the folder that is written before its first wildcard.
fn source_files(sources: Texts, lowering: &mut Lowering<'_>, directory: &Path) -> Vec<SourceFiles> {
    let sources = sources.0.into_iter().filter_map(|Text { text, at }| {
        let literal = text.find(['*', '?', '[', '{']).unwrap_or(text.len());
        let (folder, rest) = text.split_at(text[..literal].rfind('/').map_or(0, |it| it + 1));
        let mut glob = GlobBuilder::new(rest);
        let glob = glob.literal_separator(true).build();
        Some(SourceFiles {
            folder: directory.join(folder),
            glob: compiled_glob(glob, (&text, at), lowering)?,
            written: text,
        })
    });
    sources.collect()
}

/// What `lint` takes; entries that cannot be used are reported and left out.
fn lint_settings(raw: RawLint, lowering: &mut Lowering<'_>) -> LintSettings {
    let mut lint = LintSettings::default();
    for (key, Text { text, at }) in value(raw.rules).map_or_else(Vec::new, |it| it.0) {
        let level = match text.as_str() {
            "off" | "false" => RuleLevel::Off,
            "info" => RuleLevel::Info,
            "warning" => RuleLevel::Warning,
            "error" => RuleLevel::Error,
            _ => {
                let known = ["off", "info", "warning", "error"];
                lowering.problem(at, problems::unknown_word(&text, "severity", &known));
                continue;
            }
        };
        let place = lowering.reading.problems.origin(key.at);
        lint.rules.push((key.text, level, place));
    }
    for raw in value(raw.allow).map_or_else(Vec::new, |it| it.0) {
        let at = raw.at;
        let (code, reason) = (value(raw.code), value(raw.reason));
        for (key, is_there) in [("code", code.is_some()), ("reason", reason.is_some())] {
            if !is_there {
                lowering.problem(at, problems::missing_key(key, "an entry of `allow`"));
            }
        }
        let name = value(raw.name).and_then(|name| glob(&name.text, name.at, lowering));
        if let (Some(code), Some(reason)) = (code, reason) {
            lint.allow.push(Allowed {
                code: code.text,
                name,
                pointer: value(raw.pointer).map(|it| it.text),
                reason: reason.text,
                at: lowering.reading.problems.origin(at),
            });
        }
    }
    lint
}

/// A pattern of names. An invalid one is reported.
fn glob(text: &str, at: At, lowering: &mut Lowering<'_>) -> Option<GlobMatcher> {
    compiled_glob(Glob::new(text), (text, at), lowering)
}

/// A pattern as it was written at a place. An invalid one is reported.
fn compiled_glob(
    glob: Result<Glob, globset::Error>,
    (text, at): (&str, At),
    lowering: &mut Lowering<'_>,
) -> Option<GlobMatcher> {
    let glob = glob.map_err(|error| {
        let reason = error.kind().to_string();
        lowering.problem(at, problems::bad_glob(text, &reason));
    });
    glob.ok().map(|glob| glob.compile_matcher())
}

/// A path from the settings' folder. An empty one is reported.
fn path(
    key: &str,
    field: Option<Field<Text>>,
    lowering: &mut Lowering<'_>,
    directory: &Path,
) -> Option<PathBuf> {
    let field = field?;
    if field.value.text.is_empty() {
        lowering.problem(field.at, problems::nameless(key));
        return None;
    }
    Some(directory.join(field.value.text))
}

/// The reports that can be written.
fn reports(texts: Texts, lowering: &mut Lowering<'_>) -> Vec<String> {
    let mut stdout_is_taken = false;
    let reports = texts.0.into_iter().filter_map(|Text { text, at }| {
        let named = text.split_once('=').filter(|(_, path)| !path.is_empty());
        let (at, problem) = match named {
            None => (at, problems::no_report(&text)),
            Some((format, _)) if !REPORTS.contains(&format) => {
                let problem = problems::unknown_word(format, "report format", &REPORTS);
                (lowering.within(at, format), problem)
            }
            Some((_, "-")) if std::mem::replace(&mut stdout_is_taken, true) => {
                (at, problems::second_stdout())
            }
            Some(_) => return Some(text),
        };
        lowering.problem(at, problem);
        None
    });
    reports.collect()
}

/// The servers of `targets`.
fn named_targets(table: Table<Box<RawServer>>, lowering: &mut Lowering<'_>) -> Vec<NamedTarget> {
    let targets = table
        .0
        .into_iter()
        .map(|(Key { text: name, at }, mut value)| {
            let reason = match name.as_str() {
                "" => Some("it has no name"),
                "all" => Some("`--target all` means every target"),
                name if name.contains(',') => Some("a comma parts the names of `--target`"),
                _ => None,
            };
            if let Some(reason) = reason {
                lowering.problem(at, problems::no_target_name(&name, reason));
            }
            let effects = value.effects.take();
            let effects = effects.map(|it| effects_of(it.value, lowering));
            let field = Field { value, key: at, at };
            let (server, (client, revisions)) = lowering.named_server(field);
            NamedTarget {
                name,
                effects: effects.unwrap_or_default(),
                at: lowering.reading.problems.origin(at),
                server,
                client,
                revisions,
            }
        });
    targets.collect()
}

/// What a target says of its tools; entries that cannot be used are reported and left out.
pub(crate) fn effects_of(table: Table<Text>, lowering: &mut Lowering<'_>) -> Effects {
    let entries = table.0.into_iter().filter_map(|(key, word)| {
        let effect = Effect::ALL.into_iter().find(|it| it.word() == word.text);
        if effect.is_none() {
            let known = Effect::ALL.map(Effect::word);
            lowering.problem(
                word.at,
                problems::unknown_word(&word.text, "effect", &known),
            );
        }
        Some((glob(&key.text, key.at, lowering)?, effect?))
    });
    entries.collect()
}

/// The defaults with the keys that can have one.
fn check_defaults(node: Node, lowering: &mut Lowering<'_>) -> Option<Node> {
    if node.is_null() {
        return None;
    }
    let at = node.at;
    let keys = RawAssertion::KEYS.iter().copied();
    let known = keys.filter(|key| !SUBJECTS.contains(key) && !NO_DEFAULT.contains(key));
    let known: Vec<&str> = known.collect();
    let mut entries = lowering.reading.map(node, "a map")?;
    entries.retain(|entry| {
        let is_known = known.contains(&entry.key.text.as_str());
        if !is_known {
            let owner = "`defaults`";
            lowering.reading.unknown_key(&entry.key, owner, &known);
        }
        is_known
    });
    let kind = Kind::Map(entries);
    let node = Node { kind, at };
    RawAssertion::read(node.clone(), &mut lowering.reading)?;
    Some(node)
}

/// Adds the defaults to a document that does not have the keys itself; `server` is joined key by key.
pub(super) fn add_defaults(root: &mut Node, defaults: &Node) {
    let Kind::Map(own) = &mut root.kind else {
        return;
    };
    for default in defaults.entries() {
        let known = own.iter_mut().find(|it| it.key.text == default.key.text);
        match known {
            None => own.push(default.clone()),
            Some(known) if known.key.text == "server" => {
                join_server(&mut known.value, &default.value);
            }
            Some(_) => {}
        }
    }
}

/// Adds to a `server` the keys that only the default has.
fn join_server(own: &mut Node, default: &Node) {
    if own.is_null() {
        *own = default.clone();
        return;
    }
    let has_means = MEANS.iter().any(|key| own.get(key).is_some());
    // The same container can run another command, and is not for a server behind a url.
    let is_reached = own.get("url").is_some();
    let Kind::Map(own) = &mut own.kind else {
        return;
    };
    for entry in default.entries() {
        let key = entry.key.text.as_str();
        let is_means = MEANS.contains(&key) || OF_MEANS.contains(&key);
        match own.iter_mut().find(|known| known.key.text == key) {
            Some(known) if key == "docker" => join_docker(&mut known.value, &entry.value),
            Some(_) => {}
            None if has_means && is_means || is_reached && key == "docker" => {}
            None => own.push(entry.clone()),
        }
    }
}

/// Adds to a `docker` the keys that only the default has.
fn join_docker(own: &mut Node, default: &Node) {
    if matches!(own.kind, Kind::Null | Kind::List(_)) {
        return;
    }
    let is_blank = own.written().is_some_and(|image| image.trim().is_empty());
    let spelled = RawDocker::spelled_out(own.clone());
    let default = RawDocker::spelled_out(default.clone());
    let has_base = |node: &Node| node.get("image").is_some() || node.get("build").is_some();
    let (own_base, default_base) = (!is_blank && has_base(&spelled), has_base(&default));
    let mut entries = if is_blank {
        Vec::new()
    } else {
        spelled.entries().to_vec()
    };
    for entry in default.entries() {
        let key = entry.key.text.as_str();
        let of_other_image = match key {
            "image" | "build" => own_base,
            "prepare" => own_base && default_base,
            _ => false,
        };
        if !of_other_image && !entries.iter().any(|known| known.key.text == key) {
            entries.push(entry.clone());
        }
    }
    own.kind = Kind::Map(entries);
}
