//! A checksum database and a memory for tests: honest unless told otherwise.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use super::key::{SignerKey, VerifierKey};
use super::log::Log;
use super::note::sign;
use super::record::ModuleRecord;
use super::seam::{Database, Memory, ReadError};
use super::tile::Tile;
use crate::module::TreeDigest;

/// Records in [`Server::new`]'s log: enough for three levels of tiles, with tiles that are not full
/// on each.
pub(crate) const SIZE: u64 = 100_000;

/// The version that all modules of the fake logs have.
pub(crate) const VERSION: &str = "v1.0.0";

static HONEST: LazyLock<Arc<Log>> = LazyLock::new(|| {
    let mut log = Log::default();
    extend(&mut log, SIZE);
    Arc::new(log)
});

/// The path of the module in record `id`.
pub(crate) fn module(id: u64) -> String {
    format!("example.test/m{id}")
}

/// Record `id` of every fake log, unless the log is told otherwise.
pub(crate) fn record(id: u64) -> ModuleRecord {
    let mut digest = [0; 32];
    digest[..8].copy_from_slice(&id.to_be_bytes());
    let h1 = TreeDigest::from_bytes(digest);
    ModuleRecord { path: module(id), version: VERSION.to_owned(), h1, go_mod_h1: h1 }
}

pub(crate) fn signer() -> SignerKey {
    SignerKey::from_seed("sum.example.test", &[3; 32]).unwrap()
}

pub(crate) fn key() -> VerifierKey {
    signer().verifier().clone()
}

fn extend(log: &mut Log, size: u64) {
    for id in log.size()..size {
        log.append(&record(id).text());
    }
}

/// Answers as a checksum database does, from a log that may have grown past the head it shows.
pub(crate) struct Server {
    log: Arc<Log>,
    /// Records in the head it shows with lookups.
    pub(crate) size: u64,
    /// Answers that replace the honest ones; `None` for "not found".
    pub(crate) answers: BTreeMap<String, Option<Vec<u8>>>,
    /// Whether every question fails.
    pub(crate) is_down: bool,
    read: Mutex<Vec<String>>,
}

impl Server {
    pub(crate) fn new() -> Self {
        Server::of(HONEST.clone(), SIZE)
    }

    /// Shows the head that the honest log had at `size` records.
    pub(crate) fn at(size: u64) -> Self {
        Server::of(HONEST.clone(), size)
    }

    /// Shows the log that has `text` as record `id` and is honest before and after.
    pub(super) fn with_record(size: u64, id: u64, text: &str) -> Self {
        let mut log = HONEST.first(id);
        log.append(text);
        extend(&mut log, size);
        Server::of(Arc::new(log), size)
    }

    /// Shows the head at `size` records of a log whose record `id` is not the honest one.
    pub(super) fn forked_at(id: u64, size: u64) -> Self {
        Server::with_record(size, id, "a record that the honest log does not have\n")
    }

    pub(crate) fn down() -> Self {
        Server { is_down: true, ..Server::new() }
    }

    fn of(log: Arc<Log>, size: u64) -> Self {
        let (answers, read) = Default::default();
        Server { log, size, answers, is_down: false, read }
    }

    /// The text of the head shown.
    pub(super) fn head_text(&self) -> String {
        self.log.head_at(self.size).text()
    }

    /// The signed head shown.
    pub(crate) fn head(&self) -> String {
        sign(&self.head_text(), &signer())
    }

    /// Answers the lookup of module `asked` with `answer`.
    pub(crate) fn answer(&mut self, asked: u64, answer: impl Into<Vec<u8>>) {
        self.answers.insert(lookup(asked), Some(answer.into()));
    }

    /// Answers the lookup of module `asked` with record `id`, `text`, and the head shown.
    pub(super) fn answer_record(&mut self, asked: u64, id: u64, text: &str) {
        self.answer(asked, format!("{id}\n{text}\n{}", self.head()));
    }

    /// Replaces what is served under `path` by an edited version of it.
    pub(crate) fn edit(&mut self, path: &str, edit: impl FnOnce(&mut Vec<u8>)) {
        let mut answer = self.honest_answer(path).unwrap();
        edit(&mut answer);
        self.answers.insert(path.to_owned(), Some(answer));
    }

    /// The paths read so far that start with `prefix`.
    pub(crate) fn read_below(&self, prefix: &str) -> Vec<String> {
        let read = self.read.lock().unwrap();
        read.iter().filter(|path| path.starts_with(prefix)).cloned().collect()
    }

    fn honest_answer(&self, path: &str) -> Option<Vec<u8>> {
        if let Ok(tile) = path.parse::<Tile>() {
            return self.log.tile(tile);
        }
        let id = path.strip_prefix("lookup/example.test/m")?.strip_suffix("@v1.0.0")?;
        let id: u64 = id.parse().ok().filter(|&id| id < self.log.size())?;
        Some(format!("{id}\n{}\n{}", record(id).text(), self.head()).into_bytes())
    }
}

/// The path under which the lookup of module `id` is answered.
pub(crate) fn lookup(id: u64) -> String {
    format!("lookup/{}@{VERSION}", module(id))
}

impl Database for Server {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        if self.is_down {
            return Err(ReadError::Unavailable("no route to host".to_owned()));
        }
        self.read.lock().unwrap().push(path.to_owned());
        let answer = match self.answers.get(path) {
            Some(answer) => answer.clone(),
            None => self.honest_answer(path),
        };
        let answer = answer.ok_or(ReadError::NotFound)?;
        if answer.len() as u64 > limit {
            return Err(ReadError::TooLarge);
        }
        Ok(answer)
    }
}

/// A memory that forgets nothing by itself.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(crate) latest: Mutex<Option<String>>,
    pub(crate) kept: Mutex<BTreeMap<String, Vec<u8>>>,
    /// How often something was kept.
    pub(crate) keeps: AtomicUsize,
    /// Heads that other processes will store, each just before the next replacement is tried.
    pub(crate) rivals: Mutex<Vec<String>>,
}

impl Notebook {
    /// Remembers a head and nothing else.
    pub(crate) fn with_latest(note: String) -> Self {
        Notebook { latest: Mutex::new(Some(note)), ..Notebook::default() }
    }

    pub(crate) fn latest_note(&self) -> Option<String> {
        self.latest.lock().unwrap().clone()
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.kept.lock().unwrap().keys().cloned().collect()
    }
}

impl Memory for Notebook {
    fn latest(&self) -> anyhow::Result<Option<String>> {
        Ok(self.latest_note())
    }

    fn replace_latest(&self, old: Option<&str>, new: &str) -> anyhow::Result<bool> {
        let mut latest = self.latest.lock().unwrap();
        if let Some(rival) = self.rivals.lock().unwrap().pop() {
            *latest = Some(rival);
        }
        let is_still_old = latest.as_deref() == old;
        if is_still_old {
            *latest = Some(new.to_owned());
        }
        Ok(is_still_old)
    }

    fn cached(&self, path: &str) -> Option<Vec<u8>> {
        self.kept.lock().unwrap().get(path).cloned()
    }

    fn keep(&self, path: &str, content: &[u8]) {
        self.keeps.fetch_add(1, Ordering::Relaxed);
        self.kept.lock().unwrap().insert(path.to_owned(), content.to_owned());
    }

    fn forget(&self, path: &str) {
        self.kept.lock().unwrap().remove(path);
    }
}
