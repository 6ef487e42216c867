//! What a reader must know about a survey before believing its numbers.

use super::change::MIN_ROUNDS;
use super::evidence::{Evidence, Grid};
use super::metric::Metric;
use crate::record::{Plan, Threads, ToolchainRow, ToolchainStatus, toolchain_name};
use crate::release::{Minor, Release};
use std::collections::BTreeSet;
use std::fmt;

/// Something that limits what the survey's numbers mean. Displays as one sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Nothing shows that the toolchain is what Go's authors published.
    /// The reason is the end of a sentence; empty where none was recorded.
    UnprovenToolchain { toolchain: String, source: String, reason: String },
    /// The plan has too few rounds to call anything a change.
    FewRounds { rounds: u32 },
    /// The thread policy leaves some releases at the single thread that was their default.
    OneThread { variants: Vec<String> },
    /// `GOAMD64` is not `v1`, and some releases do not know it.
    MixedInstructionSets { goamd64: String, variants: Vec<String> },
    /// Runs of one cell come from more than one binary, or from another than was built.
    MixedBinaries { variant: String, program: String },
    /// Rows about cells or rounds that are not in the plan; they are left out.
    UnplannedRows { count: usize },
    /// Counting runs beyond the first of their cell and round; they are left out.
    RepeatedRuns { count: usize },
    /// Readings of zero, which no program can have; they are left out.
    ZeroReadings { metric: Metric, count: usize },
}

/// The first release whose programs use all CPUs without being told to.
const FIRST_WITH_ALL_CPUS: Minor = Minor { major: 1, minor: 5 };
/// The first release that knows `GOAMD64`.
const FIRST_WITH_GOAMD64: Minor = Minor { major: 1, minor: 18 };

pub(super) fn all(plan: &Plan, grid: &Grid<'_>) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = grid.toolchains().filter_map(unproven).collect();
    if plan.rounds < MIN_ROUNDS as u32 {
        warnings.push(Warning::FewRounds { rounds: plan.rounds });
    }
    let variants = variants_before(FIRST_WITH_ALL_CPUS, grid);
    if plan.threads == Threads::Native && !variants.is_empty() {
        warnings.push(Warning::OneThread { variants });
    }
    let variants = variants_before(FIRST_WITH_GOAMD64, grid);
    let mixed = !variants.is_empty() && variants.len() < plan.variants.len();
    if !["", "v1"].contains(&plan.goamd64.as_str()) && mixed {
        let goamd64 = plan.goamd64.clone();
        warnings.push(Warning::MixedInstructionSets { goamd64, variants });
    }
    warnings.extend(grid.iter().filter(|cell| has_mixed_binaries(cell)).map(|cell| {
        Warning::MixedBinaries {
            variant: cell.variant.to_owned(),
            program: cell.program.to_owned(),
        }
    }));
    if grid.unplanned > 0 {
        warnings.push(Warning::UnplannedRows { count: grid.unplanned });
    }
    if grid.repeated > 0 {
        warnings.push(Warning::RepeatedRuns { count: grid.repeated });
    }
    for metric in Metric::ALL {
        let count = grid.iter().map(|cell| metric.observe(cell).zeros).sum();
        if count > 0 {
            warnings.push(Warning::ZeroReadings { metric, count });
        }
    }
    warnings
}

fn unproven(row: &ToolchainRow) -> Option<Warning> {
    let used_unproven = row.status == ToolchainStatus::Installed && row.proof != "proven";
    used_unproven.then(|| Warning::UnprovenToolchain {
        toolchain: row.toolchain.clone(),
        source: row.source.clone(),
        reason: row.unproven_because.clone(),
    })
}

/// The variants whose release is older than `minor`; one without a known release is not.
fn variants_before(minor: Minor, grid: &Grid<'_>) -> Vec<String> {
    let is_before = |cell: &&Evidence<'_>| {
        let said = cell.toolchain.map(|row| row.release.as_str()).filter(|text| !text.is_empty());
        let release: Result<Release, _> = said.unwrap_or(toolchain_name(cell.variant)).parse();
        release.is_ok_and(|release| release.minor() < minor)
    };
    let firsts = grid.cells.iter().filter_map(|row| row.first());
    firsts.filter(is_before).map(|cell| cell.variant.to_owned()).collect()
}

fn has_mixed_binaries(cell: &Evidence<'_>) -> bool {
    let run = cell.counting.values().map(|row| row.binary_sha256.as_str());
    let built =
        cell.build.map(|row| row.binary_sha256.as_str()).filter(|sha256| !sha256.is_empty());
    let binaries: BTreeSet<&str> = run.chain(built).collect();
    !cell.counting.is_empty() && binaries.len() > 1
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::UnprovenToolchain { toolchain, source, reason } => {
                write!(
                    f,
                    "{toolchain} is UNPROVEN: it was taken from {source}, and nothing shows that \
                     it is what Go's authors published"
                )?;
                match reason.is_empty() {
                    true => f.write_str("."),
                    false => write!(f, ": {reason}."),
                }
            }
            Warning::FewRounds { rounds } => write!(
                f,
                "No difference can be told from noise with fewer than {MIN_ROUNDS} rounds, and the \
                 plan has {rounds}."
            ),
            Warning::OneThread { variants } => write!(
                f,
                "Threads are left to each release (policy native), and {} use one thread by \
                 default: compare CPU time, not elapsed time, across that border.",
                variants.join(", ")
            ),
            Warning::MixedInstructionSets { goamd64, variants } => write!(
                f,
                "GOAMD64={goamd64} is unknown to {}, which compile for v1: part of a difference to \
                 the others is the instruction set.",
                variants.join(", ")
            ),
            Warning::MixedBinaries { variant, program } => {
                write!(
                    f,
                    "The runs of {variant} {program} are not all of the binary that was built."
                )
            }
            Warning::UnplannedRows { count } => {
                write!(f, "Rows about cells or rounds outside the plan are left out: {count}.")
            }
            Warning::RepeatedRuns { count } => write!(
                f,
                "Runs of a cell and round that already has a counting run are left out: {count}."
            ),
            Warning::ZeroReadings { metric, count } => {
                write!(
                    f,
                    "Readings of {metric} that are zero, which none can be, are left out: {count}."
                )
            }
        }
    }
}
