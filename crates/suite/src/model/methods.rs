//! Slips of the methods that servers use towards a client. Servers may have methods of their own, so what is not near
//! to one of these is theirs.

use mcp::protocol::method::{NOTIFICATIONS_OF_SERVERS, REQUESTS_OF_SERVERS};

/// What a server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// What it tells.
    Notification,
    /// What it asks.
    Request,
}

impl Sent {
    fn known(self) -> &'static [&'static str] {
        match self {
            Self::Notification => &NOTIFICATIONS_OF_SERVERS,
            Self::Request => &REQUESTS_OF_SERVERS,
        }
    }
}

/// The method of the protocol that another name is a slip of.
pub fn misspelt(sent: Sent, method: &str) -> Option<&'static str> {
    let known = sent.known();
    if known.contains(&method) {
        return None;
    }
    let found = bare(method);
    let distance = |known: &str| strsim::damerau_levenshtein(&found, &bare(known));
    let near = known.iter().min_by_key(|known| distance(known))?;
    // One letter in five: short names are a letter or two away from words that mean something else.
    let limit = (found.len() / 5).min(2);
    (distance(near) <= limit).then_some(*near)
}

/// The letters of a method without the word that all notifications begin with: `tools/list_changed` is meant as
/// `notifications/tools/list_changed`, and `sampling/create_message` as `sampling/createMessage`.
fn bare(method: &str) -> String {
    let words = ["notifications/", "notification/"];
    let name = words
        .into_iter()
        .find_map(|word| method.strip_prefix(word))
        .unwrap_or(method);
    let letters = name.chars().filter(|sign| sign.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        Sent::{self, Notification, Request},
        misspelt,
    };

    #[test]
    fn slips_are_told_from_methods_of_the_server_itself() {
        let case = |sent: Sent, method: &str, wanted: Option<&str>| {
            assert_eq!(misspelt(sent, method), wanted, "{method}");
        };
        let tools = Some("notifications/tools/list_changed");
        case(Notification, "tools/list_changed", tools);
        case(Notification, "notifications/tool/list_changed", tools);
        case(Notification, "notification/tools/listChanged", tools);
        case(
            Notification,
            "notifications/canceled",
            Some("notifications/cancelled"),
        );
        let update = Some("notifications/resources/updated");
        case(Notification, "notifications/resource/updated", update);
        let sampling = Some("sampling/createMessage");
        case(Request, "sampling/createMesage", sampling);
        case(Request, "sampling/create_message", sampling);
        case(Request, "elicitation/Create", Some("elicitation/create"));
        case(Request, "root/list", Some("roots/list"));
        for own in [
            "notifications/tools/list_changed",
            "notifications/tools/reloaded",
            "notifications/process",
            "notifications/vendor/channel",
            "sampling/createMessage",
            "log",
        ] {
            case(Notification, own, None);
        }
        for own in [
            "sampling/createMessage",
            "pong",
            "tools/list",
            "acme/ask",
            "",
        ] {
            case(Request, own, None);
        }
    }
}
