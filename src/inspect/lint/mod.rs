//! What is wrong with what a server offers: for a model that reads it, for clients that take it, for the person whose data
//! it touches.
//!
//! A [`rule::Rule`] is a value in [`rules::RULES`] or a fact about a client in [`hosts`]; each looks at one kind of
//! subject in a [`view::View`]. [`look`] runs those that are chosen. What needs a call of a tool is in [`probe`]. Nothing
//! here depends on a clock or on the order in which anything arrives: the same lists give the same findings.

pub(crate) mod hosts;
pub(crate) mod page;
pub(crate) mod place;
pub(crate) mod probe;
pub(crate) mod rule;
pub(crate) mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod view;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    sync::atomic::{AtomicUsize, Ordering},
    thread::Builder,
};

use self::{
    hosts::Fact,
    rule::{Check, Findings, Rule},
    view::View,
};
use super::{catalog::Offer, effect::Effects};
use mcp::observation::catalog::Listing;
use report::inspection::{Finding, Kind, Severity, Subject};

/// What is looked for.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Whether only the rules of the Go tool run.
    pub(crate) is_of_go: bool,
    /// Whether rules run and findings are told that only inform.
    pub(crate) informs: bool,
    /// Codes that are left out.
    pub(crate) skipped: BTreeSet<&'static str>,
    /// The clients that are asked about.
    pub(crate) hosts: Vec<&'static Fact>,
    /// How bad the findings of some rules are, instead of what the rules say.
    pub(crate) levels: BTreeMap<&'static str, Severity>,
    /// Whether warnings are errors.
    pub(crate) is_strict: bool,
    /// What the user says of tools.
    pub(crate) effects: Effects,
}

impl Options {
    /// Whether a rule runs.
    pub(crate) fn wants(&self, rule: &Rule) -> bool {
        let level = self.levels.get(rule.code).unwrap_or(&rule.severity);
        let is_in_profile = if self.is_of_go {
            rule.is_of_go
        } else {
            self.informs || *level != Severity::Info
        };
        is_in_profile && !self.skipped.contains(rule.code)
    }

    /// Drops what the profile does not want of what was found, and raises what is strict.
    pub(crate) fn settle(&self, findings: &mut Vec<Finding>) {
        for it in findings.iter_mut() {
            if let Some(level) = self.levels.get(it.code) {
                it.severity = *level;
            }
        }
        findings.retain(|it| {
            let is_wanted = self.informs || it.severity != Severity::Info;
            is_wanted && !self.skipped.contains(it.code)
        });
        for it in findings.iter_mut().filter(|_| self.is_strict) {
            if it.severity == Severity::Warning {
                it.severity = Severity::Error;
            }
        }
    }
}

/// What was looked at, and what was found.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// What was looked at, with the checks that ran.
    pub(crate) subjects: Vec<Subject>,
    /// What was found.
    pub(crate) findings: Vec<Finding>,
}

/// Looks at what a server offers. `calls`: whether tools are called afterwards, so that such checks count as run.
pub(crate) fn look(offer: &Offer, options: &Options, calls: bool) -> Looked {
    let view = View::new(offer, &options.effects);
    let chosen: Vec<&Rule> = rules::all().filter(|rule| options.wants(rule)).collect();
    let mut findings = found(&view, &chosen);
    for fact in &options.hosts {
        if !options.skipped.contains(fact.code) {
            fact.check(&view, &mut findings);
        }
    }
    options.settle(&mut findings);
    let subjects = subjects(offer, &chosen, options, calls);
    Looked { subjects, findings }
}

/// In how many parts the subjects of a rule are looked at.
const PARTS: usize = 8;

/// What the rules find, in their order and that of the subjects, looked for on all cores.
fn found(view: &View<'_>, rules: &[&Rule]) -> Vec<Finding> {
    let parts = |rule: &Rule| if rule.check.is_divided() { PARTS } else { 1 };
    let jobs = rules
        .iter()
        .flat_map(|rule| (0..parts(rule)).map(move |part| (*rule, part)));
    let jobs: Vec<(&Rule, usize)> = jobs.collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut all = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((rule, part)) = jobs.get(at) else {
                return all;
            };
            let mut findings = Vec::new();
            let mut found = Findings::new(rule.finding(), &mut findings);
            run(view, rule.check, *part, &mut found);
            all.push((at, findings));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut all = std::thread::scope(|scope| {
        let others: Vec<_> = (1..cores)
            // Where no thread can be started, the others do its work.
            .filter_map(|_| Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(findings) => all.extend(findings),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(at, _)| *at);
    all.into_iter().flat_map(|(_, findings)| findings).collect()
}

/// Runs one check on a part of its subjects.
fn run(view: &View<'_>, check: Check, part: usize, found: &mut Findings<'_>) {
    match check {
        Check::Server(check) => check(view, found),
        Check::Tool(check) => {
            for tool in of(&view.tools, part) {
                found.about(Kind::Tool, tool.name);
                check(tool, found);
            }
        }
        Check::Entry(kinds, check) => {
            for entry in of(&view.entries, part)
                .iter()
                .filter(|it| kinds.contains(&it.kind))
            {
                found.about(entry.kind, entry.name);
                check(entry.json, found);
            }
        }
        Check::Text(check) => {
            for text in of(&view.texts, part) {
                found.about(text.kind, text.name);
                check(text, found);
            }
        }
        Check::Call(_) => {}
    }
}

/// A part of the subjects.
fn of<T>(all: &[T], part: usize) -> &[T] {
    let size = all.len().div_ceil(PARTS).max(1);
    all.chunks(size).nth(part).unwrap_or_default()
}

/// Rules about what makes the official clients refuse the whole list of tools.
const DROPS_THE_LIST: [&str; 3] = ["E121", "E130", "E135"];

/// One sentence for all that makes the official clients refuse the whole list of tools.
pub(crate) fn dropped_lists(findings: &[Finding]) -> Option<String> {
    let drops = findings
        .iter()
        .filter(|it| DROPS_THE_LIST.contains(&it.code));
    let mut places: Vec<String> = drops
        .map(|it| format!("`{}` ({})", it.name, it.code))
        .collect();
    if places.is_empty() {
        return None;
    }
    let more = places.split_off(places.len().min(10)).len();
    let more = match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let shown = places.join(", ");
    Some(format!(
        "the official clients refuse the whole list of tools because of {shown}{more}"
    ))
}

/// The server and all that it lists, each with the codes of the checks that ran on it.
fn subjects(offer: &Offer, chosen: &[&Rule], options: &Options, calls: bool) -> Vec<Subject> {
    let codes = |kind: Kind| {
        let rules = chosen.iter().filter(|it| it.check.is_on(kind, calls));
        let facts = options.hosts.iter().filter(|it| it.is_on(kind));
        let facts = facts.filter(|it| !options.skipped.contains(it.code));
        rules
            .map(|it| it.code)
            .chain(facts.map(|it| it.code))
            .collect()
    };
    let server = Subject {
        kind: Kind::Server,
        name: String::new(),
        checks: codes(Kind::Server),
    };
    let mut subjects = vec![server];
    for listing in Listing::ALL {
        let kind = view::kind(listing);
        let checks: std::sync::Arc<[&'static str]> = codes(kind);
        let entries = offer.entries(listing).iter();
        subjects.extend(entries.map(|entry| Subject {
            kind,
            name: view::name(listing, entry).to_owned(),
            checks: std::sync::Arc::clone(&checks),
        }));
    }
    subjects
}
