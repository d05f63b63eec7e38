//! One document: is it an assertion, and which one.

use std::sync::Arc;

use super::{Compiled, Lowering, Surroundings, duration, step::Part};
use crate::{
    suite::{
        Dialect,
        model::{
            Assertion, Case,
            expectation::{Family, Wanted},
            server::{ClientBehaviour, Server, Target},
            subject::{Step, StepOrder, Subject, TraceSource},
        },
        problems,
        raw::{
            Field, Readable, Reading,
            assertion::{RawAssertion, SUBJECTS},
            expect::RawRule,
            read::first_line,
            union::FlagOr,
            value::{Count, Deferred, Placed, Text},
        },
        settings::add_defaults,
        yaml::{At, Kind, Node},
    },
    words::{
        diagnostic::{Diagnostic, Severity},
        source::Origin,
        text,
    },
};

/// What a document turned out to be.
pub(crate) enum Found {
    /// No assertion at all.
    Nothing,
    /// An assertion, all but its identity.
    Assertion(Box<Parts>),
    /// Something that was meant as an assertion and cannot be used; what is wrong was noted.
    Unusable,
}

/// What the caller knows about a document.
pub(crate) struct About {
    /// The place of the document.
    pub(crate) at: At,
}

/// An assertion without its identity, which depends on the documents before it.
pub(crate) struct Parts {
    server: Server,
    client: ClientBehaviour,
    setup: Vec<Step>,
    subject: Subject,
    wanted: Vec<Wanted>,
    control: Control,
    uses_fixture: bool,
    warnings: Vec<Diagnostic>,
    subject_origin: Origin,
    dialect: Dialect,
}

impl Parts {
    /// The assertion of that identity.
    pub(crate) fn into_assertion(self, case: Arc<Case>) -> Assertion {
        let Control {
            timeout,
            skip,
            skip_unless_env,
            serial,
            retries,
        } = self.control;
        Assertion {
            case,
            server: self.server,
            client: self.client,
            setup: self.setup,
            subject: self.subject,
            wanted: self.wanted,
            timeout,
            skip,
            skip_unless_env,
            serial,
            retries,
            uses_fixture: self.uses_fixture,
            warnings: self.warnings,
            subject_origin: self.subject_origin,
            dialect: self.dialect,
        }
    }
}

/// The subjects that a document has, in the Go tool's order of precedence, with the place of the key.
pub(crate) fn subjects_of(root: &Node) -> Vec<(&'static str, At)> {
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
    order
        .into_iter()
        .chain(rest)
        .filter_map(|subject| {
            let entry = entries.iter().find(|entry| entry.key.text == subject)?;
            let empty = entry.value.is_null() || entry.value.kind == Kind::List(Vec::new());
            (!empty).then_some((subject, entry.key.at))
        })
        .collect()
}

/// The key that was meant as a subject, and the subject, when a document has none; `Err` when it is no
/// assertion.
fn misspelt(root: &Node) -> Result<Option<(&str, &'static str)>, ()> {
    let Kind::Map(entries) = &root.kind else {
        return Err(());
    };
    let near = entries.iter().find_map(|entry| {
        let key = entry.key.text.as_str();
        let known = text::nearest(key, SUBJECTS.iter().copied())?;
        let known = SUBJECTS.iter().find(|subject| **subject == known)?;
        is_near(key, known).then_some((key, *known))
    });
    let is_meant = |key: &str| {
        [
            "server",
            "setup",
            "client",
            "trace",
            "audit_log",
            "client_capabilities",
        ]
        .contains(&key)
            || is_near(key, "server")
            || is_near(key, "setup")
    };
    if near.is_some() || entries.iter().any(|entry| is_meant(&entry.key.text)) {
        return Ok(near);
    }
    Err(())
}

/// Whether a key is a slip of another one: one letter off, two when it is long.
fn is_near(key: &str, known: &str) -> bool {
    let limit = if known.len() < 7 { 1 } else { 2 };
    strsim::damerau_levenshtein(&key.to_lowercase(), known) <= limit
}

