//! The table of rules for the terminal, and the page of the reference, which a test writes.

use std::fmt::Write;

use super::{hosts::data::FACTS, rules};
use report::inspection::Check;

/// All rules, one a line.
pub(crate) fn table() -> String {
    let facts = FACTS.iter().map(|it| (it.host, it.described()));
    let rules = rules::all().map(|it| (it.name, it.described()));
    let mut out = String::new();
    for (
        name,
        Check {
            code,
            severity,
            title,
            ..
        },
    ) in rules.chain(facts)
    {
        // Writing to a text cannot fail.
        let _ = writeln!(out, "{code}  {:<8} {name:<40} {title}", severity.word());
    }
    out
}

#[cfg(test)]
/// The page `docs/reference/lint.md`.
pub(crate) fn page() -> String {
    let mut out = String::from(
        "# Rules of `lint`\n\nMade from the program's own definitions. How to use them: [lint](../how-to/lint.md).\n\n\
         An error or a warning counts; an info is shown with `--profile all`. Rules marked *go* are those of the Go tool, \
         and `--profile go` runs no others. Rules marked *call* need `--call-tools`.\n\n\
         | code | severity | what is wrong | what to write instead |\n|---|---|---|---|\n",
    );
    let cell = |text: &str| text.replace('|', "\\|").replace('<', "&lt;");
    for rule in rules::all() {
        let go = if rule.is_of_go { " *go*" } else { "" };
        let needs_call = if matches!(rule.check, super::rule::Check::Call(_)) {
            " *call*"
        } else {
            ""
        };
        let (code, severity) = (rule.code, rule.severity.word());
        let (title, help) = (cell(rule.title), cell(rule.help));
        let _ = writeln!(
            out,
            "| {code}{go}{needs_call} | {severity} | {title} | {help} |"
        );
    }
    out.push_str(
        "\nE162 to E166 and W162 are signals: one in a text is an info, two are warnings, and to conceal something or to \
         send something away beside another signal is an error.\n\n## Hosts\n\nWhat clients and model APIs were seen to \
         do, for `--hosts`. They change; the source says when it was seen.\n\n\
         | code | severity | host: what it does | seen | source |\n|---|---|---|---|---|\n",
    );
    for fact in FACTS {
        let (check, (address, seen)) = (fact.described(), fact.source());
        let (code, severity, title) = (fact.code, check.severity.word(), cell(&check.title));
        let name = address.trim_start_matches("https://github.com/");
        let _ = writeln!(
            out,
            "| {code} | {severity} | {title} | {seen} | [{name}]({address}) |"
        );
    }
    out
}
