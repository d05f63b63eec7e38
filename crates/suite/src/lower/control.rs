//! When and how often an assertion runs.

use std::time::Duration;

use super::{Lowering, duration};
use crate::{
    Dialect,
    model::Control,
    problems,
    raw::{
        Field,
        assertion::RawAssertion,
        union::FlagOr,
        value::{Count, Text, Texts},
    },
    yaml::At,
};
use text::diagnostic::Severity;

impl Lowering<'_> {
    /// When it does not run.
    pub(super) fn skips(
        &mut self,
        skip: Option<Field<FlagOr<Text>>>,
        unless_env: Option<Field<Texts>>,
    ) -> Control {
        let names = unless_env.map(|field| {
            let names = self.variable_names(field.value);
            if names.is_empty() {
                self.problem(field.key, |origin| {
                    problems::empty_value(origin, "skip_unless_env")
                });
            }
            names
        });
        Control {
            skip: skip.and_then(|skip| match skip.value {
                FlagOr::Flag(false) => None,
                FlagOr::Flag(true) => Some("`skip: true`".into()),
                FlagOr::Other(reason) if reason.is_blank() => {
                    self.problem(skip.key, |origin| problems::empty_value(origin, "skip"));
                    None
                }
                FlagOr::Other(reason) => Some(self.text_at_load(reason).text),
            }),
            skip_unless_env: names.unwrap_or_default(),
            ..Control::default()
        }
    }

    /// When and how often it runs, beside when it does not.
    pub(super) fn control(&mut self, raw: Box<RawAssertion>, skips: Control) -> Control {
        let RawAssertion {
            name: _,
            description: _,
            tags: _,
            server: _,
            client: _,
            setup: _,
            assert: _,
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
            skip: _,
            skip_unless_env: _,
            serial,
            retries,
        } = *raw;
        self.check_stray([
            ("trace", "trajectory", trace.map(|field| field.key)),
            ("audit_log", "trajectory", audit_log.map(|field| field.key)),
            ("parallel", "steps", parallel.map(|field| field.key)),
        ]);
        Control {
            timeout: self.timeout(timeout),
            serial: serial.map(|serial| serial.value.text),
            retries: retries.map(|retries| {
                let Count(count) = retries.value;
                u32::try_from(count).unwrap_or(u32::MAX)
            }),
            ..skips
        }
    }

    /// Tells keys that do nothing without another one.
    fn check_stray(&mut self, keys: [(&str, &str, Option<At>); 3]) {
        for (key, owner, at) in keys {
            if let Some(at) = at {
                self.problem(at, |origin| {
                    problems::no_effect(origin, key, &format!("there is no `{owner}`"))
                });
            }
        }
    }

    /// `timeout`; the Go tool passes over one that it cannot read, of which only the empty one cannot be a slip. Under
    /// one that is over at once nothing passes there.
    fn timeout(&mut self, field: Option<Field<Text>>) -> Option<Duration> {
        let field = field?;
        let compat = self.dialect() == Dialect::Compat;
        let unread = compat && !duration::is_over_at_once(&field.value.text);
        let passed_over = unread || field.value.text.trim().is_empty();
        if passed_over && let Err(reason) = duration::parse(&field.value.text) {
            let origin = self.reading.problems.origin(field.at);
            let mut problem = problems::bad_duration(origin, &field.value.text, &reason);
            problem.severity = Severity::Warning;
            self.problems().add(problem);
            return None;
        }
        self.duration(Some(field))
    }
}
