//! Commands that ask a server without a suite: `list` and `call`, over stdio, HTTP and in containers.

use crate::{
    harness::{BINARY, Project, Ran},
    serve_http::Site,
};

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
    not_empty: true
    json_path:
      \"$.sent.a\": 4
      \"$.sent.mode\": \"x\"
      \"$.call\": {\"type\":\"number\"}
timeout: 30s
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
    let site = Site::start(&project, &["--profile", "conformance"]);
    let far = project.run(&[
        "list",
        "--server",
        &site.url,
        "--header",
        "X-Any: thing",
        "--json",
    ]);
    site.signal("-TERM");
    site.end();
    assert_eq!(far.json()["tools"], here["tools"], "{}", far.stderr);
}

/// A server of twenty tools, of which some go wrong in their own way. It writes the calls to `calls.txt`.
const TWENTY: &str = r"
import json, os, sys, time
wrong = {3: 'crash', 5: 'hang', 7: 'trace', 9: 'internal', 11: 'params', 13: 'failed', 15: 'secret', 17: 'json'}
def tool(n):
    hints = {} if n == 19 else {'annotations': {'readOnlyHint': True}}
    return {'name': 'tool_%d' % n, 'inputSchema': {'type': 'object', 'required': ['n'],
            'properties': {'n': {'type': 'integer', 'minimum': n},
                           'all': {'anyOf': [{'type': 'boolean'}, {'type': 'null'}]}}}, **hints}
for line in sys.stdin:
    asked = json.loads(line)
    if 'id' not in asked: continue
    answer = {'result': {}}
    if asked['method'] == 'initialize':
        answer = {'result': {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
                             'serverInfo': {'name': 'twenty', 'version': '1'}}}
    elif asked['method'] == 'tools/list':
        answer = {'result': {'tools': [tool(n) for n in range(20)]}}
    elif asked['method'] == 'tools/call':
        name = asked['params']['name']
        open('calls.txt', 'a').write(name + '\n')
        what = wrong.get(int(name[5:])) if name.startswith('tool_') else 'params'
        text, failed = 'ok %s at %s' % (name, time.time()), False
        if what == 'crash': sys.stderr.write('out of luck\n'); sys.exit(7)
        if what == 'hang': continue
        if what == 'trace': text = 'Traceback:\n  File %s, line 3, in f\n  File %s, line 9, in g' % ('\x22a.py\x22', '\x22b.py\x22')
        if what == 'failed': failed = True
        if what == 'secret': text = 'key is ' + os.environ.get('SERVICE_TOKEN', '')
        ours = {name: value for name, value in os.environ.items() if name.startswith('MCP_ASSERT_')}
        if what == 'json': text = json.dumps({'at': time.time(), 'n': 17, **ours})
        answer = {'result': {'content': [{'type': 'text', 'text': text}], 'isError': failed}}
        if what == 'internal': answer = {'error': {'code': -32603, 'message': 'oh no'}}
        if what == 'params': answer = {'error': {'code': -32602, 'message': 'bad'}}
    elif asked['method'] not in ('ping',):
        answer = {'error': {'code': -32601, 'message': 'unknown method'}}
    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], **answer}), flush=True)
";

