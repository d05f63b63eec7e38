//! The executable's role as a GitHub container action. Inputs come from `INPUT_*` variables and nothing from the
//! command line. Unknown inputs are an error, because the runner only warns about them.

use std::{error::Error as _, sync::Arc};

use clap::{
    Parser,
    error::{ContextKind, ContextValue},
};

use super::{Context, ci, dispatch, first_words};
use crate::cli::{
    Cli, Command,
    ci::Switch,
    inputs::{Input, Mode, Shape, inputs},
};
use host::container::engine::Asker;
use text::{
    clean,
    environment::{Environment, is_variable_name},
    nearest,
};

/// The program name that selects this role.
pub(super) const NAME: &str = "mcp-assert-action";

/// The prefix of input variables.
const PREFIX: &str = "INPUT_";

/// An input of the Go tool's action that has no effect here.
const FORMER: &str = "version";

/// Inputs without a command-line option.
const OWN: [&str; 2] = ["mode", "token"];

/// The variable in which the workflow that can be called hands over its secret `env`.
const HANDED_OVER: &str = "MCP_ASSERT_ENV";

/// How the names of variables begin that belong to the runner, whether it sets them or not.
const OF_THE_RUNNER: [&str; 4] = ["ACTIONS_", "GITHUB_TOKEN", "INPUT_", "STATE_"];

/// Runs the command that the inputs describe.
pub(super) fn action(words: &[std::ffi::OsString], context: &Context) -> u8 {
    context.interrupts.listen();
    if let Some(log) = &context.log {
        log.begin();
    }
    let inputs = Arc::clone(&context.environment);
    let (environment, mut problems) = own_environment(&inputs);
    let context = Context {
        environment: Arc::new(environment),
        asker: Asker::Action,
        ..context.clone()
    };
    match verb(words, &inputs) {
        Ok(verb) if problems.is_empty() => {
            if inputs.set("INPUT_VERSION").is_some() {
                context.say(
                    "warning: the input `version` is ignored: the version is the one that \
                     `uses:` names\n",
                );
            }
            return dispatch(verb, &context);
        }
        Ok(_) => {}
        Err(more) => problems.extend(more),
    }
    let said = problems.iter().fold(String::new(), |said, problem| {
        said + &format!("error: {}\n", clean(problem))
    });
    ci::refused((&problems, &said), marked(&inputs), &context).number()
}

/// Parses the inputs into a command, or says all that is wrong with them.
fn verb(words: &[std::ffi::OsString], inputs: &Environment) -> Result<Command, Vec<String>> {
    if let Some(word) = words.first() {
        let word = clean(&word.to_string_lossy());
        return Err(vec![format!(
            "the action takes inputs and no arguments, found `{word}`"
        )]);
    }
    let typed = command_line(inputs)?;
    let typed = Cli::try_parse_from(typed).map_err(|error| vec![unusable(&error)])?;
    let nothing = || vec!["the inputs name nothing to do".to_owned()];
    typed.command.ok_or_else(nothing)
}

/// Formats a clap error; options and inputs share their names.
fn unusable(error: &clap::Error) -> String {
    let said = error.render().to_string();
    format!("invalid inputs: {}", first_words(&said))
}

/// Says why the value of an input cannot be used, by the options it becomes. Other errors need the other inputs.
fn refused_value(name: &str, mode: Mode, options: &[String]) -> Option<String> {
    let words = ["mcp-assert"]
        .into_iter()
        .chain(mode.verb().iter().copied());
    let error = Cli::try_parse_from(words.chain(options.iter().map(String::as_str))).err()?;
    let told = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => Some(texts.join("`, `")),
        Some(_) | None => None,
    };
    let value = clean(&told(ContextKind::InvalidValue)?);
    let why = match (error.source(), told(ContextKind::ValidValue)) {
        (Some(reason), _) => format!(": {reason}"),
        (None, Some(known)) => format!(", and not one of `{known}`"),
        (None, None) => String::new(),
    };
    let near = told(ContextKind::SuggestedValue);
    let near = near.map(|near| format!(", did you mean `{near}`?"));
    let near = near.unwrap_or_default();
    Some(format!("the input `{name}` is `{value}`{why}{near}"))
}

/// Reads `annotations` and `summary`, which apply even if other inputs are invalid.
fn marked(inputs: &Environment) -> [Switch; 2] {
    ["INPUT_ANNOTATIONS", "INPUT_SUMMARY"].map(|name| match inputs.set(name) {
        Some("off") => Switch::Off,
        Some(_) | None => Switch::Auto,
    })
}

