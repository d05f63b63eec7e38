//! `expect`: one key, one expectation. Values that hold `{{…}}` are parsed and checked as far as they are known, and
//! lowered by [`Wanted::bind`] once the names have values.

use std::{borrow::Cow, path::Path};

use super::{Compiled, Lowering, Surroundings, schema::SCHEMA_BY_NAME};
use crate::{
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::expectation::{
        Beside, Expectation, Family, Unbound, Unusable, Wanted, WantedState, WantedTemplate,
    },
    problems::Problems,
    raw::{
        Readable, Reading,
        asked::RawAsked,
        expect::{RawExpect, RawLoggingExpect, RawNotificationsExpect, RawRule},
    },
    yaml::{At, Entry, Key, Kind, Node},
};
use mcp::script::template::{Bindings, text_has_markers};
use text::{diagnostic::Severity, environment::Environment};

impl Wanted {
    /// The expectation as it is checked: ready since load, or made of its template and the values of the names in it.
    pub fn bind(&self, bindings: &Bindings) -> Result<Cow<'_, Expectation>, Unusable> {
        let unbound = match &self.state {
            WantedState::Ready(expectation) => return Ok(Cow::Borrowed(expectation)),
            WantedState::Templated(unbound) => unbound,
        };
        let mut filled = Vec::new();
        let value = unbound.value.bind(bindings, &mut filled)?;
        let environment = Environment::default();
        let around = Surroundings {
            environment: &environment,
            unset: UnsetVariables::Warn,
            server_from: ServerFrom::Elsewhere,
            image_from: ImageFrom::Elsewhere,
            started_in: StartedIn::Processes,
            fixture_from: FixtureFrom::Elsewhere,
            docker: None,
            directory: Path::new(""),
            read_file: &|path| {
                let file = unbound.schema_files.get(path);
                file.cloned().ok_or_else(|| SCHEMA_BY_NAME.into())
            },
            defaults: None,
        };
        let compiled = Compiled::default();
        let problems = Problems::new(self.origin.file.clone(), None);
        let reading = Reading::new(problems, unbound.dialect);
        let mut lowering = Lowering::new(reading, &around, &compiled);
        lowering.filled = filled;
        let found = lowering.family((unbound.family, self.key), At::default(), value);
        let problems = lowering.problems().take();
        let mut problems = problems.into_iter();
        if let Some(problem) = problems.find(|problem| problem.severity == Severity::Error) {
            return Err(Unusable::Wrong(problem.message));
        }
        match found.into_iter().next().map(|wanted| wanted.state) {
            Some(WantedState::Ready(expectation)) => Ok(Cow::Owned(expectation)),
            Some(WantedState::Templated(_)) | None => {
                let reason = format!("`{}` has nothing to check here", self.key);
                Err(Unusable::Wrong(reason))
            }
        }
    }
}

impl Lowering<'_> {
    /// The expectations of one key at a place.
    pub(super) fn family(
        &mut self,
        (family, key): (Family, &'static str),
        at: At,
        value: Node,
    ) -> Vec<Wanted> {
        if let Family::Trajectory = family {
            let rule = RawRule::read(value, &mut self.reading);
            return rule
                .and_then(|rule| self.rule(rule, at))
                .into_iter()
                .collect();
        }
        if let Family::Request(method) = family {
            let raw = RawAsked::read(value, &mut self.reading);
            let expectation = raw.map(|raw| self.server_requests(raw.0, Some(method)));
            return expectation
                .map(|found| self.wanted(key, at, found))
                .into_iter()
                .collect();
        }
        let entry = Entry {
            key: Key {
                text: key.to_owned(),
                at,
            },
            value,
        };
        let map = Node {
            kind: Kind::Map(vec![entry]),
            at,
        };
        self.keys(family, map)
    }

    /// The expectations of a map of them whose values are complete.
    fn keys(&mut self, family: Family, map: Node) -> Vec<Wanted> {
        match family {
            Family::Answer => {
                let raw = RawExpect::read(map, &mut self.reading);
                raw.map(|raw| self.expectations(raw)).unwrap_or_default()
            }
            Family::Logging => {
                let raw = RawLoggingExpect::read(map, &mut self.reading);
                raw.map(|raw| self.logging(raw)).unwrap_or_default()
            }
            Family::Notifications => {
                let raw = RawNotificationsExpect::read(map, &mut self.reading);
                raw.map(|raw| self.notifications(raw)).unwrap_or_default()
            }
            Family::Request(_) | Family::Trajectory => Vec::new(),
        }
    }

    /// The expectations of a map: those with `{{…}}` are kept for later, the others are ready.
    pub(super) fn expect(
        &mut self,
        family: Family,
        node: Node,
        keys: &[&'static str],
    ) -> Vec<Wanted> {
        let at = node.at;
        let Some(entries) = self.reading.map(node, "a map of expectations") else {
            return Vec::new();
        };
        let (later, now): (Vec<Entry>, Vec<Entry>) = entries.into_iter().partition(|entry| {
            keys.contains(&entry.key.text.as_str()) && has_markers(&entry.value)
        });
        for entry in &now {
            self.check_leaves_and_keys(&entry.value);
        }
        let map = Node {
            kind: Kind::Map(now),
            at,
        };
        let mut wanted = self.keys(family, map);
        for entry in later {
            let key = keys.iter().find(|key| **key == entry.key.text.as_str());
            if let Some(key) = key {
                wanted.push(self.later(family, key, &entry.key, entry.value));
            }
        }
        wanted.sort_by_key(|wanted| wanted.origin.span.start);
        wanted
    }

    /// An expectation with `{{…}}`: its names are checked, and whatever of it does not depend on them.
    pub(super) fn later(
        &mut self,
        family: Family,
        key: &'static str,
        name: &Key,
        value: Node,
    ) -> Wanted {
        self.check_leaves_and_keys(&value);
        if Beside::of_key(key) == Some(Beside::Files) {
            self.uses_fixture = true;
        }
        let origin = self.reading.problems.origin(name.at.until(value.at));
        let template = WantedTemplate::parse(key, value.clone(), &|text| self.pieces(text));
        let mut open = Vec::new();
        template.add_places(&mut open);
        self.probe(open, (family, key), name.at, value);
        let schema_files = std::mem::take(&mut self.schema_files);
        Wanted {
            key,
            origin,
            state: WantedState::Templated(Box::new(Unbound {
                family,
                dialect: self.dialect(),
                value: template,
                schema_files,
            })),
        }
    }

    /// Whether something is filled into a value later. By an alias it may stand at another place.
    pub(super) fn is_open(&self, node: &Node) -> bool {
        self.reading.problems.has_open() && has_markers(node)
    }

    /// Lowers a value before there is anything to fill in, for the sake of the problems that do not depend on it.
    fn probe(&mut self, open: Vec<At>, (family, key): (Family, &'static str), at: At, value: Node) {
        let aside = Reading::new(self.reading.problems.with_open(open), self.dialect());
        let kept = std::mem::replace(&mut self.reading, aside);
        self.family((family, key), at, value);
        let found = std::mem::replace(&mut self.reading, kept).problems.take();
        self.problems().add_all(found);
    }
}

/// Whether a marker or an escape stands in a value, keys included.
pub(super) fn has_markers(node: &Node) -> bool {
    match &node.kind {
        Kind::Null | Kind::Flag(..) | Kind::Number(..) => false,
        Kind::Text(text, _) => text_has_markers(text),
        Kind::List(items) => items.iter().any(has_markers),
        Kind::Map(entries) => entries
            .iter()
            .any(|entry| text_has_markers(&entry.key.text) || has_markers(&entry.value)),
    }
}
