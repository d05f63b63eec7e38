//! A faults file: a YAML list of rules.

use serde_json::Value;

use super::catalogue::Carrier;
use super::rule::{Rule, wrong};
use mcp::protocol::method::kind_of;

/// Reads a file's text; all that is wrong with its rules is said at once.
pub fn read(text: &str, carrier: Carrier) -> Result<Vec<Rule>, Vec<String>> {
    let no_list = |what: String| {
        vec![wrong(
            format!("a faults file is a YAML list of rules, but {what}"),
            "write one rule a line as `- \"tools/call@2=drop\"`; a rule that begins with `*` needs the quotes",
        )]
    };
    let written: Value = serde_saphyr::from_str(text)
        .map_err(|error| no_list(format!("this is not YAML: {}", error.without_snippet())))?;
    let Value::Array(written) = written else {
        return Err(no_list(format!("this is {}", kind_of(&written))));
    };
    let (mut rules, mut errors) = (Vec::new(), Vec::new());
    for (index, rule) in written.iter().enumerate() {
        let number = index + 1;
        let Some(text) = rule.as_str() else {
            return Err(no_list(format!("rule {number} is {}", kind_of(rule))));
        };
        match Rule::parse(text, carrier) {
            Ok(rule) => rules.push(rule),
            Err(error) => errors.push(format!("rule {number} `{text}`: {error}")),
        }
    }
    if errors.is_empty() {
        Ok(rules)
    } else {
        Err(errors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_rules_is_read_in_order() {
        let text = "# two faults\n- tools/call:echo@2=exit-mid-call:3\n- \"*@every:5=delay:1s\"\n";
        let rules = read(text, Carrier::Stdio).unwrap();
        let texts: Vec<_> = rules.iter().map(|rule| rule.text.as_str()).collect();
        assert_eq!(
            texts,
            ["tools/call:echo@2=exit-mid-call:3", "*@every:5=delay:1s"]
        );
        assert!(read("[]", Carrier::Stdio).unwrap().is_empty());
    }

    #[test]
    fn all_wrong_rules_are_said_at_once_with_their_number() {
        let errors = read("[drop, dorp, start=drop]", Carrier::Stdio).unwrap_err();
        let messages: Vec<_> = errors
            .iter()
            .filter_map(|error| error.lines().next())
            .collect();
        assert_eq!(
            messages,
            [
                "rule 2 `dorp`: there is no fault `dorp`",
                "rule 3 `start=drop`: `drop` cannot sit at `start`",
            ]
        );
    }

    #[test]
    fn yaml_that_is_no_list_of_texts_is_an_error() {
        for (text, wanted) in [
            ("rules: [drop]", "this is an object"),
            ("tools/call=drop", "this is a text"),
            ("", "this is null"),
            ("- a: b", "rule 1 is an object"),
            ("- drop\n- [drop]", "rule 2 is an array"),
            ("- *x", "this is not YAML: "),
            ("- \"unclosed", "this is not YAML: "),
        ] {
            let errors = read(text, Carrier::Stdio).unwrap_err();
            let said = errors[0].lines().next().unwrap();
            let wanted = format!("a faults file is a YAML list of rules, but {wanted}");
            assert!(said.starts_with(&wanted), "{text}: {said}");
            assert!(!said.contains('\n'), "{said}");
        }
    }
}
