//! Two versions of a JSON Schema: what the new one refuses that the old one took, and the other way round. A
//! statement about the schemas as written, sound for what servers declare in practice; it proves nothing about two
//! schemas that say the same in different ways.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    limits,
    plain::{Plain, canonical, meaning},
    view::{
        alternatives, below, brief, list, properties, refuses_all, required, shown, spread, types,
        values,
    },
    wording::difference,
};

/// Schemas within schemas that are compared.
const DEEPEST: usize = 32;

/// Pairs of schemas that are compared for one entry; beyond that it is said to be too large.
const MOST_PAIRS: usize = 4_000;

/// Constants that are compared in the time of a pair.
const OF_A_PAIR: usize = 16;

/// Alternatives of one schema that are matched with each other.
const MOST_ALTERNATIVES: usize = 24;

/// Which values a change lets in or keeps out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Some values are not valid any more.
    Narrowed,
    /// More values are valid.
    Widened,
    /// Both, or nobody can tell.
    Both,
    /// The same values are valid.
    None,
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
        pairs_left: MOST_PAIRS,
        is_cut,
    };
    walk.pair("", &before.schema, &now.schema);
    if walk.is_cut {
        walk.found.push(Difference {
            effect: Effect::Both,
            what: format!("the schema is too large to compare every {noun}"),
            wording: None,
        });
    }
    if !is_cut && meaning(&before.schema) == meaning(&now.schema) {
        walk.found.retain(is_harmless);
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
    pairs_left: usize,
    /// Whether a bound kept something from being compared.
    is_cut: bool,
}

impl Walk {
    fn add(&mut self, path: &str, effect: Effect, what: impl AsRef<str>) {
        let place = self.place(path);
        let what = format!("{place}: {}", what.as_ref());
        self.found.push(Difference {
            effect,
            what,
            wording: None,
        });
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
        if self.pairs_left == 0 || self.depth >= DEEPEST {
            self.is_cut = true;
            return;
        }
        self.pairs_left -= 1;
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
                let most = MOST_ALTERNATIVES + 1;
                self.alternatives(path, &spread(old, most), &spread(new, most));
            }
        }
        self.depth -= 1;
    }

    /// What people and models read.
    fn texts(&mut self, path: &str, old: &Value, new: &Value) {
        for keyword in ["title", "description"] {
            let text = |value: Option<&Value>| {
                let text = value.and_then(Value::as_str).unwrap_or_default();
                text.trim().to_owned()
            };
            let (before, now) = (text(old.get(keyword)), text(new.get(keyword)));
            // Most servers make the title of the whole from a function's name.
            if before != now && !(keyword == "title" && path.is_empty()) {
                let what = format!("{}: {keyword} changed", self.place(path));
                self.found.push(Difference {
                    effect: Effect::None,
                    what,
                    wording: Some(difference(&before, &now)),
                });
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
        let tuple = |schema: &Value| schema.get("items").is_some_and(Value::is_array);
        if !tuple(old) && !tuple(new) {
            self.pair(&items, below(old, "items"), below(new, "items"));
        }
        self.tuple(path, old, new);
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
                let constants = before.len().saturating_add(now.len());
                self.pairs_left = self.pairs_left.saturating_sub(constants / OF_A_PAIR);
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

    /// Positions of an array; older drafts have them under `items`.
    fn tuple(&mut self, path: &str, old: &Value, new: &Value) {
        fn positions(schema: &Value) -> &[Value] {
            let listed = schema.get("prefixItems").or_else(|| schema.get("items"));
            listed.and_then(Value::as_array).map_or(&[], Vec::as_slice)
        }
        let (before, now) = (positions(old), positions(new));
        for index in 0..before.len().max(now.len()) {
            let place = format!("{path}[{index}]");
            match (before.get(index), now.get(index)) {
                (Some(one), Some(other)) => self.pair(&place, one, other),
                (None, Some(_)) => self.add(&place, Effect::Narrowed, "is described now"),
                (Some(_), None) => {
                    self.add(&place, Effect::Widened, "is not described any more");
                }
                (None, None) => {}
            }
        }
    }

    /// Matches alternatives that allow the same; of what is left, says what it lost or gained.
    fn alternatives(&mut self, path: &str, old: &[Value], new: &[Value]) {
        if old.len().max(new.len()) > MOST_ALTERNATIVES {
            let (before, now) = (unlike(old, new), unlike(new, old));
            if before.len().max(now.len()) <= MOST_ALTERNATIVES {
                return self.alternatives(path, &before, &now);
            }
            let what = "has too many alternatives to compare each";
            self.add(path, Effect::Both, what);
            return;
        }
        let mut gone = Vec::new();
        let mut come: Vec<&Value> = new.iter().collect();
        for one in old {
            let equal = come
                .iter()
                .position(|other| self.tried(path, one, other).iter().all(is_harmless));
            match equal {
                Some(index) => {
                    let other = come.remove(index);
                    let texts = self.tried(path, one, other);
                    self.found.extend(texts);
                }
                None => gone.push(one),
            }
        }
        if let ([one], [other]) = (&gone[..], &come[..]) {
            return self.pair(path, one, other);
        }
        for one in gone {
            let taken_over = new.iter().any(|other| {
                let seen = self.tried(path, one, other);
                seen.iter().all(|it| allows(it, Effect::Widened))
            });
            if !taken_over {
                let what = format!("the alternative {} was removed", brief(one));
                self.add(path, Effect::Narrowed, what);
            }
        }
        for other in come {
            let was_there = old.iter().any(|one| {
                let seen = self.tried(path, one, other);
                seen.iter().all(|it| allows(it, Effect::Narrowed))
            });
            if !was_there {
                let what = format!("the alternative {} was added", brief(other));
                self.add(path, Effect::Widened, what);
            }
        }
    }

    /// The differences of a pair, without keeping them.
    fn tried(&mut self, path: &str, old: &Value, new: &Value) -> Vec<Difference> {
        let kept = std::mem::take(&mut self.found);
        self.pair(path, old, new);
        std::mem::replace(&mut self.found, kept)
    }
}

/// The alternatives of one list that the other one lacks as they are.
fn unlike(one: &[Value], other: &[Value]) -> Vec<Value> {
    let known: BTreeSet<String> = other.iter().map(meaning).collect();
    let alternatives = one.iter().filter(|it| !known.contains(&meaning(it)));
    alternatives.cloned().collect()
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

fn is_harmless(difference: &Difference) -> bool {
    difference.effect == Effect::None
}

/// Whether it does nothing but this.
fn allows(difference: &Difference, effect: Effect) -> bool {
    is_harmless(difference) || difference.effect == effect
}
