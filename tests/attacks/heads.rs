//! Signed heads: impossible ones, old ones, and such as no one log can have.

use crate::case::{Case, accepted, check, refused};
use crate::log::{Log, answer, head_text, signed};
use crate::scene::{Run, Scene};
use crate::world::{NOW, THEN, WANTED_ID, database, filler};

/// A head that the database has signed, with this as its second line.
fn with_size(name: &'static str, size: &'static str) -> Case {
    refused(name, move |scene| {
        let root = scene.world.log.root(NOW);
        scene.answer_with_note(&signed(&head_text(size, &root)));
    })
}

/// The genuine record of WANTED under a head that the same log had earlier.
fn answer_under(scene: &Scene, size: u64) {
    scene.answer(scene.world.answer(WANTED_ID, size));
}

fn stays_at_head_then(scene: &Scene, _: &Run) {
    assert_eq!(scene.remembered_head(), scene.head_then());
}

/// The log with another record at an early place, signed by the same key.
fn fork(scene: &Scene) -> Log {
    scene.world.log.with(5, filler(1_000_005))
}

/// Answers from the fork as it was with `size` records, and serves all tiles of it.
fn answer_from_fork(scene: &Scene, size: u64) {
    let fork = fork(scene);
    let record = fork.text(WANTED_ID);
    scene.answer(answer(WANTED_ID, record, &signed(&fork.head(size))));
    for (path, tile) in fork.tiles(size) {
        scene.replace(&database(&path), tile);
    }
}

/// The two notes are the evidence: both are printed to the byte, and the remembered one stays.
fn prints_both_notes(size: u64) -> impl Fn(&Scene, &Run) {
    move |scene, run| {
        for note in [scene.head_then(), signed(&fork(scene).head(size))] {
            let indented =
                note.lines().map(|line| format!("    {line}").trim_end().to_owned() + "\n");
            let indented: String = indented.collect();
            assert!(run.err_as_printed.contains(&indented), "{note:?} is not in {run:?}");
        }
        stays_at_head_then(scene, run);
    }
}

#[test]
fn heads() {
    check(
        "heads",
        vec![
            with_size("size 0", "0"),
            with_size("size -1", "-1"),
            with_size("size +70000", "+70000"),
            with_size("size 070000", "070000"),
            with_size("size 70000 and a blank", "70000 "),
            with_size("size 0x11170", "0x11170"),
            with_size("size 7e4", "7e4"),
            with_size("size empty", ""),
            with_size("size 2^63", "9223372036854775808"),
            with_size("size 2^64 + 70000", "18446744073709621616"),
            with_size("size 2^63 - 1", "9223372036854775807"),
            refused("first line of another format", |scene| {
                let head = scene.world.log.head(NOW).replacen("go.sum", "rust.sum", 1);
                scene.answer_with_note(&signed(&head));
            }),
            refused("root one byte short", |scene| {
                let head = scene.world.log.head(NOW);
                let root = head.lines().nth(2).unwrap();
                scene.answer_with_note(&signed(&head.replace(root, "AAAA")));
            }),
            refused("no root", |scene| {
                scene.answer_with_note(&signed("go.sum database tree\n70000\n"));
            }),
            accepted("old head replayed, still a prefix: not moved back", |scene| {
                answer_under(scene, 30_000);
            })
            .then(stays_at_head_then),
            accepted("old head that just covers the record", |scene| {
                answer_under(scene, WANTED_ID + 1);
            })
            .then(stays_at_head_then),
            refused("old head that just does not cover the record", |scene| {
                answer_under(scene, WANTED_ID);
            }),
            refused("old head, the record far beyond it", |scene| answer_under(scene, 10_000)),
            accepted("the remembered head itself", |scene| answer_under(scene, THEN))
                .then(stays_at_head_then),
            accepted("newer head: remembered", |scene| answer_under(scene, NOW))
                .then(|scene, _| assert_eq!(scene.remembered_head(), scene.head_now())),
            refused("fork: of the remembered size, with another root", |scene| {
                answer_from_fork(scene, THEN);
            })
            .then(prints_both_notes(THEN)),
            refused("fork: larger, and the remembered tree is no part of it", |scene| {
                answer_from_fork(scene, NOW);
            })
            .then(prints_both_notes(NOW)),
            refused("fork: smaller, and no part of the remembered tree", |scene| {
                answer_from_fork(scene, 30_000);
            })
            .then(prints_both_notes(30_000)),
            refused("fork: larger by one record", |scene| answer_from_fork(scene, THEN + 1))
                .then(prints_both_notes(THEN + 1)),
        ],
    );
}
