//! The servers of a suite, whichever part of it runs: their names, the assertions that talk to them, and what may
//! be secret. A part of a run uses the names of the whole and hides the same secrets, so that their results
//! can be merged and compared.

use std::{collections::HashMap, sync::Arc};

use crate::{
    model::{
        Case, on_target,
        server::{Launch, Program, Server, Target},
    },
    unique::Names,
};
use mcp::script::{client::ClientBehaviour, template::Template};

/// The servers of a suite.
#[derive(Debug, Default)]
pub struct Servers {
    /// Those whose lists are kept, in the order of the suite.
    pub listed: Vec<ListedServer>,
    /// All of them, each written in its own way once, also those of targets that were not chosen, and those that
    /// others stand in for.
    pub distinct: Vec<Arc<Server>>,
}

/// A server whose lists are kept, as seen by clients that declare the same capabilities.
#[derive(Debug)]
pub struct ListedServer {
    /// Its name for people: the target's, else its command line; several of one name are numbered.
    pub name: String,
    /// Its place among the servers, in the order of the suite; the same for every set of capabilities.
    pub place: usize,
    /// The capabilities that clients declare to it, as [`ClientBehaviour::declared`] has them.
    pub capabilities: Vec<String>,
    /// The target and the revision that it is of, if there are several.
    target: Option<String>,
    /// The assertions that talk to it, also those that are skipped or left out.
    used_by: Vec<Arc<Case>>,
}

impl ListedServer {
    /// The identities of the assertions that talk to it, as records have them, in their order.
    pub fn users(&self) -> Vec<String> {
        let target = self.target.as_deref();
        let ids = self.used_by.iter().map(|case| on_target(&case.id, target));
        let mut users: Vec<String> = ids.collect();
        users.sort();
        users
    }
}

/// Takes the servers of a suite together.
#[derive(Debug, Default)]
pub(super) struct ServerRegistry {
    servers: Servers,
    /// Places in `distinct`, by what is written of a server.
    by_text: HashMap<String, usize>,
    /// The same by address, because loading shares equal servers; the `Arc` keeps the address from being reused.
    by_address: HashMap<usize, (Arc<Server>, usize)>,
    /// Names, with their places.
    by_target: HashMap<(Option<String>, usize), (String, usize)>,
    /// Places in `listed`, by the server's place and the capabilities.
    by_client: HashMap<(usize, Vec<String>), usize>,
    names: Names,
}

impl ServerRegistry {
    /// The place of a server among those that differ.
    pub(super) fn meet(&mut self, server: &Arc<Server>) -> usize {
        let address = Arc::as_ptr(server).addr();
        if let Some((_, place)) = self.by_address.get(&address) {
            return *place;
        }
        let distinct = &mut self.servers.distinct;
        let text = format!("{:?}", server.target);
        let place = *self.by_text.entry(text).or_insert(distinct.len());
        if place == distinct.len() {
            distinct.push(Arc::clone(server));
        }
        self.by_address.insert(address, (Arc::clone(server), place));
        place
    }

    /// The server, shared with those that are written alike.
    pub(super) fn shared(&mut self, server: &Arc<Server>) -> Arc<Server> {
        let place = self.meet(server);
        Arc::clone(&self.servers.distinct[place])
    }

    /// Notes that an assertion, called as on its target and revision, talks to a server as this client, on a target if
    /// there are several; its place among those whose lists are kept.
    pub(super) fn talks(
        &mut self,
        (case, user_target): (&Arc<Case>, Option<&str>),
        target: Option<&str>,
        (server, client): (&Arc<Server>, &ClientBehaviour),
    ) -> usize {
        let key = (target.map(str::to_owned), self.meet(server));
        let (name, place) = if let Some(known) = self.by_target.get(&key) {
            known.clone()
        } else {
            let label = target.map_or_else(|| label(&server.target), str::to_owned);
            let known = (self.names.take(&label), self.by_target.len());
            self.by_target.insert(key, known.clone());
            known
        };
        let capabilities = client.declared();
        let listed = &mut self.servers.listed;
        let entry = self.by_client.entry((place, capabilities.clone()));
        let at = *entry.or_insert(listed.len());
        if at == listed.len() {
            listed.push(ListedServer {
                name,
                place,
                capabilities,
                target: user_target.map(str::to_owned),
                used_by: Vec::new(),
            });
        }
        listed[at].used_by.push(Arc::clone(case));
        at
    }

