//! `diff` and `lock`: what changed in what a server offers, from every kind of side, and the file that is reviewed.

use serde_json::Value;

use crate::{
    engine::engine,
    harness::{BINARY, Project},
};

/// A server whose arguments change what it offers.
const SERVER: &str = r"
import json, sys
edits = sys.argv[1:]
add = {'name': 'add', 'description': 'Adds.\nTwice.', 'annotations': {'readOnlyHint': True},
       'inputSchema': {'type': 'object', 'required': ['a'], 'properties': {
           'a': {'type': 'integer', 'minimum': 3}, 'mode': {'enum': ['x', 'y']}}}}
if 'narrow' in edits: add['inputSchema']['properties']['mode']['enum'] = ['x']
if 'wide' in edits: add['inputSchema']['properties']['a']['minimum'] = 1
if 'said' in edits: add['description'] = 'Adds.\nThrice.'
for line in sys.stdin:
    asked = json.loads(line)
    if 'id' not in asked: continue
    result = {}
    if asked['method'] == 'initialize':
        result = {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
                  'serverInfo': {'name': 'small', 'version': '1'}, 'instructions': 'Be brief.'}
    elif asked['method'] == 'tools/list':
        result = {'tools': [add]}
        if 'half' in edits and 'cursor' not in asked.get('params', {}): result['nextCursor'] = 'more'
        elif 'half' in edits: result = None
    answer = {'result': result} if result is not None else {'error': {'code': -32603, 'message': 'no more'}}
    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], **answer}), flush=True)
";

const OLD: &str = "python3 server.py";

fn project() -> Project {
    Project::new().file("server.py", SERVER)
}

#[test]
fn each_level_fails_from_the_limit_on() {
    let project = project();
    let cases = [
        ("", "no changes\n", [0, 0, 0, 0]),
        (
            " wide",
            "\nsafe\n  tool `add`: parameter `a`: `minimum`: 3 → 1\n",
            [0, 0, 0, 1],
        ),
        (
            " said",
            "\nrisky\n  tool `add`: description changed\n      text: Adds. [-Twice.-] {+Thrice.+}\n",
            [0, 0, 1, 1],
        ),
        (
            " narrow",
            "\nbreaking\n  tool `add`: parameter `mode`: removed from its values: \"y\"\n      witness: {\"a\":3,\"mode\":\"y\"}\n",
            [0, 1, 1, 1],
        ),
    ];
    // Catalogs, because sixteen times two servers take their time.
    let saved = |name: &str, server: &str| {
        let listed = project.run(&["list", "--save-catalog", name, "--server", server]);
        assert_eq!(listed.code, 0, "{}", listed.stderr);
    };
    saved("old.json", OLD);
    for (edit, wanted, codes) in cases {
        saved("new.json", &format!("{OLD}{edit}"));
        for (level, code) in ["none", "breaking", "risky", "any"].into_iter().zip(codes) {
            let compared = project.run(&["diff", "old.json", "new.json", "--fail-on", level]);
            assert_eq!(compared.code, code, "{edit} {level}: {}", compared.stderr);
            assert!(compared.stdout.ends_with(wanted), "{}", compared.stdout);
        }
    }
    let compared = project.run(&["diff", OLD, &format!("{OLD} narrow said wide")]);
    assert_eq!(compared.code, 0);
    assert!(
        compared.stdout.starts_with("1 breaking, 1 risky, 1 safe\n"),
        "{}",
        compared.stdout
    );
}

#[test]
fn reports_hold_what_is_printed() {
    let project = project();
    let new = format!("{OLD} narrow said");
    let reports = [
        "--markdown",
        "page.md",
        "--junit",
        "junit.xml",
        "--json",
        "--fail-on",
        "breaking",
    ];
    let compared = project.run(&[&["diff", OLD, &new], &reports[..]].concat());
    assert_eq!(compared.code, 1, "{}", compared.stderr);
    let json = compared.json();
    assert_eq!((&json["breaking"], &json["risky"]), (&1.into(), &1.into()));
    assert_eq!(json["changes"][0]["witness"]["mode"], "y");
    assert!(
        project
            .read("page.md")
            .contains("1 breaking, 1 risky, 0 safe"),
        "{}",
        project.read("page.md")
    );
    let junit = project.read("junit.xml");
    assert!(
        junit.contains("tests=\"1\" skipped=\"0\" failures=\"1\""),
        "{junit}"
    );
}

