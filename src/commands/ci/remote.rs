//! `ci` on GitHub, if there is a token: reads the baseline before the verdict, writes data branch and comment after it.
//! A refusal by GitHub is one notice and does not change the verdict.

use std::{collections::BTreeMap, future::Future};

use crate::{
    cli::ci::{CommentWhen, Switch},
    commands::running::{self, Screen},
    deliver::{
        facts::{CiEnvironment, Facts, Wishes},
        github::{
            Failure, GitHub,
            comment::{CommentOutcome, CommentResult},
            history::Lookup,
        },
    },
};
use report::{RunReport, baseline::Baseline, compare::Scope};
use text::workflow::command::{Annotation, Command, Kind};

/// The baseline as known when the run is judged.
#[derive(Debug, Default)]
pub(super) struct BaselineLookup {
    /// The baseline.
    pub(super) baseline: Option<Baseline>,
    /// Why there is none.
    pub(super) reason: Option<String>,
    /// Whether it may exist and could not be read, for that reason.
    pub(super) is_unread: bool,
}

impl BaselineLookup {
    /// No baseline, for this reason.
    fn none(reason: &str) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            ..Self::default()
        }
    }

    /// A baseline that may exist could not be read.
    fn unread(what: &str) -> Self {
        Self {
            is_unread: true,
            ..Self::none(what)
        }
    }
}

/// Compares the run with a baseline of the data branch.
pub(super) fn compare(
    report: &mut RunReport,
    (here, wishes): (&CiEnvironment, &Wishes),
    scope: Scope,
    screen: &Screen,
) -> BaselineLookup {
    let github = match GitHub::new(here) {
        Ok(github) => github,
        Err(Failure::NoToken) => {
            return BaselineLookup::none("no token, so the data branch cannot be read");
        }
        Err(failure) => return BaselineLookup::none(&failure.to_string()),
    };
    let suite = report.source.suite.clone().unwrap_or_default();
    match asked(screen, github.baseline(&wishes.data_branch, &suite)) {
        Ok(Lookup {
            found: Ok((against, baseline)),
            unreadable,
        }) => {
            if let Some(problem) = unreadable {
                let said = format!("an earlier baseline is taken: {problem}");
                say(here, screen, said);
            }
            report.compare_with(&baseline, &against, scope);
            screen.note(&format!("compared with {against}"));
            BaselineLookup {
                baseline: Some(baseline),
                ..BaselineLookup::default()
            }
        }
        Ok(Lookup {
            found: Err(reason),
            unreadable: None,
        }) => {
            let what = format!("compared with nothing: {reason}");
            let way_out = "`update-baseline: auto` saves one for later runs, `baseline: off` disables the comparison";
            match wishes.annotations {
                Switch::Auto => say(here, screen, format!("{what}; {way_out}")),
                Switch::Off => screen.note(&what),
            }
            BaselineLookup::none(&reason)
        }
        Ok(Lookup {
            found: Err(_),
            unreadable: Some(problem),
        }) => {
            let what = format!("the baseline could not be read: {problem}");
            let said = format!("{what}; a run that writes baselines replaces it");
            say(here, screen, said);
            BaselineLookup::unread(&what)
        }
        Err(Failure::Interrupted) => BaselineLookup::none("interrupted"),
        Err(failure) => {
            let what = format!("the baseline could not be read: {failure}");
            refused(here, screen, &what, &failure, "it needs `contents: read`");
            BaselineLookup::unread(&what)
        }
    }
}

/// Durations of assertions on the default branch by id, in microseconds; empty if unknown.
pub(super) fn durations(
    here: &CiEnvironment,
    branch: &str,
    suite: &str,
    screen: &Screen,
) -> BTreeMap<String, u64> {
    let Ok(github) = GitHub::new(here) else {
        return BTreeMap::new();
    };
    match asked(screen, github.timings(branch, suite)) {
        Ok(timings) => timings.medians(),
        Err(failure) => {
            let what = format!("the durations of earlier runs could not be read: {failure}");
            refused(here, screen, &what, &failure, "it needs `contents: read`");
            BTreeMap::new()
        }
    }
}

