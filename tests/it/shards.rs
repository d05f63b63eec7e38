//! `ci plan`, `ci --shard` and `ci merge`: a divided run gives the result of the whole run. Missing, duplicate, changed
//! or foreign results make the merge red and are named.

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::{
    ci::suite,
    harness::{Project, Ran},
};

/// A project of two files whose assertions pass, except possibly the last.
fn project(last: &str) -> Project {
    Project::new()
        .file(
            "evals/a.yaml",
            suite(&[("a", "hello"), ("b", "hello"), ("s", "skip")]),
        )
        .file("evals/b.yaml", suite(&[("c", "hello"), ("d", last)]))
}

/// Plans three shards and returns the digest.
fn plan(project: &Project) -> String {
    let mut command = project.command(&["ci", "plan", "--shards", "3"]);
    command.env("WANTED", "bye");
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let line = ran
        .stdout
        .lines()
        .find(|line| line.starts_with("plan-digest="));
    line.unwrap().trim_start_matches("plan-digest=").to_owned()
}

/// Runs a shard in an attempt of the workflow and stores its result.
fn shard(project: &Project, shard: &str, attempt: u32, code: i32) {
    let mut command = project.command(&["ci", "--isolation", "process", "--shard", shard]);
    command.env("GITHUB_RUN_ATTEMPT", attempt.to_string());
    // Changes between attempts while the suites stay the same.
    command.env("WANTED", if attempt == 1 { "bye" } else { "hello" });
    let ran = project.finish(command);
    assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    let name = shard.replace('/', "-of-");
    let folder = project.path().join(format!(
        "mcp-assert-blobs/mcp-assert-blob-evals-{name}-attempt-{attempt}"
    ));
    fs::create_dir_all(&folder).unwrap();
    fs::rename(
        project.path().join("mcp-assert-blob.json"),
        folder.join("mcp-assert-blob.json"),
    )
    .unwrap();
}

/// A project whose three shards have run.
fn divided(last: &str) -> Project {
    let project = project(last);
    plan(&project);
    let text: Value = serde_json::from_str(&project.read("mcp-assert-plan.json")).unwrap();
    for (index, planned) in text["shards"].as_array().unwrap().iter().enumerate() {
        let red = last != "hello" && planned["ids"].to_string().contains("b.yaml::d");
        shard(&project, &format!("{}/3", index + 1), 1, i32::from(red));
    }
    project
}

/// The file of a shard's result.
fn blob(project: &Project, shard: u32, attempt: u32) -> std::path::PathBuf {
    project.path().join(format!(
        "mcp-assert-blobs/mcp-assert-blob-evals-{shard}-of-3-attempt-{attempt}/mcp-assert-blob.json"
    ))
}

fn merge(project: &Project, more: &[&str]) -> Ran {
    let mut arguments = vec!["ci", "merge"];
    arguments.extend(more);
    project.run(&arguments)
}

