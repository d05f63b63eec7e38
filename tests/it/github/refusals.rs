//! GitHub's refusals: reported in its words without the token, and respected.

use serde_json::{Value, json};

use super::{
    Step, suite,
    twin::{Fault, TOKEN, Twin},
};
use crate::harness::{Project, Ran};

const RED: u32 = 99;

/// A red run on a pull request during which GitHub fails this often.
fn spoken((method, part): (&'static str, &'static str), times: usize, fault: Fault) -> Spoken {
    let twin = Twin::start();
    twin.world().fault(method, part, times, fault);
    let red = Project::with_suite(&suite(RED));
    let step = Step::pull_request(&twin, 5);
    let ran = step.run(&red, &["--baseline", "off"]);
    let outcome = step.output(&red, "comment");
    Spoken { twin, ran, outcome }
}

/// The result of the run.
struct Spoken {
    twin: Twin,
    ran: Ran,
    outcome: String,
}

impl Spoken {
    /// Asserts the comment's result and a message.
    fn is(&self, outcome: &str, said: &str) {
        assert_eq!(self.outcome, outcome, "{}", self.ran.stdout);
        assert!(
            self.ran.stdout.contains(said),
            "{said}: {}",
            self.ran.stdout
        );
    }
}

#[test]
fn the_token_is_in_nothing_that_is_written_when_githubs_words_hold_it() {
    let twin = Twin::start();
    let words = format!("Bad credentials: Bearer {TOKEN}");
    let fault = Fault::Answers(403, Vec::new(), json!({ "message": words }));
    twin.world().fault("GET", "/git/ref", 9, fault);
    let project = Project::with_suite(&suite(RED));
    let step = Step::pull_request(&twin, 5);
    let files = ["m.md", "j.xml", "run.json", "s.sarif", "summary"];
    let options = [
        "--fail-on-regression",
        "--markdown",
        "m.md",
        "--junit",
        "j.xml",
        "--report-json",
        "run.json",
        "--sarif",
        "s.sarif",
    ];
    let mut command = step.command(&project, &options);
    command.env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
    step.finish(&project, command);
    let comment = twin.world().comments[0].body.clone();
    let mut told = 0;
    for text in files
        .map(|file| project.read(file))
        .into_iter()
        .chain([comment])
    {
        // As markup writes them.
        let plain = text.replace("&#95;", "_");
        assert!(!plain.contains(&TOKEN[..20]), "{text}");
        told += usize::from(plain.contains("Bad credentials"));
    }
    assert!(told >= 4, "{told}");
}

#[test]
fn a_limit_of_the_query_is_waited_for_though_its_status_is_that_of_success() {
    let limits = [
        (
            vec![("retry-after", "1".to_owned())],
            json!({"errors": [{"message": "You have exceeded a secondary rate limit."}]}),
        ),
        (
            vec![
                ("x-ratelimit-remaining", "0".to_owned()),
                ("x-ratelimit-reset", "1".to_owned()),
            ],
            json!({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}),
        ),
    ];
    for (headers, answer) in limits {
        let limit = Fault::Answers(200, headers, answer);
        spoken(("POST", "/graphql"), 1, limit.clone()).is("created", "");
        spoken(("POST", "/graphql"), 9, limit).is("denied", "GitHub's rate limit is reached");
    }
}

#[test]
fn what_a_query_complains_of_is_told() {
    let complaint = |kind: &str, message: &str| -> Value {
        let error = json!({"type": kind, "message": message, "path": ["viewer"]});
        json!({"data": null, "errors": [error]})
    };
    let answers = |kind, message| Fault::Answers(200, Vec::new(), complaint(kind, message));
    let forbidden = answers("FORBIDDEN", "Resource not accessible by integration");
    let denied = spoken(("POST", "/graphql"), 9, forbidden);
    denied.is("denied", "Resource not accessible by integration");
    denied.is("denied", "it needs `pull-requests: write`");
    let wrong = "Something went wrong while executing your query.";
    spoken(("POST", "/graphql"), 2, answers("", wrong)).is("created", "");
    let failed = spoken(("POST", "/graphql"), 9, answers("", wrong));
    failed.is("failed", wrong);
    assert_eq!(failed.twin.world().count("POST", "/graphql"), 3);
    spoken(
        ("POST", "/graphql"),
        9,
        answers("NOT_FOUND", "no such thing"),
    )
    .is("failed", "no such thing");
}

#[test]
fn a_repository_that_was_renamed_is_followed() {
    let comments = "/repositories/1/issues/5/comments";
    for (method, status) in [("GET", 301), ("POST", 307), ("POST", 308), ("GET", 302)] {
        let moved = Fault::Status(status, vec![("location", comments.to_owned())]);
        let followed = spoken((method, "/repos/octo-org/octo-repo/issues"), 1, moved);
        followed.is("created", "");
        let world = followed.twin.world();
        assert_eq!(world.count(method, comments), 1, "{:?}", world.asked);
        assert_eq!(
            world.count("POST", "/issues/5/comments"),
            if method == "POST" { 2 } else { 1 }
        );
    }
}

#[test]
fn a_token_goes_nowhere_else_and_no_circle_is_followed() {
    let other = Twin::start();
    let place = format!("{}/repositories/1/issues/5/comments", other.url);
    let moved = Fault::Status(301, vec![("location", place)]);
    spoken(("GET", "/comments"), 9, moved)
        .is("failed", "GitHub redirects to another host, and the token");
    assert!(other.world().asked.is_empty());
    let circle = vec![("location", "/repositories/1/issues/5/comments".to_owned())];
    let turning = spoken(("GET", "/comments"), 99, Fault::Status(301, circle));
    turning.is("failed", "GitHub redirected more than 3 times in a row");
    assert_eq!(turning.twin.world().count("GET", "/comments"), 4);
    let nowhere = spoken(("GET", "/comments"), 9, Fault::Status(301, Vec::new()));
    nowhere.is("failed", "GitHub redirects to another host");
}

#[test]
fn what_a_forks_token_may_not_is_in_the_summary_with_the_way_out() {
    let twin = Twin::start();
    twin.world().read_only = true;
    let red = Project::with_suite(&suite(RED));
    let step = Step::proposed(&twin, 5, "stranger/fork");
    let mut command = step.command(&red, &["--baseline", "off"]);
    command.env("GITHUB_STEP_SUMMARY", red.path().join("summary"));
    let ran = step.finish(&red, command);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert_eq!(step.output(&red, "comment"), "denied");
    let summary = red.read("summary");
    let told = "the workflow <code>comment.yml</code> comments for it";
    assert!(summary.contains(told), "{summary}");
}
