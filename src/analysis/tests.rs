use super::fixtures::{any_survey, run, survey, troubled_survey};
use super::*;
use crate::record::{
    BuildRow, BuildStatus, CheckRow, RunRow, Threads, ToolchainRow, ToolchainStatus, Verdict,
};
use proptest::prelude::*;

fn metric(model: &ReportModel, wanted: Metric) -> &MetricModel {
    model.metrics.iter().find(|metric| metric.metric == wanted).unwrap()
}

fn summary(entry: &Entry) -> &Summary {
    match entry {
        Entry::Measured(summary) => summary,
        Entry::Gap(gap) => panic!("a gap: {gap}"),
    }
}

#[test]
fn a_cell_is_summarised_over_its_rounds() {
    let model = survey().analyse();
    // n-body on go1.21.13: 2110 ms −2, +1, +3 in rounds 1, 2, 3.
    let n_body = summary(&metric(&model, Metric::Elapsed).cells[0][0]);
    assert_eq!(
        (n_body.rounds, n_body.median, n_body.min, n_body.max),
        (3, 2_111_001_234.0, 2_108_001_234.0, 2_113_001_234.0)
    );
    assert_eq!(n_body.spread.kind, SpreadKind::Range);
    // Three repetitions: 120, 122, 119 ms.
    let build = summary(&metric(&model, Metric::BuildTime).cells[0][0]);
    assert_eq!((build.rounds, build.median), (3, 120_000_000.0));
    // User 2 111 001 µs plus system 12 000 µs.
    assert_eq!(summary(&metric(&model, Metric::Cpu).cells[0][0]).median, 2_123_001_000.0);
}

#[test]
fn memory_at_the_floor_is_marked_and_enters_no_mean() {
    let model = survey().analyse();
    let memory = metric(&model, Metric::PeakMemory);
    assert!(summary(&memory.cells[0][0]).at_floor);
    assert!(!summary(&memory.cells[0][1]).at_floor);
    assert_eq!(memory.overall.programs, 3);
    let finding = memory.changes[0].as_ref().unwrap().finding;
    assert_eq!(finding, Finding::Undecided(Doubt::AtFloor));
}

#[test]
fn changes_say_what_the_rounds_can_carry() {
    let model = survey().analyse();
    let changes = &metric(&model, Metric::Elapsed).changes;
    let findings: Vec<Finding> =
        changes.iter().map(|change| change.as_ref().unwrap().finding).collect();
    assert_eq!(
        findings,
        [Finding::WithinNoise, Finding::Changed, Finding::WithinNoise, Finding::Changed]
    );
    assert_eq!(model.compared(), Some(("go1.21.13", "go1.27.1")));
}

#[test]
fn the_newest_release_is_its_own_measure() {
    let model = survey().analyse();
    let newest = &metric(&model, Metric::Elapsed).means[2];
    let change = newest.change.as_ref().unwrap();
    assert_eq!((newest.programs, change.ratio), (4, 1.0));
    assert_eq!((change.spread.low, change.spread.high), (1.0, 1.0));
}

#[test]
fn an_extra_program_is_compared_but_enters_no_mean() {
    let all = survey();
    let mut without = all.clone();
    without.plan.programs.remove(1);
    let mut beside = all;
    beside.plan.extras = vec!["binary-trees".into()];
    let (without, beside) = (without.analyse(), beside.analyse());
    let (without, beside) = (metric(&without, Metric::Elapsed), metric(&beside, Metric::Elapsed));
    assert_eq!(beside.overall, without.overall);
    assert_eq!(beside.means, without.means);
    assert!(beside.changes[1].is_some() && beside.cells[0][1].summary().is_some());
}

#[test]
fn a_complete_survey_has_nothing_to_say_about_itself() {
    let model = survey().analyse();
    assert_eq!((&model.warnings, &model.shortfalls), (&Vec::new(), &Vec::new()));
    let all = Completeness { planned: 36, counting: 36, ..Completeness::default() };
    assert_eq!(model.completeness, all);
}

