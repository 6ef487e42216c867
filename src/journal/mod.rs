//! A survey's folder: the plan, the machine and the raw rows, written so that nothing is lost to a
//! crash.
//!
//! ```text
//! <results>/<name>/survey.toml  host.json            written once, whole
//!                  toolchains.csv builds.csv
//!                  outputs.csv    runs.csv           appended to, one flushed line at a time
//!                  report/…                          written over, whole
//!                  .lock                             held by the process that appends
//! ```
//!
//! A row is one line, however long its texts, and is written by one `write` and flushed before the
//! next thing happens. So after a crash at any point a file is whole lines plus, at most, the
//! beginning of one more; opening the survey again cuts that off and says so. A whole line that is
//! no row was not left by a crash: it is an error, and nothing is changed.

mod append;
mod atomic;

pub use append::Journal;
pub use atomic::write_report;

use crate::record::{Host, Plan, PlanError, Survey, Table, TableError};
use fs_err as fs;
use std::io;
use std::path::{Path, PathBuf};

/// The beginning of a row whose writing was cut short.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: the last row was cut short by a crash and is dropped: {text:?}")]
pub struct TornRow {
    pub file: &'static str,
    pub line: usize,
    /// What there is of it, up to some 80 characters.
    pub text: String,
}

/// A survey's folder cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{name:?} cannot name a survey: {reason}")]
    Name { name: String, reason: &'static str },
    #[error("{} holds a survey already", dir.display())]
    Exists { dir: PathBuf },
    #[error("{} holds no survey (no survey.toml in it)", dir.display())]
    Missing { dir: PathBuf },
    #[error(
        "{} holds {file} but no survey.toml: part of a survey; put survey.toml back, or choose \
         another name",
        dir.display()
    )]
    Remains { dir: PathBuf, file: &'static str },
    #[error("another gosurvey is working on {}", dir.display())]
    Locked { dir: PathBuf },
    #[error("{}/{source}", dir.display())]
    Plan { dir: PathBuf, source: PlanError },
    #[error("{}: {reason}", file.display())]
    Host { file: PathBuf, reason: String },
    #[error("{}/{source}", dir.display())]
    Table { dir: PathBuf, source: TableError },
    #[error(
        "{}: the header line is {found:?}, this gosurvey writes {expected:?}; go on with the \
         version that began the survey",
        file.display()
    )]
    Header { file: PathBuf, found: String, expected: String },
    #[error(transparent)]
    Io(#[from] io::Error),
}

const PLAN: &str = "survey.toml";
const HOST: &str = "host.json";

/// Checks that `name` can name a survey: one plain folder name of at most 100 characters.
///
/// # Errors
///
/// [`JournalError::Name`] with the reason.
pub fn check_name(name: &str) -> Result<(), JournalError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let reason = match name {
        "" => "it is empty",
        name if name.len() > 100 => "it is longer than 100 characters",
        name if name.starts_with(['.', '-']) => "it begins with '.' or '-'",
        name if !name.chars().all(plain) => {
            "only letters, digits, '-', '_', '.' and '+' may be in it"
        }
        _ => return Ok(()),
    };
    Err(JournalError::Name { name: name.to_owned(), reason })
}

/// Whether `dir` holds a survey, whole or in part.
pub fn exists(dir: &Path) -> bool {
    dir.join(PLAN).exists()
}

/// Reads a survey without changing or locking anything, also while another process appends to it.
///
/// Beginnings of rows found at the ends of files are given beside it; they count as never written.
///
/// # Errors
///
/// [`JournalError`] naming the file and the line, if there is no survey or a file of it is not
/// what it should be.
pub fn read(dir: &Path) -> Result<(Survey, Vec<TornRow>), JournalError> {
    let mut torn = Vec::new();
    let survey = Survey {
        plan: read_plan(dir)?,
        host: read_host(dir)?,
        toolchains: read_rows(dir, &mut torn)?,
        builds: read_rows(dir, &mut torn)?,
        checks: read_rows(dir, &mut torn)?,
        runs: read_rows(dir, &mut torn)?,
    };
    Ok((survey, torn))
}

fn read_plan(dir: &Path) -> Result<Plan, JournalError> {
    let text = match fs::read_to_string(dir.join(PLAN)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(JournalError::Missing { dir: dir.to_owned() });
        }
        result => result?,
    };
    Plan::parse(&text).map_err(|source| JournalError::Plan { dir: dir.to_owned(), source })
}

fn read_host(dir: &Path) -> Result<Host, JournalError> {
    let file = dir.join(HOST);
    let text = fs::read_to_string(&file)?;
    serde_json::from_str(&text)
        .map_err(|error| JournalError::Host { file, reason: error.to_string() })
}

/// Reads the whole rows of a table; one that was never begun has none.
fn read_rows<T: Table>(dir: &Path, torn: &mut Vec<TornRow>) -> Result<Vec<T>, JournalError> {
    let bytes = match fs::read(dir.join(T::FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        result => result?,
    };
    let (whole, rest) = bytes.split_at(whole_lines(&bytes));
    if !rest.is_empty() {
        torn.push(torn_row::<T>(whole, rest));
    }
    if whole.is_empty() {
        return Ok(Vec::new());
    }
    crate::record::parse(whole)
        .map_err(|source| JournalError::Table { dir: dir.to_owned(), source })
}

/// The length of the part of a file that is whole lines.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1)
}

fn torn_row<T: Table>(whole: &[u8], rest: &[u8]) -> TornRow {
    let text = String::from_utf8_lossy(rest).chars().take(80).collect();
    let line = whole.iter().filter(|byte| **byte == b'\n').count() + 1;
    TornRow { file: T::FILE, line, text }
}

#[cfg(test)]
mod tests;
