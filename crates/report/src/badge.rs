//! The badge: the JSON that the endpoint of shields.io reads, with exactly its keys; it refuses any other.

use serde_json::json;

use crate::{End, RunReport, verdict::Judgement};

/// The badge as JSON, with a final line end. Skips and trials are left out of the count.
pub fn render(report: &RunReport) -> String {
    let tally = report.tally();
    let (message, color, is_error) = if has_no_verdict_on_the_server(report) {
        ("error".to_owned(), "red", true)
    } else if tally.executed() == 0 {
        ("no data".to_owned(), "lightgrey", true)
    } else {
        let color = if tally.is_red() || !report.reds.is_empty() {
            "red"
        } else if tally.flaky > 0 {
            "orange"
        } else {
            "brightgreen"
        };
        (
            format!("{}/{}", tally.passed, tally.executed()),
            color,
            false,
        )
    };
    let badge = json!({
        "schemaVersion": 1,
        "label": "mcp-assert",
        "message": message,
        "color": color,
        "isError": is_error,
        "cacheSeconds": 300,
    });
    format!("{badge:#}\n")
}

/// Whether what happened says nothing of the server: the counts would mislead.
fn has_no_verdict_on_the_server(report: &RunReport) -> bool {
    let judgement = report.judgement.as_ref();
    judgement.map_or(report.end == End::Interrupted, Judgement::is_of_no_run)
}

#[cfg(test)]
mod tests {
    use super::render;
    use crate::{
        End, RunReport,
        sample::{outcome, outcomes, report},
        verdict::{Judgement, Verdict},
    };
    use check::outcome::Status;

    #[test]
    fn each_verdict_has_its_badge() {
        let case = |report: &RunReport, message: &str, color: &str, is_error: bool| {
            let badge: serde_json::Value = serde_json::from_str(&render(report)).unwrap();
            assert_eq!(badge["message"], message);
            assert_eq!(badge["color"], color);
            assert_eq!(badge["isError"], is_error);
            assert_eq!(badge.as_object().unwrap().len(), 6);
        };
        let pass = || outcome("a.yaml", "a");
        let flaky = || outcomes().remove(1);
        let mut skip = outcome("a.yaml", "b");
        skip.status = Status::Skip;
        case(
            &report(vec![pass(), skip.clone()], 1),
            "1/1",
            "brightgreen",
            false,
        );
        case(&report(vec![pass(), flaky()], 1), "2/2", "orange", false);
        case(&report(outcomes(), 1), "3/6", "red", false);
        case(&report(vec![skip], 1), "no data", "lightgrey", true);
        case(&RunReport::default(), "no data", "lightgrey", true);
        let mut interrupted = report(vec![pass()], 1);
        interrupted.end = End::Interrupted;
        case(&interrupted, "error", "red", true);
        for (verdict, wanted) in [
            (Verdict::Interrupted, "error"),
            (Verdict::Invalid, "error"),
            (Verdict::Incomplete, "error"),
            (Verdict::Error, "error"),
            (Verdict::Fail, "1/1"),
            (Verdict::Pass, "1/1"),
        ] {
            let mut judged = report(vec![pass()], 1);
            judged.judgement = Some(Judgement {
                verdict,
                causes: Vec::new(),
                threshold: 10_000,
            });
            let is_error = wanted == "error";
            let color = if is_error { "red" } else { "brightgreen" };
            case(&judged, wanted, color, is_error);
        }
    }
}
