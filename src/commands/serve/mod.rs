//! `mcp-assert serve`: options in, one server on stdio or HTTP, exit code out.

mod http;

use std::io::Write;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::cli::serve::{Era, Level, ServeArgs};
use serve::{
    Clock, ClockMode, Ended, FileTools, Offer, Profile, Selection, ServeOptions, State, Stop,
    catalogue, ending, faults, layer, offered_revisions, stdio,
    tap::{JournalLevel, JournalTo, Redaction, TapOptions},
};
use text::exit::ExitCode;

/// Serves until the client closes, and gives the code that the process exits with.
pub(super) fn serve(args: ServeArgs) -> u8 {
    if args.hold_stdout {
        faults::orphan::hold_stdout();
        return ExitCode::Passed.number();
    }
    if args.list {
        return list(&args);
    }
    let exit_code = args.exit_code;
    let ended = match (&args.http, &args.sse) {
        (None, None) => over_stdio(args),
        (Some(_), _) | (_, Some(_)) => http::serve(args),
    };
    match ended {
        Ok(Ended::Clean) => exit_code,
        Ok(Ended::Fault(fault)) => ending::perform(fault),
        Err(NotServed::Usage(problems)) => usage(&problems),
        Err(NotServed::CannotRun(error)) => cannot_run(&error),
    }
}

/// Why nothing was served.
enum NotServed {
    /// These options cannot be followed.
    Usage(Vec<String>),
    /// The machine does not give what it takes.
    CannotRun(std::io::Error),
}

impl From<std::io::Error> for NotServed {
    fn from(error: std::io::Error) -> Self {
        Self::CannotRun(error)
    }
}

impl From<Vec<String>> for NotServed {
    fn from(problems: Vec<String>) -> Self {
        Self::Usage(problems)
    }
}

fn over_stdio(args: ServeArgs) -> Result<Ended, NotServed> {
    let options = options(&args)?;
    let tap = layer::build(&taps(args), &options)?;
    Ok(run(async {
        let streams = stdio::open()?;
        Box::pin(until_signalled(|asked| {
            serve::serve(options, tap, streams, asked)
        }))
        .await
    })?)
}

/// Runs a server on this thread.
fn run(server: impl Future<Output = std::io::Result<Ended>>) -> std::io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(server);
    // A thread that is stuck in a read of a terminal must not hold up the end.
    runtime.shutdown_background();
    ended
}

/// Serves, and tells the server of the signals that end it.
async fn until_signalled<S: Future<Output = Ended>>(
    server: impl FnOnce(mpsc::Receiver<Stop>) -> S,
) -> std::io::Result<Ended> {
    let (ask, asked) = mpsc::channel(2);
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let listen = async {
        loop {
            let why = tokio::select! {
                _ = terminated.recv() => Stop::Terminated,
                _ = interrupted.recv() => Stop::Interrupted,
            };
            // A server that has ended asks nobody any more.
            let _ = ask.send(why).await;
        }
    };
    tokio::select! {
        ended = server(asked) => Ok(ended),
        () = listen => Ok(Ended::Clean),
    }
}

