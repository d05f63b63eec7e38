//! One document: is it an assertion, and which one.

use std::sync::Arc;

use super::{Compiled, FixtureFrom, Lowering, ServerFrom, StartedIn, Surroundings, step::Part};
use crate::{
    Dialect,
    model::{
        Assertion, Body, Case,
        runtime_rules::RuntimeRules,
        server::{Server, Target},
    },
    problems,
    raw::{
        Field, Readable, Reading,
        assertion::{RawAssertion, SUBJECTS},
        read::{first_line, key},
        server::RawServer,
        subject::RawTool,
        union::FlagOr,
        value::Text,
    },
    settings::add_defaults,
    written::Places,
    yaml::{At, Kind, MERGE, Node, Source},
};
use mcp::script::{
    client::ClientBehaviour,
    subject::{StepOrder, Subject, TraceSource},
};

/// What a document turned out to be.
pub(crate) enum Found {
    /// No assertion at all.
    Nothing,
    /// An assertion.
    Assertion(Box<Assertion>),
    /// It was meant as an assertion and cannot be used; the problems say why.
    Unusable,
}

/// The subjects that the Go tool chooses first, in its order.
const GO_ORDER: [&str; 8] = [
    "trajectory",
    "assert_resources",
    "assert_prompts",
    "assert_completion",
    "assert_sampling",
    "assert_logging",
    "assert_notifications",
    "assert",
];

/// The subjects of a document in the Go tool's order of precedence, with the places of their keys.
pub(crate) fn subjects_of(root: &Node) -> Vec<(&'static str, At)> {
    let rest = SUBJECTS.iter().filter(|key| !GO_ORDER.contains(key));
    let subjects = GO_ORDER.iter().chain(rest).copied();
    let mut found: Vec<(&'static str, At)> = subjects
        .filter_map(|subject| {
            let entry = root.entry(subject)?;
            (!entry.value.is_null()).then_some((subject, entry.key.at))
        })
        .collect();
    // The Go tool ignores a trajectory without rules.
    let rules = root.get("trajectory").map(|rules| &rules.kind);
    if found.len() > 1 && rules == Some(&Kind::List(Vec::new())) {
        found.retain(|(subject, _)| *subject != "trajectory");
    }
    found
}

/// What a document without a subject was meant to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Meant {
    /// Not an assertion.
    Nothing,
    /// An assertion.
    Assertion,
    /// An assertion whose subject is misspelt, which is reported as an unknown key.
    Misspelt,
}

/// Keys by which a document is an assertion; the first two also when they are misspelt.
const OF_ASSERTIONS_ONLY: [&str; 7] = [
    "server",
    "setup",
    "client",
    "trace",
    "audit_log",
    "expect",
    "skip_unless_env",
];

/// What a document without a subject was meant to be, by its keys. Other tools have YAML files beside suites, so `name`,
/// `tags` or `timeout` say nothing.
fn meant(root: &Node) -> Meant {
    let of_key = |key: &str, value: &Node| {
        let near = |known: &[&str]| known.iter().any(|known| is_near(key, known));
        let is_known = SUBJECTS.contains(&key) || OF_ASSERTIONS_ONLY.contains(&key);
        if is_known || expects_something(value) {
            Meant::Assertion
        } else if near(SUBJECTS) {
            Meant::Misspelt
        } else if near(&OF_ASSERTIONS_ONLY[..2]) || key.to_lowercase().starts_with("assert") {
            Meant::Assertion
        } else {
            Meant::Nothing
        }
    };
    let is_ours = |key: &str| RawAssertion::KEYS.contains(&key) || RawTool::KEYS.contains(&key);
    let says_more = |key: &str| !["name", "description", "skip"].contains(&key);
    let mut keys = root.entries().iter().map(|entry| entry.key.text.as_str());
    let is_named = root.get("name").is_some();
    let all_ours = if is_named && keys.clone().all(is_ours) && keys.any(says_more) {
        Meant::Assertion
    } else {
        Meant::Nothing
    };
    let entries = root.entries().iter();
    let meant = entries.map(|entry| of_key(&entry.key.text, &entry.value));
    meant.fold(all_ours, Meant::max)
}

