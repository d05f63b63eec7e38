//! One message on its way to the client, as faults bend it, and the bytes that come of it.

use serde_json::{Map, Value};

use super::style::Style;
use crate::tap::{Emit, Flood, Outlet};

/// The filler of a text.
const FILLING: u8 = b'x';

/// Something beside the message itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Another message, in the style of the stream.
    Message(Value),
    /// Anything else.
    Do(Emit),
}

/// Bytes that no JSON value can hold, and the text that stands for them until the end.
#[derive(Debug)]
struct Splice {
    stand_in: String,
    bytes: Vec<u8>,
}

/// A message that is about to leave.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) message: Value,
    /// The message's text without newline as it came, until somebody changes the message.
    line: Option<Vec<u8>>,
    splices: Vec<Splice>,
    /// Whether the message is laid out over several lines.
    pub(super) is_pretty: bool,
    edits: Vec<fn(&mut Vec<u8>)>,
    /// The text to fill up, and the wanted bytes in all.
    filled: Option<(String, u64)>,
    /// How often the message goes out.
    pub(super) copies: usize,
    /// How it goes on the stream.
    pub(super) style: Style,
    before: Vec<Part>,
    instead: Option<Vec<Emit>>,
    after: Vec<Part>,
    /// Ids under which we asked the client something.
    asked: Vec<Value>,
}

/// A finished reply.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Finished {
    /// The steps, in order.
    pub(super) emits: Vec<Emit>,
    /// The message as it goes out, unless something else goes out instead.
    pub(super) message: Option<Value>,
    /// How many of the emits are done when the message is out.
    pub(super) sent_at: usize,
    /// Ids under which we asked the client something.
    pub(super) asked: Vec<Value>,
}

impl Finished {
    /// How many bytes go to stdout; those of numbered floods are notifications.
    pub(super) fn bytes(&self) -> u64 {
        let of = |emit: &Emit| {
            if let Emit::Bytes(bytes) | Emit::Bytewise(bytes) = emit {
                bytes.len() as u64
            } else if let Emit::Flood(flood) = emit
                && flood.outlet == Outlet::Stdout
                && !flood.numbered
            {
                flood.count * (flood.head.len() + flood.tail.len()) as u64
            } else {
                0
            }
        };
        self.emits.iter().map(of).sum()
    }
}

impl Reply {
    /// A message as it came, with its text and newline.
    pub(super) fn new(message: &Value, mut line: Vec<u8>, style: Style) -> Self {
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        Self {
            message: message.clone(),
            line: Some(line),
            splices: Vec::new(),
            is_pretty: false,
            edits: Vec::new(),
            filled: None,
            copies: 1,
            style,
            before: Vec::new(),
            instead: None,
            after: Vec::new(),
            asked: Vec::new(),
        }
    }

    /// A message of our own.
    pub(super) fn of(message: &Value, style: Style) -> Self {
        Self::new(message, message.to_string().into_bytes(), style)
    }

    /// The message, to be changed.
    pub(super) fn message_mut(&mut self) -> &mut Value {
        self.line = None;
        &mut self.message
    }

