//! Options that `run` and `ci` share.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum, ValueHint};

use report::verdict::SurfaceGate;

/// The most trials of an assertion.
const MOST_TRIALS: i64 = 10_000;

/// The deadline of an assertion that names none.
pub(crate) const TIMEOUT: &str = "30s";

/// Selection of assertions.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SelectionArgs {
    /// A command line (quotes work) or url that replaces command and arguments of every server
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
    /// The protocol revision of assertions that name none; several, or `all` that the server speaks, repeat each on them
    #[arg(long, value_name = "REVISION", value_delimiter = ',')]
    pub(crate) protocol: Vec<String>,
    /// Independent repetitions of each assertion, at most 10000; all must pass
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=MOST_TRIALS))]
    pub(crate) trials: u32,
    /// Only assertions whose id holds this text, or matches this glob; may be given several times
    #[arg(long, value_name = "PATTERN")]
    pub(crate) filter: Vec<String>,
    /// Whose rules apply.
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
}

/// The dialect, if given.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct RulesArgs {
    /// Give the Go tool's verdicts where ours differ on purpose
    #[arg(long)]
    compat: bool,
    /// The form of `--compat=false`, which overrides the settings.
    #[arg(long, hide = true)]
    no_compat: bool,
}

impl RulesArgs {
    /// Whether to use the Go tool's rules; `None` leaves it to the settings.
    pub(crate) fn compat(self) -> Option<bool> {
        match (self.no_compat, self.compat) {
            (true, _) => Some(false),
            (false, true) => Some(true),
            (false, false) => None,
        }
    }
}

/// How assertions run. `prepare` requires each command's option with the id `image`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlaceArgs {
    /// A folder that is copied fresh for each assertion that mentions `{{fixture}}` or a file
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) fixture: Option<PathBuf>,
    /// Lines of shell that run once in that image, with network; each assertion starts from the result
    #[arg(long, value_name = "LINES", requires = "image")]
    pub(crate) prepare: Option<String>,
    /// The container engine's address; else `DOCKER_HOST`, Docker's context, the usual sockets
    #[arg(long, value_name = "URL")]
    pub(crate) docker_host: Option<String>,
    /// Parallel assertions: a number, or the cores of the machine, twice that with containers
    #[arg(long, short = 'j', value_name = "N", default_value = "auto", value_parser = Jobs::from_text)]
    pub(crate) jobs: Jobs,
    /// Deadline of an assertion that names none, e.g. 500ms, 1m30s
    #[arg(long, value_name = "DURATION", default_value = TIMEOUT, value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Attempts after a failure; a pass on a later attempt is flaky
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) retries: u32,
    /// Let assertions of one server share a process and a session
    #[arg(long)]
    pub(crate) reuse_server: bool,
}

/// What else is a failure.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct StrictnessArgs {
    /// Fail on protocol findings
    #[arg(long)]
    pub(crate) strict_protocol: bool,
    /// Fail on passing assertions that prove nothing
    #[arg(long)]
    pub(crate) strict_vacuity: bool,
    /// Treat unset variables in `env` as a problem
    #[arg(long)]
    pub(crate) strict_env: bool,
}

/// Whether a flaky pass is a failure.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FlakyArgs {
    /// Fail on flaky passes
    #[arg(long)]
    pub(crate) fail_flaky: bool,
}

/// The reports that are written to files.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SinkArgs {
    /// Write a JUnit report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Write the whole run as run.json; a shard of `ci` writes `mcp-assert-blob.json` when nothing is given
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) report_json: Option<PathBuf>,
    /// Write a Markdown report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write a badge for shields.io's endpoint
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) badge: Option<PathBuf>,
    /// Write failed expectations as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) sarif: Option<PathBuf>,
}

/// Which changes of a server's surface make a run red.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOnSurface {
    /// Every change.
    Any,
    /// Breaking changes, and those of what a model reads or of how safe a call is.
    Risky,
    /// Breaking changes.
    Breaking,
    /// None.
    #[default]
    None,
}

impl FailOnSurface {
    /// The gate on a run.
    pub(crate) fn gate(self) -> SurfaceGate {
        match self {
            Self::Any => SurfaceGate::Any,
            Self::Risky => SurfaceGate::Risky,
            Self::Breaking => SurfaceGate::Breaking,
            Self::None => SurfaceGate::None,
        }
    }
}

/// Where servers run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Isolation {
    /// Each attempt in its own container.
    Container,
    /// As processes of this machine; a server that wants a container is an error.
    Process,
}

/// The number of parallel assertions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Jobs {
    /// Depends on the machine.
    #[default]
    Auto,
    /// A fixed number.
    Exactly(usize),
}

impl Jobs {
    /// Parses `auto` or a number above 0.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        match (text, text.parse::<usize>()) {
            ("auto", _) => Ok(Self::Auto),
            (_, Ok(jobs)) if jobs > 0 => Ok(Self::Exactly(jobs)),
            (_, Ok(_) | Err(_)) => Err("expected `auto` or a number of at least 1".to_owned()),
        }
    }
}

/// Parses a duration as in suites.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    suite::lower::duration::parse(text)
        .map_err(|problem| format!("{problem}; write `500ms`, `30s` or `1m30s`"))
}
