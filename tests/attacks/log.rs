//! The database's log, written a second time: what the program believes is not made by the code that
//! checks it. Plain RFC 6962, no cleverness.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gosurvey::sumdb::{SignerKey, Tile, note};
use sha2::{Digest as _, Sha256};

pub type Hash = [u8; 32];

/// A log of records.
#[derive(Clone)]
pub struct Log {
    /// The texts of the records, in order, each with its final line feed.
    texts: Vec<String>,
    leaves: Vec<Hash>,
    /// The root over each 256 leaves, computed once: the rest is quickly done from there.
    blocks: Vec<Hash>,
}

const BLOCK: usize = 256;

impl Log {
    pub fn new(texts: Vec<String>) -> Self {
        let leaves: Vec<Hash> = texts.iter().map(|text| leaf(text)).collect();
        let blocks = leaves.as_chunks::<BLOCK>().0.iter().map(|block| root(block)).collect();
        Log { texts, leaves, blocks }
    }

    pub fn text(&self, id: u64) -> &str {
        &self.texts[id as usize]
    }

    /// The same log with another text in one place.
    pub fn with(&self, id: u64, text: String) -> Self {
        let mut log = self.clone();
        let place = id as usize;
        log.leaves[place] = leaf(&text);
        log.texts[place] = text;
        let block = place / BLOCK;
        log.blocks[block] = root(&log.leaves[block * BLOCK..][..BLOCK]);
        log
    }

    /// The text of a signed head: the log as it was with `size` records.
    pub fn head(&self, size: u64) -> String {
        head_text(size, &self.root(size))
    }

    pub fn root(&self, size: u64) -> Hash {
        self.root_over(0, size as usize)
    }

    /// The path and the bytes of a tile, as wide as a log of `size` records has it.
    pub fn tile(&self, level: u32, index: u64, size: u64) -> (String, Vec<u8>) {
        let tile = Tile::in_tree(level, index, size).expect("a tile of the log");
        let under_one = BLOCK.pow(level);
        let hash = |n: usize| self.root_over(n * under_one, (n + 1) * under_one);
        let first = index as usize * BLOCK;
        (tile.to_string(), (first..first + tile.width()).flat_map(hash).collect())
    }

    /// All tiles of a log of `size` records.
    pub fn tiles(&self, size: u64) -> Vec<(String, Vec<u8>)> {
        let mut tiles = Vec::new();
        for level in 0..3 {
            let indices = (0..).take_while(|&index| Tile::in_tree(level, index, size).is_some());
            tiles.extend(indices.map(|index| self.tile(level, index, size)));
        }
        tiles
    }

    /// RFC 6962: the tree over n leaves splits at the largest power of two below n.
    fn root_over(&self, from: usize, to: usize) -> Hash {
        match to - from {
            BLOCK => self.blocks[from / BLOCK],
            count if count < BLOCK => root(&self.leaves[from..to]),
            count => {
                let middle = from + count.next_power_of_two() / 2;
                node(self.root_over(from, middle), self.root_over(middle, to))
            }
        }
    }
}

pub fn leaf(text: &str) -> Hash {
    Sha256::new().chain_update([0]).chain_update(text).finalize().into()
}

fn node(left: Hash, right: Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

pub fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => Sha256::digest([]).into(),
        [only] => *only,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node(root(left), root(right))
        }
    }
}

pub fn head_text(size: impl ToString, root: &Hash) -> String {
    format!("go.sum database tree\n{}\n{}\n", size.to_string(), STANDARD.encode(root))
}

/// The key of the attacked database. The attacker has it where a case says that something is signed.
pub fn database_key() -> SignerKey {
    SignerKey::from_seed("sumdb.example.test", &[1; 32]).unwrap()
}

/// Another key under the database's own name.
pub fn impostor() -> SignerKey {
    SignerKey::from_seed("sumdb.example.test", &[2; 32]).unwrap()
}

/// The database's own secret under another name.
pub fn renamed() -> SignerKey {
    SignerKey::from_seed("sum.example.test", &[1; 32]).unwrap()
}

pub fn signed(text: &str) -> String {
    note::sign(text, &database_key())
}

/// The signature line of a note, with its line feed.
pub fn signature(text: &str, key: &SignerKey) -> String {
    note::sign(text, key)[text.len() + 1..].to_owned()
}

/// An answer to a lookup.
pub fn answer(id: impl ToString, record: &str, note: &str) -> Vec<u8> {
    format!("{}\n{record}\n{note}", id.to_string()).into_bytes()
}
