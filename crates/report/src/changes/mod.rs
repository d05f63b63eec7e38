//! What changed in what a server offers, and whom that concerns: callers, whose calls fail (breaking), models, which read
//! something else (risky), or nobody (safe).
//!
//! Compares two catalogs as `--save-catalog` writes them. What one of them does not tell is not compared. The schemas
//! are compared by `inclusion`: what a tool takes must not become less, what it gives must not become more. Knows nothing of
//! runs and their targets: that is `surface`.

mod entry;
mod renamed;
mod risk;
mod schema;
mod shown;
#[cfg(test)]
mod tests;
mod wording;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::shown::subject;
pub use self::shown::{details, json, markdown, text};
use crate::cleaner::one_line;
use mcp::observation::catalog::Listing;
use text::{clean, head};

/// What is said of an entry that is new and harmless.
pub(crate) const ADDED: &str = "was added";

/// Characters of a name.
const LONGEST_NAME: usize = 200;

/// Whom a change concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nobody. A stored run calls it so.
    #[serde(rename = "notable")]
    Safe,
    /// Models, which read or see something else; and callers, perhaps.
    Risky,
    /// Callers: what worked does not work any more.
    Breaking,
}

impl Level {
    /// All levels, the worst first.
    pub const ALL: [Self; 3] = [Self::Breaking, Self::Risky, Self::Safe];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Risky => "risky",
            Self::Safe => "safe",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Whom it concerns.
    #[serde(rename = "weight")]
    pub level: Level,
    /// The list of the entry; `None` for what the server says of itself.
    pub listing: Option<Listing>,
    /// The entry, or the part of the server; safe to print.
    pub name: String,
    /// What changed, in words; safe to print.
    pub what: String,
    /// The difference of two texts; safe to print.
    pub wording: Option<String>,
    /// A value that one side takes and the other refuses, or takes without reading all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<Value>,
    /// Why the level is not proven.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unproven: Option<Cow<'static, str>>,
    /// Whether only a hint changed: calls work as before.
    #[serde(skip)]
    pub(crate) is_hint: bool,
}

impl Change {
    /// A change of nothing in particular, with texts as the server wrote them.
    fn new(level: Level, what: impl Into<String>) -> Self {
        Self {
            level,
            listing: None,
            name: String::new(),
            what: what.into(),
            wording: None,
            witness: None,
            unproven: None,
            is_hint: false,
        }
    }

    /// Says what it is a change of, and makes its texts safe to print.
    fn of(self, listing: Option<Listing>, name: &str) -> Self {
        let shown = |text: &str| one_line(&clean(text));
        Self {
            listing,
            name: head(&shown(name), LONGEST_NAME),
            what: shown(&self.what),
            wording: self.wording.as_deref().map(shown),
            ..self
        }
    }

    /// It on one line.
    pub fn sentence(&self) -> String {
        format!("{} {}", subject(self), self.what)
    }
}

/// What changed between two catalogs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// The worst first, then by list and name.
    pub all: Vec<Change>,
    /// What only one of the catalogs tells.
    pub uncompared: Vec<String>,
}

impl Changes {
    /// How many changes there are of a level.
    pub fn count(&self, level: Level) -> usize {
        self.all.iter().filter(|it| it.level == level).count()
    }

    /// The worst level, if there is a change.
    pub fn worst(&self) -> Option<Level> {
        self.all.iter().map(|it| it.level).max()
    }
}

