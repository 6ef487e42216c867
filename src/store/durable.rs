//! Files that are whole or not there: written under a private name, flushed, then renamed.

use std::fs::{Permissions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fs_err::File;
use tempfile::NamedTempFile;

/// How long [`while_flushing`] waits between two flushes: each makes others who write wait a little.
const FLUSH_PAUSE: Duration = Duration::from_millis(100);

/// Writes `bytes` to `path`, replacing what is there; readers see the old content or the new.
///
/// The folder of `path` is made if need be. `mode` holds whatever the umask is.
///
/// # Errors
///
/// If the folder or the file cannot be written; the old content is then untouched.
pub fn write_file(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    fs_err::create_dir_all(folder_of(path))?;
    write_file_by_way_of(folder_of(path), path, bytes, mode)
}

/// Like [`write_file`], with the private file in `private`, a folder of the same file system that
/// is swept when its process dies. The folder of `path` must exist.
///
/// # Errors
///
/// As [`write_file`].
pub fn write_file_by_way_of(
    private: &Path,
    path: &Path,
    bytes: &[u8],
    mode: u32,
) -> io::Result<()> {
    let mut file = private_file(private)?;
    file.write_all(bytes)?;
    persist(file, path, mode)
}

/// Makes a file in `folder` that nobody else knows of and that vanishes unless it is kept.
///
/// # Errors
///
/// If the folder cannot be written.
pub fn private_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(".tmp-").tempfile_in(folder)
}

/// Gives a private file its mode and its name, which must be in the same file system.
///
/// # Errors
///
/// If it cannot be flushed or renamed; nothing is left of it then.
pub fn persist(file: NamedTempFile, path: &Path, mode: u32) -> io::Result<()> {
    file.as_file().sync_all()?;
    name(file, path, mode)?;
    sync_folder(folder_of(path))
}

/// Like [`persist`] without flushing: after a crash of the machine the file may be missing, empty
/// or damaged.
pub(super) fn name(file: NamedTempFile, path: &Path, mode: u32) -> io::Result<()> {
    file.as_file().set_permissions(Permissions::from_mode(mode))?;
    file.persist(path)
        .map(drop)
        .map_err(|e| io::Error::new(e.error.kind(), format!("{}: {}", path.display(), e.error)))
}

/// Flushes a folder, so that a name just given in it outlives a crash.
///
/// # Errors
///
/// If the folder cannot be opened or flushed.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Flushes the whole file system that `path` is on.
///
/// A tree of ten thousand files is flushed sooner at once than one by one.
///
/// # Errors
///
/// If `path` cannot be opened or the system reports a failed write.
pub fn sync_file_system(path: &Path) -> io::Result<()> {
    nix::unistd::syncfs(File::open(path)?.file()).map_err(io::Error::from)
}

/// Does `work`, which writes much to the file system of `folder`, while the disk is kept busy with
/// what is written already; so the flush that must follow finds little left to do.
///
/// Nothing is certain to be on the disk afterwards: that is what the flush is for.
pub fn while_flushing<T>(folder: &Path, work: impl FnOnce() -> T) -> T {
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let flusher = scope.spawn(|| {
            // A failure here is met again by the flush at the end, which reports it.
            while !is_done.load(Ordering::Relaxed) && sync_file_system(folder).is_ok() {
                thread::park_timeout(FLUSH_PAUSE);
            }
        });
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        flusher.thread().unpark();
        result
    })
}

/// A lock between processes, and between threads of one, that ends with its holder however it ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits until nobody else holds the lock at `path`, a file that is made if need be and stays.
    ///
    /// # Errors
    ///
    /// If the file cannot be made or the file system has no locks.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let file = lock_file(path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                log::info!("waiting for another gosurvey that holds {}", path.display());
                file.file().lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(FolderLock { _file: file })
    }

    /// Takes the lock at `path` if nobody else holds it.
    ///
    /// # Errors
    ///
    /// As [`FolderLock::acquire`].
    pub fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        let file = lock_file(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(FolderLock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

fn lock_file(path: &Path) -> io::Result<File> {
    fs_err::create_dir_all(folder_of(path))?;
    fs_err::OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// The folder that `path` is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
