//! Why a cell has no number.

use super::evidence::Evidence;
use super::metric::Metric;
use crate::measurement::Outcome;
use crate::record::{BuildStatus, CheckRow, RunRow, ToolchainStatus, Verdict};
use std::fmt;

/// Why a cell has no number; the earliest cause, as later ones follow from it. Displays as the few
/// words that fit a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    NoToolchain(ToolchainStatus),
    NotBuilt(BuildStatus),
    /// The program was not measured because its output or its end was wrong.
    CheckFailed(Failing),
    /// No run counts; how the last one failed.
    RunsFailed(Failing),
    /// The runs count, but every reading of this metric is zero.
    NoReading,
    /// Its turn has not come.
    NotMeasured,
}

/// What is wrong with a process that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failing {
    /// It did not end well.
    Ended(Outcome),
    WrongOutput,
    /// It ended well, but its output was not compared, so nothing is known of its work.
    NotCompared,
}

impl Gap {
    pub(super) fn of(metric: Metric, cell: &Evidence<'_>) -> Self {
        if let Some(gap) = Gap::before_running(cell) {
            return gap;
        }
        if metric == Metric::BuildTime {
            let zeros = metric.observe(cell).zeros;
            return if zeros > 0 { Gap::NoReading } else { Gap::NotMeasured };
        }
        if !cell.counting.is_empty() {
            return Gap::NoReading;
        }
        if let Some(failing) = cell.check_failing() {
            return Gap::CheckFailed(failing);
        }
        let last = cell.failed.values().next_back();
        last.map_or(Gap::NotMeasured, |row| Gap::RunsFailed(Failing::of_run(row)))
    }

    /// What keeps a cell from having a binary.
    fn before_running(cell: &Evidence<'_>) -> Option<Self> {
        if let Some(row) = cell.toolchain.filter(|row| row.status != ToolchainStatus::Installed) {
            return Some(Gap::NoToolchain(row.status));
        }
        let build = cell.build.filter(|row| row.status != BuildStatus::Built)?;
        Some(Gap::NotBuilt(build.status))
    }
}

impl Evidence<'_> {
    /// What was wrong when the cell's output was checked, if something was.
    pub(super) fn check_failing(&self) -> Option<Failing> {
        Failing::of_check(self.check?)
    }

    /// Whether the cell cannot be run, as far as is known.
    pub(super) fn is_blocked(&self) -> bool {
        Gap::before_running(self).is_some() || self.check_failing().is_some()
    }
}

impl Failing {
    /// What is wrong with a check; nothing if it passed.
    pub fn of_check(row: &CheckRow) -> Option<Self> {
        (!row.passed()).then(|| Failing::of(row.status, row.verdict))
    }

    /// What is wrong with a run that does not count.
    pub(super) fn of_run(row: &RunRow) -> Self {
        Failing::of(row.status, row.verdict)
    }

    fn of(status: Outcome, verdict: Verdict) -> Self {
        match (status, verdict) {
            (Outcome::Exited(0), Verdict::Differs) => Failing::WrongOutput,
            (Outcome::Exited(0), _) => Failing::NotCompared,
            (status, _) => Failing::Ended(status),
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::NoToolchain(_) => f.write_str("no toolchain"),
            Gap::NotBuilt(
                status @ (BuildStatus::PatchRejected
                | BuildStatus::Unsupported
                | BuildStatus::Skipped),
            ) => status.fmt(f),
            Gap::NotBuilt(_) => f.write_str("build failed"),
            Gap::CheckFailed(failing) | Gap::RunsFailed(failing) => failing.fmt(f),
            Gap::NoReading => f.write_str("no reading"),
            Gap::NotMeasured => f.write_str("not measured"),
        }
    }
}

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failing::Ended(outcome) => outcome.fmt(f),
            Failing::WrongOutput => f.write_str("wrong output"),
            Failing::NotCompared => f.write_str("output not compared"),
        }
    }
}
