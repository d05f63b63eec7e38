//! One document: is it an assertion, and which one.

use std::sync::Arc;

use super::{
    Compiled, Fate, FixtureFrom, Lowering, ServerFrom, StartedIn, Surroundings, step::Part,
};
use crate::{
    Dialect,
    model::{
        Assertion, Body, Case, Control,
        expectation::{Family, Wanted},
        revisions::Revisions,
        runtime_rules::RuntimeRules,
        server::{Server, Target},
    },
    problems,
    raw::{
        Field, Readable, Reading,
        assertion::{RawAssertion, SUBJECTS},
        expect::RawRule,
        read::first_line,
        server::RawServer,
        subject::RawTool,
        union::FlagOr,
        value::{Deferred, Placed, Text},
    },
    settings::add_defaults,
    written::Places,
    yaml::{At, Entry, Kind, MERGE, Node},
};
use mcp::script::{
    client::ClientBehaviour,
    subject::{StepOrder, Subject, TraceSource},
};

/// What a document turned out to be.
pub enum Found {
    /// No assertion at all.
    Nothing,
    /// An assertion, all but its identity.
    Assertion(Box<Parts>),
    /// Something that was meant as an assertion and cannot be used; what is wrong was noted.
    Unusable,
}

/// An assertion without its identity, which depends on the documents before it.
pub struct Parts {
    server: Arc<Server>,
    client: Arc<ClientBehaviour>,
    revisions: Option<Revisions>,
    control: Control,
    uses_fixture: bool,
    rules: RuntimeRules,
    body: Body,
}

impl Parts {
    /// The assertion of that identity.
    pub fn of(self, case: Arc<Case>) -> Assertion {
        Assertion {
            case,
            server: self.server,
            client: self.client,
            revisions: self.revisions,
            control: self.control.kept(),
            uses_fixture: self.uses_fixture,
            needs: self.body.needs(),
            rules: self.rules,
            body: Arc::new(self.body),
        }
    }
}

/// The subjects that a document has, in the Go tool's order of precedence, with the place of the key.
pub fn subjects_of(root: &Node) -> Vec<(&'static str, At)> {
    let Kind::Map(entries) = &root.kind else {
        return Vec::new();
    };
    let order = [
        "trajectory",
        "assert_resources",
        "assert_prompts",
        "assert_completion",
        "assert_sampling",
        "assert_logging",
        "assert_notifications",
        "assert",
    ];
    let rest = SUBJECTS.iter().filter(|key| !order.contains(key)).copied();
    let mut found: Vec<(&'static str, At)> = order
        .into_iter()
        .chain(rest)
        .filter_map(|subject| {
            let entry = entries.iter().find(|entry| entry.key.text == subject)?;
            (!entry.value.is_null()).then_some((subject, entry.key.at))
        })
        .collect();
    // The Go tool passes over a trajectory without rules.
    let without_rules = |subject: &str| {
        let rules = root.get("trajectory").map(|rules| &rules.kind);
        subject == "trajectory" && rules == Some(&Kind::List(Vec::new()))
    };
    if found.len() > 1 {
        found.retain(|(subject, _)| !without_rules(subject));
    }
    found
}

/// What a document without a subject was meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meant {
    /// Something else.
    Nothing,
    /// An assertion.
    Assertion,
    /// An assertion, and the subject is misspelt, which is told as an unknown key.
    Misspelt,
}

/// What a document without a subject was meant to be, by its keys. Other tools have YAML files beside suites, which
/// is why `name`, `tags` or `timeout` among foreign keys say nothing.
fn meant(root: &Node) -> Meant {
    let Kind::Map(entries) = &root.kind else {
        return Meant::Nothing;
    };
    let mut meant = Meant::Nothing;
    for entry in entries {
        let key = entry.key.text.as_str();
        if SUBJECTS.contains(&key)
            || OF_ASSERTIONS_ONLY.contains(&key)
            || expects_something(&entry.value)
        {
            meant = meant.max(Meant::Assertion);
        } else if SUBJECTS.iter().any(|subject| is_near(key, subject)) {
            meant = Meant::Misspelt;
        } else if OF_ASSERTIONS_ONLY[..2]
            .iter()
            .any(|known| is_near(key, known))
            || key.to_lowercase().starts_with("assert")
        {
            meant = meant.max(Meant::Assertion);
        }
    }
    let mut keys = entries.iter().map(|entry| entry.key.text.as_str());
    let is_of_assertions =
        |key: &str| RawAssertion::KEYS.contains(&key) || RawTool::KEYS.contains(&key);
    let says_more = |key: &str| !["name", "description", "skip"].contains(&key);
    let is_named = root.get("name").is_some();
    if is_named && keys.clone().all(is_of_assertions) && keys.any(says_more) {
        meant = meant.max(Meant::Assertion);
    }
    meant
}

