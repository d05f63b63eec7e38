//! The subjects: what is done, and what must hold for it.

use std::time::Duration;

use super::{Lowering, step::Part};
use crate::suite::{
    Dialect,
    model::{
        expectation::{Expectation, Family, Presence, ServerRequestWanted, Wanted, WantedState},
        server::{
            ClientBehaviour, ElicitationAction, ElicitationReplies, ElicitationReply, SamplingReply,
        },
        subject::{
            Enough, ListCall, Patience, PromptsCall, RawExchange, RawFrame, RawHandshake,
            ResourcesAction, ResourcesCall, StepOrder, Subject, ToolCall,
        },
    },
    problems,
    raw::{
        Field,
        expect::{
            RawExpect, RawHttpSubject, RawLoggingExpect, RawNotificationsExpect, RawServerRequest,
        },
        step::RawStep,
        subject::{
            RawElicitation, RawInitialize, RawList, RawLogging, RawNotifications, RawPrompts,
            RawRaw, RawResources, RawSampling, RawTool, RawTools,
        },
        union::MapOrNothing,
        value::{Anything, Deferred, Members, OneOrMany, Placed, Text},
    },
    template::Template,
    yaml::{At, Key, Kind, Node},
};

/// How long a notification that must not come is waited for.
pub(super) const PATIENCE_ABSENT: Duration = Duration::from_millis(100);

/// How long a notification that must come is waited for at most.
pub(super) const PATIENCE_PRESENT: Duration = Duration::from_secs(1);

/// A subject with what must hold for it.
pub(super) type Lowered = Option<(Subject, Vec<Wanted>)>;

