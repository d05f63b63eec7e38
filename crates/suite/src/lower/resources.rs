//! `assert_resources`

use super::{Lowering, subject::Made};
use crate::{
    Dialect,
    model::expectation::{Expectation, Presence, TrafficWanted, Wanted},
    problems,
    raw::{Field, subject::RawResources, union::MapOrNothing, value::Text},
};
use mcp::script::subject::{ResourcesAction, ResourcesCall, Subject};

/// The keys that may be about what comes after the answer.
const MAY_COME: [&str; 4] = [
    "expect_notification",
    "notifications",
    "server_requests",
    "not",
];

impl Lowering<'_> {
    /// `assert_resources`
    pub(super) fn resources_subject(&mut self, field: Field<Box<RawResources>>) -> Made {
        let at = field.key;
        let owner = "`assert_resources`";
        let RawResources {
            mut list,
            mut templates,
            mut read,
            subscribe,
            unsubscribe,
            expect_notification,
            within,
            expect,
        } = *field.value;
        let actions = |list: bool, templates: bool, read: bool| {
            usize::from(list) + usize::from(templates) + usize::from(read)
        };
        if actions(list.is_some(), templates.is_some(), read.is_some()) > 1 {
            list = self.unless_empty("list", list, MapOrNothing::is_empty);
            templates = self.unless_empty("templates", templates, MapOrNothing::is_empty);
            read = self.unless_empty("read", read, Text::is_blank);
        }
        let actions = actions(list.is_some(), templates.is_some(), read.is_some());
        if actions > 1 {
            let keys = ["list", "templates", "read"];
            self.native_problem(at, |origin| {
                problems::conflicting_keys(origin, &keys, owner)
            });
        }
        let action = match (list, templates, read) {
            (Some(list), _, _) => Some(ResourcesAction::List(self.list(list))),
            (None, Some(templates), _) => Some(ResourcesAction::Templates(self.list(templates))),
            (None, None, Some(uri)) => Some(ResourcesAction::Read(self.template(uri.value))),
            (None, None, None) => None,
        };
        if action.is_none() && subscribe.is_none() {
            let keys = ["list", "templates", "read", "subscribe"];
            self.missing_one_of(&keys, owner, at);
        }
        let mut wanted = self.answer(expect, at);
        wanted.extend(expect_notification.and_then(|field| self.updated(&field)));
        if let Some(within) = &within
            && !wanted.iter().any(|wanted| MAY_COME.contains(&wanted.key))
        {
            self.problem(within.key, |origin| {
                let reason = "nothing is wanted of what comes after the answer";
                problems::no_effect(origin, "within", reason)
            });
        }
        let within = self.duration(within);
        let call = ResourcesCall {
            subscribe: subscribe.map(|uri| self.template(uri.value)),
            action,
            unsubscribe: unsubscribe.map(|uri| self.template(uri.value)),
            within,
        };
        (Subject::Resources(Box::new(call)), wanted)
    }

    /// `expect_notification`: what must or must not come. Under the Go tool's rules `false` checks nothing.
    fn updated(&mut self, field: &Field<bool>) -> Option<Wanted> {
        if !field.value && self.dialect() == Dialect::Compat {
            return None;
        }
        let wanted = if field.value {
            Presence::Present
        } else {
            Presence::Absent
        };
        let expectation = Expectation::Traffic(TrafficWanted::ResourceUpdated(wanted));
        Some(self.wanted("expect_notification", field.place(), expectation))
    }
}
