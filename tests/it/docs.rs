//! The pages for users say what is so: their console blocks are run, in order, in one throw-away folder for each
//! page, and their YAML blocks are valid suites.
//!
//! A `yaml` block that begins with a comment holding a path is written to that path. In a `console` block, a line
//! `$ command` is run by `sh` with the binary on `PATH`, and the lines after it are what it prints (standard output
//! and standard error); a line `...` stands for any lines. Times are not compared. A command that fails must be
//! followed by `$ echo $?`. A `console engine` block is left out where no container engine answers. With
//! `UPDATE_DOCS=1` the printed lines are written anew.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{
    engine::engine,
    harness::{BINARY, Project, mask},
};

/// A page, cut at its fences.
enum Part {
    /// What stands between blocks, fences included.
    Prose(String),
    /// A `console` block after its fence, whose commands print the lines below them.
    Console(&'static str, String),
    /// A `yaml` block.
    Yaml(String),
}

/// How a block of commands begins.
const CONSOLE: &str = "```console";

/// The same where the commands need a container engine.
const CONTAINED: &str = "```console engine";

/// Cuts a page.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = vec![Part::Prose(String::new())];
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        match line {
            CONSOLE => parts.push(Part::Console(CONSOLE, block(&mut lines))),
            CONTAINED => parts.push(Part::Console(CONTAINED, block(&mut lines))),
            "```yaml" => parts.push(Part::Yaml(block(&mut lines))),
            _ => {
                if !matches!(parts.last(), Some(Part::Prose(_))) {
                    parts.push(Part::Prose(String::new()));
                }
                if let Some(Part::Prose(text)) = parts.last_mut() {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
    }
    parts
}

/// The lines up to the end of a block.
fn block(lines: &mut std::str::Lines<'_>) -> String {
    lines
        .take_while(|line| *line != "```")
        .fold(String::new(), |text, line| text + line + "\n")
}

/// The commands of a block.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            commands.push((command.to_owned(), String::new()));
        } else {
            let (_, printed) = commands.last_mut().expect("a console block begins with $");
            printed.push_str(line);
            printed.push('\n');
        }
    }
    commands
}

/// Runs a command; what it printed and its exit code. `before` is the exit code of the one before it.
fn run(project: &Project, command: &str, before: i32) -> (String, i32) {
    let folder = Path::new(BINARY).parent().unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(
        std::iter::once(folder.to_owned()).chain(std::env::split_paths(&rest)),
    )
    .unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; (exit {before}); {command}")])
        .current_dir(project.path())
        .env_clear()
        .env("PATH", path)
        .env("HOME", project.path())
        .envs(std::env::var_os("DOCKER_HOST").map(|host| ("DOCKER_HOST", host)))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let text = text.replace(&project.path().display().to_string(), "/home/you/project");
    (text, output.status.code().unwrap_or(-1))
}

/// Whether the lines are those wanted; `...` stands for any lines.
fn alike(wanted: &[&str], seen: &[&str]) -> bool {
    match (wanted, seen) {
        ([], []) => true,
        (["...", rest @ ..], _) => (0..=seen.len()).any(|skipped| alike(rest, &seen[skipped..])),
        ([first, rest @ ..], [line, more @ ..]) => first == line && alike(rest, more),
        ([_, ..], []) | ([], [_, ..]) => false,
    }
}

/// Without what differs between machines: how many cores there are, and which phases took long enough to be told, if
/// any did.
fn everywhere(text: &str) -> String {
    let jobs = regex::Regex::new(r"\(\d+ jobs?\)").unwrap();
    let phases = regex::Regex::new(r"(?m)^  (?:phases|reached) +(?:.*; reached )?(\w+)$").unwrap();
    let text = phases.replace_all(text, "  phases    [HERE]; reached $1");
    jobs.replace_all(&text, "[HERE]").into_owned()
}

