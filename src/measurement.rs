//! What one run of a program cost, and how it ended.

use std::fmt;
use std::str::FromStr;

/// What the kernel accounted to one measured process.
///
/// Counts and CPU time cover the process and the descendants it has itself waited for; what it
/// left running is killed and not counted. Every field is the raw reading: nothing is
/// subtracted, corrected or rounded.
///
/// Source: wait4(2), getrusage(2), clock_gettime(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measurement {
    /// Monotonic time from just before the process was forked to just after the blocking wait for
    /// it returned, so it includes `fork` and `execve`. With [`Outcome::TimedOut`] it says only
    /// that the program would have taken longer.
    pub elapsed_ns: u64,
    /// CPU time in user mode. The sum with `sys_us` is what the scheduler accounted; the split
    /// between the two is estimated from timer ticks on most kernels, so a run of a few ticks may
    /// show one of them as 0.
    pub user_us: u64,
    /// CPU time in the kernel; see `user_us`.
    pub sys_us: u64,
    /// Peak resident memory of the largest single process, not the sum over a tree.
    ///
    /// Since Linux 6.2 the kernel keeps this count per CPU and in batches: the value moves in steps
    /// (128 KiB on a small machine, more with many CPUs), may fall short of the truth by a few
    /// such steps, and may be 0 for a tiny program.
    pub max_rss_kib: u64,
    /// The peak that a process which does nothing shows when started the same way, so the least
    /// that `max_rss_kib` can be, but for that coarseness; 0 if the kernel's count does not reach
    /// so low. A `max_rss_kib` at the floor means "at most this".
    pub rss_floor_kib: u64,
    /// Page faults served without reading from disk.
    pub minor_faults: u64,
    /// Page faults that had to read from disk: the page cache was cold or memory short.
    pub major_faults: u64,
    /// Times the process gave up the CPU to wait for something.
    pub voluntary_switches: u64,
    /// Times the kernel took the CPU away for another process.
    pub involuntary_switches: u64,
    /// How the process ended.
    pub outcome: Outcome,
}

impl Measurement {
    /// CPU time, user and kernel together, in microseconds.
    pub fn cpu_us(&self) -> u64 {
        self.user_us + self.sys_us
    }
}

/// How a measured process ended.
///
/// Displays as, and parses from, the status column of `runs.csv`: `ok`, `exit 3`,
/// `signal 9 (SIGKILL)`, `timed out`. Whether the output was right is another matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It exited with this code, 0 to 255.
    Exited(i32),
    /// This signal killed it, and it was not the time limit's.
    Signalled(i32),
    /// It was killed, with its process group, because its time limit passed.
    TimedOut,
}

impl Outcome {
    /// Whether the process exited with code 0.
    pub fn is_success(self) -> bool {
        self == Outcome::Exited(0)
    }
}

/// The text is not an [`Outcome`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not how a process ends \
     (expected `ok`, `exit 3`, `signal 9 (SIGKILL)`, `timed out` or the like)"
)]
pub struct OutcomeError {
    pub text: String,
}

/// Signal names by number, from 1. The numbers are Linux's on x86 and ARM, which is where runs
/// are made; the text is the same wherever it is read.
const SIGNAL_NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The highest signal number on Linux; those above the named ones are real-time signals.
const LAST_SIGNAL: i32 = 64;

fn signal_name(signal: i32) -> Option<&'static str> {
    let index = usize::try_from(signal.checked_sub(1)?).ok()?;
    SIGNAL_NAMES.get(index).copied()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Outcome::Exited(0) => f.write_str("ok"),
            Outcome::Exited(code) => write!(f, "exit {code}"),
            Outcome::Signalled(signal) => match signal_name(signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            Outcome::TimedOut => f.write_str("timed out"),
        }
    }
}

impl FromStr for Outcome {
    type Err = OutcomeError;

    /// Accepts exactly what [`Outcome`] displays as; `exit 0` or a wrong signal name is an error.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        read_outcome(text)
            .filter(|outcome| outcome.to_string() == text)
            .ok_or_else(|| OutcomeError { text: text.to_owned() })
    }
}

/// Reads the numbers and leaves it to the caller to compare the canonical text.
fn read_outcome(text: &str) -> Option<Outcome> {
    if let Some(code) = text.strip_prefix("exit ") {
        let code = code.parse().ok().filter(|code| (0..=255).contains(code))?;
        return Some(Outcome::Exited(code));
    }
    if let Some(signal) = text.strip_prefix("signal ") {
        let number = signal.split(' ').next()?;
        let signal = number.parse().ok().filter(|signal| (1..=LAST_SIGNAL).contains(signal))?;
        return Some(Outcome::Signalled(signal));
    }
    match text {
        "ok" => Some(Outcome::Exited(0)),
        "timed out" => Some(Outcome::TimedOut),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn outcomes_have_a_stable_text() {
        let cases = [
            (Outcome::Exited(0), "ok"),
            (Outcome::Exited(3), "exit 3"),
            (Outcome::Signalled(9), "signal 9 (SIGKILL)"),
            (Outcome::Signalled(25), "signal 25 (SIGXFSZ)"),
            (Outcome::Signalled(40), "signal 40"),
            (Outcome::TimedOut, "timed out"),
        ];
        for (outcome, text) in cases {
            assert_eq!(outcome.to_string(), text);
        }
    }

    #[test]
    fn only_the_canonical_text_is_read_back() {
        let cases = [
            "",
            "OK",
            "ok ",
            "exit 0",
            "exit +3",
            "exit 03",
            "exit 256",
            "exit -1",
            "exit",
            "signal 9",
            "signal 9 (SIGTERM)",
            "signal 9  (SIGKILL)",
            "signal 0",
            "signal 65",
            "signal 40 (SIGRTMIN)",
            "timed out\n",
        ];
        for text in cases {
            assert_eq!(text.parse::<Outcome>(), Err(OutcomeError { text: text.to_owned() }));
        }
    }

    #[test]
    fn the_error_names_the_text() {
        let error = "exit 0".parse::<Outcome>().unwrap_err();
        insta::assert_snapshot!(error, @r#""exit 0" is not how a process ends (expected `ok`, `exit 3`, `signal 9 (SIGKILL)`, `timed out` or the like)"#);
    }

    #[test]
    fn success_is_exit_code_zero_and_nothing_else() {
        assert!(Outcome::Exited(0).is_success());
        for failed in [Outcome::Exited(1), Outcome::Signalled(15), Outcome::TimedOut] {
            assert!(!failed.is_success());
        }
    }

    fn any_outcome() -> impl Strategy<Value = Outcome> {
        prop_oneof![
            (0..=255).prop_map(Outcome::Exited),
            (1..=LAST_SIGNAL).prop_map(Outcome::Signalled),
            Just(Outcome::TimedOut),
        ]
    }

    proptest! {
        #[test]
        fn every_outcome_is_read_back(outcome in any_outcome()) {
            prop_assert_eq!(outcome.to_string().parse::<Outcome>(), Ok(outcome));
        }

        #[test]
        fn what_is_read_is_written_the_same(text in "(ok|exit|signal|timed out)? ?[0-9+-]{0,4}( \\([A-Z]*\\))?") {
            if let Ok(outcome) = text.parse::<Outcome>() {
                prop_assert_eq!(outcome.to_string(), text);
            }
        }
    }
}
