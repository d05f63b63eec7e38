//! What was typed for `ci`, in the words of `run`, of the judge and of the sinks.

use std::path::PathBuf;

use super::Marked;
use crate::{
    cli::{
        RulesArgs,
        ci::{
            CiArgs, CommentWhen, Isolation, Jobs, JudgingArgs, PlaceArgs, PlanArgs, SelectionArgs,
            SinkArgs, Store, Switch,
        },
        run::{PlaceWord, RunArgs},
    },
    deliver::{
        command_file,
        facts::{self, Wanted, Wishes},
    },
    report::{
        Format,
        verdict::{Demands, Gate},
    },
    words::environment::Environment,
};

/// The result of a shard, when nothing else is said.
const BLOB: &str = "mcp-assert-blob.json";

/// What `run` would have been given for the same run.
pub(super) fn run_args(args: &CiArgs) -> RunArgs {
    let PlaceArgs {
        fixture,
        isolation,
        image,
        prepare,
        docker_host,
        jobs,
        timeout,
        retries,
        reuse_server,
        dangerously_run_untrusted_head: _,
        verbose,
    } = &args.place;
    RunArgs {
        fixture: fixture.clone(),
        docker: image.clone(),
        prepare: prepare.clone(),
        isolation: Some(match isolation {
            Isolation::Container => PlaceWord::Container,
            Isolation::Process => PlaceWord::Process,
        }),
        docker_host: docker_host.clone(),
        jobs: match jobs {
            Jobs::Auto => None,
            Jobs::Exactly(jobs) => Some(*jobs),
        },
        retries: *retries,
        reuse_server: *reuse_server,
        timeout: timeout.clone(),
        trace: *verbose,
        ..selected(&args.selection)
    }
}

/// What `run` would have been given to select the same assertions.
pub(super) fn plan_args(args: &PlanArgs) -> RunArgs {
    selected(&args.selection)
}

/// What `run` would have been given to run nothing.
pub(super) fn merge_args() -> RunArgs {
    selected(&SelectionArgs {
        suite: Vec::new(),
        server: None,
        trials: 1,
        filter: Vec::new(),
        tags: Vec::new(),
        rules: RulesArgs::default(),
    })
}

/// The selection, and `run`'s defaults for all else.
fn selected(args: &SelectionArgs) -> RunArgs {
    let SelectionArgs {
        suite,
        server,
        trials,
        filter,
        tags,
        rules,
    } = args;
    let (tags, not_tags) = tag_lists(tags);
    RunArgs {
        suites: suite.clone(),
        more_suites: Vec::new(),
        fixture: None,
        server: server.clone(),
        docker: None,
        prepare: None,
        isolation: None,
        docker_host: None,
        rebuild: false,
        jobs: None,
        trials: *trials,
        retries: 0,
        timeout: "30s".to_owned(),
        timeout_scale: 1.0,
        filter: filter.clone(),
        tags,
        not_tags,
        targets: Vec::new(),
        shard: None,
        fail_fast: false,
        reuse_server: false,
        list: false,
        dry_run: false,
        json: false,
        junit: None,
        markdown: None,
        badge: None,
        sarif: None,
        report_json: None,
        reports: Vec::new(),
        baseline: None,
        save_baseline: None,
        rules: *rules,
        strict_protocol: false,
        strict_vacuity: false,
        strict_load: false,
        strict_env: false,
        fail_flaky: false,
        trace: false,
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
        threshold: threshold(args).unwrap_or(USUAL_THRESHOLD),
        regression: closed(args.fail_on_regression),
        breaking: closed(args.fail_on_breaking),
        empty: closed(!args.allow_empty),
    }
}

/// The share that must pass as it was given, in hundredths of a percent.
pub(super) fn threshold(args: &JudgingArgs) -> Option<u32> {
    args.threshold.map(|percent| percent.hundredths)
}

/// What a shard's sinks are asked for: its result, for the merge to tell of it all.
pub(super) fn wishes_of_shard(
    sinks: &SinkArgs,
    judging: &JudgingArgs,
    environment: &Environment,
) -> Wishes {
    let mut wishes = wishes(sinks, judging, environment);
    if sinks.report_json.is_none() {
        wishes.files.push((Format::RunJson, PathBuf::from(BLOB)));
    }
    wishes.comment = facts::CommentWhen::Off;
    wishes.publish_badge = Wanted::No;
    wishes.update_data_branch = Wanted::No;
    wishes
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
pub(super) fn wishes(sinks: &SinkArgs, judging: &JudgingArgs, environment: &Environment) -> Wishes {
    let summarized = |path: &PathBuf| command_file::is_summary(path, environment);
    let in_summary = sinks.markdown.as_ref().is_some_and(summarized);
    let files = [
        (Format::Junit, sinks.junit.clone()),
        (
            Format::Markdown,
            sinks.markdown.clone().filter(|_| !in_summary),
        ),
        (Format::Badge, sinks.badge.clone()),
        (Format::RunJson, sinks.report_json.clone()),
        (Format::Sarif, sinks.sarif.clone()),
    ];
    Wishes {
        files: files
            .into_iter()
            .filter_map(|(format, path)| Some((format, path?)))
            .collect(),
        comment: match sinks.comment {
            CommentWhen::Always => facts::CommentWhen::Always,
            CommentWhen::Changes => facts::CommentWhen::Changes,
            CommentWhen::Failures => facts::CommentWhen::Failures,
            CommentWhen::Off => facts::CommentWhen::Off,
        },
        annotations: wanted(sinks.annotations),
        summary: if in_summary {
            Wanted::Yes
        } else {
            wanted(sinks.summary)
        },
        data_branch: sinks.badge_branch.clone(),
        publish_badge: wanted(sinks.badge_publish),
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
