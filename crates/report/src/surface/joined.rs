//! Joins the catalogs of shards, and of a run and its baseline. A server is identified by the assertions that talk to it:
//! two servers of the same name stay two.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    CLIENTS, Catalogs,
    pairing::{Attendance, Partner, base, partners, shared},
};
use crate::compare::Scope;
use mcp::observation::catalog::{Catalog, Listing};

/// Puts a catalog beside the others, under another number where another server has its name.
pub(crate) fn add_beside(catalogs: &mut Catalogs, name: &str, catalog: Catalog) {
    let clients = &name[name.find(CLIENTS).unwrap_or(name.len())..];
    let mut free = name.to_owned();
    let mut number = 1;
    while catalogs.contains_key(&free) {
        number += 1;
        free = format!("{}#{number}{clients}", base(name));
    }
    catalogs.insert(free, catalog);
}

/// Adds a catalog of another part of the run, or of another baseline: of a server that both know, the lists that only it
/// was told; of another one, what is not known of its assertions yet.
pub(crate) fn add(catalogs: &mut Catalogs, name: &str, other: &Catalog) {
    let known = users(catalogs, |it| it.capabilities == other.capabilities);
    let unknown = other
        .used_by
        .iter()
        .filter(|it| !known.contains(it.as_str()));
    let used_by: Vec<String> = unknown.cloned().collect();
    let same = catalogs
        .get_mut(name)
        .filter(|it| it.capabilities == other.capabilities && shared(it, other) != Some(0));
    match same {
        Some(same) => {
            keep_untold(same, other);
            add_users(same, used_by);
        }
        None if used_by.is_empty() && !other.used_by.is_empty() => {}
        None => {
            let other = other.clone();
            add_beside(catalogs, name, Catalog { used_by, ..other });
        }
    }
}

/// The catalogs after a run: those of the run, lists that a server did not tell this time, and servers that were not asked.
/// `is_there` tells whether an assertion still exists.
pub(crate) fn updated(
    old: &Catalogs,
    now: &Catalogs,
    attendance: &Attendance,
    is_there: impl Fn(&str) -> bool,
) -> Catalogs {
    if now.is_empty() {
        return old.clone();
    }
    let mut new = now.clone();
    let pairs = partners(old, now, attendance).now;
    for (name, _, partner) in &pairs {
        if let (Partner::Was(known), Some(catalog)) = (partner, new.get_mut(*name)) {
            keep_untold(catalog, known);
        }
    }
    for (name, known) in old {
        let name = name.as_str();
        let is_it = |partner: &Partner<'_>| matches!(partner, Partner::Was(was) if std::ptr::eq(*was, known));
        let became = pairs.iter().find(|(_, _, partner)| is_it(partner));
        let became = became.map(|(name, _, _)| *name);
        // Clients with these capabilities may not have been run at all.
        let is_part = attendance.scope == Scope::Part || attendance.skipped_users_of(known);
        let elsewhere = users(now, |it| !is_part || it.capabilities == known.capabilities);
        let waits = |user: &&String| !elsewhere.contains(user.as_str()) && is_there(user);
        let used_by: Vec<String> = known.used_by.iter().filter(waits).cloned().collect();
        let same = new.get_mut(name).filter(|_| became == Some(name));
        if let Some(same) = same {
            add_users(same, used_by);
            continue;
        }
        // Those who talk to a server that has another name now may talk to the old one where it was not asked.
        let is_unasked =
            became.is_none() && known.used_by.is_empty() && attendance.scope == Scope::Part;
        if !used_by.is_empty() || is_unasked {
            let known = known.clone();
            add_beside(&mut new, name, Catalog { used_by, ..known });
        }
    }
    new
}

/// The assertions that talk to any of those that count.
fn users(catalogs: &Catalogs, counts: impl Fn(&Catalog) -> bool) -> BTreeSet<&str> {
    let those = catalogs.values().filter(|it| counts(it));
    let users = those.flat_map(|it| &it.used_by);
    users.map(String::as_str).collect()
}

fn add_users(catalog: &mut Catalog, users: Vec<String>) {
    catalog.used_by.extend(users);
    catalog.used_by.sort();
    catalog.used_by.dedup();
}

