//! Follows a path step by step below a root, as the system would, and stops where it would leave the root.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Links followed in one path; the system gives up at the same number.
const MOST_LINKS: usize = 40;

/// Why a path below the root cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum PathError {
    /// `..` above the root, or a link out of it.
    #[error("it leads out of the fixture")]
    Outside,
    /// Links that lead to each other.
    #[error("too many links lead to each other")]
    Circle,
    /// The system refused.
    #[error("{0}")]
    Refused(io::Error),
}

/// The real place of `path`, which is relative to `root` or absolute below it; the place need not exist.
/// `root` is free of links itself.
pub(super) fn resolve(root: &Path, path: &Path) -> Result<PathBuf, PathError> {
    resolve_with(root, path, |full| match fs::symlink_metadata(full) {
        Ok(found) if found.is_symlink() => fs::read_link(full).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    })
}

/// The same where `link` gives the target of a place below the root, if that is a link.
pub(super) fn resolve_with(
    root: &Path,
    path: &Path,
    link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
) -> Result<PathBuf, PathError> {
    follow(root, path, link, &mut Vec::new())
}

/// The same; adds each folder and link that the path leads over, relative to the root.
pub(super) fn follow(
    root: &Path,
    path: &Path,
    link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
    over: &mut Vec<PathBuf>,
) -> Result<PathBuf, PathError> {
    let mut rest = path.strip_prefix(root).unwrap_or(path).to_owned();
    let mut place = PathBuf::new();
    let mut links = 0;
    loop {
        let mut parts = rest.components();
        let Some(part) = parts.next() else {
            return Ok(root.join(place));
        };
        let after = parts.as_path();
        let mut next = after.to_owned();
        match part {
            Component::CurDir => {}
            // Above `/` is `/`.
            Component::ParentDir if place.pop() || root == Path::new("/") => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(PathError::Outside);
            }
            Component::Normal(name) => {
                place.push(name);
                over.push(place.clone());
                if let Some(target) = link(&root.join(&place)).map_err(PathError::Refused)? {
                    links += 1;
                    if links > MOST_LINKS {
                        return Err(PathError::Circle);
                    }
                    place.pop();
                    next = target.join(after);
                    if let Ok(below) = target.strip_prefix(root) {
                        place = PathBuf::new();
                        next = below.join(after);
                    }
                }
            }
        }
        rest = next;
    }
}

/// Whether an error means that nothing is there.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        path::{Path, PathBuf},
    };

    use super::{PathError, resolve};

    #[test]
    fn paths_are_followed_like_the_system_does_but_never_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(root.join("top")).unwrap();
        let link = |target: &str, at: &str| symlink(target, root.join(at)).unwrap();
        link("a/b", "short");
        link("../../top", "a/b/up");
        link("b/up/../../outside", "a/sly");
        link("/etc/passwd", "absolute");
        link("../outside", "relative");
        link("two", "one");
        link("one", "two");
        symlink(root.join("top"), root.join("own")).unwrap();
        let case = |path: &str, wanted: Result<&str, &str>| {
            let seen = resolve(&root, Path::new(path));
            let seen = match &seen {
                Ok(place) => Ok(place.strip_prefix(&root).unwrap().to_str().unwrap()),
                Err(error) => Err(error.to_string()),
            };
            assert_eq!(seen, wanted.map_err(str::to_owned), "{path}");
        };
        case("a/b/file", Ok("a/b/file"));
        case("./a/../top/x", Ok("top/x"));
        case("short/file", Ok("a/b/file"));
        case("short/../file", Ok("a/file"));
        case("short/up/file", Ok("top/file"));
        case("own/file", Ok("top/file"));
        case("no/such/thing", Ok("no/such/thing"));
        case("", Ok(""));
        case("../x", Err("it leads out of the fixture"));
        case("a/../../x", Err("it leads out of the fixture"));
        case("a/sly", Err("it leads out of the fixture"));
        case("/etc/passwd", Err("it leads out of the fixture"));
        case("absolute", Err("it leads out of the fixture"));
        case("relative/x", Err("it leads out of the fixture"));
        case("one", Err("too many links lead to each other"));
        assert_eq!(
            resolve(&root, &root.join("short/x")).unwrap(),
            root.join("a/b/x")
        );
        let escaped: PathBuf = root.join("../x");
        assert!(matches!(resolve(&root, &escaped), Err(PathError::Outside)));
    }
}
