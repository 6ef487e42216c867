//! How a command ends, and the exit code that says so.

use std::fmt::Display;

/// A command that came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything asked for was done.
    Done,
    /// Done, but some cells failed; the report and the command's output say which.
    SomeFailed,
}

/// A command that could not come to its end.
#[derive(Debug)]
pub enum Stop {
    /// The answer is "no": a proof failed, a survey does not match its plan.
    No(anyhow::Error),
    /// The command was asked for something that cannot be meant.
    Usage(anyhow::Error),
    /// Network, disk, permission or machine failed.
    Environment(anyhow::Error),
    /// The user stopped it; the text says how to go on.
    Interrupted(String),
}

impl Outcome {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Outcome::Done => 0,
            Outcome::SomeFailed => 4,
        }
    }
}

impl Stop {
    /// The process's exit code.
    pub fn exit_code(&self) -> u8 {
        match self {
            Stop::No(_) => 1,
            Stop::Usage(_) => 2,
            Stop::Environment(_) => 3,
            Stop::Interrupted(_) => 130,
        }
    }
}

impl From<anyhow::Error> for Stop {
    /// An error nobody classified is the environment's: the file, the process or the network the
    /// context names.
    fn from(error: anyhow::Error) -> Self {
        Stop::Environment(error)
    }
}

impl From<std::io::Error> for Stop {
    fn from(error: std::io::Error) -> Self {
        Stop::Environment(error.into())
    }
}

/// Says what kind of stop an error is.
pub trait StopExt<T> {
    fn or_no(self) -> Result<T, Stop>;
    fn or_usage(self) -> Result<T, Stop>;
}

impl<T, E: Into<anyhow::Error>> StopExt<T> for Result<T, E> {
    fn or_no(self) -> Result<T, Stop> {
        self.map_err(|error| Stop::No(error.into()))
    }

    fn or_usage(self) -> Result<T, Stop> {
        self.map_err(|error| Stop::Usage(error.into()))
    }
}

impl Stop {
    pub fn usage(message: impl Display) -> Self {
        Stop::Usage(anyhow::anyhow!("{message}"))
    }

    pub fn no(message: impl Display) -> Self {
        Stop::No(anyhow::anyhow!("{message}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        assert_eq!(Outcome::Done.exit_code(), 0);
        assert_eq!(Stop::no("x").exit_code(), 1);
        assert_eq!(Stop::usage("x").exit_code(), 2);
        assert_eq!(Stop::from(anyhow::anyhow!("x")).exit_code(), 3);
        assert_eq!(Outcome::SomeFailed.exit_code(), 4);
        assert_eq!(Stop::Interrupted(String::new()).exit_code(), 130);
    }
}
