//! `assert_logging` and `assert_notifications`.

use super::{
    Lowering,
    subject::{Lowered, Made},
};
use crate::{
    model::expectation::Family,
    problems,
    raw::{
        Field,
        expect::{RawLoggingExpect, RawNotificationsExpect},
        subject::{RawLogging, RawNotifications},
    },
};
use mcp::script::subject::Subject;

impl Lowering<'_> {
    /// `assert_logging`
    pub(super) fn logging_subject(&mut self, field: Field<Box<RawLogging>>) -> Made {
        let at = field.key;
        let RawLogging {
            set_level,
            tool,
            args,
            within,
            expect,
        } = *field.value;
        let within = self.duration(within);
        let level = set_level.map(|level| self.level(level.value));
        if let (None, Some(args)) = (&tool, &args) {
            self.problem(args.key, |origin| {
                problems::no_effect(origin, "args", "there is no `tool`")
            });
        }
        if level.is_none() && tool.is_none() {
            self.native_problem(at, |origin| {
                problems::missing_one_of(origin, &["set_level", "tool"], "`assert_logging`")
            });
        }
        let call = tool.map(|tool| Box::new(self.tool_call(tool.value, args)));
        let wanted = match expect {
            Some(expect) => self.expect(Family::Logging, expect.value.node, RawLoggingExpect::KEYS),
            None => Vec::new(),
        };
        let subject = Subject::Logging {
            level,
            call,
            within,
        };
        (subject, self.or_not_error(wanted, at))
    }

    /// `assert_notifications`
    pub(super) fn notifications_subject(&mut self, field: Field<Box<RawNotifications>>) -> Lowered {
        let at = field.key;
        let RawNotifications {
            tool,
            args,
            within,
            expect,
        } = *field.value;
        let within = self.duration(within);
        let wanted = match expect {
            Some(expect) => self.expect(
                Family::Notifications,
                expect.value.node,
                RawNotificationsExpect::KEYS,
            ),
            None => Vec::new(),
        };
        let wanted = self.or_not_error(wanted, at);
        let call = self.subject_call(tool, args, "`assert_notifications`", at)?;
        let call = Box::new(call);
        Some((Subject::Notifications { call, within }, wanted))
    }
}