/// Converts the inputs into command-line arguments, or says all that is wrong with them.
fn command_line(environment: &Environment) -> Result<Vec<String>, Vec<String>> {
    let known = inputs();
    let given: Vec<(String, &str)> = environment
        .variables
        .iter()
        // The runner writes names in upper case with `_` for a blank; hyphens stay.
        .filter_map(|(variable, value)| Some((variable.strip_prefix(PREFIX)?, value)))
        .map(|(name, value)| (name.to_lowercase(), value.trim()))
        .collect();
    let unknown = given.iter().map(|(name, _)| refuse_unknown(name, &known));
    let mut problems: Vec<String> = unknown.filter_map(Result::err).collect();
    let mode = match mode(given.iter().find(|(name, _)| name == "mode").map(|it| it.1)) {
        Ok(mode) => mode,
        Err(problem) => {
            problems.push(problem);
            return Err(problems);
        }
    };
    let mut typed = vec!["mcp-assert".to_owned()];
    typed.extend(mode.verb().iter().map(|word| (*word).to_owned()));
    let mut used: Vec<(&str, &str)> = Vec::new();
    for input in &known {
        let value = given.iter().find(|(name, _)| *name == input.name);
        let value = value.map_or("", |(_, value)| value);
        if value.is_empty() || value == input.default {
            continue;
        }
        used.push((&input.name, value));
        match usable(input, value, mode, environment) {
            Ok(options) => typed.extend(options),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(clashes(mode, &used));
    if problems.is_empty() {
        Ok(typed)
    } else {
        Err(problems)
    }
}

/// The options of one input, if they can be used alone.
fn usable(
    input: &Input,
    value: &str,
    mode: Mode,
    environment: &Environment,
) -> Result<Vec<String>, String> {
    if !input.modes.contains(&mode) {
        let modes: Vec<&str> = input.modes.iter().map(|mode| mode.word()).collect();
        return Err(format!(
            "the input `{}` has no use with `mode: {}`, only with {}",
            input.name,
            mode.word(),
            modes.join(", ")
        ));
    }
    let options = options(input, value, environment)?;
    match refused_value(&input.name, mode, &options) {
        Some(problem) => Err(problem),
        None => Ok(options),
    }
}

/// What is wrong with inputs taken together.
fn clashes(mode: Mode, used: &[(&str, &str)]) -> Vec<String> {
    let is_used = |wanted| used.iter().any(|(name, _)| *name == wanted);
    let mut problems = Vec::new();
    if mode == Mode::Shard && !is_used("shard") {
        problems.push("`mode: shard` needs the input `shard`, such as `1/4`".to_owned());
    }
    if used.contains(&("isolation", "process")) {
        let of_containers = ["image", "prepare", "docker-host"].into_iter();
        problems.extend(of_containers.filter(|name| is_used(name)).map(|name| {
            format!(
                "the input `{name}` has no use with `isolation: process`: leave one of them out"
            )
        }));
    } else if is_used("prepare") && !is_used("image") {
        problems.push(
            "the input `prepare` needs the input `image`; for images that the suite names, write \
             `docker: {prepare: […]}` in mcp-assert.yaml"
                .to_owned(),
        );
    }
    problems
}

/// Converts one input into options.
fn options(input: &Input, value: &str, environment: &Environment) -> Result<Vec<String>, String> {
    let name = &input.name;
    let option = |value: &str| format!("--{name}={}", inside(value, environment));
    match input.shape {
        Shape::Switch => match value {
            "true" | "True" | "TRUE" => Ok(vec![format!("--{name}")]),
            "false" | "False" | "FALSE" => Ok(Vec::new()),
            other => Err(format!(
                "the input `{name}` is `true` or `false`, found `{}`",
                clean(other)
            )),
        },
        Shape::List => Ok(value
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .map(option)
            .collect()),
        Shape::Text => Ok(vec![option(value)]),
    }
}

/// Maps a path on the runner to its path in this container. The runner translates only whole values, not further lines
/// of a list.
fn inside(value: &str, environment: &Environment) -> String {
    let mapped = || {
        let above = environment.set("RUNNER_WORKSPACE")?.trim_end_matches('/');
        let (_, repository) = environment.set("GITHUB_REPOSITORY")?.split_once('/')?;
        let rest = value.strip_prefix(above)?.strip_prefix('/')?;
        let rest = rest.strip_prefix(repository)?;
        let workspace = environment.set("GITHUB_WORKSPACE")?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!("{workspace}{rest}"))
    };
    mapped().unwrap_or_else(|| value.to_owned())
}

fn refuse_unknown(name: &str, known: &[Input]) -> Result<(), String> {
    let names = || known.iter().map(|input| input.name.as_str()).chain(OWN);
    if name == FORMER || names().any(|known| known == name) {
        return Ok(());
    }
    let is_alias = |input: &&Input| input.aliases.iter().any(|alias| alias == name);
    let near = match known.iter().find(is_alias) {
        Some(input) => Some(input.name.as_str()),
        None => nearest(name, names()),
    };
    let known: Vec<&str> = names().collect();
    Err(unknown(("input", name), near, &known))
}

/// Formats the error for an unknown name, with the nearest valid name, else all of them.
fn unknown((what, name): (&str, &str), near: Option<&str>, known: &[&str]) -> String {
    let meant = match near {
        Some(near) => format!(", did you mean `{near}`?"),
        None => format!("; the {what}s are {}", known.join(", ")),
    };
    format!("unknown {what} `{}`{meant}", clean(name))
}

fn mode(given: Option<&str>) -> Result<Mode, String> {
    let word = given
        .filter(|word| !word.is_empty())
        .unwrap_or(Mode::Run.word());
    let words = Mode::ALL.map(Mode::word);
    let found = Mode::ALL.into_iter().find(|mode| mode.word() == word);
    found.ok_or_else(|| unknown(("mode", word), nearest(word, words), &words))
}

/// Returns the environment of a plain `run` step: the token as `GITHUB_TOKEN`, no inputs, and the variables that were
/// handed over. Also what is wrong with those, without their values.
fn own_environment(environment: &Environment) -> (Environment, Vec<String>) {
    let mut own = environment.clone();
    if let Some(token) = environment.set("INPUT_TOKEN") {
        own.variables
            .insert("GITHUB_TOKEN".to_owned(), token.to_owned());
    }
    own.variables.retain(|name, _| !name.starts_with(PREFIX));
    let mut problems = Vec::new();
    let lines = own.variables.remove(HANDED_OVER).unwrap_or_default();
    for (index, line) in lines.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let pair = line.split_once('=');
        match pair.map(|(name, value)| (name.trim(), value)) {
            Some((name, value)) if is_free(name, environment) => {
                own.variables.insert(name.to_owned(), value.to_owned());
                own.confidential.push(name.to_owned());
            }
            Some(_) | None => problems.push(format!(
                "line {} of the secret `env` is not `KEY=VALUE`, or the runner has a variable of that name",
                index + 1
            )),
        }
    }
    (own, problems)
}

