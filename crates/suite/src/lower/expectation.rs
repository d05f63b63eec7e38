//! `expect`: one key, one expectation. Values that hold `{{…}}` are parsed and checked as far as they are known, and
//! lowered by [`Wanted::bind`] once the names have values.

use std::{borrow::Cow, path::Path};

use super::{Compiled, Lowering, Surroundings};
use crate::{
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::expectation::{
        Beside, Expectation, Family, Since, TrafficWanted, Unbound, Unusable, Wanted, WantedState,
        WantedTemplate,
    },
    problems::{self, Problems},
    raw::{
        Readable, Reading,
        asked::RawAsked,
        expect::{RawExpect, RawLoggingExpect, RawNotificationsExpect},
    },
    yaml::{At, Entry, Key, Kind, Leaf, Node},
};
use mcp::script::template::{Bindings, text_has_markers};
use text::{diagnostic::Severity, environment::Environment};

impl Wanted {
    /// The expectation: as it was loaded, or made of its template and the values of the names.
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
                file.cloned()
                    .ok_or_else(|| "it could not be read at load".into())
            },
            defaults: None,
        };
        let compiled = Compiled::default();
        let problems = Problems::new(self.origin.file.clone(), None);
        let reading = Reading::new(problems, unbound.dialect);
        let mut lowering = Lowering::new(reading, &around, &compiled);
        lowering.filled = filled;
        let found = lowering.family((unbound.family, self.key), At::default(), value);
        let mut problems = lowering.problems().take().into_iter();
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
        match family {
            Family::Trajectory => self.rule(value, at).into_iter().collect(),
            Family::Request(method) => {
                let raw = RawAsked::read(value, &mut self.reading);
                let wanted = raw.map(|raw| self.server_requests(raw.0, Some(method)));
                let wanted = wanted.map(|wanted| self.wanted(key, at, wanted));
                wanted.into_iter().collect()
            }
            Family::Answer | Family::Logging | Family::Notifications => {
                let text = key.to_owned();
                let key = Key { text, at };
                self.keys(family, vec![Entry { key, value }], at)
            }
        }
    }

    /// The expectations of a map of them whose values are complete.
    fn keys(&mut self, family: Family, entries: Vec<Entry>, at: At) -> Vec<Wanted> {
        match family {
            Family::Answer => {
                let kind = Kind::Map(entries);
                let raw = RawExpect::read(Node { kind, at }, &mut self.reading);
                raw.map(|raw| self.expectations(raw)).unwrap_or_default()
            }
            Family::Logging => self.each_key(entries, RawLoggingExpect::KEYS, Self::logging),
            Family::Notifications => {
                let named = entries.iter().any(|entry| names_progress(&entry.value));
                self.each_key(entries, RawNotificationsExpect::KEYS, |it, raw| {
                    let wanted = it.notifications_wanted(raw, Since::TheBeginning, named);
                    TrafficWanted::Notifications(Box::new(wanted))
                })
            }
            Family::Request(_) | Family::Trajectory => Vec::new(),
        }
    }

    /// An expectation for each of these keys in a map.
    fn each_key<R: Readable, W: Into<Expectation>>(
        &mut self,
        entries: Vec<Entry>,
        keys: &[&'static str],
        lower: impl Fn(&mut Self, R) -> W,
    ) -> Vec<Wanted> {
        let mut all = Vec::new();
        for entry in entries {
            let (key, value) = (&entry.key, &entry.value);
            let at = key.at.until(value.at);
            let known = keys.iter().find(|known| **known == key.text);
            let known = known.filter(|_| !value.is_null());
            let is_empty = value.kind == Kind::List(Vec::new());
            let nothing = problems::empty_value(&key.text);
            let (place, before) = (key.at, self.problems().count());
            let kind = Kind::Map(vec![entry]);
            let raw = R::read(Node { kind, at }, &mut self.reading);
            if is_empty && self.problems().count() == before {
                self.problem(place, nothing);
                continue;
            }
            if let (Some(raw), Some(key)) = (raw, known) {
                let wanted = lower(self, raw);
                all.push(self.wanted(key, at, wanted));
            }
        }
        all
    }

    /// The expectations of a map: those with `{{…}}` are kept for later, the others are ready.
    pub(super) fn expect(
        &mut self,
        family: Family,
        field: Option<Node>,
        keys: &[&'static str],
    ) -> Vec<Wanted> {
        let Some(node) = field else { return Vec::new() };
        let at = node.at;
        let Some(entries) = self.reading.map(node, "a map of expectations") else {
            return Vec::new();
        };
        let known = |entry: &Entry| keys.iter().find(|key| **key == entry.key.text).copied();
        let (later, now): (Vec<Entry>, Vec<Entry>) = entries
            .into_iter()
            .partition(|entry| known(entry).is_some() && has_markers(&entry.value));
        for entry in &now {
            self.check_leaves_and_keys(&entry.value);
        }
        let mut wanted = self.keys(family, now, at);
        for entry in later {
            if let Some(key) = known(&entry) {
                wanted.push(self.later(family, key, &entry.key, entry.value));
            }
        }
        wanted.sort_by_key(|wanted| wanted.origin.span.start);
        wanted
    }

    /// An expectation with `{{…}}`: its names are checked, and everything in it that does not depend on them.
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
        let template = WantedTemplate {
            key,
            value: value.clone(),
        };
        let open = template.open_places();
        // OptionalSubject once without values, for the problems that do not depend on them.
        let aside = Reading::new(self.reading.problems.with_open(open), self.dialect());
        let kept = std::mem::replace(&mut self.reading, aside);
        self.family((family, key), name.at, value);
        let found = std::mem::replace(&mut self.reading, kept).problems.take();
        self.problems().add_all(found);
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

    /// Whether a value is filled in later. By an alias it may stand at another place.
    pub(super) fn is_open(&self, node: &Node) -> bool {
        self.reading.problems.has_open() && has_markers(node)
    }
}

/// Whether a marker or an escape stands in a value, keys included.
pub(super) fn has_markers(node: &Node) -> bool {
    let mut found = false;
    node.visit(&mut |leaf| {
        found |= match leaf {
            Leaf::Key(key) => text_has_markers(&key.text),
            Leaf::Scalar(node) => {
                matches!(&node.kind, Kind::Text(text, _) if text_has_markers(text))
            }
        };
    });
    found
}

/// Whether progress is one of the methods in a value.
fn names_progress(node: &Node) -> bool {
    let mut found = false;
    node.visit(&mut |leaf| {
        if let Leaf::Scalar(node) = leaf {
            found |= node.written() == Some("notifications/progress");
        }
    });
    found
}
