//! What a model's context pays for the tools.

use crate::inspect::lint::{
    rule::{Findings, rules},
    schema::Schema,
    view::{Tool, View},
};

rules! {
    "W106" "tools-too-large" Warning "high" [go] Server(all_tools):
        "all tools together take more than 8,000 tokens" =>
        "shorten descriptions and schemas, or let users choose sets of tools";
    "W112" "too-many-tools" Warning "medium" [go] Server(many):
        "there are more than 20 tools" =>
        "join tools, or let users choose sets of them: models choose worse among many";
    "W114" "schema-too-deep" Warning "high" [go] Tool(deep):
        "the input is nested more than three levels deep" =>
        "flatten the parameters";
    "W115" "tool-too-large" Warning "high" [go] Tool(large):
        "a tool takes more than 1,000 tokens" =>
        "shorten its description and its schema, or divide it";
    "W148" "instructions-too-long" Warning "high" [] Server(instructions):
        "the server's instructions take more than 2,000 tokens" =>
        "keep what holds for all tools, and move the rest to the tools";
}

/// Bytes of a token, about.
const BYTES_OF_A_TOKEN: usize = 4;

/// About how many tokens a model spends on a tool: a quarter of the bytes of its name, description and input schema.
pub(in crate::inspect::lint) fn tokens(tool: &Tool<'_>) -> usize {
    let schema = tool.input.as_ref();
    let schema = schema.map_or(0, |it| it.root.to_string().len());
    (tool.name.len() + tool.description.len() + schema) / BYTES_OF_A_TOKEN
}

fn all_tools(view: &View<'_>, found: &mut Findings<'_>) {
    let tokens: usize = view.tools.iter().map(tokens).sum();
    if tokens > 8_000 {
        let all = "all tools together take about";
        found.say(
            "",
            format!("{all} {tokens} tokens, estimated from their size"),
        );
    }
}

fn many(view: &View<'_>, found: &mut Findings<'_>) {
    let tools = view.tools.len();
    if tools > 20 {
        found.say("", format!("there are {tools} tools"));
    }
}

fn deep(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let depth = tool.input.as_ref().map_or(0, Schema::depth);
    if depth > 3 {
        let message = format!("the input is nested {depth} levels deep");
        found.say("/inputSchema", message);
    }
}

fn large(tool: &Tool<'_>, found: &mut Findings<'_>) {
    let tokens = tokens(tool);
    if tokens > 1_000 {
        let message = format!("the tool takes about {tokens} tokens, estimated from its size");
        found.say("", message);
    }
}

fn instructions(view: &View<'_>, found: &mut Findings<'_>) {
    let tokens = view.offer.instructions().unwrap_or_default().len() / BYTES_OF_A_TOKEN;
    if tokens > 2_000 {
        let message =
            format!("the instructions take about {tokens} tokens, estimated from their size");
        found.say("/instructions", message);
    }
}
