//! The keys of `expect`, each to its expectation.

use serde_json::Number;

use super::Lowering;
use crate::{
    Dialect,
    model::{
        counted::CountedPath,
        expectation::{
            AnswerWanted, ContentRule, ContentWanted, ErrorWanted, Expectation, FilesWanted,
            JsonWanted, LimitWanted, Precision, ProcessWanted, ResultCount, TextRule, TextWanted,
            TrafficWanted, Wanted, WantedState,
        },
    },
    problems,
    raw::{
        Field, Readable,
        expect::{RawError, RawExpect, RawResults},
        union::CountOr,
        value::{Count, Integer, Members, OneOrMany, Text, Texts},
    },
    yaml::{At, Kind, Node, Source},
};
use mcp::script::path::compile;

/// Expectations that are collected, each with its place.
#[derive(Debug, Default)]
pub(super) struct WantedList(Vec<(&'static str, At, Expectation)>);

impl WantedList {
    /// Adds the expectation of a key, if the key is there and makes one.
    pub(super) fn add<T, W: Into<Expectation>>(
        &mut self,
        key: &'static str,
        field: Option<Field<T>>,
        lower: impl FnOnce(Field<T>) -> Option<W>,
    ) {
        if let Some(field) = field {
            let place = field.place();
            if let Some(wanted) = lower(field) {
                self.0.push((key, place, wanted.into()));
            }
        }
    }

    /// What was collected, in the order of the suite.
    pub(super) fn finish(self, lowering: &Lowering<'_>) -> Vec<Wanted> {
        let mut list = self.0;
        list.sort_by_key(|(_, at, _)| (at.source == Source::Suite, at.span.start));
        list.into_iter()
            .map(|(key, at, expectation)| lowering.wanted(key, at, expectation))
            .collect()
    }
}

impl Lowering<'_> {
    /// The expectations of `expect`, in the order of the suite.
    #[expect(
        clippy::too_many_lines,
        reason = "one line for each key, so that none can be forgotten"
    )]
    pub(super) fn expectations(&mut self, raw: RawExpect) -> Vec<Wanted> {
        let RawExpect {
            not_error,
            is_error,
            error,
            not_empty,
            equals,
            contains,
            contains_any,
            not_contains,
            in_order,
            matches_regex,
            json_path,
            structured,
            json_schema,
            output_schema,
            content,
            min_results,
            max_results,
            net_delta,
            file_contains,
            file_not_contains,
            file_equals,
            file_exists,
            file_not_exists,
            file_unchanged,
            only_changed,
            min_progress,
            progress,
            max_duration,
            max_bytes,
            notifications,
            server_requests,
            stderr,
            exit,
            findings,
            not,
        } = raw;
        let mut list = WantedList::default();
        list.add("not_error", not_error, |field| {
            self.switch(field).map(AnswerWanted::NotError)
        });
        list.add("is_error", is_error, |field| {
            self.switch(field).map(AnswerWanted::IsError)
        });
        list.add("error", error, |field| {
            self.rpc_error(field.value)
                .map(|wanted| AnswerWanted::Error(Box::new(wanted)))
        });
        list.add("not_empty", not_empty, |field| {
            self.switch(field).map(TextWanted::NotEmpty)
        });
        list.add("equals", equals, |field| {
            Some(TextWanted::Equals(field.value.text))
        });
        list.add("contains", contains, |field| {
            self.strings("contains", field).map(TextWanted::Contains)
        });
        list.add("contains_any", contains_any, |field| {
            self.strings("contains_any", field)
                .map(TextWanted::ContainsAny)
        });
        list.add("not_contains", not_contains, |field| {
            self.strings("not_contains", field)
                .map(TextWanted::NotContains)
        });
        list.add("in_order", in_order, |field| {
            self.strings("in_order", field).map(TextWanted::InOrder)
        });
        list.add("matches_regex", matches_regex, |field| {
            let texts = self.texts("matches_regex", field)?;
            Some(TextWanted::MatchesRegex(self.patterns(texts)))
        });
        list.add("json_path", json_path, |field| {
            self.path_rules("json_path", field)
                .map(JsonWanted::JsonPath)
        });
        list.add("structured", structured, |field| {
            self.path_rules("structured", field)
                .map(JsonWanted::Structured)
        });
        list.add("json_schema", json_schema, |field| {
            self.json_schema(field)
                .map(|rule| JsonWanted::JsonSchema(Box::new(rule)))
        });
        list.add("output_schema", output_schema, |field| {
            if !field.value {
                self.problem(field.key, |origin| {
                    problems::idle_switch(origin, "output_schema")
                });
            }
            Some(JsonWanted::OutputSchema(field.value))
        });
        list.add("content", content, |field| {
            Some(ContentWanted::Blocks(self.content(field.value)))
        });
        list.add("min_results", min_results, |field| {
            self.results("min_results", field)
                .map(|wanted| JsonWanted::MinResults(Box::new(wanted)))
        });
        list.add("max_results", max_results, |field| {
            self.results("max_results", field)
                .map(|wanted| JsonWanted::MaxResults(Box::new(wanted)))
        });
        list.add("net_delta", net_delta, |field| {
            Some(self.net_delta(field.value))
        });
        list.add("file_contains", file_contains, |field| {
            self.file_texts("file_contains", field)
                .map(FilesWanted::Contain)
        });
        list.add("file_not_contains", file_not_contains, |field| {
            self.file_texts("file_not_contains", field)
                .map(FilesWanted::NotContain)
        });
        list.add("file_equals", file_equals, |field| {
            self.whole_files(field).map(FilesWanted::Equal)
        });
        list.add("file_exists", file_exists, |field| {
            self.paths("file_exists", field).map(FilesWanted::Exist)
        });
        list.add("file_not_exists", file_not_exists, |field| {
            self.paths("file_not_exists", field)
                .map(FilesWanted::NotExist)
        });
        list.add("file_unchanged", file_unchanged, |field| {
            self.paths("file_unchanged", field)
                .map(FilesWanted::Unchanged)
        });
        list.add("only_changed", only_changed, |field| {
            Some(FilesWanted::OnlyChanged(self.globs(field.value.0)))
        });
        list.add("min_progress", min_progress, |field| {
            Some(TrafficWanted::MinProgress(field.value.0))
        });
        list.add("progress", progress, |field| {
            self.progress(field).map(TrafficWanted::Progress)
        });
        list.add("max_duration", max_duration, |field| {
            self.duration(Some(field)).map(LimitWanted::MaxDuration)
        });
        list.add("max_bytes", max_bytes, |field| {
            Some(LimitWanted::MaxBytes(field.value.0))
        });
        list.add("notifications", notifications, |field| {
            self.all_notifications(field)
                .map(|wanted| TrafficWanted::Notifications(Box::new(wanted)))
        });
        list.add("server_requests", server_requests, |field| {
            Some(self.server_requests(field.value, None))
        });
        list.add("stderr", stderr, |field| {
            self.stderr(field)
                .map(|wanted| ProcessWanted::Stderr(Box::new(wanted)))
        });
        list.add("exit", exit, |field| {
            self.exit(field).map(ProcessWanted::Exit)
        });
        list.add("findings", findings, |field| {
            Some(TrafficWanted::Findings(self.findings(field.value)))
        });
        list.add("not", not, |field| self.not(field).map(Expectation::Not));
        list.finish(self)
    }

    /// A switch; under the Go tool's rules `false` checks nothing.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "used in the same way as its neighbours"
    )]
    fn switch(&mut self, field: Field<bool>) -> Option<bool> {
        (field.value || self.dialect() == Dialect::Native).then_some(field.value)
    }

    /// The texts of a key without their places.
    pub(super) fn strings(&mut self, key: &str, field: Field<Texts>) -> Option<Vec<String>> {
        let texts = self.texts(key, field)?;
        let mut strings: Vec<String> = texts.into_iter().map(|text| text.text).collect();
        strings.shrink_to_fit();
        Some(strings)
    }

    /// `error`
    fn rpc_error(&mut self, raw: RawError) -> Option<ErrorWanted> {
        let RawError {
            code,
            message,
            data,
        } = raw;
        let code = code.map(|code| {
            let Integer(code) = code.value;
            code
        });
        let message = match message {
            None => None,
            Some(message) => Some(self.text_rule(message.value)?),
        };
        Some(ErrorWanted {
            code,
            message,
            data: data.map(|data| data.value.0.into_value()),
        })
    }

    /// A text, or a pattern between slashes.
    pub(super) fn text_rule(&mut self, text: Text) -> Option<TextRule> {
        let whole = self.as_pattern(&text.text, text.at);
        let inner = whole
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'))
            .filter(|inner| !inner.is_empty() && self.has_written_ends(&text.text, text.at));
        match inner {
            Some(pattern) => self.compile(pattern, text.at).map(TextRule::Pattern),
            None => Some(TextRule::Literal(text.text)),
        }
    }

    /// `content`
    fn content(&mut self, raw: OneOrMany<Members>) -> Vec<ContentRule> {
        raw.0
            .into_iter()
            .filter_map(|Members(node)| {
                let at = node.at;
                let Kind::Map(mut entries) = node.kind else {
                    return None;
                };
                let least = entries
                    .iter()
                    .position(|entry| entry.key.text == "min_bytes" && entry.key.at.is_written());
                let min_bytes = match least {
                    None => None,
                    Some(index) => {
                        let entry = entries.remove(index);
                        let Count(count) = Count::read(entry.value, &mut self.reading)?;
                        Some(count)
                    }
                };
                let members = Node {
                    kind: Kind::Map(entries),
                    at,
                }
                .into_value();
                Some(ContentRule { members, min_bytes })
            })
            .collect()
    }

    /// `min_results`, `max_results`
    fn results(&mut self, key: &str, field: Field<CountOr<RawResults>>) -> Option<ResultCount> {
        match field.value {
            CountOr::Count(bound) => Some(ResultCount { bound, path: None }),
            CountOr::Map(RawResults { count, path }) => {
                let count = self.required(count, "count", &format!("`{key}`"), field.key);
                let path = match path {
                    None => None,
                    Some(path) => {
                        let text = self.as_path(path.value.text, path.at)?;
                        let compiled = self.path(&text, path.at)?;
                        let beginning = |text: &str| compile(text).ok();
                        Some(CountedPath::new(&text, compiled, beginning))
                    }
                };
                let Count(bound) = count?.value;
                Some(ResultCount { bound, path })
            }
        }
    }

    /// `net_delta`
    fn net_delta(&mut self, wanted: Number) -> JsonWanted {
        let precision = match self.dialect() {
            Dialect::Native => Precision::Exact,
            Dialect::Compat => Precision::Truncated,
        };
        JsonWanted::NetDelta { wanted, precision }
    }

    /// `not`: the expectations under it, which must not hold.
    fn not(&mut self, field: Field<Box<RawExpect>>) -> Option<Vec<(&'static str, Expectation)>> {
        let inner = self.expectations(*field.value);
        if inner.is_empty() {
            self.asks_nothing("not", field.key, field.at);
            return None;
        }
        let ready = inner.into_iter().filter_map(|wanted| match wanted.state {
            WantedState::Ready(expectation) => Some((wanted.key, expectation)),
            WantedState::Templated(_) => None,
        });
        Some(ready.collect())
    }
}
