//! `mcp-assert run`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::options::{
    FailOnSurface, FlakyArgs, Isolation, PlaceArgs, SelectionArgs, SinkArgs, StrictnessArgs,
};
use suite::{discover::Elsewhere, plan::shard::Shard};

/// The largest factor on deadlines.
const LARGEST_FACTOR: f64 = 1e6;

/// Options of `run`.
#[derive(Debug, Clone, Default, Args)]
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
    /// Which assertions.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// The image of a container for every server that names none
    #[arg(id = "image", long = "docker", value_name = "IMAGE")]
    pub(crate) docker: Option<String>,
    /// Where servers run; default: in a container where the suite or --docker names one, else as a process
    #[arg(long, value_name = "PLACE")]
    pub(crate) isolation: Option<Isolation>,
    /// Rebuild the images of `build` and `prepare`, ignoring the cache
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// How they run.
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Factor on every deadline, above 0 and at most 1000000; default: 1
    #[arg(long, value_name = "FACTOR", value_parser = factor)]
    pub(crate) timeout_scale: Option<f64>,
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
    #[arg(long, value_name = "I/N", value_parser = Shard::from_text)]
    pub(crate) shard: Option<Shard>,
    /// Start nothing more after the first failure
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Print the ids of the selected assertions, and run nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Print what would be started for each assertion, with --json as an array, and run nothing
    #[arg(long, conflicts_with = "list")]
    pub(crate) dry_run: bool,
    /// Print the results as a JSON array on stdout, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
    /// Which reports are written.
    #[command(flatten)]
    pub(crate) sinks: SinkArgs,
    /// Write a report: json (the whole run), results, junit, markdown, badge or sarif; `-` as path is stdout
    #[arg(long = "report", value_name = "FORMAT=PATH")]
    pub(crate) reports: Vec<String>,
    /// Compare with this baseline; a regression makes the run red
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// Fail if a server's surface has such changes against the baseline; `risky` has the breaking ones too
    #[arg(long, value_name = "WHICH", default_value = "none")]
    pub(crate) fail_on_surface: FailOnSurface,
    /// Write this run as a baseline, after any comparison
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) save_baseline: Option<PathBuf>,
    /// What else is a failure.
    #[command(flatten)]
    pub(crate) strictness: StrictnessArgs,
    /// Run nothing if any file is invalid
    #[arg(long)]
    pub(crate) strict_load: bool,
    /// Whether flaky passes fail.
    #[command(flatten)]
    pub(crate) flaky: FlakyArgs,
    /// Show the frames of every assertion
    #[arg(long)]
    pub(crate) trace: bool,
    /// Where the paths of servers and fixtures start instead, for a plan that nobody typed.
    #[arg(skip)]
    pub(crate) servers_in: Option<Elsewhere>,
}

/// Parses a factor on deadlines.
fn factor(text: &str) -> Result<f64, String> {
    let factor = text.parse().ok();
    factor
        .filter(|factor| *factor > 0.0 && *factor <= LARGEST_FACTOR)
        .ok_or_else(|| format!("expected a number above 0, at most {LARGEST_FACTOR}, such as 2"))
}
