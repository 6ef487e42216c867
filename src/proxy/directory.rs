//! A proxy that is a directory: `file://` in GOPROXY.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};

use super::{FetchError, Source};

/// The size of the pieces in which files are copied, in bytes.
const PIECE_BYTES: usize = 128 * 1024;

/// Reads the files below one directory as the paths of a proxy.
///
/// A missing file is "not found" and an unreadable one is refused, as a web server would say it.
/// Symbolic links are followed: the tree belongs to the user.
#[derive(Debug)]
pub struct DirectorySource {
    root: PathBuf,
    url: String,
}

impl DirectorySource {
    /// Makes a source of `root`, which is not looked at until something is read.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let url = format!("file://{}", root.display());
        DirectorySource { root, url }
    }

    fn open(&self, path: &str, limit: u64) -> Result<(File, u64), FetchError> {
        let url = self.url(path);
        if !stays_below(path) {
            let reason = "not a path inside a proxy".to_owned();
            return Err(FetchError::Unavailable { url, reason });
        }
        let file_path = self.root.join(path);
        // Looked at before it is opened: opening a named pipe would wait for a writer.
        let metadata = fs_err::metadata(&file_path).map_err(|e| failure(&url, &e))?;
        if !metadata.is_file() {
            return Err(FetchError::NotFound { url });
        }
        if metadata.len() > limit {
            return Err(FetchError::TooLarge { url, limit });
        }
        let file = fs_err::File::open(&file_path).map_err(|e| failure(&url, &e))?;
        Ok((file.into_parts().0, metadata.len()))
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.url)
    }
}

impl Source for DirectorySource {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FetchError> {
        let (file, _) = self.open(path, limit)?;
        let mut bytes = Vec::new();
        // One byte more than allowed tells a file that grew since it was looked at.
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|e| failure(&self.url(path), &e))?;
        if bytes.len() as u64 > limit {
            return Err(FetchError::TooLarge { url: self.url(path), limit });
        }
        Ok(bytes)
    }

    fn download(
        &self,
        path: &str,
        limit: u64,
        into: &mut File,
        on_bytes: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<u64, FetchError> {
        let (mut file, expected) = self.open(path, limit)?;
        let url = self.url(path);
        let write = |source| FetchError::Write { url: url.clone(), source };
        into.set_len(0).and_then(|()| into.rewind()).map_err(write)?;
        let mut piece = vec![0; PIECE_BYTES];
        let mut done = 0;
        loop {
            let count = match file.read(&mut piece) {
                Ok(0) => return Ok(done),
                Ok(count) => count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(failure(&url, &e)),
            };
            done += count as u64;
            if done > limit {
                return Err(FetchError::TooLarge { url, limit });
            }
            into.write_all(&piece[..count]).map_err(write)?;
            on_bytes(done, Some(expected));
        }
    }

    fn describe(&self) -> String {
        self.url.clone()
    }
}

fn stays_below(path: &str) -> bool {
    let plain = |c: Component<'_>| matches!(c, Component::Normal(_));
    !path.is_empty() && !path.contains('\0') && Path::new(path).components().all(plain)
}

fn failure(url: &str, error: &io::Error) -> FetchError {
    let url = url.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FetchError::NotFound { url },
        io::ErrorKind::PermissionDenied => FetchError::Refused { url, status: 403 },
        _ => FetchError::Unavailable { url, reason: error.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> (tempfile::TempDir, DirectorySource) {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("m")).unwrap();
        fs_err::write(folder.path().join("m/list"), b"0123456789").unwrap();
        let source = DirectorySource::new(folder.path().join("m"));
        (folder, source)
    }

    #[test]
    fn reads_within_the_limit_only() {
        let (_folder, source) = tree();
        assert_eq!(source.read("list", 10).unwrap(), b"0123456789");
        assert!(matches!(source.read("list", 9), Err(FetchError::TooLarge { limit: 9, .. })));
    }

    #[test]
    fn download_empties_the_file_first_and_reports_progress() {
        let (folder, source) = tree();
        let target = folder.path().join("target");
        fs_err::write(&target, b"something longer than the rest").unwrap();
        let mut file = File::options().read(true).write(true).open(&target).unwrap();
        let mut seen = Vec::new();
        let count = source.download("list", 10, &mut file, &mut |d, t| seen.push((d, t))).unwrap();
        assert_eq!(count, 10);
        assert_eq!(fs_err::read(&target).unwrap(), b"0123456789");
        assert_eq!(seen, [(10, Some(10))]);
    }

    #[test]
    fn what_is_no_file_is_not_found() {
        let (folder, source) = tree();
        fs_err::create_dir(folder.path().join("m/sub")).unwrap();
        for path in ["missing", "missing/list", "list/below", "sub"] {
            let error = source.read(path, 10).unwrap_err();
            assert!(error.is_not_found(), "{path}: {error}");
        }
    }

    #[test]
    fn never_leaves_its_directory() {
        let (folder, source) = tree();
        fs_err::write(folder.path().join("secret"), b"x").unwrap();
        for path in ["../secret", "/etc/passwd", "", "a/../../secret", "list\0"] {
            let error = source.read(path, 10).unwrap_err();
            assert!(matches!(error, FetchError::Unavailable { .. }), "{path}: {error}");
        }
    }
}
