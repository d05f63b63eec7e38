//! Where the parts of an expectation stand in its suite. Their places are not kept when a suite is loaded: it may hold
//! very many expectations, and few of them fail. Those are read once more.

use super::{
    Dialect,
    problems::Problems,
    yaml::{self, Entry, Kind, Node, Source},
};
use text::source::{Origin, Span};

/// One step from an expectation to the part of it that asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// An item of a list, from 0.
    Item(usize),
    /// An entry of a map whose keys the suite chooses, from 0.
    Entry(usize),
    /// A key of ours.
    Member(&'static str),
}

/// An expectation as the suite has it.
#[derive(Debug)]
pub struct Written {
    root: Option<Node>,
    /// Bytes before the expectation in the text that was read, and in its file.
    before: (usize, usize),
}

impl Written {
    /// Reads what stands at a place: a key with its value, or a value.
    pub fn read(origin: &Origin, dialect: Dialect) -> Self {
        let file = &origin.file;
        let start = file.text.floor_char_boundary(origin.span.start);
        let end = file.text.ceil_char_boundary(origin.span.end).max(start);
        let own = &file.text[start..end];
        let root = |text: &str| {
            let problems = Problems::new(file.clone(), None);
            let mut documents = yaml::parse(text, Source::Suite, problems, dialect);
            documents.next().and_then(|document| document.root)
        };
        // The first line is indented like the ones below it. A width of `format!` ends at 65,535.
        let indent = if own.contains('\n') {
            file.position(start).column - 1
        } else {
            0
        };
        if let Some(root) = root(&format!("{}{own}", " ".repeat(indent))) {
            return Self {
                root: Some(root),
                before: (indent, start),
            };
        }
        // Between braces lines need no indentation.
        Self {
            root: root(&format!("{{{own}}}")),
            before: (1, start),
        }
    }

    /// The place of a part; of the nearest one around it where the part itself was written elsewhere, as an alias has
    /// it. Nothing for the whole.
    pub fn place(&self, parts: &[Part]) -> Option<Span> {
        let mut node = self.root.as_ref()?;
        let mut parts = parts;
        if let Kind::Map(entries) = &node.kind
            && let [own] = entries.as_slice()
        {
            // Some expectations are asked key by key.
            if let Some((Part::Member(key), rest)) = parts.split_first()
                && *key == own.key.text
            {
                parts = rest;
            }
            node = &own.value;
        }
        let mut found = None;
        for part in parts {
            let Some((span, inner)) = step(node, *part) else {
                break;
            };
            (found, node) = (Some(span), inner);
        }
        let (read, start) = self.before;
        let moved = |at: usize| (at + start).saturating_sub(read);
        found.map(|span| Span {
            start: moved(span.start),
            end: moved(span.end),
        })
    }
}

/// The name in an assertion; the beginning of the assertion where that cannot be told.
pub fn name_of(assertion: &Origin) -> Origin {
    let start = assertion.span.start;
    let beginning = Span { start, end: start };
    let name = Written::read(assertion, Dialect::Native).place(&[Part::Member("name")]);
    Origin {
        file: assertion.file.clone(),
        span: name.unwrap_or(beginning),
    }
}

