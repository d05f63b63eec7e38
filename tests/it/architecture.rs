//! The rules of the source tree: which room may use which, which rooms are pure, who owns which outside
//! crate, how files begin and how long they are. A violation names file, line and rule.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// The rooms and what each may use. `commands` may use everything but its own verbs.
const ROOMS: &[(&str, &[&str])] = &[
    ("words", &[]),
    // Whom connections of our own trust: for every room that opens one.
    ("tls", &["words"]),
    ("protocol", &[]),
    // The compiled schemas of a catalog are kept beside it.
    ("observation", &["protocol", "words"]),
    // Findings and calls of a trajectory can be written in a suite, so their data is known here.
    ("suite", &["words", "protocol", "observation"]),
    ("plan", &["suite", "words"]),
    ("transport", &["protocol", "tls"]),
    // A started process hands out its link, and reports its end and its files as observations.
    (
        "isolate",
        &[
            "plan",
            "words",
            "transport",
            "observation",
            "protocol",
            "suite",
        ],
    ),
    // Subjects, steps and client behaviour come from the model; expectations never (see below).
    (
        "session",
        &["transport", "protocol", "observation", "suite", "words"],
    ),
    // An outcome names its case and the places in the suite.
    ("outcome", &["observation", "protocol", "suite", "words"]),
    (
        "check",
        &["suite", "observation", "protocol", "outcome", "words"],
    ),
    (
        "run",
        &[
            "plan",
            "isolate",
            "transport",
            "session",
            "check",
            "outcome",
            "observation",
            "protocol",
            "suite",
            "words",
        ],
    ),
    ("inspect", &["session", "observation", "words"]),
    (
        "report",
        &["outcome", "observation", "protocol", "suite", "words"],
    ),
    ("deliver", &["report", "tls", "words"]),
    (
        "terminal",
        &[
            "outcome",
            "report",
            "observation",
            "protocol",
            "suite",
            "words",
        ],
    ),
    ("serve", &["protocol", "words"]),
    ("cli", &["words"]),
];

/// Rooms without I/O, clock and concurrency; `suite/discover` alone reads files.
const PURE: &[&str] = &[
    "words",
    "protocol",
    "suite",
    "plan",
    "observation",
    "outcome",
    "check",
    "report",
];

/// What a pure room must not mention.
const EFFECTS: &[&str] = &[
    "async fn",
    "async move",
    ".await",
    "tokio",
    "std::fs",
    "std::env",
    "std::process",
    "std::net",
    "Instant::now",
    "SystemTime::now",
    "Utc::now",
    "Local::now",
];

/// Outside crates with one owner.
const OWNERS: &[(&str, &[&str])] = &[
    ("rmcp", &["src/serve/", "src/session/second_opinion"]),
    ("serde_saphyr", &["src/suite/", "src/serve/faults/"]),
    ("quick_junit", &["src/report/junit"]),
    ("indicatif", &["src/terminal/"]),
    ("console", &["src/terminal/"]),
    ("octocrab", &["src/deliver/github/"]),
    ("clap", &["src/cli/", "src/commands/"]),
    (
        "bollard",
        &["src/isolate/container/", "src/transport/stdio/attach"],
    ),
    ("clap_complete", &["src/cli/", "src/commands/"]),
    ("rustls", &["src/tls"]),
    ("rustls_native_certs", &["src/tls"]),
    ("webpki_roots", &["src/tls"]),
];

/// Production lines of a file.
const LONGEST_FILE: usize = 500;
/// Half of the files are at most so long.
const MEDIAN_FILE: usize = 150;

struct Source {
    path: String,
    /// The lines before the tests.
    lines: Vec<String>,
}

impl Source {
    fn room(&self) -> &str {
        let inner = self.path.trim_start_matches("src/");
        inner
            .split('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".rs")
    }

    /// Lines with code, comments taken out.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.lines
            .iter()
            .enumerate()
            .map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let text = fs::read_to_string(&file).unwrap();
            let production: Vec<String> = text
                .lines()
                .take_while(|line| *line != "#[cfg(test)]")
                .map(str::to_owned)
                .collect();
            Source {
                path: file.strip_prefix(root).unwrap().display().to_string(),
                lines: production,
            }
        })
        .filter(|source| !source.path.ends_with("tests.rs") && !source.path.contains("/tests/"))
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The rooms that stand behind `crate::` in a text, groups in braces included.
fn rooms_used(text: &str) -> Vec<(usize, String)> {
    let mut used = Vec::new();
    for (offset, _) in text.match_indices("crate::") {
        let behind = &text[offset + "crate::".len()..];
        let line = text[..offset].matches('\n').count() + 1;
        if let Some(group) = behind.strip_prefix('{') {
            let mut depth = 1;
            let mut first = true;
            let mut name = String::new();
            for character in group.chars() {
                match character {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 1 => first = true,
                    _ => {}
                }
                if depth == 0 {
                    break;
                }
                if depth == 1 && first {
                    if character.is_alphanumeric() || character == '_' {
                        name.push(character);
                    } else if !name.is_empty() {
                        used.push((line, std::mem::take(&mut name)));
                        first = false;
                    }
                }
            }
            if !name.is_empty() {
                used.push((line, name));
            }
        } else {
            used.push((
                line,
                behind
                    .chars()
                    .take_while(|c| c.is_alphanumeric() || *c == '_')
                    .collect(),
            ));
        }
    }
    used
}

