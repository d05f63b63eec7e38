//! The closing report: failures in full, other findings, and totals.

use std::{
    io::{self, Write},
    time::Duration,
};

use crate::{
    deliver::workflow_log::WorkflowLog,
    terminal::theme::{Paint, Theme},
};
use check::outcome::Status;
use report::{
    End, RunReport,
    changes::{self, Level},
    compare::{Change, Class, Comparison},
    engine_time::EngineTime,
    failure::{self, Detail},
    surface::Surface,
    tally::{Reliability, Tally, sum},
    verdict::Judgement,
};
use text::{count, workflow::command::Command};

/// The most entries shown of a list.
const MOST_LISTED: usize = 10;

/// Shorter times would be shown as `0.00s`, in microseconds.
const LEAST_SHOWN: u64 = 10_000;

/// Failures that a workflow's log shows open; each further one is folded.
const MOST_OPEN: usize = 10;

/// Writes the closing report, with groups in a workflow's log.
pub(crate) fn write(
    out: &mut impl Write,
    report: &RunReport,
    (detail, theme): (&Detail, Theme),
    log: Option<&WorkflowLog>,
) -> io::Result<()> {
    let mut open = 0;
    for record in &report.records {
        let mut lines = failure::lines(record, detail);
        if !report.reds.is_empty() {
            lines.extend(failure::earlier(record, detail));
        }
        let Some(first) = lines.first() else {
            continue;
        };
        open += 1;
        let group = log.filter(|_| open > MOST_OPEN);
        if let Some(log) = group {
            out.flush()?;
            log.command(&Command::Group(first.text.clone()));
            lines.remove(0);
        } else {
            writeln!(out)?;
        }
        for line in lines {
            writeln!(out, "{}", theme.paint(Paint::Tone(line.tone), &line.text))?;
        }
        if let Some(log) = group {
            out.flush()?;
            log.command(&Command::EndGroup);
        }
    }
    write_findings(out, report, theme)?;
    if report.trials > 1 {
        write_reliability(out, report, theme)?;
    }
    if let Some(comparison) = &report.comparison {
        write_comparison(out, comparison, theme)?;
    }
    for surface in report.surfaces() {
        write_surface(out, surface, theme)?;
    }
    for note in &report.notes {
        writeln!(out, "{} {note}", theme.paint(Paint::Warning, "note:"))?;
    }
    writeln!(out)?;
    writeln!(out, "{}", totals(report))?;
    if let Some(text) = containers(&report.engine_time()) {
        writeln!(out, "{text}")?;
    }
    for red in &report.reds {
        writeln!(out, "{}", theme.paint(Paint::Status(Status::Fail), red))?;
    }
    let tally = report.tally();
    if report.end == End::Interrupted {
        let text = format!("interrupted{}", report.left_undone(": "));
        writeln!(out, "{}", theme.paint(Paint::Warning, &text))?;
    } else if let Some(text) = nothing_run(&tally, report.judgement.as_ref()) {
        writeln!(out, "{}", theme.paint(Paint::Warning, text))?;
    }
    Ok(())
}

/// Why nothing ran, unless the verdict's causes say it.
fn nothing_run(tally: &Tally, judgement: Option<&Judgement>) -> Option<&'static str> {
    let hindered = judgement.is_some_and(Judgement::is_of_no_run);
    if tally.executed() > 0 {
        None
    } else if tally.skipped > 0 {
        Some("nothing was run: every assertion was skipped")
    } else if hindered {
        None
    } else {
        Some("nothing was run: no assertion was selected")
    }
}

