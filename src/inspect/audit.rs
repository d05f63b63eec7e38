//! Whether each thing that a server offers answers at all: every tool that may be called, prompts, resources, templates,
//! and what the protocol wants of every server.
//!
//! Probes take the entries in the order of their lists, on one server. After a crash, a deadline or an answer that no
//! client can use there is a new server, and the probe is made once more on it alone.

use serde_json::{Map, Value, json};

use super::{
    catalog::Offer,
    effect::{Effect, effect, reason},
    parameters,
    probe::{Class, Seen, judge},
    sample::{Sources, Which, sample_of},
    server::{Asked, Open, Unanswered, calling, getting, reading},
};
use mcp::{
    observation::{answer::Answer, catalog::Listing},
    script::{
        subject::{CompletionCall, RawExchange, RawFrame, RawHandshake, Subject},
        template::ValueTemplate,
    },
};

/// Starts that may fail one after another. Then nothing more is tried.
const MOST_STARTS: usize = 3;

/// The most of a server's stderr in a report, in bytes.
const MOST_STDERR: usize = 4_000;

/// A name that no server has.
const UNKNOWN: &str = "mcp-assert-unknown";

/// What is probed.
pub(crate) struct Limits<'a> {
    /// Tools with a greater effect are not called.
    pub(crate) allow: Effect,
    /// Whether a tool is wanted, by its name.
    pub(crate) wanted: &'a dyn Fn(&str) -> bool,
    /// The parameters that get a value.
    pub(crate) which: Which,
    /// What arguments are made of.
    pub(crate) sources: Sources,
}

/// One thing that was probed, or not.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name: of resources the URI, of protocol probes what was asked.
    pub(crate) name: String,
    /// What the server says of it.
    pub(crate) description: Option<String>,
    /// How it went.
    pub(crate) seen: Seen,
    /// What a call may change, of a tool.
    pub(crate) effect: Option<Effect>,
    /// The arguments.
    pub(crate) arguments: Value,
    /// Why the schema itself refuses these arguments.
    pub(crate) refused: Option<String>,
    /// Whether it goes wrong on a fresh server too; `None`: it went well.
    pub(crate) reproducible: Option<bool>,
    /// The end of the server's stderr, where it went wrong.
    pub(crate) stderr: String,
}

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Audit {
    /// What the server offers.
    pub(crate) offer: Offer,
    /// The tools.
    pub(crate) tools: Vec<Row>,
    /// The prompts.
    pub(crate) prompts: Vec<Row>,
    /// The resources and the templates.
    pub(crate) resources: Vec<Row>,
    /// What every server must do.
    pub(crate) protocol: Vec<Row>,
    /// Why the server could not be started any more.
    pub(crate) gone: Option<String>,
}

impl Audit {
    /// The share of healthy ones among those that were probed, in percent, rounded down; `None`: none was.
    pub(crate) fn score(rows: &[Row]) -> Option<usize> {
        let tested = rows.iter().filter(|row| row.seen.class != Class::Skipped);
        let tested = tested.count();
        let healthy = rows
            .iter()
            .filter(|row| row.seen.class.is_healthy())
            .count();
        (healthy * 100).checked_div(tested)
    }

