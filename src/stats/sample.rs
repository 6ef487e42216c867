//! A sample and what its order tells.

/// Some numbers, at least one, all finite, kept in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    sorted: Vec<f64>,
}

/// A confidence interval whose bounds are values of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// The level reached, which is at least the level asked for.
    pub confidence: f64,
}

impl Sample {
    /// Takes the values in any order; `None` if there are none or one is not finite.
    pub fn new(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        if sorted.is_empty() || sorted.iter().any(|value| !value.is_finite()) {
            return None;
        }
        sorted.sort_by(f64::total_cmp);
        Some(Sample { sorted })
    }

    /// How many values there are; never 0.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    pub fn min(&self) -> f64 {
        self.sorted[0]
    }

    pub fn max(&self) -> f64 {
        self.sorted[self.count() - 1]
    }

    /// Returns the middle value, or the mean of the middle two.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// Returns the value below which the given part of the sample lies, interpolated between
    /// neighbours: 0 gives the minimum, 1 the maximum.
    ///
    /// # Panics
    ///
    /// If `part` is outside `0.0..=1.0`.
    ///
    /// Source: definition 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996.
    pub fn quantile(&self, part: f64) -> f64 {
        assert!((0.0..=1.0).contains(&part), "{part} is no part of a sample");
        let position = part * (self.count() - 1) as f64;
        let below = position.floor();
        let weight = position - below;
        let low = self.sorted[below as usize];
        let high = self.sorted[position.ceil() as usize];
        // Weighing both ends cannot overflow as their difference can; rounding must not leave them.
        (low * (1.0 - weight) + high * weight).clamp(low, high)
    }

    /// Returns a distribution-free confidence interval of the median.
    ///
    /// The bounds are the k-th smallest and the k-th greatest value, with the greatest k that keeps
    /// the level. The only assumption is that the values are independent draws from one
    /// distribution. The level reached is part of the answer. `None` if even minimum and maximum do
    /// not reach the level: at 95 % that is so for fewer than six values.
    ///
    /// # Panics
    ///
    /// If `confidence` is outside `0.0..1.0`.
    ///
    /// Source: the number of values below the median is binomial with probability ½ (David and
    /// Nagaraja, "Order Statistics", 2003, §7.1).
    pub fn median_interval(&self, confidence: f64) -> Option<Interval> {
        assert!((0.0..1.0).contains(&confidence), "{confidence} is no confidence level");
        let n = self.count();
        let mut found = None;
        let mut tail = 0.0;
        for (k, probability) in lower_half_of_fair_binomial(n).into_iter().enumerate() {
            tail += probability;
            let reached = 1.0 - 2.0 * tail;
            if reached + ROUNDING < confidence {
                break;
            }
            found = Some((k, reached));
        }
        let (k, confidence) = found?;
        Some(Interval { low: self.sorted[k], high: self.sorted[n - 1 - k], confidence })
    }

    /// Returns the geometric mean, or `None` if some value is not positive.
    pub fn geometric_mean(&self) -> Option<f64> {
        if self.min() <= 0.0 {
            return None;
        }
        let logarithms: f64 = self.sorted.iter().map(|value| value.ln()).sum();
        Some((logarithms / self.count() as f64).exp().clamp(self.min(), self.max()))
    }
}

/// Slack when a level is compared with the one asked for, so that 0.96875 with six values holds.
const ROUNDING: f64 = 1e-12;