/// Whether a variable that is handed over may have this name.
fn is_free(name: &str, environment: &Environment) -> bool {
    let mut taken = OF_THE_RUNNER.iter();
    is_variable_name(name)
        && environment.variable(name).is_none()
        && !taken.any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::{command_line, own_environment};
    use crate::cli::inputs::{Shape, inputs};
    use text::environment::Environment;

    fn given(inputs: &[(&str, &str)]) -> Environment {
        let variables = inputs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        Environment {
            variables,
            ..Environment::default()
        }
    }

    #[test]
    fn inputs_become_options_and_empty_ones_and_defaults_nothing() {
        let case = |inputs: &[(&str, &str)], wanted: &str| {
            let typed = command_line(&given(inputs)).unwrap();
            assert_eq!(typed.join(" "), format!("mcp-assert {wanted}"));
        };
        case(&[], "ci");
        case(
            &[
                ("INPUT_SUITE", "evals\n more \n\n"),
                ("INPUT_SERVER", ""),
                ("INPUT_FAIL-ON-REGRESSION", "true"),
                ("INPUT_ALLOW-EMPTY", "false"),
                ("INPUT_ISOLATION", "container"),
                ("INPUT_TOKEN", "t"),
                ("PATH", "/bin"),
            ],
            "ci --suite=evals --suite=more --fail-on-regression",
        );
        case(
            &[("INPUT_MODE", "plan"), ("INPUT_MAX-SHARDS", " 4 ")],
            "ci plan --max-shards=4",
        );
        case(
            &[("INPUT_MODE", "merge"), ("INPUT_JUNIT", "-x")],
            "ci merge --junit=-x",
        );
        case(
            &[("INPUT_MODE", "shard"), ("INPUT_SHARD", "1/4")],
            "ci --shard=1/4",
        );
        case(
            &[("INPUT_PREPARE", "a\nb\n"), ("INPUT_IMAGE", "x")],
            "ci --image=x --prepare=a\nb",
        );
    }

    #[test]
    fn every_input_at_its_default_is_what_every_mode_takes() {
        let all = inputs();
        let mut variables: Vec<(String, String)> = all
            .iter()
            .map(|it| {
                (
                    format!("INPUT_{}", it.name.to_uppercase()),
                    it.default.clone(),
                )
            })
            .collect();
        variables.push(("INPUT_SHARD".to_owned(), String::new()));
        for mode in ["run", "plan", "merge"] {
            let mut environment = given(&[("INPUT_MODE", mode), ("INPUT_TOKEN", "")]);
            environment.variables.extend(variables.clone());
            let typed = command_line(&environment).unwrap();
            assert!(
                !typed.iter().any(|word| word.starts_with("--")),
                "{typed:?}"
            );
        }
        assert!(all.iter().any(|it| it.shape == Shape::Switch));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        let case = |inputs: &[(&str, &str)], wanted: &str| {
            let problems = command_line(&given(inputs)).unwrap_err().join("\n");
            assert!(problems.contains(wanted), "{problems}");
        };
        case(
            &[("INPUT_SUITES", "evals")],
            "unknown input `suites`, did you mean `suite`?",
        );
        case(
            &[("INPUT_FAIL_ON_REGRESSION", "true")],
            "did you mean `fail-on-regression`?",
        );
        case(
            &[("INPUT_DOCKER", "node:22")],
            "unknown input `docker`, did you mean `image`?",
        );
        case(
            &[("INPUT_SAVE-BASELINE", "auto")],
            "did you mean `update-baseline`?",
        );
        case(&[("INPUT_NONSENSE", "x")], "; the inputs are suite, ");
        case(&[("INPUT_MODE", "shrad")], "did you mean `shard`?");
        case(
            &[("INPUT_ALLOW-EMPTY", "yes")],
            "is `true` or `false`, found `yes`",
        );
        case(
            &[("INPUT_MODE", "merge"), ("INPUT_SERVER", "x")],
            "no use with `mode: merge`, only with run, plan, shard",
        );
        case(&[("INPUT_MODE", "shard")], "needs the input `shard`");
        case(&[("INPUT_SHARD", "1/4")], "only with shard");
        case(
            &[("INPUT_PREPARE", "npm ci")],
            "`prepare` needs the input `image`",
        );
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let problems = command_line(&given(&[
            ("INPUT_COMMENT", "allways"),
            ("INPUT_IMAGE", "node:22"),
            ("INPUT_ISOLATION", "process"),
            ("INPUT_JOBS", "0"),
            ("INPUT_SUIT", "x"),
            ("INPUT_TIMEOUT", "soon"),
        ]));
        insta::assert_snapshot!(problems.unwrap_err().join("\n"), @r"
        unknown input `suit`, did you mean `suite`?
        the input `jobs` is `0`: expected `auto` or a number of at least 1
        the input `timeout` is `soon`: a number is missing; write `500ms`, `30s` or `1m30s`
        the input `comment` is `allways`, and not one of `always`, `changes`, `failures`, `off`, did you mean `always`?
        the input `image` has no use with `isolation: process`: leave one of them out
        ");
    }

    #[test]
    fn paths_of_the_machine_become_those_of_the_container() {
        let environment = given(&[
            ("RUNNER_WORKSPACE", "/home/runner/work/name"),
            ("GITHUB_REPOSITORY", "owner/name"),
            ("GITHUB_WORKSPACE", "/github/workspace"),
            (
                "INPUT_SUITE",
                "a\n/home/runner/work/name/name/b\n/home/runner/work/name/names/c",
            ),
        ]);
        let typed = command_line(&environment).unwrap();
        assert_eq!(
            typed[2..],
            [
                "--suite=a",
                "--suite=/github/workspace/b",
                "--suite=/home/runner/work/name/names/c"
            ]
        );
    }

    #[test]
    fn nothing_behind_the_action_sees_inputs() {
        let lines =
            "# keys\nKEY=a=b\n\n B = two words \r\nGITHUB_TOKEN=x\nA=2\nnothing\nGITHUB_PAT=y\n";
        let (own, problems) = own_environment(&given(&[
            ("INPUT_TOKEN", "t"),
            ("INPUT_SUITE", "x"),
            ("A", "1"),
            ("MCP_ASSERT_ENV", lines),
        ]));
        let variables: Vec<String> = own
            .variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            variables,
            [
                "A=1",
                "B= two words",
                "GITHUB_PAT=y",
                "GITHUB_TOKEN=t",
                "KEY=a=b"
            ]
        );
        assert_eq!(own.confidential, ["KEY", "B", "GITHUB_PAT"]);
        let lines: Vec<&str> = problems.iter().map(|it| &it[..6]).collect();
        assert_eq!(lines, ["line 5", "line 6", "line 7"]);
    }
}