    /// All rows, by the word of their kind.
    pub(crate) fn groups(&self) -> [(&'static str, &[Row]); 4] {
        [
            ("tools", &self.tools),
            ("prompts", &self.prompts),
            ("resources", &self.resources),
            ("protocol", &self.protocol),
        ]
    }
}

/// Probes a server that said what it offers.
pub(crate) async fn audit(
    asked: &Asked<'_>,
    (open, offer): (Open, Offer),
    limits: &Limits<'_>,
) -> Audit {
    let mut prober = Prober {
        asked,
        open: Some(open),
        failed: 0,
        gone: None,
    };
    let mut audit = Audit::default();
    for tool in offer.entries(Listing::Tools) {
        audit.tools.push(prober.tool(tool, limits).await);
    }
    for prompt in offer.entries(Listing::Prompts) {
        let name = prompt["name"].as_str().unwrap_or_default();
        let reference = json!({"type": "ref/prompt", "name": name});
        let needed = parameters::arguments(prompt).into_iter();
        let needed = needed.filter(|it| it.is_required).map(|it| it.name);
        let arguments = prober.completed(&offer, &reference, needed).await;
        let subject = getting(name, arguments.clone().into());
        let row = prober.row((name, prompt), Ok(subject), arguments.into());
        audit.prompts.push(row.await);
    }
    for resource in offer.entries(Listing::Resources) {
        let uri = resource["uri"].as_str().unwrap_or_default();
        let row = prober.row((uri, resource), Ok(reading(uri)), Value::Null);
        audit.resources.push(row.await);
    }
    for template in offer.entries(Listing::ResourceTemplates) {
        let written = template["uriTemplate"].as_str().unwrap_or_default();
        let reference = json!({"type": "ref/resource", "uri": written});
        let names = variables(written).into_iter();
        let values = prober.completed(&offer, &reference, names).await;
        let subject = reading(&expanded(written, &values));
        let row = prober.row((written, template), Ok(subject), values.into());
        audit.resources.push(row.await);
    }
    audit.protocol = prober.protocol(&offer).await;
    audit.offer = offer;
    audit.gone = prober.gone.take();
    prober.end().await;
    audit
}

/// Makes probes, each on a server that works.
struct Prober<'a> {
    asked: &'a Asked<'a>,
    open: Option<Open>,
    /// Starts that failed one after another.
    failed: usize,
    gone: Option<String>,
}

impl Prober<'_> {
    async fn end(&mut self) {
        if let Some(open) = self.open.take() {
            Box::pin(open.end(self.asked.host)).await;
        }
    }

    /// One probe, and the end of the server's stderr where it went wrong.
    async fn probe(&mut self, subject: &Subject) -> (Seen, String) {
        while self.open.is_none() && self.failed < MOST_STARTS && !self.asked.is_interrupted() {
            match self.asked.open().await {
                Ok(open) => {
                    self.failed = 0;
                    self.open = Some(open);
                }
                Err(Unanswered { disruption, .. }) => {
                    self.failed += 1;
                    self.gone = Some(disruption.message);
                }
            }
        }
        let Some(open) = &mut self.open else {
            let detail = "the server could not be started any more";
            return (Seen::nothing(Class::Unreachable, detail), String::new());
        };
        self.gone = None;
        let observation = open.perform(subject).await;
        let seen = judge(&observation, &self.asked.host.environment);
        let mut stderr = String::new();
        if !seen.class.is_healthy() {
            stderr = open.stderr().text();
            let from = stderr.len().saturating_sub(MOST_STDERR);
            stderr.drain(..stderr.ceil_char_boundary(from));
            stderr.truncate(stderr.trim_end().len());
        }
        if seen.class.spoils_the_server() || !open.is_usable() {
            self.end().await;
        }
        (seen, stderr)
    }

    /// Values for these names: the first that the server completes an empty one to, else `1`.
    async fn completed(
        &mut self,
        offer: &Offer,
        reference: &Value,
        names: impl Iterator<Item = String>,
    ) -> Map<String, Value> {
        let mut values = Map::new();
        for name in names {
            let mut value = "1".to_owned();
            if let Some(open) = self.open.as_mut().filter(|_| offer.declares("completions")) {
                let argument = json!({"name": name, "value": ""});
                let call = CompletionCall {
                    reference: ValueTemplate::new(reference.clone()),
                    argument: ValueTemplate::new(argument),
                    context: None,
                };
                let seen = open.perform(&Subject::Completion(Box::new(call))).await;
                let reply = seen.answer.as_ref().and_then(Answer::reply);
                let first = reply.and_then(|it| it.raw["completion"]["values"][0].as_str());
                if let Some(first) = first.filter(|it| !it.is_empty()) {
                    first.clone_into(&mut value);
                }
            }
            values.insert(name, value.into());
        }
        values
    }

    /// A probe, and the same on a fresh server where it spoiled the one it had; instead of the subject, why it is not made.
    async fn row(
        &mut self,
        (name, entry): (&str, &Value),
        subject: Result<Subject, String>,
        arguments: Value,
    ) -> Row {
        let (seen, stderr) = match &subject {
            Ok(subject) => self.probe(subject).await,
            Err(why) => (Seen::nothing(Class::Skipped, why), String::new()),
        };
        let mut reproducible = None;
        if let (Ok(subject), true) = (&subject, seen.class.spoils_the_server())
            && seen.class != Class::Unreachable
        {
            let (again, _) = self.probe(subject).await;
            reproducible = Some(!again.class.is_healthy());
        }
        Row {
            name: name.to_owned(),
            description: parameters::text(entry, "description"),
            seen,
            effect: None,
            arguments,
            refused: None,
            reproducible,
            stderr,
        }
    }

    async fn tool(&mut self, tool: &Value, limits: &Limits<'_>) -> Row {
        let name = tool["name"].as_str().unwrap_or_default();
        let told = self.asked.effects;
        let effect = effect(tool, told);
        let made = sample_of(tool, limits.which, &limits.sources);
        let subject = if !(limits.wanted)(name) {
            Err("left out by --only or --skip".to_owned())
        } else if effect > limits.allow {
            let (why, word) = (reason(tool, told), effect.word());
            Err(format!("{why}: `--allow {word}` calls it"))
        } else {
            Ok(calling(name, made.arguments.clone()))
        };
        let row = self.row((name, tool), subject, made.arguments).await;
        Row {
            effect: Some(effect),
            refused: made.refused,
            ..row
        }
    }

    /// What every server must do, as far as it declares it.
    async fn protocol(&mut self, offer: &Offer) -> Vec<Row> {
        let within = self.asked.timeout;
        let frame = |method: &str| {
            let frame = json!({"jsonrpc": "2.0", "id": "probe", "method": method});
            Subject::Raw(RawExchange {
                send: vec![RawFrame::Json(ValueTemplate::new(frame))],
                handshake: RawHandshake::Made,
                within,
            })
        };
        let unknown = frame("mcp-assert/unknown");
        let mut rows = vec![self.refusal("unknown method", unknown).await];
        if offer.has_handshake() {
            let ping = ("ping", &Value::Null);
            rows.push(self.row(ping, Ok(frame("ping")), Value::Null).await);
        }
        for (listing, subject) in [
            (Listing::Tools, calling(UNKNOWN, json!({}))),
            (Listing::Prompts, getting(UNKNOWN, json!({}))),
            (Listing::Resources, reading("mcp-assert://unknown")),
        ] {
            if offer.catalog.list(listing).is_some() {
                let name = format!("unknown {}", listing.entry());
                rows.push(self.refusal(&name, subject).await);
            }
        }
        rows
    }

    /// A probe that should be refused, with whatever code.
    async fn refusal(&mut self, name: &str, subject: Subject) -> Row {
        let mut row = self
            .row((name, &Value::Null), Ok(subject), Value::Null)
            .await;
        let class = row.seen.class;
        if class == Class::Healthy {
            row.seen.class = Class::Violation;
            "it was answered with a result".clone_into(&mut row.seen.detail);
        } else if class.is_healthy() || class == Class::ProtocolError {
            row.seen.class = Class::Healthy;
        }
        row
    }
}

