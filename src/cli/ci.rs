//! Options of `mcp-assert ci`, `ci plan` and `ci merge`. Each is an input of the action with the same name and default,
//! except `--compat` and `ci plan --shards`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::options::{
    FailOnSurface, FlakyArgs, Isolation, Jobs, PlaceArgs, SelectionArgs, SinkArgs, StrictnessArgs,
    duration,
};
use suite::plan::shard::Shard;

/// Options of `ci`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  mcp-assert ci --suite evals --junit report.xml
  mcp-assert ci --isolation process --server 'python server.py' --threshold 95
  mcp-assert ci plan --suite evals --max-shards 4
  mcp-assert ci --shard 1/4 --plan mcp-assert-plan.json
  mcp-assert ci merge --plan mcp-assert-plan.json --blobs mcp-assert-blobs

Exit codes, the first cause counts: 130 interrupted, 2 invalid, 3 error or incomplete, 1 failed, 4 nothing executed,
0 passed. The token is read from GITHUB_TOKEN.")]
pub(crate) struct CiArgs {
    /// Other modes of `ci`
    #[command(subcommand)]
    pub(crate) verb: Option<CiVerb>,
    /// What runs.
    #[command(flatten)]
    pub(crate) suites: SuitesArgs,
    /// Where servers run: each in its own container, or as processes on this machine
    #[arg(long, value_name = "WHERE", default_value = "container")]
    pub(crate) isolation: Isolation,
    /// Image of servers that name none
    #[arg(long, visible_alias = "docker", value_name = "IMAGE")]
    pub(crate) image: Option<String>,
    /// How it runs.
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// What else is a failure.
    #[command(flatten)]
    pub(crate) strictness: StrictnessArgs,
    /// Run the code of an untrusted pull request with the rights of this workflow
    #[arg(long)]
    pub(crate) dangerously_run_untrusted_head: bool,
    /// Show the frames of every assertion
    #[arg(long)]
    pub(crate) verbose: bool,
    /// When it is red.
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Lines of shell that build the base with `--baseline build`, in its checkout, where servers are processes
    #[arg(long, value_name = "LINES")]
    pub(crate) baseline_prepare: Option<String>,
    /// Where it is told.
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
    /// Run only shard K of the N in the plan
    #[arg(long, value_name = "K/N", conflicts_with_all = OF_THE_WHOLE, value_parser = Shard::from_text)]
    pub(crate) shard: Option<Shard>,
    /// The plan: written by `ci plan`, read with `--shard` and by `ci merge`
    #[arg(long, value_name = "PATH", default_value = "mcp-assert-plan.json", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
}

/// Options that conflict with `--shard`: the plan selects assertions, and the merge judges the whole run.
pub(super) const OF_THE_WHOLE: [&str; 11] = [
    "filter",
    "tags",
    "baseline",
    "baseline_prepare",
    "update_baseline",
    "fail_on_regression",
    "fail_on_breaking",
    "fail_on_surface",
    "comment",
    "badge_branch",
    "badge_publish",
];

/// The subcommands of `ci`.
#[derive(Debug, Subcommand)]
pub(crate) enum CiVerb {
    /// Divide the suite into shards of equal duration, without running it
    Plan(Box<PlanArgs>),
    /// Merge the shards' results, check that they are complete, and report them
    Merge(Box<MergeArgs>),
}

/// Options of `ci plan`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert ci plan --suite evals
  mcp-assert ci plan --suite evals --shards 3 --plan plan.json

Prints `shards`, `matrix` and `plan-digest`, which are also the step's outputs.")]
pub(crate) struct PlanArgs {
    /// What runs.
    #[command(flatten)]
    pub(crate) suites: SuitesArgs,
    /// Parallel assertions in a shard: a number, or the cores of the machine
    #[arg(long, short = 'j', value_name = "N", default_value = "auto", value_parser = Jobs::from_text)]
    pub(crate) jobs: Jobs,
    /// The most shards, up to 256
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) max_shards: u32,
    /// Target duration of a shard
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration)]
    pub(crate) target_duration: Duration,
    /// The exact number of shards
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) shards: Option<u32>,
    /// The plan: written by `ci plan`, read with `--shard` and by `ci merge`
    #[arg(long, value_name = "PATH", default_value = "mcp-assert-plan.json", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// Take durations from the data branch (`auto`), from a file, or from nowhere
    #[arg(long, value_name = "auto|off|PATH", default_value = "auto", value_parser = Store::compared_from_text)]
    pub(crate) baseline: Store,
    /// Branch for badges, baselines and durations
    #[arg(long, value_name = "BRANCH", default_value = "mcp-assert-data", value_parser = branch_name)]
    pub(crate) badge_branch: String,
    /// Run what a stranger's pull request holds, with the rights of this workflow
    #[arg(long)]
    pub(crate) dangerously_run_untrusted_head: bool,
}

