//! Quantities as people read them. Stored numbers are integers with their unit in the name
//! (`elapsed_ns`, `max_rss_kib`); this is where they become text.

/// Writes a duration with three significant digits: `812 µs`, `4.07 ms`, `1.53 s`, `212 s`.
pub fn duration(nanoseconds: f64) -> String {
    let (value, unit) = match nanoseconds {
        n if n < 1e3 => (n, "ns"),
        n if n < 1e6 => (n / 1e3, "µs"),
        n if n < 1e9 => (n / 1e6, "ms"),
        n => (n / 1e9, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// Writes a time to wait, in the coarsest unit that still tells something: `45 s`, `12 min`, `5 h 10 min`.
pub fn waiting_time(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..100 => format!("{whole} s"),
        100..5_400 => format!("{} min", (whole + 30) / 60),
        _ => format!("{} h {:02} min", whole / 3_600, whole % 3_600 / 60),
    }
}

/// Writes a size in bytes with a binary unit: `548 B`, `12.0 KiB`, `227 MiB`.
pub fn bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 {
        return format!("{value:.0} B");
    }
    format!("{} {}", significant(value), UNITS[unit])
}

/// Writes a size given in KiB, the unit of `ru_maxrss`.
pub fn kibibytes(kib: f64) -> String {
    bytes(kib * 1024.0)
}

/// Writes a ratio as a change: `+1.2 %`, `−30.7 %`, `0.0 %`.
pub fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    let text = format!("{:.1}", percent.abs());
    let sign = match percent {
        _ if text == "0.0" => "",
        p if p < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{text} %")
}

/// Three significant digits, without an exponent and never with fewer whole digits than there are.
fn significant(value: f64) -> String {
    // The bounds lie where rounding would add a digit: 9.996 reads "10.0", not "10.00".
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_three_digits_in_the_fitting_unit() {
        let cases = [
            (812e3, "812 µs"),
            (4_070_000.0, "4.07 ms"),
            (1.53e9, "1.53 s"),
            (9.996e9, "10.0 s"),
            (212.4e9, "212 s"),
            (12.0, "12.0 ns"),
        ];
        for (nanoseconds, text) in cases {
            assert_eq!(duration(nanoseconds), text);
        }
    }

    #[test]
    fn waiting_times_coarsen() {
        assert_eq!(waiting_time(45.2), "45 s");
        assert_eq!(waiting_time(725.0), "12 min");
        assert_eq!(waiting_time(18_600.0), "5 h 10 min");
        assert_eq!(waiting_time(-3.0), "0 s");
    }

    #[test]
    fn sizes_are_binary() {
        assert_eq!(bytes(548.0), "548 B");
        assert_eq!(bytes(12_288.0), "12.0 KiB");
        assert_eq!(kibibytes(227.0 * 1024.0), "227 MiB");
    }

    #[test]
    fn changes_carry_a_sign_unless_they_round_to_nothing() {
        assert_eq!(change(1.012), "+1.2 %");
        assert_eq!(change(0.693), "−30.7 %");
        assert_eq!(change(0.9999), "0.0 %");
    }
}
