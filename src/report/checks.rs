//! How the check of every cell ended: releases down, programs across.

use super::WIDTH;
use super::markdown::{Table, one_line, wrapped};
use crate::analysis::{Failing, Gap};
use crate::record::{BuildStatus, Cell, Survey, ToolchainStatus};
use std::fmt::Write;

/// Writes the table, then why each cell failed that did, in the order of the plan; cells of one
/// program that failed for the same reason share a line.
pub fn check_matrix(survey: &Survey) -> String {
    let mut table = Table::of_texts(
        std::iter::once("release").chain(survey.plan.programs.iter().map(|p| &**p)),
    );
    let mut failures = Failures::default();
    for variant in &survey.plan.variants {
        let mut row = vec![variant.clone()];
        for program in &survey.plan.programs {
            let end = End::of(survey, variant, program);
            row.push(end.to_string());
            failures.add(survey, variant, program, &end);
        }
        table.push(row);
    }
    let tables: Vec<String> = table.split(WIDTH).iter().map(Table::plain).collect();
    tables.join("\n") + &failures.text()
}

/// How a cell ended.
#[derive(Debug, PartialEq)]
enum End {
    Passed,
    NotChecked,
    Gap(Gap),
}

impl End {
    fn of(survey: &Survey, variant: &str, program: &str) -> Self {
        if let Some(status) = toolchain_missing(survey, variant) {
            return End::Gap(Gap::NoToolchain(status));
        }
        let build = survey.build(variant, program).map(|row| row.status);
        if let Some(status) = build.filter(|status| *status != BuildStatus::Built) {
            return End::Gap(Gap::NotBuilt(status));
        }
        let check = survey.check(&cell(survey, variant, program));
        match check.map(Failing::of_check) {
            None => End::NotChecked,
            Some(None) => End::Passed,
            Some(Some(failing)) => End::Gap(Gap::CheckFailed(failing)),
        }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Passed => f.write_str("ok"),
            End::NotChecked => f.write_str("not checked"),
            End::Gap(gap) => gap.fmt(f),
        }
    }
}

/// Who failed, how and why.
#[derive(Default)]
struct Failures(Vec<Failure>);

struct Failure {
    /// The program, or nothing if it is the toolchain that failed.
    program: String,
    variants: Vec<String>,
    how: String,
    why: String,
}

impl Failures {
    fn add(&mut self, survey: &Survey, variant: &str, program: &str, end: &End) {
        let End::Gap(gap) = end else { return };
        let program = if matches!(gap, Gap::NoToolchain(_)) { "" } else { program };
        let (how, why) = (gap.to_string(), one_line(reason(survey, variant, program)));
        let same = |failure: &&mut Failure| {
            failure.program == program && failure.how == how && failure.why == why
        };
        match self.0.iter_mut().find(same) {
            Some(failure) if failure.variants.iter().any(|known| known == variant) => {}
            Some(failure) => failure.variants.push(variant.to_owned()),
            None => self.0.push(Failure {
                program: program.to_owned(),
                variants: vec![variant.to_owned()],
                how,
                why,
            }),
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for Failure { program, variants, how, why } in &self.0 {
            let on = variants.join(", ");
            let who = if program.is_empty() { on } else { format!("{program} on {on}") };
            let line = if why.is_empty() {
                format!("{who}: {how}")
            } else {
                format!("{who}: {how}: {why}")
            };
            if text.is_empty() {
                text.push('\n');
            }
            write!(text, "{}", wrapped(&line, WIDTH, "  ")).expect("memory takes it");
        }
        text
    }
}

fn reason<'a>(survey: &'a Survey, variant: &str, program: &str) -> &'a str {
    if program.is_empty() {
        return survey.toolchain_of(variant).map_or("", |row| &row.error);
    }
    let build = survey.build(variant, program).map_or("", |row| &row.error);
    match survey.check(&cell(survey, variant, program)) {
        Some(check) => &check.error,
        None => build,
    }
}

fn toolchain_missing(survey: &Survey, variant: &str) -> Option<ToolchainStatus> {
    let row = survey.toolchain_of(variant)?;
    Some(row.status).filter(|status| *status != ToolchainStatus::Installed)
}

fn cell(survey: &Survey, variant: &str, program: &str) -> Cell {
    Cell {
        variant: variant.to_owned(),
        program: program.to_owned(),
        size: survey.plan.size.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fixtures::{survey, troubled_survey};
    use crate::record::BuildRow;

    #[test]
    fn a_survey_without_trouble_is_a_table_and_nothing_else() {
        insta::assert_snapshot!(check_matrix(&survey()), @r"
        release    n-body  binary-trees  fasta  k-nucleotide
        go1.21.13  ok      ok            ok     ok
        go1.24.11  ok      ok            ok     ok
        go1.27.1   ok      ok            ok     ok
        ");
    }

    #[test]
    fn what_failed_is_told_with_its_reason_once() {
        let mut survey = troubled_survey();
        for variant in ["go1.21.13", "go1.24.11"] {
            let row = survey.build(variant, "n-body").unwrap().clone();
            survey.builds.retain(|row| row.variant != variant || row.program != "n-body");
            survey.builds.push(BuildRow {
                status: BuildStatus::Skipped,
                error: "the C library GMP is not installed".into(),
                ..row
            });
        }
        insta::assert_snapshot!(check_matrix(&survey), @r"
        release    n-body   binary-trees  fasta  k-nucleotide
        go1.21.13  skipped  ok            ok     build failed
        go1.24.11  skipped  ok            ok     ok
        go1.27.1   ok       ok            ok     ok

        n-body on go1.21.13, go1.24.11: skipped: the C library GMP is not installed
        k-nucleotide on go1.21.13: build failed: go build: exit 1 ./main.go:12:2: undefined: maps.Clone note: `maps` | 1.21
        ");
    }
}