fn complain(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} rule(s) broken:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

#[test]
fn rooms_use_only_what_stands_before_them() {
    let names: BTreeSet<&str> = ROOMS
        .iter()
        .map(|(room, _)| *room)
        .chain(["commands"])
        .collect();
    let mut violations = Vec::new();
    for source in sources() {
        let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| *room == source.room()) else {
            continue;
        };
        let code: Vec<&str> = source.code().map(|(_, code)| code).collect();
        for (line, used) in rooms_used(&code.join("\n")) {
            if names.contains(used.as_str()) && used != *room && !allowed.contains(&used.as_str()) {
                violations.push(format!(
                    "{}:{line}: `{room}` must not use `{used}`",
                    source.path
                ));
            }
        }
    }
    complain(&violations);
}

#[test]
fn a_session_never_sees_an_expectation() {
    let mut violations = Vec::new();
    for source in sources()
        .iter()
        .filter(|source| source.room() == "session" || source.room() == "transport")
    {
        for (line, code) in source.code() {
            if code.contains("Expectation") || code.contains("model::expectation") {
                violations.push(format!(
                    "{}:{line}: `{}` names an expectation",
                    source.path,
                    source.room()
                ));
            }
        }
    }
    complain(&violations);
}

#[test]
fn pure_rooms_have_no_effects() {
    let mut violations = Vec::new();
    for source in sources() {
        if !PURE.contains(&source.room()) || source.path.starts_with("src/suite/discover") {
            continue;
        }
        for (line, code) in source.code() {
            for effect in EFFECTS.iter().filter(|effect| code.contains(**effect)) {
                violations.push(format!(
                    "{}:{line}: `{}` is pure, `{effect}` is not",
                    source.path,
                    source.room()
                ));
            }
        }
    }
    complain(&violations);
}

#[test]
fn outside_crates_have_one_owner() {
    let mut violations = Vec::new();
    for source in sources() {
        for (line, code) in source.code() {
            for (name, owners) in OWNERS {
                let named = code.match_indices(&format!("{name}::")).any(|(offset, _)| {
                    !code[..offset].ends_with(|c: char| c.is_alphanumeric() || c == '_')
                });
                if named && !owners.iter().any(|owner| source.path.starts_with(owner)) {
                    violations.push(format!(
                        "{}:{line}: `{name}` belongs to {}",
                        source.path,
                        owners.join(", ")
                    ));
                }
            }
        }
    }
    complain(&violations);
}

#[test]
fn files_open_with_what_lives_in_them() {
    let mut violations = Vec::new();
    for source in sources() {
        if !source
            .lines
            .first()
            .is_some_and(|line| line.starts_with("//!"))
        {
            violations.push(format!(
                "{}:1: the file does not open with `//!`",
                source.path
            ));
        }
        let refused = [
            "util", "utils", "helper", "helpers", "common", "misc", "types", "manager",
        ];
        let name = Path::new(&source.path)
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if refused.contains(&name.as_str()) {
            violations.push(format!(
                "{}:1: `{name}` says nothing about what lives there",
                source.path
            ));
        }
    }
    complain(&violations);
}

#[test]
fn files_stay_short() {
    let mut violations = Vec::new();
    let mut lengths = Vec::new();
    for source in sources() {
        lengths.push(source.lines.len());
        if source.lines.len() > LONGEST_FILE {
            violations.push(format!(
                "{}:1: {} lines, the limit is {LONGEST_FILE}",
                source.path,
                source.lines.len()
            ));
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    if median > MEDIAN_FILE {
        violations.push(format!(
            "src: the median file has {median} lines, the limit is {MEDIAN_FILE}"
        ));
    }
    complain(&violations);
}

#[test]
fn every_test_runs_in_one_of_the_two_scripts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let steps = read("scripts/steps");
    let word = steps
        .lines()
        .find_map(|line| line.strip_prefix("nightly=::"));
    let begins = format!("fn {}", word.expect("the word for nightly tests"));
    let runs = "cargo test --locked --tests -- ";
    assert!(read("scripts/test").contains(&format!("{runs}--skip \"$nightly\"")));
    assert!(read("scripts/test-long").contains(&format!("{runs}\"$nightly\"")));
    let count = |folder: &str| {
        let mut files = Vec::new();
        collect(&root.join(folder), &mut files);
        let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
        texts
            .map(|text| text.matches(&begins).count())
            .sum::<usize>()
    };
    assert!(count("tests/it") > 0, "no test is called `{begins}…`");
    assert_eq!(count("src"), 0, "unit tests are quick");
}
