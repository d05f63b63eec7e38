//! Servers behind a url: what is sent to them, and what is said of one that answers in another way than it should.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use serde_json::{Value, json};

use crate::harness::Project;

/// A request as a server reads it.
#[derive(Debug, Clone)]
struct Request {
    method: String,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then_some(value.as_str()))
    }

    /// The method of HTTP, and that of the message.
    fn what(&self) -> String {
        let message = self.body["method"].as_str().unwrap_or_default();
        format!("{} {message}", self.method).trim_end().to_owned()
    }
}

/// A server whose answers a test makes. It ends with the tests.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers a call of a tool with `call`, all else as it should be.
    fn new(call: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        Self::with_status(202, call)
    }

    /// The same, with this status for what asks for nothing.
    fn with_status(told: u16, call: impl Fn(&Request) -> String + Send + Sync + 'static) -> Self {
        Self::behind(|stream| stream, told, call)
    }

    /// The same behind something else, such as TLS.
    fn behind<S: Read + Write>(
        carry: impl Fn(TcpStream) -> S + Send + Sync + Copy + 'static,
        told: u16,
        call: impl Fn(&Request) -> String + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, call) = (Arc::clone(&requests), Arc::new(call));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, call) = (Arc::clone(&seen), Arc::clone(&call));
                thread::spawn(move || serve(carry(stream), &seen, (told, &*call)));
            }
        });
        Self { url, requests }
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    fn suite(&self, more: &str) -> Project {
        Project::with_suite(&format!(
            "name: over http\nserver:\n  transport: http\n  url: {}\n{more}assert: {{tool: add, args: {{a: 1}}, \
             expect: {{not_error: true, contains: [sum]}}}}\ntimeout: 5s\n",
            self.url
        ))
    }
}

type Call<'a> = &'a dyn Fn(&Request) -> String;

fn serve(mut stream: impl Read + Write, seen: &Mutex<Vec<Request>>, (told, call): (u16, Call<'_>)) {
    let Some(request) = read(&mut stream) else {
        return;
    };
    seen.lock().unwrap().push(request.clone());
    let answer = match request.what().as_str() {
        "POST initialize" => {
            let result = json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"},
            });
            json_of(
                200,
                "Mcp-Session-Id: s-1\r\n",
                &answer_to(&request, &result),
            )
        }
        "POST notifications/initialized" | "POST notifications/cancelled" => http(told, "", ""),
        "POST tools/list" => {
            let result = json!({"tools": [{"name": "add", "inputSchema": {"type": "object"}}]});
            json_of(200, "", &answer_to(&request, &result))
        }
        "POST server/discover" => {
            let result = json!({
                "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete",
                "ttlMs": 0, "cacheScope": "private", "serverInfo": {"name": "x", "version": "1"},
            });
            json_of(200, "", &answer_to(&request, &result))
        }
        "DELETE" => http(200, "", ""),
        "GET" if request.header("last-event-id").is_none() => http(405, "", ""),
        _ => call(&request),
    };
    let _ = stream.write_all(answer.as_bytes());
}

fn read(stream: &mut impl Read) -> Option<Request> {
    let mut lines = BufReader::new(stream);
    let mut line = String::new();
    lines.read_line(&mut line).ok()?;
    let method = line.split(' ').next()?.to_owned();
    let mut headers = Vec::new();
    loop {
        line.clear();
        lines.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            break;
        };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let request = Request {
        method,
        headers,
        body: Value::Null,
    };
    let length = request
        .header("content-length")
        .map_or(Ok(0), str::parse)
        .ok()?;
    let mut body = vec![0; length];
    lines.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Some(Request { body, ..request })
}

fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nConnection: close\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

fn json_of(status: u16, headers: &str, body: &Value) -> String {
    let headers = format!("Content-Type: application/json\r\n{headers}");
    http(status, &headers, &body.to_string())
}

fn events(events: &str) -> String {
    http(200, "Content-Type: text/event-stream\r\n", events)
}

fn answer_to(request: &Request, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": request.body["id"], "result": result})
}

