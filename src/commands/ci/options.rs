//! What was typed for `ci`, in the words of `run`, of the judge and of the sinks.

use std::path::{Path, PathBuf};

use super::Marked;
use crate::{
    cli::{
        ci::{CiArgs, CommentWhen, JudgingArgs, ReportingArgs, Store, SuitesArgs, Switch},
        options::{PlaceArgs, TIMEOUT},
        run::RunArgs,
    },
    commands::running::places,
    deliver::{
        command_file,
        facts::{self, Wanted, Wishes},
    },
};
use report::{
    Format,
    verdict::{Demands, Gate},
};
use text::environment::Environment;

/// The result of a shard, when nothing else is said.
const BLOB: &str = "mcp-assert-blob.json";

/// What `run` would have been given for the same run.
pub(super) fn run_args(args: &CiArgs) -> RunArgs {
    RunArgs {
        docker: args.image.clone(),
        isolation: Some(args.isolation),
        place: args.place.clone(),
        trace: args.verbose,
        ..selected(&args.suites)
    }
}

/// What `run` would have been given to select the same assertions.
pub(super) fn selected(args: &SuitesArgs) -> RunArgs {
    let (tags, not_tags) = tag_lists(&args.tags);
    RunArgs {
        suites: args.suite.clone(),
        selection: args.selection.clone(),
        tags,
        not_tags,
        place: PlaceArgs {
            timeout: TIMEOUT.to_owned(),
            ..PlaceArgs::default()
        },
        ..RunArgs::default()
    }
}

/// Tags that select and, written as `!tag`, tags that exclude.
fn tag_lists(typed: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut wanted, mut refused) = (Vec::new(), Vec::new());
    for tag in typed {
        match tag.strip_prefix('!') {
            Some(tag) => refused.push(tag.to_owned()),
            None => wanted.push(tag.clone()),
        }
    }
    (wanted, refused)
}

/// The share that must pass when nothing is said, in hundredths of a percent.
const USUAL_THRESHOLD: u32 = 10_000;

/// What is asked of the run.
pub(super) fn demands(args: &JudgingArgs) -> Demands {
    let closed = |closed| if closed { Gate::Closed } else { Gate::Open };
    Demands {
        threshold: args.threshold.map_or(USUAL_THRESHOLD, |it| it.hundredths),
        regression: closed(args.fail_on_regression),
        breaking: closed(args.fail_on_breaking),
        empty: closed(!args.allow_empty),
    }
}

/// Leaves of the wishes what a shard's sinks are asked for: its result, for the merge to tell of it all.
pub(super) fn for_shard(wishes: &mut Wishes, args: &ReportingArgs) {
    if args.sinks.report_json.is_none() {
        wishes.files.push((Format::RunJson, PathBuf::from(BLOB)));
    }
    wishes.comment = facts::CommentWhen::Off;
    wishes.publish_badge = Wanted::No;
    wishes.update_data_branch = Wanted::No;
}

/// What is asked of a run whose inputs were refused: that it is told so.
pub(super) const NO_DEMANDS: Demands = Demands {
    threshold: 0,
    regression: Gate::Open,
    breaking: Gate::Open,
    empty: Gate::Open,
};

/// What its sinks are asked for. GitHub is told nothing: where and whether, the inputs would have said.
pub(super) fn wishes_of_refused(marked: Marked) -> Wishes {
    Wishes {
        files: Vec::new(),
        comment: facts::CommentWhen::Off,
        annotations: marked.annotations,
        summary: marked.summary,
        data_branch: String::new(),
        publish_badge: Wanted::No,
        update_data_branch: Wanted::No,
    }
}

/// What is asked of the sinks. A Markdown report in the summary of the step is that summary: it is there once.
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
        comment: match args.comment {
            CommentWhen::Always => facts::CommentWhen::Always,
            CommentWhen::Changes => facts::CommentWhen::Changes,
            CommentWhen::Failures => facts::CommentWhen::Failures,
            CommentWhen::Off => facts::CommentWhen::Off,
        },
        annotations: wanted(args.annotations),
        summary: if summaries.is_empty() {
            wanted(args.summary)
        } else {
            Wanted::Yes
        },
        data_branch: args.badge_branch.clone(),
        publish_badge: wanted(args.badge_publish),
        update_data_branch: match judging.update_baseline {
            Store::Auto => Wanted::Yes,
            Store::Off | Store::Path(_) => Wanted::No,
        },
    }
}

fn wanted(switch: Switch) -> Wanted {
    match switch {
        Switch::Auto => Wanted::Yes,
        Switch::Off => Wanted::No,
    }
}

#[cfg(test)]
mod tests {
    use super::tag_lists;

    #[test]
    fn an_exclamation_mark_excludes() {
        let typed = ["smoke".to_owned(), "!slow".to_owned()];
        let (wanted, refused) = tag_lists(&typed);
        assert_eq!(
            (wanted, refused),
            (vec!["smoke".to_owned()], vec!["slow".to_owned()])
        );
    }
}
