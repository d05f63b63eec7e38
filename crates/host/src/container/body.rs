//! What the engine is asked for: one container, closed as far as the suite does not open it. Pure.

use std::{collections::HashMap, path::Path};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount as EngineMount,
    MountType, MountVolumeOptions,
};

use super::{
    image::ReadyImage,
    labels::Marks,
    sight::{Overlaid, clean},
};
use crate::launch::CommandLine;
use suite::model::container::{Container, MountSource};

/// Where the volume with the fixture is.
pub const FIXTURE_VOLUME: &str = "/mcp-assert";

/// The user of an image that names none: `nobody`.
pub(super) const NOBODY: &str = "65534:65534";

/// The memory of a container of which nothing is said, in bytes.
pub(super) const MEMORY: u64 = 512 * 1024 * 1024;
const PIDS: u64 = 256;

/// The folder in memory of a container of which nothing is said.
const TMP: &str = "/tmp";
const TMPFS: &str = "rw,exec,nosuid,nodev,mode=1777";

/// The words of a command line; `front` replaces the image's entry point and, with it, the image's command.
pub(crate) fn words(
    image: &ReadyImage,
    front: Option<Vec<String>>,
    (program, args): (Option<&str>, &[String]),
) -> Vec<String> {
    let usual = front.is_none().then_some(&image.command);
    let mut words = front.unwrap_or_else(|| image.entrypoint.clone());
    if program.is_none() && args.is_empty() {
        words.extend(usual.into_iter().flatten().cloned());
    }
    words.extend(program.map(str::to_owned));
    words.extend_from_slice(args);
    words
}

/// Whether the container has the volume for the fixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Volume {
    /// It has.
    Fixture,
    /// It has none.
    None,
}

/// The container as the engine is asked for it.
pub(super) fn of(
    container: &Container,
    image: &ReadyImage,
    command: &CommandLine,
    marks: &Marks,
    (volume, network): (Volume, Option<&str>),
) -> ContainerCreateBody {
    let words = command.words_in(container, image);
    let (program, arguments) = match words.split_first() {
        Some((program, arguments)) => (Some(program), arguments),
        None => (None, &[][..]),
    };
    ContainerCreateBody {
        image: Some(image.id.clone()),
        user: Some(user(container, image)),
        entrypoint: program.map(|program| vec![program.clone()]),
        cmd: program.map(|_| arguments.to_vec()),
        env: Some(env(container, command)),
        working_dir: Some(directory(container, image, command.directory.as_deref())),
        labels: Some(marks.labels.clone()),
        attach_stdin: Some(true),
        attach_stdout: Some(true),
        attach_stderr: Some(true),
        open_stdin: Some(true),
        stdin_once: Some(true),
        tty: Some(false),
        // An image's own checks would run beside the server, and show in nothing.
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        host_config: Some(host(container, (volume, network), marks)),
        ..ContainerCreateBody::default()
    }
}

/// The user that the server runs as.
pub(super) fn user(container: &Container, image: &ReadyImage) -> String {
    let own = container.user.clone().or_else(|| image.user.clone());
    own.unwrap_or_else(|| NOBODY.to_owned())
}

