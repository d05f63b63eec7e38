use std::path::Path;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{Base, compile, compile_beside, is_undecided};

/// Compiled as what a server declares; what an author writes is compiled alike.
fn compiled(schema: &Value) -> Validator {
    let nothing = |_: &Path| Err("there are no files".to_owned());
    if let Err(unusable) = compile_beside(schema, Base::Suite, &nothing) {
        panic!("{schema}: {}", unusable.reason);
    }
    compile(schema).unwrap().validator().clone()
}

#[test]
fn patterns_look_around_and_refer_back() {
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
    case(r"^(?=.)\\w$", r"\w", true);
    case(r"^(?=.)[^\W\d]+$", "a_", true);
    case(r"^(?=.)[^\W\d]+$", "a1", false);
    let data =
        json!({"const": {"pattern": r"(?=a)\w"}, "properties": {"pattern": {"type": "string"}}});
    assert!(compiled(&data).is_valid(&json!({"pattern": r"(?=a)\w"})));
    let keys = json!({"patternProperties": {r"^(?!x)\w+$": {"type": "integer"}}});
    let validator = compiled(&keys);
    assert!(validator.is_valid(&json!({"a": 1, "x": ""})));
    assert!(!validator.is_valid(&json!({"a": ""})));
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