/// Changes of the servers' surfaces.
fn write_surface(out: &mut impl Write, surface: &Surface, theme: Theme) -> io::Result<()> {
    let file = surface.file.as_ref();
    let against = file.map_or(String::new(), |file| format!(" against {file}"));
    for (name, why) in surface.uncompared() {
        writeln!(out, "\nSurface of {name}{against}: not compared")?;
        writeln!(out, "  {why}")?;
    }
    for target in &surface.targets {
        if !target.is_told() {
            continue;
        }
        writeln!(out)?;
        let number = target.changes.len() + target.left_out;
        let risky = (target.risky > 0).then(|| format!(", {} risky", target.risky));
        writeln!(
            out,
            "Surface of {}{against}: {}, {} breaking{}",
            target.name,
            count(number, "change"),
            target.breaking,
            risky.unwrap_or_default()
        )?;
        for change in target.changes.iter().take(MOST_LISTED) {
            let mark = match change.level {
                Level::Breaking => theme.paint(Paint::Warning, "breaking:"),
                Level::Risky => theme.paint(Paint::Warning, "risky:"),
                Level::Safe => "changed:".to_owned(),
            };
            writeln!(out, "  {mark} {}", change.sentence())?;
            for (word, detail) in changes::details(change) {
                writeln!(out, "      {word}: {detail}")?;
            }
        }
        if number > MOST_LISTED {
            writeln!(out, "  … and {} more", number - MOST_LISTED)?;
        }
        if let Some(lists) = target.unknown_lists() {
            writeln!(out, "  not compared: {lists}")?;
        }
    }
    Ok(())
}

/// Findings on passing assertions; those of red ones are shown with them.
fn write_findings(out: &mut impl Write, report: &RunReport, theme: Theme) -> io::Result<()> {
    let all = report.noted();
    if all.is_empty() {
        return Ok(());
    }
    let title = format!("{} on passing assertions", count(all.len(), "finding"));
    writeln!(out, "\n{}", theme.paint(Paint::Heading, &title))?;
    for noted in all.iter().take(MOST_LISTED) {
        let finding = noted.finding;
        let label = format!("{} {}", finding.severity, finding.code);
        let label = theme.paint(Paint::Warning, &label);
        let name = noted.name(report.trials);
        writeln!(out, "  {label}  {name}: {}", finding.message)?;
    }
    if all.len() > MOST_LISTED {
        writeln!(out, "  … and {} more", all.len() - MOST_LISTED)?;
    }
    Ok(())
}

/// Changes against the baseline. All regressions are listed, and the first entries of other classes.
fn write_comparison(out: &mut impl Write, comparison: &Comparison, theme: Theme) -> io::Result<()> {
    for class in Class::ALL {
        let changes: Vec<&Change> = comparison.of(class).collect();
        if changes.is_empty() {
            continue;
        }
        let (title, paint, most) = if class == Class::Regressed {
            let red = Paint::Status(Status::Fail);
            ("Regressions detected", red, usize::MAX)
        } else {
            (class.title(), Paint::Heading, MOST_LISTED)
        };
        let title = format!("{title} ({}):", changes.len());
        writeln!(out, "\n{}", theme.paint(paint, &title))?;
        for change in changes.iter().take(most) {
            writeln!(out, "  {}: {}", change.name, change.transition())?;
        }
        if changes.len() > most {
            writeln!(out, "  … and {} more", changes.len() - most)?;
        }
    }
    Ok(())
}

/// The table of trials, without skipped assertions.
fn write_reliability(out: &mut impl Write, report: &RunReport, theme: Theme) -> io::Result<()> {
    let all: Vec<Reliability<'_>> = report
        .assertions()
        .into_iter()
        .filter(|assertion| assertion.trials > 0)
        .collect();
    if all.is_empty() {
        return Ok(());
    }
    let header = format!(
        "{:<60} {:>6} {:>6}  {:<6}  {:<6}",
        "Assertion", "Trials", "Passed", "pass@k", "pass^k"
    );
    writeln!(out, "\n{}", theme.paint(Paint::Heading, header.trim_end()))?;
    for assertion in &all {
        let name = assertion.record.name_on_target();
        let [capable, reliable] = assertion.words();
        let (trials, passed) = (assertion.trials, assertion.passed);
        writeln!(
            out,
            "{name:<60} {trials:>6} {passed:>6}  {capable:<6}  {reliable}"
        )?;
    }
    writeln!(out, "{}", sum(&all))
}

