//! The golden files.

use crate::sample::{SECRET, outcomes, report, sample};
use crate::{Format, RunReport, failure};
use check::outcome::{Outcome, Status};
use mcp::observation::disruption::{Disruption, DisruptionKind, Phase};

#[test]
fn each_format_has_its_golden_file() {
    let report = sample();
    for format in Format::ALL {
        let text = format.render(&report);
        assert!(!text.contains(SECRET), "{} shows a secret", format.word());
        assert!(
            !text.contains('\u{1b}'),
            "{} shows an escape",
            format.word()
        );
        insta::assert_snapshot!(format.word(), text);
    }
}

#[test]
fn a_failure_explains_itself() {
    let report = sample();
    let texts: Vec<String> = report
        .records
        .iter()
        .filter(|record| record.status.is_red())
        .map(|record| failure::text(record, &failure::Detail::usual(1)))
        .collect();
    insta::assert_snapshot!("failure", texts.join("\n\n"));
}

#[test]
fn no_line_of_a_failure_can_be_a_workflow_command() {
    for record in &sample().records {
        let detail = failure::Detail {
            frames: failure::Frames::All,
            ..failure::Detail::usual(1)
        };
        for line in failure::text(record, &detail).lines() {
            assert!(!line.trim_start().starts_with("::"), "{line}");
            assert!(!line.contains('\r'), "{line}");
        }
    }
}

#[test]
fn a_failure_is_bounded_whatever_was_sent() {
    let mut outcome = outcomes().remove(0);
    let many = outcome.failures.remove(0);
    outcome.failures = vec![many; 200];
    for failure in &mut outcome.failures {
        failure.mismatch.expected = Some("a\n".repeat(9_000));
        failure.mismatch.actual = Some("b\n".repeat(9_000));
    }
    let report = report(vec![outcome], 1);
    let text = failure::text(&report.records[0], &failure::Detail::usual(1));
    assert!(text.len() < 40_000, "{}", text.len());
    assert!(text.contains("more line"), "{text}");
}

#[test]
fn an_empty_run_is_an_empty_array() {
    assert_eq!(Format::Json.render(&RunReport::default()), "[]\n");
}

#[test]
fn an_error_is_a_fail_of_kind_error_and_keeps_the_go_tools_fields() {
    let outcome = Outcome {
        status: Status::Error,
        disruption: Some(Disruption::new(
            DisruptionKind::Timeout,
            Phase::Subject,
            "no answer within 1s",
        )),
        trial: 2,
        ..crate::sample::outcome("a.yaml", "slow")
    };
    let text = Format::Json.render(&report(vec![outcome], 2));
    let parsed: serde_json::Value = serde_json::from_str(&text).unwrap();
    let result = &parsed[0];
    assert_eq!(result["status"], "FAIL");
    assert_eq!(result["kind"], "error");
    assert_eq!(result["cause"], "timeout");
    assert_eq!(result["name"], "slow");
    assert_eq!(result["trial"], 2);
    assert_eq!(result["duration_ms"], 12);
    assert!(
        result["detail"]
            .as_str()
            .unwrap()
            .contains("no answer within 1s")
    );
}
