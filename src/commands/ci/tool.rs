//! What runs the assertions: this executable, by its digest, so that results of two different ones are told apart.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use sha2::{Digest, Sha256};

use report::Tool;
use text::{digest::hexadecimal, environment::Environment};

/// Version and digest of this executable. The digest is absent when the file cannot be read.
pub(super) fn read(environment: &Environment) -> Tool {
    Tool {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sha256: digest(&environment.program).ok(),
    }
}

fn digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 256 * 1024];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(hexadecimal(&hasher.finalize())),
            length => hasher.update(&chunk[..length]),
        }
    }
}
