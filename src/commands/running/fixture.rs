//! The fixture of a run: where it comes from, and whether all that speaks of it can have it.

use std::{path::Path, sync::Arc};

use super::{Chosen, Refusal};
use crate::cli::run::RunArgs;
use host::fixture::{Fixture, Side};
use mcp::script::{
    subject::Needs,
    template::{Template, UnknownNames},
};
use suite::{
    lower::FixtureFrom,
    plan::{
        Plan,
        job::{Job, Work},
    },
    settings::Settings,
};
use text::exit::ExitCode;

/// Whether a fixture beside the settings' is possible. Nothing needs one to be listed.
pub(super) fn fixture_from(args: &RunArgs, chosen: &Chosen) -> FixtureFrom {
    match chosen {
        Chosen::ToDivide => FixtureFrom::Elsewhere,
        Chosen::ByOptions | Chosen::ByPlan(_) if args.place.fixture.is_some() => FixtureFrom::Given,
        Chosen::ByOptions | Chosen::ByPlan(_) if args.list => FixtureFrom::Elsewhere,
        Chosen::ByOptions | Chosen::ByPlan(_) => FixtureFrom::Settings,
    }
}

/// The fixture of the command line, else of the settings.
pub(super) fn fixture(
    args: &RunArgs,
    settings: &Settings,
) -> Result<Option<Arc<Fixture>>, Refusal> {
    match &args.place.fixture {
        Some(folder) => open(folder).map(Some),
        None => of_settings(settings),
    }
}

/// The fixture of the settings; what is wrong with it is told at its place.
pub(crate) fn of_settings(settings: &Settings) -> Result<Option<Arc<Fixture>>, Refusal> {
    let Some(folder) = &settings.fixture else {
        return Ok(None);
    };
    let opened = open(folder).map_err(|refusal| refusal.at(settings.fixture_at.clone()));
    opened.map(Some)
}

fn open(folder: &Path) -> Result<Arc<Fixture>, Refusal> {
    Fixture::open(folder).map_err(|problem| {
        let refusal = match problem.side() {
            Side::Fixture => Refusal::invalid(format!("the fixture cannot be used: {problem}")),
            Side::Machine => Refusal::new(
                ExitCode::CouldNotRun,
                format!("the fixture cannot be copied: {problem}"),
            ),
        };
        match problem.help() {
            Some(help) => refusal.with_help(help),
            None => refusal,
        }
    })
}

/// Refuses a plan without a fixture in which a server of the command line or a target speaks of one: suites that do
/// so themselves were told when they were loaded. Where names without a value are kept, so is this one.
pub(super) fn check_none_is_named(
    plan: &Plan,
    args: &RunArgs,
    fixture_from: FixtureFrom,
) -> Result<(), Refusal> {
    match fixture_from {
        FixtureFrom::Settings => {}
        FixtureFrom::Elsewhere | FixtureFrom::Given => return Ok(()),
    }
    let Some(job) = plan.jobs.iter().find(|job| names_fixture(job)) else {
        return Ok(());
    };
    let typed = args.selection.server.as_deref();
    let place = match &job.target {
        _ if typed.is_some_and(|typed| Template::new(typed).names_fixture()) => {
            "`--server`".to_owned()
        }
        Some(target) => format!("the target `{target}`"),
        None => format!("the server of `{}`", job.case.id),
    };
    let message = format!("`{{{{fixture}}}}` in {place} has no value: there is no fixture");
    Err(Refusal::invalid(message)
        .with_help("give a fixture with --fixture DIR or `fixture:` in mcp-assert.yaml"))
}

fn names_fixture(job: &Job) -> bool {
    match &job.work {
        Work::Run(work) => {
            work.assertion.needs != Needs::Nothing
                && work.assertion.rules.unknown == UnknownNames::Refuse
                && (work.terms.server.target.names_fixture() || work.terms.client.names_fixture())
        }
        Work::Skip(_) | Work::Invalid(_) => false,
    }
}
