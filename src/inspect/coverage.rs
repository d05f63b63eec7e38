//! Which of the things that a server offers a suite tests: pure, over the suite and the catalog.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{catalog::Offer, parameters::text};
use check::can_fail;
use mcp::{
    observation::catalog::Listing,
    script::subject::{PromptsCall, ResourcesAction, Step, StepAction, Subject, ToolCall},
};
use suite::model::{
    Assertion, Body,
    expectation::{AnswerWanted, Expectation, Wanted, WantedState},
};
use text::environment::Environment;

/// How deep parameters inside of parameters are counted.
const DEEPEST: usize = 4;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    /// Tools.
    Tools,
    /// Prompts.
    Prompts,
    /// Resources.
    Resources,
    /// Resource templates.
    Templates,
    /// Parameters of tools, also inside of objects: `tool.parameter`.
    Parameters,
    /// Tools of which an error is expected.
    ErrorPaths,
}

impl Dimension {
    /// All of them.
    pub(crate) const ALL: [Self; 6] = [
        Self::Tools,
        Self::Prompts,
        Self::Resources,
        Self::Templates,
        Self::Parameters,
        Self::ErrorPaths,
    ];

    /// The word on the command line and in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "templates",
            Self::Parameters => "parameters",
            Self::ErrorPaths => "error_paths",
        }
    }
}

/// How a thing is tested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Uses {
    /// Assertions that can fail and run.
    pub(crate) tests: usize,
    /// Those that only prepare with it.
    pub(crate) setups: usize,
    /// Skipped ones.
    pub(crate) skipped: usize,
    /// Those that nothing can fail.
    pub(crate) vacuous: usize,
}

/// What a suite tests.
#[derive(Debug)]
pub(crate) struct Coverage {
    /// The things that the server offers, with their uses.
    things: BTreeMap<(Dimension, String), Uses>,
    /// Names in the suite that the server does not have.
    pub(crate) unknown: BTreeSet<(Dimension, String)>,
}

impl Coverage {
    /// The things of a dimension, by name.
    pub(crate) fn things(&self, dimension: Dimension) -> impl Iterator<Item = (&str, &Uses)> {
        let things = self.things.iter();
        let things = things.filter(move |((of, _), _)| *of == dimension);
        things.map(|((_, name), uses)| (name.as_str(), uses))
    }

    /// The covered things of a dimension, and all.
    pub(crate) fn share(&self, dimension: Dimension) -> (usize, usize) {
        let covered = self.things(dimension).filter(|(_, uses)| uses.tests > 0);
        (covered.count(), self.things(dimension).count())
    }
}

/// Counts the assertions about each thing.
pub(crate) fn coverage<'a>(
    assertions: impl Iterator<Item = &'a Assertion>,
    offer: &Offer,
    environment: &Environment,
) -> Coverage {
    let mut counting = Counting {
        offer,
        coverage: offered(offer),
    };
    for assertion in assertions {
        let control = assertion.control.as_deref();
        let is_skipped = control.is_some_and(|it| it.skip_reason(environment).is_some());
        counting.assertion(&assertion.body, is_skipped);
    }
    counting.coverage
}

/// Everything that can be covered, used nowhere.
fn offered(offer: &Offer) -> Coverage {
    let mut names = Vec::new();
    for tool in offer.entries(Listing::Tools) {
        let name = text(tool, "name").unwrap_or_default();
        let paths = paths(&tool["inputSchema"], properties, DEEPEST).into_iter();
        names.extend(paths.map(|path| (Dimension::Parameters, format!("{name}.{path}"))));
        names.push((Dimension::ErrorPaths, name.clone()));
        names.push((Dimension::Tools, name));
    }
    for (dimension, listing) in [
        (Dimension::Prompts, Listing::Prompts),
        (Dimension::Resources, Listing::Resources),
        (Dimension::Templates, Listing::ResourceTemplates),
    ] {
        let own = offer.names(listing).into_iter();
        names.extend(own.map(|name| (dimension, name.to_owned())));
    }
    let things = names.into_iter().map(|thing| (thing, Uses::default()));
    Coverage {
        things: things.collect(),
        unknown: BTreeSet::new(),
    }
}

/// The paths of the members of a value, and of what is inside of them.
fn paths(
    value: &Value,
    members: fn(&Value) -> Option<&Map<String, Value>>,
    deep: usize,
) -> Vec<String> {
    let mut found = Vec::new();
    for (name, of) in members(value).filter(|_| deep > 0).into_iter().flatten() {
        found.push(name.clone());
        let inner = paths(of, members, deep - 1).into_iter();
        found.extend(inner.map(|path| format!("{name}.{path}")));
    }
    found
}

fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// Something that an assertion does: the thing, and of a tool the arguments.
type Use<'a> = (Dimension, &'a str, Option<&'a Value>);

/// Which of the counts goes up.
type How = fn(&mut Uses) -> &mut usize;

struct Counting<'a> {
    offer: &'a Offer,
    coverage: Coverage,
}

