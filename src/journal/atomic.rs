//! Files that are there whole or not at all.

use anyhow::{Context, Result, ensure};
use fs_err as fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Writes a file of the survey's report, in place of an older one.
///
/// # Errors
///
/// If `name` is no plain file name, or the file cannot be written.
pub fn write_report(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    ensure!(
        !name.is_empty() && !name.starts_with('.') && name.chars().all(plain),
        "{name:?} cannot name a file of a report"
    );
    let folder = dir.join("report");
    fs::create_dir_all(&folder)?;
    replace(&folder, name, bytes)
        .with_context(|| format!("cannot write {}", folder.join(name).display()))
}

/// Writes `folder/name` under a private name, flushes it, and renames it into place.
pub(super) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".").suffix(".tmp").tempfile_in(folder)?;
    file.write_all(bytes)?;
    // Private files are made for their owner's eyes; these are for everybody's.
    file.as_file().set_permissions(PermissionsExt::from_mode(0o644))?;
    file.as_file().sync_all()?;
    file.persist(folder.join(name)).map_err(|error| error.error)?;
    flush_names(folder)
}

/// Flushes a folder, so that a new name in it outlives a loss of power.
pub(super) fn flush_names(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}
