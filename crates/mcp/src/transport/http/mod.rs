//! Messages over HTTP. Over streamable HTTP (MCP 2025-03-26 and later, "Transports") each message is posted, and answered
//! by a body or by a stream of events. Once the session is open a stream for what the server says by itself is asked for;
//! at the end the session is deleted. A task carries each exchange; all end with the connection.

mod deviations;
mod legacy;
pub mod plain;
mod post;
mod sse;
mod standard;
mod stream;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub use reqwest::Client;
use reqwest::{
    RequestBuilder, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION},
    redirect,
};
use tokio::{
    sync::{mpsc, watch},
    task::{AbortHandle, JoinSet, yield_now},
    time::{Instant, timeout_at},
};

use self::legacy::Address;
pub use self::standard::Mirrored;
use super::{
    Inbound, Lack, Outgoing, SendFailure,
    clock::JobClock,
    stdio::Gone,
    tls::{self, Trusted},
    wire::WireLog,
};
use crate::{
    observation::finding::FindingCode,
    protocol::{
        frame::{Direction, Frame, FrameMeta},
        message::Id,
        revision::{Lifecycle, Revision},
    },
};
use text::{environment::Environment, innermost};

/// The session of a server that keeps one.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The revision that both speak, since 2025-06-18.
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// What clients of this transport must accept.
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");

/// How long a connection to a server may take to be made.
const CONNECTING: Duration = Duration::from_secs(10);

/// How long a server may take to delete the session.
const DELETING: Duration = Duration::from_secs(1);

/// Redirects that are followed, to the same origin only.
const MOST_REDIRECTS: usize = 5;

/// Messages that wait to be taken; more of them wait in the streams.
const MOST_WAITING: usize = 64;

/// How often other tasks get their turn, so that what has come lies here.
const TURNS: usize = 4;

/// The client that all connections of a run share. It keeps no cookies, asks no proxy, and follows no redirect.
pub fn client(environment: &Environment, trusted: &Trusted) -> Result<Client, String> {
    let config = tls::config_trusting(environment, trusted).map_err(|error| error.to_string())?;
    Client::builder()
        .tls_backend_preconfigured(config)
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECTING)
        .build()
        .map_err(|error| innermost(&error))
}

/// What a connection is made of.
pub struct HttpParts {
    /// The client of the run.
    pub client: Client,
    /// How messages are carried.
    pub style: Style,
    /// Where messages are posted, or the stream is opened.
    pub url: String,
    /// Headers of each request, by their names.
    pub headers: Vec<(String, String)>,
    /// Tells that the server is gone; `None` for one that we did not start.
    pub gone: Option<Gone>,
    /// The job's clock.
    pub clock: JobClock,
}

/// The two transports over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Streamable HTTP, since 2025-03-26.
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    EventStream,
}

/// A connection over HTTP. Dropping it ends every exchange.
pub struct Http {
    endpoint: Arc<Endpoint>,
    /// The exchanges under way. Dropped, it ends them.
    tasks: JoinSet<()>,
    tell: mpsc::Sender<Came>,
    came: mpsc::Receiver<Came>,
    /// What was looked at already.
    waiting: VecDeque<Came>,
    gone: Option<Gone>,
    /// Whether the last notification or reply was taken: requests follow it.
    taken: Option<watch::Receiver<bool>>,
    /// Whether a request is called off by closing its stream, and nothing else is posted.
    calls_off_by_closing: bool,
    /// Where messages are posted, over HTTP+SSE.
    address: Option<watch::Receiver<Address>>,
    /// Who is told that; until the first message nothing is opened.
    unopened: Option<watch::Sender<Address>>,
    /// The requests that are under way, to be called off.
    requests: HashMap<Id, AbortHandle>,
    /// What headers repeat of the arguments of tools.
    pub mirrored: Mirrored,
    stage: Stage,
    sent_bytes: u64,
    pub(super) clock: JobClock,
    pub(super) log: WireLog,
}

/// How far the life of a connection came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Open,
    /// Nothing is sent any more; the session is being deleted.
    Closing,
    Closed,
}