impl Lowering<'_> {
    /// The expectations of a key `expect`; without any the answer must be no error.
    pub(super) fn answer(
        &mut self,
        field: Option<Field<Deferred<RawExpect>>>,
        at: At,
    ) -> Vec<Wanted> {
        let wanted = match field {
            Some(field) => self.expect(Family::Answer, field.value.node, RawExpect::KEYS),
            None => Vec::new(),
        };
        self.or_not_error(wanted, at)
    }

    /// An answer of which nothing is said must be no error; under the Go tool's rules it may be anything.
    fn or_not_error(&self, mut wanted: Vec<Wanted>, at: At) -> Vec<Wanted> {
        if wanted.is_empty() && self.dialect() == Dialect::Native {
            wanted.push(self.wanted("not_error", at, Expectation::NotError(true)));
        }
        wanted
    }

    /// `tool` and `args` of a subject that needs them.
    fn subject_call(
        &mut self,
        tool: Option<Field<Text>>,
        args: Option<Field<Members>>,
        owner: &str,
        at: At,
    ) -> Option<ToolCall> {
        let tool = self.required(tool, "tool", owner, at)?;
        Some(self.tool_call(tool, args))
    }

    /// `assert`
    pub(super) fn tool_subject(&mut self, field: Field<RawTool>) -> Lowered {
        let at = field.key;
        let RawTool {
            tool,
            args,
            expect,
            capture_progress: _,
        } = field.value;
        let wanted = self.answer(expect, at);
        let call = self.subject_call(tool, args, "`assert`", at)?;
        let notices = wanted.iter().find_map(|wanted| match &wanted.state {
            WantedState::Ready(expectation) => match &**expectation {
                Expectation::Notifications(notices) => Some(notices.clone()),
                _other => None,
            },
            WantedState::Templated(_) => None,
        });
        let subject = match notices {
            None => Subject::Tool(call),
            Some(notices) => Subject::Notifications {
                call,
                patience: patience(None, enough_notifications(&[&notices])),
            },
        };
        Some((subject, wanted))
    }

    /// `assert_tools`
    pub(super) fn tools_subject(&mut self, field: Field<RawTools>) -> Lowered {
        let at = field.key;
        let RawTools { cursor, expect } = field.value;
        let cursor = cursor.map(|cursor| self.template(cursor.value));
        Some((Subject::Tools(ListCall { cursor }), self.answer(expect, at)))
    }

    /// `assert_initialize`
    pub(super) fn initialize_subject(&mut self, field: Field<RawInitialize>) -> Lowered {
        let RawInitialize { expect } = field.value;
        Some((Subject::Initialize, self.answer(expect, field.key)))
    }

    /// A list request.
    fn list(&mut self, field: Field<MapOrNothing<RawList>>) -> ListCall {
        let MapOrNothing(RawList { cursor }) = field.value;
        ListCall {
            cursor: cursor.map(|cursor| self.template(cursor.value)),
        }
    }

    /// `assert_resources`
    pub(super) fn resources_subject(&mut self, field: Field<RawResources>) -> Lowered {
        let at = field.key;
        let owner = "`assert_resources`";
        let RawResources {
            list,
            templates,
            read,
            subscribe,
            unsubscribe,
            expect_notification,
            within,
            expect,
        } = field.value;
        let actions = usize::from(list.is_some())
            + usize::from(templates.is_some())
            + usize::from(read.is_some());
        if actions > 1 && self.dialect() == Dialect::Native {
            let keys = ["list", "templates", "read"];
            self.problem(at, |origin| {
                problems::conflicting_keys(origin, &keys, owner)
            });
        }
        let action = match (list, templates, read) {
            (Some(list), _, _) => Some(ResourcesAction::List(self.list(list))),
            (None, Some(templates), _) => Some(ResourcesAction::Templates(self.list(templates))),
            (None, None, Some(uri)) => Some(ResourcesAction::Read(self.template(uri.value))),
            (None, None, None) => None,
        };
        if action.is_none() && subscribe.is_none() {
            let keys = ["list", "templates", "read", "subscribe"];
            self.problem(at, |origin| problems::missing_one_of(origin, &keys, owner));
        }
        let within = self.duration(within);
        let mut wanted = self.answer(expect, at);
        let mut waits = None;
        if let Some(updated) = expect_notification
            && (updated.value || self.dialect() == Dialect::Native)
        {
            let (presence, enough) = if updated.value {
                let of_method = Some("notifications/resources/updated");
                (
                    Presence::Present,
                    Some(Enough {
                        of_method,
                        count: 1,
                        ..Enough::default()
                    }),
                )
            } else {
                (Presence::Absent, None)
            };
            waits = Some(patience(within, enough));
            let expectation = Expectation::ResourceUpdated {
                wanted: presence,
                uri: None,
            };
            wanted.push(self.wanted("expect_notification", updated.place(), expectation));
        }
        let call = ResourcesCall {
            subscribe: subscribe.map(|uri| self.template(uri.value)),
            action,
            unsubscribe: unsubscribe.map(|uri| self.template(uri.value)),
            patience: waits,
        };
        Some((Subject::Resources(call), wanted))
    }

    /// `assert_prompts`
    pub(super) fn prompts_subject(&mut self, field: Field<RawPrompts>) -> Lowered {
        let at = field.key;
        let owner = "`assert_prompts`";
        let RawPrompts { list, get, expect } = field.value;
        let wanted = self.answer(expect, at);
        if list.is_some() && get.is_some() && self.dialect() == Dialect::Native {
            let keys = ["list", "get"];
            self.problem(at, |origin| {
                problems::conflicting_keys(origin, &keys, owner)
            });
        }
        let call = match (list, get) {
            (Some(list), _) => PromptsCall::List(self.list(list)),
            (None, Some(get)) => {
                let (name, arguments) = self.prompt_call(get, "`get`")?;
                PromptsCall::Get { name, arguments }
            }
            (None, None) => {
                self.problem(at, |origin| {
                    problems::missing_one_of(origin, &["list", "get"], owner)
                });
                return None;
            }
        };
        Some((Subject::Prompts(call), wanted))
    }

    /// `assert_sampling`
    pub(super) fn sampling_subject(
        &mut self,
        field: Field<RawSampling>,
        client: &mut ClientBehaviour,
    ) -> Lowered {
        let at = field.key;
        let RawSampling {
            tool,
            args,
            mock_text,
            mock_model,
            expect,
            expect_request,
        } = field.value;
        let text = mock_text.map_or_else(|| Template::new(""), |text| self.template(text.value));
        if client.sampling.is_none() {
            client.sampling = Some(vec![SamplingReply::Message {
                text,
                model: mock_model.map_or_else(|| "mock".into(), |model| model.value.text),
                stop_reason: "endTurn".into(),
            }]);
        }
        let mut wanted = self.answer(expect, at);
        wanted.extend(self.request_wanted(expect_request, "sampling/createMessage", at));
        let call = self.subject_call(tool, args, "`assert_sampling`", at)?;
        Some((Subject::Sampling(call), wanted))
    }

    /// `assert_elicitation`
    pub(super) fn elicitation_subject(
        &mut self,
        field: Field<RawElicitation>,
        client: &mut ClientBehaviour,
    ) -> Lowered {
        let at = field.key;
        let RawElicitation {
            tool,
            args,
            answer,
            expect,
            expect_request,
        } = field.value;
        let answer = answer.map(|answer| self.elicitation(answer.value));
        if client.elicitation.is_none() {
            client.elicitation = Some(answer.unwrap_or_else(|| {
                ElicitationReplies::InOrder(vec![ElicitationReply {
                    action: ElicitationAction::Accept,
                    content: None,
                }])
            }));
        }
        let mut wanted = self.answer(expect, at);
        wanted.extend(self.request_wanted(expect_request, "elicitation/create", at));
        let call = self.subject_call(tool, args, "`assert_elicitation`", at)?;
        Some((Subject::Elicitation(call), wanted))
    }

    /// What the server must have asked: what the suite says, else that it asked at all. The Go tool does
    /// not look.
    fn request_wanted(
        &mut self,
        field: Option<Field<Deferred<OneOrMany<RawServerRequest>>>>,
        method: &'static str,
        at: At,
    ) -> Option<Wanted> {
        let key = "expect_request";
        let family = Family::Request(method);
        match field {
            Some(field) => {
                let node = field.value.node;
                let text = key.to_owned();
                let name = Key {
                    text,
                    at: field.key,
                };
                if super::expectation::has_markers(&node) {
                    return Some(self.later(family, key, &name, node));
                }
                let place = field.key.until(field.at);
                let found = self.family(family, key, node).into_iter().next()?;
                let origin = self.reading.problems.origin(place);
                Some(Wanted { origin, ..found })
            }
            None if self.dialect() == Dialect::Native => {
                let request = ServerRequestWanted {
                    method: method.to_owned(),
                    count: None,
                    params: None,
                };
                let expectation = Expectation::ServerRequests(vec![request]);
                Some(self.wanted("server_requests", at, expectation))
            }
            None => None,
        }
    }

    /// `assert_logging`
    pub(super) fn logging_subject(&mut self, field: Field<RawLogging>) -> Lowered {
        let at = field.key;
        let RawLogging {
            set_level,
            tool,
            args,
            within,
            expect,
        } = field.value;
        let within = self.duration(within);
        let level = set_level.map(|level| self.level(level.value));
        if let (None, Some(args)) = (&tool, &args) {
            self.problem(args.key, |origin| {
                problems::no_effect(origin, "args", "there is no `tool`")
            });
        }
        let call = tool.map(|tool| self.tool_call(tool, args));
        let wanted = match expect {
            Some(expect) => self.expect(Family::Logging, expect.value.node, RawLoggingExpect::KEYS),
            None => Vec::new(),
        };
        let enough = enough_messages(&wanted);
        let wanted = self.or_not_error(wanted, at);
        let subject = Subject::Logging {
            level,
            call,
            patience: patience(within, enough),
        };
        Some((subject, wanted))
    }

    /// `assert_notifications`
    pub(super) fn notifications_subject(&mut self, field: Field<RawNotifications>) -> Lowered {
        let at = field.key;
        let RawNotifications {
            tool,
            args,
            within,
            expect,
        } = field.value;
        let within = self.duration(within);
        let wanted = match expect {
            Some(expect) => self.expect(
                Family::Notifications,
                expect.value.node,
                RawNotificationsExpect::KEYS,
            ),
            None => Vec::new(),
        };
        let enough = all_ready(&wanted).and_then(|ready| {
            let parts: Vec<_> = ready
                .iter()
                .filter_map(|expectation| match expectation {
                    Expectation::Notifications(part) => Some(part),
                    _other => None,
                })
                .collect();
            enough_notifications(&parts)
        });
        let wanted = self.or_not_error(wanted, at);
        let call = self.subject_call(tool, args, "`assert_notifications`", at)?;
        let patience = patience(within, enough);
        Some((Subject::Notifications { call, patience }, wanted))
    }

    /// `steps`
    pub(super) fn steps_subject(
        &mut self,
        field: Field<Vec<Placed<RawStep>>>,
        parallel: Option<Field<bool>>,
    ) -> Lowered {
        let flagged = field
            .value
            .iter()
            .filter(|step| step.value.parallel.as_ref().is_some_and(|flag| flag.value))
            .count();
        if field.value.is_empty() {
            self.problem(field.key, |origin| problems::at_least_one(origin, "steps"));
            return None;
        }
        if flagged > 0 && flagged < field.value.len() {
            self.problem(field.key, problems::partly_parallel);
        }
        let order = if flagged > 0 || parallel.is_some_and(|flag| flag.value) {
            StepOrder::Parallel
        } else {
            StepOrder::OneByOne
        };
        let steps = self.steps(Part::Subject, order, field.value);
        Some((Subject::Steps { steps, order }, Vec::new()))
    }

    /// `raw`
    pub(super) fn raw_subject(&mut self, field: Field<RawRaw>) -> Lowered {
        let at = field.key;
        let RawRaw {
            send,
            handshake,
            within,
            expect,
        } = field.value;
        let send = self.required(send, "send", "`raw`", at);
        let expect = self.required(expect, "expect", "`raw`", at);
        let within = self.duration(within).unwrap_or(PATIENCE_PRESENT);
        let wanted = match expect {
            Some(expect) => self.expect(Family::Answer, expect.value.node, RawExpect::KEYS),
            None => Vec::new(),
        };
        let frames = send?.value.0.into_iter();
        let send = frames.map(|Anything(node)| self.raw_frame(node)).collect();
        let handshake = match handshake.map(|handshake| handshake.value) {
            None | Some(true) => RawHandshake::Made,
            Some(false) => RawHandshake::Omitted,
        };
        let exchange = RawExchange {
            send,
            handshake,
            within,
        };
        Some((Subject::Raw(exchange), wanted))
    }

    /// One frame.
    fn raw_frame(&mut self, node: Node) -> RawFrame {
        let at = node.at;
        match node.kind {
            Kind::Text(text, _) => RawFrame::Text(self.template(Text { text, at })),
            kind @ (Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::List(_)
            | Kind::Map(_)) => RawFrame::Json(self.value_template(Node { kind, at })),
        }
    }

    /// `http`: its keys are checked, its value is kept as it is.
    pub(super) fn http_subject(&mut self, field: Field<RawHttpSubject>, whole: Node) -> Lowered {
        let at = field.key;
        let RawHttpSubject { request, expect } = field.value;
        self.required(request, "request", "`http`", at);
        self.required(expect, "expect", "`http`", at);
        let value = self.value_template(whole);
        Some((Subject::Http(value.value), Vec::new()))
    }
}