/// The totals, such as `12 assertions, 10 passed, 2 failed in 1.2s (8 jobs)`, without zero counts.
pub(crate) fn totals(report: &RunReport) -> String {
    let tally = report.tally();
    let mut text = count(tally.total(), "assertion");
    if report.trials > 1 {
        text = format!("{text} in {} trials each", report.trials);
    }
    let mut parts = vec![text];
    if tally.passed > 0 {
        parts.push(format!("{} passed", tally.passed));
    }
    parts.extend(tally.besides());
    let text = parts.join(", ");
    format!(
        "{text} in {} ({})",
        seconds(Duration::from_micros(report.timing.duration_us)),
        count(report.jobs, "job")
    )
}

/// The time spent in containers, such as `in 24 containers, added up: the engine 4.3s (create 0.4s, start 3.0s, remove
/// 0.9s), the servers 0.31s`, without parts shorter than 10 ms.
fn containers(time: &EngineTime) -> Option<String> {
    if time.containers == 0 {
        return None;
    }
    let shown = |micros| seconds(Duration::from_micros(micros));
    let parts: Vec<String> = [
        ("create", time.create),
        ("fill", time.fill),
        ("start", time.start),
        ("remove", time.remove),
    ]
    .into_iter()
    .filter(|(_, micros)| *micros >= LEAST_SHOWN)
    .map(|(part, micros)| format!("{part} {}", shown(micros)))
    .collect();
    Some(format!(
        "in {}, added up: the engine {} ({}), the servers {}",
        count(time.containers, "container"),
        shown(time.engine()),
        parts.join(", "),
        shown(time.servers)
    ))
}

