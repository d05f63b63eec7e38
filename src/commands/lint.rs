//! `mcp-assert lint`: what is wrong with what a server offers.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use walkdir::{DirEntry, WalkDir};

use super::{
    Context,
    asking::{self, Typed, print},
    findings,
    running::{Refusal, input::regular_text},
};
use crate::{
    cli::lint::{LintArgs, Profile},
    inspect::{
        catalog::Offer,
        effect::Effect,
        lint::{
            self, Looked, Options,
            hosts::{self, data::FACTS},
            page, place,
            probe::{self, Limits, Probed},
            rule::Rule,
            rules,
        },
    },
};
use report::{
    cleaner::Cleaner,
    inspection::{self, Finding, Inspection, Kind, Place, Severity, Standing},
};
use suite::settings::{Allowed, LintSettings, RuleLevel, SourceFiles};
use text::{exit::ExitCode, source::Origin};

/// The longest baseline that is read, in bytes.
const LONGEST_BASELINE: u64 = 64 << 20;

/// Looks, and tells what was found.
pub(super) fn lint(args: &LintArgs, context: &Context) -> Result<ExitCode, Refusal> {
    if args.rules {
        return print(&page::table(), false, context).map(|()| ExitCode::Passed);
    }
    let catalog = args.from.catalog.as_deref();
    let written = [
        ("--save-baseline", args.save_baseline.as_deref()),
        ("--save-catalog", args.from.save_catalog.as_deref()),
    ];
    findings::check(&args.findings, catalog, &written, context)?;
    let typed = match catalog {
        Some(_) => None,
        None => Some(Typed::read(&args.from.server, context)?),
    };
    let settings = asking::settings(context)?;
    let settings = settings.map(|(_, it)| (it.lint, it.sources));
    let (settings, sources) = settings.unwrap_or_default();
    let mut options = options(args, &settings)?;
    if let Some(typed) = &typed {
        options.effects = typed.effects.clone();
    }
    let known = args.baseline.as_deref().map(baseline).transpose()?;
    let calls = args.call_tools || args.detect_nondeterminism;
    let (offer, probed) = match &typed {
        Some(typed) if calls => called(args, typed, &options, context)?,
        Some(_) | None => (asking::offer(&args.from, context)?, Probed::default()),
    };
    let is_lost = probed.is_lost;
    let looked = lint::look(&offer, &options, calls);
    let asked = (args, typed.as_ref());
    let mut inspection = inspection(asked, &options, &offer, (looked, probed), context);
    let (files, idle) = match catalog {
        Some(file) => ([file.to_owned()].into(), None),
        None => matching(&sources),
    };
    inspection.notes.extend(idle);
    place::put(&mut inspection.findings, &texts(files, context));
    if let Some(known) = &known {
        know(known, &mut inspection);
    }
    allow(&settings.allow, &options, &mut inspection);
    if let Some(path) = &args.save_baseline {
        findings::write(path, &saved(&inspection), context)?;
    }
    findings::deliver(&args.findings, &inspection, || json(&inspection), context)?;
    if is_lost {
        let why = "the server did not answer all calls";
        return Err(Refusal::new(ExitCode::CouldNotRun, why));
    }
    Ok(verdict(args, &inspection))
}

/// The texts of files by their paths from here, as far as they can be read.
fn texts(files: impl IntoIterator<Item = PathBuf>, context: &Context) -> BTreeMap<String, String> {
    let texts = files.into_iter().filter_map(|path| {
        let text = regular_text(&path, asking::LONGEST_CATALOG).ok()?;
        let shown = path.strip_prefix(&context.environment.directory);
        Some((shown.unwrap_or(&path).display().to_string(), text))
    });
    texts.collect()
}

/// The files that match the settings' patterns, and a note of the patterns that match none.
fn matching(sources: &[SourceFiles]) -> (BTreeSet<PathBuf>, Option<String>) {
    let (mut files, mut idle) = (BTreeSet::new(), Vec::new());
    for source in sources {
        let folder = source.folder.canonicalize().unwrap_or_default();
        let is_looked_at = |it: &DirEntry| {
            let name = it.file_name().to_string_lossy();
            it.depth() == 0 || !name.starts_with('.') && name != "node_modules"
        };
        let walk = WalkDir::new(&folder).into_iter().filter_entry(is_looked_at);
        let paths = walk.filter_map(Result::ok).map(DirEntry::into_path);
        let fits = |it: &Path| source.glob.is_match(it.strip_prefix(&folder).unwrap_or(it));
        let found: Vec<PathBuf> = paths.filter(|it| fits(it)).collect();
        if found.is_empty() {
            idle.push(format!("`{}`", source.written));
        }
        files.extend(found);
    }
    let idle =
        (!idle.is_empty()).then(|| format!("no file matches {} of `sources`", idle.join(", ")));
    (files, idle)
}

