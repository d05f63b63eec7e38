//! Two versions of a JSON Schema: what the new one refuses that the old one took, and the other way round. A
//! statement about the schemas as written, sound for what servers declare in practice; it proves nothing about two
//! schemas that say the same in different ways.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    limits,
    plain::{Plain, canonical, meaning},
    text,
    view::{
        alternatives, below, brief, list, properties, refuses_all, required, shown, spread, types,
        values,
    },
};

/// Schemas within schemas that are compared.
const DEEPEST: usize = 32;

/// Pairs of schemas that are compared: nested alternatives make three pairs of two, and three of each of those.
const MOST_PAIRS: usize = 4_000;

/// Which values a change lets in or keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Some values are not valid any more.
    Narrowed,
    /// More values are valid.
    Widened,
    /// Both, or unknown.
    Both,
    /// The same values are valid.
    None,
}

impl Effect {
    /// The effect of the opposite change.
    pub(super) fn opposite(self) -> Self {
        match self {
            Self::Narrowed => Self::Widened,
            Self::Widened => Self::Narrowed,
            Self::Both | Self::None => self,
        }
    }
}

/// One difference.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    /// What it does to the values.
    pub(super) effect: Effect,
    /// What it is, in words.
    pub(super) what: String,
    /// The difference of two texts.
    pub(super) wording: Option<String>,
}

impl Difference {
    pub(super) fn new(effect: Effect, what: String) -> Self {
        Self {
            effect,
            what,
            wording: None,
        }
    }
}

/// Compares the schemas of parameters or of results. `noun` is what a member is called.
pub(super) fn compare(noun: &'static str, old: &Value, new: &Value) -> Vec<Difference> {
    if old == new {
        return Vec::new();
    }
    let (before, now) = (Plain::of(old), Plain::of(new));
    let is_cut = before.is_cut || now.is_cut;
    let mut walk = Walk {
        noun,
        found: Vec::new(),
        depth: 0,
        pairs: 0,
        is_cut,
    };
    walk.pair("", &before.schema, &now.schema);
    if walk.is_cut {
        let what = format!("the schema is too large to compare every {noun}");
        walk.found.push(Difference::new(Effect::Both, what));
    }
    if !is_cut && meaning(&before.schema) == meaning(&now.schema) {
        walk.found.retain(|it| it.effect == Effect::None);
    }
    // What holds for all alternatives is seen in each of them.
    let mut told = BTreeSet::new();
    walk.found
        .retain(|it| told.insert((it.what.clone(), it.wording.clone())));
    walk.found
}

struct Walk {
    noun: &'static str,
    found: Vec<Difference>,
    depth: usize,
    pairs: usize,
    /// Whether a bound kept something from being compared.
    is_cut: bool,
}

impl Walk {
    fn add(&mut self, path: &str, effect: Effect, what: impl AsRef<str>) {
        let place = self.place(path);
        let what = format!("{place}: {}", what.as_ref());
        self.found.push(Difference::new(effect, what));
    }

    fn place(&self, path: &str) -> String {
        if path.is_empty() {
            format!("all {}s", self.noun)
        } else {
            format!("{} `{path}`", self.noun)
        }
    }

    fn pair(&mut self, path: &str, old: &Value, new: &Value) {
        if old == new {
            return;
        }
        self.pairs += 1;
        if self.depth >= DEEPEST || self.pairs > MOST_PAIRS {
            self.is_cut = true;
            return;
        }
        match (refuses_all(old), refuses_all(new)) {
            (true, true) => return,
            (false, true) => {
                return self.add(path, Effect::Narrowed, "nothing is allowed any more");
            }
            (true, false) => return self.add(path, Effect::Widened, "is allowed now"),
            (false, false) => {}
        }
        self.depth += 1;
        self.texts(path, old, new);
        match (alternatives(old), alternatives(new)) {
            (None, None) => self.rules(path, old, new),
            (Some((_, before)), Some((_, now))) => {
                self.rules(path, old, new);
                self.alternatives(path, before, now);
            }
            (Some(_), None) | (None, Some(_)) => {
                self.alternatives(path, &spread(old), &spread(new));
            }
        }
        self.depth -= 1;
    }

    /// What people and models read.
    fn texts(&mut self, path: &str, old: &Value, new: &Value) {
        for keyword in ["title", "description"] {
            // Most servers make the title of the whole from a function's name.
            if let Some(found) = text(keyword, old, new)
                && !(keyword == "title" && path.is_empty())
            {
                let what = format!("{}: {}", self.place(path), found.what);
                self.found.push(Difference { what, ..found });
            }
        }
        let (before, now) = (old.get("default"), new.get("default"));
        if before != now {
            let words = |value: Option<&Value>| value.map_or("none".to_owned(), shown);
            let what = format!("default changed from {} to {}", words(before), words(now));
            self.add(path, Effect::None, what);
        }
    }

    fn rules(&mut self, path: &str, old: &Value, new: &Value) {
        if self.types(path, old, new) == Types::Disjoint {
            return;
        }
        self.values(path, old, new);
        for (effect, what) in limits::compare(old, new) {
            self.add(path, effect, what);
        }
        self.members(path, old, new);
        let items = format!("{path}[]");
        let (one, other) = (below(old, "items"), below(new, "items"));
        // Older drafts have a list of positions there.
        if one.is_array() || other.is_array() {
            if meaning(one) != meaning(other) {
                self.add(&items, Effect::Both, "changed");
            }
        } else {
            self.pair(&items, one, other);
        }
    }

