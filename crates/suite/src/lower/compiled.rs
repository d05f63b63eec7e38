//! What documents share: compiled patterns, and equal servers and clients.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use crate::model::server::Server;
use mcp::script::{client::ClientBehaviour, pattern::Pattern};

/// What documents share.
#[derive(Debug, Default)]
pub(crate) struct Compiled {
    /// The client of all assertions that do not describe one.
    client: Arc<ClientBehaviour>,
    /// Regular expressions by their text.
    pub(super) patterns: RefCell<HashMap<String, Pattern>>,
    /// Servers by their description.
    servers: RefCell<HashMap<String, Arc<Server>>>,
    /// The variables that `{{env.NAME}}` names anywhere.
    pub(crate) variables: RefCell<BTreeSet<String>>,
}

impl Compiled {
    /// The server, shared with equal ones.
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
}
