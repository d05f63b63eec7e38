//! The page as a Markdown engine reads it: whatever names and texts are, it finds the same headings, tables, tags and
//! fences as with plain ones, and text where they stand.

use std::sync::LazyLock;

use comrak::{Arena, Options, nodes::NodeValue, parse_document};
use proptest::prelude::*;
use regex::Regex;

use crate::sample::{UGLY, failure_with, outcome, report};
use crate::{
    RunReport,
    baseline::Baseline,
    comment::{self, Surroundings},
    compare::{Scope, compare},
    markdown,
    verdict::{Cause, Judgement, Verdict},
};
use check::outcome::{Outcome, Status};

/// A page that shows this name and this text wherever one can stand.
fn page(name: &str, text: &str) -> RunReport {
    let mut flaky = outcome("a.yaml", &format!("{name} flaky"));
    flaky.earlier = crate::sample::outcomes()
        .into_iter()
        .flat_map(|it| it.earlier)
        .collect();
    for attempt in &mut flaky.earlier {
        text.clone_into(&mut attempt.detail);
    }
    let skipped = Outcome {
        status: Status::Skip,
        skip_reason: Some(format!("because {text}")),
        ..outcome("a.yaml", &format!("{name} skipped"))
    };
    let red = failure_with(&format!("{name}.yaml"), &format!("{name} red"), text);
    let before: Vec<Outcome> = ["red", "skipped", "gone"]
        .iter()
        .zip([
            format!("{name}.yaml"),
            "a.yaml".to_owned(),
            "a.yaml".to_owned(),
        ])
        .map(|(kind, file)| outcome(&file, &format!("{name} {kind}")))
        .collect();
    let baseline = Baseline::updated(None, &report(before, 1), Scope::Whole);
    let mut run = report(vec![flaky, skipped, red], 1);
    run.comparison = Some(compare(
        &baseline,
        &format!("main {text}"),
        &run,
        Scope::Whole,
    ));
    run.notes = vec![format!("a note of {text}")];
    run.judgement = Some(Judgement {
        verdict: Verdict::Fail,
        causes: vec![Cause::new(Verdict::Fail, &format!("because {text}"))],
        threshold: 10_000,
    });
    run
}

/// Tags around and in text from outside.
const TAGS: [&str; 3] = ["<code>", "</code>", "<wbr>"];

/// What the engine finds besides text.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds of nodes are the engine's, and all others are told by their names"
)]
fn structure(page: &str) -> Vec<String> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.autolink = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.alerts = true;
    options.extension.math_dollars = true;
    options.extension.math_code = true;
    let arena = Arena::new();
    let root = parse_document(&arena, page, &options);
    let mut found = Vec::new();
    for node in root.descendants() {
        let word = match &node.data().value {
            NodeValue::Text(_) | NodeValue::SoftBreak => continue,
            // Which words are code depends on the words.
            NodeValue::HtmlInline(tag) if TAGS.contains(&tag.as_str()) => continue,
            NodeValue::HtmlInline(tag) => tag.clone(),
            NodeValue::HtmlBlock(block) => tags(&block.literal),
            NodeValue::CodeBlock(block) => format!("fence {}", block.info),
            NodeValue::Table(table) => format!("table of {} columns", table.num_columns),
            other => other.xml_node_name().to_owned(),
        };
        found.push(word);
    }
    found
}

/// The tags of a block of HTML.
fn tags(html: &str) -> String {
    static TAG: LazyLock<Regex> = LazyLock::new(|| Regex::new("<[^>]*>").unwrap());
    let tags = TAG.find_iter(html).map(|it| it.as_str());
    tags.filter(|tag| !TAGS.contains(tag)).collect()
}

