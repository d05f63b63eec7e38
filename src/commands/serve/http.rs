//! `mcp-assert serve --http`: binds the address, writes URL and port files, and serves.

use std::path::Path;

use super::{NotServed, options, run, say, taps, until_signalled};
use crate::cli::serve::{AuthMode, ServeArgs};
use serve::http::{Auth, HttpOptions, Keys, Listening, Style};
use serve::{Ended, layer};

/// Serves over HTTP until a signal or limit.
pub(super) fn serve(args: ServeArgs) -> Result<Ended, NotServed> {
    let (server, http) = (options(&args)?, http_options(&args)?);
    let address = args.http.clone().or(args.sse.clone()).unwrap_or_default();
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
            // A reader of this line may send a signal at once.
            say(&format!("{ready}\n"));
            serve::http::serve(server, http, books, listening, asked)
        }))
        .await
    })?)
}

fn http_options(args: &ServeArgs) -> Result<HttpOptions, Vec<String>> {
    Ok(HttpOptions {
        style: match args.sse {
            None => Style::Streamable,
            Some(_) => Style::EventStream,
        },
        path: args.path.clone(),
        allow_hosts: args.allow_host.clone(),
        allow_origins: args.allow_origin.clone(),
        stateless: args.stateless,
        json_response: args.json_response,
        no_resume: args.no_resume,
        session_ttl: args.session_ttl,
        auth: auth(args).map_err(|problem| vec![problem])?,
    })
}

fn auth(args: &ServeArgs) -> Result<Auth, String> {
    let mut keys = Keys::default();
    for key in &args.api_key {
        let added = keys.add(key);
        added.map_err(|problem| format!("--api-key cannot be used: {problem}"))?;
    }
    match (args.auth, args.api_key.is_empty()) {
        (AuthMode::None, true) => Ok(Auth::None),
        (AuthMode::Key, false) => Ok(Auth::Key(keys)),
        (AuthMode::Bearer, false) => Ok(Auth::Bearer(keys)),
        (AuthMode::None, false) => {
            Err("--api-key needs `--auth key` or `--auth bearer`".to_owned())
        }
        (AuthMode::Key | AuthMode::Bearer, true) => {
            Err("--auth needs at least one `--api-key NAME=VALUE`".to_owned())
        }
    }
}

fn write(to: Option<&Path>, text: &str) -> std::io::Result<()> {
    let Some(path) = to else { return Ok(()) };
    std::fs::write(path, format!("{text}\n")).map_err(|error| {
        let path = path.display();
        std::io::Error::new(error.kind(), format!("`{path}` cannot be written: {error}"))
    })
}
