//! Whether one variant differs from another, and by how much.

use super::metric::Observed;
use super::summary::Spread;
use crate::stats::Sample;

/// How a metric went from one variant to another, judged from the rounds both were measured in.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// How many rounds (for build time: repetitions) both have.
    pub rounds: usize,
    /// The median over the rounds of new ÷ old within the round.
    pub ratio: f64,
    /// How far the rounds' ratios are apart.
    pub spread: Spread,
    pub finding: Finding,
}

/// What may be said of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The ratios of the rounds lie on one side of 1 and the values of both variants are apart.
    Changed,
    /// The rounds disagree about the direction.
    WithinNoise,
    Undecided(Doubt),
}

/// Why the rounds do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Fewer than [`MIN_ROUNDS`] rounds have both.
    TooFewRounds,
    /// The rounds agree about the direction, but the values of both variants overlap.
    ValuesOverlap,
    /// One of the two is only known to be at most its value.
    AtFloor,
}

/// With fewer rounds nothing is called a change: two equal variants would be apart by chance once
/// in three times with two rounds, and always with one.
pub const MIN_ROUNDS: usize = 3;

impl Change {
    /// Compares two cells; `None` if no round has both.
    pub(super) fn between(old: &Observed, new: &Observed) -> Option<Self> {
        let pairs: Vec<(f64, f64)> = old.paired(new).into_values().collect();
        let change = Change::judge(&pairs)?;
        if old.is_at_floor() || new.is_at_floor() {
            return Some(Change { finding: Finding::Undecided(Doubt::AtFloor), ..change });
        }
        Some(change)
    }

    /// Judges pairs of positive values (old, new), one for each round; `None` without any.
    ///
    /// A change needs two things. The spread of the ratios, which pairing within rounds frees from
    /// drift of the machine, must leave out 1. And the spreads of the values must not overlap, so
    /// that noise of the size seen between rounds does not pass for a change. With fewer than nine
    /// rounds spreads are ranges and the second implies the first.
    pub(super) fn judge(pairs: &[(f64, f64)]) -> Option<Self> {
        let old = Sample::new(pairs.iter().map(|pair| pair.0))?;
        let new = Sample::new(pairs.iter().map(|pair| pair.1))?;
        let ratios = Sample::new(pairs.iter().map(|(old, new)| new / old))?;
        let spread = Spread::of(&ratios);
        let finding = if pairs.len() < MIN_ROUNDS {
            Finding::Undecided(Doubt::TooFewRounds)
        } else if spread.contains(1.0) {
            Finding::WithinNoise
        } else if Spread::of(&old).overlaps(&Spread::of(&new)) {
            Finding::Undecided(Doubt::ValuesOverlap)
        } else {
            Finding::Changed
        };
        Some(Change { rounds: pairs.len(), ratio: ratios.median(), spread, finding })
    }
}