/// The probabilities of 0, 1, … heads in `n` throws, as far as both ends do not meet in the middle.
///
/// Worked out from the middle, relative to its own probability, so that no power of ½ vanishes.
fn lower_half_of_fair_binomial(n: usize) -> Vec<f64> {
    let middle = n / 2;
    let mut weights = vec![1.0; middle + 1];
    for heads in (0..middle).rev() {
        weights[heads] = weights[heads + 1] * (heads + 1) as f64 / (n - heads) as f64;
    }
    let lower: f64 = weights[..middle].iter().sum();
    let total = if n.is_multiple_of(2) { 2.0 * lower + 1.0 } else { 2.0 * (lower + 1.0) };
    // With an odd n the middle has a twin, so both halves may use their own; with an even n it is
    // one value, which cannot be both bounds.
    weights.truncate(n.div_ceil(2));
    weights.into_iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.iter().copied()).unwrap()
    }

    fn counted(n: usize) -> Sample {
        Sample::new((1..=n).map(|value| value as f64)).unwrap()
    }

    #[test]
    fn a_sample_is_neither_empty_nor_infinite() {
        assert_eq!(Sample::new([]), None);
        assert_eq!(Sample::new([1.0, f64::NAN]), None);
        assert_eq!(Sample::new([f64::INFINITY]), None);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(sample(&[3.0]).median(), 3.0);
        assert_eq!(sample(&[3.0, 1.0, 2.0]).median(), 2.0);
        assert_eq!(sample(&[4.0, 1.0, 2.0, 10.0]).median(), 3.0);
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let five = sample(&[10.0, 20.0, 30.0, 40.0, 50.0]);
        let quartiles = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| five.quantile(part));
        assert_eq!(quartiles, [10.0, 20.0, 30.0, 40.0, 50.0]);
        // Place 0.4 · 3 = 1.2 of 0…3, a fifth of the way from 2 to 4.
        assert!((sample(&[1.0, 2.0, 4.0, 8.0]).quantile(0.4) - 2.4).abs() < 1e-12);
    }

    /// Levels by hand: 1 − 2·(C(n,0) + … + C(n,k−1))/2ⁿ.
    #[test]
    fn median_intervals_reach_the_level_and_say_which() {
        let cases = [
            (6, 1.0, 6.0, 1.0 - 2.0 / 64.0),
            (7, 1.0, 7.0, 1.0 - 2.0 / 128.0),
            (8, 1.0, 8.0, 1.0 - 2.0 / 256.0),
            (9, 2.0, 8.0, 1.0 - 2.0 * (1.0 + 9.0) / 512.0),
            (10, 2.0, 9.0, 1.0 - 2.0 * (1.0 + 10.0) / 1024.0),
            (12, 3.0, 10.0, 1.0 - 2.0 * (1.0 + 12.0 + 66.0) / 4096.0),
            (20, 6.0, 15.0, 1.0 - 2.0 * 21_700.0 / 1_048_576.0),
        ];
        for (n, low, high, confidence) in cases {
            let interval = counted(n).median_interval(0.95).unwrap();
            assert_eq!((interval.low, interval.high), (low, high), "n = {n}");
            assert!((interval.confidence - confidence).abs() < 1e-12, "n = {n}");
        }
    }

    #[test]
    fn five_values_cannot_reach_95_percent() {
        assert_eq!(counted(5).median_interval(0.95), None);
        assert_eq!(counted(1).median_interval(0.5), None);
        // But 15/16 they can.
        assert_eq!(
            counted(5).median_interval(0.9375).unwrap(),
            Interval { low: 1.0, high: 5.0, confidence: 0.9375 }
        );
    }

    #[test]
    fn thousands_of_values_are_no_trouble() {
        // The normal approximation: 5000 ± 0.98·√10000 = 4902 … 5098, counted from 1.
        let interval = counted(10_000).median_interval(0.95).unwrap();
        assert!((4_900.0..=4_904.0).contains(&interval.low), "{interval:?}");
        assert!((5_097.0..=5_101.0).contains(&interval.high), "{interval:?}");
        assert!((0.95..0.953).contains(&interval.confidence), "{interval:?}");
    }

    #[test]
    fn a_geometric_mean_undoes_a_doubling_with_a_halving() {
        let mean = sample(&[0.5, 2.0, 1.0]).geometric_mean().unwrap();
        assert!((mean - 1.0).abs() < 1e-15);
        assert!((sample(&[2.0, 8.0]).geometric_mean().unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(sample(&[1.0, 0.0]).geometric_mean(), None);
        assert_eq!(sample(&[-1.0]).geometric_mean(), None);
    }

    fn finite() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(
            prop_oneof![-1e3..1e3_f64, proptest::num::f64::NORMAL | proptest::num::f64::ZERO],
            1..60,
        )
    }

    proptest! {
        #[test]
        fn order_does_not_matter(values in finite(), turn: usize) {
            let mut turned = values.clone();
            turned.rotate_left(turn % values.len());
            prop_assert_eq!(Sample::new(values), Sample::new(turned));
        }

        #[test]
        fn the_median_has_half_on_either_side(values in finite()) {
            let median = Sample::new(values.iter().copied()).unwrap().median();
            let below = values.iter().filter(|&&value| value < median).count();
            let above = values.iter().filter(|&&value| value > median).count();
            prop_assert!(2 * below <= values.len() && 2 * above <= values.len());
        }

        #[test]
        fn quantiles_grow_from_minimum_to_maximum(values in finite(), a in 0.0..=1.0, b in 0.0..=1.0) {
            let sample = Sample::new(values).unwrap();
            let (low, high) = (sample.quantile(f64::min(a, b)), sample.quantile(f64::max(a, b)));
            // Two places between the same neighbours may differ by rounding in the wrong direction.
            prop_assert!(low <= high + high.abs() * 1e-12);
            prop_assert!(sample.min() <= low && high <= sample.max());
        }

        #[test]
        fn the_interval_holds_the_median_and_its_level(values in finite(), level in 0.0..0.999) {
            let sample = Sample::new(values).unwrap();
            if let Some(interval) = sample.median_interval(level) {
                prop_assert!(interval.low <= sample.median() && sample.median() <= interval.high);
                prop_assert!(level - 1e-9 <= interval.confidence && interval.confidence < 1.0);
            } else {
                prop_assert!(1.0 - 2.0 * 0.5_f64.powi(sample.count() as i32) < level);
            }
        }

        #[test]
        fn scaling_scales_the_geometric_mean(
            values in proptest::collection::vec(1e-6..1e6_f64, 1..40), factor in 1e-3..1e3_f64,
        ) {
            let mean = Sample::new(values.iter().copied()).unwrap().geometric_mean().unwrap();
            let scaled = Sample::new(values.iter().map(|value| value * factor)).unwrap();
            prop_assert!((scaled.geometric_mean().unwrap() / (mean * factor) - 1.0).abs() < 1e-9);
        }
    }
}
