//! What file expectations see in a container: by whatever name, wherever the server starts, and what cannot be seen.

use std::fmt::Write;

use super::{IMAGE, project, ready, run};

/// The status of each assertion, and what was said.
fn statuses(suite: &str) -> (Vec<String>, String) {
    let project = project(suite).file("fixture/keep.txt", "keep");
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
    let expectations = [
        "file_not_exists: {}",
        "file_exists: {}",
        "file_unchanged: {}",
    ];
    let server = format!(
        "{{docker: {{image: '{IMAGE}', user: '0', read_only: false, tmpfs: [/tmp, /run]}}}}"
    );
    let mut suite = String::new();
    for (at, named) in written {
        for expectation in expectations {
            let expectation = expectation.replace("{}", named);
            write!(
                suite,
                "---\nserver: {server}\n\
                 setup: [{{tool: link, args: {{path: /usr/tmp, to: ../tmp}}}}, {{tool: write, args: {{path: {at}}}}}]\n\
                 assert: {{tool: there, args: {{paths: []}}, expect: {{{expectation}}}}}\n"
            )
            .unwrap();
        }
    }
    let (statuses, said) = statuses(&suite);
    assert_eq!(
        statuses,
        vec!["error"; written.len() * expectations.len()],
        "{said}"
    );
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
name: bound elsewhere
server: {docker: {image: "mcp-assert-test/python:latest", user: "0", read_only: false}}
assert: {tool: bind, args: {path: /opt/s.sock}, expect: {contains: bound, file_not_exists: /opt/s.sock}}
"#,
    );
    assert_eq!(statuses, ["pass", "fail", "fail", "fail"], "{said}");
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
