//! Whether what a server serves and refuses is what it declared at the beginning of the session.

use std::ops::Range;

use super::{Session, record::brief};
use crate::{
    observation::{SessionFacts, answer::Unserved, finding::FindingCode},
    protocol::{message::RpcError, method::Method},
};

const METHOD_NOT_FOUND: i64 = -32601;

impl Session {
    /// A request was answered with an error: is it the method that is refused, although its capability was declared?
    /// `meanwhile` are the requests that the server made before it answered.
    pub(super) fn refused(
        &mut self,
        method: Method,
        meanwhile: Range<usize>,
        (error, frame): (&RpcError, &str),
    ) {
        let Some(promise) = self.facts.as_ref().and_then(|facts| promise(facts, method)) else {
            return;
        };
        if error.code != Some(METHOD_NOT_FOUND)
            || !is_about_the_method(method, &error.message)
            || self.refused_something(meanwhile)
        {
            return;
        }
        let message = format!(
            "{promise}, and `{}` is refused: {}",
            method.name(),
            brief(&error.raw)
        );
        self.record()
            .note(FindingCode::CapabilityNotServed, message, frame.as_bytes());
    }

    /// The capability that a method needs and the server did not declare, if the agreed revision has it.
    pub(super) fn undeclared(&self, method: Method) -> Option<&'static str> {
        let facts = self.facts.as_ref()?;
        let capability = method.capability()?;
        if !facts.revision.has_server_capability(capability) {
            return None;
        }
        if !facts.declares(capability) {
            return Some(capability);
        }
        (subscribes(method) && owes(facts, method).is_none()).then_some("resources.subscribe")
    }

    /// What explains that a method was refused with this error.
    pub(super) fn unserved(&self, method: Method, error: &RpcError) -> Option<Unserved> {
        if let Some(capability) = self.undeclared(method) {
            return Some(Unserved::Undeclared(capability));
        }
        let is_optional = method == Method::ResourceTemplatesList && self.facts.is_some();
        (is_optional && error.code == Some(METHOD_NOT_FOUND))
            .then(|| Unserved::Optional(method.name()))
    }

    /// Whether one of these requests got this same error from us: the server may have passed it on.
    fn refused_something(&self, requests: Range<usize>) -> bool {
        let dialogue = &self.exchange.dialogue;
        let asked = dialogue.record.server_requests.get(requests);
        let mut asked = asked.into_iter().flatten();
        asked.any(|request| !dialogue.client.serves(&request.method))
    }

    /// A method was served: was its capability declared?
    pub(super) fn served(&mut self, method: Method, frame: &str) {
        let Some(capability) = self.undeclared(method) else {
            return;
        };
        let message = format!(
            "`{}` is served, and `{capability}` is not declared",
            method.name()
        );
        self.record()
            .note(FindingCode::CapabilityUndeclared, message, frame.as_bytes());
    }
}

/// What has a client expect that a method is served, for people.
fn promise(facts: &SessionFacts, method: Method) -> Option<String> {
    if method == Method::Ping {
        return (!facts.revision.is_stateless()).then(|| "every server answers `ping`".to_owned());
    }
    owes(facts, method).map(|capability| format!("`{capability}` is declared"))
}

/// The capability that a server declared and that promises this method.
fn owes(facts: &SessionFacts, method: Method) -> Option<&'static str> {
    if subscribes(method) {
        let declared = facts.declares_part("resources", "subscribe");
        return declared.then_some("resources.subscribe");
    }
    // No capability tells whether there are templates: many servers have resources and none.
    method
        .capability()
        .filter(|capability| method != Method::ResourceTemplatesList && facts.declares(capability))
}

fn subscribes(method: Method) -> bool {
    matches!(
        method,
        Method::ResourcesSubscribe | Method::ResourcesUnsubscribe | Method::SubscriptionsListen
    )
}

/// Whether an error says that the method does not exist. Where a request names something (a tool, a prompt, a URI), many
/// servers say with the same code that this does not exist.
fn is_about_the_method(method: Method, message: &str) -> bool {
    let names_something = subscribes(method)
        || matches!(
            method,
            Method::ToolsCall
                | Method::ResourcesRead
                | Method::PromptsGet
                | Method::CompletionComplete
        );
    !names_something || message.contains(method.name()) || says_only_method_not_found(message)
}

/// What JSON-RPC calls this error, behind whatever an SDK puts before it ("MCP error -32601: …").
fn says_only_method_not_found(message: &str) -> bool {
    let said = message.rsplit(':').next().unwrap_or_default();
    let said = said.trim().trim_end_matches(['.', '!']);
    said.eq_ignore_ascii_case("method not found")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{is_about_the_method, owes, promise};
    use crate::{
        observation::SessionFacts,
        protocol::{method::Method, revision::Revision},
    };

    #[test]
    fn a_capability_promises_its_methods() {
        let case = |capabilities: Value, method: Method, wanted: Option<&str>| {
            let facts = SessionFacts {
                revision: Revision::V2025_11_25,
                initialize: json!({ "capabilities": capabilities }),
            };
            assert_eq!(owes(&facts, method), wanted, "{method:?}");
        };
        case(json!({"tools": {}}), Method::ToolsList, Some("tools"));
        case(json!({}), Method::ToolsList, None);
        let plain = json!({"resources": {}});
        case(plain.clone(), Method::ResourcesList, Some("resources"));
        case(plain.clone(), Method::ResourceTemplatesList, None);
        case(plain, Method::ResourcesSubscribe, None);
        for (says, wanted) in [(false, None), (true, Some("resources.subscribe"))] {
            let declared = json!({"resources": {"subscribe": says}});
            case(declared.clone(), Method::ResourcesSubscribe, wanted);
            case(declared, Method::ResourcesUnsubscribe, wanted);
        }
    }

    #[test]
    fn ping_is_promised_by_every_server_of_a_revision_that_has_it() {
        let case = |revision, wanted: Option<&str>| {
            let facts = SessionFacts {
                revision,
                initialize: json!({"capabilities": {}}),
            };
            assert_eq!(promise(&facts, Method::Ping).as_deref(), wanted);
            assert_eq!(promise(&facts, Method::ToolsList), None);
        };
        case(Revision::V2024_11_05, Some("every server answers `ping`"));
        case(Revision::V2025_11_25, Some("every server answers `ping`"));
        case(Revision::V2026_07_28, None);
    }

    #[test]
    fn what_does_not_exist_may_be_what_was_named() {
        let case = |method: Method, message: &str, wanted: bool| {
            assert_eq!(is_about_the_method(method, message), wanted, "{message}");
        };
        for message in [
            "Method not found",
            "method not found.",
            "MCP error -32601: Method not found",
            "Method not found: tools/call",
            "tools/call",
            "Unknown method 'tools/call'",
        ] {
            case(Method::ToolsCall, message, true);
        }
        for message in [
            "Unknown tool: x",
            "MCP error -32601: Unknown tool: x",
            "Method not found: x",
            "Tool x not found",
            "this client does not serve sampling/createMessage",
            "",
        ] {
            case(Method::ToolsCall, message, false);
            case(Method::ToolsList, message, true);
        }
    }
}
