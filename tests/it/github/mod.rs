//! `ci` on GitHub, with the real binary and a twin of the API that validates every request.

pub(crate) mod built;
mod comments;
mod data_branch;
mod described;
pub(crate) mod events;
mod gates;
mod interrupts;
mod meanwhile;
mod proxy;
mod refusals;
pub(crate) mod twin;
mod workflow_run;

use std::process::Command;

use serde_json::{Value, json};

use self::{
    events::{payload, set},
    twin::{REPOSITORY, TOKEN, Twin, hash},
};
use crate::harness::{Project, Ran};

/// A suite of one assertion that passes or fails, on a built-in server.
pub(crate) fn suite(wanted: u32) -> String {
    format!(
        "name: lists its tools\nserver: {{builtin: minimal}}\nassert_tools: {{expect: {{min_results: {wanted}}}}}\n"
    )
}

/// The environment of a step on GitHub.
pub(crate) struct Step<'a> {
    twin: &'a Twin,
    /// The event's name and payload.
    event: (&'static str, Value),
    run: u64,
    attempt: u64,
    sha: String,
    reference: String,
    token: Option<&'static str>,
}

impl<'a> Step<'a> {
    /// A push to the default branch.
    pub(crate) fn push(twin: &'a Twin, sha: &str) -> Self {
        let mut payload = payload("push");
        set(&mut payload, "/ref", json!("refs/heads/main"));
        set(&mut payload, "/after", json!(sha));
        Self {
            twin,
            event: ("push", payload),
            run: 1,
            attempt: 1,
            sha: sha.to_owned(),
            reference: "refs/heads/main".to_owned(),
            token: Some(TOKEN),
        }
    }

    /// A pull request from this repository, tested on its merge with the base.
    pub(crate) fn pull_request(twin: &'a Twin, number: u64) -> Self {
        Self::proposed(twin, number, REPOSITORY)
    }

    /// A pull request from that repository.
    pub(crate) fn proposed(twin: &'a Twin, number: u64, from: &str) -> Self {
        let mut payload = payload("pull_request");
        for (pointer, value) in [
            ("/number", json!(number)),
            ("/pull_request/number", json!(number)),
            ("/pull_request/head/sha", json!(hash("head"))),
            ("/pull_request/head/ref", json!("topic")),
            ("/pull_request/head/repo/full_name", json!(from)),
            ("/pull_request/base/ref", json!("main")),
            ("/pull_request/base/sha", json!(hash("base"))),
        ] {
            set(&mut payload, pointer, value);
        }
        Self {
            event: ("pull_request", payload),
            sha: hash("merge"),
            reference: format!("refs/pull/{number}/merge"),
            ..Self::push(twin, &hash("merge"))
        }
    }

    /// The same under another event.
    pub(crate) fn event(mut self, name: &'static str, change: impl FnOnce(&mut Value)) -> Self {
        self.event.0 = name;
        change(&mut self.event.1);
        self
    }

    /// The same on another ref.
    pub(crate) fn on(mut self, reference: &str) -> Self {
        reference.clone_into(&mut self.reference);
        self
    }

    /// The same on another revision.
    pub(crate) fn at(mut self, sha: &str) -> Self {
        sha.clone_into(&mut self.sha);
        self
    }

    /// The same in another run.
    pub(crate) fn numbered(mut self, run: u64) -> Self {
        self.run = run;
        self
    }

    /// The same in another attempt of its run.
    pub(crate) fn again(mut self, attempt: u64) -> Self {
        self.attempt = attempt;
        self
    }

    /// The same with another token, or none.
    pub(crate) fn token(mut self, token: Option<&'static str>) -> Self {
        self.token = token;
        self
    }

    /// `ci` on suites, in a project.
    pub(crate) fn command(&self, project: &Project, more: &[&str]) -> Command {
        self.dressed(project, &[&["ci", "--isolation", "process"], more].concat())
    }

    /// Any command in a project, with its files for the runner.
    pub(crate) fn dressed(&self, project: &Project, arguments: &[&str]) -> Command {
        let file = |name: &str, text: &str| {
            let path = project.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let payload = file(
            &format!("event-{}.json", self.run),
            &self.event.1.to_string(),
        );
        let output = file(&format!("output-{}", self.run), "");
        let mut command = project.command(arguments);
        command
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_API_URL", &self.twin.url)
            .env("GITHUB_GRAPHQL_URL", format!("{}/graphql", self.twin.url))
            .env("GITHUB_SERVER_URL", "https://github.com")
            .env("GITHUB_REPOSITORY", REPOSITORY)
            .env("GITHUB_EVENT_NAME", self.event.0)
            .env("GITHUB_EVENT_PATH", payload)
            .env("GITHUB_SHA", &self.sha)
            .env("GITHUB_REF", &self.reference)
            .env("GITHUB_RUN_ID", self.run.to_string())
            .env("GITHUB_RUN_ATTEMPT", self.attempt.to_string())
            .env(
                "GITHUB_WORKFLOW_REF",
                format!("{REPOSITORY}/.github/workflows/ci.yml@{}", self.reference),
            )
            .env("GITHUB_JOB", "test")
            .env("GITHUB_WORKSPACE", project.path())
            .env("GITHUB_OUTPUT", output);
        if let Some(token) = self.token {
            command.env("GITHUB_TOKEN", token);
        }
        command
    }

    /// Runs `ci` on suites.
    pub(crate) fn run(&self, project: &Project, more: &[&str]) -> Ran {
        self.finish(project, self.command(project, more))
    }

    /// Runs a command, and asserts that its files do not contain the token and that its requests were valid.
    pub(crate) fn finish(&self, project: &Project, command: Command) -> Ran {
        let ran = project.finish(command);
        let log = format!("{}{}", ran.stdout, ran.stderr);
        let shown = log.lines().filter(|line| !line.starts_with("::add-mask::"));
        assert!(!shown.into_iter().any(|line| line.contains(TOKEN)), "{log}");
        self.twin.check();
        ran
    }

    /// An output that was set.
    pub(crate) fn output(&self, project: &Project, name: &str) -> String {
        let text = project.read(&format!("output-{}", self.run));
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some((found, end)) = line.split_once("<<") else {
                continue;
            };
            let value: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
            if found == name {
                return value.join("\n");
            }
        }
        panic!("no output `{name}` in {text}");
    }
}
