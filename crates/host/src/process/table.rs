//! The kernel's table of processes: state and start of a process, our children, all processes, and environments. Without
//! `/proc`, which other systems than Linux do not have, nothing is known.

use std::{collections::BTreeSet, fs, time::Duration};

use rustix::process::{Pid, getpid};

/// Facts about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Status {
    /// Whether it has ended and waits to be reaped. A process whose first thread has ended lives on in the others.
    pub ended: bool,
    /// Its parent.
    pub parent: i32,
    /// Its process group.
    pub group: i32,
    /// How many threads it has; its first one is counted until all have ended.
    pub threads: u32,
    /// What its first thread does.
    pub doing: Doing,
    /// The processor time it took so far, in clock ticks.
    pub worked: u64,
    /// When it started, in clock ticks since boot.
    pub started: u64,
    /// Whether it has its environment, which is missing for a moment while a process replaces its program.
    pub settled: bool,
}

/// What a thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It runs, waits for a free processor, or waits for a disk.
    Work,
    /// A signal has stopped it, as the system does with a process that reads from a terminal in the background.
    Stopped,
    /// It waits for something else, or has ended.
    Nothing,
}

/// Whether the table can be read here at all.
pub(crate) const READABLE: bool = cfg!(target_os = "linux");

/// How often a list that keeps changing is read.
const MOST_READS: usize = 8;

/// The work of some processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Work {
    /// Whether one of them runs, or waits for a free processor.
    active: bool,
    /// The processor time they took so far, in clock ticks.
    worked: u64,
    /// What they read and wrote so far.
    moved: Moved,
}

/// What a process read and wrote, as far as the system tells: bytes read, bytes written, and how often it read.
type Moved = [u64; 3];

fn moved(pid: Pid) -> Moved {
    let text = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    ["rchar:", "wchar:", "syscr:"].map(|name| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
        value.unwrap_or(0)
    })
}

/// How processes spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spin {
    /// They read the end of their input again and again.
    Reads,
    /// They compute, and write nothing.
    Computes,
}

impl Work {
    /// The work of these processes and their descendants: a process that waits for its child is at work with it.
    pub(crate) fn of(heads: &[Pid]) -> Self {
        let number = |pid: &Pid| pid.as_raw_nonzero().get();
        let known = |pid| Some((pid, status(pid).filter(|one| !one.ended)?));
        let living: Vec<(Pid, Status)> = all().into_iter().filter_map(known).collect();
        let mut family: BTreeSet<i32> = heads.iter().map(number).collect();
        loop {
            let of_family = |(_, one): &&(Pid, Status)| family.contains(&one.parent);
            let children = living.iter().filter(of_family).map(|(pid, _)| number(pid));
            let children: Vec<i32> = children.collect();
            let before = family.len();
            family.extend(children);
            if family.len() == before {
                break;
            }
        }
        let members = living
            .iter()
            .filter(|(pid, _)| family.contains(&number(pid)));
        let nothing = Self {
            active: false,
            worked: 0,
            moved: Moved::default(),
        };
        members.fold(nothing, |sum, (pid, one)| Self {
            active: sum.active
                || one.doing == Doing::Work
                || one.threads > 1 && a_thread_is_active(*pid),
            worked: sum.worked.saturating_add(one.worked),
            moved: {
                let own = moved(*pid);
                std::array::from_fn(|at| sum.moved[at].saturating_add(own[at]))
            },
        })
    }

    /// Whether they took a processor since then, as far as others left them one, and brought nothing forth.
    pub(crate) fn spun_since(self, before: Self, time: Duration) -> Option<Spin> {
        /// A quarter of a processor, in milliseconds for each hundredth of a second.
        const TIME_FOR_A_TICK: u128 = 40;
        /// Reads of nothing in a hundredth of a second of work that no server makes by the way.
        const IDLE_READS: u128 = 10;
        let ticks = (time.as_millis() / TIME_FOR_A_TICK).max(1);
        let worked = u128::from(self.worked.saturating_sub(before.worked));
        let [read, written, reads]: Moved =
            std::array::from_fn(|at| self.moved[at].saturating_sub(before.moved[at]));
        // Where all processors are busy, it gets little of them, and waits for them all the time.
        let takes_all = self.active && before.active && worked > 0 || worked >= ticks;
        if !takes_all || written > 0 {
            return None;
        }
        Some(if read == 0 && u128::from(reads) >= worked * IDLE_READS {
            Spin::Reads
        } else {
            Spin::Computes
        })
    }

    /// Whether they worked since then, and were not just awake now and then.
    pub(crate) fn goes_on_since(self, before: Self, time: Duration) -> bool {
        /// An eighth of a processor, in milliseconds for each hundredth of a second.
        const TIME_FOR_A_TICK: u128 = 80;
        let ticks = (time.as_millis() / TIME_FOR_A_TICK).max(1);
        self.active || u128::from(self.worked.saturating_sub(before.worked)) >= ticks
    }
}

