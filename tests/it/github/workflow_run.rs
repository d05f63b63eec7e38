//! The workflow that comments for forks: it runs later, with permissions, on an untrusted report.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    Step,
    events::{payload, set},
    suite,
    twin::{Fault, Pull, REPOSITORY, TOKEN, Twin, World, hash},
};
use crate::harness::Project;

const FORK: &str = "stranger/octo-repo";

/// A project with only the report of a fork's run.
fn report(twin: &Twin) -> Project {
    let tested = Project::with_suite(&suite(99));
    let step = Step::proposed(twin, 5, FORK).token(None);
    assert_eq!(step.run(&tested, &["--report-json", "run.json"]).code, 1);
    Project::new().file("run.json", tested.read("run.json"))
}

/// The step of the commenting workflow: on the default branch, for a head that the event names.
fn telling<'a>(twin: &'a Twin, head: &str, from: &str) -> Step<'a> {
    telling_of(twin, 77, head, from)
}

/// The same for a run of that number.
fn telling_of<'a>(twin: &'a Twin, run: u64, head: &str, from: &str) -> Step<'a> {
    let mut payload = payload("workflow_run");
    for (name, value) in [
        ("id", json!(run)),
        ("run_attempt", json!(2)),
        ("event", json!("pull_request")),
        ("path", json!(".github/workflows/ci.yml")),
        ("head_sha", json!(head)),
        ("head_branch", json!("topic")),
        ("head_repository/full_name", json!(from)),
        // So it is for forks; the recorded one names a pull request of its own.
        ("pull_requests", json!([])),
    ] {
        set(&mut payload, &format!("/workflow_run/{name}"), value);
    }
    Step::push(twin, &hash("main")).event("workflow_run", |event| *event = payload)
}

fn pull(number: u64, from: &str) -> Pull {
    Pull::open(number, hash("head"), from)
}

fn told(step: &Step<'_>, project: &Project) -> String {
    let arguments = ["ci", "merge", "--blobs", "run.json"];
    let ran = step.finish(project, step.dressed(project, &arguments));
    // The verdict belongs to the other workflow; this one reports whether it could comment.
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    step.output(project, "comment")
}

#[test]
fn the_comment_goes_to_the_pull_request_of_the_verified_head() {
    let twin = Twin::start();
    let project = report(&twin);
    assert!(project.read("run.json").contains("\"pull_request\":5"));
    // Another pull request has the same head, and the report's own number belongs to yet another.
    twin.world().pulls = vec![pull(5, "other/octo-repo"), pull(8, FORK)];
    let step = telling(&twin, &hash("head"), FORK);
    assert_eq!(told(&step, &project), "created");
    let world = twin.world();
    assert_eq!(world.count("POST", "/issues/8/comments"), 1);
    let elsewhere = world.asked.iter().any(|it| it.contains("/issues/5/"));
    assert!(!elsewhere, "{:?}", world.asked);
    let body = &world.comments[0].body;
    // Run, attempt and revision also come from the event.
    let marker = format!("run=77 attempt=2 sha={} -->", hash("head"));
    assert!(body.lines().next().unwrap().ends_with(&marker), "{body}");
    assert!(
        body.contains(&format!(
            "https://github.com/{FORK}/blob/{}/evals/a.yaml",
            hash("head")
        )),
        "{body}"
    );
}