/// Where messages go, and with what.
struct Endpoint {
    client: Client,
    url: Url,
    /// What the suite gives to each request.
    given: HeaderMap,
    agreed: Mutex<Agreed>,
}

/// What the beginning of a session brought.
#[derive(Debug, Clone, Default)]
struct Agreed {
    /// The session's id, of a server that keeps one.
    session: Option<HeaderValue>,
    revision: Option<Revision>,
}

/// What an exchange brought.
enum Came {
    /// A message.
    Message {
        bytes: Vec<u8>,
        meta: FrameMeta,
        at: std::time::Instant,
    },
    /// An event or a body that is longer than what is read.
    TooLong {
        length: usize,
        head: Vec<u8>,
        at: std::time::Instant,
    },
    /// The status line and the headers of a response.
    Head(Vec<u8>, std::time::Instant),
    /// What is wrong with a response.
    Noted((FindingCode, String)),
    /// A request was posted, and its answer cannot come any more.
    Unanswered {
        id: Id,
        lack: Lack,
        reason: String,
        shown: Vec<u8>,
        at: std::time::Instant,
    },
    /// A message could not be sent.
    Unsent(String),
    /// The stream that brings everything has ended.
    Ended,
}

impl Endpoint {
    fn agreed(&self) -> Agreed {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Agreed> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request as it is, also where a redirect leads, as long as that is within the origin: no credentials go
    /// elsewhere. Tells with the response where it was led to.
    async fn execute(&self, asked: RequestBuilder) -> Result<(Response, Vec<String>), String> {
        let mut request = asked.build().map_err(|error| innermost(&error))?;
        let mut led = Vec::new();
        loop {
            let again = request.try_clone();
            let response = self.client.execute(request).await;
            let response = response.map_err(|error| innermost(&error))?;
            let (Some(mut next), Some(url)) = (again, led_to(&response)) else {
                return Ok((response, led));
            };
            if led.len() == MOST_REDIRECTS {
                return Err("it redirects without end".to_owned());
            }
            led.push(format!("HTTP {} led to `{url}`", response.status()));
            *next.url_mut() = url;
            request = next;
        }
    }

    /// The headers of a request.
    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, BOTH);
        headers.extend(self.given.clone());
        let Agreed { session, revision } = self.agreed();
        if let Some(session) = session {
            headers.insert(SESSION, session);
        }
        let named = revision.filter(|revision| revision.names_itself_in_headers());
        if let Some(revision) = named {
            headers.insert(VERSION, HeaderValue::from_static(revision.name()));
        }
        headers
    }
}

impl Http {
    /// A connection that has not begun. Fails for a url or a header that HTTP cannot carry.
    pub(super) fn new(parts: HttpParts) -> Result<Self, String> {
        let url = Url::parse(&parts.url).map_err(|error| format!("`{}`: {error}", parts.url))?;
        let (tell, came) = mpsc::channel(MOST_WAITING);
        let endpoint = Arc::new(Endpoint {
            client: parts.client,
            url,
            given: headers_of(&parts.headers)?,
            agreed: Mutex::default(),
        });
        let (unopened, address) = match parts.style {
            Style::Streamable => (None, None),
            Style::EventStream => {
                let (named, address) = watch::channel(Address::default());
                (Some(named), Some(address))
            }
        };
        Ok(Self {
            endpoint,
            tasks: JoinSet::new(),
            tell,
            came,
            waiting: VecDeque::new(),
            gone: parts.gone,
            taken: None,
            address,
            unopened,
            calls_off_by_closing: false,
            requests: HashMap::new(),
            mirrored: Mirrored::new(),
            stage: Stage::Open,
            sent_bytes: 0,
            clock: parts.clock,
            log: WireLog::new(),
        })
    }

    /// Names the revision in the headers from now on. Where it has no handshake, each request does so by itself.
    pub(super) fn agreed_on(&mut self, revision: Revision) {
        match revision.lifecycle() {
            Lifecycle::Handshake => self.endpoint.lock().revision = Some(revision),
            Lifecycle::Stateless => self.calls_off_by_closing = true,
        }
    }

