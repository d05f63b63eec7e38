//! The twin's answers at each endpoint, from its state: comments, pull requests, commits, and the git data API.
//! Permissions, faults and validation are in `mod.rs`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Answer, Comment, Commit, Given, OWN_ID, Pull, Question, World, hash, listed_commit, missing,
    refusal,
};
use crate::github::described::Endpoint;

impl World {
    pub(super) fn act(
        &mut self,
        endpoint: &Endpoint,
        names: &[String],
        question: &Question,
    ) -> Given {
        let below = endpoint.path.trim_start_matches("/repos/{owner}/{repo}");
        let mut shown = endpoint.example.clone();
        match (question.method.as_str(), below) {
            ("GET", "") => {
                shown["default_branch"] = json!("main");
                shown["fork"] = json!(false);
            }
            ("GET", "/commits/{commit_sha}/pulls" | "/pulls") => {
                shown = self.listed_pulls(endpoint, names, question);
            }
            ("GET", "/compare/{basehead}") => {
                let Some(base) = self.merge_bases.get(&names[0]) else {
                    return missing();
                };
                shown["merge_base_commit"]["sha"] = json!(base);
            }
            ("GET", "/commits") => {
                let Some(history) = question.asks("sha").and_then(|it| self.histories.get(it))
                else {
                    return missing();
                };
                let most = question.number("per_page").unwrap_or(30);
                shown = history
                    .iter()
                    .take(most)
                    .map(|commit| listed_commit(endpoint, commit))
                    .collect();
            }
            (_, "/issues/{issue_number}/comments" | "/issues/comments/{comment_id}") => {
                return self.comments(endpoint, &names[0], question);
            }
            ("GET", _) => return self.read_git(endpoint, names),
            (method, _) => return self.write_git(endpoint, names, (method, &question.body)),
        }
        (200, Answer::Json(shown))
    }

    fn listed_pulls(&self, endpoint: &Endpoint, names: &[String], question: &Question) -> Value {
        let fits = |pull: &&Pull| {
            let owner = pull.head_repository.split('/').next().unwrap();
            match question.asks("head") {
                Some(head) => {
                    let from = format!("{owner}:{}", pull.head_branch);
                    head == from && question.asks("state") == Some(pull.state)
                }
                None => pull.head_sha == names[0],
            }
        };
        let shown = |pull: &Pull| {
            let mut shown = endpoint.example[0].clone();
            shown["number"] = json!(pull.number);
            shown["state"] = json!(pull.state);
            shown["head"]["sha"] = json!(pull.head_sha);
            shown["head"]["repo"]["full_name"] = json!(pull.head_repository);
            shown
        };
        self.pulls.iter().filter(fits).map(shown).collect()
    }