    fn types(&mut self, path: &str, old: &Value, new: &Value) -> Types {
        let (before, now) = (types(old), types(new));
        if before == now {
            return Types::Shared;
        }
        let covers = |all: &Option<Vec<&str>>, one: &str| {
            all.as_ref()
                .is_none_or(|all| all.contains(&one) || one == "integer" && all.contains(&"number"))
        };
        let lost = |from: &Option<Vec<&str>>, to: &Option<Vec<&str>>| match from {
            Some(types) => types.iter().any(|one| !covers(to, one)),
            None => true,
        };
        let effect = match (lost(&before, &now), lost(&now, &before)) {
            (true, false) => Effect::Narrowed,
            (false, true) => Effect::Widened,
            (true, true) => Effect::Both,
            (false, false) => return Types::Shared,
        };
        let words = |types: &Option<Vec<&str>>| match types {
            Some(types) => format!("`{}`", types.join(" or ")),
            None => "any type".to_owned(),
        };
        let what = format!("type changed from {} to {}", words(&before), words(&now));
        self.add(path, effect, what);
        match effect {
            Effect::Both => Types::Disjoint,
            Effect::Narrowed | Effect::Widened | Effect::None => Types::Shared,
        }
    }

    fn values(&mut self, path: &str, old: &Value, new: &Value) {
        match (values(old), values(new)) {
            (None, Some(now)) => {
                self.add(path, Effect::Narrowed, format!("only {} now", list(&now)));
            }
            (Some(before), None) => {
                let what = format!("not only {} any more", list(&before));
                self.add(path, Effect::Widened, what);
            }
            (Some(before), Some(now)) => {
                for (values, effect, word) in [
                    (only_in(&before, &now), Effect::Narrowed, "removed from"),
                    (only_in(&now, &before), Effect::Widened, "added to"),
                ] {
                    if !values.is_empty() {
                        let what = format!("{word} its values: {}", list(&values));
                        self.add(path, effect, what);
                    }
                }
            }
            (None, None) => {}
        }
    }

    fn members(&mut self, path: &str, old: &Value, new: &Value) {
        let (before, now) = (properties(old), properties(new));
        let (needed, needs) = (required(old), required(new));
        let inner = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        for (name, schema) in &before {
            match now.get(name) {
                Some(other) => self.pair(&inner(name), schema, other),
                None => self.add(&inner(name), Effect::Both, "was removed"),
            }
        }
        for name in now.keys().filter(|name| !before.contains_key(*name)) {
            let (effect, what) = if needs.contains(name) {
                (Effect::Narrowed, "was added and is required")
            } else {
                (Effect::None, "was added")
            };
            self.add(&inner(name), effect, what);
        }
        for name in &needs {
            let is_new = !before.contains_key(name) && now.contains_key(name);
            if !needed.contains(name) && !is_new {
                self.add(&inner(name), Effect::Narrowed, "is required now");
            }
        }
        for name in &needed {
            let is_gone = before.contains_key(name) && !now.contains_key(name);
            if !needs.contains(name) && !is_gone {
                self.add(&inner(name), Effect::Widened, "is not required any more");
            }
        }
        let (open, opens) = (
            below(old, "additionalProperties"),
            below(new, "additionalProperties"),
        );
        match (refuses_all(open), refuses_all(opens)) {
            (false, true) => self.add(path, Effect::Narrowed, "further members are refused now"),
            (true, false) => self.add(path, Effect::Widened, "further members are allowed now"),
            (true, true) => {}
            (false, false) => self.pair(&inner("*"), open, opens),
        }
    }

    /// Passes over alternatives that mean the same, and compares the others with those of the same types.
    fn alternatives(&mut self, path: &str, old: &[Value], new: &[Value]) {
        let (gone, come) = (unlike(old, new), unlike(new, old));
        if let ([one], [other]) = (&gone[..], &come[..]) {
            return self.pair(path, one, other);
        }
        let (olds, news) = (by_types(&gone), by_types(&come));
        for one in gone {
            let Some(other) = news.get(&types(one)) else {
                let what = format!("the alternative {} was removed", brief(one));
                self.add(path, Effect::Narrowed, what);
                continue;
            };
            self.pair(path, one, other);
        }
        for other in come {
            match olds.get(&types(other)) {
                // Compared above.
                Some(_) if std::ptr::eq(news[&types(other)], other) => {}
                Some(one) => self.pair(path, one, other),
                None => {
                    let what = format!("the alternative {} was added", brief(other));
                    self.add(path, Effect::Widened, what);
                }
            }
        }
    }
}

/// The first alternative of each set of types.
fn by_types<'a>(all: &[&'a Value]) -> BTreeMap<Option<Vec<&'a str>>, &'a Value> {
    all.iter().rev().map(|it| (types(it), *it)).collect()
}

/// The alternatives of one list that the other one lacks.
fn unlike<'a>(one: &'a [Value], other: &[Value]) -> Vec<&'a Value> {
    let known: BTreeSet<String> = other.iter().map(meaning).collect();
    let alternatives = one.iter();
    alternatives
        .filter(|it| !known.contains(&meaning(it)))
        .collect()
}

/// The values of one list that the other one lacks.
fn only_in<'a>(one: &[&'a Value], other: &[&Value]) -> Vec<&'a Value> {
    let known: BTreeSet<String> = other.iter().map(|value| canonical(value)).collect();
    let values = one.iter().copied();
    values
        .filter(|value| !known.contains(&canonical(value)))
        .collect()
}

/// Whether two sets of types have anything in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Types {
    Shared,
    Disjoint,
}
