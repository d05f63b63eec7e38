//! The comment on the pull request: created, updated, left alone, never duplicated.

use serde_json::json;

use super::{
    Step, suite,
    twin::{Fault, OWN_ID, Pull, REPOSITORY, Twin, World, hash},
};
use crate::harness::Project;

const RED: u32 = 99;
const GREEN: u32 = 1;

fn project(wanted: u32) -> Project {
    Project::with_suite(&suite(wanted))
}

/// The bodies of comments with our marker.
fn ours(world: &World) -> Vec<String> {
    let comments = world.comments.iter();
    let ours =
        comments.filter(|it| it.body.starts_with("<!-- mcp-assert v1 key=") && it.author == OWN_ID);
    ours.map(|it| it.body.clone()).collect()
}

#[test]
fn it_is_made_once_renewed_and_left_alone() {
    let twin = Twin::start();
    twin.world().comment(7, "first!");
    let red = project(RED);
    let step = Step::pull_request(&twin, 5);
    assert_eq!(step.run(&red, &[]).code, 1);
    assert_eq!(step.output(&red, "comment"), "created");
    let made = ours(&twin.world());
    assert_eq!(made.len(), 1);
    let head = hash("head");
    for wanted in [
        format!("run=1 attempt=1 sha={head} -->\n### ❌ mcp-assert · 1 failure\n\n0 of 1 passed"),
        format!("https://github.com/{REPOSITORY}/blob/{head}/evals/a.yaml#L"),
        format!("https://github.com/{REPOSITORY}/actions/runs/1/attempts/1"),
        " · not compared: the branch <code>".to_owned(),
    ] {
        assert!(made[0].contains(&wanted), "{wanted}\n{}", made[0]);
    }

    // An equal text of a newer run renews the marker; the same run writes nothing.
    let again = Step::pull_request(&twin, 5).numbered(2);
    for _ in 0..2 {
        again.run(&red, &[]);
        assert_eq!(again.output(&red, "comment"), "unchanged");
        let kept = ours(&twin.world())[0].clone();
        assert_eq!(
            kept,
            made[0]
                .replace("run=1", "run=2")
                .replace("runs/1/", "runs/2/")
        );
        assert_eq!(twin.world().count("PATCH", ""), 1);
    }

    // A red comment is updated even if no new one would be created.
    let green = project(GREEN);
    let mended = Step::pull_request(&twin, 5).numbered(3);
    assert_eq!(mended.run(&green, &[]).code, 0);
    assert_eq!(mended.output(&green, "comment"), "updated");
    assert!(ours(&twin.world())[0].contains("### ✅ mcp-assert · 1 of 1 passed"));

    // An overtaken run writes nothing.
    let late = Step::pull_request(&twin, 5).numbered(2);
    late.run(&red, &[]);
    assert_eq!(late.output(&red, "comment"), "unchanged");
    let world = twin.world();
    assert_eq!((ours(&world).len(), world.comments.len()), (1, 2));
    assert_eq!(
        (world.count("POST", "/comments"), world.count("PATCH", "")),
        (1, 2)
    );
}

#[test]
fn a_run_is_overtaken_by_one_that_said_the_same_as_the_one_before() {
    let twin = Twin::start();
    let (red, green) = (project(RED), project(GREEN));
    let speak = |number, project: &Project| {
        let step = Step::pull_request(&twin, 5).numbered(number);
        step.run(project, &[]);
        step.output(project, "comment")
    };
    assert_eq!(speak(101, &red), "created");
    assert_eq!(speak(103, &red), "unchanged");
    assert_eq!(speak(102, &green), "unchanged");
    let left = ours(&twin.world());
    assert!(
        left[0].contains("run=103") && left[0].contains("### ❌ mcp-assert · "),
        "{left:?}"
    );
}