#[test]
fn of_several_pull_requests_with_one_head_the_one_that_github_names_is_told() {
    let case = |named: &[(u64, u64)], wanted: Option<u64>| {
        let twin = Twin::start();
        let project = report(&twin);
        twin.world().pulls = vec![pull(5, FORK), pull(8, FORK)];
        let step = telling(&twin, &hash("head"), FORK).event("workflow_run", |event| {
            set(event, "/repository/id", json!(7));
            let named = named.iter().map(|(number, repository)| {
                let base = json!({"ref": "main", "repo": {"id": repository}});
                json!({"number": number, "base": base})
            });
            let named = named.collect::<Vec<_>>();
            set(event, "/workflow_run/pull_requests", json!(named));
        });
        let arguments = ["ci", "merge", "--blobs", "run.json"];
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        let made = |number: u64| {
            let path = format!("/issues/{number}/comments");
            twin.world().count("POST", &path)
        };
        let expected = |number| usize::from(wanted == Some(number));
        assert_eq!((made(5), made(8)), (expected(5), expected(8)), "{named:?}");
        let code = if wanted.is_some() { 0 } else { 3 };
        assert_eq!(ran.code, code, "{}", ran.stdout);
        let said = "#5, #8 have the same head, and the event does not say which";
        let lines = ran.stdout.lines().filter(|line| line.contains(said));
        assert_eq!(
            lines.count(),
            usize::from(wanted.is_none()),
            "{}",
            ran.stdout
        );
    };
    case(&[(8, 7)], Some(8));
    case(&[(5, 7)], Some(5));
    // Another repository's number says nothing, nor does one that is not proposed here.
    case(&[(5, 9), (8, 7), (6, 7)], Some(8));
    case(&[], None);
    case(&[(5, 7), (8, 7)], None);
    case(&[(6, 7)], None);
    case(&[(5, 9)], None);
}

#[test]
fn what_this_workflow_was_asked_wrongly_is_its_own_affair() {
    let cases: [&[&str]; 5] = [
        &["--junit", "run.json"],
        &["--junit", "-"],
        &["--junit", "a.x", "--sarif", "a.x"],
        &["--baseline", "nope.json"],
        &["--update-baseline", "run.json"],
    ];
    for wrong in cases {
        let twin = Twin::start();
        let project = report(&twin);
        twin.world().pulls = vec![pull(8, FORK)];
        let step = telling(&twin, &hash("head"), FORK);
        let arguments = [&["ci", "merge", "--blobs", "run.json"], wrong].concat();
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        assert_eq!(ran.code, 2, "{wrong:?}: {}", ran.stdout);
        assert_eq!(step.output(&project, "verdict"), "invalid");
        let body = twin.world().comments[0].body.clone();
        assert!(
            body.contains("### ❌ mcp-assert · 1 failure\n\n0 of 1 passed"),
            "{body}"
        );
        assert!(!body.contains("invalid"), "{wrong:?}: {body}");
        // Nor is a report that cannot be read anything else for that.
        std::fs::write(project.path().join("run.json"), "{cut").unwrap();
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        assert!(ran.code == 2 || wrong[0] == "--baseline", "{}", ran.stdout);
        let bodies = twin.world().comments.clone();
        let invalid = bodies
            .iter()
            .any(|it| it.body.contains("mcp-assert: invalid"));
        assert!(!invalid, "{wrong:?}: {bodies:?}");
    }
}

