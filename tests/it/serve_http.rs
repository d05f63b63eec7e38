//! `mcp-assert serve --http` as a client starts it: the ready line, files, answers, signals, exit codes.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, ChildStderr, Command, Stdio},
};

use serde_json::{Value, json};

use crate::harness::Project;

/// A running server and where it is.
pub(crate) struct Site {
    child: Child,
    errors: BufReader<ChildStderr>,
    pub(crate) url: String,
}

impl Site {
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut words = vec!["serve", "--http"];
        words.extend(arguments);
        let mut child = project
            .command(&words)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        errors.read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        assert_eq!(ready["ready"], true);
        assert_eq!(ready["pid"], child.id());
        let url = ready["url"].as_str().unwrap().to_owned();
        Self { child, errors, url }
    }

    fn address(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split('/').next().unwrap()
    }

    /// Head and body of the answer to a message.
    fn post(&self, headers: &str, message: &Value) -> (String, String) {
        let (address, body) = (self.address(), message.to_string());
        let path = &self.url["http://".len() + address.len()..];
        let mut stream = TcpStream::connect(address).unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
             {headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_owned(), body.to_owned())
    }

    /// The header that names a new session.
    fn session(&self) -> String {
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }});
        let (head, body) = self.post("", &initialize);
        assert!(body.contains("\"mcp-assert\""), "{head}\n{body}");
        let line = head.lines().find(|line| line.starts_with("mcp-session-id"));
        let session = format!("{}\r\n", line.unwrap());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(self.post(&session, &ready).0.starts_with("HTTP/1.1 202"));
        session
    }

    pub(crate) fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        let status = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(status.success());
    }

    /// The rest of stderr, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let mut errors = String::new();
        self.errors.read_to_string(&mut errors).unwrap();
        (errors, self.child.wait().unwrap().code())
    }
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool, "arguments": arguments,
    }})
}

#[test]
fn a_server_says_where_it_is_answers_and_ends_on_a_signal() {
    let project = Project::new();
    for signal in ["-TERM", "-INT"] {
        let files = ["--url-file", "url", "--port-file", "port"];
        let site = Site::start(&project, &files);
        assert_eq!(project.read("url").trim_end(), site.url);
        assert!(
            site.address()
                .ends_with(&format!(":{}", project.read("port").trim_end()))
        );
        let session = site.session();
        let (head, body) = site.post(&session, &call("echo", &json!({"message": "hi"})));
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(body.contains("hi"), "{body}");
        site.signal(signal);
        assert_eq!(site.end(), (String::new(), Some(0)), "{signal}");
    }
}

#[test]
fn a_call_that_hangs_does_not_keep_the_server() {
    let project = Project::new();
    let site = Site::start(
        &project,
        &["--journal", "journal.jsonl", "--exit-code", "7"],
    );
    let session = site.session();
    let body = call("slow", &json!({"hang": true})).to_string();
    let mut stream = TcpStream::connect(site.address()).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\n{session}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    while !project.read("journal.jsonl").contains("hang") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    site.signal("-TERM");
    assert_eq!(site.end(), (String::new(), Some(7)));
    let journal = project.read("journal.jsonl");
    assert!(journal.contains("\"unfinished\""), "{journal}");
    assert!(
        journal
            .trim_end()
            .lines()
            .last()
            .unwrap()
            .contains("\"end\""),
        "{journal}"
    );
}

#[test]
fn the_path_is_the_one_that_was_asked_for() {
    let project = Project::new();
    let site = Site::start(&project, &["127.0.0.1:0", "--path", "/a/b"]);
    assert!(site.url.ends_with("/a/b"), "{}", site.url);
    site.session();
    site.signal("-TERM");
    assert_eq!(site.end().1, Some(0));
}

#[test]
fn a_place_that_is_taken_is_no_place() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = Project::new().run(&["serve", "--http", &address]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains(&address), "{}", ran.stderr);
}

#[test]
fn wrong_flags_are_usage_errors() {
    fn case(arguments: &[&str], says: &[&str]) {
        let mut words = vec!["serve"];
        words.extend(arguments);
        let ran = Project::new().run(&words);
        assert_eq!(ran.code, 2, "{arguments:?}: {}", ran.stderr);
        for part in says {
            assert!(ran.stderr.contains(part), "{arguments:?}: {}", ran.stderr);
        }
    }
    case(
        &["--http", "nowhere"],
        &["'nowhere'", "write `127.0.0.1:8080`"],
    );
    case(&["--http", "--path", "mcp"], &["'mcp'"]);
    case(&["--http", "--allow-origin", "a.example"], &["`a.example`"]);
    case(&["--path", "/mcp"], &["--http"]);
    case(&["--sse", "--http"], &["--sse", "--http"]);
    case(&["--sse", "--stateless"], &["--sse", "--stateless"]);
    case(&["--sse", "nowhere"], &["'nowhere'", "--sse"]);
    case(
        &["--sse", "--fault", "html-200"],
        &["`html-200`", "HTTP+SSE", "streamable HTTP"],
    );
    case(
        &["--http", "--fault", "stdout-banner"],
        &["`stdout-banner`", "HTTP"],
    );
    case(&["--http", "--fault", "status:42"], &["200 to 599"]);
    case(&["--http", "--session-ttl", "soon"], &["'soon'"]);
    case(&["--http", "--auth", "key"], &["--api-key"]);
    case(
        &["--http", "--api-key", "a=b"],
        &["--auth key", "--auth bearer"],
    );
}
