//! What lies in a folder, to the byte, and how two looks at it differ.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Everything below a folder: kind and mode, time, and content.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, (u32, i64, Vec<u8>)>);

impl Snapshot {
    /// Looks at everything below `root` except what is below one of `left_out`. Times of folders do
    /// not count: temporary files come and go in them.
    pub fn of(root: &Path, left_out: &[&str]) -> Self {
        let mut found = BTreeMap::new();
        walk(root, &mut |path| {
            let name = name_below(root, path);
            if left_out.iter().any(|folder| Path::new(&name).starts_with(folder)) {
                return;
            }
            let metadata = fs_err::symlink_metadata(path).unwrap();
            let (time, content) = match metadata.is_file() {
                true => (metadata.mtime(), fs_err::read(path).unwrap()),
                false => (0, Vec::new()),
            };
            found.insert(name, (metadata.mode(), time, content));
        });
        Snapshot(found)
    }

    /// What is not as it was, one line each; empty if nothing has changed.
    pub fn changes_to(&self, now: &Snapshot) -> String {
        let mut lines = String::new();
        for (name, was) in &self.0 {
            match now.0.get(name) {
                None => writeln!(lines, "{name} is gone").unwrap(),
                Some(is) if is != was => writeln!(lines, "{name} has changed").unwrap(),
                Some(_) => {}
            }
        }
        for name in now.0.keys().filter(|name| !self.0.contains_key(*name)) {
            writeln!(lines, "{name} is new").unwrap();
        }
        lines
    }
}

/// The files below a folder: name and path.
pub fn files_below(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    walk(root, &mut |path| {
        if !path.is_dir() {
            found.insert(name_below(root, path), path.to_owned());
        }
    });
    found
}

/// Copies a folder with its modes and times.
pub fn copy_tree(from: &Path, to: &Path) {
    fs_err::create_dir(to).unwrap();
    walk(from, &mut |path| {
        let target = to.join(name_below(from, path));
        if path.is_dir() {
            fs_err::create_dir(&target).unwrap();
            return;
        }
        let metadata = fs_err::metadata(path).unwrap();
        fs_err::write(&target, fs_err::read(path).unwrap()).unwrap();
        let file = fs_err::File::open(&target).unwrap();
        file.file().set_modified(metadata.modified().unwrap()).unwrap();
        fs_err::set_permissions(&target, metadata.permissions()).unwrap();
    });
}

/// Visits everything below a folder, a folder before what is in it.
fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        visit(&path);
        if path.is_dir() && !path.is_symlink() {
            walk(&path, visit);
        }
    }
}

fn name_below(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap().to_string_lossy().into_owned()
}
