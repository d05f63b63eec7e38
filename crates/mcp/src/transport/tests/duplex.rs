//! A connection inside this process, for tests of what is built on it: the test plays the server.

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

use crate::transport::{
    Connection,
    clock::JobClock,
    stdio::{Gone, Input, StdioParts},
};

/// Bytes that each direction holds before a writer waits, like a pipe's.
pub const CAPACITY: usize = 64 * 1024;

/// The server's end.
pub struct Peer {
    /// `None` once it does not read any more.
    input: Option<BufReader<DuplexStream>>,
    output: DuplexStream,
}

/// A connection and the server's end of it.
pub fn duplex() -> (Connection, Peer) {
    connect(None)
}

/// The same, with a future that ends when the server is gone although its stream stays open.
pub fn watched(gone: impl Future<Output = ()> + Send + 'static) -> (Connection, Peer) {
    connect(Some(Box::pin(gone)))
}

fn connect(gone: Option<Gone>) -> (Connection, Peer) {
    let (output, peer_input) = tokio::io::duplex(CAPACITY);
    let (peer_output, input) = tokio::io::duplex(CAPACITY);
    let connection = Connection::stdio(StdioParts {
        input: Input::Carried(Box::new(input)),
        output: Box::new(output),
        gone,
        clock: JobClock::start(),
    });
    let peer = Peer {
        input: Some(BufReader::new(peer_input)),
        output: peer_output,
    };
    (connection, peer)
}

impl Peer {
    /// The next line the client sent, without its end; `None` when it closed.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.input.as_mut()?.read_line(&mut line).await.unwrap();
        (count > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// Reads a part of what the client sent.
    pub async fn part(&mut self) {
        if let Some(input) = &mut self.input {
            let count = input.fill_buf().await.unwrap().len();
            input.consume(count);
        }
    }

    /// Writes bytes as they are.
    pub async fn write(&mut self, bytes: &[u8]) {
        self.output.write_all(bytes).await.unwrap();
    }

    /// Ends what the server writes; it still reads.
    pub async fn end(&mut self) {
        self.output.shutdown().await.unwrap();
    }

    /// Reads no more; it still writes.
    pub fn turn_deaf(&mut self) {
        self.input = None;
    }
}
