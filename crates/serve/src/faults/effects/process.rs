//! Processes that start late, end early, or do not end.

use super::Moment;
use crate::faults::argument::Given;
use crate::faults::orphan;
use crate::faults::reply::Reply;
use crate::tap::{Emit, Ending};

pub(in crate::faults) fn exit_at_start(given: &Given) -> Vec<Emit> {
    vec![Emit::End(Ending::Exit(given.exit_code()))]
}

pub(in crate::faults) fn slow_start(given: &Given) -> Vec<Emit> {
    vec![Emit::Delay(given.time())]
}

pub(in crate::faults) fn orphan_grandchild(_: &Given) -> Vec<Emit> {
    vec![Emit::Spawn(orphan::ARGUMENTS.to_vec())]
}

pub(in crate::faults) fn exit_instead(reply: &mut Reply, moment: Moment<'_>) {
    reply.instead([Emit::End(Ending::Exit(moment.given.exit_code()))]);
}

pub(in crate::faults) fn exit_after(reply: &mut Reply, moment: Moment<'_>) {
    reply.after(Emit::End(Ending::Exit(moment.given.exit_code())));
}

pub(in crate::faults) fn out_of_memory(reply: &mut Reply, moment: Moment<'_>) {
    // Stdout stays open meanwhile: it is the crash that closes it.
    let size = moment.given.count();
    reply.instead([Emit::TakeMemory(size), Emit::End(Ending::Abort)]);
}
