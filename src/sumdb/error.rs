//! Why a module version is not proven.

use std::fmt;

use super::note::NoteError;
use super::record::RecordError;
use super::tree::{Hash, TreeHeadError};
use crate::module::EscapeError;

/// How every message on a false answer ends. Who is at fault cannot be told from here.
const ADVICE: &str =
    "nothing was installed (try another proxy, and tell the one who runs this one)";

/// Why the checksum database does not stand by a module version.
///
/// `database` is the name of its key, and, where an answer is at fault, the address it
/// came from. Whoever sees one of these must not install anything: only
/// [`Unavailable`](SumdbError::Unavailable) and [`Contended`](SumdbError::Contended) may pass by
/// themselves, all others are the answer "no".
#[derive(Debug, thiserror::Error)]
pub enum SumdbError {
    /// The database could not be read. Trying again later may help.
    #[error("checksum database {database}: cannot read {path}: {reason}")]
    Unavailable { database: String, path: String, reason: String },

    /// The database says that there is no such module version.
    #[error(
        "checksum database {database} has no record of {path} {version}; nothing was installed \
         (if it is new, try again later)"
    )]
    NotFound { database: String, path: String, version: String },

    /// The module cannot be looked up under this name.
    #[error("no checksum database can be asked about this")]
    Name(#[from] EscapeError),

    /// The answer to a lookup is not one, is not signed, or is about something else.
    #[error("checksum database {database}: {path} proves nothing; {ADVICE}")]
    Answer { database: String, path: String, source: AnswerError },

    /// The answer's record has a number that its own signed head does not cover.
    #[error(
        "checksum database {database}: {path} gives a record the number {id}, but its signed head \
         covers {size} records; {ADVICE}"
    )]
    RecordBeyondTree { database: String, path: String, id: u64, size: u64 },

    /// The record is not the one the signed tree has at this place.
    #[error(
        "checksum database {database}: the record in {path} is not record {id} of the signed tree: \
         {hashes}; {ADVICE}"
    )]
    RecordMismatch { database: String, path: String, id: u64, hashes: Box<Mismatch> },

    /// The database lacks a tile that its signed head promises.
    #[error(
        "checksum database {database} has no {path}, though its signed head covers {size} records; \
         {ADVICE}"
    )]
    TileMissing { database: String, path: String, size: u64 },

    /// A tile is not as long as it must be.
    #[error(
        "checksum database {database}: {path} has {found_bytes} bytes, expected {expected_bytes}; \
         {ADVICE}"
    )]
    TileLength { database: String, path: String, expected_bytes: usize, found_bytes: usize },

    /// An answer has more bytes than any honest one.
    #[error("checksum database {database}: {path} has more than {limit} bytes; {ADVICE}")]
    TooLarge { database: String, path: String, limit: u64 },

    /// A tile, or the tiles at the right end of the tree together, are not those of the signed head.
    #[error(
        "checksum database {database}: {path} does not belong to the signed tree of {size} records: \
         {hashes}; {ADVICE}"
    )]
    TileMismatch { database: String, path: String, size: u64, hashes: Box<Mismatch> },

    /// The database has signed two heads that no one log can have. The two notes prove it.
    #[error(
        "checksum database {database} contradicts itself: it has signed two heads that no one log \
         can have; nothing was installed, and the remembered head stays. Keep both notes, together \
         they are the evidence:\n  remembered:\n{}\n  shown now:\n{}",
        indented(old_note),
        indented(new_note)
    )]
    Fork { database: String, old_note: String, new_note: String },

    /// The head remembered from earlier is damaged. Dropping it silently would drop the protection
    /// it gives.
    #[error(
        "the remembered head of the checksum database {database} cannot be used ({place}; if that is \
         known to be damaged, delete it to trust the next signed head)"
    )]
    RememberedHead { database: String, place: String, source: AnswerError },

    /// What is remembered between runs could not be read or replaced.
    #[error("cannot read or replace the remembered head of the checksum database {database}")]
    Memory { database: String, source: anyhow::Error },

    /// Other processes kept replacing the remembered head.
    #[error(
        "the remembered head of the checksum database {database} was replaced {attempts} times \
         while it was checked; try again"
    )]
    Contended { database: String, attempts: usize },
}

fn indented(note: &str) -> String {
    let lines: Vec<String> = note.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n").replace("    \n", "\n")
}

/// What is wrong with a signed head or the record before it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(transparent)]
pub enum AnswerError {
    Note(#[from] NoteError),
    Head(#[from] TreeHeadError),
    Record(#[from] RecordError),
}

/// Two hashes that should be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The hash the signed head stands for.
    pub expected: Hash,
    pub found: Hash,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected hash {}, found {}", self.expected, self.found)
    }
}
