//! `mcp-assert.yaml` at a suite's root: defaults for its assertions, named targets, and what the command line
//! leaves open.

use std::{path::PathBuf, sync::Arc};

use serde_json::Number;

use crate::{
    Dialect,
    lower::{Compiled, Lowering, Surroundings},
    model::{container::Container, revisions::Revisions, server::Server},
    problems::{self, Problems},
    raw::{
        Field, Readable, Reading,
        assertion::{RawAssertion, SUBJECTS},
        settings::RawSettings,
        value::{Anything, Table, Text, Texts},
    },
    yaml::{self, Entry, Key, Kind, Node, Source},
};
use mcp::script::client::ClientBehaviour;
use text::{
    diagnostic::Diagnostic,
    source::{Origin, SourceFile},
};

/// What the settings file says. What is absent is left to the command line and its defaults.
#[derive(Debug, Default)]
pub struct Settings {
    /// Servers by name, in the order of the file.
    pub targets: Vec<NamedTarget>,
    /// What holds for every container.
    pub docker: Option<Container>,
    /// The folder copied fresh for every assertion.
    pub fixture: Option<PathBuf>,
    /// Where the file names it.
    pub fixture_at: Option<Origin>,
    /// How many assertions run at once.
    pub jobs: Option<u64>,
    /// Reports to write, `FORMAT=PATH`; whatever cannot be written is left out.
    pub report: Vec<String>,
    /// The baseline to compare with.
    pub baseline: Option<PathBuf>,
    /// The percentage that must pass.
    pub threshold: Option<Number>,
    /// Whether the Go tool's verdicts are wanted.
    pub compat: bool,
    /// What it says of the whole run, and where.
    pub(super) of_run: Vec<(OfRun, Origin)>,
    /// Keys that hold for every assertion without them.
    pub(super) defaults: Option<Node>,
    /// The file.
    pub(super) file: Option<Arc<SourceFile>>,
    /// Whether there is one of which nothing can be read: nobody knows what it says.
    pub(super) is_unread: bool,
}

/// A key that holds for all suites of a run, so that only one file can say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OfRun {
    Targets,
    Jobs,
    Report,
    Baseline,
}

impl OfRun {
    /// The key, as it is written.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Targets => "targets",
            Self::Jobs => "jobs",
            Self::Report => "report",
            Self::Baseline => "baseline",
        }
    }

    /// Whether two files say the same. Servers of one name can differ in everything else.
    pub(super) fn is_same(self, one: &Settings, other: &Settings) -> bool {
        match self {
            Self::Targets => false,
            Self::Jobs => one.jobs == other.jobs,
            Self::Report => one.report == other.report,
            Self::Baseline => one.baseline == other.baseline,
        }
    }
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
}

/// Keys of an assertion that cannot have a default.
const NO_DEFAULT: [&str; 5] = ["name", "description", "trace", "audit_log", "parallel"];

/// The formats of `report`, as `--report` takes them.
pub const REPORTS: [&str; 6] = ["results", "json", "junit", "markdown", "badge", "sarif"];

/// Keys of `server` that say what is started or reached. An assertion with one of its own takes over none.
const MEANS: [&str; 6] = ["command", "args", "builtin", "url", "launch", "transport"];

/// Reads the settings; `around.directory` is the folder of the file.
pub(super) fn read(
    file: &Arc<SourceFile>,
    around: &Surroundings<'_>,
    compiled: &Compiled,
) -> (Settings, Vec<Diagnostic>) {
    let mut problems = Problems::new(Arc::clone(file), Some(Arc::clone(file)));
    let (root, is_broken) = root_of(file, &mut problems);
    let reading = Reading::new(problems, Dialect::Native);
    let mut lowering = Lowering::new(reading, around, compiled);
    let mut settings = Settings::default();
    let raw = root
        .filter(|root| !root.is_null())
        .and_then(|root| RawSettings::read(root, &mut lowering.reading));
    let mut reading = lowering.reading;
    if let Some(mut raw) = raw {
        let docker = raw.docker.take();
        let mut lowering = Lowering::new(reading, around, compiled);
        let docker = docker.map(|docker| lowering.docker(docker.value));
        // The servers of `targets` are merged over it.
        let around = Surroundings {
            docker: docker.as_ref(),
            ..*around
        };
        let mut lowering = Lowering::new(lowering.reading, &around, compiled);
        settings = lower(raw, &mut lowering, &around);
        reading = lowering.reading;
        settings.docker = docker;
    }
    settings.file = Some(Arc::clone(file));
    settings.is_unread = is_broken;
    (settings, reading.problems.take())
}

