//! `assert_resources`

use std::time::Duration;

use super::{Lowering, subject::Made, waiting};
use crate::suite::{
    Dialect,
    model::{
        expectation::{Expectation, Presence, Wanted},
        subject::{Enough, Patience, ResourcesAction, ResourcesCall, Subject},
    },
    problems,
    raw::{Field, subject::RawResources, union::MapOrNothing, value::Text},
};

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
        if actions > 1 && self.dialect() == Dialect::Native {
            let keys = ["list", "templates", "read"];
            self.problem(at, |origin| {
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
        let within = self.duration(within);
        let mut wanted = self.answer(expect, at);
        let patience =
            expect_notification.and_then(|field| self.updated(field, within, &mut wanted));
        let call = ResourcesCall {
            subscribe: subscribe.map(|uri| self.template(uri.value)),
            action,
            unsubscribe: unsubscribe.map(|uri| self.template(uri.value)),
            patience,
        };
        (Subject::Resources(Box::new(call)), wanted)
    }

    /// `expect_notification`: what must or must not come, and how long that is waited for. Under the Go
    /// tool's rules `false` checks nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a field is used up by what it makes"
    )]
    fn updated(
        &mut self,
        field: Field<bool>,
        within: Option<Duration>,
        wanted: &mut Vec<Wanted>,
    ) -> Option<Patience> {
        if !field.value && self.dialect() == Dialect::Compat {
            return None;
        }
        let (presence, enough) = if field.value {
            let enough = Enough {
                of_method: Some("notifications/resources/updated"),
                count: 1,
                ..Enough::default()
            };
            (Presence::Present, Some(enough))
        } else {
            (Presence::Absent, None)
        };
        let expectation = Expectation::ResourceUpdated {
            wanted: presence,
            uri: None,
        };
        wanted.push(self.wanted("expect_notification", field.place(), expectation));
        Some(waiting::patience(within, enough))
    }
}
