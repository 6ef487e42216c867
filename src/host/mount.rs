//! Which disk a folder is on.

use super::read_text;
use crate::record::MountedDisk;
use std::path::{Path, PathBuf};

/// The device and the file system `folder`, an absolute path, lies on.
pub(super) fn disk(root: &Path, folder: &Path) -> Option<MountedDisk> {
    let table = read_text(&root.join("proc/self/mountinfo"))?;
    let mounts = table.lines().filter_map(Mount::parse);
    // The deepest mount holds the folder; of two at one place, the later covers the earlier.
    let holds = mounts.filter(|mount| folder.starts_with(&mount.point));
    holds.max_by_key(|mount| mount.point.components().count()).map(|mount| mount.disk)
}

struct Mount {
    point: PathBuf,
    disk: MountedDisk,
}

impl Mount {
    /// Reads a line: id, parent, device number, root, mount point, options, optional fields, `-`,
    /// file system, device, options.
    ///
    /// Source: proc_pid_mountinfo(5).
    fn parse(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" - ")?;
        let point = unescaped(before.split(' ').nth(4)?);
        let mut after = after.split(' ');
        let file_system = after.next()?.to_owned();
        let device = unescaped(after.next()?);
        Some(Mount { point: PathBuf::from(point), disk: MountedDisk { device, file_system } })
    }
}

/// Replaces the octal escapes the kernel writes for blanks, tabs, line feeds and backslashes.
fn unescaped(text: &str) -> String {
    [(r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (escape, character)| text.replace(escape, character))
}
