//! The surface of the servers against what it was: which tools, prompts, resources and templates went or came, what
//! callers of the old ones would trip over, and what only reads differently. Where the catalogs come from is `run`'s.

pub(super) mod joined;
pub(super) mod kept;
mod limits;
mod pairing;
mod plain;
mod risk;
mod schema;
#[cfg(test)]
mod tests;
mod view;
pub(crate) mod wording;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub(super) use self::pairing::Attendance;
use self::{
    pairing::{Partner, partners},
    schema::{Difference, Effect},
    view::shown,
    wording::difference,
};
use crate::cleaner::one_line;
use mcp::observation::catalog::{Catalog, Listing};
use text::{clean, head};

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

/// What is said of an entry that is new and harmless.
pub(super) const ADDED: &str = "was added";

/// Changes of one target that are kept; the breaking ones come first.
const MOST_CHANGES: usize = 300;

/// Characters of a name.
const LONGEST_NAME: usize = 200;

/// What changed in the servers' surfaces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// By target; targets without a change are there too.
    pub targets: Vec<TargetSurface>,
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
    pub changes: Vec<SurfaceChange>,
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

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurfaceChange {
    /// How much it matters.
    pub weight: Weight,
    /// The list.
    pub listing: Listing,
    /// The entry.
    pub name: String,
    /// What changed, in words.
    pub what: String,
    /// The difference of two texts.
    pub wording: Option<String>,
}

/// How much a change matters, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// What worked with the old surface may not work with the new one.
    Breaking,
    /// It works as before, and is less safe to use.
    Risky,
    /// It works as before.
    Notable,
}