/// A wait: as long as the suite says, else by whether something must come or must not.
pub(super) fn patience(within: Option<Duration>, enough: Option<Enough>) -> Patience {
    let usual = match enough {
        Some(_) => PATIENCE_PRESENT,
        None => PATIENCE_ABSENT,
    };
    Patience {
        within: within.unwrap_or(usual),
        enough,
    }
}

/// The expectations, when all are known at load.
fn all_ready(wanted: &[Wanted]) -> Option<Vec<&Expectation>> {
    wanted
        .iter()
        .map(|wanted| match &wanted.state {
            WantedState::Ready(expectation) => Some(&**expectation),
            WantedState::Templated(_) => None,
        })
        .collect()
}

/// What must have arrived for these to hold; `None` when something must not come, or nothing must.
fn enough_notifications(
    parts: &[&crate::suite::model::expectation::NotificationsWanted],
) -> Option<Enough> {
    let mut enough = Enough::default();
    for part in parts {
        if part.max_count.is_some()
            || !part.not_methods.is_empty()
            || !part.not_contains_data.is_empty()
        {
            return None;
        }
        enough.count = enough.count.max(part.min_count.unwrap_or(0));
        enough
            .methods
            .extend(part.methods.iter().chain(&part.in_order).cloned());
        enough.data.extend(part.contains_data.iter().cloned());
        let ordered = u64::try_from(part.in_order.len()).unwrap_or(u64::MAX);
        enough.count = enough.count.max(ordered);
    }
    (!parts.is_empty()).then_some(enough)
}

/// The same for log messages.
fn enough_messages(wanted: &[Wanted]) -> Option<Enough> {
    let mut enough = Enough {
        of_method: Some("notifications/message"),
        ..Enough::default()
    };
    let ready = all_ready(wanted)?;
    for expectation in &ready {
        if let Expectation::Logging(part) = expectation {
            if part.max_messages.is_some() || part.not_below.is_some() {
                return None;
            }
            enough.count = enough.count.max(part.min_messages.unwrap_or(0));
            enough.levels.extend(part.contains_level.iter().cloned());
            enough.data.extend(part.contains_data.iter().cloned());
        }
    }
    (!ready.is_empty()).then_some(enough)
}
