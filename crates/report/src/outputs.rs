//! The outputs of the action by name, for later steps of a workflow.

use crate::{RunReport, compare::Class, tally::Tally};

/// What became of the other sinks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told<'a> {
    /// The path of run.json from the workspace, if it was written.
    pub report_json: Option<&'a str>,
    /// That of the JUnit report.
    pub junit: Option<&'a str>,
    /// That of the badge.
    pub badge: Option<&'a str>,
    /// What became of the comment, in a word.
    pub comment: &'a str,
}

/// Every output with its value, which may be empty.
pub fn outputs(report: &RunReport, told: &Told<'_>) -> Vec<(&'static str, String)> {
    let tally = report.tally();
    let number = |number: Option<usize>| number.map(|it| it.to_string()).unwrap_or_default();
    let of = |class: Class| number(report.comparison.as_ref().map(|it| it.of(class).count()));
    let verdict = report.judgement.as_ref().map(|it| it.verdict.word());
    let path = |path: Option<&str>| path.unwrap_or_default().to_owned();
    vec![
        ("passed", tally.passed.to_string()),
        ("failed", tally.failed.to_string()),
        ("errors", tally.errors.to_string()),
        ("skipped", tally.skipped.to_string()),
        ("total", tally.total().to_string()),
        ("percent", percent(tally)),
        ("score", percent(tally)),
        ("breaking", number(report.breaking())),
        ("regressions", of(Class::Regressed)),
        ("new-failures", of(Class::NewFailure)),
        ("fixed", of(Class::Fixed)),
        ("flaky", tally.flaky.to_string()),
        ("verdict", path(verdict)),
        ("report-json", path(told.report_json)),
        ("junit", path(told.junit)),
        ("badge", path(told.badge)),
        ("comment", told.comment.to_owned()),
    ]
}

/// The share that passed, with two decimals and rounded down; empty when nothing was executed.
fn percent(tally: Tally) -> String {
    let executed = tally.executed();
    if executed == 0 {
        return String::new();
    }
    let hundredths = tally.passed as u128 * 10_000 / executed as u128;
    format!("{}.{:02}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::{Told, outputs, percent};
    use crate::{RunReport, sample::sample, tally::Tally};

    #[test]
    fn every_output_is_told_under_its_name() {
        let told = outputs(&sample(), &Told::default());
        assert_eq!(told.len(), 17);
        let value = |name: &str| told.iter().find(|it| it.0 == name).unwrap().1.as_str();
        assert_eq!(
            (value("passed"), value("failed"), value("errors")),
            ("3", "2", "1")
        );
        assert_eq!(
            (value("skipped"), value("total"), value("flaky")),
            ("1", "7", "1")
        );
        assert_eq!((value("percent"), value("score")), ("50.00", "50.00"));
        assert_eq!((value("regressions"), value("breaking")), ("", ""));
        let empty = outputs(&RunReport::default(), &Told::default());
        assert!(empty.contains(&("percent", String::new())));
        assert!(empty.contains(&("passed", "0".to_owned())));
    }

    #[test]
    fn a_share_is_rounded_down() {
        let of = |passed, failed| {
            percent(Tally {
                passed,
                failed,
                ..Tally::default()
            })
        };
        assert_eq!(of(2, 1), "66.66");
        assert_eq!(of(99_999, 1), "99.99");
        assert_eq!(of(1, 0), "100.00");
        assert_eq!(of(0, 3), "0.00");
    }
}
