//! Maps that look like matchers: words of other tools, and misspelt ones. They are compared as they
//! are, which is seldom meant. Maps that may be data are not reported.

use serde_json::Value;

/// The words of matchers.
pub const MATCHERS: [&str; 12] = [
    "exists", "type", "gt", "ge", "lt", "le", "matches", "contains", "length", "one_of", "equals",
    "not",
];

/// Words of other tools, and the one that is meant; letters and digits alone, in lower case.
const OTHERS: [(&str, &str); 8] = [
    ("gte", "ge"),
    ("lte", "le"),
    ("eq", "equals"),
    ("ne", "not"),
    ("regex", "matches"),
    ("includes", "contains"),
    ("len", "length"),
    ("in", "one_of"),
];

/// The most keys of a map of matchers.
const MOST: usize = 4;

/// A misspelt matcher and the one that is meant, in a map whose keys are all matchers or look like them.
pub fn misspelt(value: &Value) -> Option<(&str, &'static str)> {
    let members = value.as_object().filter(|members| members.len() <= MOST)?;
    let mut found = None;
    for (word, operand) in members {
        if MATCHERS.contains(&word.as_str()) {
            continue;
        }
        let meant = meant(word).filter(|matcher| takes(matcher, operand))?;
        found = found.or(Some((word.as_str(), meant)));
    }
    found
}

/// The matcher that a word is meant as.
fn meant(word: &str) -> Option<&'static str> {
    let bare: String = word
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|letter| letter.to_ascii_lowercase())
        .collect();
    let bare = bare.as_str();
    let other = OTHERS.iter().find(|(other, _)| *other == bare);
    other.map(|(_, matcher)| *matcher).or_else(|| {
        MATCHERS.into_iter().find(|matcher| {
            // Every other word is a letter away from short ones, and `types` is data.
            let near = matcher.len() > 4
                && matcher.replace('_', "").len().abs_diff(bare.len()) <= 1
                && strsim::damerau_levenshtein(bare, &matcher.replace('_', "")) <= 1;
            near || bare == matcher.replace('_', "")
        })
    })
}

/// Whether a matcher could take this operand.
fn takes(matcher: &str, operand: &Value) -> bool {
    match matcher {
        "gt" | "ge" | "lt" | "le" => operand.is_number(),
        "exists" => operand.is_boolean(),
        "matches" | "type" => operand.is_string(),
        "one_of" => operand.is_array(),
        "length" => operand.is_number() || operand.is_object(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::misspelt;

    #[test]
    fn maps_that_read_like_matchers_are_told_from_data() {
        let case = |value: Value, wanted: Option<(&str, &str)>| {
            assert_eq!(misspelt(&value), wanted, "{value}");
        };
        case(json!({"gte": 5}), Some(("gte", "ge")));
        case(json!({"exists": true, "gte": 5}), Some(("gte", "ge")));
        case(json!({"exist": true}), Some(("exist", "exists")));
        case(json!({"lenght": 2}), Some(("lenght", "length")));
        case(json!({"len": {"ge": 2}}), Some(("len", "length")));
        case(json!({"oneOf": ["a"]}), Some(("oneOf", "one_of")));
        case(json!({"regex": "^a"}), Some(("regex", "matches")));
        case(json!({"Contains": "a"}), Some(("Contains", "contains")));
        case(json!({"equal": {"a": 1}}), Some(("equal", "equals")));
        case(json!({"$gte": 5}), Some(("$gte", "ge")));
        for data in [
            json!({}),
            json!({"gt": 5}),
            json!({"get": 5}),
            json!({"id": 5}),
            json!({"min": 1, "max": 5}),
            json!({"type": "a", "name": "b"}),
            json!({"types": ["a"]}),
            json!({"match": true}),
            json!({"gte": "5"}),
            json!({"container": "a"}),
            json!({"length": 2, "width": 3}),
            json!({"note": "a"}),
            json!(["gte"]),
        ] {
            case(data, None);
        }
    }
}
