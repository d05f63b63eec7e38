//! Bytes on stdout and stderr that are not quite what they should be.

use mcp::json::outside::outside_strings;

use super::{EffectContext, text_mut};
use crate::faults::reply::Reply;
use crate::tap::{Emit, Ending, Flood, Outlet};

/// One line of the stderr flood, 64 bytes.
const STDERR_LINE: &[u8; 64] = b"noise: this line is one of many and says nothing to anybody ...\n";

pub(in crate::faults) const BANNER: &[u8] =
    b"Starting the server\nLoading plugins: 3 found\nListening for messages\n";

pub(in crate::faults) const ANSI: &[u8] = b"\x1b[2J\x1b[1;31mready\x1b[0m \x1b]0;title\x07\n";

pub(in crate::faults) fn noise_between(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.before(Emit::Bytes(b"still working on it\n".to_vec()));
    reply.before(Emit::Delay(moment.given.time()));
}

pub(in crate::faults) fn noise_midline(reply: &mut Reply, _: EffectContext<'_>) {
    reply.edit(|text| {
        let noise = b"WARN cache miss ";
        // Text behind a comma that no string holds breaks the line for every parser.
        let comma = outside_strings(text).find(|(_, byte)| *byte == b',');
        let at = comma.map_or(text.len() / 2, |(at, _)| at + 1);
        text.splice(at..at, noise.iter().copied());
    });
}

pub(in crate::faults) fn no_newline(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.style.end = "";
    if moment.given.text().is_empty() {
        reply.after(Emit::End(Ending::Exit(0)));
    }
}

pub(in crate::faults) fn invalid_utf8(reply: &mut Reply, _: EffectContext<'_>) {
    let byte = reply.splice(vec![0xFF]);
    if let Some(text) = text_mut(reply) {
        text.push_str(&byte);
    }
}

pub(in crate::faults) fn huge_line(reply: &mut Reply, moment: EffectContext<'_>) {
    let filling = reply.fill(moment.given.count());
    if let Some(text) = text_mut(reply) {
        text.push_str(&filling);
    }
}

pub(in crate::faults) fn stderr_flood(reply: &mut Reply, moment: EffectContext<'_>) {
    let size = moment.given.count();
    let line = STDERR_LINE.len() as u64;
    reply.before(Emit::Flood(Flood {
        outlet: Outlet::Stderr,
        head: STDERR_LINE.to_vec(),
        numbered: false,
        tail: Vec::new(),
        count: size / line,
    }));
    let rest = usize::try_from(size % line).unwrap_or_default();
    if rest > 0 {
        reply.before(Emit::Stderr(STDERR_LINE[..rest].to_vec()));
    }
}
