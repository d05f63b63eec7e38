//! Files that one run writes: no two of them may be one file, by whichever name, and none may be one that the run is
//! made of. Says which are; writes nothing.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

/// A file that is to be written, or one that must stay as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// What asks for it, such as `--junit`.
    pub(crate) by: String,
    /// Its path.
    pub(crate) path: PathBuf,
}

impl Named {
    /// A file that this asks for.
    pub(crate) fn new(by: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            by: by.into(),
            path: path.into(),
        }
    }
}

/// A file that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` would write over `{}`, {over}", lost_to.by, lost_to.path.display())]
pub(crate) struct Clash {
    /// What would be written in its place.
    pub(crate) lost_to: Named,
    /// What it is, as a clause.
    over: String,
}

/// The first of the files to be written that is another of them, or one that is to stay as long as this asks for it.
/// Paths are from `base` on.
pub(crate) fn clash(
    base: &Path,
    written: &[Named],
    stays: impl Fn(&Named, &Path) -> Option<String>,
) -> Option<Clash> {
    let mut known: Vec<(PathBuf, &Named)> = Vec::new();
    for next in written {
        let Some(file) = file(&base.join(&next.path)) else {
            continue;
        };
        let first = known.iter().find(|(other, _)| *other == file);
        let over = match first {
            Some((_, first)) => Some(format!("which `{}` writes too", first.by)),
            None => stays(next, &file),
        };
        if let Some(over) = over {
            let lost_to = next.clone();
            return Some(Clash { lost_to, over });
        }
        known.push((file, next));
    }
    None
}

/// The file itself that a path leads to, whether it is there yet or not; none for a pipe or a device, to which many may
/// write, and for a folder, which nothing is written over.
pub(crate) fn file(path: &Path) -> Option<PathBuf> {
    if let Ok(found) = fs::canonicalize(path) {
        return found.is_file().then_some(found);
    }
    let parts: Vec<Component<'_>> = path.components().collect();
    let there = (0..parts.len()).rev().find_map(|count| {
        let above: PathBuf = parts[..count].iter().collect();
        Some((count, fs::canonicalize(above).ok()?))
    });
    let (count, mut file) = there.unwrap_or_default();
    for part in &parts[count..] {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                file.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => file.push(part),
        }
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use super::{Named, clash};

    #[test]
    fn one_file_is_found_by_every_name_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path();
        fs::create_dir(base.join("there")).unwrap();
        fs::write(base.join("there/kept.xml"), "").unwrap();
        let absolute = base.join("new/a.xml").display().to_string();
        let case = |one: &str, other: &str, wanted: bool| {
            let written = [Named::new("--junit", one), Named::new("--badge", other)];
            let found = clash(base, &written, |_, _| None);
            assert_eq!(found.is_some(), wanted, "{one} {other}: {found:?}");
        };
        case("a.xml", "a.xml", true);
        case("a.xml", "./a.xml", true);
        case("a.xml", "there/../a.xml", true);
        case("a.xml", "new/../a.xml", true);
        case("new/a.xml", &absolute, true);
        case("there/kept.xml", "there/./kept.xml", true);
        case("a.xml", "b.xml", false);
        case("a.xml", "there/a.xml", false);
        case("/dev/null", "/dev/null", false);
        case("there", "there", false);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("there", base.join("link")).unwrap();
            std::os::unix::fs::symlink("there/kept.xml", base.join("kept")).unwrap();
            case("link/a.xml", "there/a.xml", true);
            case("kept", "there/kept.xml", true);
        }
    }

    #[test]
    fn what_is_to_stay_is_named() {
        let base = tempfile::tempdir().unwrap();
        let kept = base.path().canonicalize().unwrap().join("evals/a.yaml");
        let stays =
            |_: &Named, path: &Path| (path == kept).then(|| "a file of the suite".to_owned());
        let written = [
            Named::new("--junit", "a.xml"),
            Named::new("--badge", "evals/a.yaml"),
        ];
        let found = clash(base.path(), &written, stays).unwrap();
        assert_eq!(
            found.to_string(),
            "`--badge` would write over `evals/a.yaml`, a file of the suite"
        );
        let written = [
            Named::new("--junit", "a.xml"),
            Named::new("--badge", "a.xml"),
        ];
        let found = clash(base.path(), &written, |_, _| None).unwrap();
        assert_eq!(
            found.to_string(),
            "`--badge` would write over `a.xml`, which `--junit` writes too"
        );
    }
}
