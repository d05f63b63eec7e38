//! What hosts do not take of a tool, beside parts of its schemas.

use super::{grammar, ticked};
use crate::inspect::lint::{rules::is_plain, schema::Schema, view::Tool};
use mcp::json::json_schema::{NotCompiled, compile};

/// Something about a tool.
#[derive(Debug, Clone, Copy)]
pub(super) enum OfTool {
    /// One of these keywords at the root of `inputSchema`.
    Root(&'static [&'static str]),
    /// An `inputSchema` that is not of type `object`.
    RootType,
    /// An `outputSchema` that is not of type `object`.
    OutputType,
    /// An `inputSchema` without `properties`.
    NoProperties,
    /// A name with other signs than letters, digits and these, or longer.
    Name(&'static str, usize),
    /// A longer name.
    NameOver(usize),
    /// An `inputSchema` that is not valid as JSON Schema 2020-12.
    NotValid,
    /// An `outputSchema` that names another dialect than JSON Schema 2020-12.
    Dialect,
    /// A description of more characters.
    DescriptionOver(usize),
}

impl OfTool {
    /// In words, and what to write instead.
    pub(super) fn words(self) -> (String, &'static str) {
        let name = "use a shorter name of letters, digits, `_` and `-`";
        let dialect = "write JSON Schema 2020-12: `prefixItems` for tuples, and no other `$schema`";
        let object = "write `\"type\": \"object\"` at the root";
        match self {
            Self::Root(keywords) => (
                format!("{} at the root of `inputSchema`", ticked(keywords)),
                "state the properties at the root, and check combinations in the tool",
            ),
            Self::RootType => ("`inputSchema` is not of type `object`".to_owned(), object),
            Self::OutputType => ("`outputSchema` is not of type `object`".to_owned(), object),
            Self::NoProperties => (
                "`inputSchema` has no `properties`".to_owned(),
                "write `\"properties\": {}`",
            ),
            Self::Name(signs, most) => (
                format!("the name has other signs than {}", grammar(signs, most)),
                name,
            ),
            Self::NameOver(most) => (format!("a name of more than {most} characters"), name),
            Self::NotValid => (
                "`inputSchema` is not valid as JSON Schema 2020-12".to_owned(),
                dialect,
            ),
            Self::Dialect => (
                "`outputSchema` names another dialect than JSON Schema 2020-12".to_owned(),
                dialect,
            ),
            Self::DescriptionOver(most) => (
                format!("a description of more than {most} characters"),
                "shorten the text; what matters comes first",
            ),
        }
    }

    /// Where it stands, and what stands there.
    pub(super) fn places(self, tool: &Tool<'_>) -> Vec<(String, String)> {
        let (input, output) = (tool.input.as_ref(), tool.output.as_ref());
        let words = || self.words().0;
        let length = |text: &str, most| Some(text.chars().count()).filter(|it| *it > most);
        let place = match self {
            Self::Root(keywords) => {
                let found = keywords
                    .iter()
                    .find(|it| input.is_some_and(|schema| schema.get(it).is_some()));
                found.map(|it| {
                    (
                        format!("/inputSchema/{it}"),
                        format!("`{it}` is at the root of `inputSchema`"),
                    )
                })
            }
            Self::RootType => (!is_object(input)).then(|| ("/inputSchema".to_owned(), words())),
            Self::OutputType => {
                let is_other = output.is_some() && !is_object(output);
                is_other.then(|| ("/outputSchema".to_owned(), words()))
            }
            Self::NoProperties => {
                let lacks = input.is_some_and(|it| it.get("properties").is_none());
                lacks.then(|| ("/inputSchema".to_owned(), words()))
            }
            Self::Name(signs, most) => (!is_plain(tool.name, signs, most)).then(|| {
                let what = format!(
                    "`{}` has other signs than {}",
                    tool.name,
                    grammar(signs, most)
                );
                ("/name".to_owned(), what)
            }),
            Self::NameOver(most) => length(tool.name, most).map(|it| {
                (
                    "/name".to_owned(),
                    format!("the name has {it} characters, more than {most}"),
                )
            }),
            Self::NotValid => input
                .and_then(not_valid)
                .map(|why| ("/inputSchema".to_owned(), format!("{}: {why}", words()))),
            Self::Dialect => {
                let named = output.and_then(|it| it.get("$schema")?.as_str());
                let other = named.filter(|it| !it.contains("2020-12"));
                other.map(|it| {
                    (
                        "/outputSchema/$schema".to_owned(),
                        format!("the dialect is `{it}`"),
                    )
                })
            }
            Self::DescriptionOver(most) => length(tool.description, most).map(|it| {
                (
                    "/description".to_owned(),
                    format!("the description has {it} characters, more than {most}"),
                )
            }),
        };
        place.into_iter().collect()
    }
}

fn is_object(schema: Option<&Schema<'_>>) -> bool {
    schema.is_some_and(|it| it.get("type") == Some(&"object".into()))
}

/// Why a schema is not valid as JSON Schema 2020-12, whatever dialect it names.
fn not_valid(schema: &Schema<'_>) -> Option<String> {
    if schema.get("$schema").is_none() {
        return schema.invalid().map(str::to_owned);
    }
    let mut copy = schema.root.clone();
    copy.as_object_mut()?.remove("$schema");
    match compile(&copy) {
        Ok(_) | Err(NotCompiled::TooLarge) => None,
        Err(NotCompiled::Invalid(why)) => Some(why.message),
    }
}
