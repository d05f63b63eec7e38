//! What holds for every expectation: each has a failing example with a text worth reading, and none of them
//! can be brought down by an answer.

use std::{collections::BTreeMap, time::Duration};

use proptest::prelude::*;
use serde_json::{Number, Value, json};

use crate::{
    asked, check,
    outcome::verdict::Verdict,
    sample::{observed, refuses, telling, tool},
    unasked_error,
};
use mcp::{
    observation::{
        Observation, TraceCall,
        answer::{Body, Reply},
        files::{Alteration, Change, FileSeen, FileState},
        finding::{FindingCode, note},
        process::{Ending, Exit, ExitStatus},
    },
    script::pattern::Pattern,
};
use suite::model::expectation::{
    Among, AnswerWanted, ContentRule, ContentWanted, ExitWanted, Expectation, FileTexts,
    FilesWanted, JsonWanted, LimitWanted, LogLevel, LoggingWanted, Matcher, NotificationsWanted,
    PathPattern, PathRule, Precision, Presence, ProcessWanted, ProgressWanted, ResultCount,
    SchemaRule, ServerRequestWanted, StderrWanted, TextWanted, TrafficWanted, TrajectoryRule,
    ValueRule,
};

fn words() -> Vec<String> {
    vec!["no such text".to_owned()]
}

fn path(rule: ValueRule) -> Vec<PathRule> {
    vec![PathRule::at("$.a", rule)]
}

fn file() -> Vec<FileTexts> {
    vec![FileTexts {
        path: "a.txt".to_owned(),
        texts: words(),
    }]
}

/// Expectations of all families that [`disappointing`] does not satisfy. That every one has an example which fails is
/// asserted by `tests/it/red.rs`.
fn one_of_each() -> Vec<Expectation> {
    [answer_expectations(), world_expectations()].concat()
}

fn answer_expectations() -> Vec<Expectation> {
    let count = |bound| ResultCount { bound, path: None };
    vec![
        Expectation::Answer(AnswerWanted::NotError(true)),
        Expectation::Answer(AnswerWanted::IsError(false)),
        Expectation::Answer(AnswerWanted::Error(Box::default())),
        Expectation::Text(TextWanted::NotEmpty(false)),
        Expectation::Text(TextWanted::Equals("other".to_owned())),
        Expectation::Text(TextWanted::Contains(words())),
        Expectation::Text(TextWanted::ContainsAny(words())),
        Expectation::Text(TextWanted::NotContains(vec!["b".to_owned()])),
        Expectation::Text(TextWanted::InOrder(words())),
        Expectation::Text(TextWanted::MatchesRegex(vec![Pattern::plain("^no such$")])),
        Expectation::Json(JsonWanted::JsonPath(path(ValueRule::Equals(json!(1))))),
        Expectation::Json(JsonWanted::JsonPath(path(ValueRule::Loosely(json!(1))))),
        Expectation::Json(JsonWanted::JsonPath(path(ValueRule::Matchers(vec![
            Matcher::Exists(true),
        ])))),
        Expectation::Json(JsonWanted::Structured(path(ValueRule::Equals(json!(1))))),
        Expectation::Json(JsonWanted::JsonSchema(Box::new(SchemaRule {
            written: "inline".to_owned(),
            schema: mcp::json::json_schema::compile(&json!({"type": "string"})).unwrap(),
        }))),
        Expectation::Json(JsonWanted::OutputSchema(true)),
        Expectation::Content(ContentWanted::Blocks(vec![ContentRule {
            members: json!({"type": "image"}),
            min_bytes: Some(1),
        }])),
        Expectation::Json(JsonWanted::MinResults(Box::new(count(9)))),
        Expectation::Json(JsonWanted::MaxResults(Box::new(count(0)))),
        Expectation::Json(JsonWanted::NetDelta {
            wanted: Number::from(1),
            precision: Precision::Exact,
        }),
        Expectation::Limits(LimitWanted::MaxDuration(Duration::ZERO)),
        Expectation::Limits(LimitWanted::MaxBytes(0)),
    ]
}

