//! `--baseline build`: the base of the tested revision, checked out in a folder of ours and prepared, to run beside it with the
//! same assertions. What keeps it from running is a reason why nothing is compared, and changes no verdict.

mod git;

use std::{
    fs::{self, File},
    io::{self, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use tokio::{process::Command, time::timeout};

use self::git::Git;
use super::here;
use crate::{
    cli::run::RunArgs,
    commands::{
        Context,
        running::{self, Chosen, Prepared, Screen},
    },
    deliver::{
        facts::CiEnvironment,
        github::{GitHub, history::short},
    },
};
use check::outcome::Status;
use host::{checkout::Checkout, container::labels::RunName};
use mcp::observation::{catalog::Listing, disruption::Phase};
use report::{RunReport, baseline::Baseline, compare::Scope, record::Record};
use suite::discover::{Elsewhere, Files};
use text::{clean, count, environment::Environment, head};

/// The time for the lines that build it.
const BUILDING: Duration = Duration::from_mins(20);

/// The characters of what a failed line said last that are shown.
const SHOWN: usize = 300;

/// The archive of the base, beside its files.
const ARCHIVE: &str = "archive";

/// The baseline of a run of the base with its name for reports, or why there is none.
pub(super) type Built = Result<(String, Baseline), String>;

/// The base, ready to run.
pub(super) struct Base {
    /// Its plan.
    pub(super) prepared: Prepared,
    /// Its revision for reports, and how that is called.
    name: String,
    /// Whether nothing was asked for that would have built its servers.
    is_unbuilt: bool,
    /// Removed when it is dropped.
    _checkout: Checkout,
}

impl Base {
    /// Checks the base out and prepares its run; otherwise why not.
    pub(super) fn new(
        (typed, lines): (&RunArgs, Option<&str>),
        (context, here): (&Context, &CiEnvironment),
        (name, suites): (&RunName, &Files),
        screen: &Screen,
    ) -> Result<Self, String> {
        let environment = &context.environment;
        let root = root(environment);
        let root = fs::canonicalize(&root)
            .map_err(|error| format!("`{}` cannot be read: {error}", root.display()))?;
        let making = async {
            let checkout = Checkout::new().map_err(|error| unmade(&error))?;
            let (files, base) = check_out(&root, here, &checkout, screen).await?;
            let elsewhere = Elsewhere {
                from: root.clone(),
                to: files,
            };
            for folder in suites.folders() {
                // Paths of servers begin in a suite's folder, also where the base has no suite.
                fs::create_dir_all(elsewhere.of(folder)).map_err(|error| unmade(&error))?;
            }
            let mut typed = typed.clone();
            if let Some(server) = &mut typed.selection.server {
                // An absolute path would start the server of the head.
                let within = |folder: &Path| format!("{}/", folder.display());
                *server = server.replace(&within(&root), &within(&elsewhere.to));
            }
            if let Some(fixture) = &mut typed.place.fixture {
                *fixture = elsewhere.of(&environment.directory.join(&*fixture));
            }
            typed.servers_in = Some(elsewhere);
            let prepared = running::prepare(&typed, &Chosen::ByOptions, context);
            let mut prepared = prepared.map_err(|refusal| refusal.message)?;
            if let Some(lines) = lines {
                build(lines, &prepared.environment).await?;
            }
            // One run has one name and one set of containers.
            prepared.name = name.clone();
            prepared.lists_every_target = true;
            Ok(Self {
                is_unbuilt: lines.is_none() && !prepared.needs_engine(),
                prepared,
                name: base,
                _checkout: checkout,
            })
        };
        match running::unless_interrupted(&context.interrupts, making) {
            Ok(Some(made)) => made,
            Ok(None) => Err("interrupted".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The baseline that its run makes. Assertions whose server never served say nothing; if those are all, there is none.
    pub(super) fn baseline(&self, mut report: RunReport) -> Built {
        let executed = || report.records.iter().filter(|it| it.status != Status::Skip);
        let served = |record: &Record| unserved_for(record).is_none();
        if let Some(why) = executed().find_map(unserved_for)
            && !executed().any(served)
        {
            let help = if self.is_unbuilt {
                "; `baseline-prepare` builds what is not in the repository"
            } else {
                ""
            };
            let name = &self.name;
            return Err(format!("no server could be started in {name}: {why}{help}"));
        }
        report.records.retain(served);
        report
            .catalogs
            .retain(|_, catalog| catalog.unknown.len() < Listing::ALL.len());
        let baseline = Baseline::updated(None, &report, Scope::Whole);
        Ok((format!("{}, built here", self.name), baseline))
    }
}

/// Why the server of an assertion did not come to serve, if it did not: nothing else shows what it wrote.
fn unserved_for(record: &Record) -> Option<String> {
    let evidence = record.evidence.as_ref()?;
    let disruption = evidence.disruption.as_ref()?;
    let phases = [Phase::Place, Phase::Start, Phase::Handshake].map(Phase::word);
    if record.status != Status::Error || !phases.contains(&disruption.phase.as_str()) {
        return None;
    }
    let message = disruption.message.lines().next().unwrap_or_default();
    let written = telling(&evidence.stderr).map(|line| format!("; it wrote: {line}"));
    Some(head(
        &(message.to_owned() + &written.unwrap_or_default()),
        SHOWN,
    ))
}

/// The line of a text that tells best what is wrong: the last one about an error, else the last one.
fn telling(text: &str) -> Option<&str> {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.clone().next_back();
    let error = lines.rfind(|line| line.to_lowercase().contains("error"));
    error.or(last)
}

/// The folder that holds the repository: that of the nearest `.git`, else the workspace.
fn root(environment: &Environment) -> PathBuf {
    let git = here::checkout_of(&environment.directory);
    let root = git.and_then(|git| git.parent().map(Path::to_owned));
    root.unwrap_or_else(|| here::workspace(environment))
}

/// Makes the files of the base. Returns their folder, and the base's revision with how it is called.
async fn check_out(
    root: &Path,
    here: &CiEnvironment,
    checkout: &Checkout,
    screen: &Screen,
) -> Result<(PathBuf, String), String> {
    let (sha, words) = fetch(root, here, checkout).await?;
    let archive = File::open(checkout.beside(ARCHIVE));
    let unpacked = archive.and_then(|archive| checkout.unpack(BufReader::new(archive)));
    let (files, leading_out) = unpacked.map_err(|error| unmade(&error))?;
    let mut without = String::new();
    if leading_out > 0 {
        let links = count(leading_out, "link");
        without = format!(", without {links} that would lead out of its folder");
    }
    if files.join(".gitmodules").exists() {
        without += ", without its submodules";
    }
    let base = format!("{}, {words}", short(&sha));
    screen.note(&format!(
        "the assertions run on the base too: {base}{without}"
    ));
    Ok((files, base))
}

/// Gets the files of the base by `git`, else from GitHub's API. Returns the revision, and how it is called.
async fn fetch(
    root: &Path,
    here: &CiEnvironment,
    checkout: &Checkout,
) -> Result<(String, String), String> {
    let by_git = async {
        let git = Git::new(&here.environment, root);
        let (sha, words) = git.base(here).await?;
        git.archive(&sha, checkout).await?;
        Ok::<_, String>((sha, words))
    };
    let problem = match by_git.await {
        Ok(found) => return Ok(found),
        Err(problem) => problem,
    };
    let Ok(github) = GitHub::new(here) else {
        return Err(problem);
    };
    match github.base(&checkout.beside(ARCHIVE)).await {
        Ok(Some(found)) => Ok(found),
        Ok(None) => Err(problem),
        Err(failure) => Err(format!("{problem}; and from GitHub: {failure}")),
    }
}

fn unmade(error: &io::Error) -> String {
    format!("the files of the base cannot be made: {error}")
}

/// Runs the lines that build the base, in its checkout.
async fn build(lines: &str, environment: &Arc<Environment>) -> Result<(), String> {
    let mut command = Command::new("sh");
    command
        .args(["-ec", lines])
        .current_dir(&environment.directory)
        .env_clear()
        .envs(environment.inherited())
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = match timeout(BUILDING, command.output()).await {
        Ok(output) => output.map_err(|error| format!("`sh` cannot be started: {error}"))?,
        Err(_) => return Err(format!("its build took more than {} s", BUILDING.as_secs())),
    };
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].map(|said| clean(&String::from_utf8_lossy(&said)));
    let said = said.iter().find_map(|said| telling(said));
    let said = head(said.unwrap_or_default(), SHOWN);
    Err(format!("its build ended with {}: {said}", output.status))
}
