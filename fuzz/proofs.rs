//! What must hold of a proof, whatever the database serves and the cache holds.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use gosurvey::module::TreeDigest;
use gosurvey::sumdb::{Client, Database, Memory, ModuleRecord, ReadError, TreeHead, note, publish};

use super::ALICE;

/// One published state of a log.
struct Published {
    files: BTreeMap<String, Vec<u8>>,
    head: String,
    /// The root in base64, as the head has it.
    root: String,
    records: Vec<ModuleRecord>,
}

/// The honest log, early and late, and one that was honest until record 100.
static LOGS: LazyLock<[Published; 3]> =
    LazyLock::new(|| [published(200, None), published(300, None), published(300, Some(100))]);

const EARLY: usize = 0;
const LATE: usize = 1;
const FORKED: usize = 2;

fn published(size: u64, forked_at: Option<u64>) -> Published {
    let record = |id: u64| {
        let byte = if Some(id) == forked_at { 0xff } else { id as u8 };
        ModuleRecord {
            path: format!("example.test/m{id}"),
            version: "v1.0.0".to_owned(),
            h1: TreeDigest::from_bytes([byte; 32]),
            go_mod_h1: TreeDigest::from_bytes([0; 32]),
        }
    };
    let records: Vec<ModuleRecord> = (0..size).map(record).collect();
    let files = publish(&records, &ALICE).expect("distinct names").into_iter().collect();
    let files: BTreeMap<String, Vec<u8>> = files;
    let head = String::from_utf8(files["latest"].clone()).expect("a note is text");
    let root = head.lines().nth(2).unwrap_or_default().to_owned();
    Published { files, head, root, records }
}

/// The records asked for: at the ends of the tree and of its tiles, and around the fork.
const ASKED: [u64; 8] = [0, 99, 100, 199, 200, 255, 256, 299];

/// What is served or cached wrongly may be any of these.
fn edited_paths() -> Vec<String> {
    let tiles = LOGS.iter().flat_map(|log| log.files.keys());
    let mut paths: Vec<String> =
        tiles.filter(|path| path.starts_with("tile/") && !path.contains("data")).cloned().collect();
    paths.sort();
    paths.dedup();
    paths.extend(ASKED.map(|id| format!("lookup/example.test/m{id}@v1.0.0")));
    paths
}

/// A proof from a database that serves, and a memory that holds, whatever the input says: what is
/// proven is in the log, and no two logs are ever taken for one.
pub fn proof(bytes: &[u8]) {
    let [choice, asked, edits @ ..] = bytes else { return };
    let remembered = [None, Some(EARLY), Some(LATE), Some(FORKED)][usize::from(choice & 3)];
    let served = &LOGS[usize::from(choice >> 2) % 3];
    let mut database = served.files.clone();
    let mut cache = BTreeMap::new();
    let paths = edited_paths();
    for edit in edits.chunks(6).take(64) {
        let [place, what, ..] = edit else { continue };
        let path = &paths[usize::from(place & 0x7f) % paths.len()];
        let files = if place & 0x80 == 0 { &mut database } else { &mut cache };
        edit_file(files, path, *what, &edit[2..]);
    }
    let memory = Remembered {
        latest: Mutex::new(remembered.map(|log| LOGS[log].head.clone())),
        cache: Mutex::new(cache),
        kept: Mutex::default(),
    };
    let id = ASKED[usize::from(*asked) % ASKED.len()];
    let database = Files(database);
    let client = Client::new(&database, &memory, ALICE.verifier());
    let result = client.prove(&format!("example.test/m{id}"), "v1.0.0");
    let kept = memory.kept.into_inner().expect("nobody panicked");
    let latest = memory.latest.into_inner().expect("nobody panicked");
    let is_trusted = |log: &&Published| match remembered {
        Some(FORKED) => log.root == LOGS[FORKED].root,
        Some(_) => log.root != LOGS[FORKED].root,
        None => true,
    };
    match result {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert!(kept.iter().all(|(path, _)| path.starts_with("tile/")));
            assert_eq!(latest, remembered.map(|log| LOGS[log].head.clone()));
        }
        Ok(proof) => {
            let log = LOGS.iter().filter(is_trusted).find(|log| log.root == proof.root);
            let log = log.unwrap_or_else(|| panic!("proven in no log that is trusted: {proof:?}"));
            let record = &log.records[id as usize];
            assert_eq!((proof.h1, proof.go_mod_h1), (record.h1, record.go_mod_h1));
            assert_eq!((proof.record_id, proof.tree_size), (id, log.records.len() as u64));
            let latest = latest.expect("a head is remembered once something is proven");
            let text = note::open(latest.as_bytes(), ALICE.verifier()).expect("it is signed");
            assert_eq!(TreeHead::parse(text).map(|head| head.root.to_string()), Ok(proof.root));
            for (path, content) in kept.iter().filter(|(path, _)| path.starts_with("tile/")) {
                let is_in = |log: &Published| log.files.get(path) == Some(content);
                assert!(LOGS.iter().filter(is_trusted).any(is_in), "kept a wrong {path}");
            }
        }
    }
}