/// Lowers one document. Defaults of the settings file are already in it.
pub(crate) fn lower(
    root: Node,
    about: &About,
    reading: Reading,
    around: &Surroundings<'_>,
    compiled: &mut Compiled,
) -> (Found, Reading) {
    let mut lowering = Lowering::new(reading, around, compiled);
    let found = lowering.document(root, about);
    (found, lowering.reading)
}

impl Lowering<'_> {
    /// One document.
    fn document(&mut self, mut root: Node, about: &About) -> Found {
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
        if subjects.is_empty() {
            match misspelt(&root) {
                Err(()) => return Found::Nothing,
                Ok(near) => {
                    let place = first_line(about.at, &self.reading.problems);
                    self.problem(place, |origin| problems::no_subject(origin, near, SUBJECTS));
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
        let http = root.get("http").cloned();
        if let Some(defaults) = self.around.defaults {
            add_defaults(&mut root, defaults);
        }
        let raw = RawAssertion::read(root, &mut self.reading);
        let subject = subjects.first().copied();
        match raw.and_then(|raw| self.parts(raw, about, subject, http)) {
            Some(parts) => Found::Assertion(Box::new(parts)),
            None => Found::Unusable,
        }
    }

    /// The assertion of a raw one. Everything is lowered, whatever is wrong, so that all of it is told.
    fn parts(
        &mut self,
        mut raw: RawAssertion,
        about: &About,
        chosen: Option<(&'static str, At)>,
        http: Option<Node>,
    ) -> Option<Parts> {
        let is_trajectory = matches!(chosen, Some(("trajectory", _)));
        let (server, (protocol, capabilities)) = if is_trajectory {
            let server = raw.server.take();
            self.check_unused_server(server, about.at)
        } else {
            let server = raw.server.take();
            self.server(server, about.at)
        };
        let mut client = self.client(protocol, capabilities, raw.client.take());
        let setup = match raw.setup.take() {
            Some(setup) => self.steps(Part::Setup, StepOrder::OneByOne, setup.value),
            None => Vec::new(),
        };
        let lowered = self.subject(&mut raw, chosen, &mut client, http);
        let control = self.control(raw);
        let (_, at) = chosen?;
        let (subject, wanted) = lowered?;
        Some(Parts {
            server,
            client,
            setup,
            subject,
            wanted,
            control,
            uses_fixture: self.uses_fixture,
            warnings: std::mem::take(&mut self.warnings),
            subject_origin: self.reading.problems.origin(at),
            dialect: self.dialect(),
        })
    }

    /// A server that a trajectory does not start: its block is checked all the same.
    fn check_unused_server(
        &mut self,
        field: Option<Field<crate::suite::raw::server::RawServer>>,
        at: At,
    ) -> (Server, super::server::ClientSide) {
        let side = match field {
            Some(field) => {
                let (_, side) = self.server(Some(field), at);
                self.reading.problems.forget(problems::code::NO_SERVER);
                side
            }
            None => (None, None),
        };
        let server = Server {
            target: Target::None,
            origin: self.reading.problems.origin(at),
        };
        (server, side)
    }

    /// The chosen subject, and those beside it for the sake of their problems.
    fn subject(
        &mut self,
        raw: &mut RawAssertion,
        chosen: Option<(&'static str, At)>,
        client: &mut ClientBehaviour,
        http: Option<Node>,
    ) -> super::subject::Lowered {
        let (key, at) = chosen?;
        match key {
            "assert" => self.tool_subject(raw.assert.take()?),
            "assert_tools" => self.tools_subject(raw.assert_tools.take()?),
            "assert_initialize" => self.initialize_subject(raw.assert_initialize.take()?),
            "assert_resources" => self.resources_subject(raw.assert_resources.take()?),
            "assert_prompts" => self.prompts_subject(raw.assert_prompts.take()?),
            "assert_completion" => self.completion_subject(raw.assert_completion.take()?),
            "assert_sampling" => self.sampling_subject(raw.assert_sampling.take()?, client),
            "assert_elicitation" => {
                self.elicitation_subject(raw.assert_elicitation.take()?, client)
            }
            "assert_logging" => self.logging_subject(raw.assert_logging.take()?),
            "assert_notifications" => self.notifications_subject(raw.assert_notifications.take()?),
            "trajectory" => self.trajectory_subject(raw, at),
            "steps" => {
                let parallel = raw.parallel.take();
                self.steps_subject(raw.steps.take()?, parallel)
            }
            "raw" => self.raw_subject(raw.raw.take()?),
            "http" => self.http_subject(raw.http.take()?, http?),
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
            (None, None) if self.dialect() == Dialect::Compat => TraceSource::Inline(Vec::new()),
            (None, None) => TraceSource::Missing,
        };
        let mut wanted: Vec<Wanted> = Vec::with_capacity(rules.len());
        for Placed { value, at: place } in rules {
            if super::expectation::has_markers(&value.node) {
                let text = "trajectory".to_owned();
                let name = crate::suite::yaml::Key { text, at: place };
                wanted.push(self.later(Family::Trajectory, "trajectory", &name, value.node));
            } else if let Some(rule) = RawRule::read(value.node, &mut self.reading) {
                wanted.extend(self.rule(rule, place));
            }
        }
        if wanted.is_empty() {
            self.problem(at, |origin| problems::at_least_one(origin, "trajectory"));
        }
        Some((Subject::Trajectory(source), wanted))
    }

    /// When and how often it runs.
    fn control(&mut self, raw: RawAssertion) -> Control {
        let RawAssertion {
            name: _,
            description: _,
            tags: _,
            server: _,
            client: _,
            setup: _,
            assert,
            assert_tools: _,
            assert_initialize: _,
            assert_resources: _,
            assert_prompts: _,
            assert_completion: _,
            assert_sampling: _,
            assert_elicitation: _,
            assert_logging: _,
            assert_notifications: _,
            trajectory: _,
            trace,
            audit_log,
            steps: _,
            parallel,
            raw: _,
            http: _,
            timeout,
            skip,
            skip_unless_env,
            serial,
            retries,
        } = raw;
        drop(assert);
        let stray = [
            ("trace", trace.map(|field| field.key)),
            ("audit_log", audit_log.map(|field| field.key)),
            ("parallel", parallel.map(|field| field.key)),
        ];
        for (key, at) in stray {
            if let Some(at) = at {
                let owner = if key == "parallel" {
                    "steps"
                } else {
                    "trajectory"
                };
                self.problem(at, |origin| {
                    problems::no_effect(origin, key, &format!("there is no `{owner}`"))
                });
            }
        }
        Control {
            timeout: self.timeout(timeout),
            skip: skip.and_then(|skip| match skip.value {
                FlagOr::Flag(false) => None,
                FlagOr::Flag(true) => Some("`skip: true`".into()),
                FlagOr::Other(reason) => Some(reason.text),
            }),
            skip_unless_env: skip_unless_env
                .map(|names| names.value.strings())
                .unwrap_or_default()
                .into_iter()
                .filter(|name| !name.is_empty())
                .collect(),
            serial: serial.map(|serial| serial.value.text),
            retries: retries.map(|retries| {
                let Count(count) = retries.value;
                u32::try_from(count).unwrap_or(u32::MAX)
            }),
        }
    }

    /// `timeout`; the Go tool passes over one that it cannot read.
    fn timeout(&mut self, field: Option<Field<Text>>) -> Option<std::time::Duration> {
        let field = field?;
        let compat = self.dialect() == Dialect::Compat;
        if compat && let Err(reason) = duration::parse(&field.value.text) {
            let origin = self.reading.problems.origin(field.at);
            let mut problem = problems::bad_duration(origin, &field.value.text, &reason);
            problem.severity = Severity::Warning;
            self.problems().add(problem);
            return None;
        }
        self.duration(Some(field))
    }
}

/// When and how often an assertion runs.
struct Control {
    timeout: Option<std::time::Duration>,
    skip: Option<String>,
    skip_unless_env: Vec<String>,
    serial: Option<String>,
    retries: Option<u32>,
}
