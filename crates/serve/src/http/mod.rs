//! The server over HTTP: streamable, with both eras on one path and each session a handler of its own, or HTTP+SSE.
//!
//! rmcp speaks HTTP: sessions, streams, resuming, the checks of `Host`, `Origin` and the `Mcp-*` headers. Around it are a
//! listener, what a request says before rmcp reads it, and an end that waits for nobody for long.

mod activity;
mod auth;
mod bend;
mod bridge;
mod carry;
mod inlet;
mod json;
pub(crate) mod post;
mod sender;
mod sessions;
mod talk;

use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::activity::Activity;
use self::auth::Identity;
pub use self::auth::{Auth, Keys};
use self::bend::RequestHead;
use self::bridge::Bridge;
use self::carry::Carried;
use self::inlet::{Answer, plain};
use self::post::{Post, SESSION};
use self::sender::{Remote, sender};
pub(crate) use self::sessions::TakenUp;
use self::sessions::{RETRY, Sessions};
use self::talk::{Owed, Shared, Talk, lock};
use super::faults::catalogue::Carrier;
use super::faults::exchange::{Distortion, Exchange, Refusal, Shot};
use super::layer::{Books, PatientStderr};
use super::line::Line;
use super::surface::Bench;
use super::tap::Kind;
use super::wire::{Arrival, Limits, for_rmcp, kind_of};
use super::{CLOSE, Clock, Ended, ServeOptions, Stop};

/// A body longer than this is refused, as a line is.
const MAX_BODY: usize = 16 * 1024 * 1024;

/// How long a listener rests that cannot take a connection: the process has as many files open as it may.
const REST: Duration = Duration::from_millis(50);

/// The header that names the last event that was read of a stream.
const LAST_EVENT: &str = "last-event-id";

/// The names of this machine, for `Host` and `Origin`.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Which of the two transports over HTTP is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Streamable HTTP, since 2025-03-26.
    #[default]
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    EventStream,
}

impl Style {
    /// As fault rules and the journal know it.
    pub const fn carrier(self) -> Carrier {
        match self {
            Self::Streamable => Carrier::Http,
            Self::EventStream => Carrier::Sse,
        }
    }
}

/// Everything that shapes the way of talking, as plain values.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The transport.
    pub style: Style,
    /// The path that is served.
    pub path: String,
    /// `Host` names that are answered besides those of this machine.
    pub allow_hosts: Vec<String>,
    /// Origins that are answered besides those of this machine.
    pub allow_origins: Vec<String>,
    /// Whether a handshake opens no session: each request stands for itself, whatever its revision.
    pub stateless: bool,
    /// Whether an answer is JSON, unless something else has to be said before it.
    pub json_response: bool,
    /// Whether events have no ids, so that no stream can be taken up again.
    pub no_resume: bool,
    /// How long a session lives that nobody uses; as long as rmcp has it where there is nothing.
    pub session_ttl: Option<Duration>,
    /// The credentials that a request needs.
    pub auth: Auth,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            style: Style::default(),
            path: "/mcp".to_owned(),
            allow_hosts: Vec::new(),
            allow_origins: Vec::new(),
            stateless: false,
            json_response: false,
            no_resume: false,
            session_ttl: None,
            auth: Auth::default(),
        }
    }
}