/// Asks the server, and calls what may be called in the same session.
fn called(
    args: &LintArgs,
    asked: &Typed,
    options: &Options,
    context: &Context,
) -> Result<(Offer, Probed), Refusal> {
    let sources = asked.sources(context)?;
    let limits = Limits {
        sources: &sources,
        allowed: Effect::ALL[args.allow as usize],
        most_bytes: args.max_response_kb.saturating_mul(1024),
        repeats: args.detect_nondeterminism,
    };
    let (offer, probed) = asked.ask(context, async |open| {
        let offer = open.offer().await;
        asking::complete(&offer)?;
        asking::check_samples(&sources, &offer, context)?;
        let probed = probe::probe(open, &offer, limits, options).await;
        Ok((offer, probed))
    })?;
    asking::save(&args.from, &offer, context)?;
    Ok((offer, probed))
}

/// Marks the findings that the settings allow, and adds one for each entry that allows nothing.
fn allow(entries: &[Allowed], options: &Options, inspection: &mut Inspection) {
    for entry in entries {
        let (name, pointer) = (entry.name.as_ref(), entry.pointer.as_ref());
        let is_meant = |it: &Finding| {
            it.code == entry.code
                && name.is_none_or(|glob| glob.is_match(&it.name))
                && pointer.is_none_or(|pointer| *pointer == it.pointer)
        };
        let mut is_used = false;
        for it in inspection.findings.iter_mut().filter(|it| is_meant(it)) {
            it.standing = Standing::Allowed(entry.reason.clone());
            is_used = true;
        }
        let has_run = inspection.checks.iter().any(|it| it.code == entry.code);
        let is_idle = has_run && !is_used;
        if let Some(rule) = rules::of("W199").filter(|it| is_idle && options.wants(it)) {
            let mut unused = vec![Finding {
                pointer: format!("/allow/{}", entry.code),
                message: format!("the settings allow `{}`, and nothing matches", entry.code),
                place: Some(place_of(&entry.at)),
                ..rule.finding()
            }];
            options.settle(&mut unused);
            inspection.findings.append(&mut unused);
        }
    }
    inspection.sort();
}

fn place_of(at: &Origin) -> Place {
    let position = at.position();
    Place {
        file: at.file.path.to_string(),
        line: position.line,
        column: position.column,
    }
}

/// Reads which rules run.
fn options(args: &LintArgs, settings: &LintSettings) -> Result<Options, Refusal> {
    let facts = FACTS.iter().map(|it| it.code);
    let codes: Vec<&'static str> = rules::all().map(|it| it.code).chain(facts).collect();
    let mut options = Options {
        is_of_go: args.profile == Profile::Go,
        informs: args.profile == Profile::All,
        is_strict: args.strict,
        ..Options::default()
    };
    let typed = args.skip_rules.iter().map(|it| it.trim());
    for typed in typed.filter(|it| !it.is_empty()) {
        let code = codes.iter().find(|it| it.eq_ignore_ascii_case(typed));
        let code = code.ok_or_else(|| unknown("rule", typed, &codes))?;
        options.skipped.insert(code);
    }
    for (typed, level, at) in &settings.rules {
        let code = codes.iter().find(|it| *it == typed);
        let code = code.ok_or_else(|| unknown("rule", typed, &codes).at(Some(at.clone())))?;
        let mut raise = |to| {
            options.levels.insert(code, to);
        };
        match level {
            RuleLevel::Off => drop(options.skipped.insert(code)),
            RuleLevel::Info => raise(Severity::Info),
            RuleLevel::Warning => raise(Severity::Warning),
            RuleLevel::Error => raise(Severity::Error),
        }
    }
    for Allowed { code, at, .. } in &settings.allow {
        if !codes.contains(&code.as_str()) {
            return Err(unknown("rule", code, &codes).at(Some(at.clone())));
        }
    }
    let names = hosts::names();
    for typed in args.hosts.iter().filter(|it| *it != "all") {
        if !names.contains(&typed.as_str()) {
            return Err(unknown("host", typed, &names));
        }
    }
    let is_meant = |host: &str| args.hosts.iter().any(|it| it == "all" || it == host);
    options.hosts = FACTS.iter().filter(|it| is_meant(it.host)).collect();
    Ok(options)
}