fn world_expectations() -> Vec<Expectation> {
    let paths = || vec!["a.txt".to_owned()];
    vec![
        Expectation::Files(FilesWanted::Contain(file())),
        Expectation::Files(FilesWanted::NotContain(vec![FileTexts {
            path: "a.txt".to_owned(),
            texts: vec!["b".to_owned()],
        }])),
        Expectation::Files(FilesWanted::Equal(file())),
        Expectation::Files(FilesWanted::Exist(vec!["gone.txt".to_owned()])),
        Expectation::Files(FilesWanted::NotExist(paths())),
        Expectation::Files(FilesWanted::Unchanged(paths())),
        Expectation::Files(FilesWanted::OnlyChanged(vec![PathPattern {
            written: "x".to_owned(),
            glob: globset::Glob::new("x").unwrap().compile_matcher(),
        }])),
        Expectation::Traffic(TrafficWanted::MinProgress(1)),
        Expectation::Traffic(TrafficWanted::Progress(ProgressWanted {
            min: Some(1),
            ..ProgressWanted::default()
        })),
        Expectation::Traffic(TrafficWanted::Notifications(Box::new(
            NotificationsWanted {
                methods: words(),
                ..NotificationsWanted::default()
            },
        ))),
        Expectation::Traffic(TrafficWanted::Logging(Box::new(LoggingWanted {
            min_messages: Some(9),
            ..LoggingWanted::default()
        }))),
        Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Present)),
        Expectation::Traffic(TrafficWanted::ServerRequests(vec![ServerRequestWanted {
            method: "roots/list".to_owned(),
            count: None,
            params: None,
        }])),
        Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
            contains: words(),
            ..StderrWanted::default()
        }))),
        Expectation::Process(ProcessWanted::Exit(ExitWanted::Clean(true))),
        Expectation::Traffic(TrafficWanted::Findings(Vec::new())),
        Expectation::Trajectory(Box::new(TrajectoryRule::ArgsContain {
            tool: "t".to_owned(),
            args: json!({"a": 1}),
            among: Among::Any,
        })),
        Expectation::Not(vec![(
            "max_bytes",
            Expectation::Limits(LimitWanted::MaxBytes(1_000)),
        )]),
    ]
}

/// The same answer amid all that can be seen beside it.
fn amid(mut seen: Observation) -> Observation {
    let state = |text: &str| FileState::Content(text.as_bytes().to_vec());
    let both = |before, after| FileSeen {
        before,
        after,
        inside: None,
    };
    seen = telling(
        seen,
        &[(
            "notifications/message",
            json!({"level": "info", "data": {"b": 1}}),
        )],
    );
    seen.files.paths = BTreeMap::from([
        ("a.txt".to_owned(), both(state("a"), state("b"))),
        ("gone.txt".to_owned(), both(state("a"), FileState::Absent)),
    ]);
    seen.files.changed = Some(BTreeMap::from([(
        "a.txt".to_owned(),
        Change::Modified(Alteration::Content),
    )]));
    note(
        &mut seen.findings,
        FindingCode::BlankLine,
        "an empty line",
        None,
    );
    seen.exit = Some(Exit {
        status: ExitStatus::Code(1),
        ending: Ending::ByItself,
        orphans: 0,
    });
    seen.trace = Some(vec![TraceCall {
        tool: "t".to_owned(),
        args: json!({"a": 2}),
        outcome: None,
        at_ms: None,
        unknowable: Vec::new(),
    }]);
    seen
}

/// An answer that satisfies none of [`one_of_each`].
fn disappointing() -> Observation {
    amid(tool(json!({
        "content": [{"type": "text", "text": "{\"b\": [1], \"items\": [1]}"}],
        "isError": true
    })))
}

#[test]
fn every_expectation_can_fail_and_says_why() {
    let seen = disappointing();
    for expectation in one_of_each() {
        let clause = asked(&expectation).wanted;
        assert!(!clause.is_empty() && !clause.contains('\n'), "{clause}");
        match check(&expectation, &seen) {
            Verdict::Held => panic!("{expectation:?} holds"),
            Verdict::Unknowable(reason) => assert!(
                matches!(expectation, Expectation::Json(JsonWanted::OutputSchema(_))),
                "{expectation:?}: {reason}"
            ),
            Verdict::Missed(mismatches) => {
                for mismatch in mismatches {
                    let headline = mismatch.headline();
                    assert!(
                        !mismatch.key.is_empty() && !mismatch.wanted.is_empty(),
                        "{headline}"
                    );
                    assert!(
                        !mismatch.seen.is_empty() && !headline.contains('\n'),
                        "{headline}"
                    );
                    assert!(!headline.ends_with('.'), "{headline}");
                }
            }
        }
    }
}

