use super::*;
use crate::analysis::tests::{any_survey, build, check, run, survey, toolchain, troubled_survey};
use crate::analysis::{ReportModel, Survey};
use crate::record::{BuildStatus, ToolchainStatus, Verdict};
use proptest::prelude::*;

/// The part of a report between one heading and the next.
fn section<'a>(report: &'a str, heading: &str) -> &'a str {
    let start = report.find(&format!("## {heading}")).unwrap_or_else(|| panic!("no {heading}"));
    let rest = &report[start..];
    let end = rest[3..].find("\n## ").map_or(rest.len(), |end| end + 3);
    &rest[..end]
}

fn opening(report: &str) -> &str {
    &report[..report.find("\n## ").unwrap_or(report.len())]
}

#[test]
fn the_report_of_a_troubled_survey() {
    insta::assert_snapshot!(summary_md(&troubled_survey().analyse()));
}

#[test]
fn what_a_terminal_shows_at_the_end() {
    insta::assert_snapshot!(terminal_summary(&troubled_survey().analyse()), @"");
}

#[test]
fn medians_for_other_programs() {
    let csv = medians_csv(&troubled_survey().analyse());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 4 * 4);
    let shown = [&lines[..9], &lines[13..14], &lines[25..26]].concat().join("\n");
    insta::assert_snapshot!(shown, @"");
}

#[test]
fn six_rounds_give_an_interval() {
    let mut survey = survey();
    survey.plan.rounds = 9;
    for row in survey.runs.clone() {
        for block in 1..3_u64 {
            let elapsed_ns = row.elapsed_ns + block * 400_000;
            survey.runs.push(run(
                &row.variant,
                &row.program,
                row.round + 3 * block as u32,
                elapsed_ns,
            ));
        }
    }
    let model = survey.analyse();
    let report = summary_md(&model);
    insta::assert_snapshot!(opening(&report), @"");
    insta::assert_snapshot!(section(&report, "Change from"), @"");
    insta::assert_snapshot!(medians_csv(&model).lines().nth(1).unwrap(), @"");
}

/// Keeps of a survey what the predicate says, by variant, program and round.
fn only(mut survey: Survey, keep: impl Fn(&str, &str, u32) -> bool) -> ReportModel {
    survey.runs.retain(|row| keep(&row.variant, &row.program, row.round));
    survey.analyse()
}

#[test]
fn a_single_release_has_no_changes() {
    let mut survey = survey();
    survey.plan.variants.truncate(1);
    survey.builds.retain(|row| row.variant == "go1.21.13");
    survey.checks.retain(|row| row.variant == "go1.21.13");
    let report = summary_md(&only(survey, |variant, _, _| variant == "go1.21.13"));
    assert!(!report.contains("## Change"));
    insta::assert_snapshot!(opening(&report), @"");
    insta::assert_snapshot!(section(&report, "Geometric mean"), @"");
}

#[test]
fn a_survey_that_just_began_claims_nothing() {
    let report = summary_md(&only(survey(), |variant, program, round| {
        round == 1 && program == "fasta" || variant == "go1.27.1" && round < 3
    }));
    insta::assert_snapshot!(opening(&report), @"");
    insta::assert_snapshot!(section(&report, "Elapsed"), @"");
    insta::assert_snapshot!(section(&report, "Change"), @"");
}

#[test]
fn no_round_with_all_programs_makes_no_mean() {
    let model = only(survey(), |variant, program, round| {
        variant == "go1.27.1" || (program == "fasta") == (round == 1)
    });
    let report = summary_md(&model);
    insta::assert_snapshot!(opening(&report), @"");
    insta::assert_snapshot!(section(&report, "Geometric mean"), @"");
}

#[test]
fn nothing_measured_is_said_and_explained() {
    let mut survey = survey();
    survey.runs.clear();
    survey.checks.clear();
    survey.toolchains[0].status = ToolchainStatus::NotPublished;
    survey.toolchains[0].error = "404 from https://proxy.example".into();
    survey.builds.retain(|row| row.variant != "go1.21.13");
    for row in &mut survey.builds {
        row.status = BuildStatus::Failed;
        row.build_ns.clear();
        row.error = "no C compiler".into();
    }
    let model = survey.analyse();
    let report = summary_md(&model);
    insta::assert_snapshot!(opening(&report), @"");
    insta::assert_snapshot!(section(&report, "Elapsed"), @"");
    insta::assert_snapshot!(section(&report, "Skipped"), @"");
    insta::assert_snapshot!(terminal_summary(&model), @"");
}

#[test]
fn an_empty_plan_is_no_trouble() {
    let mut survey = survey();
    survey.plan.variants.clear();
    survey.plan.programs.clear();
    let report = summary_md(&survey.analyse());
    assert!(opening(&report).contains("The plan has no runs."), "{report}");
}

#[test]
fn one_program_is_its_own_mean() {
    let mut survey = survey();
    survey.plan.programs = vec!["binary-trees".into()];
    survey.builds.retain(|row| row.program == "binary-trees");
    survey.checks.retain(|row| row.program == "binary-trees");
    let report = summary_md(&only(survey, |_, program, _| program == "binary-trees"));
    insta::assert_snapshot!(opening(&report), @"");
}

