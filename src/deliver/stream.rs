//! Paths that lead to streams of this process, such as `/dev/stdout`.

use std::{fs, path::Path};

/// The most links that are followed.
const MOST_LINKS: usize = 16;

/// A stream that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// The standard output.
    Out,
    /// Standard error, another open stream, a terminal.
    Other,
}

/// The stream that a path as typed leads to; `-` is the standard output.
pub(crate) fn stream(path: &Path) -> Option<Stream> {
    if path == Path::new("-") {
        return Some(Stream::Out);
    }
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Some(stream) = by_name(&path) {
            return Some(stream);
        }
        let Ok(named) = fs::read_link(&path) else {
            return None;
        };
        path = path
            .parent()
            .map_or_else(|| named.clone(), |folder| folder.join(&named));
    }
    None
}

/// The stream of a well-known name.
fn by_name(path: &Path) -> Option<Stream> {
    let number = |number: &str| {
        let own = number == "1";
        Some(if own { Stream::Out } else { Stream::Other })
    };
    let parts: Vec<&str> = path
        .components()
        .filter_map(|part| part.as_os_str().to_str())
        .collect();
    match parts[..] {
        ["/", "dev", "stdout"] => Some(Stream::Out),
        ["/", "dev", "stderr" | "tty" | "console"] | ["/", "dev", "pts", _] => Some(Stream::Other),
        ["/", "dev", "fd", name] | ["/", "proc", _, "fd", name] => number(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::symlink, path::Path};

    use super::{Stream, stream};

    #[test]
    fn streams_are_known_by_every_name() {
        let case = |path: &str, wanted: Option<Stream>| {
            assert_eq!(stream(Path::new(path)), wanted, "{path}");
        };
        for path in [
            "-",
            "/dev/stdout",
            "/dev/fd/1",
            "/proc/self/fd/1",
            "/proc/7/fd/1",
        ] {
            case(path, Some(Stream::Out));
        }
        for path in [
            "/dev/stderr",
            "/dev/fd/2",
            "/proc/self/fd/9",
            "/dev/tty",
            "/dev/pts/0",
        ] {
            case(path, Some(Stream::Other));
        }
        for path in [
            "",
            "report.xml",
            "/dev/null",
            "/dev/shm/x",
            "stdout",
            "dev/stdout",
        ] {
            case(path, None);
        }
    }

    #[test]
    fn links_are_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        symlink("/dev/stdout", path("first")).unwrap();
        symlink("first", path("second")).unwrap();
        symlink("round", path("round")).unwrap();
        symlink("/dev/null", path("nothing")).unwrap();
        assert_eq!(stream(&path("second")), Some(Stream::Out));
        assert_eq!(stream(&path("round")), None);
        assert_eq!(stream(&path("nothing")), None);
    }
}
