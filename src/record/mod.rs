//! The evidence of a survey: what each file of a results directory says, as values.
//!
//! Every stage appends rows of one type to one file (`docs/FORMAT.md` lists every column with its
//! unit). Columns are only ever added at the end and are read by name, so an older program reads a
//! newer survey and the other way round. This module turns rows into bytes and back; it reads and
//! writes no file.

mod host;
mod plan;
mod row;
mod survey;
mod table;

pub use host::{Host, MountedDisk};
pub use plan::{Harness, MissingRelease, Plan, PlanError, PlannedSuite, Threads};
pub use row::{BuildRow, BuildStatus, CheckRow, RunRow, ToolchainRow, ToolchainStatus, Verdict};
pub use survey::{Survey, toolchain_name};
pub use table::{Table, TableError, header, line, parse};

use std::fmt;

/// One thing to measure: a variant running a program at a size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub variant: String,
    pub program: String,
    pub size: String,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.variant, self.program, self.size)
    }
}
