//! Events of the YAML parser to trees, one for each document: aliases and tags are settled here, and everything is
//! bounded.

use std::collections::{HashMap, HashSet};

use serde_saphyr::granit_parser::{
    ErrorKind, Event, Parser, ScalarStyle, ScanError, Span as EventSpan, StrInput, Tag,
    options as parser_options,
};

use super::{
    merge::{MERGE, merged},
    node::{At, Entry, Key, Kind, Node, Source, Style},
    scalar,
    tag::{self, Misfit, tag_name},
};
use crate::{
    Dialect,
    problems::{self, Problems},
};
use text::{
    diagnostic::Diagnostic,
    source::{Origin, Span},
};

/// The deepest nesting that is read.
const DEEPEST: usize = 100;

/// The most values one document may have once its aliases are filled in.
const MOST_NODES: usize = 500_000;

/// One document of a file.
#[derive(Debug)]
pub(crate) struct Document {
    /// The value, when the YAML is sound; null for a document without content.
    pub root: Option<Node>,
    /// The value of the top-level key `name`, even when something after it is broken.
    pub name: Option<String>,
    /// Where it stands.
    pub at: At,
    /// What is wrong with the YAML itself.
    pub problems: Vec<Diagnostic>,
}

/// A collection whose end has not come yet.
#[derive(Debug)]
struct Open {
    /// What was collected so far.
    children: Children,
    /// Its anchor, 0 for none.
    anchor: usize,
    /// Where it begins.
    start: usize,
}

/// The parts of an open collection.
#[derive(Debug)]
enum Children {
    /// Of a sequence.
    List(Vec<Node>),
    /// Of a mapping, and the key whose value comes next.
    Map(Vec<Entry>, Option<Key>),
}

/// Why the rest of a document is passed over.
struct Stop;

/// What is known while a document is read.
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

/// Reads the documents of a text one by one. A document that is broken does not hide the ones after it. `problems`
/// says whose places are told; what it holds already comes with the first document. `dialect` says what is a number.
pub(crate) fn parse(
    text: &str,
    source: Source,
    problems: Problems,
    dialect: Dialect,
) -> Documents<'_> {
    let mut options = parser_options! {
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
        simple_key_max_lookahead: 4_096,
    };
    options.set_emit_comments(false);
    Documents {
        parser: Parser::new_from_str_with_options(text, options),
        builder: Builder::new(text, source, problems, dialect),
        start: None,
        over: false,
    }
}

/// The documents of a text, in their order; each is gone before the next one is read, so that a file may hold very many.
pub(crate) struct Documents<'a> {
    parser: Parser<'a, StrInput<'a>>,
    builder: Builder<'a>,
    /// Where the open document begins.
    start: Option<usize>,
    /// Whether nothing can follow.
    over: bool,
}

impl Iterator for Documents<'_> {
    type Item = Document;

    fn next(&mut self) -> Option<Document> {
        while !self.over {
            let outcome = match self.parser.next_event() {
                None | Some(Ok((Event::StreamEnd, _))) => {
                    self.over = true;
                    break;
                }
                Some(Ok((Event::StreamStart, _))) => continue,
                Some(Ok((Event::DocumentStart(..), span))) => {
                    self.start = Some(span.start.byte_offset().unwrap_or_default());
                    continue;
                }
                Some(Ok((Event::DocumentEnd, span))) => {
                    let end = span.start.byte_offset().unwrap_or(self.builder.text.len());
                    let start = self.start.take().unwrap_or_default();
                    return Some(self.builder.finish(start, end));
                }
                Some(Ok((event, span))) => self.builder.event(event, &span),
                Some(Err(error)) => self.builder.broken(&error),
            };
            if outcome.is_err() {
                let end = self.builder.text.len();
                let mut document = self.builder.finish(self.start.take().unwrap_or(end), end);
                document.root = None;
                self.over = !self.parser.proceed_next_document().unwrap_or(false);
                return Some(document);
            }
        }
        None
    }
}

impl<'a> Builder<'a> {
    /// Nothing read yet.
    fn new(text: &'a str, source: Source, problems: Problems, dialect: Dialect) -> Self {
        Self {
            text,
            source,
            dialect,
            problems,
            open: Vec::new(),
            anchors: HashMap::new(),
            merge_keys: HashSet::new(),
            root: None,
            nodes: 0,
        }
    }

