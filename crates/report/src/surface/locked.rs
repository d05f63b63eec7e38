//! The lists of a run against lock files: which of its servers a file speaks of, and what is not as it says.

use serde_json::Value;

use super::{Surface, kept, pairing, target};
use crate::{RunReport, cleaner::Cleaner, compare::Scope};
use mcp::observation::catalog::Catalog;

/// What a lock file says of a server, to some clients.
#[derive(Debug, Clone, PartialEq)]
pub struct Lock {
    /// The target in the settings; none of a server on the command line.
    pub target: Option<String>,
    /// The clients that it is for.
    pub clients: Clients,
    /// The catalog as `--save-catalog` writes it.
    pub catalog: Value,
}

/// For whom a server lists what it lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clients {
    /// Those that declare every capability, and all others if nothing else is said of them.
    All,
    /// Those that declare nothing.
    Plain,
}

impl Lock {
    /// What people call it.
    fn name(&self) -> &str {
        let name = self.target.as_deref().or(self.server());
        name.unwrap_or("the server")
    }

    /// What the server calls itself.
    fn server(&self) -> Option<&str> {
        self.catalog["serverInfo"]["name"].as_str()
    }

    fn is_of(&self, name: &str, report: &RunReport) -> bool {
        match (&self.target, self.server(), report.own_name(name)) {
            (Some(target), _, _) => pairing::base(name) == target,
            (None, None, _) => true,
            (None, Some(server), own) => {
                let rest = own.and_then(|it| it.strip_prefix(server));
                rest.is_some_and(|it| it.is_empty() || it.starts_with(' '))
            }
        }
    }
}

impl RunReport {
    /// Takes in what is not as a lock file says. Lists that the file does not know for these clients are not compared: those
    /// for clients of one revision, and for some of the capabilities where they make a difference.
    pub fn compare_with_lock(&mut self, file: &str, locks: &[Lock], cleaner: &Cleaner) {
        let mut surface = Surface {
            file: Some(file.to_owned()),
            ..Surface::default()
        };
        let mut unmet: Vec<&Lock> = locks.iter().collect();
        for (name, now) in &self.catalogs {
            let of_it = locks.iter().filter(|it| it.is_of(name, self));
            let of_it: Vec<&Lock> = of_it.collect();
            unmet.retain(|it| !it.is_of(name, self));
            let plain = of_it.iter().find(|it| it.clients == Clients::Plain);
            let all = of_it.iter().find(|it| it.clients == Clients::All);
            let is_plain = now.capabilities.is_empty();
            let is_old = now
                .capabilities
                .iter()
                .any(|it| it.starts_with("revision "));
            let lock = match (plain, all) {
                _ if is_old => None,
                (Some(plain), _) if is_plain => Some(plain),
                (Some(_), _) => None,
                (None, all) => all,
            };
            if let Some(lock) = lock {
                let was = Catalog::of_members(&lock.catalog);
                let was = kept::catalog(&was, cleaner);
                surface.targets.push(target(name, &was, now));
            }
        }
        if Scope::Whole.of(self) == Scope::Whole {
            surface.uncompared = unmet.iter().map(|it| it.name().to_owned()).collect();
        }
        self.locked.push(surface);
    }
}