/// Compares two catalogs.
pub fn compare(old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    let mut part = |member: &str, noun: &str, compare: &dyn Fn(&Value, &Value) -> Vec<Change>| {
        // A bare list tells nothing of the rest; a whole catalog has what is not in it not at all.
        let is_told = |it: &Value| it.get("capabilities").or(it.get(member)).is_some();
        let is_empty = |it: &Value| it.as_array().map_or(it.is_null(), Vec::is_empty);
        let (old_part, new_part) = (&old[member], &new[member]);
        if is_told(old) && is_told(new) {
            changes.all.extend(compare(old_part, new_part));
        } else if !is_empty(old_part) || !is_empty(new_part) {
            changes.uncompared.push(noun.to_owned());
        }
    };
    part("capabilities", "capabilities", &capabilities);
    part("instructions", "instructions", &instructions);
    for listing in Listing::ALL {
        let noun = format!("{}s", listing.entry());
        part(listing.member(), &noun, &|old, new| {
            let [old, new] = [old, new].map(|it| it.as_array().map_or(&[][..], Vec::as_slice));
            entries(listing, old, new)
        });
    }
    changes.all.sort_by_key(|it| std::cmp::Reverse(it.level));
    changes
}

/// Entries by name or URI.
type Named<'a> = BTreeMap<&'a str, &'a Value>;

/// What changed in a list.
pub(crate) fn entries(listing: Listing, old: &[Value], new: &[Value]) -> Vec<Change> {
    let (before, now) = (by_name(listing, old), by_name(listing, new));
    let [gone, come] = [(&before, &now), (&now, &before)].map(|(here, there)| {
        let mut alone = here.clone();
        alone.retain(|name, _| !there.contains_key(name));
        alone
    });
    let names: BTreeSet<&str> = before.keys().chain(now.keys()).copied().collect();
    let mut changes = Vec::new();
    for name in names {
        let found = match (before.get(name), now.get(name)) {
            (Some(old), Some(new)) => entry::compare(listing, old, new),
            (Some(old), None) => {
                let what = match renamed::mutual(listing, (name, old), (&come, &gone)) {
                    Some(other) => format!("was removed; perhaps it is `{other}` now"),
                    None => "was removed".to_owned(),
                };
                vec![Change::new(Level::Breaking, what)]
            }
            (None, Some(new)) => {
                let mut added = entry::added(new);
                if let Some(other) = renamed::mutual(listing, (name, new), (&gone, &come)) {
                    added.what = format!("{}; perhaps it was `{other}`", added.what);
                }
                let mut found = vec![added];
                found.extend(risk::compare(&Value::Null, new));
                found
            }
            (None, None) => Vec::new(),
        };
        changes.extend(found.into_iter().map(|it| it.of(Some(listing), name)));
    }
    changes
}

/// The entries of a list by name or URI; the first of duplicates counts.
fn by_name(listing: Listing, list: &[Value]) -> Named<'_> {
    let mut all = BTreeMap::new();
    for entry in list {
        if let Some(name) = entry[listing.key()].as_str() {
            all.entry(name).or_insert(entry);
        }
    }
    all
}

/// What changed in what the server declares.
fn capabilities(old: &Value, new: &Value) -> Vec<Change> {
    let (before, now) = (paths(old), paths(new));
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let mut changes = Vec::new();
    for name in names {
        let off = Value::Bool(false);
        let get = |all: &BTreeMap<String, Value>| all.get(name).cloned().unwrap_or(off.clone());
        let (one, other) = (get(&before), get(&now));
        let (level, what) = match () {
            () if one == other => continue,
            () if other == off => (Level::Breaking, "is not declared any more".to_owned()),
            () if one == off => (Level::Safe, "is declared now".to_owned()),
            () => (Level::Risky, format!("{one} → {other}")),
        };
        changes.push(Change::new(level, what).of(None, &format!("capability {name}")));
    }
    changes
}

/// The capabilities by their paths. One that is an object counts as `true`.
fn paths(capabilities: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    for (name, value) in capabilities.as_object().into_iter().flatten() {
        let below = paths(value).into_iter();
        all.extend(below.map(|(path, it)| (format!("{name}.{path}"), it)));
        let is_object = value.is_object();
        all.insert(
            name.clone(),
            if is_object {
                true.into()
            } else {
                value.clone()
            },
        );
    }
    all
}

/// What changed in the text for the model.
fn instructions(old: &Value, new: &Value) -> Vec<Change> {
    let said = entry::text("instructions", [old, new]).into_iter();
    let found = said.chain(risk::compare(old, new));
    found.map(|it| it.of(None, "instructions")).collect()
}
