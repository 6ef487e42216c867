//! The tree of a signed head, as far as it was read, with every hash tied to the root.
//!
//! There are two ways into [`VerifiedTree`] and no third: the tiles at the right end of the tree,
//! which together fold to the signed root, and any other tile, which folds to one hash in a tile
//! that is already in. So a hash taken out of it is one the signer stands by, whoever delivered it.

use std::collections::BTreeMap;

use super::client::shown;
use super::error::{Mismatch, SumdbError};
use super::seam::{Database, Memory, ReadError};
use super::tile::{Tile, WIDTH, root_of};
use super::tree::{Hash, TreeHead, root_over};
use crate::module::limits;

/// The verified part of one tree. Reads tiles when they are needed.
pub(super) struct VerifiedTree<'a> {
    head: TreeHead,
    reader: TileReader<'a>,
    tiles: BTreeMap<(u32, u64), ReadTile>,
}

impl<'a> VerifiedTree<'a> {
    /// Reads the right end of the tree and ties it to the root of `head`.
    ///
    /// At 50 million records these are 4 tiles; a record then needs at most 3 more.
    ///
    /// # Errors
    ///
    /// [`SumdbError`] if tiles cannot be read or do not fold to the root.
    pub(super) fn open(head: TreeHead, reader: TileReader<'a>) -> Result<Self, SumdbError> {
        let mut fringe = Vec::new();
        for tile in Tile::fringe(head.size) {
            fringe.push(reader.recall_or_fetch(tile, head.size)?);
        }
        let root = |fringe: &[ReadTile]| root_of(fringe.iter().map(|tile| &tile.hashes));
        if root(&fringe) != head.root {
            // Any of them may be the damaged one, so all that came from memory are asked for again.
            for read in fringe.iter_mut().filter(|read| read.origin == Origin::Memory) {
                *read = reader.fetch_again(read.tile, head.size)?;
            }
        }
        let found = root(&fringe);
        if found != head.root {
            let paths: Vec<String> = fringe.iter().map(|read| read.tile.to_string()).collect();
            return Err(reader.mismatch(paths.join(" + "), head.size, head.root, found));
        }
        let place = |read: ReadTile| ((read.tile.level(), read.tile.index()), read);
        Ok(VerifiedTree { head, reader, tiles: fringe.into_iter().map(place).collect() })
    }

    /// The head that everything here is tied to.
    pub(super) fn head(&self) -> TreeHead {
        self.head
    }

    /// Returns the hash of record `id`, which must be below the tree's size.
    pub(super) fn leaf(&mut self, id: u64) -> Result<Hash, SumdbError> {
        let tile = self.tile(0, id / WIDTH)?;
        Ok(tile[(id % WIDTH) as usize])
    }

    /// Computes the root that this tree had when it was of `size` records, which must not be more
    /// than it has now.
    pub(super) fn root_at(&mut self, size: u64) -> Result<Hash, SumdbError> {
        let mut fringe = Vec::new();
        for tile in Tile::fringe(size) {
            let now = self.tile(tile.level(), tile.index())?;
            fringe.push(now[..tile.width()].to_vec());
        }
        Ok(root_of(fringe))
    }

    /// Keeps the tiles that were not remembered yet, or not as they are.
    ///
    /// To be called only when the head is known to belong to the log that is remembered: until then
    /// nothing of what is remembered is dropped, however little it fits a head that may be a lie.
    pub(super) fn keep_tiles(&self) {
        self.tiles.values().for_each(|read| self.reader.keep(read));
    }

    fn tile(&mut self, level: u32, index: u64) -> Result<&[Hash], SumdbError> {
        if !self.tiles.contains_key(&(level, index)) {
            let read = self.read_below(level, index)?;
            self.tiles.insert((level, index), read);
        }
        Ok(&self.tiles[&(level, index)].hashes)
    }

    /// Reads a tile and ties it to the tile above it, which is read first if it must be.
    ///
    /// Ends at the right end of the tree at the latest: a tile that is not there is full, and then
    /// the tree has the level above.
    fn read_below(&mut self, level: u32, index: u64) -> Result<ReadTile, SumdbError> {
        let size = self.head.size;
        let tile =
            Tile::in_tree(level, index, size).expect("OK because callers stay inside the tree");
        let (level_above, index_above, position) = tile.above();
        let expected = self.tile(level_above, index_above)?[position];

        let read = self.reader.recall_or_fetch(tile, size)?;
        if root_over(&read.hashes) == expected {
            return Ok(read);
        }
        let read = match read.origin {
            Origin::Memory => self.reader.fetch_again(tile, size)?,
            _ => read,
        };
        let found = root_over(&read.hashes);
        if found != expected {
            return Err(self.reader.mismatch(tile.to_string(), size, expected, found));
        }
        Ok(read)
    }
}

