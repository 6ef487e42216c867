//! What is remembered of the database, tampered with between two runs. Answers and tiles are hints
//! and verified again; the remembered head is the one thing that is believed, and never dropped in
//! silence.

use std::path::PathBuf;

use gosurvey::sumdb::note;

use crate::case::{Case, accepted, broken, check, refused};
use crate::log::{answer, impostor, signed};
use crate::scene::{Run, Scene};
use crate::world::{
    KNOWN_ID, NOW, THEN, WANTED, WANTED_ID, database, evil_zip, filler, lookup, module, record,
};

/// Where the lookup of WANTED is remembered.
fn kept_lookup(scene: &Scene) -> PathBuf {
    let version = module(WANTED).version();
    scene.memory().join(format!("lookup/golang.org/toolchain@{version}"))
}

fn keep(path: PathBuf, content: impl AsRef<[u8]>) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

/// Something else than the answer is remembered for the lookup of WANTED.
fn poisoned_lookup(
    name: &'static str,
    content: impl Fn(&Scene) -> Vec<u8> + Send + Sync + 'static,
) -> Case {
    accepted(name, move |scene| keep(kept_lookup(scene), content(scene))).then(|scene, _| {
        scene.assert_installed(WANTED);
        assert_eq!(fs_err::read(kept_lookup(scene)).unwrap(), scene.world.answer(WANTED_ID, NOW));
    })
}

/// A tile of the log as it is now is remembered with one bit flipped, or otherwise spoilt.
fn poisoned_tile(
    name: &'static str,
    (level, index): (u32, u64),
    spoil: impl Fn(&mut Vec<u8>) + Send + Sync + 'static,
) -> Case {
    let kept = move |scene: &Scene| {
        let (path, hashes) = scene.world.log.tile(level, index, NOW);
        (scene.memory().join(path), hashes)
    };
    accepted(name, move |scene| {
        let (path, mut hashes) = kept(scene);
        spoil(&mut hashes);
        keep(path, hashes);
    })
    .then(move |scene, _| {
        scene.assert_installed(WANTED);
        let (path, hashes) = kept(scene);
        assert_eq!(fs_err::read(path).unwrap(), hashes, "the tile is good again");
    })
}

fn latest(scene: &Scene) -> PathBuf {
    scene.memory().join("latest")
}

/// The remembered head is replaced by this text; the case ends by putting the right one back, as the
/// user must.
fn latest_is(name: &'static str, text: impl Fn(&Scene) -> Vec<u8> + Send + Sync + 'static) -> Case {
    refused(name, move |scene| keep(latest(scene), text(scene))).then(restore_latest)
}

fn restore_latest(scene: &Scene, _: &Run) {
    if latest(scene).is_dir() {
        fs_err::remove_dir(latest(scene)).unwrap();
    }
    keep(latest(scene), scene.head_then());
}

fn flip(hashes: &mut [u8]) {
    hashes[0] ^= 1;
}