/// Asserts exit code, verdict and messages.
#[track_caller]
fn expect(ran: &Ran, code: i32, verdict: &str, said: &[&str]) {
    let line = format!("verdict: {verdict}\n");
    assert!(
        ran.code == code && ran.stdout.contains(&line),
        "expected {code} and {verdict}, got {}\n{}\n{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
    for words in said {
        assert!(
            ran.stdout.contains(words),
            "no {words:?} in\n{}",
            ran.stdout
        );
    }
}

/// The statuses by id.
fn statuses(run: &str) -> Vec<(String, String)> {
    let run: Value = serde_json::from_str(run).unwrap();
    let of = |record: &Value, key: &str| record[key].as_str().unwrap().to_owned();
    run["assertions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| (of(record, "id"), of(record, "status")))
        .collect()
}

#[test]
fn a_divided_run_says_what_the_whole_one_says() {
    for (last, code, verdict) in [("hello", 0, "pass"), ("bye", 1, "fail")] {
        let project = divided(last);
        let merged = merge(
            &project,
            &["--report-json", "merged.json", "--badge", "m.json"],
        );
        expect(&merged, code, verdict, &[]);
        let whole = [
            "ci",
            "--isolation",
            "process",
            "--report-json",
            "whole.json",
            "--badge",
            "w.json",
        ];
        let whole = project.run(&whole);
        expect(&whole, code, verdict, &[]);
        assert_eq!(
            statuses(&project.read("merged.json")),
            statuses(&project.read("whole.json"))
        );
        assert_eq!(project.read("m.json"), project.read("w.json"));
    }
}

/// The options that write a report.
const FORMATS: [&str; 5] = [
    "--junit",
    "--markdown",
    "--badge",
    "--sarif",
    "--report-json",
];

#[test]
fn a_stored_run_is_told_again_with_the_same_bytes() {
    let project = divided("bye");
    let files = |suffix: &str| FORMATS.map(|option| format!("{option}={suffix}{option}"));
    let (first, second) = (files("1"), files("2"));
    let first: Vec<&str> = first.iter().map(String::as_str).collect();
    let second: Vec<&str> = second.iter().map(String::as_str).collect();
    expect(&merge(&project, &first), 1, "fail", &[]);
    let mut again = vec!["--blobs", "1--report-json"];
    again.extend(&second);
    expect(&merge(&project, &again), 1, "fail", &[]);
    for format in FORMATS {
        let of = |suffix: &str| project.read(&format!("{suffix}{format}"));
        assert!(of("1") == of("2"), "{format} differs");
        assert!(of("1").len() > 50);
    }
}

#[test]
fn a_whole_run_names_its_plan_and_its_machine() {
    let project = project("hello");
    let stored = |options: &[&str]| -> Value {
        let mut args = vec!["run", "evals", "--report-json", "run.json"];
        args.extend(options);
        assert_eq!(project.run(&args).code, 0);
        serde_json::from_str(&project.read("run.json")).unwrap()
    };
    let (first, again) = (stored(&[]), stored(&["--jobs", "1"]));
    let less = stored(&["--shard", "1/2"]);
    assert_eq!(first["plan"]["digest"].as_str().unwrap().len(), 64);
    assert_eq!(first["plan"]["digest"], again["plan"]["digest"]);
    assert_ne!(first["plan"]["digest"], less["plan"]["digest"]);
    let machine = &first["machine"];
    assert_eq!(machine["os"], std::env::consts::OS);
    assert_eq!(machine["arch"], std::env::consts::ARCH);
    assert!(machine["cores"].as_u64().unwrap() >= 1, "{machine}");
}

#[test]
fn plans_are_the_same_bytes_whatever_the_order_of_files() {
    let project = project("hello");
    plan(&project);
    let first = project.read("mcp-assert-plan.json");
    let swapped = project.run(&[
        "ci",
        "plan",
        "--shards",
        "3",
        "--suite",
        "evals/b.yaml",
        "--suite",
        "evals/a.yaml",
        "--plan",
        "p.json",
    ]);
    assert_eq!(swapped.code, 0, "{}", swapped.stderr);
    let ids = |text: &str| {
        let plan: Value = serde_json::from_str(text).unwrap();
        plan["shards"].clone()
    };
    let straight = project.run(&[
        "ci",
        "plan",
        "--shards",
        "3",
        "--suite",
        "evals/a.yaml",
        "--suite",
        "evals/b.yaml",
        "--plan",
        "q.json",
    ]);
    assert_eq!(straight.code, 0, "{}", straight.stderr);
    assert_eq!(ids(&project.read("p.json")), ids(&project.read("q.json")));
    plan(&project);
    assert_eq!(project.read("mcp-assert-plan.json"), first);
}

#[test]
fn a_plan_goes_by_what_was_measured() {
    let entry = |name: &str, us: u64| json!({"id": format!("a.yaml::{name}"), "name": name, "status": "PASS", "p50_us": us});
    let baseline = json!({"format": "mcp-assert/baseline", "version": 1,
        "entries": [entry("a", 90_000_000), entry("b", 30_000_000), entry("c", 60_000_000)]});
    let project = Project::with_suite(&suite(&[("a", "x"), ("b", "x"), ("c", "x"), ("new", "x")]))
        .file("b.json", baseline.to_string());
    let planned = |more: &[&str]| {
        let mut arguments = vec!["ci", "plan", "--baseline", "b.json"];
        arguments.extend(more);
        let ran = project.run(&arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let plan: Value = serde_json::from_str(&project.read("mcp-assert-plan.json")).unwrap();
        let shards = plan["shards"].as_array().unwrap().clone();
        assert!(
            ran.stdout.contains(&format!("shards={}\n", shards.len())),
            "{}",
            ran.stdout
        );
        let seconds = |shard: &Value| shard["planned_us"].as_u64().unwrap() / 1_000_000;
        shards.iter().map(seconds).collect::<Vec<_>>()
    };
    let alone = ["--jobs", "1"];
    let planned = |more: &[&str]| planned(&[&alone[..], more].concat());
    // The unknown one counts as the median, 60 s: 240 s in all.
    assert_eq!(planned(&[]), [90, 60, 60, 30]);
    assert_eq!(planned(&["--target-duration", "2m"]), [120, 120]);
    assert_eq!(planned(&["--max-shards", "1"]), [240]);
    assert_eq!(planned(&["--target-duration", "1s"]).len(), 4);
    assert_eq!(planned(&["--trials", "2", "--shards", "2"]), [240, 240]);
}

#[test]
fn a_plan_of_nothing_is_made_and_merged_as_empty() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let ran = project.run(&["ci", "plan", "--filter", "zzz"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("shards=0\nmatrix={\"include\":[]}\n"),
        "{}",
        ran.stdout
    );
    expect(&merge(&project, &[]), 4, "empty", &[]);
    expect(&merge(&project, &["--allow-empty"]), 0, "pass", &[]);
}

/// Runs all shards of a plan as GitLab would, each with this exit code, and merges them.
fn flow(project: &Project, plan: &[&str], more: &[&str]) -> Ran {
    let mut arguments = vec!["ci", "plan"];
    arguments.extend(plan);
    let ran = project.run(&arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let text: Value = serde_json::from_str(&project.read("mcp-assert-plan.json")).unwrap();
    let of = text["shards"].as_array().unwrap().len();
    for number in 1..=of {
        shard(project, &format!("{number}/{of}"), 1, 0);
    }
    merge(project, more)
}

#[test]
fn names_and_files_of_every_spelling_are_planned_run_and_merged() {
    let names = [
        "\u{26a0}\u{fe0f} refuses",
        "family \u{1f469}\u{200d}\u{1f469}",
        "\u{645}\u{6cc}\u{200c}\u{62e}",
        "soft\u{ad}hyphen",
        "\u{feff}marked",
        "tab\there",
        "ends with lines\n",
        "ends with a blank ",
        "two\nlines",
        // Ids with the same display text stay distinct.
        "zero\u{200b}width",
        "zero\\u{200b}width",
    ];
    let quoted = names.map(|name| json!(name).to_string());
    let cases: Vec<(&str, &str)> = quoted.iter().map(|name| (name.as_str(), "hello")).collect();
    let project = Project::new()
        .file("evals/a.yaml", suite(&cases))
        .file("evals/\u{2714}\u{fe0f} b.yaml", suite(&[("b", "hello")]));
    let merged = flow(&project, &["--shards", "2"], &["--report-json", "m.json"]);
    expect(&merged, 0, "pass", &[]);
    let ids = statuses(&project.read("m.json"));
    assert_eq!(ids.len(), names.len() + 1, "{ids:?}");
    // As in the file, or as displayed.
    for typed in [
        names[0],
        "*\u{26a0}\u{fe0f} r*",
        "\u{2714}\u{fe0f} b.yaml::*",
        "tab\there",
        "tab here",
        names[6],
        "lines\n",
        names[8],
        "two \u{23ce} lines",
    ] {
        let ran = project.run(&["run", "--list", "--filter", typed, "evals"]);
        assert_eq!(ran.stdout.lines().count(), 1, "{typed:?}: {}", ran.stdout);
    }
}

#[test]
fn a_shard_without_assertions_is_a_shard() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "hello"), ("c", "hello")]));
    let merged = flow(&project, &["--shards", "4"], &[]);
    expect(&merged, 0, "pass", &[]);
    let merged = flow(&project, &["--shards", "4", "--trials", "2"], &[]);
    expect(&merged, 0, "pass", &[]);
}