/// The names in an expression of a URI template, without operators and modifiers.
fn names(expression: &str) -> impl Iterator<Item = &str> {
    let operators = ['+', '#', '.', '/', ';', '?', '&'];
    let names = expression.trim_start_matches(operators).split(',');
    let names = names.filter_map(|name| name.trim_end_matches('*').split(':').next());
    names.filter(|name| !name.is_empty())
}

/// The names in a URI template.
fn variables(template: &str) -> Vec<String> {
    let expressions = template.split('{').skip(1);
    let expressions = expressions.filter_map(|it| it.split('}').next());
    expressions.flat_map(names).map(str::to_owned).collect()
}

/// A URI of a template: each expression becomes its first value.
fn expanded(template: &str, values: &Map<String, Value>) -> String {
    let mut parts = template.split('{');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (expression, behind) = part.split_once('}').unwrap_or((part, ""));
        let value = names(expression)
            .next()
            .and_then(|it| values.get(it)?.as_str());
        out.extend([value.unwrap_or("1"), behind]);
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{expanded, variables};

    #[test]
    fn templates_are_filled_in() {
        for (template, names, wanted) in [
            ("a://b", &[][..], "a://b"),
            ("a://{x}/{y}", &["x", "y"], "a://one/1"),
            ("a://{+x}{?y,z*}", &["x", "y", "z"], "a://one1"),
            ("a://{x:3}", &["x"], "a://one"),
            ("a://{", &[], "a://1"),
        ] {
            let values = json!({"x": "one"});
            assert_eq!(variables(template), names, "{template}");
            assert_eq!(
                expanded(template, values.as_object().unwrap()),
                wanted,
                "{template}"
            );
        }
    }
}
