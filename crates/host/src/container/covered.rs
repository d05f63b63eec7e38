//! Mounts and volumes that would hide the fixture or a part of it. Pure.

use std::path::{Path, PathBuf};

use super::{image::ReadyImage, sight::clean};
use suite::model::container::Container;

/// What lies there, in words. `is_folder` says whether a path relative to the fixture is a folder of the original.
pub fn covered(
    container: &Container,
    image: &ReadyImage,
    place: &str,
    is_folder: impl Fn(&Path) -> bool,
) -> Option<String> {
    let place = Path::new(place);
    let over = |target: &str| {
        place.starts_with(clean(Path::new(target))) || inner(place, target).is_some()
    };
    let mut mounts = container.mounts.iter().map(|mount| &mount.target);
    if let Some(target) = mounts.find(|target| over(target)) {
        return Some(format!("the mount at `{target}`"));
    }
    let mut memory = container.tmpfs.iter().flatten();
    if let Some(folder) = memory.find(|folder| over(&folder.path)) {
        return Some(format!("the folder in memory at `{}`", folder.path));
    }
    // A volume of the image above the fixture makes way for it, and one in its place is filled with it.
    let strange = |path: &&String| match inner(place, path) {
        Some(inner) => !inner.as_os_str().is_empty() && !is_folder(&inner),
        None => false,
    };
    let volume = image.volumes.iter().find(strange)?;
    Some(format!("the volume that the image declares at `{volume}`"))
}

/// A path relative to a place.
fn inner(place: &Path, path: &str) -> Option<PathBuf> {
    Some(clean(Path::new(path)).strip_prefix(place).ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::covered;
    use crate::container::image::ReadyImage;
    use suite::model::container::{Container, Mount, MountSource, Tmpfs};

    fn image(volumes: &[&str]) -> ReadyImage {
        ReadyImage {
            id: "sha256:1".into(),
            digest: None,
            name: "server:1".into(),
            user: None,
            workdir: None,
            env: Vec::new(),
            entrypoint: Vec::new(),
            command: Vec::new(),
            volumes: volumes.iter().map(|path| (*path).to_owned()).collect(),
            platform: "linux/amd64".into(),
        }
    }

    fn over(container: &Container, volumes: &[&str]) -> Option<String> {
        let is_folder = |path: &Path| path == Path::new("sub");
        covered(container, &image(volumes), "/mcp-assert/f", is_folder)
    }

    #[test]
    fn nothing_may_lie_over_the_fixture_or_in_it() {
        let case = |path: &str, wanted: bool| {
            let memory = Container {
                tmpfs: Some(vec![Tmpfs {
                    path: path.to_owned(),
                    options: String::new(),
                }]),
                ..Container::default()
            };
            let told = wanted.then(|| format!("the folder in memory at `{path}`"));
            assert_eq!(over(&memory, &[]), told);
            let mounted = Container {
                mounts: vec![Mount {
                    source: MountSource::Volume("cache".into()),
                    target: path.to_owned(),
                    writable: false,
                }],
                ..Container::default()
            };
            let told = wanted.then(|| format!("the mount at `{path}`"));
            assert_eq!(over(&mounted, &[]), told);
        };
        case("/mcp-assert/f", true);
        case("/mcp-assert/f/", true);
        case("/mcp-assert/x/../f", true);
        case("/mcp-assert", true);
        case("/", true);
        case("/mcp-assert/f/sub", true);
        case("/mcp-assert/f/new", true);
        case("/mcp-assert/other", false);
        case("/mcp-assert/fixture", false);
        case("/tmp", false);
    }

    #[test]
    fn a_volume_of_the_image_may_hold_the_fixture_or_a_folder_of_it() {
        let case = |path: &str, wanted: bool| {
            let told = wanted.then(|| format!("the volume that the image declares at `{path}`"));
            assert_eq!(over(&Container::default(), &[path]), told);
        };
        case("/data", false);
        case("/mcp-assert", false);
        case("/mcp-assert/f", false);
        case("/mcp-assert/f/sub/", false);
        case("/mcp-assert/f/new", true);
        case("/mcp-assert/f/sub/new", true);
    }
}
