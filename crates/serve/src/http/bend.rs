//! Makes faults of answers: what goes out instead of what rmcp says.

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::time::Duration;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use futures_util::future::ready;
use futures_util::{Stream, StreamExt, stream};
use http::header::{
    CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, IntoHeaderName, LOCATION,
    RETRY_AFTER, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::inlet::{Answer, plain};
use super::json;
use super::post::SESSION;
use crate::faults::exchange::{Distortion, Refusal, Shot};

/// Between two comments.
const COMMENT: Duration = Duration::from_millis(500);

/// How often bytes drip.
const DROP: Duration = Duration::from_millis(50);

/// How many bytes are promised and not sent.
const PROMISED: usize = 10;

/// Added to the path by a redirect on this server, so that it is followed once.
const FOLLOWED: &str = "redirected";

/// The answer to an expired token.
const INVALID_TOKEN: &str =
    "Bearer realm=\"mcp-assert\", error=\"invalid_token\", error_description=\"the token expired\"";

/// The answer to a valid token without the scope that the request needs.
const WANTED_SCOPE: &str =
    "Bearer realm=\"mcp-assert\", error=\"insufficient_scope\", scope=\"mcp:more\"";

/// A request before rmcp sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestHead<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) path: &'a str,
    /// The query of the URL.
    pub(super) query: Option<&'a str>,
}

