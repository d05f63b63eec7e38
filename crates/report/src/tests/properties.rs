//! What holds for any text a server or a suite could hold.

use proptest::prelude::*;
use quick_junit::Report;

use crate::Format;
use crate::sample::{SECRET, UGLY, failure_with, outcome, report};
use check::outcome::{Outcome, Status};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[\u{0}-\u{20}\u{7f}-\u{a0}\u{2028}\u{202e}\u{fffe}\u{ffff}<>&\"'`|@#:\\]\\[\\\\]{0,60}",
        Just(UGLY.to_owned()),
        any::<String>().prop_map(|text| format!("{text}{SECRET}{text}")),
    ]
}

/// Whether a page holds no tag but ours outside its fences, and each fence is closed.
fn only_our_markup(page: &str) -> bool {
    let mut outside = String::new();
    let mut fence: Option<&str> = None;
    for line in page.split('\n') {
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if line.starts_with("```") => fence = line.strip_suffix("diff"),
            None => outside.push_str(line),
        }
    }
    for tag in ["code", "wbr", "details open", "details", "summary", "sub"] {
        outside = outside
            .replace(&format!("<{tag}>"), "")
            .replace(&format!("</{tag}>"), "");
    }
    fence.is_none() && !outside.contains(['<', '@', '`', '['])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_format_stays_well_formed(text in any_text(), name in any_text()) {
        let skipped = Outcome {
            status: Status::Skip,
            skip_reason: Some(text.clone()),
            ..outcome(&name, &text)
        };
        let run = report(vec![failure_with("a.yaml", &name, &text), skipped], 1);
        for format in Format::ALL {
            let rendered = format.render(&run);
            let hidden = rendered.chars().find(|it| it.is_control() && !matches!(it, '\n' | '\t'));
            prop_assert_eq!(hidden, None, "{}", format.word());
            match format {
                Format::Json | Format::RunJson | Format::Badge | Format::Sarif => {
                    prop_assert!(serde_json::from_str::<serde_json::Value>(&rendered).is_ok());
                }
                Format::Junit => {
                    let parsed = Report::deserialize_from_str(&rendered);
                    prop_assert_eq!(parsed.unwrap().tests, 2);
                }
                Format::Markdown => {
                    prop_assert!(only_our_markup(&rendered), "{}", rendered);
                }
            }
        }
    }
}
