//! gosurvey: how fast did Go really get, release by release, and can the answer be trusted?
//!
//! The library is a stack of layers; a module imports only from layers below it. `tests/layers.rs`
//! holds the table and reads the imports.
//!
//! ```text
//! L6  main  cli                                                parse, dispatch, print, exit code
//! L5  cmd                                                      one file a command; I/O meets analysis
//! L4  proxy store mirror build exec host journal progress suite_folder inputs
//!     source_archive own_suites                                the edges: all I/O, all processes, all unsafe
//! L3  report                                                   model -> bytes
//! L2  sumdb patch schedule record verify analysis import       pure rules: values in, values out
//! L1  release module suite measurement stats                   pure data and mathematics
//! L0  units platform hex digest
//! ```

pub mod digest;
pub mod hex;
pub mod platform;
pub mod units;

pub mod measurement;
pub mod module;
pub mod release;
pub mod stats;
pub mod suite;

pub mod analysis;
pub mod import;
pub mod patch;
pub mod record;
pub mod schedule;
pub mod sumdb;
pub mod verify;

pub mod report;

pub mod build;
pub mod exec;
pub mod host;
pub mod inputs;
pub mod journal;
pub mod mirror;
pub mod own_suites;
pub mod progress;
pub mod proxy;
pub mod source_archive;
pub mod store;
pub mod suite_folder;

pub mod cli;
pub mod cmd;