#[test]
fn no_green_leg_of_a_run_hides_a_red_one() {
    let twin = Twin::start();
    let (red, green) = (project(RED), project(GREEN));
    let speak = |number, project: &Project| {
        let step = Step::pull_request(&twin, 5).numbered(number);
        step.run(project, &[]);
        let left = ours(&twin.world());
        assert_eq!(left.len(), 1, "{left:?}");
        let several = left[0].contains("_Several jobs or steps of this run");
        let line = left[0].lines().nth(1).unwrap();
        let words = [("fail", "### ❌ "), ("pass", "### ✅ ")];
        let word = words.iter().find(|(_, start)| line.starts_with(start));
        (
            step.output(project, "comment"),
            word.unwrap().0.to_owned(),
            several,
        )
    };
    let says = |outcome: &str, word: &str, several| (outcome.to_owned(), word.to_owned(), several);
    assert_eq!(speak(1, &red), says("created", "fail", false));
    assert_eq!(speak(1, &green), says("updated", "fail", true));
    assert_eq!(speak(1, &green), says("unchanged", "fail", true));
    assert_eq!(speak(1, &red), says("unchanged", "fail", true));
    // The next run starts over, in the other order.
    assert_eq!(speak(2, &green), says("updated", "pass", false));
    assert_eq!(speak(2, &red), says("updated", "fail", true));
    assert_eq!(speak(3, &green), says("updated", "pass", false));
}

#[test]
fn a_leg_that_runs_again_alone_hides_no_red_one() {
    let twin = Twin::start();
    let (red, green) = (project(RED), project(GREEN));
    let speak = |(run, attempt), project: &Project| {
        let step = Step::pull_request(&twin, 5).numbered(run).again(attempt);
        step.run(project, &[]);
        let left = ours(&twin.world());
        assert_eq!(left.len(), 1, "{left:?}");
        left[0].clone()
    };
    let passes = "### ✅ mcp-assert · 1 of 1 passed";
    let earlier = "_Several jobs or steps of this run reported this suite before. In attempt 1 the worst result was \
                   fail.";
    speak((7, 1), &red);
    assert!(speak((7, 1), &green).contains("_Several jobs"));
    for attempt in [2, 3] {
        let now = speak((7, attempt), &green);
        for wanted in [passes, earlier, &format!("run=7 attempt={attempt}")] {
            assert!(now.contains(wanted), "{wanted}\n{now}");
        }
        assert_eq!(now.matches("_Several").count(), 1, "{now}");
    }
    // The next run starts over; a single leg hides nothing.
    for (run, project) in [((8, 1), &red), ((8, 2), &green)] {
        let now = speak(run, project);
        assert!(!now.contains("_Several"), "{now}");
    }
}

#[test]
fn a_green_leg_that_writes_at_the_same_time_is_corrected() {
    let twin = Twin::start();
    let (red, green) = (project(RED), project(GREEN));
    Step::pull_request(&twin, 5).run(&red, &[]);
    Step::pull_request(&twin, 5).numbered(2).run(&green, &[]);
    // It read before the red leg wrote; the red leg's text is there when it reads again.
    let theirs = ours(&twin.world())[0].replace("run=2", "run=3");
    twin.world().aside = theirs;
    twin.world().fault(
        "GET",
        "/issues/5/comments",
        2,
        Fault::Meanwhile(|world| {
            if world
                .bodies
                .iter()
                .any(|body| body.to_string().contains("run=3"))
            {
                world.comments[0].body = world.aside.clone();
            }
        }),
    );
    Step::pull_request(&twin, 5).numbered(3).run(&red, &[]);
    let left = ours(&twin.world());
    assert!(
        left[0].contains("### ❌ mcp-assert · ") && left[0].contains("_Several"),
        "{left:?}"
    );
}

#[test]
fn of_two_legs_at_once_the_red_one_stays() {
    for (first, second) in [(GREEN, RED), (RED, GREEN)] {
        let twin = Twin::start();
        let other = project(first);
        Step::pull_request(&twin, 5).run(&other, &["--comment", "always"]);
        let theirs = ours(&twin.world())[0].clone();
        twin.world().aside = theirs;
        twin.world().comments.clear();
        // It appears between our search and our POST, with the same first line.
        twin.world().fault(
            "POST",
            "/issues/5/comments",
            1,
            Fault::Meanwhile(|world| {
                let other = world.aside.clone();
                world.comment(OWN_ID, &other);
            }),
        );
        let step = Step::pull_request(&twin, 5);
        step.run(&project(second), &["--comment", "always"]);
        let left = ours(&twin.world());
        assert_eq!(left.len(), 1, "{left:?}");
        assert!(
            left[0].contains("### ❌ mcp-assert · ") && left[0].contains("_Several"),
            "{left:?}"
        );
    }
}

