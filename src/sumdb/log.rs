//! The writing side: a checksum database of one's own, as static files.

use std::collections::BTreeSet;

use super::key::SignerKey;
use super::note::sign;
use super::record::{ModuleRecord, lookup_path};
use super::tile::{Tile, WIDTH, root_of};
use super::tree::{Hash, TreeHead, leaf_hash, root_over};
use crate::module::EscapeError;

/// Records that cannot be published together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublishError {
    #[error(transparent)]
    Name(#[from] EscapeError),
    #[error("two records for {path} {version}")]
    Duplicate { path: String, version: String },
    #[error("no records to publish, and an empty log proves nothing")]
    Empty,
}

/// Lays out a checksum database of `records`, numbered in the order given, signed by `signer`.
///
/// Returns its files as (path, content), the path relative to the database's own folder:
/// `supported`, `latest`, and one for each lookup and each tile. Served as they are, they answer
/// the go command and [`Client`](super::Client).
///
/// A log only ever grows: who publishes again under the same key must give the earlier records
/// first and unchanged, or clients that remember the earlier head will call it a fork.
///
/// # Errors
///
/// [`PublishError`] if there is no record, if two are about one module version, or if one cannot
/// be looked up by its name.
pub fn publish(
    records: &[ModuleRecord],
    signer: &SignerKey,
) -> Result<Vec<(String, Vec<u8>)>, PublishError> {
    if records.is_empty() {
        return Err(PublishError::Empty);
    }
    let mut log = Log::default();
    let mut lookups = BTreeSet::new();
    for record in records {
        if !lookups.insert(lookup_path(&record.path, &record.version)?) {
            let (path, version) = (record.path.clone(), record.version.clone());
            return Err(PublishError::Duplicate { path, version });
        }
        log.append(&record.text());
    }
    let size = log.size();
    let head = sign(&log.head_at(size).text(), signer);

    let mut files = vec![
        ("supported".to_owned(), Vec::new()),
        ("latest".to_owned(), head.clone().into_bytes()),
    ];
    for (id, record) in records.iter().enumerate() {
        let answer = format!("{id}\n{}\n{head}", record.text());
        files.push((lookup_path(&record.path, &record.version)?, answer.into_bytes()));
    }
    for tile in Tile::all(size) {
        files.extend(log.tile(tile).map(|file| (tile.to_string(), file)));
    }
    for tile in Tile::all(size).filter(|tile| tile.level() == 0) {
        let first = (tile.index() * WIDTH) as usize;
        let texts = records[first..first + tile.width()].iter().map(ModuleRecord::text);
        files.push((
            tile.data_path(),
            texts.map(|text| text + "\n").collect::<String>().into_bytes(),
        ));
    }
    Ok(files)
}

/// A log of records, by the hashes its tiles are made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// The hashes of each tile level: of records, of 256 records, of 65,536, …
    levels: Vec<Vec<Hash>>,
}

impl Log {
    /// Adds a record at the end.
    pub(super) fn append(&mut self, record_text: &str) {
        let mut hash = leaf_hash(record_text.as_bytes());
        for level in 0.. {
            if self.levels.len() == level {
                self.levels.push(Vec::new());
            }
            let hashes = &mut self.levels[level];
            hashes.push(hash);
            if !hashes.len().is_multiple_of(WIDTH as usize) {
                return;
            }
            hash = root_over(&hashes[hashes.len() - WIDTH as usize..]);
        }
    }

    /// The number of records.
    pub(super) fn size(&self) -> u64 {
        self.levels.first().map_or(0, |records| records.len() as u64)
    }

    /// The head the log had when it was of `size` records, which must not be more than it has.
    pub(super) fn head_at(&self, size: u64) -> TreeHead {
        let root = root_of(Tile::fringe(size).into_iter().filter_map(|tile| self.hashes(tile)));
        TreeHead { size, root }
    }

    /// The file of a tile, or `None` if the log is not that large yet.
    pub(super) fn tile(&self, tile: Tile) -> Option<Vec<u8>> {
        Some(self.hashes(tile)?.iter().flat_map(|hash| hash.0).collect())
    }

    fn hashes(&self, tile: Tile) -> Option<&[Hash]> {
        let first = usize::try_from(tile.index().checked_mul(WIDTH)?).ok()?;
        self.levels.get(tile.level() as usize)?.get(first..first.checked_add(tile.width())?)
    }
}
