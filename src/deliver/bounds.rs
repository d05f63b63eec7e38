//! Limits where a workflow step may write: below its workspace or the runner's temporary folder, behind any links. New
//! files get the workspace's owner, because files of another user break later jobs on the same machine.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    file::{self, Owner, resolved},
    standard::Streams,
};
use text::environment::Environment;

/// The writable folders and the owner of new files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The base of relative paths.
    base: PathBuf,
    /// Empty outside of workflows: every path is writable.
    roots: Vec<PathBuf>,
    owner: Option<Owner>,
}

impl Bounds {
    /// The bounds of this process's step; none outside of a workflow.
    pub(crate) fn of(environment: &Environment) -> Self {
        let folder = |name: &str| environment.set(name).map(PathBuf::from);
        let in_workflow = environment.variable("GITHUB_ACTIONS") == Some("true");
        let workspace = folder("GITHUB_WORKSPACE").filter(|_| in_workflow);
        Self {
            base: environment.directory.clone(),
            owner: workspace.as_deref().and_then(Owner::to_hand_to),
            roots: match workspace {
                Some(workspace) => std::iter::once(workspace)
                    .chain(folder("RUNNER_TEMP"))
                    .collect(),
                None => Vec::new(),
            },
        }
    }

    /// Replaces a file atomically.
    pub(super) fn replace(&self, path: &Path, text: &str, streams: &Streams) -> io::Result<()> {
        let path = self.base.join(path);
        if self.roots.is_empty() {
            return file::replace(&path, text, None, streams);
        }
        file::replace(&self.resolved(&path)?, text, self.owner, streams)
    }

    /// Resolves a path and refuses it if it is outside of the bounds.
    fn resolved(&self, path: &Path) -> io::Result<PathBuf> {
        let resolved = resolved(path)?;
        let inside = self.roots.iter().any(|root| {
            fs::canonicalize(root).is_ok_and(|root| resolved != root && resolved.starts_with(root))
        });
        if inside {
            return Ok(resolved);
        }
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|it| it.display().to_string())
            .collect();
        let how = if resolved == path {
            "it lies"
        } else {
            "it leads"
        };
        Err(io::Error::other(format!(
            "{how} outside of {}",
            roots.join(" and ")
        )))
    }

    /// The path relative to the workspace, for later steps.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let path = self.base.join(path);
        let from_workspace = self.roots.first().and_then(|root| below(root, &path));
        from_workspace.unwrap_or(path).display().to_string()
    }
}

/// The path relative to a folder, as written or behind links; `None` if it is outside.
pub(crate) fn below(folder: &Path, path: &Path) -> Option<PathBuf> {
    if let Ok(below) = path.strip_prefix(folder) {
        return Some(below.to_owned());
    }
    let (folder, path) = (fs::canonicalize(folder).ok()?, resolved(path).ok()?);
    path.strip_prefix(folder).ok().map(Path::to_owned)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, chown, symlink},
        path::Path,
    };

    use super::{Bounds, Streams};
    use text::environment::Environment;

    struct Machine {
        folder: tempfile::TempDir,
        bounds: Bounds,
    }

    fn machine() -> Machine {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        let (workspace, temporary, _) = (path("workspace"), path("temporary"), path("outside"));
        if rustix::process::geteuid().is_root() {
            chown(&workspace, Some(1001), Some(127)).unwrap();
        }
        let variables = [
            ("GITHUB_ACTIONS", "true".to_owned()),
            ("GITHUB_WORKSPACE", workspace.display().to_string()),
            ("RUNNER_TEMP", temporary.display().to_string()),
        ];
        let bounds = Bounds::of(&Environment {
            variables: variables
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            directory: workspace.clone(),
            ..Environment::default()
        });
        Machine { folder, bounds }
    }

    impl Machine {
        fn write(&self, path: &str) -> Result<(), String> {
            let full = path.replace("ROOT", self.folder.path().to_str().unwrap());
            let written = self
                .bounds
                .replace(Path::new(&full), "text", &Streams::default());
            written.map_err(|error| error.to_string())
        }

        fn link(&self, from: &str, to: &str) {
            symlink(self.folder.path().join(to), self.folder.path().join(from)).unwrap();
        }
    }

    #[test]
    fn what_is_written_and_made_belongs_to_the_workspace() {
        let machine = machine();
        machine.write("a/b/report.xml").unwrap();
        machine.write("ROOT/temporary/report.xml").unwrap();
        let owner = |path: &str| {
            let found = fs::metadata(machine.folder.path().join(path)).unwrap();
            (found.uid(), found.gid())
        };
        let wanted = owner("workspace");
        for made in [
            "workspace/a",
            "workspace/a/b",
            "workspace/a/b/report.xml",
            "temporary/report.xml",
        ] {
            assert_eq!(owner(made), wanted, "{made}");
        }
        assert_eq!(
            machine.bounds.shown("a/report.xml".as_ref()),
            "a/report.xml"
        );
    }

    #[test]
    fn a_workspace_that_is_a_link_is_the_folder_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::create_dir_all(real.join("sub")).unwrap();
        symlink(&real, &link).unwrap();
        let case = |workspace: &Path, directory: &Path, path: &str, wanted: &str| {
            let bounds = Bounds {
                base: directory.to_owned(),
                roots: vec![workspace.to_owned()],
                owner: None,
            };
            assert_eq!(bounds.shown(Path::new(path)), wanted);
        };
        for (workspace, directory) in [(&link, &real), (&real, &link), (&link, &link)] {
            let sub = directory.join("sub");
            case(workspace, &sub, "out/report.xml", "sub/out/report.xml");
            case(workspace, directory, "report.xml", "report.xml");
        }
        case(&link, &real, "/etc/x", "/etc/x");
    }

    #[test]
    fn no_path_leads_out() {
        let machine = machine();
        machine.link("workspace/out", "outside");
        machine.link("workspace/file", "outside/file");
        machine.link("workspace/nowhere", "missing");
        machine.link("workspace/in", "workspace/inner");
        fs::create_dir(machine.folder.path().join("workspace/inner")).unwrap();
        fs::write(machine.folder.path().join("outside/file"), "theirs").unwrap();
        let case = |path: &str, wanted: &str| {
            let error = machine.write(path).unwrap_err();
            assert!(error.contains(wanted), "{path}: {error}");
        };
        case("../outside/x", "leads outside of");
        case("ROOT/outside/x", "lies outside of");
        case("/etc/x", "lies outside of");
        case("out/x", "leads outside of");
        case("out/deeper/x", "leads outside of");
        case("file", "leads outside of");
        case("nowhere/x", "leads outside of");
        case("nowhere", "leads outside of");
        case("missing/../../x", "leads outside of");
        machine.write("in/x").unwrap();
        assert!(machine.folder.path().join("workspace/inner/x").exists());
        let outside: Vec<_> = fs::read_dir(machine.folder.path().join("outside"))
            .unwrap()
            .collect();
        assert_eq!(outside.len(), 1, "{outside:?}");
        let theirs = fs::read_to_string(machine.folder.path().join("outside/file")).unwrap();
        assert_eq!(theirs, "theirs");
    }

    #[test]
    fn outside_of_a_workflow_every_place_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.xml");
        let bounds = Bounds::of(&Environment::default());
        bounds.replace(&path, "text", &Streams::default()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
    }
}