fn unknown(what: &str, typed: &str, known: &[&str]) -> Refusal {
    let refusal = Refusal::invalid(format!("unknown {what} `{typed}`"));
    refusal.with_meant(typed, &format!("{what}s"), known)
}

fn inspection(
    (args, typed): (&LintArgs, Option<&Typed>),
    options: &Options,
    offer: &Offer,
    (looked, probed): (Looked, Probed),
    context: &Context,
) -> Inspection {
    let mut findings = looked.findings;
    findings.extend(probed.findings);
    let chosen = rules::all().filter(|it| options.wants(it));
    let chosen = chosen.map(Rule::described);
    let facts = options.hosts.iter().map(|it| it.described());
    let shown = |it: &PathBuf| it.display().to_string();
    let catalog = args.from.catalog.as_ref().map(shown);
    let named = || args.from.server.named().map(|[_, it]| it);
    let of_target = typed.and_then(|it| it.at.as_ref()).map(place_of);
    let of_catalog = catalog.clone().map(Place::beginning);
    let secrets = typed.map(|it| it.secrets.clone()).unwrap_or_default();
    let inspection = Inspection {
        command: "lint",
        again: findings::again(&args.from.server.how.headers, context),
        server: offer
            .server()
            .or(catalog)
            .or_else(named)
            .unwrap_or_default(),
        anchor: of_target.or(of_catalog).or_else(findings::settings_file),
        checks: chosen.chain(facts).collect(),
        notes: lint::dropped_lists(&findings).into_iter().collect(),
        subjects: looked.subjects,
        findings,
        not_called: probed.not_called,
    };
    inspection.cleaned(&Cleaner::new(secrets))
}

/// Reads the fingerprints of a baseline.
fn baseline(path: &Path) -> Result<BTreeSet<String>, Refusal> {
    let text = asking::read(path, LONGEST_BASELINE)?;
    let whole: Value = serde_json::from_str(&text)
        .map_err(|error| asking::unusable(path, format!("it is not JSON: {error}")))?;
    let findings = whole.get("lint_baseline").and_then(Value::as_object);
    let findings = findings
        .ok_or_else(|| asking::unusable(path, "it is not a baseline of `lint --save-baseline`"))?;
    Ok(findings.keys().cloned().collect())
}

/// Marks the findings of the baseline, and notes how many of its findings are no more.
fn know(known: &BTreeSet<String>, inspection: &mut Inspection) {
    let mut now = BTreeSet::new();
    for it in &mut inspection.findings {
        let fingerprint = it.fingerprint();
        if known.contains(&fingerprint) {
            it.standing = Standing::Known;
        }
        now.insert(fingerprint);
    }
    let gone = known.difference(&now).count();
    if gone > 0 {
        let count = text::count(gone, "finding");
        inspection.notes.push(format!(
            "{count} of the baseline no longer occurs; `--save-baseline` removes it"
        ));
    }
}

/// The baseline of these findings: what each fingerprint stands for.
fn saved(inspection: &Inspection) -> String {
    let entry = |it: &Finding| {
        let about = format!("{} {} {}{}", it.code, it.kind.word(), it.name, it.pointer);
        (it.fingerprint(), about.into())
    };
    let entries: serde_json::Map<String, Value> = inspection.findings.iter().map(entry).collect();
    format!("{:#}\n", json!({ "lint_baseline": entries }))
}

/// The Go tool's object, and ours beside it.
fn json(inspection: &Inspection) -> Value {
    let subjects = inspection.subjects.iter();
    let tools = subjects.filter(|it| it.kind == Kind::Tool).count();
    let [errors, warnings, infos] = inspection.numbers();
    json!({
        "server": inspection.server,
        "tools": tools,
        "findings": inspection::json::findings(inspection),
        "not_called": inspection::json::not_called(inspection),
        "notes": inspection.notes,
        "again": inspection.again,
        "errors": errors,
        "warnings": warnings,
        "infos": infos,
    })
}

fn verdict(args: &LintArgs, inspection: &Inspection) -> ExitCode {
    let [errors, warnings, infos] = inspection.numbers();
    let exceeds = args.max_warnings.is_some_and(|most| warnings > most)
        || (args.threshold > 0 && errors + warnings + infos > args.threshold);
    if errors > 0 || exceeds {
        ExitCode::Failed
    } else {
        ExitCode::Passed
    }
}
