//! Every row of the completeness table that plan and blobs alone decide.

use super::{Blob, merge};
use crate::{
    End, Format, RunReport, Tool,
    baseline::Baseline,
    compare::{Class, Scope, compare},
    plan_file::{PlanFile, tests::plan},
    run_json::{self, PlanFacts},
    sample::{interrupted, outcome, outcomes, report},
    verdict::Verdict,
};
use check::outcome::Status;
use text::digest::sha256;

/// A plan of three shards.
fn three() -> PlanFile {
    plan(&[&["a.yaml::a", "a.yaml::b"], &["a.yaml::c"], &["b.yaml::d"]])
}

/// The lines of a shard's assertions.
fn three_places(shard: usize) -> Vec<usize> {
    let places = &three().shards[shard].places;
    places.iter().map(|place| place.1).collect()
}

/// The run of a shard in which everything passed.
fn run(plan: &PlanFile, shard: usize) -> RunReport {
    let planned = &plan.shards[shard - 1];
    let outcomes = planned.ids.iter().map(|id| {
        let (file, name) = id.split_once("::").unwrap();
        outcome(file, name)
    });
    let mut run = report(outcomes.collect(), 1);
    run.tool = plan.tool.clone();
    run.plan = PlanFacts {
        digest: Some(plan.digest.clone()),
        suites: plan.suites(),
        shard: u32::try_from(shard).unwrap(),
        of: u32::try_from(plan.shards.len()).unwrap(),
        ids: planned.ids.clone(),
        planned_us: planned.planned_us,
    };
    run.timing.duration_us = 1_000 * shard as u64;
    run.timing.started_unix_ms = 500;
    run
}

/// As it comes from its file.
fn blob(name: &str, run: &RunReport) -> Blob {
    let text = Format::RunJson.render(run);
    Blob {
        name: name.to_owned(),
        sha256: sha256(text.as_bytes()),
        run: run_json::parse(&text).unwrap(),
    }
}

/// All shards, each changed by whoever wants to.
fn blobs(change: impl Fn(usize, &mut RunReport)) -> Vec<Blob> {
    let plan = three();
    (1..=3)
        .map(|shard| {
            let mut run = run(&plan, shard);
            change(shard, &mut run);
            blob(&format!("{shard}.json"), &run)
        })
        .collect()
}

/// The causes of what is left of the plan, shortly.
fn causes(blobs: Vec<Blob>) -> Vec<(Verdict, String)> {
    let merged = merge(&three(), blobs);
    let causes = merged.causes.into_iter();
    causes.map(|cause| (cause.verdict, cause.text)).collect()
}

#[test]
fn all_shards_make_the_whole() {
    let merged = merge(&three(), blobs(|_, _| ()));
    assert!(merged.causes.is_empty(), "{:?}", merged.causes);
    let run = merged.report;
    let ids: Vec<&str> = run.records.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["a.yaml::a", "a.yaml::b", "a.yaml::c", "b.yaml::d"]);
    assert_eq!((run.planned, run.missing(), run.left_out), (4, 0, 0));
    assert_eq!(
        (run.timing.duration_us, run.timing.started_unix_ms),
        (3_000, 500)
    );
    let shards: Vec<(u32, u64)> = run.shards.iter().map(|it| (it.shard, it.attempt)).collect();
    assert_eq!(shards, [(1, 1), (2, 1), (3, 1)]);
    assert_eq!((run.plan.shard, run.plan.of), (0, 3));
    let text = Format::RunJson.render(&run);
    assert_eq!(run_json::parse(&text).unwrap(), run);
}

#[test]
fn each_shard_that_is_dropped_is_named_with_what_did_not_run() {
    for dropped in 0..3 {
        let mut left = blobs(|_, _| ());
        left.remove(dropped);
        let merged = merge(&three(), left);
        let shard = dropped + 1;
        assert_eq!(merged.causes.len(), 2);
        for cause in &merged.causes {
            assert_eq!(cause.verdict, Verdict::Incomplete);
        }
        assert!(
            merged.causes[0]
                .text
                .starts_with(&format!("shard {shard} of 3 left no result")),
            "{:?}",
            merged.causes
        );
        let missing: Vec<&str> = merged
            .report
            .records
            .iter()
            .filter(|record| record.says_nothing())
            .map(|record| record.id.as_str())
            .collect();
        assert_eq!(missing, three().shards[dropped].ids);
        let records = merged.report.records.iter();
        let places: Vec<(&str, usize)> = records
            .filter(|record| record.says_nothing())
            .map(|record| (record.file.as_ref(), record.line))
            .collect();
        let planned: Vec<(&str, usize)> = three_places(dropped)
            .iter()
            .map(|line| ("evals/a.yaml", *line))
            .collect();
        assert_eq!(places, planned);
        assert_eq!(merged.report.tally().errors, missing.len());
    }
}

