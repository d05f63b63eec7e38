//! Values under `env` and `headers`: `$X`, `${X}`, `${X:-default}`, `$$`, and `{{…}}`; a default is such a value too.

use super::{Fate, Lowering, UnsetVariables};
use crate::{
    Dialect,
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
    source::Origin,
};

/// A piece of a value as it was read.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    /// Text.
    Text(&'a str),
    /// A variable, with its default.
    Variable(&'a str, Option<&'a str>),
    /// `${` and what follows, which is no variable.
    Broken(&'a str),
}

/// Whether a part of a value comes into it in this environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It does.
    Taken,
    /// It is in the default of a variable that is set.
    PassedOver,
}

/// The pieces of a value.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let after = &rest[at + 1..];
        let name = after
            .find(|character: char| !(character.is_ascii_alphanumeric() || character == '_'))
            .unwrap_or(after.len());
        let starts_name =
            after.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let (kept, piece, length) = if after.starts_with('$') {
            (at + 1, None, 1)
        } else if let Some(inner) = after.strip_prefix('{') {
            let (piece, length) = braced(inner);
            (at, Some(piece), 1 + length)
        } else if starts_name {
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

/// The deepest nesting of defaults that is read: each level is gone through once more.
const DEEPEST: usize = 8;

/// What follows `${`: the piece and its length.
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
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || character == '_');
    let piece = if is_name {
        Piece::Variable(name, default)
    } else {
        Piece::Broken(&inner[..=end])
    };
    (piece, end + 1)
}

/// Where the brace is that ends a default; the braces of other variables and of `{{…}}` in it are theirs.
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

/// What the Go tool makes of `${` and what follows: a variable of any name, or without the closing brace the text.
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
    /// Tells what a server in a container is to inherit. What the settings say of all servers is not meant for it.
    pub(super) fn check_inherited(&mut self, inherit: &Field<FlagOr<Texts>>) {
        let wants = match &inherit.value {
            FlagOr::Flag(all) => *all,
            FlagOr::Other(names) => !names.0.is_empty(),
        };
        if wants && inherit.key.source != Source::Settings {
            let why = "a server in a container inherits nothing; `env: {NAME: $NAME}` hands a variable on";
            self.problem(inherit.key, |origin| {
                problems::no_effect(origin, "inherit_env", why)
            });
        }
    }

    /// Names of variables; the empty text is none.
    pub(super) fn variable_names(&mut self, names: Texts) -> Vec<String> {
        let names = names.0.into_iter().filter(|name| !name.text.is_empty());
        let mut found = Vec::new();
        for name in names {
            self.check_variable_name(&name.text, name.at);
            found.push(name.text);
        }
        found
    }

    /// The variables of a table, each with its value.
    pub(super) fn variables(&mut self, table: TextTable) -> Vec<(String, EnvValue)> {
        for (key, _) in &table.0 {
            self.check_variable_name(&key.text, key.at);
        }
        self.env_table(table)
    }

    /// Tells what is no name. For the Go tool such a variable was one that is never set.
    fn check_variable_name(&mut self, name: &str, at: At) {
        if !is_variable_name(name) {
            self.native_problem(at, |origin| problems::bad_variable_name(origin, name));
        }
    }

    /// The values of a table, each with its name.
    pub(super) fn env_table(&mut self, table: TextTable) -> Vec<(String, EnvValue)> {
        table
            .0
            .into_iter()
            .map(|(key, text)| {
                let value = self.env_value(&text);
                (key.text, value)
            })
            .collect()
    }

    /// One value.
    pub(super) fn env_value(&mut self, text: &Text) -> EnvValue {
        self.check_markers(&text.text, text.at);
        self.env_parts(&text.text, text.at, Use::Taken)
    }

    /// A value, or a default in one.
    fn env_parts(&mut self, text: &str, at: At, when: Use) -> EnvValue {
        let parts = pieces(text)
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Text(part) => Some(EnvPart::Text(Template::new(part))),
                Piece::Variable(name, default) => Some(self.env_variable(name, default, at, when)),
                Piece::Broken(written) if self.dialect() == Dialect::Compat => {
                    Some(as_the_go_tool(written))
                }
                Piece::Broken(written) => {
                    let written = format!("${{{written}");
                    self.problem(at, |origin| problems::bad_variable(origin, &written));
                    None
                }
            })
            .collect();
        EnvValue { parts }
    }

    /// A variable with its default. One that is passed over because another is set may be unset.
    fn env_variable(&mut self, name: &str, default: Option<&str>, at: At, when: Use) -> EnvPart {
        if default.is_none() && when == Use::Taken {
            self.check_set(name, at, problems::unset_variable);
        }
        let value = self.around.environment.variable(name);
        let when = match value {
            Some(value) if !value.is_empty() => Use::PassedOver,
            Some(_) | None => when,
        };
        let default = default.map(|default| self.env_parts(default, at, when));
        EnvPart::Variable {
            name: name.to_owned(),
            default,
        }
    }

    /// Tells a variable that is not set, in these words.
    pub(super) fn check_set(
        &mut self,
        name: &str,
        at: At,
        unset: impl FnOnce(Origin, &str) -> Diagnostic,
    ) {
        if self.fate == Fate::Skipped || self.around.environment.variable(name).is_some() {
            return;
        }
        let origin = self.reading.problems.origin(at);
        self.unset(if self.around.environment.is_unreadable(name) {
            problems::unreadable_text(origin, name)
        } else {
            unset(origin, name)
        });
    }

    /// Adds the problem of a variable that is not set, as grave as the caller takes it.
    pub(super) fn unset(&mut self, mut problem: Diagnostic) {
        match self.around.unset {
            UnsetVariables::Warn => self.warnings.push(problem.clone()),
            UnsetVariables::Refuse => problem.severity = Severity::Error,
        }
        self.problems().add(problem);
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
