//! GitHub behind a proxy, as on self-hosted runners.

use std::{
    io::{self, BufRead, BufReader, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use super::{
    Step, suite,
    twin::{Pull, REPOSITORY, Twin, hash},
};
use crate::harness::Project;

/// A host name that only the proxy resolves.
const API: &str = "api.github.invalid";

/// A proxy on loopback with one reachable host.
struct Loopback {
    address: String,
    /// The head of every request.
    asked: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Loopback {
    /// Forwards requests for `API` at port 8080 to the twin, and refuses tunnels and other hosts.
    fn start(twin: &Twin) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, target) = (Arc::clone(&asked), twin.url.replace("http://", ""));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (kept, target) = (Arc::clone(&kept), target.clone());
                thread::spawn(move || forward(client, &target, &kept));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> Vec<Vec<String>> {
        self.asked.lock().unwrap().clone()
    }
}

fn forward(mut client: TcpStream, target: &str, kept: &Mutex<Vec<Vec<String>>>) {
    let mut reader = BufReader::new(client.try_clone().unwrap());
    let (mut lines, mut head) = (Vec::new(), String::new());
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
        head.push_str(&line);
    }
    let way = lines.first().cloned().unwrap_or_default();
    kept.lock().unwrap().push(lines);
    let place = format!("http://{API}:8080");
    if !way.contains(&place) {
        let _ = client.write_all(b"HTTP/1.1 502 Bad Gateway\r\n\r\n");
        return;
    }
    let server = TcpStream::connect(target).unwrap();
    let mut up = server.try_clone().unwrap();
    let head = head.replacen(&place, "", 1);
    up.write_all(format!("{head}\r\n").as_bytes()).unwrap();
    let forward = thread::spawn(move || {
        let _ = io::copy(&mut reader, &mut up);
        let _ = up.shutdown(Shutdown::Write);
    });
    let (mut from, mut to) = (server, client);
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Both);
    let _ = forward.join();
}

/// Runs on a pull request with these variables. Returns the log and the comment's result.
fn run(twin: &Twin, variables: &[(&str, &str)]) -> (String, String) {
    twin.world().pulls = vec![Pull::open(7, hash("head"), REPOSITORY)];
    let project = Project::with_suite(&suite(1));
    let step = Step::pull_request(twin, 7);
    let mut command = step.command(&project, &["--comment", "always"]);
    command.envs(variables.iter().copied());
    let ran = step.finish(&project, command);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("opensesame"), "{}", ran.stdout);
    (ran.stdout, step.output(&project, "comment"))
}

/// Whether a request has the credentials ada:opensesame.
fn is_authorized(lines: &[String]) -> bool {
    let authorization = "proxy-authorization: basic ywrhom9wzw5zzxnhbwu=";
    lines
        .iter()
        .any(|line| line.to_lowercase() == authorization)
}

#[test]
fn every_question_goes_through_the_proxy() {
    let twin = Twin::start();
    let proxy = Loopback::start(&twin);
    let (said, comment) = run(
        &twin,
        &[
            (
                "http_proxy",
                &format!("http://ada:opensesame@{}", proxy.address),
            ),
            ("GITHUB_API_URL", &format!("http://{API}:8080")),
            ("GITHUB_GRAPHQL_URL", &format!("http://{API}:8080/graphql")),
        ],
    );
    assert_eq!(comment, "created", "{said}");
    let asked = proxy.asked();
    assert!(!asked.is_empty());
    for lines in asked {
        assert!(
            lines[0].contains(&format!("http://{API}:8080/")),
            "{lines:?}"
        );
        assert!(is_authorized(&lines), "{lines:?}");
    }
}

#[test]
fn hosts_without_a_proxy_are_asked_themselves() {
    let twin = Twin::start();
    let proxy = Loopback::start(&twin);
    let (said, comment) = run(
        &twin,
        &[
            ("HTTP_PROXY", &format!("http://{}", proxy.address)),
            ("NO_PROXY", "localhost,127.0.0.0/8"),
        ],
    );
    assert_eq!(comment, "created", "{said}");
    assert_eq!(proxy.asked(), Vec::<Vec<String>>::new());
}

#[test]
fn a_proxy_that_refuses_or_cannot_be_used_is_named_and_leaves_the_verdict() {
    let twin = Twin::start();
    let proxy = Loopback::start(&twin);
    let secured = format!("https://{API}");
    let graphql = format!("{secured}/graphql");
    let way = format!("http://ada:opensesame@{}", proxy.address);
    let (said, comment) = run(
        &twin,
        &[
            ("HTTPS_PROXY", &way),
            ("GITHUB_API_URL", &secured),
            ("GITHUB_GRAPHQL_URL", &graphql),
        ],
    );
    assert_eq!(comment, "failed", "{said}");
    assert!(said.contains("tunnel"), "{said}");
    let lines = proxy.asked()[0].clone();
    assert_eq!(lines[0], format!("CONNECT {API}:443 HTTP/1.1"));
    assert!(is_authorized(&lines), "{lines:?}");
    assert!(
        !lines.iter().any(|line| line.contains("Bearer")),
        "{lines:?}"
    );
    // An unusable proxy is not bypassed.
    let socks = "socks5://ada:opensesame@127.0.0.1:1";
    let variables = [
        ("ALL_PROXY", socks),
        ("GITHUB_API_URL", &secured),
        ("GITHUB_GRAPHQL_URL", &graphql),
    ];
    let (said, comment) = run(&twin, &variables);
    assert_eq!(comment, "failed", "{said}");
    assert!(twin.world().asked.is_empty());
}