#[test]
fn gaps_name_the_earliest_cause() {
    let mut survey = troubled_survey();
    survey.toolchains[1].status = ToolchainStatus::NotPublished;
    survey.builds.retain(|row| row.variant != "go1.24.11");
    survey.runs.retain(|row| row.variant != "go1.24.11");
    let wrong = survey.checks.iter_mut().find(|row| row.variant == "go1.27.1").unwrap();
    wrong.verdict = Verdict::Differs;
    survey.runs.retain(|row| !(row.variant == "go1.27.1" && row.program == "n-body"));
    let model = survey.analyse();
    let elapsed = metric(&model, Metric::Elapsed);
    assert_eq!(elapsed.cells[0][3], Entry::Gap(Gap::NotBuilt(BuildStatus::Failed)));
    assert_eq!(elapsed.cells[1][0], Entry::Gap(Gap::NoToolchain(ToolchainStatus::NotPublished)));
    assert_eq!(elapsed.cells[2][0], Entry::Gap(Gap::CheckFailed(Failing::WrongOutput)));
    // Building it was measured all the same.
    assert!(matches!(metric(&model, Metric::BuildTime).cells[2][0], Entry::Measured(_)));
}

#[test]
fn a_round_that_timed_out_is_a_shortfall_and_no_measurement() {
    let model = troubled_survey().analyse();
    let fasta = summary(&metric(&model, Metric::Elapsed).cells[1][2]);
    assert_eq!(fasta.rounds, 2);
    let lines: Vec<String> = model.shortfalls.iter().map(Shortfall::what).collect();
    assert_eq!(
        lines,
        [
            "1.2: no such release",
            "go1.21.13 k-nucleotide: build failed",
            "go1.24.11 fasta: timed out in round 2; 2 of 3 count",
        ]
    );
    let expected = Completeness { planned: 36, counting: 32, failed: 1, blocked: 3 };
    assert_eq!((model.completeness, model.completeness.outstanding()), (expected, 0));
}

#[test]
fn a_second_run_of_a_failed_round_counts() {
    let mut survey = troubled_survey();
    survey.runs.push(run("go1.24.11", "fasta", 2, 700_000_000));
    let model = survey.analyse();
    assert_eq!(summary(&metric(&model, Metric::Elapsed).cells[1][2]).rounds, 3);
    assert_eq!(model.completeness.failed, 0);
    assert_eq!(model.shortfalls.len(), 3, "the failed run stays on record");
}

#[test]
fn no_later_row_replaces_a_measurement() {
    let mut survey = survey();
    let before = survey.analyse();
    survey.runs.push(run("go1.21.13", "n-body", 1, 1));
    let after = survey.analyse();
    assert_eq!(after.metrics, before.metrics);
    assert_eq!(after.warnings, [Warning::RepeatedRuns { count: 1 }]);
}

#[test]
fn the_first_row_on_a_build_or_toolchain_holds() {
    let mut survey = survey();
    let before = survey.analyse();
    survey.builds.push(BuildRow { status: BuildStatus::Failed, ..survey.builds[0].clone() });
    survey
        .toolchains
        .push(ToolchainRow { status: ToolchainStatus::Failed, ..survey.toolchains[0].clone() });
    assert_eq!(survey.analyse(), before);
}

#[test]
fn a_check_of_another_binary_says_nothing() {
    let mut survey = survey();
    let wrong = CheckRow {
        binary_sha256: "ff".into(),
        verdict: Verdict::Differs,
        ..survey.checks[0].clone()
    };
    survey.runs.clear();
    survey.checks = vec![wrong.clone()];
    let model = survey.analyse();
    assert_eq!(model.shortfalls, []);
    assert_eq!(metric(&model, Metric::Elapsed).cells[0][0], Entry::Gap(Gap::NotMeasured));
    survey.checks = vec![CheckRow { binary_sha256: "03".into(), ..wrong }];
    let model = survey.analyse();
    let gap = Gap::CheckFailed(Failing::WrongOutput);
    assert_eq!(metric(&model, Metric::Elapsed).cells[0][0], Entry::Gap(gap));
}

#[test]
fn rows_outside_the_plan_are_left_out_and_counted() {
    let mut survey = survey();
    let before = survey.analyse();
    survey.runs.push(run("go1.3.3", "n-body", 1, 1));
    survey.runs.push(run("go1.21.13", "n-body", 4, 1));
    survey.runs.push(RunRow { size: "full".into(), ..run("go1.21.13", "n-body", 1, 1) });
    let after = survey.analyse();
    assert_eq!(after.metrics, before.metrics);
    assert_eq!(after.warnings, [Warning::UnplannedRows { count: 3 }]);
}

