//! Why an engine cannot be used, with a next step for each reason.

use std::{error::Error, fmt::Write as _, io, time::Duration};

use tokio::time::timeout;

/// Who asked for an engine, which decides how options are called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asker {
    /// A command line.
    #[default]
    CommandLine,
    /// `reap`, which runs nothing.
    Reaper,
    /// A step of a workflow, with inputs.
    Action,
}

impl Asker {
    /// How an engine is named.
    fn host(self) -> &'static str {
        match self {
            Self::CommandLine | Self::Reaper => "--docker-host",
            Self::Action => "the input `docker-host`",
        }
    }
}

/// Why an engine at one place cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreachable {
    /// There is nothing.
    #[error("does not exist")]
    Missing,
    /// It is not a socket.
    #[error("is {0}, not a socket")]
    NotASocket(&'static str),
    /// We may not connect.
    #[error("permission denied")]
    Denied,
    /// Nothing listens there.
    #[error("nothing listens there")]
    Refused,
    /// It takes connections and does not answer.
    #[error("did not answer within {0} s")]
    Silent(u64),
    /// Addresses of this kind are not understood.
    #[error("`{0}://` addresses are not supported")]
    Scheme(String),
    /// The connection cannot be secured.
    #[error("TLS: {0}")]
    Tls(String),
    /// Something else answered, or something else went wrong.
    #[error("{0}")]
    Other(String),
}

/// One place that was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The address.
    pub address: String,
    /// Why it was tried.
    pub origin: String,
    /// Whether it is a usual place, and not one that was asked for.
    pub is_usual: bool,
    /// Why it cannot be used.
    pub failure: Unreachable,
}

/// Why there is no engine for a run that needs one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The current context of Docker's configuration cannot be used, for this reason.
    #[error("no container engine can be used: {0}")]
    Context(String),
    /// No place has an engine that answers.
    #[error("no container engine can be used{}", told(.0))]
    Unreachable(Vec<Attempt>),
}

impl EngineError {
    /// What to do about it, in the words of the caller; one or more sentences.
    pub fn help(&self, asker: Asker) -> Vec<String> {
        let host = asker.host();
        let named = format!("or name the engine with {host} or DOCKER_HOST");
        let first = match self {
            Self::Context(_) => format!("choose another context with DOCKER_CONTEXT, {named}"),
            Self::Unreachable(attempts) => {
                // Nothing at a usual place says less than anything else.
                let is_there = |attempt: &&Attempt| attempt.failure != Unreachable::Missing;
                let closest = attempts.iter().find(is_there).or(attempts.first());
                closest.map_or_else(String::new, |it| it.help(&named))
            }
        };
        let second = match asker {
            Asker::CommandLine => Some("without containers: `--isolation process`".to_owned()),
            Asker::Action => Some(
                "without containers: `uses: mcp-assert/action/setup@v1`, then `mcp-assert ci --isolation process`".to_owned(),
            ),
            Asker::Reaper => None,
        };
        [first].into_iter().chain(second).collect()
    }

    /// Whether no engine was named, and none is at the usual places.
    pub fn is_absence(&self) -> bool {
        let Self::Unreachable(attempts) = self else {
            return false;
        };
        let is_missing = |it: &Attempt| it.is_usual && it.failure == Unreachable::Missing;
        attempts.iter().all(is_missing)
    }
}

/// Everything that was tried, a line each.
fn told(attempts: &[Attempt]) -> String {
    attempts.iter().fold(String::new(), |mut text, attempt| {
        let Attempt {
            address,
            origin,
            failure,
            ..
        } = attempt;
        let _ = write!(text, "\n  `{address}` ({origin}): {failure}");
        text
    })
}

impl Attempt {
    fn help(&self, named: &str) -> String {
        match &self.failure {
            Unreachable::Missing
            | Unreachable::NotASocket(_)
            | Unreachable::Refused
            | Unreachable::Other(_) => format!(
                "start Docker or Podman (on a runner with Kubernetes, rootless Docker or Podman, mount the engine's own \
                 socket there), {named}"
            ),
            Unreachable::Denied => format!(
                "let your user use `{}`: `sudo usermod -aG docker $USER` and log in again, or run a rootless engine",
                self.address
            ),
            Unreachable::Silent(_) => format!("the engine hangs: restart it, {named}"),
            Unreachable::Scheme(_) => "use a `unix://`, `tcp://` or `https://` address; \
                 an engine behind ssh: `ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock HOST` \
                 and `--docker-host unix:///tmp/docker.sock`"
                .to_owned(),
            Unreachable::Tls(_) => {
                "`ca.pem`, `cert.pem` and `key.pem` are looked for in the context, else in \
                 DOCKER_CERT_PATH, else in ~/.docker"
                    .to_owned()
            }
        }
    }
}

/// What an error of the connection means.
pub(super) fn unreachable(error: &bollard::errors::Error) -> Unreachable {
    match io_kind(error) {
        Some(io::ErrorKind::NotFound) => return Unreachable::Missing,
        Some(io::ErrorKind::PermissionDenied) => return Unreachable::Denied,
        Some(io::ErrorKind::ConnectionRefused) => return Unreachable::Refused,
        Some(_) | None => {}
    }
    let text = chain(error);
    if ["certificate", "TLS", "tls", "CertPath", "pem"]
        .iter()
        .any(|word| text.contains(word))
    {
        return Unreachable::Tls(text);
    }
    Unreachable::Other(text)
}

/// The kind of the system's error that lies under this one.
pub(super) fn io_kind(error: &(dyn Error + 'static)) -> Option<io::ErrorKind> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(io) = error.downcast_ref::<io::Error>() {
            // A wrapped error says more than its wrapping.
            let inner = io.get_ref().and_then(|inner| io_kind(inner));
            return inner.or(Some(io.kind()));
        }
        next = error.source();
    }
    None
}

/// Waits for an answer of the engine; `None` where it does not have what it was asked for. The error is for people.
pub(super) async fn answer<T>(
    limit: Duration,
    asked: impl Future<Output = Result<T, bollard::errors::Error>>,
) -> Result<Option<T>, String> {
    match timeout(limit, asked).await {
        Ok(Ok(answer)) => Ok(Some(answer)),
        Ok(Err(error)) if is_unknown(&error) => Ok(None),
        Ok(Err(error)) => Err(chain(&error)),
        Err(_) => {
            let limit = limit.as_secs();
            Err(format!("the engine did not answer within {limit} s"))
        }
    }
}

/// Whether the engine says that it does not have what it was asked for.
pub(super) fn is_unknown(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError {
            status_code: 404,
            ..
        }
    )
}

/// The error and its causes in one line, none twice.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.contains(&said) {
            let _ = write!(text, ": {said}");
        }
        next = cause.source();
    }
    text
}
