//! Images on a real engine.

use std::path::Path;

use crate::engine::{Tag, docker_says, engine, there};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_static_binary_runs_in_an_image_of_nothing_else() {
    let built = root()
        .join("dist/rootfs/usr/local/bin/mcp-assert-action")
        .exists();
    if !engine() || !there(built, "dist/rootfs is not there: run scripts/rootfs") {
        return;
    }
    let tag = Tag::new("action");
    let scratch = [
        "build",
        "--target",
        "prebuilt",
        "--build-arg",
        "BASE=scratch",
    ];
    docker_says(root(), &[&scratch[..], &["--tag", &tag.0, "."]].concat());
    let alone = [
        "run",
        "--rm",
        "--network",
        "none",
        "--read-only",
        "--entrypoint",
        "/usr/local/bin/mcp-assert",
        &tag.0,
    ];
    let version = docker_says(root(), &[&alone[..], &["--version"]].concat());
    let ours = format!("mcp-assert {} (", env!("CARGO_PKG_VERSION"));
    assert!(version.starts_with(&ours), "{version}");
    // Nothing but the binary and its names: no shell, no loader.
    let files = docker_says(
        root(),
        &[
            "image",
            "inspect",
            "--format",
            "{{len .RootFS.Layers}}",
            &tag.0,
        ],
    );
    assert_eq!(files, "1");
}
