//! Which target of an earlier run a target of this run is. Targets pair by name, else by their place in the suite: the
//! assertions that talk to them. Only catalogs for clients with the same capabilities pair.

use std::collections::{BTreeMap, BTreeSet};

use super::{CLIENTS, Catalogs};
use crate::{RunReport, compare::Scope};
use check::outcome::Status;
use mcp::observation::catalog::Catalog;

/// What a target was before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Partner<'a> {
    /// This.
    Was(&'a Catalog),
    /// Nothing: it is new.
    New,
    /// One of those that are left over, and nobody can say which.
    Undecided,
}

/// Which assertions a run had.
#[derive(Debug, Clone)]
pub struct Attendance {
    pub(super) scope: Scope,
    /// The identities of all of them, and whether they were skipped.
    skipped: BTreeMap<String, bool>,
}

impl Attendance {
    /// The assertions of a run of this scope.
    pub fn of(report: &RunReport, scope: Scope) -> Self {
        let assertions = report.assertions().into_iter();
        let skipped = assertions.map(|it| (it.record.key(), it.observed == Some(Status::Skip)));
        Self {
            scope: scope.of(report),
            skipped: skipped.collect(),
        }
    }

    /// Whether some of the assertions that talked to a target are still there.
    fn knows_users_of(&self, target: &Catalog) -> bool {
        target
            .used_by
            .iter()
            .any(|it| self.skipped.contains_key(it))
    }

    /// Whether a target was not looked at because assertions that would have were skipped.
    pub(super) fn skipped_users_of(&self, target: &Catalog) -> bool {
        let mut users = target.used_by.iter();
        users.any(|it| self.skipped.get(it) == Some(&true))
    }
}

#[cfg(test)]
impl From<Scope> for Attendance {
    fn from(scope: Scope) -> Self {
        let skipped = BTreeMap::new();
        Self { scope, skipped }
    }
}

/// What is known of the targets of two runs.
pub(super) struct Partners<'a> {
    /// The targets of now, each with what it was.
    pub now: Vec<(&'a str, &'a Catalog, Partner<'a>)>,
    /// Those of before that were not looked at, because the assertions that would have were skipped.
    pub skipped: Vec<(&'a str, &'a Catalog)>,
}

/// Targets for clients of one set of capabilities: those without a partner, and those that have one.
struct Pairing<'a> {
    attendance: &'a Attendance,
    before: BTreeMap<&'a str, &'a Catalog>,
    now: BTreeMap<&'a str, &'a Catalog>,
    found: Vec<(&'a str, &'a Catalog, Partner<'a>)>,
}

/// Finds the partner of each target of this run.
pub(super) fn partners<'a>(
    before: &'a Catalogs,
    now: &'a Catalogs,
    attendance: &'a Attendance,
) -> Partners<'a> {
    let mut all = Partners {
        now: Vec::new(),
        skipped: Vec::new(),
    };
    let both = before.values().chain(now.values());
    let sets: BTreeSet<&[String]> = both.map(|it| it.capabilities.as_slice()).collect();
    for set in sets {
        let of_set = |catalogs: &'a Catalogs| {
            let all = catalogs.iter().filter(|(_, it)| it.capabilities == set);
            all.map(|(name, it)| (name.as_str(), it)).collect()
        };
        let mut pairing = Pairing {
            attendance,
            before: of_set(before),
            now: of_set(now),
            found: Vec::new(),
        };
        pairing.pair_all();
        all.skipped.extend(pairing.skipped());
        all.now.extend(pairing.decided());
    }
    all.now.sort_by_key(|(name, _, _)| *name);
    all
}

impl<'a> Pairing<'a> {
    fn pair_all(&mut self) {
        let names = self.before.keys().chain(self.now.keys()).copied();
        let numbered = names.filter(|name| base(name) != target(name));
        let numbered: BTreeSet<&str> = numbered.map(base).collect();
        self.of_one_name(|name, _, _| !numbered.contains(base(name)));
        self.by_assertions(|_, _| true, |id| id);
        self.by_assertions(|one, other| base(one) == base(other), without_file);
        // A number only says which place a server has among those of its name.
        let scope = self.attendance.scope;
        let may =
            |one: &Catalog, other: &Catalog| scope == Scope::Whole || shared(one, other) != Some(0);
        self.of_one_name(|_, one, other| may(one, other));
        // A single target that is left is the same one under whatever name, unless the assertions say otherwise.
        let (before, now) = (self.before.iter().next(), self.now.iter().next());
        if self.before.len() == 1
            && self.now.len() == 1
            && let (Some((&before, old)), Some((&now, new))) = (before, now)
            && !self.differ(old, new)
            && may(old, new)
        {
            self.pair(now, before);
        }
    }

    fn pair(&mut self, now: &'a str, before: &'a str) {
        if let (Some(new), Some(old)) = (self.now.remove(now), self.before.remove(before)) {
            self.found.push((now, new, Partner::Was(old)));
        }
    }

