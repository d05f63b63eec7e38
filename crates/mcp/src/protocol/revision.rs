//! The MCP revisions and what each of them has. Every question "does this revision …" is answered by this
//! table; nothing else compares revisions.

use std::fmt;

/// A dated revision of the Model Context Protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Revision {
    /// 2024-11-05, the first one.
    V2024_11_05,
    /// 2025-03-26: streamable HTTP, batches, audio, tool annotations.
    V2025_03_26,
    /// 2025-06-18: structured content, elicitation, resource links; batches removed.
    V2025_06_18,
    /// 2025-11-25: tasks, URL elicitation, icons.
    #[default]
    V2025_11_25,
    /// 2026-07-28: stateless, no handshake.
    V2026_07_28,
}

/// How a session of a revision begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lifecycle {
    /// `initialize`, then `notifications/initialized`.
    Handshake,
    /// Metadata on every request.
    Stateless,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// The newest revision with a handshake, which `protocol: auto` asks for.
    pub const NEWEST_HANDSHAKE: Self = Self::V2025_11_25;

    /// The newest revision without a handshake, which `protocol: auto` goes on with where the handshake is refused for it.
    pub const NEWEST_STATELESS: Self = Self::V2026_07_28;

    /// The name used on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.name() == name)
    }

    /// How its sessions begin.
    pub fn lifecycle(self) -> Lifecycle {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Lifecycle::Handshake
            }
            Self::V2026_07_28 => Lifecycle::Stateless,
        }
    }

    /// Whether a frame may be an array of messages: only 2025-03-26 has JSON-RPC batches.
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether each request over HTTP names the revision in `MCP-Protocol-Version`: "Transports", since 2025-06-18.
    pub fn names_itself_in_headers(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether servers are told how to name their tools: tools § "Tool Names", since 2025-11-25.
    pub fn names_tools(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether `elicitation` has modes: a form, and a URL that the user is sent to.
    pub fn has_elicitation_modes(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a field of a form may be a choice of several texts.
    pub fn has_choices_of_several(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a sampling request may give the model tools, where the client declared `sampling.tools`.
    pub fn has_sampling_tools(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether there is no handshake. Without one there is no `ping`, no request of the server (it answers with what it
    /// needs, in a result with a `resultType`), no level or subscription that holds for a session, and an empty cursor is a
    /// cursor like any other.
    pub fn is_stateless(self) -> bool {
        self.lifecycle() == Lifecycle::Stateless
    }

    /// Whether clients of this revision can declare this capability, so that servers may use its methods.
    pub fn has_client_capability(self, capability: &str) -> bool {
        match capability {
            "elicitation" => self >= Self::V2025_06_18,
            "tasks" => self == Self::V2025_11_25,
            "roots" | "sampling" => true,
            _ => false,
        }
    }

    /// Whether servers of this revision declare this capability when they serve its methods.
    pub fn has_server_capability(self, capability: &str) -> bool {
        match capability {
            "completions" => self >= Self::V2025_03_26,
            "tasks" => self == Self::V2025_11_25,
            "tools" | "resources" | "prompts" | "logging" => true,
            _ => false,
        }
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn names_lead_back_to_their_revision() {
        for revision in Revision::ALL {
            assert_eq!(Revision::from_name(revision.name()), Some(revision));
        }
        assert_eq!(Revision::from_name("1999-01-01"), None);
    }
}
