//! Engines of a test's own, beside the one that all share: one that is full, one that is stopped, one behind TLS. Only
//! root can start them.

use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::end_without_engine;
use crate::{
    engine::{engine, there},
    harness::{Project, until},
};

/// Where the engines of this machine keep their containers running.
const CONTAINERD: &str = "/run/containerd/containerd.sock";

/// A running engine; it ends with this value.
struct OwnEngine {
    folder: tempfile::TempDir,
    daemon: Child,
    space: Space,
    /// What is named after it: a namespace of containerd's, a bridge.
    name: String,
}

/// How much an engine may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Space {
    /// What the disk has.
    Disk,
    /// Some megabytes.
    Megabytes(u32),
}

/// Runs a program of the system's.
pub(super) fn system(program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.output().unwrap()
}

fn succeeds(program: &str, arguments: &[&str]) {
    let output = system(program, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
}

/// Whether one can be started here.
fn can_start() -> bool {
    if !geteuid().is_root() {
        eprintln!("skipped: only root can start an engine");
        return false;
    }
    let tools = "command -v dockerd && command -v ip && command -v mount";
    let found = system("sh", &["-c", tools]).status.success() && Path::new(CONTAINERD).exists();
    engine() && there(found, "dockerd, containerd, ip or mount is not there")
}

impl OwnEngine {
    /// Starts one; `None` where that cannot be.
    fn start(space: Space, more: &[&str]) -> Option<Self> {
        if !can_start() {
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("engine-")
            .tempdir()
            .unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        if let Space::Megabytes(megabytes) = space {
            let size = format!("size={megabytes}m");
            let data = data.to_str().unwrap();
            succeeds("mount", &["-t", "tmpfs", "-o", &size, "tmpfs", data]);
        }
        let name = folder.path().file_name().unwrap().to_str().unwrap();
        let name = name.replace('.', "");
        // Not `none`: with that an engine removes the bridge of the one that all share.
        succeeds("ip", &["link", "add", &name, "type", "bridge"]);
        let daemon = daemon(folder.path(), &name, more).spawn().unwrap();
        let own = Self {
            folder,
            daemon,
            space,
            name,
        };
        until("the engine answers", || {
            own.docker(&["version"]).status.success()
        });
        Some(own)
    }

    fn host(&self) -> String {
        format!("unix://{}", self.folder.path().join("socket").display())
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn docker(&self, arguments: &[&str]) -> Output {
        system("docker", &[&["--host", &self.host()], arguments].concat())
    }

    /// Ends it as a service manager does.
    fn stop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.daemon), Signal::TERM);
        let begun = Instant::now();
        while self.daemon.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(30) {
                let _ = self.daemon.kill();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The command of an engine whose files are all in one folder.
fn daemon(folder: &Path, name: &str, more: &[&str]) -> Command {
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut command = Command::new("dockerd");
    for (option, file) in [
        ("--data-root", "data"),
        ("--exec-root", "exec"),
        ("--pidfile", "pid"),
    ] {
        command.arg(option).arg(folder.join(file));
    }
    let socket = format!("unix://{}", folder.join("socket").display());
    command
        .args(["--host", &socket, "--containerd", CONTAINERD])
        .args(["--containerd-namespace", name, "--bridge", name])
        .args(["--containerd-plugins-namespace", &format!("{name}-plugins")])
        .args(["--iptables=false", "--ip-forward=false", "--ip-masq=false"])
        .args(more)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    command
}

impl Drop for OwnEngine {
    fn drop(&mut self) {
        self.stop();
        let network = self.folder.path().join("exec/netns/default");
        for mounted in [network, self.data()] {
            // Not all of them are.
            system("umount", &[mounted.to_str().unwrap()]);
        }
        let names = [self.name.clone(), format!("{}-plugins", self.name)];
        let remove = ["--address", CONTAINERD, "namespaces", "remove"];
        system("ctr", &[&remove[..], &[&names[0], &names[1]]].concat());
        system("ip", &["link", "delete", &self.name]);
        if std::thread::panicking() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            let last: Vec<&str> = log.lines().rev().take(20).collect();
            eprintln!(
                "{:?}, the engine's last lines, the newest first:\n{}",
                self.space,
                last.join("\n")
            );
        }
    }
}

/// Runs a suite with this engine.
fn said(project: &Project, host: &str) -> String {
    let arguments = [
        "run",
        "evals",
        "--isolation",
        "container",
        "--docker-host",
        host,
    ];
    let ran = project.run(&[&arguments[..], &["--fixture", "fixture"]].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

#[test]
fn nightly_an_engine_without_space_says_so_whatever_it_was_asked_for() {
    let Some(own) = OwnEngine::start(Space::Megabytes(16), &[]) else {
        return;
    };
    let host = own.host();
    let project = Project::with_suite("server: {builtin: conformance}\nassert_initialize: {}\n")
        .file("fixture/keep.txt", "keep");
    let import = said(&project, &host);
    assert!(
        import.contains("no space is left on the engine's disk"),
        "{import}"
    );
    assert!(import.contains("docker system prune"), "{import}");

    let mut tar = tar::Builder::new(Vec::new());
    let mut header = tar::Header::new_gnu();
    header.set_size(1);
    tar.append_data(&mut header, "file", &b"x"[..]).unwrap();
    fs::write(project.path().join("root.tar"), tar.into_inner().unwrap()).unwrap();
    let root = project.path().join("root.tar").display().to_string();
    let imported = own.docker(&["import", &root, "small:1"]);
    assert!(imported.status.success(), "{imported:?}");
    let suite = "server: {docker: 'small:1', command: /file}\n\
                 assert: {tool: x, expect: {file_exists: [keep.txt]}}\n";
    let full = "no space is left on the engine's disk";
    let project = Project::with_suite(suite).file("fixture/keep.txt", vec![b'x'; 20_000_000]);
    let fixture = said(&project, &host);
    assert!(
        fixture.contains(full) && fixture.contains("docker system df"),
        "{fixture}"
    );

    // Until nothing goes in any more.
    let filled = fs::write(own.data().join("full"), vec![0; 32 << 20]);
    assert!(filled.is_err());
    let create = said(&project, &host);
    assert!(create.contains(full), "{create}");
}

#[test]
fn nightly_an_engine_that_is_stopped_ends_the_run_with_errors() {
    let Some(mut own) = OwnEngine::start(Space::Disk, &[]) else {
        return;
    };
    let suite = "name: hangs\nserver: {builtin: conformance}\n\
                 assert: {tool: slow, args: {hang: true}}\n---\n\
                 name: comes too late\nserver: {builtin: conformance}\n\
                 assert: {tool: echo, args: {message: x}}\n";
    let project = Project::with_suite(suite);
    let host = own.host();
    let mut command = project.command(&["run", "evals", "--isolation", "container"]);
    command
        .args(["--docker-host", &host, "--jobs", "1", "--timeout", "60s"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // An engine that is stopped ends the containers there are, and one that it starts meanwhile may still answer.
    until("both servers run", || {
        let running = own.docker(&["ps", "--quiet"]).stdout;
        String::from_utf8_lossy(&running).lines().count() == 2
    });
    own.stop();
    let said = end_without_engine(child);
    assert_eq!(
        said.matches("the container engine is gone").count(),
        4,
        "{said}"
    );
}

/// Certificates for an engine on loopback, in files as Docker's clients look for them, and the engine's own.
fn certificates(folder: &Path) {
    let openssl = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = Command::new("openssl");
        let output = command.args(&words).current_dir(folder).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {line}: {said}");
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!(
        "req -x509 {key} -keyout ca-key.pem -out ca.pem -days 2 -subj /CN=authority"
    ));
    for (name, extension) in [
        (
            "server",
            "subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n",
        ),
        ("client", "extendedKeyUsage=clientAuth\n"),
    ] {
        fs::write(folder.join("extension"), extension).unwrap();
        let key_file = if name == "client" {
            "key.pem"
        } else {
            "server-key.pem"
        };
        let file = if name == "client" {
            "cert.pem"
        } else {
            "server.pem"
        };
        openssl(&format!(
            "req {key} -keyout {key_file} -out request -subj /CN={name}"
        ));
        openssl(&format!(
            "x509 -req -in request -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 -extfile extension -out {file}"
        ));
    }
}

/// What an engine needs that only those with its certificates may use.
fn secured(folder: &Path, address: &str) -> Vec<String> {
    let file = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
    vec![
        format!("--host={address}"),
        "--tlsverify".to_owned(),
        file("tlscacert", "ca.pem"),
        file("tlscert", "server.pem"),
        file("tlskey", "server-key.pem"),
    ]
}

#[test]
fn nightly_an_engine_behind_tls_is_used_by_those_who_have_its_certificates() {
    let openssl = Command::new("openssl").arg("version").output().is_ok();
    if !there(openssl, "there is no openssl to make certificates with") {
        return;
    }
    let (good, strange) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certificates(good.path());
    certificates(strange.path());
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", free.local_addr().unwrap());
    drop(free);
    let options = secured(good.path(), &address);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let Some(_own) = OwnEngine::start(Space::Disk, &options) else {
        return;
    };
    let project = Project::with_suite(
        "server: {builtin: conformance}\n\
         assert: {tool: echo, args: {message: x}, expect: {file_exists: [keep.txt]}}\n",
    )
    .file("fixture/keep.txt", "kept");
    let run = |certificates: Option<&Path>| {
        let arguments = [
            "run",
            "evals",
            "--isolation",
            "container",
            "--fixture",
            "fixture",
        ];
        let mut command = project.command(&arguments);
        command.env("DOCKER_HOST", &address);
        if let Some(folder) = certificates {
            command
                .env("DOCKER_TLS_VERIFY", "1")
                .env("DOCKER_CERT_PATH", folder);
        }
        project.finish(command)
    };
    let ran = run(Some(good.path()));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for refused in [Some(strange.path()), None] {
        let ran = run(refused);
        println!("{}", ran.stderr);
        assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
        let wanted = "no container engine can be used";
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
        if refused.is_some() {
            assert!(ran.stderr.contains("TLS: "), "{}", ran.stderr);
        }
    }
}
