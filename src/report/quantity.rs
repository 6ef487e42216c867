//! Numbers of one column of a table: one unit, one number of decimals, so that they compare by eye.

use crate::analysis::{Entry, Metric, Summary};
use crate::stats::Sample;

/// How the numbers of a column are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub unit: &'static str,
    /// How many of the metric's units make one of `unit`.
    size: f64,
    decimals: usize,
}

/// Units of time with their size in ns, greatest first.
const TIMES: [(&str, f64); 4] = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1.0)];
/// Units of memory with their size in KiB, greatest first.
const SIZES: [(&str, f64); 3] = [("GiB", 1_048_576.0), ("MiB", 1_024.0), ("KiB", 1.0)];

impl Scale {
    /// Chooses the greatest unit that the greatest value reaches, and as many decimals (up to
    /// three) as give the smallest value so many significant digits.
    fn fitting(metric: Metric, values: &Sample, digits: i32) -> Self {
        let units: &[(&str, f64)] = match metric {
            Metric::PeakMemory => &SIZES,
            _ => &TIMES,
        };
        let fits = |(_, size): &&(&str, f64)| values.max() >= *size;
        let &(unit, size) = units.iter().find(fits).unwrap_or(&units[units.len() - 1]);
        // Half a unit in the last place is added where rounding would add a digit: 9.996 has its
        // three digits as 10.0.
        let smallest = values.min() / size * (1.0 + 0.5 * 10_f64.powi(-digits));
        let whole_digits = smallest.log10().floor() as i32 + 1;
        Scale { unit, size, decimals: (digits - whole_digits).clamp(0, 3) as usize }
    }

    /// Writes a value without its unit.
    fn number(&self, value: f64) -> String {
        format!("{:.*}", self.decimals, value / self.size)
    }
}

/// Rounds that agree better than this deserve a fourth digit.
const FOUR_DIGITS_BELOW: f64 = 0.005;

/// Writes the entries of one column, a cell each, and the scale their numbers are in; without any
/// number there is no scale.
///
/// A number is followed by its spread as a part of it, unless it is a bound or from a single round,
/// and by how many rounds it comes from where that is not `rounds`.
pub fn column(metric: Metric, entries: &[&Entry], rounds: usize) -> (Option<Scale>, Vec<String>) {
    let gap_or = |number: &dyn Fn(&Summary) -> String| {
        let cell = |entry: &&Entry| match entry {
            Entry::Measured(summary) => number(summary),
            Entry::Gap(gap) => gap.to_string(),
        };
        entries.iter().map(cell).collect()
    };
    let summaries: Vec<&Summary> = entries.iter().filter_map(|entry| entry.summary()).collect();
    let Some(medians) = Sample::new(summaries.iter().map(|summary| summary.median)) else {
        return (None, gap_or(&|_| String::new()));
    };
    let spreads = || summaries.iter().filter_map(|summary| spread(summary));
    let digits = if spreads().any(|spread| spread < FOUR_DIGITS_BELOW) { 4 } else { 3 };
    let scale = Scale::fitting(metric, &medians, digits);
    let width = spreads().map(|spread| percentage(spread).len()).max().unwrap_or(0);
    let cells = gap_or(&|summary| {
        let limit = if summary.at_floor { "≤ " } else { "" };
        let number = scale.number(summary.median);
        let spread = spread(summary)
            .map_or(String::new(), |spread| format!(" ±{:>width$} %", percentage(spread)));
        let n = match summary.rounds {
            n if n == rounds => String::new(),
            n => format!(" (n={n})"),
        };
        format!("{limit}{number}{spread}{n}")
    });
    (Some(scale), cells)
}

/// The spread of a number as a part of it, if it has one that says something.
fn spread(summary: &Summary) -> Option<f64> {
    let told = summary.rounds > 1 && !summary.at_floor;
    told.then(|| summary.spread.relative_to(summary.median))
}

