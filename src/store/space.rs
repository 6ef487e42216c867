//! Room on the disk.

use std::io;
use std::path::Path;

use crate::units;

/// Checks that the file system of `folder` has room for `needed_bytes` more.
///
/// To be asked before something large is begun, so that it fails early and says why. Others write
/// too: whoever was told that there is room may still find the disk full.
///
/// # Errors
///
/// [`io::ErrorKind::StorageFull`] if it has not, naming the folder and both sizes.
pub(super) fn check(folder: &Path, needed_bytes: u64) -> io::Result<()> {
    let status = nix::sys::statvfs::statvfs(folder)?;
    let free_bytes = status.blocks_available().saturating_mul(status.fragment_size());
    if needed_bytes <= free_bytes {
        return Ok(());
    }
    let text = |bytes: u64| units::bytes(bytes as f64);
    let message = format!(
        "{} needs room for {} and has {} free",
        folder.display(),
        text(needed_bytes),
        text(free_bytes)
    );
    Err(io::Error::new(io::ErrorKind::StorageFull, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_disk_has_room_for_is_refused_and_nothing_always_fits() {
        let folder = tempfile::tempdir().unwrap();
        check(folder.path(), 0).unwrap();
        let error = check(folder.path(), u64::MAX).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let text = error.to_string();
        assert!(text.contains("needs room for 16777216 TiB and has "), "{text}");
    }
}
