//! Arguments for a tool that nobody chose: made of what its input schema says, and checked against it.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value};
use walkdir::{DirEntry, WalkDir};

use super::{effect::words, parameters};
use mcp::json::json_schema;
pub(crate) use report::inclusion::Which;
use report::inclusion::arguments;
use suite::settings::ToolSample;

/// Words of names for folders.
const FOLDERS: [&str; 4] = ["dir", "directory", "folder", "root"];

/// Words of names for files.
const FILES: [&str; 6] = ["path", "paths", "file", "filename", "files", "uri"];

/// Words before an example.
const BEFORE_EXAMPLES: [&str; 4] = ["e.g.", "for example", "example", "such as"];

/// What arguments are made of besides the schema.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// A file of the fixture, as the server sees it: `{{fixture}}/hello.txt`.
    pub(crate) file: Option<String>,
    /// The fixture as the server sees it.
    pub(crate) folder: Option<String>,
    /// A resource that the server lists.
    pub(crate) resource: Option<String>,
    /// What the user says of tools.
    pub(crate) samples: Arc<[ToolSample]>,
}

impl Sources {
    /// What arguments of this tool are made of: a path of one whose name tells of folders is that of one.
    fn of_tool(&self, name: &str) -> Self {
        let mut sources = self.clone();
        if has(name, &FOLDERS) && self.folder.is_some() {
            sources.file.clone_from(&self.folder);
        }
        sources
    }

    /// The example that the description of a parameter gives, where nothing is there for it, and the text for the lack of one.
    fn texts(&self, name: &str, description: &str) -> (Option<String>, String) {
        let example = example_of(description).filter(|_| self.there(name).is_none());
        (example.map(str::to_owned), self.by_name(name))
    }

    /// The resource, folder or file that is there for a parameter with this name.
    fn there(&self, name: &str) -> Option<&String> {
        let resource = self.resource.as_ref().filter(|_| has(name, &["uri"]));
        let folder = self.folder.as_ref().filter(|_| has(name, &FOLDERS));
        let file = self.file.as_ref().filter(|_| has(name, &FILES));
        resource.or(folder).or(file)
    }

    /// A text that a person would have to replace, except for paths and URIs of what is there. The words are those of the
    /// Go tool's stubs.
    fn by_name(&self, name: &str) -> String {
        if let Some(there) = self.there(name) {
            return there.clone();
        }
        let texts = [
            (&FILES[..], "/path/to/TODO"),
            (&["url"], "https://example.com"),
            (&["query", "search"], "TODO_QUERY"),
            (&["name", "symbol"], "TODO_NAME"),
        ];
        let found = texts.into_iter().find(|(words, _)| has(name, words));
        found.map_or("TODO", |(_, text)| text).to_owned()
    }
}

/// Whether one of some words is in a name.
fn has(name: &str, any: &[&str]) -> bool {
    words(name).iter().any(|word| any.contains(&word.as_str()))
}

/// Arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sample {
    /// The arguments.
    pub(crate) arguments: Value,
    /// Why the schema refuses them; `None` where it takes them.
    pub(crate) refused: Option<String>,
}

/// Arguments for a tool: the user's, as they are where the schema takes them, else with what it requires besides; without
/// any, all are made of the schema. A schema that cannot be compiled judges no arguments of the user.
pub(crate) fn sample_of(tool: &Value, which: Which, sources: &Sources) -> Sample {
    let empty = Value::Object(Map::new());
    let schema = tool.get("inputSchema").unwrap_or(&empty);
    let name = parameters::text(tool, "name").unwrap_or_default();
    let mut made = sample(schema, which, &sources.of_tool(&name));
    let Some(told) = sources.samples.iter().find(|it| it.tool == name) else {
        return made;
    };
    let told = &told.arguments;
    let is_judged = json_schema::compile(schema).is_ok();
    if is_judged
        && let (Some(_), Value::Object(all), Value::Object(told)) =
            (refused(schema, told), &mut made.arguments, told)
    {
        all.extend(told.clone());
    } else {
        made.arguments = told.clone();
    }
    made.refused = refused(schema, &made.arguments).filter(|_| is_judged);
    made
}

