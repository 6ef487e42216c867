//! What the machine did besides running our program.

use super::read_text;
use std::path::Path;

/// The machine's counters at one moment. They only ever grow; what they count from is nobody's
/// business, so only their differences mean anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    steal_ticks: Option<u64>,
    psi_cpu_some_us: Option<u64>,
    oom_kills: Option<u64>,
}

/// What disturbed the machine between two readings; empty where it is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbance {
    /// Ticks (usually of 10 ms) in which the hypervisor ran somebody else, summed over all CPUs.
    pub steal_ticks: Option<u64>,
    /// Microseconds in which some task of the whole machine waited for a CPU.
    pub psi_cpu_some_us: Option<u64>,
    /// Processes the kernel killed because memory, the machine's or a cgroup's, had run out.
    pub oom_kills: Option<u64>,
}

impl Counters {
    /// Reads the counters now.
    pub fn read() -> Self {
        Self::read_below(Path::new("/"))
    }

    fn read_below(root: &Path) -> Self {
        let text = |file: &str| read_text(&root.join(file));
        Counters {
            steal_ticks: text("proc/stat").and_then(|text| steal_ticks(&text)),
            psi_cpu_some_us: text("proc/pressure/cpu").and_then(|text| some_us(&text)),
            oom_kills: text("proc/vmstat").and_then(|text| oom_kills(&text)),
        }
    }

    /// What happened since `before`.
    ///
    /// A counter that went backwards, as some hypervisors let it, gives nothing.
    pub fn since(&self, before: &Counters) -> Disturbance {
        let grown = |now: Option<u64>, before: Option<u64>| now?.checked_sub(before?);
        Disturbance {
            steal_ticks: grown(self.steal_ticks, before.steal_ticks),
            psi_cpu_some_us: grown(self.psi_cpu_some_us, before.psi_cpu_some_us),
            oom_kills: grown(self.oom_kills, before.oom_kills),
        }
    }
}

/// The eighth number of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal.
///
/// Source: proc_stat(5).
fn steal_ticks(stat: &str) -> Option<u64> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    line.split_ascii_whitespace().nth(7)?.parse().ok()
}

/// The `total` of the line `some`, in microseconds.
///
/// Source: Documentation/accounting/psi.rst of the kernel.
fn some_us(pressure: &str) -> Option<u64> {
    let line = pressure.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split(' ').find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

/// The line `oom_kill`, which Linux has since 4.13.
fn oom_kills(vmstat: &str) -> Option<u64> {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill "))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  1 2 3 4 5 6 7 88 9 10\ncpu0 1 2 3 4 5 6 7 44 9 10\nintr 5\n";
    const PRESSURE: &str = "some avg10=1.00 avg60=0.50 avg300=0.10 total=123456\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    const UNKNOWN: Counters =
        Counters { steal_ticks: None, psi_cpu_some_us: None, oom_kills: None };

    #[test]
    fn steal_is_the_eighth_number_of_the_whole_machine() {
        assert_eq!(steal_ticks(STAT), Some(88));
        assert_eq!(steal_ticks("cpu  1 2 3 4\n"), None);
        assert_eq!(steal_ticks("cpu0 1 2 3 4 5 6 7 44 9 10\n"), None);
        assert_eq!(steal_ticks(""), None);
    }

    #[test]
    fn pressure_is_the_total_of_some() {
        assert_eq!(some_us(PRESSURE), Some(123_456));
        assert_eq!(some_us("full total=7\n"), None);
    }

    #[test]
    fn a_counter_that_went_backwards_says_nothing() {
        let before =
            Counters { steal_ticks: Some(10), psi_cpu_some_us: Some(5), oom_kills: Some(1) };
        let after = Counters { steal_ticks: Some(9), psi_cpu_some_us: Some(8), oom_kills: Some(1) };
        let expected =
            Disturbance { steal_ticks: None, psi_cpu_some_us: Some(3), oom_kills: Some(0) };
        assert_eq!(after.since(&before), expected);
        assert_eq!(after.since(&UNKNOWN), Disturbance::default());
    }

    #[test]
    fn files_that_are_not_there_leave_the_counters_empty() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Counters::read_below(root.path()), UNKNOWN);
        fs_err::create_dir_all(root.path().join("proc/pressure")).unwrap();
        fs_err::write(root.path().join("proc/stat"), STAT).unwrap();
        fs_err::write(root.path().join("proc/pressure/cpu"), PRESSURE).unwrap();
        fs_err::write(root.path().join("proc/vmstat"), "oom_kill_x 3\noom_kill 2\n").unwrap();
        let some =
            Counters { steal_ticks: Some(88), psi_cpu_some_us: Some(123_456), oom_kills: Some(2) };
        assert_eq!(Counters::read_below(root.path()), some);
    }
}