/// The probability that two variants that do not differ are called changed after so many rounds,
/// at most.
///
/// With ranges for spreads it is the chance that all values of one land above all of the other:
/// 2 of the C(2n, n) ways to deal 2n values out to the two. From nine rounds on spreads are
/// intervals at [`super::CONFIDENCE`], and what that leaves bounds it.
pub fn false_change_chance(rounds: usize) -> f64 {
    match rounds {
        0..MIN_ROUNDS => 0.0,
        MIN_ROUNDS..9 => {
            2.0 / (1..=rounds).map(|i| (rounds + i) as f64 / i as f64).product::<f64>()
        }
        _ => 1.0 - super::CONFIDENCE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::summary::SpreadKind;
    use proptest::prelude::*;

    fn finding(pairs: &[(f64, f64)]) -> Finding {
        Change::judge(pairs).unwrap().finding
    }

    #[test]
    fn ratios_are_paired_within_rounds() {
        // The machine became twice as slow in the third round; the ratio did not.
        let change = Change::judge(&[(10.0, 8.0), (11.0, 8.8), (20.0, 16.0)]).unwrap();
        assert!((change.ratio - 0.8).abs() < 1e-12);
        assert!(
            (change.spread.low - 0.8).abs() < 1e-12 && (change.spread.high - 0.8).abs() < 1e-12
        );
        assert_eq!((change.rounds, change.spread.kind), (3, SpreadKind::Range));
    }

    #[test]
    fn a_change_needs_agreeing_rounds_and_values_apart() {
        assert_eq!(finding(&[(10.0, 8.0), (10.5, 8.2), (10.2, 8.1)]), Finding::Changed);
        assert_eq!(finding(&[(8.0, 10.0), (8.2, 10.5), (8.1, 10.2)]), Finding::Changed);
        // Faster in every round, but not below what the old one reached in another round.
        assert_eq!(
            finding(&[(10.0, 9.0), (12.0, 10.5), (11.0, 9.5)]),
            Finding::Undecided(Doubt::ValuesOverlap)
        );
        assert_eq!(finding(&[(10.0, 9.0), (10.0, 10.1), (10.0, 9.5)]), Finding::WithinNoise);
    }

    #[test]
    fn equal_values_are_no_change() {
        assert_eq!(finding(&[(10.0, 10.0), (10.0, 10.0), (10.0, 10.0)]), Finding::WithinNoise);
        // Nor does one round without a difference agree with the others.
        assert_eq!(finding(&[(10.0, 9.0), (10.0, 10.0), (10.0, 9.0)]), Finding::WithinNoise);
    }

    #[test]
    fn two_rounds_decide_nothing() {
        assert_eq!(finding(&[(10.0, 1.0), (10.0, 1.0)]), Finding::Undecided(Doubt::TooFewRounds));
        assert_eq!(Change::judge(&[]), None);
    }

    #[test]
    fn many_rounds_forgive_one_outlier() {
        let mut pairs: Vec<(f64, f64)> =
            (0..12).map(|i| (10.0 + f64::from(i) / 100.0, 8.0 + f64::from(i) / 100.0)).collect();
        pairs[5].1 = 30.0;
        assert_eq!(finding(&pairs), Finding::Changed);
        assert_eq!(finding(&pairs[4..9]), Finding::WithinNoise);
    }

    #[test]
    fn the_chance_of_a_false_change_is_counted() {
        assert_eq!(false_change_chance(2), 0.0);
        // C(6,3) = 20, C(8,4) = 70, C(10,5) = 252, C(12,6) = 924.
        for (rounds, ways) in [(3, 20.0), (4, 70.0), (5, 252.0), (6, 924.0)] {
            assert!((false_change_chance(rounds) - 2.0 / ways).abs() < 1e-15);
        }
        assert!((false_change_chance(30) - 0.05).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn both_directions_get_the_same_finding(
            pairs in proptest::collection::vec((1.0..100.0, 1.0..100.0), 1..30)
        ) {
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(old, new)| (*new, *old)).collect();
            let (there, back) = (Change::judge(&pairs).unwrap(), Change::judge(&swapped).unwrap());
            prop_assert_eq!(there.finding, back.finding);
            prop_assert!((there.spread.low * back.spread.high - 1.0).abs() < 1e-9);
        }

        /// The rule as it was stated for few rounds: every round's ratio in one direction, and the
        /// ranges apart.
        #[test]
        fn with_few_rounds_the_rule_is_about_all_of_them(
            pairs in proptest::collection::vec((1.0..3.0, 1.0..3.0), 3..9)
        ) {
            let agree = pairs.iter().all(|(old, new)| new > old)
                || pairs.iter().all(|(old, new)| new < old);
            let greatest = |values: Vec<f64>| values.into_iter().fold(f64::MIN, f64::max);
            let (old, new): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
            let negated = |values: &[f64]| values.iter().map(|value| -value).collect();
            let apart = greatest(old.clone()) < -greatest(negated(&new))
                || greatest(new.clone()) < -greatest(negated(&old));
            prop_assert_eq!(finding(&pairs) == Finding::Changed, agree && apart);
            prop_assert_eq!(finding(&pairs) == Finding::WithinNoise, !agree);
        }
    }
}
