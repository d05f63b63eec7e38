//! An inspection as JUnit XML: a test suite for each subject, a test case for each check that ran on it. Errors fail;
//! warnings are output of a case that passes; what was not called is skipped.

use std::{collections::HashMap, io, time::Duration};

use quick_junit::{Report, TestCase, TestCaseStatus, TestSuite};

use super::{judged, message};
use crate::inspection::{Finding, Inspection, Kind, NotCalled, Severity, Subject};

/// The inspection as XML.
pub fn render(inspection: &Inspection) -> io::Result<String> {
    let mut junit = Report::new(format!("mcp-assert {}", inspection.command));
    let names: HashMap<&str, &str> = inspection
        .checks
        .iter()
        .map(|it| (it.code, it.name))
        .collect();
    let groups = inspection.groups().into_iter();
    let mut found: HashMap<(Kind, &str), &[Finding]> =
        groups.map(|it| ((it[0].kind, &*it[0].name), it)).collect();
    for subject in &inspection.subjects {
        // A second tool of the same name has no findings of its own.
        let of_subject = found.remove(&(subject.kind, &*subject.name));
        let of_subject = of_subject.unwrap_or_default();
        junit.add_test_suite(suite(inspection, subject, of_subject, &names));
    }
    junit.to_string().map_err(io::Error::other)
}

fn suite(
    inspection: &Inspection,
    subject: &Subject,
    found: &[Finding],
    names: &HashMap<&str, &str>,
) -> TestSuite {
    let title = subject.kind.titled(&subject.name);
    let mut suite = TestSuite::new(&*title);
    suite.set_time(Duration::ZERO);
    let mut add = |name: String, status: TestCaseStatus, output: &str| {
        let mut case = TestCase::new(name, status);
        case.set_classname(&*title);
        case.set_time(Duration::ZERO);
        if !output.is_empty() {
            case.set_system_out(output);
        }
        suite.add_test_case(case);
    };
    for code in subject.checks.iter() {
        let findings: Vec<&Finding> = found.iter().filter(|it| it.code == *code).collect();
        let name = format!("{code} {}", names.get(code).copied().unwrap_or_default());
        let (status, output) = outcome(&findings);
        add(name.trim_end().to_owned(), status, &output);
    }
    let not_called = inspection.not_called.iter();
    let is_it = |it: &&NotCalled| (it.kind, &it.name) == (subject.kind, &subject.name);
    if let Some(it) = not_called.into_iter().find(is_it) {
        let mut status = TestCaseStatus::skipped();
        status.set_message(message(&it.reason));
        add("call".to_owned(), status, "");
    }
    suite
}

/// How the case of one check ended, and its output.
fn outcome(findings: &[&Finding]) -> (TestCaseStatus, String) {
    let is_error = |it: &&&Finding| it.counts() && it.severity == Severity::Error;
    let first = findings.iter().find(is_error);
    let text: Vec<String> = findings.iter().map(|it| text(it)).collect();
    judged(first.map(|it| (&*it.message, it.code)), text.join("\n"))
}

fn text(it: &Finding) -> String {
    let mut text = format!("{}: {}", it.severity.word(), it.message);
    for (word, part) in it.below() {
        text.extend(["\n", word, " ", part]);
    }
    text
}