#[test]
fn a_side_is_a_server_or_what_one_offered() {
    let project = project().file(
        "evals/a.yaml",
        "name: greets\nserver: {command: python3, args: [server.py, narrow]}\nassert_initialize: {}\n",
    );
    let narrow = format!("{OLD} narrow");
    let saved = project.run(&["list", "--server", &narrow, "--save-catalog", "whole.json"]);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    let ran = project.run(&[
        "run",
        "evals",
        "--save-baseline",
        "base.json",
        "--report-json",
        "run.json",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let locked = project.run(&["lock", "api.lock.yaml", "--server", &narrow]);
    assert_eq!(locked.code, 0, "{}", locked.stderr);
    let whole: Value = serde_json::from_str(&project.read("whole.json")).unwrap();
    let bare = serde_json::json!({"tools": whole["tools"]}).to_string();
    let project = project.file("bare.json", bare);
    for side in [
        "whole.json",
        "bare.json",
        "run.json",
        "api.lock.yaml",
        &narrow,
    ] {
        let compared = project.run(&["diff", side, OLD]);
        assert_eq!(compared.code, 0, "{side}: {}", compared.stderr);
        let wanted = "\nsafe\n  tool `add`: parameter `mode`: added to its values: \"y\"\n";
        assert!(
            compared.stdout.ends_with(wanted),
            "{side}: {}",
            compared.stdout
        );
        let same = project.run(&["diff", side, &narrow]);
        assert!(
            same.stdout.starts_with("no changes"),
            "{side}: {}",
            same.stdout
        );
    }
}

#[test]
fn a_side_that_cannot_be_read_is_never_the_same() {
    let project = project()
        .file("not.json", "{")
        .file("other.yaml", "a: 1")
        .file("two.lock.yaml", "lock: 1\n---\nlock: 1\n");
    for (side, code, wanted) in [
        ("none.json", 3, "`none.json` cannot be compared"),
        ("not.json", 3, "`not.json` cannot be compared"),
        ("other.yaml", 3, "no `lock: 1`"),
        ("two.lock.yaml", 3, "several targets"),
        ("nonsuch", 3, "`nonsuch` was not found on the PATH"),
        ("http://127.0.0.1:1/mcp", 3, "127.0.0.1:1"),
        ("python3 server.py half", 3, "the lists are not complete"),
        ("python3 'server.py", 2, "quote"),
    ] {
        for sides in [[OLD, side], [side, OLD]] {
            let refused = project.run(&["diff", sides[0], sides[1], "--fail-on", "any"]);
            assert_eq!(refused.code, code, "{side}: {}", refused.stderr);
            assert!(
                refused.stderr.contains(wanted),
                "{side}: {}",
                refused.stderr
            );
            assert_eq!(refused.stdout, "");
        }
    }
}

const LOCKED: &str = r#"# What the server offers. Written by `mcp-assert lock`; `mcp-assert lock --update` writes it anew.
lock: 1
server: "small"
capabilities: {"tools": {}}
instructions: "Be brief."

tools:
  - name: "add"
    description:
      - "Adds."
      - "Twice."
    parameters:
      "a": {"minimum": 3, "type": "integer"}
      "mode": {"enum": ["x", "y"]}
    required: ["a"]
    inputSchema: {"type": "object"}
    annotations: {"readOnlyHint": true}
"#;

#[test]
fn a_lock_file_is_written_checked_and_updated() {
    let project = project();
    let lock = |arguments: &[&str], edit: &str| {
        let server = format!("{OLD}{edit}");
        project.run(&[&["lock", "--server", &server], arguments].concat())
    };
    let missing = lock(&["--check"], "");
    assert_eq!(missing.code, 3, "{}", missing.stderr);
    assert_eq!(lock(&[], "").code, 0);
    let file = "mcp-surface.lock.yaml";
    assert_eq!(project.read(file), LOCKED);
    for (arguments, edit, code, wanted) in [
        (&[][..], "", 0, "no changes"),
        (&["--check"], "", 0, "no changes"),
        (&["--check"], " wide", 1, "0 breaking, 0 risky, 1 safe"),
        (
            &["--check", "--fail-on", "risky"],
            " wide",
            0,
            "0 breaking, 0 risky, 1 safe",
        ),
        (
            &["--check", "--fail-on", "risky"],
            " narrow",
            1,
            "1 breaking, 0 risky, 0 safe",
        ),
        (&[], " wide", 1, "0 breaking, 0 risky, 1 safe"),
        (&[], " half", 3, ""),
        (&["--update"], " half", 3, ""),
    ] {
        let locked = lock(arguments, edit);
        assert_eq!(locked.code, code, "{arguments:?}{edit}: {}", locked.stderr);
        assert!(locked.stdout.starts_with(wanted), "{}", locked.stdout);
        assert_eq!(project.read(file), LOCKED);
    }
    let differs = lock(&[], " wide");
    assert!(
        differs
            .stderr
            .contains("`mcp-assert lock --update` writes the file anew"),
        "{}",
        differs.stderr
    );
    assert_eq!(lock(&["--update"], " wide").code, 0);
    assert_eq!(
        project.read(file),
        LOCKED.replace("\"minimum\": 3", "\"minimum\": 1")
    );
}

#[test]
fn targets_of_the_settings_are_locked_each_by_its_name() {
    let project = project().file(
        "mcp-assert.yaml",
        "targets:\n  one: {command: python3, args: [server.py]}\n  two: {command: python3, args: [server.py, wide]}\n",
    );
    for (arguments, code, wanted) in [
        (&["--target", "on"][..], 2, "did you mean `one`"),
        (&["--target", "one"], 0, "wrote mcp-surface.lock.yaml"),
        (&["--check"], 1, "says nothing of the target `two`"),
        (&["--update", "--target", "two"], 0, "wrote "),
        (
            &["--check", "--target", "all"],
            0,
            "target one: no changes\ntarget two: no changes\n",
        ),
    ] {
        let ran = project.run(&[&["lock"], arguments].concat());
        let said = ran.stdout + &ran.stderr;
        assert_eq!(ran.code, code, "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
    let nothing = Project::new().run(&["lock"]);
    assert_eq!(nothing.code, 2, "{}", nothing.stdout);
    assert!(
        nothing.stderr.contains("no server is given"),
        "{}",
        nothing.stderr
    );
}

#[test]
fn the_embedded_server_is_locked_without_loss() {
    let project = Project::new();
    let server = format!("{BINARY} serve");
    let saved = project.run(&["list", "--server", &server, "--save-catalog", "whole.json"]);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    assert_eq!(project.run(&["lock", "--server", &server]).code, 0);
    let compared = project.run(&["diff", "whole.json", "mcp-surface.lock.yaml"]);
    assert_eq!(compared.stdout, "no changes\n", "{}", compared.stderr);
    let smaller = project.run(&["diff", "whole.json", &format!("{server} --profile minimal")]);
    assert!(
        smaller.stdout.contains("tool `echo`: was removed"),
        "{}",
        smaller.stdout
    );
}

#[test]
fn an_image_is_a_side() {
    if !engine() {
        return;
    }
    let project = project();
    let image = "docker:mcp-assert-test/python:latest python3 {{fixture}}/server.py narrow";
    let compared = project.run(&["diff", OLD, image, "--fixture", ".", "--timeout", "60s"]);
    assert_eq!(compared.code, 0, "{}", compared.stderr);
    assert!(
        compared.stdout.contains("removed from its values: \"y\""),
        "{}",
        compared.stdout
    );
    // The image starts a shell, which is no server.
    let refused = project.run(&[
        "diff",
        OLD,
        "docker:mcp-assert-test/python:latest",
        "--timeout",
        "20s",
    ]);
    assert_eq!(refused.code, 3, "{}{}", refused.stdout, refused.stderr);
}
