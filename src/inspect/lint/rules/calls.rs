//! What the lists do not show: answers to calls, which `probe` judges, and settings without effect.

use crate::inspect::lint::rule::rules;
use report::inspection::Kind;

rules! {
    "E301" "answer-too-large" Error "high" [go] Call(&[Kind::Tool]):
        "an answer is larger than `--max-response-kb`" =>
        "return pages, or take a limit as a parameter";
    "W107" "answers-differ" Warning "medium" [go] Call(&[Kind::Tool]):
        "three equal calls have different answers" =>
        "return the same for the same; put times and ids where a client can leave them out";
    "E136" "output-violates-schema" Error "very-high" [] Call(&[Kind::Tool]):
        "an answer violates the tool's `outputSchema`" =>
        "mend the answer or the schema: the official clients refuse the answer";
    "W132" "structured-output-undeclared" Warning "very-high" [] Call(&[Kind::Tool]):
        "an answer has `structuredContent`, and the tool declares no `outputSchema`" =>
        "declare what is in it";
    "W133" "text-and-structure-disagree" Warning "high" [] Call(&[Kind::Tool]):
        "the text of an answer is JSON that differs from `structuredContent`" =>
        "write the structured content as the text: some clients read one, some the other";
    "E170" "second-list-differs" Error "high" [security] Call(&[Kind::Server]):
        "a second list in the same session differs from the first" =>
        "list the same until `notifications/tools/list_changed` was sent: what a user approved must stay what it was";
    "E152" "listed-and-not-readable" Error "high" [] Call(&[Kind::Resource, Kind::Prompt]):
        "a listed resource cannot be read, or a listed prompt cannot be got" =>
        "list only what can be read";
    "W199" "unused-allowance" Warning "very-high" [] Call(&[]):
        "an entry of `lint.allow` in the settings matches no finding" =>
        "remove the entry, or mend its code, name or pointer";
}
