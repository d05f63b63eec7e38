//! The reports of a run: read the baseline before anything is written, compare, write what was asked for, and only
//! then save the new baseline, so that one path for both compares first.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    cli::run::RunArgs,
    commands::running::{Interrupts, Prepared, Refusal, Screen, input},
    deliver::{
        self, DeliverError, Destination,
        clash::{self, Named},
        command_file,
        stream::stream,
    },
    report::{
        Format, RunReport,
        baseline::Baseline,
        compare::{Comparison, Scope},
        failure::{Detail, Frames},
    },
    terminal::closing,
    words::{exit::ExitCode, text::nearest},
};

/// What is written when the run is over.
#[derive(Debug)]
pub(super) struct Reports {
    wanted: Vec<(Format, Destination)>,
    baseline: Option<(String, Baseline)>,
    save_baseline: Option<(PathBuf, Destination)>,
    detail: Detail,
}

impl Reports {
    /// Checks what was asked for and reads the baseline, before any server starts.
    pub(super) fn new(
        args: &RunArgs,
        prepared: &Prepared,
        screen: &Screen,
    ) -> Result<Self, Refusal> {
        let wanted = wanted(args, prepared, screen)?;
        let saved = args.save_baseline.as_deref();
        refuse_two(&wanted, saved)?;
        let baseline = args
            .baseline
            .as_ref()
            .or(prepared.settings.baseline.as_ref());
        refuse_clash(&wanted, (baseline, args.save_baseline.as_ref()), prepared)?;
        let base = &prepared.environment.directory;
        let interrupts = &screen.context().interrupts;
        let wanted = wanted
            .into_iter()
            .map(|asked| (asked.format, asked.destination))
            .collect();
        Ok(Self {
            wanted,
            baseline: baseline
                .map(|path| read_baseline(path, args, (base, interrupts)))
                .transpose()?
                .flatten(),
            save_baseline: args.save_baseline.as_ref().map(|path| {
                let place = Destination::from_path(path);
                (path.clone(), place)
            }),
            detail: Detail {
                frames: if args.trace {
                    Frames::All
                } else {
                    Frames::Last
                },
                ..Detail::usual(args.trials)
            },
        })
    }

    /// Writes everything and tells how many regressions there are.
    pub(super) fn deliver(
        self,
        mut report: RunReport,
        screen: &mut Screen,
    ) -> Result<(RunReport, Regressions), Refusal> {
        if let Some((against, baseline)) = &self.baseline {
            report.compare_with(baseline, against, Scope::Whole);
        }
        let regressed = report
            .comparison
            .as_ref()
            .is_some_and(Comparison::has_regressions);
        report.fit_to(self.wanted.iter().map(|(format, _)| *format));
        let mut trouble = None;
        for (format, destination) in &self.wanted {
            let is_obeyed = screen.is_in_workflow() && *destination == Destination::Stdout;
            let text = if is_obeyed {
                format.harmless_text(&report)
            } else {
                format.text(&report)
            };
            let written = text
                .map_err(|cause| DeliverError::new("make", Path::new(format.word()), cause))
                .and_then(|text| deliver::write(destination, &text, screen.stdout()));
            if let Err(error) = written {
                trouble.get_or_insert(error.to_string());
            }
        }
        if screen.is_for_people()
            && let Err(error) = self.close(&report, screen)
        {
            trouble.get_or_insert(format!("cannot write to stdout: {error}"));
        }
        if let Some((path, place)) = &self.save_baseline
            && let Err(error) = self.save((path, place), &report, screen)
        {
            trouble.get_or_insert(error.to_string());
        }
        match trouble {
            Some(trouble) => Err(Refusal::new(ExitCode::CouldNotRun, trouble)),
            None => Ok((
                report,
                if regressed {
                    Regressions::Found
                } else {
                    Regressions::None
                },
            )),
        }
    }

