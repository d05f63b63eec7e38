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
use self::{entry::Found, wording::difference};
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

/// The member of a list's result, which names the list in a catalog too.
pub fn member(listing: Listing) -> &'static str {
    match listing {
        Listing::Tools => "tools",
        Listing::Prompts => "prompts",
        Listing::Resources => "resources",
        Listing::ResourceTemplates => "resourceTemplates",
    }
}

/// Compares two catalogs.
pub fn compare(old: &Value, new: &Value) -> Changes {
    let mut changes = Changes::default();
    // A bare list tells nothing of the rest; a whole catalog has what is not in it not at all.
    let is_whole = |it: &Value| it.get("capabilities").is_some();
    let is_told = |member: &str| {
        let tells = |it: &Value| is_whole(it) || it.get(member).is_some();
        tells(old) && tells(new)
    };
    for (member, compare) in [
        (
            "capabilities",
            capabilities as fn(&Value, &Value) -> Vec<Change>,
        ),
        ("instructions", instructions),
    ] {
        if is_told(member) {
            let get = |it: &Value| it.get(member).cloned().unwrap_or_default();
            changes.all.extend(compare(&get(old), &get(new)));
        } else if old.get(member).or(new.get(member)).is_some() {
            changes.uncompared.push(member.to_owned());
        }
    }
    for listing in Listing::ALL {
        let list = |it: &'_ Value| it.get(member(listing)).and_then(Value::as_array).cloned();
        if is_told(member(listing)) {
            let [old, new] = [old, new].map(|it| list(it).unwrap_or_default());
            changes.all.extend(entries(listing, &old, &new));
        } else if list(old).or(list(new)).is_some_and(|it| !it.is_empty()) {
            changes.uncompared.push(format!("{}s", listing.entry()));
        }
    }
    changes.all.sort_by_key(|it| std::cmp::Reverse(it.level));
    changes
}

/// What changed in a list.
pub(crate) fn entries(listing: Listing, old: &[Value], new: &[Value]) -> Vec<Change> {
    let (before, now) = (by_name(listing, old), by_name(listing, new));
    let gone: BTreeMap<_, _> = before
        .iter()
        .filter(|(name, _)| !now.contains_key(*name))
        .collect();
    let come: BTreeMap<_, _> = now
        .iter()
        .filter(|(name, _)| !before.contains_key(*name))
        .collect();
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
                vec![Found::new(Level::Breaking, what)]
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
fn by_name(listing: Listing, list: &[Value]) -> BTreeMap<&str, &Value> {
    let mut all = BTreeMap::new();
    for entry in list {
        if let Some(name) = entry.get(listing.key()).and_then(Value::as_str) {
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
        changes.push(Found::new(level, what).of(None, &format!("capability {name}")));
    }
    changes
}

/// The capabilities by their paths. An empty one counts as `true`.
fn paths(capabilities: &Value) -> BTreeMap<String, Value> {
    let mut all = BTreeMap::new();
    let mut waiting = vec![(String::new(), capabilities)];
    while let Some((path, value)) = waiting.pop() {
        let below = value.as_object().into_iter().flatten();
        waiting.extend(below.map(|(name, it)| match path.as_str() {
            "" => (name.clone(), it),
            path => (format!("{path}.{name}"), it),
        }));
        let value = if value.is_object() {
            &Value::Bool(true)
        } else {
            value
        };
        if !path.is_empty() {
            all.insert(path, value.clone());
        }
    }
    all
}

/// What changed in the text for the model.
fn instructions(old: &Value, new: &Value) -> Vec<Change> {
    let hidden = risk::compare(old, new);
    let said = entry::text("instructions", (old.as_str(), new.as_str()));
    let found = said.into_iter().chain(hidden);
    found.map(|it| it.of(None, "instructions")).collect()
}

impl Found {
    fn of(self, listing: Option<Listing>, name: &str) -> Change {
        let shown = |text: &str| one_line(&clean(text));
        Change {
            level: self.level,
            listing,
            name: head(&shown(name), LONGEST_NAME),
            what: shown(&self.what),
            wording: self
                .wording
                .map(|(old, new)| shown(&difference(&old, &new))),
            witness: self.witness,
            unproven: self.unproven.map(Cow::Borrowed),
            is_hint: self.is_hint,
        }
    }
}
