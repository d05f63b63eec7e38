//! `mcp-assert conform` against our own server with each kind of fault, and against servers that are not there.

use crate::harness::{BINARY, Project};

#[test]
fn each_violation_is_told_by_its_check() {
    let project = Project::new();
    let conform = |arguments: &str| {
        let server = format!("{BINARY} serve --profile minimal {arguments}");
        let ran = project.run(&["conform", "--server", &server, "--timeout", "5s", "--json"]);
        let found = ran.json();
        let codes = found["findings"].as_array().unwrap().iter();
        let codes: Vec<String> = codes
            .map(|it| it["code"].as_str().unwrap().to_owned())
            .collect();
        (ran.code, codes)
    };
    assert_eq!(conform(""), (0, Vec::new()));
    assert_eq!(conform("--protocol 2026-07-28"), (0, Vec::new()));
    for (fault, code) in [
        ("stdout-banner", "stdout-purity"),
        ("wrong-id", "json-rpc"),
        ("missing-jsonrpc", "json-rpc"),
        ("id-type-flip", "json-rpc"),
        ("reply-to-notification", "json-rpc"),
        ("cap-lie-missing", "capabilities"),
        ("dup-tool-names", "message-shapes"),
        ("ignore-stdin-eof", "end-of-input"),
        ("cursor-loop", "pagination"),
    ] {
        let (_, codes) = conform(&format!("--fault {fault}"));
        assert!(codes.iter().any(|it| it == code), "{fault}: {codes:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_not_judged() {
    let project = Project::new();
    for (server, wanted) in [("sh -c 'exit 3'", "exit code 3"), ("nonsuch", "not found")] {
        let ran = project.run(&["conform", "--server", server]);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
}

#[test]
fn reports_are_written_and_all_revisions_judged() {
    let project = Project::new();
    let server = format!("{BINARY} serve --profile minimal");
    let words = [
        "conform",
        "--server",
        &server,
        "--protocol",
        "all",
        "--junit",
        "c.xml",
        "--sarif",
        "c.sarif",
    ];
    let ran = project.run(&words);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let judged = "judged on 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28";
    assert!(ran.stdout.contains(judged), "{}", ran.stdout);
    assert!(ran.stdout.contains(" 0 failed"), "{}", ran.stdout);
    assert!(project.read("c.xml").contains("stdout-purity"));
    let sarif: serde_json::Value = serde_json::from_str(&project.read("c.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
}
