//! `mcp-assert coverage`: which of the things that a server offers a suite tests.

use std::{collections::BTreeSet, fmt::Write, path::PathBuf};

use serde_json::{Map, Value, json};

use super::{
    Context,
    asking::{offer, print, read, unusable},
    findings,
    list::pretty,
    running::{self, Refusal},
};
use crate::{
    cli::{coverage::CoverageArgs, run::RunArgs},
    inspect::coverage::{Coverage, Dimension, Uses, coverage as count_uses},
};
use check::outcome::Status;
use suite::{
    lower::{FixtureFrom, ServerFrom},
    model::{Assertion, Entry},
};
use text::{clean, diagnostic::Severity, exit::ExitCode, nearest};

/// The longest run.json that is read, in bytes.
const LONGEST_RUN: u64 = 1 << 30;

/// The most names of a line for people.
const MOST_NAMES: usize = 100;

/// Counts and reports.
pub(super) fn coverage(args: &CoverageArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let thresholds = thresholds(args.threshold.as_deref())?;
    let entries = entries(args, context)?;
    let passed = passed(args)?;
    let assertions = entries.iter().filter_map(|entry| match entry {
        Entry::Assertion(assertion) => Some(assertion.as_ref()),
        Entry::Invalid { .. } => None,
    });
    let counted = |it: &&Assertion| passed.as_ref().is_none_or(|ids| ids.contains(&it.case.id));
    let offer = offer(&args.catalog, context)?;
    let found = count_uses(assertions.filter(counted), &offer, &context.environment);
    let document = document(&found);
    let text = if args.json {
        pretty(&document)
    } else {
        shown(&found)
    };
    print(&text, args.json, context)?;
    if let Some(path) = &args.coverage_json {
        findings::write(path, &pretty(&document), context)?;
    }
    Ok(judged(&found, &thresholds, context))
}

/// Whether the shares are as large as they must be.
fn judged(found: &Coverage, thresholds: &[(Dimension, usize)], context: &Context) -> ExitCode {
    let mut code = ExitCode::Passed;
    for (dimension, least) in thresholds {
        let (covered, all) = found.share(*dimension);
        let word = dimension.word();
        if all == 0 {
            context.say(&format!("there are no {word} to cover\n"));
            return ExitCode::NothingSelected;
        }
        if covered * 100 < least * all {
            let percent = covered * 100 / all;
            context.say(&format!(
                "{word}: {percent} % covered, {least} % required\n"
            ));
            code = ExitCode::Failed;
        }
    }
    if !thresholds.is_empty() && !found.unknown.is_empty() {
        context.say("the suite names what the server does not have\n");
        code = ExitCode::Failed;
    }
    code
}

/// Reads `90`, which is about tools, or `tools=100,parameters=80`.
fn thresholds(text: Option<&str>) -> Result<Vec<(Dimension, usize)>, Refusal> {
    let parts = text.into_iter().flat_map(|text| text.split(','));
    let read = parts.map(|part| {
        let (word, percent) = part.split_once('=').unwrap_or(("tools", part));
        let mut all = Dimension::ALL.into_iter();
        let Some(dimension) = all.find(|it| it.word() == word.trim()) else {
            let message = format!("unknown kind `{word}` in `--threshold`");
            let known = Dimension::ALL.map(Dimension::word);
            return Err(Refusal::invalid(message).with_meant(word, "kinds", &known));
        };
        if let Ok(percent @ 0..=100) = percent.trim().parse() {
            return Ok((dimension, percent));
        }
        let message = format!("invalid percentage `{part}` in `--threshold`");
        Err(Refusal::invalid(message).with_help("write a number from 0 to 100"))
    });
    read.collect()
}

/// The assertions of the suites; invalid files are refused, because what they test is not known.
fn entries(args: &CoverageArgs, context: &Context) -> Result<Vec<Entry>, Refusal> {
    let mut typed = RunArgs::default();
    typed.selection.rules = args.rules;
    let suites = if args.suites.is_empty() {
        vec![PathBuf::from("evals")]
    } else {
        args.suites.clone()
    };
    let unset = running::unset_variables(&typed);
    let sources = (ServerFrom::Elsewhere, FixtureFrom::Elsewhere, unset);
    let loaded = running::load(&suites, &typed, sources, &context.environment)?;
    let mut errors = loaded.suite.problems;
    errors.retain(|it| it.severity == Severity::Error);
    if errors.is_empty() {
        return Ok(loaded.suite.entries);
    }
    Err(Refusal::invalid("the suite is invalid").beside(errors))
}

