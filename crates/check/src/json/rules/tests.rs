use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::{
    check,
    outcome::verdict::Verdict,
    sample::{fails, hold, says, told, tool},
};
use mcp::{observation::Observation, script::pattern::Pattern};
use suite::{
    model::expectation::{
        Comparison, Expectation, JsonType, JsonWanted, LengthRule, Matcher, PathRule, ValueRule,
    },
    written::Part,
};

fn rule(path: &str, rule: ValueRule) -> PathRule {
    PathRule::at(path, rule)
}

fn equals(path: &str, wanted: &str) -> Expectation {
    let wanted = serde_json::from_str(wanted).unwrap();
    Expectation::Json(JsonWanted::JsonPath(vec![rule(
        path,
        ValueRule::Equals(wanted),
    )]))
}

fn loosely(path: &str, wanted: Value) -> Expectation {
    Expectation::Json(JsonWanted::JsonPath(vec![rule(
        path,
        ValueRule::Loosely(wanted),
    )]))
}

fn matcher(path: &str, matcher: Matcher) -> Expectation {
    Expectation::Json(JsonWanted::JsonPath(vec![rule(
        path,
        ValueRule::Matchers(vec![matcher]),
    )]))
}

fn report(cases: &[(Expectation, Observation)]) -> String {
    cases.iter().fold(String::new(), |mut out, (wanted, seen)| {
        writeln!(out, "{}", told(&check(wanted, seen))).unwrap();
        out
    })
}