/// Why an origin cannot be allowed, if it cannot.
pub fn check_origin(origin: &str) -> Result<(), String> {
    // The port may be `*`.
    let bare = origin.strip_suffix(":*").unwrap_or(origin);
    let is_origin = bare.parse::<http::Uri>().is_ok_and(|uri| {
        let bare_host = |it: &&Authority| it.as_str() == it.host() || it.port_u16().is_some();
        let parts = uri.scheme_str().zip(uri.authority().filter(bare_host));
        parts.is_some_and(|(scheme, host)| format!("{scheme}://{host}") == bare)
    });
    if origin == "null" || is_origin {
        return Ok(());
    }
    Err(format!(
        "`{origin}` is not an origin; write `https://example.com`, `http://localhost:8080`, `http://localhost:*` or `null`"
    ))
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
    let bridge = match http.style {
        Style::Streamable => None,
        Style::EventStream => Some(Bridge::new(&options, &books, later.clone())),
    };
    let post = Post::new(options.clock.clone(), later);
    if let Some(text) = &options.stderr {
        // The server goes on answering when stderr is closed.
        let _ = PatientStderr.write_all(format!("{text}\n").as_bytes());
    }
    let shared = (&books, &activity, &stop);
    let server = Arc::new(HttpServer::new(options, http, (post, bridge), shared));
    let ends = async {
        tokio::select! {
            Some(_) = asked.recv() => {}
            () = activity.over(limits) => {}
            () = tokio::time::sleep(exit_after.unwrap_or_default()), if exit_after.is_some() => {}
        }
    };
    let mut ends = std::pin::pin!(ends);
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = &mut ends => break,
            accepted = listening.listener.accept() => match accepted {
                Ok((stream, from)) => {
                    let from = Remote(from.ip());
                    tasks.spawn(attend((stream, from), server.clone(), stop.clone()));
                }
                Err(_) => tokio::time::sleep(REST).await,
            },
            Some(task) = afterwards.recv() => drop(tasks.spawn(task)),
            // What came of it is on the wire.
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listening);
    stop.cancel();
    let rest = async { while tasks.join_next().await.is_some() {} };
    // A client that does not read loses what it did not read.
    let _ = tokio::time::timeout(CLOSE, rest).await;
    tasks.shutdown().await;
    server.sessions.forget();
    books.end();
    Ended::Clean
}

