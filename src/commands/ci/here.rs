//! The CI environment: variables, event payload, and the revision checked out in the workspace. Missing or invalid
//! parts are left out.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use crate::{
    commands::running::input::regular_text,
    deliver::{bounds::below, facts::CiEnvironment},
};
use report::{Tool, source::Source};
use text::{
    clean,
    digest::{hexadecimal, sha256_of_all},
    environment::Environment,
};

/// The largest event payload, in bytes; GitHub's own limit is 25 MB.
const LONGEST_EVENT: u64 = 32 * 1024 * 1024;

/// The largest file read to find a revision: `packed-refs` of many thousand branches.
const LONGEST_REFS: u64 = 64 * 1024 * 1024;

/// The most symbolic refs that are followed.
const MOST_LINKS: usize = 5;

/// Reads the CI environment; problems go to `notes`.
pub(super) fn read(environment: &Arc<Environment>, notes: &mut Vec<String>) -> CiEnvironment {
    let event = event(environment).unwrap_or_else(|problem| {
        notes.push(problem);
        Value::Null
    });
    CiEnvironment {
        source: source(environment, &event),
        environment: Arc::clone(environment),
        event,
    }
}

/// The event's payload, null where there is none.
fn event(environment: &Environment) -> Result<Value, String> {
    let Some(path) = environment.set("GITHUB_EVENT_PATH") else {
        return Ok(Value::Null);
    };
    let text = regular_text(Path::new(path), LONGEST_EVENT)
        .map_err(|problem| format!("the event's payload `{path}` is not used: {problem}"))?;
    let event: Value = serde_json::from_str(&text)
        .map_err(|error| format!("the event's payload `{path}` is not JSON: {error}"))?;
    Ok(event)
}

fn source(environment: &Environment, event: &Value) -> Source {
    let own = |name: &str| environment.set(name).map(clean);
    let number = |name: &str| environment.set(name).and_then(|text| text.parse().ok());
    let told = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).map(clean);
    let repository = own("GITHUB_REPOSITORY");
    Source {
        sha: workspace_head(environment).or_else(|| own("GITHUB_SHA")),
        head_sha: told("/pull_request/head/sha")
            .or_else(|| told("/workflow_run/head_sha"))
            .or_else(|| own("GITHUB_SHA")),
        reference: own("GITHUB_REF"),
        event: own("GITHUB_EVENT_NAME"),
        pull_request: event
            .pointer("/pull_request/number")
            .and_then(Value::as_u64),
        workflow: own("GITHUB_WORKFLOW_REF")
            .map(|workflow| workflow_path(&workflow, repository.as_deref())),
        job: own("GITHUB_JOB"),
        run: number("GITHUB_RUN_ID"),
        attempt: number("GITHUB_RUN_ATTEMPT"),
        server: own("GITHUB_SERVER_URL"),
        folder: folder(environment),
        suite: None,
        repository,
    }
}

/// The current folder, relative to the workspace.
fn folder(environment: &Environment) -> Option<String> {
    let workspace = environment.set("GITHUB_WORKSPACE")?;
    let folder = below(Path::new(workspace), &environment.directory)?;
    let folder = clean(&folder.to_string_lossy());
    (!folder.is_empty()).then_some(folder)
}

/// The path in `owner/name/.github/workflows/ci.yml@refs/heads/main`.
fn workflow_path(workflow: &str, repository: Option<&str>) -> String {
    let path = workflow.rsplit_once('@').map_or(workflow, |(path, _)| path);
    repository
        .and_then(|repository| path.strip_prefix(repository))
        .map_or(path, |path| path.trim_start_matches('/'))
        .to_owned()
}

/// The workspace, else the current folder.
pub(super) fn workspace(environment: &Environment) -> PathBuf {
    let workspace = environment.set("GITHUB_WORKSPACE").map(PathBuf::from);
    workspace.unwrap_or_else(|| environment.directory.clone())
}

/// The revision checked out in the workspace.
fn workspace_head(environment: &Environment) -> Option<String> {
    workspace(environment)
        .ancestors()
        .find_map(|folder| head_of(&folder.join(".git")))
}

/// The nearest `.git` above a path, valid or not.
pub(super) fn checkout_of(path: &Path) -> Option<PathBuf> {
    let mut all = path.ancestors().map(|folder| folder.join(".git"));
    all.find(|git| fs::symlink_metadata(git).is_ok())
}

/// The HEAD revision of a repository. `.git` may be a folder or a file that names one.
pub(super) fn head_of(git: &Path) -> Option<String> {
    let folder = match fs::metadata(git).ok()? {
        found if found.is_dir() => git.to_owned(),
        _ => {
            let text = regular_text(git, 4096).ok()?;
            let named = text.trim().strip_prefix("gitdir:")?.trim().to_owned();
            git.parent()?.join(named)
        }
    };
    // A linked worktree has its own HEAD; its branches are in the main repository.
    let shared = match regular_text(&folder.join("commondir"), 4096) {
        Ok(named) => folder.join(named.trim()),
        Err(_) => folder.clone(),
    };
    let mut text = regular_text(&folder.join("HEAD"), 4096).ok()?;
    for _ in 0..MOST_LINKS {
        let Some(name) = text.trim().strip_prefix("ref:") else {
            return revision(text.trim());
        };
        let name = name.trim().to_owned();
        if name.split('/').any(|part| part == ".." || part.is_empty()) {
            return None;
        }
        text = [&folder, &shared]
            .iter()
            .find_map(|place| regular_text(&place.join(&name), 4096).ok())
            .or_else(|| packed(&shared, &name))?;
    }
    None
}