#[test]
fn unproven_toolchains_are_named_at_the_top_and_in_the_table() {
    let mut survey = survey();
    let row = &mut survey.toolchains[1];
    row.proof = "unproven".into();
    row.h1 = String::new();
    row.source = "/usr/local/go".into();
    let report = summary_md(&survey.analyse());
    assert!(opening(&report).contains("**Mind:** go1.24.11 is UNPROVEN"), "{report}");
    insta::assert_snapshot!(section(&report, "Provenance"), @"");
}

#[test]
fn a_wrong_output_is_told_with_its_place() {
    let mut survey = survey();
    let row = survey.checks.iter_mut().find(|row| row.program == "fasta").unwrap();
    row.verdict = Verdict::Differs;
    row.error = r#"byte 12 (line 2): expected "a", found "b""#.into();
    survey.runs.retain(|row| !(row.variant == "go1.21.13" && row.program == "fasta"));
    let report = summary_md(&survey.analyse());
    insta::assert_snapshot!(section(&report, "Skipped"), @"");
}

/// The whole history: many releases go down, many programs across in tables that fit a terminal.
fn history() -> Survey {
    let programs = [
        "n-body",
        "binary-trees",
        "fasta",
        "k-nucleotide",
        "fannkuch-redux",
        "mandelbrot",
        "spectral-norm",
        "reverse-complement",
        "pidigits-gmp",
        "pidigits-math-big",
        "regex-redux",
        "regex-redux-pcre",
    ];
    let variants: Vec<String> = (2..28).map(|minor| format!("go1.{minor}.1")).collect();
    let mut survey = survey();
    survey.plan.variants = variants.clone();
    survey.plan.programs = programs.map(str::to_owned).into();
    survey.plan.rounds = 5;
    survey.toolchains = variants.iter().map(|variant| toolchain(variant)).collect();
    (survey.builds, survey.checks, survey.runs) = Default::default();
    for (v, variant) in variants.iter().enumerate() {
        for (p, program) in programs.iter().enumerate() {
            survey.builds.push(build(variant, program, 120_000_000));
            survey.checks.push(check(variant, program));
            for round in 1..=5_u32 {
                let place = (v as u64 * 31 + p as u64 * 17 + u64::from(round) * 7) % 23;
                let ns = (2_500 + 400 * p as u64 - 40 * v as u64 + place * 3) * 1_000_000;
                survey.runs.push(run(variant, program, round, ns));
            }
        }
    }
    survey
}

#[test]
fn the_whole_history_fits_a_terminal() {
    let report = summary_md(&history().analyse());
    let too_wide: Vec<&str> = report.lines().filter(|line| line.chars().count() > WIDTH).collect();
    assert_eq!(too_wide, [""; 0]);
    insta::assert_snapshot!(section(&report, "Elapsed"));
}

/// All lines of a table must be equally long, or its columns do not line up as plain text.
fn tables_line_up(report: &str) -> Result<(), String> {
    let mut width = None;
    for line in report.lines() {
        let is_table = line.starts_with("| ");
        let length = line.chars().count();
        match width {
            Some(width) if is_table && width != length => {
                return Err(format!("{length} instead of {width} characters: {line}"));
            }
            _ => width = is_table.then_some(length),
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_rows_make_a_sound_report(survey in any_survey()) {
        let model = survey.analyse();
        let report = summary_md(&model);
        prop_assert_eq!(tables_line_up(&report), Ok(()));
        for text in [&report, &terminal_summary(&model)] {
            prop_assert!(!text.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(!text.contains("NaN") && !text.contains("inf "), "{}", text);
        }
        let csv = medians_csv(&model);
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let cells = survey.plan.variants.len() * survey.plan.programs.len();
        let records = reader.records().collect::<Result<Vec<_>, _>>().unwrap();
        prop_assert_eq!(records.len(), 4 * cells);
    }

    #[test]
    fn no_text_from_outside_makes_a_heading(text in "\\PC*\n#? ?\\PC*") {
        let mut survey = troubled_survey();
        let headings = |report: &str| report.lines().filter(|l| l.starts_with('#')).count();
        let before = headings(&summary_md(&survey.analyse()));
        survey.plan.name = text.clone();
        survey.plan.command_line = text.clone();
        survey.plan.go = text.clone();
        survey.plan.missing[0].wanted = text.clone();
        survey.plan.missing[0].reason = text.clone();
        survey.host.kernel = Some(text.clone());
        survey.host.kernel_command_line = Some(text.clone());
        for row in &mut survey.builds {
            row.error = text.clone();
        }
        survey.toolchains[0].source = text.clone();
        survey.toolchains[0].proof = text.clone();
        let report = summary_md(&survey.analyse());
        prop_assert_eq!(headings(&report), before, "{}", report);
        prop_assert_eq!(tables_line_up(&report), Ok(()));
    }
}
