//! `json_schema` and `output_schema`: documents against JSON Schemas. Nothing is fetched from anywhere.

use serde_json::Value;

use crate::{
    ask::Ask,
    json,
    outcome::verdict::{Mismatch, Verdict},
    phrase, view,
};
use mcp::{
    json::json_schema::{self, MOST_DIGITS, NotCompiled, Schema, is_calculable},
    observation::{
        Observation,
        answer::Answer,
        catalog::Catalog,
        finding::{Finding, FindingCode},
    },
};
use suite::model::expectation::SchemaRule;

/// Violations of one document that are listed.
const MOST: usize = 10;

/// `json_schema`
pub(super) fn ask_schema(rule: &SchemaRule) -> Ask {
    Ask::new(
        "json_schema",
        format!("JSON that satisfies the schema ({})", rule.written),
    )
}

/// `json_schema`: the text read as JSON, or else the structured content, satisfies this schema.
pub(super) fn json_schema(rule: &SchemaRule, seen: &Observation) -> Verdict {
    let ask = ask_schema(rule);
    let reply = match view::reply(seen) {
        Ok(reply) => reply,
        Err(none) => return none.verdict(&ask),
    };
    match json::document_or_structured(reply) {
        Ok(document) => {
            let verdict = against(&ask, &rule.schema, (&document, "$"));
            let verdict = json::verdict_beside_others(&ask, reply, verdict);
            match json::beside(reply, &document, seen.proof) {
                Some(structured) if !matches!(verdict, Verdict::Held) => {
                    or_else(verdict, &ask, rule, structured)
                }
                Some(_) | None => verdict,
            }
        }
        Err(none) => Verdict::Missed(vec![json::no_document(&none, &ask, reply)]),
    }
}

/// The verdict on a text that does not satisfy a schema, given the structured content, which is another document.
fn or_else(of_text: Verdict, ask: &Ask, rule: &SchemaRule, structured: &Value) -> Verdict {
    match against(ask, &rule.schema, (structured, "$")) {
        Verdict::Held => Verdict::Held,
        Verdict::Missed(_) => of_text,
        Verdict::Unknowable(reason) => Verdict::Unknowable(reason),
    }
}

/// A document against a schema; `root` is how the document's root is written.
fn against(ask: &Ask, schema: &Schema, (document, root): (&Value, &str)) -> Verdict {
    if !is_calculable(document) {
        return Verdict::Unknowable(format!(
            "the answer holds a number of more than {MOST_DIGITS} digits, written out, \
             which no schema can be checked against"
        ));
    }
    let violations = match violations(schema, document) {
        Ok(violations) => violations,
        Err(Undecided(reason)) => return Verdict::Unknowable(reason),
    };
    let mismatches = violations
        .into_iter()
        .map(|violation| Mismatch {
            path: Some(format!("{root}{}", violation.place)),
            actual: Some(phrase::laid_out(&violation.value)),
            ..ask.miss(violation.message)
        })
        .collect();
    Verdict::from_mismatches(mismatches)
}

/// One way in which a document does not satisfy a schema.
struct Violation {
    /// The way to the place, as the end of a path.
    place: String,
    /// What is wrong there.
    message: String,
    /// The value there.
    value: Value,
}

/// Why nothing can be said about a document.
struct Undecided(String);

/// The first violations of a document. What a pattern could not decide within its bounds is none, and where
/// there is nothing else the document is undecided.
fn violations(schema: &Schema, document: &Value) -> Result<Vec<Violation>, Undecided> {
    let mut undecided = None;
    let mut violations = Vec::new();
    for error in schema.validator().iter_errors(document).take(MOST) {
        let place = place(error.instance_path().as_str());
        if json_schema::is_undecided(&error) {
            undecided.get_or_insert(Undecided(format!(
                "a pattern of the schema takes too many tries at `${place}` ({})",
                error.schema_path()
            )));
            continue;
        }
        violations.push(Violation {
            place,
            message: text::head(&error.to_string(), 200),
            value: error.instance().as_ref().clone(),
        });
    }
    match undecided {
        Some(undecided) if violations.is_empty() => Err(undecided),
        Some(_) | None => Ok(violations),
    }
}

/// A JSON Pointer as the end of a path.
fn place(pointer: &str) -> String {
    pointer
        .split('/')
        .skip(1)
        .map(|part| part.replace("~1", "/").replace("~0", "~"))
        .map(|part| {
            if part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty() {
                format!("[{part}]")
            } else {
                json::step(&part)
            }
        })
        .collect()
}

/// `output_schema`
pub(super) fn ask_output() -> Ask {
    Ask::new(
        "output_schema",
        "structured content that satisfies the tool's `outputSchema`",
    )
}

/// `output_schema`: the structured content satisfies the schema that the tool declares.
pub(super) fn output_schema(wanted: bool, seen: &Observation) -> Verdict {
    if !wanted {
        return Verdict::Held;
    }
    let ask = ask_output();
    let reply = match view::reply(seen) {
        Ok(reply) => reply,
        Err(none) => return none.verdict(&ask),
    };
    let schema = match declared_for_call(&ask, seen) {
        Ok(schema) => schema,
        Err(verdict) => return verdict,
    };
    let Some(structured) = &reply.structured else {
        let mismatch = json::no_structured(&ask, reply);
        return Verdict::Missed(vec![view::without(mismatch, seen)]);
    };
    match usable(&ask, schema) {
        Ok(schema) => against(&ask, &schema, (structured, "structuredContent")),
        Err(verdict) => verdict,
    }
}

