//! One message that is posted, and what answers it: nothing, a body, or a stream of events.

use std::{mem, sync::Arc};

use reqwest::{
    Response, StatusCode, Url,
    header::{CONTENT_TYPE, HeaderMap, HeaderValue},
};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use super::{
    Came, Endpoint, Lack, SESSION, deviations, is_of_type,
    stream::{self, Ended, Resume},
};
use crate::{
    observation::finding::FindingCode,
    protocol::{
        frame::{FrameMeta, LONGEST_BYTES},
        message::Id,
    },
};
use text::innermost;

/// As much of a body that is no message is shown.
const SHOWN_BYTES: usize = 2 * 1024;

/// What is posted, as far as the transport has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A request: it is answered under this id.
    Request { id: Id },
    /// The notification that opens the session.
    Initialized,
    /// The notification that calls a request off.
    Cancelled { request: Id },
    /// Another notification, a reply, or what is no message at all.
    Told,
}

impl Kind {
    /// The kind of a message.
    pub(super) fn of(message: &Value) -> Self {
        let id = message.get("id").and_then(Id::from_value);
        match (message.get("method").and_then(Value::as_str), id) {
            (Some(_), Some(id)) => Self::Request { id },
            (Some("notifications/initialized"), None) => Self::Initialized,
            (Some("notifications/cancelled"), None) => {
                let request = message.pointer("/params/requestId");
                let request = request.and_then(Id::from_value);
                request.map_or(Self::Told, |request| Self::Cancelled { request })
            }
            (Some(_) | None, _) => Self::Told,
        }
    }

    /// What is said of a message that was not taken.
    pub(super) fn failed(self, reason: String) -> Came {
        match self {
            Self::Request { id } => unanswered(id, reason, Vec::new()),
            Self::Initialized | Self::Cancelled { .. } | Self::Told => Came::Unsent(reason),
        }
    }
}

/// A message with all that is needed to carry it.
pub(super) struct Post {
    pub(super) endpoint: Arc<Endpoint>,
    pub(super) tell: mpsc::Sender<Came>,
    pub(super) body: Vec<u8>,
    /// What its headers repeat of it.
    pub(super) headers: HeaderMap,
    /// The body as it reads; null where it is no JSON.
    pub(super) message: Value,
    pub(super) kind: Kind,
    /// What has to be taken before it.
    pub(super) after: Option<watch::Receiver<bool>>,
    /// Who waits for it to be taken.
    pub(super) taken: Option<watch::Sender<bool>>,
}

impl Post {
    /// Waits until what was told before it was taken.
    pub(super) async fn turn(&mut self) {
        if let Some(after) = &mut self.after {
            // Whoever was to take it may have failed: then this fails by itself.
            let _ = after.wait_for(|taken| *taken).await;
        }
    }

    /// Posts the message; otherwise why it could not be sent.
    pub(super) async fn send(
        &mut self,
        url: Url,
        more: HeaderMap,
    ) -> Result<(Response, Vec<String>), String> {
        let mut headers = self.endpoint.headers();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(more);
        let posting = self.endpoint.client.post(url).headers(headers);
        let posting = posting.body(mem::take(&mut self.body));
        self.endpoint.execute(posting).await
    }

    /// Lets go what waits for this message to be taken.
    pub(super) fn let_go(&self) {
        if let Some(taken) = &self.taken {
            taken.send_replace(true);
        }
    }
}

/// Posts a message and hands on what answers it.
pub(super) async fn carry(mut post: Post) {
    post.turn().await;
    let url = post.endpoint.url.clone();
    let headers = mem::take(&mut post.headers);
    let response = post.send(url, headers).await;
    let opens = |(response, _): &(Response, _)| {
        post.kind == Kind::Initialized && response.status().is_success()
    };
    // What follows waits until the server can say something by itself, too.
    let taken = if response.as_ref().is_ok_and(opens) {
        post.taken.take()
    } else {
        post.let_go();
        None
    };
    let Post {
        endpoint,
        tell,
        kind,
        message,
        ..
    } = post;
    let (response, led) = match response {
        Ok(response) => response,
        Err(reason) => {
            let reason = match &kind {
                Kind::Request { .. } => {
                    format!("`{}` could not be reached: {reason}", endpoint.url)
                }
                Kind::Initialized | Kind::Cancelled { .. } | Kind::Told => reason,
            };
            let _ = tell.send(kind.failed(reason)).await;
            return;
        }
    };
    if tell.send(Came::head(&response)).await.is_err() {
        return;
    }
    let is_told = !matches!(kind, Kind::Request { .. }) && message.is_object();
    let of_status = is_told.then(|| response.status());
    let of_status = of_status.and_then(deviations::of_status);
    let led = led.into_iter().map(|led| (FindingCode::Redirected, led));
    let notes = of_session(&endpoint, &response).into_iter();
    let notes = notes.chain(led).chain(of_status);
    for note in notes {
        let _ = tell.send(Came::Noted(note)).await;
    }
    let came = match kind {
        Kind::Request { id } => answer(&endpoint, &tell, response, id).await,
        Kind::Initialized => begun(&endpoint, &tell, response, taken).await,
        Kind::Cancelled { .. } | Kind::Told => told(&tell, response).await,
    };
    if let Some(came) = came {
        let _ = tell.send(came).await;
    }
}

