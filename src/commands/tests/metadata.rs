//! The tests that `action.yml` and the workflow that can be called are what the program understands: inputs made from
//! the options of `ci`, and the outputs it tells. `UPDATE_DOCS=1` writes the files anew.

use std::{fmt::Write as _, path::Path};

use crate::cli::inputs::{Input, Mode, Shape, inputs};
use report::{RunReport, outputs};

/// What each output holds.
const OUTPUTS: [(&str, &str); 20] = [
    ("passed", "Assertions that passed, flaky ones included"),
    ("failed", "Assertions that are not as expected"),
    ("errors", "Assertions that could not be observed"),
    ("skipped", "Assertions that were skipped"),
    ("total", "All assertions; trials of one count once"),
    (
        "percent",
        "Share of the executed assertions that passed, two decimals, rounded down; empty when nothing was executed",
    ),
    ("score", "The same as percent"),
    (
        "breaking",
        "Breaking changes of the servers' surface since the baseline; empty without one",
    ),
    (
        "regressions",
        "Assertions that passed in the baseline and are red; empty without a baseline",
    ),
    (
        "new-failures",
        "Red assertions that the baseline does not know as executed; empty without a baseline",
    ),
    (
        "fixed",
        "Assertions that were red in the baseline and passed; empty without a baseline",
    ),
    ("flaky", "Assertions that passed only after a retry"),
    (
        "verdict",
        "One of pass, fail, invalid, error, incomplete, empty, interrupted",
    ),
    (
        "report-json",
        "Path of run.json from the workspace, if it was written",
    ),
    (
        "junit",
        "Path of the JUnit report from the workspace, if it was written",
    ),
    (
        "badge",
        "Path of the badge from the workspace, if it was written",
    ),
    (
        "comment",
        "What became of the comment: created, updated, unchanged, denied, failed, off",
    ),
    ("shards", "With mode plan: how many shards there are"),
    (
        "matrix",
        "With mode plan: the matrix of the shards, as JSON",
    ),
    ("plan-digest", "With mode plan: the digest of the plan"),
];

/// The file.
fn metadata(image: &str) -> String {
    let mut out = String::from(
        "# Made from the program's own definitions: UPDATE_DOCS=1 cargo test --lib metadata\n\
         name: mcp-assert\n\
         description: Tests an MCP server with assertions written in YAML\n\
         author: mcp-assert\n\
         branding:\n  icon: check-circle\n  color: green\n\ninputs:\n",
    );
    for input in inputs() {
        write_input(&mut out, &input.name, &help(&input), &input.default);
    }
    let modes: Vec<&str> = Mode::ALL.iter().map(|mode| mode.word()).collect();
    let help = format!("What is done: {}", modes.join(", "));
    write_input(&mut out, "mode", &help, Mode::Run.word());
    write_input(
        &mut out,
        "token",
        "The token for the comment and the data branch",
        "${{ github.token }}",
    );
    out.push_str("\noutputs:\n");
    for (name, help) in OUTPUTS {
        let _ = writeln!(out, "  {name}:\n    description: {}", quoted(help));
    }
    let _ = write!(
        out,
        "\nruns:\n  using: docker\n  image: {image}\n  \
         entrypoint: /usr/local/bin/mcp-assert-action\n  \
         post-entrypoint: /usr/local/bin/mcp-assert-post\n",
    );
    out
}

/// The image that the file names: built on the main branch, in a release one of its digest and never of a tag.
fn image(there: &str) -> &str {
    let named = there
        .lines()
        .find_map(|line| line.trim().strip_prefix("image: "));
    let digest = named.and_then(|it| it.strip_prefix("docker://ghcr.io/mcp-assert/action@sha256:"));
    let is_digest = |it: &str| it.len() == 64 && it.bytes().all(|byte| byte.is_ascii_hexdigit());
    match (named, digest) {
        (Some(named), Some(digest)) if is_digest(digest) => named,
        (_, _) => "Dockerfile",
    }
}

