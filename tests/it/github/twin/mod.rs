//! A stateful GitHub API on loopback: comments, pull requests, commits and the git data API, with faults on request.
//! Every request and answer is validated against the published description.

mod answers;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex, MutexGuard},
    thread,
};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::described::{self, Endpoint};

/// The valid token.
pub(crate) const TOKEN: &str = "ghs_twin0token0that0nobody0must0see";

/// Who the token's owner is.
pub(crate) const OWN_ID: u64 = 41_898_282;

/// The repository's path by id.
const NUMBERED: &str = "/repositories/1/";

/// The repository.
pub(crate) const REPOSITORY: &str = "octo-org/octo-repo";

/// A comment.
#[derive(Debug, Clone)]
pub(crate) struct Comment {
    pub(crate) id: u64,
    pub(crate) author: u64,
    pub(crate) body: String,
}

/// A pull request.
#[derive(Debug, Clone)]
pub(crate) struct Pull {
    pub(crate) number: u64,
    pub(crate) state: &'static str,
    pub(crate) head_sha: String,
    pub(crate) head_repository: String,
    pub(crate) head_branch: String,
}

impl Pull {
    /// An open one, from the branch `topic` of a repository.
    pub(crate) fn open(number: u64, head_sha: String, head_repository: &str) -> Self {
        Self {
            number,
            state: "open",
            head_sha,
            head_repository: head_repository.to_owned(),
            head_branch: "topic".to_owned(),
        }
    }
}