#[test]
fn ugly_text_changes_nothing_of_the_page() {
    let plain = structure(&markdown::render(&page("name", "text")));
    assert!(
        plain.contains(&"table of 4 columns".to_owned()),
        "{plain:?}"
    );
    assert!(plain.contains(&"fence diff".to_owned()), "{plain:?}");
    for ugly in [
        UGLY,
        "</details></code>",
        "| a | b |\n|---|---|",
        "```\n~~~~\n# h",
        "@org/team #1 GH-1 owner/repo#1",
        "https://evil.example www.evil.example a@b.example",
        "[x](javascript:alert(1)) ![i](//e) <https://e>",
        "[^1] [^1]: x $x$ $$y$$ :+1: ~~s~~ **b** _i_",
        "<!-- mcp-assert v1 --> <script> &lt; &#60;",
        "- [x] a\n> [!NOTE]\n> b",
    ] {
        let found = structure(&markdown::render(&page(ugly, ugly)));
        assert_eq!(found, plain, "{ugly}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_text_changes_nothing_of_the_page(
        name in prop_oneof![any::<String>(), "[<>&`|@#\\[\\]()!*_~$:/.a\n\\\\-]{0,30}"],
        text in prop_oneof![any::<String>(), "[<>&`|@#\\[\\]()!*_~$:/.a\n\\\\-]{0,60}"],
    ) {
        let plain = structure(&markdown::render(&page("name", "text")));
        let ugly = markdown::render(&page(&name, &text));
        prop_assert_eq!(structure(&ugly), plain, "{}", ugly);
    }
}

/// Two thousand failures of 64 KiB each, or as many as `MCP_ASSERT_FAILURES` says.
#[test]
fn huge_failures_fit_into_the_page_and_the_comment() {
    let count: usize = std::env::var("MCP_ASSERT_FAILURES")
        .map_or(2_000, |count| count.parse().expect("a number of failures"));
    let mut run = report(vec![failure_with("a.yaml", "name", "x")], 1);
    let mut record = run.records.remove(0);
    let evidence = record.evidence.as_mut().unwrap();
    evidence.stderr = format!("{UGLY}\n").repeat(64 * 1024 / (UGLY.len() + 1));
    run.records = (0..count)
        .map(|index| {
            let mut one = record.clone();
            one.id = format!("a.yaml::{index}");
            one.name = format!("{UGLY} {index}");
            one
        })
        .collect();
    run.planned = count;
    let begun = std::time::Instant::now();
    let summary = markdown::render(&run);
    let comment = comment::within(&run, &Surroundings::default(), 65_000);
    let took = begun.elapsed();
    println!(
        "{count} failures: a summary of {} and a comment of {} bytes in {took:?}",
        summary.len(),
        comment.len()
    );
    for (page, budget) in [(&summary, 1_000_000), (&comment, 65_000)] {
        let filled = budget * 9 / 10..=budget;
        assert!(filled.contains(&page.len()), "{} of {budget}", page.len());
        assert!(page.matches("\n| ❌ |").count() >= 50);
        assert!(page.matches("<details").count() > 5);
    }
    for page in [&summary, &comment] {
        assert!(page.starts_with(&format!(
            "### ❌ mcp-assert · {count} failures\n\n0 of {count} passed"
        )));
        assert!(page.contains("_Left out to fit: "), "{}", &page[..400]);
    }
}

#[test]
fn fifty_regressions_stay_in_sixteen_kibibytes() {
    let names: Vec<String> = (0..60)
        .map(|index| format!("{}{index}", "@".repeat(300)))
        .collect();
    let green = names.iter().map(|name| outcome("a.yaml", name)).collect();
    let red = names
        .iter()
        .map(|name| failure_with("a.yaml", name, UGLY))
        .collect();
    let baseline = Baseline::updated(None, &report(green, 1), Scope::Whole);
    let mut run = report(red, 1);
    run.comparison = Some(compare(&baseline, "main", &run, Scope::Whole));
    let page = markdown::within(&run, 16 * 1024);
    let rows = page.matches("| pass\u{a0}→\u{a0}**fail** |").count();
    assert!((50..=60).contains(&rows), "{rows}: {page}");
    assert!(page.contains("_Left out to fit: "), "{page}");
}
