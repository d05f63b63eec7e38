//! What the runner must show nowhere: told before anything else is, so that not even our own words can show it.

use crate::commands::running::Screen;
use text::{count, environment::Environment, redact::Secrets, workflow::command::Command};

/// What this process itself must not tell.
pub(super) fn own(environment: &Environment) -> Secrets {
    let mut secrets = Secrets::default();
    if let Some(token) = environment.variable("GITHUB_TOKEN") {
        secrets.add_token(token.trim());
    }
    secrets
}

/// Has every value masked, in each form it may be shown in.
pub(super) fn mask(secrets: &Secrets, screen: &Screen) {
    for value in secrets.forms() {
        screen.command(&Command::AddMask(value.to_owned()));
    }
    if secrets.too_short() > 0 {
        screen.note(&format!(
            "{} from the environment cannot be hidden, because hiding so short a text would hide others too",
            count(secrets.too_short(), "value")
        ));
    }
}
