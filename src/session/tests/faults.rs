//! The fault catalogue, row by row: class, findings, and whether the session ended at once.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::server::{
    Act, Plot, Stage, bytes, class, codes, echo, hands, hands_with, line, on_call, result, said,
};
use crate::{
    observation::{
        Observation,
        finding::FindingCode::{self, self as F},
        process::ExitStatus,
    },
    suite::model::subject::Subject,
};

/// When a session was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    AtOnce,
    AfterGrace,
    Deadline,
}

async fn act(subject: &Subject, plot: Plot) -> (Observation, End) {
    let began = Instant::now();
    let mut stage = Stage::new(plot);
    let mut seen = stage.perform(subject).await;
    let took = began.elapsed();
    let end = if took < Duration::from_millis(700) {
        End::AtOnce
    } else if took < Duration::from_millis(1_500) {
        End::AfterGrace
    } else {
        End::Deadline
    };
    let (remainder, _) = stage.close().await;
    remainder.add_to(&mut seen);
    (seen, end)
}

async fn call(name: &str, acts: Vec<Act>, wanted: &str, findings: &[FindingCode], ends: End) {
    play(name, on_call(acts), wanted, findings, ends).await;
}

async fn play(name: &str, plot: Plot, wanted: &str, findings: &[FindingCode], ends: End) {
    let (seen, end) = act(&echo(), plot).await;
    assert_eq!(class(&seen), wanted, "{name}: {:?}", seen.disruption);
    assert_eq!(codes(&seen), findings, "{name}: {:?}", seen.findings);
    assert_eq!(end, ends, "{name}");
}

fn answer(id: &str) -> Act {
    line(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#
    ))
}

const OK: &str = r#"{"jsonrpc":"2.0","id":@id,"result":{"content":[{"type":"text","text":"hi"}]}}"#;

#[tokio::test(start_paused = true)]
async fn bytes_on_stdout() {
    let pause = Act::Pause(Duration::from_secs(1));
    call(
        "stdout-noise-between",
        vec![line("loading"), pause, said("hi")],
        "result",
        &[F::StdoutNoise],
        End::AfterGrace,
    )
    .await;
    call(
        "stdout-noise-midline",
        vec![line(&OK.replace("\"result\":", "\"result\": [info] x"))],
        "violation (subject)",
        &[F::NotJson],
        End::AtOnce,
    )
    .await;
}