fn options(args: &ServeArgs) -> Result<ServeOptions, Vec<String>> {
    let mut problems = Vec::new();
    let known = Profile::named(&args.profile).ok_or_else(|| {
        let names: Vec<&str> = Profile::ALL.iter().map(|profile| profile.name()).collect();
        let (profile, names) = (&args.profile, names.join(", "));
        format!("unknown profile `{profile}`; there are {names}")
    });
    let profile = usable(known, &mut problems);
    let clock = usable(clock(args), &mut problems);
    let idle_exit = usable(
        time("--idle-exit", args.idle_exit.as_deref()),
        &mut problems,
    );
    let exit_after = usable(
        time("--exit-after", args.exit_after.as_deref()),
        &mut problems,
    );
    let revisions = usable(
        offered_revisions(era(args.era), &args.protocol),
        &mut problems,
    );
    if let Some(folder) = args.files.as_ref().filter(|folder| !folder.is_dir()) {
        problems.push(format!("--files `{}` is no folder", folder.display()));
    }
    let state = State::new(args.state.clone());
    if let (Some(path), Err(error)) = (&args.state, state.check()) {
        problems.push(format!(
            "--state `{}` cannot keep counters: {error}",
            path.display()
        ));
    }
    let offer = usable(offer(args, profile), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    Ok(ServeOptions {
        profile,
        offer,
        revisions,
        seed: args.seed,
        clock,
        state,
        files: args.files.clone(),
        stderr: args.stderr.clone(),
        max_requests: args.max_requests,
        idle_exit,
        exit_after,
    })
}

/// What an option says; its default once the problem with it is noted.
fn usable<T: Default>(read: Result<T, String>, problems: &mut Vec<String>) -> T {
    read.unwrap_or_else(|problem| {
        problems.push(problem);
        T::default()
    })
}

fn offer(args: &ServeArgs, profile: Profile) -> Result<Offer, String> {
    let selection = Selection {
        tools: args.tools.clone(),
        resources: args.resources.clone(),
        prompts: args.prompts.clone(),
        disable: args.disable.clone(),
    };
    let files = match args.files {
        Some(_) => FileTools::Offered,
        None => FileTools::Absent,
    };
    let page_size = args
        .page_size
        .map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    Offer::new(profile, &selection, page_size, files)
}

fn taps(args: ServeArgs) -> TapOptions {
    TapOptions {
        rules: args.fault,
        rules_file: args.faults,
        journal: args.journal.map(|file| match file.to_str() {
            Some("-") => JournalTo::Stderr,
            Some(_) | None => JournalTo::File(file),
        }),
        journal_level: match args.journal_level {
            Level::Calls => JournalLevel::Calls,
            Level::Rpc => JournalLevel::Rpc,
            Level::Wire => JournalLevel::Wire,
        },
        redact: args.redact,
        redaction: if args.no_redact {
            Redaction::Off
        } else {
            Redaction::On
        },
    }
}

fn clock(args: &ServeArgs) -> Result<Clock, String> {
    if !args.time_scale.is_finite() || args.time_scale < 0.0 {
        return Err(format!(
            "--time-scale `{}` is no factor; use a number of at least 0",
            args.time_scale
        ));
    }
    let mode = ClockMode::read(&args.clock).ok_or_else(|| {
        format!(
            "unknown clock `{}`; use `real`, `virtual` or `fixed:2026-01-01T00:00:00Z`",
            args.clock
        )
    })?;
    Ok(Clock::new(mode, args.time_scale))
}

fn time(flag: &str, text: Option<&str>) -> Result<Option<Duration>, String> {
    let Some(text) = text else {
        return Ok(None);
    };
    let time = faults::argument::read_time(text).map(Some);
    time.ok_or_else(|| format!("{flag} `{text}` is no duration; write `500ms` or `1m30s`"))
}

fn era(era: Era) -> serve::OfferedEra {
    match era {
        Era::Auto => serve::OfferedEra::Both,
        Era::Legacy => serve::OfferedEra::Legacy,
        Era::Modern => serve::OfferedEra::Modern,
    }
}

fn list(args: &ServeArgs) -> u8 {
    let text = if args.json {
        format!("{:#}\n", catalogue::json())
    } else {
        catalogue::text()
    };
    super::print(text.as_bytes()).number()
}

fn usage(problems: &[String]) -> u8 {
    for problem in problems {
        say(&format!("error: {problem}\n"));
    }
    say("help: `mcp-assert serve --help` shows the options, `mcp-assert serve --list` the names\n");
    ExitCode::Invalid.number()
}

fn cannot_run(error: &std::io::Error) -> u8 {
    say(&format!("error: the server cannot run: {error}\n"));
    ExitCode::CouldNotRun.number()
}

fn say(text: &str) {
    // A closed stderr is nobody to tell.
    let _ = std::io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use serve::Profile;
    use suite::model::server::PROFILES;

    #[test]
    fn suites_know_every_profile() {
        assert_eq!(Profile::ALL.map(Profile::name), PROFILES);
    }
}