    /// Whether the assertions say that two targets are two: those of the one are still there, and none of them talks to
    /// the other.
    fn differ(&self, before: &Catalog, now: &Catalog) -> bool {
        shared(before, now) == Some(0) && self.attendance.knows_users_of(before)
    }

    /// The targets of before that are left over for what was skipped.
    fn skipped(&self) -> impl Iterator<Item = (&'a str, &'a Catalog)> {
        let all = self.before.iter().map(|(name, catalog)| (*name, *catalog));
        all.filter(|(_, catalog)| self.attendance.skipped_users_of(catalog))
    }

    /// All targets of now. One without a partner is new, unless it may be one that is left over.
    fn decided(self) -> Vec<(&'a str, &'a Catalog, Partner<'a>)> {
        // In a part of the suite, targets whose assertions were not selected are left over anyway.
        let is_whole = self.attendance.scope == Scope::Whole;
        let left = self.before.values();
        let left: Vec<_> = left
            .filter(|it| is_whole || it.used_by.is_empty())
            .collect();
        let rest = self.now.iter().map(|(name, catalog)| {
            let is_new = left.iter().all(|it| self.differ(it, catalog));
            let partner = if is_new {
                Partner::New
            } else {
                Partner::Undecided
            };
            (*name, *catalog, partner)
        });
        let rest: Vec<_> = rest.collect();
        self.found.into_iter().chain(rest).collect()
    }

    fn of_one_name(&mut self, may: impl Fn(&str, &Catalog, &Catalog) -> bool) {
        let names: Vec<&str> = self.now.keys().copied().collect();
        for name in names {
            if let (Some(now), Some(before)) = (self.now.get(name), self.before.get(name))
                && may(name, before, now)
            {
                self.pair(name, name);
            }
        }
    }

    /// The more assertions two targets share, the sooner they are one.
    fn by_assertions(&mut self, may: impl Fn(&str, &str) -> bool, identity: fn(&str) -> &str) {
        let mut all = Vec::new();
        for (before, old) in &self.before {
            for (now, new) in &self.now {
                if may(before, now)
                    && let Some(number @ 1..) = shared_by(old, new, identity)
                {
                    all.push((number, *before, *now));
                }
            }
        }
        all.sort_by_key(|(number, _, _)| std::cmp::Reverse(*number));
        for (_, before, now) in all {
            if self.before.contains_key(before) && self.now.contains_key(now) {
                self.pair(now, before);
            }
        }
    }
}

/// How many assertions talk to both; nothing where one does not know its own.
pub(super) fn shared(one: &Catalog, other: &Catalog) -> Option<usize> {
    shared_by(one, other, |id| id)
}

fn shared_by(one: &Catalog, other: &Catalog, identity: fn(&str) -> &str) -> Option<usize> {
    if one.used_by.is_empty() || other.used_by.is_empty() {
        return None;
    }
    let of_one: BTreeSet<&str> = one.used_by.iter().map(|it| identity(it)).collect();
    let of_other = other.used_by.iter().map(|it| identity(it));
    Some(of_other.filter(|it| of_one.contains(it)).count())
}

/// An assertion's identity without its file, which may have another name now.
fn without_file(id: &str) -> &str {
    id.split_once("::").map_or(id, |(_, name)| name)
}

/// A name without the clients that it is for.
fn target(name: &str) -> &str {
    name.split(CLIENTS).next().unwrap_or(name)
}

