//! Making room.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::Store;
use super::durable::FolderLock;
use super::place::Place;
use crate::release::Release;

/// The size of a block in `st_blocks`, whatever the file system's own is. Source: stat(2) of Linux.
const STAT_BLOCK_BYTES: u64 = 512;

/// Something that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// Its path in the store.
    pub path: PathBuf,
    /// How much room that made, in bytes: files that another toolchain shares make none.
    pub freed_bytes: u64,
}

impl Store {
    /// Removes what nobody needs: unfinished downloads, trees without a record that fits, build
    /// caches of toolchains that are not installed, and the toolchains whose releases are not to be
    /// kept. What another process is at work on stays.
    ///
    /// # Errors
    ///
    /// If the store cannot be read, or something in it cannot be removed.
    pub fn prune(&self, keeps: &dyn Fn(&Release) -> bool) -> io::Result<Vec<Pruned>> {
        let mut pruned = Vec::new();
        for place in self.places()? {
            if place.recorded()?.is_some() && keeps(&place.module.release) {
                continue;
            }
            // Without its record it is not installed any more, whatever happens next.
            self.remove_under(&place.lock, &place.record, &mut pruned)?;
        }
        for path in entries(&self.toolchains())? {
            let name = toolchain_of(&path);
            if !self.is_installed(&name)? {
                self.remove_under(&self.lock(&name), &path, &mut pruned)?;
            }
        }
        for path in entries(&self.downloads())? {
            self.remove_under(&self.lock(&toolchain_of(&path)), &path, &mut pruned)?;
        }
        self.prune_builds(&mut pruned)?;
        pruned.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(pruned)
    }

    /// Removes build caches without a toolchain, and the workspace of a build that was killed.
    fn prune_builds(&self, pruned: &mut Vec<Pruned>) -> io::Result<()> {
        let lock = self.tmp().join("build.lock");
        let installed = self.installed()?;
        for path in entries(&self.root.join("gocache"))? {
            let is_used =
                installed.iter().any(|t| path.ends_with(OsStr::new(&t.release.to_string())));
            if !is_used {
                self.remove_under(&lock, &path, pruned)?;
            }
        }
        self.remove_under(&lock, &self.tmp().join("build"), pruned)
    }

    fn is_installed(&self, name: &str) -> io::Result<bool> {
        match Place::of_record(self, &format!("{name}.toml")) {
            Some(place) => Ok(place.recorded()?.is_some()),
            None => Ok(false),
        }
    }

    /// Removes a file or a folder, unless it is not there or somebody holds its lock.
    fn remove_under(&self, lock: &Path, path: &Path, pruned: &mut Vec<Pruned>) -> io::Result<()> {
        if !path.exists() {
            return Ok(());
        }
        let Some(_lock) = FolderLock::try_acquire(lock)? else {
            log::warn!("{} is in use and stays", path.display());
            return Ok(());
        };
        // Whoever held the lock until now may have made it another thing, or nothing.
        let Ok(metadata) = fs_err::symlink_metadata(path) else { return Ok(()) };
        let freed_bytes = Room::default().below(path)?.freed_bytes();
        if metadata.is_dir() {
            // Under its own name it is whole or not there, even if this process is killed.
            let away = tempfile::tempdir_in(self.private()?.path())?;
            fs_err::rename(path, away.path().join("removed"))?;
            fs_err::remove_dir_all(away.path().join("removed"))?;
        } else {
            fs_err::remove_file(path)?;
        }
        let path = path.strip_prefix(&self.root).unwrap_or(path).to_owned();
        pruned.push(Pruned { path, freed_bytes });
        Ok(())
    }
}

/// The toolchain a file or folder of the store is about: what its name begins with.
fn toolchain_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let endings = [".zip.toml.new", ".zip.toml", ".zip", ".toml", ".files"];
    endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name).to_owned()
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    match fs_err::read_dir(folder) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// How much room files take, where one may have several names.
#[derive(Debug, Default)]
struct Room {
    bytes: u64,
    /// Files with more than one name: their size and how many of their names were not met yet.
    shared: HashMap<(u64, u64), (u64, u64)>,
}

impl Room {
    fn below(mut self, path: &Path) -> io::Result<Self> {
        self.add(path)?;
        Ok(self)
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs_err::symlink_metadata(path)?;
        let bytes = metadata.blocks() * STAT_BLOCK_BYTES;
        if metadata.is_dir() {
            self.bytes += bytes;
            return entries(path)?.iter().try_for_each(|entry| self.add(entry));
        }
        if metadata.nlink() == 1 {
            self.bytes += bytes;
            return Ok(());
        }
        let file = (metadata.dev(), metadata.ino());
        let (_, names) = self.shared.entry(file).or_insert((bytes, metadata.nlink()));
        *names -= 1;
        Ok(())
    }

    /// What is free once all that was added is gone.
    fn freed_bytes(&self) -> u64 {
        let gone = self.shared.values().filter(|(_, names)| *names == 0);
        self.bytes + gone.map(|(bytes, _)| bytes).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_free_when_its_last_name_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs_err::create_dir(path("a")).unwrap();
        fs_err::write(path("a/one"), vec![1; 100_000]).unwrap();
        let empty = Room::default().below(&path("a")).unwrap().freed_bytes();
        fs_err::hard_link(path("a/one"), path("other")).unwrap();
        let shared = Room::default().below(&path("a")).unwrap().freed_bytes();
        assert!(empty - shared >= 100_000, "{empty} {shared}");
        fs_err::rename(path("other"), path("a/two")).unwrap();
        assert_eq!(Room::default().below(&path("a")).unwrap().freed_bytes(), empty);
    }

    #[test]
    fn names_lead_to_their_toolchain() {
        for name in
            ["go1.27.1.linux-amd64", "go1.27.1.linux-amd64.zip", "go1.27.1.linux-amd64.toml"]
        {
            assert_eq!(toolchain_of(Path::new(name)), "go1.27.1.linux-amd64");
        }
    }
}