/// The answer that is expected.
fn sum(request: &Request) -> Value {
    answer_to(
        request,
        &json!({"content": [{"type": "text", "text": "the sum"}]}),
    )
}

#[test]
fn a_session_over_http_carries_its_headers_and_is_deleted() {
    let server = Server::new(|request| json_of(200, "", &sum(request)));
    let project = server.suite("  headers: {X-Team: blue}\n  auth: {bearer: '${TOKEN}'}\n");
    let mut command = project.command(&["run", "--suite", "evals", "--trace"]);
    command.env("TOKEN", "t0ps3cret");
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("t0ps3cret"), "{}", ran.stdout);
    let requests = server.requests();
    let called: Vec<&Request> = requests
        .iter()
        .filter(|it| it.what() == "POST tools/call")
        .collect();
    assert_eq!(called.len(), 1, "{requests:#?}");
    let call = called[0];
    assert_eq!(call.header("mcp-session-id"), Some("s-1"));
    assert_eq!(call.header("mcp-protocol-version"), Some("2025-11-25"));
    assert_eq!(
        call.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(call.header("x-team"), Some("blue"));
    assert_eq!(call.header("authorization"), Some("Bearer t0ps3cret"));
    let greeting = requests
        .iter()
        .find(|it| it.what() == "POST initialize")
        .unwrap();
    assert_eq!(greeting.header("mcp-session-id"), None);
    assert_eq!(greeting.header("mcp-protocol-version"), None);
    let deleted = requests.iter().filter(|it| it.method == "DELETE");
    let sessions = requests.iter().filter(|it| it.what() == "POST initialize");
    assert_eq!(deleted.count(), sessions.count(), "{requests:#?}");
}

#[test]
fn answers_come_as_bodies_and_as_events() {
    let progress = |request: &Request| {
        let token = &request.body["params"]["_meta"]["progressToken"];
        json!({"jsonrpc": "2.0", "method": "notifications/progress",
               "params": {"progressToken": token, "progress": 1}})
    };
    let server = Server::new(move |request| {
        events(&format!(
            ": hello\n\nevent: message\ndata: {}\n\nid: 2\ndata: {}\n\n",
            progress(request),
            sum(request)
        ))
    });
    let ran = server.suite("").run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn without_a_handshake_each_request_says_in_headers_what_it_is_about() {
    let server = Server::new(|request| {
        let mut sum = sum(request);
        sum["result"]["resultType"] = "complete".into();
        json_of(200, "", &sum)
    });
    let ran = server
        .suite("  protocol: stateless\n")
        .run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let requests = server.requests();
    assert!(
        requests.iter().all(|it| it.method == "POST"),
        "{requests:#?}"
    );
    let is_request = |it: &Request| it.body.get("id").is_some();
    assert!(requests.iter().all(is_request), "{requests:#?}");
    let mut calls = requests.iter().filter(|it| it.what() == "POST tools/call");
    let call = calls.next().unwrap();
    assert_eq!(call.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(call.header("mcp-method"), Some("tools/call"));
    assert_eq!(call.header("mcp-name"), Some("add"));
    assert_eq!(call.header("mcp-session-id"), None);
}

#[test]
fn a_stream_that_breaks_off_is_resumed_behind_its_last_event() {
    let server = Server::new(|request| match request.header("last-event-id") {
        None => events("id: 7\nretry: 20\ndata:\n\n"),
        Some(_) => events(
            "data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"the sum\"}]}}\n\n",
        ),
    });
    let ran = server.suite("").run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let requests = server.requests();
    let resumed = requests
        .iter()
        .find(|it| it.header("last-event-id").is_some())
        .unwrap();
    assert_eq!(resumed.header("last-event-id"), Some("7"));
    assert_eq!(resumed.header("mcp-session-id"), Some("s-1"));
}

#[test]
fn what_is_no_answer_is_told_at_once_with_its_cause() {
    type Call = Box<dyn Fn(&Request) -> String + Send + Sync>;
    let html = "Content-Type: text/html\r\n";
    let refused = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "Bad Request: no session"}});
    let cases: Vec<(Call, &str)> = vec![
        (
            Box::new(move |_| http(500, html, "<h1>it broke</h1>")),
            "HTTP 500 Internal Server Error with a body of type `text/html` in place of an answer",
        ),
        (
            Box::new(|_| http(202, "", "")),
            "HTTP 202 Accepted with no body in place of an answer",
        ),
        (
            Box::new(|_| http(404, "", "")),
            "session expired: HTTP 404 Not Found from a server that began it",
        ),
        (
            Box::new(move |_| json_of(400, "", &refused)),
            "HTTP 400 Bad Request with a body of type `application/json` in place of an answer",
        ),
        (
            Box::new(|_| http(401, "WWW-Authenticate: Bearer\r\n", "")),
            "HTTP 401 Unauthorized with no body in place of an answer",
        ),
        (
            Box::new(|_| http(307, "Location: http://127.0.0.1:9/mcp\r\n", "")),
            "HTTP 307 Temporary Redirect with no body in place of an answer",
        ),
        (
            Box::new(|_| events(": nothing\n\n")),
            "the stream of events ended before the answer",
        ),
        (
            Box::new(|_| http(200, "Content-Type: application/json\r\n", "{\"jsonrpc\": ")),
            "a frame is not JSON",
        ),
        (
            Box::new(|_| http(200, "Content-Type: application/json\r\n", "hello")),
            "a body or an event is not JSON",
        ),
    ];
    for (call, wanted) in cases {
        let ran = Server::new(call)
            .suite("")
            .run(&["run", "--suite", "evals"]);
        assert_eq!(ran.code, 1, "{wanted}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("ERROR"), "{wanted}: {}", ran.stdout);
        assert!(ran.stdout.contains(wanted), "{wanted}: {}", ran.stdout);
        assert!(
            !ran.stdout.contains("no answer to"),
            "{wanted}: {}",
            ran.stdout
        );
    }
}

