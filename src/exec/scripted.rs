//! A runner that runs nothing, for tests of what decides on runs and uses their results.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::{Command, ExecError, Output, Run, Runner, Sink};
use crate::measurement::Measurement;

/// What a scripted run yields: a measurement and the bytes written, or a failure to run.
pub type Answer = Result<(Measurement, Vec<u8>), ExecError>;

/// A [`Runner`] that answers from a script and records what it was asked to run.
///
/// Runs start at the epoch and one second apart, so that tests see the same times always.
pub struct ScriptedRunner {
    script: Box<dyn FnMut(&Command) -> Answer + Send>,
    /// The commands run so far, in order.
    pub commands: Vec<(Command, Sink)>,
    /// The floor this runner claims to impose.
    pub rss_floor_kib: u64,
}

impl ScriptedRunner {
    /// Answers with what `script` makes of each command.
    pub fn new(script: impl FnMut(&Command) -> Answer + Send + 'static) -> Self {
        ScriptedRunner { script: Box::new(script), commands: Vec::new(), rss_floor_kib: 0 }
    }

    /// Answers with `answers`, one after the other.
    ///
    /// # Panics
    ///
    /// The run after the last answer panics: the test expected fewer.
    pub fn in_order(answers: impl IntoIterator<Item = Answer>) -> Self {
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        ScriptedRunner::new(move |command| {
            answers.pop_front().unwrap_or_else(|| {
                panic!("the script has no answer left for {}", command.shell_line())
            })
        })
    }
}

impl Runner for ScriptedRunner {
    fn run(&mut self, command: &Command, sink: Sink) -> Result<Run, ExecError> {
        let seconds = self.commands.len() as i64;
        self.commands.push((command.clone(), sink));
        let (measurement, written) = (self.script)(command)?;
        let kept = match sink {
            Sink::Memory => written.as_slice(),
            Sink::Null => &[],
        };
        Ok(Run {
            measurement,
            output: Output::from_bytes(kept).map_err(ExecError::Capture)?,
            stderr: String::new(),
            left_behind: 0,
            started_at: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds),
        })
    }

    fn rss_floor_kib(&self) -> u64 {
        self.rss_floor_kib
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::Duration;

    use super::*;
    use crate::exec::Stdin;
    use crate::measurement::Outcome;

    fn command(program: &str) -> Command {
        Command {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/".into(),
            stdin: Stdin::Null,
            time_limit: Duration::from_secs(1),
            output_limit: 1,
        }
    }

    fn measurement(elapsed_ns: u64) -> Measurement {
        Measurement {
            elapsed_ns,
            user_us: 1,
            sys_us: 2,
            max_rss_kib: 3,
            rss_floor_kib: 0,
            minor_faults: 4,
            major_faults: 5,
            voluntary_switches: 6,
            involuntary_switches: 7,
            outcome: Outcome::Exited(0),
        }
    }

    #[test]
    fn answers_come_in_order_and_commands_are_recorded() {
        let first = Ok((measurement(10), b"one".to_vec()));
        let second = Ok((measurement(20), b"two".to_vec()));
        let mut runner = ScriptedRunner::in_order([first, second]);

        let mut run = runner.run(&command("a"), Sink::Memory).unwrap();
        let mut written = String::new();
        run.output.read_to_string(&mut written).unwrap();
        assert_eq!((run.measurement.elapsed_ns, written.as_str()), (10, "one"));

        let run = runner.run(&command("b"), Sink::Null).unwrap();
        assert_eq!((run.measurement.elapsed_ns, run.output.len()), (20, 0));
        assert_eq!(run.started_at.to_string(), "1970-01-01T00:00:01Z");
        let expected = [(command("a"), Sink::Memory), (command("b"), Sink::Null)];
        assert_eq!(runner.commands, expected);
    }

    #[test]
    fn a_failure_in_the_script_is_a_failure_to_run() {
        let mut runner = ScriptedRunner::new(|command| {
            Err(ExecError::Unusable { program: command.program.clone(), reason: "no".into() })
        });
        let error = runner.run(&command("a"), Sink::Memory).unwrap_err();
        assert_eq!(error.to_string(), "cannot run a: no");
    }

    #[test]
    #[should_panic = "the script has no answer left for (cd / && env -i a </dev/null)"]
    fn a_run_too_many_panics() {
        let _ = ScriptedRunner::in_order([]).run(&command("a"), Sink::Memory);
    }
}