/// Listens to what the server says by itself, once it took that the session has begun.
async fn begun(
    endpoint: &Endpoint,
    tell: &mpsc::Sender<Came>,
    response: Response,
    taken: Option<watch::Sender<bool>>,
) -> Option<Came> {
    let said = refused(response).await;
    if taken.is_none() {
        return said;
    }
    if let Some(note) = said {
        let _ = tell.send(note).await;
    }
    stream::listen(endpoint, tell, taken).await;
    None
}

/// Keeps the session that a response names, and says what is wrong with it.
fn of_session(endpoint: &Endpoint, response: &Response) -> Vec<(FindingCode, String)> {
    let known = endpoint.agreed().session;
    let named = response.headers().get(SESSION);
    if known.is_none() {
        endpoint.lock().session = named.cloned();
    }
    deviations::of_session(known.as_ref(), named)
}

/// Hands on what answers a message that asks for nothing, or is none: only a server that is put to the test answers it.
async fn told(tell: &mpsc::Sender<Came>, response: Response) -> Option<Came> {
    if is_of_type(&response, "text/event-stream") {
        stream::carry(response, tell, &mut Resume::default(), |_| false, |_, _| {}).await;
        return None;
    }
    if !is_of_type(&response, "application/json") {
        return refused(response).await;
    }
    let is_taken = response.status() == StatusCode::ACCEPTED;
    let meta = FrameMeta::Http {
        status: response.status().as_u16(),
    };
    match body(response).await {
        Ok(Body::Whole(bytes)) => {
            let note = deviations::of_body(&bytes).filter(|_| is_taken);
            if let Some(note) = note {
                let _ = tell.send(Came::Noted(note)).await;
            }
            (!bytes.is_empty()).then(|| Came::Message {
                bytes,
                meta,
                at: std::time::Instant::now(),
            })
        }
        Ok(Body::TooLong(came)) => Some(came),
        Err(reason) => Some(Came::Unsent(reason)),
    }
}

/// What a server says that does not take a notification or a reply.
async fn refused(response: Response) -> Option<Came> {
    let status = response.status();
    if status.is_success() {
        return with_body(response).await;
    }
    let shown = shown(response).await;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    Some(Came::Unsent(
        format!("HTTP {status} {shown}").trim_end().to_owned(),
    ))
}

/// Looks whether a body comes with a message that was taken.
async fn with_body(response: Response) -> Option<Came> {
    if response.status() != StatusCode::ACCEPTED {
        return None;
    }
    deviations::of_body(&shown(response).await).map(Came::Noted)
}

/// Hands on what answers a request; gives back what is said where no answer comes.
async fn answer(
    endpoint: &Endpoint,
    tell: &mpsc::Sender<Came>,
    response: Response,
    id: Id,
) -> Option<Came> {
    let status = response.status();
    if is_of_type(&response, "text/event-stream") && status.is_success() {
        return streamed(endpoint, tell, response, id).await;
    }
    if status == StatusCode::NOT_FOUND && endpoint.agreed().session.is_some() {
        let shown = shown(response).await;
        return Some(Came::Unanswered {
            id,
            lack: Lack::Session,
            reason: format!("session expired: HTTP {status} from a server that began it"),
            shown,
            at: std::time::Instant::now(),
        });
    }
    let is_json = is_of_type(&response, "application/json");
    let kind = response.headers().get(CONTENT_TYPE).cloned();
    let body = match body(response).await {
        Ok(Body::Whole(body)) => body,
        Ok(Body::TooLong(came)) => return Some(came),
        Err(reason) => {
            let reason = format!("HTTP {status}, and its body broke off: {reason}");
            return Some(unanswered(id, reason, Vec::new()));
        }
    };
    if !is_json && status.is_success() {
        if let Some(note) = deviations::of_type(kind.as_ref(), &body) {
            let _ = tell.send(Came::Noted(note)).await;
        }
    } else if is_answer(&body, &id) || is_json && status.is_success() && !body.is_empty() {
        return Some(Came::Message {
            bytes: body,
            meta: FrameMeta::Http {
                status: status.as_u16(),
            },
            at: std::time::Instant::now(),
        });
    }
    let kind = kind.as_ref().and_then(|kind| kind.to_str().ok());
    let what = match (body.is_empty(), kind) {
        (true, _) => "no body".to_owned(),
        (false, Some(kind)) => format!("a body of type `{}`", text::head(kind, 60)),
        (false, None) => "a body of no type".to_owned(),
    };
    let reason = format!("HTTP {status} with {what} in place of an answer");
    Some(unanswered(id, reason, head(&body)))
}

