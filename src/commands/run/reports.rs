//! The reports of a run: read the baseline before anything is written, compare, write what was asked for, and only
//! then save the new baseline, so that one path for both compares first.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::{
    cli::run::RunArgs,
    commands::running::{
        Prepared, Refusal, Screen, baseline,
        places::{self, Places},
    },
    deliver::{
        self, DeliverError, Destination, command_file,
        stream::{Stream, stream},
    },
    terminal::{closing, live::Results},
};
use report::{
    Format, RunReport,
    baseline::Baseline,
    compare::Scope,
    failure::{Detail, Frames},
};
use text::exit::ExitCode;

/// The option that names the next baseline.
pub(super) const SAVE_BASELINE: &str = "--save-baseline";

/// Whether results are shown on stdout: nothing else that is asked for by the options and the settings goes there.
pub(super) fn results(args: &RunArgs, set: &[String]) -> Results {
    let is_stdout = |path: &Path| stream(path) == Some(Stream::Out);
    let reports = args.reports.iter().chain(set);
    let takes_stdout = args.json
        || args.list
        || reports
            .filter_map(|report| report.split_once('='))
            .any(|(_, path)| is_stdout(Path::new(path)))
        || places::files(&args.sinks).any(|(_, path)| is_stdout(path))
        || args.save_baseline.as_deref().is_some_and(is_stdout);
    if takes_stdout {
        Results::Silent
    } else {
        Results::Lines
    }
}

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
        refuse_clash(&wanted, (baseline.map(PathBuf::as_path), saved), prepared)?;
        let base = &prepared.environment.directory;
        let surroundings = (&**base, &screen.context().interrupts);
        let wanted = wanted
            .into_iter()
            .map(|asked| (asked.format, asked.destination))
            .collect();
        Ok(Self {
            wanted,
            baseline: baseline
                .map(|path| baseline::read(path, (SAVE_BASELINE, saved), surroundings))
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
                ..Detail::usual(args.selection.trials)
            },
        })
    }

    /// Compares, and writes everything.
    pub(super) fn deliver(
        self,
        mut report: RunReport,
        screen: &mut Screen,
    ) -> Result<RunReport, Refusal> {
        if let Some((against, baseline)) = &self.baseline {
            report.compare_with(baseline, against, Scope::Whole);
        }
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
            && let Err(error) = baseline::save(
                (path, place),
                &report,
                self.baseline.as_ref().map(|(_, baseline)| baseline),
                screen.stdout(),
            )
        {
            trouble.get_or_insert(error.to_string());
        }
        match trouble {
            Some(trouble) => Err(Refusal::new(ExitCode::CouldNotRun, trouble)),
            None => Ok(report),
        }
    }

    /// Writes the closing report. Frames of a server may be long and look like anything.
    fn close(&self, report: &RunReport, screen: &mut Screen) -> io::Result<()> {
        let theme = screen.theme();
        if self.detail.frames == Frames::All {
            return screen.unheeded(|out| closing::write(out, report, &self.detail, theme));
        }
        closing::write(screen.stdout(), report, &self.detail, theme)?;
        screen.stdout().flush()
    }
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
    wanted.extend(places::files(&args.sinks).map(|(format, path)| Asked {
        by: places::option(format).to_owned(),
        format,
        destination: destination(format, path),
    }));
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
    (baseline, saved): (Option<&Path>, Option<&Path>),
    prepared: &Prepared,
) -> Result<(), Refusal> {
    let written = wanted.iter().filter_map(|asked| match &asked.destination {
        Destination::File(path) | Destination::Within(_, path) => Some((&*asked.by, &**path)),
        // What is there stays there.
        Destination::Stdout | Destination::StepSummary(_) => None,
    });
    let renewal = (SAVE_BASELINE, saved);
    let mut places = Places::new(&prepared.environment, written, baseline, renewal);
    places.files.clone_from(&prepared.files);
    places.check()
}

/// A workflow's runner obeys lines of every stream, and only stdout is written so that it finds none.
fn refuse_streams(wanted: &[Asked]) -> Result<(), Refusal> {
    for asked in wanted {
        if let Destination::File(path) = &asked.destination
            && stream(path).is_some()
        {
            return Err(Refusal::invalid(format!(
                "no report can be written to `{}` in a workflow, whose log it is",
                path.display()
            ))
            .with_help("write it to a file, or to stdout with `-`"));
        }
    }
    Ok(())
}

/// Reads `FORMAT=PATH`.
fn report(text: &str) -> Result<(Format, &Path), Refusal> {
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
            let words: Vec<&str> = Format::ALL.iter().map(|format| format.word()).collect();
            Refusal::invalid(format!("unknown report format `{word}`"))
                .with_meant(word, "formats", &words)
        })?;
    Ok((*format, Path::new(path)))
}

#[cfg(test)]
mod tests {
    use report::Format;
    use suite::settings::REPORTS;

    #[test]
    fn the_settings_know_the_formats() {
        let words: Vec<&str> = Format::ALL.iter().map(|format| format.word()).collect();
        assert_eq!(words, REPORTS);
    }
}
