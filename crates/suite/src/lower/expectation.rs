//! `expect`: one key, one expectation. Values that hold `{{…}}` are checked as far as they are known, kept,
//! and lowered by [`resolve`] once the names have values.

use std::{borrow::Cow, path::Path, sync::Arc};

use super::{Compiled, Lowering, Surroundings, filling};
use crate::{
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::expectation::{Beside, Expectation, Family, Unbound, Unusable, Wanted, WantedState},
    problems::{
        self, Problems,
        code::{
            BAD_SCHEMA, CONFLICTING_KEYS, MISSING_KEY, NO_MATCHER, NO_PATTERN, OUTSIDE_FIXTURE,
            WRONG_TYPE,
        },
    },
    raw::{
        Readable, Reading,
        asked::RawAsked,
        expect::{RawExpect, RawLoggingExpect, RawNotificationsExpect, RawRule},
    },
    yaml::{At, Entry, Key, Kind, Node},
};
use mcp::script::template::{Bindings, text_has_markers};
use text::{diagnostic::Severity, environment::Environment, source::Span};

/// Why a schema file cannot be read.
const SCHEMA_BY_NAME: &str = "a schema file cannot be named by a `{{…}}`";

/// Problems that are there whatever is filled in.
const CERTAIN: [&str; 6] = [
    BAD_SCHEMA,
    CONFLICTING_KEYS,
    MISSING_KEY,
    NO_MATCHER,
    NO_PATTERN,
    OUTSIDE_FIXTURE,
];

impl Wanted {
    /// The expectation as it is checked: ready since load, or made of its template and the values of the names in it.
    pub fn bind(&self, bindings: &Bindings) -> Result<Cow<'_, Expectation>, Unusable> {
        let unbound = match &self.state {
            WantedState::Ready(expectation) => return Ok(Cow::Borrowed(expectation)),
            WantedState::Templated(unbound) => unbound,
        };
        let (node, fillings) = filling::fill(self.key, &unbound.value, bindings)?;
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
        lowering.fillings = fillings;
        let found = lowering.family(unbound.family, self.key, node);
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
    /// The expectations of one key whose value is complete.
    pub(super) fn family(&mut self, family: Family, key: &'static str, value: Node) -> Vec<Wanted> {
        if let Family::Trajectory = family {
            let rule = RawRule::read(value, &mut self.reading);
            return rule
                .and_then(|rule| self.rule(rule, At::default()))
                .into_iter()
                .collect();
        }
        if let Family::Request(method) = family {
            let raw = RawAsked::read(value, &mut self.reading);
            let expectation = raw.map(|raw| self.server_requests(raw.0, Some(method)));
            return expectation
                .map(|found| self.wanted(key, At::default(), found))
                .into_iter()
                .collect();
        }
        // The map around the key is the author's, whatever was filled in as the value.
        let at = if value.at.is_written() {
            value.at
        } else {
            At::default()
        };
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
        let mut wanted = match family {
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
        };
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
        self.check_schema_names(key, &value);
        self.probe(family, key, value.clone());
        let schema_files = std::mem::take(&mut self.schema_files);
        Wanted {
            key,
            origin: self.reading.problems.origin(name.at.until(value.at)),
            state: WantedState::Templated(Box::new(Unbound {
                family,
                dialect: self.dialect(),
                value,
                schema_files,
            })),
        }
    }

    /// Tells schema files that are named by `{{…}}`: schemas are compiled when a suite is loaded, before there are values.
    fn check_schema_names(&mut self, key: &str, value: &Node) {
        match (key, &value.kind) {
            ("json_schema", Kind::Text(text, _)) if text_has_markers(text) => {
                let problem = |origin| problems::bad_schema(origin, SCHEMA_BY_NAME);
                self.problem(value.at, problem);
            }
            ("not", Kind::Map(entries)) => {
                for entry in entries {
                    self.check_schema_names(&entry.key.text, &entry.value);
                }
            }
            _ => {}
        }
    }

    /// Lowers a value with its markers as they are, for the sake of the problems that lie elsewhere in it.
    fn probe(&mut self, family: Family, key: &'static str, value: Node) {
        let file = self.reading.problems.file().clone();
        let dialect = self.dialect();
        let aside = Reading::new(self.reading.problems.empty(), dialect);
        let kept = std::mem::replace(&mut self.reading, aside);
        let mut collections = Vec::new();
        collect_collections(&value, &mut collections);
        self.family(family, key, value);
        let found = std::mem::replace(&mut self.reading, kept).problems.take();
        for problem in found {
            // A list or a map stays one whatever is filled in. Which keys a map has is the author's word alone, and
            // schemas tell by themselves what is wrong about a marker.
            let is_certain = CERTAIN.contains(&problem.code)
                || problem.code == WRONG_TYPE
                    && problem.origin.as_ref().is_some_and(|origin| {
                        Arc::ptr_eq(&origin.file, &file) && collections.contains(&origin.span)
                    });
            let depends = !is_certain
                && problem.origin.as_ref().is_none_or(|origin| {
                    let text = origin.file.text.get(origin.span.start..origin.span.end);
                    !Arc::ptr_eq(&origin.file, &file) || text.is_none_or(|text| text.contains("{{"))
                });
            if !depends {
                self.problems().add(problem);
            }
        }
    }
}

/// Where the lists and maps of a value stand.
fn collect_collections(node: &Node, found: &mut Vec<Span>) {
    match &node.kind {
        Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {}
        Kind::List(items) => {
            found.push(node.at.span);
            for item in items {
                collect_collections(item, found);
            }
        }
        Kind::Map(entries) => {
            found.push(node.at.span);
            for entry in entries {
                collect_collections(&entry.value, found);
            }
        }
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
