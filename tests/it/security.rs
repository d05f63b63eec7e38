//! What `docs/isolation.md` promises of secrets and environments.

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

/// The value of a secret that is longer than any part of it that is shown by mistake.
const PASSWORD: &str = "Sup3rSecretPassw0rdOfProduction";

/// Runs a suite whose server is a script that has the password, and looks for it in all that is told.
fn leaks(script: &str, env: &str, subject: &str) -> String {
    let project = Project::with_suite(&format!(
        "server: {{command: python3, args: [server.py], env: {{{env}}}}}\n{subject}\n"
    ))
    .file(
        "server.py",
        format!(
            "import json, os, sys\n\
             password = os.environ['GIVEN']\n\
             def write(text): sys.stdout.write(text + '\\n'); sys.stdout.flush()\n\
             def result(asked, value): write(json.dumps({{'jsonrpc': '2.0', 'id': asked['id'], 'result': value}}))\n\
             for line in sys.stdin:\n  \
               asked = json.loads(line)\n  \
               if asked['method'] == 'initialize':\n    \
                 result(asked, {{'protocolVersion': asked['params']['protocolVersion'], 'capabilities': \
                   {{'tools': {{}}}}, 'serverInfo': {{'name': 'x', 'version': '1'}}}})\n  \
               elif 'id' in asked:\n{script}\n"
        ),
    );
    let mut command = project.command(&["run", "evals", "--trace", "--report-json", "run.json"]);
    command.env("PASS", PASSWORD);
    let ran = project.finish(command);
    assert_ne!(ran.code, 0, "{}", ran.stdout);
    let all = format!("{}{}{}", ran.stdout, ran.stderr, project.read("run.json"));
    for (form, secret) in [
        ("plain", PASSWORD.to_owned()),
        (
            "base64",
            "U3VwM3JTZWNyZXRQYXNzdzByZE9mUHJvZHVjdGlvbg".to_owned(),
        ),
    ] {
        for start in 0..secret.len() - 6 {
            let part = &secret[start..start + 6];
            assert!(!all.contains(part), "{form} {part}: {}", ran.stdout);
        }
    }
    ran.stdout
}

#[test]
fn no_cut_of_a_text_shows_a_part_of_a_secret() {
    let env = "GIVEN: \"${PASS}\"";
    let subject =
        "assert: {tool: x, expect: {not_error: true, contains: [nothing], json_path: {$.a: b}}}";
    let of_error = |text: &str| {
        format!(
            "    result(asked, {{'isError': True, 'content': [{{'type': 'text', 'text': {text}}}]}})"
        )
    };
    // Whatever the width of a window, one of these has the secret across its end.
    for padding in ["'x' * 60", "'x' * 80", "'x' * 88", "'x' * 380", "'x' * 790"] {
        let shown = leaks(
            &of_error(&format!("{padding} + password + 'y' * 900")),
            env,
            subject,
        );
        assert!(shown.contains("***"), "{padding}: {shown}");
    }
    leaks(
        &format!(
            "    sys.stderr.write(password * 4000); sys.stderr.flush()\n{}",
            of_error("password * 9000")
        ),
        env,
        subject,
    );
    leaks(
        "    write('no frame ' + 'x' * 380 + password); sys.exit(1)",
        env,
        subject,
    );
    leaks(
        "    write('{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": \"' + password + '\" ' + password); sys.exit(1)",
        env,
        subject,
    );
}

#[test]
fn a_text_is_cut_once() {
    let shown = leaks(
        "    result(asked, {'isError': True, 'content': [{'type': 'text', 'text': 'x' * 70 + password + 'y' * 40}]})",
        "GIVEN: \"${PASS}\"",
        "assert: {tool: x, expect: {not_error: true}}",
    );
    assert!(!shown.contains("cha…"), "{shown}");
    let line = shown.lines().find(|line| line.contains("***…"));
    assert!(
        line.is_some_and(|line| line.matches("more characters").count() <= 1),
        "{shown}"
    );
}

#[test]
fn a_secret_is_hidden_however_its_json_is_escaped() {
    let project = Project::with_suite(
        "server: {command: python3, args: [server.py], env: {GIVEN: \"${PASS}\"}}\n\
         assert: {tool: x, expect: {not_error: true}}\n",
    )
    .file(
        "server.py",
        r"
import json, sys
given = 'pa&<s>/w\u00f6rd'
for line in sys.stdin:
  asked = json.loads(line)
  if asked['method'] == 'initialize':
    result = {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
      'serverInfo': {'name': 'x', 'version': '1'}}
  elif 'id' in asked:
    result = {'isError': True, 'content': [{'type': 'text', 'text': 'shut'}], '_meta': {
      'python': given, 'PYTHON': 'UPPER', 'php': 'SLASH', 'go': 'GO', 'inner': json.dumps({'a': given})}}
  else:
    continue
  text = json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result})
  text = text.replace('UPPER', 'pa&<s>/w\\u00F6rd').replace('SLASH', 'pa&<s>\\/w\\u00f6rd')
  text = text.replace('GO', 'pa\\u0026\\u003cs\\u003e/w\u00f6rd')
  sys.stdout.write(text + '\n')
  sys.stdout.flush()