/// A suite that takes values from the environment, in a file of that name.
fn with_values(file: &str, wanted: u32) -> Project {
    let values = [
        "e2e-${GITHUB_RUN_ID}",
        "${GITHUB_SHA}",
        "${GITHUB_SERVER_URL}",
        "${WORD}",
        "${PART}",
        "${SECRET}",
    ];
    let values: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(index, value)| format!("V{index}: '{value}'"))
        .collect();
    let text = suite(wanted)
        .replace(
            "{builtin: minimal}",
            &format!("{{builtin: minimal, env: {{{}}}}}", values.join(", ")),
        )
        .replace("lists its tools", "lists what hunter-22 offers");
    Project::new().file(&format!("evals/{file}"), text)
}

#[test]
fn values_of_the_environment_are_hidden_in_foreign_words_alone() {
    for file in ["a.yaml", "hunter-22.yaml"] {
        let twin = Twin::start();
        let speak = |number, wanted| {
            let project = with_values(file, wanted);
            let step = Step::pull_request(&twin, 5).numbered(number);
            let mut command = step.command(&project, &["--comment", "always"]);
            command
                .env("WORD", "pass")
                .env("PART", "1900")
                .env("SECRET", "hunter-22");
            step.finish(&project, command);
            let left = ours(&twin.world());
            assert_eq!(left.len(), 1, "{left:?}");
            assert!(!left[0].contains("hunter"), "{}", left[0]);
            left[0].clone()
        };
        let first = speak(19_000_000_001, RED);
        assert_eq!(first.contains("/blob/"), file == "a.yaml", "{first}");
        let second = speak(19_000_000_002, GREEN);
        for wanted in [
            "run=19000000002 attempt=1",
            "### ✅ mcp-assert · 1 of 1 passed\n",
            &format!("(https://github.com/{REPOSITORY}/actions/runs/19000000002/attempts/1)"),
        ] {
            assert!(second.contains(wanted), "{wanted}\n{second}");
        }
    }
}

#[test]
fn nothing_to_say_makes_no_comment() {
    let case = |when: &str, wanted: u32, outcome: &str| {
        let twin = Twin::start();
        let project = project(wanted);
        let step = Step::pull_request(&twin, 5);
        step.run(&project, &["--comment", when]);
        assert_eq!(step.output(&project, "comment"), outcome, "{when} {wanted}");
    };
    case("always", GREEN, "created");
    case("changes", GREEN, "off");
    case("changes", RED, "created");
    case("failures", GREEN, "off");
    case("failures", RED, "created");
    case("off", RED, "off");
}

#[test]
fn a_marker_of_somebody_else_is_not_ours() {
    let twin = Twin::start();
    let red = project(RED);
    Step::pull_request(&twin, 5).run(&red, &[]);
    let copied = ours(&twin.world())[0].clone();
    twin.world().comments.clear();
    twin.world().comment(666, &copied);
    let step = Step::pull_request(&twin, 5).numbered(2);
    step.run(&red, &[]);
    assert_eq!(step.output(&red, "comment"), "created");
    let world = twin.world();
    assert_eq!(world.comments[0].body, copied);
    assert_eq!(world.comments.len(), 2);
}

#[test]
fn of_two_runs_at_once_the_older_comment_stays() {
    let twin = Twin::start();
    let red = project(RED);
    // The other run's comment appears between our search and our POST.
    Step::pull_request(&twin, 5).run(&red, &[]);
    let other = ours(&twin.world())[0].clone();
    twin.world().comments.clear();
    twin.world().bodies = vec![json!(other)];
    twin.world().fault(
        "POST",
        "/issues/5/comments",
        1,
        Fault::Meanwhile(|world| {
            let other = world.bodies[0].as_str().unwrap().to_owned();
            world.comment(OWN_ID, &other.replace("0 of 1 passed", "old news"));
        }),
    );
    let step = Step::pull_request(&twin, 5).numbered(2);
    step.run(&red, &[]);
    assert_eq!(step.output(&red, "comment"), "updated");
    let left = ours(&twin.world());
    assert_eq!(left.len(), 1);
    assert!(
        left[0].contains("run=2") && left[0].contains("0 of 1 passed"),
        "{}",
        left[0]
    );
    assert_eq!(twin.world().count("DELETE", ""), 1);
}

