//! `mcp-assert serve`: one server on stdio or HTTP.

mod http;

use std::io::Write;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::cli::serve::{Era, Level, ServeArgs};
use serve::{
    Clock, Ended, FileTools, Offer, Selection, ServeOptions, State, Stop, catalogue, ending,
    faults, layer, offered_revisions, stdio,
    tap::{JournalLevel, JournalTo, TapOptions},
};
use text::exit::ExitCode;

/// Serves until the client closes, and returns the exit code.
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

/// Why the server did not start.
enum NotServed {
    /// Invalid options.
    Usage(Vec<String>),
    /// An I/O error.
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

/// Runs a server on a single-threaded runtime.
fn run(server: impl Future<Output = std::io::Result<Ended>>) -> std::io::Result<Ended> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = runtime.block_on(server);
    // A thread blocked in a terminal read must not delay the exit.
    runtime.shutdown_background();
    ended
}

/// Serves, and forwards signals to the server.
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
            // The server may have ended.
            let _ = ask.send(why).await;
        }
    };
    tokio::select! {
        ended = server(asked) => Ok(ended),
        () = listen => Ok(Ended::Clean),
    }
}

fn options(args: &ServeArgs) -> Result<ServeOptions, Vec<String>> {
    let files = args.files.as_deref().filter(|folder| !folder.is_dir());
    let state = State::new(args.state.clone());
    let problem = match (files, &args.state, state.check()) {
        (Some(folder), _, _) => format!("--files `{}` is not a folder", folder.display()),
        (None, Some(path), Err(error)) => {
            let path = path.display();
            format!("--state `{path}` cannot keep counters: {error}")
        }
        (None, _, _) => return usable(args, state).map_err(|problem| vec![problem]),
    };
    Err(vec![problem])
}

fn usable(args: &ServeArgs, state: State) -> Result<ServeOptions, String> {
    Ok(ServeOptions {
        profile: args.profile,
        offer: offer(args)?,
        revisions: offered_revisions(era(args.era), &args.protocol)?,
        seed: args.seed,
        clock: Clock::new(args.clock, args.time_scale),
        state,
        files: args.files.clone(),
        stderr: args.stderr.clone(),
        max_requests: args.max_requests,
        idle_exit: args.idle_exit,
        exit_after: args.exit_after,
    })
}

fn offer(args: &ServeArgs) -> Result<Offer, String> {
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
    Offer::new(args.profile, &selection, page_size, files)
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
        no_redact: args.no_redact,
    }
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
    // A closed stderr is ignored.
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