",
    );
    let mut command = project.command(&["run", "evals", "--trace", "--report-json", "run.json"]);
    command.env("PASS", "pa&<s>/wörd");
    let ran = project.finish(command);
    let wanted = r#"{"python": "***", "PYTHON": "***", "php": "***", "go": "***", "inner": "{\"a\": \"***\"}"}"#;
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
    assert!(!project.read("run.json").contains("00f6rd"));
}

#[test]
fn a_secret_is_hidden_however_a_server_encodes_it() {
    let project = Project::with_suite(
        "server: {command: python3, args: [server.py], env: {GIVEN: \"${PASS}\"}}\n\
         assert: {tool: x, expect: {contains: nothing, equals: nothing}}\n",
    )
    .file(
        "server.py",
        r"
import base64, html, json, os, sys, urllib.parse
given = os.environ['GIVEN']
pair = ('user:' + given).encode()
forms = [base64.urlsafe_b64encode(given.encode()), base64.b64encode(pair), base64.encodebytes(pair)]
forms = [form.decode() for form in forms]
forms += [urllib.parse.quote(given, safe=''), urllib.parse.quote_plus(given), html.escape(given)]
for line in sys.stdin:
  asked = json.loads(line)
  if asked['method'] == 'initialize':
    result = {'protocolVersion': asked['params']['protocolVersion'], 'capabilities': {'tools': {}},
      'serverInfo': {'name': 'x', 'version': '1'}}
  elif 'id' in asked:
    result = {'content': [{'type': 'text', 'text': 'forms: ' + ' & '.join(forms)}]}
    sys.stderr.write('\n'.join(forms) + '\n')
    sys.stderr.flush()
  else:
    continue
  sys.stdout.write(json.dumps({'jsonrpc': '2.0', 'id': asked['id'], 'result': result}) + '\n')
  sys.stdout.flush()
",
    );
    let secret = "pass?>~ & <word> ".repeat(5) + "end";
    let files = "--junit junit.xml --markdown run.md --report-json run.json --trace";
    let mut command = project.command(&["run", "evals"]);
    command.args(files.split(' ')).env("PASS", &secret);
    let ran = project.finish(command);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(
        ran.stdout.contains("forms: ***== & dXNlcjp***"),
        "{}",
        ran.stdout
    );
    let mut all = vec![ran.stdout, ran.stderr];
    all.extend(["junit.xml", "run.md", "run.json"].map(|file| project.read(file)));
    // A part of it in each form, and `pass` in base64 wherever it stands.
    for part in ["ss?>~", "ss%3F", "ss?&gt;", "cGFzc", "Bhc3", "hc3M"] {
        for place in &all {
            assert!(!place.contains(part), "{part}: {place}");
        }
    }
}

/// Variables, each with a value and in the suite below by its own kind of place.
const TAKEN: [(&str, &str); 6] = [
    ("IN_ARGS", "one-args-value"),
    ("IN_ENV", "two-env-value"),
    ("IN_SETUP", "three-setup-value"),
    ("IN_CALL", "four-call-value"),
    ("IN_EXPECT", "five-expect-value"),
    ("IN_SETTINGS", "six-settings-value"),
];

const TAKES: &str = r#"
name: red
server: {builtin: conformance, args: [--stderr, "it is {{env.IN_ARGS}}"], env: {OWN: "x{{env.IN_ENV}}"}}
setup: [{tool: echo, args: {message: "a {{env.IN_SETUP}}"}}]
assert: {tool: echo, args: {message: "{{env.IN_CALL}} two-env-value"}, expect: {contains: "b {{env.IN_EXPECT}}"}}
---
name: skipped
skip: it has two-env-value
assert: {tool: echo, args: {message: a}, expect: {contains: a}}
"#;

