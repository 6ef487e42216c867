//! Tiles: the hashes of the tree in files of at most 256.
//!
//! Tile `(L, N)` holds the hashes of tree level 8·L numbered from 256·N. The levels between are not
//! stored but computed, so each tile is the top row of 256 tiles one tile level below:
//!
//! ```text
//! level 1              (1, 0)
//!                   /     |      \
//! level 0      (0, 0)  (0, 1)  (0, 2) …      256 record hashes each, the last perhaps fewer
//! ```

use std::fmt;
use std::str::FromStr;

use super::tree::{Hash, parse_count, root_over};

/// Hashes in a full tile.
pub const WIDTH: u64 = 1 << HEIGHT;

/// Tree levels that one tile spans.
pub const HEIGHT: u32 = 8;

/// The number of tile levels of the largest tree, of 2⁶³−1 records.
const LEVELS: u32 = 64 / HEIGHT;

/// A tile by its place in the tree and the number of hashes it has there.
///
/// Displays as the path it is served under: `tile/8/0/x178/752`, or with `.p/` and the width if it
/// is not full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tile {
    level: u32,
    index: u64,
    /// 1 to 256.
    width: u64,
}

impl Tile {
    /// The tile `(level, index)` as a tree of `size` records has it, or `None` if it has none
    /// there.
    pub fn in_tree(level: u32, index: u64, size: u64) -> Option<Self> {
        if level >= LEVELS {
            return None;
        }
        let hashes_on_level = size >> (HEIGHT * level);
        let width = hashes_on_level.checked_sub(index.checked_mul(WIDTH)?)?.min(WIDTH);
        (width > 0).then_some(Tile { level, index, width })
    }

    /// The tiles that are not full in a tree of `size` records, from the bottom: at most one a
    /// level. They alone fold to the root, see `root_of`.
    pub fn fringe(size: u64) -> Vec<Self> {
        let last_of = |level| {
            let full_tiles = size.checked_shr(HEIGHT * (level + 1)).unwrap_or(0);
            Tile::in_tree(level, full_tiles, size)
        };
        (0..LEVELS).filter_map(last_of).collect()
    }

    /// All tiles of a tree of `size` records.
    pub(super) fn all(size: u64) -> impl Iterator<Item = Self> {
        let on_level = move |level| (0..).map_while(move |index| Tile::in_tree(level, index, size));
        (0..LEVELS).flat_map(on_level)
    }

    /// The tile whose hashes include the one over all of this tile, and its position there.
    pub(super) fn above(&self) -> (u32, u64, usize) {
        (self.level + 1, self.index / WIDTH, (self.index % WIDTH) as usize)
    }

    pub fn level(&self) -> u32 {
        self.level
    }

    pub fn index(&self) -> u64 {
        self.index
    }

    /// Hashes in the tile.
    pub fn width(&self) -> usize {
        self.width as usize
    }

    pub fn is_full(&self) -> bool {
        self.width == WIDTH
    }

    /// The tile at the same place, once the tree has grown over it.
    pub fn full(&self) -> Self {
        Tile { width: WIDTH, ..*self }
    }

    /// The length of the tile's file.
    pub fn bytes(&self) -> usize {
        self.width() * Hash::BYTES
    }

    /// Splits the bytes of a file into hashes, or returns `None` if it is not as long as the tile.
    pub(super) fn hashes(&self, file: &[u8]) -> Option<Vec<Hash>> {
        let (hashes, rest) = file.as_chunks::<{ Hash::BYTES }>();
        let is_whole = rest.is_empty() && hashes.len() == self.width();
        is_whole.then(|| hashes.iter().copied().map(Hash).collect())
    }

    /// The path of the tile of record texts below this one, which has level 0.
    pub(super) fn data_path(&self) -> String {
        format!("tile/{HEIGHT}/data/{}", self.place())
    }

