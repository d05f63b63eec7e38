//! Expectations about everything but the answer: notifications, log messages, requests of the server, progress, stderr,
//! the end, findings.

use super::Lowering;
use crate::{
    model::expectation::{
        ExitWanted, LogLevel, LoggingWanted, NotificationsWanted, ProcessWanted, ProgressWanted,
        Provoked, ServerRequestWanted, Since, StderrWanted, TrafficWanted,
    },
    problems,
    raw::{
        Field,
        expect::{
            RawExit, RawLoggingExpect, RawNotificationsExpect, RawProgress, RawServerRequest,
            RawStderr,
        },
        read::{first_line, value},
        union::NoneOrTexts,
        value::{OneOrMany, Text, Texts},
    },
};
use mcp::{observation::finding::FindingCode, script::template::text_has_markers};

/// The texts of a key that may be absent.
fn texts(field: Option<Field<Texts>>) -> Vec<String> {
    value(field).unwrap_or_default().strings()
}

impl Lowering<'_> {
    /// What is expected of notifications since a moment; `names_progress`: one of the methods is progress.
    pub(super) fn notifications_wanted(
        &self,
        raw: RawNotificationsExpect,
        since: Since,
        names_progress: bool,
    ) -> NotificationsWanted {
        NotificationsWanted {
            since,
            min_count: value(raw.min_count),
            max_count: value(raw.max_count),
            methods: texts(raw.methods),
            not_methods: texts(raw.not_methods),
            in_order: texts(raw.in_order),
            contains_data: texts(raw.contains_data),
            not_contains_data: texts(raw.not_contains_data),
            provoked: match names_progress {
                _ if self.is_compat() => Provoked::PassedOver,
                false => Provoked::Uncounted,
                true => Provoked::Counted,
            },
        }
    }

    /// `notifications` under `expect`: all its keys as one expectation.
    pub(super) fn notifications(
        &mut self,
        field: Field<RawNotificationsExpect>,
    ) -> Option<TrafficWanted> {
        let raw = field.value;
        let methods = [&raw.methods, &raw.not_methods, &raw.in_order];
        let methods = methods.into_iter().flatten().flat_map(|it| &it.value.0);
        let is_progress = |method: &Text| method.text == "notifications/progress";
        let named = methods.filter(|method| is_progress(method)).count() > 0;
        let wanted = self.notifications_wanted(raw, Since::TheCall, named);
        // A minimum of 0 is the author's word, and is judged with the answer.
        if wanted.min_count.is_none() && wanted.asks_nothing() {
            self.asks_nothing("notifications", field.key, field.at);
            return None;
        }
        Some(TrafficWanted::Notifications(Box::new(wanted)))
    }

    /// The `expect` of `assert_logging`.
    pub(super) fn logging(&mut self, raw: RawLoggingExpect) -> TrafficWanted {
        let levels = value(raw.contains_level).unwrap_or_default();
        let not_below = value(raw.not_below);
        for level in levels.0.iter().chain(&not_below) {
            self.check_level(level);
        }
        TrafficWanted::Logging(Box::new(LoggingWanted {
            min_messages: value(raw.min_messages),
            max_messages: value(raw.max_messages),
            contains_level: levels.strings(),
            contains_data: texts(raw.contains_data),
            not_below: not_below.and_then(|level| LogLevel::from_name(&level.text)),
        }))
    }

    /// Reports an unknown log level. The Go tool takes any word.
    pub(super) fn check_level(&mut self, text: &Text) {
        if !text_has_markers(&text.text) && LogLevel::from_name(&text.text).is_none() {
            let known = LogLevel::ALL.map(LogLevel::name);
            let problem = problems::unknown_word(&text.text, "log level", &known);
            self.native_problem(text.at, problem);
        }
    }

    /// `server_requests`, `expect_request`; `usual` is the method of an entry without one.
    pub(super) fn server_requests(
        &mut self,
        raw: OneOrMany<RawServerRequest>,
        usual: Option<&'static str>,
    ) -> TrafficWanted {
        let requests = raw.0.into_iter().filter_map(|raw| {
            let place = first_line(raw.at, &self.reading.problems);
            let method = value(raw.method).map(|method| method.text);
            let method = method.or(usual.map(str::to_owned));
            Some(ServerRequestWanted {
                method: self.required(method, "method", "`server_requests`", place)?,
                count: value(raw.count),
                params: raw.params.map(|params| params.value.0.into_value()),
            })
        });
        TrafficWanted::ServerRequests(requests.collect())
    }

    /// `progress`
    pub(super) fn progress(&mut self, field: Field<RawProgress>) -> Option<TrafficWanted> {
        let raw = field.value;
        let wanted = ProgressWanted {
            min: value(raw.min),
            monotonic: value(raw.monotonic),
            last_equals_total: value(raw.last_equals_total),
        };
        if wanted.min.is_none() && wanted.asks_nothing() {
            self.asks_nothing("progress", field.key, field.at);
            return None;
        }
        Some(TrafficWanted::Progress(wanted))
    }

    /// `stderr`
    pub(super) fn stderr(&mut self, field: Field<RawStderr>) -> Option<ProcessWanted> {
        let raw = field.value;
        let matches = value(raw.matches).unwrap_or_default();
        let wanted = StderrWanted {
            contains: texts(raw.contains),
            not_contains: texts(raw.not_contains),
            matches: self.patterns(matches.0),
        };
        if wanted.wants_none() && wanted.not_contains.is_empty() {
            self.asks_nothing("stderr", field.key, field.at);
            return None;
        }
        Some(ProcessWanted::Stderr(Box::new(wanted)))
    }

    /// `exit`
    pub(super) fn exit(&mut self, field: Field<RawExit>) -> Option<ProcessWanted> {
        let RawExit(raw) = field.value;
        let keys = ["code", "clean"];
        let wanted = match (raw.code, raw.clean) {
            (Some(code), None) => {
                let number = code.value;
                let narrow = i32::try_from(number).ok();
                if narrow.is_none() {
                    let problem = problems::bad_number(&number.to_string(), "an exit code");
                    self.problem(code.at, problem);
                }
                ExitWanted::Code(narrow?)
            }
            (None, Some(clean)) => ExitWanted::Clean(clean.value),
            (Some(_), Some(_)) => {
                self.problem(field.key, problems::conflicting_keys(&keys, "`exit`"));
                return None;
            }
            (None, None) => {
                self.missing_one_of(&keys, "`exit`", field.key);
                return None;
            }
        };
        Some(ProcessWanted::Exit(wanted))
    }

    /// `findings`: the codes that may occur.
    pub(super) fn findings(&mut self, NoneOrTexts(texts): NoneOrTexts) -> Vec<FindingCode> {
        let codes = FindingCode::ALL.iter().map(|code| code.code());
        let known: Vec<&str> = ["none"].into_iter().chain(codes).collect();
        let found = texts.into_iter().filter_map(|text| {
            let mut all = FindingCode::ALL.iter().copied();
            let found = all.find(|code| code.code() == text.text);
            if found.is_none() {
                // `none` does not stand in a list.
                let known = &known[usize::from(text.text == "none")..];
                let problem = problems::unknown_word(&text.text, "finding code", known);
                self.problem(text.at, problem);
            }
            found
        });
        found.collect()
    }
}
