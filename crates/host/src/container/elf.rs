//! What must be known of an executable for Linux that goes into an image or is in one: its processor, and the loader
//! it asks for.

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

/// A processor, told by the first bytes of an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Processor {
    /// As engines call it.
    Known(&'static str),
    /// One that is not known here.
    Other,
}

/// The processor of an executable for Linux that begins like this; `None` when it is none.
pub(super) fn processor(head: &[u8]) -> Option<Processor> {
    let head = head.get(..20)?;
    if head[..4] != [0x7f, b'E', b'L', b'F'] {
        return None;
    }
    let is_big = head[5] == 2;
    let number = match (head[18], head[19]) {
        (high, low) if is_big => u16::from_be_bytes([high, low]),
        (low, high) => u16::from_le_bytes([low, high]),
    };
    Some(Processor::Known(match number {
        3 => "386",
        21 if is_big => "ppc64",
        21 => "ppc64le",
        22 => "s390x",
        40 => "arm",
        62 => "amd64",
        183 => "arm64",
        243 => "riscv64",
        258 => "loong64",
        _ => return Some(Processor::Other),
    }))
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
    let is_long_and_little = head[4..6] == [2, 1];
    let (true, Some(Processor::Known(machine))) = (is_long_and_little, processor(&head)) else {
        return Ok(None);
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

    use super::{Processor, processor, read};

    #[test]
    fn the_first_bytes_tell_the_processor() {
        let case = |order: u8, number: [u8; 2], wanted| {
            let mut head = [0; 20];
            head[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, order]);
            head[18..].copy_from_slice(&number);
            assert_eq!(processor(&head), Some(wanted));
            assert_eq!(processor(&head[..19]), None);
        };
        case(1, [183, 0], Processor::Known("arm64"));
        case(1, [2, 1], Processor::Known("loong64"));
        case(2, [0, 22], Processor::Known("s390x"));
        case(1, [21, 0], Processor::Known("ppc64le"));
        case(1, [0xef, 0xbe], Processor::Other);
        assert_eq!(processor(b"#!/bin/sh, and more than twenty bytes"), None);
    }

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