#[test]
fn a_run_without_a_comparison_is_told_again_as_it_was_told() {
    let unreadable: fn(&mut World) = |world| {
        world.fault(
            "GET",
            "/git/ref",
            9,
            Fault::Says(403, "Resource not accessible"),
        );
    };
    let nothing: fn(&mut World) = |_| {};
    for (asked, first, second) in [
        ("auto", nothing, unreadable),
        ("auto", unreadable, nothing),
        ("off", nothing, nothing),
    ] {
        let twin = Twin::start();
        twin.world().pulls = vec![pull(5, REPOSITORY)];
        let tested = Project::with_suite(&suite(99));
        first(&mut twin.world());
        let step = Step::pull_request(&twin, 5).numbered(77).again(2);
        let ran = step.run(&tested, &["--report-json", "run.json", "--baseline", asked]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        let told_first = twin.world().comments[0].body.clone();
        second(&mut twin.world());
        let project = Project::new().file("run.json", tested.read("run.json"));
        let step = telling(&twin, &hash("head"), REPOSITORY);
        assert_eq!(told(&step, &project), "unchanged", "{asked}");
        assert_eq!(twin.world().comments[0].body, told_first);
        assert_eq!(twin.world().count("PATCH", ""), 0);
    }
}

/// The messages about an invalid report: in log, summary and comment.
fn told_incomplete(twin: &Twin, step: &Step<'_>, project: &Project, blobs: &str) -> [String; 3] {
    let mut command = step.dressed(project, &["ci", "merge", "--blobs", blobs]);
    command.env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
    let ran = step.finish(project, command);
    assert_eq!(ran.code, 3, "{}", ran.stdout);
    assert_eq!(step.output(project, "verdict"), "incomplete");
    let body = twin.world().comments[0].body.clone();
    [ran.stdout, project.read("summary"), body]
}

#[test]
fn a_link_in_the_place_of_a_report_leads_nowhere() {
    let case = |to: &str, blobs: &str| {
        let twin = Twin::start();
        twin.world().pulls = vec![pull(8, FORK)];
        let project = Project::new()
            .file("secrets/hidden-name.json", "{}")
            .file("run.json", report(&twin).read("run.json"));
        std::fs::create_dir(project.path().join("reports")).unwrap();
        let link = project.path().join(blobs);
        std::os::unix::fs::symlink(project.path().join(to), link).unwrap();
        for slash in ["", "/"] {
            let step = telling(&twin, &hash("head"), FORK);
            for text in told_incomplete(&twin, &step, &project, &format!("{blobs}{slash}")) {
                assert!(!text.contains("hidden"), "{text}");
                assert!(
                    text.contains("link or no file") || text.contains("link&#32;or"),
                    "{text}"
                );
            }
        }
    };
    case("secrets", "reports/run.json");
    case("run.json", "reports/run.json");
    case("secrets", "blobs");
}

#[test]
fn a_run_that_was_interrupted_is_told_as_that() {
    let twin = Twin::start();
    twin.world().pulls = vec![pull(8, FORK)];
    let project = report(&twin);
    let step = telling_of(&twin, 70, &hash("head"), FORK);
    assert_eq!(told(&step, &project), "created");
    let text = project.read("run.json");
    let cut = text.replace("\"state\":\"finished\"", "\"state\":\"interrupted\"");
    assert_ne!(text, cut);
    std::fs::write(project.path().join("run.json"), cut).unwrap();
    let step = telling_of(&twin, 71, &hash("head"), FORK);
    assert_eq!(told(&step, &project), "updated");
    assert_eq!(step.output(&project, "verdict"), "interrupted");
    let body = twin.world().comments[0].body.clone();
    assert!(
        body.contains("### ⚠️ mcp-assert · interrupted\n\n0 of 1 passed"),
        "{body}"
    );
    // Where there is none, one says that it is not known how it would have ended.
    twin.world().comments.clear();
    let step = telling_of(&twin, 72, &hash("head"), FORK);
    assert_eq!(told(&step, &project), "created");
}

#[test]
fn one_workflow_has_one_comment_whether_its_revision_is_told_or_not() {
    let twin = Twin::start();
    let project = report(&twin);
    twin.world().pulls = vec![pull(8, FORK)];
    assert_eq!(
        told(&telling(&twin, &hash("head"), FORK), &project),
        "created"
    );
    let at = |payload: &mut Value| {
        payload["workflow_run"]["path"] = json!(".github/workflows/ci.yml@refs/heads/topic");
    };
    let again = telling_of(&twin, 78, &hash("head"), FORK).event("workflow_run", at);
    assert_eq!(told(&again, &project), "unchanged");
    assert_eq!(twin.world().comments.len(), 1);
}

#[test]
fn the_verdict_is_the_one_that_the_run_had() {
    let skipped = suite(1).replace("server:", "skip: true\nserver:");
    for (yaml, asked, code, headline) in [
        (suite(99), "--threshold=0", 0, "✅ mcp-assert · 1 failure"),
        (suite(99), "--threshold=100", 1, "❌ mcp-assert · 1 failure"),
        (
            skipped.clone(),
            "--allow-empty",
            0,
            "✅ mcp-assert · 0 of 0 passed",
        ),
        (skipped, "--threshold=0", 4, "⚠️ mcp-assert · empty"),
    ] {
        let twin = Twin::start();
        twin.world().pulls = vec![pull(8, FORK)];
        let tested = Project::with_suite(&yaml);
        let step = Step::proposed(&twin, 5, FORK).token(None);
        let ran = step.run(&tested, &["--report-json", "run.json", asked]);
        assert_eq!(ran.code, code, "{}", ran.stdout);
        let project = Project::new().file("run.json", tested.read("run.json"));
        let step = telling(&twin, &hash("head"), FORK);
        let arguments = ["ci", "merge", "--blobs", "run.json", "--comment", "always"];
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        let body = twin.world().comments[0].body.clone();
        assert!(
            body.contains(&format!("### {headline}\n")),
            "{asked}\n{body}"
        );
    }
}

#[test]
fn a_comment_that_could_not_be_made_fails_the_job_that_is_there_for_it() {
    let case = |word: &str, spoil: fn(&mut World)| {
        let twin = Twin::start();
        let project = report(&twin);
        twin.world().pulls = vec![pull(8, FORK)];
        spoil(&mut twin.world());
        let step = telling(&twin, &hash("head"), FORK);
        let arguments = ["ci", "merge", "--blobs", "run.json"];
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        assert_eq!(ran.code, 3, "{}", ran.stdout);
        assert_eq!(step.output(&project, "comment"), word);
        assert!(
            ran.stdout.contains("could not be updated"),
            "{}",
            ran.stdout
        );
    };
    case("denied", |world| world.read_only = true);
    case("failed", |world| {
        world.fault("GET", "/pulls", 9, Fault::Status(500, Vec::new()));
    });
}

/// The report with a forged source and a valid digest.
fn forged(report: &str, claims: &Value) -> String {
    let (before, end) = report.split_once("\n\"end\":").unwrap();
    let lines = before
        .lines()
        .map(|line| match line.strip_prefix("\"source\":") {
            Some(source) => {
                let source = source.trim_end_matches(',');
                let mut source: Value = serde_json::from_str(source).unwrap();
                let claims = claims.as_object().unwrap().clone();
                source.as_object_mut().unwrap().extend(claims);
                format!("\"source\":{source},")
            }
            None => line.to_owned(),
        });
    let before = lines.collect::<Vec<_>>().join("\n");
    let digest = |text: &str| {
        let bytes = Sha256::digest(text.as_bytes());
        bytes
            .iter()
            .fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
    };
    let end = end.replace(
        &digest(report.split_once("\n\"end\":").unwrap().0),
        &digest(&before),
    );
    format!("{before}\n\"end\":{end}")
}

#[test]
fn no_link_leads_where_a_report_says() {
    let twin = Twin::start();
    let project = report(&twin);
    twin.world().pulls = vec![pull(8, FORK)];
    let claims = json!({
        "server": "https://evil.example", "repository": "evil/x", "sha": "f".repeat(40),
        "head_sha": "f".repeat(40), "run": 1, "attempt": 1, "pull_request": 5,
    });
    let text = forged(&project.read("run.json"), &claims);
    std::fs::write(project.path().join("run.json"), text).unwrap();
    let step = telling(&twin, &hash("head"), FORK);
    let arguments = [
        "ci",
        "merge",
        "--blobs",
        "run.json",
        "--report-json",
        "merged.json",
    ];
    let mut command = step.dressed(&project, &arguments);
    command.env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
    let ran = step.finish(&project, command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let summary = project.read("summary");
    let link = format!(
        "https://github.com/{FORK}/blob/{}/evals/a.yaml",
        hash("head")
    );
    assert!(summary.contains(&link), "{summary}");
    for text in [
        summary,
        project.read("merged.json"),
        twin.world().comments[0].body.clone(),
    ] {
        assert!(!text.contains("evil") && !text.contains("ffffff"), "{text}");
    }
}

#[test]
fn a_report_that_could_not_be_read_leaves_no_comment_beside_the_next_one() {
    let twin = Twin::start();
    let project = report(&twin);
    let good = project.read("run.json");
    twin.world().pulls = vec![pull(8, FORK)];
    let mut number = 100;
    let mut tell = |text: Option<&str>| {
        number += 1;
        let path = project.path().join("run.json");
        match text {
            Some(text) => std::fs::write(path, text).unwrap(),
            None => std::fs::remove_file(path).unwrap(),
        }
        let step = telling_of(&twin, number, &hash("head"), FORK);
        let arguments = ["ci", "merge", "--blobs", "run.json"];
        step.finish(&project, step.dressed(&project, &arguments));
        let world = twin.world();
        let lines = world.comments.iter().map(|it| it.body.lines().nth(1));
        lines.map(|it| it.unwrap().to_owned()).collect::<Vec<_>>()
    };
    let broken = tell(Some("{cut"));
    assert!(
        broken.len() == 1 && broken[0].contains("incomplete"),
        "{broken:?}"
    );
    // The next comment replaces it.
    let fails = ["### ❌ mcp-assert · 1 failure"];
    assert_eq!(tell(Some(&good)), fails);
    assert_eq!(tell(None).len(), 2);
    assert_eq!(tell(Some("{cut")).len(), 2);
    assert_eq!(tell(Some(&good)), fails);
}

#[test]
fn a_report_that_was_never_kept_is_named() {
    let twin = Twin::start();
    twin.world().pulls = vec![pull(8, FORK)];
    let step = telling(&twin, &hash("head"), FORK);
    // Other contents of an untrusted artifact.
    let project = Project::new().file("mcp-assert-plan.json", "{}");
    for text in told_incomplete(&twin, &step, &project, "reports/run.json") {
        assert!(text.contains("run.json"), "{text}");
        assert!(text.contains("is not there"), "{text}");
        for wrong in [
            "mcp-assert-plan.json",
            "no assertion was selected",
            "nothing was executed",
        ] {
            assert!(!text.contains(wrong), "{wrong}: {text}");
        }
    }
}

#[test]
fn a_comment_that_nobody_could_make_fails_with_the_reason() {
    let case = |spoil: &dyn Fn(&mut Value), token, more: &[&str], code, why: &str| {
        let twin = Twin::start();
        let project = report(&twin);
        twin.world().pulls = vec![pull(8, FORK)];
        let step = telling(&twin, &hash("head"), FORK)
            .event("workflow_run", |event| spoil(event))
            .token(token);
        let arguments = [&["ci", "merge", "--blobs", "run.json"], more].concat();
        let ran = step.finish(&project, step.dressed(&project, &arguments));
        assert_eq!(ran.code, code, "{why}: {}", ran.stdout);
        let outcome = if code == 3 { "failed" } else { "off" };
        assert_eq!(step.output(&project, "comment"), outcome);
        let notices: Vec<&str> = ran
            .stdout
            .lines()
            .filter(|line| line.starts_with("::notice") && line.contains("could not be updated"))
            .collect();
        assert_eq!(notices.len(), usize::from(code == 3), "{}", ran.stdout);
        assert!(notices.iter().all(|it| it.contains(why)), "{notices:?}");
    };
    let nothing = |_: &mut Value| {};
    let off = ["--comment", "off"];
    case(&nothing, Some(""), &[], 3, "no token");
    case(&nothing, None, &[], 3, "no token");
    case(&nothing, None, &off, 0, "");
    let gone = |event: &mut Value| *event = Value::Null;
    case(&gone, Some(TOKEN), &[], 3, "head_sha");
    for part in [
        "head_sha",
        "head_branch",
        "head_repository",
        "id",
        "run_attempt",
    ] {
        let silent = |event: &mut Value| event["workflow_run"][part] = Value::Null;
        case(&silent, Some(TOKEN), &[], 3, part);
        case(&silent, Some(TOKEN), &off, 0, "");
    }
    let nowhere =
        |event: &mut Value| event["workflow_run"]["head_repository"]["full_name"] = "..".into();
    case(&nowhere, Some(TOKEN), &[], 3, "head_repository");
}

#[test]
fn a_head_that_nobody_proposes_gets_no_comment() {
    let twin = Twin::start();
    let project = report(&twin);
    twin.world().pulls = vec![pull(5, FORK)];
    for (head, from) in [(hash("other"), FORK), (hash("head"), "other/octo-repo")] {
        let step = telling(&twin, &head, from);
        assert_eq!(told(&step, &project), "off");
    }
    assert_eq!(twin.world().count("POST", "/comments"), 0);
}

/// Runs the commenting workflow's step that finds the reports among these artifacts.
fn reports_of(artifacts: &[&str]) -> String {
    use std::os::unix::fs::PermissionsExt;

    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let workflow = std::fs::read_to_string(root.join(".github/workflows/comment.yml")).unwrap();
    let (_, jobs) = workflow.split_once("\njobs:\n").unwrap();
    let (step, _) = jobs.split_once("        env:\n").unwrap();
    let page = std::fs::read_to_string(root.join("docs/github-action.md")).unwrap();
    assert!(page.contains(step), "the page has another step");
    let (_, script) = step.split_once("run: |\n").unwrap();
    let project = Project::new()
        .file("names", artifacts.join("\n"))
        .file("gh", "#!/bin/sh\ncat names\n");
    let gh = project.path().join("gh");
    std::fs::set_permissions(gh, std::fs::Permissions::from_mode(0o755)).unwrap();
    let paths = std::env::var("PATH").unwrap();
    let ran = std::process::Command::new("bash")
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
        .current_dir(project.path())
        .env("PATH", format!("{}:{paths}", project.path().display()))
        .env("GITHUB_OUTPUT", "output")
        .env("REPOSITORY", FORK)
        .env("RUN", "77")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    project.read("output")
}

#[test]
fn each_report_of_a_run_is_told_as_its_last_attempt_left_it() {
    let jq = std::process::Command::new("jq").arg("--version").output();
    if !crate::engine::there(jq.is_ok(), "there is no `jq`") {
        return;
    }
    let case = |artifacts: &[&str], names: &str| {
        assert_eq!(reports_of(artifacts), format!("names={names}\n"));
    };
    // If there is none, the merge reports that.
    case(&["mcp-assert-files-1"], r#"["mcp-assert-report"]"#);
    case(&["mcp-assert-report"; 2], r#"["mcp-assert-report"]"#);
    case(
        &[
            "mcp-assert-report-a-attempt-10",
            "mcp-assert-report-a-attempt-9",
            "theirs",
            "mcp-assert-report-b-attempt-1",
        ],
        r#"["mcp-assert-report-a-attempt-10","mcp-assert-report-b-attempt-1"]"#,
    );
}

#[test]
fn a_report_of_a_stranger_writes_no_data() {
    let twin = Twin::start();
    let project = report(&twin);
    let step = telling(&twin, &hash("head"), FORK);
    let write = ["--update-baseline", "auto", "--badge-publish", "auto"];
    let arguments = [&["ci", "merge", "--blobs", "run.json"], &write[..]].concat();
    step.finish(&project, step.dressed(&project, &arguments));
    assert!(twin.world().refs.is_empty());
    let writes: Vec<Value> = twin
        .world()
        .bodies
        .iter()
        .filter(|it| it.get("tree").is_some())
        .cloned()
        .collect();
    assert_eq!(writes, Vec::<Value>::new());
}
