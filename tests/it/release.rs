//! The release script: pins the image by digest, and the commit in every example. Steps that only GitHub can do are not
//! tested.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const DIGEST: &str = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// The files that name an action.
const FILES: [&str; 8] = [
    "scripts/pin",
    "action.yml",
    "Dockerfile",
    "README.md",
    "docs/github-action.md",
    "docs/compat.md",
    ".github/workflows/mcp-assert.yml",
    ".github/workflows/comment.yml",
];

/// A copy of them to write to.
struct Copied {
    folder: tempfile::TempDir,
}

impl Copied {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for file in FILES {
            let to = folder.path().join(file);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join(file), to).unwrap();
        }
        Self { folder }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    fn pin(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(self.path("scripts/pin"));
        command.args(arguments).output().unwrap()
    }

    fn passes(&self, arguments: &[&str]) -> bool {
        self.pin(arguments).status.success()
    }
}

#[test]
fn only_an_image_that_is_named_by_its_digest_can_be_released() {
    let copied = Copied::new();
    assert!(!copied.passes(&["check"]), "a Dockerfile is no image");
    for tag in ["v1", "latest", &DIGEST[..40]] {
        let refused = copied.pin(&["image", tag]);
        assert!(!refused.status.success(), "{tag}");
        let image = format!("  image: docker://ghcr.io/mcp-assert/action:{tag}");
        let named = copied
            .text("action.yml")
            .replace("  image: Dockerfile", &image);
        assert!(named.contains(&image), "{named}");
        let of_tag = Copied::new();
        fs::write(of_tag.path("action.yml"), named).unwrap();
        let checked = of_tag.pin(&["check"]);
        assert!(!checked.status.success(), "{tag}");
        let words = String::from_utf8_lossy(&checked.stderr).into_owned();
        assert!(words.contains("by its digest"), "{words}");
    }
    assert!(copied.passes(&["image", DIGEST]));
    assert!(copied.passes(&["check"]));
    let image = format!("  image: docker://ghcr.io/mcp-assert/action@{DIGEST}\n");
    assert!(copied.text("action.yml").contains(&image));
}

#[test]
fn every_example_names_the_commit_of_the_release() {
    let copied = Copied::new();
    for (commit, tag) in [("v1", "v1.2.3"), (COMMIT, "latest"), (&COMMIT[1..], "v1")] {
        assert!(!copied.passes(&["commit", commit, tag]), "{commit} {tag}");
    }
    assert!(copied.passes(&["commit", COMMIT, "v1.2.3"]));
    let used = regex::Regex::new(r"uses: (?:mcp-assert/action\S*|\./\S*).*").unwrap();
    let mut seen = 0;
    for file in &FILES[3..] {
        let text = copied.text(file);
        for found in used.find_iter(&text) {
            let pinned = format!("@{COMMIT} # v1.2.3");
            assert!(
                found.as_str().ends_with(&pinned),
                "{file}: {}",
                found.as_str()
            );
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn a_release_is_stopped_where_its_builds_differ_or_its_image_has_a_tag() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let workflow = fs::read_to_string(root.join(".github/workflows/release.yml")).unwrap();
    let at = |step: &str| {
        let found = workflow.find(step);
        found.unwrap_or_else(|| panic!("no `{step}` in release.yml"))
    };
    // Steps after one that fails are not run.
    let order = [
        "cmp builds/build-first/mcp-assert builds/build-second/mcp-assert",
        "--output \"type=image",
        "scripts/sbom x86_64-unknown-linux-gnu",
        "scripts/pin image \"$DIGEST\"",
        "scripts/pin check",
        "gh release create",
        "--draft=false",
        "refs/tags/v${VERSION%%.*}",
    ];
    assert!(order.map(at).is_sorted(), "{order:?}");
    assert!(!workflow.contains("continue-on-error"));
}
