//! The base and its files by the `git` program, as far as there is one. No hook, filter or monitor that the repository's
//! configuration names is started. Nothing of the checkout is changed; only what a shallow one lacks is fetched, with its own
//! credentials.

use std::{
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{process::Command, time::timeout};

use super::ARCHIVE;
use crate::deliver::facts::CiEnvironment;
use host::checkout::Checkout;
use text::{clean, environment::Environment, head};

/// The time for one fetch.
const FETCH: Duration = Duration::from_mins(3);

/// How many commits are fetched to find a merge base.
const DEPTH: &str = "--depth=1000";

/// How to have everything.
const HELP: &str = "`fetch-depth: 0` of actions/checkout fetches it";

/// The characters of a message of git that are shown.
const SHOWN: usize = 300;

/// Attributes that leave out no file and change none.
const AS_STORED: &str =
    "* -export-ignore -export-subst -filter -text -ident -working-tree-encoding\n";

/// Starts no program that the repository names, and nothing beside what is asked.
const QUIETLY: &str =
    "-c core.hooksPath=/dev/null -c core.fsmonitor=false -c gc.auto=0 -c maintenance.auto=false";

/// Asks where the objects are.
const OBJECTS: &str = "rev-parse --path-format=absolute --git-path objects";

/// Writes an archive, all of it in one folder.
const ARCHIVING: &str = "archive --format=tar.gz -1 --prefix=base/";

/// Variables that would lead git to another repository.
const MISLEADING: [&str; 4] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
];

/// Branches that may be the default one, for a checkout outside of GitHub.
const DEFAULTS: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// A repository.
pub(super) struct Git {
    environment: Arc<Environment>,
    root: PathBuf,
}

impl Git {
    /// The repository with this root.
    pub(super) fn new(environment: &Arc<Environment>, root: &Path) -> Self {
        Self {
            environment: Arc::clone(environment),
            root: root.to_owned(),
        }
    }

    /// The revision that HEAD is compared with, and how it is called: what GitHub merged a pull request with, else the merge
    /// base with its base branch, or the default branch; for a push, the commit before.
    pub(super) async fn base(&self, here: &CiEnvironment) -> Result<(String, String), String> {
        let head = self.line(&["rev-parse", "--verify", "HEAD"]).await?;
        if let Some(branch) = here.base_branch() {
            let words = format!("the merge base with `{branch}`");
            if here.tests_merge(&head)
                && let [first, _, ..] = &self.parents(&head).await?[..]
            {
                return Ok((first.clone(), words));
            }
            return Ok((self.merge_base(&head, &branch).await?, words));
        }
        if here.environment.variable("GITHUB_ACTIONS") == Some("true") {
            let parents = self.parents(&head).await?.into_iter();
            let first = parents.map(|parent| (parent, "the commit before".to_owned()));
            return first
                .take(1)
                .next()
                .ok_or("HEAD is the first commit".to_owned());
        }
        for branch in DEFAULTS {
            if let Ok(found) = self.line(&["merge-base", &head, branch]).await {
                let name = branch.trim_start_matches("refs/remotes/");
                let name = name.trim_start_matches("refs/heads/");
                return Ok((found, format!("the merge base with `{name}`")));
            }
        }
        Err("HEAD has no commit in common with `origin/HEAD`, `main` or `master`".to_owned())
    }

    /// The parents as the commit names them, also where they are not there.
    async fn parents(&self, commit: &str) -> Result<Vec<String>, String> {
        let text = self.text(&["cat-file", "commit", commit]).await?;
        let header = text.lines().take_while(|line| !line.is_empty());
        let parents = header.filter_map(|line| line.strip_prefix("parent "));
        Ok(parents.map(str::to_owned).collect())
    }

