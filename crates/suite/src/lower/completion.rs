//! `assert_completion`

use serde_json::{Map, Value};

use super::{Lowering, subject::OptionalSubject};
use crate::{
    problems,
    raw::{
        Field,
        read::value,
        subject::{RawArgument, RawCompletion, RawReference},
        value::Text,
    },
    yaml::At,
};
use mcp::script::{
    subject::{CompletionCall, Subject},
    template::ValueTemplate,
};

/// What an argument can belong to.
const REFERENCES: [&str; 2] = ["ref/prompt", "ref/resource"];

impl Lowering<'_> {
    /// `assert_completion`
    pub(super) fn completion_subject(
        &mut self,
        field: Field<Box<RawCompletion>>,
    ) -> OptionalSubject {
        let (raw, at) = (field.value, field.key);
        let wanted = self.answer(raw.expect, at);
        let reference = self.required(raw.reference, "ref", "`assert_completion`", at);
        let reference = reference.and_then(|reference| self.reference(reference));
        let argument = self.argument(raw.argument, at);
        let context = raw.context.and_then(|context| {
            let arguments = context.value.arguments;
            let arguments = self.required(arguments, "arguments", "`context`", context.key)?;
            Some(self.value_template(arguments.value.0.with_texts()))
        });
        let call = CompletionCall {
            reference: reference?,
            argument: argument?,
            context,
        };
        Some((Subject::Completion(Box::new(call)), wanted))
    }

    /// `ref`, as it is sent.
    fn reference(&mut self, field: Field<RawReference>) -> Option<ValueTemplate> {
        let (raw, at) = (field.value, field.key);
        let kind = self.required(raw.kind, "type", "`ref`", at)?;
        let (key, text) = match kind.value.text.as_str() {
            "ref/prompt" => ("name", raw.name),
            "ref/resource" => ("uri", raw.uri.or(raw.name)),
            word => {
                let problem = problems::unknown_word(word, "reference type", &REFERENCES);
                self.problem(kind.at, problem);
                return None;
            }
        };
        let text = self.required_text(text, key, "`ref`", at)?;
        Some(self.texts_template([("type", Some(kind.value)), (key, Some(text))]))
    }

    /// `argument`, as it is sent. `at` is the place of the subject.
    fn argument(&mut self, field: Option<Field<RawArgument>>, at: At) -> Option<ValueTemplate> {
        let Some(field) = field else {
            self.required_by_us("argument", "`assert_completion`", at)?;
            return Some(self.texts_template([("name", None), ("value", None)]));
        };
        let name = self.required_text(field.value.name, "name", "`argument`", field.key)?;
        let text = value(field.value.value);
        Some(self.texts_template([("name", Some(name)), ("value", text)]))
    }

    /// A map of texts; a missing one is empty.
    fn texts_template(&mut self, members: [(&str, Option<Text>); 2]) -> ValueTemplate {
        let members = members.into_iter().map(|(key, text)| {
            let text = text.map(|text| self.template(text).text);
            (key.to_owned(), Value::String(text.unwrap_or_default()))
        });
        ValueTemplate::new(Value::Object(members.collect::<Map<_, _>>()))
    }
}