/// Keys by which a document is an assertion; the first two also where they are misspelt.
const OF_ASSERTIONS_ONLY: [&str; 7] = [
    "server",
    "setup",
    "client",
    "trace",
    "audit_log",
    "expect",
    "skip_unless_env",
];

/// Whether a value is a subject under a key of another name, or a list with one: a map with `expect`, or with a tool
/// and its arguments.
fn expects_something(value: &Node) -> bool {
    match &value.kind {
        Kind::Map(entries) => {
            let has = |wanted: &str| entries.iter().any(|entry| entry.key.text == wanted);
            has("expect") || has("tool") && has("args")
        }
        Kind::List(items) => items
            .iter()
            .any(|item| matches!(item.kind, Kind::Map(_)) && expects_something(item)),
        Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => false,
    }
}

/// Whether a key is a slip of another one: one letter off, two when it is long.
fn is_near(key: &str, known: &str) -> bool {
    let limit = if known.len() < 7 { 1 } else { 2 };
    strsim::damerau_levenshtein(&key.to_lowercase(), known) <= limit
}

/// Lowers one document. Defaults of the settings file are already in it.
pub fn lower(
    root: Node,
    reading: Reading,
    around: &Surroundings<'_>,
    compiled: &Compiled,
) -> (Found, Reading) {
    let mut lowering = Lowering::new(reading, around, compiled);
    let found = lowering.document(root);
    (found, lowering.reading)
}