#[test]
fn zero_is_no_reading() {
    let mut survey = survey();
    survey.runs.retain(|row| row.program != "n-body" || row.round == 1);
    survey.runs[0].max_rss_kib = 0;
    let model = survey.analyse();
    assert_eq!(metric(&model, Metric::PeakMemory).cells[0][0], Entry::Gap(Gap::NoReading));
    assert_eq!(model.warnings, [Warning::ZeroReadings { metric: Metric::PeakMemory, count: 1 }]);
}

#[test]
fn what_limits_the_numbers_is_warned_of() {
    let mut survey = survey();
    survey.plan.rounds = 2;
    survey.runs.retain(|row| row.round < 3);
    survey.plan.threads = Threads::Native;
    survey.plan.goamd64 = "v3".into();
    survey.plan.variants[0] = "go1.4.3".into();
    survey.toolchains[0].toolchain = "go1.4.3".into();
    survey.toolchains[0].release = "go1.4.3".into();
    for row in &mut survey.builds {
        row.variant = row.variant.replace("go1.21.13", "go1.4.3");
    }
    for row in &mut survey.checks {
        row.variant = row.variant.replace("go1.21.13", "go1.4.3");
    }
    for row in &mut survey.runs {
        row.variant = row.variant.replace("go1.21.13", "go1.4.3");
    }
    survey.toolchains[2].proof = "unproven".into();
    survey.toolchains[2].source = "/usr/local/go".into();
    survey.toolchains[2].unproven_because = "the database has no record of it".into();
    survey.runs[0].binary_sha256 = "ff".into();
    let old = vec!["go1.4.3".to_owned()];
    assert_eq!(
        survey.analyse().warnings,
        [
            Warning::UnprovenToolchain {
                toolchain: "go1.27.1".into(),
                source: "/usr/local/go".into(),
                reason: "the database has no record of it".into(),
            },
            Warning::FewRounds { rounds: 2 },
            Warning::OneThread { variants: old.clone() },
            Warning::MixedInstructionSets { goamd64: "v3".into(), variants: old },
            Warning::MixedBinaries { variant: "go1.4.3".into(), program: "n-body".into() },
        ]
    );
}

#[test]
fn the_ends_are_what_was_measured() {
    let mut survey = survey();
    survey.runs.retain(|row| row.variant != "go1.27.1");
    assert_eq!(survey.analyse().compared(), Some(("go1.21.13", "go1.24.11")));
    survey.runs.retain(|row| row.variant == "go1.24.11");
    let model = survey.analyse();
    assert_eq!((model.newest(), model.compared()), (Some("go1.24.11"), None));
    survey.runs.clear();
    assert_eq!(survey.analyse().newest(), None);
}

#[test]
fn variants_of_one_toolchain_share_its_row() {
    let mut survey = survey();
    survey.plan.variants.push("go1.27.1+nogreenteagc".into());
    survey.plan.variants.push("go1.27.1+GOGC=200".into());
    let model = survey.analyse();
    let names: Vec<&str> = model.toolchains.iter().map(|row| row.toolchain.as_str()).collect();
    assert_eq!(names, ["go1.21.13", "go1.24.11", "go1.27.1"]);
    assert_eq!(model.completeness.outstanding(), 24);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn planned_runs_are_all_accounted_for(survey in any_survey()) {
        let Completeness { planned, counting, failed, blocked } = survey.analyse().completeness;
        prop_assert!(counting + failed + blocked <= planned);
    }

    #[test]
    fn the_order_of_the_rows_of_different_rounds_does_not_matter(turn in 0..36_usize) {
        let mut turned = survey();
        turned.runs.rotate_left(turn);
        prop_assert_eq!(turned.analyse().metrics, survey().analyse().metrics);
    }

    #[test]
    fn every_entry_is_a_number_of_its_rounds_or_a_gap(survey in any_survey()) {
        for metric in survey.analyse().metrics {
            for entry in metric.cells.iter().flatten() {
                if let Entry::Measured(summary) = entry {
                    prop_assert!(summary.rounds > 0);
                    prop_assert!(0.0 < summary.min && summary.min <= summary.median);
                    prop_assert!(summary.median <= summary.max);
                    prop_assert!(summary.spread.contains(summary.median));
                }
            }
        }
    }
}
