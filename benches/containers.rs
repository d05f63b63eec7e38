//! `cargo bench --bench containers`: what an assertion in a container costs, against the same calls to the engine made
//! bare at the same number of jobs, and against one `docker run` after another. One run, alternating, because an
//! engine's times drift. Prints ratios; asserts nothing, because a busy machine is no defect.
//!
//! The server is the embedded one in the image of this program. `BENCH_COUNT` sets how many assertions are run.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark prints, stops at the first surprise, and rounds"
)]

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bollard::{
    Docker,
    container::LogOutput,
    models::{ContainerCreateBody, HostConfig, HostConfigLogConfig},
    query_parameters::{
        AttachContainerOptionsBuilder, CreateContainerOptions, RemoveContainerOptionsBuilder,
        StartContainerOptions,
    },
};
use futures_util::StreamExt;
use tokio::{io::AsyncWriteExt, sync::Semaphore, task::JoinSet};

/// Assertions at once.
const JOBS: [usize; 3] = [1, 4, 8];

/// Starts and removals at once, as the program has them.
const AT_ONCE: usize = 2;

/// Pairs of measurements for each number of jobs; the best of each side counts.
const PAIRS: usize = 2;

/// What a client says in one assertion, and whether an answer is waited for.
const TALK: [(&str, bool); 3] = [
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}"#,
        true,
    ),
    (
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        false,
    ),
    (
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"1"}}}"#,
        true,
    ),
];

/// How the embedded server is started in its image.
const SERVER: [&str; 4] = [
    "/usr/local/bin/mcp-assert",
    "serve",
    "--profile",
    "conformance",
];

/// The times of one container, summed over all.
#[derive(Debug, Default, Clone, Copy)]
struct Parts {
    create: Duration,
    attach: Duration,
    start: Duration,
    talk: Duration,
    remove: Duration,
}