#[test]
fn what_a_template_takes_from_a_variable_is_a_secret_wherever_it_stands() {
    let project = Project::with_suite(TAKES).file(
        "evals/mcp-assert.yaml",
        "targets: {other: {command: x, args: [\"{{env.IN_SETTINGS}}\"]}}\n",
    );
    let places = |arguments: &str| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let mut command = project.command(&arguments);
        command.envs(TAKEN).env("GITHUB_ACTIONS", "true");
        let ran = project.finish(command);
        let runs = ["--dry-run", "--list"]
            .iter()
            .all(|it| !arguments.contains(it));
        assert_eq!(ran.code, i32::from(runs), "{}", ran.stdout);
        [ran.stdout, ran.stderr]
    };
    let [log, rest] = places(
        "ci --suite evals --isolation process --verbose --report-json run.json --junit junit.xml",
    );
    let (masks, shown): (Vec<&str>, Vec<&str>) = log
        .lines()
        .partition(|line| line.starts_with("::add-mask::"));
    let mut all = vec![shown.join("\n"), rest];
    all.extend(places("run evals --trace"));
    for only_told in ["--dry-run", "--dry-run --json", "--list --json"] {
        all.extend(places(&format!("run evals {only_told}")));
    }
    all.extend(["run.json", "junit.xml"].map(|file| project.read(file)));
    for (_, value) in TAKEN {
        let mask = format!("::add-mask::{value}");
        assert!(masks.contains(&mask.as_str()), "{masks:?}");
        for place in &all {
            assert!(!place.contains(value), "{value}: {place}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_name_from_the_suite_does_not_act_on_the_terminal() {
    let folder = "x\u{1b}[31mRED\u{1b}]0;t\u{7}\u{9b}2J\u{202e}\ny";
    let good = "server: {builtin: minimal}\nassert_tools: {expect: {min_results: 1}}\n";
    let named = format!("name: \"n\\e[1m\\nm\"\n{good}");
    let project = Project::new()
        .file(&format!("{folder}/keys.yaml"), format!("asert: 1\n{good}"))
        .file(&format!("{folder}/b.yaml"), &named)
        .file(&format!("{folder}/c.yaml"), &named)
        .file(&format!("{folder}/fixtures/a.yaml"), "")
        .file(&format!("{folder}/empty.yaml"), "")
        .file(&format!("{folder}/sub/mcp-assert.yaml"), "jobs: 2\n");
    std::os::unix::fs::symlink("gone", project.path().join(folder).join("d.yaml")).unwrap();
    let ways: [&[&str]; 8] = [
        &["validate", "."],
        &["validate", folder],
        &["validate", "no\u{1b}[1m\nfile.yaml"],
        &["run", "."],
        &["run", ".", "--json"],
        &["run", ".", "--list"],
        &["run", ".", "--list", "--json"],
        &["run", ".", "--dry-run"],
    ];
    for arguments in ways {
        let ran = project.run(arguments);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert_eq!(ran.code, 2, "{arguments:?}: {all}");
        let acts = |sign: char| (sign.is_control() && sign != '\n') || sign == '\u{202e}';
        assert!(!all.contains(acts), "{arguments:?}: {all:?}");
        let torn = all
            .lines()
            .find(|line| line.starts_with('y') || line.starts_with('m'));
        assert_eq!(torn, None, "{arguments:?}: {all}");
    }
}

#[test]
#[cfg(unix)]
fn what_a_url_takes_from_variables_is_hidden_whoever_stands_in_for_it() {
    let url = "name: of a url\nserver:\n  transport: http\n  headers: {X-Key: \"${IN_HEADER}\"}\n  \
               auth: {bearer: \"$IN_AUTH\"}\n  launch: {command: x, env: {A: \"${IN_LAUNCH}\"}}\n\
               assert: {tool: echo}\n";
    let client = "name: of a client\nserver:\n  transport: sse\n  url: http://127.0.0.1:1/sse\n  auth:\n    \
                  client_credentials: {token_url: 'http://127.0.0.1:1', id: $IN_ID, secret: $IN_SECRET}\n\
                  assert: {tool: echo}\n";
    let telling = "echo \"it has $IN_HEADER $IN_AUTH $IN_LAUNCH $IN_ID $IN_SECRET $IN_TARGET\" >&2";
    let process = format!(
        "name: of a process\nserver: {{command: /bin/sh, args: [-c, '{telling}']}}\nassert: {{tool: echo}}\n"
    );
    let project = Project::with_suite(&[url, client, &process].join("---\n")).file(
        "evals/mcp-assert.yaml",
        format!(
            "targets:\n  one: {{transport: http, url: 'http://x', headers: {{X: $IN_TARGET}}}}\n  \
             two: {{command: /bin/sh, args: [-c, '{telling}']}}\n"
        ),
    );
    let names = [
        "IN_TARGET",
        "IN_HEADER",
        "IN_AUTH",
        "IN_LAUNCH",
        "IN_ID",
        "IN_SECRET",
    ];
    let server = format!("/bin/sh -c '{telling}'");
    let on_one = ["--target", "one", "--server", &server];
    for more in [
        &[][..],
        &["--target", "two"],
        &["--server", &server],
        &on_one,
    ] {
        let run = ["run", "evals", "--trace", "--report-json", "run.json"];
        let mut command = project.command(&[&run, more].concat());
        // Settings' targets are nothing of a run without `--target`.
        let set = &names[usize::from(!more.contains(&"--target"))..];
        command.envs(set.iter().map(|name| (name, format!("value-of-{name}"))));
        let ran = project.finish(command);
        assert!(ran.stdout.contains("it has *** ***"), "{}", ran.stdout);
        for place in [ran.stdout, ran.stderr, project.read("run.json")] {
            assert!(!place.contains("value-of-"), "{more:?}: {place}");
        }
    }
}
