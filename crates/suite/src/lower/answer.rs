//! The keys of `expect`, each to its expectation.

use serde_json::Number;

use super::Lowering;
use crate::{
    model::{
        counted::CountedPath,
        expectation::{
            AnswerWanted, ContentRule, ContentWanted, ErrorWanted, Expectation, FileTexts,
            FilesWanted, JsonWanted, LimitWanted, Precision, ResultCount, TextRule, TextWanted,
            TrafficWanted, Wanted, WantedState,
        },
    },
    problems,
    raw::{
        Field, Readable,
        expect::{RawError, RawExpect, RawResults},
        read::value,
        union::Short,
        value::{Members, OneOrMany, Table, Text, Texts},
    },
    yaml::{Kind, Node},
};
use mcp::script::path::compile;

/// Expectations in the order of the suite.
pub(super) fn sorted(list: impl IntoIterator<Item = Option<Wanted>>) -> Vec<Wanted> {
    let mut list: Vec<Wanted> = list.into_iter().flatten().collect();
    list.sort_by_key(|wanted| wanted.origin.span.start);
    list
}

impl Lowering<'_> {
    /// The expectations of `expect`, in the order of the suite.
    #[expect(clippy::too_many_lines, reason = "one entry for each key")]
    pub(super) fn expectations(&mut self, raw: RawExpect) -> Vec<Wanted> {
        use AnswerWanted::{IsError, NotError, Refused};
        use FilesWanted::{Contain, Exist, NotContain, NotExist, OnlyChanged, Unchanged};
        use TextWanted::{Contains, ContainsAny, Equals, InOrder, NotContains, NotEmpty};
        sorted([
            self.switch("not_error", raw.not_error, NotError),
            self.switch("is_error", raw.is_error, IsError),
            self.switch("refused", raw.refused, Refused),
            self.one("error", raw.error, Self::rpc_error),
            self.switch("not_empty", raw.not_empty, NotEmpty),
            self.one("equals", raw.equals, |_, field| {
                Some(Equals(field.value.text))
            }),
            self.all_texts("contains", raw.contains, Contains),
            self.all_texts("contains_any", raw.contains_any, ContainsAny),
            self.all_texts("not_contains", raw.not_contains, NotContains),
            self.all_texts("in_order", raw.in_order, InOrder),
            self.one("matches_regex", raw.matches_regex, |it, field| {
                let texts = it.texts("matches_regex", field)?;
                Some(TextWanted::MatchesRegex(it.patterns(texts)))
            }),
            self.one("json_path", raw.json_path, |it, field| {
                it.path_rules("json_path", field).map(JsonWanted::JsonPath)
            }),
            self.one("structured", raw.structured, |it, field| {
                let rules = it.path_rules("structured", field);
                rules.map(JsonWanted::Structured)
            }),
            self.one("json_schema", raw.json_schema, Self::json_schema),
            self.one("output_schema", raw.output_schema, |it, field| {
                if !field.value {
                    it.problem(field.key, problems::idle_switch("output_schema"));
                }
                Some(JsonWanted::OutputSchema(field.value))
            }),
            self.one("content", raw.content, |it, field| {
                Some(ContentWanted::Blocks(it.content(field.value)))
            }),
            self.one("min_results", raw.min_results, |it, field| {
                let count = it.results("`min_results`", field)?;
                Some(JsonWanted::MinResults(Box::new(count)))
            }),
            self.one("max_results", raw.max_results, |it, field| {
                let count = it.results("`max_results`", field)?;
                Some(JsonWanted::MaxResults(Box::new(count)))
            }),
            self.one("net_delta", raw.net_delta, |it, field| {
                Some(it.net_delta(field.value))
            }),
            self.file_texts("file_contains", raw.file_contains, Contain),
            self.file_texts("file_not_contains", raw.file_not_contains, NotContain),
            self.one("file_equals", raw.file_equals, |it, field| {
                let texts = field.value.0.into_iter();
                let texts = texts.map(|(path, text)| (path, vec![text.text]));
                it.files("file_equals", texts.collect(), field.key)
                    .map(FilesWanted::Equal)
            }),
            self.paths("file_exists", raw.file_exists, Exist),
            self.paths("file_not_exists", raw.file_not_exists, NotExist),
            self.paths("file_unchanged", raw.file_unchanged, Unchanged),
            self.one("only_changed", raw.only_changed, |it, field| {
                Some(OnlyChanged(it.globs(field.value.0)))
            }),
            self.one("min_progress", raw.min_progress, |_, field| {
                Some(TrafficWanted::MinProgress(field.value))
            }),
            self.one("progress", raw.progress, Self::progress),
            self.one("max_duration", raw.max_duration, |it, field| {
                it.duration(Some(field)).map(LimitWanted::MaxDuration)
            }),
            self.one("max_bytes", raw.max_bytes, |_, field| {
                Some(LimitWanted::MaxBytes(field.value))
            }),
            self.one("notifications", raw.notifications, Self::notifications),
            self.one("server_requests", raw.server_requests, |it, field| {
                Some(it.server_requests(field.value, None))
            }),
            self.one("stderr", raw.stderr, Self::stderr),
            self.one("exit", raw.exit, Self::exit),
            self.one("findings", raw.findings, |it, field| {
                Some(TrafficWanted::Findings(it.findings(field.value)))
            }),
            self.one("not", raw.not, Self::not),
        ])
    }

    /// The expectation of a key, if the key is there and makes one.
    pub(super) fn one<T, W: Into<Expectation>>(
        &mut self,
        key: &'static str,
        field: Option<Field<T>>,
        lower: impl FnOnce(&mut Self, Field<T>) -> Option<W>,
    ) -> Option<Wanted> {
        let field = field?;
        let place = field.place();
        let wanted = lower(self, field)?;
        Some(self.wanted(key, place, wanted))
    }

    /// The expectation of a switch; under the Go tool's rules `false` checks nothing.
    fn switch<W: Into<Expectation>>(
        &mut self,
        key: &'static str,
        field: Option<Field<bool>>,
        wanted: fn(bool) -> W,
    ) -> Option<Wanted> {
        self.one(key, field, |it, field| {
            (field.value || !it.is_compat()).then(|| wanted(field.value))
        })
    }

    /// The expectation of texts.
    fn all_texts(
        &mut self,
        key: &'static str,
        field: Option<Field<Texts>>,
        wanted: fn(Vec<String>) -> TextWanted,
    ) -> Option<Wanted> {
        self.one(key, field, |it, field| it.strings(key, field).map(wanted))
    }

    /// The expectation of files with texts.
    fn file_texts(
        &mut self,
        key: &'static str,
        field: Option<Field<Table<Texts>>>,
        wanted: fn(Vec<FileTexts>) -> FilesWanted,
    ) -> Option<Wanted> {
        self.one(key, field, |it, field| {
            let files = field.value.0.into_iter();
            let files = files.map(|(path, texts)| (path, texts.strings()));
            it.files(key, files.collect(), field.key).map(wanted)
        })
    }

    /// The texts of a key without their places.
    pub(super) fn strings(&mut self, key: &str, field: Field<Texts>) -> Option<Vec<String>> {
        let texts = self.texts(key, field)?;
        Some(Texts(texts).strings())
    }

    /// `error`
    fn rpc_error(&mut self, field: Field<RawError>) -> Option<AnswerWanted> {
        let raw = field.value;
        let message = match raw.message {
            None => None,
            Some(message) => Some(self.text_rule(message.value)?),
        };
        Some(AnswerWanted::Error(Box::new(ErrorWanted {
            code: value(raw.code),
            message,
            data: raw.data.map(|data| data.value.0.into_value()),
        })))
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
        let rules = raw.0.into_iter().filter_map(|Members(node)| {
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
                    Some(u64::read(entry.value, &mut self.reading)?)
                }
            };
            let kind = Kind::Map(entries);
            let members = Node { kind, at }.into_value();
            Some(ContentRule { members, min_bytes })
        });
        rules.collect()
    }

    /// `min_results`, `max_results`
    fn results(
        &mut self,
        owner: &str,
        field: Field<Short<u64, RawResults>>,
    ) -> Option<ResultCount> {
        let raw = field.value.0;
        let count = self.required(raw.count, "count", owner, field.key);
        let path = match raw.path {
            None => None,
            Some(path) => {
                let text = self.as_path(path.value.text, path.at)?;
                let compiled = self.path(&text, path.at)?;
                Some(CountedPath::new(&text, compiled, |it| compile(it).ok()))
            }
        };
        let bound = count?.value;
        Some(ResultCount { bound, path })
    }

    /// `net_delta`
    fn net_delta(&self, wanted: Number) -> JsonWanted {
        let precision = if self.is_compat() {
            Precision::Truncated
        } else {
            Precision::Exact
        };
        JsonWanted::NetDelta { wanted, precision }
    }

    /// `not`: the expectations under it, which must not hold.
    fn not(&mut self, field: Field<Box<RawExpect>>) -> Option<Expectation> {
        let inner = self.expectations(*field.value);
        if inner.is_empty() {
            self.asks_nothing("not", field.key, field.at);
            return None;
        }
        let ready = inner.into_iter().filter_map(|wanted| match wanted.state {
            WantedState::Ready(expectation) => Some((wanted.key, expectation)),
            WantedState::Templated(_) => None,
        });
        Some(Expectation::Not(ready.collect()))
    }
}
