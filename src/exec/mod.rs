//! Running measured programs: the one place where the processes that count are started.
//!
//! ```text
//! Command ──▶ Runner::run ──▶ launcher: fork, execve, blocking wait ──▶ Run { Measurement, Output }
//! ```
//!
//! gosurvey never starts a measured program itself. The kernel charges a process with the peak
//! memory of the one it was spawned from, so a harness that ever held 300 MiB would make every
//! small program look that big. [`Launcher`] is a separate program of a few kilobytes, carried inside
//! this one and executed once; it forks the programs, measures them, and cleans up after them (its
//! sources are in `launcher/`). While a program runs, gosurvey blocks in one receive call.
//!
//! What a measured program finds around it: the environment, arguments and directory of its
//! [`Command`] and nothing inherited; three open descriptors; no signal blocked or ignored; a
//! process group of its own in a session without a terminal; no core dumps; a bound on what it
//! writes; and the kernel's first place to look when memory runs out (`oom_score_adj` 1000), so that
//! a program that takes all of it is what is killed. Resource limits other than these, CPU affinity, priority and umask are gosurvey's own.
//!
//! # Where the output goes
//!
//! Standard output is kept whole in anonymous memory (`memfd_create`) and compared after the run.
//! A pipe would need a reader competing for the CPU and would block the writer when the reader
//! is late; a file on disk would measure the disk; `/dev/null` costs a program nothing but
//! proves nothing about it, and some programs notice it and skip their work. Writing to memory has
//! a price too, the copy and the fresh pages, which the kernel charges to the program: equal for
//! all that write the same, and visible in its system time. [`Sink::Null`] measures without it.

mod command;
mod error;
mod launcher;
mod output;
pub mod page_cache;
mod request;
mod runner;
pub mod scripted;

#[path = "../../launcher/protocol.rs"]
mod protocol;

pub use command::{Command, Stdin, quoted};
pub use error::ExecError;
pub use launcher::{Launcher, launcher_sha256};
pub use output::Output;
pub use runner::{Run, Runner, Sink, SinkError};

#[cfg(test)]
mod abi_tests;
