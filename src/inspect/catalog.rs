//! What a server offers: what it says of itself, and its lists.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use mcp::{
    observation::{
        SessionFacts,
        catalog::{Catalog, Listing},
    },
    session::Listed,
};

/// Characters of a text for each token of a model, about: what the vendors of models say of English.
const CHARACTERS_OF_A_TOKEN: usize = 4;

/// What a server says of itself and what it lists.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offer {
    /// The facts of the handshake.
    facts: Option<Arc<SessionFacts>>,
    /// Its lists.
    pub(crate) catalog: Catalog,
    /// Why a declared list is not known, or not to its end.
    pub(crate) missing: Option<String>,
}

impl Offer {
    /// What was said in one session.
    pub(crate) fn new(facts: Option<&Arc<SessionFacts>>, listed: Listed) -> Self {
        Self {
            facts: facts.cloned(),
            catalog: listed.catalog,
            missing: listed.missing,
        }
    }

    /// `name version` of the server, as far as it said.
    pub(crate) fn server(&self) -> Option<String> {
        self.facts.as_ref()?.server()
    }

    /// The revision of the session.
    pub(crate) fn revision(&self) -> Option<&'static str> {
        Some(self.facts.as_ref()?.revision.name())
    }

    /// The instructions for the model.
    pub(crate) fn instructions(&self) -> Option<&str> {
        let facts = self.facts.as_ref()?;
        facts.initialize.get("instructions")?.as_str()
    }

    /// The names of a list's entries: of resources the URI, of templates the URI template.
    pub(crate) fn names(&self, listing: Listing) -> Vec<&str> {
        self.entries(listing)
            .iter()
            .filter_map(|entry| entry.get(listing.key())?.as_str())
            .collect()
    }

    /// The entries of a list.
    pub(crate) fn entries(&self, listing: Listing) -> &[Value] {
        self.catalog.list(listing).unwrap_or_default()
    }

    /// The whole offer as JSON, in a fixed order of members; a list that the server does not have is left out.
    pub(crate) fn json(&self) -> Value {
        let mut whole = Map::new();
        if let Some(facts) = &self.facts {
            whole.insert("protocol".to_owned(), facts.revision.name().into());
            for member in ["serverInfo", "capabilities", "instructions"] {
                if let Some(value) = facts.initialize.get(member) {
                    whole.insert(member.to_owned(), value.clone());
                }
            }
        }
        for listing in Listing::ALL {
            if let Some(entries) = self.catalog.list(listing) {
                whole.insert(member(listing).to_owned(), entries.into());
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

/// The member of a list's result, which names the list in JSON too.
pub(crate) fn member(listing: Listing) -> &'static str {
    match listing {
        Listing::Tools => "tools",
        Listing::Prompts => "prompts",
        Listing::Resources => "resources",
        Listing::ResourceTemplates => "resourceTemplates",
    }
}
