//! Calls that never reached what an assertion means to test: a tool that is not there, or arguments that the
//! server's own check refuses.

use serde_json::{Map, Value};

use crate::{json, phrase, traits, traits::Says};
use mcp::{
    observation::{Observation, answer::Answer, catalog::Catalog},
    script::subject::{OnToolError, Step, StepAction},
};
use suite::model::{self, StepWanted, expectation::Expectation};

/// So many tools are all named.
const FEW: usize = 5;

/// Why the call tested nothing of its tool.
pub(super) fn reason(wanted: &[&Expectation], seen: &Observation) -> Option<String> {
    let answer = seen.answer.as_ref()?;
    let tool = answer.tool.as_deref()?;
    let failed = failed(answer);
    if failed && wanted.iter().any(|one| names_the_error(one)) {
        return None;
    }
    listed(seen).and_then(|catalog| match catalog.tool(tool) {
        Some(_) => refused_arguments(tool, catalog, answer),
        None if catalog.knows_all_tools() => unlisted(tool, catalog, answer, seen),
        None => None,
    })
}

/// That a call which failed is of a tool that the server does not list, and which one it may have meant.
pub fn of_no_tool(answer: &Answer, seen: &Observation) -> Option<String> {
    let tool = answer.tool.as_deref()?;
    let catalog = listed(seen)?;
    let is_unlisted = catalog.knows_all_tools() && catalog.tool(tool).is_none();
    (failed(answer) && is_unlisted).then(|| not_listed(tool, catalog))
}

/// Whether a call ended with a tool error or a JSON-RPC error.
fn failed(answer: &Answer) -> bool {
    answer.reply().is_none_or(|reply| reply.is_error)
}

/// The tools that the server listed, unless that proves nothing.
fn listed(seen: &Observation) -> Option<&Catalog> {
    let catalog = seen.catalog.as_deref();
    catalog.filter(|catalog| catalog.tools.is_some() && !changes_its_tools(seen))
}

/// Why frames of `raw` that nothing came back for tested nothing: what is wanted holds of silence too.
pub(super) fn silence(wanted: &[&Expectation], seen: &Observation) -> Option<String> {
    let reply = seen.answer.as_ref()?.reply()?;
    let frames = reply.frames.as_ref()?;
    if !wanted.iter().all(|one| traits(one).holds_of_silence) {
        return None;
    }
    if !frames.unanswered.is_empty() {
        let requests = text::count(frames.unanswered.len(), "request");
        return Some(format!(
            "{requests} of `raw` got no answer, and nothing here asks for one"
        ));
    }
    reply.text.is_empty().then(|| {
        "nothing came back for the frames of `raw`, and nothing here asks for it".to_owned()
    })
}

/// Why what holds of a tool error as well proves nothing of a call that failed: bounds, what must not be said or
/// come, and that there is any text.
pub(super) fn unspoken_error(wanted: &[&Expectation], seen: &Observation) -> Option<String> {
    let answer = seen.answer.as_ref()?;
    let tool = answer.tool.as_deref()?;
    let unspoken = answer.reply().is_some_and(|reply| reply.is_error)
        && wanted.iter().all(|one| traits(one).holds_of_failure);
    unspoken.then(|| {
        format!(
            "the tool {} answered with an error, and nothing here asks whether it does",
            phrase::quoted(tool)
        )
    })
}

/// The reason if every step may fail and none expects anything.
pub(super) fn open_steps(body: &model::Body) -> Option<String> {
    let is_open = |(step, of_step): (&Step, &StepWanted)| {
        let is_wait = matches!(step.action, StepAction::Wait(_));
        let asks = !of_step.wanted.is_empty() || !step.captures.is_empty();
        !asks && (is_wait || step.on_tool_error == OnToolError::Allowed)
    };
    let steps = body.subject.steps();
    (!steps.is_empty() && steps.iter().zip(&body.of_steps).all(is_open))
        .then(|| "no step wants anything, and each may be answered with an error".to_owned())
}

/// Whether the server said that its tools change: then the catalog proves nothing.
fn changes_its_tools(seen: &Observation) -> bool {
    seen.notifications
        .iter()
        .any(|one| one.method == "notifications/tools/list_changed")
}

/// A tool that the server does not list. One that answers well after setup steps may have come with them.
fn unlisted(tool: &str, catalog: &Catalog, answer: &Answer, seen: &Observation) -> Option<String> {
    let consequence = if failed(answer) {
        ": the error may be about that"
    } else if seen.steps.is_empty() {
        ", and answers all the same"
    } else {
        return None;
    };
    let named = phrase::quoted(tool);
    Some(format!(
        "the server does not list the tool {named}{consequence}{}",
        near(tool, catalog)
    ))
}

/// That a tool is not listed, and which one may have been meant; of a few, all.
fn not_listed(tool: &str, catalog: &Catalog) -> String {
    let mut meant = near(tool, catalog);
    let all = catalog.tool_names();
    if meant.is_empty() && (1..=FEW).contains(&all.len()) {
        let all: Vec<String> = all.into_iter().map(phrase::quoted).collect();
        meant = format!("; it lists {}", phrase::joined(&all, "and"));
    }
    let quoted = phrase::quoted(tool);
    format!("the server does not list the tool {quoted}{meant}")
}

/// The listed tool that may have been meant.
fn near(tool: &str, catalog: &Catalog) -> String {
    text::nearest(tool, catalog.tool_names())
        .map(|near| format!("; it lists {}", phrase::quoted(near)))
        .unwrap_or_default()
}

/// Arguments that the tool's own schema refuses.
fn refused_arguments(tool: &str, catalog: &Catalog, answer: &Answer) -> Option<String> {
    let nothing = Value::Object(Map::new());
    let arguments = Some(&answer.arguments).filter(|given| !given.is_null());
    let arguments = arguments.unwrap_or(&nothing);
    let violation = json::first_violation(catalog, (tool, "inputSchema"), arguments)?;
    let consequence = if failed(answer) {
        ": the call may never have reached the tool"
    } else {
        ", and the server took them"
    };
    Some(format!(
        "the arguments do not satisfy the tool's `inputSchema` ({violation}){consequence}"
    ))
}

/// Whether an expectation says which error is meant: then the error is what is tested.
fn names_the_error(expectation: &Expectation) -> bool {
    let traits = traits(expectation);
    match traits.says {
        Says::Text | Says::Content => traits.unfailable.is_none(),
        Says::Error => true,
        Says::Other => false,
    }
}
