//! A proxy that is a directory: `file://` in GOPROXY.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use super::{FetchError, Kept, Obtained, Recipient, Source};

/// Reads the files below one directory as the paths of a proxy.
///
/// A missing file is "not found" and an unreadable one is refused, as a web server would say it.
/// Symbolic links are followed: the tree belongs to the user. Nothing is copied: what is obtained is
/// the user's own file.
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
        let file = fs_err::File::open(&file_path).map_err(|e| failure(&url, &e))?;
        // The file that was opened counts, not the one that had its name a moment ago.
        let bytes = file.metadata().map_err(|e| failure(&url, &e))?.len();
        if bytes > limit {
            return Err(FetchError::TooLarge { url, limit });
        }
        Ok((file.into_parts().0, bytes))
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

    fn obtain(
        &self,
        path: &str,
        limit: u64,
        _keep: &Kept,
        recipient: &dyn Recipient,
    ) -> Result<Obtained, FetchError> {
        let (file, bytes) = self.open(path, limit)?;
        let write = |source| FetchError::Write { url: self.url(path), source };
        recipient.begin(Some(bytes), bytes).map_err(write)?;
        recipient.received(bytes);
        if recipient.is_stopped() {
            return Err(FetchError::Stopped { url: self.url(path) });
        }
        Ok(Obtained { file, bytes, was_kept: false })
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
    use crate::proxy::source::tests::Noted;

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
    fn hands_out_its_own_file_and_keeps_nothing() {
        let (folder, source) = tree();
        let keep = Kept::at(folder.path().join("kept"));
        let recipient = Noted::default();
        let mut obtained = source.obtain("list", 10, &keep, &recipient).unwrap();
        let mut content = String::new();
        obtained.file.read_to_string(&mut content).unwrap();
        assert_eq!(
            (content.as_str(), obtained.bytes, obtained.was_kept),
            ("0123456789", 10, false)
        );
        assert_eq!(recipient.said(), ["begin Some(10) 10", "received 10"]);
        let left = fs_err::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "something besides the tree");
        let error = source.obtain("list", 9, &keep, &recipient).unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { limit: 9, .. }), "{error}");
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
