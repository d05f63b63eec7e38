//! Changes as JUnit XML: a test case for each entry that changed. What the limit forbids is a failure.

use std::{collections::BTreeMap, io};

use quick_junit::{Report, TestCase, TestCaseStatus, TestSuite};

use crate::{
    changes::{Change, Changes, Level, details, subject},
    junit::judged,
};

/// The changes as XML; those from `limit` upwards are failures.
pub fn render(changes: &Changes, limit: Option<Level>) -> io::Result<String> {
    let mut suite = TestSuite::new("diff");
    let mut by_subject: BTreeMap<String, Vec<&Change>> = BTreeMap::new();
    for change in &changes.all {
        by_subject.entry(subject(change)).or_default().push(change);
    }
    for (name, changes) in by_subject {
        let is_forbidden = |it: &&&Change| limit.is_some_and(|limit| it.level >= limit);
        let forbidden = changes.iter().find(is_forbidden);
        let forbidden = forbidden.map(|it| (&*it.what, it.level.word()));
        let lines: Vec<String> = changes.iter().flat_map(|it| lines(it)).collect();
        let (status, output) = judged(forbidden, lines.join("\n"));
        let mut case = TestCase::new(name, status);
        if !output.is_empty() {
            case.set_system_out(output);
        }
        case.set_classname("diff");
        suite.add_test_case(case);
    }
    if changes.all.is_empty() {
        suite.add_test_case(TestCase::new("no changes", TestCaseStatus::success()));
    }
    let mut report = Report::new("mcp-assert");
    report.add_test_suite(suite);
    report.to_string().map_err(io::Error::other)
}

fn lines(change: &Change) -> Vec<String> {
    let head = format!("{}: {}", change.level.word(), change.what);
    let below = details(change).into_iter();
    let below = below.map(|(word, detail)| format!("    {word}: {detail}"));
    std::iter::once(head).chain(below).collect()
}