/// How `shot` refuses a request, if it does.
pub(super) fn refused(shot: &Shot, how: Refusal, asked: RequestHead<'_>) -> Option<Answer> {
    let (headers, path) = (asked.headers, asked.path);
    match how {
        Refusal::Expired => (headers.contains_key(SESSION) && shot.n >= shot.given.count())
            .then(|| plain(StatusCode::NOT_FOUND, "Not Found: Session not found")),
        Refusal::TooMany => {
            let answer = plain(StatusCode::TOO_MANY_REQUESTS, "Too Many Requests");
            let seconds = shot.given.count().to_string();
            Some(with_header(answer, RETRY_AFTER, seconds))
        }
        Refusal::NoRevision => headers.contains_key("mcp-protocol-version").then(|| {
            plain(
                StatusCode::BAD_REQUEST,
                "Bad Request: Unsupported MCP-Protocol-Version",
            )
        }),
        Refusal::Redirect => {
            let query = asked.query.unwrap_or_default();
            let to = format!("{path}?{query}&{FOLLOWED}").replace("?&", "?");
            (!query.ends_with(FOLLOWED)).then(|| redirect(shot, &to))
        }
        Refusal::RedirectAway => Some(redirect(shot, &format!("http://elsewhere.invalid{path}"))),
        Refusal::NoChallenge => Some(plain(StatusCode::UNAUTHORIZED, "")),
        Refusal::BadChallenge => Some(challenge(
            StatusCode::UNAUTHORIZED,
            "Bearer realm=\"open, =,",
        )),
        Refusal::Expires | Refusal::NeverAgain => (shot.n >= shot.given.count())
            .then(|| challenge(StatusCode::UNAUTHORIZED, INVALID_TOKEN)),
        Refusal::Scope => Some(challenge(StatusCode::FORBIDDEN, WANTED_SCOPE)),
        Refusal::NoGet | Refusal::NoDelete => {
            Some(plain(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed"))
        }
    }
}

/// The answer as `shot` leaves it; an error resets the connection. What never ends by itself ends with `stop`.
pub(super) async fn bent(
    answer: Answer,
    (shot, how): (&Shot, Distortion),
    stop: &CancellationToken,
) -> io::Result<Answer> {
    Ok(match how {
        Distortion::Status => {
            let mut answer = Answer::new(Full::default().boxed());
            *answer.status_mut() = status(shot, StatusCode::SERVICE_UNAVAILABLE);
            answer
        }
        Distortion::Page => typed(
            StatusCode::OK,
            "text/html",
            "<!doctype html><title>It works</title><p>It works.</p>\n",
        ),
        Distortion::Empty => typed(StatusCode::OK, "application/json", ""),
        Distortion::Body => {
            let status = answer.status();
            typed(status, "application/json", "{\"accepted\":true}")
        }
        Distortion::PlainText => with_header(json::plain(answer).await, CONTENT_TYPE, "text/plain"),
        Distortion::NoFinal => rewritten(answer, without_answer).await,
        Distortion::Cut => rewritten(answer, cut).await,
        Distortion::Crlf => rewritten(answer, |text| text.replace('\n', "\r\n")).await,
        Distortion::Multiline => rewritten(answer, multiline).await,
        Distortion::Comments => {
            let comments = stream::unfold((), |()| async {
                tokio::time::sleep(COMMENT).await;
                Some((Bytes::from_static(b": still here\n\n"), ()))
            });
            with(as_events(), until(comments, stop))
        }
        Distortion::Silence => with(as_events(), until(stream::pending(), stop)),
        Distortion::Drip => drip(answer, shot.given.count(), stop).await,
        Distortion::TooLittle => short(answer).await,
        Distortion::NoEnd => {
            let (answer, text) = whole(json::plain(answer).await).await;
            let body = stream::iter([Bytes::from(text)]).chain(stream::pending());
            with(answer, until(body, stop))
        }
        Distortion::Gzip => gzipped(answer).await,
        Distortion::OtherSession => with_header(answer, SESSION, b"another-session"),
        Distortion::BadSession => with_header(answer, SESSION, b"sess\xe9ion"),
        Distortion::NoSession => {
            let mut answer = answer;
            answer.headers_mut().remove(SESSION);
            answer
        }
        Distortion::Reset => return Err(io::ErrorKind::ConnectionReset.into()),
    })
}

/// The status that a rule names; every one that can be written is one.
fn status(shot: &Shot, otherwise: StatusCode) -> StatusCode {
    let code = u16::try_from(shot.given.count()).ok();
    let code = code.and_then(|code| StatusCode::from_u16(code).ok());
    code.unwrap_or(otherwise)
}

fn challenge(status: StatusCode, challenge: &str) -> Answer {
    with_header(plain(status, ""), WWW_AUTHENTICATE, challenge)
}

/// The answer with fewer bytes than it promises.
async fn short(answer: Answer) -> Answer {
    let (answer, text) = whole(json::plain(answer).await).await;
    let promised = (text.len() + PROMISED).to_string();
    let answer = with_header(answer, CONTENT_LENGTH, promised);
    // What is under way is not sent any more once the end does not fit.
    let end = stream::once(tokio::time::sleep(DROP)).filter_map(|()| ready(None));
    with(answer, stream::iter([Bytes::from(text)]).chain(end))
}

/// The answer as JSON, compressed.
async fn gzipped(answer: Answer) -> Answer {
    let (answer, text) = whole(json::plain(answer).await).await;
    let answer = with_header(answer, CONTENT_ENCODING, "gzip");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = packed.write_all(text.as_bytes());
    let body = Full::new(Bytes::from(packed.finish().unwrap_or_default()));
    answer.map(|_| body.boxed())
}

fn redirect(shot: &Shot, to: &str) -> Answer {
    let answer = plain(status(shot, StatusCode::TEMPORARY_REDIRECT), "");
    with_header(answer, LOCATION, to)
}

/// The answer with this header. Every value is made here, and can be one.
fn with_header(mut answer: Answer, name: impl IntoHeaderName, value: impl AsRef<[u8]>) -> Answer {
    if let Ok(value) = HeaderValue::from_bytes(value.as_ref()) {
        answer.headers_mut().insert(name, value);
    }
    answer
}

fn typed(status: StatusCode, content: &'static str, body: &'static str) -> Answer {
    with_header(plain(status, body), CONTENT_TYPE, content)
}

/// The head of a stream of events.
pub(super) fn as_events() -> Answer {
    let answer = typed(StatusCode::OK, "text/event-stream", "");
    with_header(answer, CACHE_CONTROL, "no-cache")
}

pub(super) fn with(
    answer: Answer,
    body: impl Stream<Item = Bytes> + Send + Sync + 'static,
) -> Answer {
    let frames = body.map(|bytes| Ok::<_, Infallible>(Frame::data(bytes)));
    answer.map(|_| BodyExt::boxed(StreamBody::new(frames)))
}

pub(super) fn until(
    body: impl Stream<Item = Bytes> + Send + Sync + 'static,
    stop: &CancellationToken,
) -> impl Stream<Item = Bytes> + Send + Sync + 'static {
    let stop = stop.clone();
    body.take_until(async move { stop.cancelled().await })
}

/// The head of an answer, and all of its body.
async fn whole(answer: Answer) -> (Answer, String) {
    let (parts, body) = answer.into_parts();
    let Ok(body) = body.collect().await;
    let text = String::from_utf8_lossy(&body.to_bytes()).into_owned();
    (Answer::from_parts(parts, Full::default().boxed()), text)
}

async fn rewritten(answer: Answer, how: impl FnOnce(&str) -> String) -> Answer {
    let (answer, text) = whole(answer).await;
    let body = Full::new(Bytes::from(how(&text)));
    answer.map(|_| body.boxed())
}

async fn drip(answer: Answer, rate: u64, stop: &CancellationToken) -> Answer {
    let (answer, text) = whole(answer).await;
    let a_second = Duration::from_secs(1).as_millis() / DROP.as_millis();
    let size = u128::from(rate) / a_second;
    let size = usize::try_from(size.max(1)).unwrap_or(usize::MAX);
    let body = stream::unfold(Bytes::from(text), move |mut rest| async move {
        if rest.is_empty() {
            return None;
        }
        tokio::time::sleep(DROP).await;
        let part = rest.split_to(size.min(rest.len()));
        Some((part, rest))
    });
    with(answer, until(body, stop))
}

/// Events of a stream, each with the empty line that ends it.
fn events(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive("\n\n")
}

/// The answer in an event, if there is one.
fn answer_of(event: &str) -> Option<Value> {
    json::message(event).filter(|message| message.get("method").is_none())
}

fn without_answer(text: &str) -> String {
    events(text)
        .filter(|event| answer_of(event).is_none())
        .collect()
}

fn cut(text: &str) -> String {
    let last = events(text).last().map_or(0, str::len);
    let mut at = text.len() - last / 2;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text[..at].to_owned()
}

fn multiline(text: &str) -> String {
    events(text)
        .map(|event| match answer_of(event) {
            None => event.to_owned(),
            Some(message) => {
                let kept = event.lines().filter(|line| !line.starts_with("data:"));
                let kept = kept.filter(|line| !line.is_empty()).map(str::to_owned);
                let pretty = format!("{message:#}");
                let data = pretty.lines().map(|line| format!("data: {line}"));
                let lines: Vec<String> = kept.chain(data).collect();
                format!("{}\n\n", lines.join("\n"))
            }
        })
        .collect()
}
