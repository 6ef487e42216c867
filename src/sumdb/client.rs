//! Asking a checksum database and believing only what it proves.
//!
//! A lookup answers with a record and a signed head. The head must belong to the same log as the
//! newest head seen before, the one being an earlier state of the other; the record must be in the
//! newer of the two. Only then is anything remembered or returned.

use super::error::{AnswerError, Mismatch, SumdbError};
use super::key::VerifierKey;
use super::note;
use super::proof::{TileReader, VerifiedTree};
use super::record::{Answer, find_module, lookup_path};
use super::seam::{Database, Memory, ReadError};
use super::tree::{TreeHead, leaf_hash};
use crate::module::{TreeDigest, limits};

/// How often a head is checked anew because another process has replaced the remembered one.
const ATTEMPTS: usize = 10;

/// Proves module versions against one checksum database.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    database: &'a dyn Database,
    memory: &'a dyn Memory,
    key: &'a VerifierKey,
}

/// What a checksum database has proven about a version of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The digest of the module's zip.
    pub h1: TreeDigest,
    /// The digest of its `go.mod`.
    pub go_mod_h1: TreeDigest,
    /// The place of the record in the log.
    pub record_id: u64,
    /// Records in the tree the record was found in.
    pub tree_size: u64,
    /// The root of that tree, in base64.
    pub root: String,
    /// The name of the database.
    pub database: String,
    /// Only [`Client::prove`] can make one, so whoever holds a proof has one.
    _proven: Proven,
}

/// What nothing outside this file can make.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Proven(());

/// A head with the note that was opened to read it.
struct SignedHead {
    head: TreeHead,
    note: String,
}

impl<'a> Client<'a> {
    /// Makes a client that believes what `key` has signed, and nothing else.
    pub fn new(database: &'a dyn Database, memory: &'a dyn Memory, key: &'a VerifierKey) -> Self {
        Client { database, memory, key }
    }

    /// Returns the digests that the database has logged for exactly this version of this module.
    ///
    /// Answers and tiles are taken from memory where it has them, so that what was proven before
    /// can be proven again without the database; what turns out damaged there is dropped and asked
    /// for once more. Nothing is remembered that was not proven.
    ///
    /// # Errors
    ///
    /// [`SumdbError`] if there is no complete proof. The remembered head is then as before.
    pub fn prove(&self, path: &str, version: &str) -> Result<Proof, SumdbError> {
        let question = Question { path, version, lookup: lookup_path(path, version)? };
        if let Some(answer) = self.memory.cached(&question.lookup) {
            match self.check(&question, &answer) {
                Err(error) if blames_answer(&error) => self.memory.forget(&question.lookup),
                checked => return checked,
            }
        }
        let answer = self.ask(&question)?;
        let proof = self.check(&question, &answer)?;
        self.memory.keep(&question.lookup, &answer);
        Ok(proof)
    }

    fn ask(&self, question: &Question<'_>) -> Result<Vec<u8>, SumdbError> {
        let limit = limits::LOOKUP_BYTES;
        self.database.read(&question.lookup, limit).map_err(|error| match error {
            ReadError::NotFound => SumdbError::NotFound {
                database: self.shown(),
                path: question.path.to_owned(),
                version: question.version.to_owned(),
            },
            ReadError::TooLarge => SumdbError::TooLarge {
                database: self.shown(),
                path: question.lookup.clone(),
                limit,
            },
            ReadError::Unavailable(reason) => SumdbError::Unavailable {
                database: self.key.name().to_owned(),
                path: question.lookup.clone(),
                reason,
            },
        })
    }

    /// The database by its name and, where answers have come from one, its address.
    fn shown(&self) -> String {
        shown(self.key.name(), self.database)
    }

