//! The tree of a toolchain on disk: unpacked from its zip and made a GOROOT.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use fs_err::os::unix::fs::OpenOptionsExt;
use fs_err::{File, OpenOptions};

use super::archive::{Archive, ArchiveError, Copied, Entry};
use super::parallel::on_all_cores;
use super::siblings::{SHARED_BYTES, Siblings};
use super::tarball::UnpackedTarball;
use crate::module::{ToolchainModule, TreeListing, becomes_executable, go_mod_copies};

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

/// The mode of the file that is called `name` in the module.
pub(super) fn file_mode(name: &str) -> u32 {
    if becomes_executable(name) { PROGRAM_MODE } else { FILE_MODE }
}

/// A tree as it came out of a zip, in a folder that nobody else looks at.
pub struct Unpacked {
    root: PathBuf,
    listing: TreeListing,
    prefix: String,
    damage: Option<ArchiveError>,
}

impl Unpacked {
    /// Unpacks all of `archive`, a zip of `module`, into `root`, which must not exist yet, and
    /// hashes it on the way, on all cores. What is among the files of `siblings` is not stored again.
    ///
    /// Every file has its final mode and time when this returns; the modes and times in the zip
    /// count for nothing.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, or with [`io::ErrorKind::Interrupted`] when `is_stopped` says
    /// so. What was written is the caller's to remove.
    pub fn from_archive(
        archive: &Archive,
        module: &ToolchainModule,
        root: &Path,
        siblings: &Siblings,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Self> {
        let prefix = module.zip_prefix();
        let entries = archive.entries();
        make_folders(root, entries.iter().map(|entry| below(entry, &prefix)))?;
        let unpacking = Unpacking { root, prefix: &prefix, siblings, is_stopped };
        let equip = || (archive.clone(), Vec::new());
        let copied = on_all_cores(entries.len(), equip, |(archive, content), place| {
            unpacking.unpack(archive, place, content)
        })?;
        let mut listing = TreeListing::new();
        let mut damages = Vec::new();
        for (entry, copied) in entries.iter().zip(copied) {
            listing.add(&entry.name, copied.sha256).expect("names were checked when it was opened");
            damages.extend(copied.damage);
        }
        // The first in the zip, so that the same zip is always refused in the same words.
        let damage = damages.into_iter().next();
        Ok(Unpacked { root: root.to_owned(), listing, prefix, damage })
    }

    /// Takes over what was unpacked from a release archive into `root` and turned out to be
    /// `module`.
    pub fn from_tarball(tarball: &UnpackedTarball, module: &ToolchainModule, root: &Path) -> Self {
        let prefix = module.zip_prefix();
        let mut listing = TreeListing::new();
        for (name, sha256) in tarball.files() {
            let name = format!("{prefix}{name}");
            listing.add(&name, *sha256).expect("names were checked as they came");
        }
        Unpacked { root: root.to_owned(), listing, prefix, damage: None }
    }

    /// The files and the SHA-256 of each.
    pub fn listing(&self) -> &TreeListing {
        &self.listing
    }

    /// Takes out what is wrong with the zip's first damaged file; the listing is then of what came
    /// out of it.
    pub fn take_damage(&mut self) -> Option<ArchiveError> {
        self.damage.take()
    }

    /// Adds to every `_go.mod` the `go.mod` that a module zip may not hold, and returns the GOROOT.
    ///
    /// # Errors
    ///
    /// If a file cannot be written.
    pub fn into_goroot(self) -> io::Result<PathBuf> {
        let names = self.listing.files().keys().filter_map(|name| name.strip_prefix(&*self.prefix));
        for (from, to) in go_mod_copies(names) {
            let content = fs_err::read(self.root.join(from))?;
            write(&self.root.join(&to), &content, &to)?;
        }
        Ok(self.root)
    }
}

fn below<'a>(entry: &'a Entry, prefix: &str) -> &'a str {
    entry.name.strip_prefix(prefix).expect("checked when the archive was opened")
}

/// What the threads that unpack one archive have in common.
struct Unpacking<'a> {
    root: &'a Path,
    prefix: &'a str,
    siblings: &'a Siblings,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
}

impl Unpacking<'_> {
    fn unpack(
        &self,
        archive: &mut Archive,
        place: usize,
        content: &mut Vec<u8>,
    ) -> io::Result<Copied> {
        if (self.is_stopped)() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped while unpacking"));
        }
        let entry = &archive.entries()[place];
        let name = below(entry, self.prefix).to_owned();
        let path = self.root.join(&name);
        if entry.size_bytes > SHARED_BYTES {
            let mut file = create(&path)?;
            let copied = archive.copy(place, &mut file)?;
            finish(&file, &name)?;
            return Ok(copied);
        }
        content.clear();
        let copied = archive.copy(place, content)?;
        if !self.siblings.link(content, &copied.sha256, &name, &path) {
            write(&path, content, &name)?;
        }
        Ok(copied)
    }
}

/// Makes `root` and every folder that the files called `names` need below it.
fn make_folders<'a>(root: &Path, names: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let mut folders = BTreeSet::new();
    for name in names {
        for (end, _) in name.rmatch_indices('/') {
            if !folders.insert(&name[..end]) {
                break;
            }
        }
    }
    make_folder(root)?;
    // Sorted, so that each comes after the one it is in.
    folders.into_iter().try_for_each(|folder| make_folder(&root.join(folder)))
}

pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    fs_err::create_dir(path)?;
    fs_err::set_permissions(path, Permissions::from_mode(FOLDER_MODE))
}

fn write(path: &Path, content: &[u8], name: &str) -> io::Result<()> {
    let mut file = create(path)?;
    file.write_all(content)?;
    finish(&file, name)
}

pub(super) fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

pub(super) fn finish(file: &File, name: &str) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(file_mode(name)))?;
    file.file().set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(FILE_TIME_S))
}