/// The one document of the file; none where its YAML is broken, and whether it is.
fn root_of(file: &Arc<SourceFile>, problems: &mut Problems) -> (Option<Node>, bool) {
    let mut root = None;
    let mut is_broken = false;
    for document in yaml::parse(
        &file.text,
        Source::Settings,
        problems.empty(),
        Dialect::Native,
    ) {
        is_broken |= document.root.is_none() && !document.problems.is_empty();
        problems.add_all(document.problems);
        let is_further = root.is_some() && document.root.as_ref().is_some_and(|it| !it.is_null());
        if is_further {
            let origin = problems.origin(document.at);
            problems.add(problems::further_settings(origin));
        }
        root = root.or(document.root);
    }
    (root, is_broken)
}

/// The settings of a raw file.
fn lower(raw: RawSettings, lowering: &mut Lowering<'_>, around: &Surroundings<'_>) -> Settings {
    let RawSettings {
        defaults,
        targets,
        docker: _,
        fixture,
        jobs,
        report,
        baseline,
        threshold,
        compat,
    } = raw;
    let keys = [
        (OfRun::Targets, targets.as_ref().map(|field| field.key)),
        (OfRun::Jobs, jobs.as_ref().map(|field| field.key)),
        (OfRun::Report, report.as_ref().map(|field| field.key)),
        (OfRun::Baseline, baseline.as_ref().map(|field| field.key)),
    ];
    let given = keys.into_iter().filter_map(|(key, at)| Some((key, at?)));
    let of_run = given.map(|(key, at)| (key, lowering.reading.problems.origin(at)));
    let of_run = of_run.collect();
    let jobs = jobs.and_then(|jobs| {
        let count = jobs.value.0;
        if count == 0 {
            let origin = lowering.reading.problems.origin(jobs.at);
            let problem = problems::bad_number(origin, "0", "at least one job");
            lowering.reading.problems.add(problem);
        }
        (count > 0).then_some(count)
    });
    Settings {
        defaults: defaults.and_then(|defaults| check_defaults(defaults, lowering)),
        targets: targets
            .map(|targets| named_targets(targets.value, lowering))
            .unwrap_or_default(),
        docker: None,
        fixture_at: fixture
            .as_ref()
            .map(|field| lowering.reading.problems.origin(field.at)),
        fixture: fixture.and_then(|field| path("fixture", field, lowering, around)),
        jobs,
        report: report
            .map(|report| reports(report.value, lowering))
            .unwrap_or_default(),
        baseline: baseline.and_then(|field| path("baseline", field, lowering, around)),
        threshold: threshold.and_then(|threshold| percentage(threshold, lowering)),
        compat: compat.is_some_and(|compat| compat.value),
        of_run,
        file: None,
        is_unread: false,
    }
}

/// A path from the settings' folder, which is not meant where nothing is written.
fn path(
    key: &str,
    field: Field<Text>,
    lowering: &mut Lowering<'_>,
    around: &Surroundings<'_>,
) -> Option<PathBuf> {
    if field.value.text.is_empty() {
        let origin = lowering.reading.problems.origin(field.at);
        lowering
            .reading
            .problems
            .add(problems::nameless(origin, key));
        return None;
    }
    Some(around.directory.join(field.value.text))
}

/// A percentage, which is one even where it is not applied.
fn percentage(field: Field<Number>, lowering: &mut Lowering<'_>) -> Option<Number> {
    let is_one = |it: f64| (0.0..=100.0).contains(&it);
    if field.value.as_f64().is_some_and(is_one) {
        return Some(field.value);
    }
    let origin = lowering.reading.problems.origin(field.at);
    let wanted = "a percentage from 0 to 100";
    let problem = problems::bad_number(origin, &field.value.to_string(), wanted);
    lowering.reading.problems.add(problem);
    None
}

/// The reports that can be written.
fn reports(texts: Texts, lowering: &mut Lowering<'_>) -> Vec<String> {
    let mut stdout_is_taken = false;
    texts
        .0
        .into_iter()
        .filter(|text| {
            let named = text
                .text
                .split_once('=')
                .filter(|(_, path)| !path.is_empty());
            let problem = match named {
                None => {
                    let origin = lowering.reading.problems.origin(text.at);
                    Some(problems::no_report(origin, &text.text))
                }
                Some((format, _)) if !REPORTS.contains(&format) => {
                    let place = lowering.within(text.at, format);
                    let origin = lowering.reading.problems.origin(place);
                    let what = "report format";
                    Some(problems::unknown_word(origin, format, what, &REPORTS))
                }
                Some((_, "-")) if std::mem::replace(&mut stdout_is_taken, true) => {
                    let origin = lowering.reading.problems.origin(text.at);
                    Some(problems::second_stdout(origin))
                }
                Some(_) => None,
            };
            let is_good = problem.is_none();
            if let Some(problem) = problem {
                lowering.reading.problems.add(problem);
            }
            is_good
        })
        .map(|text| text.text)
        .collect()
}

