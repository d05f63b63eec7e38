//! A server's stderr: always drained, so that it can never block, and its end kept.

use std::{io, sync::Mutex};

use rustix::buffer::spare_capacity;
use tokio::net::unix::pipe::Receiver;

use crate::{locked, tail::Tail};
use mcp::observation::process::StderrTail;

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
        let heard = locked(&self.heard);
        heard.kept()
    }

    /// Reads what is there, in order whoever asks; 0 at the end.
    fn read(&self) -> io::Result<usize> {
        let mut heard = locked(&self.heard);
        let count = rustix::io::read(&self.pipe, spare_capacity(heard.room()))?;
        heard.grown(count);
        Ok(count)
    }
}