fn main() {
    let count: usize = std::env::var("BENCH_COUNT")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(24);
    let folder = suite(count);
    // The first run puts the image into the engine; it is not counted.
    ours(folder.path(), 1);
    let image = image();
    let runtime = tokio::runtime::Runtime::new().expect("the runtime starts");
    let docker = Docker::connect_with_defaults().expect("an engine is there");
    let version = runtime
        .block_on(docker.version())
        .expect("the engine answers");
    println!(
        "engine: {} (API {}), {count} assertions, times per assertion\n",
        version.version.unwrap_or_default(),
        version.api_version.unwrap_or_default()
    );
    let alone = docker_run(&image, count.min(12));
    println!(
        "`docker run` one after another: {:.0} ms\n",
        milliseconds(alone)
    );
    println!(
        "{:>5} {:>10} {:>10} {:>12} {:>16}",
        "jobs", "ours", "bare", "ours/bare", "ours/docker run"
    );
    for jobs in JOBS {
        let (mut best, mut floor, mut parts) = (Duration::MAX, Duration::MAX, Parts::default());
        for _ in 0..PAIRS {
            let (wall, seen) = runtime.block_on(bare(&docker, &image, count, jobs));
            if wall < floor {
                (floor, parts) = (wall, seen);
            }
            best = best.min(ours(folder.path(), jobs));
        }
        let each = |time: Duration| time / u32::try_from(count).unwrap_or(1);
        let (ours, bare) = (each(best), each(floor));
        println!(
            "{jobs:>5} {:>7.0} ms {:>7.0} ms {:>12.2} {:>16.2}",
            milliseconds(ours),
            milliseconds(bare),
            ours.as_secs_f64() / bare.as_secs_f64(),
            ours.as_secs_f64() / alone.as_secs_f64(),
        );
        println!(
            "      bare: create {:.0}, attach {:.1}, start {:.0}, server {:.0}, remove {:.0} ms",
            milliseconds(each(parts.create)),
            milliseconds(each(parts.attach)),
            milliseconds(each(parts.start)),
            milliseconds(each(parts.talk)),
            milliseconds(each(parts.remove)),
        );
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A suite of so many assertions, each of which is one call.
fn suite(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut yaml = String::new();
    for number in 0..count {
        if number > 0 {
            yaml.push_str("---\n");
        }
        write!(
            yaml,
            "name: call {number}\nserver: {{builtin: conformance}}\n\
             assert: {{tool: echo, args: {{text: '{number}'}}, expect: {{contains: ['{number}']}}}}\n"
        )
        .expect("a text can be written to");
    }
    std::fs::write(folder.path().join("calls.yaml"), yaml).expect("the suite can be written");
    folder
}

/// The wall time of the program.
fn ours(folder: &Path, jobs: usize) -> Duration {
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-assert"))
        .args([
            "run",
            "--isolation",
            "container",
            "--jobs",
            &jobs.to_string(),
            "--suite",
        ])
        .arg(folder)
        .output()
        .expect("the binary starts");
    let wall = begun.elapsed();
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    wall
}

/// The image that the program made of itself last.
fn image() -> String {
    let output = Command::new("docker")
        .args([
            "images",
            "--format",
            "{{.Repository}}:{{.Tag}}",
            "mcp-assert/self",
        ])
        .output()
        .expect("docker is there");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines()
        .next()
        .expect("the program made its image")
        .to_owned()
}

/// Containers by the engine's own client, one after another; the time of one.
fn docker_run(image: &str, count: usize) -> Duration {
    let begun = Instant::now();
    for _ in 0..count {
        let mut child = Command::new("docker")
            .args([
                "run",
                "--rm",
                "--interactive",
                "--init",
                "--network",
                "none",
                "--read-only",
            ])
            .args([
                "--tmpfs",
                "/tmp",
                "--cap-drop",
                "ALL",
                "--security-opt",
                "no-new-privileges",
            ])
            .args([
                "--log-driver",
                "none",
                "--user",
                "65534:65534",
                "--entrypoint",
                SERVER[0],
                image,
            ])
            .args(&SERVER[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("docker is there");
        let mut input = child.stdin.take().expect("stdin is a pipe");
        let mut output = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        for (line, answered) in TALK {
            writeln!(input, "{line}").expect("the server reads");
            if answered {
                let mut answer = String::new();
                output.read_line(&mut answer).expect("the server answers");
                assert!(answer.contains("\"result\""), "no result: {answer}");
            }
        }
        drop(input);
        child.wait().expect("the container ends");
    }
    begun.elapsed() / u32::try_from(count).unwrap_or(1)
}

/// The same calls as the program makes, and nothing else.
async fn bare(docker: &Docker, image: &str, count: usize, jobs: usize) -> (Duration, Parts) {
    let begun = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let starts = Arc::new(Semaphore::new(AT_ONCE));
    let removals = Arc::new(Semaphore::new(AT_ONCE));
    let mut workers = JoinSet::new();
    for _ in 0..jobs {
        let (docker, image) = (docker.clone(), image.to_owned());
        let (next, starts, removals) = (
            Arc::clone(&next),
            Arc::clone(&starts),
            Arc::clone(&removals),
        );
        workers.spawn(async move {
            let mut parts = Parts::default();
            let mut removing = JoinSet::new();
            while next.fetch_add(1, Ordering::Relaxed) < count {
                let id = one(&docker, &image, &starts, &mut parts).await;
                let (docker, removals) = (docker.clone(), Arc::clone(&removals));
                removing.spawn(async move {
                    let _turn = removals.acquire().await;
                    let begun = Instant::now();
                    let options = RemoveContainerOptionsBuilder::default()
                        .force(true)
                        .v(true)
                        .build();
                    docker
                        .remove_container(&id, Some(options))
                        .await
                        .expect("it can be removed");
                    begun.elapsed()
                });
            }
            while let Some(took) = removing.join_next().await {
                parts.remove += took.expect("the removal ends");
            }
            parts
        });
    }
    let mut sum = Parts::default();
    while let Some(parts) = workers.join_next().await {
        let parts = parts.expect("the worker ends");
        sum.create += parts.create;
        sum.attach += parts.attach;
        sum.start += parts.start;
        sum.talk += parts.talk;
        sum.remove += parts.remove;
    }
    (begun.elapsed(), sum)
}

/// One container, up to the last answer.
async fn one(docker: &Docker, image: &str, starts: &Semaphore, parts: &mut Parts) -> String {
    let turn = starts.acquire().await;
    let mut at = Instant::now();
    let mut lap = || std::mem::replace(&mut at, Instant::now()).elapsed();
    let created = docker
        .create_container(None::<CreateContainerOptions>, body(image))
        .await;
    let id = created.expect("it can be created").id;
    parts.create += lap();
    let options = AttachContainerOptionsBuilder::default()
        .stream(true)
        .stdin(true)
        .stdout(true)
        .stderr(true)
        .build();
    let attached = docker.attach_container(&id, Some(options)).await;
    let mut attached = attached.expect("it can be attached to");
    parts.attach += lap();
    let started = docker
        .start_container(&id, None::<StartContainerOptions>)
        .await;
    started.expect("it starts");
    parts.start += lap();
    drop(turn);
    lap();
    for (line, answered) in TALK {
        let text = format!("{line}\n");
        attached
            .input
            .write_all(text.as_bytes())
            .await
            .expect("the server reads");
        if answered {
            let mut answer = Vec::new();
            while !answer.ends_with(b"\n") {
                match attached
                    .output
                    .next()
                    .await
                    .expect("the server answers")
                    .expect("a frame")
                {
                    LogOutput::StdOut { message } => answer.extend_from_slice(&message),
                    LogOutput::StdErr { .. }
                    | LogOutput::StdIn { .. }
                    | LogOutput::Console { .. } => {}
                }
            }
        }
    }
    parts.talk += lap();
    id
}

fn body(image: &str) -> ContainerCreateBody {
    let memory = 512 * 1024 * 1024;
    let list = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    ContainerCreateBody {
        image: Some(image.to_owned()),
        user: Some("65534:65534".to_owned()),
        entrypoint: list(&SERVER[..1]),
        cmd: list(&SERVER[1..]),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        stdin_once: Some(true),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            memory: Some(memory),
            memory_swap: Some(memory),
            pids_limit: Some(256),
            cap_drop: list(&["ALL"]),
            security_opt: list(&["no-new-privileges:true"]),
            readonly_rootfs: Some(true),
            tmpfs: Some(HashMap::from([(
                "/tmp".to_owned(),
                "rw,exec,nosuid,nodev,mode=1777".to_owned(),
            )])),
            init: Some(true),
            log_config: Some(HostConfigLogConfig {
                typ: Some("none".to_owned()),
                config: None,
            }),
            ..HostConfig::default()
        }),
        ..ContainerCreateBody::default()
    }
}
