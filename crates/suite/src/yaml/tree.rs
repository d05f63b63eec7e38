//! Events of the YAML parser to trees, one for each document. Aliases and tags are resolved here, and depth and size are
//! bounded.

use std::{
    collections::{HashMap, HashSet},
    iter,
};

use serde_saphyr::granit_parser::{
    ErrorKind, Event, Parser, ScalarStyle, ScanError, Span as EventSpan, Tag,
    options as parser_options,
};

use super::{
    merge::{MERGE, merged},
    node::{At, Entry, Key, Kind, Node, Source, Style},
    scalar,
    tag::{Misfit, tag_name, tagged},
};
use crate::{
    Dialect,
    problems::{self, Problems},
};
use text::{diagnostic::Diagnostic, source::Span};

/// The deepest nesting that is read.
const DEEPEST: usize = 100;

/// The most values of one document, aliases filled in.
const MOST_NODES: usize = 500_000;

/// One document of a file.
#[derive(Debug)]
pub(crate) struct Document {
    /// The value, when the YAML is valid; null for a document without content.
    pub(crate) root: Option<Node>,
    /// The value of the top-level key `name`, even when something after it is broken.
    pub(crate) name: Option<String>,
    /// Where it stands.
    pub(crate) at: At,
    /// What is wrong with the YAML itself.
    pub(crate) problems: Vec<Diagnostic>,
}

/// A collection whose end has not come yet.
#[derive(Debug)]
struct Open {
    children: Children,
    /// Its anchor, 0 for none.
    anchor: usize,
    start: usize,
}

/// The parts of an open collection.
#[derive(Debug)]
enum Children {
    /// The items of a sequence.
    List(Vec<Node>),
    /// The entries of a mapping, and the key whose value comes next.
    Map(Vec<Entry>, Option<Key>),
}

/// The rest of a document cannot be read.
struct Stop;

/// The state while a document is read.
struct Builder<'a> {
    text: &'a str,
    source: Source,
    dialect: Dialect,
    problems: Problems,
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    /// Where the keys begin that merge other maps into theirs.
    merge_keys: HashSet<usize>,
    root: Option<Node>,
    nodes: usize,
}

/// Reads the documents of a text one by one, so that only one of them is in memory. A broken document does not hide the
/// next ones. `problems` names the files of the places; `dialect` decides what a number is.
pub(crate) fn parse(
    text: &str,
    source: Source,
    problems: Problems,
    dialect: Dialect,
) -> impl Iterator<Item = Document> {
    let mut options = parser_options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
        simple_key_max_lookahead: 4_096,
    };
    options.set_emit_comments(false);
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder {
        text,
        source,
        dialect,
        problems,
        open: Vec::new(),
        anchors: HashMap::new(),
        merge_keys: HashSet::new(),
        root: None,
        nodes: 0,
    };
    let (mut start, mut is_over) = (None, false);
    iter::from_fn(move || {
        while !is_over {
            let outcome = match parser.next_event()? {
                Ok((Event::StreamEnd, _)) => return None,
                Ok((Event::DocumentStart(..), span)) => {
                    start = Some(span.start.byte_offset().unwrap_or_default());
                    continue;
                }
                Ok((Event::DocumentEnd, span)) => {
                    let end = span.start.byte_offset().unwrap_or(text.len());
                    return Some(builder.finish(start.take().unwrap_or_default(), end));
                }
                Ok((event, span)) => builder.event(event, &span),
                Err(error) => builder.broken(&error),
            };
            if outcome.is_err() {
                let end = text.len();
                let mut document = builder.finish(start.take().unwrap_or(end), end);
                document.root = None;
                is_over = !parser.proceed_next_document().unwrap_or(false);
                return Some(document);
            }
        }
        None
    })
}

