//! `mcp-assert run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::RulesArgs;

/// The most trials of an assertion.
pub(crate) const MOST_TRIALS: i64 = 10_000;

/// The largest factor on deadlines.
const LARGEST_FACTOR: f64 = 1e6;

/// Options of `run`.
#[derive(Debug, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch a user can type, not a state"
)]
#[command(after_help = "\
Examples:
  mcp-assert run --suite evals
  mcp-assert run evals --jobs 8 --junit report.xml --report-json run.json
  mcp-assert run evals --server 'python server.py' --filter 'tools/*' --trace
  mcp-assert run evals --trials 5 --baseline baseline.json

An assertion's own `timeout` wins over --timeout; --timeout-scale multiplies both.")]
pub(crate) struct RunArgs {
    /// A suite: a folder or a YAML file; may be given several times
    #[arg(long = "suite", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) suites: Vec<PathBuf>,
    /// A suite, as with `--suite`
    #[arg(value_name = "SUITE", value_hint = ValueHint::AnyPath)]
    pub(crate) more_suites: Vec<PathBuf>,
    /// A folder that is copied fresh for each assertion that mentions `{{fixture}}` or a file
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) fixture: Option<PathBuf>,
    /// A command line (quotes work) or url that replaces command and arguments of every server
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
    /// The image of a container for every server that names none
    #[arg(long, value_name = "IMAGE")]
    pub(crate) docker: Option<String>,
    /// Lines of shell that run once in that image, with network; each assertion starts from the result
    #[arg(long, value_name = "LINES", requires = "docker")]
    pub(crate) prepare: Option<String>,
    /// Where servers run; default: in a container where the suite or --docker names one, else as a process
    #[arg(long, value_name = "PLACE")]
    pub(crate) isolation: Option<PlaceWord>,
    /// The container engine's address; default: `DOCKER_HOST`, Docker's context, the usual sockets
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) docker_host: Option<String>,
    /// Make the images of `build` and `prepare` anew, whatever was kept of earlier runs
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Assertions at once; default: the cores of the machine, twice that with containers
    #[arg(long, short = 'j', value_name = "N", allow_negative_numbers = true, value_parser = jobs)]
    pub(crate) jobs: Option<usize>,
    /// Independent repetitions of each assertion, at most 10000
    #[arg(long, value_name = "N", default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..=MOST_TRIALS))]
    pub(crate) trials: u32,
    /// Attempts after a failure; a pass after one is flaky
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    pub(crate) retries: u32,
    /// Deadline of an assertion that names none, e.g. 500ms, 1m30s
    #[arg(long, value_name = "DURATION", default_value = "30s")]
    pub(crate) timeout: String,
    /// Factor on every deadline, above 0 and at most 1000000
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true, default_value_t = 1.0, value_parser = factor)]
    pub(crate) timeout_scale: f64,
    /// Only assertions whose id holds this text, or matches this glob; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Only assertions with one of these tags
    #[arg(long = "tag", value_name = "TAG", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
    /// No assertion with one of these tags
    #[arg(long = "not-tag", value_name = "TAG", value_delimiter = ',')]
    pub(crate) not_tags: Vec<String>,
    /// Repeat each assertion on these targets of the settings file, or on `all`
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',')]
    pub(crate) targets: Vec<String>,
    /// Only the i-th of n parts
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Start nothing more after the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Let assertions of one server share a process and a session
    #[arg(long)]
    pub(crate) reuse_server: bool,
    /// Print the ids of the selected assertions, and run nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Print what would be started for each assertion, with --json as an array, and run nothing
    #[arg(long, conflicts_with = "list")]
    pub(crate) dry_run: bool,
    /// Print the results as a JSON array on stdout, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Write a Markdown report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write a badge for shields.io's endpoint
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) badge: Option<PathBuf>,
    /// Write failed expectations as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) sarif: Option<PathBuf>,
    /// Write the whole run as run.json
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) report_json: Option<PathBuf>,
    /// Write a report: json (the whole run), results, junit, markdown, badge or sarif; `-` as path is stdout
    #[arg(long = "report", value_name = "FORMAT=PATH")]
    pub(crate) reports: Vec<String>,
    /// Compare with this baseline; a regression makes the run red
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write this run as a baseline, after any comparison
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) save_baseline: Option<PathBuf>,
    /// Whose rules apply.
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Make protocol findings red
    #[arg(long)]
    pub(crate) strict_protocol: bool,
    /// Make green assertions that prove nothing red
    #[arg(long)]
    pub(crate) strict_vacuity: bool,
    /// Run nothing when any file is invalid
    #[arg(long)]
    pub(crate) strict_load: bool,
    /// Make unset variables in `env` a problem
    #[arg(long)]
    pub(crate) strict_env: bool,
    /// Make flaky passes red
    #[arg(long)]
    pub(crate) fail_flaky: bool,
    /// Show the frames of every assertion
    #[arg(long)]
    pub(crate) trace: bool,
}

/// Reads how many assertions run at once.
fn jobs(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "expected a number of at least 1".to_owned())
}

/// Reads a factor on deadlines.
fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    factor
        .filter(|factor| *factor > 0.0 && *factor <= LARGEST_FACTOR)
        .ok_or_else(|| format!("expected a number above 0, at most {LARGEST_FACTOR}, such as 2"))
}

/// The words of `--isolation`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlaceWord {
    /// Processes of this machine; a server that wants a container is an error.
    Process,
    /// A fresh container for each attempt.
    Container,
}
