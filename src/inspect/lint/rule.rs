//! A rule as a value, and the pen with which it writes findings.

use super::view::{Text, Tool, View};
use report::inspection::{Check as Described, Finding, Kind, Severity};
use serde_json::Value;

/// One rule.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The stable code.
    pub(crate) code: &'static str,
    /// The name in words divided by `-`.
    pub(crate) name: &'static str,
    /// How bad it usually is.
    pub(crate) severity: Severity,
    /// How often it is right: `very-high`, `high`, `medium`, `low`.
    pub(crate) precision: &'static str,
    /// Words to select by.
    pub(crate) tags: &'static [&'static str],
    /// Whether the Go tool has it.
    pub(crate) is_of_go: bool,
    /// What is wrong where it fires, in one sentence.
    pub(crate) title: &'static str,
    /// What to write instead.
    pub(crate) help: &'static str,
    /// What it looks at.
    pub(crate) check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Check {
    /// The server and its lists as a whole.
    Server(fn(&View<'_>, &mut Findings<'_>)),
    /// Each tool.
    Tool(fn(&Tool<'_>, &mut Findings<'_>)),
    /// Each entry of these kinds, as it came.
    Entry(&'static [Kind], fn(&Value, &mut Findings<'_>)),
    /// Each text that a model may see.
    Text(fn(&Text<'_>, &mut Findings<'_>)),
    /// The answers to calls about subjects of these kinds; see `probe`.
    Call(&'static [Kind]),
}

impl Check {
    /// Whether it runs on subjects of this kind.
    pub(super) fn is_on(self, kind: Kind, calls: bool) -> bool {
        match self {
            Self::Server(_) => kind == Kind::Server,
            Self::Tool(_) => kind == Kind::Tool,
            Self::Entry(kinds, _) => kinds.contains(&kind),
            Self::Text(_) => true,
            Self::Call(kinds) => calls && kinds.contains(&kind),
        }
    }

    /// Whether its subjects can be looked at in parts.
    pub(super) fn is_divided(self) -> bool {
        match self {
            Self::Tool(_) | Self::Entry(..) | Self::Text(_) => true,
            Self::Server(_) | Self::Call(_) => false,
        }
    }
}

/// Makes the table `RULES` of a file: code, name, severity, precision, marks, check, what is wrong where the rule fires, and
/// what to write instead.
macro_rules! rules {
    ($($code:literal $name:literal $severity:ident $precision:literal [$($mark:ident)*] $kind:ident($($check:tt)+):
        $title:literal => $help:literal;)+) => {
        /// The rules.
        pub(super) const RULES: &[crate::inspect::lint::rule::Rule] = &[$(
            crate::inspect::lint::rule::Rule {
                code: $code,
                name: $name,
                severity: report::inspection::Severity::$severity,
                precision: $precision,
                tags: &["mcp"],
                is_of_go: false,
                title: $title,
                help: $help,
                check: crate::inspect::lint::rule::Check::$kind($($check)+),
            }$(.$mark())*
        ),+];
    };
}
pub(super) use rules;

impl Rule {
    /// The same as a rule that the Go tool has.
    pub(super) const fn go(mut self) -> Self {
        self.is_of_go = true;
        self
    }

    /// The same as a rule about security.
    pub(super) const fn security(mut self) -> Self {
        self.tags = &["mcp", "security"];
        self
    }

    /// The same as a rule about what a text does to a model.
    pub(super) const fn injection(mut self) -> Self {
        self.tags = &["mcp", "security", "prompt-injection"];
        self
    }

    /// A finding about the server, without a message.
    pub(crate) fn finding(&self) -> Finding {
        Finding::new(self.code, self.severity, self.help.into())
    }

    /// The rule for the formats of reports.
    pub(crate) fn described(&self) -> Described {
        Described {
            code: self.code,
            name: self.name,
            title: self.title.into(),
            help: self.help.into(),
            severity: self.severity,
            precision: self.precision,
            tags: self.tags,
        }
    }
}

/// Writes the findings of one rule.
pub(crate) struct Findings<'a> {
    /// What they have in common.
    common: Finding,
    all: &'a mut Vec<Finding>,
}

impl<'a> Findings<'a> {
    /// The pen of a rule.
    pub(crate) fn new(common: Finding, all: &'a mut Vec<Finding>) -> Self {
        Self { common, all }
    }

    /// The code of the rule.
    pub(crate) fn code(&self) -> &'static str {
        self.common.code
    }

    /// What the next findings are about.
    pub(crate) fn about(&mut self, kind: Kind, name: &str) -> &mut Self {
        self.common.kind = kind;
        name.clone_into(&mut self.common.name);
        self
    }

    /// Writes a finding about a part, and gives it back to add to it.
    pub(crate) fn say(
        &mut self,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> &mut Finding {
        let at = self.all.len();
        self.all.push(Finding {
            pointer: pointer.into(),
            message: message.into(),
            ..self.common.clone()
        });
        &mut self.all[at]
    }
}
