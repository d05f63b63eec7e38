//! Differences from the Go tool of the same name. The comment above a test holds the rows of
//! `docs/reference/compat.md` that the test proves; `rows` reads them.

mod ends;
mod green;
mod lasting;
mod red;
mod reports;
mod returned;
mod rows;
mod safety;

use crate::harness::{Project, Ran};

/// A run with `--json`, and the outcomes it printed.
struct Seen {
    outcomes: Vec<serde_json::Value>,
    ran: Ran,
}

impl Seen {
    /// `PASS`, `FAIL`, `ERROR` (a failure whose kind is `error`) or `SKIP` of each outcome, in order.
    fn statuses(&self) -> Vec<&str> {
        self.outcomes
            .iter()
            .map(|outcome| {
                let status = outcome["status"].as_str().unwrap();
                match outcome["kind"].as_str() {
                    Some("error") if status == "FAIL" => "ERROR",
                    _ => status,
                }
            })
            .collect()
    }

    /// What the outcomes say, one after another.
    fn details(&self) -> String {
        self.outcomes
            .iter()
            .map(|outcome| outcome["detail"].as_str().unwrap_or_default())
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// Runs the suite of a project.
fn run_in(project: &Project, arguments: &[&str]) -> Seen {
    let all = [&["run", "--json", "--suite", "evals"], arguments].concat();
    let ran = project.run(&all);
    let outcomes = ran.json().as_array().unwrap().clone();
    Seen { outcomes, ran }
}

/// Runs a suite of one file and compares the status of each of its assertions.
fn case(yaml: &str, arguments: &[&str], wanted: &[&str]) -> Seen {
    let seen = run_in(&Project::with_suite(yaml), arguments);
    assert_eq!(
        seen.statuses(),
        wanted,
        "{arguments:?}\n{yaml}\n{}\n{}",
        seen.details(),
        seen.ran.stderr
    );
    seen
}

/// The settings that give every assertion the embedded server.
const EMBEDDED: &str = "defaults: {server: {builtin: conformance}}\n";

/// Runs a suite of one file on the embedded server and compares the status of each of its assertions.
fn embedded(yaml: &str, arguments: &[&str], wanted: &[&str]) -> Seen {
    let project = Project::with_suite(yaml).file("evals/mcp-assert.yaml", EMBEDDED);
    let seen = run_in(&project, arguments);
    assert_eq!(
        seen.statuses(),
        wanted,
        "{arguments:?}\n{yaml}\n{}\n{}",
        seen.details(),
        seen.ran.stderr
    );
    seen
}

/// A server in shell: `arms` are those of a `case` over the request's line, with `answer RESULT` at hand and the
/// request's id in `$id`; before the first request it is `start`.
fn shell_server(arms: &str) -> String {
    format!(
        r#"answer() {{ printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$1"; }}
serve() {{
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
    {arms}
    *'"method":"initialize"'*) answer '{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}},"resources":{{}},"completions":{{}}}},"serverInfo":{{"name":"shell","version":"1"}}}}' ;;
    *tools/list*) answer '{{"tools":[]}}' ;;
  esac
}}
line=start
serve
while IFS= read -r line; do serve; done
"#
    )
}

/// Runs a suite of one file on a [`shell_server`] and compares the status of each of its assertions.
fn scripted(arms: &str, yaml: &str, wanted: &[&str]) -> Seen {
    scripted_with(arms, yaml, &[], wanted)
}

/// The same with more arguments on the command line.
fn scripted_with(arms: &str, yaml: &str, arguments: &[&str], wanted: &[&str]) -> Seen {
    let project = Project::with_suite(yaml)
        .file("server.sh", shell_server(arms))
        .file(
            "evals/mcp-assert.yaml",
            "defaults: {server: {command: sh, args: [server.sh]}}\n",
        );
    let seen = run_in(&project, arguments);
    assert_eq!(
        seen.statuses(),
        wanted,
        "{arguments:?}\n{yaml}\n{}\n{}",
        seen.details(),
        seen.ran.stderr
    );
    seen
}
