//! The store: installed toolchains, what the checksum database has proven, and other things that
//! can be had again.
//!
//! ```text
//! downloads/                        zips on their way in
//! toolchains/<release>.<os>-<arch>/       a GOROOT
//! toolchains/<release>.<os>-<arch>.toml   where it came from and what proves it
//! sumdb/<name>+<key hash>/          newest proven head, lookups and tiles of a checksum database
//! inputs/ gocache/<toolchain>/ binaries/<sha256>
//! tmp/                              private folders of running processes
//! locks/                            one file for each thing that only one process may make
//! ```
//!
//! All of it may be deleted at any time and is made again. Everything is written under a private
//! name, flushed and renamed; what has its final name is whole.

mod archive;
pub mod durable;
mod install;
mod record;
mod sumdb_memory;
mod toolchain;
mod tree;

use std::io;
use std::path::{Path, PathBuf};

pub use archive::ArchiveError;
pub use install::{InstallError, InstallFailure};
pub use sumdb_memory::SumdbMemory;
pub use toolchain::{Evidence, Goroot, Proven, Toolchain};
pub use tree::FILE_TIME_S;

use crate::release::ToolchainName;

/// A folder with everything that gosurvey keeps between runs.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    /// Opens the store at `root`, making it if it is not there.
    ///
    /// # Errors
    ///
    /// If the folders cannot be made.
    pub fn open(root: &Path) -> io::Result<Self> {
        fs_err::create_dir_all(root)?;
        // Absolute, because a GOROOT in it is handed to processes that run elsewhere.
        let root = fs_err::canonicalize(root)?;
        for folder in
            ["downloads", "toolchains", "sumdb", "inputs", "gocache", "binaries", "tmp", "locks"]
        {
            fs_err::create_dir_all(root.join(folder))?;
        }
        Ok(Store { root })
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

    /// For private folders; what is finished is renamed out of it, into the same file system.
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// The lock file of the thing called `name`.
    pub fn lock(&self, name: &str) -> PathBuf {
        self.root.join("locks").join(format!("{name}.lock"))
    }

    fn downloads(&self) -> PathBuf {
        self.root.join("downloads")
    }

    fn toolchains(&self) -> PathBuf {
        self.root.join("toolchains")
    }
}