#[test]
fn an_answer_that_is_lost_makes_no_second_comment() {
    for (fault, posts) in [(Fault::CutAfter, 1), (Fault::CutBefore, 2)] {
        let twin = Twin::start();
        twin.world().fault("POST", "/issues/5/comments", 1, fault);
        let red = project(RED);
        let step = Step::pull_request(&twin, 5);
        step.run(&red, &[]);
        assert_eq!(step.output(&red, "comment"), "created");
        assert_eq!(ours(&twin.world()).len(), 1);
        assert_eq!(twin.world().count("POST", "/issues/5/comments"), posts);
    }
}

#[test]
fn pages_are_looked_through_up_to_the_tenth() {
    let twin = Twin::start();
    let red = project(RED);
    Step::pull_request(&twin, 5).run(&red, &[]);
    let old = ours(&twin.world())[0].replace("0 of 1 passed", "old news");
    let fill = |twin: &Twin, before: usize, after: usize| {
        let mut world = twin.world();
        world.comments.clear();
        world.asked.clear();
        (0..before).for_each(|_| _ = world.comment(7, "+1"));
        world.comment(OWN_ID, &old);
        (0..after).for_each(|_| _ = world.comment(7, "+1"));
    };
    fill(&twin, 950, 200);
    let step = Step::pull_request(&twin, 5).numbered(2);
    step.run(&red, &[]);
    assert_eq!(step.output(&red, "comment"), "updated");
    // And its page again, because another leg may have written.
    assert_eq!(twin.world().count("GET", "/issues/5/comments"), 11);

    // Beyond that a comment may exist, and a second one would stay for ever.
    for before in [1_000, 1_150] {
        fill(&twin, before, 0);
        let step = Step::pull_request(&twin, 5).numbered(3);
        let ran = step.run(&red, &[]);
        assert_eq!(
            (ran.code, step.output(&red, "comment").as_str()),
            (1, "failed")
        );
        let why = "be updated: there are 1,000 comments or more";
        assert!(ran.stdout.contains(why), "{}", ran.stdout);
        assert_eq!(twin.world().count("POST", "/issues/5/comments"), 0);
        assert_eq!(twin.world().count("GET", "/issues/5/comments"), 10);
    }
}

#[test]
fn what_is_refused_is_one_notice_and_leaves_the_verdict() {
    let notices = |text: &str| text.matches("::notice ").count();
    for (wanted, code) in [(GREEN, 0), (RED, 1)] {
        let twin = Twin::start();
        twin.world().read_only = true;
        let project = project(wanted);
        let step = Step::proposed(&twin, 5, "stranger/octo-repo");
        let ran = step.run(&project, &["--comment", "always", "--baseline", "off"]);
        assert_eq!(
            (ran.code, step.output(&project, "comment").as_str()),
            (code, "denied")
        );
        assert!(ran.stdout.contains("comment.yml"), "{}", ran.stdout);
        assert_eq!(notices(&ran.stdout), 1, "{}", ran.stdout);
    }
    let twin = Twin::start();
    twin.world().read_only = true;
    let red = project(RED);
    let step = Step::pull_request(&twin, 5);
    let ran = step.run(&red, &[]);
    assert!(
        ran.stdout.contains("pull-requests: write"),
        "{}",
        ran.stdout
    );
    let bad = Step::pull_request(&twin, 5).token(Some("wrong"));
    assert_eq!(bad.run(&red, &[]).code, 1);
    assert_eq!(bad.output(&red, "comment"), "denied");
}

/// How often a request is sent if it fails this often, and what happens to the comment.
fn with_fault(
    part: (&'static str, &'static str),
    times: usize,
    fault: &Fault,
    outcome: &str,
) -> usize {
    let (method, part) = part;
    let twin = Twin::start();
    twin.world().fault(method, part, times, fault.clone());
    let red = project(RED);
    let step = Step::pull_request(&twin, 5);
    let ran = step.run(&red, &["--baseline", "off"]);
    let word = step.output(&red, "comment");
    assert_eq!(
        (ran.code, word.as_str()),
        (1, outcome),
        "{method} {fault:?} {}",
        ran.stdout
    );
    twin.world().count(method, part)
}

