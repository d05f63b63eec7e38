//! The page `docs/reference/compat.md`, made of the comments above the tests.
//!
//! A row is written as two paragraphs, `Go tool: …` and `Here: …`. `` Go tool and `--compat`: … `` says that the option
//! brings the old verdict back. The title of a section is the first line of its file.

use std::fmt::Write as _;

use crate::harness::assert_generated;

/// The files with rows below `tests/it`, and the titles of those that are about more.
const SOURCES: [(&str, &str, &str); 9] = [
    ("compat/returned.rs", include_str!("returned.rs"), ""),
    ("compat/green.rs", include_str!("green.rs"), ""),
    ("compat/red.rs", include_str!("red.rs"), ""),
    ("compat/lasting.rs", include_str!("lasting.rs"), ""),
    ("compat/ends.rs", include_str!("ends.rs"), ""),
    ("compat/safety.rs", include_str!("safety.rs"), ""),
    ("compat/reports.rs", include_str!("reports.rs"), ""),
    (
        "command_line.rs",
        include_str!("../command_line.rs"),
        "The command line",
    ),
    (
        "containers/closed.rs",
        include_str!("../containers/closed.rs"),
        "Containers",
    ),
];

const HEAD: &str = "\
# Differences from the Go tool

Generated from the tests. [Coming from the Go tool](../compat.md) has the most frequent ones. The first column was
observed with the released binary of version 0.12.3. *Yes* in the third column: `--compat`, or `compat: true` in
`mcp-assert.yaml`, brings that behaviour back. The last column is the test that shows it.
";

/// One difference.
#[derive(Default)]
struct Row {
    there: String,
    here: String,
    returned: bool,
    test: String,
}

/// The rows above the tests of a file, in order.
fn rows(file: &str, source: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut open: Vec<Row> = Vec::new();
    let mut of_here = false;
    let mut lines = source.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(text) = line.strip_prefix("///").map(str::trim) else {
            if line == "#[test]" && !open.is_empty() {
                let test = lines.peek().and_then(|line| line.strip_prefix("fn "));
                let test = test.and_then(|rest| rest.split('(').next()).unwrap();
                for row in &mut open {
                    test.clone_into(&mut row.test);
                }
                rows.append(&mut open);
            }
            assert!(open.is_empty(), "{file}: rows above no test: {line}");
            continue;
        };
        let started = [("Go tool: ", false), ("Go tool and `--compat`: ", true)];
        let started = started
            .iter()
            .find_map(|(label, returned)| Some((text.strip_prefix(label)?, *returned)));
        if let Some((there, returned)) = started {
            let there = there.to_owned();
            open.push(Row {
                there,
                returned,
                ..Row::default()
            });
            of_here = false;
        } else if let Some(row) = open.last_mut() {
            if let Some(here) = text.strip_prefix("Here: ") {
                row.here.push_str(here);
                of_here = true;
            } else if !text.is_empty() {
                let cell = if of_here {
                    &mut row.here
                } else {
                    &mut row.there
                };
                write!(cell, " {text}").unwrap();
            }
        }
    }
    rows
}

/// The whole page.
fn page() -> String {
    let mut page = HEAD.to_owned();
    for (file, source, title) in SOURCES {
        let title = match title {
            "" => source
                .lines()
                .next()
                .unwrap()
                .trim_start_matches("//! ")
                .trim_end_matches('.'),
            title => title,
        };
        write!(
            page,
            "\n## {title}\n\nTests: [`tests/it/{file}`](../../tests/it/{file})\n\n| the Go tool | here | `--compat` | test |\n|---|---|---|---|\n"
        )
        .unwrap();
        for row in rows(file, source) {
            let cells = [&row.there, &row.here];
            let whole = cells
                .iter()
                .all(|cell| !cell.is_empty() && !cell.contains('|'));
            assert!(whole, "{}: {}", row.test, row.there);
            let returned = if row.returned { "yes" } else { "" };
            let Row {
                there, here, test, ..
            } = &row;
            writeln!(page, "| {there} | {here} | {returned} | `{test}` |").unwrap();
        }
    }
    page
}

#[test]
fn the_page_holds_the_rows_of_the_tests() {
    let wanted = page();
    assert_generated("docs/reference/compat.md", &wanted);
    assert!(wanted.lines().count() > 100, "{wanted}");
}
