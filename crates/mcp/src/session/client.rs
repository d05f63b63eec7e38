//! The client's side: what is declared, and how requests of the server are answered, as the
//! suite says. What was not declared is refused.

use std::path::Path;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};

use super::record::brief_name;
use crate::{
    protocol::{meta::TASKS, method::needs_client_capability, revision::Revision, shape},
    script::{
        client::{
            ClientBehaviour, ElicitationReplies, ElicitationReply, RevisionWanted, SamplingReply,
        },
        template::{Bindings, Template, UnknownName},
    },
};

const METHOD_NOT_FOUND: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const INTERNAL_ERROR: i64 = -32603;

/// The characters that are escaped in a path of a URI.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/')
    .remove(b':');

/// An error the client answers with.
#[derive(Debug, PartialEq)]
pub(super) struct Refusal {
    /// Its code.
    pub(super) code: i64,
    /// Its message.
    pub(super) message: String,
}

impl Refusal {
    fn internal(message: impl Into<String>) -> Self {
        Self {
            code: INTERNAL_ERROR,
            message: message.into(),
        }
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "it is what map_err hands over"
    )]
    fn unknown(name: UnknownName) -> Self {
        Self::internal(name.to_string())
    }
}

/// How a request of the server is answered.
#[derive(Debug)]
pub(super) struct ClientReply {
    /// The result, or the error.
    pub(super) body: Result<Value, Refusal>,
    /// What of it the client had not said that it can do, for people.
    pub(super) undeclared: Option<String>,
}

/// The client of a session.
#[derive(Debug, Default)]
pub(super) struct Client {
    behaviour: ClientBehaviour,
    bindings: Bindings,
    samples: usize,
    elicitations: usize,
}

impl Client {
    /// A client that behaves as the suite says.
    pub(super) fn new(behaviour: &ClientBehaviour) -> Self {
        Self {
            behaviour: behaviour.clone(),
            ..Self::default()
        }
    }

    /// Replies begin anew.
    pub(super) fn begin(&mut self) {
        self.samples = 0;
        self.elicitations = 0;
    }

    /// The values of `{{…}}` in replies from now on.
    pub(super) fn bind(&mut self, bindings: &Bindings) {
        let speaks = self.behaviour.roots.is_some()
            || self.behaviour.sampling.is_some()
            || self.behaviour.elicitation.is_some();
        if speaks {
            self.bindings = bindings.clone();
        }
    }

    /// Its name and version.
    pub(super) fn info() -> Value {
        json!({"name": "mcp-assert", "version": env!("CARGO_PKG_VERSION")})
    }

    /// What the client declares: exactly what the suite gives, in the words of the revision that is offered. An
    /// elicitation without modes means forms alone where there are modes. `sampling.tools` is not declared: a reply is
    /// a text, and cannot call a tool where the server says that it must.
    pub(super) fn capabilities(&self, offered: Revision) -> Value {
        let mut declared = Map::new();
        if self.behaviour.roots.is_some() {
            let roots = if !offered.is_stateless() {
                json!({"listChanged": true})
            } else {
                json!({})
            };
            declared.insert("roots".into(), roots);
        }
        if self.behaviour.sampling.is_some() {
            declared.insert("sampling".into(), json!({}));
        }
        if self.behaviour.elicitation.is_some() {
            let modes = if offered.has_elicitation_modes() {
                json!({"form": {}, "url": {}})
            } else {
                json!({})
            };
            declared.insert("elicitation".into(), modes);
        }
        if let Some(tasks) = &self.behaviour.tasks {
            // Without a handshake they are an extension.
            if offered.is_stateless() {
                declared.insert("extensions".into(), json!({ TASKS: tasks }));
            } else {
                declared.insert("tasks".into(), tasks.clone());
            }
        }
        Value::Object(declared)
    }

    /// Whether a call may be answered with a task.
    pub(super) fn has_tasks(&self) -> bool {
        self.behaviour.tasks.is_some()
    }

    /// Whether requests of this method are answered, with a result or as the suite says.
    pub(super) fn serves(&self, method: &str) -> bool {
        match method {
            "ping" => true,
            "roots/list" => self.behaviour.roots.is_some(),
            "sampling/createMessage" => self.behaviour.sampling.is_some(),
            "elicitation/create" => self.behaviour.elicitation.is_some(),
            "tasks/get" | "tasks/result" => self.behaviour.tasks.is_some(),
            "tasks/list" => self.declares_of_tasks("list"),
            "tasks/cancel" => self.declares_of_tasks("cancel"),
            _ => false,
        }
    }

