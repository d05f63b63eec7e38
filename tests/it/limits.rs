//! Runs under limits on threads and processes: errors are reported, and every run ends.

use std::{
    os::unix::{fs::PermissionsExt, process::CommandExt},
    process::Command,
};

use crate::{
    harness::{BINARY, Project},
    running::Running,
};

/// A user without other processes.
const NOBODY_ELSE: u32 = 54_321;

#[test]
fn a_run_that_is_refused_threads_or_processes_says_so_and_ends() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can become a user who has no other process");
        return;
    }
    let suite = ["a", "b", "c", "d"]
        .map(|name| format!("name: {name}\nserver: {{command: cat}}\nassert: {{tool: any}}\n"));
    let project = Project::with_suite(&suite.join("---\n"));
    let everybody = |path: &str| {
        let path = project.path().join(path);
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o777)).unwrap();
    };
    std::fs::create_dir(project.path().join("tmp")).unwrap();
    everybody("");
    everybody("tmp");
    let mut seen = String::new();
    for limit in [1, 2, 3, 4, 5, 6, 200] {
        let plain = project.command(&[]);
        let mut command = Command::new("prlimit");
        for (name, value) in plain.get_envs() {
            command.env(name, value.unwrap());
        }
        command.arg(format!("--nproc={limit}")).arg(BINARY);
        command.args(["run", "evals", "--jobs", "4"]);
        command.uid(NOBODY_ELSE).gid(NOBODY_ELSE);
        command.current_dir(project.path());
        let ended = Running::of(&project, command).end();
        ended.left_nothing();
        let told = format!(
            "{limit}: {:?}\n{}{}",
            ended.code, ended.stdout, ended.stderr
        );
        assert!(!told.contains("panicked"), "{told}");
        seen.push(match ended.code {
            Some(3) if ended.stderr.contains("refuses a thread") => 'r',
            Some(1) if told.contains("the limit of processes is reached") => 's',
            Some(1) if told.contains("initialize") => 't',
            _ => panic!("{told}"),
        });
    }
    // `r`: one of the three necessary threads is refused; `s`: the server's process; `t`: none.
    assert!(seen.starts_with("rrs") && seen.ends_with('t'), "{seen}");
}
