//! Which jobs talk to the same server in the same way: a number for each such way, made once, so that a run need
//! not compare targets. What a target is, is `suite::model`'s.

use std::{
    collections::HashMap,
    fmt::{self, Display},
};

use super::job::OwnFixture;
use crate::model::server::{Server, Target};
use mcp::script::client::ClientBehaviour;

/// Equal for jobs whose target, client and use of the fixture are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TargetKey(u32);

impl Display for TargetKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0)
    }
}

/// The keys given so far.
#[derive(Debug, Default)]
pub(super) struct TargetKeys {
    by_text: HashMap<String, TargetKey>,
}

impl TargetKeys {
    /// The key of a target; `None` without a server.
    pub(super) fn key(
        &mut self,
        server: &Server,
        client: &ClientBehaviour,
        fixture: OwnFixture,
    ) -> Option<TargetKey> {
        match &server.target {
            Target::Process(_)
            | Target::Builtin { .. }
            | Target::Container { .. }
            | Target::Url { .. } => {}
            Target::None => return None,
        }
        let text = format!("{:?} {client:?} {fixture:?}", server.target);
        let next = TargetKey(u32::try_from(self.by_text.len()).unwrap_or(u32::MAX));
        Some(*self.by_text.entry(text).or_insert(next))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{OwnFixture, TargetKeys};
    use crate::model::server::{Launch, Server, Target};
    use mcp::script::{client::ClientBehaviour, template::Template};

    fn server(command: &str) -> Arc<Server> {
        Arc::new(Server {
            target: Target::Process(Launch {
                command: Some(Template::new(command)),
                ..Launch::default()
            }),
        })
    }

    #[test]
    fn what_is_written_alike_has_one_key_and_nothing_else_has_it() {
        let mut keys = TargetKeys::default();
        let usual = Arc::new(ClientBehaviour::default());
        let rooted = Arc::new(ClientBehaviour {
            roots: Some(Vec::new()),
            ..ClientBehaviour::default()
        });
        let first = server("a");
        let mut key = |server: &Arc<Server>, client: &Arc<ClientBehaviour>, fixture| {
            keys.key(server, client, fixture)
        };
        let known = key(&first, &usual, OwnFixture::None);
        assert!(known.is_some());
        assert_eq!(key(&first, &usual, OwnFixture::None), known);
        assert_eq!(key(&server("a"), &usual, OwnFixture::None), known);
        let others = [
            key(&server("b"), &usual, OwnFixture::None),
            key(&first, &rooted, OwnFixture::None),
            key(&first, &usual, OwnFixture::Copied),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, known);
            assert!(!others[..index].contains(other));
        }
        let none = Arc::new(Server {
            target: Target::None,
        });
        assert_eq!(key(&none, &usual, OwnFixture::None), None);
    }
}
