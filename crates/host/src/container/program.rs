//! A program of an image that could not be started, although it is there: what it asks for and is not. The system says
//! of it only that something was not found, or hands it to a shell, which reads it as its own.

use std::{
    fmt,
    io::{self, Cursor},
    path::Path,
};

use bollard::{Docker, query_parameters::DownloadFromContainerOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::{
    body,
    elf::{self, Processor},
    refusal,
    server::Wanted,
    sight::{self, Runnable},
};
use crate::process::interpreter;

/// Bytes of a program that are read: its loader or interpreter is named in the first of them.
const HEAD: usize = 64 * 1024;

/// How executables for macOS begin, of one processor and of several.
const APPLE: [&[u8]; 2] = [b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];

/// Where programs are looked for when nothing says where.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What to do about a program for another platform.
pub(super) const WRONG_PLATFORM: &str = "name an image for the engine's platform, or `docker: {platform: …}` with an emulator installed";

/// What a program asks for and is not in its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lacking {
    /// The interpreter of a script.
    Interpreter(String),
    /// The loader of a program.
    Loader(String),
    /// A script's first line that says what runs it.
    FirstLine,
    /// What a program is: there is a directory in its place.
    File,
    /// The platform that it is for, as far as it is known.
    Platform(Option<String>),
}

impl fmt::Display for Lacking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interpreter(name) if name.ends_with('\r') => {
                write!(formatter, "its `#!` line ends with a carriage return")
            }
            Self::Interpreter(name) => write!(
                formatter,
                "its interpreter `{name}` does not exist in the image"
            ),
            Self::Loader(name) => {
                write!(formatter, "its loader `{name}` does not exist in the image")
            }
            Self::FirstLine => write!(formatter, "it is a script without a `#!` line"),
            Self::File => write!(formatter, "it is a directory"),
            Self::Platform(Some(platform)) => write!(formatter, "it is for {platform}"),
            Self::Platform(None) => write!(formatter, "it is for another platform"),
        }
    }
}

impl Lacking {
    /// What to do about it.
    pub(super) fn help(&self) -> String {
        match self {
            Self::Interpreter(name) if name.ends_with('\r') => {
                "save the script with Unix line ends".to_owned()
            }
            Self::Interpreter(name) => format!(
                "install `{name}` in the image (`docker: {{prepare: […]}}`), or change the script's first line"
            ),
            Self::Loader(_) => {
                "it was built for another system, for example with another C library: link it \
                                statically, or take an image that has that library"
                    .to_owned()
            }
            Self::FirstLine => {
                "begin it with the program that is to run it, for example `#!/bin/sh`".to_owned()
            }
            Self::File => "name the program inside it".to_owned(),
            Self::Platform(_) => WRONG_PLATFORM.to_owned(),
        }
    }
}

/// Where a program may be, in the order it is looked for.
pub(super) fn places(program: &str, wanted: &Wanted<'_>) -> Vec<String> {
    let own = wanted.command.workdir.as_deref();
    let directory = body::directory(wanted.container, wanted.image, own);
    let at = |folder: &str| {
        let place = Path::new(&directory).join(folder).join(program);
        place.display().to_string()
    };
    if program.contains('/') {
        return vec![at("")];
    }
    let mut of_image = wanted.image.env.iter();
    let of_image = of_image.find_map(|variable| variable.strip_prefix("PATH="));
    let own = wanted.container.env_file.iter().chain(&wanted.command.env);
    let own = own.rev().find(|(name, _)| name == "PATH");
    let path = own.map(|(_, value)| value.as_str()).or(of_image);
    let path = path.filter(|path| !path.is_empty()).unwrap_or(USUAL_PATH);
    path.split(':').map(at).collect()
}

/// What the program lacks that is at the first of these places which has one, on an engine of this platform.
pub(super) async fn lacks(
    docker: &Docker,
    id: &str,
    places: &[String],
    engine: &str,
) -> Option<Lacking> {
    let mut otherwise = None;
    for place in places {
        let place = match sight::runnable(docker, id, place).await {
            Some(Runnable::File(place)) => place,
            Some(Runnable::Directory) => {
                otherwise = Some(Lacking::File);
                continue;
            }
            None => continue,
        };
        let asked = asks_for(&head(docker, id, &place).await?, engine)?;
        let name = match &asked {
            Lacking::Interpreter(name) | Lacking::Loader(name) => name,
            Lacking::FirstLine | Lacking::File | Lacking::Platform(_) => return Some(asked),
        };
        let Some(found) = sight::file(docker, id, name).await else {
            return Some(asked);
        };
        // What runs it may be for another platform, as it may itself.
        let found = asks_for(&head(docker, id, &found).await?, engine);
        return found.filter(|lacking| matches!(lacking, Lacking::Platform(_)));
    }
    otherwise
}