#[test]
fn an_error_of_the_protocol_may_come_with_any_status() {
    let server = Server::new(|request| {
        let error = json!({"jsonrpc": "2.0", "id": request.body["id"], "error": {"code": -32602, "message": "no such tool"}});
        json_of(400, "", &error)
    });
    let project = Project::with_suite(&format!(
        "name: refused\nserver: {{transport: http, url: '{}'}}\nassert: {{tool: add, expect: {{error: {{code: -32602}}}}}}\n",
        server.url
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let project = Project::with_suite(&format!(
        "name: nobody\nserver: {{transport: http, url: 'http://{address}/mcp'}}\nassert: {{tool: add, expect: {{not_error: true}}}}\n"
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("could not be reached: Connection refused"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_server_is_launched_on_a_free_port_and_ended() {
    let script = r"
import http.server, json, os, sys
class H(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self): self.send_response(405); self.end_headers()
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        if 'id' not in asked:
            self.send_response(202); self.end_headers(); return
        result = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'x', 'version': '1'}},
                  'tools/list': {'tools': [{'name': 'add', 'inputSchema': {'type': 'object'}}]},
                  'tools/call': {'content': [{'type': 'text', 'text': 'the sum of %d' % os.getpid()}]}}[asked['method']]
        body = json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}).encode()
        self.send_response(200); self.send_header('Content-Type', 'application/json'); self.send_header('Content-Length', str(len(body)))
        self.end_headers(); self.wfile.write(body)
server = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), H)
print('listening', flush=True)
open(sys.argv[2], 'w').write(str(os.getpid()))
server.serve_forever()
";
    for ready in ["port", "{log: '^listening$'}", "{http: /health}"] {
        let project = Project::new().file("server.py", script);
        let pid = project.path().join("pid");
        let suite = format!(
            "name: launched\nserver:\n  transport: http\n  launch: {{command: python3, args: ['{}', '{{{{port}}}}', '{}'], ready: {ready}, timeout: 10s}}\n\
             assert: {{tool: add, expect: {{contains: [sum]}}}}\n",
            project.path().join("server.py").display(),
            pid.display(),
        );
        let project = project.file("evals/a.yaml", suite);
        let ran = project.run(&["run", "--suite", "evals"]);
        assert_eq!(ran.code, 0, "{ready}: {}{}", ran.stdout, ran.stderr);
        assert!(!ran.stdout.contains("finding"), "{ready}: {}", ran.stdout);
        let pid = project.read("pid");
        assert!(
            !std::path::Path::new(&format!("/proc/{pid}")).exists(),
            "{ready}: it lives on"
        );
    }
}