/// `0.04s`, `1.2s`, `2m 05s`.
fn seconds(duration: Duration) -> String {
    let whole = duration.as_secs();
    if whole >= 60 {
        format!("{}m {:02}s", whole / 60, whole % 60)
    } else if whole >= 1 {
        format!("{whole}.{}s", duration.subsec_millis() / 100)
    } else {
        format!("0.{:02}s", duration.subsec_millis() / 10)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{seconds, totals, write};
    use crate::terminal::theme::Theme;
    use check::outcome::{EarlierAttempt, Status};
    use mcp::observation::{container::ContainerSeen, process::StderrTail};
    use report::{
        End, RunReport,
        baseline::Baseline,
        compare::{Scope, compare},
        failure::Detail,
        sample::{outcome, outcomes, report, sample},
    };
    use text::diagnostic::Colour;

    fn written(report: &RunReport, colour: Colour) -> String {
        let mut out = Vec::new();
        write(
            &mut out,
            report,
            (&Detail::usual(report.trials), Theme::new(colour)),
            None,
        )
        .unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_closing_report_shows_failures_findings_and_totals() {
        insta::assert_snapshot!("closing", written(&sample(), Colour::Off));
    }

    #[test]
    fn colours_are_ours_alone() {
        let plain = written(&sample(), Colour::Off);
        assert!(!plain.contains('\u{1b}'));
        let mut coloured = written(&sample(), Colour::On);
        for style in ["0", "1", "2", "31", "32", "33", "34", "36"] {
            coloured = coloured.replace(&format!("\u{1b}[{style}m"), "");
        }
        assert_eq!(coloured, plain);
    }

    #[test]
    fn everything_skipped_says_that_nothing_was_run() {
        let skipped = outcomes().remove(2);
        let text = written(&report(vec![skipped], 1), Colour::Off);
        assert!(text.contains("1 assertion, 1 skipped in"), "{text}");
        assert!(
            text.contains("nothing was run: every assertion was skipped"),
            "{text}"
        );
    }

    #[test]
    fn what_the_engine_took_is_told_apart_from_what_the_servers_did() {
        let contained = || {
            let mut outcome = outcome("a.yaml", "a");
            outcome.container = Some(Box::new(ContainerSeen {
                create: Duration::from_millis(20),
                fill: Duration::from_micros(3),
                start: Duration::from_millis(1_100),
                remove: Duration::from_millis(300),
                ..ContainerSeen::default()
            }));
            outcome
        };
        let mut again = contained();
        again.earlier = vec![EarlierAttempt {
            status: Status::Fail,
            detail: String::new(),
            failures: Vec::new(),
            duration: Duration::from_secs(2),
            stderr: StderrTail::default(),
            container: contained().container,
        }];
        let own = outcome("a.yaml", "in no container");
        let run = report(vec![contained(), again, own.clone()], 1);
        let text = written(&run, Colour::Off);
        assert!(
            text.ends_with(
                "in 3 containers, added up: the engine 4.2s (create 0.06s, start 3.3s, remove 0.90s), \
                 the servers 0.88s\n"
            ),
            "{text}"
        );
        let none = written(&report(vec![own], 1), Colour::Off);
        assert!(!none.contains("added up"), "{none}");
    }

    #[test]
    fn an_interrupted_run_says_what_is_missing() {
        let mut cut = report(vec![outcome("a.yaml", "a")], 1);
        cut.end = End::Interrupted;
        cut.planned = 3;
        let text = written(&cut, Colour::Off);
        assert!(text.contains("interrupted: 2 jobs did not run"), "{text}");
    }

    #[test]
    fn trials_count_once_and_skips_are_no_trials() {
        let trial = |name: &str, trial, status| {
            let mut outcome = outcome("a.yaml", name);
            outcome.trial = trial;
            outcome.status = status;
            outcome
        };
        let report = report(
            vec![
                trial("good", 1, Status::Pass),
                trial("good", 2, Status::Pass),
                trial("half", 1, Status::Pass),
                trial("half", 2, Status::Fail),
                trial("off", 1, Status::Skip),
                trial("off", 2, Status::Skip),
            ],
            2,
        );
        assert_eq!(
            totals(&report),
            "3 assertions in 2 trials each, 1 passed, 1 failed, 1 skipped in 1.2s (4 jobs)"
        );
        let text = written(&report, Colour::Off);
        assert!(
            text.contains("pass@k: 2/2 capable, pass^k: 1/2 reliable"),
            "{text}"
        );
        assert!(!text.contains("off  "), "{text}");
    }

    #[test]
    fn what_changed_since_the_baseline_is_named() {
        let (mut was_red, mut now_red) = (outcome("a.yaml", "mended"), outcome("a.yaml", "broken"));
        (was_red.status, now_red.status) = (Status::Error, Status::Fail);
        let before = report(
            vec![
                was_red,
                outcome("a.yaml", "broken"),
                outcome("a.yaml", "gone"),
            ],
            1,
        );
        let mut now = report(vec![outcome("a.yaml", "mended"), now_red], 1);
        let baseline = Baseline::updated(None, &before, Scope::Whole);
        now.comparison = Some(compare(&baseline, "b.json", &now, Scope::Whole));
        let text = written(&now, Colour::Off);
        let listed = text.split_once("Regressions").unwrap().1;
        insta::assert_snapshot!(listed.trim_end(), @r"
         detected (1):
          broken: was PASS, now FAIL

        Removed (1):
          gone: was PASS, now missing

        Fixed (1):
          mended: was ERROR, now PASS

        2 assertions, 1 passed, 1 failed in 1.2s (4 jobs)
        ");
    }

    #[test]
    fn durations_are_as_long_as_they_need_to_be() {
        assert_eq!(seconds(Duration::from_millis(45)), "0.04s");
        assert_eq!(seconds(Duration::from_millis(1_290)), "1.2s");
        assert_eq!(seconds(Duration::from_secs(125)), "2m 05s");
    }
}
