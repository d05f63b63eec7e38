//! `mcp-assert audit`: which of the things that a server offers answer.

use globset::GlobSet;
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

/// Probes the server and reports.
pub(super) fn audit(args: &AuditArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let typed = Typed::read(&args.server, context)?;
    let (only, skip) = (globs("--only", &args.only)?, globs("--skip", &args.skip)?);
    let wanted = |name: &str| (args.only.is_empty() || only.is_match(name)) && !skip.is_match(name);
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
    let audit = typed.with_servers(&args.server, context, async |asked| {
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
        return Err(Refusal::new(ExitCode::CouldNotRun, message));
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
pub(super) fn globs(option: &str, patterns: &[String]) -> Result<GlobSet, Refusal> {
    let mut set = globset::GlobSetBuilder::new();
    for pattern in patterns {
        let glob = globset::Glob::new(pattern).map_err(|error| {
            Refusal::invalid(format!(
                "invalid glob `{pattern}` in `{option}`: {}",
                error.kind()
            ))
        })?;
        set.add(glob);
    }
    let set = set.build();
    set.map_err(|error| Refusal::invalid(format!("`{option}` cannot be used: {error}")))
}

/// The report for people: what is wrong with its evidence, then what is well, then what was not called.
fn shown(audit: &Audit) -> String {
    let mut out = String::new();
    let name = audit
        .offer
        .server()
        .unwrap_or_else(|| "a server without a name".to_owned());
    let score = Audit::score(&audit.tools);
    let score = score.map_or_else(
        || "no tool was called".to_owned(),
        |it| format!("score {it}"),
    );
    line(
        &mut out,
        &format!(
            "{}: {}, {score}",
            clean(&name),
            count(audit.tools.len(), "tool")
        ),
    );
    for (kind, rows) in audit.groups() {
        if rows.is_empty() {
            continue;
        }
        line(&mut out, &format!("\n{kind}"));
        let mut rows: Vec<&Row> = rows.iter().collect();
        // The worst first; those of a class stay in the server's order.
        rows.sort_by_key(|row| rank(row.seen.class));
        for row in rows {
            one(&mut out, row);
        }
    }
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn rank(class: Class) -> u8 {
    match class {
        Class::Crash => 0,
        Class::Unreachable => 1,
        Class::Timeout => 2,
        Class::Violation => 3,
        Class::Exposed => 4,
        Class::ProtocolError => 5,
        Class::ToolError => 6,
        Class::Rejected => 7,
        Class::Healthy => 8,
        Class::Skipped => 9,
    }
}

fn one(out: &mut String, row: &Row) {
    let class = row.seen.class;
    let name = clean(&row.name).replace('\n', " ");
    let took = if class == Class::Skipped {
        String::new()
    } else {
        format!("  {}", time(row.seen.took))
    };
    line(out, &format!("  {:<14} {name}{took}", class.word()));
    let detail = clean(row.seen.detail.lines().next().unwrap_or_default());
    if class != Class::Healthy && !detail.is_empty() {
        line(out, &format!("      {detail}"));
    }
    if class.is_healthy() || class == Class::Skipped {
        return;
    }
    if !row.arguments.is_null() {
        line(
            out,
            &format!("      called with {}", clean(&row.arguments.to_string())),
        );
    }
    match row.reproducible {
        Some(true) => line(out, "      on a fresh server too"),
        Some(false) => line(
            out,
            "      not on a fresh server: only after the calls before it",
        ),
        None => {}
    }
    if let Some(why) = &row.refused {
        line(
            out,
            &format!(
                "      its own schema refuses these arguments: {}",
                clean(why)
            ),
        );
    }
    for it in row
        .stderr
        .lines()
        .rev()
        .take(5)
        .collect::<Vec<_>>()
        .iter()
        .rev()
    {
        line(out, &format!("      | {}", clean(it)));
    }
}

/// The report as JSON: the members of the Go tool's, and ours.
fn document(audit: &Audit, args: &AuditArgs, typed: &Typed) -> Value {
    let scores: serde_json::Map<String, Value> = audit
        .groups()
        .into_iter()
        .map(|(kind, rows)| (kind.to_owned(), json!(Audit::score(rows))))
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
    let (status, code) = row.seen.class.of_go_tool();
    let mut whole = json!({
        "tool": row.name,
        "status": status,
        "class": row.seen.class.word(),
        "detail": row.seen.detail,
        "is_error": row.seen.class == Class::ToolError,
        "has_content": row.seen.has_content,
        "duration_ms": u64::try_from(row.seen.took.as_millis()).unwrap_or(u64::MAX),
        "args": row.arguments,
    });
    let optional = [
        ("description", row.description.clone().map(Value::from)),
        ("error_code", code.map(Value::from)),
        ("rpc_code", row.seen.rpc_code.map(Value::from)),
        ("effect", row.effect.map(|it| it.word().into())),
        ("args_refused", row.refused.clone().map(Value::from)),
        ("reproducible", row.reproducible.map(Value::from)),
        (
            "stderr",
            Some(row.stderr.clone())
                .filter(|it| !it.is_empty())
                .map(Value::from),
        ),
    ];
    for (name, value) in optional {
        if let Some(value) = value {
            whole[name] = value;
        }
    }
    whole
}