/// A fault.
#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// Answers with this status and these headers, without effect.
    Status(u16, Vec<(&'static str, String)>),
    /// Answers with this status and message, without effect.
    Says(u16, &'static str),
    /// Answers with this status, headers and body, without effect.
    Answers(u16, Vec<(&'static str, String)>, Value),
    /// Closes the connection, without effect.
    CutBefore,
    /// Takes effect, and closes the connection without an answer.
    CutAfter,
    /// Changes the state before the request is handled.
    Meanwhile(fn(&mut World)),
}

/// A fault of the next requests of that kind.
#[derive(Debug)]
struct Planned {
    method: &'static str,
    part: &'static str,
    times: usize,
    fault: Fault,
}

/// A commit of the data branch.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) tree: String,
    pub(crate) parents: Vec<String>,
    pub(crate) message: String,
}

/// All state.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) comments: Vec<Comment>,
    next_comment: u64,
    pub(crate) pulls: Vec<Pull>,
    /// Commits of the code by start, newest first.
    pub(crate) histories: BTreeMap<String, Vec<(String, Vec<String>)>>,
    /// The merge base of `base...head`.
    pub(crate) merge_bases: BTreeMap<String, String>,
    /// The heads of branches.
    pub(crate) refs: BTreeMap<String, String>,
    pub(crate) commits: BTreeMap<String, Commit>,
    /// Files by tree.
    pub(crate) trees: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether the token may write comments and contents.
    pub(crate) read_only: bool,
    faults: Vec<Planned>,
    /// All requests, as `METHOD path?query`.
    pub(crate) asked: Vec<String>,
    /// All request bodies.
    pub(crate) bodies: Vec<Value>,
    /// A text that a fault needs.
    pub(crate) aside: String,
    wrong: Vec<String>,
    counter: u64,
}

impl World {
    /// Makes the next requests fail.
    pub(crate) fn fault(
        &mut self,
        method: &'static str,
        part: &'static str,
        times: usize,
        fault: Fault,
    ) {
        self.faults.push(Planned {
            method,
            part,
            times,
            fault,
        });
    }

    /// Adds a comment.
    pub(crate) fn comment(&mut self, author: u64, body: &str) -> u64 {
        self.next_comment += 1;
        let id = self.next_comment;
        self.comments.push(Comment {
            id,
            author,
            body: body.to_owned(),
        });
        id
    }

    /// The number of requests of a kind.
    pub(crate) fn count(&self, method: &str, part: &str) -> usize {
        let begins = format!("{method} ");
        let asked = self.asked.iter();
        asked
            .filter(|it| it.starts_with(&begins) && it.contains(part))
            .count()
    }

    /// The files of a branch.
    pub(crate) fn files(&self, branch: &str) -> BTreeMap<String, String> {
        let commit = &self.refs[&format!("refs/heads/{branch}")];
        self.trees[&self.commits[commit].tree].clone()
    }

    /// Commits of a branch from its tip to its root.
    pub(crate) fn log(&self, branch: &str) -> Vec<Commit> {
        let mut next = self.refs.get(&format!("refs/heads/{branch}")).cloned();
        let mut all = Vec::new();
        while let Some(sha) = next {
            let commit = self.commits[&sha].clone();
            next = commit.parents.first().cloned();
            all.push(commit);
        }
        all
    }

    /// Commits files to a branch, as another writer would.
    pub(crate) fn push(&mut self, branch: &str, files: BTreeMap<String, String>) {
        let tree = self.keep_tree(files);
        let name = format!("refs/heads/{branch}");
        let parents = self.refs.get(&name).cloned().into_iter().collect();
        let commit = Commit {
            tree,
            parents,
            message: "somebody else".to_owned(),
        };
        let sha = self.keep_commit(commit);
        self.refs.insert(name, sha);
    }

    fn keep_tree(&mut self, files: BTreeMap<String, String>) -> String {
        let sha = hash(&json!(files).to_string());
        self.trees.insert(sha.clone(), files);
        sha
    }

    fn keep_commit(&mut self, commit: Commit) -> String {
        self.counter += 1;
        let sha = hash(&format!("{commit:?} {}", self.counter));
        self.commits.insert(sha.clone(), commit);
        sha
    }

    /// Whether a commit is a descendant of the other.
    fn descends(&self, sha: &str, ancestor: &str) -> bool {
        let mut waiting = vec![sha.to_owned()];
        while let Some(sha) = waiting.pop() {
            if sha == ancestor {
                return true;
            }
            waiting.extend(
                self.commits
                    .get(&sha)
                    .into_iter()
                    .flat_map(|it| it.parents.clone()),
            );
        }
        false
    }
}

/// Forty digits.
pub(crate) fn hash(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest
        .iter()
        .take(20)
        .map(|byte| format!("{byte:02x}"))
        .collect::<Vec<_>>()
        .concat()
}

/// The server.
pub(crate) struct Twin {
    world: Arc<Mutex<World>>,
    /// Where it listens.
    pub(crate) url: String,
}

impl Twin {
    /// Starts it. It ends with the test's process.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let world = Arc::new(Mutex::new(World::default()));
        let served = Arc::clone(&world);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let world = Arc::clone(&served);
                thread::spawn(move || serve(stream, &world));
            }
        });
        Self { world, url }
    }

    /// Its state.
    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Asserts that all requests and answers were valid.
    pub(crate) fn check(&self) {
        let wrong = &self.world().wrong;
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

/// A request.
struct Question {
    method: String,
    path: String,
    query: Vec<(String, String)>,
    headers: BTreeMap<String, String>,
    body: Value,
}

fn read(stream: &TcpStream) -> Option<Question> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut parts = line.split_whitespace();
    let (method, target) = (parts.next()?.to_owned(), parts.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(0, |it| it.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    Some(Question {
        method,
        path: path.to_owned(),
        query: pairs
            .map(|(name, value)| (name.to_owned(), decoded(value)))
            .collect(),
        headers,
        body: serde_json::from_slice(&body).unwrap_or(Value::Null),
    })
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        if *first == b'%' && behind.len() >= 2 {
            let digits = std::str::from_utf8(&behind[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &behind[2..];
        } else {
            bytes.push(*first);
            rest = behind;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn serve(mut stream: TcpStream, world: &Mutex<World>) {
    let Some(question) = read(&stream) else {
        return;
    };
    let mut world = world.lock().unwrap();
    let query: Vec<String> = question
        .query
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    let shown = format!("{} {}?{}", question.method, question.path, query.join("&"));
    world.asked.push(shown.clone());
    world.bodies.push(question.body.clone());
    let fault = world
        .faults
        .iter_mut()
        .find(|it| it.times > 0 && it.method == question.method && shown.contains(it.part))
        .map(|it| {
            it.times -= 1;
            it.fault.clone()
        });
    let (status, extra, answer) = match &fault {
        Some(Fault::CutBefore) => return,
        Some(Fault::Status(status, headers)) => {
            (*status, headers.clone(), Answer::Json(refusal("a fault")))
        }
        Some(Fault::Says(status, words)) => (*status, Vec::new(), Answer::Json(refusal(words))),
        Some(Fault::Answers(status, headers, value)) => {
            (*status, headers.clone(), Answer::Json(value.clone()))
        }
        Some(Fault::Meanwhile(change)) => {
            change(&mut world);
            let (status, answer) = world.answer(&question);
            (status, Vec::new(), answer)
        }
        Some(Fault::CutAfter) | None => {
            let (status, answer) = world.answer(&question);
            (status, Vec::new(), answer)
        }
    };
    drop(world);
    if matches!(fault, Some(Fault::CutAfter)) {
        return;
    }
    let text = match answer {
        Answer::Json(value) => value.to_string(),
        Answer::Text(text) => text,
        Answer::Nothing => String::new(),
    };
    let headers = extra
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let head = format!(
        "HTTP/1.1 {status} X\r\nconnection: close\r\ncontent-length: {}\r\n{}\r\n",
        text.len(),
        headers.collect::<Vec<_>>().concat()
    );
    // The other side may be gone.
    let _ = stream.write_all((head + &text).as_bytes());
}

enum Answer {
    Json(Value),
    Text(String),
    Nothing,
}

/// An answer.
type Given = (u16, Answer);

impl Question {
    fn asks(&self, name: &str) -> Option<&str> {
        let found = self.query.iter().find(|it| it.0 == name);
        found.map(|it| it.1.as_str())
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.asks(name).map(|it| it.parse().unwrap())
    }
}

fn missing() -> Given {
    (404, Answer::Json(refusal("Not Found")))
}

fn listed_commit(endpoint: &Endpoint, (sha, parents): &(String, Vec<String>)) -> Value {
    let mut shown = endpoint.example[0].clone();
    let parent = shown["parents"][0].clone();
    shown["sha"] = json!(sha);
    let of = |sha: &String| {
        let mut parent = parent.clone();
        parent["sha"] = json!(sha);
        parent
    };
    shown["parents"] = parents.iter().map(of).collect();
    shown
}

fn refusal(message: &str) -> Value {
    json!({"message": message, "documentation_url": "https://docs.github.com/rest", "status": "403"})
}

impl World {
    /// Answers, and records violations of the description.
    fn answer(&mut self, question: &Question) -> (u16, Answer) {
        let header = |name: &str| {
            question
                .headers
                .get(name)
                .map(String::as_str)
                .unwrap_or_default()
        };
        if header("authorization") != format!("Bearer {TOKEN}") {
            return (401, Answer::Json(refusal("Bad credentials")));
        }
        if header("user-agent").is_empty() || header("x-github-api-version") != "2022-11-28" {
            self.wrong.push("a header is missing".to_owned());
        }
        if question.path == "/graphql" {
            let asks = question.body["query"]
                .as_str()
                .is_some_and(|it| it.contains("viewer"));
            if !asks {
                self.wrong.push(format!("no query: {}", question.body));
            }
            let viewer = json!({"databaseId": OWN_ID, "login": "github-actions[bot]"});
            return (200, Answer::Json(json!({"data": {"viewer": viewer}})));
        }
        let path = question
            .path
            .replace(NUMBERED, &format!("/repos/{REPOSITORY}/"));
        let Some((endpoint, names)) = described::endpoint(&question.method, &path) else {
            self.wrong.push(format!(
                "no endpoint for {} {}",
                question.method, question.path
            ));
            return (404, Answer::Json(refusal("Not Found")));
        };
        self.wrong
            .extend(endpoint.question(&question.query, &question.body));
        let names: Vec<String> = names.iter().map(|it| decoded(it)).collect();
        if names[..2].join("/") != REPOSITORY {
            return (404, Answer::Json(refusal("Not Found")));
        }
        if self.read_only && question.method != "GET" {
            return (
                403,
                Answer::Json(refusal("Resource not accessible by integration")),
            );
        }
        if header("accept").contains("raw") {
            return self.raw(&names[2], question);
        }
        let (status, answer) = self.act(endpoint, &names[2..], question);
        if let Answer::Json(value) = &answer {
            self.wrong.extend(endpoint.answer(status, value));
        }
        (status, answer)
    }

    /// A file as it is.
    fn raw(&mut self, path: &str, question: &Question) -> (u16, Answer) {
        let commit = question
            .query
            .iter()
            .find(|(name, _)| name == "ref")
            .map(|it| it.1.clone());
        let tree = commit
            .and_then(|it| self.commits.get(&it))
            .map(|it| it.tree.clone());
        let file = tree.and_then(|it| self.trees.get(&it)?.get(path).cloned());
        match file {
            Some(text) => (200, Answer::Text(text)),
            None => (404, Answer::Json(refusal("Not Found"))),
        }
    }
}
