//! The executable's role as a GitHub container action. Inputs come from `INPUT_*` variables and nothing from the
//! command line. Unknown inputs are an error, because the runner only warns about them.

use std::sync::Arc;

use clap::Parser;

use super::{Context, ci, dispatch, first_words};
use crate::cli::{
    Cli, Command,
    ci::Switch,
    inputs::{Input, Mode, Shape, inputs},
};
use host::container::engine::Asker;
use text::{clean, environment::Environment, nearest};

/// The program name that selects this role.
pub(super) const NAME: &str = "mcp-assert-action";

/// The prefix of input variables.
const PREFIX: &str = "INPUT_";

/// An input of the Go tool's action that has no effect here.
const FORMER: &str = "version";

/// Inputs without a command-line option.
const OWN: [&str; 2] = ["mode", "token"];

/// Runs the command that the inputs describe.
pub(super) fn action(words: &[std::ffi::OsString], context: &Context) -> u8 {
    context.interrupts.listen();
    if let Some(log) = &context.log {
        log.begin();
    }
    let inputs = Arc::clone(&context.environment);
    let context = Context {
        environment: Arc::new(without_inputs(&inputs)),
        asker: Asker::Action,
        ..context.clone()
    };
    match verb(words, &inputs) {
        Ok(verb) => {
            if inputs.set("INPUT_VERSION").is_some() {
                context.say(
                    "warning: the input `version` is ignored: the version is the one that \
                     `uses:` names\n",
                );
            }
            dispatch(verb, &context)
        }
        Err(problem) => {
            let said = format!("error: {}\n", clean(&problem));
            ci::refused((&problem, &said), marked(&inputs), &context).number()
        }
    }
}

/// Parses the inputs into a command.
fn verb(words: &[std::ffi::OsString], inputs: &Environment) -> Result<Command, String> {
    if let Some(word) = words.first() {
        let word = clean(&word.to_string_lossy());
        return Err(format!(
            "the action takes inputs and no arguments, found `{word}`"
        ));
    }
    let typed = command_line(inputs)?;
    let typed = Cli::try_parse_from(typed).map_err(|error| unusable(&error))?;
    let nothing = || "the inputs name nothing to do".to_owned();
    typed.command.ok_or_else(nothing)
}

/// Formats a clap error; options and inputs share their names.
fn unusable(error: &clap::Error) -> String {
    let said = error.render().to_string();
    format!("invalid inputs: {}", first_words(&said))
}

/// Reads `annotations` and `summary`, which apply even if other inputs are invalid.
fn marked(inputs: &Environment) -> [Switch; 2] {
    ["INPUT_ANNOTATIONS", "INPUT_SUMMARY"].map(|name| match inputs.set(name) {
        Some("off") => Switch::Off,
        Some(_) | None => Switch::Auto,
    })
}

/// Converts the inputs into command-line arguments.
fn command_line(environment: &Environment) -> Result<Vec<String>, String> {
    let known = inputs();
    let given: Vec<(String, &str)> = environment
        .variables
        .iter()
        // The runner writes names in upper case with `_` for a blank; hyphens stay.
        .filter_map(|(variable, value)| Some((variable.strip_prefix(PREFIX)?, value)))
        .map(|(name, value)| (name.to_lowercase(), value.trim()))
        .collect();
    for (name, _) in &given {
        refuse_unknown(name, &known)?;
    }
    let mode = mode(given.iter().find(|(name, _)| name == "mode").map(|it| it.1))?;
    let mut typed = vec!["mcp-assert".to_owned()];
    typed.extend(mode.verb().iter().map(|word| (*word).to_owned()));
    for input in &known {
        let value = given.iter().find(|(name, _)| *name == input.name);
        let value = value.map_or("", |(_, value)| value);
        if value.is_empty() || value == input.default {
            continue;
        }
        if !input.modes.contains(&mode) {
            let modes: Vec<&str> = input.modes.iter().map(|mode| mode.word()).collect();
            return Err(format!(
                "the input `{}` has no use with `mode: {}`, only with {}",
                input.name,
                mode.word(),
                modes.join(", ")
            ));
        }
        typed.extend(options(input, value, environment)?);
    }
    if mode == Mode::Shard && !typed.iter().any(|word| word.starts_with("--shard=")) {
        return Err("`mode: shard` needs the input `shard`, such as `1/4`".to_owned());
    }
    Ok(typed)
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

/// Formats the error for an unknown name, with the nearest and all valid names.
fn unknown((what, name): (&str, &str), near: Option<&str>, known: &[&str]) -> String {
    let near = near.map(|near| format!(", did you mean `{near}`?"));
    format!(
        "unknown {what} `{}`{}\n  {what}s: {}",
        clean(name),
        near.unwrap_or_default(),
        known.join(", ")
    )
}

fn mode(given: Option<&str>) -> Result<Mode, String> {
    let word = given
        .filter(|word| !word.is_empty())
        .unwrap_or(Mode::Run.word());
    let words = Mode::ALL.map(Mode::word);
    let found = Mode::ALL.into_iter().find(|mode| mode.word() == word);
    found.ok_or_else(|| unknown(("mode", word), nearest(word, words), &words))
}

/// Returns the environment of a plain `run` step: the token as `GITHUB_TOKEN`, and no inputs.
fn without_inputs(environment: &Environment) -> Environment {
    let mut own = environment.clone();
    if let Some(token) = environment.set("INPUT_TOKEN") {
        own.variables
            .insert("GITHUB_TOKEN".to_owned(), token.to_owned());
    }
    own.variables.retain(|name, _| !name.starts_with(PREFIX));
    own
}

#[cfg(test)]
mod tests {
    use super::{command_line, without_inputs};
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
        case(&[("INPUT_PREPARE", "a\nb\n")], "ci --prepare=a\nb");
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
            let problem = command_line(&given(inputs)).unwrap_err();
            assert!(problem.contains(wanted), "{problem}");
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
        case(&[("INPUT_ARGS", "x")], "inputs: suite, ");
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
        let own = without_inputs(&given(&[
            ("INPUT_TOKEN", "t"),
            ("INPUT_SUITE", "x"),
            ("A", "1"),
        ]));
        let names: Vec<&str> = own.variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["A", "GITHUB_TOKEN"]);
    }
}