/// Whether a value is a subject under a key of another name, or a list with one.
fn expects_something(value: &Node) -> bool {
    if let Kind::List(items) = &value.kind {
        let mut maps = items.iter().filter(|item| !item.entries().is_empty());
        return maps.any(expects_something);
    }
    let has = |key: &str| value.get(key).is_some();
    has("expect") || has("tool") && has("args")
}

/// Whether a key is a misspelt form of another one: one letter off, two when it is long.
fn is_near(key: &str, known: &str) -> bool {
    let limit = if known.len() < 7 { 1 } else { 2 };
    strsim::damerau_levenshtein(&key.to_lowercase(), known) <= limit
}

/// Why a trajectory needs neither server nor setup.
const NO_SERVER: &str = "a `trajectory` starts no server";

/// Lowers one document; the assertion gets this case.
pub(crate) fn lower(
    root: Node,
    case: &Case,
    reading: Reading,
    around: &Surroundings<'_>,
    compiled: &Compiled,
) -> (Found, Reading) {
    let mut lowering = Lowering::new(reading, around, compiled);
    let found = lowering.document(root, case);
    (found, lowering.reading)
}

impl Lowering<'_> {
    /// One document.
    fn document(&mut self, mut root: Node, case: &Case) -> Found {
        if root.is_null() {
            return Found::Nothing;
        }
        let at = first_line(root.at, &self.reading.problems);
        if !matches!(root.kind, Kind::Map(_)) {
            self.problem(at, problems::root_not_map(&root.what()));
            return Found::Unusable;
        }
        let mut subjects = subjects_of(&root);
        if subjects.is_empty() && !self.has_broken_subject(&root) && !self.is_passed_by(&root) {
            match (meant(&root), self.dialect()) {
                (Meant::Nothing, _) => return Found::Nothing,
                (Meant::Misspelt, Dialect::Native) => {}
                (Meant::Misspelt, Dialect::Compat) | (Meant::Assertion, _) => {
                    self.problem(at, problems::no_subject(SUBJECTS));
                }
            }
        }
        if self.is_compat() {
            subjects.truncate(1);
        } else if let [one, other, ..] = &subjects[..] {
            let mut both = [one, other];
            both.sort_by_key(|(_, at)| at.span.start);
            let [first, second] = both;
            self.problem(second.1, problems::two_subjects(first.0, second.0));
        }
        self.places = Places::of(&root);
        // Before the server of the settings takes its place.
        if let Some(server) = root.entry("server").filter(|it| it.value.is_null())
            && !self.reading.problems.is_broken(server.value.at)
        {
            self.problem(server.key.at, problems::empty_value("server"));
        }
        if let Some(defaults) = self.around.defaults {
            add_defaults(&mut root, defaults);
        }
        let raw = RawAssertion::read(root, &mut self.reading);
        let subject = subjects.first().copied();
        match raw.and_then(|raw| self.assertion(raw, case, at, subject)) {
            Some(assertion) => Found::Assertion(Box::new(assertion)),
            None => Found::Unusable,
        }
    }

    /// Whether a document is skipped under the rules of the Go tool, which does so before it looks for a subject.
    fn is_passed_by(&self, root: &Node) -> bool {
        let mut aside = Reading::new(self.reading.problems.empty(), self.dialect());
        let skip = root.get("skip").cloned();
        let said = match skip.and_then(|skip| FlagOr::<Text>::read(skip, &mut aside)) {
            Some(FlagOr::Flag(flag)) => flag,
            Some(FlagOr::Other(reason)) => !reason.is_blank(),
            None => false,
        };
        said && self.is_compat()
    }

    /// Whether a subject is there, or a merge that may have brought one, and its YAML is broken.
    fn has_broken_subject(&self, root: &Node) -> bool {
        let mut keys = SUBJECTS.iter().chain(&[MERGE]);
        keys.any(|key| {
            let value = root.get(key);
            value.is_some_and(|value| self.reading.problems.is_broken(value.at))
        })
    }

    /// The assertion of a raw one. All of it is lowered, so that all problems are reported.
    fn assertion(
        &mut self,
        mut raw: RawAssertion,
        case: &Case,
        place: At,
        chosen: Option<(&'static str, At)>,
    ) -> Option<Assertion> {
        // First, since it decides what is a problem in the rest.
        let control = self.skips(raw.skip.take(), raw.skip_unless_env.take());
        let reason = control.skip_reason(self.around.environment);
        self.is_skipped = reason.is_some();
        for steps in [&raw.steps, &raw.setup].into_iter().flatten() {
            self.announce(&steps.value);
        }
        self.check_beside(&raw, chosen);
        let is_trajectory = chosen.is_some_and(|(subject, _)| subject == "trajectory");
        let (server, (protocol, capabilities)) =
            self.own_server(raw.server.take(), place, is_trajectory);
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
        // The Go tool does not look at what it skips.
        let is_passed_by = self.is_skipped && self.is_compat();
        if is_passed_by {
            self.reading.problems.warn_from(before);
        }
        let control = self.control(raw, control);
        let nothing = || {
            let subject = Subject::Trajectory(TraceSource::Inline(Vec::new()));
            (subject, Vec::new())
        };
        let (subject, wanted) = lowered.or_else(|| is_passed_by.then(nothing))?;
        let at = chosen.map_or(place, |(_, at)| at);
        let body = Body {
            setup,
            subject,
            of_setup,
            of_steps: std::mem::take(&mut self.of_steps),
            wanted,
            warnings: std::mem::take(&mut self.warnings),
            subject_origin: self.reading.problems.origin(at),
            places: std::mem::take(&mut self.places),
        };
        Some(Assertion {
            case: Arc::new(case.clone()),
            server: self.compiled.server(server),
            client: self.compiled.client(client),
            revisions,
            control: control.kept(),
            uses_fixture: self.uses_fixture,
            needs: body.needs(),
            rules: RuntimeRules::of(self.dialect()),
            body: Arc::new(body),
        })
    }

    /// Reports keys beside a subject that have no effect. Those of the settings are for other assertions.
    fn check_beside(&mut self, raw: &RawAssertion, chosen: Option<(&'static str, At)>) {
        let of_suite = |at: Option<At>| at.filter(|at| at.source == Source::Suite);
        let subject = chosen.map_or("", |(subject, _)| subject);
        let handshake = raw
            .raw
            .as_ref()
            .and_then(|raw| raw.value.handshake.as_ref());
        let reason = if subject == "trajectory" {
            let keys = [("server", key(&raw.server)), ("client", key(&raw.client))];
            self.no_effect(keys.map(|(key, at)| (key, of_suite(at))), NO_SERVER);
            NO_SERVER
        } else if subject == "raw" && handshake.is_some_and(|made| !made.value) {
            "without the handshake nothing is called before"
        } else {
            return;
        };
        let setup = raw.setup.as_ref().filter(|setup| !setup.value.is_empty());
        if let Some(at) = of_suite(setup.map(|setup| setup.key)) {
            self.problem_or_warning(at, problems::not_looked_at("setup", reason));
        }
    }

    /// The server of the document. A trajectory starts none, and its block is only checked.
    fn own_server(
        &mut self,
        field: Option<Field<Box<RawServer>>>,
        at: At,
        is_trajectory: bool,
    ) -> (Server, super::server::ClientSide) {
        let fixture_from = self.fixture_from;
        // Another server may take its place, and does not need its fixture.
        if is_trajectory || self.around.server_from == ServerFrom::Elsewhere {
            self.fixture_from = FixtureFrom::Elsewhere;
        }
        let (mut server, side) = self.server(field, at);
        self.fixture_from = fixture_from;
        let is_nobodys = self.around.server_from == ServerFrom::NoTarget;
        // The Go tool skips before it looks for a server.
        if is_trajectory || self.is_skipped && (is_nobodys || self.is_compat()) {
            self.reading.problems.forget(problems::code::NO_SERVER);
        }
        if is_trajectory {
            server.target = Target::None;
        }
        (server, side)
    }

    /// The chosen subject.
    fn subject(
        &mut self,
        raw: &mut RawAssertion,
        chosen: Option<(&'static str, At)>,
        client: &mut ClientBehaviour,
    ) -> super::subject::OptionalSubject {
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
}
