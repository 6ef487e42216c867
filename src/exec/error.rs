//! Why a program could not be run. A program that ran and failed is not an error but a run.

use std::io;
use std::path::PathBuf;

use super::Command;
use super::protocol::Step;

/// A program could not be run, or not be ended.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The launcher could not be started or did not get ready.
    #[error("cannot start the launcher of measured programs: {doing}")]
    Start {
        doing: &'static str,
        #[source]
        source: io::Error,
    },

    /// The launcher is gone, so nothing can be measured any more with it.
    #[error(
        "the launcher of measured programs has ended ({status}); if it was killed for lack of \
         memory, the system log says so; start gosurvey again to continue"
    )]
    LauncherEnded { status: String },

    /// The connection to the launcher failed although the launcher lives.
    #[error("cannot exchange messages with the launcher of measured programs")]
    Connection(#[source] io::Error),

    /// The command is not one that can be handed to the kernel.
    #[error("cannot run {}: {reason}", program.display())]
    Unusable { program: PathBuf, reason: String },

    /// The file for standard input cannot be opened.
    #[error("cannot open the standard input of {command}")]
    Stdin {
        command: String,
        #[source]
        source: io::Error,
    },

    /// No memory file could be made or read.
    #[error("cannot keep a program's output in memory")]
    Capture(#[source] io::Error),

    /// The process was to become the program and could not. The program has not run.
    #[error("{what}; the command was {command}")]
    NotStarted {
        what: String,
        command: String,
        #[source]
        source: io::Error,
    },

    /// Something the program started is still running, and would disturb every later measurement.
    #[error("cannot end the processes left behind by {command}; end them before measuring again")]
    LeftRunning {
        command: String,
        #[source]
        source: io::Error,
    },
}

impl ExecError {
    /// The error for a step that the launcher reported as failed with `source`.
    pub(super) fn failed_step(step: Option<Step>, command: &Command, source: io::Error) -> Self {
        let command_line = command.shell_line();
        let what = match step {
            Some(Step::Execute) => not_executed(command, &source),
            Some(Step::Directory) => {
                format!("cannot enter the working directory {}", command.cwd.display())
            }
            Some(Step::CleanUp) => return ExecError::LeftRunning { command: command_line, source },
            Some(Step::Fork) => "cannot start a process".to_owned(),
            Some(Step::Group) => "cannot make a process group".to_owned(),
            Some(Step::Descriptors) => "cannot connect the standard streams".to_owned(),
            Some(Step::Limits) => "cannot limit the size of the output".to_owned(),
            Some(Step::SetUp | Step::Request) | None => {
                "the launcher did not understand the request".to_owned()
            }
        };
        ExecError::NotStarted { what, command: command_line, source }
    }
}

/// Says what the kernel leaves out: "no such file" can mean a file the program itself needs.
fn not_executed(command: &Command, source: &io::Error) -> String {
    let program = command.cwd.join(&command.program);
    let file = program.display();
    if source.kind() == io::ErrorKind::NotFound && program.exists() {
        return format!("cannot execute {file}, which exists; its loader or interpreter does not");
    }
    format!("cannot execute {file}")
}
