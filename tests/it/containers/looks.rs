//! What file expectations see in a container: by whatever name, wherever the server starts, and what cannot be seen.

use std::{
    fmt::Write,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{
    IMAGE,
    engines::{Remote, SOCKET},
    project, ready, run,
};
use crate::engine::docker;

/// The status of each assertion, and what was said.
fn statuses(suite: &str) -> (Vec<String>, String) {
    let project = project(suite)
        .file("fixture/keep.txt", "keep")
        .file("fixture/sub/old.txt", "old");
    let (ran, seen) = run(&project, &["--fixture", "fixture"]);
    let records = seen["assertions"].as_array().unwrap().iter();
    let statuses = records.map(|record| record["status"].as_str().unwrap().to_owned());
    (statuses.collect(), ran.stdout)
}

#[test]
fn what_lies_in_memory_cannot_be_told_by_whatever_name() {
    if !ready() {
        return;
    }
    let written = [
        ("/tmp/x", "/tmp/x"),
        ("/dev/shm/x", "/dev/shm/x"),
        ("/tmp/x", "//tmp/x"),
        ("/tmp/x", "/./tmp/x"),
        ("/tmp/x", "/etc/../tmp/x"),
        ("/tmp/x", "/usr/tmp/x"),
        ("/var/run/x", "/var/run/x"),
    ];
    let first = written[0];
    let each = written.map(|it| (it, "file_not_exists: {}"));
    let others = ["file_exists: {}", "file_unchanged: {}"].map(|it| (first, it));
    let cases = [&each[..], &others[..]].concat();
    let server = format!(
        "{{docker: {{image: '{IMAGE}', user: '0', read_only: false, tmpfs: [/tmp, /run]}}}}"
    );
    let mut suite = String::new();
    for ((at, named), expectation) in &cases {
        let expectation = expectation.replace("{}", named);
        write!(
            suite,
            "---\nserver: {server}\n\
             setup: [{{tool: link, args: {{path: /usr/tmp, to: ../tmp}}}}, {{tool: write, args: {{path: {at}}}}}]\n\
             assert: {{tool: there, args: {{paths: []}}, expect: {{{expectation}}}}}\n"
        )
        .unwrap();
    }
    let (statuses, said) = statuses(&suite);
    assert_eq!(statuses, vec!["error"; cases.len()], "{said}");
    assert!(
        said.contains("cannot be told what is at `/dev/shm/x`"),
        "{said}"
    );
    assert!(said.contains("it leads to `/tmp/x`, in memory"), "{said}");
}

#[test]
fn what_the_engine_sees_is_told_as_for_a_process() {
    if !ready() {
        return;
    }
    let (statuses, said) = statuses(
        r#"
name: below a file there is nothing
assert: {tool: there, args: {paths: []}, expect: {file_not_exists: [/etc/passwd/x, keep.txt/x, /none], file_exists: [/tmp, /usr]}}
---
name: bound, and not to be there
assert: {tool: bind, args: {path: "{{fixture}}/s.sock"}, expect: {contains: bound, file_not_exists: s.sock}}
---
name: bound, and more than may change
assert: {tool: bind, args: {path: "{{fixture}}/s.sock"}, expect: {contains: bound, only_changed: [], not: {file_not_exists: s.sock}}}
---
name: bound, and named by nobody
assert: {tool: bind, args: {path: "{{fixture}}/sub/s.sock"}, expect: {contains: bound, only_changed: []}}
---
name: bound, and may be
assert: {tool: bind, args: {path: "{{fixture}}/sub/s.sock"}, expect: {contains: bound, only_changed: [sub/s.sock]}}
---
name: something came and went
assert: {tool: spawn, args: {line: "sh -c 'touch {{fixture}}/sub/t; rm {{fixture}}/sub/t'"}, expect: {only_changed: []}}
---
name: bound elsewhere
server: {docker: {image: "mcp-assert-test/python:latest", user: "0", read_only: false}}
assert: {tool: bind, args: {path: /opt/s.sock}, expect: {contains: bound, file_not_exists: /opt/s.sock}}
"#,
    );
    assert_eq!(
        statuses,
        ["pass", "fail", "fail", "fail", "pass", "pass", "fail"],
        "{said}"
    );
    assert!(
        said.contains("something is there: it is a socket"),
        "{said}"
    );
}

#[test]
fn relative_paths_lead_from_where_the_server_starts() {
    if !ready() {
        return;
    }
    let mut suite = String::new();
    for (server, container) in [
        ("cwd: /opt,", ""),
        ("", "workdir: /opt,"),
        ("cwd: /opt,", "workdir: /usr,"),
    ] {
        for expectation in ["file_exists", "file_not_exists"] {
            write!(
                suite,
                "---\nserver: {{{server} docker: {{image: '{IMAGE}', {container} user: '0', read_only: false}}}}\n\
                 assert: {{tool: write, args: {{path: new.txt}}, expect: {{{expectation}: new.txt}}}}\n"
            )
            .unwrap();
        }
    }
    let project = project(&suite);
    let (ran, seen) = run(&project, &[]);
    let records = seen["assertions"].as_array().unwrap().iter();
    let statuses: Vec<_> = records
        .map(|record| record["status"].as_str().unwrap())
        .collect();
    let wanted = ["pass", "fail", "pass", "fail", "pass", "fail"];
    assert_eq!(statuses, wanted, "{}", ran.stdout);
}

#[test]
fn nothing_is_put_over_the_fixture_of_a_container() {
    if !ready() {
        return;
    }
    let mut suite = String::new();
    for own in [
        "mounts: './host:{{AT}}:rw'",
        "tmpfs: ['/tmp', '{{AT}}']",
        "tmpfs: ['{{AT}}/sub/']",
        "mounts: './host:/mcp-assert/other'",
    ] {
        let own = own.replace("{{AT}}", "/mcp-assert/fixture");
        write!(
            suite,
            "---\nserver: {{docker: {{image: '{IMAGE}', {own}}}}}\n\
             assert: {{tool: list, args: {{path: '{{{{fixture}}}}'}}, expect: {{contains: keep.txt}}}}\n"
        )
        .unwrap();
    }
    let project = project(&suite)
        .file("evals/host/of.host", "host")
        .file("fixture/keep.txt", "keep");
    let (ran, seen) = run(&project, &["--fixture", "fixture"]);
    let records = seen["assertions"].as_array().unwrap().iter();
    let statuses: Vec<_> = records.map(|record| &record["status"]).collect();
    assert_eq!(
        statuses,
        ["error", "error", "error", "pass"],
        "{}",
        ran.stdout
    );
    for told in [
        "the mount at `/mcp-assert/fixture` would lie over the fixture",
        "the folder in memory at `/mcp-assert/fixture/sub/` would lie over the fixture",
    ] {
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
    }
    let sent = project.path().join("evals/host/keep.txt");
    assert!(
        !sent.exists(),
        "the fixture was sent to a folder of the host"
    );
}

#[test]
fn a_directory_that_no_server_can_start_in_is_named() {
    if !ready() {
        return;
    }
    let mut suite = String::new();
    for directory in [
        "/etc/passwd",
        "/etc/passwd/x",
        "{{fixture}}/none",
        "{{fixture}}/keep.txt",
        "{{fixture}}/sub/..",
    ] {
        write!(
            suite,
            "---\nserver: {{docker: '{IMAGE}', cwd: '{directory}'}}\n\
             assert: {{tool: who, expect: {{only_changed: []}}}}\n"
        )
        .unwrap();
    }
    let project = project(&suite)
        .file("fixture/keep.txt", "keep")
        .file("fixture/sub/old.txt", "old");
    let (ran, seen) = run(&project, &["--fixture", "fixture"]);
    let records = seen["assertions"].as_array().unwrap().iter();
    let statuses: Vec<_> = records.map(|record| &record["status"]).collect();
    let wanted = ["error", "error", "error", "error", "pass"];
    assert_eq!(statuses, wanted, "{}", ran.stdout);
    for told in [
        "the container could not be started: Cannot mkdir: /etc/passwd is not a directory",
        "/etc/passwd/x: not a directory",
        "the fixture has no directory `none`, where the server is to start",
        "the fixture has no directory `keep.txt`",
    ] {
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
    }
}

/// How often the engine of the test below was asked for what is outside of the fixture.
static ASKED: AtomicUsize = AtomicUsize::new(0);

/// Removes a container when its files are asked for after its server was talked to, just before the engine is asked.
fn removes(asked: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(asked);
    let (front, rest) = text.split_once("/containers/")?;
    let (id, what) = rest.split_once('/')?;
    let is_late = match front.split(' ').next() {
        Some("GET") => what.starts_with("archive?path=%2Fmcp-assert"),
        // It is looked at before the start, too.
        Some("HEAD") if what.contains("leak") => ASKED.fetch_add(1, Ordering::Relaxed) == 1,
        _ => false,
    };
    if is_late {
        docker(Path::new("/"), &["rm", "--force", "--volumes", id]);
    }
    None
}

#[test]
fn files_of_a_container_that_is_gone_are_not_absent() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(removes);
    let project = project(
        r#"
name: in the fixture
assert: {tool: write, args: {path: "{{fixture}}/leak"}, expect: {file_not_exists: leak}}
---
name: elsewhere
assert: {tool: echo, args: {text: hi}, expect: {file_not_exists: /opt/leak}}
---
name: compared
assert: {tool: echo, args: {text: hi}, expect: {not: {only_changed: []}}}
"#,
    )
    .file("fixture/keep.txt", "keep");
    let arguments = ["--fixture", "fixture", "--docker-host", &remote.address];
    let (ran, seen) = run(&project, &arguments);
    let records = seen["assertions"].as_array().unwrap();
    for record in records {
        assert_eq!(record["status"], "error", "{}", ran.stdout);
    }
    assert!(
        ran.stdout.contains("the container is gone"),
        "{}",
        ran.stdout
    );
}

