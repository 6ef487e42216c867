//! The tree of a toolchain on disk: unpacked from its zip and made a GOROOT.

use std::collections::HashSet;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err::os::unix::fs::OpenOptionsExt;
use fs_err::{File, OpenOptions};

use super::archive::{Archive, ArchiveError};
use crate::module::{
    ToolchainModule, TreeDigest, TreeDigestBuilder, becomes_executable, go_mod_copies,
};

/// The modification time of every file of an installed toolchain, in seconds since 1970: the day of
/// Go 1.
///
/// Old releases (go1.2.2 and go1.3.x) rebuild a package of the standard library when its sources are
/// newer than its archive, and unpacking in any order makes some of them so. With one time for all,
/// nothing is newer than anything; with one long ago, no cache keyed by time takes a file for fresh.
pub const FILE_TIME_S: u64 = 1_332_892_800;

/// What can be read and run but not changed: an installed toolchain is nobody's to edit.
const FILE_MODE: u32 = 0o444;
const PROGRAM_MODE: u32 = 0o555;
/// Folders stay writable for their owner, so that the store can be removed like any other folder.
const FOLDER_MODE: u32 = 0o755;

/// A tree as it came out of a zip, in a folder that nobody else looks at.
pub struct Unpacked {
    root: PathBuf,
    digest: TreeDigest,
    names: Vec<String>,
    damage: Option<ArchiveError>,
}

impl Unpacked {
    /// Unpacks all of `archive`, a zip of `module`, into `root`, which must not exist yet, and
    /// hashes it on the way.
    ///
    /// Every file has its final mode and time when this returns; the modes and times in the zip
    /// count for nothing.
    ///
    /// # Errors
    ///
    /// If a file cannot be written. What was written is the caller's to remove.
    pub fn from_archive(
        archive: &mut Archive,
        module: &ToolchainModule,
        root: &Path,
    ) -> io::Result<Self> {
        let prefix = module.zip_prefix();
        let mut folders = Folders::new(root)?;
        let mut damage = None;
        let mut digest = TreeDigestBuilder::new();
        let mut names = Vec::with_capacity(archive.entries().len());
        for place in 0..archive.entries().len() {
            let entry = archive.entries()[place].clone();
            let name = entry.name.strip_prefix(&prefix).expect("checked when it was opened");
            let path = folders.path_for(name)?;
            let mut file = create(&path)?;
            let copied = archive.copy(place, &mut file)?;
            finish(&file, name)?;
            damage = damage.or(copied.damage);
            digest.add(&entry.name, copied.sha256).expect("names were checked when it was opened");
            names.push(name.to_owned());
        }
        Ok(Unpacked { root: root.to_owned(), digest: digest.finish(), names, damage })
    }

    /// The digest of what was unpacked.
    pub fn digest(&self) -> TreeDigest {
        self.digest
    }

    /// Takes out what is wrong with the zip's first damaged file; the digest is then of what came
    /// out of it.
    pub fn take_damage(&mut self) -> Option<ArchiveError> {
        self.damage.take()
    }

    /// Copies every `_go.mod` to `go.mod`, which a module zip may not hold, and returns the GOROOT.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn into_goroot(self) -> io::Result<PathBuf> {
        for (from, to) in go_mod_copies(self.names.iter().map(String::as_str)) {
            let mut source = File::open(self.root.join(from))?;
            let mut copy = create(&self.root.join(&to))?;
            io::copy(&mut source, &mut copy)?;
            finish(&copy, &to)?;
        }
        Ok(self.root)
    }
}

/// The folders of a tree, made as files need them.
struct Folders<'a> {
    root: &'a Path,
    made: HashSet<PathBuf>,
}

impl<'a> Folders<'a> {
    fn new(root: &'a Path) -> io::Result<Self> {
        make_folder(root)?;
        Ok(Folders { root, made: HashSet::from([root.to_owned()]) })
    }

    fn path_for(&mut self, name: &str) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        self.make_parents(&path)?;
        Ok(path)
    }

    fn make_parents(&mut self, path: &Path) -> io::Result<()> {
        let parent = path.parent().expect("a path below the root has a parent");
        if self.made.contains(parent) {
            return Ok(());
        }
        self.make_parents(parent)?;
        make_folder(parent)?;
        self.made.insert(parent.to_owned());
        Ok(())
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    fs_err::create_dir(path)?;
    fs_err::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn finish(file: &File, name: &str) -> io::Result<()> {
    let mode = if becomes_executable(name) { PROGRAM_MODE } else { FILE_MODE };
    file.set_permissions(Permissions::from_mode(mode))?;
    file.file().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(FILE_TIME_S))
}
