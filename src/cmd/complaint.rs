//! What is wrong with a run, in words.

use crate::exec::{Command, Run};
use crate::host::Disturbance;
use crate::measurement::Outcome;
use crate::units;
use crate::verify::Comparison;

/// How many lines of a program's standard error are told.
const LINES_TOLD: usize = 3;

/// Signal 9: what the kernel sends when memory runs out.
const SIGKILL: i32 = 9;

/// Says what is wrong with a run of `command`; nothing if nothing is.
///
/// `comparison` is of its output with one of `expected_bytes`.
pub fn complaint(
    command: &Command,
    run: &Run,
    disturbance: &Disturbance,
    comparison: &Comparison,
    expected_bytes: u64,
) -> String {
    let written = run.output.len();
    // Looked at first: what stops a program that writes without end looks like a crash of its own.
    if written >= command.output_limit {
        return format!(
            "wrote too much: it was stopped after {written} bytes, expected are {expected_bytes}"
        );
    }
    let outcome = run.measurement.outcome;
    let ended = match outcome {
        Outcome::Exited(0) => return wrong_output(comparison, expected_bytes),
        Outcome::TimedOut => {
            let limit = units::waiting_time(command.time_limit.as_secs_f64());
            return format!("did not end within {limit} and was stopped");
        }
        Outcome::Signalled(SIGKILL) if disturbance.oom_kills.is_some_and(|kills| kills > 0) => {
            let peak = units::kibibytes(run.measurement.max_rss_kib as f64);
            format!("was killed by the kernel, which ran out of memory, when it held {peak}")
        }
        Outcome::Signalled(_) => format!("was killed by {outcome}"),
        Outcome::Exited(_) => format!("ended with {outcome}"),
    };
    let said = run.stderr.lines().filter(|line| !line.trim().is_empty());
    let said: Vec<&str> = said.take(LINES_TOLD).collect();
    if said.is_empty() { ended } else { format!("{ended}: {}", said.join(" | ")) }
}

fn wrong_output(comparison: &Comparison, expected_bytes: u64) -> String {
    match &comparison.first_difference {
        None => String::new(),
        Some(_) if comparison.digest.bytes() == 0 => {
            format!("wrote nothing, expected are {expected_bytes} bytes")
        }
        Some(difference) => format!("wrong output: {difference}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::{Output, Stdin};
    use crate::measurement::Measurement;
    use crate::verify::{Expected, compare};
    use std::time::Duration;

    /// What is said of a program that ended like this, wrote this and said that.
    fn said(outcome: Outcome, output: &str, stderr: &str, oom_kills: u64) -> String {
        let command = Command {
            program: "/p".into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/".into(),
            stdin: Stdin::Null,
            time_limit: Duration::from_secs(900),
            output_limit: 20,
        };
        let measurement = Measurement {
            elapsed_ns: 1,
            user_us: 1,
            sys_us: 1,
            max_rss_kib: 24 << 20,
            rss_floor_kib: 1,
            minor_faults: 1,
            major_faults: 1,
            voluntary_switches: 1,
            involuntary_switches: 1,
            outcome,
        };
        let run = Run {
            measurement,
            output: Output::from_bytes(output.as_bytes()).unwrap(),
            stderr: stderr.to_owned(),
            left_behind: 0,
            started_at: jiff::Timestamp::UNIX_EPOCH,
        };
        let disturbance = Disturbance { oom_kills: Some(oom_kills), ..Disturbance::default() };
        let expected = Expected::new(b"one\ntwo\n".to_vec()).unwrap();
        let comparison = compare(&expected, output.as_bytes()).unwrap();
        complaint(&command, &run, &disturbance, &comparison, 8)
    }

    #[test]
    fn every_way_to_fail_is_told_as_what_it_is() {
        let panic = "panic: no\n\ngoroutine 1 [running]:\nmain.main()\n";
        let lines = [
            said(Outcome::Exited(0), "one\ntwo\n", "", 0),
            said(Outcome::Exited(0), "one\ntwa\n", "", 0),
            said(Outcome::Exited(0), "", "", 0),
            said(Outcome::Exited(0), "one\ntwo\nthree\n", "", 0),
            said(Outcome::Exited(2), &"x".repeat(20), panic, 0),
            said(Outcome::TimedOut, "one\n", "", 0),
            said(Outcome::Exited(2), "", panic, 0),
            said(Outcome::Signalled(11), "", "", 0),
            said(Outcome::Signalled(9), "", "", 1),
            said(Outcome::Signalled(9), "", "", 0),
        ];
        insta::assert_snapshot!(lines[1..].join("\n"), @r#"
        wrong output: byte 6 (line 2): expected "two\n", found "twa\n"
        wrote nothing, expected are 8 bytes
        wrong output: byte 8 (line 3): the output should end here, but goes on "three\n"
        wrote too much: it was stopped after 20 bytes, expected are 8
        did not end within 15 min and was stopped
        ended with exit 2: panic: no | goroutine 1 [running]: | main.main()
        was killed by signal 11 (SIGSEGV)
        was killed by the kernel, which ran out of memory, when it held 24.0 GiB
        was killed by signal 9 (SIGKILL)
        "#);
        assert_eq!(lines[0], "");
    }
}
