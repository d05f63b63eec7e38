//! Servers over HTTP that are started in a container: reached in a network of their own, and gone afterwards.

use super::{project, ready, run};

/// Answers with the host that was asked for.
const SERVER: &str = r#"
import http.server, json, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *a): pass
    def do_GET(self): self.send_response(405); self.end_headers()
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in asked:
            self.send_response(202); self.end_headers(); return
        said = self.headers["Host"]
        result = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}},
                  "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
                  "tools/call": {"content": [{"type": "text", "text": said}]}}[asked["method"]]
        body = json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode()
        self.send_response(200); self.send_header("Content-Type", "application/json"); self.send_header("Content-Length", str(len(body)))
        self.end_headers(); self.wfile.write(body)
server = http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler)
print("listening", flush=True)
server.serve_forever()
"#;

#[test]
fn a_server_that_listens_in_a_container_is_reached_in_a_network_of_its_own() {
    if !ready() {
        return;
    }
    let server = |address: &str, more: &str| {
        let args = serde_json::json!(["-c", SERVER, address, "{{port}}"]);
        let docker = "docker: {image: 'mcp-assert-test/python:latest'}";
        format!(
            "server: {{transport: http, {docker}, launch: {{command: python3, args: {args}{more}}}}}"
        )
    };
    let assertion =
        "assert: {tool: echo, expect: {matches_regex: ['^127[.]0[.]0[.]1:[0-9]+$']}}\ntimeout: 30s";
    let suite = [
        format!("name: port\n{}\n{assertion}\n", server("0.0.0.0", "")),
        format!(
            "name: log\n{}\n{assertion}\n",
            server("0.0.0.0", ", ready: {log: '^listening$'}")
        ),
        format!(
            "name: loopback\n{}\n{assertion}\n",
            server("127.0.0.1", ", timeout: 4s")
        ),
        format!(
            "name: dies\n{}\n{assertion}\n",
            server("10.1.2.3", ", timeout: 20s")
        ),
    ];
    let project = project(&suite.join("---\n"));
    let (ran, seen) = run(&project, &[]);
    let status = |index: usize| {
        seen["assertions"][index]["status"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let statuses = [status(0), status(1), status(2), status(3)];
    assert_eq!(
        statuses,
        ["pass", "pass", "error", "error"],
        "{}",
        ran.stdout
    );
    for wanted in [
        "nothing listens on port",
        "the server ended before it was ready: exit code 1",
        "the last line of its stderr: OSError",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
    assert!(seen["assertions"][0]["container"]["id"].is_string());
}
