//! The page of a run: the step summary and the comment on a pull request. What matters comes first, in one table; what a
//! reader may want is folded. Each part gets its room in the order of importance.

use std::collections::{BTreeMap, BTreeSet};

use super::{ink::Ink, parts, room::Room};
use crate::{
    End, RunReport,
    changes::Level,
    comment::Surroundings,
    compare::{Change, Class, Comparison},
    failure::{self, Detail, Frames, Times},
    rank::Classes,
    record::Record,
    surface::{CLIENTS, Surface},
    verdict::Verdict,
};
use check::outcome::Status;
use text::{count, time};

/// Rows that are not folded, and details that come before other rows.
const SOME: usize = 50;

/// Fixed assertions that are worth a row; more are folded.
const FEW: usize = 5;

/// Bytes for the line that tells what is left out.
const RESERVED: usize = 400;

/// Characters of a foreign text on a line, the first ones that leave enough room.
const WIDTHS: [usize; 5] = [200, 120, 60, 30, LEAST];

/// The shortest of them, which has no room for reasons.
const LEAST: usize = 20;

/// Characters of a reason in a row.
const LONGEST_WHY: usize = 140;

/// Causes of the verdict.
const MOST_CAUSES: usize = 10;

/// What ends a detail that has more than its share.
const SHORTENED: &str = "\n  … (frames and more of stderr are left out to fit)";

/// Servers in the footer.
const MOST_SERVERS: usize = 10;

/// The icons of a pass, of a fail, and of everything that needs a look.
const PASS: &str = "✅";
const FAIL: &str = "❌";
const OTHER: &str = "⚠️";

/// What stands behind the icon.
const NAME: &str = " mcp-assert · ";

/// Which page it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The comment on a pull request: folded, and without measured times, so that equal runs give equal texts.
    Comment,
    /// The step summary: the worst details are open, and times and the list of all are there.
    Summary,
}

/// The page in at most so many bytes.
pub(crate) fn within(
    report: &RunReport,
    around: &Surroundings,
    place: Place,
    budget: usize,
) -> String {
    for most in WIDTHS {
        let page = Page {
            report,
            around,
            place,
            ink: Ink {
                secrets: Some(&around.secrets),
                most,
                files: around.files.clone(),
            },
        };
        if let Some(text) = page.text(budget) {
            return text;
        }
    }
    let mut text = headline(report);
    text.truncate(text.floor_char_boundary(budget));
    text
}

/// The first line: how it ended, and what speaks for that.
fn headline(report: &RunReport) -> String {
    let verdict = report.judgement.as_ref().map(|it| it.verdict);
    let verdict = verdict.unwrap_or_else(|| match report.end {
        _ if report.tally().is_red() || !report.reds.is_empty() => Verdict::Fail,
        End::Interrupted => Verdict::Interrupted,
        End::Finished if report.tally().executed() == 0 => Verdict::Empty,
        End::Finished => Verdict::Pass,
    });
    let (icon, what) = match verdict {
        Verdict::Pass => (PASS, news(report, verdict)),
        Verdict::Fail => (FAIL, news(report, verdict)),
        Verdict::Interrupted
        | Verdict::Invalid
        | Verdict::Incomplete
        | Verdict::Error
        | Verdict::Empty => (OTHER, verdict.word().to_owned()),
    };
    format!("### {icon}{NAME}{what}\n")
}

/// The verdict that a first line tells.
pub(crate) fn verdict_of(headline: &str) -> Option<Verdict> {
    let (icon, what) = headline.strip_prefix("### ")?.split_once(NAME)?;
    match icon {
        PASS => Some(Verdict::Pass),
        FAIL => Some(Verdict::Fail),
        _ => serde_json::from_value(what.trim_end().into()).ok(),
    }
}

