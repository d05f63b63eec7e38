//! What a server may do to its fixture: nothing of it is green that was not seen, and nothing of the user's is touched.

use std::{
    fmt::Write,
    fs,
    os::unix::{
        fs::{PermissionsExt, symlink},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    harness::{OBEDIENT, Project, copy_binary},
    running::Running,
};

/// A folder of the user's beside the project's fixture.
const PRECIOUS: &str = "precious/a.txt";

/// A project that does one thing after the other, with a fixture.
fn project(cases: &[(&str, &str)]) -> Project {
    let mut suite = String::new();
    for (at, (what, expect)) in cases.iter().enumerate() {
        let what = Value::from(*what);
        write!(
            suite,
            "---\nname: number {at}\nserver: {{command: python3, args: [server.py, '{{{{fixture}}}}']}}\n\
             assert: {{tool: do, args: {{what: {what}}}, expect: {expect}}}\n"
        )
        .unwrap();
    }
    Project::with_suite(suite.trim_start_matches("---\n"))
        .file("server.py", OBEDIENT)
        .file("fixture/a.txt", "hello")
        .file("fixture/sub/b.txt", "below")
        .file(PRECIOUS, "hello")
        .file("precious/sub/b.txt", "below")
}

/// Runs it; what became of each assertion.
fn kinds(project: &Project, more: &[&str]) -> Vec<String> {
    let mut arguments = vec!["run", "evals", "--json", "--fixture", "fixture"];
    arguments.extend(more);
    let ended = Running::start(project, &arguments).end();
    ended.left_nothing();
    of(&ended.json())
}

fn of(outcomes: &Value) -> Vec<String> {
    let outcomes = outcomes.as_array().unwrap().iter();
    outcomes
        .map(|outcome| outcome["kind"].as_str().unwrap().to_owned())
        .collect()
}

/// Compares what became of each with what is wanted.
fn judge(cases: &[(&str, &str, &str)], run: impl Fn(&Project) -> Vec<String>) {
    let plain: Vec<_> = cases
        .iter()
        .map(|(what, expect, _)| (*what, *expect))
        .collect();
    let seen = run(&project(&plain));
    assert_eq!(seen.len(), cases.len());
    for (seen, case) in seen.iter().zip(cases) {
        assert_eq!(seen, case.2, "{case:?}");
    }
}

/// Puts a link to a folder of the user's where the fixture was.
const LINK: &str = "here = os.getcwd(); shutil.rmtree(F); os.symlink(here + '/precious', F)";

/// Reads the fixture.
const READ: &str = "text = ' '.join([open(F + '/a.txt').read(), *sorted(os.listdir(F))])";

const WHOLE: &str = "{equals: hello a.txt sub}";

#[test]
fn what_is_put_in_place_of_the_fixture_is_neither_written_nor_kept() {
    let spoils = [
        LINK,
        "shutil.rmtree(F)",
        "os.rename(F, F + '.moved')",
        "shutil.rmtree(F); open(F, 'w').write('x')",
        "os.rename(F, F + '.moved'); os.mkdir(F)",
        "holder = os.path.dirname(F); here = os.getcwd(); shutil.rmtree(holder); os.symlink(here, holder)",
        "os.symlink(os.getcwd() + '/precious', F + '/out'); open(F + '/a.txt', 'w').write('x')",
        "shutil.rmtree(F + '/sub'); os.symlink(os.getcwd() + '/precious/sub', F + '/sub')",
        "os.unlink(F + '/a.txt'); os.link(os.getcwd() + '/precious/a.txt', F + '/a.txt'); os.chmod(F + '/sub', 0)",
    ];
    for spoil in spoils {
        let project = project(&[(spoil, "{equals: done}"), (READ, WHOLE), (READ, WHOLE)]);
        let precious = project.path().join(PRECIOUS);
        fs::set_permissions(&precious, fs::Permissions::from_mode(0o604)).unwrap();
        for more in [&["--reuse-server"][..], &[]] {
            assert_eq!(kinds(&project, more), ["pass"; 3], "{spoil}");
            assert_eq!(project.read(PRECIOUS), "hello", "{spoil}");
            assert_eq!(project.read("precious/sub/b.txt"), "below", "{spoil}");
            assert_eq!(project.read("fixture/a.txt"), "hello", "{spoil}");
            let mode = fs::metadata(&precious).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o604, "{spoil}");
            assert_eq!(
                fs::read_dir(project.path().join("precious"))
                    .unwrap()
                    .count(),
                2
            );
        }
    }
}

