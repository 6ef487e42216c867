//! How all programs together went from one variant to another.

use super::change::Change;
use super::metric::Observed;
use crate::stats::Sample;
use std::collections::{BTreeMap, BTreeSet};

/// The geometric mean over the programs of a metric's ratio, new ÷ old.
///
/// Only matching programs enter: those that both variants have a value of in some common round,
/// and that are known to more than "at most". The mean is taken within each round, over the same
/// programs in each; its median over the rounds is the ratio, and its spread over the rounds the
/// spread. A round that lacks one of the programs would average something else and is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Overall {
    /// How many programs match.
    pub programs: usize,
    /// `None` if no program matches or no round has them all.
    pub change: Option<Change>,
}

impl Overall {
    pub(super) const NOTHING: Overall = Overall { programs: 0, change: None };

    /// Compares two variants, given by the values of each program in the same order.
    pub(super) fn between(old: &[Observed], new: &[Observed]) -> Self {
        let matching: Vec<BTreeMap<u32, (f64, f64)>> = old
            .iter()
            .zip(new)
            .filter(|(old, new)| !old.is_at_floor() && !new.is_at_floor())
            .map(|(old, new)| old.paired(new))
            .filter(|paired| !paired.is_empty())
            .collect();
        let means: Vec<(f64, f64)> =
            complete_rounds(&matching).into_iter().filter_map(|r| means(&matching, r)).collect();
        Overall { programs: matching.len(), change: Change::judge(&means) }
    }
}

/// The rounds that every program has.
fn complete_rounds(programs: &[BTreeMap<u32, (f64, f64)>]) -> BTreeSet<u32> {
    let Some((first, others)) = programs.split_first() else {
        return BTreeSet::new();
    };
    let rounds = first.keys().copied();
    rounds.filter(|round| others.iter().all(|paired| paired.contains_key(round))).collect()
}

/// The geometric means of both sides in one round. Their ratio is the mean of the ratios.
fn means(programs: &[BTreeMap<u32, (f64, f64)>], round: u32) -> Option<(f64, f64)> {
    let pairs = || programs.iter().filter_map(|paired| paired.get(&round));
    let mean = |values: Vec<f64>| Sample::new(values)?.geometric_mean();
    Some((mean(pairs().map(|pair| pair.0).collect())?, mean(pairs().map(|pair| pair.1).collect())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::change::{Doubt, Finding};

    fn observed(values: &[(u32, f64)]) -> Observed {
        Observed { by_round: values.iter().copied().collect(), ..Observed::default() }
    }

    #[test]
    fn the_mean_is_geometric_and_within_rounds() {
        let old =
            [observed(&[(1, 4.0), (2, 4.0), (3, 8.0)]), observed(&[(1, 1.0), (2, 1.0), (3, 1.0)])];
        let new =
            [observed(&[(1, 2.0), (2, 2.0), (3, 4.0)]), observed(&[(1, 0.5), (2, 2.0), (3, 0.5)])];
        let overall = Overall::between(&old, &new);
        // Rounds: √(½·½) = ½, √(½·2) = 1, √(½·½) = ½.
        let change = overall.change.unwrap();
        assert_eq!((overall.programs, change.rounds), (2, 3));
        assert!((change.ratio - 0.5).abs() < 1e-12);
        assert!((change.spread.high - 1.0).abs() < 1e-12);
        assert_eq!(change.finding, Finding::WithinNoise);
    }

    #[test]
    fn only_matching_programs_enter() {
        let three = |value: f64| observed(&[(1, value), (2, value), (3, value)]);
        let old = [three(2.0), three(9.0), observed(&[])];
        let new = [three(1.0), observed(&[]), three(9.0)];
        let overall = Overall::between(&old, &new);
        assert_eq!(overall.programs, 1);
        assert!((overall.change.unwrap().ratio - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_program_at_its_floor_does_not_enter() {
        let floored = [Observed { floor: 548.0, ..observed(&[(1, 600.0)]) }];
        let overall = Overall::between(&floored, &[observed(&[(1, 900.0)])]);
        assert_eq!(overall, Overall { programs: 0, change: None });
    }

    #[test]
    fn rounds_without_all_programs_are_left_out() {
        let old = [observed(&[(1, 1.0), (2, 1.0)]), observed(&[(1, 1.0)])];
        let overall = Overall::between(&old, &old);
        let change = overall.change.unwrap();
        assert_eq!((overall.programs, change.rounds), (2, 1));
        assert_eq!(change.finding, Finding::Undecided(Doubt::TooFewRounds));
        let apart = [observed(&[(2, 1.0)]), observed(&[(1, 1.0)])];
        assert_eq!(Overall::between(&apart, &apart), Overall { programs: 2, change: None });
    }
}