#[test]
fn a_shard_of_nothing_but_skips_is_no_failure_and_a_run_of_them_is_empty() {
    let both = [("a", "hello"), ("b", "skip"), ("c", "skip")];
    let project = Project::with_suite(&suite(&both));
    let merged = flow(&project, &["--shards", "3"], &[]);
    expect(&merged, 0, "pass", &[]);
    let project = Project::with_suite(&suite(&both[1..]));
    let merged = flow(&project, &["--shards", "2"], &[]);
    expect(&merged, 4, "empty", &[]);
    let merged = merge(&project, &["--allow-empty"]);
    expect(&merged, 0, "pass", &[]);
}

#[test]
fn a_plan_of_broken_suites_is_refused() {
    let project = Project::with_suite("name: a\nsever: {}\n");
    let ran = project.run(&["ci", "plan"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(!project.path().join("mcp-assert-plan.json").exists());
}

#[test]
fn each_shard_dropped_changed_or_cut_makes_the_merge_red() {
    let project = divided("hello");
    for number in 1..=3 {
        let path = blob(&project, number, 1);
        let whole = fs::read(&path).unwrap();
        let named = [
            "--badge",
            "badge.json",
            "--save-baseline",
            "baseline.json",
            "--report-json",
            "merged.json",
        ];
        let red = |what: &str| {
            let ran = merge(&project, &named);
            let missing = format!("shard {number} of 3 left no result");
            expect(&ran, 3, "incomplete", &[&missing, "it did not run"]);
            assert!(!project.path().join("baseline.json").exists(), "{what}");
            let badge: Value = serde_json::from_str(&project.read("badge.json")).unwrap();
            assert_eq!(badge["message"], "error", "{what}");
            let merged: Value = serde_json::from_str(&project.read("merged.json")).unwrap();
            assert_eq!(merged["judgement"]["verdict"], "incomplete");
        };
        fs::remove_file(&path).unwrap();
        red("dropped");
        fs::write(&path, &whole[..whole.len() / 2]).unwrap();
        red("truncated");
        for at in [whole.len() / 3, whole.len() - 120] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            fs::write(&path, flipped).unwrap();
            red("flipped");
        }
        fs::write(&path, &whole).unwrap();
    }
    expect(&merge(&project, &[]), 0, "pass", &[]);
}

/// Forges a result, with a valid digest.
fn forge(path: &Path, from: &str, to: &str) {
    use sha2::Digest as _;

    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{from} is not in it");
    let text = text.replace(from, to);
    let before = text.rfind("\n\"end\":").unwrap();
    let digest: String = sha2::Sha256::digest(&text.as_bytes()[..before])
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from_digit(u32::from(digit), 16).unwrap())
        .collect();
    let at = before + text[before..].find("sha256\":\"").unwrap() + 9;
    fs::write(path, format!("{}{digest}{}", &text[..at], &text[at + 64..])).unwrap();
}