    /// Proves `answer` against the newest head, again whenever that is replaced meanwhile.
    fn check(&self, question: &Question<'_>, answer: &[u8]) -> Result<Proof, SumdbError> {
        let refused = |source| SumdbError::Answer {
            database: self.shown(),
            path: question.lookup.clone(),
            source,
        };
        let answer = Answer::parse(answer).map_err(|error| refused(error.into()))?;
        let shown = self.open_head(answer.note).map_err(refused)?;
        if answer.id >= shown.head.size {
            return Err(SumdbError::RecordBeyondTree {
                database: self.shown(),
                path: question.lookup.clone(),
                id: answer.id,
                size: shown.head.size,
            });
        }
        for _ in 0..ATTEMPTS {
            let remembered = self.remembered_head()?;
            let is_newest = remembered.as_ref().is_none_or(|old| old.head.size < shown.head.size);
            let mut tree = self.open_tree(remembered.as_ref(), &shown)?;
            self.check_record(question, &answer, &mut tree)?;
            let module = find_module(answer.record, question.path, question.version)
                .map_err(|error| refused(error.into()))?;

            tree.keep_tiles();
            if is_newest && !self.remember(remembered.as_ref(), &shown)? {
                continue;
            }
            let head = tree.head();
            return Ok(Proof {
                h1: module.h1,
                go_mod_h1: module.go_mod_h1,
                record_id: answer.id,
                tree_size: head.size,
                root: head.root.to_string(),
                database: self.key.name().to_owned(),
                _proven: Proven(()),
            });
        }
        Err(SumdbError::Contended { database: self.key.name().to_owned(), attempts: ATTEMPTS })
    }

    /// Opens the tree of the newer of two heads, having proven that the older is its past.
    fn open_tree(
        &self,
        remembered: Option<&SignedHead>,
        shown: &SignedHead,
    ) -> Result<VerifiedTree<'a>, SumdbError> {
        let reader =
            TileReader { name: self.key.name(), database: self.database, memory: self.memory };
        let Some(remembered) = remembered else {
            return VerifiedTree::open(shown.head, reader);
        };
        let (older, newer) = if remembered.head.size < shown.head.size {
            (remembered.head, shown.head)
        } else {
            (shown.head, remembered.head)
        };
        let fork = || SumdbError::Fork {
            database: self.shown(),
            old_note: remembered.note.clone(),
            new_note: shown.note.clone(),
        };
        if older.size == newer.size && older.root != newer.root {
            return Err(fork());
        }
        let mut tree = VerifiedTree::open(newer, reader)?;
        if tree.root_at(older.size)? != older.root {
            return Err(fork());
        }
        Ok(tree)
    }

    fn check_record(
        &self,
        question: &Question<'_>,
        answer: &Answer<'_>,
        tree: &mut VerifiedTree<'_>,
    ) -> Result<(), SumdbError> {
        let expected = tree.leaf(answer.id)?;
        let found = leaf_hash(answer.record.as_bytes());
        if expected != found {
            return Err(SumdbError::RecordMismatch {
                database: self.shown(),
                path: question.lookup.clone(),
                id: answer.id,
                hashes: Box::new(Mismatch { expected, found }),
            });
        }
        Ok(())
    }

    fn remembered_head(&self) -> Result<Option<SignedHead>, SumdbError> {
        let Some(note) = self.memory.latest().map_err(|source| self.memory_error(source))? else {
            return Ok(None);
        };
        let head = self.open_head(&note).map_err(|source| SumdbError::RememberedHead {
            database: self.key.name().to_owned(),
            place: self.memory.latest_place(),
            source,
        })?;
        Ok(Some(head))
    }

    fn remember(&self, old: Option<&SignedHead>, new: &SignedHead) -> Result<bool, SumdbError> {
        let old = old.map(|head| head.note.as_str());
        self.memory.replace_latest(old, &new.note).map_err(|source| self.memory_error(source))
    }

    fn open_head(&self, note: &str) -> Result<SignedHead, AnswerError> {
        let head = TreeHead::parse(note::open(note.as_bytes(), self.key)?)?;
        Ok(SignedHead { head, note: note.to_owned() })
    }

    fn memory_error(&self, source: anyhow::Error) -> SumdbError {
        SumdbError::Memory { database: self.key.name().to_owned(), source }
    }
}

/// A database by its name and, where answers have come from one, its address.
pub(super) fn shown(name: &str, database: &dyn Database) -> String {
    match database.address() {
        Some(address) => format!("{name} at {address}"),
        None => name.to_owned(),
    }
}

/// The module version that is to be proven.
struct Question<'a> {
    path: &'a str,
    version: &'a str,
    /// Where the database answers.
    lookup: String,
}

/// Whether the answer to the lookup itself is at fault, so that another one may be right.
///
/// A fork is not: its two signatures stand whoever delivered them.
fn blames_answer(error: &SumdbError) -> bool {
    matches!(
        error,
        SumdbError::Answer { .. }
            | SumdbError::RecordBeyondTree { .. }
            | SumdbError::RecordMismatch { .. }
    )
}
