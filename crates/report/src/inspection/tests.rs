//! One inspection in every format, with hostile texts in it.

use serde_json::Value;

use super::{
    Check, Finding, Inspection, Kind, NotCalled, Place, Severity, Standing, Subject, json, junit,
    markdown, sarif, terminal,
};
use crate::{cleaner::Cleaner, sample::UGLY};
use text::redact::Secrets;

fn finding(code: &'static str, name: &str, severity: Severity) -> Finding {
    Finding {
        code,
        kind: Kind::Tool,
        name: name.to_owned(),
        pointer: "/inputSchema/properties/a~1b".to_owned(),
        severity,
        message: format!("`{name}` is hunter22"),
        help: Some("write it".into()),
        evidence: Some("evil\u{1b}[2J".to_owned()),
        place: None,
        standing: Standing::Counts,
    }
}

fn sample(name: &str) -> Inspection {
    let check = |code, severity| Check {
        code,
        name: "a-rule",
        title: "something is wrong".into(),
        help: "write it".into(),
        severity,
        precision: "high",
        tags: &["security"],
    };
    let subject = |kind, name: &str| Subject {
        kind,
        name: name.to_owned(),
        checks: ["E101", "W101"].into(),
    };
    let mut secrets = Secrets::default();
    secrets.add("hunter22");
    let mut known = finding("W101", name, Severity::Warning);
    known.standing = Standing::Known;
    let mut allowed = finding("E101", "calm", Severity::Error);
    allowed.standing = Standing::Allowed("we mean it".to_owned());
    let inspection = Inspection {
        command: "lint",
        server: "server 1".to_owned(),
        again: "mcp-assert lint --catalog c.json".to_owned(),
        checks: vec![
            check("E101", Severity::Error),
            check("W101", Severity::Warning),
        ],
        subjects: vec![
            subject(Kind::Server, ""),
            subject(Kind::Tool, "calm"),
            subject(Kind::Tool, name),
        ],
        findings: vec![known, allowed, finding("E101", name, Severity::Error)],
        not_called: vec![NotCalled {
            kind: Kind::Tool,
            name: "calm".to_owned(),
            reason: "it may change something".to_owned(),
            option: Some("--allow write".to_owned()),
        }],
        ..Inspection::default()
    };
    inspection.cleaned(&Cleaner::new(secrets))
}

#[test]
fn people_read_the_worst_first() {
    let wanted = "server 1: 2 tools

tool bad
  error    E101  `bad` is ***
               at /inputSchema/properties/a~1b
               found evil\\u{1b}[2J
               help: write it
  warning  W101  known: `bad` is ***
               at /inputSchema/properties/a~1b
               found evil\\u{1b}[2J
               help: write it

tool calm
  error    E101  allowed (we mean it): `calm` is ***
               at /inputSchema/properties/a~1b
               found evil\\u{1b}[2J
               help: write it

not called
  calm: it may change something; `--allow write` calls it

1 error, 0 warnings, 1 known, 1 allowed
again: mcp-assert lint --catalog c.json
";
    assert_eq!(terminal::render(&sample("bad")), wanted);
}

#[test]
fn programs_read_what_counts() {
    let sample = sample("bad");
    let xml = junit::render(&sample).unwrap();
    let read = quick_junit_counts(&xml);
    assert_eq!(read, ("7", "1"), "{xml}");
    assert!(
        xml.contains("<skipped message=\"it may change something\""),
        "{xml}"
    );
    let findings = json::findings(&sample);
    assert_eq!(findings[0]["field"], "a/b");
    assert_eq!(findings[0]["allowed"], "we mean it");
    assert_eq!(sample.numbers(), [1, 0, 0]);
    let log: Value = serde_json::from_str(&sarif::render(&sample)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{log}");
    let location = &results[0]["locations"][0];
    assert_eq!(
        location["logicalLocations"][0]["fullyQualifiedName"],
        "tools/calm/inputSchema/properties/a~1b"
    );
    assert_eq!(location["physicalLocation"], Value::Null);
    let page = markdown::render(&sample);
    assert!(
        page.contains("| error | E101 | 1 | <code>something is wrong</code> |"),
        "{page}"
    );
}

fn quick_junit_counts(xml: &str) -> (&str, &str) {
    let attribute = |name: &str| {
        let begin = xml.find(&format!(" {name}=\"")).unwrap() + name.len() + 3;
        &xml[begin..begin + xml[begin..].find('"').unwrap()]
    };
    (attribute("tests"), attribute("failures"))
}

#[test]
fn results_of_one_rule_on_one_line_are_one() {
    let mut sample = sample("bad");
    sample.anchor = Some(Place {
        file: "mcp-assert.yaml".to_owned(),
        line: 1,
        column: 1,
    });
    let log: Value = serde_json::from_str(&sarif::render(&sample)).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(
        results.len(),
        3,
        "what counts and what does not stay apart: {log}"
    );
    for finding in &mut sample.findings {
        finding.standing = Standing::Counts;
    }
    let log: Value = serde_json::from_str(&sarif::render(&sample)).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_fingerprint_is_of_what_a_finding_is_about() {
    let one = finding("E101", "a", Severity::Error);
    let mut other = one.clone();
    other.message = "another".to_owned();
    other.severity = Severity::Info;
    other.evidence = None;
    assert_eq!(one.fingerprint(), other.fingerprint());
    other.pointer.clear();
    assert_ne!(one.fingerprint(), other.fingerprint());
}

#[test]
fn hostile_names_stay_text() {
    let sample = sample(UGLY);
    let page = markdown::render(&sample);
    for part in ["<script", "@octocat", "\u{1b}", "-->"] {
        assert!(!page.contains(part), "{part}: {page}");
    }
    assert!(!terminal::render(&sample).contains('\u{1b}'));
    assert!(junit::render(&sample).is_ok());
    assert!(serde_json::from_str::<Value>(&sarif::render(&sample)).is_ok());
}

#[test]
fn a_page_of_thousands_of_findings_fits() {
    let mut sample = sample("bad");
    let many = (0..20_000).map(|at| finding("E101", &format!("{UGLY}{at}"), Severity::Error));
    sample.findings = many.collect();
    let page = markdown::render(&sample);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("findings left out to fit."));
}
