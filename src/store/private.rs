//! Private folders of processes, gone with their process however it ends.

use std::fs::TryLockError;
use std::io;
use std::path::{Path, PathBuf};

use fs_err::File;
use tempfile::TempDir;

use super::durable::FolderLock;

/// What the names of private folders begin with.
const PREFIX: &str = "private-";

/// A folder that only this process looks into. What is finished is renamed out of it.
///
/// It is locked while its process lives. A process that is killed leaves the folder but not the
/// lock, and so [`sweep`] tells what is still in use from what nobody will miss.
#[derive(Debug)]
pub(super) struct PrivateFolder {
    folder: TempDir,
    _lock: File,
}

impl PrivateFolder {
    /// Makes a folder in `parent`; `guard` is the lock file that all processes agree on.
    pub fn new(parent: &Path, guard: &Path) -> io::Result<Self> {
        // Between its making and its locking, a folder looks like one whose process has died.
        let _guard = FolderLock::acquire(guard)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = File::open(folder.path())?;
        lock.file().lock()?;
        Ok(PrivateFolder { folder, _lock: lock })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes the private folders in `parent` whose processes have ended.
pub(super) fn sweep(parent: &Path, guard: &Path) -> io::Result<()> {
    let left = left_behind(parent)?;
    if left.is_empty() {
        return Ok(());
    }
    let _guard = FolderLock::acquire(guard)?;
    for folder in left {
        match File::open(&folder).map(|folder| folder.file().try_lock()) {
            Ok(Ok(())) => {
                log::info!("removing what an earlier run left: {}", folder.display());
                fs_err::remove_dir_all(&folder)?;
            }
            Ok(Err(TryLockError::WouldBlock)) => {}
            Ok(Err(TryLockError::Error(error))) => return Err(error),
            // Its process has just removed it itself.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn left_behind(parent: &Path) -> io::Result<Vec<PathBuf>> {
    let mut left = Vec::new();
    for entry in fs_err::read_dir(parent)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            left.push(entry.path());
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_in_use_stays_and_one_left_behind_goes() {
        let parent = tempfile::tempdir().unwrap();
        let guard = parent.path().join("guard");
        let used = PrivateFolder::new(parent.path(), &guard).unwrap();
        fs_err::write(used.path().join("file"), "half").unwrap();
        let left = parent.path().join(format!("{PREFIX}left"));
        fs_err::create_dir_all(left.join("below")).unwrap();
        let other = parent.path().join("build");
        fs_err::create_dir(&other).unwrap();

        sweep(parent.path(), &guard).unwrap();
        assert!(used.path().join("file").exists() && other.exists());
        assert!(!left.exists());

        let path = used.path().to_owned();
        drop(used);
        assert!(!path.exists());
    }
}