#[test]
fn results_of_another_plan_tool_or_format_are_invalid() {
    let project = divided("hello");
    let path = blob(&project, 2, 1);
    let whole = fs::read_to_string(&path).unwrap();
    let run: Value = serde_json::from_str(&whole).unwrap();
    let case = |from: &str, to: &str, said: &str| {
        forge(&path, from, to);
        expect(&merge(&project, &[]), 2, "invalid", &[said]);
        fs::write(&path, &whole).unwrap();
    };
    let digest = run["plan"]["digest"].as_str().unwrap();
    case(digest, &"0".repeat(64), "is of another plan");
    let tool = run["tool"]["sha256"].as_str().unwrap();
    case(tool, &"0".repeat(64), "by another executable");
    case("\"version\":1}", "\"version\":2}", "its version is 2");
    case("mcp-assert/run", "other/run", "is not `mcp-assert/run`");
}

#[test]
fn doubled_and_unplanned_assertions_are_named() {
    let project = divided("hello");
    let path = blob(&project, 1, 1);
    let whole = fs::read_to_string(&path).unwrap();
    let run: Value = serde_json::from_str(&whole).unwrap();
    let id = run["assertions"][0]["id"].as_str().unwrap().to_owned();
    let of_another: Value =
        serde_json::from_str(&fs::read_to_string(blob(&project, 2, 1)).unwrap()).unwrap();
    let other = of_another["assertions"][0]["id"].as_str().unwrap();
    let (from, key) = (format!("\"id\":\"{id}\""), |id: &str| {
        format!("\"id\":\"{id}\"")
    });
    forge(&path, &from, &key("x.yaml::x"));
    let said = ["`x.yaml::x` is in no shard of the plan", &id];
    expect(&merge(&project, &[]), 3, "incomplete", &said);
    fs::write(&path, &whole).unwrap();
    forge(&path, &from, &key(other));
    let said = format!("`{other}` was run by shard 1 and belongs to 2");
    expect(&merge(&project, &[]), 3, "incomplete", &[&said]);
    fs::write(&path, &whole).unwrap();
    let rival = project.path().join("mcp-assert-blobs/rival.json");
    fs::copy(&path, &rival).unwrap();
    expect(&merge(&project, &[]), 0, "pass", &[]);
    forge(&rival, "\"duration_us\":", "\"duration_us\":1");
    let said = "shard 1 has two different results of attempt 1";
    expect(&merge(&project, &[]), 3, "incomplete", &[said]);
}

