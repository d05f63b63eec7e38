//! `cargo bench --bench run`: `mcp-assert run` against a bare loop that spawns the same server, shakes hands, calls,
//! and closes, in one run. Prints ratios; asserts nothing, because a busy machine is no defect. With `-- --binary PATH`
//! that program is measured, e.g. the static one of `scripts/rootfs`, else the one that Cargo has built beside.
//!
//! The server is this same executable with `--server`: native and minimal, so that what is left is the tester.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, stops at the first surprise, and rounds"
)]

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Suites of these sizes are run.
const SIZES: [usize; 3] = [100, 500, 10_000];

/// What one way of doing the work cost.
struct Cost {
    wall: Duration,
    /// CPU time of the tester itself, servers left out.
    own_cpu: Option<Duration>,
    peak_bytes: Option<u64>,
}

fn main() {
    if std::env::args().any(|argument| argument == "--server") {
        serve();
        return;
    }
    let server = std::env::current_exe().expect("the bench knows its own path");
    let mut arguments = std::env::args().skip_while(|argument| argument != "--binary");
    let program = arguments.nth(1);
    let program = program
        .as_deref()
        .unwrap_or(env!("CARGO_BIN_EXE_mcp-assert"));
    let program = Path::new(program);
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    println!("cores: {cores}; server: minimal, native; times per assertion\n");
    println!(
        "{:>7} {:>5} {:>10} {:>10} {:>7} {:>10} {:>9}",
        "count", "jobs", "ours", "bare", "ratio", "own CPU", "peak"
    );
    for jobs in [1, cores] {
        for size in SIZES {
            // Alternating pairs even out what else the machine does.
            let pairs = (2_000 / size).clamp(1, 3);
            let mut ours = Vec::new();
            let mut bare = Vec::new();
            for _ in 0..pairs {
                bare.push(bare_loop(&server, size, jobs));
                ours.push(run_suite((program, &server), size, jobs));
            }
            print_row(size, jobs, &ours, &bare);
        }
    }
    println!(
        "\n--version: {:.2} ms (best of 20)",
        version(program).as_secs_f64() * 1e3
    );
}

fn print_row(size: usize, jobs: usize, ours: &[Cost], bare: &[Duration]) {
    let best = ours
        .iter()
        .min_by_key(|cost| cost.wall)
        .expect("at least one pair was run");
    let floor = bare.iter().min().expect("at least one pair was run");
    let each = |time: Duration| time.as_secs_f64() * 1e3 / size as f64;
    let cpu = best
        .own_cpu
        .map_or("?".to_owned(), |cpu| format!("{:.3} ms", each(cpu)));
    let peak = best.peak_bytes.map_or("?".to_owned(), |bytes| {
        format!("{:.1} MB", bytes as f64 / 1e6)
    });
    println!(
        "{size:>7} {jobs:>5} {:>7.3} ms {:>7.3} ms {:>7.2} {cpu:>10} {peak:>9}",
        each(best.wall),
        each(*floor),
        best.wall.as_secs_f64() / floor.as_secs_f64(),
    );
}

/// The real binary on a suite of `size` files.
fn run_suite((program, server): (&Path, &Path), size: usize, jobs: usize) -> Cost {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    for number in 0..size {
        let mut yaml = String::new();
        write!(
            yaml,
            "name: call {number}\nserver:\n  command: {}\n  args: [\"--server\"]\nassert:\n  tool: echo\n  args: {{text: \"{number}\"}}\n  expect:\n    not_error: true\n    contains: [\"{number}\"]\n",
            server.display()
        )
        .expect("writing to a string succeeds");
        fs::write(folder.path().join(format!("{number:05}.yaml")), yaml)
            .expect("a suite can be written");
    }
    let begun = Instant::now();
    let child = Command::new(program)
        .args(["run", "--jobs", &jobs.to_string(), "--suite"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary starts");
    let (own_cpu, peak_bytes, passed) = observe(child);
    let wall = begun.elapsed();
    assert!(
        passed,
        "the suite of {size} is not green: there is nothing to measure"
    );
    Cost {
        wall,
        own_cpu,
        peak_bytes,
    }
}

/// Waits for a process and reads what it alone used, before the record is gone.
fn observe(mut child: Child) -> (Option<Duration>, Option<u64>, bool) {
    let pid = child.id();
    let peak = Arc::new(AtomicU64::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let watcher = std::thread::spawn({
        let (peak, over) = (Arc::clone(&peak), Arc::clone(&over));
        move || {
            while !over.load(Ordering::Relaxed) {
                if let Some(bytes) = peak_memory(pid) {
                    peak.fetch_max(bytes, Ordering::Relaxed);
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    let cpu = own_cpu_when_over(pid);
    let passed = child.wait().is_ok_and(|status| status.success());
    over.store(true, Ordering::Relaxed);
    watcher.join().expect("the watcher ends");
    let peak = peak.load(Ordering::Relaxed);
    (cpu, (peak > 0).then_some(peak), passed)
}

/// Waits for the end without reaping, and reads user and system time of the process itself.
#[cfg(target_os = "linux")]
fn own_cpu_when_over(pid: u32) -> Option<Duration> {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let id = WaitId::Pid(Pid::from_raw(i32::try_from(pid).ok()?)?);
    waitid(id, WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).ok()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: u64 = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_secs_f64(
        ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
    ))
}

#[cfg(not(target_os = "linux"))]
fn own_cpu_when_over(_pid: u32) -> Option<Duration> {
    None
}

fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace()
        .nth(1)?
        .parse::<u64>()
        .ok()
        .map(|kilobytes| kilobytes * 1024)
}

/// The floor: the same processes and the same bytes, and nothing else.
fn bare_loop(server: &Path, size: usize, jobs: usize) -> Duration {
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while next.fetch_add(1, Ordering::Relaxed) < size {
                    bare_call(server);
                }
            });
        }
    });
    begun.elapsed()
}

fn bare_call(server: &Path) {
    let mut child = Command::new(server)
        .arg("--server")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server starts");
    let mut input = child.stdin.take().expect("stdin is a pipe");
    let mut output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
    let mut line = String::new();
    let mut ask = |text: &str, answered: bool| {
        input.write_all(text.as_bytes()).expect("the server reads");
        if answered {
            line.clear();
            output.read_line(&mut line).expect("the server answers");
            assert!(line.contains("\"result\""), "no result: {line}");
        }
    };
    ask(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bare\",\"version\":\"1\"}}}\n",
        true,
    );
    ask(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        false,
    );
    ask(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"text\":\"1\"}}}\n",
        true,
    );
    drop(input);
    child.wait().expect("the server ends");
}

fn version(program: &Path) -> Duration {
    (0..20)
        .map(|_| {
            let begun = Instant::now();
            let status = Command::new(program)
                .arg("--version")
                .stdout(Stdio::null())
                .status()
                .expect("the binary starts");
            assert!(status.success());
            begun.elapsed()
        })
        .min()
        .unwrap_or_default()
}

/// The minimal server: one tool that gives back its text.
fn serve() {
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<serde_json::Value>(&line) else {
            return;
        };
        let Some(id) = message.get("id") else {
            continue;
        };
        let result = match message["method"].as_str() {
            Some("initialize") => serde_json::json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "minimal", "version": "1"},
            }),
            Some("tools/list") => serde_json::json!({"tools": [{
                "name": "echo",
                "description": "Gives back its text",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
            }]}),
            _ => {
                serde_json::json!({"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}]})
            }
        };
        let answer = serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result});
        if writeln!(output, "{answer}")
            .and_then(|()| output.flush())
            .is_err()
        {
            return;
        }
    }
}
