//! What `ci` asks of GitHub, where there is a token: the baseline before the verdict, the data branch and the comment
//! after it. Whatever GitHub answers, the verdict stays; what it refuses is one notice.

use std::{collections::BTreeMap, future::Future};

use crate::{
    commands::running::{self, Screen},
    deliver::{
        facts::{CommentWhen, Facts, Here, Wanted, Wishes},
        github::{
            Failure, GitHub, Overtaken, Published,
            comment::{Commented, Settled},
            history::{Found, Looked},
        },
    },
};
use report::{RunReport, baseline::Baseline, compare::Scope};
use text::workflow::command::{Annotation, Command, Kind};

/// What is known of the baseline when the verdict is made.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The baseline.
    pub(super) baseline: Option<Baseline>,
    /// Why there is none.
    pub(super) reason: Option<String>,
    /// That there may be one, and it could not be read.
    pub(super) unread: Option<String>,
}

impl Known {
    /// There is none, for this reason.
    fn none(reason: &str) -> Self {
        Self {
            reason: Some(reason.to_owned()),
            ..Self::default()
        }
    }

    /// There may be one, and it could not be read.
    fn unread(what: &str) -> Self {
        Self {
            unread: Some(what.to_owned()),
            ..Self::none(what)
        }
    }
}

/// Compares a run with the baseline of the data branch.
pub(super) fn compare(
    report: &mut RunReport,
    (here, wishes): (&Here, &Wishes),
    scope: Scope,
    screen: &Screen,
) -> Known {
    let github = match GitHub::new(here) {
        Ok(github) => github,
        Err(Failure::NoToken) => return Known::none("no token, so the data branch cannot be read"),
        Err(failure) => return Known::none(&failure.to_string()),
    };
    let suite = report.source.suite.clone().unwrap_or_default();
    match asked(screen, github.baseline(&wishes.data_branch, &suite)) {
        Ok(Looked::Found(found)) => {
            let Found {
                against,
                baseline,
                passed_over,
            } = *found;
            if let Some(problem) = passed_over {
                say(
                    here,
                    screen,
                    format!("an earlier baseline is taken: {problem}"),
                );
            }
            report.compare_with(&baseline, &against, scope);
            screen.note(&format!("compared with {against}"));
            Known {
                baseline: Some(baseline),
                ..Known::default()
            }
        }
        Ok(Looked::None(reason)) => {
            let what = format!("compared with nothing: {reason}");
            let way_out =
                "`update-baseline: auto` keeps one for later runs, `baseline: off` asks for none";
            match wishes.annotations {
                Wanted::Yes => say(here, screen, format!("{what}; {way_out}")),
                Wanted::No => screen.note(&what),
            }
            Known::none(&reason)
        }
        Ok(Looked::Unreadable(problem)) => {
            let what = format!("the baseline could not be read: {problem}");
            let said = format!("{what}; a run that writes baselines replaces it");
            say(here, screen, said);
            Known::unread(&what)
        }
        Err(Failure::Interrupted) => Known::none("interrupted"),
        Err(failure) => {
            let what = format!("the baseline could not be read: {failure}");
            refused(here, screen, &what, &failure, "it needs `contents: read`");
            Known::unread(&what)
        }
    }
}

/// How long assertions took on the default branch, by their identity, in microseconds; nothing where nobody knows.
pub(super) fn durations(
    here: &Here,
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

/// Writes the data branch where this run may.
pub(super) fn publish(facts: &Facts<'_>, known: &Known, screen: &Screen) {
    let wishes = [facts.wishes.publish_badge, facts.wishes.update_data_branch];
    if !wishes.contains(&Wanted::Yes) {
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
        Ok(Published::Written(overtaken)) => {
            screen.note(&format!("the branch `{branch}` is written"));
            stays(branch, &overtaken, screen);
        }
        Ok(Published::Unchanged(overtaken)) => stays(branch, &overtaken, screen),
        Ok(Published::Nothing) => {}
        Ok(Published::NotHere(reason)) => {
            screen.note(&format!("the branch `{branch}` is not written: {reason}"));
        }
        Err(failure) => {
            let what = format!("the branch `{branch}` could not be written: {failure}");
            let way_out = "it needs `contents: write`";
            refused(facts.here, screen, &what, &failure, way_out);
        }
    }
}

/// Tells what a later run has written.
fn stays(branch: &str, overtaken: &[Overtaken], screen: &Screen) {
    for what in overtaken {
        screen.note(&format!("the branch `{branch}`: {what}"));
    }
}

/// Brings the comment up to date, and tells what became of it.
pub(super) fn comment(facts: &Facts<'_>, screen: &Screen) -> Commented {
    if facts.wishes.comment == CommentWhen::Off {
        return Commented::Off;
    }
    let unchanged = |failure: &Failure| {
        format!("the comment on the pull request could not be brought up to date: {failure}")
    };
    let github = match GitHub::new(facts.here) {
        Ok(github) => github,
        // Nothing else is what that workflow is there for.
        Err(failure) if facts.here.tells_of_another() => {
            say(facts.here, screen, unchanged(&failure));
            return Commented::Failed;
        }
        Err(_) => return Commented::Off,
    };
    match asked(screen, github.comment(facts)) {
        Ok(Settled { commented, open }) => {
            if let Some(failure) = open {
                let said = format!(
                    "the comment on the pull request is {}, but it may not be the only one, or hide \
                     that another job of this run is red: {failure}",
                    commented.word()
                );
                say(facts.here, screen, said);
            }
            commented
        }
        Err(failure) => {
            let what = unchanged(&failure);
            let way_out = if github.is_fork() {
                "a fork's token cannot write; the workflow comment.yml comments for it"
            } else {
                "it needs `pull-requests: write`"
            };
            refused(facts.here, screen, &what, &failure, way_out);
            if failure.is_denial() {
                Commented::Denied
            } else {
                Commented::Failed
            }
        }
    }
}

/// Asks, unless the process is told to end.
fn asked<T>(
    screen: &Screen,
    question: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match running::unless_interrupted(&screen.context().interrupts, question) {
        Ok(Some(answer)) => answer,
        Ok(None) => Err(Failure::Interrupted),
        Err(error) => Err(Failure::Setup(error.to_string())),
    }
}

/// Says once what failed at GitHub, with the way out only where the right to it was missing: one without an answer
/// needs no permission.
fn refused(here: &Here, screen: &Screen, what: &str, failure: &Failure, way_out: &str) {
    let said = if failure.is_forbidden() {
        format!("{what}; {way_out}")
    } else {
        what.to_owned()
    };
    say(here, screen, said);
}

/// Says something where people look for it.
pub(super) fn say(here: &Here, screen: &Screen, message: String) {
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
