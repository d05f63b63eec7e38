//! A throw-away project and the real binary in it: a scrubbed environment, and output with paths and times
//! replaced by placeholders.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::LazyLock,
    thread,
    time::{Duration, Instant},
};

use regex::Regex;

/// The executable under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mcp-assert");

/// Copies the binary in a child process. A copy that another test's child holds open for writing could not be executed.
pub(crate) fn copy_binary(to: &Path) {
    let copied = Command::new("cp")
        .args([BINARY.as_ref(), to.as_os_str()])
        .status();
    assert!(copied.unwrap().success(), "{}", to.display());
}

/// Waits until something is so. A loop without pauses would take the processor from what is waited for.
pub(crate) fn until(otherwise: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_mins(3), "{otherwise}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A Python server that executes the tool's argument `what`. There, `argv` has its arguments, `F` the first of them (a
/// fixture), and `text` is the answer.
pub(crate) const OBEDIENT: &str = r"
import json, os, shutil, sys
F = sys.argv[1] if len(sys.argv) > 1 else None
def answer(asked, value):
    print(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': value}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked['method'] == 'initialize':
        answer(asked, {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
                       'serverInfo': {'name': 'x', 'version': '1'}})
    elif asked['method'] == 'tools/list':
        answer(asked, {'tools': [{'name': 'do', 'inputSchema': {'type': 'object'}}]})
    elif asked['method'] == 'tools/call':
        seen = {'argv': sys.argv, 'F': F, 'os': os, 'shutil': shutil, 'text': 'done'}
        exec(asked['params']['arguments']['what'], seen)
        answer(asked, {'content': [{'type': 'text', 'text': seen['text']}]})
";

/// A temporary folder with suites in it.
#[derive(Debug)]
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct Ran {
    /// Standard output as it was.
    pub(crate) stdout: String,
    /// Standard error as it was.
    pub(crate) stderr: String,
    /// The exit code; -1 for a signal.
    pub(crate) code: i32,
    folder: PathBuf,
}

impl Project {
    /// An empty project.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::Builder::new()
                .prefix("project-")
                .tempdir()
                .unwrap(),
        }
    }

    /// A project whose suite `evals/a.yaml` is this text.
    pub(crate) fn with_suite(yaml: &str) -> Self {
        Self::new().file("evals/a.yaml", yaml)
    }

    /// Adds a file.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let full = self.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, text).unwrap();
        self
    }

    /// The project's folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The text of a file that was written.
    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap()
    }

    /// The command, ready to be run or changed: no variable that could change output is inherited.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::null());
        command.env_clear().env("NO_COLOR", "1");
        for kept in ["PATH", "HOME", "TMPDIR", "LANG"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.finish(self.command(arguments))
    }

    /// Runs a command made by [`Self::command`].
    pub(crate) fn finish(&self, mut command: Command) -> Ran {
        let output = command.output().unwrap();
        Ran {
            stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("stderr is UTF-8"),
            code: output.status.code().unwrap_or(-1),
            folder: self.path().to_owned(),
        }
    }
}

impl Ran {
    /// Standard output with placeholders.
    pub(crate) fn shown(&self) -> String {
        mask(&self.stdout, &self.folder)
    }

    /// Standard error with placeholders.
    pub(crate) fn complaints(&self) -> String {
        mask(&self.stderr, &self.folder)
    }

    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| {
            panic!(
                "stdout is not JSON: {error}\n{}\n{}",
                self.stdout, self.stderr
            )
        })
    }
}

/// Replaces parts that differ between equal runs.
pub(crate) fn mask(text: &str, folder: &Path) -> String {
    static TIMES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b\d+(\.\d+)? ?(ms|µs|s)\b").expect("a valid pattern"));
    static PADDED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r" +\[TIME\]").expect("a valid pattern"));
    let text = text
        .replace(&folder.display().to_string(), "[PROJECT]")
        .replace(BINARY, "[BINARY]");
    let text = TIMES.replace_all(&text, "[TIME]");
    PADDED.replace_all(&text, "  [TIME]").into_owned()
}

/// Checks that a page of the repository is what the program makes of it; with `UPDATE_DOCS=1` it is written first.
pub(crate) fn assert_generated(page: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{page} is not what the program says: run this test with UPDATE_DOCS=1 and look at the change"
    );
}

/// How a page begins with this verdict.
pub(crate) fn headline(verdict: &str) -> String {
    match verdict {
        "pass" => "### ✅ mcp-assert · ".to_owned(),
        "fail" => "### ❌ mcp-assert · ".to_owned(),
        other => format!("### ⚠️ mcp-assert · {other}\n"),
    }
}
