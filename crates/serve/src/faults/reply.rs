//! One message on its way to the client, as faults bend it, and the bytes that come of it.

use serde_json::{Map, Value};

use super::style::{Framing, LineEnd, Mark, Spacing, Style, Writes};
use crate::tap::{Emit, Flood, Middle, Outlet};

/// What a text is filled up with.
const FILLING: u8 = b'x';

/// Something beside the message itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Part {
    /// Another message, in the style of the stream.
    Message(Value),
    /// Anything else.
    Do(Emit),
}

/// How the message is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    OneLine,
    Pretty,
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
    message: Value,
    /// The message's text without newline as it came, until somebody changes the message.
    line: Option<Vec<u8>>,
    splices: Vec<Splice>,
    layout: Layout,
    edits: Vec<fn(&mut Vec<u8>)>,
    /// What stands where the text is filled up, and the bytes wanted in all.
    filled: Option<(String, u64)>,
    copies: usize,
    /// How it goes on the stream.
    pub(super) style: Style,
    before: Vec<Part>,
    instead: Option<Vec<Emit>>,
    after: Vec<Part>,
    /// Ids under which we asked the client something.
    asked: Vec<Value>,
}

/// What a reply came to.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Finished {
    /// What is done, in order.
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
                && flood.middle == Middle::Nothing
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
            layout: Layout::OneLine,
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

    /// The message as it stands.
    pub(super) fn message(&self) -> &Value {
        &self.message
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

    /// The message is written over several lines.
    pub(super) fn pretty(&mut self) {
        self.layout = Layout::Pretty;
    }

    /// The bytes are changed at the end.
    pub(super) fn edit(&mut self, edit: fn(&mut Vec<u8>)) {
        self.edits.push(edit);
    }

    /// The message goes out once more.
    pub(super) fn repeat(&mut self) {
        self.copies += 1;
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

    /// What is done in the end.
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
                self.style.mark = Mark::None;
            }
            finished.message = Some(self.message);
            finished.sent_at = finished.emits.len();
        }
        finished.emits.extend(parts(after, &mut self.style));
        finished
    }

    fn render(&self) -> Vec<Emit> {
        let mut text = match (&self.line, self.layout) {
            (Some(line), Layout::OneLine) => line.clone(),
            (None, Layout::OneLine) => self.message.to_string().into_bytes(),
            // A value whose keys are all strings always has a text.
            (_, Layout::Pretty) => serde_json::to_vec_pretty(&self.message).unwrap_or_default(),
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
            style.mark = Mark::None;
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
        style.open(head, size.max(rest)),
        Emit::Flood(Flood {
            outlet: Outlet::Stdout,
            head: vec![FILLING],
            middle: Middle::Nothing,
            tail: Vec::new(),
            count: size.saturating_sub(rest),
        }),
        style.close(tail),
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
        let mut bytes = self.head(text.len() as u64);
        bytes.extend_from_slice(text);
        bytes.extend_from_slice(self.end());
        self.emit(bytes)
    }

    /// The beginning of a message of `size` bytes.
    fn open(self, text: &[u8], size: u64) -> Emit {
        let mut bytes = self.head(size);
        bytes.extend_from_slice(text);
        self.emit(bytes)
    }

    /// The end of a message.
    fn close(self, text: &[u8]) -> Emit {
        let mut bytes = text.to_vec();
        bytes.extend_from_slice(self.end());
        self.emit(bytes)
    }

    fn head(self, size: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        if self.mark == Mark::ByteOrder {
            bytes.extend_from_slice("\u{feff}".as_bytes());
        }
        if self.spacing == Spacing::BlankLines {
            bytes.extend_from_slice(self.line_end().as_bytes());
        }
        if self.framing == Framing::ContentLength {
            bytes.extend_from_slice(format!("Content-Length: {size}\r\n\r\n").as_bytes());
        }
        bytes
    }

    fn end(self) -> &'static [u8] {
        match (self.framing, self.spacing) {
            (Framing::ContentLength, _) => b"",
            (Framing::Lines, Spacing::Dense) => self.line_end().as_bytes(),
            (Framing::Lines, Spacing::BlankLines) => match self.end {
                LineEnd::Lf => b"\n\n",
                LineEnd::CrLf => b"\r\n\r\n",
                LineEnd::None => b"",
            },
        }
    }

    const fn line_end(self) -> &'static str {
        match self.end {
            LineEnd::Lf => "\n",
            LineEnd::CrLf => "\r\n",
            LineEnd::None => "",
        }
    }

    fn emit(self, bytes: Vec<u8>) -> Emit {
        match self.writes {
            Writes::Whole => Emit::Bytes(bytes),
            Writes::Bytewise => Emit::Bytewise(bytes),
        }
    }
}