#[test]
fn memory() {
    const LEAF_TILE: (u32, u64) = (0, WANTED_ID / 256);
    check(
        "memory",
        vec![
            poisoned_lookup("remembered lookup: a forged record", |scene| {
                answer(WANTED_ID, &record(WANTED, &evil_zip()), &scene.head_now())
            }),
            poisoned_lookup("remembered lookup: another module's genuine record", |scene| {
                scene.world.answer(5, NOW)
            }),
            poisoned_lookup("remembered lookup: another release's", |scene| {
                scene.world.answer(KNOWN_ID, NOW)
            }),
            poisoned_lookup("remembered lookup: unsigned", |scene| {
                answer(WANTED_ID, scene.world.log.text(WANTED_ID), &scene.world.log.head(NOW))
            }),
            poisoned_lookup("remembered lookup: garbage", |_| vec![0xff; 300]),
            poisoned_lookup("remembered lookup: empty", |_| Vec::new()),
            poisoned_lookup("remembered lookup: huge", |_| vec![b'1'; 1 << 20]),
            refused("remembered lookup: forged, and the server's too", |scene| {
                let forged = answer(WANTED_ID, &record(WANTED, &evil_zip()), &scene.head_now());
                keep(kept_lookup(scene), &forged);
                scene.answer(forged);
            })
            .changes_memory(),
            broken("remembered lookup: forged, and the server is gone", |scene| {
                let forged = answer(WANTED_ID, &record(WANTED, &evil_zip()), &scene.head_now());
                keep(kept_lookup(scene), forged);
                scene.status(&lookup(WANTED), 403);
            })
            .changes_memory(),
            poisoned_tile("remembered tile, level 0, leaf: flipped", LEAF_TILE, |h| flip(h)),
            poisoned_tile("remembered tile, level 0, leaf: zeros", LEAF_TILE, |h| h.fill(0)),
            poisoned_tile("remembered tile, level 0, leaf: cut short", LEAF_TILE, |h| {
                h.truncate(99)
            }),
            poisoned_tile("remembered tile, level 0, leaf: empty", LEAF_TILE, Vec::clear),
            poisoned_tile("remembered tile, level 0, leaf: huge", LEAF_TILE, |h| {
                h.resize(1 << 20, 0);
            }),
            poisoned_tile("remembered tile, level 1, inner: flipped", (1, 0), |h| flip(h)),
            poisoned_tile("remembered tile, level 0, fringe: flipped", (0, NOW / 256), |h| flip(h)),
            poisoned_tile("remembered tile, level 1, fringe: flipped", (1, 1), |h| flip(h)),
            poisoned_tile("remembered tile, level 2, fringe: flipped", (2, 0), |h| flip(h)),
            poisoned_tile("remembered tile, level 0, consistency: flipped", (0, THEN / 256), |h| {
                flip(h)
            }),
            refused("remembered tile: flipped, and the server's too", |scene| {
                let (path, mut hashes) = scene.world.log.tile(LEAF_TILE.0, LEAF_TILE.1, NOW);
                flip(&mut hashes);
                keep(scene.memory().join(&path), &hashes);
                scene.replace(&database(&path), hashes);
            })
            .changes_memory(),
            latest_is("remembered head: garbage", |_| b"garbage\n".to_vec()),
            latest_is("remembered head: empty", |_| Vec::new()),
            latest_is("remembered head: cut short", |scene| {
                let head = scene.head_then();
                head.as_bytes()[..head.len() / 2].to_vec()
            }),
            latest_is("remembered head: size changed under its signature", |scene| {
                scene.head_then().replacen("40000", "30000", 1).into_bytes()
            }),
            latest_is("remembered head: signed by another key of the name", |scene| {
                note::sign(&scene.world.log.head(THEN), &impostor()).into_bytes()
            }),
            latest_is("remembered head: of a fork, signed by the database", |scene| {
                signed(&scene.world.log.with(5, filler(1_000_005)).head(THEN)).into_bytes()
            }),
            broken("remembered head: not text", |scene| keep(latest(scene), vec![0xff; 100]))
                .then(restore_latest),
            broken("remembered head: huge", |scene| keep(latest(scene), vec![b'1'; 1 << 20]))
                .then(restore_latest),
            broken("remembered head: a folder", |scene| {
                fs_err::remove_file(latest(scene)).unwrap();
                fs_err::create_dir(latest(scene)).unwrap();
            })
            .then(restore_latest),
            accepted("remembered head: deleted, so the next one is trusted", |scene| {
                fs_err::remove_file(latest(scene)).unwrap();
            })
            .then(|scene, _| assert_eq!(scene.remembered_head(), scene.head_now())),
            accepted("all that is remembered: deleted", |scene| {
                fs_err::remove_dir_all(scene.memory()).unwrap();
            })
            .then(|scene, _| assert_eq!(scene.remembered_head(), scene.head_now())),
        ],
    );
}
