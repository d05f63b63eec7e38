//! A server's stderr: always drained, so that it can never block, and its end kept.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

use rustix::buffer::spare_capacity;
use tokio::net::unix::pipe::Receiver;

use crate::observation::process::StderrTail;

/// Bytes kept.
const KEPT_BYTES: usize = 64 * 1024;

/// Bytes read at once.
const CHUNK_BYTES: usize = 16 * 1024;

/// Room for the first read: most servers say nothing or little.
const FIRST_BYTES: usize = 1024;

/// Reads that asking for the tail may take: a server that writes without end must not hold it up.
const MOST_READS: usize = 64;

/// The pipe together with what came out of it.
#[derive(Debug)]
pub(super) struct Stderr {
    pipe: Receiver,
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// The last bytes, and up to as many again before them.
    bytes: Vec<u8>,
    total: u64,
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
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let start = heard.bytes.len().saturating_sub(KEPT_BYTES);
        StderrTail {
            bytes: heard.bytes[start..].to_vec(),
            total_bytes: heard.total,
        }
    }

    /// Reads what is there, in order whoever asks; 0 at the end.
    fn read(&self) -> io::Result<usize> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        let room = if heard.bytes.is_empty() {
            FIRST_BYTES
        } else {
            CHUNK_BYTES
        };
        heard.bytes.reserve(room);
        let count = rustix::io::read(&self.pipe, spare_capacity(&mut heard.bytes))?;
        heard.total += count as u64;
        if heard.bytes.len() > 2 * KEPT_BYTES {
            let surplus = heard.bytes.len() - KEPT_BYTES;
            heard.bytes.drain(..surplus);
        }
        Ok(count)
    }
}