    /// The merge base with a branch of `origin`.
    async fn merge_base(&self, head: &str, branch: &str) -> Result<String, String> {
        let remote = format!("refs/remotes/origin/{branch}");
        let asked = ["merge-base", head, &remote];
        if let Ok(found) = self.line(&asked).await {
            return Ok(found);
        }
        let refspec = format!("+refs/heads/{branch}:{remote}");
        let mut trouble = String::new();
        if self.is_shallow().await {
            let fetched = self.fetch(&[DEPTH, "origin", head, &refspec]).await;
            trouble = fetched.map_or_else(|problem| format!(": {problem}"), |()| trouble);
            if let Ok(found) = self.line(&asked).await {
                return Ok(found);
            }
        }
        Err(format!(
            "the merge base with `{branch}` is not in the checkout{trouble}; {HELP}"
        ))
    }

    async fn is_shallow(&self) -> bool {
        let asked = self.line(&["rev-parse", "--is-shallow-repository"]).await;
        asked.as_deref() == Ok("true")
    }

    /// Fetches without tags, submodules and cleaning up.
    async fn fetch(&self, what: &[&str]) -> Result<(), String> {
        let words = [
            &["fetch", "--quiet", "--no-tags", "--no-recurse-submodules"],
            what,
        ]
        .concat();
        match timeout(FETCH, self.text(&words)).await {
            Ok(fetched) => fetched.map(drop),
            Err(_) => Err(format!("`git fetch` took more than {} s", FETCH.as_secs())),
        }
    }

    /// Writes the files of a revision, which a shallow checkout fetches before, to an archive. The repository that is asked
    /// for it is an empty one that borrows the objects: no configuration names a filter, and files are as they are stored.
    pub(super) async fn archive(&self, sha: &str, checkout: &Checkout) -> Result<(), String> {
        let there = ["cat-file", "-e", &format!("{sha}^{{tree}}")];
        if self.line(&there).await.is_err() && self.is_shallow().await {
            let fetched = self.fetch(&["--depth=1", "origin", sha]).await;
            fetched
                .map_err(|problem| format!("the commit {sha} is not here: {problem}; {HELP}"))?;
        }
        let objects: Vec<&str> = OBJECTS.split(' ').collect();
        let objects = self.line(&objects).await?;
        let bare = checkout.beside("git");
        let place = bare.to_string_lossy();
        self.line(&["init", "--quiet", "--bare", "--template=", &place])
            .await?;
        let info = bare.join("info");
        fs::create_dir_all(&info)
            .and_then(|()| fs::write(info.join("attributes"), AS_STORED))
            .map_err(|error| error.to_string())?;
        let output = format!("--output={}", checkout.beside(ARCHIVE).display());
        let mut command = self.command(&["--git-dir", &place]);
        command.args(ARCHIVING.split(' ')).args([&output, sha]);
        command.envs([
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", &*objects),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_SYSTEM", "/dev/null"),
        ]);
        output_of(command, "archive").await.map(drop)
    }

    /// What a command prints, without the end of its line.
    async fn line(&self, words: &[&str]) -> Result<String, String> {
        Ok(self.text(words).await?.trim_end().to_owned())
    }

    async fn text(&self, words: &[&str]) -> Result<String, String> {
        let verb = words.first().copied().unwrap_or_default();
        output_of(self.command(words), verb).await
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut safe = OsStr::new("safe.directory=").to_owned();
        safe.push(&self.root);
        let mut command = Command::new("git");
        command.env_clear().envs(self.environment.inherited());
        for name in MISLEADING {
            command.env_remove(name);
        }
        command
            .envs([("GIT_TERMINAL_PROMPT", "0"), ("LC_ALL", "C")])
            .arg("-c")
            .arg(safe)
            .args(QUIETLY.split(' '))
            .args(words)
            .current_dir(&self.root)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        command
    }
}

/// What a command prints, or the last line of its complaint.
async fn output_of(mut command: Command, verb: &str) -> Result<String, String> {
    let output = command.output().await;
    let output = output.map_err(|error| format!("`git` cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = clean(&String::from_utf8_lossy(&output.stderr));
    let said = said.trim().lines().last().unwrap_or_default();
    Err(format!("`git {verb}`: {}", head(said, SHOWN)))
}
