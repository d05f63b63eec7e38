//! Which target of before a target of now is. A target's name is its command line, and that changes with every version
//! of the server: the assertions that talk to it say better who it is.

use std::collections::{BTreeMap, BTreeSet};

use super::Catalogs;
use crate::{observation::catalog::Catalog, report::compare::Scope, words::text::head};

/// How like two command lines have to be to be those of one server.
const ALIKE: f64 = 0.5;

/// Characters of a command line that are compared.
const LONGEST: usize = 300;

/// What a target was before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::report) enum Partner<'a> {
    /// This.
    Was(&'a Catalog),
    /// Nothing: it is new.
    New,
    /// One of those that are left over, and nobody can say which.
    Undecided,
}

/// Targets without a partner, and the partners that were found.
struct Pairing<'a> {
    before: BTreeMap<&'a str, &'a Catalog>,
    now: BTreeMap<&'a str, &'a Catalog>,
    found: BTreeMap<&'a str, &'a Catalog>,
}

/// The targets of now, each with what it was.
pub(in crate::report) fn partners<'a>(
    before: &'a Catalogs,
    now: &'a Catalogs,
    scope: Scope,
) -> Vec<(&'a str, &'a Catalog, Partner<'a>)> {
    fn by_name(catalogs: &Catalogs) -> BTreeMap<&str, &Catalog> {
        catalogs
            .iter()
            .map(|(name, it)| (name.as_str(), it))
            .collect()
    }
    let mut pairing = Pairing {
        before: by_name(before),
        now: by_name(now),
        found: BTreeMap::new(),
    };
    pairing.only_ones();
    if before.keys().eq(now.keys()) {
        // Not a server has changed, whichever assertions talk to it now.
        pairing.of_one_name(|_, _| true);
    }
    pairing.of_one_name(|one, other| shared(one, other) != Some(0));
    pairing.by_assertions();
    pairing.of_one_name(|_, _| true);
    if scope == Scope::Part {
        // Those whose assertions were not selected did not run.
        pairing
            .before
            .retain(|_, catalog| catalog.used_by.is_empty());
    }
    pairing.by_likeness();
    let all = now.iter().map(|(name, catalog)| {
        let partner = match pairing.found.get(name.as_str()) {
            Some(was) => Partner::Was(was),
            None if pairing.before.is_empty() => Partner::New,
            None => Partner::Undecided,
        };
        (name.as_str(), catalog, partner)
    });
    all.collect()
}

impl<'a> Pairing<'a> {
    fn pair(&mut self, now: &'a str, before: &'a str) {
        self.now.remove(now);
        if let Some(catalog) = self.before.remove(before) {
            self.found.insert(now, catalog);
        }
    }

    /// A single target is the same one under whatever name.
    fn only_ones(&mut self) {
        let (before, now) = (self.before.keys().next(), self.now.keys().next());
        if self.before.len() == 1
            && self.now.len() == 1
            && let (Some(&before), Some(&now)) = (before, now)
        {
            self.pair(now, before);
        }
    }

    fn of_one_name(&mut self, may: impl Fn(&Catalog, &Catalog) -> bool) {
        let names: Vec<&str> = self.now.keys().copied().collect();
        for name in names {
            if let (Some(now), Some(before)) = (self.now.get(name), self.before.get(name))
                && may(before, now)
            {
                self.pair(name, name);
            }
        }
    }

    /// The more assertions two targets share, the sooner they are one.
    fn by_assertions(&mut self) {
        let mut all = self.candidates(|before, now| {
            let number = shared(before.1, now.1).filter(|number| *number > 0)?;
            Some((number, likeness(before.0, now.0)))
        });
        all.sort_by(|(_, _, one), (_, _, other)| {
            other.0.cmp(&one.0).then(other.1.total_cmp(&one.1))
        });
        for (before, now, _) in all {
            if self.before.contains_key(before) && self.now.contains_key(now) {
                self.pair(now, before);
            }
        }
    }

    /// Of what is left, each with the one that is most like it; where two are as like, nobody can say.
    fn by_likeness(&mut self) {
        let mut all = self.candidates(|before, now| {
            Some(likeness(before.0, now.0)).filter(|likeness| *likeness >= ALIKE)
        });
        all.sort_by(|(_, _, one), (_, _, other)| other.total_cmp(one));
        for (index, (before, now, likeness)) in all.iter().enumerate() {
            if !self.before.contains_key(before) || !self.now.contains_key(now) {
                continue;
            }
            let rival = all.iter().enumerate().any(|(at, (other, to, as_like))| {
                let touches = (other == before) != (to == now);
                let free = self.before.contains_key(other) && self.now.contains_key(to);
                at != index && touches && free && as_like >= likeness
            });
            if !rival {
                self.pair(now, before);
            }
        }
    }

