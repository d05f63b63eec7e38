//! `lint`: what is wrong with what a server lists, its limits and exit codes, its formats, and what it calls.

use serde_json::{Value, json};

use crate::harness::{BINARY, Project, Ran};

/// A server that writes down each request, lists a good tool and a bad one, and answers calls in ways that `ANSWERS` says.
const SERVER: &str = r"
import json, sys, itertools
count = itertools.count(1)
good = {'name': 'get_sum', 'title': 'Sum', 'description': 'Adds a to b and returns the sum of both.',
        'annotations': {'readOnlyHint': True},
        'inputSchema': {'type': 'object', 'additionalProperties': False, 'required': ['a', 'b'], 'properties': {
            'a': {'type': 'integer', 'description': 'the first'}, 'b': {'type': 'integer', 'description': 'the second'}}},
        'outputSchema': {'type': 'object', 'properties': {'sum': {'type': 'integer'}}, 'required': ['sum']}}
bad = {'name': 'delete_all', 'description': 'Everything ::error::owned \x1b[2J', 'inputSchema': {'type': 'object', 'properties': {'x': {}}}}
big = {'name': 'get_big', 'description': 'Returns a long text, always.', 'annotations': {'readOnlyHint': True}, 'inputSchema': {'type': 'object'}}
now = {'name': 'get_now', 'description': 'Returns the time of this call.', 'annotations': {'readOnlyHint': True}, 'inputSchema': {'type': 'object'}}
for line in sys.stdin:
    asked = json.loads(line)
    with open('asked.txt', 'a') as log:
        log.write(asked['method'] + ' ' + str(asked.get('params', {}).get('name', '')) + '\n')
    if 'id' not in asked: continue
    method, result, error = asked['method'], {}, None
    if method == 'initialize':
        result = {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}, 'resources': {}},
                  'serverInfo': {'name': 'small', 'version': '1'}}
    elif method == 'tools/list':
        bad['title'] = 'v%d' % next(count)
        result = {'tools': [good, bad, big, now]}
    elif method == 'resources/list':
        result = {'resources': [{'uri': 'a:b', 'name': 'n', 'mimeType': 'text/plain'}]}
    elif method == 'resources/templates/list':
        result = {'resourceTemplates': []}
    elif method == 'resources/read':
        error = {'code': -32002, 'message': 'gone'}
    elif method == 'tools/call':
        name = asked['params']['name']
        result = {'content': [{'type': 'text', 'text': 'x' * 3000 if name == 'get_big' else str(next(count))}]}
        if name == 'get_sum': result['structuredContent'] = {'sum': 'three'}
    answer = {'jsonrpc': '2.0', 'id': asked['id']}
    answer.update({'error': error} if error else {'result': result})
    print(json.dumps(answer), flush=True)
";

/// Two tools, one without fault.
const CATALOG: &str = r#"{
  "serverInfo": {"name": "two", "version": "1"},
  "protocol": "2025-11-25",
  "tools": [
    {"name": "get_sum", "description": "Adds a to b and returns the sum of both.", "annotations": {"readOnlyHint": true},
     "inputSchema": {"type": "object", "properties": {"a": {"type": "integer", "description": "the first"}, "b": {"type": "integer", "description": "the second"}}}},
    {"name": "get_all", "description": "Returns all of them, always.", "annotations": {"readOnlyHint": true},
     "inputSchema": {"type": "object", "anyOf": [{}], "properties": {"x": {"type": "integer"}}}}
  ]
}
"#;

fn project() -> Project {
    let project = Project::new().file("server.py", SERVER);
    project.file("catalog.json", CATALOG)
}

fn lint(project: &Project, arguments: &[&str]) -> Ran {
    project.run(&[&["lint"], arguments].concat())
}