impl Lowering<'_> {
    /// One document.
    fn document(&mut self, mut root: Node) -> Found {
        if root.is_null() {
            return Found::Nothing;
        }
        if !matches!(root.kind, Kind::Map(_)) {
            let place = first_line(root.at, &self.reading.problems);
            let what = root.what();
            self.problem(place, |origin| problems::root_not_map(origin, &what));
            return Found::Unusable;
        }
        let mut subjects = subjects_of(&root);
        if subjects.is_empty() && !self.has_broken_subject(&root) && !self.is_passed_by(&root) {
            match (meant(&root), self.dialect()) {
                (Meant::Nothing, _) => return Found::Nothing,
                (Meant::Misspelt, Dialect::Native) => {}
                (Meant::Misspelt, Dialect::Compat) | (Meant::Assertion, _) => {
                    let place = first_line(root.at, &self.reading.problems);
                    self.problem(place, |origin| problems::no_subject(origin, SUBJECTS));
                }
            }
        }
        if self.dialect() == Dialect::Compat {
            subjects.truncate(1);
        } else if let [first, second, ..] = &subjects[..] {
            let (first, second) = if first.1.span.start <= second.1.span.start {
                (first, second)
            } else {
                (second, first)
            };
            self.problem(second.1, |origin| {
                problems::two_subjects(origin, first.0, second.0)
            });
        }
        let places = Places::of(&root);
        let at = first_line(root.at, &self.reading.problems);
        self.check_empty_server(&root);
        if let Some(defaults) = self.around.defaults {
            add_defaults(&mut root, defaults);
        }
        self.pass_over_description(&mut root);
        let raw = Box::<RawAssertion>::read(root, &mut self.reading);
        let subject = subjects.first().copied();
        match raw.and_then(|raw| self.parts(raw, at, subject)) {
            Some(mut parts) => {
                parts.body.places = places;
                Found::Assertion(Box::new(parts))
            }
            None => Found::Unusable,
        }
    }

    /// Whether a document says that it is skipped, under the rules of the Go tool, which does so before it asks what to
    /// assert.
    fn is_passed_by(&self, root: &Node) -> bool {
        let Some(skip) = root.get("skip") else {
            return false;
        };
        let mut aside = Reading::new(self.reading.problems.empty(), self.dialect());
        let said = match FlagOr::<Text>::read(skip.clone(), &mut aside) {
            Some(FlagOr::Flag(flag)) => flag,
            Some(FlagOr::Other(reason)) => !reason.is_blank(),
            None => false,
        };
        said && self.dialect() == Dialect::Compat
    }

    /// The Go tool has no `description` that could be of the wrong type.
    fn pass_over_description(&mut self, root: &mut Node) {
        let Kind::Map(entries) = &mut root.kind else {
            return;
        };
        if self.dialect() == Dialect::Native {
            return;
        }
        let is_other = |entry: &Entry| {
            let is_text = !matches!(entry.value.kind, Kind::List(_) | Kind::Map(_));
            entry.key.text == "description" && !is_text
        };
        if let Some(at) = entries.iter().position(is_other) {
            let entry = entries.remove(at);
            self.not_looked_at("description", entry.key.at, "it is no text");
        }
    }

    /// Whether a subject is there, or a merge that may have brought one, and the YAML of it is broken, which was told.
    fn has_broken_subject(&self, root: &Node) -> bool {
        let mut keys = SUBJECTS.iter().chain(&[MERGE]);
        keys.any(|key| {
            root.get(key)
                .is_some_and(|value| self.reading.problems.is_broken(value.at))
        })
    }

    /// The assertion of a raw one. Everything is lowered, whatever is wrong, so that all of it is told.
    fn parts(
        &mut self,
        mut raw: Box<RawAssertion>,
        place: At,
        chosen: Option<(&'static str, At)>,
    ) -> Option<Parts> {
        // First, since it decides what is a problem in the rest.
        let control = self.skips(raw.skip.take(), raw.skip_unless_env.take());
        self.fate = match control.skip_reason(self.around.environment) {
            Some(_) => Fate::Skipped,
            None => Fate::Runs,
        };
        for steps in [&raw.steps, &raw.setup].into_iter().flatten() {
            self.announce(&steps.value, StepOrder::OneByOne);
        }
        self.check_beside(&raw, chosen);
        let is_trajectory = matches!(chosen, Some(("trajectory", _)));
        let (server, (protocol, capabilities)) = if is_trajectory {
            let server = raw.server.take();
            self.check_unused_server(server, place)
        } else {
            let server = raw.server.take();
            self.own_server(server, place)
        };
        if let Target::Container { .. } = server.target {
            self.runs_in = StartedIn::Containers;
        }
        let (mut client, revisions) = self.client(protocol, capabilities, raw.client.take());
        let before = self.reading.problems.count();
        let (setup, of_setup) = match raw.setup.take() {
            Some(setup) => self.steps(Part::Setup, StepOrder::OneByOne, setup.value),
            None => (Vec::new(), Vec::new()),
        };
        let lowered = self.subject(&mut raw, chosen, &mut client);
        // The Go tool looks at nothing of what it skips.
        let is_passed_by = (self.fate, self.dialect()) == (Fate::Skipped, Dialect::Compat);
        if is_passed_by {
            self.reading.problems.warn_from(before);
        }
        let control = self.control(raw, control);
        let (at, lowered) = match chosen {
            Some((_, at)) => (at, lowered),
            None => (place, None),
        };
        let empty = || Subject::Trajectory(TraceSource::Inline(Vec::new()));
        let nothing = || (empty(), Vec::new());
        let (subject, wanted) = lowered.or_else(|| is_passed_by.then(nothing))?;
        Some(Parts {
            server: self.compiled.server(server),
            client: self.compiled.client(client),
            revisions,
            control,
            uses_fixture: self.uses_fixture,
            rules: RuntimeRules::of(self.dialect()),
            body: Body {
                setup,
                subject,
                of_setup,
                of_steps: std::mem::take(&mut self.of_steps),
                wanted,
                warnings: std::mem::take(&mut self.warnings),
                subject_origin: self.reading.problems.origin(at),
                places: Places::default(),
            },
        })
    }

    /// The server of the document. Where another one may take its place, what it would lack is no matter yet.
    fn own_server(
        &mut self,
        field: Option<Field<Box<RawServer>>>,
        at: At,
    ) -> (Server, super::server::ClientSide) {
        let fixture_from = self.fixture_from;
        if self.around.server_from == ServerFrom::Elsewhere {
            self.fixture_from = FixtureFrom::Elsewhere;
        }
        let found = self.server(field, at);
        self.fixture_from = fixture_from;
        let is_nobodys = self.around.server_from == ServerFrom::NoTarget;
        // The Go tool skips before it asks what to start.
        if self.fate == Fate::Skipped && (is_nobodys || self.dialect() == Dialect::Compat) {
            self.reading.problems.forget(problems::code::NO_SERVER);
        }
        found
    }

    /// A server that a trajectory does not start: its block is checked all the same.
    fn check_unused_server(
        &mut self,
        field: Option<Field<Box<RawServer>>>,
        at: At,
    ) -> (Server, super::server::ClientSide) {
        let side = match field {
            Some(field) => {
                let fixture_from =
                    std::mem::replace(&mut self.fixture_from, FixtureFrom::Elsewhere);
                let (_, side) = self.server(Some(field), at);
                self.fixture_from = fixture_from;
                self.reading.problems.forget(problems::code::NO_SERVER);
                side
            }
            None => (None, None),
        };
        let server = Server {
            target: Target::None,
        };
        (server, side)
    }

    /// The chosen subject, and those beside it for the sake of their problems.
    fn subject(
        &mut self,
        raw: &mut RawAssertion,
        chosen: Option<(&'static str, At)>,
        client: &mut ClientBehaviour,
    ) -> super::subject::Lowered {
        let (key, at) = chosen?;
        match key {
            "assert" => self.tool_subject(raw.assert.take()?),
            "assert_tools" => Some(self.tools_subject(raw.assert_tools.take()?)),
            "assert_initialize" => Some(self.initialize_subject(raw.assert_initialize.take()?)),
            "assert_resources" => Some(self.resources_subject(raw.assert_resources.take()?)),
            "assert_prompts" => self.prompts_subject(raw.assert_prompts.take()?),
            "assert_completion" => self.completion_subject(raw.assert_completion.take()?),
            "assert_sampling" => self.sampling_subject(raw.assert_sampling.take()?, client),
            "assert_elicitation" => {
                self.elicitation_subject(raw.assert_elicitation.take()?, client)
            }
            "assert_logging" => Some(self.logging_subject(raw.assert_logging.take()?)),
            "assert_notifications" => self.notifications_subject(raw.assert_notifications.take()?),
            "trajectory" => self.trajectory_subject(raw, at),
            "steps" => {
                let parallel = raw.parallel.take();
                self.steps_subject(raw.steps.take()?, parallel)
            }
            "raw" => self.raw_subject(raw.raw.take()?),
            "http" => self.http_subject(raw.http.take()?),
            _ => None,
        }
    }

    /// `trajectory` with what it is about.
    fn trajectory_subject(&mut self, raw: &mut RawAssertion, at: At) -> super::subject::Lowered {
        let rules: Vec<Placed<Deferred<RawRule>>> = raw.trajectory.take()?.value;
        let inline = raw.trace.take().map(|trace| self.trace(trace));
        let log = raw
            .audit_log
            .take()
            .filter(|log| !log.value.text.is_empty())
            .map(|log| self.template(log.value));
        let source = match (log, inline) {
            (Some(log), _) => TraceSource::AuditLog(log),
            (None, Some(calls)) => TraceSource::Inline(calls),
            (None, None) => {
                self.native_problem(at, |origin| {
                    problems::missing_one_of(origin, &["trace", "audit_log"], "`trajectory`")
                });
                TraceSource::Inline(Vec::new())
            }
        };
        let is_empty = rules.is_empty();
        let mut wanted: Vec<Wanted> = Vec::with_capacity(rules.len());
        for Placed { value, at: place } in rules {
            if super::expectation::has_markers(&value.node) {
                let text = "trajectory".to_owned();
                let name = crate::yaml::Key { text, at: place };
                wanted.push(self.later(Family::Trajectory, "trajectory", &name, value.node));
                continue;
            }
            self.check_leaves_and_keys(&value.node);
            if let Some(rule) = RawRule::read(value.node, &mut self.reading) {
                wanted.extend(self.rule(rule, place));
            }
        }
        if is_empty {
            self.problem(at, |origin| problems::at_least_one(origin, "trajectory"));
        }
        Some((Subject::Trajectory(source), wanted))
    }
}