/// A tile as it was read, not verified by itself.
struct ReadTile {
    tile: Tile,
    hashes: Vec<Hash>,
    origin: Origin,
}

/// Where a tile was read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Memory,
    Database,
    /// From the database, because what memory has does not fit.
    DatabaseAgain,
}

/// Reads tiles, from memory where it has them.
#[derive(Clone, Copy)]
pub(super) struct TileReader<'a> {
    pub(super) name: &'a str,
    pub(super) database: &'a dyn Database,
    pub(super) memory: &'a dyn Memory,
}

impl TileReader<'_> {
    fn recall_or_fetch(&self, tile: Tile, size: u64) -> Result<ReadTile, SumdbError> {
        match self.recall(tile) {
            Some(hashes) => Ok(ReadTile { tile, hashes, origin: Origin::Memory }),
            None => self.fetch(tile, size),
        }
    }

    /// Fetches a tile that memory has in another form than it must be.
    fn fetch_again(&self, tile: Tile, size: u64) -> Result<ReadTile, SumdbError> {
        Ok(ReadTile { origin: Origin::DatabaseAgain, ..self.fetch(tile, size)? })
    }

    fn recall(&self, tile: Tile) -> Option<Vec<Hash>> {
        let recall_from = |stored: Tile| {
            let file = self.memory.cached(&stored.to_string())?;
            let hashes = stored.hashes(&file);
            if hashes.is_none() {
                self.memory.forget(&stored.to_string());
            }
            hashes
        };
        let mut hashes = recall_from(tile).or_else(|| recall_from(tile.full()))?;
        hashes.truncate(tile.width());
        Some(hashes)
    }

    /// Fetches a tile; one that is not full may have been replaced by the full one, which is cut.
    fn fetch(&self, tile: Tile, size: u64) -> Result<ReadTile, SumdbError> {
        let fetched = match self.fetch_file(tile)? {
            None if !tile.is_full() => self.fetch_file(tile.full())?,
            fetched => fetched,
        };
        let Some(mut hashes) = fetched else {
            return Err(SumdbError::TileMissing {
                database: self.shown(),
                path: tile.to_string(),
                size,
            });
        };
        // What was cut off is not covered by this head, so it is not kept either.
        hashes.truncate(tile.width());
        Ok(ReadTile { tile, hashes, origin: Origin::Database })
    }

    fn fetch_file(&self, tile: Tile) -> Result<Option<Vec<Hash>>, SumdbError> {
        let path = tile.to_string();
        let file = match self.database.read(&path, limits::TILE_BYTES) {
            Ok(file) => file,
            Err(ReadError::NotFound) => return Ok(None),
            Err(ReadError::TooLarge) => {
                let (database, limit) = (self.shown(), limits::TILE_BYTES);
                return Err(SumdbError::TooLarge { database, path, limit });
            }
            Err(ReadError::Unavailable(reason)) => {
                let database = self.name.to_owned();
                return Err(SumdbError::Unavailable { database, path, reason });
            }
        };
        match tile.hashes(&file) {
            Some(hashes) => Ok(Some(hashes)),
            None => Err(SumdbError::TileLength {
                database: self.shown(),
                path,
                expected_bytes: tile.bytes(),
                found_bytes: file.len(),
            }),
        }
    }

    fn keep(&self, read: &ReadTile) {
        if read.origin == Origin::Memory {
            return;
        }
        if read.origin == Origin::DatabaseAgain {
            // What did not fit may have been cut out of the full tile.
            self.memory.forget(&read.tile.full().to_string());
        }
        let file: Vec<u8> = read.hashes.iter().flat_map(|hash| hash.0).collect();
        self.memory.keep(&read.tile.to_string(), &file);
    }

    fn mismatch(&self, path: String, size: u64, expected: Hash, found: Hash) -> SumdbError {
        let hashes = Box::new(Mismatch { expected, found });
        SumdbError::TileMismatch { database: self.shown(), path, size, hashes }
    }

    fn shown(&self) -> String {
        shown(self.name, self.database)
    }
}
