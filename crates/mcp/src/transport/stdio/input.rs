//! What a server writes. A pipe can be asked at any moment; what comes over a connection has to be
//! carried here by somebody first.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use rustix::io::{Errno, ioctl_fionread, read};
use tokio::{
    io::{AsyncRead, ReadBuf},
    net::unix::pipe,
};

/// Where the bytes of a server come from.
pub enum Input {
    /// Its stdout itself, which answers at once that there is nothing.
    Pipe(pipe::Receiver),
    /// A stream that a task of the runtime fills.
    Carried(Box<dyn AsyncRead + Send + Unpin>),
}

impl Input {
    /// Reads when the runtime knows that there is something.
    pub(super) fn poll_read(
        &mut self,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self {
            Self::Pipe(pipe) => Pin::new(pipe).poll_read(context, room),
            Self::Carried(stream) => Pin::new(stream).poll_read(context, room),
        }
    }

    /// Reads what lies there, whether or not the runtime has learned of it; `None` where nothing does, or nobody can
    /// tell.
    pub(super) fn read_now(&mut self, room: &mut [u8]) -> Option<io::Result<usize>> {
        let Self::Pipe(pipe) = self else {
            return None;
        };
        match read(&*pipe, room) {
            Err(Errno::AGAIN | Errno::INTR) => None,
            read => Some(read.map_err(io::Error::from)),
        }
    }

    /// How many bytes lie there.
    pub(super) fn waiting(&self) -> u64 {
        match self {
            Self::Pipe(pipe) => ioctl_fionread(pipe).unwrap_or_default(),
            Self::Carried(_) => 0,
        }
    }
}
