//! A [`ReportModel`](crate::analysis::ReportModel) as bytes: text for people and for other programs.
//!
//! Every report is a projection: the same rows give the same bytes, and nothing is decided here
//! that `analysis` has not decided. No report reads a clock or a file.

pub mod changes;
mod checks;
mod evidence;
pub mod markdown;
mod medians;
mod quantity;
mod reading;
mod statement;
mod summary;
mod tables;

pub use checks::check_matrix;
pub use medians::medians_csv;
pub use summary::{summary_md, terminal_summary};

/// How wide a text may be: what a terminal of 120 columns shows without wrapping.
pub const WIDTH: usize = 118;

#[cfg(test)]
mod tests;
