//! `mcp-assert conform` against our own server with each kind of fault, and against servers that are not there.

use std::time::{Duration, Instant};

use crate::{
    harness::{BINARY, Project},
    serve_http::Site,
};

/// The exit code, and the codes of the findings, of our own server with these arguments.
fn conform(arguments: &str) -> (i32, Vec<String>) {
    let profile = if arguments.contains("--profile") {
        ""
    } else {
        "--profile minimal"
    };
    let server = format!("{BINARY} serve {profile} {arguments}");
    let words = ["conform", "--server", &server, "--timeout", "5s", "--json"];
    let ran = Project::new().run(&words);
    let codes = match ran.code {
        0 | 1 => ran.json()["findings"].clone(),
        _ => serde_json::Value::Null,
    };
    let codes = codes.as_array().into_iter().flatten();
    let codes = codes.map(|it| it["code"].as_str().unwrap().to_owned());
    (ran.code, codes.collect())
}

/// A fault, and the finding that tells of it; one of a MUST is red.
const CAUGHT: &[(&str, &str)] = &[
    ("stdout-banner", "stdout-purity"),
    ("wrong-id", "json-rpc"),
    ("batch-reply", "json-rpc"),
    ("reply-to-notification", "json-rpc"),
    ("cap-lie-missing", "capabilities"),
    ("no-input-schema", "message-shapes"),
    ("structured-mismatch", "structured-content"),
    ("progress-backwards", "progress"),
    ("cursor-loop", "pagination"),
    ("exit-mid-call", "answers"),
];

#[test]
fn each_violation_is_told_by_its_check() {
    assert_eq!(conform(""), (0, Vec::new()));
    assert_eq!(conform("--protocol 2026-07-28"), (0, Vec::new()));
    all_are_caught(CAUGHT);
    for (fault, code) in [
        ("dup-tool-names", "tool-names"),
        ("ignore-stdin-eof", "end-of-input"),
    ] {
        let found = conform(&format!("--fault {fault}"));
        assert_eq!(found, (0, vec![code.to_owned()]), "{fault}");
    }
}

fn all_are_caught(faults: &[(&str, &str)]) {
    for (fault, code) in faults {
        let (exit, codes) = conform(&format!("--fault {fault}"));
        let is_told = codes.iter().any(|it| it == code);
        assert!(exit == 1 && is_told, "{fault}: exit {exit}, {codes:?}");
    }
}

/// The other faults of the protocol over stdio.
const CAUGHT_TOO: &[(&str, &str)] = &[
    ("stdout-noise-between", "stdout-purity"),
    ("stdout-noise-midline", "stdout-purity"),
    ("stdout-ansi", "stdout-purity"),
    ("stdout-bom", "stdout-purity"),
    ("pretty-json", "stdout-purity"),
    ("no-trailing-newline", "stdout-purity"),
    ("invalid-utf8", "stdout-purity"),
    ("nul-byte", "stdout-purity"),
    ("truncated-json", "stdout-purity"),
    ("nan-number", "stdout-purity"),
    ("not-json", "answers"),
    ("exit-after-reply", "answers"),
    ("abort", "answers"),
    ("segv", "answers"),
    ("close-stdout", "answers"),
    ("oom-cap:1MiB", "answers"),
    ("reply-after-cancel", "answers"),
    ("drop", "answers"),
    ("json-null", "json-rpc"),
    ("missing-jsonrpc", "json-rpc"),
    ("jsonrpc-1.0", "json-rpc"),
    ("null-id", "json-rpc"),
    ("id-type-flip", "json-rpc"),
    ("unknown-id", "json-rpc"),
    ("duplicate-reply", "json-rpc"),
    ("result-and-error", "json-rpc"),
    ("neither", "json-rpc"),
    ("error-no-code", "json-rpc"),
    ("error-string-code", "json-rpc"),
    ("init-twice", "json-rpc"),
    ("request-before-initialized", "capabilities"),
    ("unsolicited-sampling", "capabilities"),
    ("unsolicited-elicitation", "capabilities"),
    ("unsolicited-roots", "capabilities"),
    ("schema-not-object", "message-shapes"),
    ("schema-invalid", "message-shapes"),
    ("schema-cycle", "message-shapes"),
    ("content-missing", "message-shapes"),
    ("content-null", "message-shapes"),
    ("content-unknown-type", "message-shapes"),
    ("bad-base64", "message-shapes"),
    ("log-bad-level", "message-shapes"),
    ("no-result-type --protocol 2026-07-28", "message-shapes"),
    ("no-cache-hints --protocol 2026-07-28", "message-shapes"),
    ("structured-missing", "structured-content"),
    ("progress-foreign-token", "progress"),
    ("progress-after-reply", "progress"),
    ("progress-flood:100", "progress"),
    ("cursor-repeat", "pagination"),
];

