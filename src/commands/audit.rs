//! `mcp-assert audit`: which of the things that a server offers answer.

use std::fmt::Write;

use globset::{Glob, GlobMatcher};
use serde_json::{Value, json};

use super::{
    Context,
    asking::{Typed, complete, print},
    list::pretty,
    running::Refusal,
};
use crate::{
    cli::audit::{Allow, AuditArgs},
    inspect::{
        audit::{self, Audit, Limits, Row},
        effect::Effect,
        probe::Class,
        sample::Which,
    },
};
use text::{clean, count, exit::ExitCode, time};

/// Lines of stderr below a probe that went wrong.
const MOST_STDERR: usize = 5;

/// Probes the server and reports.
pub(super) fn audit(args: &AuditArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let typed = Typed::read(&args.server, context)?;
    let (only, skip) = (globs("--only", &args.only)?, globs("--skip", &args.skip)?);
    let wanted = |name: &str| {
        let is_in = |globs: &[GlobMatcher]| globs.iter().any(|it| it.is_match(name));
        (only.is_empty() || is_in(&only)) && !is_in(&skip)
    };
    let limits = Limits {
        allow: allowed(args.allow, args.include_writes).unwrap_or_else(|| typed.allows()),
        wanted: &wanted,
        which: if args.full {
            Which::All
        } else {
            Which::Required
        },
        sources: typed.sources(context)?,
    };
    let audit = typed.with_servers(context, async |asked| {
        let begun = typed.begun(asked, &limits.sources, context).await?;
        Ok(audit::audit(asked, begun, &limits).await)
    })?;
    let text = if args.json {
        pretty(&document(&audit, args, &typed))
    } else {
        shown(&audit)
    };
    print(&typed.secrets.mask(&text), args.json, context)?;
    if let Some(folder) = &args.output {
        super::generate::write_audited(folder, &audit, &typed, context)?;
    }
    complete(&audit.offer)?;
    if let Some(why) = &audit.gone {
        let message = format!("the server could not be started any more: {}", clean(why));
        return Err(Refusal::could_not_run(message));
    }
    Ok(match (args.threshold, Audit::score(&audit.tools)) {
        (Some(_), None) => ExitCode::NothingSelected,
        (Some(least), Some(score)) if score < usize::from(least) => ExitCode::Failed,
        (None | Some(_), _) => ExitCode::Passed,
    })
}

/// What the options allow to be called; `None`: they say nothing of it.
pub(super) fn allowed(allow: Option<Allow>, includes_writes: bool) -> Option<Effect> {
    if includes_writes {
        return Some(Effect::Destructive);
    }
    allow.map(|allow| Effect::ALL[allow as usize])
}

/// Globs of an option.
fn globs(option: &str, patterns: &[String]) -> Result<Vec<GlobMatcher>, Refusal> {
    let globs = patterns.iter().map(|pattern| {
        let glob = Glob::new(pattern).map(|it| it.compile_matcher());
        glob.map_err(|error| {
            let why = error.kind();
            Refusal::invalid(format!("invalid glob `{pattern}` in `{option}`: {why}"))
        })
    });
    globs.collect()
}

/// The report for people: what is wrong with its evidence, then what is well, then what was not called.
fn shown(audit: &Audit) -> String {
    let mut out = String::new();
    let score = match Audit::score(&audit.tools) {
        Some(score) => format!("score {score}"),
        None => "no tool was called".to_owned(),
    };
    let tools = count(audit.tools.len(), "tool");
    let _ = writeln!(out, "{}: {tools}, {score}", clean(&audit.offer.name()));
    for (kind, rows) in audit.groups() {
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{kind}");
        let mut rows: Vec<&Row> = rows.iter().collect();
        // Those of a class stay in the server's order.
        rows.sort_by_key(|row| row.seen.class);
        for row in rows {
            one(&mut out, row);
        }
    }
    out
}

fn one(out: &mut String, row: &Row) {
    let class = row.seen.class;
    let name = clean(&row.name).replace('\n', " ");
    let took = if class == Class::Skipped {
        String::new()
    } else {
        format!("  {}", time(row.seen.took))
    };
    // Writing to a text cannot fail.
    let _ = writeln!(out, "  {:<14} {name}{took}", class.word());
    let mut below = |text: &str| {
        let _ = writeln!(out, "      {text}");
    };
    let detail = clean(row.seen.detail.lines().next().unwrap_or_default());
    if class != Class::Healthy && !detail.is_empty() {
        below(&detail);
    }
    if class.is_healthy() || class == Class::Skipped {
        return;
    }
    if !row.arguments.is_null() {
        below(&clean(&format!("called with {}", row.arguments)));
    }
    match row.reproducible {
        Some(true) => below("on a fresh server too"),
        Some(false) => below("not on a fresh server: only after the calls before it"),
        None => {}
    }
    if let Some(why) = &row.refused {
        let why = clean(why);
        below(&format!("its own schema refuses these arguments: {why}"));
    }
    let lines: Vec<&str> = row.stderr.lines().collect();
    for it in &lines[lines.len().saturating_sub(MOST_STDERR)..] {
        below(&format!("| {}", clean(it)));
    }
}

/// The report as JSON: the members of the Go tool's, and ours.
fn document(audit: &Audit, args: &AuditArgs, typed: &Typed) -> Value {
    let groups = audit.groups().into_iter();
    let scores: Value = groups
        .map(|(kind, rows)| (kind, Audit::score(rows)))
        .collect();
    let rows = |rows: &[Row]| rows.iter().map(row).collect::<Value>();
    let transport = if typed.is_web() { "http" } else { "stdio" };
    json!({
        "server": typed.text,
        "transport": transport,
        "tool_count": audit.tools.len(),
        "results": rows(&audit.tools),
        "prompts": rows(&audit.prompts),
        "resources": rows(&audit.resources),
        "protocol": rows(&audit.protocol),
        "score": Audit::score(&audit.tools),
        "scores": scores,
        "generated_at": args.output.as_ref().map(|it| it.display().to_string()).unwrap_or_default(),
    })
}

fn row(row: &Row) -> Value {
    let (class, status, code) = row.seen.class.words();
    let mut whole = json!({
        "tool": row.name,
        "status": status,
        "class": class,
        "detail": row.seen.detail,
        "is_error": row.seen.class == Class::ToolError,
        "has_content": row.seen.has_content,
        "duration_ms": u64::try_from(row.seen.took.as_millis()).unwrap_or(u64::MAX),
        "args": row.arguments,
        "description": row.description,
        "error_code": code,
        "rpc_code": row.seen.rpc_code,
        "effect": row.effect.map(Effect::word),
        "args_refused": row.refused,
        "reproducible": row.reproducible,
        "stderr": Some(&row.stderr).filter(|it| !it.is_empty()),
    });
    if let Some(members) = whole.as_object_mut() {
        members.retain(|name, value| name == "args" || !value.is_null());
    }
    whole
}
