//! What is remembered of a checksum database, on disk.

use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;

use super::Store;
use super::durable::FolderLock;
use crate::proxy::SumdbSetting;
use crate::sumdb::Memory;

/// More than any answer or head kept here has.
const FILE_BYTES: u64 = 64 * 1024;

/// The memory of one database: `latest`, `lookup/…` and `tile/…` below `sumdb/<name>+<key hash>/`.
///
/// The key is in the folder's name, because two databases may have one name (every mirror, unless it
/// was given another) and the head of one means nothing to the other.
#[derive(Debug)]
pub struct SumdbMemory {
    store: Store,
    folder: PathBuf,
    lock: PathBuf,
    known_head: Option<&'static str>,
}

impl SumdbMemory {
    /// Opens the memory of the database of `setting`. Nothing is read or written yet.
    pub fn open(store: &Store, setting: &SumdbSetting) -> Self {
        let name = format!("{}+{:08x}", setting.name(), setting.key().hash());
        SumdbMemory {
            store: store.clone(),
            folder: store.root().join("sumdb").join(&name),
            lock: store.lock(&format!("sumdb.{}", name.replace('/', "_"))),
            known_head: setting.known_head(),
        }
    }

    /// Where an answer is kept; `None` for a path that would lead elsewhere.
    fn place(&self, path: &str) -> Option<PathBuf> {
        let stays_below =
            Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        (stays_below && !path.contains('\0')).then(|| self.folder.join(path))
    }

    fn read_latest(&self) -> anyhow::Result<Option<String>> {
        let path = self.folder.join("latest");
        let bytes = match read_bounded(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(self.known_head.map(str::to_owned));
            }
            Err(error) => return Err(error.into()),
        };
        let text = String::from_utf8(bytes);
        text.map(Some).with_context(|| format!("{} is not text", path.display()))
    }
}

impl Memory for SumdbMemory {
    fn latest(&self) -> anyhow::Result<Option<String>> {
        self.read_latest()
    }

    fn latest_place(&self) -> String {
        self.folder.join("latest").display().to_string()
    }

    fn replace_latest(&self, old: Option<&str>, new: &str) -> anyhow::Result<bool> {
        let _lock = FolderLock::acquire(&self.lock)?;
        if self.read_latest()?.as_deref() != old {
            return Ok(false);
        }
        self.store.write(&self.folder.join("latest"), new.as_bytes())?;
        Ok(true)
    }

    fn cached(&self, path: &str) -> Option<Vec<u8>> {
        // An empty file is what a full disk leaves behind on some systems.
        read_bounded(&self.place(path)?).ok().filter(|bytes| !bytes.is_empty())
    }

    fn keep(&self, path: &str, content: &[u8]) {
        let Some(place) = self.place(path) else { return };
        if let Err(error) = self.store.write_hint(&place, content) {
            log::warn!("not remembered: {error}");
        }
    }

    fn forget(&self, path: &str) {
        let Some(place) = self.place(path) else { return };
        match fs_err::remove_file(place) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                log::warn!("not forgotten: {error}");
            }
            _ => {}
        }
    }
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs_err::File::open(path)?.take(FILE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES {
        let message = format!("{} has more than {FILE_BYTES} bytes", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(gosumdb: &str) -> (tempfile::TempDir, SumdbMemory) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let memory = SumdbMemory::open(&store, &SumdbSetting::parse(gosumdb).unwrap());
        (folder, memory)
    }

    fn mirror_key(seed: u8) -> String {
        let signer = crate::sumdb::SignerKey::from_seed("mirror.example/db", &[seed; 32]).unwrap();
        signer.verifier().to_string()
    }

    #[test]
    fn latest_is_replaced_only_by_who_knows_it() {
        let (_folder, memory) = memory(&mirror_key(1));
        assert_eq!(memory.latest().unwrap(), None);
        assert!(!memory.replace_latest(Some("a"), "b").unwrap());
        assert!(memory.replace_latest(None, "a").unwrap());
        assert!(!memory.replace_latest(None, "b").unwrap());
        assert_eq!(memory.latest().unwrap().as_deref(), Some("a"));
        assert!(memory.replace_latest(Some("a"), "b").unwrap());
        assert_eq!(memory.latest().unwrap().as_deref(), Some("b"));
    }

    #[test]
    fn of_many_at_once_one_replaces() {
        let (_folder, memory) = memory(&mirror_key(1));
        let replaced = std::thread::scope(|scope| {
            let replace = |n: u32| {
                let memory = &memory;
                scope.spawn(move || memory.replace_latest(None, &n.to_string()).unwrap())
            };
            let threads: Vec<_> = (0..8).map(replace).collect();
            threads.into_iter().map(|t| t.join().unwrap()).filter(|r| *r).count()
        });
        assert_eq!(replaced, 1);
    }

    #[test]
    fn the_go_teams_database_is_known_from_the_start() {
        let (_folder, memory) = memory("sum.golang.org");
        let head = memory.latest().unwrap().unwrap();
        let setting = SumdbSetting::parse("").unwrap();
        crate::sumdb::note::open(head.as_bytes(), setting.key()).unwrap();
        assert!(memory.replace_latest(Some(&head), "newer").unwrap());
        assert_eq!(memory.latest().unwrap().as_deref(), Some("newer"));
    }

    #[test]
    fn a_head_that_is_there_and_cannot_be_read_is_not_taken_for_none() {
        let (_folder, memory) = memory(&mirror_key(1));
        fs_err::create_dir_all(memory.folder.join("latest")).unwrap();
        assert!(memory.latest().is_err());
        assert!(memory.replace_latest(None, "a").is_err());
    }

    #[test]
    fn answers_are_kept_until_forgotten() {
        let (_folder, memory) = memory(&mirror_key(1));
        let path = "tile/8/0/x178/752.p/3";
        assert_eq!(memory.cached(path), None);
        memory.keep(path, b"hashes");
        assert_eq!(memory.cached(path).unwrap(), b"hashes");
        memory.forget(path);
        memory.forget(path);
        assert_eq!(memory.cached(path), None);
    }

    #[test]
    fn an_empty_or_huge_file_counts_as_missing() {
        let (_folder, memory) = memory(&mirror_key(1));
        memory.keep("a", b"");
        assert_eq!(memory.cached("a"), None);
        memory.keep("a", &vec![b'x'; FILE_BYTES as usize + 1]);
        assert_eq!(memory.cached("a"), None);
    }

    #[test]
    fn nothing_leaves_the_folder() {
        let (folder, memory) = memory(&mirror_key(1));
        for path in ["../../x", "/x", "a/../../../../x", "x\0"] {
            memory.keep(path, b"content");
            assert_eq!(memory.cached(path), None, "{path:?}");
            memory.forget(path);
        }
        assert!(!folder.path().join("x").exists());
    }

    #[test]
    fn databases_of_one_name_and_two_keys_do_not_share_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let open =
            |seed| SumdbMemory::open(&store, &SumdbSetting::parse(&mirror_key(seed)).unwrap());
        open(1).replace_latest(None, "one").unwrap();
        assert_eq!(open(2).latest().unwrap(), None);
        assert_eq!(open(1).latest().unwrap().as_deref(), Some("one"));
    }
}