    /// What `weigh` says of each pair that is still possible.
    fn candidates<W>(
        &self,
        weigh: impl Fn((&str, &Catalog), (&str, &Catalog)) -> Option<W>,
    ) -> Vec<(&'a str, &'a str, W)> {
        let mut all = Vec::new();
        for (before, old) in &self.before {
            for (now, new) in &self.now {
                if let Some(weight) = weigh((before, old), (now, new)) {
                    all.push((*before, *now, weight));
                }
            }
        }
        all
    }
}

/// How many assertions talk to both; nothing where one does not know its own.
fn shared(one: &Catalog, other: &Catalog) -> Option<usize> {
    if one.used_by.is_empty() || other.used_by.is_empty() {
        return None;
    }
    let of_one: BTreeSet<&String> = one.used_by.iter().collect();
    Some(
        other
            .used_by
            .iter()
            .filter(|it| of_one.contains(it))
            .count(),
    )
}

/// From 0 up to 1, for command lines that are the same.
fn likeness(one: &str, other: &str) -> f64 {
    strsim::normalized_levenshtein(&head(one, LONGEST), &head(other, LONGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Targets written `name: users`.
    fn targets(all: &[(&str, &[&str])]) -> Catalogs {
        let targets = all.iter().map(|(name, users)| {
            let catalog = Catalog {
                // Tells the catalogs apart.
                tools: Some(vec![serde_json::json!({"name": name})]),
                used_by: users.iter().map(|&user| user.to_owned()).collect(),
                ..Catalog::default()
            };
            ((*name).to_owned(), catalog)
        });
        targets.collect()
    }

    fn case(before: &[(&str, &[&str])], now: &[(&str, &[&str])], wanted: &[&str]) {
        case_of(Scope::Whole, before, now, wanted);
    }

    fn case_of(scope: Scope, before: &[(&str, &[&str])], now: &[(&str, &[&str])], wanted: &[&str]) {
        let (before, now) = (targets(before), targets(now));
        let found: Vec<String> = partners(&before, &now, scope)
            .into_iter()
            .map(|(name, _, partner)| match partner {
                Partner::Was(was) => {
                    let tools = was.tools.as_deref().unwrap_or_default();
                    format!(
                        "{name} was {}",
                        tools[0]["name"].as_str().unwrap_or_default()
                    )
                }
                Partner::New => format!("{name} is new"),
                Partner::Undecided => format!("{name} ?"),
            })
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn assertions_tell_who_a_server_was() {
        let bumped = ["pkg@2 was pkg@1", "tool@2 was tool@1"];
        let old: &[(&str, &[&str])] = &[("pkg@1", &["a", "b"]), ("tool@1", &["c"])];
        case(old, &[("pkg@2", &["a", "b"]), ("tool@2", &["c"])], &bumped);
        // The new command line of one is the old one of the other.
        case(
            &[("s 1", &["a"]), ("s 2", &["b"])],
            &[("s 2", &["a"]), ("s 3", &["b"])],
            &["s 2 was s 1", "s 3 was s 2"],
        );
        // All assertions of one moved to the other.
        case(
            &[("x", &["a"]), ("y", &["b"])],
            &[("x", &["c"]), ("y", &["a"])],
            &["x was x", "y was y"],
        );
        case(
            old,
            &[("pkg@1", &["a", "b"]), ("tool@1", &["c"]), ("new", &["d"])],
            &["new is new", "pkg@1 was pkg@1", "tool@1 was tool@1"],
        );
    }

    #[test]
    fn without_assertions_the_command_line_tells() {
        let old: &[(&str, &[&str])] = &[("npx pkg@1", &[]), ("npx tool@1", &[])];
        let new: &[(&str, &[&str])] = &[("npx pkg@2", &["a"]), ("npx tool@2", &["b"])];
        case(
            old,
            new,
            &["npx pkg@2 was npx pkg@1", "npx tool@2 was npx tool@1"],
        );
        case(
            &[("s 1", &[]), ("s 2", &[])],
            &[("s 3", &[]), ("s 4", &[])],
            &["s 3 ?", "s 4 ?"],
        );
        case(
            &[("s 1", &[])],
            &[("other", &[]), ("s 1", &[])],
            &["other is new", "s 1 was s 1"],
        );
        case(
            &[("npx pkg", &[]), ("s 1", &[])],
            &[("docker run image", &[]), ("s 1", &[])],
            &["docker run image ?", "s 1 was s 1"],
        );
    }

    #[test]
    fn a_part_of_a_suite_takes_no_server_of_the_rest() {
        let old: &[(&str, &[&str])] = &[("s 1", &["a"]), ("s 2", &["b"])];
        case_of(Scope::Part, old, &[("s 3", &["b"])], &["s 3 was s 2"]);
        case_of(Scope::Part, old, &[("s 3", &["c"])], &["s 3 is new"]);
        case(old, &[("s 3", &["c"])], &["s 3 ?"]);
        case(&[("s 1", &["a"])], &[("t 9", &["b"])], &["t 9 was s 1"]);
    }
}
