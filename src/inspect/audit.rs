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

impl Row {
    fn new(name: String, entry: &Value, seen: Seen, arguments: Value) -> Self {
        Self {
            name,
            description: parameters::text(entry, "description"),
            seen,
            effect: None,
            arguments,
            refused: None,
            reproducible: None,
            stderr: String::new(),
        }
    }
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
        let name = parameters::text(prompt, "name").unwrap_or_default();
        let reference = json!({"type": "ref/prompt", "name": name});
        let needed = parameters::arguments(prompt).into_iter();
        let needed = needed.filter(|it| it.is_required).map(|it| it.name);
        let arguments = prober.completed(&offer, &reference, needed).await;
        let subject = getting(&name, arguments.clone().into());
        let row = prober.row(name, prompt, &subject, arguments.into()).await;
        audit.prompts.push(row);
    }
    for resource in offer.entries(Listing::Resources) {
        let uri = parameters::text(resource, "uri").unwrap_or_default();
        let subject = reading(&uri);
        let row = prober.row(uri, resource, &subject, Value::Null).await;
        audit.resources.push(row);
    }
    for template in offer.entries(Listing::ResourceTemplates) {
        let written = parameters::text(template, "uriTemplate").unwrap_or_default();
        let reference = json!({"type": "ref/resource", "uri": written});
        let names = variables(&written).into_iter();
        let values = prober.completed(&offer, &reference, names).await;
        let subject = reading(&expanded(&written, &values));
        let row = prober.row(written, template, &subject, values.into()).await;
        audit.resources.push(row);
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
            return (none(Class::Unreachable, detail), String::new());
        };
        self.gone = None;
        let observation = open.perform(subject).await;
        let seen = judge(&observation, &self.asked.host.environment);
        let mut stderr = String::new();
        if !seen.class.is_healthy() {
            stderr = tail(&open.stderr().text());
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
            let mut value = None;
            if let Some(open) = self.open.as_mut().filter(|_| offer.declares("completions")) {
                let argument = json!({"name": name, "value": ""});
                let call = CompletionCall {
                    reference: ValueTemplate::new(reference.clone()),
                    argument: ValueTemplate::new(argument),
                    context: None,
                };
                let seen = open.perform(&Subject::Completion(Box::new(call))).await;
                let reply = seen.answer.as_ref().and_then(Answer::reply);
                let first = reply.and_then(|it| it.raw.pointer("/completion/values/0"));
                value = first
                    .and_then(Value::as_str)
                    .filter(|it| !it.is_empty())
                    .map(str::to_owned);
            }
            values.insert(name, value.unwrap_or_else(|| "1".to_owned()).into());
        }
        values
    }

    /// A probe, and the same on a fresh server where it spoiled the one it had.
    async fn row(
        &mut self,
        name: String,
        entry: &Value,
        subject: &Subject,
        arguments: Value,
    ) -> Row {
        let (seen, stderr) = self.probe(subject).await;
        let mut row = Row::new(name, entry, seen, arguments);
        row.stderr = stderr;
        let class = row.seen.class;
        if class.spoils_the_server() && class != Class::Unreachable {
            let (again, _) = self.probe(subject).await;
            row.reproducible = Some(!again.class.is_healthy());
        }
        row
    }

    async fn tool(&mut self, tool: &Value, limits: &Limits<'_>) -> Row {
        let name = parameters::text(tool, "name").unwrap_or_default();
        let told = self.asked.effects;
        let effect = effect(tool, told);
        let made = sample_of(tool, limits.which, &limits.sources);
        let skip = if !(limits.wanted)(&name) {
            Some("left out by --only or --skip".to_owned())
        } else if effect > limits.allow {
            let word = effect.word();
            Some(format!("{}: `--allow {word}` calls it", reason(tool, told)))
        } else {
            None
        };
        let mut row = if let Some(why) = skip {
            Row::new(name, tool, none(Class::Skipped, &why), made.arguments)
        } else {
            let subject = calling(&name, made.arguments.clone());
            self.row(name, tool, &subject, made.arguments).await
        };
        row.effect = Some(effect);
        row.refused = made.refused;
        row
    }

    /// What every server must do, as far as it declares it.
    async fn protocol(&mut self, offer: &Offer) -> Vec<Row> {
        let mut rows = Vec::new();
        let frame = |method: &str| {
            Subject::Raw(RawExchange {
                send: vec![RawFrame::Json(ValueTemplate::new(
                    json!({"jsonrpc": "2.0", "id": "probe", "method": method}),
                ))],
                handshake: RawHandshake::Made,
                within: self.asked.timeout,
            })
        };
        let has = |listing: Listing| offer.catalog.list(listing).is_some();
        let mut probes = vec![(
            "unknown method",
            frame("mcp-assert/unknown"),
            Wanted::Refusal,
        )];
        if offer.has_handshake() {
            probes.push(("ping", frame("ping"), Wanted::Result));
        }
        if has(Listing::Tools) {
            probes.push(("unknown tool", calling(UNKNOWN, json!({})), Wanted::Refusal));
        }
        if has(Listing::Prompts) {
            probes.push((
                "unknown prompt",
                getting(UNKNOWN, json!({})),
                Wanted::Refusal,
            ));
        }
        if has(Listing::Resources) {
            probes.push((
                "unknown resource",
                reading("mcp-assert://unknown"),
                Wanted::Refusal,
            ));
        }
        for (name, subject, wanted) in probes {
            let row = self.wanted(name, &subject, wanted).await;
            rows.push(row);
        }
        rows
    }

    async fn wanted(&mut self, name: &str, subject: &Subject, wanted: Wanted) -> Row {
        let entry = Value::Null;
        let mut row = self
            .row(name.to_owned(), &entry, subject, Value::Null)
            .await;
        let class = row.seen.class;
        if wanted == Wanted::Refusal {
            row.seen.class = match class {
                // Here a refusal is what is asked for, whatever its code.
                Class::ProtocolError | Class::ToolError | Class::Rejected => Class::Healthy,
                Class::Healthy => {
                    "it was answered with a result".clone_into(&mut row.seen.detail);
                    Class::Violation
                }
                Class::Violation
                | Class::Exposed
                | Class::Crash
                | Class::Timeout
                | Class::Unreachable
                | Class::Skipped => class,
            };
        }
        row
    }
}