    /// Writes the closing report. Frames of a server may be long and look like anything.
    fn close(&self, report: &RunReport, screen: &mut Screen) -> io::Result<()> {
        let theme = screen.theme();
        match self.detail.frames {
            Frames::All => screen.unheeded(|out| closing::write(out, report, &self.detail, theme)),
            Frames::Last | Frames::None => {
                closing::write(screen.stdout(), report, &self.detail, theme)?;
                screen.stdout().flush()
            }
        }
    }

    fn save(
        &self,
        (path, place): (&Path, &Destination),
        report: &RunReport,
        screen: &mut Screen,
    ) -> Result<(), DeliverError> {
        let old = match place {
            Destination::Stdout => None,
            // A file that is no baseline is replaced, as the option says; one that cannot be read is not.
            Destination::File(_) | Destination::Within(_, _) | Destination::StepSummary(_) => {
                input::replaced(path)?.and_then(|text| Baseline::parse(&text).ok())
            }
        };
        let compared = self.baseline.as_ref().map(|(_, baseline)| baseline);
        let known = Baseline::known(compared, old);
        let new = Baseline::updated(known.as_ref(), report, Scope::Whole);
        deliver::write(place, &new.render(), screen.stdout())
    }
}

/// Whether something that passed in the baseline is red.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Regressions {
    None,
    Found,
}

/// A report that is asked for.
#[derive(Debug)]
struct Asked {
    /// By which option, or which key of the settings.
    by: String,
    format: Format,
    destination: Destination,
}

/// The reports that are asked for, each with its place.
fn wanted(args: &RunArgs, prepared: &Prepared, screen: &Screen) -> Result<Vec<Asked>, Refusal> {
    let mut wanted = Vec::new();
    let destination = |format: Format, path: &Path| {
        if format == Format::Markdown && command_file::is_summary(path, &prepared.environment) {
            Destination::StepSummary(path.to_owned())
        } else {
            Destination::from_path(path)
        }
    };
    let named = [
        ("--junit", Format::Junit, &args.junit),
        ("--markdown", Format::Markdown, &args.markdown),
        ("--badge", Format::Badge, &args.badge),
        ("--sarif", Format::Sarif, &args.sarif),
        ("--report-json", Format::RunJson, &args.report_json),
    ];
    for (option, format, path) in named {
        wanted.extend(path.as_deref().map(|path| Asked {
            by: option.to_owned(),
            format,
            destination: destination(format, path),
        }));
    }
    let typed = args.reports.iter().map(|text| ("--report ", text));
    let set = prepared.settings.report.iter();
    for (key, text) in typed.chain(set.map(|text| ("report: ", text))) {
        let (format, path) = report(text)?;
        wanted.push(Asked {
            by: format!("{key}{text}"),
            format,
            destination: destination(format, path),
        });
    }
    if args.json {
        wanted.push(Asked {
            by: "--json".to_owned(),
            format: Format::Json,
            destination: Destination::Stdout,
        });
    }
    if screen.is_in_workflow() {
        refuse_streams(&wanted)?;
    }
    Ok(wanted)
}

/// Refuses a stdout that would be two documents.
fn refuse_two(wanted: &[Asked], saved: Option<&Path>) -> Result<(), Refusal> {
    let reports = wanted.iter().map(|asked| &asked.destination);
    let saved = saved.map(Destination::from_path);
    let all = reports.chain(&saved);
    if all.filter(|place| **place == Destination::Stdout).count() > 1 {
        return Err(
            Refusal::invalid("two reports want stdout").with_help("write one of them to a file")
        );
    }
    Ok(())
}

