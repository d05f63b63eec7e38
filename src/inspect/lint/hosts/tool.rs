//! What hosts do not take of a tool, beside parts of its schemas.

use super::{SHORTER_NAME, constructs, grammar, ticked};
use crate::inspect::lint::{rules::is_plain, schema::Schema, view::Tool};
use mcp::json::json_schema::{NotCompiled, compile};

/// What to write instead of another dialect.
const DIALECT: &str = "write JSON Schema 2020-12: `prefixItems` for tuples, and no other `$schema`";

/// What to write instead of another type.
const OBJECT: &str = "write `\"type\": \"object\"` at the root";

constructs! {
    /// Something about a tool.
    OfTool {
        /// One of these keywords at the root of `inputSchema`.
        Root(keywords: &'static [&'static str]): format!("{} at the root of `inputSchema`", ticked(keywords)) =>
            "state the properties at the root, and check combinations in the tool";
        /// An `inputSchema` that is not of type `object`.
        RootType: "`inputSchema` is not of type `object`" => OBJECT;
        /// An `outputSchema` that is not of type `object`.
        OutputType: "`outputSchema` is not of type `object`" => OBJECT;
        /// An `inputSchema` without `properties`.
        NoProperties: "`inputSchema` has no `properties`" => "write `\"properties\": {}`";
        /// A name with other signs than letters, digits and these, or longer.
        Name(signs: &'static str, most: usize): format!("the name has other signs than {}", grammar(signs, most)) =>
            SHORTER_NAME;
        /// A longer name.
        NameOver(most: usize): format!("a name of more than {most} characters") => SHORTER_NAME;
        /// An `inputSchema` that is not valid as JSON Schema 2020-12.
        NotValid: "`inputSchema` is not valid as JSON Schema 2020-12" => DIALECT;
        /// An `outputSchema` that names another dialect than JSON Schema 2020-12.
        Dialect: "`outputSchema` names another dialect than JSON Schema 2020-12" => DIALECT;
        /// A description of more characters.
        DescriptionOver(most: usize): format!("a description of more than {most} characters") =>
            "shorten the text; what matters comes first";
    }
}

impl OfTool {
    /// Where it stands, and what stands there.
    pub(super) fn place(self, tool: &Tool<'_>) -> Option<(String, String)> {
        let (input, output) = (tool.input.as_ref(), tool.output.as_ref());
        let words = || self.words().0.into_owned();
        let over = |what: &str, text: &str, most: usize| {
            let length = text.chars().count();
            let message = || format!("the {what} has {length} characters, more than {most}");
            (length > most).then(message)
        };
        let (pointer, what) = match self {
            Self::Root(keywords) => {
                let mut keywords = keywords.iter();
                let keyword = keywords.find(|it| input.is_some_and(|all| all.get(it).is_some()))?;
                let what = format!("`{keyword}` is at the root of `inputSchema`");
                return Some((format!("/inputSchema/{keyword}"), what));
            }
            Self::RootType => ("/inputSchema", (!is_object(input)).then(words)),
            Self::OutputType => ("/outputSchema", (!is_object(Some(output?))).then(words)),
            Self::NoProperties => {
                let lacks = input?.get("properties").is_none();
                ("/inputSchema", lacks.then(words))
            }
            Self::Name(signs, most) => {
                let grammar = || grammar(signs, most);
                let what = || format!("`{}` has other signs than {}", tool.name, grammar());
                ("/name", (!is_plain(tool.name, signs, most)).then(what))
            }
            Self::NameOver(most) => ("/name", over("name", tool.name, most)),
            Self::NotValid => {
                let why = not_valid(input?)?;
                ("/inputSchema", Some(format!("{}: {why}", words())))
            }
            Self::Dialect => {
                let named = output?.get("$schema")?.as_str()?;
                let is_other = !named.contains("2020-12");
                let what = is_other.then(|| format!("the dialect is `{named}`"));
                ("/outputSchema/$schema", what)
            }
            Self::DescriptionOver(most) => {
                ("/description", over("description", tool.description, most))
            }
        };
        Some((pointer.to_owned(), what?))
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
