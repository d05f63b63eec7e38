//! A container's standard streams over one connection to its engine: stdin and stdout as a connection, stderr apart.

use std::pin::Pin;

use bollard::container::{AttachContainerResults, LogOutput};
use futures_util::{Stream, StreamExt};
use tokio::io::{AsyncWriteExt, DuplexStream, copy};

use mcp::transport::{
    Connection,
    clock::JobClock,
    stdio::{Input, StdioParts},
};

/// Bytes that wait in each direction before the other side does.
const CAPACITY: usize = 64 * 1024;

/// The other end of what the connection reads, which keeps it from ending, and whether the connection to the engine broke.
pub(super) type Held = (Option<DuplexStream>, bool);

/// A connection over an attached container, and the work that carries its bytes. The work ends when the engine closes the
/// connection: when all writers in the container have ended, or when the engine is gone. The connection to the server
/// ends when what the work gave is dropped, so that by then more can be known of the container's end.
pub(super) fn attach(
    streams: AttachContainerResults,
    on_stderr: impl FnMut(&[u8]) + Send + 'static,
    clock: JobClock,
) -> (Connection, impl Future<Output = Held> + Send + 'static) {
    let (input, stdout) = tokio::io::duplex(CAPACITY);
    let (output, stdin) = tokio::io::duplex(CAPACITY);
    let connection = Connection::stdio(StdioParts {
        input: Input::Carried(Box::new(input)),
        output: Box::new(output),
        gone: None,
        clock,
    });
    (connection, carry(streams, stdin, stdout, on_stderr))
}

async fn carry(
    streams: AttachContainerResults,
    mut stdin: DuplexStream,
    stdout: DuplexStream,
    on_stderr: impl FnMut(&[u8]) + Send + 'static,
) -> Held {
    let AttachContainerResults { output, mut input } = streams;
    let writing = async {
        // When the server does not read any more, dropping this end closes the connection.
        if copy(&mut stdin, &mut input).await.is_ok() {
            // The end of stdin, and only that: the rest of the connection is still read.
            let _ = input.shutdown().await;
        }
        drop(stdin);
        std::future::pending::<Held>().await
    };
    tokio::select! {
        held = sort(output, stdout, on_stderr) => held,
        held = writing => held,
    }
}

/// Hands every frame of the connection to its stream.
async fn sort(
    mut output: Pin<Box<dyn Stream<Item = Result<LogOutput, bollard::errors::Error>> + Send>>,
    stdout: DuplexStream,
    mut on_stderr: impl FnMut(&[u8]) + Send + 'static,
) -> Held {
    // `None` once it is not read any more; the rest is still drained, so that the server never blocks.
    let mut stdout = Some(stdout);
    let is_broken = loop {
        let frame = match output.next().await {
            Some(Ok(frame)) => frame,
            Some(Err(_)) => break true,
            None => break false,
        };
        match frame {
            LogOutput::StdErr { message } => on_stderr(&message),
            LogOutput::StdOut { message } | LogOutput::Console { message } => {
                if let Some(open) = &mut stdout
                    && open.write_all(&message).await.is_err()
                {
                    stdout = None;
                }
            }
            LogOutput::StdIn { .. } => {}
        }
    };
    (stdout, is_broken)
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use bollard::container::{AttachContainerResults, LogOutput};
    use tokio::io::AsyncReadExt;

    use super::attach;
    use mcp::transport::{Inbound, Outgoing, Purpose, clock::JobClock};

    fn out(text: &str) -> LogOutput {
        LogOutput::StdOut {
            message: text.to_owned().into(),
        }
    }

    fn err(text: &str) -> LogOutput {
        LogOutput::StdErr {
            message: text.to_owned().into(),
        }
    }

    #[tokio::test]
    async fn frames_are_joined_and_split_at_newlines_whatever_their_pieces() {
        let frames = [
            out("{\"a\""),
            err("note"),
            out(":1}\n{\"b\":"),
            out("2}\nrest"),
        ];
        let (theirs, ours) = tokio::io::duplex(1024);
        let streams = AttachContainerResults {
            output: Box::pin(futures_util::stream::iter(frames.map(Ok))),
            input: Box::pin(ours),
        };
        let heard = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&heard);
        let on_stderr = move |bytes: &[u8]| sink.lock().unwrap().extend_from_slice(bytes);
        let (mut connection, work) = attach(streams, on_stderr, JobClock::start());
        let work = tokio::spawn(async move { drop(work.await) });
        let mut lines = Vec::new();
        while let Inbound::Message { bytes, .. } = connection.next().await {
            lines.push(String::from_utf8(bytes).unwrap());
        }
        assert_eq!(lines, ["{\"a\":1}", "{\"b\":2}", "rest"]);
        assert_eq!(heard.lock().unwrap().as_slice(), b"note");
        work.await.unwrap();
        drop(theirs);
    }

    #[tokio::test]
    async fn closing_ends_the_containers_input_and_nothing_else() {
        let (mut theirs, ours) = tokio::io::duplex(1024);
        let (tell, told) = tokio::sync::oneshot::channel::<()>();
        let last = futures_util::stream::once(async move {
            let _ = told.await;
            Ok(out("bye\n"))
        });
        let streams = AttachContainerResults {
            output: Box::pin(last),
            input: Box::pin(ours),
        };
        let (mut connection, work) = attach(streams, |_: &[u8]| {}, JobClock::start());
        let work = tokio::spawn(async move { drop(work.await) });
        let hello = Outgoing {
            bytes: b"hello",
            purpose: Purpose::Asks,
        };
        connection.send(hello).await.unwrap();
        connection.close(tokio::time::Instant::now()).await;
        let mut read = String::new();
        theirs.read_to_string(&mut read).await.unwrap();
        assert_eq!(read, "hello\n");
        tell.send(()).unwrap();
        let Inbound::Message { bytes, .. } = connection.next().await else {
            panic!("what it says at the end is heard");
        };
        assert_eq!(bytes, b"bye");
        work.await.unwrap();
    }
}