/// What happened, worst first, in numbers.
fn news(report: &RunReport, verdict: Verdict) -> String {
    let tally = report.tally();
    let of = |class| {
        let comparison = report.comparison.as_ref();
        comparison.map_or(0, |it| it.of(class).count())
    };
    let red = match &report.comparison {
        Some(_) => vec![
            (of(Class::Regressed), "regression"),
            (of(Class::NewFailure), "new failure"),
            (of(Class::StillFailing), "known failure"),
        ],
        None => vec![(tally.failed, "failure"), (tally.errors, "error")],
    };
    let of_all = |it: &Surface| Level::ALL.map(|level| it.of(level).0);
    let unlocked = report.locked.iter().flat_map(of_all);
    let surface = report.surface.as_ref();
    let surface = [
        (report.breaking().unwrap_or(0), "breaking change"),
        (
            surface.map_or(0, |it| it.of(Level::Risky).0),
            "risky change",
        ),
        (unlocked.sum(), "unlocked change"),
    ];
    let all = red.into_iter().chain(surface);
    let all: Vec<String> = all
        .filter(|(number, _)| *number > 0)
        .map(|(number, word)| count(number, word))
        .collect();
    match (all.is_empty(), of(Class::Fixed), tally.is_red()) {
        (false, _, _) => all.join(", "),
        (true, fixed @ 1.., false) => format!("{fixed} fixed"),
        (true, _, _) if verdict == Verdict::Fail && tally.flaky > 0 => {
            count(tally.flaky, "flaky assertion")
        }
        (true, _, _) => format!("{} of {} passed", tally.passed, tally.executed()),
    }
}

/// How many passed, and what did not run as usual.
pub(super) fn counts(report: &RunReport) -> String {
    let tally = report.tally();
    let passed = format!("{} of {} passed", tally.passed, tally.executed());
    let others = [(tally.skipped, "skipped"), (tally.flaky, "flaky")].into_iter();
    let others = others.filter(|(number, _)| *number > 0);
    let others = others.map(|(number, word)| format!("{number} {word}"));
    [passed]
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join(", ")
}

/// A page of one width.
pub(super) struct Page<'a> {
    pub(super) report: &'a RunReport,
    pub(super) around: &'a Surroundings,
    pub(super) ink: Ink<'a>,
    place: Place,
}

/// A row of what matters: its icon, the assertion's name and record, and what became of it.
type Row<'a> = (&'static str, String, Option<&'a Record>, String);

