//! A program of an image that could not be started, although it is there: what it asks for and is not. The system says
//! of it only that something was not found.

use std::{
    fmt,
    io::{self, Cursor},
    path::Path,
};

use bollard::{Docker, query_parameters::DownloadFromContainerOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::{body, elf, server::Wanted, sight};
use crate::isolate::process::interpreter;

/// Bytes of a program that are read: its loader or interpreter is named in the first of them.
const HEAD: usize = 64 * 1024;

/// Where programs are looked for when nothing says where.
const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a program asks for and is not in its image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// The interpreter of a script.
    Interpreter(String),
    /// The loader of a program.
    Loader(String),
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

/// What the program lacks that is at the first of these places which has one.
pub(super) async fn lacks(docker: &Docker, id: &str, places: &[String]) -> Option<Lacking> {
    for place in places {
        let Some(place) = sight::file(docker, id, place).await else {
            continue;
        };
        let head = timeout(sight::ANSWER, head(docker, id, &place))
            .await
            .ok()??;
        let lacking = asks_for(&head)?;
        let (Lacking::Interpreter(name) | Lacking::Loader(name)) = &lacking;
        let is_there = sight::file(docker, id, name).await.is_some();
        return (!is_there).then_some(lacking);
    }
    None
}

/// What a program that begins like this asks for.
fn asks_for(head: &[u8]) -> Option<Lacking> {
    if let Some(name) = interpreter(head) {
        return Some(Lacking::Interpreter(name));
    }
    let executable = elf::read_from(&mut Cursor::new(head)).ok()??;
    executable.loader.map(Lacking::Loader)
}

/// The beginning of a file.
async fn head(docker: &Docker, id: &str, place: &str) -> Option<Vec<u8>> {
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
        let script = |text: &str| asks_for(text.as_bytes());
        let interpreter = |name: &str| Some(Lacking::Interpreter(name.to_owned()));
        assert_eq!(script("#! /no/such -x\n"), interpreter("/no/such"));
        assert_eq!(script("#!/bin/sh\r\necho"), interpreter("/bin/sh\r"));
        assert_eq!(script("echo"), None);
        assert_eq!(script(""), None);
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
