//! The first start of a server in a prepared image, before any assertion. A runtime's caches (the bytecode of Python, the
//! code cache of Node.js) are kept in the image, because later starts have a read-only root. It happens in a container of
//! its own, of which only these caches are kept.

use std::{path::Path, time::Duration};

use bollard::container::AttachContainerResults;
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    attach,
    body::{self, NOBODY},
    bundle::hex,
    caches::{self, NODE_CACHE},
    image::{Maker, ReadyImage},
    prepare::REPOSITORY,
    refusal::Failure,
    upload::{self, Ids},
    worker::{Freedom, Marks, Plan, Run, Running, SHELL, WorkError, Worker},
};
use crate::launch::CommandLine;
use mcp::{
    script::{client::ClientBehaviour, template::Bindings},
    session::Session,
    transport::clock::JobClock,
};
use text::head;

/// Changes with what is done here, so that images of other versions are not taken for ours.
const FORMAT: &str = "warm 3";

/// How long a server may take to answer the handshake; not in time, it is started all the same later.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long it may take to end once its input has: caches are written then.
const ENDING: Duration = Duration::from_secs(10);

/// The most characters of its command line that are shown.
const LONGEST_SHOWN: usize = 80;

/// How a server is started.
#[derive(Debug, Clone)]
pub struct FirstStart {
    /// What stands in front of the program; `None`: the image's entry point.
    pub front: Option<Vec<String>>,
    /// Its command line.
    pub line: CommandLine,
    /// Its user; `None`: the image's.
    pub user: Option<String>,
    /// The folder of the fixture.
    pub fixture: Option<String>,
}

impl FirstStart {
    /// What tells one first start from another: an image is started once for all values of variables, and whether or not
    /// there is a fixture.
    pub(super) fn kind(&self) -> serde_json::Value {
        let line = &self.line;
        let words = (&self.front, &line.program, &line.args);
        // Values may be secrets.
        let variables: Vec<&String> = line.env.iter().map(|(name, _)| name).collect();
        serde_json::json!([words, variables, line.directory, self.user])
    }
}

/// The image after a first start. Where that does not work, the image as it was: the assertions will tell why.
pub(super) async fn warmed(
    maker: &Maker<'_>,
    image: &ReadyImage,
    start: &FirstStart,
) -> Result<ReadyImage, Failure> {
    let command = (start.line.named(), &start.line.args[..]);
    let words = body::words(image, start.front.clone(), command);
    if words.is_empty() {
        // Its assertions will tell that it starts nothing.
        return Ok(image.clone());
    }
    let user = start.user.as_ref().or(image.user.as_ref());
    let user = user.map_or(NOBODY, String::as_str);
    let what = serde_json::json!([FORMAT, image.id, words, start.kind(), user]);
    let digest = hex(&Sha256::digest(what.to_string().as_bytes()));
    let name = format!("{REPOSITORY}:{digest}");
    let first = First {
        maker,
        image,
        start,
        user,
        lock: format!("mcp-assert-warm-{}", &digest[..16]),
        name: &name,
        words,
    };
    let made = Box::pin(maker.once(&name, first.made())).await?;
    Ok(made.map_or_else(
        || image.clone(),
        |made| made.in_place_of(image, image.name.clone()),
    ))
}

/// One first start.
struct First<'a> {
    maker: &'a Maker<'a>,
    image: &'a ReadyImage,
    start: &'a FirstStart,
    /// What is started.
    words: Vec<String>,
    /// The user of the assertions.
    user: &'a str,
    /// The image that comes out.
    name: &'a str,
    lock: String,
}

