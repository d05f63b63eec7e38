//! One request of HTTP as a suite writes it: no message of a session, and nothing of one is sent with it.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, header::HeaderMap};
use tokio::time::{Instant, timeout_at};

use super::{Http, headers_of, is_of_type, shown_head};
use crate::{
    observation::answer::HttpHead,
    protocol::frame::{Direction, Frame, FrameMeta, LONGEST_BYTES},
    script::subject::Credentials,
    transport::{clock::JobClock, wire::WireLog},
};
use text::innermost;

/// How long a body is read that comes to its end: the time of the assertion is over before.
const UNBOUNDED: Duration = Duration::from_hours(24);

/// A request.
#[derive(Debug)]
pub struct PlainRequest<'a> {
    /// Its method.
    pub method: &'a str,
    /// Where it goes, from the server's url on.
    pub path: &'a str,
    /// Its headers.
    pub headers: Vec<(String, String)>,
    /// Whether those of the server are sent too.
    pub credentials: Credentials,
    /// Its body.
    pub body: Vec<u8>,
    /// How long a stream of events is read.
    pub within: Duration,
}

/// The response, of a stream of events as much as came in time; otherwise why there is none.
pub type Read = Result<(HttpHead, Vec<u8>), String>;

impl Http {
    /// Sends a request, of which the record has the first line and the body: headers may be secret.
    pub fn fetch(
        &mut self,
        request: PlainRequest<'_>,
    ) -> Result<impl Future<Output = Read> + Send + use<>, String> {
        let (path, base) = (request.path, &self.endpoint.url);
        let url = base.join(path);
        let url = url.map_err(|error| format!("`{path}`: {error}"))?;
        if url.origin() != base.origin() {
            return Err(format!("`{path}` leads to another server than `{base}`"));
        }
        let method = Method::try_from(request.method);
        let method = method.map_err(|_| format!("`{}` is no method", request.method))?;
        let mut headers = match request.credentials {
            Credentials::Sent => self.endpoint.given.clone(),
            Credentials::Withheld => HeaderMap::new(),
        };
        headers.extend(headers_of(&request.headers)?);
        let mut sent = format!("{method} {url}").into_bytes();
        if !request.body.is_empty() {
            sent = [&sent, &b"\n\n"[..], &request.body].concat();
        }
        let record = (self.log.clone(), self.clock);
        let frame = Frame::new(Direction::Sent, self.clock.at_us(), &sent);
        record.0.record(frame);
        self.sent_bytes += sent.len() as u64;
        let asked = self.endpoint.client.request(method, url).headers(headers);
        Ok(answered(asked.body(request.body), request.within, record))
    }
}

async fn answered(
    asked: RequestBuilder,
    within: Duration,
    (log, clock): (WireLog, JobClock),
) -> Read {
    let broken = |error: reqwest::Error| innermost(&error);
    let mut response = asked.send().await.map_err(broken)?;
    let received = |bytes: &[u8], meta| {
        let frame = Frame::new(Direction::Received, clock.at_us(), bytes);
        log.record(frame.with_meta(meta));
    };
    received(&shown_head(&response), FrameMeta::HttpHead);
    let named = response.headers().iter().map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        (name.as_str().to_owned(), value)
    });
    let head = HttpHead {
        status: response.status().as_u16(),
        headers: named.collect(),
    };
    let is_stream = is_of_type(&response, "text/event-stream");
    let until = Instant::now() + if is_stream { within } else { UNBOUNDED };
    let mut body = Vec::new();
    while let Ok(chunk) = timeout_at(until, response.chunk()).await {
        let Some(chunk) = chunk.map_err(broken)? else {
            break;
        };
        if body.len() + chunk.len() > LONGEST_BYTES {
            return Err("its body is longer than 64 MiB, the bound of this tool".to_owned());
        }
        body.extend_from_slice(&chunk);
    }
    let status = head.status;
    received(&body, FrameMeta::Http { status });
    Ok((head, body))
}