/// What a program that begins like this asks for.
fn asks_for(head: &[u8], engine: &str) -> Option<Lacking> {
    if let Some(name) = interpreter(head) {
        return Some(Lacking::Interpreter(name));
    }
    match elf::processor(head) {
        Some(Processor::Known(processor)) if refusal::is_home(processor, engine) => {}
        Some(Processor::Known(processor)) => {
            return Some(Lacking::Platform(Some(format!("linux/{processor}"))));
        }
        Some(Processor::Other) => return Some(Lacking::Platform(None)),
        None => return without_processor(head),
    }
    let executable = elf::read_from(&mut Cursor::new(head)).ok()??;
    executable.loader.map(Lacking::Loader)
}

/// The same of what is no executable for Linux.
fn without_processor(head: &[u8]) -> Option<Lacking> {
    let platform = |name: &str| Some(Lacking::Platform(Some(name.to_owned())));
    if APPLE.iter().any(|magic| head.starts_with(magic)) {
        return platform("macOS");
    }
    if head.starts_with(b"MZ") && head.contains(&0) {
        return platform("Windows");
    }
    let is_text = !head.is_empty() && !head.contains(&0);
    is_text.then_some(Lacking::FirstLine)
}

/// The beginning of a file.
async fn head(docker: &Docker, id: &str, place: &str) -> Option<Vec<u8>> {
    let read = timeout(sight::ANSWER, read(docker, id, place));
    read.await.ok()?
}

async fn read(docker: &Docker, id: &str, place: &str) -> Option<Vec<u8>> {
    let options = DownloadFromContainerOptionsBuilder::default()
        .path(place)
        .build();
    let mut pieces = docker.download_from_container(id, Some(options));
    let mut archive = Vec::new();
    while archive.len() < HEAD
        && let Some(piece) = pieces.next().await
    {
        archive.extend_from_slice(&piece.ok()?);
    }
    content(&archive).ok()?
}

/// What is there of the first file of an archive that may break off.
fn content(archive: &[u8]) -> io::Result<Option<Vec<u8>>> {
    let mut archive = tar::Archive::new(archive);
    let Some(entry) = archive.entries()?.next() else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    // That it ends early is no matter.
    let _ = io::copy(&mut entry?, &mut bytes);
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::{Lacking, asks_for, content};

    #[test]
    fn the_beginning_tells_what_a_program_asks_for() {
        let script = |text: &str| asks_for(text.as_bytes(), "linux/amd64");
        let interpreter = |name: &str| Some(Lacking::Interpreter(name.to_owned()));
        assert_eq!(script("#! /no/such -x\n"), interpreter("/no/such"));
        assert_eq!(script("#!/bin/sh\r\necho"), interpreter("/bin/sh\r"));
        assert_eq!(script("echo"), Some(Lacking::FirstLine));
        assert_eq!(script(""), None);
        let platform = |name: &str| Some(Lacking::Platform(Some(name.to_owned())));
        let elf = |number| {
            let mut head = vec![0x7f, b'E', b'L', b'F', 2, 1];
            head.resize(64, 0);
            head[18] = number;
            head
        };
        assert_eq!(asks_for(&elf(183), "linux/amd64"), platform("linux/arm64"));
        assert_eq!(asks_for(&elf(62), "linux/amd64"), None);
        assert_eq!(asks_for(&elf(3), "linux/amd64"), None);
        let other = asks_for(&elf(1), "linux/amd64");
        assert_eq!(other, Some(Lacking::Platform(None)));
        let apple = asks_for(b"\xcf\xfa\xed\xfe\x0c\0\0\x01", "linux/arm64");
        assert_eq!(apple, platform("macOS"));
        let shown = Lacking::Interpreter("/bin/sh\r".into()).to_string();
        assert_eq!(shown, "its `#!` line ends with a carriage return");
    }

    #[test]
    fn an_archive_may_break_off() {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(4000);
        builder
            .append_data(&mut header, "x", &b"#!/x\n".repeat(800)[..])
            .unwrap();
        let whole = builder.into_inner().unwrap();
        let seen = content(&whole[..1024]).unwrap().unwrap();
        assert!(seen.starts_with(b"#!/x\n"), "{seen:?}");
        assert_eq!(content(&[]).unwrap(), None);
    }
}