#[test]
fn what_never_ran_is_no_regression_and_not_removed() {
    let whole = merge(&three(), blobs(|_, _| ())).report;
    let baseline = Baseline::updated(None, &whole, Scope::Whole);
    let part = merge(&three(), blobs(|_, _| ()).split_off(1)).report;
    let found = compare(&baseline, "main", &part, Scope::Whole);
    assert!(found.changes.is_empty(), "{found:?}");
}

#[test]
fn an_interrupted_attempt_of_the_workflow_makes_nothing_flaky() {
    let plan = three();
    let mut first = run(&plan, 2);
    let mut cut = report(vec![interrupted("a.yaml", "x")], 1)
        .records
        .remove(0);
    cut.id.clone_from(&first.records[0].id);
    first.records = vec![cut];
    first.source.attempt = Some(1);
    let mut second = run(&plan, 2);
    second.source.attempt = Some(2);
    let all = vec![
        blob("1.json", &run(&plan, 1)),
        blob("2-again.json", &second),
        blob("2.json", &first),
        blob("3.json", &run(&plan, 3)),
    ];
    let merged = merge(&plan, all).report;
    assert!(merged.records.iter().all(|record| !record.is_flaky()));
}

#[test]
fn one_result_twice_counts_once_and_two_rivals_are_named() {
    let plan = three();
    let mut same = blobs(|_, _| ());
    same.push(blob("again.json", &run(&plan, 2)));
    assert_eq!(causes(same), []);
    let mut other = run(&plan, 2);
    other.timing.duration_us += 1;
    let mut rivals = blobs(|_, _| ());
    rivals.push(blob("rival.json", &other));
    let found = causes(rivals);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, Verdict::Incomplete);
    assert!(found[0].1.contains("two different results of attempt 1"));
    assert!(found[0].1.contains("`2.json`") && found[0].1.contains("`rival.json`"));
}

#[test]
fn results_of_another_plan_tool_or_size_are_refused() {
    let case = |change: &dyn Fn(&mut RunReport), verdict, wanted: &str| {
        let changed = blobs(|shard, run| {
            if shard == 2 {
                change(run);
            }
        });
        let found = causes(changed);
        assert_eq!(found[0].0, verdict, "{found:?}");
        assert!(found[0].1.contains(wanted), "{found:?}");
        assert!(
            found[1].1.contains("shard 2 of 3 left no result"),
            "{found:?}"
        );
    };
    let (invalid, incomplete) = (Verdict::Invalid, Verdict::Incomplete);
    case(&|run| run.plan.digest = None, invalid, "another plan");
    case(
        &|run| run.plan.digest = Some("00".to_owned()),
        invalid,
        "another plan",
    );
    case(
        &|run| run.tool = Tool::default(),
        invalid,
        "another executable",
    );
    case(
        &|run| run.plan.suites = Some("00".to_owned()),
        invalid,
        "other suites than the plan",
    );
    case(
        &|run| run.plan.suites = None,
        invalid,
        "other suites than the plan",
    );
    case(&|run| run.plan.of = 4, incomplete, "is shard 2 of 4");
    case(
        &|run| run.plan.shard = 0,
        incomplete,
        "is the result of a merge, and of no shard",
    );
    case(&|run| run.plan.shard = 9, incomplete, "is shard 9 of 3");
    case(&|run| run.plan.shard = 1, incomplete, "other assertions");
    case(
        &|run| run.trials = 2,
        incomplete,
        "other assertions or trials",
    );
}

#[test]
fn of_a_shard_that_read_no_suites_and_of_an_older_plan_suites_prove_nothing() {
    let unread = blobs(|shard, run| {
        if shard == 2 {
            run.plan.suites = None;
            run.records.clear();
        }
    });
    let found = causes(unread);
    assert!(!found.is_empty());
    for (verdict, text) in found {
        assert_eq!(verdict, Verdict::Incomplete, "{text}");
    }
    let mut plan = three();
    plan.files = None;
    let plan = plan.sealed();
    let old = (1..=3).map(|shard| blob("old.json", &run(&plan, shard)));
    assert_eq!(merge(&plan, old.collect()).causes, []);
}

