//! What the server offers: tools, resources, prompts, completion, logging.
//!
//! [`Bench`] is the handler in rmcp's types. Tool calls come to it as custom requests, whose result may be any JSON, so that a
//! tool can answer exactly what a test asks for. On a pipe [`BenchService`] stands before it and does what rmcp does over HTTP: it
//! names the server in each result.
#![allow(
    deprecated,
    reason = "rmcp marks what the newest revision has dropped; the older four still have it"
)]

mod call;
mod changes;
mod levels;
mod official;
mod page;
mod profile;
mod prompts;
mod resources;
mod rounds;
mod tasks;
mod tools;

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use mcp::protocol::method::Method;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientNotification, ClientRequest,
    CompleteRequestParams, CompleteResult, CompletionInfo, CustomRequest, CustomResult,
    DiscoverRequestMethod, GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult,
    Implementation, InitializeRequestParams, InitializeResult, InputRequiredResult, JsonObject,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, RequestStateCodec, ServerCapabilities, ServerConfig, ServerResult,
    SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, Service, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use self::call::Call;
use self::changes::{Changes, List, Listener};
use self::levels::{Era, LogLevel};
pub(crate) use self::official::{RECONNECTS, WITH_HEADER};
use self::official::{TABLE, WITH_AUDIO};
use self::page::page;
pub use self::profile::{FileTools, Offer, Profile, Selection};
use self::rounds::{Inquired, Inquiry};
use self::tasks::Tasks;
pub use self::tools::BenchTool;
use super::ServeOptions;
use super::line::Line;
use super::wire::{WaitsFor, Written};

/// The method that every tool is called by.
const CALL: &str = "tools/call";

/// The name of the server.
const NAME: &str = "mcp-assert";

/// Where a result without a handshake says who gives it.
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Methods that revisions without a handshake no longer have.
const DROPPED: [&str; 5] = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
];

/// The handler of one session; clones share everything.
#[derive(Clone)]
pub(super) struct Bench {
    options: Arc<ServeOptions>,
    line: Line,
    level: Arc<LogLevel>,
    session_calls: Arc<AtomicU64>,
    shared: Arc<Shared>,
}

/// The state that all sessions of a process share.
struct Shared {
    calls: AtomicU64,
    tasks: Tasks,
    changes: Changes,
    /// Seals what clients keep between two rounds.
    seal: RequestStateCodec,
}

impl Bench {
    /// The handler of a session on `line`.
    pub(super) fn new(options: Arc<ServeOptions>, line: Line) -> Self {
        let key = Sha256::digest(format!("request state {}", options.seed));
        let shared = Shared {
            calls: AtomicU64::new(0),
            tasks: Tasks::new(options.seed, options.clock.clone()),
            changes: Changes::default(),
            seal: RequestStateCodec::new_unchecked(key.to_vec()),
        };
        Self {
            options,
            line,
            level: Arc::default(),
            session_calls: Arc::default(),
            shared: Arc::new(shared),
        }
    }

    /// The handler of another session of the same process.
    pub(super) fn beside(&self) -> Self {
        Self {
            options: self.options.clone(),
            line: self.line.clone(),
            level: Arc::default(),
            session_calls: Arc::default(),
            shared: self.shared.clone(),
        }
    }

    fn offer(&self) -> &Offer {
        &self.options.offer
    }