/// Looks up a ref in `packed-refs`.
fn packed(folder: &Path, name: &str) -> Option<String> {
    let text = regular_text(&folder.join("packed-refs"), LONGEST_REFS).ok()?;
    text.lines().find_map(|line| {
        let (revision, found) = line.split_once(' ')?;
        (found == name).then(|| revision.to_owned())
    })
}

/// Accepts 40 or 64 hexadecimal digits.
fn revision(text: &str) -> Option<String> {
    let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (digits && matches!(text.len(), 40 | 64)).then(|| text.to_lowercase())
}

/// Version and SHA-256 of this executable. The digest is absent if the file cannot be read.
pub(super) fn tool(environment: &Environment) -> Tool {
    let digest = fs::File::open(&environment.program).and_then(sha256_of_all);
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sha256: digest.ok().map(|(digest, _)| hexadecimal(&digest)),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

    use super::{read, workspace_head};
    use text::environment::Environment;

    const FIRST: &str = "1111111111111111111111111111111111111111";
    const SECOND: &str = "2222222222222222222222222222222222222222";

    fn environment(variables: &[(&str, &str)]) -> Environment {
        let variables: BTreeMap<String, String> = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Environment {
            variables,
            directory: "/nowhere".into(),
            ..Environment::default()
        }
    }

    #[test]
    fn the_facts_of_a_pull_request_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        let event = format!(
            r#"{{"number": 7, "pull_request": {{"number": 7, "head": {{"sha": "{SECOND}"}}}}}}"#
        );
        fs::write(&path, event).unwrap();
        let environment = Arc::new(environment(&[
            ("GITHUB_EVENT_PATH", path.to_str().unwrap()),
            ("GITHUB_EVENT_NAME", "pull_request"),
            ("GITHUB_REPOSITORY", "o/r"),
            ("GITHUB_SHA", FIRST),
            (
                "GITHUB_WORKFLOW_REF",
                "o/r/.github/workflows/ci.yml@refs/pull/7/merge",
            ),
            ("GITHUB_RUN_ID", "12"),
            ("GITHUB_RUN_ATTEMPT", ""),
        ]));
        let mut notes = Vec::new();
        let here = read(&environment, &mut notes);
        assert_eq!(here.source.sha.as_deref(), Some(FIRST));
        assert_eq!(here.source.head_sha.as_deref(), Some(SECOND));
        assert_eq!(here.source.pull_request, Some(7));
        assert_eq!(
            here.source.workflow.as_deref(),
            Some(".github/workflows/ci.yml")
        );
        assert_eq!((here.source.run, here.source.attempt), (Some(12), None));
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    #[cfg(unix)]
    fn the_folder_is_known_below_a_workspace_that_is_a_link() {
        let place = tempfile::tempdir().unwrap();
        let (real, link) = (place.path().join("real"), place.path().join("link"));
        fs::create_dir_all(real.join("sub")).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let case = |workspace: &Path, directory: &Path, wanted: Option<&str>| {
            let environment = Arc::new(Environment {
                directory: directory.to_owned(),
                ..environment(&[("GITHUB_WORKSPACE", workspace.to_str().unwrap())])
            });
            let source = read(&environment, &mut Vec::new()).source;
            assert_eq!(source.folder.as_deref(), wanted, "{workspace:?}");
        };
        case(&link, &real.join("sub"), Some("sub"));
        case(&real, &real.join("sub"), Some("sub"));
        case(&link, &real, None);
        case(&real.join("sub"), &real, None);
    }

    #[test]
    fn a_payload_that_cannot_be_read_is_a_note_and_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("event.json");
        let case = |text: Option<&str>, wanted: &str| {
            if let Some(text) = text {
                fs::write(&path, text).unwrap();
            }
            let environment = Arc::new(environment(&[(
                "GITHUB_EVENT_PATH",
                path.to_str().unwrap(),
            )]));
            let mut notes = Vec::new();
            assert!(read(&environment, &mut notes).event.is_null());
            assert!(notes.concat().contains(wanted), "{notes:?}");
        };
        case(None, "is not used");
        case(Some("{"), "not JSON");
        let deep = "[".repeat(100_000);
        case(Some(&deep), "not JSON");
    }

    #[test]
    fn the_workspaces_revision_is_found_however_git_keeps_it() {
        let case = |files: &[(&str, &str)], wanted: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            for (path, text) in files {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            let workspace = folder.path().join("w");
            let environment = environment(&[("GITHUB_WORKSPACE", workspace.to_str().unwrap())]);
            assert_eq!(workspace_head(&environment).as_deref(), wanted, "{files:?}");
        };
        case(&[("w/.git/HEAD", FIRST)], Some(FIRST));
        let on_main = ("w/.git/HEAD", "ref: refs/heads/main\n");
        case(&[on_main, ("w/.git/refs/heads/main", SECOND)], Some(SECOND));
        let packed = format!("# pack-refs\n{FIRST} refs/heads/other\n{SECOND} refs/heads/main\n");
        case(&[on_main, ("w/.git/packed-refs", &packed)], Some(SECOND));
        case(&[on_main], None);
        case(&[("w/.git/HEAD", "ref: ../../x\n"), ("x", FIRST)], None);
        case(&[("w/.git/HEAD", "ref: HEAD\n")], None);
        case(
            &[
                ("w/.git", "gitdir: ../m/.git/worktrees/w\n"),
                ("m/.git/worktrees/w/HEAD", "ref: refs/heads/w\n"),
                ("m/.git/worktrees/w/commondir", "../..\n"),
                ("m/.git/refs/heads/w", FIRST),
            ],
            Some(FIRST),
        );
        case(&[], None);
    }
}
