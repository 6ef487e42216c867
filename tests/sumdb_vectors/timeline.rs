//! Heads lie on one timeline: each older one is contained in each newer one, as far as the tiles at
//! hand can show it.
//!
//! Tiles and heads are pooled over all folders. To show that an older head is contained in a newer
//! one, the tiles at the older one's right end must be there as the newer tree has them. Where they
//! are, the client proves it. If two heads are contained in a third, the older of them is contained
//! in the newer. Where neither helps, it is said which tiles are missing, and both trees are shown
//! to agree on as many first records as the tiles reach.

use super::*;

use gosurvey::sumdb::{SignerKey, Tile};
use sha2::{Digest as _, Sha256};

/// What is known of the heads in the collection of answers this test was written for.
mod expected {
    /// Distinct heads: the newest of 14 folders, those shown by lookups, and the built-in one.
    pub const HEADS: usize = 35;
    /// Pairs of an older and a newer head that the client proves: all for which there are the tiles.
    pub const DIRECT: usize = 177;
    /// Pairs that follow only because a third head contains both.
    pub const THROUGH_A_THIRD: usize = 0;
    /// Heads that lack a tile to be shown to be contained in the newest as a whole.
    pub const APART: usize = 23;
    /// Heads whose root cannot be computed, so that nothing is known but that they are signed.
    pub const SIGNED_ONLY: usize = 1;
    /// What such a head may be ahead of the records that it is shown to share with the newest one.
    pub const MOST_RECORDS_AHEAD: u64 = 65_535;
}

/// Every head, record and tile of all folders.
struct Pool {
    /// Signed heads by the number of records.
    heads: BTreeMap<u64, String>,
    /// Records by their ids, each with its version.
    records: BTreeMap<u64, (String, String)>,
    /// The widest file seen for each place of a tile.
    tiles: BTreeMap<(u32, u64), Vec<u8>>,
}

impl Pool {
    fn of(folders: &[Folder]) -> Self {
        let (heads, records, tiles) = Default::default();
        let mut pool = Pool { heads, records, tiles };
        pool.add_head(known_head());
        for folder in folders {
            pool.add_head(folder.text("latest"));
            for version in folder.versions() {
                let answer = folder.answer(version);
                pool.add_head(answer.note);
                pool.records.insert(answer.id, (version.to_owned(), answer.record.to_owned()));
            }
            for (path, file) in &folder.files {
                if let Ok(tile) = path.parse() {
                    pool.add_tile(tile, file);
                }
            }
        }
        pool
    }

    fn add_head(&mut self, signed: &str) {
        let head = head_of(signed);
        let known = self.heads.entry(head.size).or_insert_with(|| signed.to_owned());
        assert_eq!(head_of(known), head, "two heads of one size");
    }

    fn add_tile(&mut self, tile: Tile, file: &[u8]) {
        let widest = self.tiles.entry((tile.level(), tile.index())).or_default();
        let common = widest.len().min(file.len());
        assert!(widest[..common] == file[..common], "two contents of {tile}");
        if file.len() > widest.len() {
            *widest = file.to_owned();
        }
    }

    /// A tile's file, cut from a wider one if need be.
    fn tile(&self, tile: Tile) -> Option<&[u8]> {
        self.tiles.get(&(tile.level(), tile.index()))?.get(..tile.bytes())
    }

    /// The sizes of all heads, the oldest first.
    fn sizes(&self) -> Vec<u64> {
        self.heads.keys().copied().collect()
    }

    /// The tiles that are not there of those that show the first `old` records in a tree of `new`:
    /// the right end of the new tree, and the way down to the right end of the old one.
    fn missing(&self, old: u64, new: u64) -> Vec<Tile> {
        let mut needed: BTreeSet<Tile> = Tile::fringe(new).into_iter().collect();
        for end in Tile::fringe(old) {
            needed.extend(way_down(end.level(), end.index(), new));
        }
        needed.into_iter().filter(|tile| self.tile(*tile).is_none()).collect()
    }

    /// A record that can be shown in a tree of `size`: the client proves containment on the way to
    /// one.
    fn record_in(&self, size: u64) -> Option<u64> {
        let is_shown = |id: &&u64| {
            **id < size && way_down(0, **id / 256, size).iter().all(|t| self.tile(*t).is_some())
        };
        self.records.keys().rfind(is_shown).copied()
    }

    /// The root over the first `size` records, from the tiles at hand.
    fn root(&self, size: u64) -> [u8; 32] {
        let mut below: Vec<[u8; 32]> = Vec::new();
        for tile in Tile::fringe(size) {
            let (hashes, _) = self.tile(tile).unwrap().as_chunks::<32>();
            below = vec![fold(&[hashes, &below].concat())];
        }
        below[0]
    }
}

/// The tile at a place and those above it.
fn way_down(level: u32, index: u64, size: u64) -> Vec<Tile> {
    let place = |above: u32| Tile::in_tree(level + above, index >> (8 * above), size);
    (0..8).map_while(place).collect()
}

/// The hash over subtrees, left to right. Source: RFC 6962, section 2.1.
fn fold(row: &[[u8; 32]]) -> [u8; 32] {
    if let [only] = row {
        return *only;
    }
    let (left, right) = row.split_at(row.len().next_power_of_two() / 2);
    let both = [&[1], &fold(left)[..], &fold(right)[..]].concat();
    Sha256::digest(both).into()
}

fn known_head() -> &'static str {
    SumdbSetting::parse("").unwrap().known_head().unwrap()
}

/// Answers every lookup with one record and one head, from the pool's tiles.
struct Shown<'a> {
    pool: &'a Pool,
    id: u64,
    head: &'a str,
}

