use crate::sample::{hold, report, says};
use mcp::observation::{
    Observation,
    finding::{FindingCode, note},
};
use suite::model::expectation::{Expectation, TrafficWanted};

fn noisy() -> Observation {
    let mut seen = says("x");
    note(
        &mut seen.findings,
        FindingCode::StdoutNoise,
        "`hello`",
        Some("hello".into()),
    );
    note(
        &mut seen.findings,
        FindingCode::StdoutNoise,
        "`hello`",
        None,
    );
    note(
        &mut seen.findings,
        FindingCode::Vacuous,
        "nothing is proved",
        None,
    );
    seen
}

#[test]
fn only_allowed_findings_hold() {
    hold(&[
        (
            Expectation::Traffic(TrafficWanted::Findings(Vec::new())),
            says("x"),
        ),
        (
            Expectation::Traffic(TrafficWanted::Findings(vec![FindingCode::StdoutNoise])),
            noisy(),
        ),
    ]);
    insta::assert_snapshot!(report(&[
        (Expectation::Traffic(TrafficWanted::Findings(Vec::new())), noisy()),
        (Expectation::Traffic(TrafficWanted::Findings(vec![FindingCode::BlankLine])), noisy()),
    ]), @r#"
    findings: expected no protocol findings, there is `stdout-noise`: `hello` (2 times)
      hint: stdout belongs to the protocol; logs go to stderr
    findings: expected no protocol findings but `blank-line`, there is `stdout-noise`: `hello` (2 times)
      hint: stdout belongs to the protocol; logs go to stderr
    "#);
}
