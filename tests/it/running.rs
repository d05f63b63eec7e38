//! A running binary that tests can watch and signal, and what it left on the machine.

use std::{
    io::Read,
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
    thread::JoinHandle,
};

use crate::harness::{Project, until};

/// A running binary. Its temporary folders are in the project's `tmp`.
pub(crate) struct Running {
    child: Child,
    output: ChildStdout,
    errors: JoinHandle<String>,
    folder: std::path::PathBuf,
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The process id.
    pub(crate) pid: u32,
    /// The rest of standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// The exit code; `None` for a signal.
    pub(crate) code: Option<i32>,
    /// Living processes with its marker.
    pub(crate) processes: Vec<String>,
    /// The contents of its temporary folder.
    pub(crate) temporary: Vec<String>,
}

impl Running {
    /// Starts the binary.
    pub(crate) fn start(project: &Project, arguments: &[&str]) -> Self {
        Self::of(project, project.command(arguments))
    }

    /// Starts a command that becomes the binary.
    pub(crate) fn of(project: &Project, mut command: Command) -> Self {
        let folder = project.path().join("tmp");
        std::fs::create_dir_all(&folder).unwrap();
        let mut child = command
            .env("TMPDIR", &folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        let errors = std::thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).unwrap();
            String::from_utf8(text).expect("stderr is UTF-8")
        });
        Self {
            child,
            output,
            errors,
            folder,
        }
    }

    /// Waits until a file is there and has something in it.
    pub(crate) fn until_file(&mut self, path: &Path) -> String {
        let mut text = String::new();
        until(&format!("{} never came", path.display()), || {
            text = std::fs::read_to_string(path).unwrap_or_default();
            let is_there = text.ends_with('\n');
            assert!(
                is_there || self.child.try_wait().unwrap().is_none(),
                "it ended early"
            );
            is_there
        });
        text
    }

    /// The processes that it started and that live.
    pub(crate) fn servers(&mut self) -> Vec<String> {
        assert!(self.child.try_wait().unwrap().is_none(), "it ended early");
        processes_of(self.child.id())
    }

    /// Sends a signal, such as `-INT`.
    pub(crate) fn signal(&self, signal: &str) {
        signal_to(self.child.id(), signal);
    }

    /// Waits until its output fills an unread pipe.
    pub(crate) fn until_stalled(&mut self) {
        let full = 40 * 1024;
        until("it never wrote so much", || {
            rustix::io::ioctl_fionread(&self.output).unwrap() >= full
        });
    }

    /// Waits for the end before reading any output.
    pub(crate) fn end_unread(mut self) -> Ended {
        self.child.wait().unwrap();
        self.end()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        let mut stdout = Vec::new();
        self.output.read_to_end(&mut stdout).unwrap();
        let code = self.child.wait().unwrap().code();
        Ended {
            pid: self.child.id(),
            stdout: String::from_utf8(stdout).expect("stdout is UTF-8"),
            stderr: self.errors.join().unwrap(),
            code,
            processes: processes_of(self.child.id()),
            temporary: names(&self.folder),
        }
    }
}

impl Ended {
    /// Standard output as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\n{}\n{}", self.stdout, self.stderr))
    }

    /// Asserts that no process and no file is left.
    pub(crate) fn left_nothing(&self) {
        assert_eq!(self.processes, [""; 0], "processes that were left");
        assert_eq!(self.temporary, [""; 0], "temporary files that were left");
    }
}

/// Sends a signal to a process.
pub(crate) fn signal_to(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Living processes started by the run with this id, with their command lines.
pub(crate) fn processes_of(run: u32) -> Vec<String> {
    let mark = format!("MCP_ASSERT_OWNER={run}:");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    processes
        .flatten()
        .filter_map(|entry| {
            let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
            let environment = std::fs::read(entry.path().join("environ")).ok()?;
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable.starts_with(mark.as_bytes()))
                .then(|| {
                    let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                    format!(
                        "{pid} {}",
                        String::from_utf8_lossy(&words).replace('\0', " ")
                    )
                })
        })
        .collect()
}

/// Whether a process with this id lives.
pub(crate) fn lives(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

fn names(folder: &Path) -> Vec<String> {
    std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect()
}
