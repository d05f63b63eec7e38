//! When and how often an assertion runs.

use std::time::Duration;

use super::{
    Lowering,
    duration::{self, NOT_POSITIVE},
};
use crate::{
    model::Control,
    problems,
    raw::{
        Field,
        assertion::RawAssertion,
        read::key,
        union::FlagOr,
        value::{Text, Texts},
    },
};
use text::diagnostic::Severity;

impl Lowering<'_> {
    /// When the assertion is skipped.
    pub(super) fn skips(
        &mut self,
        skip: Option<Field<FlagOr<Text>>>,
        unless_env: Option<Field<Texts>>,
    ) -> Control {
        let names = unless_env.map(|field| {
            let names = self.variable_names(field.value);
            if names.is_empty() {
                self.problem(field.key, problems::empty_value("skip_unless_env"));
            }
            names
        });
        Control {
            skip: skip.and_then(|skip| match skip.value {
                FlagOr::Flag(false) => None,
                FlagOr::Flag(true) => Some("`skip: true`".into()),
                FlagOr::Other(reason) if reason.is_blank() => {
                    self.problem(skip.key, problems::empty_value("skip"));
                    None
                }
                FlagOr::Other(reason) => Some(self.text_at_load(reason).text),
            }),
            skip_unless_env: names.unwrap_or_default(),
            ..Control::default()
        }
    }

    /// When and how often it runs, besides when it is skipped.
    pub(super) fn control(&mut self, raw: RawAssertion, skips: Control) -> Control {
        // `discover` reads the name and the tags, also of documents that cannot be used.
        let _ = (&raw.name, &raw.tags, &raw.description);
        let strays = [
            ("trace", key(&raw.trace)),
            ("audit_log", key(&raw.audit_log)),
        ];
        self.no_effect(strays, "there is no `trajectory`");
        let strays = [("parallel", key(&raw.parallel))];
        self.no_effect(strays, "there is no `steps`");
        Control {
            timeout: self.timeout(raw.timeout),
            serial: raw.serial.map(|serial| serial.value.text),
            retries: raw
                .retries
                .map(|retries| u32::try_from(retries.value).unwrap_or(u32::MAX)),
            ..skips
        }
    }

    /// `timeout`. The Go tool ignores one that it cannot read.
    fn timeout(&mut self, field: Option<Field<Text>>) -> Option<Duration> {
        let field = field?;
        let text = &field.value.text;
        if let Err(reason) = duration::parse(text)
            && (text.trim().is_empty()
                || self.is_compat() && !NOT_POSITIVE.contains(&reason.as_str()))
        {
            let mut problem = problems::bad_duration(text, &reason);
            problem.severity = Severity::Warning;
            self.problem(field.at, problem);
            return None;
        }
        self.duration(Some(field))
    }
}
