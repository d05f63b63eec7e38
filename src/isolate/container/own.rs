//! The image of this program: its executable, and the loader and libraries it asks for when it is not static.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use bollard::{body_try_stream, query_parameters::CreateImageOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::{
    bundle::{Bundle, Sealed},
    elf::{self, Executable},
    image::{Maker, ReadyImage, inspect},
    image_failure::{ImageError, image_error},
};

/// Where the program is in its image.
const PROGRAM: &str = "/usr/local/bin/mcp-assert";

/// Where its libraries are, when it has any.
const LIBRARIES: &str = "usr/local/lib/mcp-assert";

/// The name of the images, their tag is the digest of the files.
const REPOSITORY: &str = "mcp-assert/self";

/// How long the engine may say nothing while it takes the files.
const SILENCE: Duration = Duration::from_mins(3);

/// The image of this program.
pub(super) async fn own(maker: &Maker<'_>) -> Result<ReadyImage, ImageError> {
    let path = maker.environment.executable.clone();
    let packed = tokio::task::spawn_blocking(move || pack(&path)).await;
    let (sealed, machine) = packed.map_err(|error| ImageError::Own(error.to_string()))??;
    let platform = &maker.engine.facts.platform;
    if platform.split('/').nth(1) != Some(machine) {
        return Err(ImageError::Own(format!(
            "it is made for linux/{machine}, and the engine runs {platform}"
        )));
    }
    let name = format!("{REPOSITORY}:{}", sealed.digest);
    if let Some(image) = inspect(maker.engine, &name).await? {
        return Ok(image);
    }
    import(maker, &name, sealed).await?;
    let imported = inspect(maker.engine, &name).await?;
    imported.ok_or_else(|| ImageError::Own("the engine took it and lost it".to_owned()))
}

/// Sends the files as an image.
async fn import(maker: &Maker<'_>, name: &str, sealed: Sealed) -> Result<(), ImageError> {
    maker.tell(format!(
        "sending this program to the engine, {} MB",
        sealed.bytes / 1_000_000
    ));
    let (repository, tag) = name.split_once(':').unwrap_or((name, "latest"));
    let options = CreateImageOptionsBuilder::default()
        .from_src("-")
        .repo(repository)
        .tag(tag)
        .changes(vec![
            "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
            format!("ENV LD_LIBRARY_PATH=/{LIBRARIES}"),
            format!("ENTRYPOINT [\"{PROGRAM}\"]"),
        ])
        .build();
    let docker = &maker.engine.docker;
    let mut stream =
        docker.create_image(Some(options), Some(body_try_stream(sealed.stream())), None);
    loop {
        let next = timeout(SILENCE, stream.next());
        let next = next.await.map_err(|_| ImageError::Silent {
            what: "taking this program".to_owned(),
            after: SILENCE,
        })?;
        match next {
            None => return Ok(()),
            Some(Ok(_)) => {}
            Some(Err(error)) => return Err(image_error(name, &error, "", "")),
        }
    }
}

/// The files of the image, and the processor they are for.
fn pack(path: &Path) -> Result<(Sealed, &'static str), ImageError> {
    let failed = |error: io::Error| ImageError::Own(format!("`{}`: {error}", path.display()));
    // The file may have been replaced since we were started; Linux still knows ours.
    let running = Path::new("/proc/self/exe");
    let path = if running.exists() { running } else { path };
    let executable = elf::read(path).map_err(failed)?;
    let Some(Executable { machine, loader }) = executable else {
        return Err(ImageError::Own("it is no program for Linux".to_owned()));
    };
    let mut bundle = Bundle::new().map_err(failed)?;
    bundle.folder("tmp", 0o1777).map_err(failed)?;
    let mut add = |from: &Path, name: &str| {
        bundle
            .tree(from, Path::new(name.trim_start_matches('/')), &|_| true)
            .map_err(|unreadable| {
                ImageError::Own(format!(
                    "`{}`: {}",
                    unreadable.path.display(),
                    unreadable.error
                ))
            })
    };
    add(path, PROGRAM)?;
    if let Some(loader) = loader {
        for (name, library) in libraries(&loader, path).map_err(failed)? {
            add(&library, &format!("{LIBRARIES}/{name}"))?;
        }
        add(Path::new(&loader), &loader)?;
    }
    Ok((bundle.seal().map_err(failed)?, machine))
}

/// The libraries that the loader would load, by the names it looks for.
fn libraries(loader: &str, program: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let program = fs::canonicalize(program)?;
    let output = Command::new(loader)
        .arg("--list")
        .arg(program)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(io::Error::other(format!(
            "it is not static, and its loader does not tell its libraries: {said}"
        )));
    }
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The names and paths in lines such as `libc.so.6 => /lib/libc.so.6 (0x7f00)`.
fn listed(text: &str) -> Vec<(String, PathBuf)> {
    text.lines()
        .filter_map(|line| {
            let (name, rest) = line.trim().split_once(" => ")?;
            let path = rest.rsplit_once(" (").map_or(rest, |(path, _)| path);
            (path.starts_with('/') && !name.contains('/'))
                .then(|| (name.to_owned(), PathBuf::from(path)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn the_loaders_list_is_read() {
        let list = "\tlinux-vdso.so.1 (0x7ffe)\n\tlibgcc_s.so.1 => /lib/x/libgcc_s.so.1 (0x7f01)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x7f02)\n";
        let found = listed(list);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].0, "libgcc_s.so.1");
        assert_eq!(found[0].1.to_str(), Some("/lib/x/libgcc_s.so.1"));
    }
}