impl Database for Shown<'_> {
    fn read(&self, path: &str, _limit: u64) -> Result<Vec<u8>, ReadError> {
        if path.starts_with(LOOKUP) {
            let (_, record) = &self.pool.records[&self.id];
            return Ok(format!("{}\n{record}\n{}", self.id, self.head).into_bytes());
        }
        let tile = path.parse().ok().and_then(|tile| self.pool.tile(tile));
        tile.map(<[u8]>::to_vec).ok_or(ReadError::NotFound)
    }
}

/// Has the client prove that the head remembered is contained in the one shown, or the reverse.
fn join(
    pool: &Pool,
    key: &VerifierKey,
    remembered: &str,
    shown: &str,
    id: u64,
) -> Result<Proof, SumdbError> {
    let memory = Latest::new(Some(remembered));
    let (version, _) = &pool.records[&id];
    let database = Shown { pool, id, head: shown };
    let proof = Client::new(&database, &memory, key).prove(module::PATH, version)?;
    let newest = [remembered, shown].into_iter().max_by_key(|head| size_of(head)).unwrap();
    assert_eq!(size_of(&memory.note().unwrap()), size_of(newest));
    Ok(proof)
}

/// The number of records in a head by whatever key.
fn size_of(signed: &str) -> u64 {
    signed.lines().nth(1).unwrap().parse().unwrap()
}

fn is_contained(pool: &Pool, old: u64, new: u64) -> bool {
    let missing = pool.missing(old, new);
    let Some(id) = pool.record_in(new) else { return false };
    let result = join(pool, key(), &pool.heads[&old], &pool.heads[&new], id);
    match (result, missing.is_empty()) {
        (Ok(_), true) => true,
        (Err(SumdbError::TileMissing { path, .. }), false) => {
            assert!(missing.iter().any(|tile| tile.to_string() == path), "{path}");
            false
        }
        (other, _) => panic!("{old} in {new}, missing {missing:?}: {other:?}"),
    }
}

#[test]
fn older_heads_are_contained_in_newer_ones() {
    let folders = folders();
    if folders.is_empty() {
        return;
    }
    let pool = Pool::of(&folders);
    let sizes = pool.sizes();
    let pairs = |from: &[u64]| -> Vec<(u64, u64)> {
        let older = |(place, new): (usize, &u64)| -> Vec<(u64, u64)> {
            from[..place].iter().map(|old| (*old, *new)).collect()
        };
        from.iter().enumerate().flat_map(older).collect()
    };
    let all = pairs(&sizes);
    let direct: BTreeSet<(u64, u64)> =
        all.iter().copied().filter(|(old, new)| is_contained(&pool, *old, *new)).collect();
    let contains = |new: u64, old: u64| new == old || direct.contains(&(old, new));
    let follows = |(old, new): &&(u64, u64)| {
        !contains(*new, *old) && sizes.iter().any(|z| contains(*z, *old) && contains(*z, *new))
    };
    let through = all.iter().filter(follows).count();
    println!(
        "{} heads, {} pairs: {} proven directly, {through} because a third head contains both",
        sizes.len(),
        all.len(),
        direct.len()
    );

    let newest = *sizes.last().unwrap();
    assert_eq!(pool.heads[&newest], known_head(), "the built-in head is the newest here");
    let apart: Vec<u64> = sizes.iter().copied().filter(|old| !contains(newest, *old)).collect();
    let signed_only = apart.iter().filter(|old| !pool.missing(**old, **old).is_empty()).count();
    for old in &apart {
        let paths = |size| {
            let missing: Vec<String> =
                pool.missing(*old, size).iter().map(Tile::to_string).collect();
            missing.join(", ")
        };
        println!("{old} is not shown to be in {newest} as a whole for lack of {}", paths(newest));
        if !pool.missing(*old, *old).is_empty() {
            println!("    its own root cannot be computed for lack of {}", paths(*old));
            continue;
        }
        let ahead = old - agreed_records(&pool, *old, newest);
        assert!(ahead <= expected::MOST_RECORDS_AHEAD);
        println!("    but both have all but its last {ahead} records in common");
    }
    assert_eq!(
        (sizes.len(), direct.len(), through, apart.len(), signed_only),
        (
            expected::HEADS,
            expected::DIRECT,
            expected::THROUGH_A_THIRD,
            expected::APART,
            expected::SIGNED_ONLY
        )
    );
}

/// The largest number of first records that both trees are shown to have in common.
///
/// There is no signed head of that size, so one is signed here, by another key, and the client is
/// asked whether it is contained in each of the two, signed by that key as well.
fn agreed_records(pool: &Pool, old: u64, new: u64) -> u64 {
    let key = SignerKey::from_seed("timeline.example.test", &[9; 32]).unwrap();
    let again = |size: u64| note::sign(&head_of(&pool.heads[&size]).text(), &key);
    let whole_tiles = (1..5).map(|level| old >> (8 * level) << (8 * level));
    let reached = |size: &u64| {
        *size > 0 && pool.missing(*size, old).is_empty() && pool.missing(*size, new).is_empty()
    };
    let agreed = whole_tiles.into_iter().find(reached).unwrap();
    let (head, id) = (head_of_root(agreed, pool.root(agreed)), pool.record_in(agreed).unwrap());
    for tree in [old, new] {
        let common = note::sign(&head, &key);
        let id = pool.record_in(tree).unwrap().min(id);
        join(pool, key.verifier(), &common, &again(tree), id)
            .unwrap_or_else(|error| panic!("{agreed} in {tree}: {error}"));
    }
    agreed
}

fn head_of_root(size: u64, root: [u8; 32]) -> String {
    TreeHead { size, root: gosurvey::sumdb::Hash(root) }.text()
}