/// Refuses a file that would be lost: one that two write, or that the run is made of. A baseline may be renewed.
fn refuse_clash(
    wanted: &[Asked],
    (baseline, saved): (Option<&PathBuf>, Option<&PathBuf>),
    prepared: &Prepared,
) -> Result<(), Refusal> {
    const SAVE: &str = "--save-baseline";
    let mut written: Vec<Named> = wanted
        .iter()
        .filter_map(|asked| match &asked.destination {
            Destination::File(path) | Destination::Within(_, path) => {
                Some(Named::new(&asked.by, path))
            }
            // What is there stays there.
            Destination::Stdout | Destination::StepSummary(_) => None,
        })
        .collect();
    written.extend(saved.map(|path| Named::new(SAVE, path)));
    let base = &prepared.environment.directory;
    let baseline = baseline.and_then(|path| clash::file(&base.join(path)));
    let stays = |writes: &Named, file: &Path| {
        if writes.by != SAVE && baseline.as_deref() == Some(file) {
            return Some("the baseline".to_owned());
        }
        let of_suite = prepared.files.holds(file);
        let own = || command_file::stays(file, &prepared.environment);
        of_suite
            .then(|| "a file of the suite".to_owned())
            .or_else(own)
    };
    match clash::clash(base, &written, stays) {
        None => Ok(()),
        Some(clash) => Err(Refusal::invalid(clash.to_string()).with_help("give each its own path")),
    }
}

/// A workflow's runner obeys lines of every stream, and only stdout is written so that it finds none.
fn refuse_streams(wanted: &[Asked]) -> Result<(), Refusal> {
    let other = wanted.iter().find_map(|asked| match &asked.destination {
        Destination::File(path) if stream(path).is_some() => Some(path),
        Destination::File(_)
        | Destination::Stdout
        | Destination::Within(_, _)
        | Destination::StepSummary(_) => None,
    });
    match other {
        None => Ok(()),
        Some(path) => Err(Refusal::invalid(format!(
            "no report can be written to `{}` in a workflow, whose log it is",
            path.display()
        ))
        .with_help("write it to a file, or to stdout with `-`")),
    }
}

/// Reads the baseline. A file that is also written may be new; paths are from `base` on.
fn read_baseline(
    path: &Path,
    args: &RunArgs,
    (base, interrupts): (&Path, &Interrupts),
) -> Result<Option<(String, Baseline)>, Refusal> {
    let shown = path.display().to_string();
    let Some(text) = input::baseline(path, interrupts)? else {
        let file = |path: &Path| clash::file(&base.join(path));
        let saved = args.save_baseline.as_deref();
        if saved.is_some_and(|saved| saved == path || file(saved) == file(path)) {
            return Ok(None);
        }
        return Err(
            Refusal::invalid(format!("the baseline `{shown}` does not exist"))
                .with_help("make it with --save-baseline"),
        );
    };
    let baseline = Baseline::parse(&text).map_err(|problem| {
        Refusal::invalid(format!("the baseline `{shown}` cannot be used: {problem}"))
    })?;
    Ok(Some((shown, baseline)))
}

/// Reads `FORMAT=PATH`.
fn report(text: &str) -> Result<(Format, &Path), Refusal> {
    let words = || Format::ALL.iter().map(|format| format.word());
    let (word, path) = text
        .split_once('=')
        .filter(|(_, path)| !path.is_empty())
        .ok_or_else(|| {
            Refusal::invalid(format!("`--report {text}` names no path"))
                .with_help("write FORMAT=PATH, such as `junit=report.xml`")
        })?;
    let format = Format::ALL
        .iter()
        .find(|format| format.word() == word)
        .ok_or_else(|| {
            let refusal = Refusal::invalid(format!("unknown report format `{word}`"));
            match nearest(word, words()) {
                Some(near) => refusal.with_help(format!("did you mean `{near}`?")),
                None => refusal.with_help(format!(
                    "formats: {}",
                    words().collect::<Vec<_>>().join(", ")
                )),
            }
        })?;
    Ok((*format, Path::new(path)))
}

#[cfg(test)]
mod tests {
    use crate::{report::Format, suite::settings::REPORTS};

    #[test]
    fn the_settings_know_the_formats() {
        let words: Vec<&str> = Format::ALL.iter().map(|format| format.word()).collect();
        assert_eq!(words, REPORTS);
    }
}