    /// Whether the declared `tasks` have this member.
    fn declares_of_tasks(&self, member: &str) -> bool {
        let tasks = self.behaviour.tasks.as_ref();
        tasks.is_some_and(|tasks| tasks.get(member).is_some_and(|it| !it.is_null()))
    }

    /// Answers a request of the server, in the revision that both speak.
    pub(super) fn reply(
        &mut self,
        method: &str,
        params: &Value,
        revision: Revision,
    ) -> ClientReply {
        let refused = |code, message: String, undeclared| ClientReply {
            body: Err(Refusal { code, message }),
            undeclared,
        };
        if !self.serves(method) {
            let undeclared = match needs_client_capability(method) {
                Some(capability) => {
                    format!("`{method}` although the client did not declare `{capability}`")
                }
                None => format!("`{}`, which no client serves", brief_name(method)),
            };
            let message = format!("this client does not serve {method}");
            return refused(METHOD_NOT_FOUND, message, Some(undeclared));
        }
        if let Some(beyond) = self.beyond(method, params, revision) {
            return refused(INVALID_PARAMS, beyond.clone(), Some(beyond));
        }
        let body = match method {
            "ping" => Ok(json!({})),
            "roots/list" => self.roots(),
            "sampling/createMessage" => self.sample(),
            "elicitation/create" => self.elicit(params),
            // Every request is answered at once, so that there are no tasks (2025-11-25, tasks, error handling).
            "tasks/list" => Ok(json!({"tasks": []})),
            _ => {
                return refused(
                    INVALID_PARAMS,
                    "this client has no such task".to_owned(),
                    None,
                );
            }
        };
        ClientReply {
            body,
            undeclared: None,
        }
    }

    /// The parts of a served request that need a capability which the client did not declare.
    fn beyond(&self, method: &str, params: &Value, revision: Revision) -> Option<String> {
        let given = |member: &&str| params.get(member).is_some_and(|value| !value.is_null());
        match method {
            "sampling/createMessage" if revision.has_sampling_tools() => {
                let member = ["tools", "toolChoice"].into_iter().find(given)?;
                Some(format!(
                    "`{method}` with `{member}` although the client did not declare `sampling.tools`"
                ))
            }
            // Who asked for another revision declared no modes.
            "elicitation/create" if shape::is_for_url(params) => {
                let declared = match self.behaviour.revision {
                    RevisionWanted::Auto => revision,
                    RevisionWanted::Exactly(asked) => asked.min(revision),
                };
                (!declared.has_elicitation_modes())
                    .then(|| format!("`{method}` with a URL although {declared} has forms alone"))
            }
            _ => None,
        }
    }

    /// The revision that the assertion asks for.
    pub(super) fn revision(&self) -> RevisionWanted {
        self.behaviour.revision
    }

    fn roots(&self) -> Result<Value, Refusal> {
        let paths = self.behaviour.roots.iter().flatten();
        let roots = paths.map(|path| {
            let path = path.render(&self.bindings).map_err(Refusal::unknown)?;
            Ok(root(&self.bindings.environment.directory, &path))
        });
        let roots: Vec<Value> = roots.collect::<Result<_, _>>()?;
        Ok(json!({ "roots": roots }))
    }

    fn sample(&mut self) -> Result<Value, Refusal> {
        let replies = self.behaviour.sampling.as_deref().unwrap_or_default();
        let reply = nth_or_last(replies, self.samples);
        self.samples += 1;
        let render = |text: &Template| text.render(&self.bindings).map_err(Refusal::unknown);
        match reply {
            None => Err(Refusal::internal("no sampling reply is given")),
            Some(SamplingReply::Message {
                text,
                model,
                stop_reason,
            }) => Ok(json!({
                "role": "assistant",
                "content": {"type": "text", "text": render(text)?},
                "model": render(model)?,
                "stopReason": render(stop_reason)?,
            })),
            Some(SamplingReply::Reject { code, message }) => Err(Refusal {
                code: *code,
                message: render(message)?,
            }),
        }
    }

    fn elicit(&mut self, params: &Value) -> Result<Value, Refusal> {
        let reply = match &self.behaviour.elicitation {
            None => None,
            Some(ElicitationReplies::InOrder(replies)) => nth_or_last(replies, self.elicitations),
            Some(ElicitationReplies::ByMessage(replies)) => {
                let message = params.get("message").and_then(Value::as_str);
                let message = message.unwrap_or_default();
                let found = replies.iter().find(|(wanted, _)| wanted.is_match(message));
                found.map(|(_, reply)| reply)
            }
        };
        self.elicitations += 1;
        match reply {
            Some(reply) => self.elicited(reply, params),
            None => Err(Refusal::internal("no elicitation reply fits this message")),
        }
    }

