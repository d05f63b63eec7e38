//! The network of a server that listens in its container, without a way out. The engine's machine reaches it; a container of
//! the same engine does once it has joined.

use std::{collections::HashMap, path::Path};

use bollard::{
    errors::Error,
    models::{NetworkConnectRequest, NetworkCreateRequest, NetworkDisconnectRequest},
};

use super::{Containers, labels::Marks};
use text::environment::Environment;

/// What a container has that Docker made.
const SIGN_OF_DOCKER: &str = "/.dockerenv";

/// The container that we run in, as its engine knows it: Docker names the host after it.
pub(super) fn own_container(environment: &Environment) -> Option<String> {
    let name = environment.variable("HOSTNAME")?;
    Path::new(SIGN_OF_DOCKER).exists().then(|| name.to_owned())
}

/// Makes the network, and joins it where we run in a container. What is not removed with [`remove`] is removed at the end of
/// the run.
pub(super) async fn make(containers: &Containers, marks: &Marks) -> Result<String, Error> {
    let docker = &containers.engine.docker;
    let wanted = NetworkCreateRequest {
        name: marks.name.clone(),
        internal: Some(true),
        labels: Some(marks.labels.clone()),
        ..NetworkCreateRequest::default()
    };
    docker.create_network(wanted).await?;
    if let Some(own) = &containers.own_container {
        let wanted = NetworkConnectRequest {
            container: own.clone(),
            ..NetworkConnectRequest::default()
        };
        // In a container of another engine there is nothing to join, and the network may be reached all the same.
        let _ = docker.connect_network(&marks.name, wanted).await;
    }
    Ok(marks.name.clone())
}

/// Leaves the network, and removes it.
pub(super) async fn remove(containers: &Containers, name: &str) {
    let docker = &containers.engine.docker;
    if let Some(own) = &containers.own_container {
        let wanted = NetworkDisconnectRequest {
            container: own.clone(),
            force: Some(true),
        };
        // Fails where it was not joined.
        let _ = docker.disconnect_network(name, wanted).await;
    }
    // The end of the run tries again.
    let _ = docker.remove_network(name).await;
}

/// The address of a container that runs.
pub(super) async fn address(containers: &Containers, id: &str) -> Result<Option<String>, Error> {
    let found = containers.engine.docker.inspect_container(id, None).await?;
    let networks = found.network_settings.and_then(|it| it.networks);
    let networks = networks.unwrap_or_else(HashMap::new).into_values();
    let mut addresses = networks.filter_map(|network| network.ip_address);
    Ok(addresses.find(|address| !address.is_empty()))
}
