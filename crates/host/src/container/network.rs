//! The network of a server that listens in its container: of this one container, without a way out. It is reached there
//! from the machine of the engine, and from a container of that engine once that has joined.

use std::{collections::HashMap, path::Path};

use bollard::{
    errors::Error,
    models::{NetworkConnectRequest, NetworkCreateRequest, NetworkDisconnectRequest},
};

use super::{Containers, labels::Marks};
use text::environment::Environment;

/// What a container has that Docker made.
const SIGN_OF_DOCKER: &str = "/.dockerenv";

/// The network of one container. What is not removed with [`Network::remove`] goes at the end of the run.
#[derive(Debug)]
pub(super) struct Network {
    name: String,
}

/// The container that we run in, as its engine knows it: Docker names the host after it.
pub(super) fn own_container(environment: &Environment) -> Option<String> {
    let name = environment.variable("HOSTNAME")?;
    Path::new(SIGN_OF_DOCKER).exists().then(|| name.to_owned())
}

impl Network {
    /// Makes the network, and joins it where we run in a container.
    pub(super) async fn new(crew: &Containers, marks: &Marks) -> Result<Self, Error> {
        let docker = &crew.engine.docker;
        let wanted = NetworkCreateRequest {
            name: marks.name.clone(),
            internal: Some(true),
            labels: Some(marks.labels.clone()),
            ..NetworkCreateRequest::default()
        };
        docker.create_network(wanted).await?;
        let network = Self {
            name: marks.name.clone(),
        };
        if let Some(own) = &crew.own_container {
            let wanted = NetworkConnectRequest {
                container: own.clone(),
                ..NetworkConnectRequest::default()
            };
            // In a container of another engine there is nothing to join: the network may be reached all the same.
            let _ = docker.connect_network(&network.name, wanted).await;
        }
        Ok(network)
    }

    /// What the engine calls it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Leaves the network, and removes it.
    pub(super) async fn remove(&self, crew: &Containers) {
        let docker = &crew.engine.docker;
        if let Some(own) = &crew.own_container {
            let wanted = NetworkDisconnectRequest {
                container: own.clone(),
                force: Some(true),
            };
            // Who has not joined cannot leave.
            let _ = docker.disconnect_network(&self.name, wanted).await;
        }
        // The end of the run looks for it again.
        let _ = docker.remove_network(&self.name).await;
    }
}

/// The address of a container that runs.
pub(super) async fn address(crew: &Containers, id: &str) -> Result<Option<String>, Error> {
    let found = crew.engine.docker.inspect_container(id, None).await?;
    let networks = found.network_settings.and_then(|it| it.networks);
    let networks = networks.unwrap_or_else(HashMap::new).into_values();
    let mut addresses = networks.filter_map(|network| network.ip_address);
    Ok(addresses.find(|address| !address.is_empty()))
}
