//! Values under `env` and `headers`: `$X`, `${X}`, `${X:-default}`, `$$`, and `{{…}}`; a default may hold the same.

use super::{Lowering, UnsetVariables};
use crate::{
    model::server::{EnvPart, EnvValue},
    problems,
    raw::{
        Field,
        union::FlagOr,
        value::{Text, TextTable, Texts},
    },
    yaml::{At, Source},
};
use mcp::script::template::{self, Template};
use text::{
    diagnostic::{Diagnostic, Severity},
    environment::is_variable_name,
};

/// A piece of a value as it was read.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// Text.
    Text(&'a str),
    /// A variable, with its default.
    Variable(&'a str, Option<&'a str>),
    /// The text after a `${` that is not a variable.
    Broken(&'a str),
}

/// The pieces of a value.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let name = name_length(after);
        let (kept, piece, length) = if after.starts_with('$') {
            (at + 1, None, 1)
        } else if let Some(inner) = after.strip_prefix('{') {
            let (piece, length) = braced(inner);
            (at, Some(piece), 1 + length)
        } else if name > 0 {
            (at, Some(Piece::Variable(&after[..name], None)), name)
        } else {
            (at + 1, None, 0)
        };
        if kept > 0 {
            pieces.push(Piece::Text(&rest[..kept]));
        }
        pieces.extend(piece);
        rest = &after[length..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    pieces
}

/// The length of the variable's name at the beginning of a text.
fn name_length(text: &str) -> usize {
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        return 0;
    }
    let end = text.find(|it: char| !(it.is_ascii_alphanumeric() || it == '_'));
    end.unwrap_or(text.len())
}

/// The first `${NAME}` in a text, as it is written, and its name.
pub(super) fn braced_name(text: &str) -> Option<(&str, &str)> {
    let at = text.find("${")?;
    let Piece::Variable(name, _) = braced(&text[at + 2..]).0 else {
        return None;
    };
    let end = text[at..].find('}')? + at + 1;
    Some((&text[at..end], name))
}

/// The deepest nesting of defaults: each level is read once more.
const DEEPEST: usize = 8;

/// The piece after `${`, and its length.
fn braced(inner: &str) -> (Piece<'_>, usize) {
    let Some(first) = inner.find('}') else {
        return (Piece::Broken(inner), inner.len());
    };
    let (name, default, end) = match inner[..first].find(":-") {
        None => (&inner[..first], None, first),
        Some(at) => {
            let behind = &inner[at + 2..];
            let Some(length) = closing(behind) else {
                return (Piece::Broken(inner), inner.len());
            };
            (&inner[..at], Some(&behind[..length]), at + 2 + length)
        }
    };
    let piece = if name_length(name) == name.len() && !name.is_empty() {
        Piece::Variable(name, default)
    } else {
        Piece::Broken(&inner[..=end])
    };
    (piece, end + 1)
}

/// Where the brace is that ends a default. Braces of other variables and of `{{…}}` in it do not.
fn closing(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut open = 0;
    loop {
        at += text[at..].find(['$', '{', '}'])?;
        let rest = &text[at..];
        at += match rest.as_bytes() {
            [b'$', b'$', ..] => 2,
            [b'$', b'{', ..] if open == DEEPEST => return None,
            [b'$', b'{', ..] => {
                open += 1;
                2
            }
            [b'{', b'{', ..] => template::marker_length(rest).unwrap_or(1),
            [b'}', ..] if open == 0 => return Some(at),
            [b'}', ..] => {
                open -= 1;
                1
            }
            _ => 1,
        };
    }
}

/// How the Go tool reads the text after a `${`: as a variable of any name, or without the closing brace as text.
fn as_the_go_tool(written: &str) -> EnvPart {
    match written.strip_suffix('}') {
        Some("") => EnvPart::Text(Template::new("")),
        Some(name) => EnvPart::Variable {
            name: name.to_owned(),
            default: None,
        },
        None => EnvPart::Text(Template::new(written)),
    }
}