#[test]
fn an_audit_tells_every_tool_apart_and_goes_on() {
    let project = Project::new().file("server.py", TWENTY);
    let audit = |more: &[&str]| {
        let base = ["audit", "--server", "python3 server.py", "--timeout", "2s"];
        let mut command = project.command(&[&base[..], more].concat());
        command.env("SERVICE_TOKEN", "tok-0123456789");
        project.finish(command)
    };
    let ran = audit(&["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = ran.json();
    let class = |n: usize| found["results"][n]["class"].as_str().unwrap().to_owned();
    let wrong = [
        (3, "crash"),
        (5, "timeout"),
        (7, "exposed"),
        (9, "protocol_error"),
        (11, "rejected"),
        (13, "tool_error"),
        (15, "exposed"),
        (19, "skipped"),
    ];
    for n in 0..20 {
        let wanted = wrong.iter().find(|(at, _)| *at == n);
        assert_eq!(
            class(n),
            wanted.map_or("healthy", |(_, class)| class),
            "{n}: {found:#}"
        );
    }
    // 5 of 19 went wrong.
    assert_eq!(found["score"], 73);
    assert_eq!(found["scores"]["protocol"], 100);
    assert_eq!(found["results"][3]["reproducible"], true);
    assert!(
        found["results"][3]["stderr"]
            .as_str()
            .unwrap()
            .contains("out of luck")
    );
    assert_eq!(found["results"][4]["args"]["n"], 4);
    assert_eq!(found["results"][0]["status"], "healthy");
    assert_eq!(found["results"][3]["error_code"], "E201");
    assert!(!project.read("calls.txt").contains("tool_19"));
    assert!(!ran.stdout.contains("tok-0123456789"), "{}", ran.stdout);
    let people = audit(&["--only", "tool_[0-4]", "--threshold", "90"]);
    assert_eq!(people.code, 1, "{}", people.stdout);
    let crash = people.stdout.find("crash").unwrap();
    assert!(
        crash < people.stdout.find("healthy").unwrap(),
        "{}",
        people.stdout
    );
    assert_eq!(audit(&["--only", "nothing", "--threshold", "1"]).code, 4);
    assert_eq!(audit(&["--only", "[", "--json"]).code, 2);
    assert_eq!(
        audit(&["--allow", "destructive", "--only", "tool_19"]).code,
        0
    );
    assert!(project.read("calls.txt").contains("tool_19"));
}

/// The class of a tool by the fault of its server, where it is not healthy; `none` where there is no session.
const CLASSES: &[(&str, &str)] = &[
    ("crash", "exit-mid-call abort segv oom-cap"),
    ("timeout", "not-json json-null reply-after-cancel drop"),
    (
        "violation",
        "stdout-noise-midline pretty-json close-stdout truncated-json wrong-id null-id result-and-error neither \
         content-missing content-null nan-number deep-json",
    ),
    ("protocol_error", "error-no-code error-string-code"),
    ("tool_error", "is-error-no-text"),
    ("rejected", "tool-vanishes"),
    (
        "none",
        "lsp-framing exit-before-init init-wrong-version init-no-capabilities init-error init-hang",
    ),
];

#[test]
fn nightly_an_audit_has_a_class_for_each_fault_over_stdio() {
    let project = Project::new();
    let list = project.run(&["serve", "--list", "--json"]).json();
    let faults = list["faults"].as_array().unwrap().iter();
    let over_stdio = |it: &&serde_json::Value| {
        it["transports"]
            .as_array()
            .unwrap()
            .contains(&"stdio".into())
    };
    for fault in faults.filter(over_stdio) {
        let id = fault["id"].as_str().unwrap();
        // Floods and long lists take their time on a busy machine.
        let rule = match id {
            "progress-flood" => "progress-flood:100",
            "10k-tools" => continue,
            _ => id,
        };
        let server = format!("{BINARY} serve --profile minimal --fault {rule}");
        let words = ["audit", "--server", &server, "--timeout", "5s", "--json"];
        let ran = project.run(&words);
        let class = match ran.stdout.as_str() {
            "" => "none".to_owned(),
            _ => ran.json()["results"][0]["class"]
                .as_str()
                .unwrap()
                .to_owned(),
        };
        let mut classes = CLASSES.iter();
        let wanted = classes.find(|(_, ids)| ids.split(' ').any(|it| it == id));
        assert_eq!(
            class,
            wanted.map_or("healthy", |it| it.0),
            "{id}: {}",
            ran.stderr
        );
    }
}

#[test]
fn an_audit_writes_assertions_and_those_of_crashes_stay_red() {
    let project = Project::new().file("server.py", TWENTY);
    let server = [
        "--server",
        "python3 server.py",
        "--only",
        "tool_[34]",
        "--output",
        "evals",
    ];
    let ran = project.run(&[&["audit"], &server[..]].concat());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = project.run(&["run", "evals", "--json"]);
    let results = ran.json();
    let status = |name: &str| {
        let results = results.as_array().unwrap().iter();
        let mut named = results.filter(|it| it["name"] == format!("{name} answers"));
        named.next().unwrap()["status"].as_str().unwrap().to_owned()
    };
    assert_eq!(status("tool_4"), "PASS");
    assert_eq!(status("tool_3"), "FAIL");
}

#[test]
fn init_writes_a_green_suite_and_calls_only_what_is_declared_to_read() {
    let server = TWENTY
        .replace("3: 'crash', 5: 'hang', ", "")
        .replace("'tool_%d' % n", "('read_%d' if n == 19 else 'tool_%d') % n");
    let project = Project::new()
        .file("server.py", server)
        .file("package-lock.json", "{}");
    let words = [
        "--ci",
        "--",
        "python3",
        "server.py",
        "--api-key",
        "sk-very-secret",
    ];
    let mut command = project.command(&[&["init"], &words[..]].concat());
    command.env("SERVICE_TOKEN", "tok-0123456789");
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // Another machine has other variables, and a secret stays out of a file.
    let of_a_variable = project.read("evals/tool_15.yaml");
    assert!(!of_a_variable.contains("key is"), "{of_a_variable}");
    assert!(
        ran.stderr
            .contains("set these variables before a run: API_KEY"),
        "{}",
        ran.stderr
    );
    assert!(!project.read("calls.txt").contains("_19"));
    let settings = project.read("evals/mcp-assert.yaml");
    assert!(
        settings.contains("\"{{env.API_KEY}}\"") && !settings.contains("very-secret"),
        "{settings}"
    );
    let workflow = project.read(".github/workflows/mcp-assert.yml");
    has_all(&workflow, &IN_WORKFLOW);
    // Each answer tells the time, which differs.
    assert!(
        !project.read("evals/tool_2.yaml").contains("contains"),
        "{}",
        project.read("evals/tool_2.yaml")
    );
    assert!(project.read("evals/read_19.yaml").contains("skip: true"));
    let ran = run_suite(&project, "");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("21 assertions, 20 passed, 1 skipped"),
        "{}",
        ran.stdout
    );
    let again = project.run(&[&["init"], &words[..]].concat());
    assert_eq!(again.code, 2);
    assert!(
        again
            .stderr
            .contains("`evals/mcp-assert.yaml` exists already"),
        "{}",
        again.stderr
    );
    sees_changes(&project);
}

/// What changes in the server is seen.
fn sees_changes(project: &Project) {
    let text = project.read("server.py");
    for (assertion, from, to) in [
        ("the tools", "'tool_%d')", "'tool%d')"),
        ("the tools", "'type': 'integer'", "'type': 'string'"),
        ("the tools", "'boolean'", "'string'"),
        ("tool_7 ", "7: 'trace'", "7: 'internal'"),
        ("tool_2 ", "'ok %s at %s' % (name, time.time())", "''"),
        ("tool_17 ", "'at': time.time()", "'at': 'noon'"),
    ] {
        let project = project_of(project).file("server.py", text.replace(from, to));
        let ran = run_suite(&project, assertion);
        assert!(ran.stdout.contains("1 failed"), "{from}: {}", ran.stdout);
    }
}

/// What a workflow needs for a Node.js project and a secret of the server.
const IN_WORKFLOW: [&str; 3] = [
    "- run: npm ci\n",
    "GITHUB_TOKEN: ${{ github.token }}\n",
    "API_KEY: ${{ secrets.API_KEY }}\n",
];

fn has_all(text: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

/// Runs the assertions with this in their names.
fn run_suite(project: &Project, filter: &str) -> Ran {
    let words = ["run", "evals", "--strict-vacuity", "--filter", filter];
    let mut command = project.command(&words);
    command.env("API_KEY", "sk-very-secret");
    project.finish(command)
}

/// A project with the same suite.
fn project_of(other: &Project) -> Project {
    let mut project = Project::new();
    for entry in std::fs::read_dir(other.path().join("evals")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("evals/{name}");
        let text = other.read(&path);
        project = project.file(&path, text);
    }
    project
}

#[test]
fn stubs_of_a_catalog_need_no_server() {
    let project = Project::new().file("server.py", TWENTY);
    let saved = project.run(&[
        "list",
        "--save-catalog",
        "c.json",
        "--",
        "python3",
        "server.py",
    ]);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    let generate = ["generate", "--catalog", "c.json", "--output", "evals"];
    let ran = project.run(&generate);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("wrote 21 files to evals"),
        "{}",
        ran.stderr
    );
    let again = project.run(&generate);
    assert!(
        again.stderr.contains("kept what was there"),
        "{}",
        again.stderr
    );
    let listed = project.run(&["list", "--catalog", "c.json"]);
    assert!(listed.stdout.contains("20 tools"), "{}", listed.stdout);
    let bad = project.run(&["list", "--catalog", "server.py"]);
    assert_eq!(bad.code, 2, "{}", bad.stderr);
    let run = project.run(&[
        "run",
        "evals",
        "--server",
        "python3 server.py",
        "--filter",
        "tool_2 ",
    ]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let example = Project::new();
    assert_eq!(example.run(&["init"]).code, 0);
    assert_eq!(example.run(&["validate"]).code, 0);
    assert_eq!(example.run(&["init"]).code, 2);
}

/// Assertions that cover in every way there is, and one that names what is not there.
const COVERING: &str = "
name: adds
setup: [{tool: prepare}]
assert: {tool: add, args: {a: 1, at: {x: 2}}, expect: {contains: [x]}}
---
name: fails
assert: {tool: add, args: {a: -1}, expect: {is_error: true}}
---
name: not now
skip: broken
assert: {tool: later}
---
name: proves nothing
assert: {tool: idle, expect: {contains: ['']}}
---
name: reads
assert_resources: {read: 'a://7/b', expect: {contains: [x]}}
---
name: missing on purpose
assert: {tool: no_such_tool, expect: {error: {code: -32602}}}
---
name: misspelt
assert: {tool: ad}
";

#[test]
fn coverage_counts_what_can_fail_and_runs() {
    let catalog = serde_json::json!({
        "tools": [
            {"name": "add", "inputSchema": {"type": "object", "properties": {
                "a": {"type": "integer"}, "at": {"type": "object", "properties": {"x": {}, "y": {}}}}}},
            {"name": "prepare", "inputSchema": {"type": "object"}},
            {"name": "later", "inputSchema": {"type": "object"}},
            {"name": "idle", "inputSchema": {"type": "object"}},
        ],
        "prompts": [{"name": "p"}],
        "resources": [{"uri": "a://one", "name": "one"}],
        "resourceTemplates": [{"uriTemplate": "a://{id}/b", "name": "t"}],
    });
    let project = Project::with_suite(COVERING).file("c.json", catalog.to_string());
    let coverage =
        |more: &[&str]| project.run(&[&["coverage", "--catalog", "c.json"], more].concat());
    let ran = coverage(&["--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = ran.json();
    assert_eq!(
        found["covered_tools"],
        serde_json::json!([{"name": "add", "assertions": 2}])
    );
    assert_eq!(
        found["uncovered_tools"],
        serde_json::json!(["idle", "later", "prepare"])
    );
    assert_eq!(found["percentage"], 25);
    let of = &found["dimensions"];
    assert_eq!(of["tools"]["setup_only"], serde_json::json!(["prepare"]));
    assert_eq!(of["tools"]["skipped_only"], serde_json::json!(["later"]));
    assert_eq!(of["tools"]["vacuous"], serde_json::json!(["idle"]));
    assert_eq!(of["tools"]["unknown"], serde_json::json!(["ad"]));
    assert_eq!(
        of["parameters"]["uncovered"],
        serde_json::json!(["add.at.y"])
    );
    assert_eq!(of["error_paths"]["covered"], 1);
    assert_eq!(of["templates"]["percentage"], 100);
    assert_eq!(of["prompts"]["percentage"], 0);
    let people = coverage(&[]).stdout;
    assert!(
        people.contains("did you mean `add`?") && people.contains("later (only skipped)"),
        "{people}"
    );
    assert_eq!(coverage(&["--threshold", "25"]).code, 1, "an unknown name");
    assert_eq!(coverage(&["--threshold", "parameters=80"]).code, 1);
    assert_eq!(coverage(&["--threshold", "parameter=80"]).code, 2);
    assert_eq!(coverage(&["--suite", "nonsuch"]).code, 2);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn questions_go_to_a_target_of_the_settings_above() {
    let minimal = "{builtin: minimal}";
    let one = format!("targets: {{small: {minimal}}}\n");
    let two = format!("targets:\n  small: {minimal}\n  other: {minimal}\n");
    let suite = "name: a\nserver: {builtin: minimal}\nassert: {tool: test_simple_text}\n";
    let none = "jobs: 1\n";
    for (settings, arguments, code, wanted) in [
        (
            &*one,
            &["coverage"][..],
            0,
            "tools           1 of 1    100 %",
        ),
        (&one, &["coverage", "--target", "small"], 0, "100 %"),
        (&two, &["coverage", "--target", "other"], 0, "100 %"),
        (
            &two,
            &["coverage"],
            2,
            "name one with `--target`: small, other",
        ),
        (
            &two,
            &["coverage", "--target", "smal"],
            2,
            "did you mean `small`?",
        ),
        (
            none,
            &["coverage", "--target", "small"],
            2,
            "unknown target `small`",
        ),
        (none, &["coverage"], 2, "no server is given"),
        (
            &one,
            &["coverage", "--target", "small", "--catalog", "c.json"],
            2,
            "cannot be used with",
        ),
        (
            &one,
            &["list", "tools", "test_simple_text"],
            0,
            "mcp-assert call test_simple_text\n",
        ),
        (
            &two,
            &["lint", "--target", "small", "--profile", "all"],
            0,
            "again: mcp-assert lint --target small --profile all\n",
        ),
        (
            &two,
            &["conform", "--target", "small"],
            0,
            "judged on 2025-11-25",
        ),
        (
            &two,
            &["call", "--target", "small", "test_simple_text"],
            0,
            "simple text",
        ),
        (
            &two,
            &["generate", "--output", "new", "--target", "small"],
            0,
            "run it with `--target small`, and with `mcp-assert.yaml` in the suite's folder\nwrote 2 files",
        ),
        (
            &two,
            &["init", "--target", "small"],
            2,
            "`generate --output DIR --target NAME`",
        ),
    ] {
        let project = Project::new().file("mcp-assert.yaml", settings);
        let project = project.file("below/evals/a.yaml", suite);
        let mut command = project.command(arguments);
        command.current_dir(project.path().join("below"));
        let ran = project.finish(command);
        let said = ran.stdout + &ran.stderr;
        assert_eq!(ran.code, code, "{arguments:?}: {said}");
        assert!(said.contains(wanted), "{arguments:?}: {said}");
    }
}

#[test]
fn what_the_settings_say_of_a_tool_decides_whether_it_is_called() {
    let settings = "targets:
  small:
    command: python3
    args: [server.py]
    effects: {evil: read, fatal: destructive, add: write}
  other: {builtin: minimal}
";
    for (arguments, wanted) in [
        (&["audit"][..], "evil\n"),
        (&["audit", "--allow", "write"], "add\nevil\n"),
        (&["generate", "--output", "new", "--probe"], "evil\nevil\n"),
        (&["lint", "--call-tools"], "evil\n"),
        (&["lint", "--detect-nondeterminism"], "evil\nevil\n"),
        (&["conform"], "evil\n"),
        (&["call", "evil", "--save", "a.yaml"], "evil\nevil\n"),
        (
            &["call", "add", "a=3", "mode=x", "--save", "a.yaml"],
            "add\n",
        ),
    ] {
        let project = project().file("mcp-assert.yaml", settings);
        let ran = project.run(&[arguments, &["--target", "small"]].concat());
        assert!(ran.code < 2, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        let calls = project
            .read("calls.txt")
            .replace("mcp-assert-unknown\n", "");
        assert_eq!(calls, wanted, "{arguments:?}");
    }
    let skipped = project().file("mcp-assert.yaml", settings);
    let skipped = skipped.run(&["audit", "--target", "small"]).stdout;
    let wanted = "the settings say `destructive`: `--allow destructive` calls it";
    assert!(skipped.contains(wanted), "{skipped}");
}

#[test]
fn samples_of_the_settings_are_what_tools_are_called_with() {
    let server = ["--server", "python3 server.py"];
    let settings = "samples:\n  add: {a: 7, tags: [x]}\n  evl: {}\n";
    let warned = "unknown tool `evl` in `samples`\n --> mcp-assert.yaml:3:3\n";
    let wanted = r#"{"a":7,"mode":"x","tags":["x"]}"#;
    for (arguments, at) in [
        (&["audit", "--json"][..], None),
        (
            &["generate", "--output", "new", "--probe"],
            Some("new/add.yaml"),
        ),
        (&["init", "new"], Some("new/add.yaml")),
    ] {
        let project = project().file("mcp-assert.yaml", settings);
        let ran = project.run(&[arguments, &server[..]].concat());
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(warned), "{arguments:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("did you mean `evil`?"),
            "{}",
            ran.stderr
        );
        let written = at.map_or_else(
            || ran.json()["results"][0]["args"].to_string(),
            |it| project.read(it),
        );
        assert!(written.contains(wanted), "{arguments:?}: {written}");
    }
    for (sample, wanted) in [
        (
            "{a: 1}",
            "error[usage]: the schema of `add` refuses its sample: 1 is less than the minimum of 3 (at `/a`)\n --> mcp-assert.yaml:1:11\n",
        ),
        (
            "[1]",
            "error[wrong-type]: expected a map, found a list\n --> mcp-assert.yaml:1:16\n",
        ),
    ] {
        let project = project().file("mcp-assert.yaml", format!("samples: {{add: {sample}}}\n"));
        for arguments in [
            &["audit"][..],
            &["generate", "--output", "new"],
            &["lint", "--call-tools"],
        ] {
            let ran = project.run(&[arguments, &server[..]].concat());
            assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
            assert!(ran.stderr.contains(wanted), "{arguments:?}: {}", ran.stderr);
        }
        assert!(
            !project.path().join("calls.txt").exists(),
            "a tool was called"
        );
    }
}
