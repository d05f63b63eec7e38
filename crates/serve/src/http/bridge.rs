//! HTTP+SSE of 2024-11-05: each stream of events is a pipe into a server of its own. What is posted goes in, and each line
//! that comes out is an event.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream;
use http::request::Parts;
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::bend;
use super::inlet::{Answer, plain};
use super::post::Later;
use super::sender::sender;
use crate::layer::Books;
use crate::{ServeOptions, Streams};

/// The messages that wait in a pipe.
const PIPE: usize = 64 << 10;

/// The part of the query that names a stream.
const NAMED: &str = "sessionId=";

type Input = Arc<tokio::sync::Mutex<WriteHalf<DuplexStream>>>;
type Inputs = Arc<Mutex<HashMap<String, Input>>>;

/// The streams of one server.
pub(super) struct Bridge {
    /// The options of each server behind a stream.
    pub(super) options: ServeOptions,
    pub(super) books: Books,
    /// Who runs those servers.
    pub(super) later: mpsc::UnboundedSender<Later>,
    inputs: Inputs,
}

/// The stream that a client reads; its posts have no use once the stream is gone.
struct Output {
    /// The first event.
    first: Option<String>,
    lines: BufReader<ReadHalf<DuplexStream>>,
    id: String,
    inputs: Inputs,
}

impl Bridge {
    pub(super) fn new(
        options: &ServeOptions,
        books: &Books,
        later: mpsc::UnboundedSender<Later>,
    ) -> Self {
        let options = ServeOptions {
            stderr: None,
            max_requests: None,
            idle_exit: None,
            exit_after: None,
            ..options.clone()
        };
        Self {
            options,
            books: books.clone(),
            later,
            inputs: Inputs::default(),
        }
    }

    /// Opens a stream of this name.
    pub(super) fn open(&self, parts: &Parts, id: String, stop: &CancellationToken) -> Answer {
        let (near, far) = tokio::io::duplex(PIPE);
        let (input, output) = tokio::io::split(far);
        let (lines, write) = tokio::io::split(near);
        let mut from = sender(parts);
        from["session"] = json!(id);
        let streams = Streams {
            input,
            output,
            errors: tokio::io::stderr(),
        };
        let (options, tap) = (self.options.clone(), self.books.tap(from));
        let ends = stop.clone();
        let server = async move {
            let (asks, asked) = mpsc::channel(1);
            let mut server = Box::pin(crate::serve(options, tap, streams, asked));
            tokio::select! {
                _ = &mut server => return,
                () = ends.cancelled() => {}
            }
            // A server that has ended meanwhile is asked nothing.
            let _ = asks.send(crate::Stop::Terminated).await;
            server.await;
        };
        if self.later.send(Box::pin(server)).is_err() {
            return plain(
                StatusCode::SERVICE_UNAVAILABLE,
                "Service Unavailable: the server ends",
            );
        }
        inputs(&self.inputs).insert(id.clone(), Arc::new(tokio::sync::Mutex::new(write)));
        let first = format!(
            "event: endpoint\ndata: {}?{NAMED}{id}\n\n",
            parts.uri.path()
        );
        let output = Output {
            first: Some(first),
            lines: BufReader::new(lines),
            id,
            inputs: self.inputs.clone(),
        };
        let body = stream::unfold(output, |mut output| async move {
            let event = output.next().await?;
            Some((event, output))
        });
        bend::with(bend::as_events(), bend::until(body, stop))
    }

    /// Takes a message to the server behind the stream that the query names.
    pub(super) async fn post(&self, query: Option<&str>, message: &Value) -> Answer {
        let id = query.and_then(|query| query.split('&').find_map(|part| part.strip_prefix(NAMED)));
        let input = id.and_then(|id| inputs(&self.inputs).get(id).cloned());
        let Some(input) = input else {
            return plain(StatusCode::NOT_FOUND, "Not Found: there is no such stream");
        };
        let line = format!("{message}\n");
        match input.lock().await.write_all(line.as_bytes()).await {
            Ok(()) => plain(StatusCode::ACCEPTED, "Accepted"),
            Err(_) => plain(StatusCode::NOT_FOUND, "Not Found: the stream has ended"),
        }
    }
}

/// The check of the host and the origin of a request by rmcp.
pub(super) fn stranger(parts: &Parts) -> Request<Full<Bytes>> {
    let mut request = Request::new(Full::default());
    *request.method_mut() = http::Method::PUT;
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    request
}

impl Output {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(Bytes::from(first));
        }
        let mut line = Vec::new();
        // A pipe that fails is one that has ended.
        let read = self.lines.read_until(b'\n', &mut line).await.unwrap_or(0);
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        let event = [b"event: message\ndata: ", line.as_slice(), b"\n\n"].concat();
        (read > 0).then(|| Bytes::from(event))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        inputs(&self.inputs).remove(&self.id);
    }
}

fn inputs(inputs: &Inputs) -> MutexGuard<'_, HashMap<String, Input>> {
    inputs.lock().unwrap_or_else(PoisonError::into_inner)
}
