//! The server over streamable HTTP: both eras on one path, each session a handler of its own.
//!
//! rmcp speaks HTTP: sessions, streams, resuming, the checks of `Host`, `Origin` and the `Mcp-*` headers. Around it are a
//! listener, what a request says before rmcp reads it, and an end that waits for nobody for long.

mod activity;
mod auth;
mod bend;
mod inlet;
mod json;
mod post;
mod sessions;

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::activity::{Activity, Going};
pub use self::auth::{Auth, Keys};
use self::bend::{Asked, Bent};
use self::inlet::{Answer, Asks, plain};
pub(crate) use self::post::Post;
use self::post::SESSION;
pub(crate) use self::sessions::TakenUp;
use self::sessions::{RETRY, Sessions};
use super::faults::exchange::{Exchange, Refusal, Shot};
use super::layer::Books;
use super::line::Line;
use super::surface::Bench;
use super::wire::Limits;
use super::{CLOSE, Ended, ServeOptions, Stop};

/// A body longer than this is refused, as a line is.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// How long a listener rests that cannot take a connection: the process has as many files open as it may.
const REST: Duration = Duration::from_millis(50);

/// The header that names the last event that was read of a stream.
const LAST_EVENT: &str = "last-event-id";

/// The names of this machine, for `Host` and `Origin`.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Everything that shapes the way of talking, as plain values.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The path that is served.
    pub path: String,
    /// `Host` names that are answered besides those of this machine.
    pub allow_hosts: Vec<String>,
    /// Origins that are answered besides those of this machine.
    pub allow_origins: Vec<String>,
    /// Whether a handshake opens a session.
    pub sessions: SessionMode,
    /// What an answer comes as.
    pub answers: Answers,
    /// Whether a stream that broke can be taken up again.
    pub resume: Resume,
    /// How long a session lives that nobody uses; as long as rmcp has it where there is nothing.
    pub session_ttl: Option<Duration>,
    /// What a request has to show.
    pub auth: Auth,
}

/// Whether a handshake opens a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionMode {
    /// It does.
    #[default]
    Kept,
    /// Each request stands for itself, whatever its revision.
    None,
}

/// What an answer comes as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Answers {
    /// A stream of events.
    #[default]
    Streams,
    /// JSON, unless something else has to be said before it.
    Json,
}

/// Whether a stream that broke can be taken up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resume {
    /// Events have ids, and the first one of a stream says when to come again.
    #[default]
    Offered,
    /// Events have no ids, and what asks for one is a stream like any other.
    Refused,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            path: "/mcp".to_owned(),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            sessions: SessionMode::default(),
            answers: Answers::default(),
            resume: Resume::default(),
            session_ttl: None,
            auth: Auth::default(),
        }
    }
}

/// What is wrong with an origin that is to be allowed, if anything is.
pub fn check_origin(origin: &str) -> Result<(), String> {
    let problem = || {
        format!(
            "`{origin}` is no origin; write `https://example.com`, `http://localhost:8080`, `http://localhost:*` or `null`"
        )
    };
    if origin == "null" {
        return Ok(());
    }
    let uri: http::Uri = origin
        .strip_suffix(":*")
        .unwrap_or(origin)
        .parse()
        .map_err(|_| problem())?;
    let is_bare = uri.path_and_query().is_none_or(|rest| rest == "/") && !origin.ends_with('/');
    let has_host = uri.authority().is_some_and(|authority| {
        let port = authority.as_str().strip_prefix(authority.host());
        port.is_some_and(|port| {
            port.is_empty()
                || port
                    .strip_prefix(':')
                    .is_some_and(|port| port.parse::<u16>().is_ok())
        })
    });
    if uri.scheme().is_some() && has_host && is_bare {
        Ok(())
    } else {
        Err(problem())
    }
}

/// A place that is listened at. Clients may connect; they are answered once [`serve`] runs.
#[derive(Debug)]
pub struct Listening {
    listener: TcpListener,
    address: SocketAddr,
}

impl Listening {
    /// Listens at `address`, a name or number with a port; port 0 is any free one.
    pub async fn bind(address: &str) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether only this machine can come.
    pub fn is_loopback(&self) -> bool {
        self.address.ip().is_loopback()
    }

    /// The URL that clients use, with this path.
    pub fn url(&self, path: &str) -> String {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip @ (IpAddr::V4(_) | IpAddr::V6(_)) => ip,
        };
        format!("http://{}{path}", SocketAddr::new(ip, self.address.port()))
    }
}