    /// Whether the server keeps a session, which it may forget.
    pub fn has_session(&self) -> bool {
        self.endpoint.agreed().session.is_some()
    }

    /// Whether headers repeat arguments of tools, as their schemas say.
    pub fn mirrors(&self) -> bool {
        self.calls_off_by_closing
    }

    /// Nothing is agreed on any more: the next message begins a session.
    pub fn forget_session(&mut self) {
        *self.endpoint.lock() = Agreed::default();
    }

    /// Whether one stream brings everything, as over HTTP+SSE.
    pub(super) fn has_one_stream(&self) -> bool {
        self.address.is_some()
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Posts a message, beside whatever is under way.
    pub(super) fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendFailure> {
        if self.stage != Stage::Open {
            return Err(SendFailure::Closed);
        }
        let bytes = outgoing.bytes;
        let message = serde_json::from_slice(bytes).unwrap_or_default();
        let kind = post::Kind::of(&message);
        // Without a handshake nothing but requests is posted, and closing its stream calls a request off (MCP 2026-07-28,
        // "Cancellation").
        if self.calls_off_by_closing && !matches!(kind, post::Kind::Request { .. }) {
            if let post::Kind::Cancelled { request } = kind
                && let Some(under_way) = self.requests.remove(&request)
            {
                under_way.abort();
            }
            return Ok(());
        }
        self.log
            .record(Frame::new(Direction::Sent, self.clock.at_us(), bytes));
        self.sent_bytes += bytes.len() as u64;
        if let Some(named) = self.unopened.take() {
            let listening = legacy::listen(Arc::clone(&self.endpoint), self.tell.clone(), named);
            self.tasks.spawn(listening);
        }
        // A request may need what was told before it, and waits until that was taken. What is told waits for no request: a
        // server may need it to answer.
        let after = self.taken.clone();
        let taken = match &kind {
            post::Kind::Request { .. } => None,
            post::Kind::Initialized | post::Kind::Cancelled { .. } | post::Kind::Told => {
                let (taken, is_taken) = watch::channel(false);
                self.taken = Some(is_taken);
                Some(taken)
            }
        };
        let post = post::Post {
            endpoint: Arc::clone(&self.endpoint),
            tell: self.tell.clone(),
            body: bytes.to_vec(),
            headers: standard::headers(&message, &self.mirrored),
            message,
            kind,
            after,
            taken,
        };
        let under_way = match &post.kind {
            post::Kind::Request { id } => Some(id.clone()),
            post::Kind::Initialized | post::Kind::Cancelled { .. } | post::Kind::Told => None,
        };
        let task = match &self.address {
            None => self.tasks.spawn(post::carry(post)),
            Some(address) => self.tasks.spawn(legacy::carry(post, address.clone())),
        };
        self.requests.retain(|_, request| !request.is_finished());
        self.requests.extend(under_way.map(|id| (id, task)));
        Ok(())
    }

    /// Waits for what comes next.
    pub(super) async fn next(&mut self) -> Inbound {
        loop {
            if let Some(inbound) = self.ready() {
                return inbound;
            }
            match self.stage {
                Stage::Closed => return Inbound::Closed,
                Stage::Closing => {
                    tokio::select! {
                        biased;
                        Some(came) = self.came.recv() => self.waiting.push_back(came),
                        ended = self.tasks.join_next() => if ended.is_none() {
                            self.stage = Stage::Closed;
                        },
                    }
                }
                Stage::Open => {
                    let gone = async {
                        match &mut self.gone {
                            Some(gone) => gone.await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        biased;
                        Some(came) = self.came.recv() => self.waiting.push_back(came),
                        Some(_) = self.tasks.join_next() => {}
                        () = gone => {
                            self.gone = None;
                            self.end(Stage::Closed);
                        }
                    }
                }
            }
        }
    }

    /// Lets the exchanges take what has come.
    pub(super) async fn look(&mut self) {
        for _ in 0..TURNS {
            yield_now().await;
        }
    }

    /// The next of what has come, without waiting.
    pub(super) fn ready(&mut self) -> Option<Inbound> {
        loop {
            let came = match self.waiting.pop_front() {
                Some(came) => came,
                None => self.came.try_recv().ok()?,
            };
            if let Some(inbound) = self.hand_out(came) {
                return Some(inbound);
            }
        }
    }

    /// Ends what is under way and deletes the session, where the server keeps one.
    pub(super) async fn close(&mut self, by: Instant) {
        if self.stage != Stage::Open {
            return;
        }
        // What was told last is on its way, and nothing repeats it.
        if let Some(mut taken) = self.taken.take() {
            let _ = timeout_at(by, taken.wait_for(|taken| *taken)).await;
        }
        self.end(Stage::Closing);
        if self.endpoint.agreed().session.is_some() {
            let endpoint = Arc::clone(&self.endpoint);
            let tell = self.tell.clone();
            self.tasks.spawn(async move {
                let deleting = endpoint
                    .client
                    .delete(endpoint.url.clone())
                    .headers(endpoint.headers());
                let deleted = tokio::time::timeout(DELETING, endpoint.execute(deleting)).await;
                // Whether a server lets its sessions be deleted is its own affair.
                if let Ok(Ok((response, _))) = deleted {
                    let _ = tell.send(Came::head(&response)).await;
                }
            });
        }
    }

    fn end(&mut self, stage: Stage) {
        self.tasks.abort_all();
        self.stage = stage;
    }

    /// Records what came; what is no message stays here.
    fn hand_out(&mut self, came: Came) -> Option<Inbound> {
        Some(match came {
            Came::Message { bytes, meta, at } => {
                let at_us = self.clock.us_of(at);
                let frame = Frame::new(Direction::Received, at_us, &bytes);
                self.log.record(frame.with_meta(meta));
                Inbound::Message { bytes, meta, at_us }
            }
            Came::TooLong { length, head, at } => {
                let at_us = self.clock.us_of(at);
                self.log
                    .record(Frame::new(Direction::Received, at_us, &head));
                Inbound::TooLong {
                    length,
                    head,
                    at_us,
                }
            }
            Came::Head(bytes, at) => {
                let frame = Frame::new(Direction::Received, self.clock.us_of(at), &bytes);
                self.log.record(frame.with_meta(FrameMeta::HttpHead));
                return None;
            }
            Came::Noted((code, message)) => Inbound::Noted(code, message),
            Came::Unanswered {
                id,
                lack,
                reason,
                shown,
                at,
            } => Inbound::Unanswered {
                id,
                lack,
                reason,
                shown,
                at_us: self.clock.us_of(at),
            },
            Came::Unsent(reason) => Inbound::Sent(Err(SendFailure::Failed(reason))),
            Came::Ended => {
                self.end(Stage::Closed);
                return None;
            }
        })
    }
}

impl Came {
    /// The head of a response, as it is shown.
    fn head(response: &Response) -> Self {
        Self::Head(shown_head(response), std::time::Instant::now())
    }
}

/// The status line and the headers of a response.
fn shown_head(response: &Response) -> Vec<u8> {
    let mut text = format!("{:?} {}", response.version(), response.status());
    for (name, value) in response.headers() {
        text += "\n";
        text += name.as_str();
        text += ": ";
        text += &String::from_utf8_lossy(value.as_bytes());
    }
    text.into_bytes()
}

/// Headers as they are sent; fails for one that HTTP cannot carry.
fn headers_of(named: &[(String, String)]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in named {
        let refused = || format!("the header `{name}` holds a sign that HTTP does not carry");
        let key = HeaderName::try_from(name).map_err(|_| refused())?;
        let mut value = HeaderValue::try_from(value).map_err(|_| refused())?;
        value.set_sensitive(true);
        headers.insert(key, value);
    }
    Ok(headers)
}

/// Where a redirect leads that keeps the method, if that is within the origin.
fn led_to(response: &Response) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let url = response.url().join(location).ok()?;
    (url.origin() == response.url().origin()).then_some(url)
}

/// Whether a response is what its type says.
fn is_of_type(response: &Response, wanted: &str) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(wanted)
}
