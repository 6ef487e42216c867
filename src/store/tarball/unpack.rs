//! A release archive, unpacked as the tree of its module.

use std::collections::HashSet;
use std::io::{self, BufReader};
use std::path::Path;

use fs_err::File;

use super::{Tarball, TarballError, shape};
use crate::module::limits;
use crate::store::tree;

/// The tree of a module as it came out of a release archive.
#[derive(Debug)]
pub struct UnpackedTarball {
    files: Vec<(String, [u8; 32])>,
    version_modified_s: Option<u64>,
}

impl UnpackedTarball {
    /// Unpacks the archive at `path` into the folder `root`, which must not exist yet, and hashes
    /// its files on the way.
    ///
    /// The files have the names, modes and times of an installed module, and so not the copies of
    /// `_go.mod` that make it a GOROOT.
    ///
    /// # Errors
    ///
    /// [`TarballError`]; [`TarballError::Write`] with [`io::ErrorKind::Interrupted`] when
    /// `is_stopped` says so. What was written is the caller's to remove.
    pub fn unpack(
        path: &Path,
        root: &Path,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Self, TarballError> {
        let mut tarball = Tarball::new(open(path)?);
        let mut unpacked = UnpackedTarball { files: Vec::new(), version_modified_s: None };
        let mut folders = HashSet::new();
        tree::make_folder(root).map_err(TarballError::Write)?;
        while let Some(file) = tarball.next_file()? {
            if is_stopped() {
                let stopped = io::Error::new(io::ErrorKind::Interrupted, "stopped while unpacking");
                return Err(TarballError::Write(stopped));
            }
            let name = &file.name;
            make_folders_of(name, root, &mut folders).map_err(TarballError::Write)?;
            let mut into = tree::create(&root.join(name)).map_err(TarballError::Write)?;
            let sha256 = tarball.copy(&mut into)?;
            tree::finish(&into, name).map_err(TarballError::Write)?;
            if name == "VERSION" {
                unpacked.version_modified_s = Some(file.modified_s);
            }
            unpacked.files.push((file.name, sha256));
        }
        Ok(unpacked)
    }

    /// The files by their names in the module, without the zip's prefix, with the SHA-256 of each.
    pub fn files(&self) -> &[(String, [u8; 32])] {
        &self.files
    }

    /// The time of `VERSION` in the archive, in seconds since 1970, if it is there.
    pub fn version_modified_s(&self) -> Option<u64> {
        self.version_modified_s
    }
}

/// Reads `VERSION` out of the archive at `path`, and nothing after it; in official archives it is
/// among the first files.
///
/// # Errors
///
/// [`TarballError`] if the archive breaks a rule before its `VERSION`, or has none.
pub fn peek_version(path: &Path, most_bytes: u64) -> Result<String, TarballError> {
    let mut tarball = Tarball::new(open(path)?);
    while let Some(file) = tarball.next_file()? {
        if file.name != "VERSION" {
            continue;
        }
        if file.size_bytes > most_bytes {
            return Err(tarball.refused(&format!("it has {} bytes", file.size_bytes)));
        }
        let mut version = Vec::new();
        tarball.copy(&mut version)?;
        return String::from_utf8(version).map_err(|_| tarball.refused("it is not UTF-8"));
    }
    Err(shape("it has no go/VERSION".to_owned()))
}

fn open(path: &Path) -> Result<BufReader<File>, TarballError> {
    let file = File::open(path).map_err(TarballError::Read)?;
    let bytes = file.metadata().map_err(TarballError::Read)?.len();
    if bytes > limits::ZIP_BYTES {
        return Err(shape(format!("{bytes} bytes, over the limit of {}", limits::ZIP_BYTES)));
    }
    Ok(BufReader::with_capacity(super::PIECE_BYTES, file))
}

/// Makes the folders below `root` that the file called `name` is in, but for those in `made`.
fn make_folders_of(name: &str, root: &Path, made: &mut HashSet<String>) -> io::Result<()> {
    for (end, _) in name.match_indices('/') {
        let folder = &name[..end];
        if !made.contains(folder) {
            tree::make_folder(&root.join(folder))?;
            made.insert(folder.to_owned());
        }
    }
    Ok(())
}