impl First<'_> {
    /// Makes the image; whether that worked.
    async fn made(&self) -> Result<bool, Failure> {
        let (maker, image) = (self.maker, self.image);
        let shown = self.words.join(" ");
        let shown = head(shown.lines().next().unwrap_or_default(), LONGEST_SHOWN);
        maker.tell(format!("starting `{shown}` once in `{}`", image.name));
        match self.keep_caches().await {
            Ok(()) => Ok(true),
            Err(WorkError::Interrupted) => Err(Failure::Interrupted),
            Err(why) => {
                tell_cold(maker, image, &why);
                Ok(false)
            }
        }
    }

    /// Starts the server in one container, and keeps another one with the caches of that start.
    async fn keep_caches(&self) -> Result<(), WorkError> {
        let tried = self.open(&self.lock).await?;
        let kept = match self.open(&format!("{}-kept", self.lock)).await {
            Ok(kept) => kept,
            Err(error) => {
                tried.close().await;
                return Err(error);
            }
        };
        let mut workers = (tried, kept);
        let done = tokio::select! {
            done = self.fill(&mut workers) => done,
            () = self.maker.interrupt.cancelled() => Err(WorkError::Interrupted),
        };
        tokio::join!(workers.0.close(), workers.1.close());
        done
    }

    async fn open(&self, name: &str) -> Result<Worker<'_>, WorkError> {
        let plan = Plan {
            image: self.image,
            platform: None,
            name,
            run: self.maker.run,
            makes: self.name,
            network: "none",
            freedom: Freedom::Closed,
        };
        Worker::open(self.maker.engine, plan).await
    }

    async fn fill(&self, (tried, kept): &mut (Worker<'_>, Worker<'_>)) -> Result<(), WorkError> {
        tried.start().await?;
        self.session(tried).await?;
        // It ends with us, should we be killed.
        kept.start().await?;
        let owners = self.owners(tried).await;
        caches::carry(tried, kept, owners).await?;
        let marks = Marks {
            variables: &[format!("NODE_COMPILE_CACHE={NODE_CACHE}")],
            made_of: Some(&self.image.id),
        };
        kept.keep(self.name, self.image, marks).await
    }

    /// The user that writes the caches, and the user that reads them.
    async fn owners(&self, worker: &Worker<'_>) -> (Ids, Ids) {
        let passwd = worker.table("/etc/passwd").await;
        let groups = worker.table("/etc/group").await;
        let own = self.image.user.as_deref().unwrap_or_default();
        let ids = |user: &str| upload::ids(user, &passwd, &groups).unwrap_or(Ids::ROOT);
        (ids(own), ids(self.user))
    }

    /// Makes the folders, then one session: start, handshake, close. It runs as the image's user, who may write to what
    /// belongs to the image, where the caches of Python are.
    async fn session(&self, worker: &Worker<'_>) -> Result<(), WorkError> {
        let fixture = self.start.fixture.as_deref().unwrap_or_default();
        let make = "mkdir -p \"$1\" && chmod 1777 \"$1\"; [ -z \"$2\" ] || { mkdir -p \"$2\" && chmod 1777 \"$2\"; }";
        sh(worker, make, &[NODE_CACHE, fixture]).await?;
        let line = &self.start.line;
        let own = line.env.iter();
        let own = own.map(|(name, value)| format!("{name}={value}"));
        let ours = [
            "PYTHONDONTWRITEBYTECODE=".to_owned(),
            format!("NODE_COMPILE_CACHE={NODE_CACHE}"),
        ];
        let running = worker
            .run(Run {
                line: self.words.clone(),
                env: own.chain(ours).collect(),
                user: None,
                directory: line.directory.as_deref().and_then(Path::to_str),
            })
            .await?;
        handshake(running).await
    }
}

/// Tells why the image is used as it was.
fn tell_cold(maker: &Maker<'_>, image: &ReadyImage, error: &WorkError) {
    let why = match error {
        WorkError::Taken => "another run is at it".to_owned(),
        WorkError::NoShell => format!("there is no {SHELL}"),
        WorkError::Slow(after) => format!("the engine was silent for {} s", after.as_secs()),
        WorkError::Unanswered => "the server did not answer".to_owned(),
        WorkError::Interrupted => "interrupted".to_owned(),
        WorkError::Refused(error) => error.to_string(),
    };
    maker.tell(format!(
        "`{}` is used without a first start: {why}",
        image.name
    ));
}

/// Runs a line of shell as the superuser.
async fn sh(worker: &Worker<'_>, line: &str, arguments: &[&str]) -> Result<(), WorkError> {
    let mut words = vec![SHELL, "-c", line, SHELL];
    words.extend(arguments);
    let mut running = worker
        .run(Run {
            line: words.into_iter().map(str::to_owned).collect(),
            env: Vec::new(),
            user: Some("0"),
            directory: Some("/"),
        })
        .await?;
    // Its output is ignored.
    let _ = timeout(ENDING, async {
        while running.output.next().await.is_some() {}
    })
    .await;
    Ok(())
}

/// Makes the handshake, closes the session, and waits for the end. A server that fails here is judged by its assertions.
async fn handshake(running: Running) -> Result<(), WorkError> {
    let Running { output, input, .. } = running;
    let streams = AttachContainerResults { output, input };
    let (connection, carrying) = attach::attach(streams, |_: &[u8]| {}, JobClock::start());
    let carrying = tokio::spawn(async move { drop(carrying.await) });
    let mut session = Session::open(connection, &ClientBehaviour::default(), None);
    let deadline = Instant::now() + PATIENCE;
    let greeted = Box::pin(session.greet(&Bindings::default(), deadline)).await;
    let end = Instant::now() + ENDING;
    Box::pin(session.close(end)).await;
    let abort = carrying.abort_handle();
    if timeout_at(end, carrying).await.is_err() {
        abort.abort();
    }
    greeted.map(|_| ()).map_err(|_| WorkError::Unanswered)
}
