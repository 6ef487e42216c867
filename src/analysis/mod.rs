//! From the rows of a survey to statements about it: pure, values in, values out.
//!
//! ```text
//! Survey ─group─▶ Evidence ─observe─▶ Observed ─▶ Summary        one cell, one metric
//!                     │                  ├──────▶ Change         one program, two variants
//!                     │                  └──────▶ Overall        all matching programs, two variants
//!                     └─▶ Gap, Shortfall, Warning, Completeness  what there is no number for
//!                                        ▼
//!                                   ReportModel ─▶ report
//! ```
//!
//! Nothing here knows how a report looks. What cannot be said is said by a value too: a cell without
//! numbers carries its [`Gap`], a difference that the rounds cannot carry its [`Doubt`], and what a
//! reader must know about the whole is a [`Warning`].

mod change;
mod completeness;
mod evidence;
mod gap;
mod metric;
mod overall;
mod shortfall;
mod summary;
mod warning;

pub use change::{Change, Doubt, Finding, MIN_ROUNDS, false_change_chance};
pub use completeness::Completeness;
pub use gap::{Failing, Gap};
pub use metric::Metric;
pub use overall::Overall;
pub use shortfall::Shortfall;
pub use summary::{CONFIDENCE, Spread, SpreadKind, Summary};
pub use warning::Warning;

use crate::record::{Host, Plan, Survey, ToolchainRow};
use evidence::{Evidence, Grid};
use metric::Observed;

/// All that a report says, before it is words.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportModel {
    pub plan: Plan,
    pub host: Host,
    /// The rows of the toolchains that the plan's variants use, each once, in the plan's order.
    pub toolchains: Vec<ToolchainRow>,
    /// One for each of [`Metric::ALL`], in that order.
    pub metrics: Vec<MetricModel>,
    /// Places in the plan of the oldest and the newest variant with at least one measured cell.
    /// The same place twice if there is but one.
    pub ends: Option<(usize, usize)>,
    pub completeness: Completeness,
    pub shortfalls: Vec<Shortfall>,
    pub warnings: Vec<Warning>,
}

/// What one metric shows. Rows are variants and columns programs, both in the plan's order.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricModel {
    pub metric: Metric,
    pub cells: Vec<Vec<Entry>>,
    /// For every variant: its geometric mean relative to the newest, without the plan's extras.
    pub means: Vec<Overall>,
    /// For every program: from the oldest to the newest variant; `None` without a common round.
    pub changes: Vec<Option<Change>>,
    /// From the oldest to the newest variant over all matching programs but the plan's extras.
    pub overall: Overall,
}

/// A cell of a table: a number or the reason why there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    Measured(Summary),
    Gap(Gap),
}

impl Entry {
    /// The numbers, if there are any.
    pub fn summary(&self) -> Option<&Summary> {
        match self {
            Entry::Measured(summary) => Some(summary),
            Entry::Gap(_) => None,
        }
    }
}

impl Survey {
    /// Works out everything there is to say about the survey.
    pub fn analyse(&self) -> ReportModel {
        let grid = Grid::of(self);
        let ends = ends(&grid);
        ReportModel {
            plan: self.plan.clone(),
            host: self.host.clone(),
            toolchains: grid.toolchains().cloned().collect(),
            metrics: Metric::ALL
                .map(|metric| MetricModel::of(metric, &self.plan, &grid, ends))
                .into(),
            ends,
            completeness: Completeness::of(&self.plan, &grid),
            shortfalls: shortfall::all(&self.plan, &grid),
            warnings: warning::all(&self.plan, &grid),
        }
    }
}

impl MetricModel {
    fn of(metric: Metric, plan: &Plan, grid: &Grid<'_>, ends: Option<(usize, usize)>) -> Self {
        let observe = |cell: &Evidence<'_>| metric.observe(cell);
        let observed: Vec<Vec<Observed>> =
            grid.cells.iter().map(|row| row.iter().map(observe).collect()).collect();
        let entry = |(cell, observed): (&Evidence<'_>, &Observed)| match Summary::of(observed) {
            Some(summary) => Entry::Measured(summary),
            None => Entry::Gap(Gap::of(metric, cell)),
        };
        let cells = grid
            .cells
            .iter()
            .zip(&observed)
            .map(|(row, observed)| row.iter().zip(observed).map(entry).collect())
            .collect();
        let Some((first, last)) = ends else {
            let means = vec![Overall::NOTHING; grid.cells.len()];
            let changes = vec![None; grid.programs];
            return MetricModel { metric, cells, means, changes, overall: Overall::NOTHING };
        };
        let changes = observed[first].iter().zip(&observed[last]);
        let changes = changes.map(|(oldest, newest)| Change::between(oldest, newest)).collect();
        let counting: Vec<_> = observed.into_iter().map(|row| without_extras(plan, row)).collect();
        let (oldest, newest) = (&counting[first], &counting[last]);
        MetricModel {
            metric,
            cells,
            means: counting.iter().map(|variant| Overall::between(newest, variant)).collect(),
            changes,
            overall: Overall::between(oldest, newest),
        }
    }
}

impl ReportModel {
    /// The names of the oldest and the newest measured variant, if they are two.
    pub fn compared(&self) -> Option<(&str, &str)> {
        let (first, last) = self.ends.filter(|(first, last)| first != last)?;
        Some((&self.plan.variants[first], &self.plan.variants[last]))
    }

    /// The name of the variant that geometric means are relative to.
    pub fn newest(&self) -> Option<&str> {
        self.ends.map(|(_, last)| self.plan.variants[last].as_str())
    }
}

/// The values of the programs that enter geometric means.
fn without_extras(plan: &Plan, row: Vec<Observed>) -> Vec<Observed> {
    let counts = |program: &String| !plan.extras.contains(program);
    row.into_iter()
        .zip(&plan.programs)
        .filter(|(_, program)| counts(program))
        .map(|(o, _)| o)
        .collect()
}

/// Finds the oldest and the newest variant that ran at all. A plan may name a newest release that
/// could not be had; the others are still worth comparing.
fn ends(grid: &Grid<'_>) -> Option<(usize, usize)> {
    let ran = |row: &Vec<Evidence<'_>>| row.iter().any(|cell| !cell.counting.is_empty());
    let first = grid.cells.iter().position(ran)?;
    let last = grid.cells.iter().rposition(ran)?;
    Some((first, last))
}

#[cfg(test)]
pub(crate) mod fixtures;
#[cfg(test)]
mod tests;
