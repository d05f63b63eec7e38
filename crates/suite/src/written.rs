//! The places of the parts of an expectation in its suite, kept from reading the document.

use super::yaml::{Kind, Node};
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

/// The places of the items and entries of a document, each before those inside it.
#[derive(Debug, Default)]
pub struct Places(Vec<Place>);

/// The place of an item or an entry.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// An entry with its key.
    span: Span,
    /// The number of places around it.
    depth: usize,
    kind: Kept,
}

/// What stands at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// An item of a list.
    Item,
    /// An entry of a map.
    Entry,
    /// One of these that an alias refers to.
    Elsewhere,
}

impl Places {
    /// The places of a document.
    pub(crate) fn of(root: &Node) -> Self {
        let mut places = Self::default();
        places.add(root, root.at.span, 0);
        places
    }

    /// Adds what stands in a value, within a place.
    fn add(&mut self, node: &Node, within: Span, depth: usize) {
        let mut one = |value: &Node, span: Span, kind: Kept| {
            let is_here = within.start <= span.start && span.end <= within.end;
            let kind = if is_here { kind } else { Kept::Elsewhere };
            self.0.push(Place { span, depth, kind });
            if is_here {
                self.add(value, span, depth + 1);
            }
        };
        match &node.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {}
            Kind::List(items) => items
                .iter()
                .for_each(|item| one(item, item.at.span, Kept::Item)),
            Kind::Map(entries) => entries.iter().for_each(|entry| {
                let span = entry.key.at.until(entry.value.at).span;
                one(&entry.value, span, Kept::Entry);
            }),
        }
    }

    /// The place of a part of what stands at a place; of the nearest one around it where the part itself was written
    /// elsewhere. Nothing for the whole.
    pub fn find(&self, origin: &Origin, parts: &[Part]) -> Option<Span> {
        let is_whole = |place: &Place| place.span == origin.span && place.kind != Kept::Elsewhere;
        let mut at = self.0.iter().position(is_whole)?;
        let mut parts = parts;
        // Some expectations are asked key by key.
        if let Some((Part::Member(key), rest)) = parts.split_first()
            && self.0[at].has_key(key, origin)
        {
            parts = rest;
        }
        let mut found = None;
        for part in parts {
            let Some(inner) = self.inside(at, *part, origin) else {
                break;
            };
            (found, at) = (Some(self.0[inner].span), inner);
        }
        found
    }

    /// The number of a part of the place of a number.
    fn inside(&self, at: usize, part: Part, origin: &Origin) -> Option<usize> {
        let depth = self.0[at].depth + 1;
        let after = self.0.iter().enumerate().skip(at + 1);
        let mut inside = after
            .take_while(|(_, place)| place.depth >= depth)
            .filter(|(_, place)| place.depth == depth);
        let found = match part {
            Part::Item(index) => inside.nth(index).filter(|it| it.1.kind == Kept::Item),
            Part::Entry(index) => inside.nth(index).filter(|it| it.1.kind == Kept::Entry),
            Part::Member(key) => inside.find(|it| it.1.has_key(key, origin)),
        };
        found.map(|(number, _)| number)
    }
}

impl Place {
    /// Whether it is the entry of a key.
    fn has_key(&self, key: &str, origin: &Origin) -> bool {
        let written = origin.file.text.get(self.span.start..).unwrap_or_default();
        let rest = written.trim_start_matches(['"', '\'']).strip_prefix(key);
        let ends = rest
            .is_some_and(|rest| !rest.starts_with(|it: char| it.is_alphanumeric() || it == '_'));
        self.kind == Kept::Entry && ends
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{
        Part::{self, Entry, Item, Member},
        Places,
    };
    use crate::{
        Dialect,
        problems::Problems,
        yaml::{self, Source},
    };
    use text::source::{Origin, SourceFile, Span};

    /// The part that is found of the expectation between the marks.
    fn case(text: &str, parts: &[Part], wanted: Option<&str>) {
        let start = text.find('«').unwrap();
        let end = text.find('»').unwrap() - '«'.len_utf8();
        let text = text.replace(['«', '»'], "");
        let file = Arc::new(SourceFile::new("a.yaml".into(), text.clone()));
        let problems = Problems::new(Arc::clone(&file), None);
        let mut documents = yaml::parse(&text, Source::Suite, problems, Dialect::Native);
        let places = Places::of(&documents.next().unwrap().root.unwrap());
        let span = Span { start, end };
        let found = places.find(&Origin { file, span }, parts);
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
        let own = "e: {«methods: [a, b]»}";
        case(own, &[Member("methods"), Item(1)], Some("b"));
        let quoted = "e: {«'methods': [a, b]»}";
        case(quoted, &[Member("methods"), Item(1)], Some("b"));
        let inner = "e: {«notifications: {methods: [a, b]}»}";
        case(inner, &[Member("methods"), Item(1)], Some("b"));
        let rule = "- «type: order\n  tools: [a]»";
        case(rule, &[Member("tools")], Some("tools: [a]"));
        case(rule, &[Member("type")], Some("type: order"));
    }

    #[test]
    fn what_stands_elsewhere_is_found_where_it_is_named() {
        let alias = "l: &l [1, 2]\ne:\n  «json_path:\n    a: *l\n    c: 3»";
        case(alias, &[Entry(0), Item(0)], Some("a"));
        case("l: &l [a]\ne: {«contains»: *l}", &[Item(0)], None);
    }
}
