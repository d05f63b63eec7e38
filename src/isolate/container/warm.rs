//! The first start of a server in a prepared image, made before any assertion: what a runtime writes down at a first
//! start (the bytecode of Python, the code cache of Node.js) is kept in the image, because later starts find its root
//! read-only.

use std::time::Duration;

use bollard::container::LogOutput;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::{
    io::AsyncWriteExt,
    time::{Instant, timeout, timeout_at},
};

use super::{
    body::NOBODY,
    bundle::hex,
    image::{Maker, ReadyImage, inspect},
    image_failure::ImageError,
    prepare::REPOSITORY,
    workshop::{Closed, Freedom, Marks, Plan, Run, Running, SHELL, Workshop},
};
use crate::protocol::revision::Revision;

/// Changes with what is done here, so that images of other versions are not taken for ours.
const FORMAT: &str = "warm 2";

/// How long a server may take to answer the handshake; not in time, it is started all the same later.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long it may take to end once its input has: caches are written then.
const ENDING: Duration = Duration::from_secs(10);

/// Where Node.js keeps compiled code.
const NODE_CACHE: &str = "/var/cache/mcp-assert/node";

/// The most that is heard of an answer.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// How a server is started.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FirstStart {
    /// The program; `None`: the image's own.
    pub(crate) program: Option<String>,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Its variables.
    pub(crate) env: Vec<(String, String)>,
    /// Its directory; `None`: the image's.
    pub(crate) directory: Option<String>,
    /// Its user; `None`: the image's.
    pub(crate) user: Option<String>,
    /// The folder of the fixture.
    pub(crate) fixture: Option<String>,
}

/// The image after a first start. Where that does not work, the image as it was: the assertions will tell why.
pub(super) async fn warmed(
    maker: &Maker<'_>,
    image: &ReadyImage,
    start: &FirstStart,
) -> Result<ReadyImage, ImageError> {
    let words = words(image, start);
    if words.is_empty() {
        // Its assertions will tell that it starts nothing.
        return Ok(image.clone());
    }
    let user = start.user.as_ref().or(image.user.as_ref());
    let user = user.map_or(NOBODY, String::as_str);
    let digest = digest(image, start, &words, user);
    let name = format!("{REPOSITORY}:{digest}");
    if !maker.rebuilds()
        && let Some(found) = inspect(maker.engine, &name).await?
    {
        return Ok(called(found, image));
    }
    maker.tell(format!(
        "starting `{}` once in `{}`",
        words.join(" "),
        image.name
    ));
    let plan = Plan {
        image,
        platform: None,
        name: &format!("mcp-assert-warm-{}", &digest[..16]),
        run: maker.run,
        makes: &name,
        network: "none",
        freedom: Freedom::Closed,
    };
    let mut shop = match Workshop::open(maker.engine, plan).await {
        Ok(shop) => shop,
        Err(closed) => return Ok(cold(maker, image, &closed)),
    };
    let done = tokio::select! {
        done = sessions(&mut shop, image, start, (&words, user)) => done,
        () = maker.interrupt.cancelled() => {
            shop.close().await;
            return Err(ImageError::Interrupted);
        }
    };
    let done = match done {
        Ok(()) => {
            let marks = Marks {
                variables: &[format!("NODE_COMPILE_CACHE={NODE_CACHE}")],
                made_of: Some(&image.id),
            };
            shop.keep(&name, image, marks).await
        }
        Err(closed) => Err(closed),
    };
    shop.close().await;
    if let Err(closed) = done {
        return Ok(cold(maker, image, &closed));
    }
    let made = inspect(maker.engine, &name).await?;
    Ok(made.map_or_else(|| image.clone(), |made| called(made, image)))
}

/// The image, called as the one it was made from.
fn called(made: ReadyImage, of: &ReadyImage) -> ReadyImage {
    ReadyImage {
        digest: of.digest.clone(),
        name: of.name.clone(),
        entrypoint: of.entrypoint.clone(),
        command: of.command.clone(),
        ..made
    }
}

/// The image as it was.
fn cold(maker: &Maker<'_>, image: &ReadyImage, closed: &Closed) -> ReadyImage {
    let why = match closed {
        Closed::Taken => "another run is at it".to_owned(),
        Closed::NoShell => format!("there is no {SHELL}"),
        Closed::Slow(after) => format!("the engine was silent for {} s", after.as_secs()),
        Closed::Mute => "the server did not answer".to_owned(),
        Closed::Refused(error) => error.to_string(),
    };
    maker.tell(format!(
        "`{}` is used without a first start: {why}",
        image.name
    ));
    image.clone()
}

