//! The data branch: which runs write it, its files, concurrent writers, and the selection of a baseline.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Step, suite,
    twin::{Fault, Twin, hash},
};
use crate::harness::{Project, Ran};

const BRANCH: &str = "mcp-assert-data";
const WRITE: [&str; 4] = ["--update-baseline", "auto", "--badge-publish", "auto"];

fn project(wanted: u32) -> Project {
    Project::with_suite(&suite(wanted))
}

/// The code's commits `c1` to `c9`, the newest first, each the parent of the one before.
fn history(twin: &Twin) {
    let mut world = twin.world();
    let shas: Vec<String> = (1..=9).rev().map(|n| hash(&format!("c{n}"))).collect();
    for start in 0..shas.len() {
        let commits = (start..shas.len()).map(|at| {
            let parents = shas.get(at + 1).cloned().into_iter().collect();
            (shas[at].clone(), parents)
        });
        world
            .histories
            .insert(shas[start].clone(), commits.collect());
    }
    let main = world.histories[&hash("c9")].clone();
    world.histories.insert("main".to_owned(), main);
}

/// Runs on the default branch at `c<n>` and writes what it may.
fn pushed(twin: &Twin, number: u64, wanted: u32) -> i32 {
    let step = Step::push(twin, &hash(&format!("c{number}"))).numbered(number);
    step.run(&project(wanted), &WRITE).code
}

#[test]
fn the_first_run_makes_an_orphan_and_the_next_adds() {
    let twin = Twin::start();
    history(&twin);
    assert_eq!(pushed(&twin, 1, 1), 0);
    let files = twin.world().files(BRANCH);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let first = format!("baseline/{}.json", hash("c1"));
    assert_eq!(
        names,
        [
            "badge/evals.json",
            "badges.json",
            first.as_str(),
            "baselines.json",
            "timings/evals.json"
        ]
    );
    let badge: Value = serde_json::from_str(&files["badge/evals.json"]).unwrap();
    assert_eq!(
        (badge["message"].as_str(), badge["color"].as_str()),
        (Some("1/1"), Some("brightgreen"))
    );
    let baseline: Value = serde_json::from_str(&files[&first]).unwrap();
    let suite = &baseline["suites"]["evals"];
    assert_eq!(suite["entries"][0]["status"], "PASS");
    assert!(
        suite["catalogs"]["builtin minimal"]["tools"].is_array(),
        "{suite}"
    );

    // A red run is a baseline too, compared with the one before.
    assert_eq!(pushed(&twin, 2, 99), 1);
    let log = twin.world().log(BRANCH);
    assert_eq!(log.len(), 2);
    assert!(log[1].parents.is_empty(), "the root has no parent");
    assert!(
        log.iter().all(|it| it.message.ends_with("[skip ci]")),
        "{log:?}"
    );
    let files = twin.world().files(BRANCH);
    assert!(files.contains_key(&format!("baseline/{}.json", hash("c2"))));
    let timings: Value = serde_json::from_str(&files["timings/evals.json"]).unwrap();
    let durations = timings["durations_us"]
        .as_object()
        .unwrap()
        .values()
        .next()
        .unwrap();
    assert_eq!(durations.as_array().unwrap().len(), 2);
}

#[test]
fn only_events_of_the_default_branch_itself_write() {
    let none = |step: Step<'_>, twin: &Twin| {
        step.run(&project(1), &WRITE);
        let world = twin.world();
        assert!(world.refs.is_empty());
        let writes = ["/git/trees", "/git/commits", "/git/refs"].map(|it| world.count("POST", it));
        assert_eq!(writes, [0; 3], "{:?}", world.asked);
    };
    let twin = Twin::start();
    none(Step::pull_request(&twin, 5), &twin);
    none(Step::pull_request(&twin, 5).on("refs/heads/main"), &twin);
    none(
        Step::pull_request(&twin, 5).event("merge_group", |_| {}),
        &twin,
    );
    none(Step::push(&twin, &hash("c1")).on("refs/heads/topic"), &twin);
    none(Step::push(&twin, &hash("c1")).on("refs/tags/v1"), &twin);
    let fork = |payload: &mut Value| payload["repository"]["fork"] = json!(true);
    none(Step::push(&twin, &hash("c1")).event("push", fork), &twin);
    none(Step::push(&twin, &hash("c1")).token(None), &twin);
    // The payload lacks the repository, so GitHub is asked.
    let silent = |payload: &mut Value| *payload = json!({"schedule": "0 0 * * *"});
    let step = Step::push(&twin, &hash("c1")).event("schedule", silent);
    step.run(&project(1), &WRITE);
    assert_eq!(twin.world().log(BRANCH).len(), 1);
}

