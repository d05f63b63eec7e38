//! The fixture of a run, from the command line or the settings.

use std::{path::Path, sync::Arc};

use super::{Chosen, Refusal};
use crate::cli::run::RunArgs;
use host::fixture::{Fixture, ProblemKind};
use suite::{lower::FixtureFrom, settings::Settings};
use text::exit::ExitCode;

/// Where a fixture may come from. A list needs none.
pub(super) fn fixture_from(args: &RunArgs, chosen: &Chosen) -> FixtureFrom {
    match chosen {
        Chosen::ToDivide => FixtureFrom::Elsewhere,
        Chosen::ByOptions | Chosen::ByPlan(_) if args.place.fixture.is_some() => FixtureFrom::Given,
        Chosen::ByOptions | Chosen::ByPlan(_) if args.list => FixtureFrom::Elsewhere,
        Chosen::ByOptions | Chosen::ByPlan(_) => FixtureFrom::Settings,
    }
}

/// Opens the fixture of the command line, else of the settings.
pub(super) fn fixture(
    args: &RunArgs,
    settings: &Settings,
) -> Result<Option<Arc<Fixture>>, Refusal> {
    match &args.place.fixture {
        Some(folder) => open(folder).map(Some),
        None => of_settings(settings),
    }
}

/// Opens the fixture of the settings; errors have its place in the file.
pub(crate) fn of_settings(settings: &Settings) -> Result<Option<Arc<Fixture>>, Refusal> {
    let Some(folder) = &settings.fixture else {
        return Ok(None);
    };
    let opened = open(folder).map_err(|refusal| refusal.at(settings.fixture_at.clone()));
    opened.map(Some)
}

/// Opens a folder as a fixture.
pub(crate) fn open(folder: &Path) -> Result<Arc<Fixture>, Refusal> {
    Fixture::open(folder).map_err(|problem| {
        let refusal = if problem.kind == ProblemKind::Fixture {
            Refusal::invalid(format!("the fixture cannot be used: {problem}"))
        } else {
            let message = format!("the fixture cannot be copied: {problem}");
            Refusal::new(ExitCode::CouldNotRun, message)
        };
        match problem.help {
            Some(help) => refusal.with_help(help),
            None => refusal,
        }
    })
}