impl Page<'_> {
    /// The page; nothing if the first rows need more than half of it, and names can be shorter.
    fn text(&self, budget: usize) -> Option<String> {
        let mut room = Room::of(budget.checked_sub(RESERVED)?);
        let (head, footer) = (room.whole(self.head())?, room.whole(self.footer())?);
        let rows = self.matters();
        let lines = |from: usize| rows[from..].iter().map(|row| self.row(row));
        let is_last = self.ink.most == LEAST;
        let most = if is_last { budget } else { budget / 2 };
        let open = self.head_of_table();
        let (table, shown) = room.rows((&open, ""), most, lines(0).take(SOME));
        let waiting = rows.len() - shown;
        if shown < rows.len().min(SOME) && !is_last {
            return None;
        }
        let surface = self.surface(&mut room);
        let red = Classes::of(self.report).red(self.report);
        // Rows that wait need room too.
        let most = room.left / if waiting > 0 { 2 } else { 1 };
        let is_summary = self.place == Place::Summary;
        let unfolded = if is_summary { " open" } else { "" };
        let details = |from: usize, share, open| {
            let red = red[from..].iter();
            red.map(move |record| self.detail(record, share, open))
        };
        let worst = details(0, usize::MAX, unfolded).take(SOME);
        let is_roomy = red.len() <= SOME && worst.map(|it| it.len()).sum::<usize>() <= most;
        let share = if is_roomy {
            most
        } else {
            most / red.len().clamp(1, SOME)
        };
        let (worst, told) = room.rows(("", ""), most, details(0, share, unfolded).take(SOME));
        let minor = self.minor(&mut room);
        let besides = is_summary.then(|| parts::besides(self, &mut room));
        let open = format!("\n<details><summary>{waiting} more</summary>\n{open}");
        let more = (open.as_str(), "\n</details>\n");
        let more = room.list(more, (waiting, "rows"), lines(shown));
        let left = (red.len() - told, "details");
        let further = room.list(("", ""), left, details(told, share, ""));
        let all = is_summary.then(|| parts::all(self, &mut room));
        let (besides, all) = (besides.unwrap_or_default(), all.unwrap_or_default());
        let (details, end) = (worst + &further, room.left_out() + &footer);
        Some(
            [
                head, table, more, surface, minor, details, besides, all, end,
            ]
            .concat(),
        )
    }

    /// How it ended, in how many assertions, compared with what, and why.
    fn head(&self) -> String {
        let report = self.report;
        let judgement = report.judgement.as_ref();
        let threshold = judgement.map(|it| it.threshold).filter(|it| *it != 10_000);
        let threshold = threshold.map(|it| format!("{} % required", f64::from(it) / 100.0));
        let run = self.around.run.as_ref();
        let run = run.map(|it| format!("[this run]({it})"));
        let line = [Some(counts(report)), threshold, self.compared(), run];
        let line: Vec<String> = line.into_iter().flatten().collect();
        let causes = match judgement {
            Some(judgement) if judgement.is_of_no_run() => {
                let causes = judgement.causes.iter().cloned();
                causes.filter(|it| it.verdict != Verdict::Fail).collect()
            }
            Some(_) | None => report.untold(),
        };
        let shown = causes.iter().take(MOST_CAUSES);
        let mut below: Vec<String> = shown.map(|it| self.ink.prose(&it.text)).collect();
        if causes.len() > MOST_CAUSES {
            below.push(format!("… and {} more", causes.len() - MOST_CAUSES));
        }
        if report.end == End::Finished && report.missing() > 0 {
            let missing = count(report.missing(), "job");
            below.push(format!("ended early: {missing} did not run"));
        }
        let below = match &below[..] {
            [] => String::new(),
            all => format!("\n- {}\n", all.join("\n- ")),
        };
        format!("{}\n{}\n{below}", headline(report), line.join(" · "))
    }

    /// What it was compared with, or why with nothing.
    fn compared(&self) -> Option<String> {
        let Some(comparison) = &self.report.comparison else {
            let reason = self.report.uncompared.as_deref()?;
            let reason = format!("not compared: {}", self.ink.prose(reason));
            return Some(reason.trim_end_matches(": ").to_owned());
        };
        let against = &comparison.against;
        let is_digit = |it: char| it.is_ascii_hexdigit();
        let digits = against.find(|it| !is_digit(it)).unwrap_or(against.len());
        let (sha, rest) = against.split_at(digits);
        let is_sha = (7..=64).contains(&digits) && matches!(rest.chars().next(), None | Some(','));
        Some(match self.commit(sha).filter(|_| is_sha) {
            Some(link) => format!("compared with {link}{}", self.ink.prose(rest)),
            None => format!("compared with {}", self.ink.prose(against)),
        })
    }

    /// A commit by its first digits, with a link to it.
    fn commit(&self, sha: &str) -> Option<String> {
        let is_told = self.ink.masked(sha) == sha && sha.chars().all(|it| it.is_ascii_hexdigit());
        let address = self.around.repository.as_ref().filter(|_| is_told)?;
        let short = &sha[..sha.len().min(10)];
        Some(format!("[<code>{short}</code>]({address}/commit/{sha})"))
    }

    fn head_of_table(&self) -> String {
        let compared = self.report.comparison.as_ref();
        let became = compared.map_or("Now", |_| "Before\u{a0}→\u{a0}now");
        format!("\n| | Assertion | {became} | Why |\n|---|---|---|---|\n")
    }

    fn row(&self, (icon, name, record, became): &Row<'_>) -> String {
        let name = self.ink.linked(name, *record);
        let why = record.filter(|_| self.ink.most > LEAST).map(why);
        let why = self.ink.prose_of(why.unwrap_or_default(), LONGEST_WHY);
        format!("| {icon} | {name} | {became} | {why} |\n")
    }

    /// What deserves a row, worst first.
    fn matters(&self) -> Vec<Row<'_>> {
        let report = self.report;
        let Some(comparison) = &report.comparison else {
            let name = |record: &Record| record.display_name(report.trials);
            let red = Classes::of(report).red(report).into_iter();
            let red = red.map(|it| (FAIL, name(it), Some(it), word(it.status)));
            let flaky = report.records.iter().filter(|it| it.is_flaky());
            let flaky = flaky.map(|it| (OTHER, name(it), Some(it), "**flaky**".to_owned()));
            return red.chain(flaky).collect();
        };
        let records = self.by_key();
        let red = [Class::Regressed, Class::NewFailure, Class::StillFailing];
        let red = red.map(|it| (FAIL, it)).into_iter();
        let fixed = is_few(comparison).then_some((PASS, Class::Fixed));
        let classes = red.chain([(OTHER, Class::Flaky)]).chain(fixed);
        let rows = classes.flat_map(|(icon, class)| {
            let changes = comparison.of(class).map(move |it| (icon, it));
            changes.map(|(icon, it)| {
                let record = records.get(&it.key).copied();
                (icon, it.name.clone(), record, became(it))
            })
        });
        rows.collect()
    }

    /// The record that shows the worst of each assertion.
    fn by_key(&self) -> BTreeMap<String, &Record> {
        let mut records: Vec<&Record> = self.report.records.iter().rev().collect();
        records.sort_by_key(|it| (it.status.is_red(), it.is_flaky()));
        records.into_iter().map(|it| (it.key(), it)).collect()
    }

    /// An outcome that is red, in full as far as it has no more than its share.
    fn detail(&self, record: &Record, share: usize, open: &str) -> String {
        let shown = |frames, stderr_lines, note: &str| {
            let detail = Detail {
                trials: self.report.trials,
                frames,
                times: match self.place {
                    Place::Comment => Times::Hidden,
                    Place::Summary => Times::Shown,
                },
                stderr_lines,
            };
            let text = failure::diff(&failure::lines(record, &detail)) + note;
            let name = record.display_name(self.report.trials);
            self.ink.details(FAIL, &name, &text, open)
        };
        let text = match self.place {
            Place::Comment => shown(Frames::None, 20, ""),
            Place::Summary => shown(Frames::Last, 100, ""),
        };
        if text.len() <= share || text == shown(Frames::None, 10, "") {
            return text;
        }
        shown(Frames::None, 10, SHORTENED)
    }

    /// What changed and hurts nobody, folded.
    fn minor(&self, room: &mut Room) -> String {
        let Some(comparison) = &self.report.comparison else {
            return String::new();
        };
        let records = self.by_key();
        let mut classes = vec![Class::Removed, Class::NewlySkipped, Class::Slower];
        classes.extend((!is_few(comparison)).then_some(Class::Fixed));
        classes.push(Class::New);
        let number = |class: &Class| comparison.of(*class).count();
        let title = |class: &Class| class.title().to_lowercase();
        let titles = classes.iter().filter(|it| number(it) > 0);
        let titles: Vec<String> = titles
            .map(|it| format!("{} {}", number(it), title(it)))
            .collect();
        let open = format!("\n<details><summary>{}</summary>\n\n", titles.join(", "));
        let changes = classes.iter().flat_map(|it| comparison.of(*it));
        let rows = changes.map(|it| {
            let record = records.get(&it.key).copied();
            let name = self.ink.linked(&it.name, record);
            let more = match (it.before_us, it.now_us, record) {
                (Some(before), Some(now), _) if it.class == Class::Slower => {
                    format!(": {} → **{}**", duration(before), duration(now))
                }
                (_, _, Some(record)) if !record.headline().is_empty() => {
                    format!(": {}", self.ink.prose(record.headline()))
                }
                (_, _, _) => String::new(),
            };
            format!("- {}: {name}{more}\n", title(&it.class))
        });
        let total = classes.iter().map(number).sum();
        let around = (open.as_str(), "\n</details>\n");
        room.list(around, (total, "minor changes"), rows)
    }

    /// What the servers offer now, each server by the name it has itself.
    fn surface(&self, room: &mut Room) -> String {
        let surfaces = self.report.surfaces();
        surfaces.map(|it| self.surface_of(it, room)).collect()
    }

    fn surface_of(&self, surface: &Surface, room: &mut Room) -> String {
        let differs = match &surface.file {
            Some(file) => format!("differs from {}", self.ink.inline(file)),
            None => "changed what it offers".to_owned(),
        };
        let name = |target| self.ink.inline(&self.server(target));
        let uncompared = surface.uncompared();
        let uncompared = uncompared
            .map(|(target, why)| format!("\n{} was not compared: {why}.\n", name(target)));
        let mut text = room.part(uncompared.collect(), "servers that were not compared");
        let told = || surface.targets.iter().filter(|it| it.is_told());
        let most = (SOME / told().count().max(1)).max(1);
        for target in told() {
            let title = format!("**{}** {differs}", name(&target.name));
            let shown = |most| self.ink.target(&title, target, most);
            let mut sizes = [(most, most), (most, 0), (3, 0)].into_iter();
            match sizes.find_map(|most| room.whole(shown(most))) {
                Some(part) => text.push_str(&part),
                None => room.note(1, "server's changes"),
            }
        }
        text
    }

    /// The name that a target has itself, if an assertion that talks to it learned one.
    fn server(&self, target: &str) -> String {
        let clients = &target[target.find(CLIENTS).unwrap_or(target.len())..];
        match self.report.own_name(target) {
            Some(own) => format!("{own}{clients}"),
            None => target.to_owned(),
        }
    }

    /// Which servers, which tool, which commit.
    fn footer(&self) -> String {
        let records = self.report.records.iter();
        let told = records.filter(|it| it.status != Status::Skip);
        let servers: BTreeSet<(&str, &str)> = told
            .filter_map(|it| Some((it.server.as_deref()?, it.revision.as_deref()?)))
            .collect();
        let named = servers.iter().take(MOST_SERVERS).map(|(server, revision)| {
            format!("{} {}", self.ink.inline(server), self.ink.inline(revision))
        });
        let mut parts: Vec<String> = named.collect();
        if let more @ 1.. = servers.len().saturating_sub(MOST_SERVERS) {
            parts.push(count(more, "more server"));
        }
        let version = self.ink.inline(&self.report.tool.version);
        parts.push(format!("mcp-assert {version}"));
        let head = self.around.head.as_ref();
        parts.extend(head.and_then(|sha| self.commit(sha)));
        if self.place == Place::Summary {
            parts.extend(parts::circumstances(self));
        }
        format!("\n<sub>{}</sub>\n", parts.join(" · "))
    }
}

/// Whether the fixed assertions get rows.
fn is_few(comparison: &Comparison) -> bool {
    comparison.of(Class::Fixed).count() <= FEW
}

/// `pass → **fail**`, on one line.
fn became(change: &Change) -> String {
    let before = change.before.map(|it| it.word().to_lowercase());
    let now = match change.now {
        Some(status) if change.class != Class::Flaky => word(status),
        Some(_) | None => "**flaky**".to_owned(),
    };
    let before = before.as_deref().unwrap_or("new");
    format!("{before}\u{a0}→\u{a0}{now}")
}

fn word(status: Status) -> String {
    format!("**{}**", status.word().to_lowercase())
}

/// Why it is not a plain pass.
fn why(record: &Record) -> &str {
    let first = record.attempts.first().filter(|_| record.is_flaky());
    first.map_or(record.headline(), |it| &it.detail)
}

/// A time for people.
pub(super) fn duration(micros: u64) -> String {
    time(std::time::Duration::from_micros(micros))
}
