//! Gates on regressions when the baseline cannot be read.

use super::{
    Step, suite,
    twin::{Fault, Twin, hash},
};
use crate::harness::{Project, Ran};

const GATED: [&str; 3] = ["--fail-on-regression", "--comment", "off"];
const OPEN: [&str; 2] = ["--comment", "off"];

/// A twin of GitHub whose data branch has a baseline of the first of two commits.
fn twin() -> Twin {
    let twin = Twin::start();
    let (first, second) = (hash("c1"), hash("c2"));
    let of_first = (first.clone(), Vec::new());
    let both = vec![(second.clone(), vec![first.clone()]), of_first.clone()];
    {
        let mut world = twin.world();
        world.histories.insert(first.clone(), vec![of_first]);
        world.histories.insert(second, both);
    }
    let saved = Step::push(&twin, &first).run(&project(), &["--update-baseline", "auto"]);
    assert_eq!(saved.code, 0, "{}", saved.stdout);
    twin
}

fn project() -> Project {
    Project::with_suite(&suite(1))
}

/// A run at the second commit.
fn second(twin: &Twin, options: &[&str]) -> Ran {
    Step::push(twin, &hash("c2"))
        .numbered(2)
        .run(&project(), options)
}

fn damage(twin: &Twin) {
    let mut world = twin.world();
    let files = world.trees.values_mut().flat_map(|files| files.iter_mut());
    for (_, text) in files.filter(|(path, _)| path.starts_with("baseline/")) {
        "{\"x\":".clone_into(text);
    }
}

#[test]
fn a_gate_that_cannot_be_judged_is_red_and_says_why() {
    let healthy = twin();
    assert_eq!(second(&healthy, &GATED).code, 0);
    let refused: fn(&Twin) = |twin| {
        twin.world()
            .fault("GET", "/commits", 9, Fault::Status(503, Vec::new()));
    };
    let limited: fn(&Twin) = |twin| {
        let wait = vec![("retry-after", "100".to_owned())];
        twin.world()
            .fault("GET", "/contents/", 9, Fault::Status(429, wait));
    };
    let cases = [
        (refused, "GitHub answered with 503"),
        (limited, "GitHub's rate limit is reached"),
        (damage as fn(&Twin), ".json` cannot be read: invalid JSON"),
    ];
    for (trouble, why) in cases {
        for (options, code) in [(&GATED[..], 1), (&OPEN[..], 0)] {
            let twin = twin();
            trouble(&twin);
            let ran = second(&twin, options);
            assert_eq!(ran.code, code, "{why}: {}", ran.stdout);
            assert!(ran.stdout.contains(why), "{why}: {}", ran.stdout);
            let cause =
                "fail: `--fail-on-regression` cannot be judged: the baseline could not be read: ";
            assert_eq!(ran.stdout.contains(cause), code == 1, "{}", ran.stdout);
        }
    }
}

#[test]
fn a_gate_without_anything_to_compare_with_is_green_and_says_so() {
    let twin = Twin::start();
    let ran = second(&twin, &GATED);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let said = "::`--fail-on-regression` can find no regression: no baseline (";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
    let (step, project) = (Step::push(&twin, &hash("c2")), project());
    let mut command = step.command(&project, &["--fail-on-breaking"]);
    command.env_remove("GITHUB_TOKEN");
    let ran = step.finish(&project, command);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let said = "::`--fail-on-breaking` can find no change of a surface: no baseline (no token, ";
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
}

#[test]
fn a_baseline_that_cannot_be_read_is_replaced_by_the_next_that_is_saved() {
    let twin = twin();
    damage(&twin);
    let ran = second(
        &twin,
        &["--fail-on-regression", "--update-baseline", "auto"],
    );
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let kept = twin.world().files("mcp-assert-data");
    let name = format!("baseline/{}.json", hash("c2"));
    assert!(kept[&name].contains("mcp-assert/baselines"), "{kept:?}");
}