impl Counting<'_> {
    fn assertion(&mut self, body: &Body, is_skipped: bool) {
        let all = || {
            let steps = body.of_steps.iter().flat_map(|step| &step.wanted);
            body.wanted.iter().chain(steps)
        };
        // Without expectations a call must not fail, which can happen.
        let fails = all().next().is_none() || all().any(wanted_can_fail);
        let expects_error = all().any(is_error);
        let how: How = match (is_skipped, fails) {
            (true, _) => |uses| &mut uses.skipped,
            (false, true) => |uses| &mut uses.tests,
            (false, false) => |uses| &mut uses.vacuous,
        };
        let steps = body.subject.steps().iter().filter_map(of_step);
        for one in of_subject(&body.subject).into_iter().chain(steps) {
            self.count(one, how, expects_error);
        }
        for one in body.setup.iter().filter_map(of_step) {
            self.count(one, |uses| &mut uses.setups, false);
        }
    }

    fn count(&mut self, (dimension, name, arguments): Use<'_>, how: How, expects_error: bool) {
        self.named(dimension, name, how, expects_error);
        let Some(arguments) = arguments else {
            return;
        };
        for path in paths(arguments, Value::as_object, DEEPEST) {
            self.known(Dimension::Parameters, &format!("{name}.{path}"), how);
        }
        if expects_error {
            self.known(Dimension::ErrorPaths, name, how);
        }
    }

    /// Counts a use of what should be there. An assertion that expects an error may be about a name that is missing.
    fn named(&mut self, dimension: Dimension, name: &str, how: How, expects_error: bool) {
        if self.known(dimension, name, how) {
            return;
        }
        if dimension == Dimension::Resources {
            let mut templates = self.offer.names(Listing::ResourceTemplates).into_iter();
            if let Some(template) = templates.find(|template| fits(template, name)) {
                self.known(Dimension::Templates, template, how);
                return;
            }
        }
        // A name with a marker is known only at run time.
        if !expects_error && !name.contains("{{") {
            self.coverage.unknown.insert((dimension, name.to_owned()));
        }
    }

    fn known(&mut self, dimension: Dimension, name: &str, how: How) -> bool {
        let thing = (dimension, name.to_owned());
        let uses = self.coverage.things.get_mut(&thing);
        uses.map(|uses| *how(uses) += 1).is_some()
    }
}

fn wanted_can_fail(wanted: &Wanted) -> bool {
    match &wanted.state {
        WantedState::Ready(expectation) => can_fail(expectation),
        WantedState::Templated(_) => true,
    }
}

fn is_error(wanted: &Wanted) -> bool {
    match &wanted.state {
        WantedState::Ready(Expectation::Answer(answer)) => match answer {
            AnswerWanted::IsError(is_error) | AnswerWanted::Refused(is_error) => *is_error,
            AnswerWanted::NotError(is_result) => !is_result,
            AnswerWanted::Error(_) => true,
        },
        WantedState::Ready(_) | WantedState::Templated(_) => false,
    }
}

fn of_call(call: &ToolCall) -> Use<'_> {
    (Dimension::Tools, &call.tool.text, Some(&call.args.value))
}

fn of_subject(subject: &Subject) -> Option<Use<'_>> {
    match subject {
        Subject::Tool(call) | Subject::Sampling(call) | Subject::Elicitation(call) => {
            Some(of_call(call))
        }
        Subject::Notifications { call, .. } => Some(of_call(call)),
        Subject::Logging { call, .. } => call.as_deref().map(of_call),
        Subject::Prompts(PromptsCall::Get { name, .. }) => {
            Some((Dimension::Prompts, &name.text, None))
        }
        Subject::Resources(call) => match &call.action {
            Some(ResourcesAction::Read(uri)) => Some((Dimension::Resources, &uri.text, None)),
            Some(ResourcesAction::List(_) | ResourcesAction::Templates(_)) | None => None,
        },
        Subject::Tools(_)
        | Subject::Initialize
        | Subject::Prompts(PromptsCall::List(_))
        | Subject::Completion(_)
        | Subject::Trajectory(_)
        | Subject::Steps { .. }
        | Subject::Raw(_)
        | Subject::Http(_) => None,
    }
}

fn of_step(step: &Step) -> Option<Use<'_>> {
    if let StepAction::Tool(call) = &step.action {
        Some(of_call(call))
    } else if let StepAction::Read(uri) = &step.action {
        Some((Dimension::Resources, &uri.text, None))
    } else if let StepAction::Prompt { name, .. } = &step.action {
        Some((Dimension::Prompts, &name.text, None))
    } else {
        None
    }
}

/// Whether a URI can be one of a template: its fixed parts stand in it in their order.
fn fits(template: &str, uri: &str) -> bool {
    let mut parts = template.split('{');
    let Some(mut rest) = uri.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    parts.all(|part| {
        let fixed = part.split_once('}').map_or("", |(_, fixed)| fixed);
        let found = rest.split_once(fixed);
        found.map(|(_, behind)| rest = behind).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn a_uri_fits_its_template() {
        for (template, uri, wanted) in [
            ("a://{x}/b", "a://1/b", true),
            ("a://{x}/b", "a://1/c", false),
            ("a://{x}", "a://anything", true),
            ("a://{x}", "b://anything", false),
            ("a://b", "a://b", true),
        ] {
            assert_eq!(fits(template, uri), wanted, "{template} {uri}");
        }
    }
}
