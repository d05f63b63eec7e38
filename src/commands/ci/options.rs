//! Converts the options of `ci` into those of `run`, the demands on the run, and the wishes for the sinks.

use std::path::{Path, PathBuf};

use crate::{
    cli::{
        ci::{CiArgs, CommentWhen, JudgingArgs, ReportingArgs, Store, SuitesArgs, Switch},
        run::RunArgs,
    },
    commands::running::places,
    deliver::{command_file, facts::Wishes},
};
use report::{
    Format,
    verdict::{Demands, Gate, SurfaceGate},
};
use text::environment::Environment;

/// The default path of a shard's result.
const BLOB: &str = "mcp-assert-blob.json";

/// The equivalent options of `run`.
pub(super) fn run_args(args: &CiArgs) -> RunArgs {
    RunArgs {
        docker: args.image.clone(),
        isolation: Some(args.isolation),
        place: args.place.clone(),
        strictness: args.strictness,
        trace: args.verbose,
        ..selected(&args.suites)
    }
}

/// The equivalent options of `run` for selecting assertions.
pub(super) fn selected(args: &SuitesArgs) -> RunArgs {
    let (not_tags, tags) = args
        .tags
        .iter()
        .partition::<Vec<_>, _>(|it| it.starts_with('!'));
    RunArgs {
        suites: args.suite.clone(),
        selection: args.selection.clone(),
        tags: tags.into_iter().cloned().collect(),
        not_tags: not_tags.iter().map(|it| it[1..].to_owned()).collect(),
        ..RunArgs::default()
    }
}

/// The default threshold, in hundredths of a percent.
const USUAL_THRESHOLD: u32 = 10_000;

/// The demands on the run.
pub(super) fn demands(args: &JudgingArgs) -> Demands {
    let closed = |closed| if closed { Gate::Closed } else { Gate::Open };
    Demands {
        threshold: args.threshold.map_or(USUAL_THRESHOLD, |it| it.hundredths),
        regression: closed(args.fail_on_regression),
        surface: if args.fail_on_breaking {
            args.fail_on_surface.gate().max(SurfaceGate::Breaking)
        } else {
            args.fail_on_surface.gate()
        },
        empty: closed(!args.allow_empty),
    }
}

/// Limits the sinks to those of a shard; the merge reports on the whole run.
pub(super) fn for_shard(wishes: &mut Wishes, args: &ReportingArgs) {
    if args.sinks.report_json.is_none() {
        wishes.files.push((Format::RunJson, PathBuf::from(BLOB)));
    }
    wishes.comment = CommentWhen::Off;
    wishes.publish_badge = Switch::Off;
    wishes.update_data_branch = false;
}

/// The demands on a run whose inputs were refused.
pub(super) const NO_DEMANDS: Demands = Demands {
    threshold: 0,
    regression: Gate::Open,
    surface: SurfaceGate::None,
    empty: Gate::Open,
};

/// The sinks of a run whose inputs were refused: nothing on GitHub, because the inputs would say whether.
pub(super) fn wishes_of_refused([annotations, summary]: [Switch; 2]) -> Wishes {
    Wishes {
        files: Vec::new(),
        comment: CommentWhen::Off,
        annotations,
        summary,
        data_branch: String::new(),
        publish_badge: Switch::Off,
        update_data_branch: false,
    }
}

/// The wishes for the sinks. A Markdown report to the step summary's file replaces the usual summary.
pub(super) fn wishes(
    args: &ReportingArgs,
    judging: &JudgingArgs,
    environment: &Environment,
) -> Wishes {
    let is_summary = |(format, path): &(Format, &Path)| {
        *format == Format::Markdown && command_file::is_summary(path, environment)
    };
    let (summaries, files): (Vec<_>, Vec<_>) = places::files(&args.sinks).partition(is_summary);
    let files = files.into_iter();
    Wishes {
        files: files
            .map(|(format, path)| (format, path.to_owned()))
            .collect(),
        comment: args.comment,
        annotations: args.annotations,
        summary: if summaries.is_empty() {
            args.summary
        } else {
            Switch::Auto
        },
        data_branch: args.badge_branch.clone(),
        publish_badge: args.badge_publish,
        update_data_branch: judging.update_baseline == Store::Auto,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::selected;
    use crate::cli::{Cli, Command};

    #[test]
    fn an_exclamation_mark_excludes() {
        let cli = Cli::parse_from(["mcp-assert", "ci", "--tags", "smoke,!slow"]);
        let Some(Command::Ci(args)) = cli.command else {
            panic!("not ci");
        };
        let typed = selected(&args.suites);
        assert_eq!(
            (typed.tags, typed.not_tags),
            (vec!["smoke".into()], vec!["slow".into()])
        );
    }
}
