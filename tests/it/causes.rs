//! Servers of public bug reports: what is named as the cause of a failure is the cause, and what is nothing to fail for
//! is no failure.

use std::{fmt::Write, path::Path};

use crate::{
    engine::docker,
    harness::{Project, Ran},
};

/// A server that does what its first argument says.
const SERVER: &str = r#"
import json, os, signal, subprocess, sys, time
MODE, CALLS = sys.argv[1], 0
def send(message): sys.stdout.write(json.dumps(message) + "\n"); sys.stdout.flush()
def tell(method, **params): send({"jsonrpc": "2.0", "method": method, "params": params})
def text(value): return {"content": [{"type": "text", "text": value}]}
TOOL = {"name": "t", "inputSchema": {"type": "object"}}
if MODE == "no properties": TOOL["inputSchema"]["properties"] = []
if MODE == "broken error": TOOL["outputSchema"] = {"type": "object", "required": ["count"]}
if MODE == "slow start": print("=== My Server ===", flush=True); time.sleep(60)
if MODE == "early": tell("notifications/tools/list_changed")
for line in sys.stdin:
    asked = json.loads(line)
    method, answer = asked.get("method"), lambda result: send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
    if method == "initialize":
        if MODE == "old":
            send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32602, "message": "Unsupported protocol version",
                  "data": {"supported": ["2024-11-05", "2025-03-26"]}}})
            continue
        answer({"protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}, "resources": {}}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "notifications/initialized" and MODE == "nameless":
        send({"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}})
    elif method == "tools/list":
        answer({"tools": [TOOL], **({"nextCursor": "again"} if MODE == "stuck" else {})})
    elif method == "resources/list": answer({"resources": []})
    elif method == "tools/call":
        CALLS += 1
        if MODE == "prompt": sys.stdin.readline()
        if MODE == "child": subprocess.run(["sh", "-c", "cat >/dev/null"])
        if MODE == "noisy slow tool": print("working ...", flush=True); time.sleep(60)
        if MODE == "cut":
            sys.stdout.write('{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"te'); sys.stdout.flush(); os._exit(1)
        if MODE == "killed": subprocess.run(["kill", "-9", str(os.getpid())])
        if MODE == "broken error": answer({**text("no such list"), "structuredContent": {"error": 1}, "isError": True})
        elif MODE == "tool error": answer({**text("no"), "isError": True})
        else: answer(text("done"))
        if MODE == "noise at two" and CALLS == 2: print("noise", flush=True)
    elif "id" in asked:
        send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "Method not found"}})
if MODE == "late print": print("buffered", flush=True)
if MODE == "slow end": time.sleep(2.5)
if MODE == "spins":
    while True: sys.stdin.readline()
"#;

/// The document of an assertion on that server.
fn document(mode: &str, what: &str) -> String {
    format!("name: {mode}\nserver: {{command: python3, args: [server.py, {mode}]}}\n{what}\n")
}

fn run(suite: &str, options: &[&str]) -> Ran {
    let project = Project::with_suite(suite).file("server.py", SERVER);
    project.run(&[&["run", "evals"], options].concat())
}

/// What a run says of one assertion, and what it does not.
fn case((mode, what): (&str, &str), code: i32, says: &[&str], silent: &[&str]) {
    // Those that never answer are waited for; the others have all the time that a busy machine takes.
    let is_late = ["prompt", "child", "slow start", "noisy slow tool"].contains(&mode);
    let time = if is_late { "8s" } else { "60s" };
    let ran = run(&document(mode, what), &["--timeout", time]);
    assert_eq!(ran.code, code, "{mode}: {}{}", ran.stdout, ran.stderr);
    for text in says {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    for text in silent {
        assert!(!ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
}

const CALL: &str = "assert: {tool: t, expect: {contains: done}}";
const NONE: &str = "assert: {tool: t, expect: {contains: done, findings: none}}";

#[test]
fn who_waits_for_stdin_is_not_said_to_be_slow() {
    let reads = "seems to read the server's stdin; start programs with stdin closed";
    let at_cancel = "as soon as `notifications/cancelled` was sent";
    let at_end = "as soon as stdin was closed";
    let blames = &["answer-after-cancel"];
    case(("prompt", CALL), 1, &[reads, at_cancel], blames);
    case(("child", CALL), 1, &[reads, at_end], blames);
}

#[test]
fn a_line_of_text_is_not_the_cause_of_a_late_answer() {
    let more = "give it more `timeout`";
    let likely = &["likely cause"];
    case(
        ("slow start", CALL),
        1,
        &["still be starting", more, "stdout-noise"],
        likely,
    );
    case(
        ("noisy slow tool", CALL),
        1,
        &["still be at work", more],
        likely,
    );
}

#[test]
fn an_end_is_told_as_it_came() {
    let cut = "the server ended with exit code 1 in the middle of its answer to `tools/call` of `t`, after 56 bytes of a line";
    case(
        ("cut", CALL),
        1,
        &[cut, "exit code 1, by itself"],
        &["after its stdin was closed"],
    );
    let killed = "SIGKILL, sent by another process, or by the system";
    case(("killed", CALL), 1, &[killed], &["another instance"]);
    let late = "it came after stdin was closed: buffered output";
    case(("late print", NONE), 1, &[late], &[]);
    case(("slow end", NONE), 0, &[], &["ignores-stdin-end"]);
    let slow = run(
        &document("slow end", NONE),
        &["--strict-protocol", "--json"],
    );
    let finding = &slow.json()[0]["findings"][0];
    assert_eq!(
        (&finding["code"], &finding["severity"]),
        (&"slow-end".into(), &"note".into())
    );
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("the server took "), "{message}");
}

#[test]
fn the_servers_own_faults_are_called_that() {
    let schema = "`inputSchema` of `t` is not a valid JSON Schema";
    case(
        ("no properties", NONE),
        1,
        &[schema, "bad-tool-schema"],
        &[],
    );
    let read = "assert_resources: {list: true, expect: {findings: none}}";
    case(("no properties", read), 1, &[schema], &[]);
    let lost = "clients of the official TypeScript SDK refuse it and lose the error's text";
    let failed = "assert: {tool: t, expect: {is_error: true, findings: none}}";
    case(
        ("broken error", failed),
        1,
        &["typed-client-rejects", lost],
        &[],
    );
    case(("tool error", failed), 0, &[], &[]);
    let whole = "assert_tools: {expect: {max_results: 5}}";
    case(
        ("stuck", whole),
        1,
        &["violation during subject"],
        &["unsupported"],
    );
    case(("old", CALL), 1, &["write `protocol: 2025-03-26`"], &[]);
    let early = ["early-notification", "capability-undeclared"];
    case(("early", NONE), 1, &early, &[]);
    let templates = "assert_resources: {templates: true, expect: {not_error: true}}";
    case(
        ("templates", templates),
        1,
        &["a server may have resources and no templates"],
        &[],
    );
}

#[test]
fn findings_are_those_of_their_time() {
    let steps = "steps:\n- {tool: t, expect: {findings: none}}\n- {tool: t}\n- {tool: t, expect: {contains: done}}";
    case(("noise at two", steps), 0, &[], &[]);
    let late = "steps:\n- {tool: t}\n- {tool: t}\n- {tool: t, expect: {findings: none}}";
    case(("noise at two", late), 1, &["stdout-noise"], &[]);
    let raw = "raw: {send: [{jsonrpc: '2.0', id: 7, method: ping}], expect: {findings: none}}";
    case(
        ("nameless", raw),
        1,
        &["answer-to-notification"],
        &["there is `null-id`"],
    );
    let suite: Vec<String> = (0..4)
        .map(|number| {
            document("late print", CALL).replace("name: late print", &format!("name: a{number}"))
        })
        .collect();
    let ran = run(&suite.join("---\n"), &[]);
    assert!(
        ran.stdout.contains("1 finding on passing assertions"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("a0 and 3 others"), "{}", ran.stdout);
}

#[test]
fn a_refusal_of_either_kind_can_be_wanted() {
    let wanted = "assert: {tool: t, expect: {refused: true}}";
    case(("tool error", wanted), 0, &[], &[]);
    case(
        ("plain", wanted),
        1,
        &["expected a refusal", "the call succeeded"],
        &[],
    );
    let rpc = "assert_resources: {templates: true, expect: {refused: true}}";
    case(("templates", rpc), 0, &[], &[]);
    let step = "setup: [{tool: t, expect: {refused: true}}]\nassert_tools: {expect: {contains: t}}";
    case(("tool error", step), 0, &[], &[]);
}

#[test]
fn what_authors_write_for_other_programs_is_told() {
    let own = "x-server: &s {command: python3, args: [server.py, plain]}\nserver: *s\n";
    let ran = run(&format!("{own}{CALL}\n"), &[]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = run(&format!("server: {{y-own: 1}}\n{CALL}\n"), &[]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    let literal = "server: {command: python3, args: [server.py, '${HOME}/x']}\n";
    let ran = run(&format!("{literal}{CALL}\n"), &[]);
    assert!(
        ran.stderr.contains("write `{{env.HOME}}` for its value"),
        "{}",
        ran.stderr
    );
    let escape = "server: {command: \"C:\\Users\\x\"}\n";
    let ran = run(&format!("{escape}{CALL}\n"), &[]);
    assert!(
        ran.stderr
            .contains("in double quotes a backslash begins an escape"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_installer_may_still_be_at_work() {
    let npx = "#!/bin/sh\nexec sleep 60\n";
    let suite = format!(
        "server: {{command: npx, args: [-y, x], env: {{PATH: '.:/usr/bin:/bin'}}}}\n{CALL}\n"
    );
    let project = Project::with_suite(&suite).file("npx", npx);
    let file = project.path().join("npx");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(file, mode).unwrap();
    let ran = project.run(&["run", "evals", "--timeout", "1s"]);
    let told = "`npx` may still be installing the package";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

#[test]
fn a_server_that_another_instance_killed_is_told_so() {
    let kills = r#"import os, signal, sys, time
try: os.kill(int(open("pid").read()), signal.SIGKILL)
except (OSError, ValueError): pass
open("pid", "w").write(str(os.getpid()))
"#;
    let waits = SERVER.replace("        CALLS += 1", "        CALLS += 1; time.sleep(4)");
    let suite: Vec<String> = ["one", "two"]
        .iter()
        .map(|name| document("plain", CALL).replace("name: plain", &format!("name: {name}")))
        .collect();
    let project =
        Project::with_suite(&suite.join("---\n")).file("server.py", format!("{kills}{waits}"));
    let ran = project.run(&["run", "evals", "--jobs", "2"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let told = "another instance of this command was running, and may have killed it: try `serial` or `--jobs 1`";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

#[test]
fn servers_that_spin_take_no_time_from_the_others() {
    let mut suite = String::new();
    for number in 0..16 {
        let one = document("spins", CALL).replace("name: spins", &format!("name: a{number}"));
        writeln!(suite, "{one}---").unwrap();
    }
    let ran = run(
        suite.trim_end_matches("---\n"),
        &["--timeout", "20s", "--jobs", "2"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(
        ran.stdout
            .contains("the server spins after its stdin was closed"),
        "{}",
        ran.stdout
    );
    let last = ran
        .stdout
        .lines()
        .rfind(|line| line.contains("16 passed"))
        .unwrap();
    let seconds = last
        .split(" in ")
        .nth(1)
        .and_then(|rest| rest.split('s').next());
    // Each of them was waited for 10 s before, two at a time.
    let seconds: f64 = seconds.unwrap().parse().unwrap();
    assert!(seconds < 30.0, "{last}");
}

#[test]
fn the_container_of_a_client_ends_with_it() {
    const IMAGE: &str = "mcp-assert-test/python:latest";
    let root = Path::new("/");
    if !docker(root, &["image", "inspect", IMAGE]).status.success() {
        eprintln!("skipped: there is no container engine, or no image {IMAGE}");
        assert!(std::env::var_os("CI").is_none(), "the engine is needed");
        return;
    }
    let stays = format!("{SERVER}\nwhile True: time.sleep(60)\n");
    let word = format!("mcp-assert-causes-{}", std::process::id());
    let command = format!(
        "run -i --rm --network=none --label={word} {IMAGE} python3 -u -c \"$SCRIPT\" plain"
    );
    let suite = format!(
        "name: direct\nserver: {{command: docker, args: [run, -i, --rm, --network=none, --label={word}, {IMAGE}, python3, \
         -c, {script}, plain]}}\n{CALL}\n---\nname: behind a shell\nserver: {{command: sh, env: {{SCRIPT: {script}}}, \
         args: [-c, {line}]}}\n{CALL}\n",
        script = serde_json::Value::from(&*stays),
        line = serde_json::Value::from(format!("exec docker {command}")),
    );
    let ran = Project::with_suite(&suite).run(&["run", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("may live on"), "{}", ran.stdout);
    let left = docker(root, &["ps", "-aq", "--filter", &format!("label={word}")]);
    assert_eq!(String::from_utf8_lossy(&left.stdout), "");
}
