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
    engine::EngineKind,
    image::{Maker, ReadyImage, inspect},
    refusal::Failure,
    unfinished,
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
pub(super) async fn own(maker: &Maker<'_>) -> Result<ReadyImage, Failure> {
    let path = maker.environment.program.clone();
    let packed = tokio::task::spawn_blocking(move || pack(&path)).await;
    let (sealed, loader) = packed.map_err(Failure::own)??;
    let machine = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = &maker.engine.facts.platform;
    if platform.split('/').nth(1) != Some(machine) {
        return Err(Failure::own(format!(
            "it is made for linux/{machine}, and the engine runs {platform}"
        )));
    }
    let name = format!("{REPOSITORY}:{}", sealed.digest);
    let entrypoint = entrypoint(loader);
    let started = |image: ReadyImage| match maker.engine.facts.kind {
        EngineKind::Docker => image,
        EngineKind::Podman => ReadyImage {
            entrypoint,
            ..image
        },
    };
    if let Some(image) = inspect(maker.engine, &name).await? {
        return Ok(started(image));
    }
    // Under a name of our own first: of two runs at once the second would take the name from the image of the first.
    let own = unfinished::tag(&maker.run.job());
    let digest = sealed.digest.clone();
    let id = import(maker, &own, sealed).await?;
    let building = format!("{}:{own}", unfinished::REPOSITORY);
    if inspect(maker.engine, &name).await?.is_none() {
        let imported = id.as_ref().unwrap_or(&building);
        unfinished::name(maker.engine, imported, REPOSITORY, &digest).await;
    }
    // What stays now is found by the next run.
    let _ = unfinished::delete(maker.engine, &building).await;
    let imported = inspect(maker.engine, &name).await?;
    imported
        .map(started)
        .ok_or_else(|| Failure::own("the engine took it and lost it"))
}

/// What starts the program where the image itself cannot say it.
fn entrypoint(loader: Option<String>) -> Vec<String> {
    let program = PROGRAM.to_owned();
    match loader {
        Some(loader) => {
            let libraries = format!("/{LIBRARIES}");
            vec![loader, "--library-path".to_owned(), libraries, program]
        }
        None => vec![program],
    }
}

/// Sends the files as an image; its id, where the engine tells it.
async fn import(maker: &Maker<'_>, tag: &str, sealed: Sealed) -> Result<Option<String>, Failure> {
    maker.tell(format!(
        "sending this program to the engine, {} MB",
        sealed.bytes / 1_000_000
    ));
    let options = CreateImageOptionsBuilder::default().from_src("-");
    let options = match maker.engine.facts.kind {
        EngineKind::Docker => options.repo(unfinished::REPOSITORY).tag(tag).changes(vec![
            "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".to_owned(),
            format!("ENV LD_LIBRARY_PATH=/{LIBRARIES}"),
            format!("ENTRYPOINT [\"{PROGRAM}\"]"),
        ]),
        // It takes no tag here, and of several changes makes a single wrong one.
        EngineKind::Podman => options,
    };
    let options = options.build();
    let docker = &maker.engine.docker;
    let mut stream =
        docker.create_image(Some(options), Some(body_try_stream(sealed.stream())), None);
    let mut id = None;
    loop {
        let next = timeout(SILENCE, stream.next());
        let next = next.await.map_err(|_| Failure::Silent {
            what: "taking this program".to_owned(),
            after: SILENCE,
        })?;
        match next {
            None => return Ok(id),
            Some(Ok(told)) => {
                let status = told.status.filter(|status| status.starts_with("sha256:"));
                id = status.or(id);
            }
            Some(Err(error)) => return Err(Failure::of_image(REPOSITORY, &error)),
        }
    }
}

/// Collects the files of the image; with what loads the program, when it is not static.
fn pack(path: &Path) -> Result<(Sealed, Option<String>), Failure> {
    let failed = |error: io::Error| Failure::own(format!("`{}`: {error}", path.display()));
    if !cfg!(target_os = "linux") {
        return Err(Failure::own("it is no program for Linux"));
    }
    let (loader, libraries) = linked(path).map_err(failed)?;
    let mut bundle = Bundle::new().map_err(failed)?;
    bundle.folder("tmp", 0o1777).map_err(failed)?;
    let mut add = |from: &Path, name: &str| {
        bundle
            .tree(from, Path::new(name.trim_start_matches('/')), &|_| true)
            .map_err(|(path, error)| Failure::own(format!("`{}`: {error}", path.display())))
    };
    add(path, PROGRAM)?;
    for (name, library) in libraries {
        add(&library, &format!("{LIBRARIES}/{name}"))?;
    }
    if let Some(loader) = &loader {
        add(Path::new(loader), loader)?;
    }
    Ok((bundle.seal().map_err(failed)?, loader))
}

/// The loader of a program that is not static, and its libraries by name.
type Linked = (Option<String>, Vec<(String, PathBuf)>);

/// What this program is loaded with, as `ldd` tells it.
fn linked(program: &Path) -> io::Result<Linked> {
    if cfg!(target_feature = "crt-static") {
        return Ok(Linked::default());
    }
    let output = Command::new("ldd")
        .arg(fs::canonicalize(program)?)
        .stdin(Stdio::null())
        .output()?;
    let linked = listed(&String::from_utf8_lossy(&output.stdout));
    if output.status.success() && linked.0.is_some() {
        return Ok(linked);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!(
        "it is not static, and `ldd` does not tell its libraries: {said}"
    )))
}

/// Reads lines such as `libc.so.6 => /lib/libc.so.6 (0x7f00)` and `/lib64/ld-linux-x86-64.so.2 (0x7f02)`.
fn listed(text: &str) -> Linked {
    let (mut loader, mut libraries) = Linked::default();
    for line in text.lines() {
        let line = line.trim();
        let line = line.rsplit_once(" (").map_or(line, |(front, _)| front);
        match line.split_once(" => ") {
            Some((name, path)) if path.starts_with('/') && !name.contains('/') => {
                libraries.push((name.to_owned(), PathBuf::from(path)));
            }
            None if line.starts_with('/') => loader = Some(line.to_owned()),
            Some(_) | None => {}
        }
    }
    (loader, libraries)
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn the_list_of_libraries_is_read() {
        let list = "\tlinux-vdso.so.1 (0x7ffe)\n\tlibgcc_s.so.1 => /lib/x/libgcc_s.so.1 (0x7f01)\n\
                    \tlibgone.so => not found\n\t/lib64/ld-linux-x86-64.so.2 (0x7f02)\n";
        let found = listed(list);
        assert_eq!(
            found.1,
            [("libgcc_s.so.1".into(), "/lib/x/libgcc_s.so.1".into())]
        );
        assert_eq!(found.0.as_deref(), Some("/lib64/ld-linux-x86-64.so.2"));
    }
}