    /// The members of the message, to be changed.
    pub(super) fn members_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.message_mut().as_object_mut()
    }

    /// The members of the result, to be changed; nothing for an error.
    pub(super) fn result_mut(&mut self) -> Option<&mut Map<String, Value>> {
        self.message_mut().get_mut("result")?.as_object_mut()
    }

    /// A value stands at this JSON Pointer, whose holder is there.
    pub(super) fn set(&mut self, pointer: &str, value: Value) {
        let (holder, name) = pointer.rsplit_once('/').unwrap_or_default();
        let holder = self.message_mut().pointer_mut(holder);
        if let Some(members) = holder.and_then(Value::as_object_mut) {
            members.insert(name.to_owned(), value);
        }
    }

    /// The content has one block more.
    pub(super) fn add_block(&mut self, block: Value) {
        if let Some(result) = self.result_mut()
            && let Value::Array(content) = result.entry("content").or_insert(Value::Array(vec![]))
        {
            content.push(block);
        }
    }

    /// The member at this JSON Pointer is left out.
    pub(super) fn omit(&mut self, pointer: &str) {
        let (holder, name) = pointer.rsplit_once('/').unwrap_or_default();
        let holder = self.message_mut().pointer_mut(holder);
        if let Some(members) = holder.and_then(Value::as_object_mut) {
            members.shift_remove(name);
        }
    }

    /// An error stands in the place of the result.
    pub(super) fn fail(&mut self, error: Value) {
        if let Some(members) = self.members_mut() {
            members.shift_remove("result");
            members.insert("error".to_owned(), error);
        }
    }

    /// A text that stands for `bytes` inside a string of the message.
    pub(super) fn splice(&mut self, bytes: Vec<u8>) -> String {
        let stand_in = format!("@splice-{}@", self.splices.len());
        self.splices.push(Splice {
            stand_in: stand_in.clone(),
            bytes,
        });
        stand_in
    }

    /// A value that stands for `bytes` as a whole value of the message.
    pub(super) fn splice_value(&mut self, bytes: Vec<u8>) -> Value {
        let stand_in = self.splice(bytes);
        if let Some(splice) = self.splices.last_mut() {
            splice.stand_in = format!("\"{stand_in}\"");
        }
        Value::String(stand_in)
    }

    /// A text that grows until the message has `size` bytes.
    pub(super) fn fill(&mut self, size: u64) -> String {
        let stand_in = "@filling@".to_owned();
        self.filled = Some((stand_in.clone(), size));
        stand_in
    }

    /// The bytes are changed at the end.
    pub(super) fn edit(&mut self, edit: fn(&mut Vec<u8>)) {
        self.edits.push(edit);
    }

    /// This is done first.
    pub(super) fn before(&mut self, emit: Emit) {
        self.before.push(Part::Do(emit));
    }

    /// This message goes out first.
    pub(super) fn say_before(&mut self, message: Value) {
        self.before.push(Part::Message(message));
    }

    /// A request of ours goes out first; nobody behind us hears the answer.
    pub(super) fn ask_before(&mut self, request: Value) {
        self.asked.extend(request.get("id").cloned());
        self.say_before(request);
    }

    /// These are done instead of sending the message.
    pub(super) fn instead(&mut self, emits: impl IntoIterator<Item = Emit>) {
        self.instead.get_or_insert_default().extend(emits);
    }

    /// This is done last.
    pub(super) fn after(&mut self, emit: Emit) {
        self.after.push(Part::Do(emit));
    }

    /// This message goes out last.
    pub(super) fn say_after(&mut self, message: Value) {
        self.after.push(Part::Message(message));
    }

    /// The last step.
    pub(super) fn finish(mut self) -> Finished {
        let mut finished = Finished {
            asked: std::mem::take(&mut self.asked),
            ..Finished::default()
        };
        let before = std::mem::take(&mut self.before);
        let after = std::mem::take(&mut self.after);
        let mut style = self.style;
        finished.emits.extend(parts(before, &mut style));
        self.style = style;
        if let Some(emits) = self.instead.take() {
            finished.emits.extend(emits);
        } else {
            for _ in 0..self.copies {
                finished.emits.extend(self.render());
                self.style.mark = false;
            }
            finished.message = Some(self.message);
            finished.sent_at = finished.emits.len();
        }
        finished.emits.extend(parts(after, &mut self.style));
        finished
    }

    fn render(&self) -> Vec<Emit> {
        let mut text = match &self.line {
            _ if self.is_pretty => format!("{:#}", self.message).into_bytes(),
            Some(line) => line.clone(),
            None => self.message.to_string().into_bytes(),
        };
        for splice in &self.splices {
            replace(&mut text, splice.stand_in.as_bytes(), &splice.bytes);
        }
        for edit in &self.edits {
            edit(&mut text);
        }
        match &self.filled {
            Some((stand_in, size)) => filled(&text, stand_in.as_bytes(), *size, self.style),
            None => vec![self.style.write(&text)],
        }
    }
}

/// The emits of what stands before or after a message. A mark stands before the first message.
fn parts(parts: Vec<Part>, style: &mut Style) -> Vec<Emit> {
    let write = |part| match part {
        Part::Do(emit) => emit,
        Part::Message(message) => {
            let emit = style.write(message.to_string().as_bytes());
            style.mark = false;
            emit
        }
    };
    parts.into_iter().map(write).collect()
}

/// The text with so much filling in the place of `stand_in` that it has `size` bytes.
fn filled(text: &[u8], stand_in: &[u8], size: u64, style: Style) -> Vec<Emit> {
    let Some(at) = find(text, stand_in) else {
        return vec![style.write(text)];
    };
    let (head, tail) = (&text[..at], &text[at + stand_in.len()..]);
    let rest = u64::try_from(head.len() + tail.len()).unwrap_or(u64::MAX);
    vec![
        style.emit([style.head(size.max(rest)).as_slice(), head].concat()),
        Emit::Flood(Flood {
            outlet: Outlet::Stdout,
            head: vec![FILLING],
            numbered: false,
            tail: Vec::new(),
            count: size.saturating_sub(rest),
        }),
        style.close(tail.to_vec()),
    ]
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|part| part == wanted)
}

fn replace(text: &mut Vec<u8>, wanted: &[u8], bytes: &[u8]) {
    if let Some(at) = find(text, wanted) {
        text.splice(at..at + wanted.len(), bytes.iter().copied());
    }
}

impl Style {
    /// One whole message.
    fn write(self, text: &[u8]) -> Emit {
        self.close([self.head(text.len() as u64).as_slice(), text].concat())
    }

    fn head(self, size: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.mark {
            bytes.extend_from_slice("\u{feff}".as_bytes());
        }
        if self.blank_lines {
            bytes.extend_from_slice(self.end.as_bytes());
        }
        if self.content_length {
            bytes.extend_from_slice(format!("Content-Length: {size}\r\n\r\n").as_bytes());
        }
        bytes
    }

    /// The end of a message.
    fn close(self, mut bytes: Vec<u8>) -> Emit {
        let ends = match (self.content_length, self.blank_lines) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        bytes.extend_from_slice(self.end.repeat(ends).as_bytes());
        self.emit(bytes)
    }

    fn emit(self, bytes: Vec<u8>) -> Emit {
        if self.bytewise {
            Emit::Bytewise(bytes)
        } else {
            Emit::Bytes(bytes)
        }
    }
}
