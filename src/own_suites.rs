//! Suites of the user's own, by name.
//!
//! ```text
//! <folder>/<name>/      a suite: programs/ with suite.toml, and reference-output/
//! <folder>/.lock        held while one is written
//! <folder>/.import-*    one that is being written; removed by the next if its writer was killed
//! ```
//!
//! The folder is in the user's data folder, not in the store: what is in it cannot be had again
//! without the archive it came from.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::store::durable::{FolderLock, sync_file_system, sync_folder};
use crate::suite::check_file_name;

const PRIVATE_PREFIX: &str = ".import-";
const MANIFEST: &str = "programs/suite.toml";

/// The folder with the user's own suites. It need not exist.
#[derive(Clone, Debug)]
pub struct OwnSuites {
    root: PathBuf,
}

/// The files of a suite by their path in it, with `/` between elements.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What became of a suite that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    New,
    Replaced,
    /// It was there already, file by file.
    Unchanged,
    /// Another suite of that name is there and was left alone.
    Refused,
}

impl OwnSuites {
    pub fn at(root: PathBuf) -> Self {
        OwnSuites { root }
    }

    /// Where the suite called `name` is or would be.
    ///
    /// # Errors
    ///
    /// If `name` is not a plain name.
    pub fn place(&self, name: &str) -> Result<PathBuf> {
        if let Err(reason) = check_file_name(name) {
            bail!("suite {reason}");
        }
        Ok(self.root.join(name))
    }

    /// The names of the suites that are there.
    pub fn names(&self) -> Vec<String> {
        let entries = fs_err::read_dir(&self.root).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| {
                check_file_name(name).is_ok() && self.root.join(name).join(MANIFEST).is_file()
            })
            .collect();
        names.sort();
        names
    }

    /// Writes a suite, whole or not at all.
    ///
    /// A suite of this name with other content is replaced only if `replace` says so.
    ///
    /// # Errors
    ///
    /// If the folder cannot be read or written, or `name` is not a plain name.
    ///
    /// # Panics
    ///
    /// If the path of a file is not relative, or leads out of the suite.
    pub fn write(&self, name: &str, files: &Files, replace: bool) -> Result<Written> {
        let place = self.place(name)?;
        fs_err::create_dir_all(&self.root)?;
        let _lock = FolderLock::acquire(&self.root.join(".lock"))?;
        self.sweep()?;
        let is_there = fs_err::symlink_metadata(&place).is_ok();
        if is_there && has_just(&place, files)? {
            return Ok(Written::Unchanged);
        }
        if is_there && !replace {
            return Ok(Written::Refused);
        }
        let private = tempfile::Builder::new().prefix(PRIVATE_PREFIX).tempdir_in(&self.root)?;
        let suite = private.path().join("new");
        for (path, content) in files {
            let is_below = path.split('/').all(|element| !["", ".", ".."].contains(&element));
            assert!(is_below, "{path:?} is no path in a suite");
            let path = suite.join(path);
            fs_err::create_dir_all(path.parent().expect("it is below the suite"))?;
            fs_err::write(path, content)?;
        }
        sync_file_system(&suite)?;
        let aside = private.path().join("old");
        if is_there {
            fs_err::rename(&place, &aside)?;
        }
        if let Err(error) = fs_err::rename(&suite, &place) {
            if is_there {
                fs_err::rename(&aside, &place).context("and the suite that was there")?;
            }
            return Err(error.into());
        }
        sync_folder(&self.root)?;
        Ok(if is_there { Written::Replaced } else { Written::New })
    }

    /// Removes what killed processes left. The lock is held, so nobody else is writing.
    fn sweep(&self) -> io::Result<()> {
        for entry in fs_err::read_dir(&self.root)? {
            let entry = entry?;
            if entry.file_name().as_encoded_bytes().starts_with(PRIVATE_PREFIX.as_bytes()) {
                fs_err::remove_dir_all(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Whether a folder has these files and no others.
fn has_just(folder: &Path, files: &Files) -> io::Result<bool> {
    let mut left: BTreeMap<PathBuf, &[u8]> =
        files.iter().map(|(path, content)| (folder.join(path), &**content)).collect();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            match left.remove(&entry.path()) {
                Some(content)
                    if entry.file_type()?.is_file() && has_content(&entry.path(), content)? => {}
                _ => return Ok(false),
            }
        }
    }
    Ok(left.is_empty())
}

fn has_content(path: &Path, content: &[u8]) -> io::Result<bool> {
    let mut found = Vec::new();
    fs_err::File::open(path)?.take(content.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(found == content)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(content: &str) -> Files {
        let files = [(MANIFEST, content), ("programs/a/main.go", "package main"), ("LICENSE", "")];
        files.map(|(path, content)| (path.to_owned(), content.as_bytes().to_vec())).into()
    }

    #[test]
    fn a_suite_is_written_once_and_replaced_only_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let suites = OwnSuites::at(folder.path().join("made/if/need/be"));
        let write = |content, replace| suites.write("mine", &files(content), replace).unwrap();
        let manifest = || fs_err::read_to_string(suites.root.join("mine").join(MANIFEST)).unwrap();

        assert_eq!(suites.names(), Vec::<String>::new());
        assert_eq!(write("one", false), Written::New);
        assert_eq!(write("one", false), Written::Unchanged);
        assert_eq!((write("two", false), manifest().as_str()), (Written::Refused, "one"));
        assert_eq!((write("two", true), manifest().as_str()), (Written::Replaced, "two"));
        assert_eq!(suites.names(), ["mine"]);
        let left = fs_err::read_dir(&suites.root).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.filter(|name| *name != "mine" && *name != ".lock").count(), 0);
    }

    #[test]
    fn a_file_more_or_less_is_another_suite() {
        let folder = tempfile::tempdir().unwrap();
        let suites = OwnSuites::at(folder.path().to_owned());
        suites.write("mine", &files("one"), false).unwrap();
        let more = folder.path().join("mine/programs/a/more.go");
        fs_err::write(&more, "package main").unwrap();
        assert_eq!(suites.write("mine", &files("one"), false).unwrap(), Written::Refused);
        fs_err::remove_file(more).unwrap();
        fs_err::remove_file(folder.path().join("mine/LICENSE")).unwrap();
        assert_eq!(suites.write("mine", &files("one"), false).unwrap(), Written::Refused);
        assert_eq!(suites.write("mine", &files("one"), true).unwrap(), Written::Replaced);
        assert_eq!(suites.write("mine", &files("one"), true).unwrap(), Written::Unchanged);
    }

    #[test]
    fn what_a_killed_import_left_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let left = folder.path().join(format!("{PRIVATE_PREFIX}left"));
        fs_err::create_dir_all(left.join("new/programs")).unwrap();
        let suites = OwnSuites::at(folder.path().to_owned());
        suites.write("mine", &files("one"), false).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_name_is_no_path() {
        let suites = OwnSuites::at("/nowhere".into());
        for name in ["", ".", "..", "a/b", "/a", ".hidden", "a b"] {
            assert!(suites.place(name).is_err(), "{name:?}");
        }
    }
}