    /// What was found.
    pub(super) fn into_servers(self) -> Servers {
        self.servers
    }
}

/// A server as the suite writes it.
fn label(target: &Target) -> String {
    let words = |launch: &Launch| {
        let command = launch.command.iter().chain(&launch.args);
        shell_words::join(command.map(|word| &word.text))
    };
    let embedded = |profile: &str, args: &[Template]| {
        let args = args.iter().map(|word| word.text.as_str());
        shell_words::join(["builtin", profile].into_iter().chain(args))
    };
    match target {
        Target::Process(launch) => words(launch),
        Target::Builtin { profile, args, .. } => embedded(profile, args),
        Target::Url { endpoint, .. } => endpoint.url.text.clone(),
        Target::Container {
            container, program, ..
        } => {
            let program = match program {
                Program::Launched(launch) => words(launch),
                Program::Builtin { profile, args, .. } => embedded(profile, args),
            };
            container.labelled(&program)
        }
        Target::None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::ServerRegistry;
    use crate::model::{
        Case,
        server::{Launch, Server, Target},
    };
    use mcp::script::{client::ClientBehaviour, template::Template};
    use text::source::{Origin, SourceFile, Span};

    fn case(id: &str) -> Arc<Case> {
        Arc::new(Case {
            id: id.to_owned(),
            name: String::new(),
            origin: Origin {
                file: Arc::new(SourceFile::new(String::new(), String::new())),
                span: Span::default(),
            },
            subject: "",
            tags: Vec::new(),
        })
    }

    fn server(command: &str, cwd: Option<&str>) -> Arc<Server> {
        Arc::new(Server {
            target: Target::Process(Launch {
                command: Some(Template::new(command)),
                // Any other difference of a launch has the same effect.
                args: cwd.into_iter().map(Template::new).collect(),
                ..Launch::default()
            }),
        })
    }

    #[test]
    fn servers_of_one_name_are_numbered_and_no_two_have_one_name() {
        let mut registry = ServerRegistry::default();
        let all = [
            ("a", None, server("s#2", None)),
            ("b", None, server("s", None)),
            ("c", Some("one"), server("s", None)),
            ("c", Some("two"), server("s", None)),
            ("d", Some("one"), server("s", Some("x"))),
            ("e", None, server("s", None)),
        ];
        for (id, target, server) in &all {
            registry.talks(
                (&case(id), *target),
                *target,
                (server, &ClientBehaviour::default()),
            );
        }
        let servers = registry.into_servers();
        let found = servers
            .listed
            .iter()
            .map(|it| format!("{}: {}", it.name, it.users().join(", ")));
        let found: Vec<String> = found.collect();
        let wanted = [
            "'s#2': a",
            "s: b, e",
            "one: c [one]",
            "two: c [two]",
            "one#2: d [one]",
        ];
        assert_eq!(found, wanted);
        assert_eq!(servers.distinct.len(), 3);
    }

    #[test]
    fn clients_of_other_capabilities_see_another_surface_of_the_same_server() {
        let mut registry = ServerRegistry::default();
        let usual = ClientBehaviour::default();
        let capable = ClientBehaviour {
            sampling: Some(Vec::new()),
            ..ClientBehaviour::default()
        };
        let mut talks =
            |id, client| registry.talks((&case(id), None), None, (&server("s", None), client));
        let places = [talks("a", &usual), talks("b", &capable), talks("c", &usual)];
        assert_eq!(places, [0, 1, 0]);
        let servers = registry.into_servers();
        let found = servers.listed.iter().map(|it| {
            let (name, place, users) = (&it.name, it.place, it.users().join(", "));
            format!("{name} {place} {:?}: {users}", it.capabilities)
        });
        let found: Vec<String> = found.collect();
        assert_eq!(found, ["s 0 []: a, c", "s 0 [\"sampling\"]: b"]);
    }
}
