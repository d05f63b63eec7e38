//! A branch that holds data, read and written through the git data API: one commit at a time on top of what was
//! read, which GitHub refuses when somebody else was faster; then everything begins anew.

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

/// How often a commit is tried.
const TRIES: u32 = 5;

/// The mode of a plain file.
const PLAIN: &str = "100644";

/// A branch of a repository.
pub(super) struct Branch<'a> {
    /// Whom to ask.
    pub(super) client: &'a Client,
    /// Where.
    pub(super) repository: &'a Repository,
    /// Its name.
    pub(super) name: &'a str,
}

/// The branch as it was read.
#[derive(Debug, Clone)]
pub(super) struct Head {
    /// The newest commit.
    pub(super) commit: String,
    tree: String,
}

/// What is to be in files: a text, or that the file goes.
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

/// The digest of an object that an answer names.
fn sha(answer: &Value, pointer: &str) -> Result<String, Failure> {
    let sha = answer.pointer(pointer).and_then(Value::as_str);
    sha.map(str::to_owned)
        .ok_or_else(|| Failure::Odd(format!("no `{pointer}`")))
}

/// Whether a commit found the branch as it was read.
enum Pushed {
    Yes,
    Overtaken,
    /// As GitHub says it, which may mean something else as well.
    InConflict(Failure),
}

impl Branch<'_> {
    fn path(&self, below: &str) -> String {
        self.repository.path(below)
    }

    /// The newest commit; `None` when there is no such branch.
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

    /// The names of the files in a folder at the root.
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

    /// The text of a file; `None` when there is none.
    pub(super) async fn file(&self, head: &Head, path: &str) -> Result<Option<String>, Failure> {
        let path = format!("/contents/{}?ref={}", encoded(path), encoded(&head.commit));
        self.client.find_file(&self.path(&path)).await
    }

    /// Commits what `changes` makes of the branch as it is now; asked again each time that somebody else was faster.
    /// No change, no commit.
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
            let failure = match self.commit(head.as_ref(), &wanted, message).await? {
                Pushed::Yes => return Ok(Written::Written),
                Pushed::Overtaken => Failure::Contended(TRIES),
                Pushed::InConflict(said) => Failure::InConflict {
                    tries: TRIES,
                    said: Box::new(said),
                },
            };
            if attempt == TRIES {
                return Err(failure);
            }
            sleep(jitter(attempt)).await;
            attempt += 1;
        }
    }

    async fn commit(
        &self,
        head: Option<&Head>,
        changes: &Changes,
        message: &str,
    ) -> Result<Pushed, Failure> {
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
        let pushed: Result<Value, Failure> = if head.is_some() {
            let path = format!("/git/refs/heads/{}", encoded(self.name));
            let body = json!({"sha": commit, "force": false});
            self.client.patch(&self.path(&path), &body).await
        } else {
            let reference = format!("refs/heads/{}", self.name);
            let body = json!({"ref": reference, "sha": commit});
            self.client.post(&self.path("/git/refs"), &body).await
        };
        match pushed {
            Ok(_) => Ok(Pushed::Yes),
            Err(failure) if failure.is_status(409) => Ok(Pushed::InConflict(failure)),
            // Whether it took effect shows when the branch is read again: then nothing is left to change.
            Err(failure) if failure.is_conflict() || failure.is_unclear() => Ok(Pushed::Overtaken),
            Err(failure) if failure.is_status(422) && self.has_moved(head).await => {
                Ok(Pushed::Overtaken)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Whether the branch is another than it was. A rule that forbids what was asked stays however often it is asked.
    async fn has_moved(&self, known: Option<&Head>) -> bool {
        let now = self.head().await.ok();
        let now = now.map(|head| head.map(|head| head.commit));
        now.is_some_and(|now| now.as_deref() != known.map(|head| head.commit.as_str()))
    }

    /// Makes an object. One that is made twice is the same, and nobody sees it before a branch names it.
    async fn make(&self, path: &str, body: &Value) -> Result<String, Failure> {
        let path = self.path(path);
        let made: Value = match self.client.post(&path, body).await {
            Err(failure) if failure.is_unclear() => self.client.post(&path, body).await?,
            other => other?,
        };
        sha(&made, "/sha")
    }
}

/// Whether there was anything to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// It is written.
    Written,
    /// It was there already.
    Unchanged,
}

/// A file of a tree; one that goes has no object.
fn entry(path: &str, text: Option<&str>) -> Value {
    match text {
        Some(text) => json!({"path": path, "mode": PLAIN, "type": "blob", "content": text}),
        None => json!({"path": path, "mode": PLAIN, "type": "blob", "sha": null}),
    }
}

/// A pause that no other writer makes of the same length, from more and more to choose from: the more tries it takes,
/// the more writers there are.
fn jitter(attempt: u32) -> Duration {
    let longest = 1_000 << (attempt - 1);
    Duration::from_millis(RandomState::new().hash_one(attempt) % longest)
}
