//! What documents share: what is compiled once however often suites write it, and the servers and clients that many of
//! them have.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use serde_json_path::JsonPath;

use crate::model::server::Server;
use mcp::script::{client::ClientBehaviour, pattern::Pattern};

/// What is compiled once however often suites write it.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The client of all assertions that say nothing about it.
    client: Arc<ClientBehaviour>,
    /// Regular expressions by their text.
    patterns: RefCell<HashMap<String, Pattern>>,
    /// Paths by their text.
    paths: RefCell<HashMap<String, JsonPath>>,
    /// Servers by all that is written of them.
    servers: RefCell<HashMap<String, Arc<Server>>>,
    /// The variables that `{{env.NAME}}` names anywhere.
    variables: RefCell<BTreeSet<String>>,
}

impl Compiled {
    /// The pattern of this text; `compile` makes it, or says why it is none.
    pub(super) fn pattern_by(
        &self,
        text: &str,
        compile: impl FnOnce() -> Result<Pattern, String>,
    ) -> Result<Pattern, String> {
        once(&self.patterns, text, compile)
    }

    /// The path of this text; `compile` makes it, or says why it is none.
    pub(super) fn path_by(
        &self,
        text: &str,
        compile: impl FnOnce() -> Result<JsonPath, String>,
    ) -> Result<JsonPath, String> {
        once(&self.paths, text, compile)
    }

    /// The server, shared with those that are the same.
    pub(super) fn server(&self, server: Server) -> Arc<Server> {
        let written = format!("{:?}", server.target);
        let mut servers = self.servers.borrow_mut();
        Arc::clone(servers.entry(written).or_insert_with(|| Arc::new(server)))
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
        self.variables.borrow_mut().insert(variable.to_owned());
    }

    /// The variables that `{{env.NAME}}` names anywhere in what was lowered so far.
    pub fn variables(&self) -> BTreeSet<String> {
        self.variables.borrow().clone()
    }
}

/// What was compiled of this text; `compile` makes it, or says why there is nothing.
fn once<T: Clone>(
    known: &RefCell<HashMap<String, T>>,
    text: &str,
    compile: impl FnOnce() -> Result<T, String>,
) -> Result<T, String> {
    if let Some(made) = known.borrow().get(text) {
        return Ok(made.clone());
    }
    let made = compile()?;
    known.borrow_mut().insert(text.to_owned(), made.clone());
    Ok(made)
}