    fn elicited(&self, reply: &ElicitationReply, params: &Value) -> Result<Value, Refusal> {
        let mut answer = Map::new();
        answer.insert("action".into(), reply.action.word().into());
        // What the user does behind a URL is not told to the client: only a form has content.
        let shown = reply.content.as_ref();
        if let Some(content) = shown.filter(|_| !shape::is_for_url(params)) {
            let content = content.render(&self.bindings).map_err(Refusal::unknown)?;
            answer.insert("content".into(), content);
        }
        Ok(Value::Object(answer))
    }
}

fn nth_or_last<T>(replies: &[T], index: usize) -> Option<&T> {
    replies.get(index).or(replies.last())
}

/// A workspace path as the protocol names it: an absolute `file` URI and the last part as its name. What is a
/// URI already stays as it is.
fn root(directory: &Path, path: &str) -> Value {
    if let Some((_, rest)) = path.split_once("://") {
        let name = rest.trim_end_matches('/').rsplit('/').next();
        return json!({"uri": path, "name": name});
    }
    let path = directory.join(path);
    let name = path.file_name().map_or_else(
        || path.to_string_lossy().into_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    json!({"uri": file_uri(&path.to_string_lossy()), "name": name})
}

fn file_uri(path: &str) -> String {
    let slashed = path.replace(std::path::MAIN_SEPARATOR, "/");
    let root = if slashed.starts_with('/') { "" } else { "/" };
    format!("file://{root}{}", utf8_percent_encode(&slashed, PATH))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::{Client, root};
    use crate::{
        protocol::revision::Revision,
        script::{
            client::{
                ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply,
                RevisionWanted, SamplingReply,
            },
            pattern::Pattern,
            template::{Template, ValueTemplate},
        },
    };

    fn message(text: &str) -> SamplingReply {
        SamplingReply::Message {
            text: Template { text: text.into() },
            model: Template::new("mock"),
            stop_reason: Template::new("endTurn"),
        }
    }

    #[test]
    fn what_was_not_declared_is_refused() {
        let mut client = Client::new(&ClientBehaviour::default());
        assert_eq!(client.capabilities(Revision::V2025_11_25), json!({}));
        let case = |client: &mut Client, method: &str| {
            let reply = client.reply(method, &json!({}), Revision::V2025_11_25);
            assert_eq!(client.serves(method), reply.undeclared.is_none());
            reply.body.err().map(|refusal| refusal.code)
        };
        assert_eq!(case(&mut client, "ping"), None);
        for method in [
            "roots/list",
            "sampling/createMessage",
            "elicitation/create",
            "tools/list",
        ] {
            assert_eq!(case(&mut client, method), Some(-32601));
        }
    }

    #[test]
    fn a_client_that_declares_tasks_has_none_to_tell_of() {
        let mut client = Client::new(&ClientBehaviour {
            tasks: Some(json!({"list": {}})),
            ..ClientBehaviour::default()
        });
        let mut case = |method: &str| {
            let reply = client.reply(method, &json!({"taskId": "1"}), Revision::V2025_11_25);
            (reply.body.map_err(|it| it.code), reply.undeclared.is_none())
        };
        assert_eq!(case("tasks/list"), (Ok(json!({"tasks": []})), true));
        assert_eq!(case("tasks/get"), (Err(-32602), true));
        assert_eq!(case("tasks/result"), (Err(-32602), true));
        assert_eq!(case("tasks/cancel"), (Err(-32601), false));
    }

    #[test]
    fn replies_come_in_order_and_the_last_repeats() {
        let behaviour = ClientBehaviour {
            sampling: Some(vec![
                message("one"),
                SamplingReply::Reject {
                    code: -1,
                    message: Template::new("no"),
                },
                message("three"),
            ]),
            ..ClientBehaviour::default()
        };
        let mut client = Client::new(&behaviour);
        let revision = Revision::V2025_11_25;
        let mut next = || {
            let method = "sampling/createMessage";
            client.reply(method, &json!({}), revision).body
        };
        assert_eq!(next().unwrap()["content"]["text"], "one");
        assert_eq!(next().unwrap_err().code, -1);
        assert_eq!(next().unwrap()["content"]["text"], "three");
        assert_eq!(next().unwrap()["stopReason"], "endTurn");
    }

    #[test]
    fn elicitations_are_answered_by_their_message() {
        let reply = |action| ElicitationReply {
            action,
            content: None,
        };
        let behaviour = ClientBehaviour {
            elicitation: Some(ElicitationReplies::ByMessage(vec![
                (Pattern::plain("name"), reply(ElicitationAction::Accept)),
                (Pattern::plain("age"), reply(ElicitationAction::Decline)),
            ])),
            ..ClientBehaviour::default()
        };
        let mut client = Client::new(&behaviour);
        let mut ask = |message: &str| {
            let params = json!({"message": message});
            let reply = client.reply("elicitation/create", &params, Revision::V2025_11_25);
            reply.body
        };
        assert_eq!(ask("your age?").unwrap(), json!({"action": "decline"}));
        assert_eq!(ask("your name?").unwrap(), json!({"action": "accept"}));
        assert_eq!(ask("your shoes?").unwrap_err().code, -32603);
    }

    #[test]
    fn an_elicitation_is_a_form_or_a_url_where_there_are_modes() {
        let behaviour = ClientBehaviour {
            elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
                action: ElicitationAction::Accept,
                content: Some(ValueTemplate {
                    value: json!({"name": "Ada"}),
                }),
            }])),
            ..ClientBehaviour::default()
        };
        let mut client = Client::new(&behaviour);
        for (offered, modes) in [
            (Revision::V2025_06_18, json!({})),
            (Revision::V2025_11_25, json!({"form": {}, "url": {}})),
        ] {
            assert_eq!(client.capabilities(offered), json!({"elicitation": modes}));
        }
        let form = json!({"action": "accept", "content": {"name": "Ada"}});
        for (params, wanted) in [
            (json!({"message": "who?"}), form.clone()),
            (json!({"message": "who?", "mode": "form"}), form),
            (
                json!({"message": "go", "mode": "url", "url": "https://a.test", "elicitationId": "1"}),
                json!({"action": "accept"}),
            ),
        ] {
            let reply = client.reply("elicitation/create", &params, Revision::V2025_11_25);
            assert_eq!((reply.undeclared, reply.body), (None, Ok(wanted)));
        }
    }

    #[test]
    fn what_goes_beyond_what_was_declared_is_refused() {
        let behaviour = |revision| ClientBehaviour {
            revision,
            sampling: Some(vec![message("one")]),
            elicitation: Some(ElicitationReplies::InOrder(vec![ElicitationReply {
                action: ElicitationAction::Accept,
                content: None,
            }])),
            ..ClientBehaviour::default()
        };
        let (old, new) = (Revision::V2025_06_18, Revision::V2025_11_25);
        let case = |asked, method: &str, (params, revision), wanted: Option<&str>| {
            let reply = Client::new(&behaviour(asked)).reply(method, &params, revision);
            let refusal = reply.body.err().map(|refusal| refusal.code);
            assert_eq!(reply.undeclared.as_deref(), wanted, "{params}");
            assert_eq!(refusal, wanted.map(|_| -32602), "{params}");
        };
        let asks = "sampling/createMessage";
        let tools = "`sampling/createMessage` with `tools` although the client did not declare `sampling.tools`";
        let choice = "`sampling/createMessage` with `toolChoice` although the client did not declare `sampling.tools`";
        let auto = RevisionWanted::Auto;
        case(auto, asks, (json!({"tools": []}), new), Some(tools));
        case(auto, asks, (json!({"toolChoice": {}}), new), Some(choice));
        case(auto, asks, (json!({"tools": null}), new), None);
        // There it is a member like any that nobody knows.
        case(auto, asks, (json!({"tools": []}), old), None);
        let url = json!({"mode": "url", "url": "https://a.test"});
        let forms = "`elicitation/create` with a URL although 2025-06-18 has forms alone";
        let elicits = "elicitation/create";
        case(auto, elicits, (url.clone(), new), None);
        case(auto, elicits, (url.clone(), old), Some(forms));
        case(
            RevisionWanted::Exactly(old),
            elicits,
            (url, new),
            Some(forms),
        );
        case(auto, elicits, (json!({"mode": "form"}), old), None);
    }

    #[test]
    fn roots_are_absolute_and_encoded() {
        let case = |path: &str, uri: &str, name: &str| {
            assert_eq!(
                root(Path::new("/home/me"), path),
                json!({"uri": uri, "name": name})
            );
        };
        case("/a b/ü#?", "file:///a%20b/%C3%BC%23%3F", "ü#?");
        case("here", "file:///home/me/here", "here");
        case("/", "file:///", "/");
        case("file:///a%20b/c/", "file:///a%20b/c/", "c");
    }
}
