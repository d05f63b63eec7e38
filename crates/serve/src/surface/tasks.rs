//! Tasks: calls whose result is fetched later, by the extension of that name.
//!
//! Nothing runs in the background. What a task is by now follows from the time that has passed and from what its client
//! answered, whenever somebody looks.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rmcp::ErrorData;
use rmcp::model::{
    ClientCapabilities, CreateTaskResult, DetailedTask, JsonObject, Task, TaskPayload, TaskStatus,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::Call;
use super::levels::Era;
use super::official::fill;
use super::rounds::{Inquired, Inquiry, asked, fits};
use crate::Clock;
use crate::draw::{Pcg, fnv1a};

/// How long a task is kept.
const TTL: Duration = Duration::from_mins(5);
/// How often a client had better look, in milliseconds.
const POLL: u64 = 200;
/// The most tasks that are kept; the oldest goes first.
const MOST: usize = 1000;

/// The work of a task.
#[derive(Debug, Deserialize)]
pub(super) struct Job {
    /// Whether a client without tasks is refused, where the revision has them; or else it gets the result.
    #[serde(default)]
    required: bool,
    /// The questions before the task is created.
    #[serde(default)]
    before: Inquiry,
    /// The questions of the task, all at once.
    #[serde(default)]
    asks: Inquiry,
    /// Milliseconds; as many seconds as the argument `seconds` says where nothing is written.
    lasts: Option<u64>,
    /// The result at the end; or else
    #[serde(default)]
    gives: Value,
    /// the error.
    fails: Option<Value>,
}

/// The tasks of one process.
pub(super) struct Tasks {
    clock: Clock,
    kept: Mutex<Kept>,
}

struct Kept {
    ids: Pcg,
    entries: Vec<Entry>,
}

struct Entry {
    task: Task,
    job: &'static Job,
    /// What is known for its end.
    given: JsonObject,
    answers: JsonObject,
    /// When it is done, once all is answered.
    due: Instant,
    made: Instant,
    ended: Option<TaskPayload>,
}

impl Job {
    /// Answers a call: with a task where the client knows tasks, with the result elsewhere.
    pub(super) async fn work(&'static self, call: &Call<'_>) -> Result<Value, ErrorData> {
        let capabilities = call.context.client_capabilities();
        let known = capabilities.is_some_and(|capabilities| capabilities.supports_tasks());
        if call.era == Era::Modern && !known && self.required {
            let tasks = ClientCapabilities::builder().enable_tasks().build();
            return Err(ErrorData::missing_required_client_capability(tasks));
        }
        let mut given = call.arguments.clone();
        match self.before.hear(call).await? {
            Inquired::Answers(answers) => given.extend(self.before.words(&answers)),
            Inquired::Needs(result) | Inquired::Refused(result) => return Ok(result),
        }
        let seconds = || call.count("seconds", 0).saturating_mul(1000);
        let length = Duration::from_millis(self.lasts.unwrap_or_else(seconds));
        let at_once = length.is_zero() && self.asks.requests().next().is_none();
        if call.era == Era::Modern && known && !at_once {
            return call.bench.shared.tasks.add(self, given, length);
        }
        match self.asks.hear(call).await? {
            Inquired::Answers(answers) => given.extend(self.asks.words(&answers)),
            Inquired::Needs(result) | Inquired::Refused(result) => return Ok(result),
        }
        match call.wait(length).await {
            Some(_) => self.end(&given),
            None => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    fn end(&self, given: &JsonObject) -> Result<Value, ErrorData> {
        match &self.fails {
            None => Ok(fill(&self.gives, given)),
            Some(error) => {
                Err(serde_json::from_value(error.clone()).unwrap_or_else(|error| internal(&error)))
            }
        }
    }
}

impl Tasks {
    /// No tasks, whose ids will come from `seed`.
    pub(super) fn new(seed: u64, clock: Clock) -> Self {
        let kept = Kept {
            ids: Pcg::new(seed, fnv1a("tasks")),
            entries: Vec::new(),
        };
        Self {
            clock,
            kept: Mutex::new(kept),
        }
    }

    fn add(
        &self,
        job: &'static Job,
        given: JsonObject,
        length: Duration,
    ) -> Result<Value, ErrorData> {
        let mut kept = self.kept();
        let id = format!("task-{:016x}", kept.ids.next_u64());
        let now = self.clock.stamp();
        let ttl = u64::try_from(TTL.as_millis()).unwrap_or(u64::MAX);
        let task = Task::new(id, TaskStatus::Working, now.clone(), now)
            .with_ttl_ms(ttl)
            .with_poll_interval_ms(POLL);
        if kept.entries.len() >= MOST {
            kept.entries.remove(0);
        }
        kept.entries.push(Entry {
            task: task.clone(),
            job,
            given,
            answers: JsonObject::new(),
            due: self.clock.due(length),
            made: Instant::now(),
            ended: None,
        });
        serde_json::to_value(CreateTaskResult::new(task)).map_err(|error| internal(&error))
    }

    /// The present state of a task.
    pub(super) fn get(&self, id: &str) -> Result<DetailedTask, ErrorData> {
        self.with(id, Entry::look)?
    }

    /// Takes answers. Those to no open question are nobody's.
    pub(super) fn update(&self, id: &str, given: &JsonObject) -> Result<(), ErrorData> {
        self.with(id, |entry, now| {
            for (key, request) in entry.job.asks.requests() {
                let answer = given
                    .get(key)
                    .filter(|answer| fits(asked(request).0, answer));
                if let (Some(answer), None) = (answer, &entry.ended)
                    && !entry.answers.contains_key(key)
                {
                    entry.answers.insert(key.clone(), answer.clone());
                    now.clone_into(&mut entry.task.last_updated_at);
                }
            }
        })
    }

    /// Ends a task that has not ended.
    pub(super) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        self.with(id, |entry, now| {
            entry.look(now)?;
            if entry.ended.is_none() {
                entry.ended = Some(TaskPayload::Cancelled);
                now.clone_into(&mut entry.task.last_updated_at);
            }
            Ok(())
        })?
    }

    fn with<T>(&self, id: &str, what: impl FnOnce(&mut Entry, &str) -> T) -> Result<T, ErrorData> {
        let mut kept = self.kept();
        kept.entries.retain(|entry| entry.made.elapsed() < TTL);
        let mut entries = kept.entries.iter_mut();
        let entry = entries.find(|entry| entry.task.task_id == id);
        let unknown = || ErrorData::invalid_params(format!("unknown task \"{id}\""), None);
        let now = self.clock.stamp();
        entry.map(|entry| what(entry, &now)).ok_or_else(unknown)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entry {
    /// What it is at `now`, the stamp of a change that is seen first.
    fn look(&mut self, now: &str) -> Result<DetailedTask, ErrorData> {
        let open = self.job.asks.requests();
        let open = open.filter(|(key, _)| !self.answers.contains_key(*key));
        let open: JsonObject = open
            .map(|(key, request)| (key.clone(), fill(request, &self.given)))
            .collect();
        if self.ended.is_none() && open.is_empty() && Instant::now() >= self.due {
            self.given.extend(self.job.asks.words(&self.answers));
            self.ended = Some(match self.job.end(&self.given) {
                Ok(result) => TaskPayload::Completed {
                    result: members(&result),
                },
                Err(error) => TaskPayload::Failed {
                    error: members(&json!(error)),
                },
            });
            now.clone_into(&mut self.task.last_updated_at);
        }
        let payload = match &self.ended {
            Some(ended) => ended.clone(),
            None if open.is_empty() => TaskPayload::Working,
            None => TaskPayload::InputRequired {
                input_requests: serde_json::from_value(Value::Object(open))
                    .map_err(|error| internal(&error))?,
            },
        };
        Ok(DetailedTask::new(self.task.clone(), payload))
    }
}

/// Every end is written as an object.
fn members(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap_or_default()
}

fn internal(error: &serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
