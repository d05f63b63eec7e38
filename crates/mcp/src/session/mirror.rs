//! What headers repeat of the arguments of tools: the tools say so in their schemas, which are asked for before the first
//! call where messages are carried in that way, once in a session.

use serde_json::Value;

use super::Session;
use crate::{
    observation::finding::FindingCode,
    protocol::{header_params::HeaderParam, method::Method},
    transport::http::Mirrored,
};

impl Session {
    /// Whether headers repeat what a tool is given.
    fn mirrors(&mut self) -> bool {
        let http = self.exchange.connection.http_only();
        http.is_some_and(|http| http.mirrors())
    }

    /// Lists the tools where their schemas are needed for a call and not known. What goes wrong is told by the call.
    pub(super) async fn learn_mirrored(&mut self) {
        let facts = self.facts.as_ref();
        let declared = facts.is_some_and(|facts| facts.declares("tools"));
        if declared && !self.knows_mirrored && self.mirrors() {
            self.knows_mirrored = true;
            let _ = Box::pin(self.list(Method::ToolsList, None)).await;
        }
    }

    /// Takes what listed tools say of headers.
    pub(super) fn take_mirrored(&mut self, tools: &[Value]) {
        if !self.mirrors() {
            return;
        }
        self.knows_mirrored = true;
        let mut mirrored = Mirrored::new();
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            match tool.get("inputSchema").map(HeaderParam::all) {
                Some(Ok(params)) => {
                    mirrored.insert(name.to_owned(), params);
                }
                Some(Err(reason)) => {
                    let name = text::head(name, 60);
                    let message = format!("`x-mcp-header` in `inputSchema` of `{name}`: {reason}");
                    self.record()
                        .note_bare(FindingCode::BadHeaderParameter, message);
                }
                None => {}
            }
        }
        if let Some(http) = self.exchange.connection.http_only() {
            http.mirrored = mirrored;
        }
    }
}
