//! Our files as other people's programs read them: JUnit parsers, the schema of SARIF, those of workflows, an auditor
//! of workflows, GitHub's Markdown engine. `scripts/tools` installs them; without them these tests say so, and fail
//! where `CI` is `true`.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{engine::there, harness::Project};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether the tools are there; says so when they are not.
fn installed() -> bool {
    let there = root().join("target/tools/.installed").exists();
    if !there {
        let said = "the tools are not installed: run scripts/tools";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{said}");
        eprintln!("skipped: {said}");
    }
    there
}

fn tool(name: &str) -> Command {
    Command::new(root().join("target/tools/python/bin").join(name))
}

/// What a command prints, which must end well.
fn printed(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}:\n{text}\n{said}");
    text
}

/// A run with outcomes of every kind, and texts that break careless formats.
fn reports() -> Project {
    let ugly = "]]> <b>&amp; </details> | `t` ``` @org/team #1 [x](javascript:alert(1)) \\u0001\\u202e \\\"";
    let green = "server: {builtin: conformance}\nassert: {tool: echo, args: {message: x}, expect: {contains: x}}\n";
    let red = format!(
        "name: \"{ugly}\"\nserver: {{builtin: conformance, args: [--stderr, \"{ugly}\"]}}\n\
         assert: {{tool: echo, args: {{message: \"{ugly}\"}}, expect: {{contains: \"no {ugly}\", equals: y}}}}\n"
    );
    let suite = [
        format!("name: green\n{green}"),
        red,
        format!("name: off\nskip: \"because {ugly}\"\n{green}"),
        "name: crash\nserver: {command: /bin/sh, args: [-c, 'exit 3']}\nassert: {tool: echo}\n"
            .to_owned(),
    ];
    let project = Project::with_suite(&suite.join("---\n"));
    let ran = project.run(&[
        "ci",
        "--isolation",
        "process",
        "--junit",
        "report.xml",
        "--markdown",
        "page.md",
        "--sarif",
        "report.sarif",
        "--retries",
        "1",
    ]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    project
}

#[test]
fn two_parsers_of_junit_agree_with_us() {
    if !installed() {
        return;
    }
    let project = reports();
    let report = project.path().join("report.xml");
    let mut python = tool("python");
    python
        .args([
            "-c",
            "import sys, json, junitparser\n\
             xml = junitparser.JUnitXml.fromfile(sys.argv[1])\n\
             cases = [case for suite in xml for case in suite]\n\
             kinds = [type(it).__name__ for case in cases for it in case.result]\n\
             print(json.dumps([len(cases), kinds.count('Failure'), kinds.count('Error'), kinds.count('Skipped')]))",
        ])
        .arg(&report);
    let counted: Value = serde_json::from_str(&printed(python)).unwrap();
    assert_eq!(counted, serde_json::json!([4, 1, 1, 1]));
    let mut node = Command::new("node");
    node.current_dir(root().join("target/tools"))
        .args([
            "-e",
            "const { parse } = require('test-results-parser');\n\
             const it = parse({ type: 'junit', files: [process.argv[1]] });\n\
             console.log(JSON.stringify([it.passed, it.failed + it.errors, it.skipped]));",
        ])
        .arg(&report);
    let counted: Value = serde_json::from_str(&printed(node)).unwrap();
    assert_eq!(counted, serde_json::json!([1, 2, 1]));
}

#[test]
fn sarif_is_what_its_schema_says() {
    if !installed() {
        return;
    }
    let project = reports();
    let schema = root()
        .join("target/tools/node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
    // The pattern of languages, as it was published, is no regular expression.
    let schema = fs::read_to_string(schema).unwrap().replace(
        "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$",
        "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$",
    );
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let report: Value = serde_json::from_str(&project.read("report.sarif")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(&report)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let results = report["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    let region = &results[0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 7, "{results:?}");
}

#[test]
fn githubs_markdown_engine_finds_only_our_markup() {
    if !installed() {
        return;
    }
    let project = reports();
    let mut python = tool("python");
    python
        .args([
            "-c",
            "import sys, html.parser, cmarkgfm\n\
             class Tags(html.parser.HTMLParser):\n\
             \x20   def handle_starttag(self, tag, attributes):\n\
             \x20       print(tag)\n\
             page = open(sys.argv[1], encoding='utf-8').read()\n\
             options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE\n\
             Tags().feed(cmarkgfm.github_flavored_markdown_to_html(page, options))",
        ])
        .arg(project.path().join("page.md"));
    let found = printed(python);
    let ours = [
        "h3", "h4", "p", "ul", "li", "strong", "em", "table", "thead", "tbody", "tr", "th", "td",
        "code", "wbr", "details", "summary", "pre", "sub", "br",
    ];
    for tag in found.lines() {
        assert!(ours.contains(&tag), "{tag}:\n{}", project.read("page.md"));
    }
    assert_eq!(
        found.lines().filter(|tag| *tag == "table").count(),
        3,
        "{found}"
    );
}

/// The workflows of a page, each in a file of its own. Those of the README are `yml`, since its `yaml` blocks are suites.
fn fences(page: &str, folder: &Path) -> Vec<PathBuf> {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let fence = if page == "README.md" {
        "```yml\n"
    } else {
        "```yaml\n"
    };
    let blocks = text.split(fence).skip(1);
    let files: Vec<PathBuf> = blocks
        .enumerate()
        .map(|(number, block)| {
            let name = page.replace(['/', '.'], "-");
            let file = folder.join(format!("{name}-{number}.yml"));
            fs::write(&file, block.split("```").next().unwrap()).unwrap();
            file
        })
        .collect();
    assert!(!files.is_empty(), "{page} has no YAML");
    files
}

/// Validates files against a schema that comes with the tool.
fn valid(schema: &str, files: &[PathBuf]) {
    let mut check = tool("check-jsonschema");
    check.args(["--builtin-schema", schema]).args(files);
    printed(check);
}

#[test]
fn the_checker_of_workflows_finds_nothing() {
    let checker = root().join("target/tools/actionlint");
    if !there(
        checker.exists(),
        "actionlint is not installed: run scripts/tools",
    ) {
        return;
    }
    let check = |files: &[PathBuf]| {
        let mut command = Command::new(&checker);
        let config = root().join(".github/actionlint.yaml");
        command.arg("-config-file").arg(config).args(files);
        printed(command);
    };
    check(&workflows());
    let folder = tempfile::tempdir().unwrap();
    for page in ["README.md", "docs/github-action.md"] {
        check(&fences(page, folder.path()));
    }
}

fn workflows() -> Vec<PathBuf> {
    let folder = root().join(".github/workflows");
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn workflows_and_pages_are_what_their_schemas_say() {
    if !installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let actions = ["action.yml", "setup/action.yml"].map(|file| root().join(file));
    valid("vendor.github-actions", &actions);
    valid(
        "vendor.dependabot",
        &[root().join(".github/dependabot.yml")],
    );
    valid("vendor.github-workflows", &workflows());
    for page in ["README.md", "docs/github-action.md"] {
        valid("vendor.github-workflows", &fences(page, folder.path()));
    }
    let template = root().join("templates/gitlab-ci.yml");
    let pages = fences("docs/gitlab.md", folder.path());
    valid("vendor.gitlab-ci", &[pages, vec![template]].concat());
}

#[test]
fn the_auditor_of_workflows_finds_nothing() {
    if !installed() {
        return;
    }
    let audit = |inputs: &[PathBuf]| {
        let mut zizmor = tool("zizmor");
        zizmor
            .args([
                "--offline",
                "--persona",
                "auditor",
                "--strict-collection",
                "--no-progress",
                "--config",
            ])
            .arg(root().join(".github/zizmor.yml"))
            .args(inputs);
        printed(zizmor);
    };
    let others = ["action.yml", "setup/action.yml", ".github/dependabot.yml"];
    let others = others.map(|file| root().join(file));
    audit(&[&workflows()[..], &others].concat());
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join(".github/workflows");
    fs::create_dir_all(&pages).unwrap();
    for page in ["README.md", "docs/github-action.md"] {
        audit(&fences(page, &pages));
    }
}

#[test]
fn examples_use_inputs_that_exist_and_the_tag_that_a_release_moves() {
    let inputs = fs::read_to_string(root().join("action.yml")).unwrap();
    let inputs: Vec<&str> = inputs.split("\noutputs:").next().unwrap().lines().collect();
    let known = |name: &str| inputs.contains(&format!("  {name}:").as_str());
    let pages = ["README.md", "docs/github-action.md", "docs/compat.md"];
    let text = pages
        .map(|page| fs::read_to_string(root().join(page)).unwrap())
        .concat();
    let used = regex::Regex::new(
        r"(?m)^ *(?:- )?uses: mcp-assert/action(\S*)@(\S+).*\n((?: {8}with:\n(?: {10}.*\n)*| {4}with:\n(?: {6}\S.*\n)*)?)",
    )
    .unwrap();
    let mut seen = 0;
    for found in used.captures_iter(&text) {
        assert_eq!(&found[2], "v1", "{}", &found[0]);
        for line in found[3].lines().skip(1) {
            let name = line.trim().split(':').next().unwrap();
            let of_workflow = !found[1].is_empty() && ["runs-on", "max-parallel"].contains(&name);
            assert!(known(name) || of_workflow, "no input `{name}`");
            seen += 1;
        }
    }
    assert!(seen >= 25, "{seen}");
}
