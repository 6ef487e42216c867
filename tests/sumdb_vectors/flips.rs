//! A changed byte in anything that a proof rests on ends it.

use super::*;

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use gosurvey::sumdb::Tile;

/// Everything that one proof rests on: the head remembered, the answer and the tiles.
struct Case<'a> {
    folder: &'a Folder,
    version: &'a str,
    latest: Option<&'a str>,
    /// The files to flip bytes of.
    files: Vec<&'a str>,
}

/// Proofs that together rest on every file that any proof here rests on. Each file is in one case
/// only, that of the smallest proof; a tile that several folders have is looked at once.
///
/// A lookup is proven with the folder's latest head remembered, and from nothing where the folder
/// has the tiles for that.
fn cases(folders: &[Folder]) -> Vec<Case<'_>> {
    let mut proofs = Vec::new();
    for folder in folders {
        let mut unused: BTreeSet<&String> = folder.files.keys().collect();
        unused.retain(|path| *path != "latest");
        for version in folder.versions() {
            for latest in [folder.latest(), None] {
                let served = Served::new(folder);
                if let Ok(proof) = prove(&served, &Latest::new(latest), version) {
                    let mut read = served.read();
                    read.retain(|path| is_used_whole(path, proof.tree_size));
                    unused.retain(|path| !read.contains(*path));
                    proofs.push((bytes_of(folder, &read), folder, version, latest, read));
                }
            }
        }
        if !unused.is_empty() {
            println!("folder {}: no proof rests on {unused:?}", folder.name);
        }
    }
    proofs.sort_by_key(|(bytes, ..)| *bytes);
    let mut seen: BTreeSet<(&str, &[u8])> = BTreeSet::new();
    let case = |(_, folder, version, latest, read)| {
        let folder: &Folder = folder;
        let read: BTreeSet<String> = read;
        let files = folder.files.iter().filter(|(path, _)| read.contains(*path));
        let new = files.filter(|(path, file)| seen.insert((path, file)));
        let files = new.map(|(path, _)| path.as_str()).collect();
        Case { folder, version, latest, files }
    };
    proofs.into_iter().map(case).collect()
}

/// Whether a file counts to its end: a full tile may have been read for its first hashes only,
/// because a tree of `size` has no more of it.
fn is_used_whole(path: &str, size: u64) -> bool {
    path.parse::<Tile>()
        .map_or(true, |tile| Tile::in_tree(tile.level(), tile.index(), size) == Some(tile))
}

fn bytes_of(folder: &Folder, paths: &BTreeSet<String>) -> usize {
    paths.iter().map(|path| folder.files[path].len()).sum()
}

impl<'a> Case<'a> {
    /// Checks that the proof fails with a byte of one of its files flipped, and leaves no trace.
    fn check(&self, path: &'a str, position: usize) {
        let forged = Served::with_flipped(self.folder, path, position);
        let remembered = Latest::new(self.latest);
        let name = &self.folder.name;
        let error = prove(&forged, &remembered, self.version)
            .expect_err(&format!("{name}/{path} byte {position}"));
        let is_mismatch = matches!(error, SumdbError::TileMismatch { .. });
        assert!(is_mismatch || path.starts_with(LOOKUP), "{name}/{path} byte {position}: {error}");
        assert_eq!(remembered.note().as_deref(), self.latest);
    }

    /// Checks that a changed remembered head is not used.
    fn check_latest(&self, latest: &str, position: usize) {
        let mut flipped = latest.as_bytes().to_vec();
        flipped[position] ^= FLIP;
        // What is no text cannot be remembered either.
        let Ok(flipped) = String::from_utf8(flipped) else { return };
        let remembered = Latest::new(Some(&flipped));
        let error = prove(&Served::new(self.folder), &remembered, self.version).unwrap_err();
        assert!(matches!(error, SumdbError::RememberedHead { .. }), "byte {position}: {error}");
        assert_eq!(remembered.note(), Some(flipped));
    }
}

/// Flips bytes, those of tiles at positions that `is_chosen` picks, and says how many.
fn flip_all(is_chosen: fn(usize) -> bool) {
    let folders = folders();
    let cases = cases(&folders);
    let started = Instant::now();
    let mut flips: Vec<(&Case<'_>, Option<&str>, usize)> = Vec::new();
    let mut heads = BTreeSet::new();
    for case in &cases {
        for &path in &case.files {
            let is_tile = path.starts_with("tile/");
            let positions = 0..case.folder.files[path].len();
            let chosen = positions.filter(|position| !is_tile || is_chosen(*position));
            flips.extend(chosen.map(|position| (case, Some(path), position)));
        }
        if let Some(latest) = case.latest
            && heads.insert(latest)
        {
            flips.extend((0..latest.len()).map(|position| (case, None, position)));
        }
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, NonZero::get) {
            scope.spawn(|| {
                while let Some((case, path, position)) =
                    flips.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    match (path, case.latest) {
                        (Some(path), _) => case.check(path, *position),
                        (None, Some(latest)) => case.check_latest(latest, *position),
                        (None, None) => unreachable!("OK because only heads have no path"),
                    }
                }
            });
        }
    });
    let in_tiles = |(_, path, _): &&(&Case<'_>, Option<&str>, usize)| {
        path.is_some_and(|path| path.starts_with("tile/"))
    };
    println!(
        "{} flips, {} of them in tiles, all refused in {:?}",
        flips.len(),
        flips.iter().filter(in_tiles).count(),
        started.elapsed()
    );
}

#[test]
fn a_flipped_byte_in_any_hash_or_note_ends_the_proof() {
    // One byte of each hash of 32, at another place in each.
    flip_all(|position| position % 32 == position / 32 % 32);
}

#[test]
#[ignore = "takes long; run with --ignored"]
fn every_flipped_byte_ends_the_proof() {
    flip_all(|_| true);
}
