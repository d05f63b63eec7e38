//! `cargo bench --bench http`: assertions over HTTP against a server that is there already, against a bare loop of the
//! same requests, and against the Go tool of the same name where `-- --go PATH` names it, in one run. Prints ratios;
//! asserts nothing, because a busy machine is no defect. With `-- --binary PATH` that program is measured.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, stops at the first surprise, and rounds"
)]

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

/// Assertions of the suite.
const SIZE: usize = 500;

/// How often each way is taken; the best of them counts.
const TURNS: usize = 3;

/// A way to do the work, with its name.
type Way<'a> = (&'a str, Box<dyn Fn() + 'a>);

fn main() {
    let option = |name: &str| {
        let mut arguments = std::env::args().skip_while(|argument| argument != name);
        arguments.nth(1).map(PathBuf::from)
    };
    let ours = option("--binary").unwrap_or_else(|| env!("CARGO_BIN_EXE_mcp-assert").into());
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (mut server, url) = serve(&ours, folder.path());
    let suite = folder.path().join("suite");
    let parallel = folder.path().join("parallel");
    write_suite(&suite, &url, "");
    write_suite(&parallel, &url, ", parallel: true");
    let mut ways: Vec<Way<'_>> = vec![
        ("bare loop", Box::new(|| bare_loop(&url))),
        ("ours, one after another", Box::new(|| run(&ours, &suite))),
        ("ours, in parallel", Box::new(|| run(&ours, &parallel))),
    ];
    if let Some(go) = option("--go") {
        let suite = &suite;
        ways.push(("the Go tool", Box::new(move || run(&go, suite))));
    }
    let mut best = vec![Duration::MAX; ways.len()];
    for _ in 0..TURNS {
        for ((_, way), best) in ways.iter().zip(&mut best) {
            let begun = Instant::now();
            way();
            *best = begun.elapsed().min(*best);
        }
    }
    println!("{SIZE} assertions over HTTP; best of {TURNS}\n");
    for ((name, _), took) in ways.iter().zip(&best) {
        let each = took.as_secs_f64() * 1e3 / SIZE as f64;
        let of = |other: &Duration| took.as_secs_f64() / other.as_secs_f64();
        let of_go = best
            .get(3)
            .map(|go| format!(", {:.2} of the Go tool", of(go)));
        let of_go = of_go.unwrap_or_default();
        println!(
            "{name:>24} {each:>7.3} ms each, {:.2} of the bare loop{of_go}",
            of(&best[0])
        );
    }
    server.kill().expect("the server is ours");
    server.wait().expect("the server ends");
}

/// The embedded server, and where it listens.
fn serve(program: &Path, folder: &Path) -> (Child, String) {
    let file = folder.join("url");
    let server = Command::new(program)
        .args([
            "serve",
            "--http",
            "127.0.0.1:0",
            "--json-response",
            "--url-file",
        ])
        .arg(&file)
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    loop {
        match fs::read_to_string(&file) {
            Ok(url) if !url.trim().is_empty() => return (server, url.trim().to_owned()),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn write_suite(suite: &Path, url: &str, more: &str) {
    fs::create_dir(suite).expect("a suite can be made");
    for number in 0..SIZE {
        let text = format!(
            "name: call {number}\nserver: {{transport: http, url: '{url}'{more}}}\nassert:\n  tool: echo\n  args: {{message: \"{number}\"}}\n  expect:\n    not_error: true\n    contains: [\"{number}\"]\n"
        );
        fs::write(suite.join(format!("{number:04}.yaml")), text).expect("a suite can be written");
    }
}

fn run(program: &Path, suite: &Path) {
    let status = Command::new(program)
        .args(["run", "--suite"])
        .arg(suite)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the binary starts");
    assert!(status.success(), "{} is not green", program.display());
}

/// The floor: the requests of each session, one after another on one connection, and the stream beside them.
fn bare_loop(url: &str) {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
    let connect = || {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).expect("a socket takes it");
        stream
    };
    let mut posts = connect();
    for _ in 0..SIZE {
        let begin = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bare\",\"version\":\"1\"}}}";
        let headers = ask(&mut posts, "POST", address, ("", begin));
        let session = headers
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"))
            .expect("there is a session")
            .to_owned()
            + "\r\nMCP-Protocol-Version: 2025-11-25\r\n";
        let done = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
        ask(&mut posts, "POST", address, (&session, done));
        let mut stream = connect();
        send(&mut stream, "GET", address, (&session, ""));
        let call = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"message\":\"1\"}}}";
        ask(&mut posts, "POST", address, (&session, call));
        ask(&mut posts, "DELETE", address, (&session, ""));
    }
}

fn send(stream: &mut TcpStream, method: &str, address: &str, (headers, body): (&str, &str)) {
    let request = format!(
        "{method} /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream
        .write_all(request.as_bytes())
        .expect("the server reads");
}

/// Sends a request, reads its answer whole, and gives back the headers.
fn ask(stream: &mut TcpStream, method: &str, address: &str, what: (&str, &str)) -> String {
    send(stream, method, address, what);
    let mut reader = BufReader::new(stream);
    let mut headers = String::new();
    loop {
        let before = headers.len();
        reader.read_line(&mut headers).expect("the server answers");
        if headers[before..].trim_end().is_empty() {
            break;
        }
    }
    let length = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse::<usize>().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).expect("the answer is whole");
    headers
}