    async fn call(
        &self,
        params: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<Value, ErrorData> {
        let params = called(params, context)?;
        let tool = self
            .tools_for(context)
            .find(|tool| tool.name == params.name)
            .ok_or_else(|| {
                ErrorData::invalid_params(format!("unknown tool \"{}\"", params.name), None)
            })?;
        let again = (as_object(params.input_responses)?, params.request_state);
        let mut call = self.asking(&format!("{CALL} {}", params.name), context, again)?;
        call.arguments = arguments(params.arguments, Written::of(context))?;
        let mut result = tool.run(&call).await?;
        if call.era == Era::Modern {
            if result.get("resultType").is_none() {
                result["resultType"] = "complete".into();
            }
            if !tool.is_verbatim() {
                stamp(&mut result);
            }
        }
        Ok(result)
    }

    /// A request that may ask something, without arguments; `again` is what came back of an earlier round.
    fn asking<'a>(
        &'a self,
        of: &str,
        context: &'a RequestContext<RoleServer>,
        again: (JsonObject, Option<String>),
    ) -> Result<Call<'a>, ErrorData> {
        let written = Written::of(context);
        Ok(Call {
            bench: self,
            line: &self.line,
            context,
            arguments: JsonObject::new(),
            responses: match written.and_then(|written| written.responses.clone()) {
                Some(Value::Object(responses)) => responses,
                Some(_) | None => again.0,
            },
            state: again.1,
            of: of.to_owned(),
            meta: match written.and_then(|written| written.meta.clone()) {
                Some(meta) => meta,
                None => Value::Object(as_object(Some(&context.meta))?),
            },
            era: era(context),
        })
    }

    /// The tools by now.
    fn tools(&self) -> impl Iterator<Item = &'static BenchTool> {
        let changed = self.shared.changes.has(List::Tools);
        let dynamic = changed.then_some(&TABLE.dynamic_tool);
        self.offer().tools.iter().copied().chain(dynamic)
    }

    /// Those of them whose results the client's revision knows.
    fn tools_for(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> impl Iterator<Item = &'static BenchTool> {
        let has_audio = context
            .protocol_version()
            .is_none_or(|revision| revision >= ProtocolVersion::V_2025_03_26);
        self.tools()
            .filter(move |tool| has_audio || tool.name != WITH_AUDIO)
    }

    /// The prompts by now.
    fn prompts(&self) -> impl Iterator<Item = &'static prompts::Entry> {
        let offered = TABLE.prompts.iter();
        let offered = offered.filter(|prompt| self.offer().prompts.contains(&prompt.name.as_str()));
        let changed = self.shared.changes.has(List::Prompts);
        offered.chain(changed.then_some(&TABLE.dynamic_prompt))
    }

    /// Whether the capability of `method` is declared. `subscriptions/listen` needs none: it accepts less.
    fn declared(&self, method: &str) -> Result<(), ErrorData> {
        let needs_more = |method| {
            !matches!(
                method,
                Method::Initialize
                    | Method::Discover
                    | Method::Ping
                    | Method::ToolsCall
                    | Method::ToolsList
                    | Method::SubscriptionsListen
            )
        };
        if !self.offer().declares_all && Method::from_name(method).is_some_and(needs_more) {
            return Err(method_not_found(method));
        }
        Ok(())
    }

    fn subscribable(&self, uri: &str) -> Result<(), ErrorData> {
        resources::read(uri, &self.offer().resources, &self.offer().templates)
            .map(|_| ())
            .ok_or_else(|| resources::not_found(uri))
    }
}