/// The verdict of `not: {output_schema}` when there is no usable schema.
pub(super) fn without_schema(ask: &Ask, seen: &Observation) -> Option<Verdict> {
    let schema = declared_for_call(ask, seen);
    schema.and_then(|schema| usable(ask, schema)).err()
}

/// The schema that the called tool declares.
fn declared_for_call<'a>(ask: &Ask, seen: &'a Observation) -> Result<&'a Value, Verdict> {
    let answer = seen.answer.as_ref();
    let Some(tool) = answer.and_then(|answer| answer.tool.as_deref()) else {
        let reason = "`output_schema` needs the call of a tool";
        return Err(Verdict::Unknowable(reason.to_owned()));
    };
    let catalog = seen.catalog.as_deref();
    let Some(catalog) = catalog.filter(|catalog| catalog.tools.is_some()) else {
        let reason = "the server's tools could not be listed";
        return Err(Verdict::Unknowable(reason.to_owned()));
    };
    let Some(definition) = catalog.tool(tool) else {
        if !catalog.knows_all_tools() {
            let reason = format!(
                "the server's list of tools was not fetched to its end, and {} is not in what was",
                phrase::quoted(tool)
            );
            return Err(Verdict::Unknowable(reason));
        }
        return Err(Verdict::Missed(vec![Mismatch {
            hint: text::nearest(tool, catalog.tool_names())
                .map(|near| format!("the server lists {}", phrase::quoted(near))),
            ..ask.miss(format!(
                "the server does not list the tool {}",
                phrase::quoted(tool)
            ))
        }]));
    };
    definition
        .get("outputSchema")
        .ok_or_else(|| ask.missed(format!("the tool {} declares none", phrase::quoted(tool))))
}

/// The compiled form of a schema that a tool declares.
fn usable(ask: &Ask, schema: &Value) -> Result<Schema, Verdict> {
    json_schema::compile(schema).map_err(|none| match none {
        NotCompiled::TooLarge => Verdict::Unknowable(
            "the declared schema has more references than are followed".to_owned(),
        ),
        NotCompiled::Invalid(error) => {
            let reason = text::head(&error.message, 200);
            if error.is_elsewhere {
                let resource = reason.split(" is not present").next();
                return Verdict::Unknowable(format!(
                    "the declared schema refers to a document that is not fetched: {}",
                    resource.unwrap_or_default()
                ));
            }
            Verdict::Missed(vec![Mismatch {
                actual: Some(phrase::laid_out(schema)),
                ..ask.miss(format!("the declared schema is not valid: {reason}"))
            }])
        }
    })
}

/// The schema under `key` of a listed tool.
fn declared<'a>(catalog: &'a Catalog, tool: &str, key: &str) -> Option<&'a Value> {
    let schema = catalog.tool(tool)?.get(key)?;
    Some(schema).filter(|schema| schema.is_object())
}

/// The first violation of the schema under `key` of a listed tool, in one line; `None` also where that cannot be told.
pub(crate) fn first_violation(
    catalog: &Catalog,
    (tool, key): (&str, &'static str),
    document: &Value,
) -> Option<String> {
    let declared = declared(catalog, tool, key)?;
    // Compiled once for the catalog.
    let schema = catalog
        .schemas
        .compiled(tool, key, || json_schema::compile(declared).ok())?;
    if !is_calculable(document) {
        return None;
    }
    let violation = violations(&schema, document).ok()?.into_iter().next()?;
    Some(format!("`${}`: {}", violation.place, violation.message))
}

/// What a tool's answer does against the `outputSchema` that the tool declares.
pub fn output_findings(answer: &Answer, catalog: &Catalog) -> Vec<Finding> {
    let finding = |code, message: String| {
        vec![Finding {
            code,
            message,
            frame: None,
            times: 1,
        }]
    };
    let Some((tool, reply)) = answer.tool.as_deref().zip(answer.reply()) else {
        return Vec::new();
    };
    if declared(catalog, tool, "outputSchema").is_none() {
        return Vec::new();
    }
    if reply.is_error {
        let violation = reply
            .structured()
            .and_then(|structured| first_violation(catalog, (tool, "outputSchema"), structured));
        let lost = |violation| {
            let message = format!(
                "tool `{tool}`: an error with structured content that violates `outputSchema`, at {violation}: clients of \
                 the official TypeScript SDK refuse it and lose the error's text"
            );
            finding(FindingCode::TypedClientRejects, message)
        };
        return violation.map(lost).unwrap_or_default();
    }
    let Some(structured) = &reply.structured else {
        return finding(
            FindingCode::StructuredContentMissing,
            format!(
                "tool `{tool}` declares an `outputSchema` and answered without `structuredContent`"
            ),
        );
    };
    match first_violation(catalog, (tool, "outputSchema"), structured) {
        Some(violation) => finding(
            FindingCode::OutputSchemaMismatch,
            format!("tool `{tool}`: structured content at {violation}"),
        ),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
