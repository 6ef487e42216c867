//! The store: installed toolchains, what the checksum database has proven, and other things that
//! can be had again.
//!
//! ```text
//! downloads/<release>.<os>-<arch>.zip      a zip on its way in; a note beside it says from where
//! toolchains/<release>.<os>-<arch>/        a GOROOT
//! toolchains/<release>.<os>-<arch>.toml    where it came from and what proves it
//! toolchains/<release>.<os>-<arch>.files   its files with the SHA-256 of each: what its digest is of
//! sumdb/<name>+<key hash>/          newest proven head, lookups and tiles of a checksum database
//! inputs/ gocache/<toolchain>/ binaries/<sha256>
//! tmp/                              private folders of running processes, and the one of builds
//! locks/                            one file for each thing that only one process may make
//! ```
//!
//! All of it may be deleted at any time and is made again. Everything is written under a private
//! name, flushed and renamed; what has its final name is whole.

mod archive;
mod bytes;
pub mod durable;
mod error;
mod goroot_files;
mod hash;
mod inspect;
mod install;
mod local;
mod parallel;
mod place;
mod private;
mod prune;
mod record;
mod siblings;
mod space;
mod sumdb_memory;
mod tarball;
mod toolchain;
mod tree;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub use archive::{Archive, ArchiveError, Copied, Entry};
pub use bytes::Bytes;
pub use error::{Digests, InstallError, InstallFailure};
pub use goroot_files::GorootFiles;
pub use inspect::{Difference, Finding, Inspection};
pub use install::Onlooker;
pub use prune::Pruned;
pub use sumdb_memory::SumdbMemory;
pub use tarball::{TarballError, UnpackedTarball};
pub use toolchain::{Evidence, Goroot, Proven, Toolchain, local_release};
pub use tree::FILE_TIME_S;

use crate::release::ToolchainName;
use private::PrivateFolder;
use tempfile::NamedTempFile;

const FILE_MODE: u32 = 0o644;

/// The name of the lock under which private folders are made and swept.
const PRIVATE_GUARD: &str = "private";

/// A folder with everything that gosurvey keeps between runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
    /// Made when it is needed, so that a store that is only looked at stays as it is.
    private: Arc<Mutex<Option<Arc<PrivateFolder>>>>,
}

impl Store {
    /// Opens the store at `root`, making it if it is not there and removing what processes that
    /// were killed have left half done.
    ///
    /// # Errors
    ///
    /// If the folders cannot be made, or what was left cannot be removed.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs_err::create_dir_all(root)?;
        // Absolute, because a GOROOT in it is handed to processes that run elsewhere.
        let root = fs_err::canonicalize(root)?;
        for folder in
            ["downloads", "toolchains", "sumdb", "inputs", "gocache", "binaries", "tmp", "locks"]
        {
            fs_err::create_dir_all(root.join(folder))?;
        }
        let store = Store { root, private: Arc::default() };
        private::sweep(&store.tmp(), &store.lock(PRIVATE_GUARD))?;
        Ok(store)
    }

    /// The folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where generated inputs are kept.
    pub fn inputs(&self) -> PathBuf {
        self.root.join("inputs")
    }

    /// The build cache of one toolchain's go command.
    pub fn gocache(&self, toolchain: &ToolchainName) -> PathBuf {
        self.root.join("gocache").join(toolchain.to_string())
    }

    /// Where binaries are kept.
    pub fn binaries(&self) -> PathBuf {
        self.root.join("binaries")
    }

    /// Where a binary with this SHA-256, in hexadecimal, is kept.
    pub fn binary(&self, sha256: &str) -> PathBuf {
        self.binaries().join(sha256)
    }

    /// Where builds have their workspace.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The private folder of this process; what is finished is renamed out of it, into the same file
    /// system.
    fn private(&self) -> io::Result<Arc<PrivateFolder>> {
        let mut private = self.private.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(folder) = &*private {
            return Ok(Arc::clone(folder));
        }
        let folder = Arc::new(PrivateFolder::new(&self.tmp(), &self.lock(PRIVATE_GUARD))?);
        *private = Some(Arc::clone(&folder));
        Ok(folder)
    }

    /// Makes a file that only this process knows of, if there is room for so many bytes; it is gone
    /// with the process unless [`durable::persist`] gives it a name in the store.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::StorageFull`] if there is no room, or if the file cannot be made.
    pub fn private_file(&self, needed_bytes: u64) -> io::Result<NamedTempFile> {
        space::check(&self.root, needed_bytes)?;
        durable::private_file(self.private()?.path())
    }

    /// Writes a file of the store, whole or not at all; nothing half done is left of it even if this
    /// process is killed.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs_err::create_dir_all(durable::folder_of(path))?;
        durable::write_file_by_way_of(self.private()?.path(), path, bytes, FILE_MODE)
    }

    /// The lock file of the thing called `name`.
    pub fn lock(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(format!("{name}.lock"))
    }

    /// Writes a file that is worth as much as none when it is damaged. It is not flushed.
    fn write_hint(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = durable::folder_of(path);
        fs_err::create_dir_all(folder)?;
        let mut file = durable::private_file(self.private()?.path())?;
        io::Write::write_all(&mut file, bytes)?;
        durable::name(file, path, FILE_MODE)
    }

    fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    fn toolchains(&self) -> PathBuf {
        self.root.join("toolchains")
    }
}