/// The workflow. Its callers choose what runs; how it is divided and put together is its own.
fn workflow() -> String {
    let all = inputs();
    let own = ["shard", "plan", "blobs", "needs"];
    let offered: Vec<&Input> = all
        .iter()
        .filter(|it| !own.contains(&it.name.as_str()) && it.modes != [Mode::Run])
        .collect();
    let (mut declared, mut told, mut of_merge) = (String::new(), String::new(), String::new());
    for input in &offered {
        let (kind, default) = match input.shape {
            Shape::Switch => ("boolean", input.default.clone()),
            Shape::List | Shape::Text => ("string", quoted(&input.default)),
        };
        let name = &input.name;
        let help = quoted(&help(input));
        let _ = writeln!(
            declared,
            "      {name}:\n        description: {help}\n        type: {kind}\n        default: {default}"
        );
    }
    for (name, help) in &OUTPUTS[..output_names().len()] {
        if ["report-json", "junit", "badge"].contains(name) {
            continue;
        }
        let help = quoted(help);
        let _ = writeln!(
            told,
            "      {name}:\n        description: {help}\n        value: ${{{{ jobs.merge.outputs.{name} }}}}"
        );
        let _ = writeln!(
            of_merge,
            "      {name}: ${{{{ steps.merge.outputs.{name} }}}}"
        );
    }
    let parts = [
        ("@inputs@\n", declared),
        ("@outputs@\n", told),
        ("@with plan@\n", passed_on(&offered, Mode::Plan)),
        ("@with shard@\n", passed_on(&offered, Mode::Shard)),
        ("@with merge@\n", passed_on(&offered, Mode::Merge)),
        ("@merge outputs@\n", of_merge),
    ];
    let template = include_str!("workflow.yml").to_owned();
    parts
        .iter()
        .fold(template, |text, (mark, part)| text.replace(mark, part))
}

/// The inputs that the job of a mode hands to the action. A shard leaves to the merge what judges and tells.
fn passed_on(offered: &[&Input], mode: Mode) -> String {
    let mut out = String::new();
    for input in offered.iter().filter(|it| it.modes.contains(&mode)) {
        let name = input.name.as_str();
        let is_merges =
            input.modes.contains(&Mode::Merge) && !["annotations", "summary"].contains(&name);
        // The merge always writes the run, for whoever reports it later.
        let is_set = mode == Mode::Merge && name == "report-json";
        let is_left = is_set || (mode == Mode::Shard && is_merges);
        if !is_left {
            let _ = writeln!(out, "          {name}: ${{{{ inputs.{name} }}}}");
        }
    }
    out
}

/// Holds a file against what it should be.
fn hold(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap();
    assert_eq!(there, made, "UPDATE_DOCS=1 writes it anew");
}

/// A file as it is now.
fn there(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap_or_default()
}

/// What an input means, and where it does when not everywhere.
fn help(input: &Input) -> String {
    let help = input
        .help
        .replace("may be given several times", "one a line")
        // A description with an expression makes the whole file invalid.
        .replace("${{ ", "")
        .replace(" }}", "");
    let values: Vec<String> = input.values.iter().map(|(value, _)| shown(value)).collect();
    let help = match &values[..] {
        [] => help,
        [..] => format!("{help}: {}", values.join(", ")),
    };
    if input.modes.contains(&Mode::Run) {
        return help;
    }
    let modes: Vec<&str> = input.modes.iter().map(|mode| mode.word()).collect();
    format!("{help} (mode {})", modes.join(", "))
}

/// A value; a word in capitals stands for others.
fn shown(value: &str) -> String {
    match value {
        "N" => "a number".to_owned(),
        "DIR" => "a folder".to_owned(),
        "IMAGE" | "URL" => format!("an {}", value.to_lowercase().replace("url", "address")),
        "JSON" | "LINES" => value.replace("LINES", "lines"),
        "K/N" => "`1/4`".to_owned(),
        "PERCENT" => "a percentage".to_owned(),
        word if word.chars().all(|it| it.is_ascii_uppercase()) => {
            format!("a {}", word.to_lowercase())
        }
        word => format!("`{word}`"),
    }
}