#[test]
fn no_report_is_written_over_a_result_that_is_merged() {
    let project = divided("hello");
    let blob = "mcp-assert-blobs/mcp-assert-blob-evals-1-of-3-attempt-1/mcp-assert-blob.json";
    let kept = project.read(blob);
    for option in ["--junit", "--report-json", "--update-baseline"] {
        let wanted = format!("`{option}` would write over `{blob}`, which `--blobs` reads");
        expect(&merge(&project, &[option, blob]), 2, "invalid", &[&wanted]);
        assert_eq!(project.read(blob), kept);
    }
    // Other files may be written there.
    let beside = ["--junit", "mcp-assert-blobs/new.xml"];
    expect(&merge(&project, &beside), 0, "pass", &[]);
}

#[test]
fn links_and_what_is_no_result_make_the_merge_red() {
    let project = divided("hello");
    let stray = project.path().join("mcp-assert-blobs/stray.json");
    std::os::unix::fs::symlink(blob(&project, 1, 1), &stray).unwrap();
    expect(
        &merge(&project, &[]),
        3,
        "incomplete",
        &["`stray.json`", "link"],
    );
    fs::remove_file(&stray).unwrap();
    fs::File::create(&stray).unwrap().set_len(1 << 36).unwrap();
    expect(
        &merge(&project, &[]),
        3,
        "incomplete",
        &["`stray.json`", "longer"],
    );
    fs::remove_file(&stray).unwrap();
    expect(&merge(&project, &[]), 0, "pass", &[]);
}

#[test]
fn plans_that_are_missing_changed_or_another_are_invalid() {
    let project = divided("hello");
    let path = project.path().join("mcp-assert-plan.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"trials\":1", "\"trials\":2")).unwrap();
    expect(&merge(&project, &[]), 2, "invalid", &["digest is wrong"]);
    let changed = ["ci", "--isolation", "process", "--shard", "1/3"];
    expect(&project.run(&changed), 2, "invalid", &["digest is wrong"]);
    fs::remove_file(&path).unwrap();
    expect(&merge(&project, &[]), 2, "invalid", &["cannot be used"]);
    let ran = project.run(&["ci", "plan", "--shards", "2"]);
    assert_eq!(ran.code, 0);
    expect(&merge(&project, &[]), 2, "invalid", &["is of another plan"]);
    expect(
        &project.run(&changed),
        2,
        "invalid",
        &["the plan has 2 shards, not 3"],
    );
}

#[test]
fn a_shard_is_asked_for_nothing_that_it_cannot_do() {
    let project = project("hello");
    plan(&project);
    for (option, help) in [
        (&["--filter", "a"][..], "cannot be used with"),
        (&["--tags", "a"], "cannot be used with"),
        (&["--baseline", "b.json"], "cannot be used with"),
        (&["--update-baseline", "b.json"], "cannot be used with"),
        (&["--fail-on-regression"], "cannot be used with"),
        (&["--fail-on-breaking"], "cannot be used with"),
        (&["--trials", "2"], "the plan has 1 trial"),
    ] {
        let shard = ["ci", "--isolation", "process", "--shard", "1/3"];
        let ran = project.run(&[&shard, option].concat());
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stderr.contains(help), "{}", ran.stderr);
    }
}

