//! What is said of an assertion whose time was over: which timeout that was, and what took the time. Reports that know
//! no phases show this text, so it has to tell by itself.

use std::time::Duration;

use crate::{
    observation::{
        Observation, Timings,
        disruption::{Disruption, DisruptionKind, Phase},
    },
    words::text,
};

/// Earlier phases are named only where they took more than this part of the timeout together.
const MOST: u32 = 2;

/// Of these, only those that took this part of it.
const WORTH_TELLING: u32 = 10;

/// Puts the timeout in front of what was waited for when it was over.
pub(super) fn name(seen: &mut Observation, timeout: Duration) {
    if let Some(disruption) = &mut seen.disruption
        && disruption.kind == DisruptionKind::Timeout
    {
        let over = over(timeout, &seen.timings, disruption.phase);
        disruption.message = format!("{over}: {}", disruption.message);
    }
}

/// A timeout that no server had a part in.
pub(super) fn disruption(timeout: Duration, phase: Phase, what: &str) -> Disruption {
    let over = over(timeout, &Timings::default(), phase);
    Disruption::new(DisruptionKind::Timeout, phase, format!("{over}: {what}"))
}

/// "the timeout of 2 s was over, of which setup took 1.7 s".
fn over(timeout: Duration, timings: &Timings, reached: Phase) -> String {
    let earlier: Vec<(Phase, Duration)> = [
        (Phase::Place, timings.place),
        (Phase::Start, timings.start),
        (Phase::Handshake, timings.handshake),
        (Phase::Setup, timings.setup),
    ]
    .into_iter()
    .filter(|(phase, _)| *phase < reached)
    .collect();
    let spent: Duration = earlier.iter().map(|(_, took)| *took).sum();
    let told = if spent < timeout / MOST {
        Vec::new()
    } else {
        earlier
            .into_iter()
            .filter(|(_, took)| *took >= timeout / WORTH_TELLING)
            .map(|(phase, took)| (phase, text::time(took)))
            .collect()
    };
    let mut over = format!("the timeout of {} was over", text::time(timeout));
    for (index, (phase, took)) in told.into_iter().enumerate() {
        let lead = if index == 0 {
            format!(", of which {phase} took ")
        } else {
            format!(", {phase} ")
        };
        over.push_str(&lead);
        over.push_str(&took);
    }
    over
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Disruption, DisruptionKind, Phase, Timings, name};
    use crate::observation::Observation;

    fn told(kind: DisruptionKind, phase: Phase, times: [u64; 4]) -> String {
        let [place, start, handshake, setup] = times.map(Duration::from_millis);
        let mut seen = Observation {
            disruption: Some(Disruption::new(kind, phase, "no answer")),
            timings: Timings {
                place,
                start,
                handshake,
                setup,
                ..Timings::default()
            },
            ..Observation::default()
        };
        name(&mut seen, Duration::from_secs(2));
        seen.disruption.unwrap().message
    }

    #[test]
    fn the_timeout_is_named_with_what_took_it() {
        let case = |phase: Phase, times: [u64; 4], wanted: &str| {
            assert_eq!(told(DisruptionKind::Timeout, phase, times), wanted);
        };
        case(
            Phase::Subject,
            [1, 3, 23, 1_712],
            "the timeout of 2 s was over, of which setup took 1.7 s: no answer",
        );
        case(
            Phase::Subject,
            [1, 3, 900, 640],
            "the timeout of 2 s was over, of which handshake took 900 ms, setup 640 ms: no answer",
        );
        case(
            Phase::Handshake,
            [1_500, 3, 497, 0],
            "the timeout of 2 s was over, of which place took 1.5 s: no answer",
        );
        case(
            Phase::Handshake,
            [1, 3, 1_996, 0],
            "the timeout of 2 s was over: no answer",
        );
        case(
            Phase::Setup,
            [1, 3, 196, 1_800],
            "the timeout of 2 s was over: no answer",
        );
    }

    #[test]
    fn what_is_no_timeout_is_left_alone() {
        let crash = told(DisruptionKind::Crash, Phase::Subject, [1_999, 0, 0, 0]);
        assert_eq!(crash, "no answer");
    }
}
