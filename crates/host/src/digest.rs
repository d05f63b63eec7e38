//! The one way files are hashed.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The SHA-256 of all that a reader gives, and its length.
pub(super) fn of(mut reader: impl Read) -> io::Result<([u8; 32], u64)> {
    let mut hasher = Sha256::new();
    let mut length = 0;
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Ok((hasher.finalize().into(), length)),
            Ok(count) => {
                hasher.update(&chunk[..count]);
                length += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
