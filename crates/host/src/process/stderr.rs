//! A server's stderr: always drained, so that it can never block, and its end kept.

use std::{io, sync::Mutex};

use tokio::net::unix::pipe::Receiver;

use crate::{locked, tail::Tail};
use mcp::observation::process::StderrTail;

/// Bytes read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Reads that asking for the tail may take: a server that writes without end must not hold it up.
const MOST_READS: usize = 64;

/// The pipe together with what came out of it.
#[derive(Debug)]
pub(super) struct Stderr {
    pipe: Receiver,
    heard: Mutex<Tail>,
}

impl Stderr {
    /// Takes over the reading end.
    pub(super) fn new(pipe: Receiver) -> Self {
        Self {
            pipe,
            heard: Mutex::default(),
        }
    }

    /// Reads until the last process that holds the other end is gone.
    pub(super) async fn drain(&self) {
        while self.pipe.readable().await.is_ok() {
            match self.pipe.try_io(|| self.read()) {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    }

    /// What was written so far, to this very moment.
    pub(super) fn tail(&self) -> StderrTail {
        for _ in 0..MOST_READS {
            if !matches!(self.read(), Ok(1..)) {
                break;
            }
        }
        locked(&self.heard).kept()
    }

    /// Reads what is there, for one caller at a time; 0 at the end.
    fn read(&self) -> io::Result<usize> {
        let mut heard = locked(&self.heard);
        let mut chunk = [0; CHUNK_BYTES];
        let count = rustix::io::read(&self.pipe, &mut chunk)?;
        heard.push(&chunk[..count]);
        Ok(count)
    }
}
