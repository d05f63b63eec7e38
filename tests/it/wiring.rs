//! Workflows in a local workflow runner, on a real engine: the one with shards, and the first one of the README. Foreign
//! actions are replaced by stand-ins that copy files; ours runs in its image.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use serde_json::json;

use crate::{
    engine::{docker, engine, there},
    github::{
        Step,
        events::{payload, set},
        twin::{REPOSITORY, TOKEN, Twin, hash},
    },
    harness::{BINARY, Project, copy_binary},
};

/// Assertions that need only the binary.
const SUITE: &str = "\
name: one
server: {builtin: conformance}
assert: {tool: echo, args: {message: x}, expect: {contains: x}}
---
name: two
server: {builtin: conformance}
assert: {tool: echo, args: {message: x}, expect: {contains: x}}
---
name: three
server: {builtin: conformance}
assert: {tool: echo, args: {message: x}, expect: {contains: x}}
";

const CALLER: &str = "\
name: call
on: push
jobs:
  mcp:
    uses: ./.github/workflows/mcp-assert.yml
    with:
      suite: evals
      isolation: process
      max-shards: \"3\"
      target-duration: 1ms
      jobs: \"1\"
      baseline: \"off\"
      comment: \"off\"
";

/// The stand-ins for foreign actions; artifacts that match DROPPED get lost.
const STAND_INS: [(&str, &str); 3] = [
    ("checkout", "\"true\""),
    (
        "upload-artifact",
        "case \"$NAME\" in $DROPPED) exit 0;; esac; mkdir -p \"$ARTIFACTS/$NAME\" && cp \"$FROM\" \"$ARTIFACTS/$NAME/\"",
    ),
    (
        "download-artifact",
        "into=${INTO:-.}; mkdir -p \"$into\"; if [ -n \"$NAME\" ]; then cp \"$ARTIFACTS/$NAME/\"* \"$into/\"; else \
         for found in \"$ARTIFACTS\"/$PATTERN; do cp -r \"$found\" \"$into/\"; done; fi",
    ),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// `dist/rootfs` below a folder: this binary, the names of its roles, a place for temporary files, and what it is
/// linked with.
pub(crate) fn root_files(folder: &Path) {
    let files = folder.join("dist/rootfs");
    let programs = files.join("usr/local/bin");
    fs::create_dir_all(&programs).unwrap();
    copy_binary(&programs.join("mcp-assert"));
    let temporary = files.join("tmp");
    fs::create_dir(&temporary).unwrap();
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o1777)).unwrap();
    for role in ["action", "post"] {
        symlink("mcp-assert", programs.join(format!("mcp-assert-{role}"))).unwrap();
    }
    let linked = Command::new("ldd").arg(BINARY).output().unwrap();
    let linked = String::from_utf8(linked.stdout).unwrap();
    for library in linked
        .split_whitespace()
        .filter(|word| word.starts_with('/'))
    {
        let inside = files.join(library.trim_start_matches('/'));
        fs::create_dir_all(inside.parent().unwrap()).unwrap();
        fs::copy(library, inside).unwrap();
    }
}

/// What the action is made of.
fn action(folder: &Path) {
    root_files(folder);
    let dockerfile = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let dockerfile = dockerfile.split("\nFROM rust").next().unwrap();
    let base = regex::Regex::new("(?m)^ARG BASE=.*$").unwrap();
    write(
        &folder.join("Dockerfile"),
        &base.replace(dockerfile, "ARG BASE=scratch"),
    );
    let metadata = fs::read_to_string(root().join("action.yml")).unwrap();
    write(&folder.join("action.yml"), &metadata);
}

/// A repository that is an action and calls its workflow with shards.
fn repository(folder: &Path) {
    action(folder);
    let workflow = ".github/workflows/mcp-assert.yml";
    let text = fs::read_to_string(root().join(workflow)).unwrap();
    // After a release it names a commit.
    let pinned = regex::Regex::new("uses: mcp-assert/action@[0-9a-f]{40}").unwrap();
    write(
        &folder.join(workflow),
        &pinned.replace_all(&text, "uses: ./"),
    );
    write(&folder.join(".github/workflows/call.yml"), CALLER);
    write(&folder.join("evals/a.yaml"), SUITE);
    commit(folder);
}

/// Makes a repository of a folder. Returns its commit.
fn commit(folder: &Path) -> String {
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        succeed(
            Command::new("git")
                .args(who)
                .args(words)
                .current_dir(folder),
        );
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all", "--force"]);
    git(&["commit", "--quiet", "--message", "x"]);
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(folder)
        .output();
    String::from_utf8(head.unwrap().stdout)
        .unwrap()
        .trim()
        .to_owned()
}