/// Which way values of a schema go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// From callers to the server: what is refused now breaks them.
    In,
    /// From the server to callers: what comes now and never came breaks them.
    Out,
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

    /// The changes of a weight: how many, and the first that is kept.
    pub fn of(&self, weight: Weight) -> (usize, Option<&SurfaceChange>) {
        let number = self.targets.iter().map(|it| match weight {
            Weight::Breaking => it.breaking,
            Weight::Risky => it.risky,
            Weight::Notable => it.changes.len() + it.left_out - it.breaking - it.risky,
        });
        let mut changes = self.targets.iter().flat_map(|it| &it.changes);
        (number.sum(), changes.find(|it| it.weight == weight))
    }

    /// Whether there is a change at all, or something that could not be compared any more.
    pub fn has_changes(&self) -> bool {
        let told = |it: &TargetSurface| !it.changes.is_empty() || !it.silent.is_empty();
        self.uncompared().next().is_some() || self.targets.iter().any(told)
    }

    /// The targets that were not compared, each with the reason.
    pub fn uncompared(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let undecided = self.uncompared.iter();
        let undecided = undecided.map(|it| {
            (
                it.as_str(),
                "nobody can say which server of the baseline it was",
            )
        });
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

impl SurfaceChange {
    /// It on one line.
    pub fn sentence(&self) -> String {
        format!("{} `{}` {}", self.listing.entry(), self.name, self.what)
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
        let is_unknown = |catalog: &Catalog| catalog.unknown.contains(&listing);
        match (is_unknown(old), is_unknown(new)) {
            (false, false) => {
                let list = |catalog| Catalog::list(catalog, listing).unwrap_or_default();
                all.extend(changes(listing, list(old), list(new)));
            }
            (true, true) => {}
            (true, false) => unknown.push(listing),
            (false, true) => {
                unknown.push(listing);
                if old.list(listing).is_some() {
                    silent.push(listing);
                }
            }
        }
    }
    all.sort_by_key(|change| change.weight);
    let of = |weight| all.iter().filter(|it| it.weight == weight).count();
    let (breaking, risky) = (of(Weight::Breaking), of(Weight::Risky));
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

/// What changed in a list.
fn changes(listing: Listing, old: &[Value], new: &[Value]) -> Vec<SurfaceChange> {
    let (before, now) = (entries(old, listing), entries(new, listing));
    let mut changes = Vec::new();
    for (name, one) in &before {
        match now.get(name) {
            Some(other) => changes.extend(entry(listing, name, one, other)),
            None => changes.push(change(Weight::Breaking, listing, name, "was removed")),
        }
    }
    for (name, new) in now.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let (weight, what) = if risk::is_worse("destructiveHint", &Value::Null, new) {
            (Weight::Risky, "was added with `destructiveHint`")
        } else {
            (Weight::Notable, ADDED)
        };
        changes.push(change(weight, listing, name, what));
        changes.extend(risks(listing, name, &Value::Null, new));
    }
    changes
}

/// The entries of a list by name or URI; the first of duplicates counts.
fn entries(list: &[Value], listing: Listing) -> BTreeMap<&str, &Value> {
    let mut all = BTreeMap::new();
    for entry in list {
        if let Some(name) = entry.get(listing.key()).and_then(Value::as_str) {
            all.entry(name).or_insert(entry);
        }
    }
    all
}

fn change(weight: Weight, listing: Listing, name: &str, what: &str) -> SurfaceChange {
    SurfaceChange {
        weight,
        listing,
        name: head(&one_line(&clean(name)), LONGEST_NAME),
        what: one_line(&clean(what)),
        wording: None,
    }
}

/// What an entry says to the model now.
fn risks(listing: Listing, name: &str, old: &Value, new: &Value) -> Vec<SurfaceChange> {
    let texts = risk::texts(old, new).into_iter();
    texts
        .map(|it| change(Weight::Risky, listing, name, &it))
        .collect()
}

/// What changed in an entry that is in both lists.
fn entry(listing: Listing, name: &str, old: &Value, new: &Value) -> Vec<SurfaceChange> {
    if old == new {
        return Vec::new();
    }
    let mut changes = risks(listing, name, old, new);
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    let mut texts = vec!["title", "description"];
    match listing {
        Listing::Tools => {
            let schema = |tool: &Value| tool.get("inputSchema").cloned().unwrap_or(true.into());
            inputs.extend(schema::compare("parameter", &schema(old), &schema(new)));
            let hints = hints(old, new).into_iter();
            changes.extend(hints.map(|(weight, what)| change(weight, listing, name, &what)));
            outputs = results(old.get("outputSchema"), new.get("outputSchema"));
        }
        Listing::Prompts => {
            inputs.extend(schema::compare(
                "argument",
                &arguments(old),
                &arguments(new),
            ));
        }
        Listing::Resources | Listing::ResourceTemplates => texts.extend(["name", "mimeType"]),
    }
    inputs.extend(texts.into_iter().filter_map(|it| text(it, old, new)));
    let inputs = inputs.into_iter().map(|it| (Flow::In, it));
    let outputs = outputs.into_iter().map(|it| (Flow::Out, it));
    changes.extend(inputs.chain(outputs).map(|(flow, it)| SurfaceChange {
        wording: it.wording.map(|text| one_line(&clean(&text))),
        ..change(weight(it.effect, flow), listing, name, &it.what)
    }));
    changes
}

fn weight(effect: Effect, flow: Flow) -> Weight {
    match (effect, flow) {
        (Effect::Both, _) | (Effect::Narrowed, Flow::In) | (Effect::Widened, Flow::Out) => {
            Weight::Breaking
        }
        (Effect::None, _) | (Effect::Widened, Flow::In) | (Effect::Narrowed, Flow::Out) => {
            Weight::Notable
        }
    }
}

/// The schema of what comes out.
fn results(old: Option<&Value>, new: Option<&Value>) -> Vec<Difference> {
    match (old, new) {
        (Some(old), Some(new)) => schema::compare("output", old, new),
        (Some(_), None) => {
            let what = "the output schema was removed";
            vec![Difference::new(Effect::Both, what.to_owned())]
        }
        (None, Some(_)) => {
            let what = "an output schema was added";
            vec![Difference::new(Effect::None, what.to_owned())]
        }
        (None, None) => Vec::new(),
    }
}

/// The hints about a tool's behaviour, and how it may be run.
fn hints(old: &Value, new: &Value) -> Vec<(Weight, String)> {
    let mut found = Vec::new();
    for member in ["annotations", "execution"] {
        let map = |tool: &Value| tool.get(member).and_then(Value::as_object).cloned();
        let (before, now) = (map(old).unwrap_or_default(), map(new).unwrap_or_default());
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        for name in names {
            let (one, other) = (before.get(name), now.get(name));
            if one == other {
                continue;
            }
            let words = |value: Option<&Value>| value.map_or("not set".to_owned(), shown);
            let what = format!("{member} `{name}`: {} → {}", words(one), words(other));
            // A caller that knows no tasks cannot call it any more.
            let needed = name == "taskSupport" && other.is_some_and(|it| it == "required");
            let weight = if needed {
                Weight::Breaking
            } else if risk::is_worse(name, old, new) {
                Weight::Risky
            } else {
                Weight::Notable
            };
            found.push((weight, what));
        }
    }
    found
}

/// The arguments of a prompt as a schema.
fn arguments(prompt: &Value) -> Value {
    let all = prompt.get("arguments").and_then(Value::as_array);
    let named = all.into_iter().flatten();
    let named = named.filter_map(|it| Some((it.get("name")?.as_str()?, it)));
    let needed = named
        .clone()
        .filter(|(_, it)| it.get("required") == Some(&Value::Bool(true)));
    let required: Value = needed.map(|(name, _)| name).collect();
    let texts = named.map(|(name, it)| {
        (
            name.to_owned(),
            json!({"description": it.get("description")}),
        )
    });
    json!({"properties": texts.collect::<Map<_, _>>(), "required": required})
}

/// A text of an entry.
fn text(member: &str, old: &Value, new: &Value) -> Option<Difference> {
    let text = |entry: &Value| {
        let text = entry.get(member).and_then(Value::as_str);
        text.unwrap_or_default().trim().to_owned()
    };
    let (before, now) = (text(old), text(new));
    (before != now).then(|| Difference {
        wording: Some(difference(&before, &now)),
        ..Difference::new(Effect::None, format!("{member} changed"))
    })
}
