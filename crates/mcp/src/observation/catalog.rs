//! The surface of a target: what it lists, fetched once per run and set of client capabilities, in a session in which
//! nothing is called.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{finding::Finding, schemas::Schemas};

/// All that a server lists, each entry as it came. `None`: the server does not have that list, or it could
/// not be fetched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Catalog {
    /// `tools/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<Value>>,
    /// `prompts/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<Vec<Value>>,
    /// `resources/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<Vec<Value>>,
    /// `resources/templates/list`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_templates: Option<Vec<Value>>,
    /// Lists that the server declares and that could not be fetched, or not to their end: what is not in them may be there
    /// all the same, and nobody can compare them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<Listing>,
    /// The capabilities of the clients that it is for, sorted; a surface is only compared with one of the same clients.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capabilities: Vec<String>,
    /// The identities of the assertions that talk to the target, as far as they are known: command lines change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_by: Vec<String>,
    /// What is wrong with the lists.
    #[serde(skip)]
    pub findings: Vec<Finding>,
    /// What was made of the schemas of the tools.
    #[serde(skip)]
    pub schemas: Schemas,
}

/// The lists of a target for a client that declares certain capabilities. Lists that were told to different sets of
/// capabilities are not comparable.
#[derive(Debug, Clone)]
pub struct SurfaceSeen {
    /// The target's name for people.
    pub target: String,
    /// The capabilities that the client declares, sorted by name, then `revision DATE` where the client asks for one.
    pub capabilities: Vec<String>,
    /// The lists of the target; all are unknown if none could be fetched.
    pub catalog: Arc<Catalog>,
    /// The identities of the assertions that talk to the target as such a client.
    pub used_by: Vec<String>,
}

/// One of the lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Listing {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
    /// `resources/templates/list`.
    ResourceTemplates,
}

impl Listing {
    /// All lists, in the order people look for them.
    pub const ALL: [Self; 4] = [
        Self::Tools,
        Self::Prompts,
        Self::Resources,
        Self::ResourceTemplates,
    ];

    /// The word for one entry.
    pub fn entry(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::ResourceTemplates => "resource template",
        }
    }

    /// The member of the list's result, which names the list in a saved catalog too.
    pub fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
        }
    }

    /// The member of an entry that tells it from the others.
    pub fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::ResourceTemplates => "uriTemplate",
        }
    }
}

impl Catalog {
    /// The entries of a list.
    pub fn list(&self, listing: Listing) -> Option<&[Value]> {
        match listing {
            Listing::Tools => self.tools.as_deref(),
            Listing::Prompts => self.prompts.as_deref(),
            Listing::Resources => self.resources.as_deref(),
            Listing::ResourceTemplates => self.resource_templates.as_deref(),
        }
    }

    /// The same list, to be changed.
    pub fn list_mut(&mut self, listing: Listing) -> &mut Option<Vec<Value>> {
        match listing {
            Listing::Tools => &mut self.tools,
            Listing::Prompts => &mut self.prompts,
            Listing::Resources => &mut self.resources,
            Listing::ResourceTemplates => &mut self.resource_templates,
        }
    }

    /// The lists that are members of a value, such as a saved catalog.
    pub fn of_members(whole: &Value) -> Self {
        let mut catalog = Self::default();
        for listing in Listing::ALL {
            *catalog.list_mut(listing) = whole[listing.member()].as_array().cloned();
        }
        catalog
    }

    /// Whether the tools are known to the last one, so that one which is not among them is not listed.
    pub fn knows_all_tools(&self) -> bool {
        self.tools.is_some() && !self.unknown.contains(&Listing::Tools)
    }

    /// The listed tool of that name.
    pub fn tool(&self, name: &str) -> Option<&Value> {
        let mut tools = self.tools.as_ref()?.iter();
        tools.find(|tool| tool["name"] == name)
    }

    /// The names of all listed tools, in their order.
    pub fn tool_names(&self) -> Vec<&str> {
        let tools = self.tools.as_deref().unwrap_or_default();
        tools.iter().filter_map(|it| it["name"].as_str()).collect()
    }
}