/// The command line.
fn words(image: &ReadyImage, start: &FirstStart) -> Vec<String> {
    match &start.program {
        Some(program) => [std::slice::from_ref(program), &start.args].concat(),
        None if start.args.is_empty() => [&image.entrypoint[..], &image.command].concat(),
        None => [&image.entrypoint[..], &start.args].concat(),
    }
}

/// Everything that decides what comes out; of variables only their names, because values may be secrets.
fn digest(image: &ReadyImage, start: &FirstStart, words: &[String], user: &str) -> String {
    let names: Vec<&String> = start.env.iter().map(|(name, _)| name).collect();
    let what = serde_json::json!([FORMAT, image.id, words, names, start.directory, user]);
    hex(&Sha256::digest(what.to_string().as_bytes()))
}

/// Makes the folders, starts the server as the image's user, who may write to what belongs to the image, and as the
/// user it will have, because Node.js keeps a cache for each.
async fn sessions(
    shop: &mut Workshop<'_>,
    image: &ReadyImage,
    start: &FirstStart,
    (words, user): (&[String], &str),
) -> Result<(), Closed> {
    shop.start().await?;
    let fixture = start.fixture.as_deref().unwrap_or_default();
    let make = "mkdir -p \"$1\" && chmod 1777 \"$1\"; [ -z \"$2\" ] || { mkdir -p \"$2\" && chmod 1777 \"$2\"; }";
    sh(shop, make, &[NODE_CACHE, fixture]).await?;
    session(shop, start, words, None).await?;
    if image.user.as_deref() != Some(user) {
        session(shop, start, words, Some(user)).await?;
    }
    if !fixture.is_empty() {
        sh(
            shop,
            "rm -rf \"$1\"; rmdir \"${1%/*}\" 2>/dev/null",
            &[fixture],
        )
        .await?;
    }
    Ok(())
}

/// Runs a line of shell as the superuser.
async fn sh(shop: &Workshop<'_>, line: &str, arguments: &[&str]) -> Result<(), Closed> {
    let mut words = vec![SHELL, "-c", line, SHELL];
    words.extend(arguments);
    let mut running = shop
        .run(Run {
            line: words.into_iter().map(str::to_owned).collect(),
            env: Vec::new(),
            user: Some("0"),
            directory: Some("/"),
        })
        .await?;
    // What it says is nobody's concern; its end is.
    let _ = timeout(ENDING, async {
        while running.output.next().await.is_some() {}
    })
    .await;
    Ok(())
}

/// One session: start, handshake, close.
async fn session(
    shop: &Workshop<'_>,
    start: &FirstStart,
    words: &[String],
    user: Option<&str>,
) -> Result<(), Closed> {
    let own = start
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value}"));
    let ours = [
        "PYTHONDONTWRITEBYTECODE=".to_owned(),
        format!("NODE_COMPILE_CACHE={NODE_CACHE}"),
    ];
    let running = shop
        .run(Run {
            line: words.to_vec(),
            env: own.chain(ours).collect(),
            user,
            directory: start.directory.as_deref(),
        })
        .await?;
    handshake(running).await
}

/// Says hello, waits for the answer, hangs up, waits for the end. A server that does not play along is not judged
/// here: its assertions are.
async fn handshake(mut running: Running) -> Result<(), Closed> {
    let hello = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": Revision::NEWEST_HANDSHAKE.name(),
            "capabilities": {},
            "clientInfo": {"name": "mcp-assert", "version": env!("CARGO_PKG_VERSION")},
        },
    });
    let done = serde_json::json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let deadline = Instant::now() + PATIENCE;
    let said = timeout_at(
        deadline,
        running.input.write_all(format!("{hello}\n").as_bytes()),
    )
    .await;
    let answered = matches!(said, Ok(Ok(()))) && is_answered(&mut running, deadline).await;
    if answered {
        let _ = timeout_at(
            deadline,
            running.input.write_all(format!("{done}\n").as_bytes()),
        )
        .await;
    }
    let _ = timeout_at(deadline, running.input.shutdown()).await;
    let _ = timeout(ENDING, async {
        while running.output.next().await.is_some() {}
    })
    .await;
    if answered { Ok(()) } else { Err(Closed::Mute) }
}

/// Whether an answer to the first question came.
async fn is_answered(running: &mut Running, deadline: Instant) -> bool {
    let mut line = Vec::new();
    while let Ok(Some(Ok(said))) = timeout_at(deadline, running.output.next()).await {
        let LogOutput::StdOut { message } = said else {
            continue;
        };
        for byte in message {
            if byte == b'\n' {
                let frame = serde_json::from_slice::<serde_json::Value>(&line);
                line.clear();
                if frame.is_ok_and(|frame| frame["id"] == 1) {
                    return true;
                }
            } else if line.len() < LONGEST_ANSWER {
                line.push(byte);
            }
        }
    }
    false
}