#[test]
fn an_incomplete_run_leaves_a_badge_and_no_baseline() {
    let twin = Twin::start();
    let project = project(1).file("evals/b.yaml", "name: [\n");
    let ran = Step::push(&twin, &hash("c1")).run(&project, &WRITE);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let files = twin.world().files(BRANCH);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["badge/evals.json", "badges.json"]
    );
    let badge: Value = serde_json::from_str(&files["badge/evals.json"]).unwrap();
    assert_eq!(
        (badge["message"].as_str(), badge["isError"].as_bool()),
        (Some("error"), Some(true))
    );
}

#[test]
fn a_run_of_nothing_leaves_a_badge_and_no_baseline() {
    let twin = Twin::start();
    history(&twin);
    assert_eq!(pushed(&twin, 1, 1), 0);
    let known = twin.world().files(BRANCH);
    let step = Step::push(&twin, &hash("c2")).numbered(2);
    let nothing = [&WRITE[..], &["--tags", "nightly", "--allow-empty"]].concat();
    assert_eq!(step.run(&project(1), &nothing).code, 0);
    let mut files = twin.world().files(BRANCH);
    let badge = files.remove("badge/evals.json").unwrap();
    assert!(badge.contains("no data"), "{badge}");
    let kept = known
        .into_iter()
        .filter(|(path, _)| !path.starts_with("badge"));
    files.remove("badges.json").unwrap();
    assert_eq!(files, kept.collect());
}

#[test]
fn an_older_run_that_ends_later_overwrites_nothing_of_a_newer_one() {
    let twin = Twin::start();
    history(&twin);
    let write = |commit: &str, number, wanted| {
        let step = Step::push(&twin, &hash(commit)).numbered(number);
        let ran = step.run(&project(wanted), &WRITE);
        let files = twin.world().files(BRANCH);
        let badge: Value = serde_json::from_str(&files["badge/evals.json"]).unwrap();
        let known = [
            "schemaVersion",
            "label",
            "message",
            "color",
            "isError",
            "cacheSeconds",
        ];
        let keys = badge.as_object().unwrap().keys();
        assert!(
            keys.clone().all(|it| known.contains(&it.as_str())),
            "{badge}"
        );
        let baseline: Value =
            serde_json::from_str(&files[&format!("baseline/{}.json", hash(commit))]).unwrap();
        let status = baseline["suites"]["evals"]["entries"][0]["status"].clone();
        (
            badge["message"].as_str().unwrap().to_owned(),
            status.as_str().unwrap().to_owned(),
            ran.stdout
                .matches("is kept as the later run 31 wrote it")
                .count(),
        )
    };
    let says = |badge: &str, status: &str, stays| (badge.to_owned(), status.to_owned(), stays);
    assert_eq!(write("c2", 29, 99), says("0/1", "FAIL", 0));
    // The badge is equal, and belongs to the newer run now.
    assert_eq!(write("c2", 31, 99), says("0/1", "FAIL", 0));
    // The previous commit has its own baseline; the badge shows the newest run.
    assert_eq!(write("c1", 30, 1), says("0/1", "PASS", 1));
    assert_eq!(write("c2", 30, 1), says("0/1", "FAIL", 2));
    assert_eq!(write("c2", 32, 1), says("1/1", "PASS", 0));
    assert_eq!(write("c2", 33, 99), says("0/1", "FAIL", 0));
    // Files of an older version name no run.
    let mut files = twin.world().files(BRANCH);
    files.remove("badges.json");
    twin.world().push(BRANCH, files);
    assert_eq!(write("c1", 30, 1), says("1/1", "PASS", 0));
}

