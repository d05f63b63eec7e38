//! `mcp-assert completions`, as shells use them.

use std::process::{Command, Stdio};

use crate::harness::Project;

/// Runs a script in the shell.
fn said(shell: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(shell);
    let output = command
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shell}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn project(shell: &str) -> Project {
    let project = Project::new();
    let ran = project.run(&["completions", shell]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    project.file("script", ran.stdout)
}

/// The completions that bash offers for the last word.
fn offered(project: &Project, words: &[&str]) -> Vec<String> {
    let script = r#"
        source "$1"; shift
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
        _mcp__assert mcp-assert "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
        printf '%s\n' "${COMPREPLY[@]}"
    "#;
    let path = project.path().join("script").display().to_string();
    let arguments = [&["-c", script, "bash", &path, "mcp-assert"], words].concat();
    let said = said("bash", &arguments);
    said.lines()
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_after_every_command() {
    let project = project("bash");
    let case = |words: &[&str], wanted: &[&str]| {
        let offered = offered(&project, words);
        for one in wanted {
            assert!(offered.iter().any(|it| it == one), "{words:?}: {offered:?}");
        }
    };
    case(&["ru"], &["run"]);
    case(&["run", "--isol"], &["--isolation"]);
    case(&["run", "--isolation", ""], &["process"]);
    case(&["serve", "--era", ""], &["auto", "legacy", "modern"]);
    case(&["ci", "pl"], &["plan"]);
    case(&["ci", "plan", "--s"], &["--suite"]);
    case(&["completions", ""], &["bash", "zsh", "fish"]);
    case(&["help", "ci", "me"], &["merge"]);
}

#[test]
fn zsh_and_fish_read_their_scripts() {
    for shell in ["zsh", "fish"] {
        let project = project(shell);
        let script = project.path().join("script").display().to_string();
        let text = project.read("script");
        for option in ["isolation", "fail-on-breaking", "journal-level"] {
            assert!(text.contains(option), "{shell}: {option}");
        }
        if Command::new(shell).arg("--version").output().is_ok() {
            said(shell, &["-n", &script]);
        }
    }
}
