//! The surfaces of a run's servers against what they were: which server was which, and what `changes` finds between the
//! lists of the two. Where the catalogs come from is `run`'s.

pub(super) mod joined;
pub(super) mod kept;
pub mod locked;
mod pairing;
#[cfg(test)]
mod tests;

use std::{cmp::Reverse, collections::BTreeMap};

use serde::{Deserialize, Serialize};

pub(super) use self::pairing::Attendance;
use self::pairing::{Partner, partners};
use crate::changes::{self, Change, Level};
use mcp::observation::catalog::{Catalog, Listing};

/// The catalogs of a run, by the name of the target and the clients that it is for: a server may list other tools for a
/// client that declares sampling, so each set of declared capabilities has a catalog of its own.
pub type Catalogs = BTreeMap<String, Catalog>;

/// What stands between a target's name and what its clients are like.
pub(super) const CLIENTS: &str = " for clients that ";

/// The name of a target, as clients with these capabilities see it.
pub(super) fn name_for(target: &str, capabilities: &[String]) -> String {
    if capabilities.is_empty() {
        return target.to_owned();
    }
    let is_revision = |it: &&String| it.starts_with("revision ");
    let (revision, declared): (Vec<_>, Vec<_>) = capabilities.iter().partition(is_revision);
    let part = |verb: &str, what: &[&String]| {
        let what: Vec<&str> = what.iter().map(|it| it.as_str()).collect();
        (!what.is_empty()).then(|| format!("{verb} {}", what.join(", ")))
    };
    let parts = [part("declare", &declared), part("ask for", &revision)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{target}{CLIENTS}{}", parts.join(" and "))
}

/// Changes of one target that are kept; the breaking ones come first.
const MOST_CHANGES: usize = 300;

/// Bytes of a witness that is kept.
const LONGEST_WITNESS: usize = 1_000;

/// What changed in the servers' surfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// By target; targets without a change are there too.
    pub targets: Vec<TargetSurface>,
    /// The lock file that it is compared with, if it is not the baseline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Targets without a known counterpart in the baseline; they were not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncompared: Vec<String>,
    /// Targets of the baseline that were not looked at, because the assertions that would have were skipped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
}

/// What changed in the surface of one target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetSurface {
    /// The target.
    pub name: String,
    /// The changes, breaking ones first, then risky ones.
    pub changes: Vec<Change>,
    /// Changes that are not kept here.
    pub left_out: usize,
    /// Breaking changes, kept or not.
    pub breaking: usize,
    /// Risky changes, kept or not.
    #[serde(default)]
    pub risky: usize,
    /// Lists that could not be compared, because one of the two is not known. One that is never told, then as now, is
    /// none of the surface.
    pub unknown: Vec<Listing>,
    /// Of these, lists that were known, and that the target would not tell now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Listing>,
}

impl Surface {
    /// Breaking changes of all targets; `None` if there are none and not everything was compared.
    pub fn breaking(&self) -> Option<usize> {
        let found = self.targets.iter().map(|it| it.breaking).sum();
        let whole = !self.targets.is_empty()
            && self.uncompared.is_empty()
            && self.skipped.is_empty()
            && self.targets.iter().all(|it| it.unknown.is_empty());
        (found > 0 || whole).then_some(found)
    }

    /// The changes of a level: how many, and the first that is kept.
    pub fn of(&self, level: Level) -> (usize, Option<&Change>) {
        let number = self.targets.iter().map(|it| match level {
            Level::Breaking => it.breaking,
            Level::Risky => it.risky,
            Level::Safe => it.changes.len() + it.left_out - it.breaking - it.risky,
        });
        let mut changes = self.targets.iter().flat_map(|it| &it.changes);
        (number.sum(), changes.find(|it| it.level == level))
    }

    /// Whether there is a change at all, or something that could not be compared any more.
    pub fn has_changes(&self) -> bool {
        let told = |it: &TargetSurface| !it.changes.is_empty() || !it.silent.is_empty();
        self.uncompared().next().is_some() || self.targets.iter().any(told)
    }