#[test]
fn nothing_seen_is_never_a_pass_for_what_is_said_of_an_answer() {
    for expectation in answer_expectations() {
        let verdict = check(&expectation, &Observation::default());
        assert!(
            matches!(verdict, Verdict::Unknowable(_)),
            "{expectation:?}: {verdict:?}"
        );
    }
}

#[test]
fn a_json_rpc_error_satisfies_nothing_that_is_said_of_a_result() {
    let seen = refuses(&json!({"code": -32603, "message": "no such text, other, b"}));
    for expectation in answer_expectations() {
        let speaks_of_any_answer = matches!(
            expectation,
            Expectation::Answer(AnswerWanted::Error(_))
                | Expectation::Limits(LimitWanted::MaxDuration(_) | LimitWanted::MaxBytes(_))
        );
        let negated = Expectation::Not(vec![("inner", expectation.clone())]);
        if !speaks_of_any_answer {
            assert!(
                check(&expectation, &seen) != Verdict::Held,
                "{expectation:?}"
            );
            assert!(check(&negated, &seen) != Verdict::Held, "{negated:?}");
        }
    }
}

#[test]
fn a_json_rpc_error_that_nobody_asked_for_is_a_mismatch() {
    let error = Expectation::Answer(AnswerWanted::Error(Box::default()));
    let not_error = Expectation::Not(vec![("error", error.clone())]);
    let fast = Expectation::Limits(LimitWanted::MaxBytes(1_000));
    let refused = refuses(&json!({"code": -32603, "message": "x"}));
    let fine = tool(json!({"content": []}));
    assert!(unasked_error(&[&error, &fast], &refused).is_none());
    assert!(unasked_error(&[&not_error], &refused).is_none());
    assert!(unasked_error(&[&fast], &fine).is_none());
    assert!(unasked_error(&[&fast], &Observation::default()).is_none());
    let mismatch = unasked_error(&[&fast], &refused).unwrap();
    insta::assert_snapshot!(mismatch.headline(), @r#"not_error: expected a result, the answer is the JSON-RPC error -32603, `x`"#);
}

/// The verdict on an observation of one log message and a flood of which nothing more was kept.
fn amid_flood(expectation: &Expectation) -> &'static str {
    match verdict_amid_flood(expectation) {
        Verdict::Held => "held",
        Verdict::Missed(_) => "missed",
        Verdict::Unknowable(_) => "unknowable",
    }
}

fn verdict_amid_flood(expectation: &Expectation) -> Verdict {
    let message = json!({"level": "info", "data": "x"});
    let mut seen = telling(
        tool(json!({"content": []})),
        &[("notifications/message", message)],
    );
    let code = FindingCode::NotificationFlood;
    note(&mut seen.findings, code, "only the first 1", None);
    check(expectation, &seen)
}

#[test]
fn of_a_flood_there_is_no_exact_number() {
    let case = |wanted: Expectation, seen: &str| match verdict_amid_flood(&wanted) {
        Verdict::Missed(found) => assert_eq!(found[0].seen, seen),
        other @ (Verdict::Held | Verdict::Unknowable(_)) => panic!("{other:?}"),
    };
    let wanted = NotificationsWanted {
        max_count: Some(0),
        ..NotificationsWanted::default()
    };
    let wanted = Expectation::Traffic(TrafficWanted::Notifications(Box::new(wanted)));
    case(wanted, "at least 1 came: `notifications/message`");
    let wanted = LoggingWanted {
        max_messages: Some(0),
        ..LoggingWanted::default()
    };
    let wanted = Expectation::Traffic(TrafficWanted::Logging(Box::new(wanted)));
    case(wanted, "at least 1 came, of level `info`");
}

#[test]
fn a_flood_hides_notifications_that_did_not_come() {
    let case = |methods: &[&str], not_methods: &[&str], wanted: &str| {
        let list = |items: &[&str]| items.iter().map(ToString::to_string).collect();
        let expectation = Expectation::Traffic(TrafficWanted::Notifications(Box::new(
            NotificationsWanted {
                methods: list(methods),
                not_methods: list(not_methods),
                ..NotificationsWanted::default()
            },
        )));
        assert_eq!(amid_flood(&expectation), wanted, "{expectation:?}");
    };
    case(&["notifications/message"], &[], "held");
    case(&["notifications/x"], &[], "unknowable");
    case(&[], &["notifications/x"], "unknowable");
    case(&[], &["notifications/message"], "missed");
    for wanted in [Presence::Present, Presence::Absent] {
        let expectation = Expectation::Traffic(TrafficWanted::ResourceUpdated(wanted));
        assert_eq!(amid_flood(&expectation), "unknowable");
    }
}

