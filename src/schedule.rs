//! The order in which a round visits its cells.
//!
//! Every round is a fresh random permutation drawn from the survey's recorded seed, so that no cell
//! always runs behind the same neighbour and slow drift of the machine falls on all cells alike.
//! Anyone can work the order out again from this paragraph:
//!
//! Numbers are 64 bits wide and wrap around. SplitMix64 keeps a state; each draw adds
//! `0x9e3779b97f4a7c15` to the state and returns `mix(state)`, where `mix(z)` is: `z ^= z >> 30`,
//! `z *= 0xbf58476d1ce4e5b9`, `z ^= z >> 27`, `z *= 0x94d049bb133111eb`, `z ^= z >> 31`. Round `r`
//! (from 1) starts with the state that is the `r`-th draw of a generator whose state is the seed.
//! The cells `0, 1, …, n−1`, numbered as `Survey::cells` lists them, are shuffled by Fisher and Yates
//! from the end: for `i` from `n−1` down to 1, place `i` is swapped with place `j`, drawn evenly from
//! `0..=i`. To draw evenly below `b`, draws smaller than `2⁶⁴ mod b` are thrown away and the first
//! other one is taken modulo `b`. The shuffle is always over all cells of the plan: one that cannot
//! be run is passed over in its place, so that a failure changes nobody else's order.
//!
//! The generator is spelt out here, not taken from a library, because a library may change its
//! stream and a published survey must stay reproducible.

/// Returns the order of one round: a permutation of `0..cells`, every one equally likely.
///
/// The same arguments give the same order in every version of this program. `round` counts from 1.
pub fn round_order(seed: u64, round: u32, cells: usize) -> Vec<usize> {
    // Every draw adds the same number to the state, so the r-th draw needs no loop.
    let start = mix(seed.wrapping_add(INCREMENT.wrapping_mul(u64::from(round))));
    let mut draws = SplitMix64 { state: start };
    let mut order: Vec<usize> = (0..cells).collect();
    for last in (1..cells).rev() {
        let place = draws.below(last as u64 + 1) as usize;
        order.swap(last, place);
    }
    order
}

/// What each draw adds to the state: 2⁶⁴ divided by the golden ratio, made odd.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// A generator of evenly distributed 64-bit numbers.
///
/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// Draws evenly from `0..bound`; `bound` is not zero.
    fn below(&mut self, bound: u64) -> u64 {
        // 2⁶⁴ mod bound. Without this many of the smallest draws, the rest divides evenly.
        let surplus = bound.wrapping_neg() % bound;
        loop {
            let drawn = self.draw();
            if drawn >= surplus {
                return drawn % bound;
            }
        }
    }
}

fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_generator_gives_the_published_numbers() {
        // The reference implementation's first draws from this seed, as listed in many places.
        let mut generator = SplitMix64 { state: 1_234_567 };
        let draws: Vec<u64> = (0..5).map(|_| generator.draw()).collect();
        assert_eq!(
            draws,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821,
            ]
        );
    }

    /// Worked out by a second implementation, written in Python from the paragraph above. These
    /// must never change: published surveys were run in such orders.
    #[test]
    fn orders_stay_what_they_are() {
        assert_eq!(round_order(7, 1, 12), [1, 0, 8, 4, 5, 2, 3, 6, 11, 7, 10, 9]);
        assert_eq!(round_order(7, 2, 12), [4, 3, 8, 7, 1, 11, 2, 10, 6, 5, 9, 0]);
        assert_eq!(round_order(7, 3, 12), [7, 1, 4, 2, 5, 8, 11, 3, 0, 9, 10, 6]);
        assert_eq!(round_order(u64::MAX, u32::MAX, 5), [4, 1, 3, 0, 2]);
    }

    #[test]
    fn nothing_and_one_cell_have_one_order() {
        assert_eq!(round_order(7, 1, 0), [0usize; 0]);
        assert_eq!(round_order(7, 1, 1), [0]);
    }

    #[test]
    fn a_bound_is_kept_and_its_last_number_reached() {
        let mut generator = SplitMix64 { state: 3 };
        let draws: Vec<u64> = (0..200).map(|_| generator.below(6)).collect();
        assert!(draws.iter().all(|&drawn| drawn < 6));
        assert!((0..6).all(|face| draws.contains(&face)));
    }

    #[test]
    fn a_bound_that_divides_nothing_is_drawn_evenly() {
        // Modulo alone would give the lowest third of the numbers half of the draws.
        const BOUND: u64 = 3 << 62;
        let mut generator = SplitMix64 { state: 7 };
        let low = (0..9_000).filter(|_| generator.below(BOUND) < BOUND / 3).count();
        assert!((2_850..3_150).contains(&low), "{low}");
    }

    /// Pearson's statistic of how often each cell stands at each place. With 7 × 7 counts whose
    /// rows and columns are fixed, it has 36 degrees of freedom: mean 36, standard deviation 8.5.
    /// The seeds are fixed, so the test cannot fail by chance; a biased shuffle gives thousands.
    #[test]
    fn every_cell_is_equally_often_at_every_place() {
        const CELLS: usize = 7;
        const ORDERS: u32 = 7_000;
        for seed in [1, 7, 0xdead_beef] {
            let mut counts = [[0_u32; CELLS]; CELLS];
            for round in 1..=ORDERS {
                for (place, cell) in round_order(seed, round, CELLS).into_iter().enumerate() {
                    counts[place][cell] += 1;
                }
            }
            let expected = f64::from(ORDERS) / CELLS as f64;
            let statistic: f64 = counts
                .iter()
                .flatten()
                .map(|&count| (f64::from(count) - expected).powi(2) / expected)
                .sum();
            assert!((10.0..70.0).contains(&statistic), "seed {seed}: {statistic}");
        }
    }

    #[test]
    fn every_order_of_four_comes_up_equally_often() {
        let mut counts = std::collections::BTreeMap::new();
        for round in 1..=24_000 {
            *counts.entry(round_order(7, round, 4)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        // 23 degrees of freedom: mean 23, standard deviation 6.8.
        let statistic: f64 =
            counts.values().map(|&count| (f64::from(count) - 1_000.0).powi(2) / 1_000.0).sum();
        assert!((5.0..50.0).contains(&statistic), "{statistic}");
    }

    proptest! {
        #[test]
        fn an_order_is_a_permutation(seed: u64, round: u32, cells in 0..400_usize) {
            let mut order = round_order(seed, round, cells);
            order.sort_unstable();
            prop_assert_eq!(order, (0..cells).collect::<Vec<_>>());
        }

        #[test]
        fn rounds_and_seeds_differ(seed: u64, round in 1..u32::MAX) {
            // Of 40! orders, two meet by chance never.
            prop_assert_ne!(round_order(seed, round, 40), round_order(seed, round + 1, 40));
            prop_assert_ne!(round_order(seed, round, 40), round_order(seed ^ 1, round, 40));
        }
    }
}