/// Options of `ci merge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert ci merge --plan mcp-assert-plan.json --blobs mcp-assert-blobs --junit report.xml
  mcp-assert ci merge --blobs run.json

Whatever is missing, doubled, changed, of another plan or of another tool makes the merge red and is named.")]
pub(crate) struct MergeArgs {
    /// The plan: written by `ci plan`, read with `--shard` and by `ci merge`
    #[arg(long, value_name = "PATH", default_value = "mcp-assert-plan.json", value_hint = ValueHint::FilePath)]
    pub(crate) plan: PathBuf,
    /// The folder with the shards' blobs, or one merged run.json
    #[arg(long, value_name = "PATH", default_value = "mcp-assert-blobs", value_hint = ValueHint::AnyPath)]
    pub(crate) blobs: PathBuf,
    /// Results of the jobs `plan` and `shard`: `${{ toJSON(needs) }}`
    #[arg(long, value_name = "JSON")]
    pub(crate) needs: Option<String>,
    /// When it is red.
    #[command(flatten)]
    pub(crate) judging: JudgingArgs,
    /// Where it is told.
    #[command(flatten)]
    pub(crate) reporting: ReportingArgs,
}

/// Which assertions of which suites.
#[derive(Debug, Args)]
pub(crate) struct SuitesArgs {
    /// A suite: a folder or a YAML file; may be given several times
    #[arg(long, value_name = "PATH", default_value = "evals", value_hint = ValueHint::AnyPath)]
    pub(crate) suite: Vec<PathBuf>,
    /// Which assertions.
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Only assertions with one of these tags, and none with a tag written as `!tag`
    #[arg(long, value_name = "TAG", value_delimiter = ',')]
    pub(crate) tags: Vec<String>,
}

/// When a run is red.
#[derive(Debug, Args)]
pub(crate) struct JudgingArgs {
    /// Percentage of the executed assertions that must pass; when none is given 100, or what a stored run was asked for
    // No default of clap's: a merge asks what is given besides what was asked before, also where it is the usual.
    #[arg(long, value_name = "PERCENT", value_parser = Percent::from_text)]
    pub(crate) threshold: Option<Percent>,
    /// Compare with the baseline of the data branch (`auto`), of a file, with the base built and run here (`build`), or not at all
    #[arg(long, value_name = "auto|build|off|PATH", default_value = "auto", value_parser = Store::compared_from_text)]
    pub(crate) baseline: Store,
    /// Write the baseline after comparing: to the data branch (`auto`), to a file, or not at all
    #[arg(long, visible_alias = "save-baseline", value_name = "auto|off|PATH", default_value = "off", value_parser = Store::from_text)]
    pub(crate) update_baseline: Store,
    /// Exit with 1 if an assertion regressed against the baseline, even above the threshold
    #[arg(long)]
    pub(crate) fail_on_regression: bool,
    /// Exit with 1 if a server's surface has breaking changes against the baseline
    #[arg(long)]
    pub(crate) fail_on_breaking: bool,
    /// Whether flaky passes fail.
    #[command(flatten)]
    pub(crate) flaky: FlakyArgs,
    /// Exit with 1 if a server's surface has such changes against the baseline; `risky` has the breaking ones too
    #[arg(long, value_name = "WHICH", default_value = "none")]
    pub(crate) fail_on_surface: FailOnSurface,
    /// Pass even if nothing is executed
    #[arg(long)]
    pub(crate) allow_empty: bool,
}

/// Where a run is told.
#[derive(Debug, Args)]
pub(crate) struct ReportingArgs {
    /// When the pull request gets a comment
    #[arg(long, value_name = "WHEN", default_value = "changes")]
    pub(crate) comment: CommentWhen,
    /// Mark failing lines in the workflow's log and the diff
    #[arg(long, value_name = "WHETHER", default_value = "auto")]
    pub(crate) annotations: Switch,
    /// Write the step summary
    #[arg(long, value_name = "WHETHER", default_value = "auto")]
    pub(crate) summary: Switch,
    /// Which reports are written.
    #[command(flatten)]
    pub(crate) sinks: SinkArgs,
    /// The branch that holds badges, baselines and durations
    #[arg(long, value_name = "BRANCH", default_value = "mcp-assert-data", value_parser = branch_name)]
    pub(crate) badge_branch: String,
    /// Publish the badge on that branch
    #[arg(long, value_name = "WHETHER", default_value = "off")]
    pub(crate) badge_publish: Switch,
}

/// When the pull request gets a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CommentWhen {
    /// Always.
    Always,
    /// If the run differs from the baseline, or is red without one.
    Changes,
    /// If the run is red.
    Failures,
    /// Never.
    Off,
}