#[test]
fn a_shard_of_suites_that_changed_is_refused() {
    let project = project("hello");
    plan(&project);
    let refused = |said: &str| {
        for number in 1..=3 {
            let shard = format!("{number}/3");
            let ran = project.run(&["ci", "--isolation", "process", "--shard", &shard]);
            expect(&ran, 2, "invalid", &[]);
            let said = format!("the plan is of other suites: {said}\n");
            assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        }
    };
    let write = |path: &str, text: &str| fs::write(project.path().join(path), text).unwrap();
    let before = project.read("evals/b.yaml");
    // One more assertion, a weaker one, one less.
    let more = suite(&[("c", "hello"), ("d", "hello"), ("e", "bye")]);
    for text in [
        more.as_str(),
        &before.replace("[hello]", "[h]"),
        &suite(&[("c", "hello")]),
    ] {
        write("evals/b.yaml", text);
        refused("`b.yaml` changed");
    }
    write("evals/b.yaml", &before);
    write("evals/sub.yaml", &before);
    write("evals/mcp-assert.yaml", "defaults: {timeout: 9s}\n");
    let a = project.read("evals/a.yaml");
    fs::remove_file(project.path().join("evals/a.yaml")).unwrap();
    refused("`a.yaml`, `mcp-assert.yaml`, `sub.yaml` changed");
    let run = &["ci", "--isolation", "process", "--shard", "1/3"];
    project.run(&[&run[..], &["--report-json", "mcp-assert-blobs/1.json"]].concat());
    let said = "`1.json` is of other suites than the plan";
    expect(&merge(&project, &[]), 2, "invalid", &[said]);
    fs::remove_dir_all(project.path().join("evals")).unwrap();
    fs::create_dir(project.path().join("evals")).unwrap();
    // Line ends depend on the checkout, and files without assertions are not part of the suite.
    write("evals/a.yaml", &a.replace('\n', "\r\n"));
    write("evals/b.yaml", &before);
    write("evals/notes.yaml", "a: 1\n");
    for number in 1..=3 {
        shard(&project, &format!("{number}/3"), 1, 0);
    }
    fs::remove_file(project.path().join("mcp-assert-blobs/1.json")).unwrap();
    expect(&merge(&project, &[]), 0, "pass", &[]);
}

#[test]
fn a_shard_that_names_its_suites_in_another_order_is_refused() {
    // The order decides which of two assertions with one path and name is `#2`.
    let project = Project::new()
        .file("a/x.yaml", suite(&[("n", "hello")]))
        .file("b/x.yaml", suite(&[("n", "bye")]));
    let (a, b) = (["--suite", "a"], ["--suite", "b"]);
    let plan = [&["ci", "plan", "--shards", "2"][..], &a, &b].concat();
    assert_eq!(project.run(&plan).code, 0);
    for number in ["1/2", "2/2"] {
        let blob = format!("mcp-assert-blobs/{}.json", &number[..1]);
        let shard = ["ci", "--isolation", "process", "--shard", number];
        let report = ["--report-json", blob.as_str()];
        let ran = project.run(&[&shard[..], &b, &a, &report].concat());
        expect(&ran, 2, "invalid", &[]);
        let said = "they stand in another order";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    let merged = merge(&project, &[]);
    assert_ne!(merged.code, 0, "{}", merged.stdout);
}

#[test]
fn the_newest_attempt_counts_and_the_older_one_makes_it_flaky() {
    let project = divided("'{{env.WANTED}}'");
    let red = (1..=3)
        .find(|number| {
            let text = fs::read_to_string(blob(&project, *number, 1)).unwrap();
            text.contains("\"status\":\"fail\"")
        })
        .unwrap();
    expect(&merge(&project, &[]), 1, "fail", &[]);
    shard(&project, &format!("{red}/3"), 2, 0);
    let ran = merge(&project, &["--report-json", "merged.json"]);
    expect(&ran, 0, "pass", &[]);
    let merged = project.read("merged.json");
    assert!(merged.contains("in attempt 1 of the workflow"), "{merged}");
}

#[test]
fn what_the_workflow_knows_can_only_make_it_worse() {
    let project = divided("hello");
    let digest = {
        let plan: Value = serde_json::from_str(&project.read("mcp-assert-plan.json")).unwrap();
        plan["sha256"].clone()
    };
    let case = |plan: &str, digest: &Value, shard: &str, code, verdict| {
        let needs = json!({
            "plan": {"result": plan, "outputs": {"plan-digest": digest}},
            "shard": {"result": shard, "outputs": {}},
        });
        let ran = merge(&project, &["--needs", &needs.to_string()]);
        expect(&ran, code, verdict, &[]);
    };
    case("success", &digest, "success", 0, "pass");
    case("failure", &digest, "success", 2, "invalid");
    case("success", &json!("00"), "success", 2, "invalid");
    case("success", &digest, "cancelled", 3, "incomplete");
    case("success", &digest, "skipped", 3, "incomplete");
    case("success", &digest, "failure", 3, "error");
    expect(
        &merge(&project, &["--needs", "{"]),
        2,
        "invalid",
        &["--needs"],
    );
}

#[test]
fn a_stored_run_keeps_its_verdict_and_can_only_be_told_as_worse() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "hello")]));
    let run = |arguments: &[&str], code| {
        let mut all = vec!["ci", "--isolation", "process", "--report-json", "run.json"];
        all.extend(arguments);
        let ran = project.run(&all);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    };
    let told = |more: &[&str], code, verdict| {
        expect(
            &merge(&project, &[&["--blobs", "run.json"], more].concat()),
            code,
            verdict,
            &[],
        );
    };
    run(&["--update-baseline", "b.json"], 0);
    let red = suite(&[("a", "hello"), ("b", "bye")]);
    fs::write(project.path().join("evals/a.yaml"), &red).unwrap();
    run(&["--threshold", "50", "--baseline", "b.json"], 0);
    told(&[], 0, "pass");
    told(&["--threshold", "50"], 0, "pass");
    told(&["--threshold", "51"], 1, "fail");
    // The default may be given explicitly.
    told(&["--threshold", "100"], 1, "fail");
    told(&["--fail-on-regression"], 1, "fail");
    run(
        &[
            "--threshold",
            "50",
            "--baseline",
            "b.json",
            "--fail-on-regression",
        ],
        1,
    );
    told(&[], 1, "fail");
    told(&["--threshold", "0"], 1, "fail");
}

