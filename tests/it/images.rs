//! Images on a real engine.

use std::path::Path;

use crate::{
    engine::{Tag, docker, docker_says, engine, there},
    harness::{Project, until},
    registry::{Manner, Registry},
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_static_binary_runs_in_an_image_of_nothing_else() {
    let built = root()
        .join("dist/rootfs/usr/local/bin/mcp-assert-action")
        .exists();
    if !engine() || !there(built, "dist/rootfs is not there: run scripts/rootfs") {
        return;
    }
    let tag = Tag::new("action");
    let scratch = [
        "build",
        "--target",
        "prebuilt",
        "--build-arg",
        "BASE=scratch",
    ];
    docker_says(root(), &[&scratch[..], &["--tag", &tag.0, "."]].concat());
    let alone = [
        "run",
        "--rm",
        "--network",
        "none",
        "--read-only",
        "--entrypoint",
        "/usr/local/bin/mcp-assert",
        &tag.0,
    ];
    let version = docker_says(root(), &[&alone[..], &["--version"]].concat());
    let ours = format!("mcp-assert {} (", env!("CARGO_PKG_VERSION"));
    let rest = version
        .strip_prefix(&ours)
        .unwrap_or_else(|| panic!("{version}"));
    if root().join(".git").exists() {
        let (commit, _) = rest
            .split_once(", MCP ")
            .unwrap_or_else(|| panic!("{version}"));
        let commit = commit.strip_suffix("-dirty").unwrap_or(commit);
        let hexadecimal = commit.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert!(commit.len() == 12 && hexadecimal, "{version}");
    }
    // Nothing but the binary and its names: no shell, no loader.
    let files = docker_says(
        root(),
        &[
            "image",
            "inspect",
            "--format",
            "{{len .RootFS.Layers}}",
            &tag.0,
        ],
    );
    assert_eq!(files, "1");
}

/// A suite of one assertion whose server is in this container.
fn project(docker: &str) -> Project {
    Project::with_suite(&format!(
        "name: one\nassert: {{tool: echo, args: {{}}}}\nserver:\n  command: /no/such/server\n  docker: {docker}\n"
    ))
}

/// What is said of it.
fn said(project: &Project) -> String {
    let ran = project.run(&["run", "--suite", "evals"]);
    format!("{}{}", ran.stdout, ran.stderr)
}

/// The Python image of the tests.
fn python() -> bool {
    let check = std::process::Command::new(root().join("scripts/images"))
        .arg("--check")
        .status();
    engine()
        && there(
            check.is_ok_and(|status| status.success()),
            "the images of the tests are not there: run scripts/images",
        )
}

/// Removes images whose names begin so.
fn forget(name: &str) {
    let format = ["images", "--format", "{{.Repository}}:{{.Tag}}", name];
    for image in docker_says(root(), &format).lines() {
        docker(root(), &["rmi", "--force", image]);
    }
}

fn has(image: &str) -> bool {
    docker(root(), &["image", "inspect", image])
        .status
        .success()
}

/// The names of the containers that prepare images.
fn workshops() -> String {
    let names = [
        "ps",
        "--all",
        "--format",
        "{{.Names}}",
        "--filter",
        "name=mcp-assert-prepare-",
    ];
    docker_says(root(), &names)
}

#[test]
fn an_image_that_cannot_be_had_says_why_and_what_to_do() {
    if !python() {
        return;
    }
    let case = |docker: &str, message: &str, help: &str| {
        let said = said(&project(docker));
        assert!(said.contains(message), "{docker}: {said}");
        assert!(said.contains(help), "{docker}: {said}");
    };
    case(
        "{image: no-such-image:1, pull: never}",
        "the engine has no image `no-such-image:1`, and `pull: never` forbids to pull it",
        "`docker pull no-such-image:1` first",
    );
    case(
        "UPPER:1",
        "the image `UPPER:1` cannot be used",
        "repository name must be lowercase",
    );
    case(
        "{image: mcp-assert-test/python, platform: linux/s390x, pull: never}",
        "the image `mcp-assert-test/python` is linux/",
        "ask for another with `platform:`",
    );
    case(
        "{build: no-such-folder}",
        "no-such-folder` cannot be used: No such file",
        "relative to the YAML file",
    );
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    case(
        &format!("{nobody}/x:1"),
        &format!("the registry of the image `{nobody}/x:1` cannot be reached"),
        "the engine pulls, not we",
    );
}

#[test]
fn nightly_refusals_of_registries_are_told_apart() {
    if !engine() {
        return;
    }
    let open = Registry::start(Manner::Open, "open");
    let said_of =
        |registry: &Registry, name: &str| said(&project(&format!("{}/{name}", registry.address)));
    let unknown = said_of(&open, "x:2");
    assert!(unknown.contains("x:2` was not found"), "{unknown}");
    let limited = Registry::start(Manner::Limited, "limited");
    let limit = said_of(&limited, "x:1");
    assert!(limit.contains("limit of pulls is used up"), "{limit}");
    let guarded = Registry::start(Manner::Guarded, "guarded");
    let denied = said_of(&guarded, "x:1");
    assert!(denied.contains("refused to give the image"), "{denied}");
    assert!(
        denied.contains(&format!("docker login {}", guarded.address)),
        "{denied}"
    );
    assert!(denied.contains("no credentials were sent"), "{denied}");
}

#[test]
fn nightly_images_are_pulled_when_the_suite_says_so() {
    if !engine() {
        return;
    }
    let registry = Registry::start(Manner::Open, "pulled");
    let name = Tag(format!("{}/x:1", registry.address));
    let asked = || {
        let requests = registry.requests.lock().unwrap();
        requests
            .iter()
            .filter(|path| path.contains("manifests"))
            .count()
    };
    said(&project(&format!("{{image: '{}', pull: never}}", name.0)));
    assert_eq!(asked(), 0);
    let first = said(&project(&name.0));
    assert!(
        first.contains(&format!("note: pulling `{}`", name.0)),
        "{first}"
    );
    assert!(has(&name.0), "{first}");
    let once = asked();
    said(&project(&name.0));
    assert_eq!(asked(), once, "it is there");
    said(&project(&format!("{{image: '{}', pull: always}}", name.0)));
    assert!(asked() > once, "the registry is asked again");
}

#[test]
fn nightly_credentials_come_from_dockers_configuration() {
    if !engine() {
        return;
    }
    let registry = Registry::start(Manner::Guarded, "guarded");
    let name = Tag(format!("{}/x:1", registry.address));
    let folder = project(&name.0);
    let run = |config: &str| {
        let home = folder.path().join("config");
        std::fs::create_dir_all(&home).unwrap();
        std::fs::write(home.join("config.json"), config).unwrap();
        let mut command = folder.command(&["run", "--suite", "evals"]);
        let path = std::env::join_paths(
            std::iter::once(folder.path().to_owned())
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        command
            .env("DOCKER_CONFIG", &home)
            .env("PATH", path.unwrap());
        let ran = folder.finish(command);
        format!("{}{}", ran.stdout, ran.stderr)
    };
    let wrong = run(&format!(
        r#"{{"auths": {{"{}": {{"auth": "YWRhOndyb25n"}}}}}}"#,
        registry.address
    ));
    assert!(wrong.contains("refused to give the image"), "{wrong}");
    assert!(
        !wrong.contains("YWRhOndyb25n") && !wrong.contains("ada:wrong"),
        "{wrong}"
    );
    let program = folder.path().join("docker-credential-kept");
    let script = "#!/bin/sh\necho '{\"Username\": \"ada\", \"Secret\": \"opensesame\"}'\n";
    std::fs::write(&program, script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    let right = run(&format!(
        r#"{{"credHelpers": {{"{}": "kept"}}}}"#,
        registry.address
    ));
    assert!(has(&name.0), "{right}");
    assert!(!right.contains("opensesame"), "{right}");
}

#[test]
fn nightly_a_registry_that_breaks_down_is_tried_again() {
    if !engine() {
        return;
    }
    let registry = Registry::start(Manner::Shaky, "shaky");
    let name = Tag(format!("{}/x:1", registry.address));
    let said = said(&project(&name.0));
    assert!(has(&name.0), "{said}");
}

#[test]
fn nightly_a_folder_is_built_without_what_dockerignore_names() {
    if !python() {
        return;
    }
    let dockerfile = "FROM mcp-assert-test/python\nCOPY . /app\n\
                      RUN test -e /app/in/kept && test ! -e /app/secret && test ! -e /app/in/secret\n\
                      ARG WORD=none\nRUN test $WORD = given\n";
    let project = project("{build: {context: ../app, args: {WORD: given}}}")
        .file("app/Dockerfile", dockerfile)
        .file("app/.dockerignore", "**/secret\nDockerfile\n")
        .file("app/in/kept", "")
        .file("app/in/secret", "")
        .file("app/secret", "");
    let said = said(&project);
    let images = ["images", "--quiet", "mcp-assert/built"];
    assert!(!docker_says(root(), &images).is_empty(), "{said}");
    assert!(!said.contains("Dockerfile:"), "{said}");
    forget("mcp-assert/built");
}

#[test]
fn nightly_a_build_that_fails_names_its_step_and_shows_its_output() {
    if !python() {
        return;
    }
    let dockerfile = "FROM mcp-assert-test/python\n# a comment\nRUN echo one \\\n  && echo two\n\
                      RUN echo 'this is why'; exit 3\n";
    let broken = project("{build: ../app}").file("app/Dockerfile", dockerfile);
    let shown = said(&broken);
    assert!(
        shown.contains("app/Dockerfile`: `Step 3/4 : RUN echo 'this is why'; exit 3`"),
        "{shown}"
    );
    assert!(shown.contains("| this is why"), "{shown}");
    assert!(shown.contains("non-zero code: 3"), "{shown}");
    let nonsense =
        project("{build: ../app/Dockerfile}").file("app/Dockerfile", "FROM scratch\nRUNN x\n");
    let shown = said(&nonsense);
    assert!(shown.contains("unknown instruction: RUNN"), "{shown}");
    assert!(
        shown.contains("`DOCKER_BUILDKIT=0 docker build`"),
        "{shown}"
    );
}

#[test]
fn nightly_what_the_engines_builder_does_not_understand_is_told_with_another_way() {
    if !python() {
        return;
    }
    let case = |line: &str| {
        let dockerfile = format!("FROM mcp-assert-test/python\n{line}\n");
        let project = project("{build: ../app}").file("app/Dockerfile", dockerfile);
        let shown = said(&project);
        let wanted = "what only BuildKit understands (`RUN --mount`, `COPY --chmod`, heredocs) build yourself";
        assert!(shown.contains(wanted), "{line}: {shown}");
    };
    case("RUN --mount=type=cache,target=/x true");
    case("COPY --chmod=755 Dockerfile /x");
    case("RUN <<END\necho hi\nEND");
}

#[test]
fn nightly_a_line_of_prepare_that_fails_is_shown_with_its_output() {
    if !python() {
        return;
    }
    let shown = {
        let lines = "{image: mcp-assert-test/python, prepare: {env: [TOKEN], run: [\
                     'cd /opt; echo before', 'echo \"the token is $TOKEN in $PWD\"; exit 4', 'echo after']}}";
        let project = project(lines);
        let mut command = project.command(&["run", "--suite", "evals"]);
        command.env("TOKEN", "s3cret-of-ours");
        let ran = project.finish(command);
        ran.stdout + &ran.stderr
    };
    assert!(shown.contains("ended with exit code 4"), "{shown}");
    assert!(shown.contains("| the token is *** in /opt"), "{shown}");
    for absent in ["s3cret-of-ours", "| after", "lacks the program"] {
        assert!(!shown.contains(absent), "{absent}: {shown}");
    }
    let missing = said(&project(
        "{image: mcp-assert-test/python, prepare: [no-such-program]}",
    ));
    assert!(missing.contains("the image lacks the program"), "{missing}");
    let early = said(&project(
        "{image: mcp-assert-test/python, prepare: ['exit 0', 'echo no']}",
    ));
    assert!(early.contains("ended the shell"), "{early}");
    let late = said(&project(
        "{image: mcp-assert-test/python, prepare: {run: ['echo begun; sleep 60'], timeout: 2s}}",
    ));
    assert!(
        late.contains("did not end within 2 s") && late.contains("| begun"),
        "{late}"
    );
    let nowhere = said(&project(
        "{image: mcp-assert-test/python, prepare: {run: ['true'], network: no-such}}",
    ));
    assert!(nowhere.contains("network no-such not found"), "{nowhere}");
    let nothing =
        project("{image: mcp-assert-test/python, prepare: {run: ['true'], copy: {no-such: /x}}}");
    let nothing = said(&nothing);
    assert!(nothing.contains("no-such` cannot be used"), "{nothing}");
}

#[test]
fn nightly_an_image_is_prepared_once_even_by_two_runs_at_once() {
    if !python() {
        return;
    }
    let word = format!("once-{}", std::process::id());
    let place =
        format!("{{image: mcp-assert-test/python, prepare: ['sleep 1; echo {word} > /{word}']}}");
    let (one, two) = (project(&place), project(&place));
    let texts = std::thread::scope(|scope| {
        let runs = [scope.spawn(|| said(&one)), scope.spawn(|| said(&two))];
        runs.map(|run| run.join().unwrap())
    });
    for text in &texts {
        assert!(!text.contains("`prepare` in"), "{text}");
    }
    let again = said(&project(&place));
    assert!(!again.contains("note: preparing"), "{again}");
    let ran = one.run(&["run", "--suite", "evals", "--rebuild"]);
    assert!(ran.stderr.contains("note: preparing"), "{}", ran.stderr);
    // The one that was made, found by what is in it, and nothing of how it was made.
    let images = docker_says(root(), &["images", "--quiet", "mcp-assert/prepared"]);
    let found: Vec<&str> = images
        .lines()
        .filter(|image| {
            let cat = [
                "run",
                "--rm",
                "--network",
                "none",
                image,
                "cat",
                &format!("/{word}"),
            ];
            docker(root(), &cat).status.success()
        })
        .collect();
    assert_eq!(found.len(), 1, "{images}");
    docker(root(), &["rmi", "--force", found[0]]);
}

/// A run in the middle of a preparation that would take long.
fn preparing(word: &str) -> (Project, std::process::Child) {
    let project = project(&format!(
        "{{image: mcp-assert-test/python, prepare: ['echo {word}', 'sleep 120']}}"
    ));
    let mut command = project.command(&["run", "--suite", "evals"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    (project, child)
}

#[test]
fn an_interrupted_preparation_leaves_nothing() {
    if !python() {
        return;
    }
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let before = workshops();
        let word = format!("interrupted-{}-{}", std::process::id(), signal.as_raw());
        let (_project, mut child) = preparing(&word);
        let mine = || {
            let all = workshops();
            let new = all.lines().find(|name| !before.contains(*name));
            new.map(str::to_owned)
        };
        until("the preparation begins", || mine().is_some());
        let name = mine().unwrap();
        until("its container runs", || {
            let state = docker(
                root(),
                &["inspect", "--format", "{{.State.Running}}", &name],
            );
            state.stdout.starts_with(b"true")
        });
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        child.wait().unwrap();
        if signal == rustix::process::Signal::INT {
            assert!(
                !workshops().contains(&name),
                "it is gone before the run ends"
            );
        }
        until("its container goes", || !workshops().contains(&name));
        let history = docker_says(root(), &["images", "--quiet", "mcp-assert/prepared"]);
        for image in history.lines() {
            let lines = docker_says(root(), &["inspect", "--format", "{{.Config.Cmd}}", image]);
            assert!(!lines.contains(&word), "{lines}");
        }
    }
}
