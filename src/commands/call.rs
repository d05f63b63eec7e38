//! `mcp-assert call`: one call of a tool, and its answer.

use std::path::Path;

use serde_json::Value;

use super::{
    Context,
    asking::{Typed, print},
    generate::{exists, write_new},
    list::{pretty, unknown},
    running::Refusal,
};
use crate::{
    cli::call::CallArgs,
    inspect::{
        call,
        effect::Effect,
        parameters,
        server::{Open, Unanswered},
        stub::{Here, Stub, Wanted},
    },
};
use mcp::observation::{
    Observation,
    catalog::Listing,
    disruption::{Disruption, DisruptionKind, Phase},
};
use text::exit::ExitCode;

/// Calls the tool and prints the answer.
pub(super) fn call(args: &CallArgs, context: &Context) -> Result<ExitCode, Refusal> {
    let typed = Typed::read(&args.server, context)?;
    if let Some(path) = args.save.as_deref().filter(|path| path.exists()) {
        return Err(replaces(path));
    }
    let question = async |open: &mut Open| called(args, &typed, open, context).await;
    let (seen, assertion) = typed.ask(context, question)?;
    let beside = call::beside(&seen);
    if !beside.is_empty() {
        context.say(&typed.secrets.mask(&beside));
    }
    let text = match call::raw(&seen) {
        Some(raw) if args.json => pretty(raw),
        Some(_) | None => call::shown(&seen),
    };
    print(&typed.secrets.mask(&text), args.json, context)?;
    if let Some(path) = &args.save {
        save(path, &typed.secrets.mask(&assertion), context)?;
        typed.tell_target(context);
    }
    Ok(match Wanted::of(Some(&seen)) {
        Wanted::Result => ExitCode::Passed,
        Wanted::ToolError => {
            context.say("the tool failed: `isError` is true\n");
            ExitCode::Failed
        }
        Wanted::ProtocolError(_) => ExitCode::Failed,
    })
}

/// Looks the tool up, and calls it; once more if its answer is kept and it declares that it only reads. The answer, and the
/// call as a suite file.
async fn called(
    args: &CallArgs,
    typed: &Typed,
    open: &mut Open,
    context: &Context,
) -> Result<(Observation, String), Refusal> {
    let offer = open.offer().await;
    let tool = offer.catalog.tool(&args.tool);
    if tool.is_none() && offer.catalog.knows_all_tools() {
        return Err(unknown(&offer, Listing::Tools, &args.tool));
    }
    let tool = tool.unwrap_or(&Value::Null);
    let arguments = arguments(args, &tool["inputSchema"])?;
    let hint = tool["annotations"]["readOnlyHint"] == true;
    let told = typed.effects.of(&args.tool);
    let reads = told.map_or(hint, |it| it == Effect::Read);
    let seen = answer(open, typed, args, &arguments).await?;
    let again = if args.save.is_some() && reads {
        Some(answer(open, typed, args, &arguments).await?)
    } else {
        None
    };
    let stub = Stub {
        tool: &args.tool,
        arguments: &arguments,
        has_output_schema: tool.get("outputSchema").is_some(),
        wanted: Wanted::of(Some(&seen)),
        twice: again.as_ref().map(|again| (&seen, again)),
        skip: None,
    };
    let here = Here::of(&context.environment);
    let assertion = stub.yaml(typed.yaml().as_deref(), &here);
    Ok((seen, assertion))
}

async fn answer(
    open: &mut Open,
    typed: &Typed,
    args: &CallArgs,
    arguments: &Value,
) -> Result<Observation, Refusal> {
    let mut seen = open.call(&args.tool, arguments.clone()).await;
    if seen.answer.is_some() {
        return Ok(seen);
    }
    let disruption = seen.disruption.take().unwrap_or_else(|| {
        let (kind, phase) = (DisruptionKind::Transport, Phase::Subject);
        Disruption::new(kind, phase, "there was no answer")
    });
    Err(typed.unanswered(Unanswered {
        disruption,
        stderr: open.stderr(),
    }))
}

/// The arguments as they are sent.
fn arguments(args: &CallArgs, schema: &Value) -> Result<Value, Refusal> {
    match &args.args {
        None => {
            let typed = parameters::typed(&args.values, schema).map(Value::Object);
            let help = "or give all arguments as JSON: `--args '{…}'`";
            typed.map_err(|problem| Refusal::invalid(problem).with_help(help))
        }
        Some(text) => match serde_json::from_str(text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(_) => Err(Refusal::invalid("`--args` is not a JSON object")),
            Err(error) => Err(Refusal::invalid(format!("`--args` is not JSON: {error}"))),
        },
    }
}

/// Writes a new file; an existing one is never replaced.
fn save(path: &Path, text: &str, context: &Context) -> Result<(), Refusal> {
    if !write_new(path, text)? {
        return Err(replaces(path));
    }
    let shown = path.display().to_string();
    let command = shell_words::join(["mcp-assert", "run", &shown]);
    context.say(&format!("wrote {shown}; try it: {command}\n"));
    Ok(())
}

fn replaces(path: &Path) -> Refusal {
    exists(path).with_help("name a new file with `--save`")
}
