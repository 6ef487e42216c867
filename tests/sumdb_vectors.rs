//! Proves real answers of sum.golang.org under its real key.
//!
//! The answers are not part of this repository. `GOSURVEY_SUMDB_VECTORS` names a folder with one
//! folder for each Go module cache they come from, laid out as there: `latest`,
//! `lookup/golang.org/toolchain@…`, `tile/8/…`. Without it these tests do nothing and say so.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "a test that checks nothing must say so")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use gosurvey::module;
use gosurvey::sumdb::{
    Answer, Client, Database, Memory, Proof, ReadError, SumdbError, TreeHead, VerifierKey, note,
};

const KEY: &str = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";

/// A module cache's checksum database folder, with every file read written down.
struct Folder {
    root: PathBuf,
    read: Mutex<Vec<String>>,
    /// A file and the position of the byte to deliver wrongly.
    flipped: Option<(String, usize)>,
}

impl Folder {
    fn new(root: &Path) -> Self {
        Folder { root: root.to_owned(), read: Mutex::default(), flipped: None }
    }

    fn with_flipped(root: &Path, path: &str, position: usize) -> Self {
        Folder { flipped: Some((path.to_owned(), position)), ..Folder::new(root) }
    }

    fn text(&self, path: &str) -> String {
        fs_err::read_to_string(self.root.join(path)).unwrap()
    }

    /// The versions with a lookup here.
    fn versions(&self) -> Vec<String> {
        let lookups = fs_err::read_dir(self.root.join("lookup/golang.org")).unwrap();
        let version = |name: String| name.strip_prefix("toolchain@").unwrap().to_owned();
        lookups.map(|entry| version(entry.unwrap().file_name().into_string().unwrap())).collect()
    }

    fn tiles_read(&self) -> Vec<String> {
        let read = self.read.lock().unwrap();
        read.iter().filter(|path| path.starts_with("tile/")).cloned().collect()
    }
}

impl Database for Folder {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let mut file = fs_err::read(self.root.join(path)).map_err(|_| ReadError::NotFound)?;
        assert!(file.len() as u64 <= limit);
        self.read.lock().unwrap().push(path.to_owned());
        if let Some((flipped, position)) = &self.flipped
            && flipped == path
        {
            file[*position] ^= 0x10;
        }
        Ok(file)
    }
}

/// Remembers the latest head and nothing else.
struct Latest(Mutex<Option<String>>);

