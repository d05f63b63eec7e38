//! The pages for users say what is so: their console blocks are run, in order, in one throw-away folder for each
//! page, and their YAML blocks are valid suites.
//!
//! A `yaml` or `python` block begins with a comment that holds a path, and is written there. In a `console` block, a
//! line `$ command` is run by `sh` with the binary on `PATH`, and the lines after it are what it prints (standard
//! output and standard error); a line `...` stands for any lines. Times are not compared. A command that fails must be
//! followed by `$ echo $?`. A `console engine` block is left out where no container engine answers, a `console npm`
//! block where `scripts/servers` has not been run. With `UPDATE_DOCS=1` the printed lines are written anew.

use std::{
    fmt::Write as _,
    path::Path,
    process::{Command, Stdio},
};

use crate::{
    engine::engine,
    harness::{BINARY, Project, mask},
    published_servers,
};

/// A page, cut at its fences.
enum Part {
    /// The text between blocks, fences included.
    Prose(String),
    /// A `console` block after its fence, whose commands print the lines below them.
    Console(&'static str, String),
    /// A block after its fence that is written to a file.
    File(&'static str, String),
}

/// The fences of commands: for every machine, for those with a container engine, for those with the published servers.
const CONSOLES: [&str; 3] = ["```console", "```console engine", "```console npm"];

/// The fences of files.
const FILES: [&str; 2] = ["```yaml", "```python"];

/// Cuts a page.
fn parts(page: &str) -> Vec<Part> {
    let mut parts = vec![Part::Prose(String::new())];
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(fence) = CONSOLES.into_iter().find(|fence| *fence == line) {
            parts.push(Part::Console(fence, block(&mut lines)));
        } else if let Some(fence) = FILES.into_iter().find(|fence| *fence == line) {
            parts.push(Part::File(fence, block(&mut lines)));
        } else {
            if !matches!(parts.last(), Some(Part::Prose(_))) {
                parts.push(Part::Prose(String::new()));
            }
            if let Some(Part::Prose(text)) = parts.last_mut() {
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    parts
}

/// Whether the commands below this fence can run on this machine.
fn can_run(fence: &str) -> bool {
    match fence.rsplit(' ').next() {
        Some("engine") => engine(),
        Some("npm") => published_servers::installed(),
        _ => true,
    }
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
        .env("npm_config_offline", "true")
        .env("npm_config_update_notifier", "false")
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

/// Removes machine-dependent parts: core counts, and phases that took long enough to be shown.
fn everywhere(text: &str) -> String {
    let jobs = regex::Regex::new(r"\(\d+ jobs?\)").unwrap();
    let phases = regex::Regex::new(r"(?m)^  (?:phases|reached) +(?:.*; reached )?(\w+)$").unwrap();
    let text = phases.replace_all(text, "  phases    [HERE]; reached $1");
    // A busy machine is slower than the page.
    let slower = regex::Regex::new(r"(?m)^Slower \(\d+\):\n(?:  .*\n)+\n").unwrap();
    let text = slower.replace_all(&text, "");
    jobs.replace_all(&text, "[HERE]").into_owned()
}

/// If no phase took a millisecond, only the last is shown.
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

/// The path in the comment that a block begins with.
fn file_of(block: &str) -> Option<&str> {
    let comment = block.lines().next()?.strip_prefix("# ")?;
    (Path::new(comment).extension().is_some() && !comment.contains(' ')).then_some(comment)
}

/// What is wrong with a suite. A settings file alone is valid and holds no assertion.
fn invalid(project: &Project, path: &str) -> Option<String> {
    let ran = project.run(&["validate", path]);
    let valid = matches!(ran.code, 0 | 4);
    (!valid).then(|| format!("{path}: {}{}", ran.shown(), ran.complaints()))
}

/// Lets `npx` find the published servers without a download.
fn with_servers(project: &Project) {
    let servers = root().join("target/servers/node_modules");
    std::os::unix::fs::symlink(servers, project.path().join("node_modules")).unwrap();
}

/// Runs a page and compares it, or writes it anew.
fn holds(page: &str) {
    let file = root().join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let mut project = Project::new();
    with_servers(&project);
    let (mut fresh, mut wrong) = (String::new(), String::new());
    for part in parts(&text) {
        match part {
            Part::Prose(text) => fresh.push_str(&text),
            Part::File(fence, block) => {
                let path = file_of(&block).unwrap_or_else(|| panic!("{page}: no path:\n{block}"));
                project = project.file(path, &block);
                if let Some(complaint) = (fence == "```yaml")
                    .then(|| invalid(&project, path))
                    .flatten()
                {
                    writeln!(wrong, "{page}: {complaint}").unwrap();
                }
                write!(fresh, "{fence}\n{block}```\n").unwrap();
            }
            Part::Console(fence, block) if !can_run(fence) => {
                write!(fresh, "{fence}\n{block}```\n").unwrap();
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
fn the_readme_holds() {
    holds("README.md");
}

#[test]
fn the_tutorial_holds() {
    holds("docs/tutorial.md");
}

#[test]
fn the_page_of_isolation_holds() {
    holds("docs/isolation.md");
}

#[test]
fn the_how_tos_hold() {
    let pages: Vec<String> = pages()
        .into_iter()
        .filter(|page| page.starts_with("docs/how-to/"))
        .collect();
    assert!(pages.len() > 5, "{pages:?}");
    let wrong: Vec<&String> = std::thread::scope(|scope| {
        let running: Vec<_> = pages
            .iter()
            .map(|page| (page, scope.spawn(|| holds(page))))
            .collect();
        running
            .into_iter()
            .filter_map(|(page, thread)| thread.join().is_err().then_some(page))
            .collect()
    });
    assert!(wrong.is_empty(), "{wrong:?}");
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages, as paths from the root.
fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"]
        .map(str::to_owned)
        .into();
    for folder in ["docs", "docs/how-to", "docs/reference", "examples"] {
        let entries = std::fs::read_dir(root().join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        pages.extend(
            names
                .filter(|name| Path::new(name).extension().is_some_and(|kind| kind == "md"))
                .map(|name| format!("{folder}/{name}")),
        );
    }
    pages.sort();
    pages
}

/// The anchors that GitHub gives to the headings of a page.
fn anchors(page: &str) -> Vec<String> {
    page.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| {
            let heading = line.trim_start_matches('#').trim().to_lowercase();
            heading
                .chars()
                .filter(|sign| sign.is_alphanumeric() || " -_".contains(*sign))
                .map(|sign| if sign == ' ' { '-' } else { sign })
                .collect()
        })
        .collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let link = regex::Regex::new(r"\]\(([^)#:]*)(?:#([^):]*))?\)").unwrap();
    for page in pages() {
        let file = root().join(&page);
        let text = std::fs::read_to_string(&file).unwrap();
        for found in link.captures_iter(&text) {
            let target = match &found[1] {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            assert!(target.exists(), "{page} leads to {}", &found[0]);
            if let Some(anchor) = found.get(2) {
                let known = anchors(&std::fs::read_to_string(&target).unwrap());
                let known = known.iter().any(|known| known == anchor.as_str());
                assert!(known, "{page} leads to {}", &found[0]);
            }
        }
    }
}

/// A reader who lands on any page finds all others.
#[test]
fn every_page_leads_to_the_list_of_pages() {
    let list = std::fs::read_to_string(root().join("docs/README.md")).unwrap();
    for page in pages() {
        let Some(name) = page
            .strip_prefix("docs/")
            .filter(|name| *name != "README.md")
        else {
            continue;
        };
        assert!(
            list.contains(&format!("({name})")),
            "docs/README.md lacks {name}"
        );
        if !name.starts_with("reference") {
            let text = std::fs::read_to_string(root().join(&page)).unwrap();
            let back = if name.contains('/') {
                "(../README.md)"
            } else {
                "(README.md)"
            };
            assert!(
                text.contains(back),
                "{page} does not lead to docs/README.md"
            );
        }
    }
}

/// The job of the template for GitLab, with the values that it gives its variables.
#[test]
fn the_template_for_gitlab_runs() {
    let text = std::fs::read_to_string(root().join("templates/gitlab-ci.yml")).unwrap();
    let (_, job) = text.split_once("\n.mcp-assert:\n").unwrap();
    let job = job.split("\n\n").next().unwrap();
    let value = regex::Regex::new(r#"(?m)^    (MCP_ASSERT_[A-Z]+): "?([^"\n]*)"?$"#).unwrap();
    let (_, script) = job.split_once("    - >-\n").unwrap();
    let script = script
        .split("  artifacts:")
        .next()
        .unwrap()
        .replace('\n', " ");
    let project = Project::with_suite(
        "server: {builtin: conformance}\nassert: {tool: echo, args: {message: x}, expect: {contains: x}}\n",
    );
    let mut command = Command::new("sh");
    let script = script.replace("mcp-assert ci", &format!("{BINARY} ci"));
    command
        .args(["-c", &script])
        .current_dir(project.path())
        .env("GITLAB_CI", "true");
    let values: Vec<_> = value.captures_iter(job).collect();
    assert!(values.len() > 5, "{job}");
    for found in values {
        command.env(&found[1], &found[2]);
    }
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{script}\n{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("this is GitLab"), "{}", ran.stderr);
    assert!(project.read("mcp-assert.xml").contains("<testsuite"));
}
