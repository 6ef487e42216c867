use super::*;
use crate::analysis::ReportModel;
use crate::analysis::fixtures::{
    any_survey, build, check, run, survey, toolchain, troubled_survey,
};
use crate::record::{BuildStatus, Survey, ToolchainStatus, Verdict};
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
    insta::assert_snapshot!(terminal_summary(&troubled_survey().analyse()), @r"
    go1.27.1 takes 0.897 of go1.21.13's time (geometric mean of 3 programs, rounds ranged 0.828–0.904).

    Geometric mean relative to go1.27.1

    release    programs         elapsed time             CPU time               peak memory           build time
    go1.21.13         3  1.115 (1.107–1.207)  1.114 (1.106–1.204)  1.176 (1.164–1.328) of 2  0.984 (0.984–0.984)
    go1.24.11         4  1.077 (1.074–1.080)  1.076 (1.073–1.079)  1.104 (1.100–1.109) of 3  0.992 (0.992–0.992)
    go1.27.1          4                    1                    1                    1 of 3                    1

    Of 36 planned runs 32 count, 1 failed, 3 cannot be made.
    Skipped or failed:
      1.2: no such release
      go1.21.13 k-nucleotide: build failed
      go1.24.11 fasta: timed out in round 2; 2 of 3 count
    ");
}

