//! `mcp-assert run`: loads, plans, runs and reports. `running` does the first three; this file has the order, what is
//! printed instead of a run, and the exit code.

mod list;
mod reports;

use self::reports::{Reports, requested, results};
use super::{
    Context,
    running::{self, Chosen, Prepared, Refusal, Screen},
};
use crate::{cli::run::RunArgs, terminal::live::Results};
use report::{End, RunReport, compare::Comparison, verdict::WITHOUT_ENGINE};
use text::exit::ExitCode;

/// Runs suites as the options say.
pub(super) fn run(args: &RunArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let prepared = running::prepare(args, &Chosen::ByOptions, context);
    // The settings may send a report to stdout.
    let set = prepared.as_ref().map(|it| &it.settings.report[..]);
    let requested = requested(args, set.unwrap_or_default());
    let results = requested
        .as_ref()
        .map_or(Results::Silent, |it| results(args, it));
    let mut screen = Screen::new(context, args.selection.trials, results);
    let mut prepared = prepared?;
    for problem in &prepared.problems {
        screen.problem(problem);
    }
    for note in &prepared.notes {
        screen.note(note);
    }
    if let Some(percent) = &prepared.settings.threshold {
        screen.note(&format!(
            "`threshold: {percent}` is not applied: `run` wants every assertion to pass, `ci` takes --threshold"
        ));
    }
    let invalid = prepared.is_invalid();
    if invalid && args.strict_load {
        list::nothing(args, &mut screen.stdout)?;
        return Err(Refusal::invalid(
            "nothing was run: the suite has problems (--strict-load)",
        ));
    }
    if list::can_list(&prepared, args) {
        return list::list(&prepared, args, &mut screen);
    }
    if prepared.plan.jobs.is_empty() {
        list::nothing(args, &mut screen.stdout)?;
        return Err(nothing_selected(&prepared));
    }
    if args.dry_run {
        return list::dry_run(&prepared, args, &mut screen);
    }
    let reports = Reports::new(args, &prepared, requested?, &screen)?;
    let mut report = match running::execute(&mut prepared, None, args, &mut screen) {
        Ok((report, _)) => report,
        Err(refusal) => {
            list::nothing(args, &mut screen.stdout)?;
            return Err(refusal);
        }
    };
    report.reds.extend(running::flaky(&report, args.flaky));
    reports.compare(&mut report, args.fail_on_surface.gate(), &screen);
    note_reds(&report, &screen);
    let report = reports.deliver(report, &mut screen)?;
    let has_given_up = screen.context.streams.has_given_up();
    if has_given_up && report.end == End::Finished {
        // Partly printed results must not look like success.
        return Ok(ExitCode::Interrupted);
    }
    Ok(exit_code(&report, invalid))
}

/// The first of these causes counts: interrupted, invalid, no engine, red.
fn exit_code(report: &RunReport, invalid: bool) -> ExitCode {
    let compared = report.comparison.as_ref();
    let red = report.records.iter().any(|record| record.status.is_red())
        || !report.reds.is_empty()
        || compared.is_some_and(Comparison::has_regressions);
    match report.end {
        End::Interrupted => ExitCode::Interrupted,
        End::Finished if invalid => ExitCode::Invalid,
        End::Finished if report.is_without_engine() => ExitCode::CouldNotRun,
        End::Finished if red => ExitCode::Failed,
        End::Finished => ExitCode::Passed,
    }
}

/// Notes a missing engine, and other reasons for red that the closing report does not show.
fn note_reds(report: &RunReport, screen: &Screen) {
    if report.is_without_engine() {
        screen.note(WITHOUT_ENGINE);
    }
    if !screen.is_for_people() {
        for red in &report.reds {
            screen.note(red);
        }
    }
}

fn nothing_selected(prepared: &Prepared) -> Refusal {
    let by_shard = prepared.plan.of_other_shards;
    let by_filter = prepared.plan.left_out - by_shard;
    let message = match (by_filter, by_shard) {
        (0, 0) if prepared.is_invalid() => return Refusal::invalid("nothing could be run"),
        (0, 0) => "no assertion was found".to_owned(),
        (all, 0) => format!("nothing was selected: the filters left out all {all}"),
        (_, _) => format!(
            "nothing was selected: the filters left out {by_filter}, other shards have {by_shard}"
        ),
    };
    let help = if by_shard > 0 {
        format!("with at most {by_shard} shards none is empty")
    } else {
        "`mcp-assert run --list` without filters shows what there is".to_owned()
    };
    Refusal::new(ExitCode::NothingSelected, message).with_help(help)
}
