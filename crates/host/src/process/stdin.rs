//! Our end of a server's stdin: written at once where there is room, as there nearly always is. Room is waited for only
//! where there was none, so that most servers cost no registration with the runtime.

use std::{
    io,
    os::fd::OwnedFd,
    pin::Pin,
    task::{Context, Poll},
};

use rustix::io::Errno;
use tokio::{io::AsyncWrite, net::unix::pipe};

/// A pipe that answers at once when it is full.
#[derive(Debug)]
pub(super) enum Stdin {
    /// There was always room.
    Prompt(OwnedFd),
    /// Once there was none.
    Awaited(pipe::Sender),
}

impl AsyncWrite for Stdin {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        loop {
            match this {
                Self::Prompt(pipe) => match rustix::io::write(&*pipe, bytes) {
                    Ok(count) => return Poll::Ready(Ok(count)),
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => {
                        let pipe = pipe.try_clone()?;
                        *this = Self::Awaited(pipe::Sender::from_owned_fd_unchecked(pipe)?);
                    }
                    Err(error) => return Poll::Ready(Err(error.into())),
                },
                Self::Awaited(pipe) => return Pin::new(pipe).poll_write(context, bytes),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // A pipe keeps nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // It is closed by being dropped.
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read as _};

    use tokio::io::AsyncWriteExt as _;

    use super::Stdin;

    #[tokio::test]
    async fn a_full_pipe_is_waited_for_and_all_of_a_long_text_comes_through() {
        let (mut theirs, ours) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&ours, true).unwrap();
        let mut stdin = Stdin::Prompt(ours.into());
        let text: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_be_bytes).collect();
        let reading = tokio::task::spawn_blocking(move || {
            let mut read = Vec::new();
            theirs.read_to_end(&mut read).map(|_| read)
        });
        stdin.write_all(&text).await.unwrap();
        drop(stdin);
        assert!(reading.await.unwrap().unwrap() == text);
    }

    #[tokio::test]
    async fn a_pipe_that_nobody_reads_is_an_error() {
        let (theirs, ours) = io::pipe().unwrap();
        drop(theirs);
        let written = Stdin::Prompt(ours.into()).write(b"hello").await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