/// The names in a URI template, without operators and modifiers.
fn variables(template: &str) -> Vec<String> {
    let parts = template
        .split('{')
        .skip(1)
        .filter_map(|it| it.split('}').next());
    parts
        .flat_map(|part| {
            part.trim_start_matches(['+', '#', '.', '/', ';', '?', '&'])
                .split(',')
        })
        .map(|name| {
            name.trim_end_matches('*')
                .split(':')
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// A URI of a template: each expression becomes its first value.
fn expanded(template: &str, values: &Map<String, Value>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, behind)) = rest.split_once('{') {
        let (part, after) = behind.split_once('}').unwrap_or((behind, ""));
        out.push_str(before);
        let name = variables(&format!("{{{part}}}"))
            .into_iter()
            .next()
            .unwrap_or_default();
        out.push_str(values.get(&name).and_then(Value::as_str).unwrap_or("1"));
        rest = after;
    }
    out + rest
}

/// What a probe of the protocol should be answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Result,
    Refusal,
}

fn none(class: Class, detail: &str) -> Seen {
    Seen {
        class,
        rpc_code: None,
        detail: detail.to_owned(),
        has_content: false,
        took: std::time::Duration::ZERO,
    }
}

/// The end of a text.
fn tail(text: &str) -> String {
    let from = text.len().saturating_sub(MOST_STDERR);
    let from = (from..text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(from);
    text[from..].trim_end().to_owned()
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
