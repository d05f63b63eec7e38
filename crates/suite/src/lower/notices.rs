//! Expectations about everything but the answer: notifications, log messages, requests of the server,
//! progress, stderr, the end, findings.

use super::{Lowering, answer::WantedList};
use crate::{
    Dialect,
    model::expectation::{
        ExitWanted, Expectation, LogLevel, LoggingWanted, NotificationsWanted, ProgressWanted,
        Provoked, ServerRequestWanted, Since, StderrWanted, TrafficWanted, Wanted,
    },
    problems,
    raw::{
        Field,
        expect::{
            RawExit, RawExitMap, RawLoggingExpect, RawNotificationsExpect, RawProgress,
            RawServerRequest, RawStderr,
        },
        read::first_line,
        union::NoneOrTexts,
        value::{Count, Integer, OneOrMany, Placed, Text, Texts},
    },
};
use mcp::observation::finding::FindingCode;

impl Lowering<'_> {
    /// The `expect` of `assert_notifications`, one expectation for each key.
    pub(super) fn notifications(&mut self, raw: RawNotificationsExpect) -> Vec<Wanted> {
        let RawNotificationsExpect {
            min_count,
            max_count,
            methods,
            not_methods,
            in_order,
            contains_data,
            not_contains_data,
        } = raw;
        let none = NotificationsWanted {
            since: Since::TheBeginning,
            provoked: self.provoked([&methods, &not_methods, &in_order]),
            ..NotificationsWanted::default()
        };
        let part = |set: &dyn Fn(&mut NotificationsWanted)| {
            let mut wanted = none.clone();
            set(&mut wanted);
            Some(TrafficWanted::Notifications(Box::new(wanted)))
        };
        let mut list = WantedList::default();
        list.add("min_count", min_count, |field| {
            part(&|wanted| wanted.min_count = Some(field.value.0))
        });
        list.add("max_count", max_count, |field| {
            part(&|wanted| wanted.max_count = Some(field.value.0))
        });
        list.add("methods", methods, |field| {
            let texts = self.strings("methods", field)?;
            part(&|wanted| wanted.methods.clone_from(&texts))
        });
        list.add("not_methods", not_methods, |field| {
            let texts = self.strings("not_methods", field)?;
            part(&|wanted| wanted.not_methods.clone_from(&texts))
        });
        list.add("in_order", in_order, |field| {
            let texts = self.strings("in_order", field)?;
            part(&|wanted| wanted.in_order.clone_from(&texts))
        });
        list.add("contains_data", contains_data, |field| {
            let texts = self.strings("contains_data", field)?;
            part(&|wanted| wanted.contains_data.clone_from(&texts))
        });
        list.add("not_contains_data", not_contains_data, |field| {
            let texts = self.strings("not_contains_data", field)?;
            part(&|wanted| wanted.not_contains_data.clone_from(&texts))
        });
        list.finish(self)
    }

    /// `notifications` under `expect`: all its keys as one expectation.
    pub(super) fn all_notifications(
        &mut self,
        field: Field<RawNotificationsExpect>,
    ) -> Option<NotificationsWanted> {
        let RawNotificationsExpect {
            min_count,
            max_count,
            methods,
            not_methods,
            in_order,
            contains_data,
            not_contains_data,
        } = field.value;
        let provoked = self.provoked([&methods, &not_methods, &in_order]);
        let texts = |field: Option<Field<Texts>>| {
            field.map(|field| field.value.strings()).unwrap_or_default()
        };
        let count = |field: Option<Field<Count>>| field.map(|field| field.value.0);
        let wanted = NotificationsWanted {
            since: Since::TheCall,
            min_count: count(min_count),
            max_count: count(max_count),
            methods: texts(methods),
            not_methods: texts(not_methods),
            in_order: texts(in_order),
            contains_data: texts(contains_data),
            not_contains_data: texts(not_contains_data),
            provoked,
        };
        // A least count of none is somebody's word, and is judged with the answer.
        if wanted.min_count.is_none() && wanted.asks_nothing() {
            self.asks_nothing("notifications", field.key, field.at);
            return None;
        }
        Some(wanted)
    }

    /// What progress of our own requests is to expectations that name these methods.
    fn provoked(&self, methods: [&Option<Field<Texts>>; 3]) -> Provoked {
        let mut named = methods
            .into_iter()
            .flatten()
            .flat_map(|field| &field.value.0);
        let names_progress = named.any(|method| method.text == "notifications/progress");
        match (self.dialect(), names_progress) {
            (Dialect::Compat, _) => Provoked::PassedOver,
            (Dialect::Native, false) => Provoked::Uncounted,
            (Dialect::Native, true) => Provoked::Counted,
        }
    }

    /// The `expect` of `assert_logging`, one expectation for each key.
    pub(super) fn logging(&mut self, raw: RawLoggingExpect) -> Vec<Wanted> {
        let RawLoggingExpect {
            min_messages,
            max_messages,
            contains_level,
            contains_data,
            not_below,
        } = raw;
        let part = |set: &dyn Fn(&mut LoggingWanted)| {
            let mut wanted = LoggingWanted::default();
            set(&mut wanted);
            Some(TrafficWanted::Logging(Box::new(wanted)))
        };
        let mut list = WantedList::default();
        list.add("min_messages", min_messages, |field| {
            part(&|wanted| wanted.min_messages = Some(field.value.0))
        });
        list.add("max_messages", max_messages, |field| {
            part(&|wanted| wanted.max_messages = Some(field.value.0))
        });
        list.add("contains_level", contains_level, |field| {
            let texts = self.texts("contains_level", field)?;
            for text in &texts {
                self.check_level(text);
            }
            let levels: Vec<String> = texts.into_iter().map(|text| text.text).collect();
            part(&|wanted| wanted.contains_level.clone_from(&levels))
        });
        list.add("contains_data", contains_data, |field| {
            let texts = self.strings("contains_data", field)?;
            part(&|wanted| wanted.contains_data.clone_from(&texts))
        });
        list.add("not_below", not_below, |field| {
            self.check_level(&field.value);
            let level = LogLevel::from_name(&field.value.text)?;
            part(&|wanted| wanted.not_below = Some(level))
        });
        list.finish(self)
    }

    /// Tells a log level that does not exist. The Go tool takes any word.
    pub(super) fn check_level(&mut self, text: &Text) {
        let is_marked = mcp::script::template::text_has_markers(&text.text);
        if is_marked || LogLevel::from_name(&text.text).is_some() {
            return;
        }
        let known = LogLevel::ALL.map(LogLevel::name);
        self.native_problem(text.at, |origin| {
            problems::unknown_word(origin, &text.text, "log level", &known)
        });
    }

    /// `server_requests`, `expect_request`; the method may be left out where there is only one.
    pub(super) fn server_requests(
        &mut self,
        raw: OneOrMany<Placed<RawServerRequest>>,
        usual: Option<&'static str>,
    ) -> Expectation {
        let mut list = Vec::with_capacity(raw.0.len());
        for Placed { value, at } in raw.0 {
            let RawServerRequest {
                method,
                count,
                params,
            } = value;
            let place = first_line(at, &self.reading.problems);
            let method = match (method, usual) {
                (Some(method), _) => Some(method.value.text),
                (None, Some(usual)) => Some(usual.to_owned()),
                (None, None) => self.required(None::<String>, "method", "`server_requests`", place),
            };
            if let Some(method) = method {
                list.push(ServerRequestWanted {
                    method,
                    count: count.map(|count| count.value.0),
                    params: params.map(|params| params.value.0.into_value()),
                });
            }
        }
        Expectation::Traffic(TrafficWanted::ServerRequests(list))
    }

    /// `progress`
    pub(super) fn progress(&mut self, field: Field<RawProgress>) -> Option<ProgressWanted> {
        let RawProgress {
            min,
            monotonic,
            last_equals_total,
        } = field.value;
        if min.is_none() && monotonic.is_none() && last_equals_total.is_none() {
            self.asks_nothing("progress", field.key, field.at);
            return None;
        }
        Some(ProgressWanted {
            min: min.map(|min| min.value.0),
            monotonic: monotonic.map(|flag| flag.value),
            last_equals_total: last_equals_total.map(|flag| flag.value),
        })
    }

    /// `stderr`
    pub(super) fn stderr(&mut self, field: Field<RawStderr>) -> Option<StderrWanted> {
        let RawStderr {
            contains,
            not_contains,
            matches,
        } = field.value;
        let texts =
            |field: Option<Field<Texts>>| field.map(|field| field.value).unwrap_or_default();
        let wanted = StderrWanted {
            contains: texts(contains).strings(),
            not_contains: texts(not_contains).strings(),
            matches: self.patterns(texts(matches).0),
        };
        if wanted.contains.is_empty() && wanted.not_contains.is_empty() && wanted.matches.is_empty()
        {
            self.asks_nothing("stderr", field.key, field.at);
            return None;
        }
        Some(wanted)
    }

    /// `exit`
    pub(super) fn exit(&mut self, field: Field<RawExit>) -> Option<ExitWanted> {
        let RawExit(RawExitMap { code, clean }) = field.value;
        // A code of which the value is not known yet is there.
        if clean.is_some()
            && code.is_none()
            && self.reading.problems.is_refused_in("code", field.at)
        {
            self.problem(field.key, |origin| {
                problems::conflicting_keys(origin, &["code", "clean"], "`exit`")
            });
            return None;
        }
        match (code, clean) {
            (Some(code), None) => {
                let Integer(number) = code.value;
                let narrow = i32::try_from(number).ok();
                if narrow.is_none() {
                    self.problem(code.at, |origin| {
                        problems::bad_number(origin, &number.to_string(), "an exit code")
                    });
                }
                narrow.map(ExitWanted::Code)
            }
            (None, Some(clean)) => Some(ExitWanted::Clean(clean.value)),
            (Some(_), Some(_)) => {
                self.problem(field.key, |origin| {
                    problems::conflicting_keys(origin, &["code", "clean"], "`exit`")
                });
                None
            }
            (None, None) => {
                self.missing_one_of(&["code", "clean"], "`exit`", field.key);
                None
            }
        }
    }

    /// `findings`: the codes that may occur.
    pub(super) fn findings(&mut self, raw: NoneOrTexts) -> Vec<FindingCode> {
        let texts = match raw {
            NoneOrTexts::None => return Vec::new(),
            NoneOrTexts::Texts(texts) => texts.0,
        };
        let codes = FindingCode::ALL.iter().map(|code| code.code());
        let known: Vec<&str> = ["none"].into_iter().chain(codes).collect();
        texts
            .into_iter()
            .filter_map(|text| {
                let found = FindingCode::ALL
                    .iter()
                    .find(|code| code.code() == text.text)
                    .copied();
                if found.is_none() {
                    // In a list `none` is as wrong as any other word.
                    let known = &known[usize::from(text.text == "none")..];
                    self.problem(text.at, |origin| {
                        problems::unknown_word(origin, &text.text, "finding code", known)
                    });
                }
                found
            })
            .collect()
    }
}
