//! Command lines: options, errors and hints.

use crate::harness::{BINARY, Project};

#[test]
fn the_version_names_the_newest_revision() {
    let ran = Project::new().run(&["--version"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // A build from a checkout names the commit in between.
    let is_ours = ran.stdout.starts_with("mcp-assert 1.0.0 (");
    let is_newest = ran.stdout.ends_with("MCP 2026-07-28)\n");
    assert!(is_ours && is_newest, "{}", ran.stdout);
}

#[test]
fn an_unknown_option_is_a_usage_error_that_offers_the_nearest() {
    let ran = Project::new().run(&["run", "--suit", "evals"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--suite"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn numbers_out_of_range_are_told_with_their_range() {
    let case = |verb: &str, option: &str, number: &str, wanted: &str| {
        let ran = Project::new().run(&[verb, "--suite", "evals", option, number]);
        assert_eq!((ran.code, &ran.stdout[..]), (2, ""), "{option} {number}");
        let told = ran.stderr.contains(wanted) && !ran.stderr.contains("tip:");
        assert!(told, "{option} {number}: {}", ran.stderr);
    };
    for verb in ["run", "ci"] {
        for number in ["0", "-1", "10001", "4294967295", "99999999999"] {
            let wanted = format!("{number} is not in 1..=10000");
            case(verb, "--trials", number, &wanted);
        }
        case(verb, "--retries", "-1", "-1 is not in 0..=");
        case(verb, "--jobs", "-1", "at least 1");
    }
    for factor in ["0", "-1", "1e300", "1000001", "NaN", "inf"] {
        let wanted = "above 0, at most 1000000";
        case("run", "--timeout-scale", factor, wanted);
    }
    case("ci", "--threshold", "-1", "a percentage from 0 to 100");
}

#[test]
fn of_an_option_that_is_given_twice_the_last_one_holds() {
    let ran = green().run(&[
        "run",
        "--suite",
        "evals",
        "--json",
        "--json",
        "--timeout",
        "1ns",
        "--timeout",
        "20s",
        "--trials",
        "3",
        "--trials=2",
    ]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.json().as_array().unwrap().len(), 4);
}

/// Go tool: `--trials 0`, or a negative number, runs nothing and is green.
/// Here: it is refused; a run that selects nothing exits with 4.
#[test]
fn no_trials_is_refused() {
    for trials in ["0", "-1", "x"] {
        let ran = Project::new().run(&["run", "--suite", "evals", "--trials", trials]);
        assert_eq!(ran.code, 2, "--trials {trials}: {}", ran.stderr);
    }
}

#[test]
fn more_jobs_than_there_is_memory_for_are_refused_in_words() {
    let assertion = "server: {builtin: conformance}\nassert: {tool: echo}\n";
    let project = Project::with_suite(&vec![assertion; 101].join("---\n"));
    for verb in [
        &["run"][..],
        &["ci", "--isolation", "process"],
        &["ci", "plan"],
    ] {
        let ran = project.run(&[verb, &["--suite", "evals", "--trials", "10000"]].concat());
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let wanted = "101 assertions with 10000 trials on 1 target are more than the 1000000 jobs";
        assert!(ran.stderr.contains(wanted), "{}", ran.stderr);
    }
}

/// A suite that passes, its settings, and a suite that is filtered out.
fn green() -> Project {
    let assertion = "server: {builtin: conformance}\nassert: {tool: echo}\n";
    Project::with_suite(assertion)
        .file("evals/b.yaml", assertion)
        .file("evals/mcp-assert.yaml", "jobs: 2\n")
}

#[test]
fn no_file_of_a_run_is_written_over_another() {
    let case = |arguments: &str, wanted: &str| {
        let project = green();
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let before = project.read("evals/b.yaml");
        let ran = project.run(&arguments);
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 2, "{arguments:?}: {told}");
        assert!(told.contains(wanted), "{arguments:?}: {told}");
        assert!(!project.path().join("same").exists(), "{arguments:?}");
        assert_eq!(project.read("evals/b.yaml"), before, "{arguments:?}");
        assert_eq!(project.read("evals/mcp-assert.yaml"), "jobs: 2\n");
        assert!(!told.contains("1 passed"), "{arguments:?}: {told}");
    };
    let reports = ["junit", "markdown", "badge", "sarif", "report-json"];
    for (at, first) in reports.iter().enumerate() {
        let second = reports[(at + 1) % reports.len()];
        for verb in [
            "run evals/a.yaml",
            "ci --isolation process --suite evals/a.yaml",
        ] {
            case(
                &format!("{verb} --{first} same --{second} ./evals/../same"),
                "writes too",
            );
        }
    }
    let run = "run evals --filter a.yaml";
    let ci = "ci --isolation process --suite evals --filter a.yaml";
    case(
        &format!("{run} --report junit=same --report json=same"),
        "`--report json=same` would write over `same`, which `--report junit=same` writes too",
    );
    case(
        &format!("{run} --junit same --save-baseline same"),
        "writes too",
    );
    case(
        &format!("{ci} --junit same --update-baseline same"),
        "writes too",
    );
    for (verb, save) in [(run, "--save-baseline"), (ci, "--update-baseline")] {
        for option in ["--junit", save] {
            for file in ["evals/b.yaml", "evals/mcp-assert.yaml"] {
                let wanted = format!("`{option}` would write over `{file}`, a file of the suite");
                case(&format!("{verb} {option} {file}"), &wanted);
            }
        }
    }
    case(
        "run evals/a.yaml --junit evals/mcp-assert.yaml",
        "a file of the suite",
    );
    case(
        "ci plan --suite evals --plan evals/b.yaml",
        "a file of the suite",
    );
}

#[test]
fn a_run_keeps_the_baseline_that_it_reads_and_may_renew_it() {
    let project = green();
    let renew = "--baseline b.json --save-baseline ./b.json";
    for (arguments, code) in [
        ("--save-baseline b.json", 0),
        (renew, 0),
        ("--baseline b.json --junit b.json", 2),
        ("--junit /dev/null --markdown /dev/null", 0),
    ] {
        for verb in ["run evals", "ci --isolation process"] {
            let all: Vec<&str> = verb.split(' ').chain(arguments.split(' ')).collect();
            let ran = project.run(&all);
            assert_eq!(ran.code, code, "{all:?}: {}{}", ran.stdout, ran.stderr);
            assert!(project.read("b.json").starts_with('{'), "{all:?}");
        }
    }
}

#[test]
fn a_useless_folder_for_temporary_files_is_not_blamed_on_the_fixture() {
    let project = green().file("fx/keep.txt", "keep");
    let with = |verb: &[&str], folder: &str| {
        let mut command = project.command(&[verb, &["--fixture", "fx"]].concat());
        command.env("TMPDIR", folder);
        project.finish(command)
    };
    for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
        for folder in ["/nonexistent", "/dev/null", "/proc"] {
            let ran = with(verb, folder);
            assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
            let wanted = format!("the folder for temporary files, `{folder}`, cannot be used");
            assert_eq!(ran.stderr.matches(&wanted).count(), 1, "{}", ran.stderr);
            assert!(ran.stderr.contains("set TMPDIR"), "{}", ran.stderr);
            assert!(!ran.stderr.contains("take it out"), "{}", ran.stderr);
        }
        let ran = with(verb, "");
        assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn colours_that_are_not_forced_stay_away_from_a_pipe() {
    let project = Project::with_suite(
        "name: red\nserver: {builtin: conformance}\nassert: {tool: echo, expect: {contains: never}}\n",
    );
    let coloured = |force: &str, arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env_remove("NO_COLOR").env("TERM", "xterm");
        command.env("CLICOLOR_FORCE", force);
        let ran = project.finish(command);
        format!("{}{}", ran.stdout, ran.stderr).contains('\u{1b}')
    };
    for arguments in [
        &["run", "evals"][..],
        &["--help"],
        &["run", "--no-such-option"],
    ] {
        assert!(coloured("1", arguments), "{arguments:?}");
    }
}

#[test]
fn an_option_with_an_empty_value_is_not_given() {
    let suite = "server: {builtin: conformance}\nassert: {tool: echo, args: {text: a}}\n";
    let project = Project::with_suite(suite);
    let both = [
        "--fixture",
        "",
        "--server",
        "",
        "--docker",
        "",
        "--baseline",
        "",
        "--junit",
        "",
        "--markdown=",
        "--save-baseline",
        "",
        "--jobs",
        "",
        "--timeout",
        "",
        "--filter=",
        "--trials",
        "",
        "--shard",
        "",
    ];
    for (verb, more) in [
        (
            &["run", "evals"][..],
            &["--report", "", "--timeout-scale", ""][..],
        ),
        (
            &["ci", "--isolation", "process"],
            &["--threshold", "", "--comment", ""],
        ),
    ] {
        let ran = project.run(&[verb, &both, more].concat());
        assert_eq!(ran.code, 0, "{verb:?}: {}{}", ran.stdout, ran.stderr);
    }
    let ran = project.run(&["run", "evals", ""]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
}

#[test]
fn an_empty_shard_is_named() {
    let assertion = "server: {builtin: conformance}\nassert: {tool: echo}\n";
    let project = Project::with_suite(&format!("name: a\n{assertion}---\nname: b\n{assertion}"));
    let case = |arguments: &[&str], wanted: &str| {
        for (what, stdout) in [
            (&[][..], None),
            (&["--list"][..], Some("")),
            (&["--list", "--json"][..], Some("[]\n")),
        ] {
            let ran = project.run(&[&["run", "evals"], what, arguments].concat());
            assert_eq!(ran.code, 4, "{}", ran.stderr);
            assert!(ran.stderr.contains(wanted), "{what:?}: {}", ran.stderr);
            assert!(stdout.is_none_or(|it| it == ran.stdout), "{}", ran.stdout);
        }
    };
    case(
        &["--shard", "3/3"],
        "the filters left out 0, other shards have 2",
    );
    let both = ["--shard", "2/2", "--filter", "*::a"];
    case(&both, "the filters left out 1, other shards have 1");
    case(
        &["--filter", "none", "--shard", "1/2"],
        "the filters left out all 2",
    );
}

/// Go tool: `--server` is ignored where an assertion has `transport: http` or `sse`.
/// Here: a command takes the place of the url and is talked to over stdio, and a note says so; a url takes the
/// place of a url.
#[test]
fn a_command_in_place_of_a_url_is_told() {
    let url = "server: {transport: http, url: 'http://127.0.0.1:1/mcp'}";
    let suite = ["skip: later\n", "", ""].map(|lines| {
        format!(
            "{lines}{url}\nassert: {{tool: echo, args: {{message: x}}, expect: {{contains: x}}}}\n"
        )
    });
    let suite = format!(
        "{}---\nserver: {{builtin: conformance}}\nassert: {{tool: echo, args: {{message: x}}}}\n",
        suite.join("---\n")
    );
    let project = Project::with_suite(&suite);
    let server = format!("'{BINARY}' serve");
    let told = "`--server` replaces the `url` of 2 assertions";
    for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
        let ran = project.run(&[verb, &["--server", &server, "--trials", "2"]].concat());
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!((ran.code, said.matches(told).count()), (0, 1), "{said}");
    }
    let other = [
        "run",
        "evals",
        "--server",
        "http://127.0.0.1:1/mcp",
        "--list",
    ];
    assert!(!project.run(&other).stderr.contains("replaces the `url`"));
}

#[test]
fn what_containers_of_the_command_line_do_not_inherit_is_told() {
    let text = "server: {command: x, inherit_env: [TOKEN]}\nassert: {tool: x}\n";
    let project = Project::with_suite(text);
    let told = |options: &[&str]| {
        let ran = project.run(&[&["run", "evals", "--list"], options].concat());
        ran.stderr.contains("`inherit_env` does nothing")
    };
    assert!(told(&["--isolation", "container"]));
    assert!(told(&["--docker", "server:1"]));
    assert!(!told(&["--isolation", "process"]));
    assert!(!told(&[]));
}

#[test]
fn a_url_of_the_command_line_is_one_whatever_the_case_of_its_scheme() {
    let project = Project::with_suite("server: {builtin: conformance}\nassert_tools: {}\n");
    let ran = project.run(&["run", "evals", "--server", "HTTP://127.0.0.1:1/mcp"]);
    assert!(
        ran.stdout
            .contains("`http://127.0.0.1:1/mcp` could not be reached"),
        "{}",
        ran.stdout
    );
    for wrong in ["https://", "http://h:99999", "http://h/a b"] {
        let ran = project.run(&["run", "evals", "--server", wrong]);
        let told = ran
            .stderr
            .contains(&format!("invalid url in `--server {wrong}`"));
        assert_eq!((ran.code, told), (2, true), "{}", ran.stderr);
    }
}

#[test]
#[cfg(unix)]
fn a_command_in_place_of_a_url_is_started_as_its_server_block_says() {
    let case = |server: &str, wanted: &str| {
        let project = Project::with_suite(&format!(
            "server: {{{server}}}\nassert_tools: {{expect: {{contains: x}}}}\n"
        ));
        let told = r#"/bin/sh -c 'echo "mode <$MODE$PORT>, other <$OTHER>, in ${PWD##*/}" >&2'"#;
        let mut command = project.command(&["run", "evals", "--server", told]);
        command.env("OTHER", "omega");
        let ran = project.finish(command);
        assert!(ran.stdout.contains(wanted), "{server}: {}", ran.stdout);
    };
    let url = "transport: http, url: 'http://127.0.0.1:1/mcp'";
    let evals = "env: {MODE: a}, inherit_env: [PATH], cwd: .";
    case(&format!("{url}, {evals}"), "mode <a>, other <>, in evals");
    let launched = "transport: sse, launch: {command: x, env: {MODE: b, PORT: '{{port}}'}}";
    case(launched, "mode <b>, other <omega>");
    case(
        &format!("{launched}, {evals}"),
        "mode <b>, other <>, in evals",
    );
    let builtin = "transport: http, builtin: minimal";
    case(
        &format!("{builtin}, {evals}"),
        "mode <a>, other <>, in evals",
    );
    let on_target = Project::with_suite(&format!(
        "server: {{{launched}}}\nassert_tools: {{expect: {{contains: x}}}}\n"
    ))
    .file(
        "evals/mcp-assert.yaml",
        "targets: {other: {command: /bin/sh, args: [-c, 'echo \"mode <$MODE$PORT>\" >&2']}}\n",
    );
    let ran = on_target.run(&["run", "evals", "--target", "other"]);
    assert!(ran.stdout.contains("mode <b>"), "{}", ran.stdout);
}

/// The ids that `run` lists with these options.
fn listed(project: &Project, options: &[&str]) -> Vec<String> {
    let ran = project.run(&[&["run", "evals", "--list"], options].concat());
    ran.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_switch_can_be_taken_back_and_overrides_the_settings() {
    let server = "server: {builtin: conformance}\n";
    let text = format!("name: n\n{server}assert: {{tool: echo}}\n");
    let deep = |project: Project| project.file("evals/a/b/deep.yaml", text.clone());
    let settings = deep(Project::new().file("evals/mcp-assert.yaml", "compat: true\n"));
    // The Go tool looks one level deep.
    assert!(listed(&settings, &[]).is_empty());
    assert!(listed(&settings, &["--compat"]).is_empty());
    assert_eq!(listed(&settings, &["--compat=false"]).len(), 1);
    assert!(listed(&settings, &["--compat=false", "-compat"]).is_empty());
    let ran = settings.run(&["validate", "--suite", "evals", "--compat=false"]);
    assert!(ran.stdout.starts_with("1 assertion,"), "{}", ran.stdout);
    let none = deep(Project::new());
    assert_eq!(listed(&none, &["--compat", "--compat=false"]).len(), 1);
    assert_eq!(
        listed(&none, &["--json", "--json=false"]),
        ["a/b/deep.yaml::n"]
    );
}

#[test]
fn an_id_is_found_as_it_is_listed_on_a_target_and_runs_there_alone() {
    let project = Project::new()
        .file(
            "evals/mcp-assert.yaml",
            "targets:\n  one: {builtin: conformance}\n  two: {builtin: conformance}\n",
        )
        .file(
            "evals/a.yaml",
            "name: n\nassert: {tool: echo}\n---\nname: m\nassert: {tool: echo}\n",
        );
    let all = [
        "a.yaml::n [one]",
        "a.yaml::n [two]",
        "a.yaml::m [one]",
        "a.yaml::m [two]",
    ];
    let on = |filter: &[&str]| listed(&project, &[&["--target", "all"], filter].concat());
    assert_eq!(on(&[]), all);
    for id in all {
        assert_eq!(on(&["--filter", id]), [id]);
    }
    assert_eq!(on(&["--filter", "a.yaml::n"]), all[..2]);
    assert_eq!(on(&["--filter", "[two]"]), [all[1], all[3]]);
    assert_eq!(
        on(&["--filter", "::n [on", "--filter", "::m"]),
        [all[0], all[2], all[3]]
    );
    assert!(on(&["--filter", "a.yaml::n [three]"]).is_empty());
    // What was left out is still there.
    let run = [
        "run",
        "evals",
        "--target",
        "all",
        "--save-baseline",
        "b.json",
    ];
    project.run(&run);
    let part = [&run[..], &["--filter", all[0]]].concat();
    project.run(&part);
    assert_eq!(project.read("b.json").matches("\"id\"").count(), 4);
}

#[test]
fn an_assertion_that_only_a_target_gives_a_server_needs_one() {
    let project = Project::new()
        .file(
            "evals/mcp-assert.yaml",
            "targets: {one: {builtin: conformance}}\n",
        )
        .file(
            "evals/a.yaml",
            "name: n\nassert: {tool: echo, args: {message: hi}, expect: {contains: [hi]}}\n",
        );
    assert_eq!(project.run(&["validate", "evals"]).code, 0);
    assert_eq!(project.run(&["run", "evals", "--target", "one"]).code, 0);
    let server = ["run", "evals", "--server", BINARY];
    assert!(!project.run(&server).stderr.contains("nothing says which"));
    for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
        let ran = project.run(verb);
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        for words in ["no server is given", "--target", "evals/a.yaml:1"] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
        assert!(!ran.stdout.contains("``") && !ran.stderr.contains("``"));
    }
}

#[test]
fn a_target_that_cannot_be_chosen_is_a_problem_with_its_place() {
    for (name, line) in [("all", 3), ("'a,b'", 3), ("''", 3)] {
        let settings = format!(
            "targets:\n  one: {{builtin: conformance}}\n  {name}: {{builtin: conformance}}\n"
        );
        let project = Project::new()
            .file("evals/mcp-assert.yaml", settings)
            .file("evals/a.yaml", "name: n\nassert: {tool: echo}\n");
        let ran = project.run(&["validate", "evals"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        let place = format!("evals/mcp-assert.yaml:{line}:3");
        for words in ["cannot select the target", &place] {
            assert!(ran.stderr.contains(words), "{words}: {}", ran.stderr);
        }
    }
}

#[test]
fn what_was_probably_meant_is_said() {
    let case = |words: &[&str], said: &str| {
        let ran = Project::new().run(words);
        assert_eq!((ran.code, &ran.stdout[..]), (2, ""), "{words:?}");
        assert!(ran.stderr.contains(said), "{words:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.matches("tip:").count(), 1, "{}", ran.stderr);
    };
    case(&["valdate"], "'validate'");
    case(&["ci", "mrege"], "'merge'");
    case(&["run", "--suit", "evals"], "'--suite'");
    let ran = Project::new().run(&["zzzzzzzz"]);
    assert!(!ran.stderr.contains("tip:"), "{}", ran.stderr);
}

#[test]
fn settings_beside_settings_are_passed_over_for_what_they_are() {
    let text = "name: n\nserver: {builtin: conformance}\nassert: {tool: echo}\n";
    let project = Project::new()
        .file("evals/a.yaml", text)
        .file("evals/mcp-assert.yaml", "jobs: 1\n")
        .file("evals/mcp-assert.yml", "jobs: 2\n")
        .file("evals/sub/mcp-assert.yml", "jobs: 2\n");
    let said = project.run(&["validate", "evals"]).stderr;
    for words in [
        "`evals/mcp-assert.yml` is passed over: the settings are those of `mcp-assert.yaml`",
        "`evals/sub/mcp-assert.yml` is passed over: settings are read at the root of a suite only",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_no_text_is_not_said_to_be_unset() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    let value = OsStr::from_bytes(b"a\xffb");
    for text in [
        "env: {A: '${NU}'}, builtin: conformance",
        "builtin: conformance, args: ['{{env.NU}}']",
    ] {
        let text = format!("name: n\nserver: {{{text}}}\nassert: {{tool: echo}}\n");
        let project = Project::new().file("evals/a.yaml", text);
        let mut command = project.command(&["validate", "evals"]);
        command.env("NU", value);
        let said = project.finish(command).stderr;
        assert!(said.contains("variable `NU` is not UTF-8"), "{said}");
        assert!(!said.contains("is not set"), "{said}");
    }
}

#[test]
fn a_regression_that_cannot_be_found_is_told() {
    let project = Project::new().file(
        "evals/a.yaml",
        "name: n\nserver: {builtin: conformance}\nassert: {tool: echo, args: {message: hi}, expect: {contains: [hi]}}\n",
    );
    let ci = ["ci", "--isolation", "process", "--fail-on-regression"];
    for (baseline, said) in [
        (
            "off",
            "no baseline (`--baseline off` asks for no comparison)",
        ),
        ("auto", "no baseline (no token, so"),
    ] {
        let ran = project.run(&[&ci[..], &["--baseline", baseline]].concat());
        assert!(ran.code == 0 && ran.stderr.contains(said), "{}", ran.stderr);
    }
    let ran = project.run(&["ci", "--isolation", "process"]);
    assert!(!ran.stderr.contains("no baseline"), "{}", ran.stderr);
}
