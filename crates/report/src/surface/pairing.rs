//! Which target of an earlier run a target of this run is. Targets pair by name, else by their place in the suite: the
//! assertions that talk to them. Only catalogs for clients with the same capabilities pair.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

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
    /// Unknown: several targets are left over.
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

    /// Whether a target was not looked at because assertions that would have were skipped.
    pub(super) fn skipped_users_of(&self, target: &Catalog) -> bool {
        let mut users = target.used_by.iter();
        users.any(|it| self.skipped.get(it) == Some(&true))
    }

    /// Whether the assertions say that two targets are two: those of the old one are still there, and none of them talks
    /// to the new one.
    fn tells_apart(&self, old: &Catalog, new: &Catalog) -> bool {
        let mut users = old.used_by.iter();
        shared(old, new) == Some(0) && users.any(|it| self.skipped.contains_key(it))
    }

    /// How sure it is that two targets are one, the surest first; `None`: nothing says so. The number behind a name only
    /// says which place a server has among those of that name.
    fn likeness(
        &self,
        ((before, old), (now, new)): (Named<'_>, Named<'_>),
        is_numbered: impl Fn(&str) -> bool,
    ) -> Option<(u8, Reverse<usize>)> {
        let common = shared(old, new);
        let of_one_base = base(before) == base(now);
        let renamed = shared_by(old, new, without_file).filter(|_| of_one_base);
        let may_be = self.scope == Scope::Whole || common != Some(0);
        match (common, renamed) {
            _ if before == now && !is_numbered(base(now)) => Some((0, Reverse(0))),
            (Some(number @ 1..), _) => Some((1, Reverse(number))),
            (_, Some(number @ 1..)) => Some((2, Reverse(number))),
            (_, _) => (before == now && may_be).then_some((3, Reverse(0))),
        }
    }
}

#[cfg(test)]
impl From<Scope> for Attendance {
    fn from(scope: Scope) -> Self {
        let skipped = BTreeMap::new();
        Self { scope, skipped }
    }
}

/// A target with its name.
type Named<'a> = (&'a str, &'a Catalog);

/// What is known of the targets of two runs.
#[derive(Default)]
pub(super) struct Partners<'a> {
    /// The targets of now, each with what it was.
    pub now: Vec<(&'a str, &'a Catalog, Partner<'a>)>,
    /// Those of before that were not looked at, because the assertions that would have were skipped.
    pub skipped: Vec<Named<'a>>,
}

/// Finds the partner of each target of this run.
pub(super) fn partners<'a>(
    before: &'a Catalogs,
    now: &'a Catalogs,
    attendance: &Attendance,
) -> Partners<'a> {
    let mut all = Partners::default();
    let both = before.values().chain(now.values());
    let sets: BTreeSet<&[String]> = both.map(|it| it.capabilities.as_slice()).collect();
    for set in sets {
        let of_set = |catalogs: &'a Catalogs| -> Vec<Named<'a>> {
            let of_set = catalogs.iter().filter(|(_, it)| it.capabilities == set);
            of_set.map(|(name, it)| (name.as_str(), it)).collect()
        };
        pair(of_set(before), of_set(now), attendance, &mut all);
    }
    all.now.sort_by_key(|(name, _, _)| *name);
    all
}

/// Pairs targets for clients of one set of capabilities.
fn pair<'a>(
    mut before: Vec<Named<'a>>,
    mut now: Vec<Named<'a>>,
    attendance: &Attendance,
    all: &mut Partners<'a>,
) {
    let names = before.iter().chain(&now).map(|(name, _)| *name);
    let numbered = names.filter(|name| base(name) != target(name)).map(base);
    let numbered: BTreeSet<&str> = numbered.collect();
    let pairs = now
        .iter()
        .flat_map(|new| before.iter().map(move |old| (*old, *new)));
    let mut pairs: Vec<_> = pairs
        .filter_map(|pair| {
            let is_numbered = |name: &str| numbered.contains(name);
            Some((attendance.likeness(pair, is_numbered)?, pair))
        })
        .collect();
    pairs.sort_by_key(|(likeness, ((old, _), (new, _)))| (*likeness, *old, *new));
    let mut pairs: Vec<_> = pairs.into_iter().map(|(_, pair)| pair).collect();
    let is_whole = attendance.scope == Scope::Whole;
    let place = |all: &[Named<'_>], one: Named<'_>| all.iter().position(|it| it.0 == one.0);
    loop {
        for (old, new) in std::mem::take(&mut pairs) {
            if let (Some(was), Some(is)) = (place(&before, old), place(&now, new)) {
                before.remove(was);
                now.remove(is);
                all.now.push((new.0, new.1, Partner::Was(old.1)));
            }
        }
        // A single target that is left is the same one under whatever name, unless the assertions say otherwise.
        match (&before[..], &now[..]) {
            ([old], [new])
                if !attendance.tells_apart(old.1, new.1)
                    && (is_whole || shared(old.1, new.1) != Some(0)) =>
            {
                pairs.push((*old, *new));
            }
            _ => break,
        }
    }
    let skipped = before
        .iter()
        .filter(|(_, it)| attendance.skipped_users_of(it));
    all.skipped.extend(skipped);
    // In a part of the suite, targets whose assertions were not selected are left over anyway.
    before.retain(|(_, it)| is_whole || it.used_by.is_empty());
    for (name, catalog) in now {
        let mut left = before.iter();
        let is_new = left.all(|(_, old)| attendance.tells_apart(old, catalog));
        let partner = if is_new {
            Partner::New
        } else {
            Partner::Undecided
        };
        all.now.push((name, catalog, partner));
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
