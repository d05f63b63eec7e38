//! The data branch, accessed by the git data API. Each commit builds on the head that was read; if another writer was
//! faster, GitHub refuses it and the update starts over.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher, RandomState},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{client::Client, failure::Failure, names::Repository};
use text::address::encoded;

/// The most attempts of an update.
const TRIES: u32 = 5;

/// The mode of a plain file.
const PLAIN: &str = "100644";

/// A branch of a repository.
pub(super) struct Branch<'a> {
    /// The API client.
    pub(super) client: &'a Client,
    /// The repository.
    pub(super) repository: &'a Repository,
    /// The branch name.
    pub(super) name: &'a str,
}

/// The head of the branch as read.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The newest commit.
    pub(super) commit: String,
    tree: String,
}

/// New contents by path; `None` deletes the file.
pub(super) type Changes = BTreeMap<String, Option<String>>;

/// An entry of a tree.
#[derive(Debug, Deserialize)]
struct Entry {
    path: String,
    #[serde(rename = "type")]
    kind: String,
    sha: String,
}

#[derive(Debug, Deserialize)]
struct Tree {
    tree: Vec<Entry>,
}

/// The digest at `pointer` of an answer.
fn sha(answer: &Value, pointer: &str) -> Result<String, Failure> {
    let sha = answer.pointer(pointer).and_then(Value::as_str);
    sha.map(str::to_owned)
        .ok_or_else(|| Failure::odd(&format!("no `{pointer}`")))
}

impl Branch<'_> {
    /// A URL path below the repository.
    pub(super) fn path(&self, below: &str) -> String {
        self.repository.path(below)
    }

    /// Reads the head; `None` if the branch does not exist.
    pub(super) async fn head(&self) -> Result<Option<Head>, Failure> {
        let path = format!("/git/ref/heads/{}", encoded(self.name));
        let found: Option<Value> = self.client.find(&self.path(&path)).await?;
        let Some(reference) = found else {
            return Ok(None);
        };
        let commit = sha(&reference, "/object/sha")?;
        let path = format!("/git/commits/{}", encoded(&commit));
        let tree = sha(&self.client.get(&self.path(&path)).await?, "/tree/sha")?;
        Ok(Some(Head { commit, tree }))
    }

    /// Lists the files of a top-level folder.
    pub(super) async fn files(&self, head: &Head, folder: &str) -> Result<Vec<String>, Failure> {
        let root = self.tree(&head.tree).await?;
        let is_folder = |entry: &Entry| entry.kind == "tree" && entry.path == folder;
        let Some(folder) = root.into_iter().find(is_folder) else {
            return Ok(Vec::new());
        };
        let entries = self.tree(&folder.sha).await?.into_iter();
        let files = entries.filter(|entry| entry.kind == "blob");
        Ok(files.map(|entry| entry.path).collect())
    }

    async fn tree(&self, sha: &str) -> Result<Vec<Entry>, Failure> {
        let path = format!("/git/trees/{}", encoded(sha));
        let tree: Tree = self.client.get(&self.path(&path)).await?;
        Ok(tree.tree)
    }

    /// Reads a file; `None` if it does not exist.
    pub(super) async fn file(&self, head: &Head, path: &str) -> Result<Option<String>, Failure> {
        let path = format!("/contents/{}?ref={}", encoded(path), encoded(&head.commit));
        self.client.find_file(&self.path(&path)).await
    }

    /// Commits the result of `changes`, which is called again after each lost race. No commit without changes.
    pub(super) async fn update(
        &self,
        message: &str,
        mut changes: impl AsyncFnMut(Option<&Head>) -> Result<Changes, Failure>,
    ) -> Result<Written, Failure> {
        let mut attempt = 1;
        loop {
            let head = self.head().await?;
            let wanted = changes(head.as_ref()).await?;
            if wanted.is_empty() {
                return Ok(Written::Unchanged);
            }
            let Some(why) = self.commit(head.as_ref(), &wanted, message).await? else {
                return Ok(Written::Written);
            };
            if attempt == TRIES {
                return Err(Failure::Other(format!("{why}, {TRIES} times in a row")));
            }
            sleep(jitter(attempt)).await;
            attempt += 1;
        }
    }

    /// Commits on top of `head`. Returns a reason if the branch has moved and the update must start over.
    async fn commit(
        &self,
        head: Option<&Head>,
        changes: &Changes,
        message: &str,
    ) -> Result<Option<String>, Failure> {
        let entries: Vec<Value> = changes
            .iter()
            .map(|(path, text)| entry(path, text.as_deref()))
            .collect();
        let mut tree = json!({ "tree": entries });
        if let Some(head) = head {
            tree["base_tree"] = json!(head.tree);
        }
        let tree = self.make("/git/trees", &tree).await?;
        let parents: Vec<&str> = head.map(|head| head.commit.as_str()).into_iter().collect();
        let commit = json!({"message": message, "tree": tree, "parents": parents});
        let commit = self.make("/git/commits", &commit).await?;
        let pushed = if head.is_some() {
            let path = format!("/git/refs/heads/{}", encoded(self.name));
            let body = json!({"sha": commit, "force": false});
            self.client.patch(&self.path(&path), &body).await
        } else {
            let reference = format!("refs/heads/{}", self.name);
            let body = json!({"ref": reference, "sha": commit});
            let path = self.path("/git/refs");
            self.client.post::<Value>(&path, &body).await.map(drop)
        };
        let failure = match pushed {
            Ok(()) => return Ok(None),
            Err(failure) => failure,
        };
        // Status 409 has other causes too, so GitHub's words are kept.
        if failure.is_status(409) {
            return Ok(Some(format!("it could not be changed: {failure}")));
        }
        // If it took effect, the next read finds nothing left to change.
        let overtaken = failure.is_conflict()
            || failure.is_unclear()
            || failure.is_status(422) && self.has_moved(head).await;
        if overtaken {
            return Ok(Some("others changed it at the same time".to_owned()));
        }
        Err(failure)
    }

    /// Whether the head has moved. If not, the refusal is a rule and repeating is useless.
    async fn has_moved(&self, known: Option<&Head>) -> bool {
        let now = self.head().await.ok();
        let now = now.map(|head| head.map(|head| head.commit));
        now.is_some_and(|now| now.as_deref() != known.map(|head| head.commit.as_str()))
    }

    /// Creates an object. Repeating is harmless: equal objects are one, and unreferenced ones are invisible.
    async fn make(&self, path: &str, body: &Value) -> Result<String, Failure> {
        let path = self.path(path);
        let made: Value = match self.client.post(&path, body).await {
            Err(failure) if failure.is_unclear() => self.client.post(&path, body).await?,
            other => other?,
        };
        sha(&made, "/sha")
    }
}

/// The result of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// A commit was made.
    Written,
    /// Nothing changed.
    Unchanged,
}

/// A tree entry; a deleted file has no object.
fn entry(path: &str, text: Option<&str>) -> Value {
    match text {
        Some(text) => json!({"path": path, "mode": PLAIN, "type": "blob", "content": text}),
        None => json!({"path": path, "mode": PLAIN, "type": "blob", "sha": null}),
    }
}

/// A random pause from a range that grows with each attempt.
fn jitter(attempt: u32) -> Duration {
    let longest = 1_000 << (attempt - 1);
    Duration::from_millis(RandomState::new().hash_one(attempt) % longest)
}
