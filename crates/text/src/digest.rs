//! SHA-256, and digests as text.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The SHA-256 of these bytes.
pub fn sha256_bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The SHA-256 of all that a reader gives, and its length in bytes.
///
/// # Errors
///
/// The reader's.
pub fn sha256_of_all(mut reader: impl Read) -> io::Result<([u8; 32], u64)> {
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

/// The SHA-256 of these bytes as 64 digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&sha256_bytes(bytes))
}

/// Bytes as lower-case digits, two for each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Half a byte is a digit of base 16.
        text.extend([digit(byte >> 4), digit(byte & 15)]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn the_digest_of_nothing_is_known() {
        let wanted = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), wanted);
    }
}
