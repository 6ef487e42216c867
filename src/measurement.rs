//! (being written elsewhere: Outcome and Measurement)
use std::fmt;
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Exited(i32),
    Signalled(i32),
    TimedOut,
}
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Exited(0) => f.write_str("ok"),
            Outcome::Exited(n) => write!(f, "exit {n}"),
            Outcome::Signalled(n) => write!(f, "signal {n}"),
            Outcome::TimedOut => f.write_str("timed out"),
        }
    }
}
impl std::str::FromStr for Outcome {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "ok" => Ok(Outcome::Exited(0)),
            "timed out" => Ok(Outcome::TimedOut),
            _ => Err(text.to_owned()),
        }
    }
}
