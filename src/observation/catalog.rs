//! The surface of a target: what it lists, fetched once per run after a subject of its first session.

use serde_json::Value;

/// All that a server lists, each entry as it came. `None`: the server does not have that list, or it could
/// not be fetched.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Catalog {
    /// `tools/list`.
    pub(crate) tools: Option<Vec<Value>>,
    /// `prompts/list`.
    pub(crate) prompts: Option<Vec<Value>>,
    /// `resources/list`.
    pub(crate) resources: Option<Vec<Value>>,
    /// `resources/templates/list`.
    pub(crate) resource_templates: Option<Vec<Value>>,
}

impl Catalog {
    /// The listed tool of that name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Value> {
        self.tools
            .as_ref()?
            .iter()
            .find(|tool| tool.get("name").and_then(Value::as_str) == Some(name))
    }

    /// The names of all listed tools, in their order.
    pub(crate) fn tool_names(&self) -> Vec<&str> {
        let tools = self.tools.as_deref().unwrap_or_default();
        tools
            .iter()
            .filter_map(|tool| tool.get("name").and_then(Value::as_str))
            .collect()
    }
}