#[test]
fn a_server_that_never_listens_says_what_was_awaited() {
    let case = |command: &str, wanted: &str| {
        let project = Project::with_suite(&format!(
            "name: launched\nserver:\n  transport: http\n  launch: {{command: sh, args: [-c, '{command}'], timeout: 300ms}}\n\
             assert: {{tool: add, expect: {{contains: [sum]}}}}\n"
        ));
        let ran = project.run(&["run", "--suite", "evals"]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
    };
    case(
        "echo no database >&2; exit 3",
        "the server ended before it was ready: exit code 3",
    );
    case(
        "echo no database >&2; exit 3",
        "the last line of its stderr: no database",
    );
    case(
        "sleep 60",
        "the server was not ready within 300 ms: nothing listens on port",
    );
}

/// A server of the transport of 2024-11-05, in Python: what is posted is answered over the stream.
const LEGACY: &str = r"
import http.server, json, queue, sys
said = queue.Queue()
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def log_message(self, *a): pass
    def do_GET(self):
        self.send_response(200); self.send_header('Content-Type', 'text/event-stream'); self.end_headers()
        self.close_connection = True
        self.wfile.write(('event: endpoint\ndata: %s\n\n' % sys.argv[2]).encode())
        while True:
            self.wfile.write(('event: message\ndata: %s\n\n' % said.get()).encode())
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        self.send_response(202); self.send_header('Content-Length', '0'); self.end_headers()
        if 'id' in asked:
            result = {'initialize': {'protocolVersion': '2024-11-05', 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'x', 'version': '1'}},
                      'tools/list': {'tools': [{'name': 'add', 'inputSchema': {'type': 'object'}}]},
                      'tools/call': {'content': [{'type': 'text', 'text': 'the sum at ' + self.path}]}}[asked['method']]
            said.put(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}))
http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()
";

#[test]
fn http_with_sse_posts_where_the_server_says_and_nowhere_else() {
    let run = |endpoint: &str| {
        let project = Project::new().file("server.py", LEGACY);
        let suite = format!(
            "name: legacy\nserver:\n  transport: sse\n  url: 'http://127.0.0.1:{{{{port}}}}/sse'\n  launch: {{command: python3, args: ['{}', '{{{{port}}}}', '{endpoint}'], timeout: 10s}}\n\
             assert: {{tool: add, expect: {{contains: [the sum at /messages]}}}}\n",
            project.path().join("server.py").display(),
        );
        project
            .file("evals/a.yaml", suite)
            .run(&["run", "--suite", "evals"])
    };
    let ran = run("/messages?session=1");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = run("http://127.0.0.1:9/messages");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("is of another origin"),
        "{}",
        ran.stdout
    );
}

/// The server's side of TLS, with a certificate for 127.0.0.1 of an authority that nobody knows.
fn tls(stream: TcpStream) -> StreamOwned<ServerConnection, TcpStream> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/certificates");
    let certificate = CertificateDer::from_pem_file(format!("{folder}/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(format!("{folder}/server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream)
}

#[test]
fn a_certificate_is_trusted_as_the_suite_says() {
    let server = Server::behind(tls, 202, |request| json_of(200, "", &sum(request)));
    let url = server.url.replace("http:", "https:");
    let run = |more: &str| {
        let project = Project::with_suite(&format!(
            "name: a\nserver: {{transport: http, url: '{url}'{more}}}\nassert: {{tool: add, expect: {{contains: [sum]}}}}\n"
        ));
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/certificates");
        std::fs::copy(
            format!("{folder}/authority.pem"),
            project.path().join("evals/authority.pem"),
        )
        .unwrap();
        let ran = project.run(&["run", "evals"]);
        (ran.code, ran.shown(), ran.complaints())
    };
    let (code, shown, _) = run("");
    assert_eq!(code, 1);
    assert!(shown.contains("UnknownIssuer"), "{shown}");
    let (code, shown, _) = run(", tls: {ca: authority.pem}");
    assert_eq!((code, shown.contains("finding")), (0, false), "{shown}");
    let (code, shown, _) = run(", tls: {insecure: true}");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("warning certificate-unchecked"), "{shown}");
    let (code, shown, _) = run(", tls: {ca: nowhere.pem}");
    assert_eq!(code, 1);
    assert!(
        shown.contains("no certificate in `") && shown.contains("nowhere.pem`"),
        "{shown}"
    );
    let (code, _, complaints) = run(", tls: {ca: authority.pem, insecure: true}");
    assert_eq!(code, 2, "{complaints}");
    assert!(complaints.contains("`tls` takes one of"), "{complaints}");
}

