use super::{COMMENT_BYTES, Surroundings, within};
use crate::{
    RunReport,
    baseline::Baseline,
    compare::Scope,
    sample::{UGLY, failure_with, outcome, report, sample},
};
use check::outcome::{Outcome, Status};

fn around() -> Surroundings {
    Surroundings {
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
    for wanted in [
        "regressions: 1, newly skipped: 1, removed: 1, fixed: 1, new: 1.",
        "#### Regressions (1)\n\n- [<code>lost</code>](https://github.com/o/r/blob/",
        "/evals/a.yaml#L8): was PASS, now FAIL",
        "#### Fixed (1)",
        "#### Removed (1)\n\n- <code>gone</code>: was PASS, now missing",
        "<code>greeter 1&#46;2&#46;3</code> with <code>2025&#45;06&#45;18</code>",
        "the merge base with",
        "[this run](https://github.com/o/r/actions/runs/7/attempts/1)",
    ] {
        assert!(text.contains(wanted), "{wanted}\n{text}");
    }
    assert!(changed().has_news());
}

#[test]
fn without_a_baseline_the_reason_and_the_failures_are_told() {
    let mut run = sample();
    run.uncompared = Some("no baseline was saved yet".to_owned());
    let text = within(&run, &around(), COMMENT_BYTES);
    assert!(
        text.contains("Not compared: <code>no baseline was saved yet</code>."),
        "{text}"
    );
    assert!(text.contains("#### Not passed (3)"), "{text}");
    assert!(!sample().has_news() && sample().is_bad());
}

#[test]
fn thousands_of_ugly_regressions_fit_and_fifty_stay() {
    let names: Vec<String> = (0..2_000).map(|index| format!("{UGLY}{index}")).collect();
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
    assert_eq!(text.matches("\n- [").count(), 50, "{text}");
    assert!(text.contains("and 1950 more"), "{text}");
}