impl Latest {
    fn new(note: Option<String>) -> Self {
        Latest(Mutex::new(note))
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

fn key() -> VerifierKey {
    VerifierKey::parse(KEY).unwrap()
}

fn prove(folder: &Folder, latest: &Latest, version: &str) -> Result<Proof, SumdbError> {
    Client::new(folder, latest, &key()).prove(module::PATH, version)
}

fn head_of(signed: &str) -> TreeHead {
    TreeHead::parse(note::open(signed.as_bytes(), &key()).unwrap()).unwrap()
}

/// The head in the answer to the lookup of `version`.
fn head_shown(folder: &Folder, version: &str) -> TreeHead {
    let answer = folder.text(&format!("lookup/golang.org/toolchain@{version}"));
    head_of(Answer::parse(answer.as_bytes()).unwrap().note)
}

/// The folder's latest head, unless a lookup in it shows a newer one: then the folder has the tiles
/// of that head only.
fn latest_of(folder: &Folder) -> Option<String> {
    let latest = folder.text("latest");
    let size = head_of(&latest).size;
    let is_newest = folder.versions().iter().all(|v| head_shown(folder, v).size <= size);
    is_newest.then_some(latest)
}

/// Calls `check` with every folder, or says that there is none.
fn for_each_folder(mut check: impl FnMut(&Path)) {
    #[expect(clippy::disallowed_methods, reason = "the only way to give a test a folder")]
    let Some(root) = std::env::var_os("GOSURVEY_SUMDB_VECTORS") else {
        println!("skipped: GOSURVEY_SUMDB_VECTORS names no folder of real answers");
        return;
    };
    let entries = fs_err::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(!folders.is_empty(), "GOSURVEY_SUMDB_VECTORS names an empty folder");
    folders.iter().for_each(|folder| check(folder));
}

/// Calls `check` with every folder, the head remembered when it was made, and each version in it.
fn for_each_lookup(mut check: impl FnMut(&Path, &Option<String>, &str)) {
    for_each_folder(|root| {
        let folder = Folder::new(root);
        let latest = latest_of(&folder);
        for version in folder.versions() {
            check(root, &latest, &version);
        }
    });
}

#[test]
fn every_lookup_is_proven_in_the_newest_head() {
    let mut proven = BTreeSet::new();
    for_each_lookup(|root, latest, version| {
        let folder = Folder::new(root);
        let shown = head_shown(&folder, version);
        let remembered = Latest::new(latest.clone());
        let proof = prove(&folder, &remembered, version)
            .unwrap_or_else(|error| panic!("{} {version}: {error:?}", root.display()));

        let newest = latest.as_deref().map_or(shown, head_of);
        assert_eq!(head_of(&remembered.note().unwrap()), newest);
        assert_eq!(proof.tree_size, newest.size);
        assert_eq!(proof.root, newest.root.to_string());
        assert!(proof.record_id < shown.size);
        assert_eq!(proof.go_mod_h1.to_h1(), module::GO_MOD_H1);
        assert_eq!(proof.database, "sum.golang.org");
        proven.insert((version.to_owned(), proof.record_id, proof.h1.to_h1()));
    });
    println!("{} module versions proven", proven.len());
    // Digests that were also computed from the files of these toolchains.
    for (version, id, h1) in [
        ("1.23.1", 29_517_969, "h1:TmiC7kE4hHuA7UwTcrWUtL/Curn//Xchpqc+HHYEv2M="),
        ("1.25.5", 47_680_624, "h1:IkknVKy/4hLMR+ZwWfP4Oqhjz2sKqNtEXz1meP8P3Nc="),
    ] {
        let expected = (format!("v0.0.1-go{version}.linux-amd64"), id, h1.to_owned());
        assert!(proven.is_empty() || proven.contains(&expected), "{version}");
    }
}

#[test]
fn a_first_lookup_reads_at_most_seven_tiles() {
    let mut first_lookups = 0;
    for_each_lookup(|root, _, version| {
        let folder = Folder::new(root);
        // Where the folder has the tiles of the latest head only, the proof ends for lack of them.
        match prove(&folder, &Latest::new(None), version) {
            Ok(_) => first_lookups += 1,
            Err(error) => assert!(matches!(error, SumdbError::TileMissing { .. }), "{error:?}"),
        }
        assert!(folder.tiles_read().len() <= 7, "{:?}", folder.tiles_read());
    });
    println!("{first_lookups} first lookups");
}

#[test]
fn every_tile_counts() {
    for_each_lookup(|root, latest, version| {
        let honest = Folder::new(root);
        prove(&honest, &Latest::new(latest.clone()), version).unwrap();
        for tile in honest.tiles_read() {
            let bytes = fs_err::metadata(root.join(&tile)).unwrap().len() as usize;
            for position in [0, bytes / 2, bytes - 1] {
                let forged = Folder::with_flipped(root, &tile, position);
                let remembered = Latest::new(latest.clone());
                let error = prove(&forged, &remembered, version).unwrap_err();
                let is_mismatch = matches!(error, SumdbError::TileMismatch { .. });
                assert!(is_mismatch, "{tile} byte {position}: {error}");
                assert_eq!(remembered.note(), *latest);
            }
        }
    });
}

#[test]
fn every_part_of_a_lookup_counts() {
    for_each_lookup(|root, latest, version| {
        let lookup = format!("lookup/golang.org/toolchain@{version}");
        for position in (0..Folder::new(root).text(&lookup).len()).step_by(11) {
            let forged = Folder::with_flipped(root, &lookup, position);
            assert!(prove(&forged, &Latest::new(latest.clone()), version).is_err());
        }
    });
}