/// Hands on the events of a stream until the answer has come; resumes it where it breaks off before.
async fn streamed(
    endpoint: &Endpoint,
    tell: &mpsc::Sender<Came>,
    response: Response,
    id: Id,
) -> Option<Came> {
    let mut resume = Resume::default();
    let mut response = response;
    loop {
        let is_last = |message: &[u8]| is_answer(message, &id);
        let why = match stream::carry(response, tell, &mut resume, is_last, |_, _| {}).await {
            Ended::Broken(why) => why,
            Ended::Done | Ended::Unheard => return None,
        };
        let ended = match why {
            Some(why) => format!("the stream of events broke off before the answer: {why}"),
            None if mem::take(&mut resume.empty) => {
                let ended = "the stream of events ended before the answer, and had no more when it was resumed";
                return Some(unanswered(id, ended.to_owned(), Vec::new()));
            }
            None => "the stream of events ended before the answer".to_owned(),
        };
        // Without an id nothing can be resumed (MCP "Resumability and Redelivery").
        if resume.last.is_none() {
            return cut_short(tell, id, ended, Vec::new()).await;
        }
        resume.wait().await;
        response = match stream::open(endpoint, &resume).await {
            Ok(response) => response,
            Err(reason) => {
                let reason = format!("{ended}, and it could not be resumed: {reason}");
                return cut_short(tell, id, reason, Vec::new()).await;
            }
        };
        let status = response.status();
        if tell.send(Came::head(&response)).await.is_err() {
            return None;
        }
        if !status.is_success() || !is_of_type(&response, "text/event-stream") {
            let shown = shown(response).await;
            let reason = format!("{ended}, and was not resumed: HTTP {status}");
            return cut_short(tell, id, reason, shown).await;
        }
    }
}

/// Notes a stream that ended for good without the answer, and says so.
async fn cut_short(
    tell: &mpsc::Sender<Came>,
    id: Id,
    reason: String,
    shown: Vec<u8>,
) -> Option<Came> {
    let note = Came::Noted((FindingCode::StreamWithoutAnswer, reason.clone()));
    let _ = tell.send(note).await;
    Some(unanswered(id, reason, shown))
}

fn unanswered(id: Id, reason: String, shown: Vec<u8>) -> Came {
    Came::Unanswered {
        id,
        lack: Lack::Answer,
        reason,
        shown,
        at: std::time::Instant::now(),
    }
}

/// The members by which an answer is known.
#[derive(Deserialize)]
struct Outline {
    #[serde(default)]
    id: Value,
    method: Option<IgnoredAny>,
}

/// Whether a message is the answer to the request of this id, whatever JSON type it has.
fn is_answer(message: &[u8], id: &Id) -> bool {
    let outline = serde_json::from_slice::<Outline>(message);
    outline.is_ok_and(|outline| {
        outline.method.is_none()
            && Id::from_value(&outline.id).is_some_and(|found| found.same_but_for_type(id))
    })
}

/// A body, as far as it is read.
enum Body {
    Whole(Vec<u8>),
    TooLong(Came),
}

async fn body(mut response: Response) -> Result<Body, String> {
    let mut body = Vec::new();
    let broken = |error: reqwest::Error| innermost(&error);
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        if body.len() + chunk.len() > LONGEST_BYTES {
            return Ok(Body::TooLong(Came::TooLong {
                length: body.len() + chunk.len(),
                head: head(&body),
                at: std::time::Instant::now(),
            }));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Body::Whole(body))
}

fn head(body: &[u8]) -> Vec<u8> {
    body[..body.len().min(SHOWN_BYTES)].to_vec()
}

/// The beginning of a body.
async fn shown(mut response: Response) -> Vec<u8> {
    let mut body = Vec::new();
    while let (true, Ok(Some(chunk))) = (body.len() < SHOWN_BYTES, response.chunk().await) {
        body.extend_from_slice(&chunk);
    }
    head(&body)
}