/// The page of inputs and outputs.
fn page() -> String {
    let mut out = String::from(
        "# Inputs and outputs of the action\n\n[All pages](../README.md) · [The GitHub action](../github-action.md)\n\n\
         This page is made from the program: `UPDATE_DOCS=1 cargo test -p mcp-assert --lib metadata`.\n\n\
         An input that is empty counts as not given. Paths start at the workspace. Where a line names modes, the input is\n\
         for them alone; all others are for `mode: run` too.\n\n\
         ## Inputs\n\n| input | default | values | what it does |\n|---|---|---|---|\n",
    );
    for input in inputs() {
        let values = input.values.iter().map(|(value, help)| match &help[..] {
            "" => shown(value),
            help => format!("{}: {help}", shown(value)),
        });
        let mut values: Vec<String> = values.collect();
        if values.is_empty() {
            values.push(shown(&input.placeholder));
        }
        let bare = Input {
            values: Vec::new(),
            ..input.clone()
        };
        write_row(
            &mut out,
            (&input.name, &input.default),
            &values.join("<br>"),
            &help(&bare),
        );
    }
    let modes: Vec<String> = Mode::ALL.iter().map(|mode| shown(mode.word())).collect();
    write_row(
        &mut out,
        ("mode", "run"),
        &modes.join("<br>"),
        "What is done: `ci`, `ci plan`, `ci --shard`, `ci merge`",
    );
    write_row(
        &mut out,
        ("token", "the job's token"),
        "",
        "The token for the comment and the data branch",
    );
    write_own_inputs(&mut out);
    out.push_str("\n## Outputs\n\n| output | holds |\n|---|---|\n");
    for (name, help) in OUTPUTS {
        let _ = writeln!(out, "| `{name}` | {help} |");
    }
    out
}

/// What the workflow has beside the action.
fn write_own_inputs(out: &mut String) {
    out.push_str(
        "\nThe workflow `mcp-assert.yml` takes those of the modes run, plan and merge, and three of its own:\n\n\
         | input | default | values | what it does |\n|---|---|---|---|\n",
    );
    write_row(
        out,
        ("runs-on", "ubuntu-24.04"),
        "a label<br>a list of labels as JSON",
        "The runner of all jobs",
    );
    write_row(
        out,
        ("max-parallel", "8"),
        "a number",
        "Shards that run at once",
    );
    write_row(
        out,
        ("secret `env`", ""),
        "`KEY=VALUE`, one a line",
        "Variables of the shards, masked in all they write",
    );
}

fn write_row(out: &mut String, (name, default): (&str, &str), values: &str, help: &str) {
    let code = |text: &str| match text {
        "" => String::new(),
        text if text.contains([' ', '`']) => text.to_owned(),
        text => format!("`{text}`"),
    };
    let _ = writeln!(
        out,
        "| {} | {} | {values} | {help} |",
        code(name),
        code(default)
    );
}

fn write_input(out: &mut String, name: &str, help: &str, default: &str) {
    let _ = writeln!(
        out,
        "  {name}:\n    description: {}\n    required: false\n    default: {}",
        quoted(help),
        quoted(default)
    );
}

/// The outputs of a run.
fn output_names() -> Vec<&'static str> {
    let all = outputs::outputs(&RunReport::default(), &outputs::Told::default());
    all.into_iter().map(|(name, _)| name).collect()
}

/// A text as YAML, which takes what JSON writes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[test]
fn action_yml_is_what_the_program_understands() {
    hold("action.yml", &metadata(image(&there("action.yml"))));
    let told = OUTPUTS.map(|(name, _)| name);
    let names = output_names();
    assert_eq!(told[..names.len()], names);
}

#[test]
fn the_page_of_inputs_is_what_the_program_understands() {
    hold("docs/reference/action.md", &page());
}

#[test]
fn the_workflow_passes_on_what_the_program_understands() {
    let path = ".github/workflows/mcp-assert.yml";
    // A release names its own commit, which only its script knows.
    let pin = regex::Regex::new(r"mcp-assert/action@[0-9a-f]{40}[^\n]*").unwrap();
    let made = workflow();
    // Of what the merge writes, nothing stays on the runner alone.
    let (_, kept) = made.split_once("name: mcp-assert-files-").unwrap();
    for input in ["junit", "markdown", "sarif", "badge", "update-baseline"] {
        assert!(kept.contains(&format!("inputs.{input} ")), "{input}");
    }
    match pin.find(&there(path)) {
        Some(pin) => {
            let own = regex::Regex::new(r"uses: \./[^\n]*").unwrap();
            let pinned = format!("uses: {}", pin.as_str());
            hold(path, &own.replace_all(&made, pinned.as_str()));
        }
        None => hold(path, &made),
    }
}
