//! Files that a new toolchain shares with those installed before.
//!
//! Neighbouring patch releases differ in a few files and in their programs; the rest is stored once,
//! under a name in each tree (a hard link). Nobody can tell by reading, and removing a tree removes
//! only its names.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use fs_err::File;

use super::tree::{FILE_TIME_S, file_mode};
use crate::module::TreeListing;

/// A file up to this size is unpacked in memory, and so can be held against one that is there.
///
/// Larger ones are programs and archives of compiled packages, which name their release and so
/// differ in every release.
pub(super) const SHARED_BYTES: u64 = 4 << 20;

/// The files of installed toolchains, by what is in them.
#[derive(Debug, Default)]
pub(super) struct Siblings {
    by_content: HashMap<[u8; 32], Vec<PathBuf>>,
}

impl Siblings {
    /// Adds the files of a tree at `root`, which has been unpacked from the zip of `listing`, whose
    /// names begin with `prefix`.
    pub fn add(&mut self, root: &Path, prefix: &str, listing: &TreeListing) {
        for (name, sha256) in listing.files() {
            let Some(name) = name.strip_prefix(prefix) else { continue };
            self.by_content.entry(*sha256).or_default().push(root.join(name));
        }
    }

    /// Makes `to` another name of a file with this content and the mode of `name`; returns whether
    /// there was one and the file system allows it.
    ///
    /// A listing only says where to look. What is found is compared byte by byte, because what
    /// happened to an installed toolchain since must not be handed on to a new one.
    pub fn link(&self, content: &[u8], sha256: &[u8; 32], name: &str, to: &Path) -> bool {
        let Some(places) = self.by_content.get(sha256) else { return false };
        let is_same = |place: &&PathBuf| has_content(place, content, name).unwrap_or(false);
        places.iter().filter(is_same).any(|place| fs_err::hard_link(place, to).is_ok())
    }
}

fn has_content(place: &Path, content: &[u8], name: &str) -> io::Result<bool> {
    let metadata = fs_err::symlink_metadata(place)?;
    let fits = metadata.is_file()
        && metadata.len() == content.len() as u64
        && metadata.mode() & 0o7777 == file_mode(name)
        && metadata.mtime() == FILE_TIME_S as i64;
    if !fits {
        return Ok(false);
    }
    let mut found = Vec::with_capacity(content.len() + 1);
    File::open(place)?.take(content.len() as u64 + 1).read_to_end(&mut found)?;
    Ok(found == content)
}