fn percentage(part: f64) -> String {
    format!("{:.1}", 100.0 * part)
}

/// Writes a ratio to 1 with three decimals: `0.877`, `1.000`, `12.3`.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r < 9.9995 => format!("{r:.3}"),
        r if r < 999.5 => format!("{r:.1}"),
        r => format!("{r:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Gap, Spread, SpreadKind};

    fn entry(median: f64, part: f64) -> Entry {
        let (low, high) = (median, median * (1.0 + part));
        Entry::Measured(Summary {
            rounds: 3,
            median,
            spread: Spread { low, high, kind: SpreadKind::Range },
            min: low,
            max: high,
            at_floor: false,
        })
    }

    fn written(metric: Metric, entries: &[Entry]) -> (Option<&'static str>, Vec<String>) {
        let (scale, cells) = column(metric, &entries.iter().collect::<Vec<_>>(), 3);
        (scale.map(|scale| scale.unit), cells)
    }

    #[test]
    fn a_column_has_one_unit_and_as_many_decimals_as_its_smallest_value_needs() {
        let cells = |values: &[f64]| {
            let entries: Vec<Entry> = values.iter().map(|&ns| entry(ns, 0.02)).collect();
            let (unit, cells) = written(Metric::Elapsed, &entries);
            let numbers: Vec<String> =
                cells.iter().map(|cell| cell.split(' ').next().unwrap().to_owned()).collect();
            (unit.unwrap(), numbers.join(" "))
        };
        assert_eq!(cells(&[998e6, 2.5e9]), ("s", "0.998 2.500".into()));
        assert_eq!(cells(&[998e6, 712e6]), ("ms", "998 712".into()));
        assert_eq!(cells(&[1.4996e9, 25.07e9]), ("s", "1.50 25.07".into()));
        assert_eq!(cells(&[9.996e9]), ("s", "10.0".into()));
        assert_eq!(cells(&[99.96e9]), ("s", "100".into()));
        assert_eq!(cells(&[0.9996e9]), ("ms", "1000".into()));
        assert_eq!(cells(&[3.0]), ("ns", "3.00".into()));
        // The smallest value of a very wide column keeps three decimals, not three digits.
        assert_eq!(cells(&[4e6, 2e9]), ("s", "0.004 2.000".into()));
    }

    #[test]
    fn rounds_that_agree_closely_get_a_fourth_digit() {
        let (_, cells) = written(Metric::Elapsed, &[entry(2.1114e9, 0.001), entry(2.5e9, 0.12)]);
        assert_eq!(cells, ["2.111 ± 0.1 %", "2.500 ±12.0 %"]);
    }

    #[test]
    fn memory_is_binary() {
        let (unit, cells) = written(Metric::PeakMemory, &[entry(1536.0, 0.05)]);
        assert_eq!((unit, cells), (Some("MiB"), vec!["1.50 ±5.0 %".to_owned()]));
    }

    #[test]
    fn what_is_special_about_a_number_is_beside_it() {
        let Entry::Measured(summary) = entry(560.0, 0.01) else { unreachable!() };
        let at_floor = Entry::Measured(Summary { at_floor: true, ..summary.clone() });
        let alone = Entry::Measured(Summary { rounds: 1, ..summary.clone() });
        let fewer = Entry::Measured(Summary { rounds: 2, ..summary });
        let entries = [at_floor, alone, fewer, Entry::Gap(Gap::NotMeasured)];
        let (_, cells) = written(Metric::PeakMemory, &entries);
        assert_eq!(cells, ["≤ 560", "560 (n=1)", "560 ±1.0 % (n=2)", "not measured"]);
        assert_eq!(written(Metric::Cpu, &entries[3..]), (None, vec!["not measured".to_owned()]));
    }

    #[test]
    fn ratios_have_three_decimals_until_they_are_large() {
        assert_eq!(["0.877", "1.000", "12.3", "1000"], [0.8769, 1.0, 12.34, 999.6].map(ratio)[..]);
    }
}
