//! A survey as a whole: its plan and every row so far, and what follows from them about what is
//! left to do.

use super::{
    BuildRow, BuildStatus, Cell, CheckRow, Host, Plan, RunRow, ToolchainRow, ToolchainStatus,
};
use std::collections::HashSet;

/// What a survey's folder holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    pub plan: Plan,
    pub host: Host,
    pub toolchains: Vec<ToolchainRow>,
    pub builds: Vec<BuildRow>,
    pub checks: Vec<CheckRow>,
    pub runs: Vec<RunRow>,
}

impl Survey {
    /// A survey of which nothing has been done yet.
    pub fn new(plan: Plan, host: Host) -> Self {
        Survey {
            plan,
            host,
            toolchains: Vec::new(),
            builds: Vec::new(),
            checks: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Every cell of the plan, in the order in which a round's shuffle numbers them: variants
    /// outside, programs inside.
    pub fn cells(&self) -> Vec<Cell> {
        let cell = |variant: &String, program: &String| Cell {
            variant: variant.clone(),
            program: program.clone(),
            size: self.plan.size.clone(),
        };
        let programs = &self.plan.programs;
        self.plan.variants.iter().flat_map(|v| programs.iter().map(move |p| cell(v, p))).collect()
    }

    /// The row of a toolchain the plan names, if the search for it has ended.
    pub fn toolchain(&self, name: &str) -> Option<&ToolchainRow> {
        self.toolchains.iter().find(|row| row.toolchain == name)
    }

    /// The row of the toolchain that a variant uses, if the search for it has ended.
    pub fn toolchain_of(&self, variant: &str) -> Option<&ToolchainRow> {
        self.toolchain(toolchain_name(variant))
    }

    /// The build of a variant's program, if it was tried; see [`BuildRow::succeed`].
    pub fn build(&self, variant: &str, program: &str) -> Option<&BuildRow> {
        let mut holds = None;
        let rows = self.builds.iter();
        for row in rows.filter(|row| row.variant == variant && row.program == program) {
            row.succeed(&mut holds);
        }
        holds
    }

    /// A cell's build, if there is a binary.
    pub fn binary(&self, cell: &Cell) -> Option<&BuildRow> {
        self.build(&cell.variant, &cell.program).filter(|row| row.status == BuildStatus::Built)
    }

    /// The check of a cell with the binary it has, if it was done.
    pub fn check(&self, cell: &Cell) -> Option<&CheckRow> {
        let binary = &self.binary(cell)?.binary_sha256;
        self.checks.iter().find(|row| row.cell() == *cell && row.binary_sha256 == *binary)
    }

    /// The cells with a binary and no check of it.
    pub fn unchecked(&self) -> Vec<Cell> {
        let unchecked = |cell: &Cell| self.binary(cell).is_some() && self.check(cell).is_none();
        self.cells().into_iter().filter(unchecked).collect()
    }

    /// The cells whose check says that they may be measured.
    pub fn measurable(&self) -> Vec<Cell> {
        let passed = |cell: &Cell| self.check(cell).is_some_and(CheckRow::passed);
        self.cells().into_iter().filter(passed).collect()
    }

    /// The measurable cells that `round` has no row of.
    pub fn unmeasured(&self, round: u32) -> Vec<Cell> {
        let done: HashSet<Cell> =
            self.runs.iter().filter(|row| row.round == round).map(RunRow::cell).collect();
        self.measurable().into_iter().filter(|cell| !done.contains(cell)).collect()
    }

    /// How many runs are still to be measured.
    pub fn runs_left(&self) -> usize {
        (1..=self.plan.rounds).map(|round| self.unmeasured(round).len()).sum()
    }

    /// Whether nothing is left to do: every stage has said its last word on every cell, be it a
    /// measurement or a failure.
    pub fn is_finished(&self) -> bool {
        let is_settled = |cell: &Cell| match self.build(&cell.variant, &cell.program) {
            Some(build) => build.status != BuildStatus::Skipped,
            None => !self.has_toolchain(&cell.variant),
        };
        self.cells().iter().all(is_settled) && self.unchecked().is_empty() && self.runs_left() == 0
    }

    /// Whether a variant's toolchain was had, or may still be.
    fn has_toolchain(&self, variant: &str) -> bool {
        self.toolchain_of(variant).is_none_or(|row| row.status == ToolchainStatus::Installed)
    }

    /// Whether the survey is finished and nothing of it failed or was not to be had.
    pub fn is_complete(&self) -> bool {
        self.plan.missing.is_empty()
            && self.is_finished()
            && self.measurable().len() == self.cells().len()
            && self.runs.iter().all(RunRow::counts)
    }

    /// The rounds of the cells left to measure, in nanoseconds of elapsed time, as far as their
    /// checks tell; a cell without a check counts as nothing.
    pub fn remaining_ns(&self) -> u64 {
        (1..=self.plan.rounds)
            .flat_map(|round| self.unmeasured(round))
            .filter_map(|cell| self.check(&cell))
            .map(|check| check.elapsed_ns)
            .sum()
    }
}

/// The name of the toolchain a variant uses: what stands before the first `+`.
pub fn toolchain_name(variant: &str) -> &str {
    variant.split('+').next().unwrap_or(variant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::Outcome;
    use crate::record::{BuildStatus, Verdict, plan::tests::plan};

    fn cell(variant: &str, program: &str) -> Cell {
        Cell { variant: variant.into(), program: program.into(), size: "quick".into() }
    }

    fn build(cell: &Cell, status: BuildStatus, binary: &str) -> BuildRow {
        BuildRow {
            variant: cell.variant.clone(),
            program: cell.program.clone(),
            status,
            source_sha256: String::new(),
            patches_sha256: String::new(),
            tree_sha256: String::new(),
            patches: String::new(),
            binary_sha256: binary.into(),
            binary_bytes: None,
            build_ns: "1 2".into(),
            first_build_ns: None,
            environment: String::new(),
            error: String::new(),
            c_library: String::new(),
            c_library_sha256: String::new(),
        }
    }

    fn check(cell: &Cell, binary: &str, verdict: Verdict) -> CheckRow {
        CheckRow {
            variant: cell.variant.clone(),
            program: cell.program.clone(),
            size: cell.size.clone(),
            binary_sha256: binary.into(),
            status: Outcome::Exited(0),
            sha256: String::new(),
            bytes: 0,
            verdict,
            first_difference_offset: None,
            error: String::new(),
            elapsed_ns: 10,
        }
    }

    fn run(cell: &Cell, round: u32) -> RunRow {
        RunRow {
            round,
            position: 1,
            variant: cell.variant.clone(),
            program: cell.program.clone(),
            size: cell.size.clone(),
            status: Outcome::Exited(0),
            elapsed_ns: 1,
            user_us: 1,
            sys_us: 1,
            max_rss_kib: 1,
            rss_floor_kib: 1,
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            steal_ticks: None,
            psi_cpu_some_us: None,
            sink: "memory".into(),
            output_sha256: String::new(),
            verdict: Verdict::Matches,
            started_at: "2026-11-30T18:00:00Z".parse().unwrap(),
            binary_sha256: String::new(),
            error: String::new(),
        }
    }

    /// The plan has 2 variants, 2 programs and 3 rounds.
    fn built() -> Survey {
        let mut plan = plan();
        plan.missing.clear();
        let mut survey = Survey::new(plan, Host::default());
        survey.builds =
            survey.cells().iter().map(|cell| build(cell, BuildStatus::Built, "b1")).collect();
        survey
    }

    #[test]
    fn a_skipped_build_is_no_last_word() {
        let mut survey = Survey::new(plan(), Host::default());
        let cell = &survey.cells()[0];
        let holds = |survey: &Survey| survey.build(&cell.variant, &cell.program).unwrap().clone();
        let skipped = build(cell, BuildStatus::Skipped, "");
        let settled = [BuildStatus::Failed, BuildStatus::Built].map(|s| build(cell, s, "b1"));
        survey.builds = vec![skipped.clone()];
        assert_eq!(holds(&survey), skipped);
        assert!(!survey.is_finished());
        survey.builds.push(BuildRow { error: "another reason".into(), ..skipped.clone() });
        assert_eq!(holds(&survey).error, "another reason");
        survey.builds.extend(settled.clone());
        assert_eq!(holds(&survey), settled[0]);
        survey.builds.push(skipped);
        assert_eq!(holds(&survey), settled[0]);
    }

    #[test]
    fn cells_are_numbered_variants_outside() {
        let cells = built().cells();
        assert_eq!(cells[1], cell("go1.21.13", "fasta"));
        assert_eq!(cells[2], cell("go1.27.1", "n-body"));
    }

    #[test]
    fn a_survey_is_finished_when_every_cell_has_its_last_word() {
        let mut survey = built();
        survey.checks =
            survey.cells().iter().map(|cell| check(cell, "b1", Verdict::Differs)).collect();
        assert!(survey.is_finished(), "no cell may be measured");
        let build = survey.builds.pop().unwrap();
        assert!(!survey.is_finished(), "one is still to be built");
        survey.toolchains =
            vec![ToolchainRow::bare(&build.variant, ToolchainStatus::NotPublished, String::new())];
        assert!(survey.is_finished(), "one cannot be built");
        assert!(!survey.is_complete());
        survey.checks.remove(0);
        assert!(!survey.is_finished(), "one is still to be checked");
        assert!(!Survey::new(survey.plan, Host::default()).is_finished());
    }

    #[test]
    fn a_check_holds_for_its_binary_alone() {
        let mut survey = built();
        let first = survey.cells()[0].clone();
        survey.checks = vec![check(&first, "b0", Verdict::Matches)];
        assert_eq!(survey.unchecked().len(), 4);
        survey.checks.push(check(&first, "b1", Verdict::Matches));
        assert_eq!(survey.unchecked().len(), 3);
        assert_eq!(survey.measurable(), [first]);
    }

    #[test]
    fn a_failed_cell_leaves_nothing_to_do_and_the_survey_incomplete() {
        let mut survey = built();
        survey.builds[0].status = BuildStatus::Failed;
        survey.checks =
            survey.cells()[1..].iter().map(|cell| check(cell, "b1", Verdict::Matches)).collect();
        survey.checks[0].verdict = Verdict::Differs;
        assert_eq!(survey.unchecked(), []);
        assert_eq!(survey.measurable().len(), 2);
        assert_eq!(survey.runs_left(), 6);
        let measurable = survey.measurable();
        survey.runs =
            (1..=3).flat_map(|round| measurable.iter().map(move |c| run(c, round))).collect();
        assert_eq!(survey.runs_left(), 0);
        assert!(!survey.is_complete());
    }

    #[test]
    fn a_round_lacks_the_cells_without_a_row_of_it() {
        let mut survey = built();
        survey.checks =
            survey.cells().iter().map(|cell| check(cell, "b1", Verdict::Matches)).collect();
        let cells = survey.cells();
        survey.runs = vec![run(&cells[0], 1), run(&cells[1], 1), run(&cells[0], 2)];
        assert_eq!(survey.unmeasured(1), cells[2..]);
        assert_eq!(survey.unmeasured(2), cells[1..]);
        assert_eq!(survey.runs_left(), 9);
        assert_eq!(survey.remaining_ns(), 90);
        survey.runs = (1..=3).flat_map(|round| cells.iter().map(move |c| run(c, round))).collect();
        assert!(survey.is_complete());
        survey.runs[3].status = Outcome::TimedOut;
        assert!(!survey.is_complete());
    }
}
