//! Commands that ask a server without a suite: `list` and `call`, over stdio, HTTP and in containers.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
};

use crate::harness::{BINARY, Project};

/// A server that lists one harmless tool, one whose texts are hostile, and answers calls of `stubborn` never.
const SERVER: &str = r"
import json, sys
sys.stderr.write('warming up\n'); sys.stderr.flush()
tools = [
    {'name': 'add', 'description': 'Adds.\nTwice.', 'annotations': {'readOnlyHint': True},
     'inputSchema': {'type': 'object', 'required': ['a', 'mode'], 'properties': {
         'a': {'type': 'integer', 'minimum': 3}, 'mode': {'enum': ['x', 'y']}, 'tags': {'type': 'array', 'items': {'type': 'string'}}}}},
    {'name': 'evil', 'description': '::error::owned \x1b[2J', 'inputSchema': {'type': 'object'}},
    {'name': 'stubborn', 'inputSchema': {'type': 'object'}},
    {'name': 'fatal', 'inputSchema': {'type': 'object'}},
]
calls = 0
for line in sys.stdin:
    asked = json.loads(line)
    if 'id' not in asked: continue
    result = {}
    if asked['method'] == 'initialize':
        result = {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
                  'serverInfo': {'name': 'small', 'version': '1'}, 'instructions': 'Be brief.'}
    elif asked['method'] == 'tools/list':
        result = {'tools': tools}
    elif asked['method'] == 'tools/call':
        calls += 1
        open('calls.txt', 'a').write(asked['params']['name'] + '\n')
        if asked['params']['name'] == 'stubborn': continue
        if asked['params']['name'] == 'fatal': sys.exit(7)
        said = {'sent': asked['params']['arguments'], 'call': calls}
        result = {'content': [{'type': 'text', 'text': json.dumps(said)}]}
    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}), flush=True)
";

const LISTED: &str = "small 1, MCP 2025-11-25, about 114 tokens in a model's context
instructions: Be brief.