#[test]
fn a_flood_hides_messages_progress_and_requests_that_did_not_come() {
    let case = |min_messages, max_messages, wanted: &str| {
        let expectation = Expectation::Traffic(TrafficWanted::Logging(Box::new(LoggingWanted {
            min_messages,
            max_messages,
            ..LoggingWanted::default()
        })));
        assert_eq!(amid_flood(&expectation), wanted, "{expectation:?}");
    };
    case(Some(1), None, "held");
    case(Some(2), None, "unknowable");
    case(None, Some(1), "unknowable");
    case(None, Some(0), "missed");
    assert_eq!(
        amid_flood(&Expectation::Traffic(TrafficWanted::MinProgress(1))),
        "unknowable"
    );
    let request = ServerRequestWanted {
        method: "roots/list".to_owned(),
        count: Some(0),
        params: None,
    };
    assert_eq!(
        amid_flood(&Expectation::Traffic(TrafficWanted::ServerRequests(vec![
            request
        ]))),
        "unknowable"
    );
}

#[test]
fn what_comes_after_the_subject_belongs_to_no_assertion() {
    let mut seen = telling(
        tool(json!({"content": []})),
        &[
            (
                "notifications/message",
                json!({"level": "info", "data": "in setup"}),
            ),
            (
                "notifications/message",
                json!({"level": "info", "data": "in the subject"}),
            ),
            (
                "notifications/message",
                json!({"level": "debug", "data": "at the end"}),
            ),
        ],
    );
    seen.answer.as_mut().unwrap().notifications = 1..2;
    let logging = Expectation::Traffic(TrafficWanted::Logging(Box::new(LoggingWanted {
        min_messages: Some(2),
        max_messages: Some(2),
        not_below: Some(LogLevel::Info),
        ..LoggingWanted::default()
    })));
    assert_eq!(check(&logging, &seen), Verdict::Held);
}

#[test]
fn a_large_text_takes_no_more_than_linear_time() {
    let item = r#"{"id": 123456, "name": "some name", "tags": ["a", "b"]}, "#;
    let text = format!("[{}0]", item.repeat(256 * 1024 / item.len()));
    let seen = amid(tool(json!({"content": [{"type": "text", "text": text}]})));
    let start = std::time::Instant::now();
    for expectation in one_of_each() {
        check(&expectation, &seen);
    }
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(10),
        "{took:?} without optimisation"
    );
}

/// Any JSON, a few levels deep.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,12})?"
            .prop_map(|text| serde_json::from_str(&text).unwrap()),
        any::<String>().prop_map(Value::from),
    ];
    let name = prop_oneof![
        "[ab]",
        "items",
        "net_delta",
        "type",
        "text",
        "data",
        any::<String>()
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_answer_brings_a_check_down(
        value in any_json(),
        text in any::<String>(),
        blocks in prop::collection::vec(any_json(), 0..4),
        is_error in any::<bool>(),
    ) {
        for text in [text, value.to_string()] {
            let seen = amid(observed(Body::Result(Reply {
                raw: value.clone(),
                text,
                content: blocks.clone(),
                structured: Some(value.clone()),
                is_error,
                ..Reply::default()
            })));
            for expectation in one_of_each() {
                let verdict = check(&expectation, &seen);
                prop_assert!(verdict != Verdict::Missed(Vec::new()));
            }
        }
        let seen = amid(refuses(&value));
        for expectation in one_of_each() {
            check(&expectation, &seen);
        }
    }

    #[test]
    fn a_value_is_equal_to_itself_and_to_its_text(value in any_json()) {
        let rule = vec![PathRule::at("$", ValueRule::Equals(value.clone()))];
        let seen = tool(json!({"content": [{"type": "text", "text": value.to_string()}]}));
        prop_assert_eq!(check(&Expectation::Json(JsonWanted::JsonPath(rule)), &seen), Verdict::Held);
    }
}