/// The runner's command for an event in a repository.
fn runner(event: &str, repository: &Path, home: &Path) -> Command {
    let mut act = Command::new(root().join("target/tools/python/bin/act"));
    act.args([
        event,
        "--platform",
        "ubuntu-24.04=-self-hosted",
        "--action-offline-mode",
    ])
    .arg("--no-cache-server")
    .current_dir(repository)
    .env("HOME", home)
    .env("XDG_CACHE_HOME", home.join("cache"))
    .env("XDG_CONFIG_HOME", home.join("config"))
    .env("DOCKER_BUILDKIT", "0")
    // The steps inherit them, and the action's container has no such files.
    .env_remove("SSL_CERT_FILE")
    .env_remove("SSL_CERT_DIR");
    act
}

/// Runs it. Returns whether it passed, and its log.
fn finish(mut act: Command) -> (bool, String) {
    let output = act.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.success(), said)
}

/// The runner's options for the stand-ins.
fn stand_ins(folder: &Path) -> Vec<String> {
    let workflow = fs::read_to_string(root().join(".github/workflows/mcp-assert.yml")).unwrap();
    STAND_INS
        .iter()
        .map(|(name, script)| {
            let action = format!(
                "name: {name}\ninputs: {{name: {{}}, pattern: {{}}, path: {{}}, retention-days: {{}}, \
                 if-no-files-found: {{}}, persist-credentials: {{}}}}\nruns:\n  using: composite\n  steps:\n    \
                 - shell: bash\n      run: |\n        {script}\n      env:\n        NAME: ${{{{ inputs.name }}}}\n        \
                 PATTERN: ${{{{ inputs.pattern }}}}\n        FROM: ${{{{ inputs.path }}}}\n        \
                 INTO: ${{{{ inputs.path }}}}\n"
            );
            let place = folder.join(name);
            write(&place.join("action.yml"), &action);
            let pin = regex::Regex::new(&format!("actions/{name}@[0-9a-f]{{40}}")).unwrap();
            let pin = pin.find(&workflow).unwrap().as_str();
            format!("--local-repository={pin}={}", place.display())
        })
        .collect()
}

/// Runs the workflow. Returns whether it passed, and its log.
fn run(dropped: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let (home, artifacts) = (folder.path().join("home"), folder.path().join("artifacts"));
    let repository_folder = folder.path().join("repository");
    for made in [&home, &artifacts, &repository_folder] {
        fs::create_dir_all(made).unwrap();
    }
    repository(&repository_folder);
    let mut act = runner("push", &repository_folder, &home);
    // Where it keeps the files that steps write to; the action's container sees them at the same place.
    act.arg(format!("--container-options=-v {0}:{0}", home.display()))
        .args(stand_ins(folder.path()))
        .args(["--env", &format!("ARTIFACTS={}", artifacts.display())])
        .args(["--env", &format!("DROPPED={dropped}")]);
    let ended = finish(act);
    docker(
        folder.path(),
        &["rmi", "--force", "act-dockeraction:latest"],
    );
    ended
}

#[test]
fn nightly_three_shards_are_planned_run_and_merged_and_a_lost_one_is_red() {
    let installed = root().join("target/tools/.installed").exists();
    if !engine() || !there(installed, "the tools are not installed: run scripts/tools") {
        return;
    }
    let (green, said) = run("none");
    assert!(green, "{said}");
    assert!(said.contains("3 assertions, 3 passed"), "{said}");
    let (green, said) = run("mcp-assert-blob-*-2-of-3-*");
    assert!(!green, "{said}");
    assert!(said.contains("verdict: incomplete"), "{said}");
    assert!(said.contains("shard 2 of 3 left no result"), "{said}");
}

/// A server of two tools, of which a pull request takes one away.
const SERVER: &str = r#"
import json, sys
TOOLS = ["echo", "add"]
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "greeter", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}
    elif asked["method"] == "tools/call":
        known = asked["params"]["name"] in TOOLS
        result = {"content": [{"type": "text", "text": "here" if known else "no such tool"}], "isError": not known}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"#;

/// A repository with such a server and the settings of the README.
fn written(repository: &Path, server: &str) {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, settings) = page
        .split_once("```yaml\n# evals/mcp-assert.yaml\n")
        .unwrap();
    let settings = settings.split("```").next().unwrap();
    write(&repository.join("evals/mcp-assert.yaml"), settings);
    let suite = "name: one\nassert: {tool: echo, args: {}, expect: {equals: here}}\n";
    write(&repository.join("evals/a.yaml"), suite);
    write(&repository.join("server.py"), server);
    let dockerfile = "FROM mcp-assert-test/python:latest\nCOPY server.py /server.py\nCMD [\"python3\", \"/server.py\"]\n";
    write(&repository.join("Dockerfile"), dockerfile);
    write(
        &repository.join(".github/workflows/mcp.yml"),
        &first_workflow(),
    );
}

