//! Which servers speak of the fixture: they cannot be had before there is a copy of it.

use super::server::{Endpoint, EnvPart, EnvValue, Launch, Program, Target};
use mcp::script::template::Template;

impl Target {
    /// Whether `{{fixture}}` stands in what is started or reached.
    pub fn names_fixture(&self) -> bool {
        match self {
            Self::Process(launch) => launch.names_fixture(),
            Self::Builtin {
                profile: _,
                args,
                launch,
            } => any(args) || launch.names_fixture(),
            Self::Url {
                endpoint,
                launch,
                listening: _,
            } => endpoint.names_fixture() || launch.names_fixture(),
            Self::Container {
                container: _,
                program,
                served,
            } => {
                let endpoint = served.as_ref().map(|served| &served.endpoint);
                program.names_fixture() || endpoint.is_some_and(Endpoint::names_fixture)
            }
            Self::None => false,
        }
    }
}

impl Endpoint {
    fn names_fixture(&self) -> bool {
        self.url.names_fixture() || any_value(&self.headers)
    }
}

impl Program {
    fn names_fixture(&self) -> bool {
        match self {
            Self::Launched(launch) => launch.names_fixture(),
            Self::Builtin {
                profile: _,
                args,
                launch,
            } => any(args) || launch.names_fixture(),
        }
    }
}

impl Launch {
    fn names_fixture(&self) -> bool {
        let Self {
            command,
            args,
            directory,
            env,
            own: _,
            inherit: _,
        } = self;
        any(command)
            || any(args)
            || any(directory.iter().map(|directory| &directory.place))
            || any_value(env)
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
