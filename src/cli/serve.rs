//! `mcp-assert serve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

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
    /// Serve streamable HTTP at this address instead of stdio; without one, at a free port of 127.0.0.1
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", group = "listens")]
    pub(crate) http: Option<String>,
    /// Serve HTTP+SSE of 2024-11-05 at this address instead, for clients that know no other
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:0", group = "listens")]
    pub(crate) sse: Option<String>,
    /// The path that is served
    #[arg(
        long,
        value_name = "PATH",
        requires = "listens",
        default_value = "/mcp"
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
    #[arg(long, value_name = "ORIGIN", requires = "listens")]
    pub(crate) allow_origin: Vec<String>,
    /// Open no sessions: each request stands for itself, whatever its revision
    #[arg(long, requires = "http", conflicts_with_all = ["sse", "session_ttl"])]
    pub(crate) stateless: bool,
    /// Answer with JSON instead of a stream where nothing comes before the answer
    #[arg(long, requires = "http", conflicts_with = "sse")]
    pub(crate) json_response: bool,
    /// Give events no ids, so that no stream can be taken up again
    #[arg(long, requires = "http", conflicts_with = "sse")]
    pub(crate) no_resume: bool,
    /// End a session that nobody used for so long
    #[arg(
        long,
        value_name = "DURATION",
        requires = "http",
        conflicts_with = "sse"
    )]
    pub(crate) session_ttl: Option<String>,
    /// What a request has to show: nothing; a key of --api-key as `X-API-Key` or bearer token; one as bearer token alone
    #[arg(
        long,
        value_name = "MODE",
        requires = "listens",
        default_value = "none"
    )]
    pub(crate) auth: AuthMode,
    /// A key and the name of its owner; may be given several times
    #[arg(long, value_name = "NAME=VALUE", requires = "listens")]
    pub(crate) api_key: Vec<String>,
    /// What is offered; --list names the profiles
    #[arg(long, value_name = "NAME", default_value = "conformance")]
    pub(crate) profile: String,
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
    /// Speak the revisions with a handshake, those without, or both
    #[arg(long, value_name = "ERA", default_value = "auto")]
    pub(crate) era: Era,
    /// Speak only these revisions
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub(crate) protocol: Vec<String>,
    /// What every draw and every id comes from
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub(crate) seed: u64,
    /// The clock: `real`, `fixed:TIME` (RFC 3339), or `virtual`, which never waits
    #[arg(long, value_name = "CLOCK", default_value = "real")]
    pub(crate) clock: String,
    /// Factor on every wait
    #[arg(
        long,
        value_name = "FACTOR",
        allow_negative_numbers = true,
        default_value_t = 1.0
    )]
    pub(crate) time_scale: f64,
    /// Entries on a page of each list
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) page_size: Option<u64>,
    /// Offer `write_file` and `delete_file` in this folder and nowhere else
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) files: Option<PathBuf>,
    /// Keep counters in this file, so that they outlive the process
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) state: Option<PathBuf>,
    /// Exit with this code after a clean end
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        default_value_t = 0
    )]
    pub(crate) exit_code: u8,
    /// Write this line to stderr at start
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
    /// How much the journal holds: calls; every request, answer and notification; every frame
    #[arg(long, value_name = "LEVEL", default_value = "calls")]
    pub(crate) journal_level: Level,
    /// Take values of this key out of the journal too; may be given several times
    #[arg(long, value_name = "KEY")]
    pub(crate) redact: Vec<String>,
    /// Leave secrets in the journal
    #[arg(long, conflicts_with = "redact")]
    pub(crate) no_redact: bool,
    /// End after so many requests
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_requests: Option<u64>,
    /// End when nothing came for so long
    #[arg(long, value_name = "DURATION")]
    pub(crate) idle_exit: Option<String>,
    /// End after so long
    #[arg(long, value_name = "DURATION")]
    pub(crate) exit_after: Option<String>,
    /// Hold stdout open and do nothing else: the child that a fault leaves behind
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) hold_stdout: bool,
    /// Print the profiles, tools and faults, and end
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the list as JSON
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
}

/// What a request has to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthMode {
    /// Nothing.
    None,
    /// A key.
    Key,
    /// A bearer token.
    Bearer,
}

/// Which revisions are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Era {
    /// All of them.
    Auto,
    /// Those with a handshake.
    Legacy,
    /// Those without.
    Modern,
}

/// How much the journal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Calls, their ends, faults.
    Calls,
    /// Every request, answer and notification.
    Rpc,
    /// Every frame.
    Wire,
}