#[test]
fn no_green_leg_of_a_run_hides_a_red_one_on_the_branch() {
    let says = |badge: &str, status: &str| (badge.to_owned(), status.to_owned());
    let (red, green) = (says("0/1", "FAIL"), says("1/1", "PASS"));
    for order in [[99, 1], [1, 99]] {
        let twin = Twin::start();
        history(&twin);
        let write = |(run, attempt), wanted| {
            let step = Step::push(&twin, &hash("c2")).numbered(run).again(attempt);
            let ran = step.run(&project(wanted), &WRITE);
            let files = twin.world().files(BRANCH);
            let badge: Value = serde_json::from_str(&files["badge/evals.json"]).unwrap();
            let baseline = &files[&format!("baseline/{}.json", hash("c2"))];
            let baseline: Value = serde_json::from_str(baseline).unwrap();
            let status = &baseline["suites"]["evals"]["entries"][0]["status"];
            let left = "is kept as another job or step of this run wrote it, which ended worse";
            let told = ran.stdout.contains(left);
            assert_eq!(
                told,
                wanted == 1 && badge["message"] == "0/1",
                "{}",
                ran.stdout
            );
            says(badge["message"].as_str().unwrap(), status.as_str().unwrap())
        };
        let first = write((5, 1), order[0]);
        assert_eq!(&first, if order[0] == 1 { &green } else { &red });
        assert_eq!(write((5, 1), order[1]), red);
        // The next attempt and the next run start over.
        assert_eq!(write((5, 2), 1), green);
        assert_eq!(write((6, 1), 99), red);
        assert_eq!(write((7, 1), 1), green);
    }
}

