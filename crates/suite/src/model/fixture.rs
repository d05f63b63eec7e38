//! Which servers name the fixture: they need a copy of it.

use super::server::{Endpoint, EnvPart, EnvValue, Launch, Program, Target};
use mcp::script::template::Template;

impl Target {
    /// Whether `{{fixture}}` stands in what is started or reached.
    pub fn names_fixture(&self) -> bool {
        let (args, endpoint) = match self {
            Self::Process(_) | Self::None => (None, None),
            Self::Builtin { args, .. } => (Some(args), None),
            Self::Url { endpoint, .. } => (None, Some(endpoint.as_ref())),
            Self::Container {
                program, served, ..
            } => {
                let args = match program {
                    Program::Launched(_) => None,
                    Program::Builtin { args, .. } => Some(args),
                };
                (args, served.as_ref().map(|served| &served.endpoint))
            }
        };
        any(args.into_iter().flatten())
            || self.launch().is_some_and(Launch::names_fixture)
            || endpoint.is_some_and(Endpoint::names_fixture)
    }
}

impl Endpoint {
    fn names_fixture(&self) -> bool {
        self.url.names_fixture() || any_value(&self.headers)
    }
}

impl Launch {
    fn names_fixture(&self) -> bool {
        let directory = self.directory.iter().map(|directory| &directory.place);
        any(&self.command) || any(&self.args) || any(directory) || any_value(&self.env)
    }
}

fn any<'a>(texts: impl IntoIterator<Item = &'a Template>) -> bool {
    texts.into_iter().any(Template::names_fixture)
}

fn any_value(values: &[(String, EnvValue)]) -> bool {
    let names_fixture = |part: &EnvPart| match part {
        EnvPart::Text(text) => text.names_fixture(),
        EnvPart::Variable { .. } => false,
    };
    values.iter().any(|(_, value)| value.any(&names_fixture))
}
