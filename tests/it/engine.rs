//! The container engine the tests share: whether it is there, and images that go when a test ends.

use std::{
    path::Path,
    process::{Command, Output, Stdio},
    sync::{
        LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Whether an engine answers; says so when none does, and fails where `CI` is `true`.
pub(crate) fn engine() -> bool {
    static ANSWERS: LazyLock<bool> = LazyLock::new(|| {
        Command::new("docker")
            .arg("version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    });
    there(
        *ANSWERS,
        "no container engine answers: scripts/test starts one",
    )
}

/// Whether what a test needs is there; if not, says so, and fails where `CI` is `true`.
pub(crate) fn there(is: bool, otherwise: &str) -> bool {
    if !is {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{otherwise}");
        eprintln!("skipped: {otherwise}");
    }
    is
}

/// Runs the engine's own client in a folder.
pub(crate) fn docker(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("docker")
        .args(arguments)
        .current_dir(folder)
        // The classic builder needs no plugin.
        .env("DOCKER_BUILDKIT", "0")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// What the engine's own client prints; it must succeed.
pub(crate) fn docker_says(folder: &Path, arguments: &[&str]) -> String {
    let output = docker(folder, arguments);
    assert!(
        output.status.success(),
        "docker {arguments:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The name of an image that is removed with this value.
#[derive(Debug)]
pub(crate) struct Tag(pub(crate) String);

impl Tag {
    /// A name no other test has.
    pub(crate) fn new(purpose: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!(
            "mcp-assert-test/{purpose}:{}-{number}",
            std::process::id()
        ))
    }
}

impl Drop for Tag {
    fn drop(&mut self) {
        docker(Path::new("/"), &["rmi", "--force", &self.0]);
    }
}
