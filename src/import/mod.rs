//! Programs of others, taken into a suite of the user's own.
//!
//! The Benchmarks Game's programs are not in this repository. A user who has downloaded its source
//! archive has them laid out as a second suite: a list of rows says which files to take, whose
//! workloads they have, and the few edits that let every release compile them.
//!
//! ```text
//! rows file ─parse─▶ Rows ─┐
//! names in the archive ────┴─choose─▶ Choice{taken, left out} ─edit─▶ Taken ─manifest─▶ suite.toml
//! ```
//!
//! Here are the rules only. Archives are read by `source_archive`, suites written by `own_suites`.

mod choose;
mod edit;
mod manifest;
mod rows;

pub use choose::{Chosen, LeftOut, Reason, choose, licences};
pub use edit::{Edit, EditError, apply};
pub use manifest::{ManifestError, Taken, manifest};
pub use rows::{AddedFile, Row, Rows, RowsError};
