//! What `docs/security.md` promises of secrets and environments.

use crate::harness::Project;

#[test]
fn a_value_of_a_variable_shows_in_no_report() {
    let project = Project::with_suite(
        "name: red\n\
         server: {builtin: conformance, env: {TOKEN: \"$TOKEN\"}, args: [--stderr, \"it is open-sesame\"]}\n\
         assert: {tool: echo, args: {message: \"open-sesame b3Blbi1zZXNhbWU=\"}, expect: {contains: closed}}\n",
    );
    let mut command = project.command(&[
        "run",
        "evals",
        "--trace",
        "--junit",
        "junit.xml",
        "--markdown",
        "summary.md",
        "--report-json",
        "run.json",
        "--save-baseline",
        "baseline.json",
    ]);
    command.env("TOKEN", "open-sesame");
    let ran = project.finish(command);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let mut places = vec![ran.stdout, ran.stderr];
    for file in ["junit.xml", "summary.md", "run.json", "baseline.json"] {
        places.push(project.read(file));
    }
    assert!(places[0].contains("***"), "{}", places[0]);
    for place in places {
        assert!(!place.contains("open-sesame"), "{place}");
        assert!(!place.contains("b3Blbi1zZXNhbWU"), "{place}");
    }
}

#[test]
fn a_server_inherits_what_the_suite_says() {
    let case = |inherit: &str, wanted: &str| {
        let project = Project::with_suite(&format!(
            "server: {{command: /bin/sh, args: [-c, 'echo \"it has <$A_TOKEN> and <$OTHER>\" >&2'], {inherit}}}\n\
             assert: {{tool: echo}}\n"
        ));
        let mut command = project.command(&["run", "evals"]);
        command.env("A_TOKEN", "alpha").env("OTHER", "omega");
        let ran = project.finish(command);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(
            ran.stdout.contains(wanted),
            "{inherit}: no {wanted} in {}",
            ran.stdout
        );
    };
    case("", "it has <alpha> and <omega>");
    case("inherit_env: false", "it has <> and <>");
    case("inherit_env: [OTHER]", "it has <> and <omega>");
}