impl ServerHandler for Bench {
    fn get_info(&self) -> ServerConfig {
        let capabilities = if self.offer().declares_all {
            ServerCapabilities::builder()
                .enable_logging()
                .enable_completions()
                .enable_prompts()
                .enable_prompts_list_changed()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_resources_list_changed()
                .enable_tools()
                .enable_tool_list_changed()
                .enable_tasks()
                .build()
        } else {
            ServerCapabilities::builder().enable_tools().build()
        };
        let newest = self.options.revisions.last();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new(NAME, env!("CARGO_PKG_VERSION")))
            .with_protocol_version(newest.cloned().unwrap_or_default())
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Owned(self.options.revisions.clone())
    }

    async fn list_tools(
        &self,
        asked: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools_for(&context).map(BenchTool::entry).collect();
        let page = page("tools", tools, self.offer().page_size, asked.as_ref())?;
        let mut result = ListToolsResult::with_all_items(page.items);
        result.next_cursor = page.next;
        Ok(result)
    }

    async fn list_resources(
        &self,
        asked: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.declared("resources/list")?;
        let uris = self.offer().resources.iter();
        let entries = uris.filter_map(|uri| resources::entry(uri)).collect();
        let page = page("resources", entries, self.offer().page_size, asked.as_ref())?;
        let mut result = ListResourcesResult::with_all_items(page.items);
        result.next_cursor = page.next;
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        asked: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.declared("resources/templates/list")?;
        let templates = self.offer().templates.iter();
        let entries = templates
            .map(|uri| resources::template_entry(uri))
            .collect();
        let page = page("templates", entries, self.offer().page_size, asked.as_ref())?;
        let mut result = ListResourceTemplatesResult::with_all_items(page.items);
        result.next_cursor = page.next;
        Ok(result)
    }

    async fn read_resource(
        &self,
        asked: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.declared("resources/read")?;
        let uri = &asked.uri;
        let mut contents = resources::read(uri, &self.offer().resources, &self.offer().templates)
            .ok_or_else(|| resources::not_found(uri))?;
        if let Some(inquiry) = resources::asks(uri) {
            let again = (as_object(asked.input_responses)?, asked.request_state);
            let call = self.asking(&format!("resources/read {uri}"), &context, again)?;
            match words(inquiry, &call).await? {
                Ok(words) => {
                    contents["text"] = words.into_iter().map(|(_, text)| text).next().into();
                }
                Err(needs) => return Ok(needs.into()),
            }
        }
        Ok(ReadResourceResult::new(vec![typed(contents)?]).into())
    }

    async fn subscribe(
        &self,
        asked: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.declared("resources/subscribe")?;
        self.subscribable(&asked.uri)?;
        let update = json!({
            "jsonrpc": "2.0",
            "method": "notifications/resources/updated",
            "params": {"uri": asked.uri},
        });
        self.line
            .after_reply(&context, vec![update], Duration::ZERO)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    async fn unsubscribe(
        &self,
        asked: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.declared("resources/unsubscribe")?;
        self.subscribable(&asked.uri)
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        self.offer().declares_all.then(|| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let watched = context.accepted().resource_subscriptions.clone();
        for uri in watched.into_iter().flatten() {
            if self.subscribable(&uri).is_ok() {
                context
                    .sink()
                    .notify_resource_updated(uri)
                    .await
                    .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            }
        }
        let sink = Arc::new(context.sink().clone());
        let listener = Listener::Stream(Arc::downgrade(&sink));
        self.shared.changes.hear(listener);
        self.line
            .park(&context.request_context().id, WaitsFor::TheEnd);
        context.cancelled().await;
        drop(sink);
        Ok(())
    }

    async fn list_prompts(
        &self,
        asked: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.declared("prompts/list")?;
        let entries = self.prompts().map(prompts::Entry::listed).collect();
        let page = page("prompts", entries, self.offer().page_size, asked.as_ref())?;
        let mut result = ListPromptsResult::with_all_items(page.items);
        result.next_cursor = page.next;
        Ok(result)
    }

    async fn get_prompt(
        &self,
        asked: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.declared("prompts/get")?;
        let name = &asked.name;
        let prompt = self
            .prompts()
            .find(|prompt| prompt.name == *name)
            .ok_or_else(|| ErrorData::invalid_params(format!("unknown prompt \"{name}\""), None))?;
        let mut given = asked.arguments.unwrap_or_default();
        if let Some(inquiry) = &prompt.asks {
            let again = (as_object(asked.input_responses)?, asked.request_state);
            let call = self.asking(&format!("prompts/get {name}"), &context, again)?;
            match words(inquiry, &call).await? {
                Ok(words) => given.extend(words),
                Err(needs) => return Ok(needs.into()),
            }
        }
        Ok(prompt.get(&given)?.into())
    }

    async fn complete(
        &self,
        asked: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.declared("completion/complete")?;
        let given = asked
            .context
            .as_ref()
            .and_then(|context| context.arguments.as_ref());
        let argument = &asked.argument;
        let offered = prompts::Completed {
            prompts: &self.offer().prompts,
            templates: &self.offer().templates,
        };
        let values = offered.complete(&asked.r#ref, (&argument.name, &argument.value), given)?;
        let values = CompletionInfo::with_all_values(values)
            .map_err(|error| ErrorData::internal_error(error, None))?;
        Ok(CompleteResult::new(values))
    }

    async fn set_level(
        &self,
        asked: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.declared("logging/setLevel")?;
        let unknown = || ErrorData::invalid_params("unknown log level", None);
        if era(&context) == Era::Modern {
            return Err(method_not_found("logging/setLevel"));
        }
        let level = serde_json::to_value(asked.level).map_err(|_| unknown())?;
        if level.as_str().is_some_and(|level| self.level.set(level)) {
            Ok(())
        } else {
            Err(unknown())
        }
    }

    async fn initialize(
        &self,
        asked: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(asked.clone());
        let mut info = self.negotiate_initialize(&asked)?;
        // The extension with tasks is one of the revisions without a handshake.
        info.capabilities.extensions = None;
        Ok(info)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.shared.changes.hear(Listener::Session(context.peer));
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let mut tools = self.tools().filter(|tool| tool.name == WITH_HEADER);
        tools.find(|tool| tool.name == name).map(BenchTool::entry)
    }

    /// Over HTTP a call comes this way if its arguments are compared with headers; all others are custom requests.
    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = Value::Object(as_object(Some(asked))?);
        let result = self.call(params, &context).await?;
        Ok(CallToolResponse::Complete(typed(result)?))
    }

    async fn get_task(
        &self,
        asked: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.shared
            .tasks
            .get(&asked.task_id)
            .map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        asked: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let again = (as_object(Some(asked.input_responses))?, None);
        let given = self.asking("tasks/update", &context, again)?.responses;
        self.shared.tasks.update(&asked.task_id, &given)
    }

    async fn cancel_task(
        &self,
        asked: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.cancel(&asked.task_id)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        if method == CALL {
            let params = params.unwrap_or_else(|| json!({}));
            let answer = self.call(params, &context).await;
            return answer.map(CustomResult::new);
        }
        self.declared(&method)?;
        if era(&context) == Era::Modern && DROPPED.contains(&method.as_str()) {
            return Err(method_not_found(&method));
        }
        // One whose parameters do not fit comes as a custom request.
        if Method::from_name(&method).is_some() {
            return Err(invalid_params(&method, "they do not fit the method"));
        }
        Err(method_not_found(&method))
    }
}

/// A [`Bench`] with the two answers that rmcp's handler cannot give.
#[derive(Clone)]
pub(super) struct BenchService(Bench);

impl BenchService {
    /// The service that rmcp runs.
    pub(super) fn new(bench: Bench) -> Self {
        Self(bench)
    }
}

impl Service<RoleServer> for BenchService {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        self.0.declared(request.method())?;
        let discoverable = self.0.options.revisions.iter().any(is_modern);
        if matches!(request, ClientRequest::DiscoverRequest(_)) && !discoverable {
            return Err(ErrorData::method_not_found::<DiscoverRequestMethod>());
        }
        let handshake = matches!(request, ClientRequest::InitializeRequest(_));
        // A tool that answers exactly what a test asks for is stamped by nobody else.
        let stamps = era(&context) == Era::Modern && !handshake && request.method() != CALL;
        let result = self.0.handle_request(request, context).await?;
        if stamps { stamped(&result) } else { Ok(result) }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

/// The result with the server's name in its `_meta`, which stands for the handshake's.
fn stamped(result: &ServerResult) -> Result<ServerResult, ErrorData> {
    let mut result = serde_json::to_value(result)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    stamp(&mut result);
    Ok(ServerResult::CustomResult(CustomResult::new(result)))
}

fn stamp(result: &mut Value) {
    if let Some(members) = result.as_object_mut() {
        let meta = members.entry("_meta").or_insert_with(|| json!({}));
        if let Some(meta) = meta.as_object_mut() {
            meta.entry(META_SERVER)
                .or_insert_with(|| json!({"name": NAME, "version": env!("CARGO_PKG_VERSION")}));
        }
    }
}

/// A call. Arguments that came beside it are not read from its params.
fn called(
    mut params: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolRequestParams, ErrorData> {
    let members = params
        .as_object_mut()
        .ok_or_else(|| invalid_params(CALL, "they have to be an object"))?;
    if Written::of(context).is_some() {
        members.shift_remove("arguments");
    }
    serde_json::from_value(params).map_err(|error| invalid_params(CALL, &error.to_string()))
}

/// Whether requests of that revision carry their own metadata.
pub(super) fn is_modern(revision: &ProtocolVersion) -> bool {
    *revision >= ProtocolVersion::V_2026_07_28
}

fn era(context: &RequestContext<RoleServer>) -> Era {
    match context.protocol_version() {
        Some(revision) if is_modern(&revision) => Era::Modern,
        Some(_) | None => Era::Legacy,
    }
}

/// The arguments as they were written, where the wire kept them.
fn arguments(
    typed: Option<JsonObject>,
    written: Option<&Written>,
) -> Result<JsonObject, ErrorData> {
    match written.and_then(|written| written.arguments.clone()) {
        Some(Value::Object(members)) => Ok(members),
        Some(_) => Err(invalid_params(CALL, "arguments have to be an object")),
        None => Ok(typed.unwrap_or_default()),
    }
}

fn as_object<T: serde::Serialize>(value: Option<T>) -> Result<JsonObject, ErrorData> {
    match serde_json::to_value(value) {
        Ok(Value::Object(members)) => Ok(members),
        Ok(_) => Ok(JsonObject::new()),
        Err(error) => Err(ErrorData::internal_error(error.to_string(), None)),
    }
}

/// Converts a result to the type of rmcp.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

/// The answers in words that something else than a tool needs, or what is needed first.
async fn words(
    inquiry: &Inquiry,
    call: &Call<'_>,
) -> Result<Result<JsonObject, InputRequiredResult>, ErrorData> {
    match inquiry.hear(call).await? {
        Inquired::Answers(answers) => Ok(Ok(inquiry.words(&answers))),
        Inquired::Needs(result) => Ok(Err(typed(result)?)),
        Inquired::Refused(result) => {
            let text = result.pointer("/content/0/text").and_then(Value::as_str);
            Err(ErrorData::invalid_request(
                text.unwrap_or_default().to_owned(),
                None,
            ))
        }
    }
}

fn invalid_params(method: &str, why: &str) -> ErrorData {
    ErrorData::invalid_params(format!("invalid params for {method}: {why}"), None)
}

fn method_not_found(method: &str) -> ErrorData {
    ErrorData::new(
        rmcp::model::ErrorCode::METHOD_NOT_FOUND,
        format!("method not found: {method}"),
        None,
    )
}