/// One step inwards: what is underlined there, and the value.
fn step(node: &Node, part: Part) -> Option<(Span, &Node)> {
    let of_entry = |entry: &'_ Entry| entry.key.at.until(entry.value.at).span;
    match (&node.kind, part) {
        (Kind::List(items), Part::Item(index)) => items.get(index).map(|item| (item.at.span, item)),
        (Kind::Map(entries), Part::Entry(index)) => entries
            .get(index)
            .map(|entry| (of_entry(entry), &entry.value)),
        (Kind::Map(entries), Part::Member(key)) => entries
            .iter()
            .find(|entry| entry.key.text == key)
            .map(|entry| (of_entry(entry), &entry.value)),
        (
            Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::Text(..)
            | Kind::List(_)
            | Kind::Map(_),
            Part::Item(_) | Part::Entry(_) | Part::Member(_),
        ) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        Part::{self, Entry, Item, Member},
        Written, name_of,
    };
    use crate::Dialect;
    use text::source::{Origin, SourceFile, Span};

    /// What is found of the expectation between the marks.
    fn case(text: &str, parts: &[Part], wanted: Option<&str>) {
        let start = text.find('«').unwrap();
        let end = text.find('»').unwrap() - '«'.len_utf8();
        let text = text.replace(['«', '»'], "");
        let origin = Origin {
            file: Arc::new(SourceFile::new("a.yaml".into(), text.clone())),
            span: Span { start, end },
        };
        let found = Written::read(&origin, Dialect::Native).place(parts);
        let found = found.map(|span| &text[span.start..span.end]);
        assert_eq!(found, wanted, "{text}");
    }

    #[test]
    fn items_and_entries_are_found_by_their_number() {
        let list = "expect:\n  «contains:\n    - the error  # not \"xyz\"\n    - xyz»\n";
        case(list, &[Item(1)], Some("xyz"));
        case(list, &[Item(0)], Some("the error"));
        case(list, &[Item(2)], None);
        case(list, &[Entry(0)], None);
        case(list, &[], None);
        let map = "e:\n  «json_path:\n    $.a.b: 1\n    $.a: {b: 2, c: 3}»\n";
        case(map, &[Entry(1)], Some("$.a: {b: 2, c: 3}"));
        case(map, &[Entry(1), Member("c")], Some("c: 3"));
        case(map, &[Entry(1), Member("d")], Some("$.a: {b: 2, c: 3}"));
        let map = "ключ: {«json_path: {\n$.a: 'ü', $.a.b: \"ü\"}», x: 1}\n";
        case(map, &[Entry(1)], Some("$.a.b: \"ü\""));
        case("e: {«contains: x»}", &[Item(0)], None);
    }

    #[test]
    fn a_line_may_be_as_long_as_it_likes() {
        let long = "a".repeat(70_000);
        let list = format!("{{text: {long}, «contains: [x, y]»}}");
        case(&list, &[Item(1)], Some("y"));
        let lines = format!("{{text: {long}, «contains: [x,\n y]»}}");
        case(&lines, &[Item(1)], Some("y"));
    }

    #[test]
    fn a_folded_text_is_found_where_it_begins() {
        let list =
            "e:\n  «contains:\n    - x\n    - >-\n      folded\n      text»\n  in_order: [x]\n";
        case(list, &[Item(1)], Some("folded\n      text"));
        let map = "e:\n  «json_path:\n    $.a: |\n      two\n      lines»\n";
        case(map, &[Entry(0)], Some("$.a: |\n      two\n      lines"));
    }

    #[test]
    fn the_key_itself_may_be_what_is_asked() {
        let own = "«methods: [a, b]»";
        case(own, &[Member("methods"), Item(1)], Some("b"));
        let inner = "«notifications: {methods: [a, b]}»";
        case(inner, &[Member("methods"), Item(1)], Some("b"));
        case(
            "- «type: order\n  tools: [a]»",
            &[Member("tools")],
            Some("tools: [a]"),
        );
    }

    #[test]
    fn a_name_is_found_wherever_it_stands() {
        let case = |text: &str, wanted: &str| {
            let span = Span {
                start: 0,
                end: text.len(),
            };
            let file = Arc::new(SourceFile::new("a.yaml".into(), text.into()));
            let found = name_of(&Origin { file, span }).span;
            assert_eq!(&text[found.start..found.end], wanted);
        };
        case("tags: [a]\nname: dup\nassert: {}", "name: dup");
        case("{assert: {}, name: dup}", "name: dup");
        case("name: dup", "");
    }

    #[test]
    fn what_stands_elsewhere_is_found_where_it_is_named() {
        let alias = "l: &l [1, 2]\ne:\n  «json_path:\n    a: *l\n    b: *l»";
        case(alias, &[Entry(1), Item(0)], Some("b: *l"));
        case("l: &l [a]\ne: {«contains: *l»}", &[Item(0)], None);
        case("«contains: [»", &[Item(0)], None);
    }
}
