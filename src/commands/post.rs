//! The executable's role after a job of the GitHub action: removes the run's containers. The runner always starts it,
//! in a new container, with the state that the run saved.

use std::{collections::BTreeSet, time::Duration};

use tokio::time::timeout;

use super::{Context, running::engine, runtime};
use host::container::{
    engine::{Asker, Engine, Wanted},
    reap::{Whose, reap},
};
use text::{clean, count, exit::ExitCode};

/// The program name that selects this role.
pub(super) const NAME: &str = "mcp-assert-post";

/// How often the engine is queried: a request of a killed run may still have been in flight.
const LOOKS: usize = 3;

/// The time limit for all of it.
const LIMIT: Duration = Duration::from_secs(30);

/// Removes what the run left and reports it in one line. The exit code is always 0.
pub(super) fn post(context: &Context) -> u8 {
    if let Some(log) = &context.log {
        log.begin();
    }
    let line = clean(&tidy(context)).replace('\n', " ");
    context.say(&format!("{line}\n"));
    ExitCode::Passed.number()
}

/// Removes what the run left and describes the result.
fn tidy(context: &Context) -> String {
    let set = |name: &str| context.environment.set(name);
    let Some(label) = set(&format!("STATE_{}", engine::STATE)) else {
        return "nothing to remove: the run used no containers".to_owned();
    };
    let wanted = Wanted {
        host: set("INPUT_DOCKER-HOST").map(str::to_owned),
        asker: Asker::Action,
    };
    let nothing = |reason: &str| format!("nothing was removed: {reason}");
    let runtime = match runtime::of_this_thread() {
        Ok(runtime) => runtime,
        Err(error) => return nothing(&error.to_string()),
    };
    let removing = async {
        match engine::connect(&wanted, &context.environment).await {
            Ok(engine) => remove(&engine, label).await,
            Err(refusal) => nothing(&refusal.message),
        }
    };
    let removed = runtime.block_on(async { timeout(LIMIT, removing).await });
    removed.unwrap_or_else(|_| {
        let seconds = LIMIT.as_secs();
        format!(
            "the engine took longer than {seconds} s to remove what the run left; the next run removes the rest"
        )
    })
}

/// Removes everything with the label until a query finds nothing new.
async fn remove(engine: &Engine, label: &str) -> String {
    let (mut containers, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut failures = Vec::new();
    for _ in 0..LOOKS {
        let found = reap(engine, Whose::Run(label)).await;
        let is_last = found.is_empty();
        containers.extend(found.containers);
        others.extend(found.others);
        // A later attempt may have removed it.
        failures = found.failures;
        if is_last {
            break;
        }
    }
    told(containers.len(), others.len(), &failures)
}

fn told(containers: usize, others: usize, failures: &[String]) -> String {
    let removed = match (containers, others) {
        (0, 0) if failures.is_empty() => return "the run left nothing".to_owned(),
        (_, 0) => count(containers, "container"),
        (_, _) => count(containers + others, "thing"),
    };
    let failed = failures.first().map(|first| {
        let number = failures.len();
        format!("; {number} could not be removed: {first}")
    });
    format!(
        "removed {removed} that the run left{}",
        failed.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn what_was_found_is_told() {
        let case = |(containers, others), failures: &[&str], wanted: &str| {
            let failures: Vec<String> = failures.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(told(containers, others, &failures), wanted);
        };
        case((0, 0), &[], "the run left nothing");
        case((2, 0), &[], "removed 2 containers that the run left");
        case((1, 1), &[], "removed 2 things that the run left");
        case(
            (1, 0),
            &["`b`: no", "c"],
            "removed 1 container that the run left; 2 could not be removed: `b`: no",
        );
    }
}