/// A run in which no phase took a millisecond tells only which was the last.
#[test]
fn a_page_holds_however_long_the_phases_take() {
    let slow = "  phases    place 1.7 ms; reached start\n\n1 error in 0.00s (2 jobs)\n";
    let quick = "  reached   start\n\n1 error in 0.00s (8 jobs)\n";
    assert_eq!(everywhere(slow), everywhere(quick));
    assert_ne!(
        everywhere(slow),
        everywhere(&quick.replace("start", "subject"))
    );
}

/// The path in the comment a YAML block begins with.
fn file_of(block: &str) -> Option<&str> {
    let comment = block.lines().next()?.strip_prefix("# ")?;
    (Path::new(comment).extension()? == "yaml" && !comment.contains(' ')).then_some(comment)
}

/// Runs a page and compares it, or writes it anew.
fn holds(page: &str) {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut project = Project::new();
    let (mut fresh, mut wrong) = (String::new(), String::new());
    for part in parts(&text) {
        match part {
            Part::Prose(text) => fresh.push_str(&text),
            Part::Yaml(block) => {
                let path = file_of(&block).unwrap_or_else(|| panic!("{page}: no path:\n{block}"));
                project = project.file(path, &block);
                let ran = project.run(&["validate", path]);
                // A settings file alone is valid and holds no assertion.
                if !matches!(ran.code, 0 | 4) {
                    let (shown, complaints) = (ran.shown(), ran.complaints());
                    writeln!(wrong, "{page}: {path}: {shown}{complaints}").unwrap();
                }
                write!(fresh, "```yaml\n{block}```\n").unwrap();
            }
            Part::Console(CONTAINED, block) if !engine() => {
                write!(fresh, "{CONTAINED}\n{block}```\n").unwrap();
            }
            Part::Console(fence, block) => {
                writeln!(fresh, "{fence}").unwrap();
                let (mut code, mut silent) = (0, false);
                for (command, wanted) in commands(&block) {
                    let asks = command == "echo $?";
                    if silent && !asks {
                        writeln!(wrong, "{page}: before `{command}`: exit code {code}").unwrap();
                    }
                    let (printed, ended) = run(&project, &command, code);
                    (code, silent) = (ended, ended != 0);
                    let masked = |text: &str| everywhere(&mask(text, project.path()));
                    let (left, right) = (masked(&wanted), masked(&printed));
                    let as_before = alike(
                        &left.lines().collect::<Vec<_>>(),
                        &right.lines().collect::<Vec<_>>(),
                    );
                    if !as_before {
                        writeln!(wrong, "{page}: $ {command}\n{printed}\n-- not --\n{wanted}")
                            .unwrap();
                    }
                    let shown = if as_before { wanted } else { printed };
                    write!(fresh, "$ {command}\n{shown}").unwrap();
                }
                if silent {
                    writeln!(wrong, "{page}: the last command ends with {code}").unwrap();
                }
                fresh.push_str("```\n");
            }
        }
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, fresh).unwrap();
    }
    assert!(
        wrong.is_empty(),
        "{wrong}\nUPDATE_DOCS=1 writes the page anew"
    );
}

#[test]
fn the_guide_holds() {
    holds("docs/guide.md");
}

#[test]
fn the_page_of_containers_holds() {
    holds("docs/containers.md");
}

#[test]
fn the_readme_holds() {
    holds("README.md");
}

#[test]
fn links_lead_to_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let link = regex::Regex::new(r"\]\(([^)#:]+)(#[^)]*)?\)").unwrap();
    for page in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "docs/guide.md",
        "docs/security.md",
        "docs/compat.md",
        "docs/github-action.md",
        "docs/gitlab.md",
        "docs/containers.md",
    ] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        for found in link.captures_iter(&text) {
            let target = root.join(page).parent().unwrap().join(&found[1]);
            assert!(target.exists(), "{page} leads to {}", &found[1]);
        }
    }
}
