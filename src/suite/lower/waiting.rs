//! `assert_logging` and `assert_notifications`, and how long notifications are waited for.

use std::time::Duration;

use super::{
    Lowering,
    subject::{Lowered, Made},
};
use crate::suite::{
    model::{
        expectation::{Expectation, Family, Wanted, WantedState},
        subject::{Enough, Patience, Subject},
    },
    problems,
    raw::{
        Field,
        expect::{RawLoggingExpect, RawNotificationsExpect},
        subject::{RawLogging, RawNotifications},
    },
};

/// How long a notification that must not come is waited for.
pub(super) const ABSENT: Duration = Duration::from_millis(100);

/// How long a notification that must come is waited for at most.
pub(super) const PRESENT: Duration = Duration::from_secs(1);

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
        let call = tool.map(|tool| Box::new(self.tool_call(tool, args)));
        let wanted = match expect {
            Some(expect) => self.expect(Family::Logging, expect.value.node, RawLoggingExpect::KEYS),
            None => Vec::new(),
        };
        let enough = enough_messages(&wanted);
        let wanted = self.or_not_error(wanted, at);
        let subject = Subject::Logging {
            level,
            call,
            patience: patience(within, enough),
        };
        (subject, wanted)
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
        let enough = enough_notifications(&wanted);
        let wanted = self.or_not_error(wanted, at);
        let call = self.subject_call(tool, args, "`assert_notifications`", at)?;
        let patience = patience(within, enough);
        let call = Box::new(call);
        Some((Subject::Notifications { call, patience }, wanted))
    }
}

/// A wait: as long as the suite says, else by whether something must come or must not.
pub(super) fn patience(within: Option<Duration>, enough: Option<Enough>) -> Patience {
    let usual = match enough {
        Some(_) => PRESENT,
        None => ABSENT,
    };
    Patience {
        within: within.unwrap_or(usual),
        enough: enough.map(Box::new),
    }
}

/// The expectations, when all are known at load.
fn all_ready(wanted: &[Wanted]) -> Option<Vec<&Expectation>> {
    wanted
        .iter()
        .map(|wanted| match &wanted.state {
            WantedState::Ready(expectation) => Some(expectation),
            WantedState::Templated(_) => None,
        })
        .collect()
}

/// What must have arrived for these to hold; `None` when something must not come, or nothing must.
fn enough_notifications(wanted: &[Wanted]) -> Option<Enough> {
    let mut enough = Enough::default();
    let mut any = false;
    for expectation in all_ready(wanted)? {
        let Expectation::Notifications(part) = expectation else {
            continue;
        };
        let forbids = part.max_count.is_some()
            || !part.not_methods.is_empty()
            || !part.not_contains_data.is_empty();
        if forbids {
            return None;
        }
        any = true;
        let ordered = u64::try_from(part.in_order.len()).unwrap_or(u64::MAX);
        let least = part.min_count.unwrap_or(0).max(ordered);
        enough.count = enough.count.max(least);
        enough
            .methods
            .extend(part.methods.iter().chain(&part.in_order).cloned());
        enough.data.extend(part.contains_data.iter().cloned());
    }
    any.then_some(enough)
}

/// The wait that expectations of an answer ask for: only those about notifications do.
pub(super) fn for_notifications(wanted: &[Wanted]) -> Option<Patience> {
    let asks = wanted.iter().any(|wanted| wanted.key == "notifications");
    asks.then(|| patience(None, enough_notifications(wanted)))
}

/// The same for log messages.
fn enough_messages(wanted: &[Wanted]) -> Option<Enough> {
    let mut enough = Enough {
        of_method: Some("notifications/message"),
        ..Enough::default()
    };
    let ready = all_ready(wanted)?;
    for expectation in &ready {
        if let Expectation::Logging(part) = expectation {
            if part.max_messages.is_some() || part.not_below.is_some() {
                return None;
            }
            enough.count = enough.count.max(part.min_messages.unwrap_or(0));
            enough.levels.extend(part.contains_level.iter().cloned());
            enough.data.extend(part.contains_data.iter().cloned());
        }
    }
    (!ready.is_empty()).then_some(enough)
}
