//! The server over an in-process duplex: a small client, and tests by topic.

mod gateway;
mod handshake;
mod hostile;
mod http;
mod http_faults;
mod http_frames;
mod lists;
mod repeatable;
mod rounds;
mod safety;
mod tasks;
mod tools;
mod wire;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::tap::PassThrough;
use super::{Clock, ClockMode, Ended, ServeOptions, Stop, Streams, Tap, serve};

/// A client of a server in this process.
pub(crate) struct Client {
    pub write: WriteHalf<DuplexStream>,
    pub read: BufReader<ReadHalf<DuplexStream>>,
    pub server: JoinHandle<Ended>,
    stop: tokio::sync::mpsc::Sender<Stop>,
    next_id: u64,
}

impl Client {
    pub(crate) fn start(options: ServeOptions) -> Self {
        Self::tapped(options, Box::new(PassThrough))
    }

    pub(crate) fn tapped(options: ServeOptions, tap: Box<dyn Tap>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let (read, write) = tokio::io::split(ours);
        let (stop, asked) = tokio::sync::mpsc::channel(1);
        let streams = Streams {
            input,
            output,
            errors: tokio::io::sink(),
        };
        Self {
            write,
            read: BufReader::new(read),
            server: tokio::spawn(serve(options, tap, streams, asked)),
            stop,
            next_id: 100,
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.write.write_all(text.as_bytes()).await.unwrap();
    }

    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.read.read_line(&mut line);
        tokio::time::timeout(std::time::Duration::from_secs(10), read)
            .await
            .expect("the server should have written a line")
            .unwrap();
        line
    }

    pub(crate) async fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        self.message().await
    }

    pub(crate) async fn initialize(&mut self, revision: &str) -> Value {
        let answer = self
            .ask(
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                    "protocolVersion": revision,
                    "capabilities": {"sampling": {}, "elicitation": {}, "roots": {}},
                    "clientInfo": {"name": "test", "version": "1"},
                }}),
            )
            .await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        answer
    }

    /// A session of revision 2025-06-18 of a server with these options.
    pub(crate) async fn ready(options: ServeOptions) -> Self {
        let mut client = Self::start(options);
        client.initialize("2025-06-18").await;
        client
    }

    /// The answer to a request, after the messages that came before it.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        let mut before = Vec::new();
        loop {
            let message = self.message().await;
            if message.get("method").is_none() && message["id"] == id {
                return (before, message);
            }
            before.push(message);
        }
    }

    /// The result of a tool call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let (_, answer) = self.request("tools/call", params).await;
        assert!(answer.get("error").is_none(), "{tool}: {answer}");
        answer["result"].clone()
    }

    /// The error of a request.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> Value {
        let (_, answer) = self.request(method, params).await;
        assert!(answer.get("result").is_none(), "{method}: {answer}");
        answer["error"].clone()
    }

    /// Closes the client's end and waits for the server's.
    pub(crate) async fn close(mut self) -> Ended {
        self.write.shutdown().await.unwrap();
        let Self { server, .. } = self;
        server.await.unwrap()
    }
}

/// Waits that end at once.
pub(crate) fn quick() -> ServeOptions {
    ServeOptions {
        clock: Clock::new(ClockMode::Virtual, 1.0),
        ..ServeOptions::default()
    }
}
