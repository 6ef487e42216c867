//! The seam between deciding what to run and running it.

use std::fmt;
use std::str::FromStr;

use super::{Command, ExecError, Output};
use crate::measurement::Measurement;

/// Runs commands one at a time and measures them. [`super::Launcher`] is the real one,
/// [`super::scripted::ScriptedRunner`] the one for tests.
pub trait Runner {
    /// Runs `command` to its end, blocking, and returns what it cost and wrote.
    ///
    /// A program that fails, is killed or runs out of time is a [`Run`] like any other; its
    /// [`Measurement::outcome`] says so. When this returns, nothing the program started is left.
    ///
    /// # Errors
    ///
    /// [`ExecError`] if the program could not be run or what it left could not be ended.
    fn run(&mut self, command: &Command, sink: Sink) -> Result<Run, ExecError>;

    /// The peak memory that a program which needs none would be charged with, in KiB.
    fn rss_floor_kib(&self) -> u64;
}

/// One run of a program.
#[derive(Debug)]
pub struct Run {
    /// What it cost and how it ended.
    pub measurement: Measurement,
    /// What it wrote to standard output; nothing with [`Sink::Null`].
    pub output: Output,
    /// The first 4 KiB of what it wrote to standard error, broken UTF-8 replaced.
    pub stderr: String,
    /// How many processes it left running when it ended. They were killed, and what they cost
    /// is not in the measurement.
    pub left_behind: u64,
    /// When it was started, by the system's clock; not precise enough to measure with.
    pub started_at: jiff::Timestamp,
}

/// Where a program's standard output goes. It is part of what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sink {
    /// Anonymous memory, kept for comparison. Displays as `memory`.
    Memory,
    /// `/dev/null`: nothing is kept. Displays as `null`.
    Null,
}

/// The text is not a [`Sink`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an output sink (expected `memory` or `null`)")]
pub struct SinkError {
    pub text: String,
}

impl fmt::Display for Sink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Sink::Memory => "memory",
            Sink::Null => "null",
        })
    }
}

impl FromStr for Sink {
    type Err = SinkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [Sink::Memory, Sink::Null]
            .into_iter()
            .find(|sink| sink.to_string() == text)
            .ok_or_else(|| SinkError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sinks_are_read_back() {
        for sink in [Sink::Memory, Sink::Null] {
            assert_eq!(sink.to_string().parse(), Ok(sink));
        }
        let error = "Memory".parse::<Sink>().unwrap_err();
        insta::assert_snapshot!(error, @r#""Memory" is not an output sink (expected `memory` or `null`)"#);
    }
}