/// Answers what comes on one connection, until it closes or the server ends.
async fn attend(
    (stream, from): (TcpStream, Remote),
    server: Arc<HttpServer>,
    stop: CancellationToken,
) {
    // Small answers go out at once; where that cannot be set they only come later.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(from);
        let server = server.clone();
        async move { server.answer(request).await }
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

/// Whose key came with the HTTP request of a call.
pub(crate) fn identity(context: &RequestContext<RoleServer>) -> Option<&str> {
    let parts = context.extensions.get::<Parts>()?;
    parts
        .extensions
        .get::<Identity>()
        .map(|identity| identity.0.as_str())
}

/// The headers that came with the HTTP request of a call, each a list, without those that hold secrets.
pub(crate) fn headers(context: &RequestContext<RoleServer>) -> Map<String, Value> {
    let parts = context.extensions.get::<Parts>();
    parts
        .map(|parts| sender::headers(&parts.headers))
        .unwrap_or_default()
}

/// Answers every request.
struct HttpServer {
    http: HttpOptions,
    clock: Clock,
    /// The token that a fault let expire; nothing in it where none was shown.
    expired: OnceLock<Vec<u8>>,
    /// The session of a client that a fault did not tell of it.
    unnamed: OnceLock<HeaderValue>,
    /// The streams of HTTP+SSE, if that is served.
    bridge: Option<Bridge>,
    rmcp: StreamableHttpService<Bench, Sessions>,
    sessions: Arc<Sessions>,
    activity: Activity,
    books: Books,
    stop: CancellationToken,
}

impl HttpServer {
    fn new(
        options: ServeOptions,
        http: HttpOptions,
        (post, bridge): (Post, Option<Bridge>),
        (books, activity, stop): (&Books, &Activity, &CancellationToken),
    ) -> Self {
        let sessions = Arc::new(Sessions::new(options.seed, &http));
        let clock = options.clock.clone();
        let bench = Bench::new(Arc::new(options), Line::Http(post));
        let hosts = LOOPBACK.map(str::to_owned).into_iter();
        let origins = LOOPBACK
            .iter()
            .flat_map(|name| ["http", "https"].map(|scheme| format!("{scheme}://{name}:*")));
        let config = StreamableHttpServerConfig::default()
            .with_sse_retry((!http.no_resume).then_some(RETRY))
            .with_legacy_session_mode(!http.stateless)
            .with_json_response(http.json_response)
            .with_allowed_hosts(hosts.chain(http.allow_hosts.clone()))
            .with_allowed_origins(origins.chain(http.allow_origins.clone()))
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(stop.clone());
        Self {
            http,
            clock,
            expired: OnceLock::new(),
            unnamed: OnceLock::new(),
            bridge,
            rmcp: StreamableHttpService::new(move || Ok(bench.beside()), sessions.clone(), config),
            sessions,
            activity: activity.clone(),
            books: books.clone(),
            stop: stop.clone(),
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> io::Result<Answer> {
        if request.uri().path() != self.http.path {
            let text = "Not Found: there is nothing at this path";
            return Ok(plain(StatusCode::NOT_FOUND, text));
        }
        let (mut parts, body) = request.into_parts();
        match self.http.auth.admit(&parts.headers) {
            Ok(Some(identity)) => drop(parts.extensions.insert(identity)),
            Ok(None) => {}
            Err(refused) => {
                let status = refused.status().as_u16();
                self.books.unauthorized(&sender(&parts), status);
                return Ok(*refused);
            }
        }
        if self.http.stateless {
            // It would name nothing.
            parts.headers.remove(SESSION);
        }
        if let (false, Some(id)) = (parts.headers.contains_key(SESSION), self.unnamed.get()) {
            parts.headers.insert(SESSION, id.clone());
        }
        if self.http.no_resume {
            parts.headers.remove(LAST_EVENT);
        }
        if self.bridge.is_some() {
            let checked = self.rmcp.handle(bridge::stranger(&parts)).await;
            if checked.status() != StatusCode::METHOD_NOT_ALLOWED {
                return Ok(checked);
            }
        }
        if parts.method == Method::POST {
            let going = self.activity.begins();
            let answer = self.post(parts, body).await?;
            // The exchange goes on until all of the body is read.
            let keep = move |never| {
                let _ = &going;
                never
            };
            return Ok(answer.map(|body| body.map_err(keep).boxed()));
        }
        Ok(match &self.bridge {
            Some(bridge) if parts.method == Method::GET => {
                bridge.open(&parts, self.sessions.next_id().to_string(), &self.stop)
            }
            Some(_) => plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"),
            None => self.without_message(Request::from_parts(parts, body)).await,
        })
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
        let talk = self.session(request.headers());
        let answer = self.rmcp.handle(request).await;
        match talk.filter(|_| !is_delete) {
            None => answer,
            Some(talk) => {
                let carried = Carried::new(talk, self.clock.clone(), Vec::new());
                carried.answer(vec![answer], &self.stop).await
            }
        }
    }

    /// An error resets the connection.
    async fn post(&self, parts: Parts, body: Incoming) -> io::Result<Answer> {
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            let text = "Payload Too Large: the body is over 16 MiB, or ends before it is whole";
            return Ok(plain(StatusCode::PAYLOAD_TOO_LARGE, text));
        };
        let body = body.to_bytes();
        let message = match inlet::read(&parts.headers, &body) {
            Ok(Some(message)) => message,
            Ok(None) => {
                let request = Request::from_parts(parts, Full::new(body));
                return Ok(self.rmcp.handle(request).await);
            }
            Err(refused) => return Ok(*refused),
        };
        let session = self.session(&parts.headers);
        let unless = session.is_none().then(|| self.stop.clone());
        let talk = session.unwrap_or_else(|| Talk::shared(self.books.tap(Value::Null)));
        let mut said = HttpExchange {
            parts,
            talk,
            unless,
            batch: None,
            shots: Vec::new(),
            owed: Vec::new(),
        };
        let is_batch = message
            .as_array()
            .is_some_and(|members| !members.is_empty());
        let answers = if is_batch && lock(&said.talk).exchange.has_batches() {
            self.batch(message, &mut said).await
        } else {
            vec![self.message(message, &mut said).await]
        };
        let carried = Carried::new(said.talk, self.clock.clone(), said.owed);
        let mut answer = carried.answer(answers, &self.stop).await;
        for shot in &said.shots {
            let Exchange::Distorted(how) = shot.exchange else {
                continue;
            };
            let session = answer.headers().get(SESSION).cloned();
            if let (Distortion::NoSession, Some(id)) = (how, session) {
                self.unnamed.get_or_init(|| id);
            }
            self.books.fired(&shot.firing);
            answer = bend::bent(answer, (shot, how), &self.stop).await?;
        }
        Ok(answer)
    }

    /// The answers to the requests among the members; one that says nothing where there are none.
    async fn batch(&self, mut batch: Value, said: &mut HttpExchange) -> Vec<Answer> {
        let members = batch.as_array_mut().map(std::mem::take).unwrap_or_default();
        let is_request = |member: &&Value| kind_of(member) == Some(Kind::Request);
        let requests = members.iter().filter(is_request).count();
        said.batch = lock(&said.talk).exchange.open_batch(requests);
        let mut answers = Vec::new();
        for member in members {
            let owes = said.owed.len();
            let answer = self.message(member, said).await;
            if said.owed.len() > owes || requests == 0 {
                answers.push(answer);
            }
        }
        answers
    }

    /// The answer of rmcp to one message, unless a fault answers before.
    async fn message(&self, message: Value, said: &mut HttpExchange) -> Answer {
        let about = inlet::about(&message);
        if about.id.is_some() {
            self.activity.requested();
        }
        let shots = self.books.fire(|rules| rules.fire(about));
        let (headers, query) = (&said.parts.headers, said.parts.uri.query());
        if let Some(refused) = self.refused(&shots, headers, query) {
            return refused;
        }
        said.shots.extend(shots);
        if let Some(bridge) = &self.bridge {
            return bridge.post(query, &message).await;
        }
        let kind = match inlet::kind(&message) {
            Ok(kind) => kind,
            Err(refused) => return *refused,
        };
        let opens = about.method == Some("initialize");
        said.owed.extend(about.id.map(|id| Owed {
            talk: said.talk.clone(),
            id: id.clone(),
            unless: said.unless.clone(),
            settled: false,
        }));
        let sender = self.books.has_journal().then(|| sender(&said.parts));
        let arrival = Arrival {
            message,
            kind,
            batch: said.batch,
            cut: None,
            sender,
        };
        let Some(message) = lock(&said.talk).incoming(arrival) else {
            return plain(StatusCode::ACCEPTED, "");
        };
        let (message, written) = for_rmcp(message);
        let mut parts = said.parts.clone();
        if let Some(written) = written {
            parts.extensions.insert(written);
        }
        let body = Full::new(Bytes::from(message.to_string()));
        let answer = self.rmcp.handle(Request::from_parts(parts, body)).await;
        let session = answer.headers().get(SESSION).filter(|_| opens);
        if let Some(id) = session.and_then(|id| id.to_str().ok()) {
            self.sessions.began(id, said.talk.clone());
        }
        if self.http.json_response {
            json::plain(answer).await
        } else {
            answer
        }
    }

    /// The messages of the session that a request names.
    fn session(&self, headers: &HeaderMap) -> Option<Shared> {
        let id = headers.get(SESSION)?.to_str().ok()?;
        self.sessions.talk(id)
    }

    /// How the first fault that refuses a request does so.
    fn refused(&self, shots: &[Shot], headers: &HeaderMap, query: Option<&str>) -> Option<Answer> {
        let asked = RequestHead {
            headers,
            path: &self.http.path,
            query,
        };
        shots.iter().find_map(|shot| {
            let Exchange::Refused(how) = shot.exchange else {
                return None;
            };
            if how == Refusal::Expires && !self.has_expired(shot, headers) {
                return None;
            }
            let refused = bend::refused(shot, how, asked)?;
            self.books.fired(&shot.firing);
            Some(refused)
        })
    }

    /// Whether the token that is shown is the one that expires.
    fn has_expired(&self, shot: &Shot, headers: &HeaderMap) -> bool {
        let shown = headers.get(AUTHORIZATION).map(HeaderValue::as_bytes);
        let shown = shown.unwrap_or_default();
        shot.n >= shot.given.count() && self.expired.get_or_init(|| shown.to_vec()) == shown
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

/// One HTTP request, message by message.
struct HttpExchange {
    parts: Parts,
    talk: Shared,
    /// As [`Owed`] has it.
    unless: Option<CancellationToken>,
    batch: Option<u64>,
    shots: Vec<Shot>,
    owed: Vec<Owed>,
}