#[test]
fn eight_writers_meet_on_a_branch_that_is_not_there() {
    let twin = Twin::start();
    let projects: Vec<Project> = (0..8)
        .map(|number| Project::new().file(&format!("suite{number}/a.yaml"), suite(1)))
        .collect();
    let running: Vec<_> = projects
        .iter()
        .enumerate()
        .map(|(number, project)| {
            let suite = format!("suite{number}");
            let arguments = [&["--suite", suite.as_str()], &WRITE[..]].concat();
            let step = Step::push(&twin, &hash("c1"));
            let mut command = step.command(project, &arguments);
            command
                .stdout(std::process::Stdio::piped())
                .stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in running {
        let ended = child.wait_with_output().unwrap();
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    twin.check();
    let world = twin.world();
    let log = world.log(BRANCH);
    let roots = log.iter().filter(|it| it.parents.is_empty()).count();
    assert_eq!((log.len(), roots), (8, 1), "{:#?}", world.asked);
    let file = &world.files(BRANCH)[&format!("baseline/{}.json", hash("c1"))];
    let file: Value = serde_json::from_str(file).unwrap();
    assert_eq!(file["suites"].as_object().unwrap().len(), 8);
}

#[test]
fn a_push_whose_answer_is_lost_is_not_made_twice() {
    for part in ["/git/refs", "/git/commits", "/git/trees"] {
        let twin = Twin::start();
        twin.world().fault("POST", part, 1, Fault::CutAfter);
        assert_eq!(pushed(&twin, 1, 1), 0);
        assert_eq!(twin.world().log(BRANCH).len(), 1, "{part}");
    }
    let twin = Twin::start();
    history(&twin);
    pushed(&twin, 1, 1);
    twin.world().fault("PATCH", "/git/refs", 1, Fault::CutAfter);
    pushed(&twin, 2, 1);
    assert_eq!(twin.world().log(BRANCH).len(), 2);
}

#[test]
fn somebody_faster_each_time_ends_it_after_five() {
    let twin = Twin::start();
    history(&twin);
    pushed(&twin, 1, 1);
    let overtake = Fault::Meanwhile(|world| {
        let mut files = world.files(BRANCH);
        files.insert("theirs".to_owned(), world.asked.len().to_string());
        world.push(BRANCH, files);
    });
    twin.world().fault("PATCH", "/git/refs", 9, overtake);
    let step = Step::push(&twin, &hash("c2")).numbered(2);
    let ran = step.run(&project(1), &WRITE);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("5 times in a row"), "{}", ran.stdout);
    assert_eq!(twin.world().count("PATCH", "/git/refs"), 5);
}

#[test]
fn a_rule_against_writing_is_told_in_githubs_words_and_met_once() {
    for (branch, method) in [("new", "POST"), ("there", "PATCH")] {
        let twin = Twin::start();
        history(&twin);
        if branch == "there" {
            pushed(&twin, 1, 1);
        }
        let fault = Fault::Status(422, Vec::new());
        twin.world().fault(method, "/git/refs", 9, fault);
        let step = Step::push(&twin, &hash("c2")).numbered(2);
        let ran = step.run(&project(1), &WRITE);
        assert_eq!(ran.code, 0);
        assert!(
            ran.stdout.contains("GitHub answered with 422: a fault"),
            "{}",
            ran.stdout
        );
        assert_eq!(twin.world().count(method, "/git/refs"), 1, "{branch}");
    }
}

#[test]
fn nightly_a_conflict_that_stays_is_told_in_githubs_words() {
    let twin = Twin::start();
    history(&twin);
    pushed(&twin, 1, 1);
    let words = "Repository is locked for migration";
    twin.world()
        .fault("PATCH", "/git/refs", 9, Fault::Says(409, words));
    let step = Step::push(&twin, &hash("c2")).numbered(2);
    let ran = step.run(&project(1), &WRITE);
    assert_eq!(ran.code, 0);
    let said = format!("GitHub answered with 409: {words}, 5 times in a row");
    assert!(ran.stdout.contains(&said), "{}", ran.stdout);
    assert!(!ran.stdout.contains("others changed it"), "{}", ran.stdout);
    // One that passes is none.
    let twin = Twin::start();
    history(&twin);
    pushed(&twin, 1, 1);
    twin.world()
        .fault("PATCH", "/git/refs", 1, Fault::Says(409, words));
    assert_eq!(pushed(&twin, 2, 1), 0);
    assert_eq!(twin.world().log(BRANCH).len(), 2);
}

#[test]
fn the_branch_is_another_than_the_codes_whatever_its_name_is_written_like() {
    for name in ["main", "refs/heads/main"] {
        let twin = Twin::start();
        let options = [&WRITE[..], &["--badge-branch", name]].concat();
        let ran = Step::push(&twin, &hash("c1")).run(&project(1), &options);
        assert_eq!(ran.code, 0);
        let said = "the branch `main` is not written: it is the default branch";
        assert!(
            ran.stdout.contains(said) || ran.stderr.contains(said),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(twin.world().refs.is_empty());
    }
    let twin = Twin::start();
    let options = [&WRITE[..], &["--badge-branch", "refs/heads/data"]].concat();
    Step::push(&twin, &hash("c1")).run(&project(1), &options);
    assert_eq!(twin.world().log("data").len(), 1);
}

#[test]
fn a_repository_that_cannot_be_one_is_no_missing_token() {
    let twin = Twin::start();
    let (step, project) = (Step::push(&twin, &hash("c1")), project(1));
    let mut command = step.command(&project, &WRITE);
    command.env("GITHUB_REPOSITORY", "a/b/c");
    let ran = step.finish(&project, command);
    let all = format!("{}{}", ran.stdout, ran.stderr);
    let said =
        "the data branch was not written: GITHUB_REPOSITORY is `a/b/c`, and not `owner/name`";
    assert!(all.contains(said), "{all}");
    assert!(!all.contains("no token"), "{all}");
}

#[test]
fn a_token_that_only_reads_leaves_the_verdict() {
    let twin = Twin::start();
    twin.world().read_only = true;
    let ran = Step::push(&twin, &hash("c1")).run(&project(1), &WRITE);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("contents: write"), "{}", ran.stdout);
}

#[test]
fn the_newest_two_hundred_baselines_stay() {
    let twin = Twin::start();
    history(&twin);
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    let mut ages = BTreeMap::new();
    for number in 0..210 {
        let sha = hash(&format!("old{number}"));
        ages.insert(sha.clone(), 1_000 + number);
        files.insert(format!("baseline/{sha}.json"), "{}".to_owned());
    }
    files.insert("baselines.json".to_owned(), json!(ages).to_string());
    files.insert("README.md".to_owned(), "theirs".to_owned());
    twin.world().push(BRANCH, files);
    assert_eq!(pushed(&twin, 1, 1), 0);
    let files = twin.world().files(BRANCH);
    let kept = files
        .keys()
        .filter(|it| it.starts_with("baseline/"))
        .count();
    assert_eq!(kept, 200);
    assert!(!files.contains_key(&format!("baseline/{}.json", hash("old10"))));
    assert!(files.contains_key(&format!("baseline/{}.json", hash("old11"))));
    assert_eq!(files["README.md"], "theirs");
}

/// What a run was compared with, according to its log.
fn told(ran: &Ran) -> Option<String> {
    let lines = ran.stdout.lines().chain(ran.stderr.lines());
    let mut told = lines.filter_map(|line| {
        let found = line.split_once("note: compared with ");
        found.or_else(|| line.split_once("::compared with "))
    });
    // A notice also has a hint.
    let (_, told) = told.next()?;
    Some(told.split("; ").next().unwrap_or(told).to_owned())
}

/// What a pull request tested at `tested` was compared with.
fn compared(twin: &Twin, tested: Option<&str>) -> String {
    let project = project(1);
    let project = match tested {
        Some(sha) => project.file(".git/HEAD", sha),
        None => project,
    };
    let step = Step::pull_request(twin, 5).numbered(50);
    let ran = step.run(&project, &["--comment", "always"]);
    told(&ran).unwrap_or_else(|| panic!("{}{}", ran.stdout, ran.stderr))
}

#[test]
fn a_pull_request_is_compared_with_where_it_branched_off() {
    let twin = Twin::start();
    history(&twin);
    let short = |name: &str| hash(name)[..10].to_owned();
    assert_eq!(
        compared(&twin, None),
        format!("nothing: the branch `{BRANCH}` does not exist yet")
    );
    for number in [3, 5, 8] {
        pushed(&twin, number, 1);
    }
    let merge = hash("merge");
    let on = |parents: [&str; 2]| {
        let parents = parents.map(hash).to_vec();
        twin.world()
            .histories
            .insert(merge.clone(), vec![(merge.clone(), parents)]);
    };
    // The first parent of GitHub's merge commit.
    on(["c5", "head"]);
    assert_eq!(
        compared(&twin, None),
        format!("{}, the merge base with `main`", short("c5"))
    );
    // It has no baseline, so the nearest ancestor with one.
    on(["c7", "head"]);
    let two = format!(
        "{}, 2 commits before the merge base with `main`",
        short("c5")
    );
    assert_eq!(compared(&twin, None), two);
    // The head itself is checked out, so GitHub is asked for the merge base.
    let head = hash("head");
    twin.world()
        .merge_bases
        .insert(format!("main...{head}"), hash("c3"));
    assert_eq!(
        compared(&twin, Some(&head)),
        format!("{}, the merge base with `main`", short("c3"))
    );
    // No ancestor has one, so the latest, which the log says.
    twin.world()
        .merge_bases
        .insert(format!("main...{head}"), hash("c2"));
    let latest = format!("{}, the latest of `main`, not the merge base", short("c8"));
    assert_eq!(compared(&twin, Some(&head)), latest);
}

/// A pull request's gated run where each of sixty commits has a baseline of another suite, and the last of them one of
/// this suite where `old`; the pull request begins ten commits before the newest.
fn among_neighbours(old: bool) -> (Twin, Ran) {
    let twin = Twin::start();
    let name = |number: usize| hash(&format!("n{number}"));
    {
        let mut world = twin.world();
        let all: Vec<(String, Vec<String>)> = (0..60)
            .map(|number| (name(number), vec![name(number + 1)]))
            .collect();
        world.histories.insert("main".to_owned(), all.clone());
        world.histories.insert(name(10), all[10..].to_vec());
        let base = format!("main...{}", hash("head"));
        world.merge_bases.insert(base, name(10));
        let other =
            json!({"format": "mcp-assert/baselines", "version": 1, "suites": {"other": {}}});
        let of = |number| (format!("baseline/{}.json", name(number)), other.to_string());
        let mut files: BTreeMap<String, String> = (0..60).map(of).collect();
        if old {
            files.insert("timings/evals.json".to_owned(), "{}".to_owned());
        }
        world.push(BRANCH, files);
    }
    let project = project(1).file(".git/HEAD", hash("head"));
    let step = Step::pull_request(&twin, 5);
    let ran = step.run(&project, &["--fail-on-regression", "--comment", "off"]);
    (twin, ran)
}

#[test]
fn of_a_new_suite_none_of_its_neighbours_baselines_is_read() {
    let (twin, ran) = among_neighbours(false);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let why = "nothing: no run of this suite has saved a baseline yet";
    assert_eq!(told(&ran).as_deref(), Some(why));
    let world = twin.world();
    assert_eq!(world.count("GET", "/contents/baseline/"), 0);
    assert!(world.asked.len() <= 5, "{:#?}", world.asked);
}

#[test]
fn no_baseline_is_read_twice() {
    let (twin, ran) = among_neighbours(true);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let why = "nothing: neither the merge base nor the last commits of `main` have a baseline";
    assert_eq!(told(&ran).as_deref(), Some(why));
    let mut asked = twin.world().asked.clone();
    asked.retain(|it| it.contains("/contents/baseline/"));
    let all = asked.len();
    asked.sort();
    asked.dedup();
    assert_eq!((asked.len(), all), (60, 60));
}

#[test]
fn a_push_is_compared_with_the_nearest_commit_before_it() {
    let twin = Twin::start();
    history(&twin);
    for number in [3, 6] {
        pushed(&twin, number, 1);
    }
    let against = |number: u64| {
        let step = Step::push(&twin, &hash(&format!("c{number}"))).numbered(number);
        let ran = step.run(&project(1), &["--report-json", "run.json"]);
        told(&ran)
    };
    let short = |name: &str| hash(name)[..10].to_owned();
    assert_eq!(
        against(7),
        Some(format!("{}, the commit before", short("c6")))
    );
    // Never with itself.
    assert_eq!(
        against(6),
        Some(format!("{}, 3 commits before", short("c3")))
    );
    assert_eq!(
        against(2),
        Some("nothing: none of the last 50 commits has a baseline".to_owned())
    );
}

#[test]
fn a_plan_takes_its_durations_from_the_branch() {
    let twin = Twin::start();
    let timings = json!({
        "format": "mcp-assert/timings",
        "version": 1,
        "durations_us": {"a.yaml::lists its tools": [90_000_000, 70_000_000, 80_000_000]},
    });
    let files = BTreeMap::from([("timings/evals.json".to_owned(), timings.to_string())]);
    twin.world().push(BRANCH, files);
    let project = project(1);
    let step = Step::push(&twin, &hash("c1"));
    let ran = step.finish(&project, step.dressed(&project, &["ci", "plan"]));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let plan = project.read("mcp-assert-plan.json");
    assert!(plan.contains("80000000"), "{plan}");
}

#[test]
fn a_shard_says_nothing_and_the_merge_speaks_for_all() {
    let twin = Twin::start();
    let project = project(1);
    let step = Step::push(&twin, &hash("c1"));
    let planned = step.finish(
        &project,
        step.dressed(&project, &["ci", "plan", "--baseline", "off"]),
    );
    assert_eq!(planned.code, 0, "{}", planned.stdout);
    let shard = step.run(
        &project,
        &["--shard", "1/1", "--report-json", "blobs/1.json"],
    );
    assert_eq!(shard.code, 0, "{}", shard.stdout);
    assert_eq!(twin.world().asked, Vec::<String>::new());
    let arguments = [&["ci", "merge", "--blobs", "blobs"], &WRITE[..]].concat();
    let merged = step.finish(&project, step.dressed(&project, &arguments));
    assert_eq!(merged.code, 0, "{}", merged.stdout);
    let files = twin.world().files(BRANCH);
    let baseline: Value =
        serde_json::from_str(&files[&format!("baseline/{}.json", hash("c1"))]).unwrap();
    let suite = &baseline["suites"]["evals"];
    assert_eq!(suite["entries"][0]["status"], "PASS");
    assert!(
        suite["catalogs"]["builtin minimal"]["tools"].is_array(),
        "{suite}"
    );
}

#[test]
fn that_there_is_no_baseline_is_a_notice_unless_nobody_wants_marks() {
    let twin = Twin::start();
    let case = |more: &[&str], notices: usize, told: usize| {
        let project = project(1);
        let ran = Step::pull_request(&twin, 5).run(&project, more);
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        let marked = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("::notice "));
        assert_eq!(marked.count(), notices, "{}", ran.stdout);
        let compared = ran.stdout.matches("compared with nothing: ").count();
        assert_eq!(compared, told, "{}", ran.stdout);
    };
    case(&["--comment", "off"], 1, 1);
    case(&["--comment", "off", "--annotations", "off"], 0, 1);
    case(&["--comment", "off", "--baseline", "off"], 0, 0);
}
