//! Bytes on stdout and stderr that are not quite what they should be.

use super::{Moment, text_mut};
use crate::faults::argument::Said;
use crate::faults::reply::Reply;
use crate::faults::style::{Framing, LineEnd, Mark, Spacing, Style, Writes};
use crate::tap::{Emit, Ending, Flood, Middle, Outlet};

/// One line of the stderr flood, 64 bytes.
const STDERR_LINE: &[u8; 64] = b"noise: this line is one of many and says nothing to anybody ...\n";

pub(in crate::faults) fn banner() -> Vec<u8> {
    b"Starting the server\nLoading plugins: 3 found\nListening for messages\n".to_vec()
}

pub(in crate::faults) fn ansi() -> Vec<u8> {
    b"\x1b[2J\x1b[1;31mready\x1b[0m \x1b]0;title\x07\n".to_vec()
}

pub(in crate::faults) fn nul() -> Vec<u8> {
    b"\0\n".to_vec()
}

pub(in crate::faults) fn byte_order_mark(style: &mut Style) {
    style.mark = Mark::ByteOrder;
}

pub(in crate::faults) fn crlf(style: &mut Style) {
    style.end = LineEnd::CrLf;
}

pub(in crate::faults) fn blank_lines(style: &mut Style) {
    style.spacing = Spacing::BlankLines;
}

pub(in crate::faults) fn content_length(style: &mut Style) {
    style.framing = Framing::ContentLength;
}

pub(in crate::faults) fn bytewise(style: &mut Style) {
    style.writes = Writes::Bytewise;
}

pub(in crate::faults) fn noise_between(reply: &mut Reply, moment: Moment<'_>) {
    reply.before(Emit::Bytes(b"still working on it\n".to_vec()));
    reply.before(Emit::Delay(moment.given.time()));
}

pub(in crate::faults) fn noise_midline(reply: &mut Reply, _: Moment<'_>) {
    reply.edit(|text| {
        let noise = b"WARN cache miss ";
        let at = structural_comma(text).map_or(text.len() / 2, |comma| comma + 1);
        text.splice(at..at, noise.iter().copied());
    });
}

/// The first comma that no string holds: text after it breaks the line for every parser.
fn structural_comma(text: &[u8]) -> Option<usize> {
    let (mut quoted, mut escaped) = (false, false);
    text.iter().position(|byte| {
        let comma = *byte == b',' && !quoted;
        if *byte == b'"' && !escaped {
            quoted = !quoted;
        }
        escaped = quoted && *byte == b'\\' && !escaped;
        comma
    })
}

pub(in crate::faults) fn pretty(reply: &mut Reply, _: Moment<'_>) {
    reply.pretty();
}

pub(in crate::faults) fn no_newline(reply: &mut Reply, moment: Moment<'_>) {
    reply.style.end = LineEnd::None;
    if moment.given.word() == Said::No {
        reply.after(Emit::End(Ending::Exit(0)));
    }
}

pub(in crate::faults) fn invalid_utf8(reply: &mut Reply, _: Moment<'_>) {
    let byte = reply.splice(vec![0xFF]);
    if let Some(text) = text_mut(reply) {
        text.push_str(&byte);
    }
}

pub(in crate::faults) fn huge_line(reply: &mut Reply, moment: Moment<'_>) {
    let filling = reply.fill(moment.given.count());
    if let Some(text) = text_mut(reply) {
        text.push_str(&filling);
    }
}

pub(in crate::faults) fn stderr_flood(reply: &mut Reply, moment: Moment<'_>) {
    let size = moment.given.count();
    let line = STDERR_LINE.len() as u64;
    reply.before(Emit::Flood(Flood {
        outlet: Outlet::Stderr,
        head: STDERR_LINE.to_vec(),
        middle: Middle::Nothing,
        tail: Vec::new(),
        count: size / line,
    }));
    let rest = usize::try_from(size % line).unwrap_or_default();
    if rest > 0 {
        reply.before(Emit::Stderr(STDERR_LINE[..rest].to_vec()));
    }
}
