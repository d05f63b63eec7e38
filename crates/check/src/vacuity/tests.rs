use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use crate::{
    sample::{fails, frames, refuses, says, telling},
    vacuity::findings,
};
use mcp::{
    observation::{
        Observation, StepPart, StepSeen, TraceCall, answer::FrameAnswer, catalog::Catalog,
        finding::FindingCode,
    },
    script::pattern::Pattern,
};
use suite::model::expectation::{
    AnswerWanted, ErrorWanted, Expectation, FilesWanted, JsonWanted, LimitWanted, LogLevel,
    LoggingWanted, NotificationsWanted, PathRule, ProcessWanted, ResultCount, StderrWanted,
    TextRule, TextWanted, TrafficWanted, TrajectoryRule, ValueRule,
};

fn reasons(wanted: &[Expectation], seen: &Observation) -> Vec<String> {
    let wanted: Vec<&Expectation> = wanted.iter().collect();
    let found = findings(&wanted, seen);
    assert!(found.iter().all(|one| one.code == FindingCode::Vacuous));
    found.into_iter().map(|one| one.message).collect()
}

/// The observation of a call with these arguments at a server that lists `echo`, which wants a text.
fn calling(mut seen: Observation, tool: &str, arguments: Value) -> Observation {
    let schema = json!({
        "type": "object",
        "properties": {"message": {"type": "string"}},
        "required": ["message"]
    });
    if let Some(answer) = seen.answer.as_mut() {
        answer.tool = Some(tool.to_owned());
        answer.arguments = arguments;
    }
    seen.catalog = Some(Arc::new(Catalog {
        tools: Some(vec![json!({"name": "echo", "inputSchema": schema})]),
        ..Catalog::default()
    }));
    seen
}

fn well_called(seen: Observation) -> Observation {
    calling(seen, "echo", json!({"message": "x"}))
}