impl Lowering<'_> {
    /// Reports variables that a server in a container is to inherit. In the settings they are for other servers.
    pub(super) fn check_inherited(&mut self, inherit: Option<&Field<FlagOr<Texts>>>) {
        let is_wanted = |inherit: &&Field<FlagOr<Texts>>| match &inherit.value {
            FlagOr::Flag(all) => *all,
            FlagOr::Other(names) => !names.0.is_empty(),
        };
        if let Some(inherit) = inherit.filter(is_wanted)
            && inherit.key.source != Source::Settings
        {
            let reason = "a server in a container inherits nothing; `env: {NAME: $NAME}` hands a variable on";
            self.problem(inherit.key, problems::no_effect("inherit_env", reason));
        }
    }

    /// Names of variables; an empty text is left out.
    pub(super) fn variable_names(&mut self, names: Texts) -> Vec<String> {
        let names = names.0.into_iter().filter(|name| !name.text.is_empty());
        let names = names.map(|name| {
            self.check_variable_name(&name.text, name.at);
            name.text
        });
        names.collect()
    }

    /// The variables of a table, each with its value.
    pub(super) fn variables(&mut self, table: TextTable) -> Vec<(String, EnvValue)> {
        for (key, _) in &table.0 {
            self.check_variable_name(&key.text, key.at);
        }
        self.env_table(table)
    }

    /// Reports an invalid name. For the Go tool it is a variable that is never set.
    fn check_variable_name(&mut self, name: &str, at: At) {
        if !is_variable_name(name) {
            self.native_problem(at, problems::bad_variable_name(name));
        }
    }

    /// The values of a table, each with its name.
    pub(super) fn env_table(&mut self, table: TextTable) -> Vec<(String, EnvValue)> {
        let values = table.0.into_iter();
        let values = values.map(|(key, text)| (key.text, self.env_value(&text)));
        values.collect()
    }

    /// One value.
    pub(super) fn env_value(&mut self, text: &Text) -> EnvValue {
        self.check_markers(&text.text, text.at);
        self.env_parts(&text.text, text.at, true)
    }

    /// A value, or a default in one; `is_used`: it is not the default of a variable that is set.
    fn env_parts(&mut self, text: &str, at: At, is_used: bool) -> EnvValue {
        let parts = pieces(text).into_iter().filter_map(|piece| match piece {
            Piece::Text(part) => Some(EnvPart::Text(Template::new(part))),
            Piece::Variable(name, default) => Some(self.env_variable(name, default, at, is_used)),
            Piece::Broken(written) if self.is_compat() => Some(as_the_go_tool(written)),
            Piece::Broken(written) => {
                self.problem(at, problems::bad_variable(&format!("${{{written}")));
                None
            }
        });
        EnvValue {
            parts: parts.collect(),
        }
    }

    /// A variable with its default.
    fn env_variable(
        &mut self,
        name: &str,
        default: Option<&str>,
        at: At,
        is_used: bool,
    ) -> EnvPart {
        if default.is_none() && is_used {
            self.check_set(name, at, problems::unset_variable);
        }
        let value = self.around.environment.variable(name);
        let is_used = is_used && value.is_none_or(str::is_empty);
        let default = default.map(|default| self.env_parts(default, at, is_used));
        EnvPart::Variable {
            name: name.to_owned(),
            default,
        }
    }

    /// Reports a variable that is not set, as this problem.
    pub(super) fn check_set(&mut self, name: &str, at: At, unset: fn(&str) -> Diagnostic) {
        if self.is_skipped || self.around.environment.variable(name).is_some() {
            return;
        }
        let is_unreadable = self.around.environment.is_unreadable(name);
        let problem = if is_unreadable {
            problems::unreadable_env(name)
        } else {
            unset(name)
        };
        self.unset(at, problem);
    }

    /// Adds the problem of a variable that is not set: a warning, or an error under `--strict-env`.
    pub(super) fn unset(&mut self, at: At, mut problem: Diagnostic) {
        match self.around.unset {
            UnsetVariables::Later => return,
            UnsetVariables::Warn => {
                problem.severity = Severity::Warning;
                let origin = Some(self.reading.problems.origin(at));
                self.warnings.push(Diagnostic {
                    origin,
                    ..problem.clone()
                });
            }
            UnsetVariables::Refuse => problem.severity = Severity::Error,
        }
        self.problem(at, problem);
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, pieces};

    #[test]
    fn values_fall_into_text_and_variables() {
        let case =
            |text: &str, expected: &[Piece<'_>]| assert_eq!(pieces(text), expected, "{text}");
        case("plain", &[Piece::Text("plain")]);
        case(
            "a$X-b",
            &[
                Piece::Text("a"),
                Piece::Variable("X", None),
                Piece::Text("-b"),
            ],
        );
        case("${X}Y", &[Piece::Variable("X", None), Piece::Text("Y")]);
        case("${X:-a b}", &[Piece::Variable("X", Some("a b"))]);
        case("${X:-}", &[Piece::Variable("X", Some(""))]);
        case("pa$$word", &[Piece::Text("pa$"), Piece::Text("word")]);
        case("$$X", &[Piece::Text("$"), Piece::Text("X")]);
        case(
            "5$ and $1",
            &[Piece::Text("5$"), Piece::Text(" and $"), Piece::Text("1")],
        );
        case(
            "${X:-${Y}}z",
            &[Piece::Variable("X", Some("${Y}")), Piece::Text("z")],
        );
        case(
            "${X:-a${Y:-b${Z}}c}",
            &[Piece::Variable("X", Some("a${Y:-b${Z}}c"))],
        );
        case(
            "${X:-{{fixture}}}",
            &[Piece::Variable("X", Some("{{fixture}}"))],
        );
        case(
            "${X:-$${Y}}",
            &[Piece::Variable("X", Some("$${Y")), Piece::Text("}")],
        );
        case("${X:-{}", &[Piece::Variable("X", Some("{"))]);
        case("${X:-${Y}", &[Piece::Broken("X:-${Y}")]);
        let deep = format!("{}{}", "${X:-".repeat(20), "}".repeat(20));
        case(&deep, &[Piece::Broken(&deep[2..])]);
        case("${X", &[Piece::Broken("X")]);
        case("${1}", &[Piece::Broken("1}")]);
        case("", &[]);
    }
}