#[test]
fn no_expectation_looks_through_what_stands_in_place_of_the_fixture() {
    let gone = "shutil.rmtree(F)";
    let cases = [
        (gone, "{only_changed: []}", "fail"),
        (
            "os.rename(F, F + '.moved')",
            "{only_changed: [sub/**]}",
            "fail",
        ),
        (gone, "{only_changed: ['**']}", "pass"),
        (gone, "{file_not_exists: [a.txt, sub/b.txt]}", "pass"),
        (gone, "{file_unchanged: a.txt}", "fail"),
        (LINK, "{only_changed: []}", "fail"),
        (LINK, "{only_changed: ['.']}", "fail"),
        (LINK, "{file_unchanged: a.txt}", "error"),
        (LINK, "{file_contains: {a.txt: hello}}", "error"),
        (LINK, "{file_not_contains: {a.txt: x}}", "error"),
        (LINK, "{file_exists: ['{{fixture}}/a.txt']}", "error"),
        (LINK, "{file_not_exists: none}", "error"),
        (LINK, "{not: {file_contains: {a.txt: x}}}", "error"),
    ];
    judge(&cases, |project| kinds(project, &[]));
}

/// Somebody to whom a closed folder is closed.
const NOBODY: u32 = 65534;

/// The same as a user who is not `root`.
fn kinds_of_nobody(project: &Project) -> Vec<String> {
    let arguments = ["run", "evals", "--json", "--fixture", "fixture"];
    of(&project.finish(of_nobody(project, &arguments)).json())
}

/// The command of a user who is not `root`, whose project it is then.
fn of_nobody(project: &Project, arguments: &[&str]) -> Command {
    let command = project.command(arguments);
    if !rustix::process::geteuid().is_root() {
        return command;
    }
    let place = project.path().join("mcp-assert");
    if !place.exists() {
        copy_binary(&place);
    }
    own(project.path());
    let mut unprivileged = Command::new(place);
    unprivileged
        .args(arguments)
        .current_dir(project.path())
        .env_clear()
        .stdin(Stdio::null())
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .uid(NOBODY)
        .gid(NOBODY);
    unprivileged
}

fn own(path: &Path) {
    std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path());
        }
    }
}