/// Why a schema refuses arguments; `None` where it takes them.
fn refused(schema: &Value, arguments: &Value) -> Option<String> {
    let Ok(compiled) = json_schema::compile(schema) else {
        return Some("the schema cannot be compiled".to_owned());
    };
    let error = compiled.validator().validate(arguments).err()?;
    Some(format!("{error} (at `{}`)", error.instance_path()))
}

/// Arguments for an input schema.
fn sample(schema: &Value, which: Which, sources: &Sources) -> Sample {
    let arguments = arguments(schema, which, &|name, said| sources.texts(name, said));
    Sample {
        refused: refused(schema, &arguments),
        arguments,
    }
}

/// The example in a description: what stands in quotes behind words such as `e.g.`, or one word behind them in brackets.
fn example_of(description: &str) -> Option<&str> {
    // Only ASCII letters change, so that places stay.
    let small = description.to_ascii_lowercase();
    let found = BEFORE_EXAMPLES
        .into_iter()
        .filter_map(|before| Some((small.find(before)?, before)));
    let (at, before) = found.min_by_key(|(at, _)| *at)?;
    let rest = description[at + before.len()..].trim_start_matches([',', ':', ' ']);
    if let Some(quote @ ('"' | '\'' | '`')) = rest.chars().next() {
        let (example, _) = rest[1..].split_once(quote)?;
        return Some(example).filter(|it| !it.is_empty());
    }
    let is_in_brackets = description[..at].ends_with('(');
    let (example, _) = rest.split_once([',', ')']).filter(|_| is_in_brackets)?;
    (!example.is_empty() && !example.contains(' ')).then_some(example)
}

