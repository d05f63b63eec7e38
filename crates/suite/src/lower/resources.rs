//! `assert_resources`

use super::{Lowering, subject::LoweredSubject};
use crate::{
    model::expectation::{Presence, TrafficWanted, Wanted},
    problems,
    raw::{Field, subject::RawResources, value::Text},
};
use mcp::script::subject::{ResourcesAction, ResourcesCall, Subject};

impl Lowering<'_> {
    /// `assert_resources`
    pub(super) fn resources_subject(&mut self, field: Field<Box<RawResources>>) -> LoweredSubject {
        let (mut raw, at) = (field.value, field.key);
        let owner = "`assert_resources`";
        let count = |raw: &RawResources| {
            let actions = [
                raw.list.is_some(),
                raw.templates.is_some(),
                raw.read.is_some(),
            ];
            actions.into_iter().filter(|is_there| *is_there).count()
        };
        if count(&raw) > 1 {
            raw.list = self.unless_empty("list", raw.list, |list| list.0.is_none());
            raw.templates = self.unless_empty("templates", raw.templates, |it| it.0.is_none());
            raw.read = self.unless_empty("read", raw.read, Text::is_blank);
        }
        if count(&raw) > 1 {
            let keys = ["list", "templates", "read"];
            self.native_problem(at, problems::conflicting_keys(&keys, owner));
        }
        let action = match (raw.list, raw.templates, raw.read) {
            (Some(list), _, _) => Some(ResourcesAction::List(self.list(list))),
            (None, Some(templates), _) => Some(ResourcesAction::Templates(self.list(templates))),
            (None, None, Some(uri)) => Some(ResourcesAction::Read(self.template(uri.value))),
            (None, None, None) => None,
        };
        if action.is_none() && raw.subscribe.is_none() {
            let keys = ["list", "templates", "read", "subscribe"];
            self.missing_one_of(&keys, owner, at);
        }
        let mut wanted = self.answer(raw.expect, at);
        let updated = raw.expect_notification;
        wanted.extend(updated.and_then(|field| self.updated(&field)));
        let call = ResourcesCall {
            within: self.duration(raw.within),
            subscribe: raw.subscribe.map(|uri| self.template(uri.value)),
            action,
            unsubscribe: raw.unsubscribe.map(|uri| self.template(uri.value)),
        };
        (Subject::Resources(Box::new(call)), wanted)
    }

    /// `expect_notification`. Under the Go tool's rules `false` checks nothing.
    fn updated(&mut self, field: &Field<bool>) -> Option<Wanted> {
        let presence = match field.value {
            true => Presence::Present,
            false if self.is_compat() => return None,
            false => Presence::Absent,
        };
        let wanted = TrafficWanted::ResourceUpdated(presence);
        Some(self.wanted("expect_notification", field.place(), wanted))
    }
}