    /// The document as far as it was read; the builder is ready for the next one.
    fn finish(&mut self, start: usize, end: usize) -> Document {
        let name = match (&self.root, self.open.first()) {
            (Some(root), _) => root.get("name").and_then(text_of),
            (None, Some(open)) => match &open.children {
                Children::Map(entries, _) => entries
                    .iter()
                    .find(|entry| entry.key.text == "name")
                    .and_then(|entry| text_of(&entry.value)),
                Children::List(_) => None,
            },
            (None, None) => None,
        };
        let root = self.root.take();
        let at = match &root {
            Some(root) => root.at,
            None => self.at(start, end),
        };
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
        At {
            source: self.source,
            span: Span {
                start: start.min(self.text.len()),
                end: end.clamp(start, self.text.len().max(start)),
            },
        }
    }

    /// The place of an event.
    fn place(&self, span: &EventSpan) -> At {
        let range = span.byte_range().unwrap_or_default();
        self.at(range.start, range.end)
    }

    /// A place without the white space at its end: the parser lets the text of `|` and `>` reach to what follows it.
    fn without_end(&self, at: At) -> At {
        let text = self.text.get(at.span.start..at.span.end);
        let length = text.map_or(0, |text| text.trim_end().len());
        let end = at.span.start + length;
        self.at(at.span.start, if length == 0 { at.span.end } else { end })
    }

    /// Notes a problem of the YAML itself.
    fn fault(&mut self, at: At, make: impl FnOnce(Origin) -> Diagnostic) {
        let origin = self.problems.origin(at);
        self.problems.add(make(origin));
    }

