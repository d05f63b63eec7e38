use serde_json::json;

use super::{COMMENT_BYTES, Surroundings, within};
use crate::{
    RunReport,
    baseline::Baseline,
    compare::Scope,
    sample::{UGLY, failure_with, outcome, report, sample},
    surface::{Attendance, Catalogs, compare},
};
use check::outcome::{Outcome, Status};
use mcp::observation::catalog::Catalog;

fn around() -> Surroundings {
    Surroundings {
        repository: Some("https://github.com/o/r".to_owned()),
        files: Some(format!("https://github.com/o/r/blob/{}", "a".repeat(40))),
        run: Some("https://github.com/o/r/actions/runs/7/attempts/1".to_owned()),
        head: Some("a".repeat(40)),
        ..Surroundings::default()
    }
}

/// A run in which one assertion of each class is.
fn changed() -> RunReport {
    let of = |name: &str, status| Outcome {
        status,
        ..outcome("evals/a.yaml", name)
    };
    let before = [
        of("lost", Status::Pass),
        of("mended", Status::Fail),
        of("gone", Status::Pass),
        of("put off", Status::Pass),
    ];
    let baseline = Baseline::updated(None, &report(before.to_vec(), 1), Scope::Whole);
    let now = [
        failure_with("evals/a.yaml", "lost", "boom"),
        of("mended", Status::Pass),
        of("put off", Status::Skip),
        of("come", Status::Pass),
    ];
    let mut run = report(now.to_vec(), 1);
    run.compare_with(
        &baseline,
        "1234567890, the merge base with `main`",
        Scope::Whole,
    );
    run
}

#[test]
fn each_class_has_its_lines_with_links() {
    let text = within(&changed(), &around(), COMMENT_BYTES);
    let links = format!(
        "https://github.com/o/r/blob/{}/evals/a.yaml",
        "a".repeat(40)
    );
    for wanted in [
        "### ❌ mcp-assert · 1 regression\n\n2 of 3 passed, 1 skipped · compared with \
         [<code>1234567890</code>](https://github.com/o/r/commit/1234567890), the merge base with <code>main</code> · \
         [this run](https://github.com/o/r/actions/runs/7/attempts/1)\n",
        &format!(
            "| ❌ | [<code>lost</code>]({links}#L8) | pass\u{a0}→\u{a0}**fail** | contains: boom: expected boom, boom |"
        ),
        &format!("| ✅ | [<code>mended</code>]({links}#L1) | fail\u{a0}→\u{a0}**pass** |  |"),
        "<details><summary>1 removed, 1 newly skipped, 1 new</summary>",
        "- removed: <code>gone</code>\n",
        &format!("- new: [<code>come</code>]({links}#L1)\n"),
        "<details><summary>❌ <code>lost</code></summary>\n\n```diff\n  contains does not hold (evals/a.yaml:8:5)\n",
        "\n<sub><code>boom</code> <code>2025-06-18</code> · <code>greeter 1.2.3</code> <code>2025-06-18</code> · \
         mcp-assert <code>9.9.9</code> · [<code>aaaaaaaaaa</code>](https://github.com/o/r/commit/aaaaaaaa",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(changed().has_news());
}

#[test]
fn a_server_that_changed_has_a_paragraph_by_its_own_name() {
    let mut run = changed();
    let used_by = vec![run.records[0].key()];
    let catalog = |tools: serde_json::Value| Catalog {
        tools: tools.as_array().cloned(),
        used_by: used_by.clone(),
        ..Catalog::default()
    };
    let of = |tools| Catalogs::from([("python server.py".to_owned(), catalog(tools))]);
    let schema = json!({"properties": {"b": {"type": "string"}}});
    let before = of(json!([{"name": "x"}, {"name": "y", "inputSchema": schema}]));
    let destructive = json!({"destructiveHint": true});
    run.catalogs = of(json!([
        {"name": "y", "description": "new", "inputSchema": {"type": "object"}}, {"name": "z", "annotations": destructive}, {"name": "a"}, {"name": "b"}
    ]));
    let whole = Attendance::of(&run, Scope::Whole);
    run.surface = Some(compare(&before, &run.catalogs, &whole));
    run.records[0].server = Some("notes 2.0".into());
    let text = within(&run, &around(), COMMENT_BYTES);
    let wanted = "
**<code>notes 2.0</code>** changed what it offers: 2 breaking, 2 risky, 2 other

- ❌ breaking: tool <code>x</code> was removed
- ❌ breaking: tool <code>y</code> parameter <code>b</code>: was removed · witness: <code>{\"b\"&#58;\"text\"}</code>
- ⚠️ risky: tool <code>y</code> description changed: <code>{+new+}</code>
- ⚠️ risky: tool <code>z</code> was added with <code>destructiveHint</code>
- added: tool <code>a</code>, tool <code>b</code>
";
    assert!(text.contains(wanted), "{text}");
    let headline = "### ❌ mcp-assert · 1 regression, 2 breaking changes, 2 risky changes\n";
    assert!(text.starts_with(headline), "{text}");
}

#[test]
fn without_a_baseline_the_reason_and_the_failures_are_told() {
    let mut run = sample();
    run.uncompared = Some("no baseline was saved yet".to_owned());
    let text = within(&run, &around(), COMMENT_BYTES);
    assert!(
        text.contains("1 flaky · not compared: no baseline was saved yet ·"),
        "{text}"
    );
    assert_eq!(text.matches("\n| ❌ |").count(), 3, "{text}");
    assert!(!sample().has_news() && sample().is_bad());
}

#[test]
fn thousands_of_ugly_regressions_fit_and_fifty_stay() {
    let names: Vec<String> = (0..600).map(|index| format!("{UGLY}{index}")).collect();
    let green = names.iter().map(|name| outcome("a.yaml", name)).collect();
    let red = names
        .iter()
        .map(|name| failure_with("a.yaml", name, UGLY))
        .collect();
    let baseline = Baseline::updated(None, &report(green, 1), Scope::Whole);
    let mut run = report(red, 1);
    run.compare_with(&baseline, UGLY, Scope::Whole);
    let text = within(&run, &around(), COMMENT_BYTES);
    assert!(text.len() <= COMMENT_BYTES, "{}", text.len());
    assert!(text.matches("\n| ❌ |").count() >= 50, "{text}");
    assert!(text.contains("<summary>550 more</summary>"), "{text}");
    assert!(text.contains("_Left out to fit: "), "{text}");
}