/// Serves everybody who comes until `asked` says so or a limit of its own is met.
pub async fn serve(
    options: ServeOptions,
    http: HttpOptions,
    books: Books,
    listening: Listening,
    mut asked: mpsc::Receiver<Stop>,
) -> Ended {
    let limits = Limits {
        max_requests: options.max_requests,
        idle_exit: options.idle_exit,
    };
    let exit_after = options.exit_after;
    let stop = CancellationToken::new();
    let (later, mut afterwards) = mpsc::unbounded_channel();
    let activity = Activity::default();
    let post = Post::new(books.clone(), options.clock.clone(), later);
    if let Some(text) = &options.stderr {
        post.stderr(&format!("{text}\n"));
    }
    let door = Arc::new(Door::new(options, http, post, (&books, &activity, &stop)));
    let ends = async {
        tokio::select! {
            () = asked_to(&mut asked) => {}
            () = activity.over(limits) => {}
            () = at_last(exit_after) => {}
        }
    };
    let mut ends = std::pin::pin!(ends);
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut ends => break,
            accepted = listening.listener.accept() => match accepted {
                Ok((stream, _)) => drop(tasks.spawn(attend(stream, door.clone(), stop.clone()))),
                Err(_) => tokio::time::sleep(REST).await,
            },
            Some(task) = afterwards.recv() => drop(tasks.spawn(task)),
            // What came of it is on the wire.
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listening);
    books.closes();
    stop.cancel();
    let rest = async { while tasks.join_next().await.is_some() {} };
    // A client that does not read loses what it did not read.
    let _ = tokio::time::timeout(CLOSE, rest).await;
    tasks.shutdown().await;
    books.end();
    Ended::Clean
}

/// Waits for a word to end; one that nobody can say any more never comes.
async fn asked_to(asked: &mut mpsc::Receiver<Stop>) {
    if asked.recv().await.is_none() {
        std::future::pending::<()>().await;
    }
}

async fn at_last(exit_after: Option<Duration>) {
    match exit_after {
        Some(after) => tokio::time::sleep(after).await,
        None => std::future::pending().await,
    }
}

/// Answers what comes on one connection, until it closes or the server ends.
async fn attend(stream: TcpStream, door: Arc<Door>, stop: CancellationToken) {
    // Small answers go out at once; where that cannot be set they only come later.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let door = door.clone();
        async move {
            match door.answer(request).await {
                Bent::Answer(answer) => Ok(answer),
                Bent::Reset => Err(io::Error::from(io::ErrorKind::ConnectionReset)),
            }
        }
    });
    let mut connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = stop.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    // A connection that broke otherwise has nobody to be told.
    if ended.is_err_and(|error| is_reset(&error)) {
        let stream = connection.into_parts().io.into_inner();
        // Where it cannot be set, the connection is closed instead.
        let _ = stream.set_zero_linger();
    }
}

/// Whether a connection ended because a fault resets it.
fn is_reset(error: &hyper::Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<io::Error>());
    error.is_user() && cause.is_some_and(|cause| cause.kind() == io::ErrorKind::ConnectionReset)
}

/// What every request goes through.
struct Door {
    path: String,
    auth: Auth,
    modes: (SessionMode, Answers, Resume),
    rmcp: StreamableHttpService<Bench, Sessions>,
    sessions: Arc<Sessions>,
    activity: Activity,
    books: Books,
    stop: CancellationToken,
}