#[test]
fn a_limit_is_waited_for_once_and_briefly() {
    let limit =
        |status, seconds: &str| Fault::Status(status, vec![("retry-after", seconds.to_owned())]);
    let case = |times, fault: Fault, outcome, wanted: usize| {
        let asked = with_fault(("POST", "/issues/5/comments"), times, &fault, outcome);
        assert_eq!(asked, wanted, "{fault:?}");
    };
    case(1, limit(403, "1"), "created", 2);
    case(1, limit(429, "1"), "created", 2);
    case(2, limit(429, "0"), "denied", 2);
    case(1, limit(403, "3600"), "denied", 1);
    case(1, Fault::Status(403, Vec::new()), "denied", 1);
}

#[test]
fn a_limit_that_is_told_in_words_alone_is_no_missing_right() {
    let twin = Twin::start();
    let words =
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
    let fault = Fault::Says(403, words);
    twin.world().fault("POST", "/issues/5/comments", 9, fault);
    let red = Project::with_suite(&suite(99));
    let step = Step::pull_request(&twin, 5);
    let ran = step.run(&red, &["--baseline", "off"]);
    assert_eq!(
        (ran.code, step.output(&red, "comment").as_str()),
        (1, "denied")
    );
    assert!(
        ran.stdout.contains("rate limit is reached"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("pull-requests: write"),
        "{}",
        ran.stdout
    );
}

#[test]
fn trouble_is_asked_again_where_that_is_harmless() {
    let comments = "/issues/5/comments";
    let case = |part, times, fault: Fault, outcome, wanted: usize| {
        assert_eq!(
            with_fault(part, times, &fault, outcome),
            wanted,
            "{part:?} {fault:?}"
        );
    };
    let status = |status| Fault::Status(status, Vec::new());
    // The comments are also read before and after.
    case(("GET", comments), 2, status(502), "created", 4);
    case(("GET", comments), 9, Fault::CutBefore, "failed", 3);
    case(("POST", comments), 1, status(500), "created", 2);
    case(("POST", "/graphql"), 1, status(502), "created", 2);
}

#[test]
fn a_push_finds_the_pull_request_of_its_head() {
    let twin = Twin::start();
    let pull = |number, state| Pull {
        state,
        ..Pull::open(number, hash("tip"), REPOSITORY)
    };
    twin.world().pulls = vec![pull(3, "closed"), pull(4, "open")];
    let red = project(RED);
    let step = Step::push(&twin, &hash("tip")).on("refs/heads/topic");
    step.run(&red, &[]);
    assert_eq!(step.output(&red, "comment"), "created");
    assert_eq!(twin.world().count("POST", "/issues/4/comments"), 1);
    let nobody = Step::push(&twin, &hash("elsewhere")).numbered(2);
    nobody.run(&red, &[]);
    assert_eq!(nobody.output(&red, "comment"), "off");
}

#[test]
fn where_nobody_answers_no_permission_is_asked_for() {
    let twin = Twin::start();
    let red = project(RED);
    let step = Step::pull_request(&twin, 5);
    let mut command = step.command(&red, &["--baseline", "off"]);
    // Nothing listens on the first port.
    command
        .env("GITHUB_API_URL", "http://127.0.0.1:1")
        .env("GITHUB_GRAPHQL_URL", "http://127.0.0.1:1/graphql");
    let ran = step.finish(&red, command);
    let notices = ran.stdout.matches("::notice ").count();
    assert_eq!((ran.code, notices), (1, 1), "{}", ran.stdout);
    assert!(ran.stdout.contains("refused"), "{}", ran.stdout);
    assert!(
        !ran.stdout.contains("pull-requests: write"),
        "{}",
        ran.stdout
    );
    assert!(
        !ran.stdout.contains("may have taken effect"),
        "{}",
        ran.stdout
    );
}

#[test]
fn without_a_token_nothing_is_asked() {
    let twin = Twin::start();
    let red = project(RED);
    let step = Step::pull_request(&twin, 5).token(None);
    assert_eq!(step.run(&red, &[]).code, 1);
    assert_eq!(step.output(&red, "comment"), "off");
    assert_eq!(twin.world().asked, Vec::<String>::new());
}