/// The workflow that the README tells its readers to copy.
fn first_workflow() -> String {
    let page = fs::read_to_string(root().join("README.md")).unwrap();
    let (_, workflow) = page.split_once("```yml\n").unwrap();
    workflow.split("```").next().unwrap().to_owned()
}

/// GitHub's twin, with the baseline of a push of the server.
fn released() -> Twin {
    let twin = Twin::start();
    let base = hash("base");
    let alone = vec![(base.clone(), Vec::new())];
    twin.world().histories.insert(base.clone(), alone);
    let before = Project::new();
    written(before.path(), SERVER);
    let push = Step::push(&twin, &base);
    let saved = push.finish(
        &before,
        push.dressed(&before, &["ci", "--update-baseline", "auto"]),
    );
    assert_eq!(saved.code, 0, "{}", saved.stdout);
    twin
}

/// Lets an action ask the twin: the runner knows no other address of the API.
fn asks(action: &Path, twin: &Twin) {
    let metadata = fs::read_to_string(action.join("action.yml")).unwrap();
    let twins = format!(
        "  env:\n    GITHUB_API_URL: {0}\n    GITHUB_GRAPHQL_URL: {0}/graphql\n    GITHUB_RUN_ATTEMPT: 1\n",
        twin.url
    );
    write(&action.join("action.yml"), &(metadata + &twins));
}

/// The event of a pull request that proposes a commit of a repository.
fn proposal(twin: &Twin, repository: &Path, head: &str) -> serde_json::Value {
    let mut remote = Command::new("git");
    let address = format!("https://github.com/{REPOSITORY}");
    succeed(
        remote
            .args(["remote", "add", "origin", &address])
            .current_dir(repository),
    );
    twin.world()
        .merge_bases
        .insert(format!("main...{head}"), hash("base"));
    let mut event = payload("pull_request");
    set(&mut event, "/pull_request/number", json!(5));
    set(&mut event, "/pull_request/head/sha", json!(head));
    set(
        &mut event,
        "/pull_request/head/repo/full_name",
        json!(REPOSITORY),
    );
    set(&mut event, "/pull_request/base/ref", json!("main"));
    event
}

#[test]
fn nightly_the_first_workflow_comments_on_a_pull_request_that_breaks() {
    let installed = root().join("target/tools/.installed").exists();
    if !engine() || !there(installed, "the tools are not installed: run scripts/tools") {
        return;
    }
    let image = ["image", "inspect", "mcp-assert-test/python:latest"];
    let has_image = docker(root(), &image).status.success();
    if !there(has_image, "the images are not made: run scripts/images") {
        return;
    }
    let twin = released();
    let folder = tempfile::tempdir().unwrap();
    let [home, ours, repository] = ["home", "action", "repository"].map(|name| {
        let made = folder.path().join(name);
        fs::create_dir(&made).unwrap();
        made
    });
    action(&ours);
    asks(&ours, &twin);
    written(&repository, &SERVER.replace("\"echo\", ", ""));
    let head = commit(&repository);
    let event = folder.path().join("event.json");
    write(&event, &proposal(&twin, &repository, &head).to_string());
    let mut act = runner("pull_request", &repository, &home);
    // The API listens on this machine only.
    let options = format!(
        "--container-options=-v {0}:{0} --network host",
        home.display()
    );
    act.arg(options)
        .args(stand_ins(folder.path()))
        .arg(format!(
            "--local-repository=mcp-assert/action@v1={}",
            ours.display()
        ))
        .arg("--eventpath")
        .arg(event)
        .args([
            "--secret",
            &format!("GITHUB_TOKEN={TOKEN}"),
            "--secret",
            "API_KEY=key",
        ]);
    let (green, said) = finish(act);
    let image = "act-mcp-assert-action-v1-dockeraction:latest";
    docker(folder.path(), &["rmi", "--force", image]);
    println!("{said}");
    assert!(!green && said.contains("verdict: fail"), "{said}");
    twin.check();
    let world = twin.world();
    assert_eq!(world.comments.len(), 1, "{said}");
    let comment = &world.comments[0].body;
    println!("{comment}");
    for wanted in ["regress", "breaking", "echo"] {
        assert!(comment.contains(wanted), "{wanted}: {comment}");
    }
    for output in ["regressions=1", "breaking=1", "comment=created"] {
        assert!(said.contains(output), "{output}: {said}");
    }
}
