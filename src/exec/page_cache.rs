//! Emptying the kernel's page cache, and filling it again with what a round will read.

use std::io::{self, Write};
use std::path::Path;

/// The kernel's switch. Source: `Documentation/admin-guide/sysctl/vm.rst`.
const SWITCH: &str = "/proc/sys/vm/drop_caches";

/// Page cache, directory entries and inodes.
const EVERYTHING: &[u8] = b"3\n";

/// The page cache was not dropped.
#[derive(Debug, thiserror::Error)]
pub enum PageCacheError {
    /// This user or this container may not. Measuring goes on without.
    #[error(
        "not permitted to drop the page cache: {SWITCH} cannot be written; run as root, or on a \
         container's host, if rounds are to start from a cold cache"
    )]
    NotPermitted(#[source] io::Error),
    /// Anything else, such as a kernel without the switch.
    #[error("cannot drop the page cache by writing to {SWITCH}")]
    Failed(#[source] io::Error),
}

/// Writes all dirty pages to disk (only clean ones can be dropped) and empties the page cache.
///
/// This evicts the toolchains, programs and inputs too: follow it with [`read_back`] for what
/// is to be measured warm. The kernel logs a line about it.
///
/// # Errors
///
/// [`PageCacheError::NotPermitted`] if the switch may not be written, which is the rule for
/// ordinary users and in containers; [`PageCacheError::Failed`] otherwise.
pub fn drop_page_cache() -> Result<(), PageCacheError> {
    nix::unistd::sync();
    let switched = fs_err::OpenOptions::new()
        .write(true)
        .open(SWITCH)
        .and_then(|mut switch| switch.write_all(EVERYTHING));
    switched.map_err(PageCacheError::from_kernel)
}

impl PageCacheError {
    fn from_kernel(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                PageCacheError::NotPermitted(error)
            }
            _ => PageCacheError::Failed(error),
        }
    }
}

/// Reads the whole file, so that it is in the page cache, and returns its length in bytes.
///
/// # Errors
///
/// Whatever reading it fails with; the message names the file.
pub fn read_back(path: &Path) -> io::Result<u64> {
    io::copy(&mut fs_err::File::open(path)?, &mut io::sink())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_back_reaches_the_end_of_the_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs_err::write(file.path(), vec![7; (3 << 20) + 5]).unwrap();
        assert_eq!(read_back(file.path()).unwrap(), (3 << 20) + 5);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_back(Path::new("/nonexistent/input")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/input"), "{error}");
    }

    #[test]
    fn a_lack_of_permission_is_told_from_other_failures() {
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem] {
            let error = PageCacheError::from_kernel(kind.into());
            assert!(matches!(error, PageCacheError::NotPermitted(_)));
        }
        let error = PageCacheError::from_kernel(io::ErrorKind::NotFound.into());
        assert!(matches!(error, PageCacheError::Failed(_)));
    }
}