#[test]
fn files_that_are_named_are_read_beside_much_that_is_not() {
    if !ready() {
        return;
    }
    let make = |count: u32, each: &str| {
        let line =
            format!("for i in $(seq {count}); do truncate --size {each} {{{{fixture}}}}/$i; done");
        let line = serde_json::json!(format!("sh -c '{line}'"));
        format!("setup: [{{tool: spawn, args: {{line: {line}}}, expect: {{equals: '0'}}}}]\n")
    };
    let (many, large) = (make(130, "1M"), make(1, "1100M"));
    let (statuses, said) = statuses(&format!(
        r#"
name: behind 130 MiB of others
{many}assert:
  tool: write
  args: {{path: "{{{{fixture}}}}/z.txt", text: the text}}
  expect: {{file_contains: {{z.txt: the text}}, file_exists: ["77"]}}
---
name: by the name of a link
{many}assert:
  tool: link
  args: {{path: "{{{{fixture}}}}/z.txt", to: keep.txt}}
  expect: {{file_contains: {{z.txt: keep}}}}
---
name: beside more than is read
{large}assert:
  tool: write
  args: {{path: "{{{{fixture}}}}/z.txt", text: the text}}
  expect:
    file_contains: {{z.txt: the text, keep.txt: keep}}
    file_not_exists: [a.txt, keep.txt/x]
---
name: is not there beside more than is read
{large}assert: {{tool: echo, args: {{text: hi}}, expect: {{file_exists: z.txt}}}}
---
name: all of it is more than is compared
{large}assert: {{tool: echo, args: {{text: hi}}, expect: {{only_changed: ["1"]}}}}
"#
    ));
    let wanted = ["pass", "pass", "pass", "fail", "error"];
    assert_eq!(statuses, wanted, "{said}");
    assert!(
        said.contains("more than is read of a container (1 GiB)"),
        "{said}"
    );
}

#[test]
fn a_server_that_left_a_socket_is_not_reused() {
    if !ready() {
        return;
    }
    let suite = r#"
name: binds
assert: {tool: bind, args: {path: "{{fixture}}/s.sock"}, expect: {contains: bound}}
---
name: finds the fixture fresh
assert: {tool: list, args: {path: "{{fixture}}"}, expect: {equals: '["keep.txt"]', only_changed: []}}
"#;
    let project = project(suite).file("fixture/keep.txt", "keep");
    let (ran, _) = run(&project, &["--fixture", "fixture", "--reuse-server"]);
    assert!(
        ran.stdout.contains("2 assertions, 2 passed"),
        "{}",
        ran.stdout
    );
}
