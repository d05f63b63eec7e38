//! What documents share: what is compiled once however often suites write it, and the servers and clients that many of
//! them have. Documents are lowered on several threads, each of which waits for the others only while it looks here.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json_path::JsonPath;

use crate::{
    script::{client::ClientBehaviour, pattern::Pattern},
    suite::model::server::Server,
};

/// What is compiled once however often suites write it.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The client of all assertions that say nothing about it.
    client: Arc<ClientBehaviour>,
    shared: Mutex<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Regular expressions by their text.
    patterns: HashMap<String, Pattern>,
    /// Paths by their text.
    paths: HashMap<String, JsonPath>,
    /// Servers by all that is written of them.
    servers: HashMap<String, Arc<Server>>,
    /// The server of the last assertion, which is nearly always that of the next one too.
    last_server: Option<Arc<Server>>,
    /// The variables that `{{env.NAME}}` names anywhere.
    variables: BTreeSet<String>,
}

impl Compiled {
    /// What is compiled is whole at any moment.
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was compiled of this text; `compile` makes it, or says why there is nothing. Nobody waits for that.
    fn once<T: Clone>(
        &self,
        known: fn(&mut Shared) -> &mut HashMap<String, T>,
        text: &str,
        compile: impl FnOnce() -> Result<T, String>,
    ) -> Result<T, String> {
        if let Some(made) = known(&mut self.shared()).get(text) {
            return Ok(made.clone());
        }
        let made = compile()?;
        let mut shared = self.shared();
        let kept = known(&mut shared).entry(text.to_owned()).or_insert(made);
        Ok(kept.clone())
    }

    /// The pattern of this text; `compile` makes it, or says why it is none.
    pub(super) fn pattern_by(
        &self,
        text: &str,
        compile: impl FnOnce() -> Result<Pattern, String>,
    ) -> Result<Pattern, String> {
        self.once(|shared| &mut shared.patterns, text, compile)
    }

    /// The path of this text; `compile` makes it, or says why it is none.
    pub(super) fn path_by(
        &self,
        text: &str,
        compile: impl FnOnce() -> Result<JsonPath, String>,
    ) -> Result<JsonPath, String> {
        self.once(|shared| &mut shared.paths, text, compile)
    }

    /// The server, shared with those that are the same.
    pub(super) fn server(&self, server: Server) -> Arc<Server> {
        let mut shared = self.shared();
        let last = shared.last_server.as_ref();
        if let Some(last) = last.filter(|last| last.target == server.target) {
            return Arc::clone(last);
        }
        let written = format!("{:?}", server.target);
        let known = shared.servers.entry(written);
        let known = Arc::clone(known.or_insert_with(|| Arc::new(server)));
        shared.last_server = Some(Arc::clone(&known));
        known
    }

    /// The client, shared when it is the usual one.
    pub(super) fn client(&self, client: ClientBehaviour) -> Arc<ClientBehaviour> {
        if client.is_usual() {
            Arc::clone(&self.client)
        } else {
            Arc::new(client)
        }
    }

    /// Notes that `{{env.NAME}}` names a variable.
    pub(super) fn names_variable(&self, variable: &str) {
        let mut shared = self.shared();
        if !shared.variables.contains(variable) {
            shared.variables.insert(variable.to_owned());
        }
    }

    /// The variables that `{{env.NAME}}` names anywhere in what was lowered so far.
    pub(crate) fn variables(&self) -> BTreeSet<String> {
        self.shared().variables.clone()
    }
}
