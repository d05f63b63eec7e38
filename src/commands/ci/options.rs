//! What was typed for `ci`, in the words of `run`, of the judge and of the sinks.

use std::path::PathBuf;

use crate::{
    cli::{
        ci::{
            CiArgs, CommentWhen, Isolation, Jobs, JudgingArgs, SelectionArgs, SinkArgs, Store,
            Switch,
        },
        run::{PlaceWord, RunArgs},
    },
    deliver::facts::{self, Wanted, Wishes},
    report::{
        Format,
        verdict::{Demands, Gate},
    },
};

/// What `run` would have been given for the same run.
pub(super) fn run_args(args: &CiArgs) -> RunArgs {
    let SelectionArgs {
        suite,
        server,
        trials,
        filter,
        tags,
    } = &args.selection;
    let (tags, not_tags) = tag_lists(tags);
    RunArgs {
        suites: suite.clone(),
        more_suites: Vec::new(),
        fixture: args.place.fixture.clone(),
        server: server.clone(),
        docker: args.place.image.clone(),
        isolation: Some(match args.place.isolation {
            Isolation::Container => PlaceWord::Container,
            Isolation::Process => PlaceWord::Process,
        }),
        docker_host: args.place.docker_host.clone(),
        jobs: match args.place.jobs {
            Jobs::Auto => None,
            Jobs::Exactly(jobs) => Some(jobs),
        },
        trials: *trials,
        retries: args.place.retries,
        timeout: args.place.timeout.clone(),
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
        compat: false,
        strict_protocol: false,
        strict_vacuity: false,
        strict_load: false,
        strict_env: false,
        fail_flaky: false,
        trace: args.place.verbose,
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

/// What is asked of the run.
pub(super) fn demands(args: &JudgingArgs) -> Demands {
    let closed = |closed| if closed { Gate::Closed } else { Gate::Open };
    Demands {
        threshold: args.threshold.hundredths,
        regression: closed(args.fail_on_regression),
        breaking: closed(args.fail_on_breaking),
        empty: closed(!args.allow_empty),
    }
}

/// What is asked of the sinks. `blob` is where run.json goes when nothing else is said.
pub(super) fn wishes(sinks: &SinkArgs, judging: &JudgingArgs, blob: Option<PathBuf>) -> Wishes {
    let run_json = sinks.report_json.clone().or(blob);
    let files = [
        (Format::Junit, sinks.junit.clone()),
        (Format::Markdown, sinks.markdown.clone()),
        (Format::Badge, sinks.badge.clone()),
        (Format::RunJson, run_json),
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
        summary: wanted(sinks.summary),
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