impl Builder<'_> {
    /// The document as far as it was read; the builder is ready for the next one.
    fn finish(&mut self, start: usize, end: usize) -> Document {
        let entries = match (&self.root, self.open.first()) {
            (Some(root), _) => root.entries(),
            (
                None,
                Some(Open {
                    children: Children::Map(entries, _),
                    ..
                }),
            ) => entries,
            (None, _) => &[],
        };
        let name = entries.iter().find(|entry| entry.key.text == "name");
        let name = name.and_then(|entry| entry.value.written().map(str::to_owned));
        let root = self.root.take();
        let at = root.as_ref().map_or(self.at(start, end), |root| root.at);
        self.open.clear();
        self.anchors.clear();
        self.merge_keys.clear();
        self.nodes = 0;
        Document {
            root,
            name,
            at,
            problems: self.problems.take(),
        }
    }

    /// A place of this file.
    fn at(&self, start: usize, end: usize) -> At {
        let span = Span {
            start: start.min(self.text.len()),
            end: end.clamp(start, self.text.len().max(start)),
        };
        let source = self.source;
        At { source, span }
    }

    /// The place of an event.
    fn place(&self, span: &EventSpan) -> At {
        let range = span.byte_range().unwrap_or_default();
        self.at(range.start, range.end)
    }

    /// Adds a problem after which the document cannot be read.
    fn stop(&mut self, at: At, problem: Diagnostic) -> Result<(), Stop> {
        self.problems.add(at, problem);
        Err(Stop)
    }

    /// Reports a syntax error.
    fn broken(&mut self, error: &ScanError) -> Result<(), Stop> {
        let end = self.text.trim_end().len();
        let mut offset = error.marker().byte_offset().unwrap_or(end).min(end);
        let mut message = error.kind().to_string();
        if message.contains("tab") {
            // The parser stops before the line with the tab.
            offset += self.text[offset..].find('\t').unwrap_or_default();
        } else if *error.kind() == ErrorKind::InvalidQuotedScalarIndent && offset == end {
            message = ErrorKind::UnclosedQuotedScalar.to_string();
        }
        let width = self.text.get(offset..).and_then(|rest| rest.chars().next());
        let at = self.at(offset, offset + width.map_or(0, char::len_utf8));
        let problem = if *error.kind() == ErrorKind::RecursionLimitExceeded {
            problems::yaml_limit("is nested deeper than 100 levels")
        } else {
            problems::yaml_syntax(&message)
        };
        self.stop(at, problem)
    }

    /// Handles one event.
    fn event(&mut self, event: Event<'_>, span: &EventSpan) -> Result<(), Stop> {
        let at = self.place(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), at);
                self.complete(node, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "seq", at);
                self.begin(Children::List(Vec::new()), anchor, at)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "map", at);
                self.begin(Children::Map(Vec::new(), None), anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(at),
            Event::Alias(id) => self.alias(id, at),
            Event::UnresolvedAlias(name) => {
                self.problems.add(at, problems::unknown_anchor(&name));
                let kind = Kind::Null;
                self.complete(Node { kind, at }, 0)
            }
            Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Anchor(..)
            | _ => Ok(()),
        }
    }

    /// A collection begins.
    fn begin(&mut self, children: Children, anchor: usize, at: At) -> Result<(), Stop> {
        if self.open.len() >= DEEPEST {
            return self.stop(at, problems::yaml_limit("is nested deeper than 100 levels"));
        }
        self.open.push(Open {
            children,
            anchor,
            start: at.span.start,
        });
        Ok(())
    }

    /// The innermost collection ends. A block has no end mark: it reaches to the end of its last part.
    fn end(&mut self, own: At) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let (kind, last) = match open.children {
            Children::List(items) => {
                let last = items.last().map(|item| item.at.span.end);
                (Kind::List(items), last)
            }
            Children::Map(entries, _) => {
                let end = |entry: &Entry| entry.value.at.span.end.max(entry.key.at.span.end);
                let last = entries.last().map(end);
                let entries = merged(entries, &self.merge_keys, &mut self.problems);
                (Kind::Map(entries), last)
            }
        };
        let end = if own.span.end > own.span.start {
            own.span.end
        } else {
            last.unwrap_or(open.start)
        };
        let at = self.at(open.start, end.max(open.start));
        self.complete(Node { kind, at }, open.anchor)
    }

    /// A value is complete: it becomes a key, a member, an item or the root.
    fn complete(&mut self, node: Node, anchor: usize) -> Result<(), Stop> {
        self.nodes += 1;
        if self.nodes > MOST_NODES {
            return self.stop(node.at, problems::yaml_limit("is more than 500,000 values"));
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.children) {
            None => self.root = Some(node),
            Some(Children::List(items)) => items.push(node),
            Some(Children::Map(entries, key)) => match key.take() {
                Some(key) => entries.push(Entry { key, value: node }),
                None => *key = Some(key_of(node, &mut self.merge_keys, &mut self.problems)?),
            },
        }
        Ok(())
    }

    /// An alias: the anchored value once more.
    fn alias(&mut self, id: usize, at: At) -> Result<(), Stop> {
        let Some(anchored) = self.anchors.get(&id) else {
            return self.stop(at, problems::alias_of_itself());
        };
        let (nodes, depth) = anchored.measure();
        if self.nodes + nodes > MOST_NODES || self.open.len() + depth > DEEPEST {
            let what = "has aliases that multiply to more than can be read";
            return self.stop(at, problems::yaml_limit(what));
        }
        self.nodes += nodes;
        let node = anchored.clone();
        self.complete(node, 0)
    }

    /// The value of a scalar.
    fn scalar(&mut self, text: &str, style: ScalarStyle, tag: Option<&Tag>, at: At) -> Node {
        let at = self.without_end(at);
        let quoted = || Kind::Text(text.to_owned(), Style::Quoted);
        let name = tag.map(tag_name);
        let found = match &name {
            None if style == ScalarStyle::Plain => {
                scalar::plain(text, self.dialect).ok_or(Misfit::NotJson)
            }
            None => Ok(quoted()),
            Some(name) => tagged(name, text, self.dialect),
        };
        let name = name.unwrap_or_default();
        let (kind, problem) = match found {
            Ok(kind) => return Node { kind, at },
            Err(Misfit::NotJson) => (Kind::Null, problems::no_json_number(text)),
            Err(Misfit::Unfit(expected)) => (Kind::Null, problems::unfit_tag(&name, expected)),
            Err(Misfit::Unknown) => (quoted(), problems::unknown_tag(&name, self.dialect)),
        };
        self.problems.add(at, problem);
        Node { kind, at }
    }

    /// A place without the white space at its end: the parser extends a `|` or `>` text to the next token.
    fn without_end(&self, at: At) -> At {
        let text = self.text.get(at.span.start..at.span.end);
        match text.map_or(0, |text| text.trim_end().len()) {
            0 => at,
            length => self.at(at.span.start, at.span.start + length),
        }
    }

    /// Reports a tag on a collection of another kind.
    fn check_collection_tag(&mut self, tag: Option<&Tag>, expected: &str, at: At) {
        let name = tag.map(tag_name);
        if let Some(name) = name.filter(|name| name != expected && name != "!") {
            let problem = problems::unknown_tag(&name, self.dialect);
            self.problems.add(at, problem);
        }
    }
}

/// A scalar as a key.
fn key_of(
    node: Node,
    merge_keys: &mut HashSet<usize>,
    problems: &mut Problems,
) -> Result<Key, Stop> {
    let at = node.at;
    let is_plain = !matches!(node.kind, Kind::Text(_, Style::Quoted));
    let text = match node.kind {
        Kind::Null => "null".to_owned(),
        Kind::Flag(_, text) | Kind::Number(_, text) | Kind::Text(text, _) => text,
        Kind::List(_) | Kind::Map(_) => {
            problems.add(at, problems::key_not_scalar());
            return Err(Stop);
        }
    };
    if is_plain && text == MERGE {
        merge_keys.insert(at.span.start);
    }
    Ok(Key { text, at })
}
