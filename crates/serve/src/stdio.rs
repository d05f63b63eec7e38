//! The process's own streams. Pipes and sockets are read and written without a thread between,
//! which is what makes a start quick; anything else goes tokio's way.
//!
//! Not to block is a property of the pipe, which others may hold too (a shell's whole script
//! writes to one), so it is put back at the end.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::Streams;

/// The streams that the process was started with.
pub type OwnStreams = Streams<Input, Output, tokio::io::Stderr>;

/// Our stdin.
pub struct Input {
    stream: Box<dyn AsyncRead + Unpin>,
    before: OFlags,
}

/// Our stdout. A shutdown closes it for good.
pub struct Output {
    /// Something until it is shut down.
    stream: Option<Box<dyn AsyncWrite + Unpin>>,
    before: OFlags,
}

/// Opens the three streams. A runtime has to be there.
pub fn open() -> io::Result<OwnStreams> {
    let (input, output) = (io::stdin(), io::stdout());
    let before = (fcntl_getfl(&input)?, fcntl_getfl(&output)?);
    let reads: Box<dyn AsyncRead + Unpin> = if is(&input, FileType::Fifo)? {
        Box::new(pipe::Receiver::from_owned_fd(own(&input)?)?)
    } else if is(&input, FileType::Socket)? {
        Box::new(socket(own(&input)?)?)
    } else {
        Box::new(tokio::io::stdin())
    };
    let writes: Box<dyn AsyncWrite + Unpin> = if is(&output, FileType::Fifo)? {
        Box::new(pipe::Sender::from_owned_fd(own(&output)?)?)
    } else if is(&output, FileType::Socket)? {
        Box::new(socket(own(&output)?)?)
    } else {
        Box::new(tokio::io::stdout())
    };
    Ok(Streams {
        input: Input {
            before: before.0,
            stream: reads,
        },
        output: Output {
            before: before.1,
            stream: Some(writes),
        },
        errors: tokio::io::stderr(),
    })
}

fn is(stream: &impl AsFd, kind: FileType) -> io::Result<bool> {
    let mode = rustix::fs::fstat(stream)?.st_mode;
    Ok(FileType::from_raw_mode(mode) == kind)
}

fn own(stream: &impl AsFd) -> io::Result<OwnedFd> {
    stream.as_fd().try_clone_to_owned()
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let socket = std::os::unix::net::UnixStream::from(fd);
    socket.set_nonblocking(true)?;
    UnixStream::from_std(socket)
}

impl Output {
    fn stream(&mut self) -> io::Result<Pin<&mut (dyn AsyncWrite + Unpin)>> {
        match &mut self.stream {
            Some(stream) => Ok(Pin::new(stream.as_mut())),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // A stream that is gone has nothing to be put back.
        let _ = fcntl_setfl(io::stdin(), self.before);
    }
}

/// The end of the process closes stdout, so that its reader never sees one without the other.
impl Drop for Output {
    fn drop(&mut self) {
        // A stream that is gone has nothing to be put back.
        let _ = fcntl_setfl(io::stdout(), self.before);
    }
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut tokio::io::ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.stream()?.poll_shutdown(context))?;
        self.stream = None;
        // Descriptor 1 is a second hold on the pipe: its reader sees the end only when that one is
        // gone too.
        let nowhere = std::fs::File::options().write(true).open("/dev/null")?;
        Poll::Ready(rustix::stdio::dup2_stdout(nowhere).map_err(io::Error::from))
    }
}
