//! `mcp-assert serve --http`: where it listens, and who is told.

use std::path::Path;

use super::{NotServed, options, run, say, taps, time, until_signalled, usable};
use crate::cli::serve::{AuthMode, ServeArgs};
use serve::http::{
    Answers, Auth, HttpOptions, Keys, Listening, Resume, SessionMode, Style, check_origin,
};
use serve::{Ended, layer};

/// Serves over HTTP until a signal or a limit ends it.
pub(super) fn serve(args: ServeArgs) -> Result<Ended, NotServed> {
    let mut problems = Vec::new();
    let server = options(&args).map_err(|found| problems.extend(found)).ok();
    let http = http_options(&args, &mut problems);
    let (flag, address) = match (&args.http, &args.sse) {
        (None, Some(address)) => ("--sse", address.clone()),
        (address, _) => ("--http", address.clone().unwrap_or_default()),
    };
    if !has_port(&address) {
        problems.push(format!(
            "{flag} `{address}` is no address; write `127.0.0.1:8080`, or `127.0.0.1:0` for any free port"
        ));
    }
    let (Some(server), true) = (server, problems.is_empty()) else {
        return Err(NotServed::Usage(problems));
    };
    let (url_file, port_file) = (args.url_file.clone(), args.port_file.clone());
    let books = layer::books(&taps(args), &server, http.style.carrier())?;
    Ok(run(async {
        let listening = Listening::bind(&address).await.map_err(|error| {
            std::io::Error::new(
                error.kind(),
                format!("it cannot listen at `{address}`: {error}"),
            )
        })?;
        let url = listening.url(&http.path);
        if !listening.is_loopback() {
            say(&format!(
                "warning: `{address}` can be reached from other machines, and everybody who reaches it is answered\n"
            ));
        }
        write(url_file.as_deref(), &url)?;
        write(
            port_file.as_deref(),
            &listening.address().port().to_string(),
        )?;
        let ready = serde_json::json!({"ready": true, "url": url, "pid": std::process::id()});
        Box::pin(until_signalled(|asked| {
            // Whoever reads this may send a signal at once.
            say(&format!("{ready}\n"));
            serve::http::serve(server, http, books, listening, asked)
        }))
        .await
    })?)
}

fn http_options(args: &ServeArgs, problems: &mut Vec<String>) -> HttpOptions {
    if !args.path.starts_with('/') || args.path.contains(['?', '#', ' ']) {
        problems.push(format!("--path `{}` is no path; write `/mcp`", args.path));
    }
    for origin in &args.allow_origin {
        if let Err(problem) = check_origin(origin) {
            problems.push(format!("--allow-origin {problem}"));
        }
    }
    HttpOptions {
        style: match args.sse {
            None => Style::Streamable,
            Some(_) => Style::EventStream,
        },
        path: args.path.clone(),
        allow_hosts: args.allow_host.clone(),
        allow_origins: args.allow_origin.clone(),
        sessions: if args.stateless {
            SessionMode::None
        } else {
            SessionMode::Kept
        },
        answers: if args.json_response {
            Answers::Json
        } else {
            Answers::Streams
        },
        resume: if args.no_resume {
            Resume::Refused
        } else {
            Resume::Offered
        },
        session_ttl: usable(time("--session-ttl", args.session_ttl.as_deref()), problems),
        auth: auth(args, problems),
    }
}

fn auth(args: &ServeArgs, problems: &mut Vec<String>) -> Auth {
    let mut keys = Keys::default();
    for key in &args.api_key {
        if let Err(problem) = keys.add(key) {
            problems.push(format!("--api-key cannot be used: {problem}"));
        }
    }
    match (args.auth, args.api_key.is_empty()) {
        (AuthMode::None, false) => {
            problems.push("--api-key needs `--auth key` or `--auth bearer`".to_owned());
        }
        (AuthMode::Key | AuthMode::Bearer, true) => {
            problems.push("--auth needs at least one `--api-key NAME=VALUE`".to_owned());
        }
        (AuthMode::None, true) | (AuthMode::Key | AuthMode::Bearer, false) => {}
    }
    match args.auth {
        AuthMode::None => Auth::None,
        AuthMode::Key => Auth::Key(keys),
        AuthMode::Bearer => Auth::Bearer(keys),
    }
}

fn has_port(address: &str) -> bool {
    let port = address.rsplit_once(':').map(|(_, port)| port);
    port.is_some_and(|port| port.parse::<u16>().is_ok())
}

fn write(to: Option<&Path>, text: &str) -> std::io::Result<()> {
    let Some(path) = to else { return Ok(()) };
    std::fs::write(path, format!("{text}\n")).map_err(|error| {
        let path = path.display();
        std::io::Error::new(error.kind(), format!("`{path}` cannot be written: {error}"))
    })
}
