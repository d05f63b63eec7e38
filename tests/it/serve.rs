//! `mcp-assert serve` as a client starts it: streams, exit codes, flags, signals.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::{Project, assert_generated};

/// A running server and its pipes.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut words = vec!["serve"];
        words.extend(arguments);
        let mut command = project.command(&words);
        command.env("MCP_ASSERT_PLANTED", "planted-value-of-the-environment");
        Self::of(command)
    }

    /// Starts a prepared command.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
        }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{message}\n").as_bytes()).unwrap();
    }

    pub(crate) fn ask(&mut self, message: &Value) -> Value {
        self.send(message);
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let answer = self.ask(
            &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }}),
        );
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": tool, "arguments": arguments,
            }}),
        )
    }

    pub(crate) fn signal(&self, signal: &str) {
        let status = Command::new("kill")
            .args([signal, &self.child.id().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for the end. Returns the rest of both streams and the exit code.
    pub(crate) fn end(mut self) -> (String, String, Option<i32>) {
        drop(self.input.take());
        let mut out = String::new();
        self.output.read_to_string(&mut out).unwrap();
        let mut errors = String::new();
        let mut stream = self.child.stderr.take().unwrap();
        stream.read_to_string(&mut errors).unwrap();
        (out, errors, self.child.wait().unwrap().code())
    }
}

#[test]
fn the_end_of_input_is_a_clean_end() {
    let project = Project::new();
    let mut server = Server::start(&project, &[]);
    assert_eq!(
        server.initialize()["result"]["serverInfo"]["name"],
        "mcp-assert"
    );
    let answer = server.call("test_simple_text", &json!({}));
    assert_eq!(answer["result"]["content"][0]["type"], "text");
    assert_eq!(server.end(), (String::new(), String::new(), Some(0)));
    // A client that sends nothing is not an error.
    assert_eq!(Server::start(&project, &[]).end().2, Some(0));
}

#[test]
fn signals_are_a_clean_end() {
    let project = Project::new();
    for signal in ["-TERM", "-INT"] {
        let mut server = Server::start(&project, &["--exit-code", "7"]);
        server.initialize();
        let hang = json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
            "name": "slow", "arguments": {"hang": true},
        }});
        server.send(&hang);
        server.signal(signal);
        let mut rest = String::new();
        server.output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "", "{signal}");
        assert_eq!(server.child.wait().unwrap().code(), Some(7), "{signal}");
    }
}

#[test]
fn streams_of_any_kind_will_do() {
    let project = Project::new();
    let requests = concat!(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
        r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","arguments":{"milliseconds":20}}}"#,
    );
    let project = project.file("requests.jsonl", requests);
    let input = std::fs::File::open(project.path().join("requests.jsonl")).unwrap();
    let output = std::fs::File::create(project.path().join("answers.jsonl")).unwrap();
    let mut command = project.command(&["serve"]);
    let status = command.stdin(input).stdout(output).status().unwrap();
    assert!(status.success());
    let answers = project.read("answers.jsonl");
    assert_eq!(answers.lines().count(), 2, "{answers}");

    // Some launchers use sockets instead of pipes.
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut command = project.command(&["serve"]);
    command
        .stdin(Stdio::from(std::os::fd::OwnedFd::from(
            theirs.try_clone().unwrap(),
        )))
        .stdout(Stdio::from(std::os::fd::OwnedFd::from(theirs)));
    let mut child = command.spawn().unwrap();
    drop(command);
    (&ours)
        .write_all(format!("{requests}\n").as_bytes())
        .unwrap();
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answers = String::new();
    (&ours).read_to_string(&mut answers).unwrap();
    assert_eq!(answers.lines().count(), 2, "{answers}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_client_that_stops_reading_does_not_keep_the_server() {
    let project = Project::new();
    let mut server = Server::start(&project, &[]);
    server.initialize();
    let flood = json!({"method": "x/y", "params": ["x".repeat(1000)], "count": 100_000});
    server.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "emit", "arguments": flood,
        }}),
    );
    let mut first = String::new();
    server.output.read_line(&mut first).unwrap();
    assert!(first.contains("x/y"), "the flood has begun");
    server.signal("-TERM");
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

#[test]
fn text_for_stderr_and_counters_in_a_file() {
    let project = Project::new();
    for round in 1..3 {
        let arguments = ["--stderr", "ready or not", "--state", "state.json"];
        let mut server = Server::start(&project, &arguments);
        server.initialize();
        let answer = server.call("counter", &json!({}));
        assert_eq!(answer["result"]["structuredContent"]["state"], round);
        let (_, errors, code) = server.end();
        assert_eq!((errors.as_str(), code), ("ready or not\n", Some(0)));
    }
}

#[test]
fn files_stay_in_their_folder() {
    let project = Project::new().file("inside/old.txt", "old");
    let mut server = Server::start(&project, &["--files", "inside"]);
    server.initialize();
    let written = server.call("write_file", &json!({"path": "new.txt", "text": "new"}));
    assert_eq!(
        written["result"]["structuredContent"]["bytes"], 3,
        "{written}"
    );
    let out = server.call("write_file", &json!({"path": "../out.txt", "text": "out"}));
    assert_eq!(out["result"]["isError"], true);
    server.end();
    assert_eq!(project.read("inside/new.txt"), "new");
    assert!(!project.path().join("out.txt").exists());
}

