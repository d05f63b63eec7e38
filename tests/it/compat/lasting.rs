//! Different, with `--compat` too

use super::{embedded, scripted_with};

/// The status is the same with and without `--compat`.
fn both(arms: &str, yaml: &str, wanted: &[&str]) {
    scripted_with(arms, yaml, &[], wanted);
    scripted_with(arms, yaml, &["--compat"], wanted);
}

/// Go tool: a negative `min_results` holds for any number of items.
/// Here: a problem.
///
/// Go tool: `file_contains: {path: }` is the empty text, which every file contains.
/// Here: a problem.
///
/// Go tool: an empty key or `01` in a path of `json_path` is a key.
/// Here: a problem.
///
/// Go tool: `-` alone in a list in brackets, `[-, a]`, is a text.
/// Here: a problem, because it is not YAML 1.2: write `"-"`.
#[test]
fn what_cannot_be_meant_is_a_problem() {
    for expect in [
        "min_results: -1",
        "file_contains: {note.txt: }",
        "json_path: {'': 1}",
        "json_path: {'a[01]': 1}",
        "contains: [-, a]",
    ] {
        let suite = format!("name: a\nassert: {{tool: echo, expect: {{{expect}}}}}\n");
        embedded(&suite, &[], &["ERROR"]);
        embedded(&suite, &["--compat"], &["ERROR"]);
    }
}

/// Go tool: `$5`, `$!` and other `$` that begin no name are dropped from `env` and `headers`: `p$5x` is `px`.
/// Here: they stay: `p$5x`.
#[test]
fn a_dollar_that_begins_no_name_stays() {
    both(
        r#"*tools/call*) answer '{"content":[{"type":"text","text":"'"$SAID"'"}]}' ;;"#,
        "name: a\nserver: {env: {SAID: p$5x}}\nassert: {tool: x, expect: {equals: p$5x}}\n",
        &["PASS"],
    );
}

/// Go tool: the text of lists and completions is JSON as Go writes it, with `&`, `<` and `>` as escapes.
/// Here: it is what the server sent.
#[test]
fn lists_are_read_as_they_were_sent() {
    both(
        r#"*resources/list*) answer '{"resources":[{"uri":"x:?a=1&b=2","name":"<x>"}]}' ;;"#,
        "name: a\nassert_resources: {list: {}, expect: {contains: ['?a=1&b=2', <x>]}}\n",
        &["PASS"],
    );
}

/// Go tool: `client_capabilities: {elicitation: {}, roots: []}` declares nothing.
/// Here: it declares both.
#[test]
fn empty_capabilities_are_declared() {
    both(
        r#"*'"method":"initialize"'*)
      case $line in *'"elicitation":{'*) said=yes ;; esac
      case $line in *'"roots":{'*) said=$said-yes ;; esac
      answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"shell","version":"1"}}' ;;
    *tools/call*) answer '{"content":[{"type":"text","text":"'"$said"'"}]}' ;;"#,
        "name: a\nserver: {client_capabilities: {elicitation: {}, roots: []}}\n\
         assert: {tool: x, expect: {equals: yes-yes}}\n",
        &["PASS"],
    );
}

/// Go tool: an answer to `initialize` without `serverInfo` or `capabilities` is accepted.
/// Here: an *Error* that says so.
#[test]
fn a_handshake_without_the_servers_name_is_an_error() {
    both(
        r#"*'"method":"initialize"'*) answer '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}' ;;
    *tools/call*) answer '{"content":[]}' ;;"#,
        "name: a\nassert: {tool: x}\n",
        &["ERROR"],
    );
}

/// Go tool: an answer whose id is the request's number as text is not understood.
/// Here: it is understood, with a finding; `--strict-protocol` makes it red.
#[test]
fn an_id_as_text_is_understood() {
    let arms =
        r#"*tools/call*) printf '{"jsonrpc":"2.0","id":"%s","result":{"content":[]}}\n' "$id" ;;"#;
    both(arms, "name: a\nassert: {tool: x}\n", &["PASS"]);
    let strict = ["--compat", "--strict-protocol"];
    scripted_with(arms, "name: a\nassert: {tool: x}\n", &strict, &["FAIL"]);
}

/// Go tool: a content block without a type makes the whole answer an error.
/// Here: it is a block that is not text, and a finding.
#[test]
fn a_block_without_a_type_is_not_text() {
    both(
        r#"*tools/call*) answer '{"content":[{"text":"x"}]}' ;;"#,
        "name: a\nassert: {tool: x, expect: {contains: x}}\n---\nname: b\nassert: {tool: x}\n",
        &["FAIL", "PASS"],
    );
}

/// Go tool: a completion without `context` sends `context: {arguments: null}`, which servers may refuse.
/// Here: it sends none.
#[test]
fn a_completion_without_context_sends_none() {
    both(
        r#"*'"context"'*) ;;
    *completion/complete*) answer '{"completion":{"values":["v"]}}' ;;"#,
        "name: a\nassert_completion: {ref: {type: ref/prompt, name: p}, argument: {name: n, value: v}}\ntimeout: 2s\n",
        &["PASS"],
    );
}

/// Go tool: `assert_resources` with `subscribe` alone fails, because nothing is listed or read.
/// Here: the answer to the subscription is checked.
#[test]
fn a_subscription_alone_is_checked() {
    both(
        "*resources/subscribe*) answer '{}' ;;",
        "name: a\nassert_resources: {subscribe: 'x:y'}\n",
        &["PASS"],
    );
}