#[test]
fn values_that_are_equal_hold() {
    let case = |path: &str, wanted: &str, text: &str| {
        assert_eq!(
            check(&equals(path, wanted), &says(text)),
            Verdict::Held,
            "{path} {wanted} {text}"
        );
    };
    case("$.a", "1", r#"{"a": 1}"#);
    case("$.a", "1", r#"{"a": 1.0}"#);
    case("$.a", "1e6", r#"{"a": 1000000}"#);
    case(
        "$.a",
        "9223372036854775809",
        r#"{"a": 9223372036854775809}"#,
    );
    case("$.a", "null", r#"{"a": null}"#);
    case("$", "[1, {\"b\": 2}]", r#"[1.0, {"b": 2e0}]"#);
    case("$[-1]", "2", "[1, 2]");
    case("$.a", r#"{"x": 1, "y": 2}"#, r#"{"a": {"y": 2, "x": 1}}"#);
    case("$.a", "1", "Result:\n{\"a\": 1}\nbye");
    case("$.a", "1", "{\n  \"a\": 1\n}\n\nHint: try again");
}

#[test]
fn values_that_differ_do_not_hold() {
    let case = |path: &str, wanted: &str, text: &str| {
        assert!(
            matches!(
                check(&equals(path, wanted), &says(text)),
                Verdict::Missed(_)
            ),
            "{path} {wanted} {text}"
        );
    };
    case("$.a", "\"1\"", r#"{"a": 1}"#);
    case("$.a", "true", r#"{"a": "true"}"#);
    case("$.a", "null", r"{}");
    case("$.a", "null", r#"{"a": "<nil>"}"#);
    case("$.a", "9007199254740993", r#"{"a": 9007199254740992}"#);
    case(
        "$.a",
        "1234567890123456789012345678901234567890",
        r#"{"a": 1234567890123456789012345678901234567891}"#,
    );
    case("$.a", r#"{"x": 1}"#, r#"{"a": {"x": 1, "y": 2}}"#);
    case("$.a", "[1]", r#"{"a": [1, 2]}"#);
}

#[test]
fn several_places_are_a_list_or_all_alike() {
    let text = r#"{"items": [{"id": 1, "ok": true}, {"id": 2, "ok": true}]}"#;
    let case = |wanted: Expectation, holds: bool| {
        assert_eq!(
            check(&wanted, &says(text)) == Verdict::Held,
            holds,
            "{wanted:?}"
        );
    };
    case(equals("$.items[*].id", "[1, 2]"), true);
    case(equals("$.items[*].id", "[2, 1]"), false);
    case(equals("$.items[*].id", "[1]"), false);
    case(equals("$.items[*].ok", "true"), true);
    case(equals("$.items[*].id", "1"), false);
    case(equals("$.items[?@.id == 2].id", "2"), true);
    case(equals("$.items[?@.id == 2].id", "[2]"), true);
    case(equals("$.items[?@.id == 3].id", "[]"), true);
    case(equals("$.items[?@.id == 3].id", "3"), false);
    let positive = Matcher::Compare(Comparison::Greater, 1.into());
    case(matcher("$.items[*].id", positive), false);
    let positive = Matcher::Compare(Comparison::AtLeast, 1.into());
    case(matcher("$.items[*].id", positive), true);
}

#[test]
fn of_very_many_places_the_first_are_told_and_the_others_counted() {
    let case = |places: usize, wanted: Option<&str>| {
        let items: Vec<usize> = (0..places).collect();
        let seen = says(&json!({ "items": items }).to_string());
        let Verdict::Missed(told) = check(
            &matcher("$.items[*]", Matcher::Type(JsonType::String)),
            &seen,
        ) else {
            panic!("no item is a text");
        };
        assert_eq!(told.len(), 10);
        let hints: Vec<&str> = told.iter().filter_map(|one| one.hint.as_deref()).collect();
        assert_eq!(hints, wanted.into_iter().collect::<Vec<_>>());
    };
    case(10, None);
    case(11, Some("it does not hold at 1 more place"));
    case(35, Some("it does not hold at 25 more places"));
    case(5_000, Some("it does not hold at 1000 more places at least"));
}

#[test]
fn nothing_is_chosen_only_from_what_is_there() {
    let text = r#"{"items": [], "none": null, "members": {}, "total": 3, "deep": {"items": []}}"#;
    let case = |path: &str, holds: bool| {
        let verdict = check(&equals(path, "[]"), &says(text));
        assert_eq!(verdict == Verdict::Held, holds, "{path}");
    };
    for path in [
        "$.items[*].id",
        "$.items[?@.bad]",
        "$.none[*]",
        "$.members.*",
        "$.deep.items[0:1]",
        "$..error",
        "$[?@.error]",
        "$.deep..error",
        "$.deep.*.error",
    ] {
        case(path, true);
    }
    for path in [
        "$.itmes[*].id",
        "$.itmes[?@.id == 1]",
        "$.itmes[0:1]",
        "$.deep.itmes[*]",
        "$.itmes..id",
        "$.total[*]",
        "$.items[0][*]",
    ] {
        case(path, false);
    }
    insta::assert_snapshot!(report(&[
        (equals("$.itmes[*].id", "[]"), says(text)),
        (equals("$.total[*]", "[]"), says(text)),
    ]), @"
    json_path: $.itmes[*].id: expected `[]`, nothing is at `$.itmes`
      hint: there is `$.items`
    json_path: $.total[*]: expected `[]`, `$.total` is an integer
    ");
}

#[test]
fn a_list_among_matchers_is_the_list_of_what_was_matched() {
    let list = |wanted: Value| Matcher::Equals(wanted);
    let not = |inner: ValueRule| Matcher::Not(Box::new(inner));
    let plain = ValueRule::Equals;
    let of = |inner: Vec<Matcher>| ValueRule::Matchers(inner);
    let integer = || Matcher::Type(JsonType::Integer);
    let case = |text: &str, matchers: Vec<Matcher>, holds: bool| {
        let wanted = Expectation::Json(JsonWanted::JsonPath(vec![rule("$.ids[*]", of(matchers))]));
        let verdict = check(&wanted, &says(text));
        assert_eq!(verdict == Verdict::Held, holds, "{text} {wanted:?}");
        let opposite = check(
            &Expectation::Not(vec![("json_path", wanted.clone())]),
            &says(text),
        );
        assert!(!holds || opposite != Verdict::Held, "not {text} {wanted:?}");
    };
    let two = r#"{"ids": [1, 2]}"#;
    for (wanted, is) in [(json!([1, 2]), true), (json!([1, 3]), false)] {
        case(two, vec![list(wanted.clone())], is);
        case(two, vec![list(wanted.clone()), integer()], is);
        case(two, vec![not(plain(wanted.clone()))], !is);
        case(two, vec![not(of(vec![list(wanted.clone())]))], !is);
        case(
            two,
            vec![not(of(vec![list(wanted.clone()), integer()]))],
            !is,
        );
        case(two, vec![not(of(vec![not(plain(wanted))]))], is);
    }
    let no_integers = vec![list(json!([1, 2])), Matcher::Type(JsonType::String)];
    case(two, no_integers.clone(), false);
    case(two, vec![not(of(no_integers))], true);
    case(two, vec![not(plain(json!(1)))], false);
    let none = r#"{"ids": []}"#;
    case(none, vec![list(json!([]))], true);
    case(none, vec![list(json!([])), Matcher::Exists(false)], true);
    case(none, vec![list(json!([])), integer()], false);
    case(none, vec![not(plain(json!([])))], false);
    case(none, vec![not(plain(json!([1])))], false);
    case(none, vec![list(json!([1]))], false);
    let lists = r#"{"ids": [[1, 2]]}"#;
    for wanted in [json!([1, 2]), json!([[1, 2]])] {
        case(lists, vec![list(wanted.clone())], true);
        case(lists, vec![not(plain(wanted))], false);
    }
    let same = r#"{"ids": [[1, 2], [1, 2]]}"#;
    case(same, vec![list(json!([1, 2]))], true);
    case(same, vec![not(plain(json!([1, 2])))], false);
}

#[test]
fn a_list_that_is_another_is_shown_whole() {
    let case = |wanted: &str, text: &str| (equals("$.ids[*]", wanted), says(text));
    let not = |wanted: Value| Matcher::Not(Box::new(ValueRule::Equals(wanted)));
    insta::assert_snapshot!(report(&[
        case("[1, 2]", r#"{"ids": [1]}"#),
        case("[1, 2]", r#"{"ids": [1, 3]}"#),
        case("[1, 2]", r#"{"ids": [[1, 3]]}"#),
        (matcher("$.ids[*]", Matcher::Equals(json!([1, 2]))), says(r#"{"ids": [1, 3]}"#)),
        (matcher("$.ids[*]", not(json!([1, 2]))), says(r#"{"ids": [1, 2]}"#)),
        (matcher("$.ids[*]", not(json!([1]))), says(r#"{"ids": [2, [1]]}"#)),
    ]), @r"
    json_path: $.ids[*]: expected `[1,2]`, found an array of 1 item, `[1]`
      hint: they differ at `[1]`: expected `2`, nothing is there
    json_path: $.ids[*]: expected `[1,2]`, found an array of 2 items, `[1,3]`
      hint: they differ at `[1]`: expected `2`, found the number `3`
    json_path: $.ids[0]: expected `[1,2]`, found an array of 2 items, `[1,3]`
      hint: they differ at `[1]`: expected `2`, found the number `3`
    json_path: $.ids[*]: expected `[1,2]`, found an array of 2 items, `[1,3]`
      hint: they differ at `[1]`: expected `2`, found the number `3`
    json_path: $.ids[*]: expected not `[1,2]`, found an array of 2 items, `[1,2]`
    json_path: $.ids[1]: expected not `[1]`, found an array of 1 item, `[1]`
    ");
}

#[test]
fn loose_rules_compare_what_go_prints() {
    let case = |wanted: Value, text: &str, holds: bool| {
        assert_eq!(
            check(&loosely("$.a", wanted), &says(text)) == Verdict::Held,
            holds,
            "{text}"
        );
    };
    case(json!("1"), r#"{"a": 1}"#, true);
    case(json!(true), r#"{"a": "true"}"#, true);
    case(json!(null), r#"{"a": "<nil>"}"#, true);
    case(json!("1e+06"), r#"{"a": 1000000}"#, true);
    case(json!(1_000_000), r#"{"a": 1000000}"#, true);
    case(json!(2), r#"{"a": 1}"#, false);
    case(json!(null), "{}", false);
}

/// Whether a matcher holds at a path of one sample text.
fn at(path: &str, wanted: Matcher, holds: bool) {
    let text =
        r#"{"s": "héllo", "n": 5, "f": 1.5, "l": [1, {"a": 2, "b": 3}], "o": {"x": 1}, "z": null}"#;
    let said = format!("{path} {wanted:?}");
    let verdict = check(&matcher(path, wanted), &says(text));
    assert_eq!(verdict == Verdict::Held, holds, "{said}");
}

fn number(text: &str) -> serde_json::Number {
    serde_json::from_str(text).unwrap()
}

#[test]
fn matchers_of_kind_and_size_hold_or_not() {
    at("$.s", Matcher::Exists(true), true);
    at("$.z", Matcher::Exists(true), true);
    at("$.q", Matcher::Exists(true), false);
    at("$.q", Matcher::Exists(false), true);
    at("$.z", Matcher::Exists(false), false);
    at("$.z", Matcher::Type(JsonType::Null), true);
    at("$.n", Matcher::Type(JsonType::Integer), true);
    at("$.n", Matcher::Type(JsonType::Number), true);
    at("$.f", Matcher::Type(JsonType::Integer), false);
    at("$.o", Matcher::Type(JsonType::Object), true);
    at("$.l", Matcher::Type(JsonType::Object), false);
    at(
        "$.n",
        Matcher::Compare(Comparison::Greater, number("4.99999999999999999999")),
        true,
    );
    at(
        "$.n",
        Matcher::Compare(Comparison::AtMost, number("5.0")),
        true,
    );
    at(
        "$.n",
        Matcher::Compare(Comparison::Less, number("5")),
        false,
    );
    at(
        "$.s",
        Matcher::Compare(Comparison::Less, number("5")),
        false,
    );
}

#[test]
fn matchers_of_content_hold_or_not() {
    at("$.s", Matcher::Matches(Pattern::plain("^h.llo$")), true);
    at("$.n", Matcher::Matches(Pattern::plain("5")), false);
    at("$.s", Matcher::Contains(json!("llo")), true);
    at("$.l", Matcher::Contains(json!(1)), true);
    at("$.l", Matcher::Contains(json!({"a": 2})), true);
    at("$.l", Matcher::Contains(json!(2)), false);
    at("$.o", Matcher::Contains(json!({"x": 1.0})), true);
    at("$.s", Matcher::Length(LengthRule::Exactly(5)), true);
    at(
        "$.l",
        Matcher::Length(LengthRule::Within(vec![(Comparison::Greater, number("2"))])),
        false,
    );
    at("$.n", Matcher::Length(LengthRule::Exactly(1)), false);
    at("$.n", Matcher::OneOf(vec![json!("5"), json!(5.0)]), true);
    at("$.n", Matcher::OneOf(Vec::new()), false);
    at("$.o", Matcher::Equals(json!({"x": 1})), true);
    at(
        "$.n",
        Matcher::Not(Box::new(ValueRule::Equals(json!(6)))),
        true,
    );
    at(
        "$.n",
        Matcher::Not(Box::new(ValueRule::Equals(json!(5)))),
        false,
    );
    at(
        "$.q",
        Matcher::Not(Box::new(ValueRule::Equals(json!(5)))),
        false,
    );
}

#[test]
fn the_opposite_of_being_there_is_not_being_there() {
    let not = |inner: Vec<Matcher>| Matcher::Not(Box::new(ValueRule::Matchers(inner)));
    let case = |path: &str, wanted: Matcher| (matcher(path, wanted), says(r#"{"n": 5}"#));
    let number = || Matcher::Type(JsonType::Number);
    hold(&[
        case("$.x", not(vec![Matcher::Exists(true)])),
        case("$.n", not(vec![Matcher::Exists(false)])),
        case("$.x", not(vec![Matcher::Exists(true), number()])),
        case("$.x", not(vec![not(vec![Matcher::Exists(false)])])),
    ]);
    insta::assert_snapshot!(report(&[
        case("$.n", not(vec![Matcher::Exists(true)])),
        case("$.x", not(vec![Matcher::Exists(false)])),
        case("$.n", not(vec![Matcher::Exists(true), number()])),
    ]), @r"
    json_path: $.n: expected nothing to be there, found the number `5`
    json_path: $.x: expected something to be there, nothing is there
    json_path: $.n: expected not something to be there and a number, found the number `5`
    ");
}

#[test]
fn a_missing_field_is_explained() {
    let text =
        r#"{"userName": "x", "data": {"id": 7}, "items": [{"a": 1}], "inner": "{\"k\": 1}"}"#;
    let case = |path: &str, wanted: &str| (equals(path, wanted), says(text));
    insta::assert_snapshot!(report(&[
        case("$.username", "\"x\""),
        case("$.user_name", "\"x\""),
        case("$.id", "7"),
        case("$.data.ids", "7"),
        case("$.items[3].a", "1"),
        case("$.items.a", "1"),
        case("$.inner.k", "1"),
        case("$.data.id.x", "1"),
        case("$.other", "null"),
        case("$.items[?@.a == 2]", "1"),
    ]), @r#"
    json_path: $.username: expected `"x"`, nothing is there
      hint: there is `$.userName`
    json_path: $.user_name: expected `"x"`, nothing is there
      hint: there is `$.userName`
    json_path: $.id: expected `7`, nothing is there
      hint: `$` has `userName`, `data`, `items` and `inner`
    json_path: $.data.ids: expected `7`, nothing is there
      hint: `$.data` has `id`
    json_path: $.items[3].a: expected `1`, nothing is there
      hint: `$.items` has 1 item
    json_path: $.items.a: expected `1`, nothing is there
      hint: `$.items` is an array of 1 item
    json_path: $.inner.k: expected `1`, nothing is there
      hint: `$.inner` is a string
    json_path: $.data.id.x: expected `1`, nothing is there
      hint: `$.data.id` is an integer
    json_path: $.other: expected `null`, nothing is there
      hint: `$` has `userName`, `data`, `items` and `inner`
    json_path: $.items[?@.a == 2]: expected `1`, nothing is there
    "#);
}

#[test]
fn what_is_nested_too_deeply_to_be_read_is_called_that() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let told = report(&[(equals("$.r", "3"), says(&deep))]);
    assert!(told.contains("nested deeper than 127 levels"), "{told}");
}

#[test]
fn a_wrong_value_is_explained() {
    let case = |wanted: &str, text: &str| (equals("$.a", wanted), says(text));
    insta::assert_snapshot!(report(&[
        case("5", r#"{"a": "5"}"#),
        case("\"5\"", r#"{"a": 5}"#),
        case("true", r#"{"a": "true"}"#),
        case("\"Ok\"", r#"{"a": "ok"}"#),
        case("\"a b\"", r#"{"a": "a  b"}"#),
        case("7", r#"{"a": [7]}"#),
        case("{\"k\": 1}", r#"{"a": "{\"k\":1}"}"#),
        case(r#"{"x": {"y": [1, 2]}}"#, r#"{"a": {"x": {"y": [1, 3]}}}"#),
        case(r#"{"x": 1}"#, r#"{"a": {"X": 1}}"#),
        case(r#"{"x": 1}"#, r#"{"a": {"x": 1, "y": 2}}"#),
        case("9007199254740993", r#"{"a": 9007199254740992}"#),
    ]), @r#"
    json_path: $.a: expected `5`, found the string `"5"`
      hint: the values are alike, the types are not: a number is expected, the answer has a string
    json_path: $.a: expected `"5"`, found the number `5`
      hint: the values are alike, the types are not: a string is expected, the answer has a number
    json_path: $.a: expected `true`, found the string `"true"`
      hint: the values are alike, the types are not: a boolean is expected, the answer has a string
    json_path: $.a: expected `"Ok"`, found the string `"ok"`
    json_path: $.a: expected `"a b"`, found the string `"a  b"`
    json_path: $.a: expected `7`, found an array of 1 item, `[7]`
    json_path: $.a: expected `{"k":1}`, found the string `"{\"k\":1}"`
      hint: the values are alike, the types are not: an object is expected, the answer has a string
    json_path: $.a: expected `{"x":{"y":[1,2]}}`, found the object `{"x":{"y":[1,3]}}`
      hint: they differ at `x.y[1]`: expected `2`, found the number `3`
    json_path: $.a: expected `{"x":1}`, found the object `{"X":1}`
      hint: they differ at `x`: expected `1`, nothing is there
    json_path: $.a: expected `{"x":1}`, found the object `{"x":1,"y":2}`
      hint: they differ at `y`: nothing expected there, found the number `2`
    json_path: $.a: expected `9007199254740993`, found the number `9007199254740992`
    "#);
}

#[test]
fn a_matcher_that_does_not_match_is_explained() {
    let text = r#"{"n": "5", "l": [1, 2], "s": "Hello", "q": 3}"#;
    let case = |path: &str, wanted: Matcher| (matcher(path, wanted), says(text));
    insta::assert_snapshot!(report(&vec![
        case("$.x", Matcher::Exists(true)),
        case("$.q", Matcher::Exists(false)),
        case("$.n", Matcher::Type(JsonType::Integer)),
        case("$.n", Matcher::Compare(Comparison::Greater, 4.into())),
        case("$.l", Matcher::Compare(Comparison::AtMost, 4.into())),
        case("$.q", Matcher::Matches(Pattern::plain("3"))),
        case("$.s", Matcher::Contains(json!("hello"))),
        case("$.l", Matcher::Contains(json!("1"))),
        case("$.l", Matcher::Length(LengthRule::Within(vec![(Comparison::AtLeast, 3.into())]))),
        case("$.q", Matcher::Length(LengthRule::Exactly(3))),
        case("$.n", Matcher::OneOf(vec![json!(4), json!(5)])),
        case("$.q", Matcher::Not(Box::new(ValueRule::Equals(json!(3))))),
        case("$.l[*]", Matcher::Compare(Comparison::Greater, 1.into())),
        (equals("$.l[*]", "[2, 1]"), says(text)),
    ]), @r#"
    json_path: $.x: expected something to be there, nothing is there
    json_path: $.q: expected nothing to be there, found the number `3`
    json_path: $.n: expected an integer, found the string `"5"`
    json_path: $.n: expected a number greater than `4`, found the string `"5"`
    json_path: $.l: expected a number at most `4`, found an array of 2 items, `[1,2]`
    json_path: $.q: expected a string that matches `3`, found the number `3`
    json_path: $.s: expected something that contains `hello`, found the string `"Hello"`
    json_path: $.l: expected something that contains `1`, found an array of 2 items, `[1,2]`
    json_path: $.l: expected a length at least `3`, an array has a length of 2
    json_path: $.q: expected a length of 3, an integer has no length
    json_path: $.n: expected one of `4` and `5`, found the string `"5"`
      hint: the values are alike, the types are not: a number is expected, the answer has a string
    json_path: $.q: expected not `3`, found the number `3`
    json_path: $.l[0]: expected a number greater than `1`, found the number `1`
    json_path: $.l[*]: expected `[2,1]`, found an array of 2 items, `[1,2]`
      hint: they differ at `[0]`: expected `2`, found the number `1`
    "#);
}

#[test]
fn every_matcher_that_does_not_match_is_told() {
    let matchers = vec![
        Matcher::Length(LengthRule::Exactly(6)),
        Matcher::Type(JsonType::String),
        Matcher::Matches(Pattern::plain("^H")),
        Matcher::Type(JsonType::Array),
    ];
    let rules = vec![
        rule("$.n", ValueRule::Equals(json!(1))),
        rule("$.s", ValueRule::Matchers(matchers)),
    ];
    let wanted = Expectation::Json(JsonWanted::JsonPath(rules));
    let Verdict::Missed(found) = check(&wanted, &says(r#"{"n": 1, "s": "hello"}"#)) else {
        panic!("it does not hold");
    };
    let parts: Vec<&[Part]> = found.iter().map(|it| it.part.as_slice()).collect();
    let of = |word| [Part::Entry(1), Part::Member(word)];
    assert_eq!(parts, [of("length"), of("matches"), of("type")]);
    assert!(found.iter().all(|it| it.path.as_deref() == Some("$.s")));
}

#[test]
fn a_text_that_is_no_json_is_explained() {
    let structured = tool(json!({
        "content": [{"type": "text", "text": "done"}],
        "structuredContent": {"a": 1}
    }));
    let in_structured = |path: &str| {
        Expectation::Json(JsonWanted::Structured(vec![rule(
            path,
            ValueRule::Equals(json!(1)),
        )]))
    };
    assert_eq!(check(&in_structured("$.a"), &structured), Verdict::Held);
    insta::assert_snapshot!(report(&[
        (equals("$.a", "1"), says("hello")),
        (equals("$.a", "1"), says("")),
        (equals("$.a", "1"), says("{\"a\": [1, 2")),
        (equals("$.a", "1"), fails("no such file")),
        (equals("$.a", "1"), structured.clone()),
        (in_structured("$.a"), says("{\"a\": 1}")),
        (in_structured("$.b"), structured),
    ]), @"
    json_path: expected the text to be JSON with `$.a`: `1`, the text is not JSON (expected value at line 1 column 1)
    json_path: expected the text to be JSON with `$.a`: `1`, the text is empty
    json_path: expected the text to be JSON with `$.a`: `1`, the text is not JSON, as if it were cut off (EOF while parsing a list at line 1 column 11)
    json_path: expected the text to be JSON with `$.a`: `1`, the text is not JSON (expected ident at line 1 column 2)
      hint: the tool answered with an error: `no such file`
    json_path: expected the text to be JSON with `$.a`: `1`, the text is not JSON (expected value at line 1 column 1)
      hint: the answer has structured content: `structured` looks there
    structured: expected structured content with `$.a`: `1`, the answer has no structured content
    structured: $.b: expected `1`, nothing is there
      hint: `$` has `a`
    ");
}

#[test]
fn depth_is_no_danger() {
    let nested = |depth: usize| (0..depth).fold(json!(1), |value, _| json!([value]));
    let seen = tool(json!({"content": [], "structuredContent": nested(900)}));
    let wanted = Expectation::Json(JsonWanted::Structured(vec![rule(
        "$",
        ValueRule::Equals(nested(901)),
    )]));
    assert!(check(&wanted, &seen) != Verdict::Held);
}

#[test]
fn structured_content_of_null_is_none() {
    let absent = rule("$.a", ValueRule::Matchers(vec![Matcher::Exists(false)]));
    let wanted = Expectation::Json(JsonWanted::Structured(vec![absent]));
    for answer in [
        json!({"content": []}),
        json!({"content": [], "structuredContent": null}),
    ] {
        let verdict = check(&wanted, &tool(answer));
        assert!(matches!(verdict, Verdict::Missed(_)), "{verdict:?}");
    }
}

#[test]
fn a_path_to_nothing_holds_only_for_rules_about_existence() {
    let case = |matchers: Vec<Matcher>, is_held: bool| {
        let shown = format!("{matchers:?}");
        let wanted = Expectation::Json(JsonWanted::JsonPath(vec![rule(
            "$.id",
            ValueRule::Matchers(matchers),
        )]));
        let verdict = check(&wanted, &says("{}"));
        assert_eq!(verdict == Verdict::Held, is_held, "{shown}");
    };
    let not_zero = || {
        let inner = vec![Matcher::Exists(true), Matcher::Equals(json!(0))];
        Matcher::Not(Box::new(ValueRule::Matchers(inner)))
    };
    let not_there = || {
        let inner = ValueRule::Matchers(vec![Matcher::Exists(true)]);
        Matcher::Not(Box::new(inner))
    };
    let integer = || Matcher::Type(JsonType::Integer);
    case(vec![not_zero(), Matcher::Exists(true)], false);
    case(vec![Matcher::Exists(true), not_zero()], false);
    case(vec![integer(), not_zero()], false);
    case(vec![not_zero(), integer()], false);
    case(vec![Matcher::Exists(false), integer()], false);
    case(vec![not_zero()], true);
    case(vec![not_there()], true);
    case(vec![Matcher::Exists(false), not_there()], true);
}
