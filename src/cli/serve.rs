//! `mcp-assert serve`.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};

use serve::{ClockMode, Profile, faults::argument::read_time, http::check_origin};

/// Options of `serve`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch that a user can type, not a state"
)]
#[command(after_help = "\
Examples:
  mcp-assert serve
  mcp-assert serve --profile paginated --protocol 2025-06-18
  mcp-assert serve --clock virtual --seed 7 --journal calls.jsonl
  mcp-assert serve --fault tools/call:echo@2=exit-mid-call:3
  mcp-assert serve --http 127.0.0.1:8080 --path /mcp
  mcp-assert serve --http --auth key --api-key alice=example-key
  mcp-assert serve --list

Over HTTP one line on stderr says where, once clients can connect:
  {\"ready\":true,\"url\":\"http://127.0.0.1:8080/mcp\",\"pid\":4711}

Exit codes: 0 (or --exit-code) after end of input, SIGTERM, SIGINT; 2 usage; 3 cannot listen.")]
pub(crate) struct ServeArgs {
    /// Serve streamable HTTP at this address instead of stdio; default: a free port of 127.0.0.1
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", group = "listens", value_parser = address)]
    pub(crate) http: Option<String>,
    /// Serve HTTP+SSE of 2024-11-05 at this address, for old clients
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", group = "listens", value_parser = address)]
    pub(crate) sse: Option<String>,
    /// The path that is served
    #[arg(
        long,
        value_name = "PATH",
        requires = "listens",
        default_value = "/mcp",
        value_parser = path
    )]
    pub(crate) path: String,
    /// Write the URL to this file once clients can connect
    #[arg(long, value_name = "FILE", requires = "listens", value_hint = ValueHint::FilePath)]
    pub(crate) url_file: Option<PathBuf>,
    /// Write the port to this file once clients can connect
    #[arg(long, value_name = "FILE", requires = "listens", value_hint = ValueHint::FilePath)]
    pub(crate) port_file: Option<PathBuf>,
    /// Answer requests for this host besides those for this machine; may be given several times
    #[arg(long, value_name = "HOST", requires = "listens")]
    pub(crate) allow_host: Vec<String>,
    /// Answer requests of pages of this origin besides those of this machine; may be given several times
    #[arg(long, value_name = "ORIGIN", requires = "listens", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
    /// Open no sessions: each request is independent, whatever its revision
    #[arg(long, requires = "http", conflicts_with_all = ["sse", "session_ttl"])]
    pub(crate) stateless: bool,
    /// Answer with JSON instead of a stream if nothing precedes the answer
    #[arg(long, requires = "http", conflicts_with = "sse")]
    pub(crate) json_response: bool,
    /// Give events no ids, so that streams cannot be resumed
    #[arg(long, requires = "http", conflicts_with = "sse")]
    pub(crate) no_resume: bool,
    /// End sessions that are unused for this long
    #[arg(
        long,
        value_name = "DURATION",
        requires = "http",
        conflicts_with = "sse",
        value_parser = time
    )]
    pub(crate) session_ttl: Option<Duration>,
    /// Required authentication: none; a key of --api-key as `X-API-Key` or bearer token; a bearer token only
    #[arg(
        long,
        value_name = "MODE",
        requires = "listens",
        default_value = "none"
    )]
    pub(crate) auth: AuthMode,
    /// A key with its owner's name; may be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "listens")]
    pub(crate) api_key: Vec<String>,
    /// The profile to serve; --list names the profiles
    #[arg(long, value_name = "NAME", default_value = "conformance", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Offer only the tools whose names match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) tools: Vec<String>,
    /// Offer only the resources and templates whose URIs match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) resources: Vec<String>,
    /// Offer only the prompts whose names match; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) prompts: Vec<String>,
    /// Offer no tool, resource or prompt that matches; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) disable: Vec<String>,
    /// Speak revisions with a handshake, those without, or both
    #[arg(long, value_name = "ERA", default_value = "auto")]
    pub(crate) era: Era,
    /// Speak only these revisions
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub(crate) protocol: Vec<String>,
    /// Seed of random choices and ids
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// The clock: `real`, `fixed:TIME` (RFC 3339), or `virtual`, which never waits
    #[arg(long, value_name = "CLOCK", default_value = "real", value_parser = clock)]
    pub(crate) clock: ClockMode,
    /// Factor on all waits
    #[arg(
        long,
        value_name = "FACTOR",
        default_value = "1",
        value_parser = scale
    )]
    pub(crate) time_scale: f64,
    /// Entries per page of each list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) page_size: Option<u64>,
    /// Offer `write_file` and `delete_file` in this folder and nowhere else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) files: Option<PathBuf>,
    /// Keep counters in this file across processes
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) state: Option<PathBuf>,
    /// Exit code after a clean end
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) exit_code: u8,
    /// Print this line to stderr at start
    #[arg(long, value_name = "TEXT")]
    pub(crate) stderr: Option<String>,
    /// Misbehave by this rule; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) fault: Vec<String>,
    /// Misbehave by the rules of this YAML list
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) faults: Option<PathBuf>,
    /// Write what happens as JSON lines to this file, or to stderr with `-`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) journal: Option<PathBuf>,
    /// Detail of the journal: calls; every request, answer and notification; every frame
    #[arg(long, value_name = "LEVEL", default_value = "calls")]
    pub(crate) journal_level: Level,
    /// Also redact values of this key in the journal; may be given several times
    #[arg(long, value_name = "KEY")]
    pub(crate) redact: Vec<String>,
    /// Do not redact the journal
    #[arg(long, conflicts_with = "redact")]
    pub(crate) no_redact: bool,
    /// End after this many requests
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_requests: Option<u64>,
    /// End after this time without input
    #[arg(long, value_name = "DURATION", value_parser = time)]
    pub(crate) idle_exit: Option<Duration>,
    /// End after this time
    #[arg(long, value_name = "DURATION", value_parser = time)]
    pub(crate) exit_after: Option<Duration>,
    /// Hold stdout open and do nothing: the child process that a fault leaves behind
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) hold_stdout: bool,
    /// Print profiles, tools and faults, and exit
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
}