#[test]
fn nothing_of_the_environment_is_shown() {
    let project = Project::new();
    let mut server = Server::start(&project, &["--clock", "virtual"]);
    let mut said = server.initialize().to_string();
    let list = server.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    said.push_str(&list.to_string());
    for tool in list["result"]["tools"].as_array().unwrap() {
        let arguments =
            json!({"message": "$MCP_ASSERT_PLANTED", "prompt": "${MCP_ASSERT_PLANTED}"});
        let answer = server.call(tool["name"].as_str().unwrap(), &arguments);
        said.push_str(&answer.to_string());
    }
    let (rest, errors, _) = server.end();
    said.push_str(&rest);
    said.push_str(&errors);
    assert!(!said.contains("planted-value"), "{said}");
}

#[test]
fn wrong_flags_are_usage_errors() {
    fn case(arguments: &[&str], says: &[&str]) {
        let mut words = vec!["serve"];
        words.extend(arguments);
        let ran = Project::new().run(&words);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
        for part in says {
            assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
        }
    }
    case(&["--profile", "nope"], &["'nope'", "conformance"]);
    case(&["--clock", "sundial"], &["'sundial'", "`virtual`"]);
    case(&["--idle-exit", "soon"], &["'soon'"]);
    case(&["--clock", "fixed:noon"], &["'fixed:noon'"]);
    case(
        &["--protocol", "2025-06-19"],
        &["`2025-06-19`", "2025-06-18"],
    );
    case(
        &["--era", "modern", "--protocol", "2025-06-18"],
        &["no revision"],
    );
    case(&["--files", "nowhere"], &["`nowhere`"]);
    case(&["--tools", "a["], &["`a[` of --tools is not a glob"]);
    case(&["--time-scale=-1"], &["-1"]);
    case(&["--page-size", "0"], &["--page-size"]);
    case(&["--max-requests", "0"], &["--max-requests"]);
    case(&["--json"], &["--list"]);
    case(&["--exit-code", "256"], &["256"]);
    case(&["--fault", "status"], &["`status`", "stdio", "over HTTP"]);
    case(
        &["--journal-level", "all"],
        &["'all'", "[possible values: calls, rpc, wire]"],
    );
}

#[test]
fn the_list_names_profiles_tools_and_faults() {
    let project = Project::new();
    let json = project.run(&["serve", "--list", "--json"]);
    assert_eq!(json.code, 0);
    let list = json.json();
    let names = |kind: &str, key: &str| -> Vec<String> {
        let entries = list[kind].as_array().unwrap().iter();
        entries
            .map(|entry| entry[key].as_str().unwrap().to_owned())
            .collect()
    };
    let text = project.run(&["serve", "--list"]).stdout;
    for name in ["conformance", "minimal", "empty", "paginated"] {
        assert!(names("profiles", "name").contains(&name.to_owned()));
    }
    assert_eq!(names("tools", "name")[0], "test_simple_text");
    assert!(names("faults", "id").contains(&"stdout-banner".to_owned()));
    for name in [
        names("profiles", "name"),
        names("tools", "name"),
        names("faults", "id"),
    ]
    .concat()
    {
        assert!(text.contains(&name), "{name}");
    }
}

#[test]
fn pipes_that_others_hold_too_are_left_as_they_were() {
    use rustix::fs::{OFlags, fcntl_getfl};

    let (input, theirs) = rustix::pipe::pipe().unwrap();
    let (reader, output) = rustix::pipe::pipe().unwrap();
    drop(theirs);
    let project = Project::new();
    let mut command = project.command(&["serve"]);
    command
        .stdin(Stdio::from(input.try_clone().unwrap()))
        .stdout(Stdio::from(output.try_clone().unwrap()));
    assert!(command.status().unwrap().success());
    for pipe in [&input, &output] {
        assert!(!fcntl_getfl(pipe).unwrap().contains(OFlags::NONBLOCK));
    }
    drop(reader);
}

/// Everything but the list of tools.
const INTRODUCTION: &str = "\
# Tools of the embedded server

`mcp-assert serve`, and `server: {builtin: conformance}` in a suite, offer these in the profiles `conformance` and
`paginated`. `test_simple_text` comes first and takes any arguments. Names that the official conformance suite asks for do
what it says of them; where a revision has no handshake, what asks the client ends with `input_required`, and what works as
a task gives one to clients that declare `io.modelcontextprotocol/tasks`. This page is made from
`mcp-assert serve --list --json`.

| tool | does | needs |
|---|---|---|
";

#[test]
fn the_page_of_tools_is_made_from_the_catalogue() {
    let list = Project::new().run(&["serve", "--list", "--json"]).json();
    let rows = list["tools"].as_array().unwrap().iter().map(|tool| {
        let text = |name: &str| tool[name].as_str().unwrap_or_default().to_owned();
        let needs = text("needs");
        let needs = if needs.is_empty() {
            needs
        } else {
            format!("`{needs}`")
        };
        format!("| `{}` | {} | {needs} |\n", text("name"), text("about"))
    });
    let wanted = format!("{INTRODUCTION}{}", rows.collect::<String>());
    assert_generated("docs/reference/server.md", &wanted);
}