/// Of equal names the last one, `server.env` after `env_file`.
fn env(container: &Container, command: &CommandLine) -> Vec<String> {
    let mut all: Vec<(&str, &str)> = Vec::new();
    for (name, value) in container.env_file.iter().chain(&command.env) {
        all.retain(|(known, _)| known != name);
        all.push((name, value));
    }
    all.iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

fn host(
    container: &Container,
    (volume, network): (Volume, Option<&str>),
    marks: &Marks,
) -> HostConfig {
    let memory = signed(container.memory.unwrap_or(MEMORY));
    let pids = container.pids.unwrap_or(PIDS);
    HostConfig {
        network_mode: Some(
            (container.network.as_deref())
                .or(network)
                .unwrap_or("none")
                .to_owned(),
        ),
        memory: Some(memory),
        // As much as memory: no swap.
        memory_swap: Some(memory),
        nano_cpus: container.nano_cpus.map(signed),
        pids_limit: Some(if pids == 0 { -1 } else { signed(pids) }),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: (!container.cap_add.is_empty()).then(|| container.cap_add.clone()),
        security_opt: match container.new_privileges {
            Some(true) => None,
            Some(false) | None => Some(vec!["no-new-privileges:true".to_owned()]),
        },
        readonly_rootfs: Some(container.read_only.unwrap_or(true)),
        tmpfs: Some(tmpfs(container)),
        init: Some(container.init.unwrap_or(true)),
        log_config: Some(HostConfigLogConfig {
            typ: Some(
                container
                    .log_driver
                    .clone()
                    .unwrap_or_else(|| "none".to_owned()),
            ),
            config: None,
        }),
        auto_remove: Some(false),
        mounts: Some(mounts(container, volume, marks)),
        ..HostConfig::default()
    }
}

/// The folders in memory.
fn tmpfs(container: &Container) -> HashMap<String, String> {
    match &container.tmpfs {
        // Whatever is mounted there was asked for.
        None if container
            .mounts
            .iter()
            .any(|mount| clean(Path::new(&mount.target)) == Path::new(TMP)) =>
        {
            HashMap::new()
        }
        None => HashMap::from([(TMP.to_owned(), TMPFS.to_owned())]),
        Some(folders) => folders
            .iter()
            .map(|folder| {
                let options = if folder.options.is_empty() {
                    TMPFS
                } else {
                    &folder.options
                };
                (folder.path.clone(), options.to_owned())
            })
            .collect(),
    }
}

/// What lies over the image in the container.
pub(super) fn overlaid(container: &Container, image: &ReadyImage) -> Overlaid {
    let memory = tmpfs(container);
    let mounts = container.mounts.iter().map(|mount| mount.target.as_str());
    Overlaid::new(
        memory.keys().map(String::as_str),
        mounts.chain([FIXTURE_VOLUME]),
        image.volumes.iter().map(String::as_str),
    )
}

/// The directory a server starts in, where relative paths lead from: its `cwd`, else the container's, else the image's.
pub fn directory(container: &Container, image: &ReadyImage, own: Option<&Path>) -> String {
    let own = own.map(|own| own.display().to_string());
    let named = own.or_else(|| container.workdir.clone());
    let named = named.or_else(|| image.workdir.clone());
    named.unwrap_or_else(|| "/".to_owned())
}

fn mounts(container: &Container, volume: Volume, marks: &Marks) -> Vec<EngineMount> {
    let own = container.mounts.iter().map(|mount| {
        let (typ, source) = match &mount.source {
            MountSource::Path(path) => (MountType::BIND, path.display().to_string()),
            MountSource::Volume(name) => (MountType::VOLUME, name.clone()),
        };
        EngineMount {
            typ: Some(typ),
            source: Some(source),
            target: Some(mount.target.clone()),
            read_only: Some(!mount.writable),
            ..EngineMount::default()
        }
    });
    // Without a source the volume has no name and goes with its container.
    let fixture = EngineMount {
        typ: Some(MountType::VOLUME),
        target: Some(FIXTURE_VOLUME.to_owned()),
        volume_options: Some(MountVolumeOptions {
            labels: Some(marks.labels.clone()),
            ..MountVolumeOptions::default()
        }),
        ..EngineMount::default()
    };
    let fixture = match volume {
        Volume::Fixture => Some(fixture),
        Volume::None => None,
    };
    own.chain(fixture).collect()
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{CommandLine, Volume, directory, of};
    use crate::container::{image::ReadyImage, labels::RunName};
    use suite::model::container::{Container, Mount, MountSource, Tmpfs};
    use text::environment::Environment;

    fn image() -> ReadyImage {
        ReadyImage {
            id: "sha256:1".into(),
            digest: None,
            name: "server:1".into(),
            user: None,
            workdir: None,
            env: Vec::new(),
            entrypoint: Vec::new(),
            command: Vec::new(),
            volumes: Vec::new(),
            platform: "linux/amd64".into(),
        }
    }

    fn body(container: &Container, command: &CommandLine, volume: Volume) -> serde_json::Value {
        let marks = RunName::new(&Environment::default()).next("a::b");
        serde_json::to_value(of(container, &image(), command, &marks, (volume, None))).unwrap()
    }

    #[test]
    fn a_container_is_closed_unless_the_suite_opens_it() {
        let seen = body(&Container::default(), &CommandLine::default(), Volume::None);
        let host = &seen["HostConfig"];
        assert_eq!(seen["User"], "65534:65534");
        assert_eq!(seen.get("Cmd"), None, "the image's own command is started");
        assert_eq!(
            (&seen["OpenStdin"], &seen["StdinOnce"]),
            (&true.into(), &true.into())
        );
        assert_eq!(host["NetworkMode"], "none");
        assert_eq!(host["CapDrop"], serde_json::json!(["ALL"]));
        assert_eq!(
            host["SecurityOpt"],
            serde_json::json!(["no-new-privileges:true"])
        );
        assert_eq!(host["Memory"], host["MemorySwap"]);
        assert_eq!(host["PidsLimit"], 256);
        assert_eq!(host["ReadonlyRootfs"], true);
        assert_eq!(host["LogConfig"]["Type"], "none");
        assert_eq!(host["Mounts"], serde_json::json!([]));
        assert_eq!(seen["Env"], serde_json::json!([]));
    }

    #[test]
    fn a_command_stands_behind_the_entry_point_of_its_image() {
        let image = ReadyImage {
            entrypoint: vec!["wrap".into(), "-x".into()],
            command: vec!["usual".into()],
            ..image()
        };
        let case = |front: Option<&[&str]>, program: Option<&str>, args: &[&str], wanted: &str| {
            let own = |words: &[&str]| words.iter().map(|word| (*word).into()).collect();
            let container = Container {
                entrypoint: front.map(own),
                ..Container::default()
            };
            let command = CommandLine {
                program: program.unwrap_or_default().to_owned(),
                args: own(args),
                ..CommandLine::default()
            };
            assert_eq!(command.words_in(&container, &image).join(" "), wanted);
        };
        case(None, None, &[], "wrap -x usual");
        case(None, None, &["a"], "wrap -x a");
        case(None, Some("serve"), &["a"], "wrap -x serve a");
        case(Some(&[]), Some("serve"), &["a"], "serve a");
        case(Some(&["env", "A=1"]), Some("serve"), &[], "env A=1 serve");
        case(Some(&["own"]), None, &[], "own");
    }

    #[test]
    fn whatever_is_said_wins() {
        let container = Container {
            user: Some("node".into()),
            memory: Some(1 << 30),
            pids: Some(0),
            new_privileges: Some(true),
            env_file: vec![("A".into(), "file".into()), ("B".into(), "file".into())],
            tmpfs: Some(vec![Tmpfs {
                path: "/run".into(),
                options: "size=1m".into(),
            }]),
            mounts: vec![Mount {
                source: MountSource::Volume("cache".into()),
                target: "/cache".into(),
                writable: false,
            }],
            ..Container::default()
        };
        let command = CommandLine {
            program: "server".into(),
            env: vec![("A".into(), "own".into())],
            ..CommandLine::default()
        };
        let seen = body(&container, &command, Volume::Fixture);
        let host = &seen["HostConfig"];
        assert_eq!(seen["Entrypoint"], serde_json::json!(["server"]));
        assert_eq!(
            seen["Cmd"],
            serde_json::json!([]),
            "not the image's arguments"
        );
        assert_eq!(seen["Env"], serde_json::json!(["B=file", "A=own"]));
        assert_eq!(
            (&seen["User"], &host["PidsLimit"]),
            (&"node".into(), &(-1).into())
        );
        assert_eq!(host["Tmpfs"], serde_json::json!({"/run": "size=1m"}));
        assert_eq!(host.get("SecurityOpt"), None);
        assert_eq!(host["Mounts"][0]["ReadOnly"], true);
        assert_eq!(host["Mounts"][1]["Target"], "/mcp-assert");
        assert_eq!(host["Mounts"][1].get("Source"), None);
    }

    #[test]
    fn what_is_mounted_at_tmp_is_not_hidden_by_the_folder_in_memory() {
        let tmpfs = |target: &str| {
            let container = Container {
                mounts: vec![Mount {
                    source: MountSource::Volume("cache".into()),
                    target: target.into(),
                    writable: false,
                }],
                ..Container::default()
            };
            body(&container, &CommandLine::default(), Volume::None)["HostConfig"]["Tmpfs"].clone()
        };
        assert_eq!(tmpfs("/tmp/"), serde_json::json!({}));
        assert!(tmpfs("/tmp/x").get("/tmp").is_some());
        assert!(tmpfs("/tmpx").get("/tmp").is_some());
    }

    #[test]
    fn a_server_starts_where_its_own_line_says_first() {
        let mut container = Container {
            workdir: Some("/container".into()),
            ..Container::default()
        };
        let mut image = image();
        image.workdir = Some("/image".into());
        assert_eq!(
            directory(&container, &image, Some(Path::new("/own"))),
            "/own"
        );
        assert_eq!(directory(&container, &image, None), "/container");
        container.workdir = None;
        assert_eq!(directory(&container, &image, None), "/image");
        image.workdir = None;
        assert_eq!(directory(&container, &image, None), "/");
    }
}
