//! What the runner must show nowhere: told before anything else is, so that not even our own words can show it.

use crate::{
    commands::running::Screen,
    words::{redact::Secrets, text::count, workflow::command::Command},
};

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
