//! The role of the executable as a GitHub container action: inputs come as `INPUT_*` variables, and nothing from
//! the command line.

use clap::Parser;

use super::{Context, dispatch};
use crate::{
    cli::Cli,
    words::{environment::Environment, exit::ExitCode, text::nearest},
};

/// The name that picks this role.
pub(super) const NAME: &str = "mcp-assert-action";

/// The inputs of `action.yml`, each an option of `run` of the same name.
const INPUTS: [&str; 3] = ["suite", "server", "fixture"];

/// The start of an input's variable.
const PREFIX: &str = "INPUT_";

/// Runs the suites that the inputs name.
pub(super) fn action(words: &[std::ffi::OsString], context: &Context) -> u8 {
    if let Some(log) = &context.log {
        log.begin();
    }
    if let Some(word) = words.first() {
        return refuse(
            context,
            &format!(
                "the action takes inputs and no arguments, found `{}`",
                word.to_string_lossy()
            ),
        );
    }
    let typed = match command_line(&context.environment) {
        Ok(typed) => typed,
        Err(problem) => return refuse(context, &problem),
    };
    match Cli::try_parse_from(typed).map(|cli| cli.command) {
        Ok(Some(verb)) => dispatch(verb, context),
        Ok(None) => refuse(context, "the inputs name nothing to do"),
        Err(error) => refuse(context, &error.to_string()),
    }
}

/// The inputs as the command line of `run`. An input that does not exist is an error: the runner itself only warns.
fn command_line(environment: &Environment) -> Result<Vec<String>, String> {
    let mut typed = vec!["mcp-assert".to_owned(), "run".to_owned()];
    for (variable, value) in &environment.variables {
        let Some(name) = variable.strip_prefix(PREFIX) else {
            continue;
        };
        // The runner writes names in upper case with `_` for a blank; hyphens stay.
        let name = name.to_lowercase();
        if !INPUTS.contains(&name.as_str()) {
            let near = nearest(&name, INPUTS).map(|near| format!("; did you mean `{near}`?"));
            let all = format!("; inputs: {}", INPUTS.join(", "));
            return Err(format!("unknown input `{name}`{}", near.unwrap_or(all)));
        }
        let values: Vec<&str> = match name.as_str() {
            "suite" => value.lines().map(str::trim).collect(),
            _ => vec![value.trim()],
        };
        for value in values.into_iter().filter(|value| !value.is_empty()) {
            typed.push(format!("--{name}={value}"));
        }
    }
    Ok(typed)
}

fn refuse(context: &Context, problem: &str) -> u8 {
    context.say(&format!("error: {problem}\n"));
    ExitCode::Invalid.number()
}

#[cfg(test)]
mod tests {
    use super::command_line;
    use crate::words::environment::Environment;

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
    fn inputs_become_options_and_empty_ones_nothing() {
        let inputs = [
            ("INPUT_SUITE", "evals\n more \n"),
            ("INPUT_SERVER", ""),
            ("INPUT_FIXTURE", "files"),
            ("PATH", "/bin"),
        ];
        let typed = command_line(&given(&inputs)).unwrap();
        let wanted = [
            "mcp-assert",
            "run",
            "--fixture=files",
            "--suite=evals",
            "--suite=more",
        ];
        assert_eq!(typed, wanted);
    }

    #[test]
    fn an_unknown_input_offers_the_nearest() {
        let problem = command_line(&given(&[("INPUT_SUITES", "evals")])).unwrap_err();
        assert_eq!(problem, "unknown input `suites`; did you mean `suite`?");
    }
}