/// Required authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthMode {
    /// Nothing.
    None,
    /// A key.
    Key,
    /// A bearer token.
    Bearer,
}

/// The served revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// All of them.
    Auto,
    /// Those with a handshake.
    Legacy,
    /// Those without.
    Modern,
}

/// The journal's detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Calls, their ends, faults.
    Calls,
    /// Every request, answer and notification.
    Rpc,
    /// Every frame.
    Wire,
}

fn time(text: &str) -> Result<Duration, String> {
    read_time(text).ok_or_else(|| "write `500ms` or `1m30s`".to_owned())
}

fn profile(text: &str) -> Result<Profile, String> {
    let names = || Profile::ALL.map(Profile::name).join(", ");
    Profile::named(text).ok_or_else(|| format!("there are {}", names()))
}

fn clock(text: &str) -> Result<ClockMode, String> {
    let known = "use `real`, `virtual` or `fixed:2026-01-01T00:00:00Z`";
    ClockMode::read(text).ok_or_else(|| known.to_owned())
}

fn scale(text: &str) -> Result<f64, String> {
    let scale = text.parse().ok();
    scale
        .filter(|scale: &f64| scale.is_finite() && *scale >= 0.0)
        .ok_or_else(|| "use a number of at least 0".to_owned())
}

fn address(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').map(|(_, port)| port);
    if port.is_some_and(|port| port.parse::<u16>().is_ok()) {
        return Ok(text.to_owned());
    }
    Err("write `127.0.0.1:8080`, or `127.0.0.1:0` for any free port".to_owned())
}

fn path(text: &str) -> Result<String, String> {
    if text.starts_with('/') && !text.contains(['?', '#', ' ']) {
        return Ok(text.to_owned());
    }
    Err("write `/mcp`".to_owned())
}

fn origin(text: &str) -> Result<String, String> {
    check_origin(text).map(|()| text.to_owned())
}
