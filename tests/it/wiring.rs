//! The workflow with shards in a local workflow runner, on a real engine: plan, three shards, merge. Foreign actions
//! are replaced by stand-ins that copy files; ours runs in its image.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use crate::{
    engine::{docker, engine, there},
    harness::{BINARY, copy_binary},
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

/// A repository whose image is made of these files.
fn repository(folder: &Path) {
    root_files(folder);
    let dockerfile = fs::read_to_string(root().join("Dockerfile")).unwrap();
    let dockerfile = dockerfile.split("\nFROM rust").next().unwrap();
    let base = regex::Regex::new("(?m)^ARG BASE=.*$").unwrap();
    write(
        &folder.join("Dockerfile"),
        &base.replace(dockerfile, "ARG BASE=scratch"),
    );
    for copied in ["action.yml", ".github/workflows/mcp-assert.yml"] {
        write(
            &folder.join(copied),
            &fs::read_to_string(root().join(copied)).unwrap(),
        );
    }
    write(&folder.join(".github/workflows/call.yml"), CALLER);
    write(&folder.join("evals/a.yaml"), SUITE);
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
    let mut act = Command::new(root().join("target/tools/python/bin/act"));
    act.args([
        "push",
        "--platform",
        "ubuntu-24.04=-self-hosted",
        "--action-offline-mode",
    ])
    .arg("--no-cache-server")
    // Where it keeps the files that steps write to; the action's container sees them at the same place.
    .arg(format!("--container-options=-v {0}:{0}", home.display()))
    .args(stand_ins(folder.path()))
    .args(["--env", &format!("ARTIFACTS={}", artifacts.display())])
    .args(["--env", &format!("DROPPED={dropped}")])
    .current_dir(&repository_folder)
    .env("HOME", &home)
    .env("XDG_CACHE_HOME", home.join("cache"))
    .env("XDG_CONFIG_HOME", home.join("config"))
    .env("DOCKER_BUILDKIT", "0");
    let output = act.output().unwrap();
    docker(
        folder.path(),
        &["rmi", "--force", "act-dockeraction:latest"],
    );
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
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
