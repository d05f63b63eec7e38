//! The role of the executable after the job of a GitHub action: whatever became of the run, the containers that carry
//! its label are removed. The runner starts it always, in a new container, with what the run left in its state.

use std::{fmt::Write, time::Duration};

use tokio::time::timeout;

use super::{Context, running::engine, runtime};
use host::container::{
    engine::{Asker, Engine, Wanted},
    reap::{Reaped, Whose, reap},
};
use text::{clean, count, exit::ExitCode};

/// The name that picks this role.
pub(super) const NAME: &str = "mcp-assert-post";

/// How often the engine is asked what there is: a request of a killed run may still have been on its way.
const LOOKS: usize = 3;

/// How long all of it may take.
const LIMIT: Duration = Duration::from_secs(30);

/// What was found, and what became of it.
#[derive(Debug)]
enum Tidied {
    /// The run named no label: it used no containers.
    NoLabel,
    /// Why no engine was asked.
    NoEngine(String),
    /// What was removed and what was not.
    Asked(Reaped),
    /// The engine took too long.
    TooLate,
}

/// Removes what the run left and says so in one line. What was tested has its verdict already: this has none.
pub(super) fn post(context: &Context) -> u8 {
    if let Some(log) = &context.log {
        log.begin();
    }
    context.say(&tidy(context).line());
    ExitCode::Passed.number()
}

fn tidy(context: &Context) -> Tidied {
    let set = |name: &str| {
        let value = context.environment.variable(name).map(str::trim);
        value.filter(|value| !value.is_empty())
    };
    let Some(label) = set(&format!("STATE_{}", engine::STATE)) else {
        return Tidied::NoLabel;
    };
    let wanted = Wanted {
        host: set("INPUT_DOCKER-HOST").map(str::to_owned),
        asker: Asker::Action,
    };
    let runtime = match runtime::of_this_thread() {
        Ok(runtime) => runtime,
        Err(error) => return Tidied::NoEngine(error.to_string()),
    };
    runtime.block_on(async {
        let removing = async {
            match engine::connect(&wanted, &context.environment).await {
                Ok(engine) => Tidied::Asked(remove(&engine, label).await),
                Err(refusal) => Tidied::NoEngine(refusal.message().to_owned()),
            }
        };
        timeout(LIMIT, removing).await.unwrap_or(Tidied::TooLate)
    })
}

/// Removes what carries the label, until nothing new is found.
async fn remove(engine: &Engine, label: &str) -> Reaped {
    let mut all = Reaped::default();
    for _ in 0..LOOKS {
        let found = reap(engine, Whose::Run(label)).await;
        let is_last = found.is_empty();
        all.containers.extend(found.containers);
        all.others.extend(found.others);
        // What could be removed at last is no failure.
        all.failures = found.failures;
        if is_last {
            break;
        }
    }
    all.containers.sort_unstable();
    all.containers.dedup();
    all.others.sort_unstable();
    all.others.dedup();
    all
}

impl Tidied {
    /// What is said about it.
    fn line(&self) -> String {
        let one_line = |text: &str| clean(text).replace('\n', " ");
        match self {
            Self::NoLabel => "nothing to remove: the run used no containers\n".to_owned(),
            Self::NoEngine(reason) => format!("nothing was removed: {}\n", one_line(reason)),
            Self::TooLate => format!(
                "the engine took longer than {} s to remove what the run left; the next run removes the rest\n",
                LIMIT.as_secs()
            ),
            Self::Asked(reaped) => {
                let containers = reaped.containers.len();
                let mut line = match reaped.others.len() {
                    0 if reaped.is_empty() && reaped.failures.is_empty() => {
                        "the run left nothing".to_owned()
                    }
                    0 => format!(
                        "removed {} that the run left",
                        count(containers, "container")
                    ),
                    others => format!(
                        "removed {} that the run left",
                        count(containers + others, "thing")
                    ),
                };
                if let Some(first) = reaped.failures.first() {
                    let _ = write!(
                        line,
                        "; {} could not be removed: {}",
                        reaped.failures.len(),
                        one_line(first)
                    );
                }
                line.push('\n');
                line
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Tidied;
    use host::container::reap::Reaped;

    #[test]
    fn whatever_was_found_is_one_line() {
        let case = |tidied: Tidied, wanted: &str| {
            let line = tidied.line();
            assert_eq!(line.matches('\n').count(), 1, "{line:?}");
            assert!(line.contains(wanted) && line.ends_with('\n'), "{line:?}");
        };
        let asked = |containers: &[&str], failures: &[&str]| {
            let owned = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect();
            Tidied::Asked(Reaped {
                containers: owned(containers),
                others: Vec::new(),
                failures: owned(failures),
                left: Vec::new(),
                was_silent: false,
            })
        };
        case(Tidied::NoLabel, "used no containers");
        case(
            Tidied::NoEngine("one\n  two".to_owned()),
            "nothing was removed: one   two",
        );
        case(Tidied::TooLate, "longer than 30 s");
        case(asked(&[], &[]), "the run left nothing");
        case(asked(&["a", "b"], &[]), "removed 2 containers");
        case(
            asked(&["a"], &["`b`:\nno", "c"]),
            "removed 1 container that the run left; 2 could not be removed: `b`: no",
        );
    }
}
