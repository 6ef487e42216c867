//! What the plan wanted and the survey does not have.

use super::evidence::{Evidence, Grid};
use super::gap::Failing;
use crate::record::{BuildStatus, Plan, ToolchainStatus};

/// One thing that was skipped or failed, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shortfall {
    /// Part of the selection stands for no release that a proxy offers.
    Release {
        wanted: String,
        reason: String,
    },
    Toolchain {
        toolchain: String,
        status: ToolchainStatus,
        reason: String,
    },
    Build {
        variant: String,
        program: String,
        status: BuildStatus,
        reason: String,
    },
    Check {
        variant: String,
        program: String,
        failing: Failing,
        reason: String,
    },
    /// Runs of one cell that failed in the same way.
    Runs {
        variant: String,
        program: String,
        failing: Failing,
        rounds: Vec<u32>,
        /// Rounds of the cell that count all the same.
        counting: usize,
        planned: u32,
        /// Of the first of these rounds.
        reason: String,
    },
}

/// Lists everything, cause before consequence, each in the plan's order.
pub(super) fn all(plan: &Plan, grid: &Grid<'_>) -> Vec<Shortfall> {
    let releases = plan.missing.iter().map(|missing| Shortfall::Release {
        wanted: missing.wanted.clone(),
        reason: missing.reason.clone(),
    });
    let toolchains =
        grid.toolchains().filter(|row| row.status != ToolchainStatus::Installed).map(|row| {
            Shortfall::Toolchain {
                toolchain: row.toolchain.clone(),
                status: row.status,
                reason: row.error.clone(),
            }
        });
    let builds = grid.iter().filter_map(of_build);
    let checks = grid.iter().filter_map(of_check);
    let runs = grid.iter().flat_map(|cell| of_runs(cell, plan.rounds));
    releases.chain(toolchains).chain(builds).chain(checks).chain(runs).collect()
}

fn of_build(cell: &Evidence<'_>) -> Option<Shortfall> {
    let row = cell.build.filter(|row| row.status != BuildStatus::Built)?;
    Some(Shortfall::Build {
        variant: row.variant.clone(),
        program: row.program.clone(),
        status: row.status,
        reason: row.error.clone(),
    })
}

fn of_check(cell: &Evidence<'_>) -> Option<Shortfall> {
    let row = cell.check?;
    Some(Shortfall::Check {
        variant: row.variant.clone(),
        program: row.program.clone(),
        failing: cell.check_failing()?,
        reason: row.error.clone(),
    })
}

fn of_runs(cell: &Evidence<'_>, planned: u32) -> Vec<Shortfall> {
    let mut ways: Vec<(Failing, Vec<u32>, &str)> = Vec::new();
    for (round, row) in &cell.failed {
        let failing = Failing::of_run(row);
        match ways.iter_mut().find(|(way, ..)| *way == failing) {
            Some((_, rounds, _)) => rounds.push(*round),
            None => ways.push((failing, vec![*round], &row.error)),
        }
    }
    let shortfall = |(failing, rounds, reason): (_, _, &str)| Shortfall::Runs {
        variant: cell.variant.to_owned(),
        program: cell.program.to_owned(),
        failing,
        rounds,
        counting: cell.counting.len(),
        planned,
        reason: reason.to_owned(),
    };
    ways.into_iter().map(shortfall).collect()
}

impl Shortfall {
    /// What was skipped or failed, in words of this program.
    pub fn what(&self) -> String {
        match self {
            Shortfall::Release { wanted, .. } => format!("{wanted}: no such release"),
            Shortfall::Toolchain { toolchain, status, .. } => {
                format!("{toolchain}: toolchain {status}")
            }
            Shortfall::Build { variant, program, status, .. } => {
                format!("{variant} {program}: build {status}")
            }
            Shortfall::Check { variant, program, failing, .. } => {
                format!("{variant} {program}: not measured, as its check failed ({failing})")
            }
            Shortfall::Runs { variant, program, failing, rounds, counting, planned, .. } => {
                let s = if rounds.len() == 1 { "" } else { "s" };
                let rounds = list(rounds);
                format!(
                    "{variant} {program}: {failing} in round{s} {rounds}; {counting} of {planned} count"
                )
            }
        }
    }

    /// Why, as recorded: text of foreign origin, maybe of several lines, maybe empty.
    pub fn reason(&self) -> &str {
        match self {
            Shortfall::Release { reason, .. }
            | Shortfall::Toolchain { reason, .. }
            | Shortfall::Build { reason, .. }
            | Shortfall::Check { reason, .. }
            | Shortfall::Runs { reason, .. } => reason,
        }
    }
}

/// Writes numbers as `1, 2, 5`.
fn list(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}