    fn place(&self) -> String {
        let mut place = format!("{:03}", self.index % 1000);
        let mut rest = self.index / 1000;
        while rest > 0 {
            place = format!("x{:03}/{place}", rest % 1000);
            rest /= 1000;
        }
        if !self.is_full() {
            place += &format!(".p/{}", self.width);
        }
        place
    }
}

/// Computes the root of a tree from its fringe, the hashes of each tile from the bottom level up.
///
/// The right end of the tree hangs together like this: below the last hash of a level comes what is
/// not yet a full tile one level down. So each level's hashes, with the root over everything below
/// as one more, are complete subtrees and a smaller last one, and fold as one row.
pub(super) fn root_of(fringe: impl IntoIterator<Item = impl AsRef<[Hash]>>) -> Hash {
    let mut below = Vec::new();
    for hashes in fringe {
        let row = [hashes.as_ref(), &below].concat();
        below = vec![root_over(&row)];
    }
    root_over(&below)
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile/{HEIGHT}/{}/{}", self.level, self.place())
    }
}

/// The text is not the path of a tile of height 8.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not the path of a tile (expected something like tile/8/0/x178/752.p/16)")]
pub struct TilePathError {
    pub path: String,
}

impl FromStr for Tile {
    type Err = TilePathError;

    fn from_str(path: &str) -> Result<Self, TilePathError> {
        parse(path)
            .filter(|tile| tile.to_string() == path)
            .ok_or_else(|| TilePathError { path: path.to_owned() })
    }
}