#[test]
fn a_path_that_leads_over_links_is_as_unchanged_as_they_are() {
    let turned = "os.remove(F + '/dir'); os.symlink('other', F + '/dir')";
    let equal = "os.remove(F + '/file'); os.symlink('same.txt', F + '/file')";
    let mode = "os.chmod(F + '/a.txt', 0o755)";
    let below = "open(F + '/sub/b.txt', 'w').write('x')";
    let apart = "os.chmod(F + '/sub', 0o700); open(F + '/other/new', 'w')";
    let cases = [
        (turned, "{file_unchanged: dir}", "fail"),
        (turned, "{file_unchanged: dir/b.txt}", "fail"),
        (turned, "{not: {file_unchanged: dir}}", "pass"),
        (equal, "{file_unchanged: file}", "fail"),
        (mode, "{file_unchanged: file}", "fail"),
        (mode, "{file_unchanged: dir/../a.txt}", "fail"),
        (mode, "{file_unchanged: '{{fixture}}/file'}", "fail"),
        (below, "{file_unchanged: dir}", "fail"),
        (
            apart,
            "{file_unchanged: [dir/b.txt, file, sub/b.txt]}",
            "pass",
        ),
    ];
    judge(&cases, |project| {
        let at = |path: &str| project.path().join("fixture").join(path);
        fs::set_permissions(at("a.txt"), fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(at("sub"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::create_dir(at("other")).unwrap();
        fs::write(at("other/b.txt"), "below").unwrap();
        fs::write(at("same.txt"), "hello").unwrap();
        symlink("sub", at("dir")).unwrap();
        symlink("a.txt", at("file")).unwrap();
        kinds(project, &[])
    });
}

/// Assertions that say nothing of the fixture, and read it all the same.
fn silent(settings: &str) -> Project {
    let suite = format!(
        "name: silent\nserver: {{command: nothing}}\n\
         assert: {{tool: do, args: {{what: {}}}, expect: {WHOLE}}}\n",
        Value::from(READ)
    );
    project(&[])
        .file("evals/a.yaml", suite)
        .file("evals/mcp-assert.yaml", settings)
}

#[test]
fn a_server_named_elsewhere_gets_the_fixture_that_it_speaks_of() {
    let server = "python3 server.py {{fixture}}";
    let project = silent("{}");
    for more in [
        &[][..],
        &["--reuse-server"],
        &["--shard", "1/1"],
        &["--trials", "2"],
    ] {
        let mut arguments = vec!["--server", server];
        arguments.extend(more);
        let kinds = kinds(&project, &arguments);
        assert!(
            kinds.iter().all(|kind| kind == "pass"),
            "{more:?}: {kinds:?}"
        );
        assert!(!kinds.is_empty());
    }
    let ci = ["ci", "--isolation", "process", "--fixture", "fixture"];
    let ran = project.run(&[&ci[..], &["--server", server]].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let dry = [
        "run",
        "evals",
        "--fixture",
        "fixture",
        "--dry-run",
        "--server",
        server,
    ];
    let ran = project.run(&dry);
    assert!(
        ran.stdout.contains(", a fresh fixture: python3 server.py "),
        "{}",
        ran.stdout
    );

    let shell = "command: sh, args: [-c, 'exec python3 \"$0\" \"$F\"'";
    let here = project.path().join("server.py");
    let here = here.display();
    let targets = [
        format!("{{command: python3, args: [{here}, '{{{{fixture}}}}']}}"),
        format!("{{{shell}, {here}], env: {{F: '{{{{fixture}}}}'}}}}"),
        format!("{{command: python3, args: [{here}, .], cwd: '{{{{fixture}}}}'}}"),
    ];
    for target in targets {
        let project = silent(&format!("targets: {{one: {target}}}"));
        assert_eq!(kinds(&project, &["--target", "one"]), ["pass"], "{target}");
    }
}

#[test]
fn the_roots_of_a_target_get_the_fixture_that_they_speak_of() {
    let target = "{builtin: conformance, client_capabilities: {roots: ['{{fixture}}']}}";
    let suite = "name: roots\nassert: {tool: list_roots, expect: {contains: 'file:///'}}\n";
    let project = project(&[]).file("evals/a.yaml", suite).file(
        "evals/mcp-assert.yaml",
        format!("targets: {{one: {target}}}"),
    );
    assert_eq!(kinds(&project, &["--target", "one"]), ["pass"]);
}

#[test]
fn a_server_named_elsewhere_is_an_error_when_it_needs_a_fixture_and_there_is_none() {
    let erroneous = |settings: &str, arguments: &[&str], code: i32| {
        let ran = silent(settings).run(arguments);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, code, "{said}");
        assert!(said.contains("`{{fixture}}` has no value"), "{said}");
        assert!(said.contains("give a fixture with --fixture DIR"), "{said}");
    };
    let server = ["--server", "python3 server.py {{fixture}}"];
    let ci = ["ci", "--isolation", "process"];
    for (verb, code) in [(&["run", "evals"][..], 1), (&ci, 3)] {
        erroneous("{}", &[verb, &server].concat(), code);
    }
    let targets = "targets: {one: {command: python3, args: [server.py, '{{fixture}}']}}";
    let one = ["run", "evals", "--target", "one"];
    erroneous(targets, &one, 1);
    let ran = silent(targets).run(&["run", "evals", "--target", "one", "--list"]);
    assert_eq!((ran.code, ran.shown().trim()), (0, "a.yaml::silent [one]"));
}

#[test]
fn what_is_in_a_closed_folder_cannot_be_told() {
    let shut = "open(F + '/sub/b.txt', 'w').write('x'); open(F + '/sub/new', 'w'); os.chmod(F + '/sub', 0)";
    let listed = "open(F + '/sub/new', 'w'); os.chmod(F + '/sub', 0o444)";
    let file = "os.chmod(F + '/a.txt', 0)";
    let cases = [
        (shut, "{only_changed: [sub]}", "error"),
        (shut, "{only_changed: [sub, 'sub/**']}", "pass"),
        (shut, "{only_changed: [a.txt]}", "fail"),
        (shut, "{file_not_exists: sub/new}", "error"),
        (shut, "{file_exists: sub/b.txt}", "error"),
        (shut, "{file_contains: {sub/b.txt: below}}", "error"),
        (shut, "{file_exists: sub}", "pass"),
        (listed, "{only_changed: [sub, sub/new]}", "error"),
        ("os.chmod(F, 0)", "{only_changed: ['.']}", "error"),
        ("os.chmod(F, 0)", "{file_not_exists: new}", "error"),
        (
            "os.chmod(os.path.dirname(F), 0)",
            "{only_changed: []}",
            "error",
        ),
        (file, "{file_exists: a.txt}", "pass"),
        (file, "{file_not_exists: a.txt}", "fail"),
        (file, "{only_changed: [a.txt]}", "pass"),
        (file, "{only_changed: []}", "fail"),
        (file, "{file_contains: {a.txt: hello}}", "error"),
    ];
    judge(&cases, kinds_of_nobody);
}

#[test]
fn a_copy_that_cannot_be_removed_is_told_on_green_too() {
    let shut = "os.chmod(os.path.dirname(os.path.dirname(F)), 0o500)";
    let project = project(&[(shut, "{equals: done}")]);
    let tmp = project.path().join("tmp");
    fs::create_dir(&tmp).unwrap();
    for more in [&[][..], &["--reuse-server"]] {
        let mut arguments = vec!["run", "evals", "--fixture", "fixture"];
        arguments.extend(["--report-json", "run.json"]);
        arguments.extend(more);
        let mut command = of_nobody(&project, &arguments);
        command.env("TMPDIR", &tmp);
        let ran = project.finish(command);
        fs::set_permissions(&tmp, fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
        let said = "the copy of the fixture cannot be removed: `";
        assert_eq!(ran.stdout.matches(said).count(), 1, "{}", ran.stdout);
        let told: Value = serde_json::from_str(&project.read("run.json")).unwrap();
        // That nobody could ask for its lists after that is told beside.
        let notes = told["notes"].as_array().unwrap().iter();
        let mut notes = notes.map(|note| note.as_str().unwrap());
        let note = notes.find(|note| note.starts_with(said)).unwrap();
        assert!(note.contains("Permission denied"), "{note}");
    }
}

#[test]
fn a_file_of_any_size_takes_the_time_of_its_own_assertion() {
    let grow = "open(F + '/a.txt', 'r+').truncate(1 << 40)";
    let suite = project(&[
        (grow, "{file_contains: {a.txt: [hello]}}"),
        (grow, "{only_changed: [], equals: done}"),
        (grow, "{file_unchanged: [a.txt]}"),
        ("import time; time.sleep(1)", "{max_duration: 3s}"),
    ]);
    let yaml = suite
        .read("evals/a.yaml")
        .replace("name: ", "timeout: 4s\nname: ");
    let project = suite.file("evals/a.yaml", yaml);
    let arguments = [
        "run",
        "evals",
        "--json",
        "--fixture",
        "fixture",
        "--jobs",
        "5",
    ];
    let begun = Instant::now();
    let ended = Running::start(&project, &arguments).end();
    assert!(begun.elapsed() < Duration::from_secs(20));
    ended.left_nothing();
    let outcomes = ended.json();
    let seen: Vec<_> = of(&outcomes);
    assert_eq!(seen, ["error", "fail", "error", "pass"], "{outcomes}");
    let late = outcomes[2].to_string();
    assert!(
        late.contains(
            "the timeout of 4 s was over: the copy of the fixture was still being compared"
        ),
        "{late}"
    );
}

#[test]
fn a_writer_that_hides_is_ended_and_leaves_nothing() {
    let writer = "os.system(\"setsid env -i sh -c 'while :; do mkdir -p \" + F + \"/n; echo >\" + F + \"/n/f; done' \
                  >/dev/null 2>&1 </dev/null &\")";
    let cases = [(writer, "{equals: done}"); 3];
    let project = project(&cases);
    let ended = Running::start(&project, &["run", "evals", "--fixture", "fixture"]).end();
    ended.left_nothing();
    let told = "processes outlived the servers and had to be ended when all assertions were over";
    assert!(
        ended.stdout.contains(told),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    assert!(
        !ended.stdout.contains("cannot be removed"),
        "{}",
        ended.stdout
    );
}