/// The value of a variable in a block of `NAME=value` entries that end with zero bytes.
pub(crate) fn variable<'a>(block: &'a [u8], name: &str) -> Option<&'a str> {
    block.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        std::str::from_utf8(value).ok()
    })
}

/// The status of a process; `None` when there is none of that number.
pub(crate) fn status(pid: Pid) -> Option<Status> {
    parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// `pid (name) state parent group …`, the processor time as fields 14 and 15, the number of threads as field 20, the start
/// as field 22, the end of the environment as field 51; the name may hold anything.
fn parse(line: &[u8]) -> Option<Status> {
    let after_name = line.iter().rposition(|byte| *byte == b')')? + 1;
    let fields = std::str::from_utf8(line.get(after_name..)?).ok()?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let user: u64 = fields.nth(8)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    let threads: u32 = fields.nth(4)?.parse().ok()?;
    let gone = matches!(state, "Z" | "X" | "x");
    Some(Status {
        // The system counts a process as ended when the last of its threads has.
        ended: gone && threads <= 1,
        parent,
        group,
        threads,
        doing: match state {
            "R" | "D" => Doing::Work,
            "T" => Doing::Stopped,
            _ => Doing::Nothing,
        },
        worked: user.saturating_add(system),
        started: fields.nth(1)?.parse().ok()?,
        // A first thread that has ended took the environment with it, and replaces nothing.
        settled: fields.nth(28) != Some("0") || gone,
    })
}

/// Whether one of a process's threads runs, waits for a free processor, or waits for a disk.
fn a_thread_is_active(pid: Pid) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    threads.into_iter().flatten().flatten().any(|thread| {
        let line = fs::read(thread.path().join("stat")).ok();
        line.and_then(|line| parse(&line))
            .is_some_and(|status| status.doing == Doing::Work)
    })
}

/// The processes whose parent is our main thread: those it started, and those that it adopted.
pub(crate) fn children() -> Vec<Pid> {
    let own = getpid();
    let Some(mut found) = listed(own) else {
        // A kernel without lists of children.
        let parent = own.as_raw_nonzero().get();
        let is_child = |pid: &Pid| status(*pid).is_some_and(|status| status.parent == parent);
        return all().into_iter().filter(is_child).collect();
    };
    // The kernel may skip a child when its neighbour ends at that moment, but never reads a list as empty.
    for _ in 0..MOST_READS {
        match listed(own) {
            Some(again) if again != found && !found.is_empty() => found = again,
            Some(_) | None => break,
        }
    }
    found
}

/// The kernel's list of the children of our main thread, where it keeps one.
fn listed(own: Pid) -> Option<Vec<Pid>> {
    let text = fs::read_to_string(format!("/proc/self/task/{own}/children")).ok()?;
    let numbers = text.split_ascii_whitespace();
    let numbers = numbers.filter_map(|number| Pid::from_raw(number.parse().ok()?));
    Some(numbers.collect())
}

/// All processes.
pub(crate) fn all() -> Vec<Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.filter_map(Pid::from_raw).collect()
}

/// The environment a process was started with; `None` when it may not be read.
pub(crate) fn environment(pid: Pid) -> Option<Vec<u8>> {
    fs::read(format!("/proc/{pid}/environ")).ok()
}

/// The boot and the process namespace in which process numbers mean something.
pub(crate) fn place() -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let digits = |text: &str| -> String { text.chars().filter(char::is_ascii_digit).collect() };
    let namespace = digits(&namespace.to_string_lossy());
    format!("{}-{namespace}", boot.trim().replace('-', ""))
}

#[cfg(test)]
mod tests {
    use super::variable;

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let block = b"PATH=/bin\0MCP_ASSERT_JOB_X=no\0MCP_ASSERT_JOB=a=b\0BAD=\xff\0";
        assert_eq!(variable(block, "MCP_ASSERT_JOB"), Some("a=b"));
        assert_eq!(variable(block, "MCP_ASSERT"), None);
        assert_eq!(variable(block, "BAD"), None);
    }

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_confuse() {
        use super::{Doing, Status, parse};

        let line = "12 (a) Z 9 (b c) STATE 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 COUNT 0 4711 23 24 25 26 \
                    27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 ENV 0\n";
        let case = |(state, threads, address): (&str, u32, &str), ended, settled| {
            let wanted = Status {
                ended,
                parent: 1,
                group: 12,
                threads,
                doing: Doing::Nothing,
                worked: 11,
                started: 4711,
                settled,
            };
            let line = line.replace("STATE", state).replace("ENV", address);
            let line = line.replace("COUNT", &threads.to_string());
            assert_eq!(parse(line.as_bytes()), Some(wanted), "{line}");
        };
        case(("S", 1, "140723"), false, true);
        case(("S", 1, "0"), false, false);
        case(("Z", 1, "0"), true, true);
        // Its first thread has ended, and the others work on.
        case(("Z", 2, "0"), false, true);
        assert_eq!(parse(b"12 (a"), None);
    }
}