/// Reads a path without insisting on the one right spelling.
fn parse(path: &str) -> Option<Tile> {
    let (level, place) = path.strip_prefix("tile/8/")?.split_once('/')?;
    let level = parse_count(level).and_then(|level| u32::try_from(level).ok())?;
    let (place, width) = match place.split_once(".p/") {
        Some((place, width)) => (place, parse_count(width)?),
        None => (place, WIDTH),
    };
    let mut index: u64 = 0;
    for part in place.split('/') {
        let digits = part.strip_prefix('x').unwrap_or(part);
        let is_part = digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u64 = is_part.then(|| digits.parse().ok())??;
        index = index.checked_mul(1000)?.checked_add(number)?;
    }
    let is_possible = level < LEVELS && (1..=WIDTH).contains(&width);
    is_possible.then_some(Tile { level, index, width })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tree::leaf_hash;
    use super::*;

    #[test]
    fn paths_are_those_of_the_real_database() {
        // Tree of 45,767,421 records, as of early 2026.
        let path = |level, index| Tile::in_tree(level, index, 45_767_421).unwrap().to_string();
        assert_eq!(path(0, 178_752), "tile/8/0/x178/752");
        assert_eq!(path(0, 178_778), "tile/8/0/x178/778.p/253");
        assert_eq!(path(1, 698), "tile/8/1/698.p/90");
        assert_eq!(path(2, 2), "tile/8/2/002.p/186");
        assert_eq!(path(3, 0), "tile/8/3/000.p/2");
        assert_eq!(
            Tile { level: 0, index: 1_234_067, width: 3 }.to_string(),
            "tile/8/0/x001/x234/067.p/3"
        );
    }

    #[test]
    fn a_tree_has_no_tiles_beyond_its_end() {
        assert_eq!(Tile::in_tree(0, 0, 0), None);
        assert_eq!(Tile::in_tree(0, 1, 256), None);
        assert_eq!(Tile::in_tree(1, 0, 255), None);
        assert_eq!(Tile::in_tree(1, 0, 256).map(|tile| tile.width()), Some(1));
        assert_eq!(Tile::in_tree(0, u64::MAX, u64::MAX), None);
        assert_eq!(Tile::in_tree(LEVELS, 0, u64::MAX), None);
        assert_eq!(Tile::in_tree(7, 0, i64::MAX as u64).map(|tile| tile.width()), Some(127));
    }

    #[test]
    fn the_fringe_is_every_tile_that_is_not_full() {
        let paths =
            |size| -> Vec<String> { Tile::fringe(size).iter().map(Tile::to_string).collect() };
        assert_eq!(paths(0), [""; 0]);
        assert_eq!(paths(1), ["tile/8/0/000.p/1"]);
        assert_eq!(paths(256), ["tile/8/1/000.p/1"]);
        assert_eq!(paths(65_536), ["tile/8/2/000.p/1"]);
        assert_eq!(paths(65_793), ["tile/8/0/257.p/1", "tile/8/1/001.p/1", "tile/8/2/000.p/1"]);
        assert_eq!(Tile::fringe(i64::MAX as u64).len(), 8);
    }

    #[test]
    fn refuses_every_other_spelling_of_a_path() {
        for path in [
            "",
            "tile/8/0/",
            "tile/8/0/0",
            "tile/8/0/0000",
            "tile/8/0/x000/001",
            "tile/8/0/x001",
            "tile/8/0/001/002",
            "tile/8/0/x001/x002",
            "tile/8/00/001",
            "tile/8/-1/001",
            "tile/8/8/000",
            "tile/8/data/000",
            "tile/7/0/000",
            "tile/8/0/000.p/0",
            "tile/8/0/000.p/256",
            "tile/8/0/000.p/257",
            "tile/8/0/000.p/01",
            "tile/8/0/000.p",
            "tile/8/0/+01",
            "/tile/8/0/000",
            "tile/8/0/000/",
            "tile/8/0/x999/x999/x999/x999/x999/x999/x999/999",
        ] {
            assert_eq!(path.parse::<Tile>(), Err(TilePathError { path: path.to_owned() }));
        }
    }

    #[test]
    fn a_file_must_be_exactly_as_long_as_its_tile() {
        let tile: Tile = "tile/8/0/000.p/3".parse().unwrap();
        assert_eq!(tile.bytes(), 96);
        assert_eq!(tile.hashes(&[7; 96]), Some(vec![Hash([7; 32]); 3]));
        for length in [0, 64, 95, 97, 128] {
            assert_eq!(tile.hashes(&vec![7; length]), None);
        }
    }

    proptest! {
        #[test]
        fn paths_round_trip(level in 0..LEVELS, index: u64, width in 1..=WIDTH) {
            let tile = Tile { level, index, width };
            prop_assert_eq!(tile.to_string().parse(), Ok(tile));
        }

        #[test]
        fn arbitrary_paths_never_panic(path: String, tail in "[x0-9./p]{0,40}") {
            let _ = path.parse::<Tile>();
            let _ = format!("tile/8/{tail}").parse::<Tile>();
        }

        #[test]
        fn any_size_has_a_fringe_of_distinct_levels(size in 1..=i64::MAX as u64) {
            let fringe = Tile::fringe(size);
            prop_assert!(!fringe.is_empty());
            prop_assert!(fringe.is_sorted_by(|a, b| a.level < b.level));
            prop_assert!(fringe.iter().all(|tile| Tile::in_tree(tile.level, tile.index, size) == Some(*tile)));
            let records: u64 = fringe.iter().map(|tile| tile.width << (HEIGHT * tile.level)).sum();
            prop_assert_eq!(records, size);
        }

        #[test]
        fn the_fringe_folds_to_the_root(size in 1..700_u64) {
            let leaves: Vec<Hash> = (0..size).map(|n| leaf_hash(&n.to_le_bytes())).collect();
            let above: Vec<Hash> = leaves.chunks_exact(256).map(root_over).collect();
            let levels = [leaves.clone(), above];
            let fringe = Tile::fringe(size).into_iter().map(|tile| {
                levels[tile.level as usize][(tile.index * WIDTH) as usize..].to_vec()
            });
            prop_assert_eq!(root_of(fringe), root_over(&leaves));
        }
    }
}