4 tools
  add(a: integer, mode: \"x\" | \"y\", tags?: string[])  [read-only]
      Adds.
  evil()
      ::error::owned \\u{1b}[2J
  stubborn()
  fatal()
";

fn project() -> Project {
    Project::new().file("server.py", SERVER)
}

#[test]
fn what_a_server_offers_is_listed_and_nothing_is_called() {
    let project = project();
    let listed = project.run(&["list", "--", "python3", "server.py"]);
    assert_eq!(
        (listed.stdout.as_str(), listed.code),
        (LISTED, 0),
        "{}",
        listed.stderr
    );
    let mut in_workflow = project.command(&["list", "--", "python3", "server.py"]);
    in_workflow.env("GITHUB_ACTIONS", "true");
    let log = project.finish(in_workflow).stdout;
    let commands = log.lines().filter(|line| line.trim().starts_with("::"));
    assert_eq!(commands.count(), 0, "{log}");
    let one = project.run(&["list", "--server", "python3 server.py", "tools", "add"]);
    for wanted in [
        "\nAdds.\nTwice.\n",
        "\n  a: integer, required\n",
        "\ncall it\n  mcp-assert call --server 'python3 server.py' add a=3 mode=x\n",
    ] {
        assert!(one.stdout.contains(wanted), "{wanted}: {}", one.stdout);
    }
    let json = project
        .run(&["list", "--server", "python3 server.py", "--json"])
        .json();
    assert_eq!(json["serverInfo"]["name"], "small");
    assert_eq!(json["tools"].as_array().map(Vec::len), Some(4));
    let near = project.run(&["list", "--server", "python3 server.py", "tools", "ad"]);
    assert_eq!(near.code, 2);
    assert!(
        near.stderr.contains("did you mean `add`?"),
        "{}",
        near.stderr
    );
    assert!(
        !project.path().join("calls.txt").exists(),
        "a tool was called"
    );
}

#[test]
fn a_call_is_answered_as_it_came() {
    let project = project();
    let call = |arguments: &[&str]| {
        let server = ["--server", "python3 server.py", "--timeout", "2s"];
        project.run(&[&["call"], &server[..], arguments].concat())
    };
    let typed = call(&["add", "a=4", "mode=x", r#"tags=["t"]"#]);
    let wanted = "{\"sent\": {\"a\": 4, \"mode\": \"x\", \"tags\": [\"t\"]}, \"call\": 1}\n";
    assert_eq!(
        (typed.stdout.as_str(), typed.code),
        (wanted, 0),
        "{}",
        typed.stderr
    );
    let json = call(&["add", "--args", r#"{"a": 4}"#, "--json"]);
    assert_eq!(json.json()["content"][0]["type"], "text");
    for (arguments, code, wanted) in [
        (&["ad"][..], 2, "did you mean `add`?"),
        (
            &["add", "a=four"],
            2,
            "`a` takes integer, and `four` is not JSON",
        ),
        (&["add", "--args", "[]"], 2, "`--args` is not a JSON object"),
        (&["stubborn"], 3, "warming up"),
        (&["fatal"], 3, "exit code 7"),
    ] {
        let refused = call(arguments);
        assert_eq!(refused.code, code, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(wanted),
            "{arguments:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn errors_of_tools_and_of_the_protocol_are_told_apart() {
    let project = Project::new();
    let server = format!("{BINARY} serve");
    let call =
        |arguments: &[&str]| project.run(&[&["call", "--server", &server], arguments].concat());
    let failed = call(&["test_error_handling"]);
    assert_eq!(failed.code, 1, "{}{}", failed.stdout, failed.stderr);
    assert!(
        failed.stderr.contains("`isError` is true"),
        "{}",
        failed.stderr
    );
    let refused = call(&["error", "layer=rpc", "code=-32000"]);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert!(
        refused.stdout.starts_with("JSON-RPC error -"),
        "{}",
        refused.stdout
    );
}

#[test]
fn a_call_becomes_an_assertion_of_what_stays_the_same() {
    let project = project();
    let save = [
        "call",
        "--server",
        "python3 server.py",
        "add",
        "a=4",
        "mode=x",
        "--save",
        "evals/add.yaml",
    ];
    let saved = project.run(&save);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    let wanted = "name: \"add answers\"
server: {command: \"python3\", args: [\"server.py\"]}
assert:
  tool: \"add\"
  args: {\"a\":4,\"mode\":\"x\"}
  expect:
    not_error: true
    json_path:
      \"$.sent.a\": 4
      \"$.sent.mode\": \"x\"
";
    assert_eq!(project.read("evals/add.yaml"), wanted);
    assert_eq!(project.run(&["run", "evals"]).code, 0);
    let again = project.run(&save);
    assert_eq!(again.code, 2, "{}", again.stderr);
    assert!(
        again.stderr.contains("`evals/add.yaml` exists already"),
        "{}",
        again.stderr
    );
    // What may change something is called once.
    let once = project.run(&[
        "call",
        "--server",
        "python3 server.py",
        "evil",
        "--save",
        "evals/evil.yaml",
    ]);
    assert_eq!(once.code, 0, "{}", once.stderr);
    let calls = project.read("calls.txt");
    assert_eq!(
        calls.lines().filter(|line| *line == "evil").count(),
        1,
        "{calls}"
    );
}

#[test]
fn a_server_that_cannot_be_asked_is_an_error() {
    let project = Project::new();
    for (arguments, code, wanted) in [
        (&["list"][..], 2, "no server is given"),
        (
            &["list", "--server", "nonsuch"],
            3,
            "`nonsuch` was not found on the PATH",
        ),
        (
            &["list", "--", "sh", "-c", "echo no luck >&2; exit 3"],
            3,
            "no luck",
        ),
        (
            &["list", "--server", "http://127.0.0.1:1/mcp"],
            3,
            "127.0.0.1:1",
        ),
        (
            &["list", "--protocol", "2025-11", "--", "true"],
            2,
            "unknown revision `2025-11`",
        ),
        (
            &["list", "--header", "A: b", "--", "true"],
            2,
            "for servers behind a url",
        ),
    ] {
        let refused = project.run(arguments);
        assert_eq!(refused.code, code, "{arguments:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(wanted),
            "{arguments:?}: {}",
            refused.stderr
        );
        assert_eq!(refused.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_server_behind_a_url_is_asked_like_one_that_is_started() {
    let project = Project::new();
    let builtin = format!("{BINARY} serve");
    let here = project
        .run(&["list", "--server", &builtin, "--json"])
        .json();
    let mut serving = project.command(&["serve", "--http", "--profile", "conformance"]);
    let mut serving = serving
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = String::new();
    let stderr = serving.stderr.take().unwrap();
    BufReader::new(stderr).read_line(&mut told).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let url = told["url"].as_str().unwrap();
    let far = project.run(&[
        "list",
        "--server",
        url,
        "--header",
        "X-Any: thing",
        "--json",
    ]);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert_eq!(far.json()["tools"], here["tools"], "{}", far.stderr);
}