    fn comments(&mut self, endpoint: &Endpoint, name: &str, question: &Question) -> (u16, Answer) {
        let number = |name: &str| {
            let found = question.query.iter().find(|it| it.0 == name);
            found.map(|it| it.1.parse::<usize>().unwrap())
        };
        let shown = |comment: &Comment| {
            let template = &endpoint.example;
            let mut shown = template.get(0).unwrap_or(template).clone();
            shown["id"] = json!(comment.id);
            shown["body"] = json!(comment.body);
            shown["user"]["id"] = json!(comment.author);
            shown
        };
        let text = question.body["body"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if text.chars().count() > 65_536 {
            return (422, Answer::Json(refusal("Body is too long")));
        }
        match question.method.as_str() {
            "GET" => {
                let most = number("per_page").unwrap_or(30);
                let skipped = (number("page").unwrap_or(1) - 1) * most;
                let page: Vec<Value> = self
                    .comments
                    .iter()
                    .skip(skipped)
                    .take(most)
                    .map(shown)
                    .collect();
                (200, Answer::Json(page.into()))
            }
            "POST" => {
                let id = self.comment(OWN_ID, &text);
                let made = self.comments.iter().find(|it| it.id == id).unwrap();
                (201, Answer::Json(shown(made)))
            }
            "PATCH" => {
                let id: u64 = name.parse().unwrap();
                let Some(comment) = self.comments.iter_mut().find(|it| it.id == id) else {
                    return (404, Answer::Json(refusal("Not Found")));
                };
                comment.body = text;
                (200, Answer::Json(shown(comment)))
            }
            _ => {
                let id: u64 = name.parse().unwrap();
                self.comments.retain(|it| it.id != id);
                (204, Answer::Nothing)
            }
        }
    }

    fn read_git(&mut self, endpoint: &Endpoint, names: &[String]) -> Given {
        let below = endpoint.path.trim_start_matches("/repos/{owner}/{repo}");
        let mut shown = endpoint.example.clone();
        match below {
            "/git/ref/{ref}" => {
                let name = format!("refs/{}", names[0]);
                let Some(sha) = self.refs.get(&name) else {
                    return missing();
                };
                shown["ref"] = json!(name);
                shown["object"]["sha"] = json!(sha);
            }
            "/git/commits/{commit_sha}" => {
                let Some(commit) = self.commits.get(&names[0]) else {
                    return missing();
                };
                shown["sha"] = json!(names[0]);
                shown["tree"]["sha"] = json!(commit.tree);
            }
            "/git/trees/{tree_sha}" => {
                let Some(files) = self.trees.get(&names[0]).cloned() else {
                    return missing();
                };
                shown["tree"] = self.entries(&files).into();
            }
            _ => panic!("the twin does not read {below}"),
        }
        (200, Answer::Json(shown))
    }

    fn write_git(
        &mut self,
        endpoint: &Endpoint,
        names: &[String],
        (method, body): (&str, &Value),
    ) -> Given {
        let below = endpoint.path.trim_start_matches("/repos/{owner}/{repo}");
        let mut shown = endpoint.example.clone();
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        match (method, below) {
            ("POST", "/git/trees") => shown["sha"] = json!(self.make_tree(body)),
            ("POST", "/git/commits") => {
                let parents = body["parents"].as_array().into_iter().flatten();
                let commit = Commit {
                    tree: text("tree"),
                    parents: parents.map(|it| it.as_str().unwrap().to_owned()).collect(),
                    message: text("message"),
                };
                shown["sha"] = json!(self.keep_commit(commit));
            }
            ("POST", "/git/refs") => {
                if self.refs.contains_key(&text("ref")) {
                    return (422, Answer::Json(refusal("Reference already exists")));
                }
                self.refs.insert(text("ref"), text("sha"));
            }
            ("PATCH", "/git/refs/{ref}") => {
                let name = format!("refs/{}", names[0]);
                if body["force"] != false {
                    self.wrong.push("a forced update".to_owned());
                }
                let old = self.refs.get(&name).cloned();
                if !old.is_some_and(|old| self.descends(&text("sha"), &old)) {
                    return (422, Answer::Json(refusal("Update is not a fast forward")));
                }
                self.refs.insert(name, text("sha"));
            }
            _ => panic!("the twin has no {method} {below}"),
        }
        (
            if method == "POST" { 201 } else { 200 },
            Answer::Json(shown),
        )
    }

    fn make_tree(&mut self, body: &Value) -> String {
        let mut files = match body["base_tree"].as_str() {
            Some(base) => self.trees[base].clone(),
            None => BTreeMap::new(),
        };
        for entry in body["tree"].as_array().unwrap() {
            let path = entry["path"].as_str().unwrap().to_owned();
            match entry["content"].as_str() {
                Some(content) => files.insert(path, content.to_owned()),
                None => files.remove(&path),
            };
        }
        self.keep_tree(files)
    }

    /// What lies in a tree itself: files, and folders as trees of their own.
    fn entries(&mut self, files: &BTreeMap<String, String>) -> Vec<Value> {
        let mut folders: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut entries = Vec::new();
        for (path, text) in files {
            match path.split_once('/') {
                Some((folder, rest)) => {
                    let inner = folders.entry(folder.to_owned()).or_default();
                    inner.insert(rest.to_owned(), text.clone());
                }
                None => entries.push(json!({"path": path, "mode": "100644", "type": "blob", "sha": hash(text), "size": text.len(), "url": "https://api.github.com/x"})),
            }
        }
        for (folder, files) in folders {
            let sha = self.keep_tree(files);
            entries.push(json!({"path": folder, "mode": "040000", "type": "tree", "sha": sha, "url": "https://api.github.com/x"}));
        }
        entries
    }
}