/// Writes the data branch if this run may.
pub(super) fn publish(facts: &Facts<'_>, known: &BaselineLookup, screen: &Screen) {
    if facts.wishes.publish_badge == Switch::Off && !facts.wishes.update_data_branch {
        return;
    }
    let github = match GitHub::new(facts.here) {
        Ok(github) => github,
        Err(failure) => {
            screen.note(&format!("the data branch was not written: {failure}"));
            return;
        }
    };
    let branch = &facts.wishes.data_branch;
    match asked(screen, github.publish(facts, known.baseline.as_ref())) {
        Ok(notes) => notes.iter().for_each(|note| screen.note(note)),
        Err(failure) => {
            let what = format!("the branch `{branch}` could not be written: {failure}");
            let way_out = "it needs `contents: write`";
            refused(facts.here, screen, &what, &failure, way_out);
        }
    }
}

/// Updates the comment and returns what happened to it, and why GitHub refused it.
pub(super) fn comment(facts: &Facts<'_>, screen: &Screen) -> (CommentOutcome, Option<String>) {
    if facts.wishes.comment == CommentWhen::Off {
        return (CommentOutcome::Off, None);
    }
    let unchanged = |failure: &Failure| {
        format!("the comment on the pull request could not be updated: {failure}")
    };
    let github = match GitHub::new(facts.here) {
        Ok(github) => github,
        // That workflow exists only for the comment.
        Err(failure) if facts.here.reports_another_run() => {
            say(facts.here, screen, unchanged(&failure));
            return (CommentOutcome::Failed, None);
        }
        Err(_) => return (CommentOutcome::Off, None),
    };
    match asked(screen, github.comment(facts)) {
        Ok(CommentResult { commented, open }) => {
            if let Some(failure) = open {
                let said = format!(
                    "the comment on the pull request is {}, but it may not be the only one, or hide \
                     that another job of this run is red: {failure}",
                    commented.word()
                );
                say(facts.here, screen, said);
            }
            (commented, None)
        }
        Err(failure) => {
            let what = unchanged(&failure);
            let way_out = if github.is_fork() {
                "a fork's token cannot write; the workflow comment.yml comments for it"
            } else {
                "it needs `pull-requests: write`"
            };
            let said = refused(facts.here, screen, &what, &failure, way_out);
            if failure.is_denial() {
                (CommentOutcome::Denied, Some(said))
            } else {
                (CommentOutcome::Failed, Some(said))
            }
        }
    }
}

/// Sends requests unless the process is interrupted.
fn asked<T>(
    screen: &Screen,
    question: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match running::unless_interrupted(&screen.context.interrupts, question) {
        Ok(Some(answer)) => answer,
        Ok(None) => Err(Failure::Interrupted),
        Err(error) => Err(Failure::Other(format!(
            "no connection can be made: {error}"
        ))),
    }
}

/// Reports a GitHub failure and returns its words; the missing permission is named only if GitHub refused access.
fn refused(
    here: &CiEnvironment,
    screen: &Screen,
    what: &str,
    failure: &Failure,
    way_out: &str,
) -> String {
    let said = if failure.is_forbidden() {
        format!("{what}; {way_out}")
    } else {
        what.to_owned()
    };
    say(here, screen, said.clone());
    said
}

/// Prints a notice in a workflow, else a note.
pub(super) fn say(here: &CiEnvironment, screen: &Screen, message: String) {
    if here.environment.variable("GITHUB_ACTIONS") == Some("true") {
        screen.command(&Command::Annotate(Annotation {
            kind: Kind::Notice,
            place: None,
            title: "mcp-assert".to_owned(),
            message,
        }));
    } else {
        screen.note(&message);
    }
}
