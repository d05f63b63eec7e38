//! The steps of a release on stand-ins: a copy of this repository, a bare one as its remote, a registry of images, and a
//! `gh` that writes down what it is asked. What only GitHub can do, such as attestations, is not tested.
#![cfg(unix)]

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use regex::Regex;

use crate::{engine::there, harness::until};

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is copied: all that a release reads or writes.
const COPIED: [&str; 10] = [
    ".github",
    "CHANGELOG.md",
    "Cargo.toml",
    "Dockerfile",
    "README.md",
    "action.yml",
    "docs",
    "scripts",
    "setup",
    "templates",
];

/// A stand-in for GitHub's command line. No release is there, and no pull request.
const GH: &str = "#!/bin/sh\necho \"$1 $2\" >>\"$GH_LOG\"\n[ \"$1 $2\" != \"release view\" ]\n";

/// A copy of the repository, with one commit, and its remote.
struct Copied {
    folder: tempfile::TempDir,
}

impl Copied {
    fn new() -> Self {
        let copied = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let repository = copied.path("repository");
        fs::create_dir(&repository).unwrap();
        let mut copy = Command::new("cp");
        copy.arg("--recursive").args(COPIED).arg(&repository);
        succeed(copy.current_dir(env!("CARGO_MANIFEST_DIR")));
        copied.git(&["init", "--quiet", "--initial-branch", "main"]);
        copied.git(&["add", "--all"]);
        copied.git(&["commit", "--quiet", "--message", "x"]);
        copied.git(&["init", "--quiet", "--bare", "../remote"]);
        copied.git(&["remote", "add", "origin", "../remote"]);
        copied
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path("repository").join(file)).unwrap()
    }

    /// A command in the repository.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.path("repository"))
            .env("RELEASE_PLAIN_HTTP", "yes");
        command
    }

    fn git(&self, words: &[&str]) -> String {
        let who = ["-c", "user.name=a", "-c", "user.email=a@b"];
        succeed(&mut self.command("git", &[&who[..], words].concat()))
    }

    /// A file as a commit has it.
    fn at(&self, commit: &str, file: &str) -> String {
        self.git(&["show", &format!("{commit}:{file}")])
    }

    fn script(&self, name: &str, arguments: &[&str]) -> Output {
        let script = self.path("repository").join("scripts").join(name);
        self.command(script.to_str().unwrap(), arguments)
            .output()
            .unwrap()
    }

    fn passes(&self, name: &str, arguments: &[&str]) -> String {
        let output = self.script(name, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name} {arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn is_refused(&self, name: &str, arguments: &[&str], why: &str) {
        let output = self.script(name, arguments);
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(!output.status.success(), "{name} {arguments:?}: {said}");
        assert!(said.contains(why), "{name} {arguments:?}: {said}");
    }

    /// The files of a release of programs that say where they are from.
    fn assets(&self) {
        for build in [
            "x86_64-linux-first",
            "x86_64-linux-second",
            "aarch64-linux-first",
            "aarch64-linux-second",
            "x86_64-macos-first",
            "aarch64-macos-first",
        ] {
            let (system, _) = build.rsplit_once('-').unwrap();
            let program = format!("#!/bin/sh\necho {system}\n");
            self.write(&format!("builds/build-{build}/mcp-assert"), &program);
        }
        let bill = "builds/bill-of-materials/mcp-assert-sbom.cdx.json";
        self.write(bill, "{}");
        self.passes("release/assets", &[VERSION, "../builds", "../assets"]);
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes the commits of a release. Returns the first, which names image and programs; the tag is on the second.
    fn commits(&self, digest: &str) -> String {
        let arguments = [VERSION, digest, "../assets/SHA256SUMS"];
        self.passes("release/commits", &arguments);
        let first = self.git(&["rev-parse", &format!("v{VERSION}^")]);
        first.trim().to_owned()
    }
}

impl Copied {
    /// The processors of the image that was made.
    fn platforms(&self, digest: &str) -> Vec<String> {
        let blobs = self.path("layout/blobs/sha256");
        let index = fs::read(blobs.join(digest.trim_start_matches("sha256:"))).unwrap();
        let index: serde_json::Value = serde_json::from_slice(&index).unwrap();
        let all = index["manifests"].as_array().unwrap().iter();
        all.map(|it| it["platform"]["architecture"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Publishes what was made and pushed, with the stand-in for `gh`.
    fn publish(&self, image: &str, digest: &str) {
        let path = format!("{}:{}", self.path("bin").display(), env!("PATH"));
        let arguments = [VERSION, image, digest, "../assets"];
        let mut publish = self.command("scripts/release/publish", &arguments);
        publish.env("PATH", path).env("GH_TOKEN", "x");
        succeed(publish.env("GH_LOG", self.path("gh.log")));
    }

    /// Asserts that the setup says this under these variables, and that a refusal is in the summary too.
    fn installs(&self, variables: &[(&str, &str)], wanted: &str) {
        let downloads = format!("file://{}", self.path("downloads").display());
        let mut install = self.command("setup/install", &[]);
        install
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("RUNNER_TEMP", self.path("temp"))
            .env("GITHUB_PATH", self.path("path"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .env("MCP_ASSERT_DOWNLOADS", downloads)
            .envs(variables.iter().copied());
        fs::write(self.path("summary"), "").unwrap();
        let output = install.output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains(wanted), "{variables:?}: {said}");
        let is_refusal = said.contains("::error title=mcp-assert setup::");
        assert_eq!(output.status.success(), !is_refusal, "{said}");
        let summary = fs::read_to_string(self.path("summary")).unwrap();
        assert_eq!(summary.is_empty(), !is_refusal, "{summary}");
    }
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn only_an_image_that_is_named_by_its_digest_can_be_released() {
    let copied = Copied::new();
    copied.is_refused("pin", &["check"], "by its digest");
    for tag in ["v1", "latest", &DIGEST[..40]] {
        copied.is_refused("pin", &["image", tag], "is no digest");
    }
    for (commit, tag) in [("v1", "v1.2.3"), (COMMIT, "latest"), (&COMMIT[1..], "v1")] {
        copied.is_refused("pin", &["commit", commit, tag], "is no");
    }
    copied.passes("pin", &["image", DIGEST]);
    let image = format!("  image: docker://ghcr.io/mcp-assert/action@{DIGEST}\n");
    assert!(copied.text("action.yml").contains(&image));
    copied.is_refused("pin", &["check"], "knows no version");
    copied.passes("pin", &["main"]);
    assert!(copied.text("action.yml").contains("  image: Dockerfile\n"));
    copied.is_refused(
        "release/image",
        &["busybox:1.37", "../assets", VERSION, "../layout"],
        "has no digest",
    );
}

#[test]
fn the_sources_are_those_of_the_version_or_nothing_is_built() {
    let copied = Copied::new();
    copied.passes("release/check", &[VERSION]);
    assert!(
        copied
            .passes("release/notes", &[VERSION])
            .contains("mcp-assert run")
    );
    copied.is_refused(
        "release/check",
        &["99.0.0"],
        "Cargo.toml has another version",
    );
    copied.is_refused("release/check", &["v1"], "is no version");
    let pages = copied
        .text("README.md")
        .replace("mcp-assert/action@v1", "mcp-assert/action@main");
    copied.write("repository/README.md", &pages);
    copied.is_refused("release/check", &[VERSION], "and not by v1 alone");
}

/// The actions and workflows of ours that the pages name, as files of the repository.
fn documented(copied: &Copied) -> Vec<String> {
    let used = Regex::new(r"uses: mcp-assert/action(?:/([^@\s]+))?@v1\b").unwrap();
    let pages = fs::read_dir(copied.path("repository/docs")).unwrap();
    let mut text = copied.text("README.md");
    for page in pages
        .map(|page| page.unwrap().path())
        .filter(|page| page.is_file())
    {
        text += &fs::read_to_string(page).unwrap();
    }
    let mut files: Vec<String> = used
        .captures_iter(&text)
        .map(|found| match found.get(1).map(|it| it.as_str()) {
            None => "action.yml".to_owned(),
            Some(file) if file.starts_with(".github/workflows/") => file.to_owned(),
            Some(folder) => format!("{folder}/action.yml"),
        })
        .collect();
    files.sort();
    files.dedup();
    files
}

#[test]
fn what_the_pages_name_is_there_and_leads_to_commits_and_digests_alone() {
    let copied = Copied::new();
    copied.assets();
    let tag = format!("v{VERSION}");
    let first = copied.commits(DIGEST);
    let again = copied.git(&["rev-parse", &tag]);
    copied.git(&["checkout", "--quiet", "main"]);
    copied.commits(DIGEST);
    assert_eq!(
        copied.git(&["rev-parse", &tag]),
        again,
        "the same input, other commits"
    );
    let files = documented(&copied);
    assert_eq!(
        files,
        [
            ".github/workflows/mcp-assert.yml",
            "action.yml",
            "setup/action.yml"
        ]
    );
    let image = format!("  image: docker://ghcr.io/mcp-assert/action@{DIGEST}\n");
    let used = Regex::new(r"(?m)uses: (.*)$").unwrap();
    let whole = Regex::new(r"^[\w./-]+@[0-9a-f]{40} # v[0-9.]+").unwrap();
    let mut ours = 0;
    for file in &files {
        let text = copied.at(&tag, file);
        for found in used.captures_iter(&text) {
            assert!(whole.is_match(&found[1]), "{file}: {}", &found[0]);
            if found[1].starts_with("mcp-assert/action@") {
                assert!(found[1].contains(&first), "{file}: {}", &found[0]);
                ours += 1;
            }
        }
    }
    assert_eq!(ours, 3, "plan, shard, merge");
    for commit in [&first, &tag] {
        assert!(copied.at(commit, "action.yml").contains(&image), "{commit}");
    }
    let known = copied.at(&tag, "setup/checksums");
    assert_eq!(
        known.matches(&format!("mcp-assert-{VERSION}-")).count(),
        4,
        "{known}"
    );
    // What goes back to main is built from its sources, and still calls a commit that has an image.
    let main = copied.at(&format!("release/{tag}"), "action.yml");
    assert!(main.contains("  image: Dockerfile\n"));
}

/// A registry of images on this machine.
struct Registry {
    process: Child,
    address: String,
}

impl Registry {
    fn start(folder: &Path) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = free.local_addr().unwrap().to_string();
        drop(free);
        let config = folder.join("registry.yml");
        let text = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: {}}}}}\nhttp: {{addr: '{address}'}}\n",
            folder.join("images").display()
        );
        fs::write(&config, text).unwrap();
        let mut serve = Command::new("docker-registry");
        serve.arg("serve").arg(config);
        let process = serve.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let registry = Self {
            process: process.unwrap(),
            address,
        };
        until("the registry does not answer", || {
            std::net::TcpStream::connect(&registry.address).is_ok()
        });
        registry
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn nightly_a_release_is_pushed_by_its_digest_and_tagged_when_it_is_published() {
    let tools = ["buildah", "skopeo", "docker-registry", "jq"];
    let is_there = |tool: &&str| Command::new(tool).arg("--version").output().is_ok();
    let all = tools.iter().all(is_there);
    if !there(
        all,
        "buildah, skopeo, docker-registry and jq are not installed",
    ) {
        return;
    }
    let copied = Copied::new();
    copied.assets();
    let registry = Registry::start(copied.folder.path());
    let image = format!("{}/mcp-assert/action", registry.address);
    let make = |layout| {
        let digest = copied.passes("release/image", &["scratch", "../assets", VERSION, layout]);
        digest.trim().to_owned()
    };
    let digest = make("../layout");
    assert_eq!(digest, make("../again"), "equal programs, another image");
    assert_eq!(copied.platforms(&digest), ["amd64", "arm64"]);
    let tags = || {
        let listed = copied
            .command("skopeo", &["list-tags", "--tls-verify=false"])
            .arg(format!("docker://{image}"))
            .output()
            .unwrap();
        String::from_utf8(listed.stdout).unwrap()
    };
    let pushed = copied.passes("release/push", &["../layout", &image]);
    assert!(pushed.contains("can be pulled by everybody"), "{pushed}");
    assert!(!tags().contains("v1"), "a tag before the release");
    copied.commits(&digest);
    copied.write("bin/gh", GH);
    succeed(copied.command("chmod", &["+x"]).arg(copied.path("bin/gh")));
    copied.publish(&image, &digest);
    let asked = fs::read_to_string(copied.path("gh.log")).unwrap();
    let asked: Vec<&str> = asked.lines().collect();
    assert_eq!(
        asked,
        [
            "release view",
            "release create",
            "release edit",
            "pr list",
            "pr create"
        ]
    );
    let tagged = tags();
    for tag in [format!("\"v{VERSION}\""), "\"v1\"".to_owned()] {
        assert!(tagged.contains(&tag), "{tagged}");
    }
    let there = copied.git(&["ls-remote", "origin"]);
    let release = copied.git(&["rev-parse", &format!("v{VERSION}")]);
    for tag in ["refs/tags/v1", &format!("refs/tags/v{VERSION}")] {
        let line = format!("{}\t{tag}\n", release.trim());
        assert!(there.contains(&line), "{there}");
    }
    // A job that failed at the end runs again.
    copied.publish(&image, &digest);
}

#[test]
fn the_setup_installs_what_the_release_has_written_down_and_nothing_else() {
    let curl = Command::new("curl").arg("--version").output().is_ok();
    if !there(curl, "curl is not installed") {
        return;
    }
    let copied = Copied::new();
    copied.assets();
    copied.commits(DIGEST);
    let downloads = copied.path("downloads").join(format!("v{VERSION}"));
    fs::create_dir_all(copied.path("downloads")).unwrap();
    fs::rename(copied.path("assets"), &downloads).unwrap();
    let case = |variables: &[(&str, &str)], wanted: &str| copied.installs(variables, wanted);
    case(
        &[("RUNNER_OS", "Windows")],
        "does not run on Windows; run the job on ubuntu-24.04, or its steps inside WSL",
    );
    case(
        &[("RUNNER_OS", "FreeBSD")],
        "use a runner with Linux or macOS",
    );
    case(
        &[("RUNNER_ARCH", "S390X")],
        "no program for S390X processors",
    );
    case(&[("VERSION", "9.9.9")], &format!("or one of: {VERSION}"));
    case(
        &[("VERSION", "$(id)::error::")],
        "the input version is ??id???error??,",
    );
    case(
        &[("MCP_ASSERT_DOWNLOADS", "file:///nowhere")],
        "could not be downloaded; run the job again",
    );
    assert!(!copied.path("path").exists(), "a refusal changed the PATH");
    case(&[], "x86_64-linux");
    case(
        &[
            ("VERSION", &format!("v{VERSION}")),
            ("RUNNER_TEMP", copied.path("other").to_str().unwrap()),
        ],
        "x86_64-linux",
    );
    case(
        &[("RUNNER_OS", "macOS"), ("RUNNER_ARCH", "ARM64")],
        "aarch64-macos",
    );
    let program = downloads.join(format!("mcp-assert-{VERSION}-aarch64-linux"));
    fs::write(program, "#!/bin/sh\necho other\n").unwrap();
    case(&[("RUNNER_ARCH", "ARM64")], "do not use it");
    let empty =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("setup/checksums")).unwrap();
    let empty: String = empty.lines().take(1).collect();
    copied.write("repository/setup/checksums", &empty);
    case(
        &[],
        "belongs to no release; write uses: mcp-assert/action/setup@v1",
    );
}

#[test]
fn what_can_write_runs_after_what_compiles_and_compiles_nothing() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workflow = fs::read_to_string(root.join(".github/workflows/release.yml")).unwrap();
    let (before, publish) = workflow.split_once("\n  publish:\n").unwrap();
    assert!(!before.contains(": write"), "a job that compiles can write");
    for compiles in ["cargo", "rustup", "pip", "npm", "buildah"] {
        assert!(!publish.contains(compiles), "{compiles}");
    }
    let at = |step: &str| {
        let found = workflow.find(step);
        found.unwrap_or_else(|| panic!("no `{step}` in release.yml"))
    };
    // Steps after one that fails are not run.
    let order = [
        "scripts/release/check",
        "scripts/release/build",
        "scripts/sbom x86_64-unknown-linux-gnu",
        "scripts/release/assets",
        "scripts/release/image",
        "scripts/release/push",
        "actions/attest@",
        "scripts/release/commits",
        "permission-workflows: write",
        "scripts/release/publish",
    ];
    assert!(order.map(at).is_sorted(), "{order:?}");
    assert!(!workflow.contains("continue-on-error"));
}