/// The assertions that passed in a run; `None`: all count.
fn passed(args: &CoverageArgs) -> Result<Option<BTreeSet<String>>, Refusal> {
    let Some(path) = &args.from else {
        return Ok(None);
    };
    let text = read(path, LONGEST_RUN)?;
    let run = report::run_json::parse(&text).map_err(|error| unusable(path, error))?;
    let records = run.records.into_iter();
    let passed = records.filter(|record| record.status == Status::Pass);
    Ok(Some(passed.map(|record| record.id).collect()))
}

/// The report for people.
fn shown(found: &Coverage) -> String {
    let mut out = String::new();
    for dimension in Dimension::ALL {
        let (covered, all) = found.share(dimension);
        let Some(percent) = (covered * 100).checked_div(all) else {
            continue;
        };
        let word = dimension.word().replace('_', " ");
        let _ = writeln!(out, "{word:<12} {covered:>4} of {all:<4} {percent:>3} %");
    }
    for dimension in Dimension::ALL {
        let open = found.things(dimension).filter(|(_, uses)| uses.tests == 0);
        let open: Vec<_> = open.collect();
        if open.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\nnot covered: {}", dimension.word().replace('_', " "));
        for (name, uses) in open.iter().take(MOST_NAMES) {
            let why = match (uses.skipped, uses.vacuous, uses.setups) {
                (0, 0, 0) => "",
                (0, 0, _) => " (only in setup)",
                (0, _, _) => " (only where nothing can fail)",
                (_, _, _) => " (only skipped)",
            };
            let _ = writeln!(out, "  {}{why}", clean(name).replace('\n', " "));
        }
        if open.len() > MOST_NAMES {
            let _ = writeln!(out, "  and {} more", open.len() - MOST_NAMES);
        }
    }
    for (dimension, name) in &found.unknown {
        let near = nearest(name, found.things(*dimension).map(|(name, _)| name));
        let near = near.map(|near| format!(": did you mean `{}`?", clean(near)));
        let (word, name) = (dimension.word(), clean(name));
        let near = near.unwrap_or_default();
        let _ = writeln!(out, "\nnot offered: {word} `{name}`{near}");
    }
    out
}

/// The report as JSON: the members of the Go tool's, which are about tools, and a block for each dimension.
fn document(found: &Coverage) -> Value {
    let named = |dimension, wanted: &dyn Fn(&Uses) -> bool| -> Vec<&str> {
        let things = found.things(dimension).filter(|(_, uses)| wanted(uses));
        things.map(|(name, _)| name).collect()
    };
    let block = |dimension: Dimension| {
        let (covered, total) = found.share(dimension);
        let unknown = found.unknown.iter().filter(|(of, _)| *of == dimension);
        let block = json!({
            "total": total,
            "covered": covered,
            "percentage": (covered * 100).checked_div(total),
            "uncovered": named(dimension, &|uses| uses.tests == 0),
            "setup_only": named(dimension, &|uses| uses.tests == 0 && uses.setups > 0),
            "skipped_only": named(dimension, &|uses| uses.tests == 0 && uses.skipped > 0),
            "vacuous": named(dimension, &|uses| uses.tests == 0 && uses.vacuous > 0),
            "unknown": unknown.map(|(_, name)| name).collect::<Vec<_>>(),
        });
        (dimension.word().to_owned(), block)
    };
    let (covered, total) = found.share(Dimension::Tools);
    let tested = found
        .things(Dimension::Tools)
        .filter(|(_, uses)| uses.tests > 0);
    let tested = tested.map(|(name, uses)| json!({"name": name, "assertions": uses.tests}));
    json!({
        "total": total,
        "covered": covered,
        "percentage": (covered * 100).checked_div(total).unwrap_or(0),
        "covered_tools": tested.collect::<Vec<_>>(),
        "uncovered_tools": named(Dimension::Tools, &|uses| uses.tests == 0),
        "dimensions": Dimension::ALL.map(block).into_iter().collect::<Map<_, _>>(),
    })
}
