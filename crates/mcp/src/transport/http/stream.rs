//! Streams of events: the answer to a post, the stream for what the server says by itself, and a stream that is resumed.

use std::{pin::pin, time::Duration};

use reqwest::{
    Response, StatusCode,
    header::{HeaderName, HeaderValue},
};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};

use super::{
    Came, Endpoint, is_of_type,
    sse::{Read, Reader},
};
use crate::protocol::frame::{FrameMeta, LONGEST_BYTES};
use text::innermost;

/// Names the last event that was seen.
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How long a stream is left alone before it is opened again, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// How long the first request after the handshake waits for the stream for what the server says by itself: a server may
/// need it to answer, and some begin no response before they have something to say.
const OPENING: Duration = Duration::from_millis(250);

/// The shortest and the longest time that a server may ask for.
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(30);

/// How a stream is resumed.
#[derive(Debug, Clone, Default)]
pub(super) struct Resume {
    /// The last event that had an id.
    pub(super) last: Option<HeaderValue>,
    /// How long the server wants to be left alone.
    retry: Option<Duration>,
    /// Whether nothing came of it when it was resumed.
    pub(super) empty: bool,
}

impl Resume {
    /// Waits as long as the server wants to be left alone.
    pub(super) async fn wait(&self) {
        sleep(self.retry.unwrap_or(RETRY).clamp(SHORTEST, LONGEST)).await;
    }
}

/// How a stream ended.
pub(super) enum Ended {
    /// By itself, or by an error of the connection.
    Broken(Option<String>),
    /// What was waited for has come.
    Done,
    /// Nobody takes messages any more.
    Unheard,
}

/// Hands on the messages of a stream until it ends or `is_last` is true of one. Events of other kinds are no messages.
pub(super) async fn carry(
    mut response: Response,
    tell: &mpsc::Sender<Came>,
    resume: &mut Resume,
    mut is_last: impl FnMut(&[u8]) -> bool,
    mut of_other_kind: impl FnMut(&str, &[u8]),
) -> Ended {
    let meta = FrameMeta::Http {
        status: response.status().as_u16(),
    };
    let mut reader = Reader::new(LONGEST_BYTES);
    let mut found = Vec::new();
    resume.empty = resume.last.is_some();
    loop {
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return Ended::Broken(None),
            Err(error) => return Ended::Broken(Some(innermost(&error))),
        };
        let at = std::time::Instant::now();
        reader.push(&chunk, &mut found);
        let mut done = false;
        for read in found.drain(..) {
            let came = match read {
                Read::Event(event) => {
                    resume.empty = false;
                    resume.retry = event.retry.or(resume.retry);
                    let id = event.id.filter(|id| !id.is_empty());
                    let id = id.and_then(|id| HeaderValue::try_from(id).ok());
                    resume.last = id.or(resume.last.take());
                    if event.data.is_empty() {
                        continue;
                    }
                    if let Some(kind) = event.kind.filter(|kind| kind != "message") {
                        of_other_kind(&kind, &event.data);
                        continue;
                    }
                    Came::Message {
                        bytes: event.data,
                        meta,
                        at,
                    }
                }
                Read::TooLong { length, head } => Came::TooLong { length, head, at },
            };
            done |= matches!(&came, Came::Message { bytes, .. } if is_last(bytes));
            if tell.send(came).await.is_err() {
                return Ended::Unheard;
            }
        }
        // What came together with the last message is handed on too.
        if done {
            return Ended::Done;
        }
    }
}

/// Asks for a stream of events; after the last event that was seen, where there is one.
pub(super) async fn open(endpoint: &Endpoint, resume: &Resume) -> Result<Response, String> {
    let mut headers = endpoint.headers();
    headers.insert(
        reqwest::header::ACCEPT,
        HeaderValue::from_static("text/event-stream"),
    );
    if let Some(last) = &resume.last {
        headers.insert(LAST_EVENT, last.clone());
    }
    let asked = endpoint.client.get(endpoint.url.clone());
    let (response, _) = endpoint.execute(asked.headers(headers)).await?;
    Ok(response)
}

/// Listens to what the server says by itself, as long as it offers a stream for that. What waits for the stream is let go
/// when it is there, or late.
pub(super) async fn listen(
    endpoint: &Endpoint,
    tell: &mpsc::Sender<Came>,
    mut awaited: Option<watch::Sender<bool>>,
) {
    let mut resume = Resume::default();
    loop {
        let opened = {
            let mut opening = pin!(open(endpoint, &resume));
            let opened = timeout(OPENING, &mut opening).await;
            if let Some(awaited) = awaited.take() {
                awaited.send_replace(true);
            }
            match opened {
                Ok(opened) => opened,
                Err(_) => opening.await,
            }
        };
        let Ok(response) = opened else {
            return;
        };
        if tell.send(Came::head(&response)).await.is_err() {
            return;
        }
        // 405 says that there is none (MCP "Listening for Messages from the Server").
        if response.status() != StatusCode::OK || !is_of_type(&response, "text/event-stream") {
            return;
        }
        match carry(response, tell, &mut resume, |_| false, |_, _| {}).await {
            Ended::Broken(_) => resume.wait().await,
            Ended::Done | Ended::Unheard => return,
        }
    }
}
