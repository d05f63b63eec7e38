//! What must be known of an executable for Linux before it goes into an image: its processor, and the loader it
//! asks for.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

/// The header of a program's segment that names its loader.
const LOADER: u32 = 3;

/// A path longer than this is none.
const LONGEST_PATH: u64 = 4096;

/// An executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Executable {
    /// The processor, as engines call it.
    pub(super) machine: &'static str,
    /// Its loader; `None`: it is static.
    pub(super) loader: Option<String>,
}

/// Reads an executable; `None` when it is none for a Linux of 64 bits.
pub(super) fn read(path: &Path) -> io::Result<Option<Executable>> {
    read_from(&mut File::open(path)?)
}

/// The same of a file that is read already.
pub(super) fn read_from(file: &mut (impl Read + Seek)) -> io::Result<Option<Executable>> {
    let mut head = [0; 64];
    match file.read_exact(&mut head) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    // The magic number, 64 bits, little endian.
    if head[..6] != [0x7f, b'E', b'L', b'F', 2, 1] {
        return Ok(None);
    }
    let machine = match short(&head, 18) {
        62 => "amd64",
        183 => "arm64",
        _ => return Ok(None),
    };
    let (table, size, count) = (long(&head, 32), short(&head, 54), short(&head, 56));
    let mut loader = None;
    for index in 0..u64::from(count) {
        file.seek(SeekFrom::Start(table + index * u64::from(size)))?;
        let mut segment = [0; 56];
        file.read_exact(&mut segment)?;
        let kind = u32::from_le_bytes([segment[0], segment[1], segment[2], segment[3]]);
        let length = long(&segment, 32);
        if kind == LOADER && length <= LONGEST_PATH {
            file.seek(SeekFrom::Start(long(&segment, 8)))?;
            let mut text = Vec::new();
            Read::take(&mut *file, length).read_to_end(&mut text)?;
            let text = String::from_utf8_lossy(&text);
            loader = Some(text.trim_end_matches('\0').to_owned());
        }
    }
    Ok(Some(Executable { machine, loader }))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let mut value = [0; 8];
    value.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(value)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::read;

    #[test]
    fn programs_are_told_from_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        std::fs::write(&script, "#!/bin/sh\n").unwrap();
        assert_eq!(read(&script).unwrap(), None);
        assert!(read(Path::new("/no/such")).is_err());
        if cfg!(all(target_os = "linux", target_pointer_width = "64")) {
            let shell = read(Path::new("/bin/sh")).unwrap().unwrap();
            assert!(shell.loader.is_none_or(|loader| loader.starts_with('/')));
        }
    }
}