fn codes(json: &Value) -> Vec<&str> {
    let findings = json["findings"].as_array().unwrap().iter();
    let mut codes: Vec<&str> = findings.map(|it| it["code"].as_str().unwrap()).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn people_read_what_is_wrong_and_how_to_look_again() {
    let ran = lint(&project(), &["--catalog", "catalog.json"]);
    let wanted = "two 1: 2 tools

tool get_all
  warning  W102  the optional parameter `x` has no description
               at /inputSchema/properties/x
               help: say what the parameter changes, and what holds without it
  warning  W142  `anyOf` is at the root of `inputSchema`
               at /inputSchema/anyOf
               help: state the properties at the root, and check combinations in the tool

0 errors, 2 warnings
again: mcp-assert lint --catalog catalog.json
";
    assert_eq!(
        (ran.stdout.as_str(), ran.code),
        (wanted, 0),
        "{}",
        ran.stderr
    );
    for header in [
        &["--header", "Authorization: Bearer abc"][..],
        &["--header=Authorization: Bearer abc"],
    ] {
        let arguments = [&["--catalog", "catalog.json"], header].concat();
        let stdout = lint(&project(), &arguments).stdout;
        assert!(stdout.contains("Authorization: …"), "{stdout}");
        assert!(!stdout.contains("Bearer"), "{stdout}");
    }
}

#[test]
fn limits_decide_the_exit_code() {
    let project = project();
    for (arguments, code, wanted) in [
        (&["--strict"][..], 1, "2 errors, 0 warnings"),
        (
            &["--strict", "--skip-rules", "W102,w142"],
            0,
            "nothing found",
        ),
        (&["--max-warnings", "2"], 0, ""),
        (&["--max-warnings", "1"], 1, ""),
        (&["--threshold", "1"], 1, ""),
        (&["--threshold", "0"], 0, ""),
        (
            &["--hosts", "claude-api,claude-code"],
            1,
            "claude-api refuses the whole request: `anyOf`",
        ),
        (&["--profile", "go"], 0, "0 errors, 1 warning\n"),
        (&["--profile", "all"], 0, "4 infos"),
        (&["--rules"], 0, "E101  error    missing-tool-description"),
        (&["--skip-rules", "W143x"], 2, "did you mean `W143`?"),
        (&["--hosts", "claude"], 2, "unknown host `claude`"),
        (&["--call-tools"], 2, "cannot be used with"),
    ] {
        let ran = lint(
            &project,
            &[&["--catalog", "catalog.json"], arguments].concat(),
        );
        assert_eq!(
            ran.code, code,
            "{arguments:?}: {}{}",
            ran.stdout, ran.stderr
        );
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}

#[test]
fn what_cannot_be_looked_at_is_not_clean() {
    let half = SERVER.replace("'tools': [good, bad, big, now]", "'tools': 7");
    let project = Project::new()
        .file("server.py", half)
        .file("bad.json", "{\"tool\": []}");
    for (arguments, code, wanted) in [
        (
            &["--server", "python3 server.py"][..],
            3,
            "the lists are not complete",
        ),
        (&["--server", "false"], 3, "exit code 1"),
        (&["--catalog", "bad.json"], 2, "neither a catalog"),
        (&["--catalog", "none.json"], 2, "none.json"),
        (&[], 2, "no server is given"),
    ] {
        let ran = lint(&project, arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_server_is_asked_for_its_lists_only() {
    let project = project();
    let ran = lint(&project, &["--json", "--", "python3", "server.py"]);
    let json = ran.json();
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(json["server"], "small 1");
    assert_eq!(json["tools"], 4);
    assert!(codes(&json).contains(&"E161"), "{:?}", codes(&json));
    let first = &json["findings"][0];
    for member in [
        "tool",
        "code",
        "severity",
        "message",
        "kind",
        "name",
        "pointer",
        "help",
        "evidence",
        "fingerprint",
    ] {
        assert!(first.get(member).is_some(), "{member}: {first}");
    }
    assert_eq!(json["not_called"], Value::Array(Vec::new()));
    let asked = project.read("asked.txt");
    assert!(
        !asked.contains("tools/call") && !asked.contains("resources/read"),
        "{asked}"
    );
    let text = lint(&project, &["--", "python3", "server.py"]);
    assert!(!text.stdout.contains('\u{1b}'), "{}", text.stdout);
    let mut in_workflow = project.command(&["lint", "--", "python3", "server.py"]);
    in_workflow.env("GITHUB_ACTIONS", "true");
    let log = project.finish(in_workflow).stdout;
    assert!(
        !log.lines().any(|line| line.trim().starts_with("::")),
        "{log}"
    );
}

#[test]
fn calls_show_what_lists_do_not() {
    let project = project();
    let server = ["--json", "--server", "python3 server.py"];
    let calls = [
        "--call-tools",
        "--detect-nondeterminism",
        "--max-response-kb",
        "2",
    ];
    let json = lint(&project, &[&server[..], &calls[..]].concat()).json();
    let found = codes(&json);
    for code in ["E301", "W107", "E136", "E152", "E170"] {
        assert!(found.contains(&code), "{code}: {found:?}");
    }
    let not_called = &json["not_called"];
    assert_eq!(not_called[0]["name"], "delete_all");
    assert_eq!(not_called[0]["option"], "--allow destructive");
    let asked = project.read("asked.txt");
    assert!(!asked.contains("delete_all"), "{asked}");
    assert_eq!(asked.matches("tools/call get_big").count(), 3, "{asked}");
    lint(
        &project,
        &[
            "--server",
            "python3 server.py",
            "--call-tools",
            "--allow",
            "destructive",
        ],
    );
    assert!(project.read("asked.txt").contains("tools/call delete_all"));
}

#[test]
fn a_server_that_dies_in_a_call_was_not_looked_at_whole() {
    let dying = SERVER.replace("name = asked['params']['name']", "sys.exit(9)");
    let project = Project::new().file("server.py", dying);
    let ran = lint(&project, &["--call-tools", "--", "python3", "server.py"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("get_sum: there was no answer: "),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr.contains("did not answer all calls"),
        "{}",
        ran.stderr
    );
}

#[test]
fn files_that_would_be_lost_are_refused() {
    let project = project();
    for (arguments, wanted) in [
        (&["--sarif", "catalog.json"][..], "which `--catalog` reads"),
        (
            &["--junit", "a", "--markdown", "a"],
            "which `--junit` writes too",
        ),
        (&["--markdown", "-"], "`--markdown` cannot write to `-`"),
        (
            &["--save-baseline", "/dev/stdout"],
            "cannot write to `/dev/stdout`",
        ),
    ] {
        let ran = lint(
            &project,
            &[&["--catalog", "catalog.json"], arguments].concat(),
        );
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
    }
    assert_eq!(project.read("catalog.json"), CATALOG);
    let mut in_step = project.command(&[
        "lint",
        "--catalog",
        "catalog.json",
        "--markdown",
        "summary.md",
    ]);
    in_step.env("GITHUB_STEP_SUMMARY", project.path().join("summary.md"));
    std::fs::write(project.path().join("summary.md"), "before\n").unwrap();
    assert_eq!(project.finish(in_step).code, 0);
    assert!(
        project
            .read("summary.md")
            .starts_with("before\n### mcp-assert lint")
    );
}

#[test]
fn reports_are_files_for_other_programs() {
    let project = project();
    let files = [
        "--junit",
        "l.xml",
        "--markdown",
        "l.md",
        "--sarif",
        "l.sarif",
        "--strict",
    ];
    let ran = lint(
        &project,
        &[&["--catalog", "catalog.json"], &files[..]].concat(),
    );
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let xml = project.read("l.xml");
    assert!(xml.contains("<testsuite name=\"tool get_all\""), "{xml}");
    assert!(xml.contains("failures=\"2\""), "{xml}");
    assert!(
        project.read("l.md").starts_with(
            "### mcp-assert lint: <code>two 1</code>\n\n2 tools: 2 errors, 0 warnings\n"
        )
    );
    let log: Value = serde_json::from_str(&project.read("l.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let region = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!(region["artifactLocation"]["uri"], "catalog.json");
    assert_eq!(region["region"]["startLine"], 7);
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .unwrap();
    assert!(
        rules.len() > 60
            && rules
                .iter()
                .any(|it| it["properties"]["security-severity"] == "8.0")
    );
    for _ in 0..3 {
        let before = project.read("l.sarif");
        lint(
            &project,
            &[&["--catalog", "catalog.json"], &files[..]].concat(),
        );
        assert_eq!(project.read("l.sarif"), before);
    }
    let lost = lint(
        &project,
        &["--catalog", "catalog.json", "--sarif", "catalog.json/x"],
    );
    assert_eq!(lost.code, 3, "{}", lost.stderr);
    assert!(
        lost.stderr.contains("cannot write `catalog.json/x`"),
        "{}",
        lost.stderr
    );
}

#[test]
fn a_baseline_keeps_known_findings_from_counting() {
    let project = project();
    let catalog = ["--catalog", "catalog.json", "--strict"];
    let saved = lint(
        &project,
        &[&catalog[..], &["--save-baseline", "known.json"]].concat(),
    );
    assert_eq!(saved.code, 1);
    let known = lint(
        &project,
        &[&catalog[..], &["--baseline", "known.json"]].concat(),
    );
    assert_eq!(known.code, 0, "{}", known.stdout);
    assert!(
        known.stdout.contains("0 errors, 0 warnings, 2 known"),
        "{}",
        known.stdout
    );
    let project = project.file("catalog.json", CATALOG.replace("\"anyOf\": [{}], ", ""));
    let mended = lint(
        &project,
        &[&catalog[..], &["--baseline", "known.json"]].concat(),
    );
    assert!(
        mended
            .stdout
            .contains("1 finding of the baseline no longer occurs"),
        "{}",
        mended.stdout
    );
    let wrong = lint(
        &project,
        &[&catalog[..], &["--baseline", "catalog.json"]].concat(),
    );
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.stderr.contains("not a baseline of `lint"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn injected_descriptions_are_told() {
    let server = format!("{BINARY} serve --fault prompt-injection");
    let json = lint(
        &Project::new(),
        &["--profile", "all", "--json", "--server", &server],
    )
    .json();
    let security: Vec<&str> = codes(&json)
        .into_iter()
        .filter(|it| it.starts_with("E16") || it.starts_with("W16"))
        .collect();
    assert_eq!(security, ["E163", "W162"]);
    let clean = format!("{BINARY} serve");
    let json = lint(
        &Project::new(),
        &["--profile", "all", "--json", "--server", &clean],
    )
    .json();
    assert!(
        !codes(&json)
            .iter()
            .any(|it| it.starts_with("E16") || it.starts_with("W16")),
        "{:?}",
        codes(&json)
    );
}

#[test]
fn settings_set_severities_and_allow_with_a_reason() {
    let settings = "lint:\n  rules: {W102: error}\n  allow:\n    - {code: W142, name: 'get_*', reason: all clients take it}\n    - {code: E101, reason: none}\n";
    let project = project().file("mcp-assert.yaml", settings);
    let project = project.file("below/catalog.json", CATALOG);
    let ran = lint(&project, &["--catalog", "catalog.json"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for wanted in [
        "error    W102",
        "warning  W142  allowed (all clients take it): `anyOf`",
        "warning  W199  the settings allow `E101`, and nothing matches",
        "1 error, 1 warning, 1 allowed",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}: {}", ran.stdout);
    }
    let mut below = project.command(&["lint", "--catalog", "catalog.json"]);
    below.current_dir(project.path().join("below"));
    assert!(project.finish(below).stdout.contains("1 allowed"));
    for (settings, wanted) in [
        ("lint: {rules: {W10: off}}", "unknown rule `W10`"),
        ("lint: {rules: {W102: of}}", "unknown severity `of`"),
        ("lint: {allow: [{code: W142}]}", "`reason` is missing"),
        (
            "lint: {allow: [{code: W142, name: '[', reason: x}]}",
            "invalid glob `[`",
        ),
        ("lint: {allow: {code: W1, reason: x}}", "unknown rule `W1`"),
    ] {
        let project = Project::new()
            .file("catalog.json", CATALOG)
            .file("mcp-assert.yaml", settings);
        let ran = lint(&project, &["--catalog", "catalog.json"]);
        assert_eq!(ran.code, 2, "{settings}: {}", ran.stderr);
        assert!(
            ran.stderr.contains(wanted) && ran.stderr.contains("mcp-assert.yaml:1:"),
            "{settings}: {}",
            ran.stderr
        );
    }
}

#[test]
fn findings_stand_in_the_sources_that_the_settings_name() {
    let settings = "targets:\n  small: {command: python3, args: [server.py]}\nsources: ['./*.py', 'gone/**/*.py']\n";
    let project = project().file("mcp-assert.yaml", settings);
    let project = project.file("below/other.py", "'delete_all'");
    let arguments = ["--profile", "all", "--json", "--sarif", "l.sarif"];
    let ran = lint(&project, &arguments);
    let found = ran.json();
    let place_of = |name: &str| {
        let mut all = found["findings"].as_array().unwrap().iter();
        all.find(|it| it["name"] == name).unwrap()["place"].clone()
    };
    let at = SERVER.lines().position(|it| it.starts_with("bad = "));
    let wanted = json!({"file": "server.py", "line": at.unwrap() + 1, "column": 16});
    assert_eq!(place_of("delete_all"), wanted, "{}", ran.stderr);
    // Its name stands twice.
    assert_eq!(place_of("get_big"), Value::Null);
    assert_eq!(
        found["notes"],
        json!(["no file matches `gone/**/*.py` of `sources`"])
    );
    let log: Value = serde_json::from_str(&project.read("l.sarif")).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let mut places: Vec<String> = results
        .iter()
        .map(|it| &it["locations"][0]["physicalLocation"])
        .map(|it| {
            format!(
                "{} {}",
                it["artifactLocation"]["uri"], it["region"]["startLine"]
            )
        })
        .collect();
    places.dedup();
    let lines = [at.map(|it| it + 1), Some(2), at.map(|it| it + 3)];
    let wanted = ["server.py", "mcp-assert.yaml", "server.py"];
    let wanted = wanted.iter().zip(lines.into_iter().flatten());
    let wanted: Vec<String> = wanted
        .map(|(file, line)| format!("\"{file}\" {line}"))
        .collect();
    assert_eq!(places, wanted);
}