#[test]
fn an_assertion_is_where_the_plan_has_it_and_there_once() {
    let case = |change: &dyn Fn(&mut RunReport), wanted: &[&str]| {
        let changed = blobs(|shard, run| {
            if shard == 1 {
                change(run);
            }
        });
        let found = causes(changed);
        assert_eq!(found.len(), wanted.len(), "{found:?}");
        for ((verdict, text), wanted) in found.iter().zip(wanted) {
            assert_eq!(*verdict, Verdict::Incomplete);
            assert!(text.contains(wanted), "{found:?}");
        }
    };
    case(
        &|run| run.records.truncate(1),
        &["1 of 2 outcomes of shard 1 are missing: `a.yaml::b`"],
    );
    case(
        &|run| run.records.push(run.records[0].clone()),
        &["`a.yaml::a` is twice in the result of shard 1"],
    );
    case(
        &|run| run.records[0].id = "x".to_owned(),
        &["`x` is in no shard", "1 of 2 outcomes"],
    );
    case(
        &|run| run.records[0].id = "a.yaml::c".to_owned(),
        &[
            "`a.yaml::c` was run by shard 1 and belongs to 2",
            "1 of 2 outcomes",
        ],
    );
    case(
        &|run| run.records[0].trial = 2,
        &["has a trial 2 that was not planned", "1 of 2 outcomes"],
    );
    case(
        &|run| run.end = End::Interrupted,
        &["shard 1 was interrupted"],
    );
}

#[test]
fn results_of_another_run_or_revision_are_no_part_of_the_whole() {
    let from = |run: u64, sha: &str, it: &mut RunReport| {
        it.source.run = Some(run);
        it.source.repository = Some("o/r".to_owned());
        it.source.sha = Some(sha.to_owned());
    };
    let ours = |shard: usize, it: &mut RunReport| {
        from(5, "aaaa", it);
        it.source.attempt = Some(shard as u64);
    };
    assert_eq!(causes(blobs(ours)), []);
    let mut with_a_stale_one = blobs(ours);
    let mut stale = run(&three(), 2);
    from(4, "bbbb", &mut stale);
    stale.source.attempt = Some(9);
    with_a_stale_one.push(blob("stale.json", &stale));
    let text = "`stale.json` is not of the same run as the others: its run is `4`, not `5`; its revision is `bbbb`, not `aaaa`";
    assert_eq!(
        causes(with_a_stale_one),
        [(Verdict::Invalid, text.to_owned())]
    );
    let elsewhere = causes(blobs(|shard, it| {
        ours(shard, it);
        it.source.server = (shard != 2).then(|| "https://github.com".to_owned());
    }));
    let text = "not of the same run as the others: its server is none, not `https://github.com`";
    assert!(elsewhere[0].1.ends_with(text), "{elsewhere:?}");
    let moved = causes(blobs(|shard, it| {
        from(5, if shard == 3 { "cccc" } else { "aaaa" }, it);
    }));
    let verdicts: Vec<Verdict> = moved.iter().map(|cause| cause.0).collect();
    assert!(verdicts.contains(&Verdict::Invalid), "{moved:?}");
    assert!(
        verdicts.contains(&Verdict::Incomplete),
        "shard 3 is missing: {moved:?}"
    );
}

#[test]
fn the_highest_attempt_counts_and_older_ones_show_what_was_flaky() {
    let plan = three();
    let mut first = run(&plan, 2);
    let mut failed = report(vec![outcomes().remove(0)], 1).records.remove(0);
    failed.id.clone_from(&first.records[0].id);
    first.records = vec![failed];
    first.source.attempt = Some(1);
    let mut second = run(&plan, 2);
    second.source.attempt = Some(2);
    let all = vec![
        blob("1.json", &run(&plan, 1)),
        blob("2-again.json", &second),
        blob("2.json", &first),
        blob("3.json", &run(&plan, 3)),
    ];
    let merged = merge(&plan, all);
    assert!(merged.causes.is_empty(), "{:?}", merged.causes);
    let record = &merged.report.records[2];
    assert_eq!(record.status, Status::Pass);
    assert!(record.is_flaky());
    assert!(
        record.attempts[0]
            .detail
            .starts_with("in attempt 1 of the workflow: "),
        "{record:?}"
    );
    assert_eq!(merged.report.shards[1].attempt, 2);
    let flaky = Baseline::updated(None, &merged.report, Scope::Whole);
    let found = compare(&flaky, "main", &merged.report, Scope::Whole);
    assert_eq!(found.of(Class::Flaky).count(), 1);
}