    /// The targets that were not compared, each with the reason.
    pub fn uncompared(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let why = match self.file {
            Some(_) => "it is locked, and no server of this run calls itself so",
            None => "nobody can say which server of the baseline it was",
        };
        let undecided = self.uncompared.iter();
        let undecided = undecided.map(move |it| (it.as_str(), why));
        let skipped = self.skipped.iter();
        let skipped =
            skipped.map(|it| (it.as_str(), "the assertions that talk to it were skipped"));
        undecided.chain(skipped)
    }

    /// The targets that may hide a breaking change: those not compared, and those with a list that is not known any more.
    pub fn unjudged(&self) -> Vec<&str> {
        let silent = self.targets.iter().filter(|it| !it.silent.is_empty());
        let silent = silent.map(|it| it.name.as_str());
        let uncompared = self.uncompared.iter().map(String::as_str);
        uncompared.chain(silent).collect()
    }
}

impl TargetSurface {
    /// Whether a report has something to say of it.
    pub fn is_told(&self) -> bool {
        !self.changes.is_empty() || !self.unknown.is_empty()
    }

    /// What was not compared, as `tools, prompts`.
    pub fn unknown_lists(&self) -> Option<String> {
        let names = self.unknown.iter().map(|it| format!("{}s", it.entry()));
        let names: Vec<String> = names.collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}

/// Compares the catalogs of a run with those of before.
pub fn compare(before: &Catalogs, now: &Catalogs, attendance: &Attendance) -> Surface {
    let mut surface = Surface::default();
    let partners = partners(before, now, attendance);
    let skipped = partners.skipped.into_iter();
    let skipped = skipped.filter(|(_, catalog)| is_told(catalog));
    surface.skipped = skipped.map(|(name, _)| name.to_owned()).collect();
    for (name, catalog, partner) in partners.now {
        match partner {
            Partner::Was(old) if is_told(old) || is_told(catalog) => {
                surface.targets.push(target(name, old, catalog));
            }
            Partner::Was(_) | Partner::New => {}
            Partner::Undecided => surface.uncompared.push(name.to_owned()),
        }
    }
    surface
}

/// Whether anything of a target is known.
fn is_told(catalog: &Catalog) -> bool {
    let has = |listing| catalog.list(listing).is_some();
    catalog.unknown.is_empty() || Listing::ALL.into_iter().any(has)
}

fn target(name: &str, old: &Catalog, new: &Catalog) -> TargetSurface {
    let mut all = Vec::new();
    let (mut unknown, mut silent) = (Vec::new(), Vec::new());
    for listing in Listing::ALL {
        let [was_unknown, is_unknown] = [old, new].map(|it| it.unknown.contains(&listing));
        if was_unknown != is_unknown {
            unknown.push(listing);
            silent.extend((is_unknown && old.list(listing).is_some()).then_some(listing));
        } else if !is_unknown {
            let [was, is] = [old, new].map(|it| it.list(listing).unwrap_or_default());
            all.extend(changes::entries(listing, was, is).into_iter().map(kept));
        }
    }
    all.sort_by_key(|change| Reverse(change.level));
    let of = |level| all.iter().filter(|it| it.level == level).count();
    let (breaking, risky) = (of(Level::Breaking), of(Level::Risky));
    let left_out = all.len().saturating_sub(MOST_CHANGES);
    all.truncate(MOST_CHANGES);
    TargetSurface {
        name: name.to_owned(),
        changes: all,
        left_out,
        breaking,
        risky,
        unknown,
        silent,
    }
}

/// A change as a run keeps it.
fn kept(change: Change) -> Change {
    let witness = change.witness.map(|it| kept::harmless(&it));
    let witness = witness.filter(|it| it.to_string().len() <= LONGEST_WITNESS);
    // What only got less safe breaks no caller.
    let level = if change.is_hint {
        change.level.min(Level::Risky)
    } else {
        change.level
    };
    Change {
        level,
        witness,
        ..change
    }
}
