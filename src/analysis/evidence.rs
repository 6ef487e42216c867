//! Which rows of a survey speak about which cell of its plan.

use crate::record::{BuildRow, CheckRow, RunRow, Survey, ToolchainRow};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

/// The evidence on every cell of the plan.
pub(super) struct Grid<'a> {
    /// By variant, then by program, in the plan's order.
    pub cells: Vec<Vec<Evidence<'a>>>,
    /// How many programs the plan has; every row of `cells` is as long.
    pub programs: usize,
    /// Rows of any file about something that is not in the plan.
    pub unplanned: usize,
    /// Counting runs beyond the first of their cell and round.
    pub repeated: usize,
}

/// The evidence on one cell. Of several rows on the same thing the first holds, as in
/// [`Survey::build`] and its like: no later row can replace what was measured.
#[derive(Clone)]
pub(super) struct Evidence<'a> {
    pub variant: &'a str,
    pub program: &'a str,
    pub toolchain: Option<&'a ToolchainRow>,
    pub build: Option<&'a BuildRow>,
    pub check: Option<&'a CheckRow>,
    /// The first run that counts, by round.
    pub counting: BTreeMap<u32, &'a RunRow>,
    /// The last run that does not count, by round.
    pub failed: BTreeMap<u32, &'a RunRow>,
}

impl<'a> Evidence<'a> {
    /// Takes the first check of the binary that was built; one of another binary says nothing.
    fn take_check(&mut self, row: &'a CheckRow) {
        if self.build.is_none_or(|build| build.binary_sha256 == row.binary_sha256) {
            self.check.get_or_insert(row);
        }
    }
}

impl<'a> Grid<'a> {
    pub fn of(survey: &'a Survey) -> Self {
        let plan = &survey.plan;
        let evidence = |variant: &'a str, program: &'a str| Evidence {
            variant,
            program,
            toolchain: survey.toolchain_of(variant),
            build: None,
            check: None,
            counting: BTreeMap::new(),
            failed: BTreeMap::new(),
        };
        let row =
            |variant: &'a String| plan.programs.iter().map(|p| evidence(variant, p)).collect();
        let mut grid = Grid {
            cells: plan.variants.iter().map(row).collect(),
            programs: plan.programs.len(),
            unplanned: 0,
            repeated: 0,
        };
        grid.take_rows(survey);
        grid
    }

    fn take_rows(&mut self, survey: &'a Survey) {
        let places = Places::of(survey);
        for row in &survey.builds {
            if let Some(cell) = self.cell(places.find(&row.variant, &row.program)) {
                row.succeed(&mut cell.build);
            }
        }
        for row in &survey.checks {
            if let Some(cell) = self.cell(places.find_sized(&row.variant, &row.program, &row.size))
            {
                cell.take_check(row);
            }
        }
        let rounds = 1..=survey.plan.rounds;
        for row in &survey.runs {
            let place = places.find_sized(&row.variant, &row.program, &row.size);
            let Some(cell) = self.cell(place.filter(|_| rounds.contains(&row.round))) else {
                continue;
            };
            if !row.counts() {
                cell.failed.insert(row.round, row);
                continue;
            }
            match cell.counting.entry(row.round) {
                Entry::Vacant(place) => {
                    place.insert(row);
                }
                Entry::Occupied(_) => self.repeated += 1,
            }
        }
    }

    /// The cell at a place; without one, a row is counted as unplanned.
    fn cell(&mut self, place: Option<(usize, usize)>) -> Option<&mut Evidence<'a>> {
        let Some((variant, program)) = place else {
            self.unplanned += 1;
            return None;
        };
        Some(&mut self.cells[variant][program])
    }

    pub fn iter(&self) -> impl Iterator<Item = &Evidence<'a>> {
        self.cells.iter().flatten()
    }

    /// The rows of the toolchains that the plan's variants use, each once.
    pub fn toolchains(&self) -> impl Iterator<Item = &'a ToolchainRow> {
        let rows = self.cells.iter().filter_map(|row| row.first()?.toolchain);
        let mut seen = Vec::new();
        rows.filter(move |row| {
            let new = !seen.contains(&&row.toolchain);
            seen.push(&row.toolchain);
            new
        })
    }
}

/// Where in the plan a name stands.
struct Places<'a> {
    variants: HashMap<&'a str, usize>,
    programs: HashMap<&'a str, usize>,
    size: &'a str,
}

impl<'a> Places<'a> {
    fn of(survey: &'a Survey) -> Self {
        let plan = &survey.plan;
        fn numbered(names: &[String]) -> HashMap<&str, usize> {
            names.iter().enumerate().map(|(place, name)| (name.as_str(), place)).collect()
        }
        Places {
            variants: numbered(&plan.variants),
            programs: numbered(&plan.programs),
            size: &plan.size,
        }
    }

    fn find(&self, variant: &str, program: &str) -> Option<(usize, usize)> {
        Some((*self.variants.get(variant)?, *self.programs.get(program)?))
    }

    fn find_sized(&self, variant: &str, program: &str, size: &str) -> Option<(usize, usize)> {
        self.find(variant, program).filter(|_| size == self.size)
    }
}