fn texts(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn pattern(pattern: &str) -> Expectation {
    Expectation::Text(TextWanted::MatchesRegex(vec![Pattern::plain(pattern)]))
}

#[test]
fn what_nothing_can_fail_is_named() {
    let seen = well_called(says("x"));
    let all = [
        Expectation::Text(TextWanted::Contains(texts(&[""]))),
        Expectation::Text(TextWanted::ContainsAny(texts(&["x", ""]))),
        Expectation::Text(TextWanted::InOrder(texts(&["", ""]))),
        pattern(".*"),
        Expectation::Json(JsonWanted::MinResults(Box::new(ResultCount {
            bound: 0,
            path: None,
        }))),
        Expectation::Traffic(TrafficWanted::MinProgress(0)),
        Expectation::Traffic(TrafficWanted::Notifications(Box::new(
            NotificationsWanted {
                min_count: Some(0),
                ..NotificationsWanted::default()
            },
        ))),
        Expectation::Traffic(TrafficWanted::Logging(Box::new(LoggingWanted {
            min_messages: Some(0),
            ..LoggingWanted::default()
        }))),
        Expectation::Json(JsonWanted::OutputSchema(false)),
        Expectation::Trajectory(Box::new(TrajectoryRule::Absence(Vec::new()))),
        Expectation::Not(Vec::new()),
    ];
    insta::assert_snapshot!(reasons(&all, &seen).join("\n"), @"
    `contains` asks only for the empty text, which every text contains
    `contains_any` has the empty text among its choices, which every text contains
    `in_order` asks only for the empty text, which every text contains
    `matches_regex` asks only for patterns that are found in every text
    `min_results: 0` holds for any number of results
    `min_progress` asks for nothing
    `notifications` asks for nothing
    `assert_logging` asks for nothing
    `output_schema` asks for nothing
    `absence` asks for nothing
    `not` asks for nothing
    ");
}

#[test]
fn what_is_in_every_text_is_known_however_it_is_written() {
    let seen = well_called(says("x"));
    for written in ["a*", "()", ".*", "(a|b?)"] {
        let told = reasons(&[pattern(written)], &seen);
        let wanted = "`matches_regex` asks only for patterns that are found in every text";
        assert_eq!(told, [wanted], "{written}");
    }
}

#[test]
fn json_values_that_nothing_looked_at_are_named() {
    let path = || {
        Expectation::Json(JsonWanted::JsonPath(vec![PathRule::at(
            "$.id",
            ValueRule::Equals(json!(0)),
        )]))
    };
    let case = |text: &str| reasons(&[path()], &well_called(says(text))).join("\n");
    insta::assert_snapshot!(case("{\"id\": 0}\n{\"id\": 1}"), @"`json_path` looked at the first of the 2 JSON values in the text, which proves nothing of the others");
    assert_eq!(case("starting\n{\"id\": 0}\n[1742] done"), "");
}

#[test]
fn what_can_fail_is_left_alone() {
    let seen = well_called(says("x"));
    let case = |expectation: Expectation| {
        let found = reasons(std::slice::from_ref(&expectation), &seen);
        assert!(found.is_empty(), "{expectation:?}: {found:?}");
    };
    case(Expectation::Text(TextWanted::Contains(texts(&["", "x"]))));
    case(Expectation::Text(TextWanted::InOrder(texts(&["", "x"]))));
    case(Expectation::Text(TextWanted::Equals(String::new())));
    case(Expectation::Text(TextWanted::NotContains(texts(&["x"]))));
    for written in [
        "^.*$",
        "^$",
        ".",
        "a+",
        "\\bx?",
        "x?\\b",
        "^[^z]*$",
        "a*\\$",
        "(^a)?b",
        "\\A\\s*\\z",
    ] {
        case(pattern(written));
    }
    case(Expectation::Traffic(TrafficWanted::Notifications(
        Box::new(NotificationsWanted {
            min_count: Some(0),
            max_count: Some(0),
            ..NotificationsWanted::default()
        }),
    )));
}

#[test]
fn a_call_that_never_reached_its_tool_is_named() {
    let is_error = || [Expectation::Answer(AnswerWanted::IsError(true))];
    let case = |wanted: &[Expectation], seen: Observation| {
        let found = reasons(wanted, &seen);
        assert_eq!(found.len(), 1, "{found:?}");
        found[0].clone()
    };
    let refusal = || refuses(&json!({"code": -32602, "message": "no"}));
    let lines = [
        case(&is_error(), calling(fails("nope"), "ecko", json!({}))),
        case(
            &[Expectation::Answer(AnswerWanted::NotError(true))],
            calling(says("ok"), "hidden", json!({})),
        ),
        case(
            &is_error(),
            calling(fails("nope"), "echo", json!({"message": 5})),
        ),
        case(&is_error(), calling(fails("nope"), "echo", Value::Null)),
        case(
            &[Expectation::Answer(AnswerWanted::NotError(true))],
            calling(says("ok"), "echo", json!({})),
        ),
        case(
            &[Expectation::Answer(AnswerWanted::Error(Box::default()))],
            calling(refusal(), "echo", json!({})),
        ),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r#"
    the server does not list the tool `ecko`: the error may be about that; it lists `echo`
    the server does not list the tool `hidden`, and answers all the same
    the arguments do not satisfy the tool's `inputSchema` (`$.message`: 5 is not of type "string"): the call may never have reached the tool
    the arguments do not satisfy the tool's `inputSchema` (`$`: "message" is a required property): the call may never have reached the tool
    the arguments do not satisfy the tool's `inputSchema` (`$`: "message" is a required property), and the server took them
    the arguments do not satisfy the tool's `inputSchema` (`$`: "message" is a required property): the call may never have reached the tool
    "#);
}

#[test]
fn a_call_that_may_be_meant_so_is_left_alone() {
    let case = |wanted: &[Expectation], seen: Observation| {
        let found = reasons(wanted, &seen);
        assert!(found.is_empty(), "{found:?}");
    };
    let is_error = || Expectation::Answer(AnswerWanted::IsError(true));
    let says_why = || Expectation::Text(TextWanted::Contains(texts(&["nope"])));
    let coded = || {
        Expectation::Answer(AnswerWanted::Error(Box::new(ErrorWanted {
            code: Some(-32602),
            ..ErrorWanted::default()
        })))
    };
    let worded = Expectation::Answer(AnswerWanted::Error(Box::new(ErrorWanted {
        message: Some(TextRule::Literal("no".into())),
        ..ErrorWanted::default()
    })));
    let refusal = || refuses(&json!({"code": -32602, "message": "no"}));
    case(
        &[Expectation::Answer(AnswerWanted::NotError(true))],
        well_called(says("ok")),
    );
    for within_the_tool in [
        "the disk is full",
        "MCP error -32602: Elicitation response content does not match requested schema",
        "MCP error -32602: Output validation error: Invalid structured content for tool echo",
        "1 validation error for Confirmation",
        "Error executing tool echo: 2 validation errors for Weather",
    ] {
        case(&[is_error()], well_called(fails(within_the_tool)));
    }
    case(
        &[is_error(), says_why()],
        calling(fails("nope"), "echo", json!({})),
    );
    case(
        &[is_error(), says_why()],
        calling(fails("nope"), "unknown", json!({})),
    );
    case(&[coded()], calling(refusal(), "unknown", json!({})));
    case(&[worded], calling(refusal(), "echo", json!({})));
    let changing = telling(
        calling(says("ok"), "later", json!({})),
        &[("notifications/tools/list_changed", json!(null))],
    );
    case(
        &[Expectation::Answer(AnswerWanted::NotError(true))],
        changing,
    );
    let mut after_setup = calling(says("ok"), "later", json!({}));
    let enabling = StepSeen::new(StepPart::Setup, 0, "tool `enable`".to_owned());
    after_setup.steps.push(enabling);
    case(
        &[Expectation::Answer(AnswerWanted::NotError(true))],
        after_setup,
    );
    case(&[is_error()], fails("nope"));
}

#[test]
fn a_schema_that_cannot_be_used_says_nothing() {
    for schema in [
        json!({"type": "objekt"}),
        json!({"$ref": "https://example.com/x"}),
        json!({"$ref": "#"}),
        json!(null),
        json!({"properties": {"message": {"exclusiveMinimum": true, "minimum": 1}}}),
    ] {
        let mut seen = well_called(says("ok"));
        seen.catalog = Some(Arc::new(Catalog {
            tools: Some(vec![json!({"name": "echo", "inputSchema": schema})]),
            ..Catalog::default()
        }));
        assert!(reasons(&[Expectation::Answer(AnswerWanted::NotError(true))], &seen).is_empty());
    }
}

#[test]
fn what_had_nothing_to_look_at_proves_nothing() {
    let absence = |calls: Vec<TraceCall>| {
        let seen = Observation {
            trace: Some(calls),
            ..Observation::default()
        };
        let rule = TrajectoryRule::Absence(vec!["delete".to_owned()]);
        reasons(&[Expectation::Trajectory(Box::new(rule))], &seen)
    };
    assert_eq!(absence(Vec::new()).len(), 1);
    let call = TraceCall {
        tool: "read".to_owned(),
        args: json!({}),
        outcome: None,
        at_ms: None,
        unknowable: Vec::new(),
    };
    assert!(absence(vec![call]).is_empty());
}

#[test]
fn frames_that_nothing_answers_prove_nothing_of_what_must_not_be() {
    let case = |wanted: Expectation, seen: Observation, told: &[&str]| {
        let found = findings(&[&wanted], &seen);
        let found: Vec<&str> = found.iter().map(|one| one.message.as_str()).collect();
        assert_eq!(found, told, "{wanted:?}");
    };
    let absent = || Expectation::Text(TextWanted::NotContains(texts(&["x"])));
    let unanswered = || frames(Vec::new(), &[7]);
    let silent = || frames(Vec::new(), &[]);
    let asked = "1 request of `raw` got no answer, and nothing here asks for one";
    let heard = "nothing came back for the frames of `raw`, and nothing here asks for it";
    case(absent(), unanswered(), &[asked]);
    case(absent(), silent(), &[heard]);
    case(
        Expectation::Answer(AnswerWanted::NotError(true)),
        silent(),
        &[heard],
    );
    case(
        Expectation::Not(vec![(
            "contains",
            Expectation::Text(TextWanted::Contains(texts(&["x"]))),
        )]),
        silent(),
        &[heard],
    );
    case(absent(), frames(vec![FrameAnswer::Success], &[]), &[]);
    case(
        Expectation::Text(TextWanted::Equals(String::new())),
        unanswered(),
        &[],
    );
    case(
        Expectation::Text(TextWanted::NotEmpty(false)),
        silent(),
        &[],
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn a_tool_error_that_nothing_speaks_of_is_named() {
    let told = "the tool `echo` answered with an error, and nothing here asks whether it does";
    let case = |wanted: &[Expectation], seen: Observation, told: &[&str]| {
        assert_eq!(reasons(wanted, &seen), told, "{wanted:?}");
    };
    let quick = || Expectation::Limits(LimitWanted::MaxDuration(Duration::from_secs(5)));
    let absent = || Expectation::Text(TextWanted::NotContains(texts(&["secret"])));
    case(
        &[quick(), absent()],
        well_called(fails("disk full")),
        &[told],
    );
    case(&[quick(), absent()], well_called(says("done")), &[]);
    case(
        &[quick(), Expectation::Answer(AnswerWanted::IsError(true))],
        well_called(fails("disk full")),
        &[],
    );
    let untouched = Expectation::Files(FilesWanted::Unchanged(texts(&["a.txt"])));
    case(&[quick(), untouched], well_called(fails("denied")), &[]);
    let not = |inner| Expectation::Not(vec![("not", inner)]);
    let denied = || well_called(fails("denied"));
    let unheard = || not(Expectation::Text(TextWanted::Contains(texts(&["secret"]))));
    case(&[unheard()], denied(), &[told]);
    let quiet = NotificationsWanted {
        max_count: Some(0),
        ..NotificationsWanted::default()
    };
    let quiet = Expectation::Traffic(TrafficWanted::Notifications(Box::new(quiet)));
    let unasked = Expectation::Traffic(TrafficWanted::ServerRequests(Vec::new()));
    case(&[quiet, unasked], denied(), &[told]);
    let unlogged = Expectation::Traffic(TrafficWanted::Logging(Box::new(LoggingWanted {
        not_below: Some(LogLevel::Error),
        ..LoggingWanted::default()
    })));
    let silent = Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
        not_contains: texts(&["panic"]),
        ..StderrWanted::default()
    })));
    let clean = Expectation::Traffic(TrafficWanted::Findings(Vec::new()));
    case(&[unlogged, silent, clean], denied(), &[told]);
    case(
        &[Expectation::Text(TextWanted::NotEmpty(true))],
        denied(),
        &[told],
    );
    let heard = Expectation::Process(ProcessWanted::Stderr(Box::new(StderrWanted {
        contains: texts(&["denied"]),
        ..StderrWanted::default()
    })));
    case(&[quick(), heard], denied(), &[]);
    case(
        &[not(Expectation::Answer(AnswerWanted::NotError(true)))],
        denied(),
        &[],
    );
    case(
        &[not(Expectation::Answer(AnswerWanted::IsError(false)))],
        denied(),
        &[],
    );
    case(
        &[unheard(), Expectation::Answer(AnswerWanted::IsError(true))],
        denied(),
        &[],
    );
}

#[test]
fn a_tool_that_a_line_of_the_log_names_may_have_been_called() {
    let call = TraceCall {
        tool: "read".to_owned(),
        args: Value::Null,
        outcome: None,
        at_ms: None,
        unknowable: Vec::new(),
    };
    let seen = Observation {
        trace: Some(vec![call]),
        passed_over: [("delete".to_owned(), 4)].into(),
        ..Observation::default()
    };
    let doubts = |rule| reasons(&[Expectation::Trajectory(Box::new(rule))], &seen);
    let delete = || "delete".to_owned();
    let count = |max| TrajectoryRule::Count {
        tool: delete(),
        min: Some(1),
        max,
    };
    let told = doubts(TrajectoryRule::Absence(texts(&["edit", "delete"])));
    let wanted = "line 4 of the log has the text `delete` and is not read as a call";
    assert!(told[0].starts_with(wanted), "{told:?}");
    assert_eq!(doubts(count(Some(1))).len(), 1);
    assert!(doubts(count(None)).is_empty());
    assert!(doubts(TrajectoryRule::Absence(texts(&["edit"]))).is_empty());
}

#[test]
fn an_error_of_any_message_is_not_named() {
    let refusal = || refuses(&json!({"code": -32602, "message": "no"}));
    for message in [
        TextRule::Literal(String::new()),
        TextRule::Pattern(Pattern::plain(".*")),
    ] {
        let shown = format!("{message:?}");
        let wanted = Expectation::Answer(AnswerWanted::Error(Box::new(ErrorWanted {
            message: Some(message),
            ..ErrorWanted::default()
        })));
        let found = reasons(&[wanted], &calling(refusal(), "unknown", json!({})));
        assert_eq!(found.len(), 1, "{shown}: {found:?}");
    }
}
