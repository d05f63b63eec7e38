//! Ends and removes what killed runs left behind, before a run begins, and what this run left, after it. Only what names a
//! dead owner, or this run, is touched.

use super::{fixture::FixtureProblem, process::orphans, temporary};

/// What was found of runs that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Processes that were ended.
    pub processes: usize,
    /// Temporary folders that were removed.
    pub folders: usize,
}

/// Ends and removes what killed runs left. To be called once, before anything is started.
pub async fn before_run() -> Swept {
    Swept {
        processes: orphans::end_of_dead_runs().await,
        folders: temporary::sweep(&temporary::folder()),
    }
}

/// What was found of this run when every job had closed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rest {
    /// Processes that were ended: those that had hidden from their own job.
    pub processes: usize,
    /// What stays on the machine, and why it could not be removed.
    pub left: Vec<String>,
}

/// Ends every process that came of this run and still lives, those included that hid from their own job, and removes
/// what they wrote where a fixture's copy had been. To be called when every job has closed.
pub async fn after_run() -> Rest {
    let processes = orphans::end_of_run().await;
    let left = temporary::remove_own(&temporary::folder()).await;
    let mut left: Vec<String> = left
        .iter()
        .map(|(path, error)| FixtureProblem::not_removed(path, error).to_string())
        .collect();
    left.sort_unstable();
    Rest { processes, left }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::{
        env,
        io::{BufRead, BufReader},
        path::PathBuf,
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    use rustix::process::Pid;
    use tokio::sync::Mutex;

    use super::{after_run, before_run};
    use crate::{
        fixture::Fixture,
        launch::CommandLine,
        owner::{self, Owner},
        process::{Patience, Process, ProcessSpec, table},
    };
    use mcp::transport::{Connection, Inbound, clock::JobClock};
    use suite::model::server::Inherit;

    /// A daemon that prints its number and then hides as well as it can.
    const HIDDEN: &str = "(env -i setsid sh -c 'echo $$; exec /bin/sleep 300 </dev/null \
                          >/dev/null 2>&1' &); cat >/dev/null";

    /// Held while something waits to be swept: a sweep takes whatever it finds.
    static SWEEPING: Mutex<()> = Mutex::const_new(());

    /// Tells the run that is killed what to copy.
    const FIXTURE: &str = "TEST_FIXTURE";

    async fn shell(script: &str) -> (Process, Connection) {
        let line = CommandLine {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            directory: Some(env::temp_dir()),
            inherit: Inherit::Nothing,
            ..CommandLine::default()
        };
        let spec = ProcessSpec {
            line,
            ..ProcessSpec::default()
        };
        Process::start(spec, JobClock::start()).await.unwrap()
    }

    async fn number(link: &mut Connection) -> Pid {
        let Inbound::Message { bytes, .. } = link.next().await else {
            panic!("it prints its number first");
        };
        pid(&String::from_utf8(bytes).unwrap())
    }

    fn pid(text: &str) -> Pid {
        Pid::from_raw(text.trim().parse().unwrap()).unwrap()
    }

    fn lives(pid: Pid) -> bool {
        table::status(pid).is_some_and(|status| !status.ended)
    }

    /// Whether a process ends within a time nobody would call long.
    fn ends(pid: Pid) -> bool {
        let begin = Instant::now();
        while lives(pid) && begin.elapsed() < Duration::from_secs(20) {
            std::thread::yield_now();
        }
        !lives(pid)
    }

    /// One of the tests below, marked as ignored, in a process of its own.
    fn alone(test: &str) -> Command {
        let mut command = Command::new(env::current_exe().unwrap());
        let name = format!("sweep::tests::{test}");
        command.args(["--exact", &name, "--ignored", "--nocapture"]);
        command
    }

    fn sleeper(owner: Option<&str>) -> Child {
        let mut command = Command::new("sleep");
        command.arg("300").env_remove(owner::VARIABLE);
        if let Some(owner) = owner {
            command.env(owner::VARIABLE, owner);
        }
        command.spawn().unwrap()
    }

    #[tokio::test]
    async fn only_processes_of_dead_owners_are_ended() {
        let _sweeping = SWEEPING.lock().await;
        let this = Owner::this().to_text();
        let dead = Owner {
            pid: u32::MAX,
            ..Owner::this().clone()
        };
        let mut left = sleeper(Some(&dead.to_text()));
        let mut kept = [
            sleeper(None),
            sleeper(Some(&this)),
            sleeper(Some("1:2:elsewhere")),
            sleeper(Some("nonsense")),
        ];
        assert!(before_run().await.processes >= 1);
        assert!(ends(Pid::from_child(&left)));
        left.wait().unwrap();
        for child in &mut kept {
            assert!(child.try_wait().unwrap().is_none(), "it has no dead owner");
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn nothing_outlives_a_run_however_well_it_hides() {
        let output = alone("a_run_with_a_hidden_daemon").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        assert!(said.contains("1 passed"), "{said}");
    }

    #[tokio::test]
    #[ignore = "ends every child of its process; run by the test above"]
    async fn a_run_with_a_hidden_daemon() {
        let (mut process, mut link) = shell(HIDDEN).await;
        let daemon = number(&mut link).await;
        process.ask();
        link.close(tokio::time::Instant::now()).await;
        let ((), exit) = tokio::join!(link.drain(), process.end(Patience::default()));
        assert_eq!(exit.orphans, 0, "nothing tells whose it is");
        assert!(lives(daemon));
        assert_eq!(after_run().await.processes, 1);
        assert!(ends(daemon));
    }

    #[tokio::test]
    async fn the_next_run_ends_and_removes_what_a_killed_one_left() {
        let _sweeping = SWEEPING.lock().await;
        let fixture = tempfile::tempdir().unwrap();
        let mut run = alone("a_run_that_is_killed")
            .env(FIXTURE, fixture.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(run.stdout.take().unwrap()).lines();
        let left = lines
            .map_while(Result::ok)
            .find_map(|line| line.split_once("LEFT ").map(|(_, left)| left.to_owned()))
            .unwrap();
        run.kill().unwrap();
        run.wait().unwrap();
        let mut left = left.split(' ');
        let server = pid(left.next().unwrap());
        let daemon = pid(left.next().unwrap());
        let copy = PathBuf::from(left.next().unwrap());
        assert!(lives(server) && lives(daemon) && copy.exists());
        let swept = before_run().await;
        assert!(swept.processes >= 2 && swept.folders >= 1, "{swept:?}");
        assert!(ends(server) && ends(daemon));
        assert!(!copy.exists());
    }

    #[tokio::test]
    #[ignore = "waits to be killed; run by the test above"]
    async fn a_run_that_is_killed() {
        let fixture = env::var_os(FIXTURE).unwrap();
        let fixture = Fixture::open(fixture.as_ref()).unwrap();
        let copy = fixture.copy().await.unwrap();
        let script = "(setsid sh -c 'echo $$; exec sleep 300 >/dev/null' &); \
                      trap '' TERM; while :; do sleep 300; done";
        let (process, mut link) = shell(script).await;
        let daemon = number(&mut link).await;
        println!("LEFT {} {daemon} {}", process.pid(), copy.path().display());
        std::future::pending::<()>().await;
    }
}
