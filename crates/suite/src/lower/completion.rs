//! `assert_completion`

use serde_json::{Map, Value};

use super::{Lowering, subject::Lowered};
use crate::{
    problems,
    raw::{
        Field,
        subject::{RawArgument, RawCompletion, RawContext, RawReference},
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
    pub(super) fn completion_subject(&mut self, field: Field<Box<RawCompletion>>) -> Lowered {
        let at = field.key;
        let owner = "`assert_completion`";
        let RawCompletion {
            reference,
            argument,
            context,
            expect,
        } = *field.value;
        let wanted = self.answer(expect, at);
        let reference = self.required(reference, "ref", owner, at);
        let reference = reference.and_then(|reference| self.reference(reference));
        let argument = self.argument(argument, at);
        let context = context.and_then(|context| {
            let RawContext { arguments } = context.value;
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
        let RawReference { kind, name, uri } = field.value;
        let kind = self.required(kind, "type", "`ref`", field.key)?;
        let member = match kind.value.text.as_str() {
            "ref/prompt" => {
                let name = self.required_text(name, "name", "`ref`", field.key)?;
                ("name", name)
            }
            "ref/resource" => {
                let uri = self.required_text(uri.or(name), "uri", "`ref`", field.key)?;
                ("uri", uri)
            }
            _ => {
                self.problem(kind.at, |origin| {
                    problems::unknown_word(
                        origin,
                        &kind.value.text,
                        "kind of reference",
                        &REFERENCES,
                    )
                });
                return None;
            }
        };
        let (key, text) = member;
        Some(self.texts_template([("type", Some(kind.value)), (key, Some(text))]))
    }

    /// `argument`, as it is sent. `at`: the place to blame when it is missing.
    fn argument(&mut self, field: Option<Field<RawArgument>>, at: At) -> Option<ValueTemplate> {
        let Some(field) = field else {
            self.required_by_us("argument", "`assert_completion`", at)?;
            return Some(self.texts_template([("name", None), ("value", None)]));
        };
        let RawArgument { name, value } = field.value;
        let name = self.required_text(name, "name", "`argument`", field.key)?;
        let value = value.map(|value| value.value);
        Some(self.texts_template([("name", Some(name)), ("value", value)]))
    }

    /// A map of texts; one that is missing is empty.
    fn texts_template<const N: usize>(
        &mut self,
        members: [(&str, Option<Text>); N],
    ) -> ValueTemplate {
        let mut map = Map::new();
        for (key, text) in members {
            let value = match text {
                Some(text) => self.template(text).text,
                None => String::new(),
            };
            map.insert(key.to_owned(), Value::String(value));
        }
        ValueTemplate::new(Value::Object(map))
    }
}