/// Takes over what is known of lists that a server would not tell, as a skip keeps a status.
fn keep_untold(catalog: &mut Catalog, known: &Catalog) {
    for listing in Listing::ALL {
        let lost = catalog.unknown.contains(&listing) && !known.unknown.contains(&listing);
        if lost {
            *catalog.list_mut(listing) = known.list(listing).map(<[Value]>::to_vec);
            catalog.unknown.retain(|it| *it != listing);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Attendance, add, updated};
    use crate::{
        compare::Scope,
        surface::{Catalogs, name_for, pairing::tests::targets},
    };
    use mcp::observation::catalog::Catalog;

    /// Servers as `name lists: users`; what is listed is called as the server was.
    fn shown(catalogs: &Catalogs) -> Vec<String> {
        let shown = |(name, catalog): (&String, &Catalog)| {
            let tools = catalog.tools.as_deref().unwrap_or_default();
            let tool = tools[0]["name"].as_str().unwrap_or_default();
            format!("{name} lists {tool}: {}", catalog.used_by.join(" "))
        };
        catalogs.iter().map(shown).collect()
    }

    type Targets<'a> = &'a [(&'a str, &'a [&'a str])];

    #[test]
    fn shards_that_name_two_servers_alike_keep_both() {
        let case = |all: Targets<'_>, wanted: &[&str]| {
            let mut whole = Catalogs::new();
            for one in all {
                for (name, catalog) in targets(&[*one]) {
                    add(&mut whole, &name, &catalog);
                }
            }
            assert_eq!(shown(&whole), wanted);
        };
        case(
            &[("s", &["a", "b"]), ("s", &["a", "b"])],
            &["s lists s: a b"],
        );
        case(
            &[("s", &["a"]), ("s", &["b"])],
            &["s lists s: a", "s#2 lists s: b"],
        );
        case(&[("s", &[]), ("s", &["a"])], &["s lists s: a"]);
    }

    #[test]
    fn sets_of_capabilities_stay_apart() {
        let of = |capabilities: &[&str]| {
            let capabilities: Vec<String> = capabilities.iter().map(ToString::to_string).collect();
            let mut all = targets(&[(name_for("s", &capabilities).as_str(), &["a", "b"])]);
            for catalog in all.values_mut() {
                catalog.capabilities.clone_from(&capabilities);
            }
            all
        };
        let (plain, capable) = (of(&[]), of(&["sampling"]));
        let mut both = plain.clone();
        for (name, catalog) in capable.clone() {
            add(&mut both, &name, &catalog);
        }
        assert_eq!(both.len(), 2);
        let mut known = plain.clone();
        for (name, catalog) in &both {
            add(&mut known, name, catalog);
        }
        assert_eq!(known, both);
        let saved = |scope, now| updated(&both, now, &Attendance::from(scope), |_| true);
        assert_eq!(saved(Scope::Part, &plain), both);
        assert_eq!(saved(Scope::Part, &capable), both);
        // In the whole suite nobody declares the other set any more.
        assert_eq!(saved(Scope::Whole, &plain), plain);
    }

    #[test]
    fn what_the_compared_baseline_does_not_know_is_known_of_the_replaced_one() {
        let case = |compared: Targets<'_>, replaced: Targets<'_>, wanted: &[&str]| {
            let mut known = targets(compared);
            for (name, catalog) in targets(replaced) {
                add(&mut known, &name, &catalog);
            }
            assert_eq!(shown(&known), wanted);
        };
        let one: Targets<'_> = &[("s", &["a"])];
        case(one, &[("t", &["b"])], &["s lists s: a", "t lists t: b"]);
        case(one, &[("s", &["b"])], &["s lists s: a", "s#2 lists s: b"]);
        case(one, &[("s", &["a", "b"])], &["s lists s: a b"]);
        case(one, &[("t", &["a"])], &["s lists s: a"]);
        case(
            one,
            &[("t", &["a", "b"])],
            &["s lists s: a", "t lists t: b"],
        );
        case(one, &[("s", &[])], &["s lists s: a"]);
        case(one, &[("t", &[])], &["s lists s: a", "t lists t: "]);
        case(&[], &[("t", &["b"])], &["t lists t: b"]);
    }

    #[test]
    fn saving_keeps_servers_that_nothing_was_asked_of() {
        let case = |scope, there: &[&str], old: Targets<'_>, now: Targets<'_>, wanted: &[&str]| {
            let is_there = |id: &str| there.contains(&id);
            let new = updated(
                &targets(old),
                &targets(now),
                &Attendance::from(scope),
                is_there,
            );
            assert_eq!(shown(&new), wanted);
        };
        let two: Targets<'_> = &[("s 1", &["a"]), ("s 2", &["b"])];
        // The assertions of the second are skipped, or gone.
        let first = "s 1 lists s 1: a";
        case(
            Scope::Whole,
            &["a", "b"],
            two,
            &two[..1],
            &[first, "s 2 lists s 2: b"],
        );
        case(Scope::Whole, &["a"], two, &two[..1], &[first]);
        case(
            Scope::Whole,
            &["a", "b"],
            two,
            &[("s 1", &["a", "b"])],
            &["s 1 lists s 1: a b"],
        );
        // The second has moved.
        case(
            Scope::Part,
            &["a", "b"],
            two,
            &[("s 3", &["b"])],
            &[first, "s 3 lists s 3: b"],
        );
        // One assertion of a server has moved to another one.
        case(
            Scope::Part,
            &["a", "b"],
            &[("s 1", &["a", "b"])],
            &[("s 2", &["b"])],
            &[first, "s 2 lists s 2: b"],
        );
        // A file in front of the others numbers them anew.
        case(
            Scope::Part,
            &["a", "b", "c"],
            &[("s", &["a"]), ("s#2", &["b"])],
            &[("s", &["c"])],
            &["s lists s: c", "s#2 lists s: a", "s#3 lists s#2: b"],
        );
    }
}
