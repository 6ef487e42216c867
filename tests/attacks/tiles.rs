//! Tiles of the tree that are not those of the signed head, at every level.

use crate::case::{accepted, broken, check, refused};
use crate::log::{Log, answer, leaf, signed};
use crate::scene::Scene;
use crate::world::{LATER, NOW, THEN, WANTED, WANTED_ID, World, database, evil_zip, record};

/// A tile of the log as it is now: where it is served, and its bytes.
fn tile(scene: &Scene, level: u32, index: u64) -> (String, Vec<u8>) {
    scene.world.log.tile(level, index, NOW)
}

/// Changes the bytes of a tile.
fn edit(scene: &Scene, level: u32, index: u64, edit: impl FnOnce(&mut Vec<u8>)) {
    let (path, mut hashes) = tile(scene, level, index);
    edit(&mut hashes);
    scene.replace(&database(&path), hashes);
}

fn flip(scene: &Scene, level: u32, index: u64, hash: u64) {
    edit(scene, level, index, |hashes| hashes[hash as usize * 32] ^= 1);
}

/// The log with a record of WANTED that stands by another zip.
fn forged_log(world: &World) -> Log {
    world.log.with(WANTED_ID, record(WANTED, &evil_zip()))
}

/// Serves the forged record, with the tiles above it forged up to a level.
fn forge_up_to(scene: &Scene, level: u32) {
    let log = forged_log(&scene.world);
    let forged = log.text(WANTED_ID);
    scene.answer(answer(WANTED_ID, forged, &scene.head_now()));
    for (level, index) in [(0, LEAF_TILE), (1, 0), (2, 0)].into_iter().take(level as usize + 1) {
        let (path, hashes) = log.tile(level, index, NOW);
        scene.replace(&database(&path), hashes);
    }
}

/// The tile that has WANTED's hash, at its place there, and the tile's place in the one above.
const LEAF_TILE: u64 = WANTED_ID / 256;
const LEAF: u64 = WANTED_ID % 256;
/// The tiles at the right end of the tree.
const LAST: u64 = NOW / 256;
const LAST_ABOVE: u64 = LAST / 256;
/// The full tile in which the remembered head ends.
const LAST_THEN: u64 = THEN / 256;

#[test]
fn tiles() {
    check(
        "tiles",
        vec![
            // One hash changed: the record's own, another of its tile, and on the way up.
            refused("tile level 0, leaf: the record's own hash flipped", |scene| {
                flip(scene, 0, LEAF_TILE, LEAF);
            }),
            refused("tile level 0, leaf: the first hash flipped", |scene| {
                flip(scene, 0, LEAF_TILE, 0);
            }),
            refused("tile level 0, leaf: the last hash flipped", |scene| {
                flip(scene, 0, LEAF_TILE, 255);
            }),
            refused("tile level 0, leaf: another tile of the same log", |scene| {
                let (_, other) = tile(scene, 0, LEAF_TILE + 1);
                edit(scene, 0, LEAF_TILE, |hashes| *hashes = other);
            }),
            refused("tile level 0, leaf: all zeros", |scene| {
                edit(scene, 0, LEAF_TILE, |hashes| hashes.fill(0));
            }),
            refused("tile level 1, inner: the hash over the leaf's tile flipped", |scene| {
                flip(scene, 1, 0, LEAF_TILE);
            }),
            refused("tile level 1, inner: another hash flipped", |scene| flip(scene, 1, 0, 200)),
            refused("tile level 0, fringe: a hash flipped", |scene| flip(scene, 0, LAST, 3)),
            refused("tile level 1, fringe: a hash flipped", |scene| flip(scene, 1, LAST_ABOVE, 3)),
            refused("tile level 2, fringe: the hash flipped", |scene| flip(scene, 2, 0, 0)),
            refused("tile level 0, consistency: a hash flipped", |scene| {
                flip(scene, 0, LAST_THEN, 3);
            }),
            // CVE-2026-56865: a forged record whose hash is in a forged tile.
            refused("CVE-2026-56865: forged record, its tile forged to fit", |scene| {
                forge_up_to(scene, 0);
            }),
            refused("CVE-2026-56865: forged up to level 1", |scene| forge_up_to(scene, 1)),
            refused("CVE-2026-56865: forged up to level 2", |scene| forge_up_to(scene, 2)),
            refused("CVE-2026-56865: forged record, its hash alone put into its tile", |scene| {
                let forged = forged_log(&scene.world).text(WANTED_ID).to_owned();
                scene.answer(answer(WANTED_ID, &forged, &scene.head_now()));
                edit(scene, 0, LEAF_TILE, |hashes| {
                    hashes[LEAF as usize * 32..][..32].copy_from_slice(&leaf(&forged));
                });
            }),
            // Lengths.
            refused("tile level 0: one hash short", |scene| {
                edit(scene, 0, LEAF_TILE, |hashes| hashes.truncate(255 * 32));
            }),
            refused("tile level 0: one byte short", |scene| {
                edit(scene, 0, LEAF_TILE, |hashes| hashes.truncate(256 * 32 - 1));
            }),
            refused("tile level 1: empty", |scene| edit(scene, 1, 0, Vec::clear)),
            refused("tile level 2, fringe: one hash more than announced", |scene| {
                edit(scene, 2, 0, |hashes| hashes.extend([0; 32]));
            }),
            refused("tile level 0: endless", |scene| {
                edit(scene, 0, LEAF_TILE, |hashes| *hashes = hashes.repeat(1000));
            }),
            refused("tile level 0: an HTML page", |scene| {
                edit(scene, 0, LEAF_TILE, |hashes| *hashes = b"<html>log in</html>".to_vec());
            }),
            // Not there.
            refused("tile level 0, leaf: not found", |scene| {
                scene.status(&database(&tile(scene, 0, LEAF_TILE).0), 404);
            }),
            refused("tile level 1, inner: gone", |scene| {
                scene.status(&database(&tile(scene, 1, 0).0), 410);
            }),
            accepted(
                "tile level 0, fringe: not found, but the full tile of a later log",
                |scene| {
                    scene.status(&database(&tile(scene, 0, LAST).0), 404);
                    let (path, full) = scene.world.log.tile(0, LAST, LATER);
                    assert!(!path.contains(".p/"), "{path} is not full");
                    scene.replace(&database(&path), full);
                },
            ),
            refused("tile level 0, fringe: not found, and the full tile tampered with", |scene| {
                scene.status(&database(&tile(scene, 0, LAST).0), 404);
                let (path, mut full) = scene.world.log.tile(0, LAST, LATER);
                full[0] ^= 1;
                scene.replace(&database(&path), full);
            }),
            refused("tile level 0, fringe: neither it nor the full tile found", |scene| {
                scene.status(&database(&tile(scene, 0, LAST).0), 404);
            }),
            refused("tile level 0, leaf: not found, though a part of it is", |scene| {
                let (path, hashes) = tile(scene, 0, LEAF_TILE);
                scene.status(&database(&path), 404);
                scene.replace(&database(&format!("{path}.p/255")), &hashes[..255 * 32]);
            }),
            // Servers in trouble.
            broken("tile level 1: 503, 503, 503, 503", |scene| {
                scene.status(&database(&tile(scene, 1, 0).0), 503);
            }),
            broken("tile level 1: 403", |scene| {
                scene.status(&database(&tile(scene, 1, 0).0), 403);
            }),
            // A head whose tiles nobody has ever had.
            refused("signed head with a root that no tiles have", |scene| {
                scene.answer_with_note(&signed(&crate::log::head_text(NOW, &[7; 32])));
            }),
        ],
    );
}