/// The first file of a folder in the order of names, relative to it; a fixture's for paths.
pub(crate) fn first_file(folder: &Path) -> Option<String> {
    let walk = WalkDir::new(folder).max_depth(3);
    let mut entries = walk.sort_by_file_name().into_iter();
    let is_file = |it: &DirEntry| it.file_type().is_file();
    let file = entries.find_map(|it| it.ok().filter(is_file))?;
    let relative = file.path().strip_prefix(folder).ok()?;
    Some(relative.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::{Sources, ToolSample, Which, sample, sample_of};
    use text::source::{Origin, SourceFile, Span};

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn samples_are_made_of_what_the_schema_says_and_fit_it() {
        let sources = Sources {
            file: Some("{{fixture}}/a.txt".to_owned()),
            folder: Some("{{fixture}}".to_owned()),
            resource: Some("demo://one".to_owned()),
            ..Sources::default()
        };
        for (parameter, schema, wanted) in [
            (
                "a",
                json!({"type": "string", "examples": ["x"]}),
                json!("x"),
            ),
            ("a", json!({"type": "string", "default": "d"}), json!("d")),
            ("a", json!({"enum": ["one", "two"]}), json!("one")),
            ("a", json!({"type": "integer", "minimum": 5}), json!(5)),
            (
                "a",
                json!({"type": "integer", "exclusiveMaximum": 1}),
                json!(0),
            ),
            ("a", json!({"type": "integer", "multipleOf": 7}), json!(7)),
            (
                "a",
                json!({"type": "number", "exclusiveMinimum": 1}),
                json!(2),
            ),
            ("a", json!({"type": "boolean"}), json!(true)),
            (
                "a",
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!(1),
            ),
            ("a", json!({"type": ["string", "null"]}), json!("TODO")),
            (
                "a",
                json!({"type": "string", "minLength": 6}),
                json!("TODOaa"),
            ),
            ("a", json!({"type": "string", "maxLength": 2}), json!("TO")),
            (
                "a",
                json!({"type": "string", "pattern": "^[0-9]{3}$"}),
                json!("111"),
            ),
            (
                "a",
                json!({"type": "string", "format": "email"}),
                json!("user@example.com"),
            ),
            (
                "a",
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 2}),
                json!([1, 1]),
            ),
            ("a", json!({"type": "array"}), json!([])),
            ("a", json!({"$ref": "#/$defs/d"}), json!({"b": 1})),
            (
                "file_path",
                json!({"type": "string"}),
                json!("{{fixture}}/a.txt"),
            ),
            ("rootDir", json!({"type": "string"}), json!("{{fixture}}")),
            ("uri", json!({"type": "string"}), json!("demo://one")),
            (
                "search_query",
                json!({"type": "string"}),
                json!("TODO_QUERY"),
            ),
            ("profile", json!({"type": "string"}), json!("TODO")),
            (
                "zone",
                json!({"type": "string", "description": "IANA name (e.g., 'Asia/Tokyo', 'UTC')"}),
                json!("Asia/Tokyo"),
            ),
            (
                "zone",
                json!({"type": "string", "description": "A zone (for example: UTC)."}),
                json!("UTC"),
            ),
            (
                "zone",
                json!({"type": "string", "description": "Example: `UTC`", "pattern": "/"}),
                json!("/"),
            ),
            (
                "zone",
                json!({"type": "string", "description": "A zone, e.g. the one of Rome"}),
                json!("TODO"),
            ),
            (
                "zone",
                json!({"type": "string", "description": "It's a zone (e.g. of Rome)"}),
                json!("TODO"),
            ),
            (
                "hours",
                json!({"type": "integer", "description": "Such as '5'"}),
                json!(1),
            ),
            (
                "path",
                json!({"type": "string", "description": "e.g. '/etc/hosts'"}),
                json!("{{fixture}}/a.txt"),
            ),
        ] {
            let defs = json!({"d": {"type": "object", "required": ["b"], "properties": {"b": {"type": "integer"}}}});
            let whole = json!({"type": "object", "required": [parameter], "$defs": defs,
                               "properties": {parameter: schema, "other": {"type": "string"}}});
            let made = sample(&whole, Which::Required, &sources);
            assert_eq!(
                (made.arguments, made.refused),
                (json!({parameter: wanted}), None),
                "{schema}"
            );
        }
    }

    #[test]
    fn what_cannot_be_satisfied_is_said() {
        let schema = json!({"type": "object", "required": ["a"],
                            "properties": {"a": {"type": "string", "pattern": "^(?=x)y$"}}});
        let made = sample(&schema, Which::Required, &Sources::default());
        let refused = made.refused.unwrap();
        assert!(refused.contains("does not match \"^(?=x)y$\""), "{refused}");
        let cyclic =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        let made = sample(&cyclic, Which::Required, &Sources::default());
        assert!(made.refused.is_some());
        let all = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
        let made = sample(&all, Which::All, &Sources::default());
        assert_eq!(made.arguments, json!({"a": 1}));
        assert_eq!(
            sample(&all, Which::Required, &Sources::default()).arguments,
            Value::Object(serde_json::Map::new())
        );
    }

    #[test]
    fn the_users_sample_goes_first() {
        let file = Arc::new(SourceFile::new(String::new(), String::new()));
        let origin = Origin {
            file,
            span: Span { start: 0, end: 0 },
        };
        let a = json!({"type": "integer"});
        let both = json!({"required": ["a", "b"], "properties": {"a": a, "b": {"const": 2}}});
        let either =
            json!({"oneOf": [{"required": ["a"]}, {"required": ["c"]}], "properties": {"a": a}});
        for (schema, told, wanted, refused) in [
            (&both, json!({"a": 7}), json!({"a": 7, "b": 2}), false),
            (&both, json!({"a": "x"}), json!({"a": "x", "b": 2}), true),
            (&either, json!({"c": 1}), json!({"c": 1}), false),
            (&json!({"type": 7}), json!({"c": 1}), json!({"c": 1}), false),
        ] {
            let sources = Sources {
                samples: [ToolSample {
                    tool: "t".to_owned(),
                    arguments: told,
                    at: origin.clone(),
                }]
                .into(),
                ..Sources::default()
            };
            let tool = json!({"name": "t", "inputSchema": schema});
            let made = sample_of(&tool, Which::Required, &sources);
            assert_eq!(
                (made.arguments, made.refused.is_some()),
                (wanted, refused),
                "{schema}"
            );
        }
    }

    #[test]
    fn a_tool_for_folders_gets_one() {
        let sources = Sources {
            file: Some("{{fixture}}/a.txt".to_owned()),
            folder: Some("{{fixture}}".to_owned()),
            ..Sources::default()
        };
        let schema = json!({"required": ["path"], "properties": {"path": {"type": "string"}}});
        for (tool, wanted) in [
            ("list_directory", "{{fixture}}"),
            ("read_file", "{{fixture}}/a.txt"),
        ] {
            let made = sample(&schema, Which::Required, &sources.of_tool(tool));
            assert_eq!(made.arguments, json!({"path": wanted}), "{tool}");
        }
    }
}
