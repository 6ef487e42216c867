//! The checksum database: what it proves, and how one is laid out.
//!
//! A checksum database is a log of module versions and their digests. The log only grows, and its
//! owner signs its state again and again. So one signature vouches for every record before it, and
//! two signed states that do not fit together convict the owner.
//!
//! ```text
//! key ──signs──▶ note ──holds──▶ tree head ──root over──▶ tiles ──down to──▶ leaf = hash of record
//!                                    │
//!                                    └─ is the past or the future of the head remembered
//! ```
//!
//! [`Client`] proves, [`publish`] lays out a database of one's own. Both are pure: answers come in
//! through [`Database`] and [`Memory`], files go out as values.

mod client;
mod error;
mod key;
mod log;
pub mod note;
mod proof;
mod record;
mod seam;
mod tile;
mod tree;

pub use client::{Client, Proof};
pub use error::{AnswerError, Mismatch, SumdbError};
pub use key::{KeyError, SignerKey, VerifierKey};
pub use log::{PublishError, publish};
pub use note::NoteError;
pub use record::{Answer, ModuleRecord, RecordError, find_module, lookup_path};
pub use seam::{Database, Memory, ReadError};
pub use tile::{Tile, TilePathError};
pub use tree::{Hash, TreeHead, TreeHeadError};

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod tests;