fn edit_file(files: &mut BTreeMap<String, Vec<u8>>, path: &str, what: u8, how: &[u8]) {
    let [low, high, value, other] =
        std::array::from_fn(|place| how.get(place).copied().unwrap_or_default());
    let position = usize::from(u16::from_le_bytes([low, high]));
    match what % 6 {
        0 => {
            files.remove(path);
        }
        1 => {
            let log = &LOGS[usize::from(value) % LOGS.len()];
            if let Some(file) = log.files.get(path) {
                files.insert(path.to_owned(), file.clone());
            }
        }
        2 => {
            let file = files.entry(path.to_owned()).or_default();
            file.resize(position, value);
        }
        3 => {
            let from = edited_paths();
            let from = &from[usize::from(value) % from.len()];
            let log = &LOGS[usize::from(other) % LOGS.len()];
            if let Some(file) = log.files.get(from) {
                files.insert(path.to_owned(), file.clone());
            }
        }
        4 => {
            let file = files.entry(path.to_owned()).or_default();
            let position = position.min(file.len());
            file.insert(position, value);
        }
        _ => {
            let file = files.entry(path.to_owned()).or_default();
            if let Some(byte) = file.get_mut(position) {
                *byte ^= value;
            }
        }
    }
}

struct Files(BTreeMap<String, Vec<u8>>);

impl Database for Files {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let file = self.0.get(path).ok_or(ReadError::NotFound)?;
        if file.len() as u64 > limit {
            return Err(ReadError::Unavailable("too long".to_owned()));
        }
        Ok(file.clone())
    }
}

struct Remembered {
    latest: Mutex<Option<String>>,
    cache: Mutex<BTreeMap<String, Vec<u8>>>,
    kept: Mutex<Vec<(String, Vec<u8>)>>,
}

impl Memory for Remembered {
    fn latest(&self) -> anyhow::Result<Option<String>> {
        Ok(self.latest.lock().expect("nobody panicked").clone())
    }

    fn replace_latest(&self, old: Option<&str>, new: &str) -> anyhow::Result<bool> {
        let mut latest = self.latest.lock().expect("nobody panicked");
        assert_eq!(latest.as_deref(), old);
        *latest = Some(new.to_owned());
        Ok(true)
    }

    fn cached(&self, path: &str) -> Option<Vec<u8>> {
        self.cache.lock().expect("nobody panicked").get(path).cloned()
    }

    fn keep(&self, path: &str, content: &[u8]) {
        self.kept.lock().expect("nobody panicked").push((path.to_owned(), content.to_owned()));
    }

    fn forget(&self, path: &str) {
        self.cache.lock().expect("nobody panicked").remove(path);
    }
}
