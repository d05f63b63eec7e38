use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{Base, NotCompiled, compile, compile_beside, is_undecided};

/// Compiled as what a server declares; what an author writes is compiled alike.
fn compiled(schema: &Value) -> Validator {
    let nothing = |_: &Path| Err("there are no files".to_owned());
    if let Err(unusable) = compile_beside(schema, Base::Suite, &nothing) {
        panic!("{schema}: {}", unusable.reason);
    }
    compile(schema).unwrap().validator().clone()
}

/// What the engine takes for something else or for nothing, with a text that it matches, and one that it does not.
const DIFFERENT: &[(&str, &str, Option<&str>)] = &[
    ("^[^]*$", "a\nb", None),
    ("^a[]?$", "a", Some("a]")),
    (r"^(?<q>['\x22]).*\k<q>$", "'b'", Some("'b\"")),
    (r"^(?:(?<q>a)|(?<q>b))\k<q>1$", "bb1", Some("ab1")),
    (r"^(a)(?<q>b)\k<q>0$", "abb0", Some("aba0")),
    (r"^(a|b)\0$", "a\0", Some("aa")),
    (r"^\u0041\x42\cJ\v$", "AB\n\u{b}", Some("ABJ\u{b}")),
    (r"^[^\ud83d\ude00]*$", "b", Some("\u{1f600}")),
    (r"^\ud83d\ude00$", "\u{1f600}", Some("\u{1f601}")),
    (
        r"^[\ud83d\ude00-\ud83d\ude05]$",
        "\u{1f601}",
        Some("\u{1f606}"),
    ),
    (r"^[^\ud800-\udfff]+$", "a\u{1f601}", None),
    (r"\bbar", "foo bar", Some("foobar")),
    (r"\bbar", "\u{e9}bar", None),
    (r"^\B\u00e9\B$", "\u{e9}", Some("e")),
    (r"^[\b]$", "\u{8}", Some("b")),
    ("^a.b$", "a\u{85}b", Some("a\rb")),
    ("^a.b$", "a\u{1f600}b", Some("a\u{2028}b")),
    ("^(?s:.)(?-s:.)$", "\ra", Some("a\r")),
    ("^(?s:a(?-s:.)).$", "aab", Some("a\rb")),
    (r"^\<\/\>$", "</>", Some("a/a")),
    ("^{a}]$", "{a}]", Some("a}]")),
    ("^a{2,3}$", "aa", Some("a")),
    ("^[a&&b~~+--[x]$", ",", Some("]")),
    (r"^[\]\-^]+$", "]-^", Some("a")),
    (r"^\p{L}[\P{L}]$", "\u{e9}1", Some("\u{e9}a")),
    (r"^(?=.*\d).+$", "a1", Some("a")),
    (r"^(?!x)\S+\s\S$", "a b", Some("x b")),
    (r"^(a).\1$", "aba", Some("abb")),
    (r"\bb.*$", "a bc", Some("abc")),
    // What a group that took no part matched is empty, which the engine holds against the reference.
    (r#"^(["'])?abc\1$"#, "abc", Some("'abc")),
    (r#"^(["'])?abc\1$"#, "'abc'", Some("abc'")),
    (r"^(z)?\1x$", "x", Some("zx")),
    (r"^(?:(a)|b)\1c$", "bc", Some("ac")),
    (r"^(?:(a)c|a)\1$", "a", Some("ac")),
    (r"^(?!(a))b\1$", "b", Some("ba")),
    (r"^(a*)\1b$", "b", Some("ab")),
    (r"^\1(a)$", "a", Some("aa")),
    (r"^(?:\1(a)){2}$", "aa", Some("aaa")),
    (r"^(a\1)$", "a", Some("aa")),
    (r"^(?:(a\1)b)+$", "abab", Some("aba")),
    (r"^((a)\2)?\1$", "aaaa", Some("aaa")),
    (r"^((a)\2)?\1$", "", Some("aa")),
    (r"^(?:(?<q>'))?a\k<q>$", "a", Some("'a")),
    (r"^(?:(?<q>'))?a\k<q>$", "'a'", Some("a'")),
    (r"^\k<q>(?<q>a)$", "a", Some("aa")),
    (r"^(?:(?<q>a)|(?<q>b)|c)\k<q>$", "c", Some("a")),
    (r"^(?:(?:(?<q>a)|(?<q>b))\k<q>)+$", "aabb", Some("ab")),
    (r"^(?:(a)?b\1){2}$", "bb", Some("ba")),
    (r"^(?:x(a)?\1)*(?:\1){3}$", "xaaaaa", Some("xa")),
    (r"^(?=(a)?)\1b$", "b", Some("bb")),
    (r"^(a)(b)?(c)?\1\2\3\3$", "aa", Some("a")),
    (r"^(?=.)\$\{\w+\}\#$", "${a}#", Some("$a#")),
];

#[test]
fn patterns_mean_what_ecma_262_says() {
    let case = |pattern: &str, text: &str, expected: bool| {
        let validator = compiled(&json!({"pattern": pattern}));
        assert_eq!(
            validator.is_valid(&json!(text)),
            expected,
            "{pattern}: {text}"
        );
    };
    case("^(?=a)ab$", "ab", true);
    case("^(?=a)ab$", "bb", false);
    case("^(?!x)", "y", true);
    case("^(?!x)", "x", false);
    case(r"^(a|b)\1$", "aa", true);
    case(r"^(a|b)\1$", "ab", false);
    case(r"^\w$", "é", false);
    case(r"^(?=.)\w+$", "é", false);
    case(r"^(?=.)\W+$", "é", true);
    case(r"^(?=.)[\w-z.]+$", "a-.", true);
    case(r"^(?!-)[\w-]+$", "é", false);
    case(r"^(?=.)\d+$", "\u{663}", false);
    case(r"^(?=.)\s$", "\u{feff}", true);
    case(r"^(?=.)\\w$", r"\w", true);
    case(r"^(?=.)[^\W\d]+$", "a_", true);
    case(r"^(?=.)[^\W\d]+$", "a1", false);
    case(r"^(?=.)[+-\S]+$", "é-", true);
    case(r"^(?=.)[\S]$", "\u{2028}", false);
    case("a[]", "a]", false);
    case(r"\ud800", "\u{d7ff}\u{e000}", false);
    for (pattern, holds, fails) in DIFFERENT {
        case(pattern, holds, true);
        if let Some(text) = fails {
            case(pattern, text, false);
        }
    }
    let data =
        json!({"const": {"pattern": r"(?=a)\w"}, "properties": {"pattern": {"type": "string"}}});
    assert!(compiled(&data).is_valid(&json!({"pattern": r"(?=a)\w"})));
    let keys = json!({"patternProperties": {r"^(?!x)\w+$": {"type": "integer"}}});
    let validator = compiled(&keys);
    assert!(validator.is_valid(&json!({"a": 1, "x": "", "é": ""})));
    assert!(!validator.is_valid(&json!({"a": ""})));
}

#[test]
fn every_draft_takes_the_patterns_of_ecma_262() {
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        for pattern in [r"^[^].(?<q>\w)\k<q>\b(\2\1)?$", r"[]", r"\<\ud83d\ude00"] {
            compiled(&json!({"$schema": draft, "pattern": pattern}));
        }
    }
}

#[test]
fn messages_show_patterns_as_they_were_written() {
    let schema = compile(&json!({
        "properties": {"a": {"pattern": r"^\w.$"}},
        "propertyNames": {"pattern": "^.$"},
    }))
    .unwrap();
    let case = |document: Value, expected: &str| {
        let error = schema.validator().validate(&document).unwrap_err();
        assert_eq!(schema.told(&error), expected);
    };
    case(json!({"a": "é"}), r#""é" does not match "^\w.$""#);
    case(json!({"ab": 1}), r#""ab" does not match "^.$""#);
    for (pattern, expected) in [
        (r"\w(.", r#""\\w(." is not a "regex""#),
        (r"(a)\2", r#""(a)\\2" is not a "regex""#),
    ] {
        let NotCompiled::Invalid(error) = compile(&json!({"pattern": pattern})).unwrap_err() else {
            panic!("it is invalid");
        };
        assert_eq!(error.message, expected);
    }
}

#[test]
fn two_ways_to_write_one_pattern_keep_their_schemas() {
    let validator = compiled(&json!({"patternProperties": {
        r"^\d$": {"type": "integer"}, "^[0-9]$": {"minimum": 5},
    }}));
    for document in [json!({"1": "a"}), json!({"1": 1})] {
        assert!(!validator.is_valid(&document), "{document}");
    }
    assert!(validator.is_valid(&json!({"1": 7})));
}

#[test]
fn a_pattern_that_tries_for_ever_decides_nothing() {
    let endless = format!("{}!", "a".repeat(60));
    for schema in [
        json!({"pattern": r"^(a|a)*\1b"}),
        json!({"not": {"pattern": r"^(a|a)*\1b"}}),
        json!({"anyOf": [{"pattern": r"^(a|a)*\1b"}, {"type": "integer"}]}),
    ] {
        let validator = compiled(&schema);
        let document = json!(endless);
        let errors: Vec<_> = validator.iter_errors(&document).collect();
        assert!(
            errors.len() == 1 && is_undecided(&errors[0]),
            "{schema}: {errors:?}"
        );
    }
}

#[test]
fn references_name_files_beside() {
    let read = |path: &Path| match path.to_string_lossy().replace('\\', "/").as_str() {
        "schemas/id.json" => Ok(r#"{"$ref": "deep/number.json#/$defs/n"}"#.to_owned()),
        "schemas/deep/number.json" => {
            Ok(r#"{"$defs": {"n": {"$ref": "../../../top.json"}}}"#.to_owned())
        }
        "../top.json" | "/abs/a b.json" => Ok(r#"{"type": "integer"}"#.to_owned()),
        other => Err(format!("no {other}")),
    };
    let case = |base: Base<'_>, schema: Value, expected: Result<(), &str>| {
        let built = compile_beside(&schema, base, &read);
        match (built, expected) {
            (Ok(built), Ok(())) => {
                let validator = built.validator();
                assert!(
                    validator.is_valid(&json!(1)) && !validator.is_valid(&json!("a")),
                    "{schema}"
                );
            }
            (Err(reason), Err(expected)) => {
                let reason = reason.reason;
                assert!(reason.contains(expected), "{reason}");
            }
            (built, _) => panic!("{schema}: {:?}", built.map(|_| ())),
        }
    };
    let reference = |to: &str| json!({"$ref": to});
    let main = Base::File(Path::new("schemas/main.json"));
    case(main, reference("id.json"), Ok(()));
    case(main, reference("./../schemas/id.json#"), Ok(()));
    case(Base::Suite, reference("schemas/id.json"), Ok(()));
    case(
        Base::File(Path::new("/abs/x.json")),
        reference("a%20b.json"),
        Ok(()),
    );
    case(
        Base::File(Path::new("../x.json")),
        reference("top.json"),
        Ok(()),
    );
    case(main, reference("gone.json"), Err("no schemas/gone.json"));
    case(
        main,
        reference("https://example.com/a.json"),
        Err("`https://example.com/a.json` is not fetched"),
    );
    let identified = json!({"$id": "https://example.com/main.json", "$ref": "id.json"});
    case(
        main,
        identified,
        Err("`https://example.com/id.json` is not fetched"),
    );
}

#[test]
fn letters_of_other_languages_are_refused_behind_a_backslash() {
    let known = "bBcdDfknpPrsStuvwWx";
    let letters = ('A'..='Z').chain('a'..='z');
    let unknown = letters.filter(|it| !known.contains(*it)).map(String::from);
    let halves = [
        "x{41}",
        "xg0",
        "u{110000}",
        "u12",
        "U00000041",
        "pL",
        "p",
        "c",
        "c1",
        "k",
    ];
    for escape in unknown.chain(halves.map(str::to_owned)) {
        for pattern in [format!(r"^\{escape}"), format!(r"^(?=.)\{escape}")] {
            match compile(&json!({"pattern": pattern})) {
                Err(NotCompiled::Invalid(error)) => {
                    assert_eq!(
                        error.message,
                        format!("{} is not a \"regex\"", json!(pattern))
                    );
                }
                other => panic!("{pattern} is taken: {}", other.is_ok()),
            }
        }
    }
    let literal = compiled(&json!({"pattern": r"^\\A\\z$"}));
    assert!(literal.is_valid(&json!(r"\A\z")));
}
