//! Proves real answers of sum.golang.org under its real key.
//!
//! The answers are not part of this repository. `GOSURVEY_SUMDB_VECTORS` names a folder with one
//! folder for each Go module cache they come from, laid out as there: `latest`,
//! `lookup/golang.org/toolchain@…`, `tile/8/…`. Without it these tests do nothing and say so.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "a test that checks nothing must say so")]

mod flips;
mod lookups;
mod timeline;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{LazyLock, Mutex};

use gosurvey::module;
use gosurvey::proxy::SumdbSetting;
use gosurvey::sumdb::{
    Answer, Client, Database, Memory, Proof, ReadError, SumdbError, TreeHead, VerifierKey, note,
};

/// What stands before the version in the path of a lookup.
const LOOKUP: &str = "lookup/golang.org/toolchain@";

/// One module cache's checksum database folder, read once.
struct Folder {
    name: String,
    files: BTreeMap<String, Vec<u8>>,
}

impl Folder {
    fn read(root: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![root.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs_err::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs_err::read(&path).unwrap());
            }
        }
        Folder { name: root.file_name().unwrap().to_str().unwrap().to_owned(), files }
    }

    fn text(&self, path: &str) -> &str {
        str::from_utf8(&self.files[path]).unwrap()
    }

    /// The versions with a lookup here.
    fn versions(&self) -> impl Iterator<Item = &str> {
        self.files.keys().filter_map(|path| path.strip_prefix(LOOKUP))
    }

    fn answer(&self, version: &str) -> Answer<'_> {
        Answer::parse(&self.files[&format!("{LOOKUP}{version}")]).unwrap()
    }

    /// The folder's latest head, unless a lookup in it shows a newer one: then the folder has the
    /// tiles of that head only.
    fn latest(&self) -> Option<&str> {
        let latest = self.text("latest");
        let size = head_of(latest).size;
        let is_newest = self.versions().all(|v| head_of(self.answer(v).note).size <= size);
        is_newest.then_some(latest)
    }
}

/// A folder as a database, with every file read written down.
struct Served<'a> {
    folder: &'a Folder,
    read: Mutex<BTreeSet<String>>,
    /// A file and the position of the byte to deliver wrongly.
    flipped: Option<(&'a str, usize)>,
}

impl<'a> Served<'a> {
    fn new(folder: &'a Folder) -> Self {
        Served { folder, read: Mutex::default(), flipped: None }
    }

    fn with_flipped(folder: &'a Folder, path: &'a str, position: usize) -> Self {
        Served { flipped: Some((path, position)), ..Served::new(folder) }
    }

    fn read(&self) -> BTreeSet<String> {
        self.read.lock().unwrap().clone()
    }

    fn tiles_read(&self) -> Vec<String> {
        self.read().into_iter().filter(|path| path.starts_with("tile/")).collect()
    }
}

impl Database for Served<'_> {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let mut file = self.folder.files.get(path).ok_or(ReadError::NotFound)?.clone();
        assert!(file.len() as u64 <= limit);
        self.read.lock().unwrap().insert(path.to_owned());
        if let Some((flipped, position)) = self.flipped
            && flipped == path
        {
            file[position] ^= FLIP;
        }
        Ok(file)
    }
}

/// What a flipped byte is changed by.
const FLIP: u8 = 0x10;

/// Remembers the latest head and nothing else.
struct Latest(Mutex<Option<String>>);

impl Latest {
    fn new(note: Option<&str>) -> Self {
        Latest(Mutex::new(note.map(str::to_owned)))
    }

    fn note(&self) -> Option<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Memory for Latest {
    fn latest(&self) -> anyhow::Result<Option<String>> {
        Ok(self.note())
    }

    fn replace_latest(&self, old: Option<&str>, new: &str) -> anyhow::Result<bool> {
        let mut latest = self.0.lock().unwrap();
        assert_eq!(latest.as_deref(), old);
        *latest = Some(new.to_owned());
        Ok(true)
    }

    fn cached(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }

    fn keep(&self, _path: &str, _content: &[u8]) {}

    fn forget(&self, _path: &str) {}
}

/// The key built into the program, which is the real one.
fn key() -> &'static VerifierKey {
    static SETTING: LazyLock<SumdbSetting> =
        LazyLock::new(|| SumdbSetting::parse("sum.golang.org").unwrap());
    SETTING.key()
}

fn prove(database: &dyn Database, latest: &Latest, version: &str) -> Result<Proof, SumdbError> {
    Client::new(database, latest, key()).prove(module::PATH, version)
}

fn head_of(signed: &str) -> TreeHead {
    TreeHead::parse(note::open(signed.as_bytes(), key()).unwrap()).unwrap()
}

/// All folders, or none if there are none to be had.
fn folders() -> Vec<Folder> {
    #[expect(clippy::disallowed_methods, reason = "the only way to give a test a folder")]
    let Some(root) = std::env::var_os("GOSURVEY_SUMDB_VECTORS") else {
        println!("skipped: GOSURVEY_SUMDB_VECTORS names no folder of real answers");
        return Vec::new();
    };
    let entries = fs_err::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<Folder> =
        entries.filter(|path| path.is_dir()).map(|path| Folder::read(&path)).collect();
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(!folders.is_empty(), "GOSURVEY_SUMDB_VECTORS names an empty folder");
    folders
}
