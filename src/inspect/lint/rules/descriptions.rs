//! Whether the description of a tool says what it does, with what, and what comes back.

use super::{is_among, stem, words};
use crate::inspect::lint::{
    rule::{Findings, rules},
    view::Tool,
};
use text::count;

rules! {
    "E101" "missing-tool-description" Error "very-high" [go] Tool(missing):
        "a tool has no description" =>
        "say what the tool does, when to use it and what it returns: a model chooses tools by their descriptions";
    "W101" "generic-description" Warning "high" [go] Tool(generic):
        "the description would fit any tool" =>
        "name what is read or changed, such as \"Lists the open issues of a repository\"";
    "W111" "description-length" Warning "medium" [go] Tool(length):
        "the description is shorter than 20 or longer than 500 characters" =>
        "write one to three sentences, and move details to the parameters";
    "W110" "parameters-not-mentioned" Warning "low" [go] Tool(drift):
        "the description names fewer than half of the parameters" =>
        "say in the description what the parameters are for";
    "W116" "result-not-described" Warning "medium" [go] Tool(result):
        "neither the description nor an `outputSchema` says what the tool returns" =>
        "end the description with what is returned, or declare an `outputSchema`";
    "W117" "overloaded-tool" Warning "low" [] Tool(overloaded):
        "the description names more than three actions" =>
        "divide the tool, one action each";
}

/// Descriptions that say nothing.
const GENERIC: &str = "get data|process data|do something|execute|run|handle|perform action|utility|helper|tool|function|todo";

/// Words of descriptions that say what comes back.
const RESULTS: &str = "return returns returned returning output outputs produce produces result results respond responds \
    response yields gives provides reports prints emits answer";

/// Actions of which a description names one or two.
const ACTIONS: &str = "create read update delete list search find fetch send upload download import export convert validate \
    analyze generate parse transform merge split sort copy move rename archive publish deploy execute \
    install start stop monitor";

fn missing(tool: &Tool<'_>, found: &mut Findings<'_>) {
    if tool.description.is_empty() {
        found.say("/description", "the tool has no description");
    }
}

fn generic(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let text = tool.description;
    let plain = text.trim_end_matches('.').to_lowercase();
    let is_one_word = !text.is_empty() && text.chars().count() < 10 && !text.contains(' ');
    if is_one_word || GENERIC.split('|').any(|it| it == plain) {
        let message = format!("the description `{text}` would fit any tool");
        found.say("/description", message);
    }
}

fn length(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let length = tool.description.chars().count();
    let characters = count(length, "character");
    let message = match length {
        1..20 => format!("the description has {characters}, fewer than 20"),
        501.. => format!("the description has {length} characters, more than 500"),
        _ => return,
    };
    found.say("/description", message);
}

fn drift(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let (all, said) = (tool.parameters.len(), words(tool.description));
    if all < 2 || said.is_empty() {
        return;
    }
    let is_said = |word: &String| said.iter().any(|it| stem(it) == stem(word));
    let is_named = |words: &[String]| {
        words.iter().any(|it| it.len() > 2 && is_said(it)) || words.iter().all(is_said)
    };
    let named = tool.parameters.iter().filter(|it| is_named(&it.words));
    let named = named.count();
    if named * 2 < all {
        let message = format!("the description names {named} of {all} parameters");
        found.say("/description", message);
    }
}

fn result(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let said = words(tool.description);
    let says = said.iter().any(|it| is_among(it, RESULTS));
    if !tool.description.is_empty() && tool.output.is_none() && !says {
        found.say("/description", "nothing says what the tool returns");
    }
}

fn overloaded(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let said = words(tool.description);
    let is_said = |verb: &str| said.iter().any(|it| stem(it) == stem(verb));
    let actions: Vec<&str> = ACTIONS.split(' ').filter(|it| is_said(it)).collect();
    if actions.len() > 3 {
        let message = format!("the description names {} actions", actions.len());
        found.say("/description", message).evidence = Some(actions.join(", "));
    }
}
