//! The server over an in-process duplex.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::tap::PassThrough;
use super::{Ended, ServeOptions, Stop, Streams, Tap, serve};

/// A client of a server in this process.
pub(in crate::serve) struct Client {
    pub(in crate::serve) write: WriteHalf<DuplexStream>,
    pub(in crate::serve) read: BufReader<ReadHalf<DuplexStream>>,
    pub(in crate::serve) server: JoinHandle<Ended>,
    stop: tokio::sync::mpsc::Sender<Stop>,
}

impl Client {
    pub(in crate::serve) fn start(options: ServeOptions) -> Self {
        Self::tapped(options, Box::new(PassThrough))
    }

    pub(in crate::serve) fn tapped(options: ServeOptions, tap: Box<dyn Tap>) -> Self {
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
        }
    }

    pub(in crate::serve) async fn send(&mut self, message: &Value) {
        self.send_text(&format!("{message}\n")).await;
    }

    pub(in crate::serve) async fn send_text(&mut self, text: &str) {
        self.write.write_all(text.as_bytes()).await.unwrap();
    }

    pub(in crate::serve) async fn line(&mut self) -> String {
        let mut line = String::new();
        let read = self.read.read_line(&mut line);
        tokio::time::timeout(std::time::Duration::from_secs(10), read)
            .await
            .expect("the server should have written a line")
            .unwrap();
        line
    }

    pub(in crate::serve) async fn message(&mut self) -> Value {
        serde_json::from_str(&self.line().await).unwrap()
    }

    pub(in crate::serve) async fn ask(&mut self, message: Value) -> Value {
        self.send(&message).await;
        self.message().await
    }

    pub(in crate::serve) async fn initialize(&mut self, revision: &str) -> Value {
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

    /// Closes the client's end and waits for the server's.
    pub(in crate::serve) async fn close(mut self) -> Ended {
        self.write.shutdown().await.unwrap();
        let Self { server, .. } = self;
        server.await.unwrap()
    }
}

#[tokio::test]
async fn the_end_of_input_ends_the_server() {
    let mut client = Client::start(ServeOptions::default());
    let answer = client.initialize("2025-06-18").await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(client.close().await, Ended::Clean);
}

#[tokio::test]
async fn a_signal_ends_the_server() {
    let client = Client::start(ServeOptions::default());
    client.stop.send(Stop::Terminated).await.unwrap();
    assert_eq!(client.server.await.unwrap(), Ended::Clean);
}
