//! Follows a path step by step below a root, as the system would, and stops where it would leave the root.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// Links followed in one path; the system gives up at the same number.
const MOST_LINKS: usize = 40;

/// Why a path below the root cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Stray {
    /// `..` above the root.
    #[error("it leads out of the fixture")]
    Above,
    /// A link whose target lies outside.
    #[error("the link `{link}` leads out of the fixture, to `{target}`")]
    Link {
        /// The link, relative to the root.
        link: String,
        /// Its target as written.
        target: String,
    },
    /// Links that lead to each other.
    #[error("too many links lead to each other")]
    Circle,
    /// The system refused.
    #[error("{0}")]
    Refused(io::Error),
}

/// The real place of `path`, which is relative to `root` or absolute below it; the place need not exist.
/// `root` is free of links itself.
pub(super) fn resolve(root: &Path, path: &Path) -> Result<PathBuf, Stray> {
    resolve_with(root, path, |full| match fs::symlink_metadata(full) {
        Ok(found) if found.is_symlink() => fs::read_link(full).map(Some),
        Ok(_) => Ok(None),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    })
}

/// The same where `link` tells of a place below the root which target it has, if it is a link.
pub(super) fn resolve_with(
    root: &Path,
    path: &Path,
    link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
) -> Result<PathBuf, Stray> {
    follow(root, path, link, &mut Vec::new())
}

/// The same, and what the path leads over: each folder and link that was met, relative to the root.
pub(super) fn follow(
    root: &Path,
    path: &Path,
    link: impl Fn(&Path) -> io::Result<Option<PathBuf>>,
    over: &mut Vec<PathBuf>,
) -> Result<PathBuf, Stray> {
    let relative = path.strip_prefix(root).unwrap_or(path);
    let mut steps = split(relative).ok_or(Stray::Above)?;
    let mut place = PathBuf::new();
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        let Step::Into(name) = step else {
            // Above the root of all there is nothing else.
            if !place.pop() && root != Path::new("/") {
                return Err(Stray::Above);
            }
            continue;
        };
        place.push(name);
        over.push(place.clone());
        let full = root.join(&place);
        let Some(target) = link(&full).map_err(Stray::Refused)? else {
            continue;
        };
        links += 1;
        if links > MOST_LINKS {
            return Err(Stray::Circle);
        }
        let stray = || Stray::Link {
            link: place.display().to_string(),
            target: target.display().to_string(),
        };
        let (next, start) = match target.strip_prefix(root) {
            Ok(below) => (split(below), PathBuf::new()),
            Err(_) => (
                split(&target),
                place.parent().map(Path::to_path_buf).unwrap_or_default(),
            ),
        };
        let next = next.ok_or_else(stray)?;
        if root != Path::new("/") && climbs_out(&start, &next) {
            return Err(stray());
        }
        place = start;
        for step in next.into_iter().rev() {
            steps.push_front(step);
        }
    }
    Ok(root.join(place))
}

/// Whether an error means that nothing is there.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// One component of a path.
enum Step {
    Up,
    Into(OsString),
}

/// The steps of a relative path; `None` for an absolute one.
fn split(path: &Path) -> Option<VecDeque<Step>> {
    let mut steps = VecDeque::new();
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => return None,
            Component::CurDir => {}
            Component::ParentDir => steps.push_back(Step::Up),
            Component::Normal(name) => steps.push_back(Step::Into(name.to_owned())),
        }
    }
    Some(steps)
}

/// Whether the steps alone, links aside, lead above the root: said of the link that asks for it.
fn climbs_out(start: &Path, steps: &VecDeque<Step>) -> bool {
    let mut depth = start.components().count();
    for step in steps {
        match step {
            Step::Into(_) => depth += 1,
            Step::Up if depth == 0 => return true,
            Step::Up => depth -= 1,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::symlink,
        path::{Path, PathBuf},
    };

    use super::{Stray, resolve};

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
                Err(stray) => Err(stray.to_string()),
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
        case(
            "absolute",
            Err("the link `absolute` leads out of the fixture, to `/etc/passwd`"),
        );
        case(
            "relative/x",
            Err("the link `relative` leads out of the fixture, to `../outside`"),
        );
        case("one", Err("too many links lead to each other"));
        assert_eq!(
            resolve(&root, &root.join("short/x")).unwrap(),
            root.join("a/b/x")
        );
        let escaped: PathBuf = root.join("../x");
        assert!(matches!(resolve(&root, &escaped), Err(Stray::Above)));
    }
}
