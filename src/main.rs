//! The command line: read the surroundings once, run the command, say how it ended.

use clap::Parser;
use gosurvey::cli::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    gosurvey::cli::run(Cli::parse())
}
