//! `run --list` and `run --dry-run`: shows what would run, as text or JSON.

use std::{io::Write, sync::Arc};

use serde_json::{Value, json};

use crate::{
    cli::run::RunArgs,
    commands::running::{Prepared, Refusal, Screen},
    deliver::stdout::Stdout,
};
use host::launch::spelled;
use mcp::script::template::Bindings;
use report::cleaner::Cleaner;
use suite::{
    model::{
        container::{Container, ImageBase},
        on_target,
        server::Target,
    },
    plan::job::{Job, OwnFixture, Planned, Work},
};
use text::{clean, exit::ExitCode, workflow::neutral};

/// Whether `--list` prints something. A suite with problems gives a list, even an empty one.
pub(super) fn can_list(prepared: &Prepared, args: &RunArgs) -> bool {
    args.list && (prepared.is_invalid() || !prepared.plan.jobs.is_empty())
}

/// Prints the id of each job, or with `--json` an array of
/// `{id, name, file, line, subject, target, skip}`.
pub(super) fn list(
    prepared: &Prepared,
    args: &RunArgs,
    screen: &mut Screen,
) -> Result<ExitCode, Refusal> {
    let in_workflow = screen.is_in_workflow();
    let out = &mut screen.stdout;
    let first_trials = || prepared.plan.jobs.iter().filter(|job| job.trial == 1);
    if args.json {
        let cleaner = Cleaner::new(prepared.secrets());
        let rows: Vec<_> = first_trials().map(|job| row(job, &cleaner)).collect();
        let text = format!("{:#}\n", Value::Array(rows));
        print(out, &neutral::json(text))?;
    } else {
        for job in first_trials() {
            let line = on_target(&job.case.id, job.target.as_deref()) + "\n";
            if in_workflow {
                print(out, &neutral::lines(&line))?;
            } else {
                print(out, &line)?;
            }
        }
    }
    Ok(code(prepared))
}

/// The exit code of a list.
fn code(prepared: &Prepared) -> ExitCode {
    if prepared.is_invalid() {
        ExitCode::Invalid
    } else {
        ExitCode::Passed
    }
}

fn row(job: &Job, cleaner: &Cleaner) -> Value {
    let skip = match &job.work {
        Work::Skip(reason) => Some(cleaner.text(reason)),
        Work::Run(_) | Work::Invalid(_) => None,
    };
    json!({
        "id": job.case.id,
        "name": Cleaner::name(&job.case.name),
        "file": Cleaner::name(&job.case.origin.file.path),
        "line": job.case.origin.position().line,
        "subject": job.case.subject,
        "target": job.target,
        "skip": skip,
    })
}

/// Prints what would be started for each job, or with `--json` an array of what `--list --json` has, with
/// `trial`, `invalid` and what would be started.
pub(super) fn dry_run(
    prepared: &Prepared,
    args: &RunArgs,
    screen: &mut Screen,
) -> Result<ExitCode, Refusal> {
    let out = &mut screen.stdout;
    if args.json {
        let cleaner = Cleaner::new(prepared.secrets());
        let jobs = prepared.plan.jobs.iter();
        let rows: Vec<Value> = jobs.map(|job| dry_row(prepared, job, &cleaner)).collect();
        let text = format!("{:#}\n", Value::Array(rows));
        print(out, &neutral::json(text))?;
    } else {
        say_started(prepared, out)?;
    }
    Ok(code(prepared))
}

fn dry_row(prepared: &Prepared, job: &Job, cleaner: &Cleaner) -> Value {
    let (starts, invalid) = match &job.work {
        Work::Run(work) => {
            let starts = json!({
                "server": cleaner.text(&server(prepared, work)),
                "container": container(work).map(|it| {
                    let (image, build) = base(it);
                    json!({
                        "image": image.map(|image| cleaner.text(&image)),
                        "build": build.map(|folder| cleaner.text(&folder)),
                        "prepared": it.prepare.is_some(),
                    })
                }),
                "timeout_ms": u64::try_from(work.terms.timeout.as_millis()).unwrap_or(u64::MAX),
                "fixture": work.terms.fixture == OwnFixture::Copied,
            });
            (Some(starts), None)
        }
        Work::Invalid(reasons) => (None, Some(cleaner.text(&reasons.join("; ")))),
        Work::Skip(_) => (None, None),
    };
    let mut row = row(job, cleaner);
    row["trial"] = json!(job.trial);
    row["invalid"] = json!(invalid);
    row["starts"] = json!(starts);
    row
}

fn say_started(prepared: &Prepared, out: &mut Stdout) -> Result<(), Refusal> {
    let secrets = prepared.secrets();
    for job in &prepared.plan.jobs {
        let name = on_target(&job.case.id, job.target.as_deref());
        let what = match &job.work {
            Work::Run(work) => started(prepared, work),
            Work::Skip(reason) => format!("skipped: {reason}"),
            Work::Invalid(reasons) => format!("invalid: {}", reasons.join("; ")),
        };
        print(out, &clean(&secrets.mask(&format!("{name}\n    {what}\n"))))?;
    }
    Ok(())
}

/// The command line or URL of a job's server.
fn server(prepared: &Prepared, work: &Planned) -> String {
    let bindings = Bindings {
        fixture: prepared.fixture.as_ref().map(|_| "<fixture>".to_owned()),
        environment: Arc::clone(&prepared.environment),
        ..Bindings::default()
    };
    let server = &work.terms.server;
    match spelled(&server.target, &bindings, || Ok(0)) {
        Ok(line) => line.shown_of(server, None),
        Err(disruption) => disruption.message,
    }
}

fn started(prepared: &Prepared, work: &Planned) -> String {
    let server = server(prepared, work);
    let fixture = match work.terms.fixture {
        OwnFixture::Copied => ", a fresh fixture",
        OwnFixture::None => "",
    };
    let container = container(work).map(in_container).unwrap_or_default();
    format!(
        "{} within {:?}{fixture}{container}: {server}",
        work.assertion.case.subject, work.terms.timeout,
    )
}

/// The container of a server.
fn container(work: &Planned) -> Option<&Container> {
    match &work.terms.server.target {
        Target::Container { container, .. } => Some(container),
        Target::Process(_) | Target::Builtin { .. } | Target::Url { .. } | Target::None => None,
    }
}

/// The image of a container, or the folder that it is built from.
fn base(container: &Container) -> (Option<String>, Option<String>) {
    match &container.image {
        Some(ImageBase::Named(name)) => (Some(name.clone()), None),
        Some(ImageBase::Built(build)) => (None, Some(build.context.display().to_string())),
        Some(ImageBase::Own) | None => (None, None),
    }
}

fn in_container(container: &Container) -> String {
    let of = match base(container) {
        (Some(image), _) => format!("of the image `{image}`"),
        (None, Some(folder)) => format!("of an image built from `{folder}`"),
        (None, None) => "of this program alone".to_owned(),
    };
    let prepared = container.prepare.as_ref().map_or("", |_| ", prepared");
    format!(", in a container {of}{prepared}")
}

/// Prints an empty array for `--json` if nothing runs.
pub(super) fn nothing(args: &RunArgs, out: &mut Stdout) -> Result<(), Refusal> {
    if args.json {
        print(out, "[]\n")
    } else {
        Ok(())
    }
}

fn print(out: &mut Stdout, text: &str) -> Result<(), Refusal> {
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| {
            Refusal::new(
                ExitCode::CouldNotRun,
                format!("cannot write to stdout: {error}"),
            )
        })
}
