//! The values of a cell in three numbers.

use super::metric::Observed;
use crate::stats::Sample;

/// What the rounds of one cell show of one metric. Values keep the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// How many rounds (for build time: repetitions) there are values from.
    pub rounds: usize,
    pub median: f64,
    pub spread: Spread,
    pub min: f64,
    pub max: f64,
    /// The median is at what the instrument cannot go below: read it as "at most".
    pub at_floor: bool,
}

/// How far the rounds leave a median open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub low: f64,
    pub high: f64,
    pub kind: SpreadKind,
}

/// What the bounds of a [`Spread`] are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpreadKind {
    /// The smallest and the greatest value, as there are too few for an interval at
    /// [`CONFIDENCE`].
    Range,
    /// A distribution-free confidence interval of the median; with six to eight values its bounds
    /// are the smallest and the greatest too, but their level is known.
    Interval {
        /// The level reached.
        confidence: f64,
    },
}

/// The level asked of every interval.
pub const CONFIDENCE: f64 = 0.95;

impl Summary {
    /// Summarises a cell; `None` without values.
    pub(super) fn of(observed: &Observed) -> Option<Self> {
        let sample = Sample::new(observed.by_round.values().copied())?;
        Some(Summary {
            rounds: sample.count(),
            median: sample.median(),
            spread: Spread::of(&sample),
            min: sample.min(),
            max: sample.max(),
            at_floor: observed.is_at_floor(),
        })
    }
}

impl Spread {
    /// The confidence interval of the sample's median if it has one, else its range.
    pub fn of(sample: &Sample) -> Self {
        match sample.median_interval(CONFIDENCE) {
            Some(interval) => Spread {
                low: interval.low,
                high: interval.high,
                kind: SpreadKind::Interval { confidence: interval.confidence },
            },
            None => Spread { low: sample.min(), high: sample.max(), kind: SpreadKind::Range },
        }
    }

    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    pub fn overlaps(&self, other: &Spread) -> bool {
        self.low <= other.high && other.low <= self.high
    }

    /// The distance from `centre` to the farther bound, as a part of `centre`.
    pub fn relative_to(&self, centre: f64) -> f64 {
        f64::max(self.high - centre, centre - self.low) / centre
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(values: &[f64]) -> Spread {
        Spread::of(&Sample::new(values.iter().copied()).unwrap())
    }

    #[test]
    fn five_values_have_a_range_and_six_an_interval() {
        assert_eq!(
            spread(&[3.0, 1.0, 2.0, 5.0, 4.0]),
            Spread { low: 1.0, high: 5.0, kind: SpreadKind::Range }
        );
        // With six values the bounds are the extremes still: level 1 − 2/64.
        let six = spread(&[3.0, 1.0, 2.0, 5.0, 4.0, 6.0]);
        assert_eq!((six.low, six.high), (1.0, 6.0));
        assert!(
            matches!(six.kind, SpreadKind::Interval { confidence } if (confidence - 0.96875).abs() < 1e-9)
        );
        // With nine the extremes fall away.
        let nine = spread(&[3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 7.0, 8.0, 90.0]);
        assert_eq!((nine.low, nine.high), (2.0, 8.0));
    }

    #[test]
    fn touching_spreads_overlap() {
        let (low, high) = (spread(&[1.0, 2.0]), spread(&[2.0, 3.0]));
        assert!(low.overlaps(&high) && high.overlaps(&low));
        assert!(!low.overlaps(&spread(&[2.1, 3.0])) && !spread(&[2.1, 3.0]).overlaps(&low));
    }

    #[test]
    fn the_farther_bound_counts() {
        let spread = Spread { low: 90.0, high: 105.0, kind: SpreadKind::Range };
        assert_eq!(spread.relative_to(100.0), 0.1);
    }
}