/// Whether a sink is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// If the environment supports it.
    Auto,
    /// Never.
    Off,
}

/// Words that mean `auto` elsewhere and are not taken for a file.
const LIKE_AUTO: [&str; 5] = ["auto", "true", "yes", "on", "always"];

/// Words that mean `off` elsewhere and are not taken for a file.
const LIKE_OFF: [&str; 5] = ["off", "false", "no", "none", "never"];

/// Where baselines are read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Store {
    /// On the data branch.
    Auto,
    /// Nowhere: the base is built and run.
    Build,
    /// Nowhere.
    Off,
    /// In this file.
    Path(PathBuf),
}

impl Store {
    /// The file's path, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) => Some(path),
            Self::Auto | Self::Build | Self::Off => None,
        }
    }

    /// Parses `auto`, `build`, `off` or a path.
    fn compared_from_text(text: &str) -> Result<Self, String> {
        match text {
            "build" => Ok(Self::Build),
            other => Self::from_text(other),
        }
    }

    /// Parses `auto`, `off` or a path.
    fn from_text(text: &str) -> Result<Self, String> {
        let is_like = |words: [&str; 5]| words.iter().any(|it| text.eq_ignore_ascii_case(it));
        let near = match text {
            "auto" => return Ok(Self::Auto),
            "off" => return Ok(Self::Off),
            "" => return Err("expected `auto`, `off` or a path".to_owned()),
            _ if is_like(LIKE_AUTO) => "auto",
            _ if is_like(LIKE_OFF) => "off",
            path => return Ok(Self::Path(PathBuf::from(path))),
        };
        Err(format!(
            "expected `auto`, `off` or a path, did you mean `{near}`? a file of that name is `./{text}`"
        ))
    }
}

/// Parses a branch name, with or without `refs/heads/`.
fn branch_name(text: &str) -> Result<String, String> {
    match text.strip_prefix("refs/heads/").unwrap_or(text) {
        "" => Err("expected the name of a branch".to_owned()),
        name => Ok(name.to_owned()),
    }
}

/// A percentage with at most two decimals, in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Percent {
    /// 100 % is 10 000.
    pub(crate) hundredths: u32,
}

impl Percent {
    /// Parses `95`, `99.5` or `99.75`.
    fn from_text(text: &str) -> Result<Self, String> {
        let bad = || "expected a percentage from 0 to 100 with at most two decimals".to_owned();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str, most: usize| {
            let plain = !part.is_empty()
                && part.len() <= most
                && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse::<u32>().ok()).flatten()
        };
        let whole = digits(whole, 3).ok_or_else(bad)?;
        let scale = if fraction.len() == 1 { 10 } else { 1 };
        let hundredths = whole * 100 + digits(fraction, 2).ok_or_else(bad)? * scale;
        if hundredths > 10_000 {
            return Err(bad());
        }
        Ok(Self { hundredths })
    }
}

#[cfg(test)]
mod tests {
    use super::{Percent, Store, branch_name};
    use crate::cli::options::Jobs;

    #[test]
    fn percentages_are_exact() {
        let case = |text: &str, wanted: Option<u32>| {
            let found = Percent::from_text(text).ok().map(|it| it.hundredths);
            assert_eq!(found, wanted, "{text}");
        };
        case("100", Some(10_000));
        case("0", Some(0));
        case("99.5", Some(9_950));
        case("99.05", Some(9_905));
        for text in [
            "", "-1", "101", "100.01", "1e2", "95%", ".5", "5.", "1.234", "+5", "1000",
        ] {
            case(text, None);
        }
    }

    #[test]
    fn a_branch_has_one_name_however_it_is_written() {
        assert_eq!(branch_name("data"), Ok("data".to_owned()));
        assert_eq!(branch_name("refs/heads/a/b"), Ok("a/b".to_owned()));
        assert!(branch_name("").is_err() && branch_name("refs/heads/").is_err());
    }

    #[test]
    fn words_and_values_are_told_apart() {
        assert_eq!(Store::from_text("off"), Ok(Store::Off));
        assert_eq!(Store::from_text("./auto"), Ok(Store::Path("./auto".into())));
        for (word, near) in [
            ("true", "auto"),
            ("Auto", "auto"),
            ("OFF", "off"),
            ("false", "off"),
        ] {
            let problem = Store::from_text(word).unwrap_err();
            let wanted = format!("did you mean `{near}`? a file of that name is `./{word}`");
            assert!(problem.ends_with(&wanted), "{problem}");
        }
        let named = "true.json";
        assert_eq!(Store::from_text(named), Ok(Store::Path(named.into())));
        assert_eq!(Jobs::from_text("3"), Ok(Jobs::Exactly(3)));
        assert!(Jobs::from_text("0").is_err() && Jobs::from_text("many").is_err());
    }
}
