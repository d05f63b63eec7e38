//! What a server offers: what it says of itself, and its lists.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use mcp::{
    observation::{
        SessionFacts,
        catalog::{Catalog, Listing},
    },
    protocol::revision::{Lifecycle, Revision},
    session::Listed,
};

/// Characters of a text for each token of a model, about: what the vendors of models say of English.
const CHARACTERS_OF_A_TOKEN: usize = 4;

/// What a server says of itself and what it lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offer {
    /// The revision of the session; none is known of a bare list.
    revision: Option<Revision>,
    /// The result of `initialize` or `server/discover`; null of a bare list.
    said: Value,
    /// Its lists.
    pub(crate) catalog: Catalog,
    /// Why a declared list is not known, or not to its end.
    pub(crate) missing: Option<String>,
}

impl Offer {
    /// What was said in one session.
    pub(crate) fn new(facts: Option<&Arc<SessionFacts>>, listed: Listed) -> Self {
        Self {
            revision: facts.map(|facts| facts.revision),
            said: facts.map_or(Value::Null, |facts| facts.initialize.clone()),
            catalog: listed.catalog,
            missing: listed.missing,
        }
    }

    /// Reads a saved catalog, or a bare result of `tools/list`. Fails with what it is instead.
    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        let mut said: Value =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        if said.is_array() {
            said = json!({ "tools": said });
        }
        let catalog = Catalog::of_members(&said);
        if catalog == Catalog::default() && said.get("protocol").is_none() {
            let why = "it is neither a catalog of `--save-catalog` nor a result of `tools/list`";
            return Err(why.to_owned());
        }
        Ok(Self {
            revision: said["protocol"].as_str().and_then(Revision::from_name),
            said,
            catalog,
            missing: None,
        })
    }

    /// `name version` of the server, as far as it said.
    pub(crate) fn server(&self) -> Option<String> {
        let facts = SessionFacts {
            revision: self.revision.unwrap_or(Revision::NEWEST_HANDSHAKE),
            initialize: self.said.clone(),
        };
        facts.server()
    }

    /// What people call the server.
    pub(crate) fn name(&self) -> String {
        let name = self.server();
        name.unwrap_or_else(|| "a server without a name".to_owned())
    }

    /// The revision of the session.
    pub(crate) fn revision(&self) -> Option<&'static str> {
        self.revision.map(Revision::name)
    }

    /// Whether the session began with a handshake.
    pub(crate) fn has_handshake(&self) -> bool {
        let lifecycle = self.revision.map(Revision::lifecycle);
        lifecycle.is_none_or(|it| it == Lifecycle::Handshake)
    }

    /// Whether the server declares a capability.
    pub(crate) fn declares(&self, capability: &str) -> bool {
        self.said["capabilities"].get(capability).is_some()
    }

    /// The instructions for the model.
    pub(crate) fn instructions(&self) -> Option<&str> {
        self.said["instructions"].as_str()
    }

    /// A member of what the server says of itself, such as `serverInfo`.
    pub(crate) fn said(&self, member: &str) -> Option<&Value> {
        self.said.get(member)
    }

    /// The names of a list's entries: of resources the URI, of templates the URI template.
    pub(crate) fn names(&self, listing: Listing) -> Vec<&str> {
        let entries = self.entries(listing).iter();
        entries
            .filter_map(|it| it[listing.key()].as_str())
            .collect()
    }

    /// The entries of a list.
    pub(crate) fn entries(&self, listing: Listing) -> &[Value] {
        self.catalog.list(listing).unwrap_or_default()
    }

    /// The whole offer as JSON, in a fixed order of members; a list that the server does not have is left out.
    pub(crate) fn json(&self) -> Value {
        let mut whole = Map::new();
        if let Some(revision) = self.revision() {
            whole.insert("protocol".to_owned(), revision.into());
        }
        for member in ["serverInfo", "_meta", "capabilities", "instructions"] {
            if let Some(value) = self.said.get(member) {
                whole.insert(member.to_owned(), value.clone());
            }
        }
        for listing in Listing::ALL {
            if let Some(entries) = self.catalog.list(listing) {
                whole.insert(listing.member().to_owned(), entries.into());
            }
        }
        whole.insert("tokens".to_owned(), self.tokens().into());
        if let Some(missing) = &self.missing {
            whole.insert("missing".to_owned(), json!(missing));
        }
        Value::Object(whole)
    }

    /// About how many tokens a model spends on the tools and the instructions.
    pub(crate) fn tokens(&self) -> usize {
        let tools = self.entries(Listing::Tools).iter();
        let tools: usize = tools.map(|tool| tool.to_string().chars().count()).sum();
        let instructions = self.instructions().unwrap_or_default();
        (tools + instructions.chars().count()) / CHARACTERS_OF_A_TOKEN
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Offer;

    #[test]
    fn a_catalog_is_read_as_it_was_written() {
        let whole = json!({
            "protocol": "2025-11-25", "serverInfo": {"name": "s", "version": "1"}, "capabilities": {"tools": {}},
            "instructions": "Be brief.", "tools": [{"name": "t"}], "prompts": [], "tokens": 5,
        });
        let offer = Offer::from_json(&whole.to_string()).unwrap();
        assert_eq!(offer.json(), whole);
        assert_eq!(offer.server().as_deref(), Some("s 1"));
        let bare = Offer::from_json(r#"{"tools": [{"name": "t"}]}"#).unwrap();
        assert_eq!(
            bare.entries(mcp::observation::catalog::Listing::Tools)
                .len(),
            1
        );
        assert!(Offer::from_json(r#"[{"name": "t"}]"#).is_ok());
        for wrong in ["", "{}", "1", r#"{"result": 1}"#] {
            assert!(Offer::from_json(wrong).is_err(), "{wrong}");
        }
    }
}