/// The servers of `targets`.
fn named_targets(
    table: Table<Box<crate::raw::server::RawServer>>,
    lowering: &mut Lowering<'_>,
) -> Vec<NamedTarget> {
    table
        .0
        .into_iter()
        .map(|(key, value)| {
            let why = match key.text.as_str() {
                "" => Some("it has no name"),
                "all" => Some("`--target all` means every target"),
                name if name.contains(',') => Some("a comma parts the names of `--target`"),
                _ => None,
            };
            if let Some(why) = why {
                let origin = lowering.reading.problems.origin(key.at);
                let problem = problems::no_target_name(origin, &key.text, why);
                lowering.reading.problems.add(problem);
            }
            let field = Field {
                value,
                key: key.at,
                at: key.at,
            };
            let (server, (client, revisions)) = lowering.named_server(field);
            NamedTarget {
                name: key.text,
                server,
                client,
                revisions,
            }
        })
        .collect()
}

/// The defaults, once their keys are checked.
fn check_defaults(field: Field<Anything>, lowering: &mut Lowering<'_>) -> Option<Node> {
    let node = field.value.0;
    if node.is_null() {
        return None;
    }
    let at = node.at;
    let known: Vec<&str> = RawAssertion::KEYS
        .iter()
        .filter(|key| !SUBJECTS.contains(key) && !NO_DEFAULT.contains(key))
        .copied()
        .collect();
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
    let (Kind::Map(own), Kind::Map(defaults)) = (&mut root.kind, &defaults.kind) else {
        return;
    };
    for default in defaults {
        match own
            .iter_mut()
            .find(|entry| entry.key.text == default.key.text)
        {
            None => own.push(default.clone()),
            Some(entry) if entry.key.text == "server" => {
                join_server(&mut entry.value, &default.value);
            }
            Some(_) => {}
        }
    }
}

/// Adds to a `server` what the default has beside it.
fn join_server(own: &mut Node, default: &Node) {
    if own.is_null() {
        *own = default.clone();
        return;
    }
    let (Kind::Map(own), Kind::Map(default)) = (&mut own.kind, &default.kind) else {
        return;
    };
    let is_means = |entry: &Entry| {
        entry.key.text != "args"
            && entry.key.text != "transport"
            && MEANS.contains(&entry.key.text.as_str())
    };
    let own_means = own.iter().any(is_means);
    // Where a server runs is no matter of how it is started: another command runs in the same container.
    let reached = own.iter().any(|entry| entry.key.text == "url");
    for entry in default {
        let key = entry.key.text.as_str();
        let known = own.iter_mut().find(|known| known.key.text == key);
        match known {
            Some(known) if key == "docker" => join_docker(&mut known.value, &entry.value),
            Some(_) => {}
            None if own_means && MEANS.contains(&key) || reached && key == "docker" => {}
            None => own.push(entry.clone()),
        }
    }
}

/// Adds to a `docker` what the default has beside it; a text is an image.
fn join_docker(own: &mut Node, default: &Node) {
    let (Some(mut entries), Some(defaults)) = (container(own), container(default)) else {
        return;
    };
    let base = |entries: &[Entry]| {
        let named = |entry: &Entry| matches!(entry.key.text.as_str(), "image" | "build");
        entries.iter().any(named)
    };
    let (own_base, default_base) = (base(&entries), base(&defaults));
    for entry in defaults {
        let key = entry.key.text.as_str();
        let of_other_image = match key {
            "image" | "build" => own_base,
            "prepare" => own_base && default_base,
            _ => false,
        };
        if !of_other_image && !entries.iter().any(|known| known.key.text == key) {
            entries.push(entry);
        }
    }
    own.kind = Kind::Map(entries);
}

/// The entries of a `docker`, written as a map or as the image alone; `None` for what is neither.
fn container(node: &Node) -> Option<Vec<Entry>> {
    match &node.kind {
        Kind::Map(entries) => Some(entries.clone()),
        Kind::Text(image, _) if image.trim().is_empty() => Some(Vec::new()),
        Kind::Text(..) | Kind::Flag(..) | Kind::Number(..) => Some(vec![Entry {
            key: Key {
                text: "image".to_owned(),
                at: node.at,
            },
            value: node.clone(),
        }]),
        Kind::Null | Kind::List(_) => None,
    }
}
