//! Safety and starting servers.

use super::{case, embedded, run_in};
use crate::harness::{BINARY, Project};

#[cfg(unix)]
/// Go tool: when the fixture cannot be copied, the original is used in silence.
/// Here: the run or the assertion fails.
#[test]
fn the_original_fixture_is_never_used() {
    let suite = "
server: {builtin: conformance, args: [--files, '{{fixture}}']}
assert: {tool: write_file, args: {path: kept.txt, text: WRITTEN}}
";
    let project = Project::with_suite(suite).file("data/kept.txt", "original");
    let socket = project.path().join("data/socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let ran = project.run(&["run", "--suite", "evals", "--fixture", "data"]);
    assert_ne!(ran.code, 0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("socket"), "{said}");
    assert_eq!(project.read("data/kept.txt"), "original");

    let ran = project.run(&["run", "--suite", "evals", "--fixture", "no-such-folder"]);
    assert_ne!(ran.code, 0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("no-such-folder"), "{said}");
}

/// Go tool: text of the server reaches the terminal with its escape sequences.
/// Here: control bytes are written out.
#[test]
fn text_of_the_server_reaches_the_terminal_harmless() {
    let project = Project::with_suite(
        "
name: escapes
server: {builtin: conformance}
assert:
  tool: reply
  args: {text: \"\\e[2J\\e[31mred\\r\\x07\"}
  expect: {equals: plain}
",
    );
    for color in ["never", "always"] {
        let ran = project.run(&["run", "--suite", "evals", "--color", color]);
        assert_eq!(ran.code, 1);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("red"), "{said}");
        for raw in ["\u{1b}[2J", "\u{1b}[31mred", "\u{7}", "\r"] {
            assert!(!said.contains(raw), "{color}: {raw:?} in {said:?}");
        }
    }
}

/// Go tool: text of the server breaks the tables of the Markdown report.
/// Here: it is escaped.
#[test]
fn markdown_is_escaped() {
    let project = Project::with_suite(
        "
name: 'a | b <img src=x> ```'
server: {builtin: conformance}
assert:
  tool: reply
  args: {text: \"one | two\\n```\\n</details><script>alert(1)</script>\\n\"}
  expect: {equals: plain}
",
    );
    let ran = project.run(&["run", "--suite", "evals", "--markdown", "report.md"]);
    assert_eq!(ran.code, 1);
    let report = project.read("report.md");
    let row = report
        .lines()
        .find(|line| line.starts_with("| ❌"))
        .unwrap();
    assert_eq!(row.matches('|').count(), 5, "{row}");
    let (outside, inside) = report.split_once("````diff").unwrap();
    assert!(
        !outside.contains("<img") && !outside.contains("```"),
        "{outside}"
    );
    assert!(inside.contains("</details><script>"), "{inside}");
}

#[cfg(unix)]
/// Go tool: `{{fixture}}/..` leads into a folder that all assertions share.
/// Here: the copy's parent belongs to this assertion alone; file expectations refuse to look outside of the copy.
#[test]
fn the_way_out_of_the_copy_leads_nowhere_shared() {
    let project = Project::with_suite(&format!(
        "
name: writes beside its copy
server:
  command: sh
  args: [-c, 'echo x >\"$1/../escaped.txt\"; exec {BINARY} serve', sh, '{{{{fixture}}}}']
assert: {{tool: echo}}
---
name: sees nothing of it
server:
  command: sh
  args: [-c, 'test ! -e \"$1/../escaped.txt\" || exit 9; exec {BINARY} serve', sh, '{{{{fixture}}}}']
assert: {{tool: echo}}
---
name: a file outside of the copy is not looked at
server: {{builtin: conformance}}
assert: {{tool: echo, expect: {{file_exists: ['{{{{fixture}}}}/../data/kept.txt']}}}}
"
    ))
    .file("data/kept.txt", "original");
    let seen = run_in(&project, &["--fixture", "data", "--jobs", "1"]);
    assert_eq!(seen.statuses()[..2], ["PASS", "PASS"], "{}", seen.details());
    assert_ne!(seen.statuses()[2], "PASS", "{}", seen.details());
    assert!(!project.path().join("escaped.txt").exists());
}

#[test]
fn an_absolute_path_beside_the_copy_is_read_where_it_is() {
    let project = Project::new()
        .file("data/kept.txt", "original")
        .file("beside.txt", "beside the fixture");
    let beside = project.path().join("beside.txt").display().to_string();
    let suite = format!(
        "
name: is read
server: {{builtin: conformance}}
assert: {{tool: echo, expect: {{file_contains: {{{beside}: beside}}}}}}
---
name: is probably meant inside
server: {{builtin: conformance}}
assert: {{tool: echo, expect: {{file_not_exists: [/kept.txt]}}}}
"
    );
    let project = project.file("evals/a.yaml", &suite);
    let seen = run_in(&project, &["--fixture", "data"]);
    assert_eq!(seen.statuses(), ["PASS", "PASS"], "{}", seen.details());
    let ran = project.run(&["run", "evals", "--fixture", "data"]);
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert!(told.contains("warning[outside-fixture]"), "{told}");
}

/// Go tool: captured text that contains `{{name}}` is expanded again, at random.
/// Here: inserted text is never expanded.
#[test]
fn what_is_inserted_is_never_expanded() {
    embedded(
        r"
name: a captured text with a marker in it
setup:
  - tool: reply
    args: {text: 'owl'}
    capture: {name: $}
  - tool: reply
    args: {text: 'a {{{{name}} and a {{{{env.HOME}}'}
    capture: {text: $}
assert:
  tool: echo
  args: {message: 'it says {{text}}'}
  expect:
    json_path: {message: 'it says a {{{{name}} and a {{{{env.HOME}}'}
    not_contains: [owl]
",
        &[],
        &["PASS"],
    );
}

#[cfg(unix)]
/// Go tool: a `$` in values of `env` cannot be written.
/// Here: `$$`.
#[test]
fn a_dollar_can_be_written() {
    case(
        &format!(
            "
server:
  command: sh
  args: [-c, 'echo \"[$WORD]\" >&2; exec {BINARY} serve']
  env: {{WORD: 'pa$$word${{UNSET_HERE:-1}}'}}
assert: {{tool: echo, expect: {{stderr: {{contains: ['[pa$word1]']}}}}}}
"
        ),
        &[],
        &["PASS"],
    );
}

#[cfg(unix)]
/// Go tool: symbolic links are missing from the copy; a fixture that is one itself is copied as an empty folder.
/// Here: links that stay inside are kept, others are a problem; the fixture's own path may be a link.
#[test]
fn links_of_the_fixture_are_kept_and_may_not_lead_out() {
    use std::os::unix::fs::symlink;

    let suite = "
server: {builtin: conformance, args: [--files, '{{fixture}}']}
assert: {tool: echo, expect: {file_contains: {kept.txt: original, link.txt: original}}}
";
    let project = Project::with_suite(suite).file("data/kept.txt", "original");
    symlink("kept.txt", project.path().join("data/link.txt")).unwrap();
    symlink("data", project.path().join("linked-data")).unwrap();
    for fixture in ["data", "linked-data"] {
        let seen = run_in(&project, &["--fixture", fixture]);
        assert_eq!(seen.statuses(), ["PASS"], "{fixture}: {}", seen.details());
    }
    symlink("/etc/passwd", project.path().join("data/out.txt")).unwrap();
    let ran = project.run(&["run", "--suite", "evals", "--fixture", "data"]);
    assert_ne!(ran.code, 0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("out.txt"), "{said}");
}

/// Go tool: `--server` is split at white space; quotes are part of the words.
/// Here: it is split as a shell does: `--server "sh 'my server.sh'"`.
#[test]
fn a_server_on_the_command_line_is_quoted_as_in_a_shell() {
    let project = Project::with_suite("name: quoted\nassert: {tool: x}\n").file(
        "my server.sh",
        super::shell_server(r#"*tools/call*) answer '{"content":[]}' ;;"#),
    );
    let seen = run_in(&project, &["--server", "sh 'my server.sh'"]);
    assert_eq!(seen.statuses(), ["PASS"], "{}", seen.details());
}

/// Go tool: roots are sent as written: `file://` before a relative path or one with blanks.
/// Here: they are absolute URIs with the necessary escapes: `file:///home/me/a%20b`.
#[test]
fn roots_are_addresses() {
    let suite = "
name: a relative path with a blank
server: {builtin: conformance, client_capabilities: {roots: ['a b']}}
assert: {tool: list_roots, expect: {contains: ['file:///', '/a%20b']}}
";
    case(suite, &[], &["PASS"]);
}
