//! `assert_logging` and `assert_notifications`.

use super::{
    Lowering,
    subject::{LoweredSubject, OptionalSubject},
};
use crate::{
    model::expectation::Family,
    problems,
    raw::{
        Field,
        expect::{RawLoggingExpect, RawNotificationsExpect},
        read::key,
        subject::{RawLogging, RawNotifications},
    },
};
use mcp::script::subject::Subject;

impl Lowering<'_> {
    /// `assert_logging`
    pub(super) fn logging_subject(&mut self, field: Field<Box<RawLogging>>) -> LoweredSubject {
        let (raw, at) = (field.value, field.key);
        let within = self.duration(raw.within);
        let level = raw.set_level.map(|level| self.level(level.value));
        if raw.tool.is_none() {
            self.no_effect([("args", key(&raw.args))], "there is no `tool`");
        }
        if level.is_none() && raw.tool.is_none() {
            let problem = problems::missing_one_of(&["set_level", "tool"], "`assert_logging`");
            self.native_problem(at, problem);
        }
        let args = raw.args;
        let call = raw.tool.map(|tool| self.tool_call(tool.value, args));
        let expect = raw.expect.map(|expect| expect.value.0);
        let wanted = self.expect(Family::Logging, expect, RawLoggingExpect::KEYS);
        let subject = Subject::Logging {
            level,
            call: call.map(Box::new),
            within,
        };
        (subject, self.or_not_error(wanted, at))
    }

    /// `assert_notifications`
    pub(super) fn notifications_subject(
        &mut self,
        field: Field<Box<RawNotifications>>,
    ) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let within = self.duration(raw.within);
        let expect = raw.expect.map(|expect| expect.value.0);
        let keys = RawNotificationsExpect::KEYS;
        let wanted = self.expect(Family::Notifications, expect, keys);
        let wanted = self.or_not_error(wanted, at);
        let call = self.subject_call(raw.tool, raw.args, "`assert_notifications`", at)?;
        let call = Box::new(call);
        Some((Subject::Notifications { call, within }, wanted))
    }
}
