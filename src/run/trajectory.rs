//! Trajectories: the calls come from the suite or from a log, and no server is started.

use std::{io::Read, path::Path};

use super::{attempt::Attempted, job::Shared};
use host::regular;
use mcp::{
    observation::{
        TraceCall,
        disruption::{Disruption, DisruptionKind, Phase},
    },
    script::{
        subject::TraceSource,
        template::{Bindings, Template, UnknownNames, ValueTemplate},
    },
    session::trajectory,
};
use suite::plan::job::RunJob;

/// The longest log that is read, in bytes.
const LONGEST_LOG: u64 = 256 * 1024 * 1024;

/// Fills in the calls, or why there are none. Nothing runs that could write to the fixture, so that the original
/// stands for it.
pub(super) fn observe(
    source: &TraceSource,
    job: &RunJob,
    shared: &Shared,
    attempted: &mut Attempted,
) {
    let fixture = shared.options.fixture.as_ref();
    // A path that is not UTF-8 cannot be written into an assertion.
    let root = fixture.and_then(|fixture| fixture.root().to_str());
    attempted.bindings.fixture = root.map(str::to_owned);
    let observation = &mut attempted.observation;
    observation.reached = Phase::Subject;
    match source {
        TraceSource::Inline(calls) => {
            observation.trace = Some(filled(calls, &attempted.bindings));
        }
        TraceSource::AuditLog(path) => {
            let read = path
                .render(&attempted.bindings.of_reading())
                .map_err(|error| error.to_string())
                .and_then(|path| read(&path, job, &attempted.bindings.environment.directory))
                .and_then(|(path, text)| {
                    trajectory::parse(&text).map_err(|problem| format!("{path}: {problem}"))
                });
            match read {
                Ok(log) => {
                    observation.trace = Some(log.calls);
                    observation.passed_over = log.passed_over;
                }
                Err(message) => {
                    let message = format!("the audit log cannot be used: {message}");
                    observation.disruption = Some(Disruption::new(
                        DisruptionKind::Place,
                        Phase::Subject,
                        message,
                    ));
                }
            }
        }
    }
}

/// The calls with the names in them that have a value replaced, as in the rules about them. What an agent
/// sent may have braces that name nothing.
fn filled(calls: &[TraceCall], bindings: &Bindings) -> Vec<TraceCall> {
    let lenient = Bindings {
        unknown: UnknownNames::Keep,
        ..bindings.clone()
    };
    let fill = |call: &TraceCall| {
        let template = ValueTemplate::new(call.args.clone());
        let tool = Template::new(call.tool.clone());
        TraceCall {
            tool: tool.render(&lenient).unwrap_or(tool.text),
            args: template.render(&lenient).unwrap_or(template.value),
            ..call.clone()
        }
    };
    calls.iter().map(fill).collect()
}

/// The log, looked for from the caller's directory, as the Go tool does, then beside the suite's file.
fn read(path: &str, job: &RunJob, directory: &Path) -> Result<(String, String), String> {
    let beside = Path::new(&*job.planned.assertion.case.origin.file.path)
        .parent()
        .map(|folder| directory.join(folder).join(path));
    let from_caller = directory.join(path);
    let found = if from_caller.exists() {
        from_caller
    } else {
        beside.filter(|file| file.exists()).unwrap_or(from_caller)
    };
    let shown = found.display().to_string();
    let failed = |error: std::io::Error| format!("`{shown}`: {error}");
    let file = regular::open(&found).map_err(failed)?;
    let mut text = String::new();
    file.take(LONGEST_LOG + 1)
        .read_to_string(&mut text)
        .map_err(failed)?;
    if text.len() as u64 > LONGEST_LOG {
        return Err(format!("`{shown}` is longer than 256 MiB"));
    }
    Ok((shown, text))
}
