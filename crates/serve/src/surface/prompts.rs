//! Prompts, and completion of their arguments and of the template's id.

use std::collections::HashMap;

use rmcp::ErrorData;
use rmcp::model::{GetPromptResult, JsonObject, Prompt, PromptArgument, Reference};
use serde::Deserialize;
use serde_json::{Value, json};

use super::official::fill;
use super::resources::TEMPLATE;
use super::rounds::Inquiry;

const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";

/// One prompt of the table.
#[derive(Default, Deserialize)]
pub(super) struct Entry {
    pub(super) name: String,
    about: String,
    /// Arguments that have to be there, each with what it is for.
    #[serde(default)]
    texts: JsonObject,
    /// The first question.
    pub(super) asks: Option<Inquiry>,
    /// Content of its messages.
    gives: Vec<Value>,
}

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

impl Entry {
    /// Of the list.
    pub(super) fn listed(&self) -> Prompt {
        let arguments = self.texts.iter().map(|(name, about)| {
            PromptArgument::new(name)
                .with_description(about.as_str().unwrap_or_default())
                .with_required(true)
        });
        let arguments = (!self.texts.is_empty()).then(|| arguments.collect());
        Prompt::new(&self.name, Some(&self.about), arguments)
    }

    /// The description and messages, with the arguments and the answers in words.
    pub(super) fn get(&self, given: &JsonObject) -> Result<GetPromptResult, ErrorData> {
        for name in self.texts.keys() {
            let problem = match given.get(name) {
                Some(Value::String(_)) => continue,
                Some(_) => "has to be text",
                None => "is missing",
            };
            let message = format!("argument \"{name}\" {problem}");
            return Err(ErrorData::invalid_params(message, None));
        }
        let contents = self.gives.iter().map(|content| fill(content, given));
        let messages = contents.map(|content| json!({"role": "user", "content": content}));
        let messages = serde_json::from_value(messages.collect())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(GetPromptResult::new(messages).with_description(&self.about))
    }
}

/// Whether arguments can be completed; hidden items have none.
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
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        let offered = match reference {
            Reference::Prompt(prompt) => {
                let mut names = self.prompts.iter();
                names.find(|name| **name == prompt.name).copied()
            }
            Reference::Resource(resource) => {
                let mut templates = self.templates.iter();
                templates.find(|uri| **uri == resource.uri).copied()
            }
            // rmcp's enum may grow; a new kind of reference is none of ours.
            _ => None,
        };
        let invalid = |message: String| Err(ErrorData::invalid_params(message, None));
        let values: Vec<String> = match (offered, argument) {
            (Some(WITH_ARGUMENTS), "arg1") => texts(&FRUIT),
            (Some(WITH_ARGUMENTS), "arg2") => forms(given.and_then(|given| given.get("arg1"))),
            (Some(TEMPLATE), "id") => texts(&IDS),
            (Some(_), other) => return invalid(format!("no argument \"{other}\" to complete")),
            (None, _) => return invalid("nothing to complete at this reference".to_owned()),
        };
        let fits = values.into_iter().filter(|value| value.starts_with(prefix));
        Ok(fits.collect())
    }
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

    use super::super::official::TABLE;
    use super::*;

    const ALL: Completed<'_> = Completed {
        prompts: &["test_simple_prompt", WITH_ARGUMENTS],
        templates: &[TEMPLATE],
    };

    fn completed(reference: &Reference, argument: &str, prefix: &str) -> Vec<String> {
        ALL.complete(reference, (argument, prefix), None).unwrap()
    }

    #[test]
    fn arguments_are_shown_and_have_to_be_there() {
        let get = |arguments: &Value| TABLE.prompts[1].get(arguments.as_object().unwrap());
        let all = json!({"arg1": "a", "arg2": "b"});
        let text = serde_json::to_string(&get(&all).unwrap()).unwrap();
        assert!(text.contains("arg1='a', arg2='b'"), "{text}");
        for broken in [
            json!({"arg1": "a"}),
            json!({"arg1": "a", "arg2": 2}),
            json!({}),
        ] {
            let error = get(&broken).unwrap_err();
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
            prompts: &["test_simple_prompt"],
            templates: &[],
        };
        assert!(hidden.complete(&prompt, ("arg1", ""), None).is_err());
        assert!(hidden.complete(&template, ("id", ""), None).is_err());
    }
}