impl Door {
    fn new(
        options: ServeOptions,
        http: HttpOptions,
        post: Post,
        (books, activity, stop): (&Books, &Activity, &CancellationToken),
    ) -> Self {
        let sessions = Arc::new(Sessions::new(options.seed, http.session_ttl, http.resume));
        let bench = Bench::new(Arc::new(options), Line::Http(post));
        let hosts = LOOPBACK.map(str::to_owned).into_iter();
        let origins = LOOPBACK
            .iter()
            .flat_map(|name| ["http", "https"].map(|scheme| format!("{scheme}://{name}:*")));
        let defaults = StreamableHttpServerConfig::default();
        let retry = match http.resume {
            Resume::Offered => Some(RETRY),
            Resume::Refused => None,
        };
        let config = defaults
            .with_sse_retry(retry)
            .with_legacy_session_mode(http.sessions == SessionMode::Kept)
            .with_json_response(http.answers == Answers::Json)
            .with_allowed_hosts(hosts.chain(http.allow_hosts))
            .with_allowed_origins(origins.chain(http.allow_origins))
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(stop.clone());
        Self {
            path: http.path,
            auth: http.auth,
            modes: (http.sessions, http.answers, http.resume),
            rmcp: StreamableHttpService::new(move || Ok(bench.beside()), sessions.clone(), config),
            sessions,
            activity: activity.clone(),
            books: books.clone(),
            stop: stop.clone(),
        }
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Bent {
        if request.uri().path() != self.path {
            let text = "Not Found: there is nothing at this path";
            return Bent::Answer(plain(StatusCode::NOT_FOUND, text));
        }
        match self.auth.admit(request.headers()) {
            Ok(Some(identity)) => drop(request.extensions_mut().insert(identity)),
            Ok(None) => {}
            Err(refused) => return Bent::Answer(*refused),
        }
        let (sessions, _, resume) = self.modes;
        if sessions == SessionMode::None {
            // It would name nothing.
            request.headers_mut().remove(SESSION);
        }
        if resume == Resume::Refused {
            request.headers_mut().remove(LAST_EVENT);
        }
        if *request.method() == Method::POST {
            let going = self.activity.begins();
            return match self.post(request).await {
                Bent::Answer(answer) => Bent::Answer(held(answer, going)),
                Bent::Reset => Bent::Reset,
            };
        }
        Bent::Answer(self.without_message(request).await)
    }

    /// Opens the stream of a session, or ends one.
    async fn without_message(&self, request: Request<Incoming>) -> Answer {
        let is_delete = *request.method() == Method::DELETE;
        let shots = match *request.method() {
            Method::GET => self.books.fire(|rules| rules.fire_on(Refusal::NoGet)),
            Method::DELETE => self.books.fire(|rules| rules.fire_on(Refusal::NoDelete)),
            _ => Vec::new(),
        };
        if let Some(refused) = self.refused(&shots, request.headers(), request.uri().query()) {
            return refused;
        }
        if is_delete && self.is_of_no_session(&request).await {
            return plain(StatusCode::NOT_FOUND, "Not Found: Session not found");
        }
        self.rmcp.handle(request).await
    }

    async fn post(&self, request: Request<Incoming>) -> Bent {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            let text = "Payload Too Large: the body is over 16 MiB, or ends before it is whole";
            return Bent::Answer(plain(StatusCode::PAYLOAD_TOO_LARGE, text));
        };
        let posted = match inlet::posted(&parts.headers, body.to_bytes()) {
            Ok(posted) => posted,
            Err(refused) => return Bent::Answer(*refused),
        };
        if posted.asks == Asks::ForAnAnswer {
            self.activity.requested();
        }
        let shots = self.books.fire(|rules| rules.fire(posted.about()));
        if let Some(refused) = self.refused(&shots, &parts.headers, parts.uri.query()) {
            return Bent::Answer(refused);
        }
        if let Some(written) = posted.written {
            parts.extensions.insert(written);
        }
        let request = Request::from_parts(parts, Full::new(posted.body));
        let mut answer = self.rmcp.handle(request).await;
        let (_, answers, _) = self.modes;
        if answers == Answers::Json {
            answer = json::plain(answer).await;
        }
        for shot in &shots {
            let Exchange::Distorted(how) = shot.exchange else {
                continue;
            };
            self.books.fired(&shot.firing);
            match bend::bent(answer, (shot, how), &self.stop).await {
                Bent::Answer(other) => answer = other,
                Bent::Reset => return Bent::Reset,
            }
        }
        Bent::Answer(answer)
    }

    /// How the first fault that refuses a request does so.
    fn refused(&self, shots: &[Shot], headers: &HeaderMap, query: Option<&str>) -> Option<Answer> {
        let asked = Asked {
            headers,
            path: &self.path,
            query,
        };
        shots.iter().find_map(|shot| {
            let Exchange::Refused(how) = shot.exchange else {
                return None;
            };
            let refused = bend::refused(shot, how, asked)?;
            self.books.fired(&shot.firing);
            Some(refused)
        })
    }

    /// Whether a request names a session that there is not; rmcp ends one of those as gladly as any other.
    async fn is_of_no_session(&self, request: &Request<Incoming>) -> bool {
        let named = request.headers().get(SESSION);
        let Some(id) = named.and_then(|id| id.to_str().ok()) else {
            return false;
        };
        let id: SessionId = Arc::from(id);
        matches!(self.sessions.has_session(&id).await, Ok(false))
    }
}

/// The answer, which goes on until all of it is read.
fn held(answer: Answer, going: Going) -> Answer {
    answer.map(|body| {
        let held = Held {
            body,
            _going: going,
        };
        held.boxed()
    })
}

/// A body during which an exchange goes on.
struct Held {
    body: BoxBody<Bytes, Infallible>,
    _going: Going,
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