#[test]
fn a_session_that_is_forgotten_before_it_was_used_is_begun_anew() {
    let calls = AtomicUsize::new(0);
    let server = Server::new(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => http(404, "", ""),
        _ => json_of(200, "", &sum(request)),
    });
    let ran = server.suite("").run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("session-forgotten"), "{}", ran.stdout);
    let requests = server.requests();
    let calls = requests.iter().filter(|it| it.what() == "POST tools/call");
    assert_eq!(calls.count(), 2, "{requests:#?}");
}

#[test]
fn nothing_is_asked_before_the_server_can_speak_by_itself() {
    let server = Server::new(|request| json_of(200, "", &sum(request)));
    let ran = server.suite("").run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let requests = server.requests();
    let first = |what: &str| requests.iter().position(|it| it.what() == what).unwrap();
    let initialized = first("POST notifications/initialized");
    assert!(initialized < first("GET"), "{requests:#?}");
    assert!(first("GET") < first("POST tools/call"), "{requests:#?}");
}

#[test]
fn an_expired_session_is_an_error_and_nothing_is_repeated() {
    let calls = AtomicUsize::new(0);
    let server = Server::new(move |request| match calls.fetch_add(1, Ordering::SeqCst) {
        0 => json_of(200, "", &sum(request)),
        _ => http(404, "", ""),
    });
    let project = Project::with_suite(&format!(
        "name: expired\nserver: {{transport: http, url: '{}'}}\nsetup: [{{tool: add}}]\nassert: {{tool: add, expect: {{not_error: true}}}}\n",
        server.url
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("session expired: HTTP 404"),
        "{}",
        ran.stdout
    );
    assert!(!ran.stdout.contains("stderr"), "{}", ran.stdout);
    let requests = server.requests();
    let calls = requests.iter().filter(|it| it.what() == "POST tools/call");
    assert_eq!(calls.count(), 2, "{requests:#?}");
}

#[test]
fn sessions_at_a_url_overlap_only_where_the_suite_says_so() {
    for (key, code, seen) in [
        ("", 1, "1 passed, 1 error"),
        ("  parallel: true\n", 0, "2 passed"),
    ] {
        let calls = (Mutex::new(0), Condvar::new());
        // Answers a call once there is another one.
        let server = Server::new(move |request| {
            let (count, came) = &calls;
            let mut count = count.lock().unwrap();
            *count += 1;
            came.notify_all();
            let patience = Duration::from_secs(10);
            drop(came.wait_timeout_while(count, patience, |count| *count < 2));
            json_of(200, "", &sum(request))
        });
        let text = server.suite(key).read("evals/a.yaml");
        let text = text.replace("timeout: 5s", "timeout: 1s");
        let project = Project::with_suite(&format!("{text}---\n{text}"));
        let ran = project.run(&["run", "--suite", "evals", "--jobs", "2"]);
        assert_eq!(ran.code, code, "{key}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.shown().contains(seen), "{key}: {}", ran.stdout);
    }
}

#[test]
fn what_the_transport_forbids_is_a_finding() {
    let case = |fault: &str, wanted: &[&str], code: i32| {
        let project = Project::with_suite(&format!(
            "name: a\nserver: {{builtin: conformance, transport: http, args: [--fault, '{fault}']}}\n\
             assert: {{tool: test_simple_text, expect: {{not_error: true}}}}\n"
        ));
        let ran = project.run(&["run", "evals", "--json"]);
        let outcome = &ran.json()[0];
        let findings = outcome["findings"].as_array().unwrap().iter();
        let findings: Vec<&str> = findings.filter_map(|it| it["code"].as_str()).collect();
        assert_eq!(
            (&findings[..], ran.code),
            (wanted, code),
            "{fault}: {outcome:#}"
        );
    };
    case("session-changes", &["session-changed"], 0);
    case(
        "session-bad-ascii",
        &["bad-session-id", "session-changed"],
        0,
    );
    case("body-on-202", &["body-on-202"], 0);
    case("redirect:307", &["redirected"], 0);
    case("html-200", &["wrong-content-type"], 1);
    case("wrong-content-type", &["wrong-content-type"], 1);
}

#[test]
fn a_notification_is_taken_with_202() {
    let server = Server::with_status(200, |request| json_of(200, "", &sum(request)));
    let ran = server
        .suite("")
        .run(&["run", "--suite", "evals", "--strict-protocol"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let told = "HTTP 200 OK to a notification or a reply, which is taken with 202";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
}

#[test]
fn a_stream_without_its_answer_is_a_finding() {
    let server = Server::new(|_| events(": nothing\n\n"));
    let ran = server.suite("").run(&["run", "--suite", "evals"]);
    assert!(
        ran.stdout.contains("error stream-without-answer"),
        "{}",
        ran.stdout
    );
}

#[test]
fn a_request_of_http_carries_what_is_written_and_no_more() {
    let server = Server::new(|_| http(401, "WWW-Authenticate: Bearer realm=x\r\n", "who are you?"));
    let project = Project::with_suite(&format!(
        "name: bare\nserver: {{transport: http, url: '{}', headers: {{X-Team: blue}}, auth: {{bearer: t0k}}}}\n\
         http:\n  request: {{method: PUT, path: '?a=b', headers: {{X-Own: mine}}, body: [1]}}\n  \
         expect: {{status: 401, headers: {{www-authenticate: /^Bearer /}}, body: {{contains: who}}}}\n---\n\
         name: with all\nserver: {{transport: http, url: '{}', headers: {{X-Team: blue}}, auth: {{bearer: t0k}}}}\n\
         http:\n  request: {{method: PUT, credentials: true, body: plain}}\n  expect: {{status: 401}}\n",
        server.url, server.url
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let requests = server.requests();
    let [bare, whole] = &requests[..] else {
        panic!("{requests:#?}")
    };
    let names = |request: &Request| {
        let names = request.headers.iter().map(|(name, _)| name.to_lowercase());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names.join(" ")
    };
    assert_eq!(names(bare), "accept content-length content-type host x-own");
    assert_eq!(bare.header("content-type"), Some("application/json"));
    assert_eq!(
        names(whole),
        "accept authorization content-length host x-team"
    );
    assert_eq!(whole.header("authorization"), Some("Bearer t0k"));
}

#[test]
fn a_request_of_http_stays_with_its_server() {
    let server = Server::new(|_| http(200, "", ""));
    let project = Project::with_suite(&format!(
        "name: elsewhere\nserver: {{transport: http, url: '{}'}}\nhttp: {{request: {{path: 'http://127.0.0.1:9/x'}}}}\n",
        server.url
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout
            .contains("`http://127.0.0.1:9/x` leads to another server"),
        "{}",
        ran.stdout
    );
    assert!(server.requests().is_empty());
}

#[test]
fn a_stream_of_events_is_read_for_a_time() {
    let project = Project::new().file("server.py", LEGACY);
    let suite = format!(
        "name: open\nserver:\n  transport: sse\n  url: 'http://127.0.0.1:{{{{port}}}}/sse'\n  \
         launch: {{command: python3, args: ['{}', '{{{{port}}}}', /messages], timeout: 10s}}\n\
         http:\n  request: {{within: 200ms}}\n  \
         expect: {{headers: {{Content-Type: text/event-stream}}, body: {{contains: 'event: endpoint'}}}}\n",
        project.path().join("server.py").display(),
    );
    let ran = project
        .file("evals/a.yaml", suite)
        .run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}
