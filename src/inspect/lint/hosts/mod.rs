//! What known clients and model APIs make of what a server lists. Each [`Fact`] is a row of [`data`]; which of them are asked
//! about is the user's choice.

pub(crate) mod data;
mod schema;
mod server;
mod tool;

use std::borrow::Cow;

use self::{schema::InSchema, server::OfServer, tool::OfTool};
use super::{rule::Findings, schema::Schema, view::View};
use report::inspection::{Check, Finding, Kind, Severity};

/// What a host is known to do with a construct.
#[derive(Debug)]
pub(crate) struct Fact {
    /// The stable code.
    pub(crate) code: &'static str,
    /// The client or the model API.
    pub(crate) host: &'static str,
    construct: Construct,
    effect: Effect,
    /// The public issue in which it was seen, as `owner/name#number`.
    source: &'static str,
    /// The month of that.
    seen: &'static str,
}

/// What is in the lists.
#[derive(Debug, Clone, Copy)]
enum Construct {
    /// Something about all of it.
    Server(OfServer),
    /// Something about a tool.
    Tool(OfTool),
    /// Something anywhere in the `inputSchema` of a tool.
    Input(InSchema),
    /// Something anywhere in a schema of a tool.
    Any(InSchema),
}

/// Makes an enum of constructs: each with its parameters, what it is in words, and what to write instead.
macro_rules! constructs {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $construct:ident $(($($part:ident: $kind:ty),+))?: $words:expr => $help:expr;)+
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy)]
        pub(super) enum $name {
            $($(#[$doc])* $construct $(($($kind),+))?),+
        }

        impl $name {
            /// In words, and what to write instead.
            pub(super) fn words(self) -> (std::borrow::Cow<'static, str>, &'static str) {
                match self {
                    $(Self::$construct $(($($part),+))? => ($words.into(), $help)),+
                }
            }
        }
    };
}
use constructs;

/// What to write instead of a long name, or one of other signs.
const SHORTER_NAME: &str = "use a shorter name of letters, digits, `_` and `-`";

/// What the host does, in words, and how bad that is.
type Effect = (&'static str, Severity);

const REFUSED_REQUEST: Effect = ("refuses the whole request", Severity::Error);

/// All tools of the server are lost.
const DROPPED_LIST: Effect = ("drops all tools of the server", Severity::Error);

const DROPPED_TOOL: Effect = ("drops the tool", Severity::Error);

const REFUSED_CALL: Effect = ("refuses to call the tool", Severity::Error);

const CHANGED: Effect = ("shows the model something else", Severity::Warning);

const CUT: Effect = ("cuts the text", Severity::Warning);

const WARNED: Effect = ("warns the user", Severity::Warning);

impl Construct {
    /// In words, and what to write instead.
    fn words(self) -> (Cow<'static, str>, &'static str) {
        match self {
            Self::Server(it) => it.words(),
            Self::Tool(it) => it.words(),
            Self::Input(it) | Self::Any(it) => it.words(),
        }
    }
}

/// The names of all hosts, in the order of the rows.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> = data::FACTS.iter().map(|it| it.host).collect();
    names.dedup();
    names
}

impl Fact {
    /// Whether it is about subjects of this kind.
    pub(super) fn is_on(&self, kind: Kind) -> bool {
        match self.construct {
            Construct::Server(_) => kind == Kind::Server,
            Construct::Tool(_) | Construct::Input(_) | Construct::Any(_) => kind == Kind::Tool,
        }
    }

    /// The address of the source, and when it was seen.
    pub(super) fn source(&self) -> (String, &'static str) {
        let address = self.source.replace('#', "/issues/");
        (format!("https://github.com/{address}"), self.seen)
    }

    /// The fact for the formats of reports.
    pub(crate) fn described(&self) -> Check {
        let (effect, severity) = self.effect;
        let (words, help) = self.construct.words();
        Check {
            code: self.code,
            name: "host",
            title: format!("{} {effect}: {words}", self.host).into(),
            help: help.into(),
            severity,
            precision: "medium",
            tags: &["mcp", "hosts"],
        }
    }

    /// Writes a finding for each subject in which the construct stands.
    pub(super) fn check(&self, view: &View<'_>, all: &mut Vec<Finding>) {
        let (effect, severity) = self.effect;
        let (_, help) = self.construct.words();
        let (address, seen) = self.source();
        let help = format!("{help}; seen {seen}: {address}");
        let mut found = Findings::new(Finding::new(self.code, severity, help.into()), all);
        let mut say = |(kind, name), places: Vec<(String, String)>| {
            let more = match places.len() {
                0 | 1 => String::new(),
                all => format!(" (and at {})", text::count(all - 1, "more place")),
            };
            if let Some((pointer, what)) = places.into_iter().next() {
                let message = format!("{} {effect}: {what}{more}", self.host);
                found.about(kind, name).say(pointer, message);
            }
        };
        if let Construct::Server(it) = self.construct {
            return say((Kind::Server, ""), it.place(view).into_iter().collect());
        }
        for tool in &view.tools {
            let places = match self.construct {
                Construct::Server(_) => Vec::new(),
                Construct::Tool(it) => it.place(tool).into_iter().collect(),
                Construct::Input(it) => it.places(tool.input.iter().flat_map(Schema::places)),
                Construct::Any(it) => it.places(tool.schemas().flat_map(Schema::places)),
            };
            say((Kind::Tool, tool.name), places);
        }
    }
}

/// Words with backticks, divided by commas.
fn ticked(words: &[&str]) -> String {
    format!("`{}`", words.join("`, `"))
}

/// What names may be made of.
fn grammar(signs: &str, most: usize) -> String {
    let signs: Vec<String> = signs.chars().map(|it| format!("`{it}`")).collect();
    let length = if most == usize::MAX {
        String::new()
    } else {
        format!(", or more than {most}")
    };
    format!("letters, digits, {}{length}", signs.join(" "))
}
