//! How much of the plan has been measured.

use super::evidence::Grid;
use crate::record::Plan;

/// The planned runs (one for each cell and round) by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completeness {
    pub planned: u64,
    /// Runs that count.
    pub counting: u64,
    /// Runs that are there, none of which counts.
    pub failed: u64,
    /// Runs that are not there because their cell cannot be run.
    pub blocked: u64,
}

impl Completeness {
    pub(super) fn of(plan: &Plan, grid: &Grid<'_>) -> Self {
        let rounds = u64::from(plan.rounds);
        let mut sum = Completeness::default();
        for cell in grid.iter() {
            let counting = cell.counting.len() as u64;
            let failed =
                cell.failed.keys().filter(|round| !cell.counting.contains_key(round)).count()
                    as u64;
            sum.planned += rounds;
            sum.counting += counting;
            sum.failed += failed;
            if cell.is_blocked() {
                sum.blocked += rounds - counting - failed;
            }
        }
        sum
    }

    /// Planned runs that are still to be made.
    pub fn outstanding(&self) -> u64 {
        self.planned - self.counting - self.failed - self.blocked
    }
}
