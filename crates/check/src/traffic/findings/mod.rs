//! `findings`: no deviations from the protocol but the allowed ones.

use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
};
use mcp::observation::{Observation, finding::FindingCode};

/// `findings`
pub(super) fn ask(allowed: &[FindingCode]) -> Ask {
    let codes: Vec<&str> = allowed.iter().map(|code| code.code()).collect();
    Ask::new(
        "findings",
        match codes.as_slice() {
            [] => "no protocol findings".to_owned(),
            codes => format!("no protocol findings but {}", phrase::list(codes, "and")),
        },
    )
}

/// `findings`: no protocol findings but these. An empty pass is a statement about the suite, not about the
/// protocol.
pub(super) fn findings(allowed: &[FindingCode], seen: &Observation) -> Verdict {
    if let Some(reason) = unheard(seen) {
        return Verdict::Unknowable(reason.to_owned());
    }
    let ask = ask(allowed);
    let mismatches = seen
        .findings
        .iter()
        .filter(|finding| finding.code.is_deviation() && !allowed.contains(&finding.code))
        .map(|finding| Mismatch {
            actual: finding.frame.clone(),
            hint: advice(finding.code),
            ..ask.miss(format!(
                "there is {}: {}{}",
                phrase::quoted(finding.code.code()),
                finding.message,
                if finding.times > 1 {
                    format!(" ({} times)", finding.times)
                } else {
                    String::new()
                }
            ))
        })
        .collect();
    Verdict::from_mismatches(mismatches)
}

/// Why the findings are not known: the connection to the container engine broke off.
pub fn unheard(seen: &Observation) -> Option<&'static str> {
    seen.exit.and_then(|exit| exit.status.unknown())
}

/// What the code's description adds to its first sentence, which the finding's message says already.
fn advice(code: FindingCode) -> Option<String> {
    let doc = code.doc().split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, more) = doc.split_once(". ")?;
    Some(more.trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests;
