//! The process that writes a survey.

use super::atomic::{flush_names, replace};
use super::{HOST, JournalError, PLAN, TornRow, read, whole_lines};
use crate::record::{
    BuildRow, CheckRow, Host, Plan, RunRow, Survey, Table, ToolchainRow, header, line,
};
use fs_err as fs;
use std::collections::BTreeMap;
use std::fs::TryLockError;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// A survey that this process, and no other, appends to.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    /// The tables written to so far, open at their ends.
    tables: BTreeMap<&'static str, fs::File>,
    /// Held while the journal is.
    _lock: std::fs::File,
}

impl Journal {
    /// Begins a survey in `dir`, which is created if need be.
    ///
    /// # Errors
    ///
    /// [`JournalError::Exists`] if there is a survey already, [`JournalError::Remains`] if there
    /// are rows of one, [`JournalError::Locked`] if another process is at it.
    pub fn create(dir: &Path, plan: &Plan, host: &Host) -> Result<Self, JournalError> {
        fs::create_dir_all(dir)?;
        let lock = lock(dir)?;
        if dir.join(PLAN).exists() {
            return Err(JournalError::Exists { dir: dir.to_owned() });
        }
        if let Some(file) = TABLES.into_iter().find(|file| dir.join(file).exists()) {
            return Err(JournalError::Remains { dir: dir.to_owned(), file });
        }
        let mut json = serde_json::to_string_pretty(host).expect("a host is numbers and texts");
        json.push('\n');
        replace(dir, HOST, json.as_bytes())?;
        // The plan comes last: with it there, the survey is.
        replace(dir, PLAN, plan.to_toml().as_bytes())?;
        Ok(Journal { dir: dir.to_owned(), tables: BTreeMap::new(), _lock: lock })
    }

    /// Takes up a survey where it was left, and gives what it holds.
    ///
    /// Rows that were cut short are cut off their files, and given beside it.
    ///
    /// # Errors
    ///
    /// [`JournalError`] naming the file and the line, as [`read`]; [`JournalError::Locked`] if
    /// another process is at it. Then nothing was changed.
    pub fn open(dir: &Path) -> Result<(Self, Survey, Vec<TornRow>), JournalError> {
        if !dir.join(PLAN).exists() {
            return Err(JournalError::Missing { dir: dir.to_owned() });
        }
        let lock = lock(dir)?;
        let (survey, torn) = read(dir)?;
        for TornRow { file, .. } in &torn {
            cut_torn_row(&dir.join(file))?;
        }
        Ok((Journal { dir: dir.to_owned(), tables: BTreeMap::new(), _lock: lock }, survey, torn))
    }

    /// The survey's folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Appends a row to its table and returns once it is on the disk.
    ///
    /// Line feeds inside the row's texts become blanks: a row is one line.
    ///
    /// # Errors
    ///
    /// If the row cannot be written whole; the file then ends with the row before it.
    /// [`JournalError::Header`] if the table was begun with other columns.
    pub fn append<T: Table>(&mut self, row: &T) -> Result<(), JournalError> {
        let text = line(row);
        let mut text = text.trim_end_matches('\n').replace(['\n', '\r'], " ");
        text.push('\n');
        let path = self.dir.join(T::FILE);
        let file = match self.tables.remove(T::FILE) {
            Some(file) => file,
            None => open_table::<T>(&path)?,
        };
        let length = file.metadata()?.len();
        if length == 0 {
            text.insert_str(0, &header::<T>());
        }
        write_whole(&file, length, text.as_bytes())?;
        if length == 0 {
            flush_names(&self.dir)?;
        }
        self.tables.insert(T::FILE, file);
        Ok(())
    }
}

const TABLES: [&str; 4] = [ToolchainRow::FILE, BuildRow::FILE, CheckRow::FILE, RunRow::FILE];

/// Takes the survey's lock, which the kernel releases however this process ends.
fn lock(dir: &Path) -> Result<std::fs::File, JournalError> {
    let path = dir.join(".lock");
    let file = fs::OpenOptions::new().create(true).append(true).open(&path)?.into_parts().0;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(error)) => Err(JournalError::Io(io::Error::new(
            error.kind(),
            format!("cannot lock {}: {error}", path.display()),
        ))),
    }
}

/// Opens a table for appending, after a look at its header line.
fn open_table<T: Table>(path: &Path) -> Result<fs::File, JournalError> {
    let file = fs::OpenOptions::new().create(true).read(true).append(true).open(path)?;
    let expected = header::<T>();
    let mut found = Vec::new();
    // More than the header would be, but not more than needed to show a wrong one.
    (&file).take(2 * expected.len() as u64).read_to_end(&mut found)?;
    if found.is_empty() || found.starts_with(expected.as_bytes()) {
        return Ok(file);
    }
    let first_line = String::from_utf8_lossy(&found).lines().next().unwrap_or_default().to_owned();
    Err(JournalError::Header {
        file: path.to_owned(),
        found: first_line,
        expected: expected.trim_end().to_owned(),
    })
}

/// Appends `bytes` by one `write` and flushes them, or leaves the file at its `length`.
fn write_whole(mut file: &fs::File, length: u64, bytes: &[u8]) -> io::Result<()> {
    let written = match file.write(bytes) {
        Ok(count) if count == bytes.len() => file.sync_data(),
        // A disk that is full takes the beginning.
        Ok(_) => Err(io::ErrorKind::StorageFull.into()),
        Err(error) => Err(error),
    };
    if written.is_err() {
        file.set_len(length)?;
    }
    written
}

/// Cuts a file back to its whole lines.
fn cut_torn_row(path: &Path) -> io::Result<()> {
    let length = whole_lines(&fs::read(path)?) as u64;
    let file = fs::OpenOptions::new().write(true).open(path)?;
    file.set_len(length)?;
    file.sync_all()
}
