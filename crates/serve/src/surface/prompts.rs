//! Prompts, and completion of their arguments and of the template's id.

use std::collections::HashMap;

use rmcp::ErrorData;
use rmcp::model::{JsonObject, Prompt, PromptArgument, PromptMessage, Reference, Role};
use serde_json::Value;

use super::resources::TEMPLATE;

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";

/// All prompts, in the order of the list.
pub(super) const PROMPTS: [&str; 2] = [SIMPLE, WITH_ARGUMENTS];

/// What `arg1` can be.
const FRUIT: [&str; 6] = [
    "apple",
    "apricot",
    "banana",
    "blueberry",
    "cherry",
    "citron",
];
/// What `id` can be.
const IDS: [&str; 4] = ["1", "12", "123", "2"];

/// The entry of `prompts/list` for a name.
pub(super) fn entry(name: &str) -> Option<Prompt> {
    let argument = |name: &str, about: &str| {
        PromptArgument::new(name)
            .with_description(about)
            .with_required(true)
    };
    match name {
        SIMPLE => Some(Prompt::new(
            SIMPLE,
            Some("A prompt without arguments"),
            None,
        )),
        WITH_ARGUMENTS => Some(Prompt::new(
            WITH_ARGUMENTS,
            Some("A prompt that shows its two arguments"),
            Some(vec![
                argument("arg1", "a fruit; completed by prefix"),
                argument("arg2", "a form of the fruit; completed by what arg1 is"),
            ]),
        )),
        _ => None,
    }
}

/// The description and messages of a prompt.
pub(super) fn get(
    prompt: &Prompt,
    arguments: Option<&JsonObject>,
) -> Result<Vec<PromptMessage>, ErrorData> {
    let mut values = Vec::new();
    for argument in prompt.arguments.iter().flatten() {
        let value = arguments.and_then(|given| given.get(&argument.name));
        match value {
            Some(Value::String(text)) => values.push(format!("{}='{text}'", argument.name)),
            Some(_) => {
                let message = format!("argument \"{}\" has to be text", argument.name);
                return Err(ErrorData::invalid_params(message, None));
            }
            None => {
                let message = format!("argument \"{}\" is missing", argument.name);
                return Err(ErrorData::invalid_params(message, None));
            }
        }
    }
    let text = if values.is_empty() {
        "a prompt without arguments".to_owned()
    } else {
        format!("a prompt with {}", values.join(", "))
    };
    Ok(vec![PromptMessage::new_text(Role::User, text)])
}

/// What has arguments to complete: what is hidden has none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completed<'a> {
    /// The names of the prompts that are offered.
    pub(super) prompts: &'a [&'static str],
    /// The templates that are offered.
    pub(super) templates: &'a [&'static str],
}

impl Completed<'_> {
    /// The values that complete what an argument begins with; an unknown reference or argument is an error.
    pub(super) fn complete(
        self,
        reference: &Reference,
        (argument, prefix): (&str, &str),
        given: Option<&HashMap<String, String>>,
    ) -> Result<Vec<String>, ErrorData> {
        let values = match (self.target(reference), argument) {
            (Some(Target::Arguments), "arg1") => {
                FRUIT.iter().map(|&fruit| fruit.to_owned()).collect()
            }
            (Some(Target::Arguments), "arg2") => forms(given.and_then(|given| given.get("arg1"))),
            (Some(Target::Template), "id") => IDS.iter().map(|&id| id.to_owned()).collect(),
            (Some(Target::Simple | Target::Arguments | Target::Template), other) => {
                let message = format!("no argument \"{other}\" to complete");
                return Err(ErrorData::invalid_params(message, None));
            }
            (None, _) => {
                let message = "nothing to complete at this reference";
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(values
            .into_iter()
            .filter(|value: &String| value.starts_with(prefix))
            .collect())
    }

    fn target(self, reference: &Reference) -> Option<Target> {
        match reference {
            Reference::Prompt(prompt) => {
                let name = self.prompts.iter().find(|name| **name == prompt.name)?;
                match *name {
                    SIMPLE => Some(Target::Simple),
                    WITH_ARGUMENTS => Some(Target::Arguments),
                    _ => None,
                }
            }
            Reference::Resource(resource) => {
                let offered = self.templates.contains(&TEMPLATE);
                (offered && resource.uri == TEMPLATE).then_some(Target::Template)
            }
            // rmcp's enum may grow; a new kind of reference is none of ours.
            _ => None,
        }
    }
}

/// What a reference names, as far as it is ours.
enum Target {
    Simple,
    Arguments,
    Template,
}

fn forms(fruit: Option<&String>) -> Vec<String> {
    let fruit = fruit.map_or("fruit", String::as_str);
    ["cake", "jam", "juice"]
        .iter()
        .map(|form| format!("{fruit} {form}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALL: Completed<'_> = Completed {
        prompts: &PROMPTS,
        templates: &[TEMPLATE],
    };

    fn completed(reference: &Reference, argument: &str, prefix: &str) -> Vec<String> {
        ALL.complete(reference, (argument, prefix), None).unwrap()
    }

    #[test]
    fn arguments_are_shown_and_have_to_be_there() {
        let prompt = entry(WITH_ARGUMENTS).unwrap();
        let all = json!({"arg1": "a", "arg2": "b"});
        let text = serde_json::to_string(&get(&prompt, all.as_object()).unwrap()).unwrap();
        assert!(text.contains("arg1='a', arg2='b'"), "{text}");
        for broken in [
            json!({"arg1": "a"}),
            json!({"arg1": "a", "arg2": 2}),
            json!({}),
        ] {
            let error = get(&prompt, broken.as_object()).unwrap_err();
            assert_eq!(error.code.0, -32602);
            assert!(error.message.contains("arg"), "{}", error.message);
        }
    }

    #[test]
    fn completion_goes_by_prefix_and_context() {
        let prompt = Reference::for_prompt(WITH_ARGUMENTS);
        assert_eq!(completed(&prompt, "arg1", "ap"), ["apple", "apricot"]);
        assert_eq!(completed(&prompt, "arg1", "zz"), [""; 0]);
        assert_eq!(
            completed(&prompt, "arg2", "fruit j"),
            ["fruit jam", "fruit juice"]
        );
        let given = HashMap::from([("arg1".to_owned(), "cherry".to_owned())]);
        let forms = ALL.complete(&prompt, ("arg2", ""), Some(&given)).unwrap();
        assert_eq!(forms, ["cherry cake", "cherry jam", "cherry juice"]);
        let template = Reference::for_resource(TEMPLATE);
        assert_eq!(completed(&template, "id", "12"), ["12", "123"]);
        assert!(ALL.complete(&prompt, ("arg3", ""), None).is_err());
        let nobody = Reference::for_prompt("nobody");
        assert!(ALL.complete(&nobody, ("arg1", ""), None).is_err());
        let hidden = Completed {
            prompts: &[SIMPLE],
            templates: &[],
        };
        assert!(hidden.complete(&prompt, ("arg1", ""), None).is_err());
        assert!(hidden.complete(&template, ("id", ""), None).is_err());
    }
}