/// Likewise, without its number among the targets of that name.
pub(super) fn base(name: &str) -> &str {
    let target = target(name);
    match target.rsplit_once('#') {
        Some((base, number)) if number.parse::<u64>().is_ok() => base,
        Some(_) | None => target,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Targets written `name: users`.
    pub(in crate::surface) fn targets(all: &[(&str, &[&str])]) -> Catalogs {
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
        case_with(&[], scope, before, now, wanted);
    }

    /// The same where these assertions were skipped, beside those that talk to the targets of now.
    fn case_with(
        skipped: &[&str],
        scope: Scope,
        before: &[(&str, &[&str])],
        now: &[(&str, &[&str])],
        wanted: &[&str],
    ) {
        let ran = now.iter().flat_map(|(_, users)| users.iter());
        let ran = ran.map(|user| ((*user).to_owned(), false));
        let skipped = skipped.iter().map(|user| ((*user).to_owned(), true));
        let attendance = Attendance {
            scope,
            skipped: ran.chain(skipped).collect(),
        };
        let (before, now) = (targets(before), targets(now));
        let partners = partners(&before, &now, &attendance);
        let skipped = partners.skipped.iter();
        let skipped: Vec<String> = skipped
            .map(|(name, _)| format!("{name} was skipped"))
            .collect();
        let found: Vec<String> = partners
            .now
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
            .chain(skipped)
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn assertions_tell_who_a_server_was() {
        let bumped = ["pkg@2 was pkg@1", "tool@2 was tool@1"];
        let old: &[(&str, &[&str])] = &[("pkg@1", &["a", "b"]), ("tool@1", &["c"])];
        case(old, &[("pkg@2", &["a", "b"]), ("tool@2", &["c"])], &bumped);
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
    fn a_number_is_not_who_a_server_is() {
        let two: &[(&str, &[&str])] = &[("s", &["a.yaml::p"]), ("s#2", &["b.yaml::q"])];
        // The first file has another name, which is behind the other's.
        case(
            two,
            &[("s", &["b.yaml::q"]), ("s#2", &["z.yaml::p"])],
            &["s was s#2", "s#2 was s"],
        );
        let three: &[(&str, &[&str])] = &[("s", &["a::p"]), ("s#2", &["a::q"]), ("s#3", &["b::r"])];
        let renamed: &[(&str, &[&str])] =
            &[("s", &["b::r"]), ("s#2", &["z::p"]), ("s#3", &["z::q"])];
        case(three, renamed, &["s was s#3", "s#2 was s", "s#3 was s#2"]);
        case_of(Scope::Part, three, &renamed[2..], &["s#3 was s#2"]);
        // The more they share, the sooner they are one.
        case(
            &[("s", &["a", "b"]), ("s#2", &["c", "d"])],
            &[("s", &["a", "c", "d"]), ("s#2", &["b"])],
            &["s was s#2", "s#2 was s"],
        );
        // A file in front of the others.
        case(
            two,
            &[
                ("s", &["0::n"]),
                ("s#2", &["a.yaml::p"]),
                ("s#3", &["b.yaml::q"]),
            ],
            &["s is new", "s#2 was s", "s#3 was s#2"],
        );
        case_of(Scope::Part, two, &[("s", &["0::n"])], &["s is new"]);
        // Of nobody it is known who talks to whom.
        case(
            &[("s", &[]), ("s#2", &[])],
            &[("s", &["a"]), ("s#2", &["b"])],
            &["s was s", "s#2 was s#2"],
        );
    }

    #[test]
    fn the_only_target_of_a_part_may_be_another_one() {
        let one: &[(&str, &[&str])] = &[("one", &["a [one]"])];
        let two: &[(&str, &[&str])] = &[("two", &["a [two]"])];
        case_of(Scope::Part, one, two, &["two is new"]);
        case(one, two, &["two was one"]);
        case_of(Scope::Part, one, &[("new", &["a [one]"])], &["new was one"]);
        case_of(Scope::Part, one, &[("one", &["b"])], &["one was one"]);
    }

    #[test]
    fn without_assertions_only_the_name_tells() {
        let old: &[(&str, &[&str])] = &[("npx pkg@1", &[]), ("npx tool@1", &[])];
        let new: &[(&str, &[&str])] = &[("npx pkg@2", &["a"]), ("npx tool@2", &["b"])];
        case(old, new, &["npx pkg@2 ?", "npx tool@2 ?"]);
        case(
            &[("s 1", &[])],
            &[("other", &[]), ("s 1", &[])],
            &["other is new", "s 1 was s 1"],
        );
        case(
            &[("npx pkg", &[]), ("s 1", &[])],
            &[("docker run image", &[]), ("s 1", &[])],
            &["docker run image was npx pkg", "s 1 was s 1"],
        );
    }

    #[test]
    fn a_server_whose_assertions_were_skipped_is_no_other() {
        let skip = |skipped: &[&str], before: &[_], now: &[_], wanted: &[&str]| {
            case_with(skipped, Scope::Whole, before, now, wanted);
        };
        let one: &[(&str, &[&str])] = &[("python3 srv.py", &["a"])];
        let wanted = ["builtin x is new", "python3 srv.py was skipped"];
        skip(&["a"], one, &[("builtin x", &["b"])], &wanted);
        // However like it is, but not where its name says that it is the same.
        let wanted = ["python3 srw.py is new", "python3 srv.py was skipped"];
        skip(&["a"], one, &[("python3 srw.py", &["b"])], &wanted);
        let same = ["python3 srv.py was python3 srv.py"];
        skip(&["a"], one, &[("python3 srv.py", &["b"])], &same);
        skip(&["a"], one, &[], &["python3 srv.py was skipped"]);
        skip(&[], one, &[], &[]);
        // Its assertion is gone.
        let renamed = ["builtin x was python3 srv.py"];
        skip(&["c"], one, &[("builtin x", &["b"])], &renamed);
        let two: &[(&str, &[&str])] = &[("x", &["a", "b"]), ("y", &["c"])];
        let wanted = ["y was y", "x was skipped"];
        skip(&["a", "b"], two, &[("y", &["c"])], &wanted);
        case_with(&["a"], Scope::Part, two, &[("y", &["c"])], &wanted);
        skip(
            &["a"],
            two,
            &[("y", &["b", "c"])],
            &["y was y", "x was skipped"],
        );
        skip(
            &["a"],
            two,
            &[("x 2", &["b"]), ("y", &["c"])],
            &["x 2 was x", "y was y"],
        );
        skip(&[], two, &[("y", &["c"])], &["y was y"]);
        case_of(Scope::Part, two, &[("y", &["c"])], &["y was y"]);
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
