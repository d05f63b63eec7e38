//! Changes of the comment by others while a run writes it, and errors after that.

use super::{
    Step, suite,
    twin::{Fault, OWN_ID, Twin, World},
};
use crate::harness::{Project, Ran};

const RED: u32 = 99;
const GREEN: u32 = 1;
const COMMENTS: &str = "/issues/5/comments";

/// What happens to the world.
type Change = fn(&mut World);

/// Runs on a pull request. Returns the comment's result and the log.
fn speak(twin: &Twin, run: u64, wanted: u32) -> (String, Ran) {
    let project = Project::with_suite(&suite(wanted));
    let step = Step::pull_request(twin, 5).numbered(run);
    let ran = step.run(&project, &["--baseline", "off"]);
    (step.output(&project, "comment"), ran)
}

/// The second lines of all comments.
fn headlines(twin: &Twin) -> Vec<String> {
    let world = twin.world();
    let bodies = world.comments.iter().map(|it| it.body.lines().nth(1));
    bodies.map(|line| line.unwrap().to_owned()).collect()
}

/// Which of the two suites' runs are told of.
fn verdicts(twin: &Twin) -> Vec<&'static str> {
    let lines = headlines(twin);
    let word = |line: &String| {
        if line.starts_with("### ✅") {
            "pass"
        } else {
            "fail"
        }
    };
    lines.iter().map(word).collect()
}

#[test]
fn a_comment_that_is_removed_before_it_is_changed_is_made_anew() {
    let gone = Fault::Meanwhile(|world| world.comments.clear());
    for (wanted, outcome, left) in [(RED, "created", 1), (GREEN, "off", 0)] {
        let twin = Twin::start();
        speak(&twin, 1, RED);
        twin.world()
            .fault("PATCH", "/issues/comments", 1, gone.clone());
        // So that it is another comment.
        let wanted = if wanted == RED { RED - 1 } else { wanted };
        let (comment, ran) = speak(&twin, 2, wanted);
        assert_eq!(comment, outcome, "{}", ran.stdout);
        assert_eq!(twin.world().comments.len(), left);
        assert!(
            !ran.stdout.contains("pull-requests: write"),
            "{}",
            ran.stdout
        );
    }
    // An existing comment that gives 404 cannot be changed.
    let twin = Twin::start();
    speak(&twin, 1, RED);
    let fault = Fault::Status(404, Vec::new());
    twin.world().fault("PATCH", "/issues/comments", 9, fault);
    assert_eq!(speak(&twin, 2, GREEN).0, "denied");
    assert_eq!(twin.world().count("PATCH", "/issues/comments"), 1);
    // Replaced comments are not followed for ever.
    let twin = Twin::start();
    speak(&twin, 1, RED);
    let replaced = Fault::Meanwhile(|world| {
        let body = world.comments.remove(0).body;
        world.comment(OWN_ID, &body);
    });
    twin.world().fault("PATCH", "/issues/comments", 9, replaced);
    assert_eq!(speak(&twin, 2, GREEN).0, "denied");
    assert_eq!(twin.world().count("PATCH", "/issues/comments"), 3);
}

#[test]
fn a_comment_that_is_made_is_told_as_made_whatever_comes_after_it() {
    let failing = |world: &mut World| {
        world.fault("GET", COMMENTS, 9, Fault::Status(502, Vec::new()));
    };
    let forbidding = |world: &mut World| {
        world.fault("GET", COMMENTS, 9, Fault::Status(403, Vec::new()));
    };
    let cases: [(Change, &str); 2] = [
        (failing, "GitHub answered with 502"),
        (forbidding, "GitHub answered with 403: a fault"),
    ];
    for (trouble, why) in cases {
        let twin = Twin::start();
        twin.world()
            .fault("POST", COMMENTS, 1, Fault::Meanwhile(trouble));
        let (comment, ran) = speak(&twin, 1, RED);
        assert_eq!(comment, "created", "{}", ran.stdout);
        assert_eq!(verdicts(&twin), ["fail"]);
        let said = "the comment on the pull request is created, but ";
        let notice = ran.stdout.lines().find(|line| line.contains(said));
        assert!(notice.is_some_and(|it| it.ends_with(why)), "{}", ran.stdout);
        assert!(
            !ran.stdout.contains("could not be brought"),
            "{}",
            ran.stdout
        );
    }
    // And one that was changed.
    let twin = Twin::start();
    speak(&twin, 1, RED);
    twin.world()
        .fault("PATCH", "/issues/comments", 1, Fault::Meanwhile(failing));
    let (comment, ran) = speak(&twin, 2, GREEN);
    assert_eq!(comment, "updated", "{}", ran.stdout);
    assert!(ran.stdout.contains("is updated, but "), "{}", ran.stdout);
}

#[test]
fn a_second_comment_of_ours_does_not_stay() {
    let twin = Twin::start();
    speak(&twin, 1, RED);
    {
        let mut world = twin.world();
        let body = world.comments[0].body.clone();
        world.comment(OWN_ID, &body);
        // Neither another suite's nor another author's.
        world.comment(OWN_ID, &body.replace("key=", "key=0"));
        world.comment(7, &body);
    }
    let (comment, ran) = speak(&twin, 2, GREEN);
    assert_eq!(comment, "updated", "{}", ran.stdout);
    assert_eq!(verdicts(&twin), ["pass", "fail", "fail"]);
    assert_eq!(twin.world().count("DELETE", ""), 1);
}

#[test]
fn a_second_comment_of_another_leg_or_a_later_run_is_left_to_it() {
    for (of, text) in [
        ("run=2 attempt=1", "another leg"),
        ("run=3 attempt=1", "later"),
    ] {
        let twin = Twin::start();
        speak(&twin, 1, RED);
        {
            let mut world = twin.world();
            let body = world.comments[0].body.replace("run=1 attempt=1", of);
            world.comment(OWN_ID, &format!("{body}{text}"));
        }
        assert_eq!(speak(&twin, 2, GREEN).0, "updated");
        assert_eq!(verdicts(&twin), ["pass", "fail"], "{of}");
        speak(&twin, 4, GREEN);
        assert_eq!(verdicts(&twin), ["pass"], "{of}");
    }
}

#[test]
fn a_second_comment_that_cannot_be_removed_is_told() {
    let twin = Twin::start();
    speak(&twin, 1, RED);
    let body = twin.world().comments[0].body.clone();
    twin.world().comment(OWN_ID, &body);
    let fault = Fault::Status(403, Vec::new());
    twin.world().fault("DELETE", "/issues/comments", 9, fault);
    let (comment, ran) = speak(&twin, 2, GREEN);
    assert_eq!(comment, "updated");
    assert!(
        ran.stdout.contains("it may not be the only one"),
        "{}",
        ran.stdout
    );
}