#[test]
fn telling_of_a_foreign_run_exits_by_whether_it_could_be_told() {
    let project = divided("bye");
    expect(
        &merge(&project, &["--report-json", "run.json"]),
        1,
        "fail",
        &[],
    );
    let tell = |more: &[&str]| {
        let mut command = project.command(&["ci", "merge", "--blobs", "run.json"]);
        command.args(more).env("GITHUB_EVENT_NAME", "workflow_run");
        project.finish(command)
    };
    let off = ["--comment", "off"];
    expect(&tell(&off), 0, "fail", &[]);
    let unwritable = [&off[..], &["--junit", "run.json/x.xml"]].concat();
    expect(&tell(&unwritable), 3, "error", &[]);
    // There is no token.
    let ran = tell(&[]);
    expect(&ran, 3, "fail", &[]);
    assert!(ran.stderr.contains("no token"), "{}", ran.stderr);
    fs::write(project.path().join("run.json"), "{}").unwrap();
    expect(&tell(&[]), 2, "invalid", &[]);
}

/// The workflow hands secrets to the shards alone.
#[test]
fn what_needs_variables_of_the_shards_is_planned_without_them() {
    let project = Project::with_suite(
        "name: one\nskip_unless_env: KEY\nserver: {builtin: conformance, env: {KEY: '${KEY}'}}\n\
         assert: {tool: echo, args: {message: '{{env.KEY}}'}, expect: {contains: '{{env.KEY}}'}}\n---\n\
         name: two\nserver: {transport: http, url: '{{env.ADDRESS}}/mcp', headers: {X-Key: '${KEY}'}}\n\
         assert: {tool: echo, args: {message: x}, expect: {contains: x}}\n",
    );
    let ran = project.run(&["ci", "plan", "--shards", "1"]);
    assert_eq!((ran.code, &ran.stderr[..]), (0, ""), "{}", ran.stdout);
    let mut command = project.command(&["ci", "--isolation", "process", "--shard", "1/1"]);
    command
        .env("KEY", "a-secret-key")
        .env("ADDRESS", "http://127.0.0.1:1");
    let ran = project.finish(command);
    assert!(ran.stdout.contains("PASS  one"), "{}", ran.stdout);
    assert!(ran.stdout.contains("ERROR two"), "{}", ran.stdout);
}
