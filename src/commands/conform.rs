//! `mcp-assert conform`: whether a server keeps to the specification.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Context, asking::Typed, findings, running::Refusal};
use crate::{
    cli::conform::ConformArgs,
    inspect::{
        conform::{self, CHECKS, Conformity, Verdict},
        server::Declares,
    },
};
use mcp::{protocol::revision::Revision, script::client::RevisionWanted};
use report::{
    cleaner::Cleaner,
    inspection::{self, Check, Finding, Inspection, Kind, NotCalled, Severity, Subject},
};
use text::exit::ExitCode;

/// Where the pages of the specification are.
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification";

/// Judges the server and reports.
pub(super) fn conform(args: &ConformArgs, context: &Context) -> Result<ExitCode, Refusal> {
    findings::check(&args.findings, (&[], &[]), context)?;
    let mut server = args.server.clone();
    let revisions = match server.how.protocol.as_deref() {
        Some("all") => {
            server.how.protocol = None;
            Revision::ALL.map(RevisionWanted::Exactly).to_vec()
        }
        Some(_) | None => Vec::new(),
    };
    let mut typed = Typed::read(&server, context)?;
    // The capabilities of a client that has none: what a server does beyond them is a violation.
    typed.declares = Declares::Nothing;
    let found = typed.with_servers(&server, context, async |asked| {
        if revisions.is_empty() {
            let found = conform::conform(asked).await;
            return Ok(vec![found.map_err(|it| typed.unanswered(it))?]);
        }
        let mut all = Vec::new();
        let mut last = None;
        for revision in revisions {
            match conform::conform(&asked.on(revision)).await {
                Ok(found) => all.push(found),
                Err(why) => last = Some(why),
            }
        }
        // A server that speaks other revisions as well is judged on those.
        match (all.is_empty(), last) {
            (true, Some(why)) => Err(typed.unanswered(why)),
            (_, _) => Ok(all),
        }
    })?;
    let again = findings::again(&server.how.headers, context);
    let inspection = inspection(&found, &typed, again);
    let inspection = inspection.cleaned(&Cleaner::new(typed.secrets.clone()));
    let json = || document(&found, &inspection);
    findings::deliver(&args.findings, &inspection, json, context)?;
    if let Some(why) = found.iter().find_map(|it| it.gone.as_ref()) {
        let message = format!(
            "the server could not be started any more: {}",
            text::clean(why)
        );
        return Err(Refusal::new(ExitCode::CouldNotRun, message));
    }
    let is_red = inspection.count(Severity::Error) > 0
        || args.strict && inspection.count(Severity::Warning) > 0;
    Ok(if is_red {
        ExitCode::Failed
    } else {
        ExitCode::Passed
    })
}

fn inspection(found: &[Conformity], typed: &Typed, again: String) -> Inspection {
    let server = found.iter().find_map(|it| it.offer.server());
    let mut findings = Vec::new();
    let mut not_called = Vec::new();
    for conformity in found {
        let revision = conformity.offer.revision().unwrap_or_default();
        for outcome in &conformity.outcomes {
            let check = outcome.check;
            match &outcome.verdict {
                Verdict::Fail(why) => findings.push(Finding {
                    pointer: format!("/{revision}"),
                    message: format!("{revision}: violated: {}", check.title),
                    evidence: Some(why.clone()),
                    ..Finding::new(check.code, check.severity, help(check, revision).into())
                }),
                Verdict::CouldNotRun => not_called.push(NotCalled {
                    kind: Kind::Server,
                    name: format!("{} {revision}", check.code),
                    reason: "it could not be judged".to_owned(),
                    option: None,
                }),
                Verdict::Pass | Verdict::NotApplicable(_) => {}
            }
        }
    }
    let codes: Arc<[&'static str]> = CHECKS.iter().map(|check| check.code).collect();
    let judged: Vec<&str> = found.iter().filter_map(|it| it.offer.revision()).collect();
    Inspection {
        command: "conform",
        server: server.unwrap_or_else(|| typed.text.clone()),
        again,
        anchor: findings::settings_file(),
        checks: CHECKS.iter().map(described).collect(),
        subjects: vec![Subject {
            kind: Kind::Server,
            name: String::new(),
            checks: codes,
        }],
        findings,
        not_called,
        notes: vec![format!(
            "judged on {}: {}",
            judged.join(", "),
            counts(found)
        )],
    }
}

/// Where the specification asks for it.
fn help(check: &conform::Check, revision: &str) -> String {
    let known = Revision::from_name(revision).unwrap_or(Revision::NEWEST_HANDSHAKE);
    format!("{SPECIFICATION}/{known}/{}", check.page(known))
}

fn described(check: &conform::Check) -> Check {
    Check {
        code: check.code,
        name: check.code,
        title: check.title.into(),
        help: help(check, Revision::NEWEST_HANDSHAKE.name()).into(),
        severity: check.severity,
        precision: "very-high",
        tags: &["mcp", "specification"],
    }
}

/// `20 passed, 1 failed, 6 not applicable, 0 could not be judged`.
fn counts(found: &[Conformity]) -> String {
    let all = || found.iter().flat_map(|it| &it.outcomes);
    let of = |word: &str| all().filter(|it| self::word(&it.verdict) == word).count();
    format!(
        "{} passed, {} failed, {} not applicable, {} could not be judged",
        of("pass"),
        of("fail"),
        of("not-applicable"),
        of("could-not-run"),
    )
}

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "pass",
        Verdict::Fail(_) => "fail",
        Verdict::NotApplicable(_) => "not-applicable",
        Verdict::CouldNotRun => "could-not-run",
    }
}

fn document(found: &[Conformity], inspection: &Inspection) -> Value {
    let checks = found.iter().flat_map(|it| {
        let revision = it.offer.revision();
        it.outcomes.iter().map(move |outcome| {
            let why = match &outcome.verdict {
                Verdict::NotApplicable(why) => Some(*why),
                Verdict::Pass | Verdict::Fail(_) | Verdict::CouldNotRun => None,
            };
            json!({
                "check": outcome.check.code,
                "revision": revision,
                "result": word(&outcome.verdict),
                "why": why,
                "title": outcome.check.title,
            })
        })
    });
    json!({
        "server": inspection.server,
        "checks": checks.collect::<Vec<_>>(),
        "findings": inspection::json::findings(inspection),
        "errors": inspection.count(Severity::Error),
        "warnings": inspection.count(Severity::Warning),
    })
}
