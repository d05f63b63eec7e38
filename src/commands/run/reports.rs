//! The reports of a run. The baseline is read first and the new one saved last, so that both may have one path.

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
    verdict::SurfaceGate,
};
use text::exit::ExitCode;

/// The option that names the next baseline.
const SAVE_BASELINE: &str = "--save-baseline";

/// A requested report: the option or settings key, the format, and the path.
pub(super) type Requested = (String, Format, PathBuf);

/// Collects the requested reports of the options and the settings.
pub(super) fn requested(args: &RunArgs, set: &[String]) -> Result<Vec<Requested>, Refusal> {
    let files = places::files(&args.sinks);
    let mut all: Vec<Requested> = files
        .map(|(format, path)| (places::option(format).to_owned(), format, path.to_owned()))
        .collect();
    let typed = args.reports.iter().map(|text| ("--report ", text));
    for (key, text) in typed.chain(set.iter().map(|text| ("report: ", text))) {
        let (format, path) = report(text)?;
        all.push((format!("{key}{text}"), format, path.to_owned()));
    }
    let json = ("--json".to_owned(), Format::Json, PathBuf::from("-"));
    all.extend(args.json.then_some(json));
    Ok(all)
}

/// Whether results are printed on stdout, which is the case unless something else goes there.
pub(super) fn results(args: &RunArgs, requested: &[Requested]) -> Results {
    let reports = requested.iter().map(|(_, _, path)| path);
    if args.list || reports.chain(&args.save_baseline).any(|it| is_stdout(it)) {
        Results::Silent
    } else {
        Results::Lines
    }
}

fn is_stdout(path: &Path) -> bool {
    stream(path) == Some(Stream::Out)
}

/// What to write after the run.
#[derive(Debug)]
pub(super) struct Reports {
    wanted: Vec<(Format, Destination)>,
    baseline: Option<(String, Baseline)>,
    save_baseline: Option<(PathBuf, Destination)>,
    detail: Detail,
}

impl Reports {
    /// Checks the options and reads the baseline before any server starts.
    pub(super) fn new(
        args: &RunArgs,
        prepared: &Prepared,
        requested: Vec<Requested>,
        screen: &Screen,
    ) -> Result<Self, Refusal> {
        refuse_streams(&requested, args, screen)?;
        let saved = args.save_baseline.as_deref();
        let baseline = args.baseline.as_deref();
        let baseline = baseline.or(prepared.settings.baseline.as_deref());
        let is_summary = |format: Format, path: &Path| {
            format == Format::Markdown && command_file::is_summary(path, &prepared.environment)
        };
        let written = requested
            .iter()
            .filter(|(_, format, path)| stream(path).is_none() && !is_summary(*format, path))
            .map(|(by, _, path)| (&**by, &**path));
        let renewal = (SAVE_BASELINE, saved);
        let mut places = Places::new(&prepared.environment, written, baseline, renewal);
        places.files.clone_from(&prepared.files);
        places.check()?;
        let base = &prepared.environment.directory;
        let surroundings = (&**base, &screen.context.interrupts);
        let wanted = requested.into_iter().map(|(_, format, path)| {
            if is_summary(format, &path) {
                (format, Destination::StepSummary(path))
            } else {
                (format, Destination::from_path(&path))
            }
        });
        Ok(Self {
            wanted: wanted.collect(),
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

    /// Compares the run, and adds what `gate` makes red.
    pub(super) fn compare(&self, report: &mut RunReport, gate: SurfaceGate, screen: &Screen) {
        if let Some((against, baseline)) = &self.baseline {
            report.compare_with(baseline, against, Scope::Whole);
        }
        match (&report.surface, gate.option()) {
            (Some(surface), _) => report.reds.extend(gate.reasons(surface)),
            (None, Some(option)) => {
                screen.note(&format!(
                    "{option} can find no change of a surface: no baseline knows one"
                ));
            }
            (None, None) => {}
        }
    }

    /// Writes all reports.
    pub(super) fn deliver(
        self,
        mut report: RunReport,
        screen: &mut Screen,
    ) -> Result<RunReport, Refusal> {
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
                .and_then(|text| deliver::write(destination, &text, &mut screen.stdout));
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
                &mut screen.stdout,
            )
        {
            trouble.get_or_insert(error.to_string());
        }
        match trouble {
            Some(trouble) => Err(Refusal::new(ExitCode::CouldNotRun, trouble)),
            None => Ok(report),
        }
    }

    /// Writes the closing report. With `--trace`, it contains arbitrary text of servers.
    fn close(&self, report: &RunReport, screen: &mut Screen) -> io::Result<()> {
        let theme = screen.theme();
        if self.detail.frames == Frames::All {
            return screen.unheeded(|out| closing::write(out, report, (&self.detail, theme), None));
        }
        let log = screen.context.log.as_ref();
        closing::write(&mut screen.stdout, report, (&self.detail, theme), log)?;
        screen.stdout.flush()
    }
}

/// Refuses two reports on stdout, and in a workflow all other streams: the runner executes commands on all of them, and
/// only stdout is neutralised.
fn refuse_streams(requested: &[Requested], args: &RunArgs, screen: &Screen) -> Result<(), Refusal> {
    let reports = || requested.iter().map(|(_, _, path)| path);
    let on_stdout = reports().chain(&args.save_baseline);
    if on_stdout.filter(|path| is_stdout(path)).count() > 1 {
        return Err(
            Refusal::invalid("two reports go to stdout").with_help("write one of them to a file")
        );
    }
    match reports().find(|path| stream(path) == Some(Stream::Other)) {
        Some(path) if screen.is_in_workflow() => Err(Refusal::invalid(format!(
            "reports cannot be written to `{}` in a workflow, because it is the log",
            path.display()
        ))
        .with_help("write it to a file, or to stdout with `-`")),
        Some(_) | None => Ok(()),
    }
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