/// Faults after which there is no session to judge.
const NO_SESSION: &[&str] = &[
    "lsp-framing",
    "exit-before-init",
    "init-wrong-version",
    "init-no-capabilities",
    "init-error",
    "init-hang",
];

/// Faults that are only advised against.
const ADVISED: &[(&str, &str)] = &[
    ("bad-tool-name", "tool-names"),
    ("ignore-sigterm", "end-of-input"),
    ("cap-lie-extra --profile conformance", "undeclared-prompts"),
];

/// Faults that break no rule of the specification: legal ones, bounds of clients, and what another command tells; and
/// those of what is not asked for: a second list, a level of the log, a subscription.
const UNSEEN: &[&str] = &[
    "stdout-crlf stdout-blank-lines split-writes huge-line stderr-flood slow-start orphan-grandchild delay",
    "out-of-order id-collision schema-remote-ref schema-deep cursor-empty 10k-tools mime-lie is-error-no-text big-int",
    "deep-json lone-surrogate terminal-escape prompt-injection list-changed-storm tool-vanishes",
    "rug-pull unstable-order log-below-level listen-no-ack listen-leaks-filter",
];

#[test]
fn nightly_every_fault_of_the_protocol_over_stdio_is_caught() {
    all_are_caught(CAUGHT_TOO);
    for (fault, code) in ADVISED {
        let found = conform(&format!("--fault {fault}"));
        assert_eq!(found, (0, vec![(*code).to_owned()]), "{fault}");
    }
    for fault in NO_SESSION {
        assert_eq!(conform(&format!("--fault {fault}")).0, 3, "{fault}");
    }
    let unseen = UNSEEN.iter().flat_map(|it| it.split(' '));
    for fault in unseen
        .clone()
        .filter(|it| *it != "huge-line" && *it != "10k-tools")
    {
        assert_eq!(
            conform(&format!("--fault {fault}")),
            (0, Vec::new()),
            "{fault}"
        );
    }
    let caught = CAUGHT.iter().chain(CAUGHT_TOO).chain(ADVISED);
    let known = caught.map(|(fault, _)| fault.split([':', ' ']).next().unwrap());
    let warned = ["dup-tool-names", "ignore-stdin-eof"];
    let mut known: Vec<&str> = known
        .chain(NO_SESSION.iter().copied())
        .chain(unseen)
        .chain(warned)
        .collect();
    let list = Project::new().run(&["serve", "--list", "--json"]).json();
    let mut all: Vec<&str> = list["faults"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| {
            it["transports"]
                .as_array()
                .unwrap()
                .contains(&"stdio".into())
        })
        .map(|it| it["id"].as_str().unwrap())
        .collect();
    known.sort_unstable();
    all.sort_unstable();
    assert_eq!(known, all);
}

#[test]
fn a_response_in_place_of_an_answer_is_told_at_once() {
    let project = Project::new();
    let more = ["--profile", "minimal", "--fault", "status:503"];
    let site = Site::start(&project, &more);
    let begun = Instant::now();
    let words = [
        "conform",
        "--server",
        &site.url,
        "--timeout",
        "2m",
        "--json",
    ];
    let ran = project.run(&words);
    assert!(begun.elapsed() < Duration::from_mins(2));
    site.signal("-TERM");
    site.end();
    let found = &ran.json()["findings"];
    assert_eq!(found.as_array().unwrap().len(), 1, "{found:#}");
    assert_eq!(found[0]["code"], "answers", "{found:#}");
    assert!(ran.stdout.contains("HTTP 503"), "{found:#}");
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
