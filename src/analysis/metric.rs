//! What is measured, and which value a row gives for it.

use super::evidence::Evidence;
use crate::stats::Sample;
use std::collections::BTreeMap;
use std::fmt;

/// A quantity that tables and statements are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Elapsed time of a run, in ns.
    Elapsed,
    /// CPU time of a run, user plus system, in ns.
    Cpu,
    /// Peak resident memory of a run's largest process, in KiB.
    PeakMemory,
    /// Elapsed time of rebuilding the program with a warm standard library, in ns.
    BuildTime,
}

impl Metric {
    pub const ALL: [Metric; 4] =
        [Metric::Elapsed, Metric::Cpu, Metric::PeakMemory, Metric::BuildTime];

    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::PeakMemory => "KiB",
            _ => "ns",
        }
    }

    /// Takes the metric's values out of the evidence on a cell.
    pub(super) fn observe(self, cell: &Evidence<'_>) -> Observed {
        let runs = cell.counting.iter();
        match self {
            Metric::Elapsed => {
                Observed::of(runs.map(|(round, row)| (*round, row.elapsed_ns as f64)))
            }
            Metric::Cpu => Observed::of(runs.map(|(round, row)| {
                // Added as floating point, so that no row of a damaged file overflows.
                (*round, (row.user_us as f64 + row.sys_us as f64) * 1e3)
            })),
            Metric::PeakMemory => {
                let floor = cell.counting.values().map(|row| row.rss_floor_kib).max();
                let values = runs.map(|(round, row)| (*round, row.max_rss_kib as f64));
                Observed { floor: floor.unwrap_or(0) as f64, ..Observed::of(values) }
            }
            Metric::BuildTime => {
                let times = cell.build.map(|row| row.build_times_ns()).unwrap_or_default();
                Observed::of((1..).zip(times).map(|(repetition, ns)| (repetition, ns as f64)))
            }
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Metric::Elapsed => "elapsed time",
            Metric::Cpu => "CPU time",
            Metric::PeakMemory => "peak memory",
            Metric::BuildTime => "build time",
        })
    }
}

/// The values of one metric in one cell, all positive.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Observed {
    /// For build time the repetition stands for the round.
    pub by_round: BTreeMap<u32, f64>,
    /// How many readings were zero. No program takes no time or memory, so a zero is a reading
    /// that failed and is left out.
    pub zeros: usize,
    /// What the instrument cannot go below; 0 if it has no such floor.
    pub floor: f64,
}

/// A value up to this much above its floor says no more than that it is small.
const FLOOR_MARGIN: f64 = 1.1;

impl Observed {
    fn of(readings: impl Iterator<Item = (u32, f64)>) -> Self {
        let mut observed = Observed::default();
        for (round, value) in readings {
            if value > 0.0 {
                observed.by_round.insert(round, value);
            } else {
                observed.zeros += 1;
            }
        }
        observed
    }

    /// Whether the median only says "at most this".
    pub fn is_at_floor(&self) -> bool {
        // Most metrics have no floor and need no median for this.
        self.floor > 0.0
            && Sample::new(self.by_round.values().copied())
                .is_some_and(|sample| sample.median() <= self.floor * FLOOR_MARGIN)
    }

    /// The values of both in the rounds that both have, in the order of the rounds.
    pub fn paired(&self, other: &Observed) -> BTreeMap<u32, (f64, f64)> {
        let both = |(round, value): (&u32, &f64)| {
            other.by_round.get(round).map(|other| (*round, (*value, *other)))
        };
        self.by_round.iter().filter_map(both).collect()
    }
}
