use serde_json::{Value, json};
use serde_json_path::JsonPath;

use crate::{check, outcome::verdict::Verdict, sample};
use mcp::{
    observation::{
        Observation,
        answer::{Body, Unfetched},
        finding::FindingCode,
    },
    script::pattern::Pattern,
};
use suite::model::{
    counted::CountedPath,
    expectation::{
        AnswerWanted, Expectation, JsonType, JsonWanted, LengthRule, LimitWanted, Matcher,
        PathRule, ResultCount, TextWanted, ValueRule,
    },
};

/// Two tools of a list that goes on.
fn begun() -> Observation {
    let mut seen = sample::json(json!({"_meta": {"n": 1}, "tools": [
        {"name": "a", "tags": ["x", "y"]}, {"name": "b-c", "tags": []},
    ]}));
    if let Some(Body::Result(reply)) = seen.answer.as_mut().map(|answer| &mut answer.body) {
        reply.unfetched = Some(Unfetched {
            code: FindingCode::TooManyPages,
            member: "tools",
            reason: "`tools/list` goes on after 1000 pages".to_owned(),
        });
    }
    seen
}

fn verdict(wanted: &Expectation) -> &'static str {
    match check(wanted, &begun()) {
        Verdict::Held => "held",
        Verdict::Missed(_) => "missed",
        Verdict::Unknowable(reason) => {
            let wanted = "`tools/list` goes on after 1000 pages, and the rest was not fetched";
            assert_eq!(reason, wanted);
            "untold"
        }
    }
}

fn case(wanted: &Expectation, told: &str) {
    assert_eq!(verdict(wanted), told, "{wanted:?}");
}

fn texts(text: &str) -> Vec<String> {
    vec![text.to_owned()]
}

fn not(key: &'static str, inner: Expectation) -> Expectation {
    Expectation::Not(vec![(key, inner)])
}

fn count(bound: u64, path: Option<&str>) -> ResultCount {
    let path = path.map(|path| {
        let compile = |path: &str| JsonPath::parse(path).ok();
        CountedPath::new(path, compile(path).unwrap(), compile)
    });
    ResultCount { bound, path }
}

fn at(path: &str, rule: ValueRule) -> Expectation {
    Expectation::Json(JsonWanted::JsonPath(vec![PathRule::at(path, rule)]))
}

fn matching(path: &str, matcher: Matcher) -> Expectation {
    at(path, ValueRule::Matchers(vec![matcher]))
}

#[test]
fn what_the_rest_may_have_is_untold_and_what_was_found_stands() {
    let contains = |text: &str| Expectation::Text(TextWanted::Contains(texts(text)));
    let lacks = |text: &str| Expectation::Text(TextWanted::NotContains(texts(text)));
    case(&contains("\"a\""), "held");
    case(&contains("\"z\""), "untold");
    case(&lacks("\"a\""), "missed");
    case(&lacks("\"z\""), "untold");
    case(&not("contains", contains("\"a\"")), "missed");
    case(&not("contains", contains("\"z\"")), "untold");
    case(&not("not_contains", lacks("\"a\"")), "held");
    case(
        &Expectation::Text(TextWanted::ContainsAny(texts("\"z\""))),
        "untold",
    );
    case(
        &Expectation::Text(TextWanted::InOrder(texts("\"a\""))),
        "held",
    );
    case(&Expectation::Text(TextWanted::NotEmpty(true)), "held");
    case(&Expectation::Text(TextWanted::NotEmpty(false)), "missed");
    case(
        &Expectation::Text(TextWanted::Equals("x".to_owned())),
        "untold",
    );
    case(&Expectation::Answer(AnswerWanted::NotError(true)), "held");
    case(&Expectation::Limits(LimitWanted::MaxBytes(1_000)), "untold");
    case(&Expectation::Limits(LimitWanted::MaxBytes(1)), "missed");
    let pattern =
        |text: &str| Expectation::Text(TextWanted::MatchesRegex(vec![Pattern::plain(text)]));
    // One may speak of the end of the text.
    case(&pattern("\"[ab]\""), "untold");
    case(&pattern("\"[yz]{2}\""), "untold");
}

#[test]
fn bounds_that_are_reached_are_reached_whatever_follows() {
    let least =
        |bound, path| Expectation::Json(JsonWanted::MinResults(Box::new(count(bound, path))));
    let most =
        |bound, path| Expectation::Json(JsonWanted::MaxResults(Box::new(count(bound, path))));
    for path in [None, Some("$.tools")] {
        case(&least(2, path), "held");
        case(&least(3, path), "untold");
        case(&most(1, path), "missed");
        case(&most(2, path), "untold");
        case(&not("min_results", least(2, path)), "missed");
        case(&not("max_results", most(1, path)), "held");
    }
    case(&least(2, Some("$.tools[*]")), "untold");
    let inside = Some("$.tools[0].tags");
    case(&most(2, inside), "held");
    case(&least(3, inside), "missed");
    let behind = Some("$.tools[2].tags");
    case(&least(0, behind), "untold");
    case(&not("min_results", least(1, behind)), "untold");
}

#[test]
fn paths_are_certain_where_they_lead_to_what_is_known() {
    let equals = |path: &str, wanted: Value| at(path, ValueRule::Equals(wanted));
    case(&equals("$._meta.n", json!(1)), "held");
    case(&equals("$._meta.n", json!(2)), "missed");
    case(&equals("$.tools[0].name", json!("a")), "held");
    case(&equals("$.tools[0].name", json!("z")), "missed");
    case(&equals("$.tools[0].tags[*]", json!(["x", "y"])), "untold");
    case(&equals("$.tools[2].name", json!("z")), "untold");
    case(&equals("$.tools[-1].name", json!("b-c")), "untold");
    case(&equals("$.tools[*].name", json!(["a", "b-c"])), "untold");
    case(
        &equals("$.tools[*].name", json!(["a", "b-c", "d"])),
        "untold",
    );
    let all = |matcher| matching("$.tools[*].name", matcher);
    case(&all(Matcher::Type(JsonType::String)), "untold");
    case(&all(Matcher::Type(JsonType::Null)), "untold");
    case(&all(Matcher::Exists(true)), "held");
    case(&all(Matcher::Exists(false)), "untold");
    let named = |name: &str, there| {
        let path = format!("$.tools[?@.name == '{name}']");
        matching(&path, Matcher::Exists(there))
    };
    case(&named("b-c", true), "held");
    case(&named("b-c", false), "untold");
    case(&named("z-z", true), "untold");
    case(&named("z-z", false), "untold");
    case(&not("json_path", named("z-z", true)), "untold");
    case(&not("json_path", named("b-c", true)), "missed");
    case(
        &not("json_path", equals("$.tools[2].name", json!("z"))),
        "untold",
    );
    case(&matching("$..name", Matcher::Exists(true)), "held");
    let whole = |matcher| matching("$.tools", matcher);
    let length = |length| whole(Matcher::Length(length));
    case(&length(LengthRule::Exactly(2)), "untold");
    case(&length(LengthRule::Exactly(3)), "untold");
    case(&length(LengthRule::Exactly(1)), "untold");
    case(&whole(Matcher::Exists(true)), "held");
}

#[test]
fn one_rule_that_is_open_leaves_all_of_them_untold() {
    let rule = |path: &str, wanted: &str| PathRule::at(path, ValueRule::Equals(json!(wanted)));
    let open = || rule("$.tools[2].name", "z");
    for known in ["a", "z"] {
        let rules = vec![open(), rule("$.tools[0].name", known)];
        case(&Expectation::Json(JsonWanted::JsonPath(rules)), "untold");
    }
}