#[test]
fn medians_for_other_programs() {
    let csv = medians_csv(&troubled_survey().analyse());
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 1 + 3 * 4 * 4);
    let shown = [&lines[..9], &lines[13..14], &lines[25..26]].concat().join("\n");
    insta::assert_snapshot!(shown, @r"
    variant,program,size,metric,unit,n,median,min,max,low,high,confidence,note
    go1.21.13,n-body,quick,elapsed,ns,3,2111001234,2108001234,2113001234,,,,
    go1.21.13,n-body,quick,cpu,ns,3,2123001000,2120001000,2125001000,,,,
    go1.21.13,n-body,quick,peak_memory,KiB,3,560,560,560,,,,at floor
    go1.21.13,n-body,quick,build,ns,3,120000000,119000000,122000000,,,,
    go1.21.13,binary-trees,quick,elapsed,ns,3,1484001234,1474001234,1489001234,,,,
    go1.21.13,binary-trees,quick,cpu,ns,3,1496001000,1486001000,1501001000,,,,
    go1.21.13,binary-trees,quick,peak_memory,KiB,3,37100,36850,37225,,,,
    go1.21.13,binary-trees,quick,build,ns,3,121000000,120000000,123000000,,,,
    go1.21.13,k-nucleotide,quick,elapsed,ns,0,,,,,,,build failed
    go1.24.11,fasta,quick,elapsed,ns,2,720501234,692001234,749001234,,,,
    ");
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
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **go1.27.1 takes 0.913 of go1.21.13's time (geometric mean of 4 programs, 96 % interval 0.864–0.919).**

    CPU time: −8.6 % (−13.5…−8.1), 4 programs. Peak memory: −11.3 % (−17.8…−10.7), 3 programs. Build time: cannot decide
    (+1.6…+1.7), 4 programs.

    All 108 planned runs were made, and every output was verified.
    ");
    insta::assert_snapshot!(section(&report, "Change from"), @r"
    ## Change from go1.21.13 to go1.27.1

    | program        |               elapsed time |                  CPU time |
    | -------------- | -------------------------: | ------------------------: |
    | n-body         |   within noise (−0.1…+0.3) |  within noise (−0.1…+0.3) |
    | binary-trees   |      −33.9 % (−34.4…−32.9) |     −33.6 % (−34.1…−32.6) |
    | fasta          | within noise (−13.6…+10.0) | within noise (−13.4…+9.8) |
    | k-nucleotide   |         −3.4 % (−3.6…−2.1) |        −3.4 % (−3.6…−2.1) |
    | geometric mean |        −8.7 % (−13.6…−8.1) |       −8.6 % (−13.5…−8.1) |
    | programs in it |                          4 |                         4 |

    | program        |                peak memory |                build time |
    | -------------- | -------------------------: | ------------------------: |
    | n-body         |   cannot decide: too small | cannot decide (+1.6…+1.7) |
    | binary-trees   |      −33.9 % (−34.4…−32.9) | cannot decide (+1.6…+1.7) |
    | fasta          | within noise (−13.6…+10.0) | cannot decide (+1.6…+1.7) |
    | k-nucleotide   |         −3.4 % (−3.6…−2.1) | cannot decide (+1.6…+1.6) |
    | geometric mean |      −11.3 % (−17.8…−10.7) | cannot decide (+1.6…+1.7) |
    | programs in it |                          3 |                         4 |

    Two equal releases are called changed by the luck of 9 rounds with a chance of up to 1 in 20. If nothing had changed
    at all, that would be up to 1.0 of the 16 comparisons of programs above; the means are no exception.
    ");
    insta::assert_snapshot!(medians_csv(&model).lines().nth(1).unwrap(), @"go1.21.13,n-body,quick,elapsed,ns,9,2111401234,2108001234,2113801234,2108401234,2113401234,0.9609,");
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
    assert!(!report.contains("## Change") && !report.contains("## Geometric mean"), "{report}");
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **There is nothing to compare: only go1.21.13 was measured.**

    All 12 planned runs were made, and every output was verified.
    ");
}

#[test]
fn a_survey_that_just_began_claims_nothing() {
    let report = summary_md(&only(survey(), |variant, program, round| {
        round == 1 && program == "fasta" || variant == "go1.27.1" && round < 3
    }));
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **It cannot be decided whether go1.27.1 and go1.21.13 differ: that takes 3 complete rounds, the survey has 1
    (geometric mean of 1 program 0.864 of the time, one round).**

    CPU time: cannot decide: 1 round, 1 program. Peak memory: cannot decide: 1 round, 1 program. Build time: cannot decide
    (+1.6…+1.7), 4 programs.

    The survey is not finished: of 36 planned runs 10 count, 26 are still to be made.
    ");
    insta::assert_snapshot!(section(&report, "Elapsed"), @r"
    ## Elapsed time

    | release   |         n-body (s) | binary-trees (ms) |       fasta (ms) |   k-nucleotide (s) |
    | --------- | -----------------: | ----------------: | ---------------: | -----------------: |
    | go1.21.13 |       not measured |      not measured |        763 (n=1) |       not measured |
    | go1.24.11 |       not measured |      not measured |        692 (n=1) |       not measured |
    | go1.27.1  | 2.112 ±0.1 % (n=2) |  979 ±0.5 % (n=2) | 716 ±7.9 % (n=2) | 1.591 ±0.5 % (n=2) |
    ");
    insta::assert_snapshot!(section(&report, "Change"), @r"
    ## Change from go1.21.13 to go1.27.1

    | program        |           elapsed time |               CPU time |
    | -------------- | ---------------------: | ---------------------: |
    | n-body         |            not on both |            not on both |
    | binary-trees   |            not on both |            not on both |
    | fasta          | cannot decide: 1 round | cannot decide: 1 round |
    | k-nucleotide   |            not on both |            not on both |
    | geometric mean | cannot decide: 1 round | cannot decide: 1 round |
    | programs in it |                      1 |                      1 |

    | program        |            peak memory |                build time |
    | -------------- | ---------------------: | ------------------------: |
    | n-body         |            not on both | cannot decide (+1.6…+1.7) |
    | binary-trees   |            not on both | cannot decide (+1.6…+1.7) |
    | fasta          | cannot decide: 1 round | cannot decide (+1.6…+1.7) |
    | k-nucleotide   |            not on both | cannot decide (+1.6…+1.6) |
    | geometric mean | cannot decide: 1 round | cannot decide (+1.6…+1.7) |
    | programs in it |                      1 |                         4 |

    Two equal releases are called changed by the luck of 3 rounds with a chance of up to 1 in 10. If nothing had changed
    at all, that would be up to 0.4 of the 7 comparisons of programs above; the means are no exception.
    ");
}

#[test]
fn no_round_with_all_programs_makes_no_mean() {
    let model = only(survey(), |variant, program, round| {
        variant == "go1.27.1" || (program == "fasta") == (round == 1)
    });
    let report = summary_md(&model);
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **go1.27.1 and go1.21.13 cannot be compared: no round has all of their 4 programs in common.**

    Build time: cannot decide (+1.6…+1.7), 4 programs.

    The survey is not finished: of 36 planned runs 26 count, 10 are still to be made.
    ");
    insta::assert_snapshot!(section(&report, "Geometric mean"), @r"
    ## Geometric mean relative to go1.27.1

    | release   | programs | elapsed time | CPU time | peak memory |          build time |
    | --------- | -------: | -----------: | -------: | ----------: | ------------------: |
    | go1.21.13 |        4 |            – |        – |      – of 3 | 0.984 (0.984–0.984) |
    | go1.24.11 |        4 |            – |        – |      – of 3 | 0.992 (0.992–0.992) |
    | go1.27.1  |        4 |            1 |        1 |      1 of 3 |                   1 |
    ");
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
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **There is nothing to compare: no run counts.**

    Of 36 planned runs 0 count, 36 cannot be made.
    ");
    insta::assert_snapshot!(section(&report, "Elapsed"), @r"
    ## Elapsed time

    | release   |       n-body | binary-trees |        fasta | k-nucleotide |
    | --------- | -----------: | -----------: | -----------: | -----------: |
    | go1.21.13 | no toolchain | no toolchain | no toolchain | no toolchain |
    | go1.24.11 | build failed | build failed | build failed | build failed |
    | go1.27.1  | build failed | build failed | build failed | build failed |
    ");
    insta::assert_snapshot!(section(&report, "Skipped"), @r"
    ## Skipped and failed

    - go1.21.13: toolchain not published: `404 from https://proxy.example`
    - go1.24.11 n-body: build failed: `no C compiler`
    - go1.24.11 binary-trees: build failed: `no C compiler`
    - go1.24.11 fasta: build failed: `no C compiler`
    - go1.24.11 k-nucleotide: build failed: `no C compiler`
    - go1.27.1 n-body: build failed: `no C compiler`
    - go1.27.1 binary-trees: build failed: `no C compiler`
    - go1.27.1 fasta: build failed: `no C compiler`
    - go1.27.1 k-nucleotide: build failed: `no C compiler`
    ");
    insta::assert_snapshot!(terminal_summary(&model), @r"
    There is nothing to compare: no run counts.

    Of 36 planned runs 0 count, 36 cannot be made.
    Skipped or failed:
      go1.21.13: toolchain not published
      go1.24.11 n-body: build failed
      go1.24.11 binary-trees: build failed
      go1.24.11 fasta: build failed
      go1.24.11 k-nucleotide: build failed
      go1.27.1 n-body: build failed
      go1.27.1 binary-trees: build failed
      go1.27.1 fasta: build failed
      go1.27.1 k-nucleotide: build failed
    ");
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
    insta::assert_snapshot!(opening(&report), @r"
    # Survey demo

    **go1.27.1 takes 0.661 of go1.21.13's time (geometric mean of 1 program, rounds ranged 0.656–0.671).**

    CPU time: −33.6 % (−34.1…−32.6), 1 program. Peak memory: −33.9 % (−34.4…−32.9), 1 program. Build time: cannot decide
    (+1.6…+1.7), 1 program.

    All 9 planned runs were made, and every output was verified.
    ");
}

#[test]
fn unproven_toolchains_are_named_at_the_top_and_in_the_table() {
    let mut survey = survey();
    let row = &mut survey.toolchains[1];
    row.proof = "unproven".into();
    row.h1 = String::new();
    row.source = "/usr/local/go".into();
    row.unproven_because = "the database has no record of it".into();
    let report = summary_md(&survey.analyse());
    let opening = opening(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(opening.contains("**Mind:** go1.24.11 is UNPROVEN: it was taken from"), "{report}");
    assert!(opening.contains("published: the database has no record of it."), "{report}");
    insta::assert_snapshot!(section(&report, "Provenance"), @r"
    ## Provenance

    | toolchain | hash of its files                                | proof                                       |
    | --------- | ------------------------------------------------ | ------------------------------------------- |
    | go1.21.13 | h1:Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+= | sum.golang.org: record 24011230 of 41532118 |
    | go1.24.11 | none                                             | UNPROVEN, taken from /usr/local/go          |
    | go1.27.1  | h1:Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+/Ab3+= | sum.golang.org: record 24011230 of 41532118 |
    ");
}

#[test]
fn a_wrong_output_is_told_with_its_place() {
    let mut survey = survey();
    let row = survey.checks.iter_mut().find(|row| row.program == "fasta").unwrap();
    row.verdict = Verdict::Differs;
    row.error = r#"byte 12 (line 2): expected "a", found "b""#.into();
    survey.runs.retain(|row| !(row.variant == "go1.21.13" && row.program == "fasta"));
    let report = summary_md(&survey.analyse());
    insta::assert_snapshot!(section(&report, "Skipped"), @r#"
    ## Skipped and failed

    - go1.21.13 fasta: not measured, as its check failed (wrong output): `byte 12 (line 2): expected "a", found "b"`
    "#);
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

/// How many headings there are, not counting lines of code.
fn headings(report: &str) -> usize {
    let mut in_code = false;
    let is_heading = |line: &&str| {
        in_code ^= line.starts_with("```");
        !in_code && line.starts_with('#')
    };
    report.lines().filter(is_heading).count()
}

proptest! {
    // A case makes a whole report; this many take about a second.
    #![proptest_config(ProptestConfig::with_cases(64))]

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
    fn no_text_from_outside_makes_a_heading(text in "\\PC{0,60}\n#? ?\\PC{0,60}") {
        let mut survey = troubled_survey();
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