    /// The parser gave up.
    fn broken(&mut self, error: &ScanError) -> Result<(), Stop> {
        let end = self.text.trim_end().len();
        let mut offset = error.marker().byte_offset().unwrap_or(end).min(end);
        let mut message = error.kind().to_string();
        if message.contains("tab") {
            // The parser stops before the line that it complains of.
            offset += self.text[offset..].find('\t').unwrap_or_default();
        } else if *error.kind() == ErrorKind::InvalidQuotedScalarIndent && offset == end {
            message = ErrorKind::UnclosedQuotedScalar.to_string();
        }
        let width = self.text.get(offset..).and_then(|rest| rest.chars().next());
        let at = self.at(offset, offset + width.map_or(0, char::len_utf8));
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            self.fault(at, |origin| {
                problems::yaml_limit(origin, "nested deeper than 100 levels")
            });
            return Err(Stop);
        }
        self.fault(at, |origin| problems::yaml_syntax(origin, &message));
        Err(Stop)
    }

    /// Takes in one event.
    fn event(&mut self, event: Event<'a>, span: &EventSpan) -> Result<(), Stop> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = self.scalar(&text, style, tag.as_deref(), span);
                self.complete(node, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "seq", span);
                self.begin(Children::List(Vec::new()), anchor, span)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_collection_tag(tag.as_deref(), "map", span);
                self.begin(Children::Map(Vec::new(), None), anchor, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(id) => self.alias(id, span),
            Event::UnresolvedAlias(name) => {
                let at = self.place(span);
                self.fault(at, |origin| problems::unknown_anchor(origin, &name));
                self.complete(
                    Node {
                        kind: Kind::Null,
                        at,
                    },
                    0,
                )
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
    fn begin(&mut self, children: Children, anchor: usize, span: &EventSpan) -> Result<(), Stop> {
        let at = self.place(span);
        if self.open.len() >= DEEPEST {
            self.fault(at, |origin| {
                problems::yaml_limit(origin, "nested deeper than 100 levels")
            });
            return Err(Stop);
        }
        self.open.push(Open {
            children,
            anchor,
            start: at.span.start,
        });
        Ok(())
    }

    /// The innermost collection ends. A block has no end mark: it reaches to the end of its last part.
    fn end(&mut self, span: &EventSpan) -> Result<(), Stop> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let own = self.place(span).span;
        let (kind, last) = match open.children {
            Children::List(items) => {
                let last = items.last().map(|item| item.at.span.end);
                (Kind::List(items), last)
            }
            Children::Map(entries, _) => {
                let last = entries
                    .last()
                    .map(|entry| entry.value.at.span.end.max(entry.key.at.span.end));
                (
                    Kind::Map(merged(entries, &self.merge_keys, &mut self.problems)),
                    last,
                )
            }
        };
        let end = if own.end > own.start {
            own.end
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
            self.fault(node.at, |origin| {
                problems::yaml_limit(origin, "more than 500,000 values")
            });
            return Err(Stop);
        }
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open {
                children: Children::List(items),
                ..
            }) => items.push(node),
            Some(Open {
                children: Children::Map(_, key @ None),
                ..
            }) => match key_of(node) {
                Ok((found, style)) => {
                    if style == Style::Plain && found.text == MERGE {
                        self.merge_keys.insert(found.at.span.start);
                    }
                    *key = Some(found);
                }
                Err(at) => {
                    self.fault(at, problems::key_not_scalar);
                    return Err(Stop);
                }
            },
            Some(Open {
                children: Children::Map(entries, key),
                ..
            }) => {
                if let Some(key) = key.take() {
                    entries.push(Entry { key, value: node });
                }
            }
        }
        Ok(())
    }

    /// An alias: the anchored value once more.
    fn alias(&mut self, id: usize, span: &EventSpan) -> Result<(), Stop> {
        let at = self.place(span);
        let Some(anchored) = self.anchors.get(&id) else {
            self.fault(at, problems::alias_of_itself);
            return Err(Stop);
        };
        let (nodes, depth) = anchored.measure();
        if self.nodes + nodes > MOST_NODES || self.open.len() + depth > DEEPEST {
            self.fault(at, |origin| {
                problems::yaml_limit(origin, "aliases multiply to more than can be read")
            });
            return Err(Stop);
        }
        self.nodes += nodes;
        let node = anchored.clone();
        self.complete(node, 0)
    }

    /// The value of a scalar.
    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        span: &EventSpan,
    ) -> Node {
        let at = self.without_end(self.place(span));
        let is_plain = style == ScalarStyle::Plain;
        let kind = match tag.map(tag_name) {
            None if is_plain => scalar::plain(text, self.dialect),
            None => Ok(Kind::Text(text.to_owned(), Style::Quoted)),
            Some(name) => match tag::tagged(&name, (text, is_plain), self.dialect) {
                Ok(kind) => kind,
                Err(Misfit::Unfit(wanted)) => {
                    self.fault(at, |origin| problems::unfit_tag(origin, &name, wanted));
                    Ok(Kind::Null)
                }
                Err(Misfit::Unknown) => {
                    let dialect = self.dialect;
                    self.fault(at, |origin| problems::unknown_tag(origin, &name, dialect));
                    Ok(Kind::Text(text.to_owned(), Style::Quoted))
                }
            },
        };
        let kind = kind.unwrap_or_else(|scalar::NotJson| {
            self.fault(at, |origin| problems::no_json_number(origin, text));
            Kind::Null
        });
        Node { kind, at }
    }

    /// Tells a tag on a collection that means nothing here.
    fn check_collection_tag(&mut self, tag: Option<&Tag>, expected: &str, span: &EventSpan) {
        if let Some(name) = tag.map(tag_name)
            && name != expected
            && name != "!"
        {
            let (at, dialect) = (self.place(span), self.dialect);
            self.fault(at, |origin| problems::unknown_tag(origin, &name, dialect));
        }
    }
}

/// A scalar as a key, and how it was written.
fn key_of(node: Node) -> Result<(Key, Style), At> {
    let at = node.at;
    let (text, style) = match node.kind {
        Kind::Null => ("null".to_owned(), Style::Plain),
        Kind::Flag(_, text) | Kind::Number(_, text) => (text, Style::Plain),
        Kind::Text(text, style) => (text, style),
        Kind::List(_) | Kind::Map(_) => return Err(at),
    };
    Ok((Key { text, at }, style))
}

/// The text of a scalar.
fn text_of(node: &Node) -> Option<String> {
    match &node.kind {
        Kind::Flag(_, text) | Kind::Number(_, text) | Kind::Text(text, _) => Some(text.clone()),
        Kind::Null | Kind::List(_) | Kind::Map(_) => None,
    }
}
