//! Answers to the lookup that are about something else, say something else, or say nothing.

use crate::case::{Case, accepted, broken, check, refused};
use crate::log::{answer, head_text, signed};
use crate::scene::Scene;
use crate::world::{
    HOSTILE_IDS, KNOWN, KNOWN_ID, NOW, WANTED, WANTED_ID, evil_zip, h1, lookup, module, record,
};

/// Answers with a record of the log, truly there, under the head of now.
fn answer_genuine(scene: &Scene, id: u64) {
    scene.answer(scene.world.answer(id, NOW));
}

/// Answers with the genuine record of WANTED, changed as a text.
fn answer_edited(scene: &Scene, edit: impl FnOnce(String) -> String) {
    let honest = String::from_utf8(scene.world.answer(WANTED_ID, NOW)).unwrap();
    scene.answer(edit(honest));
}

/// The lines that stand by another zip than the real one.
fn evil_record() -> String {
    record(WANTED, &evil_zip())
}

fn with_id(name: &'static str, id: &'static str) -> Case {
    refused(name, move |scene| {
        answer_edited(scene, |honest| honest.replacen(&WANTED_ID.to_string(), id, 1));
    })
}

/// A record that is in the log, though no honest database would have taken it.
fn with_logged_record(name: &'static str, place: usize) -> Case {
    refused(name, move |scene| answer_genuine(scene, HOSTILE_IDS[place]))
}

#[test]
fn lookups() {
    check(
        "lookups",
        vec![
            refused("CVE-2026-42501: empty answer", |scene| scene.answer("")),
            refused("CVE-2026-42501: genuine record of another version", |scene| {
                answer_genuine(scene, KNOWN_ID);
            }),
            refused("CVE-2026-42501: genuine record of another module", |scene| {
                answer_genuine(scene, 5);
            }),
            refused("empty record", |scene| scene.answer(answer(WANTED_ID, "", &scene.head_now()))),
            refused("CVE-2026-56864: our lines only in the signed text of the head", |scene| {
                let head = scene.world.log.head(NOW) + &evil_record();
                scene.answer(answer(5, scene.world.log.text(5), &signed(&head)));
            }),
            refused("CVE-2026-56864: our lines only between record and head", |scene| {
                let note = format!("{}\n{}", evil_record(), scene.head_now());
                scene.answer(answer(5, scene.world.log.text(5), &note));
            }),
            refused("CVE-2026-56864: our lines only after the signatures", |scene| {
                let note = scene.head_now() + &evil_record();
                scene.answer(answer(5, scene.world.log.text(5), &note));
            }),
            accepted("other lines of ours in the signed text of the head, ignored", |scene| {
                let head = scene.world.log.head(NOW) + &evil_record();
                scene.answer_with_note(&signed(&head));
            })
            .then(|scene, _| scene.assert_installed(WANTED)),
            refused("forged record with the digest of another zip", |scene| {
                scene.answer(answer(WANTED_ID, &evil_record(), &scene.head_now()));
            }),
            refused("our record under the number of another", |scene| {
                let record = scene.world.log.text(WANTED_ID);
                scene.answer(answer(WANTED_ID + 1, record, &scene.head_now()));
            }),
            with_logged_record("logged record: two h1 lines for our version", 0),
            with_logged_record("logged record: only h2", 1),
            with_logged_record("logged record: h1 cut short", 2),
            with_logged_record("logged record: only the go.mod line", 3),
            with_logged_record("logged record: no go.mod line", 4),
            refused("logged record with a wrong h1, honest zip", |scene| {
                answer_genuine(scene, HOSTILE_IDS[5]);
            })
            .after_the_proof()
            .then(|scene, run| {
                let honest = h1(&crate::world::zip(WANTED));
                assert_ne!(honest, h1(&evil_zip()), "{run:?}");
                // The log has it for ever; only the test's honest database does not serve it.
                let version = module(WANTED).version();
                let kept = scene.memory().join(format!("lookup/golang.org/toolchain@{version}"));
                fs_err::remove_file(kept).unwrap();
            }),
            with_id("record id -1", "-1"),
            with_id("record id +12345", "+12345"),
            with_id("record id 012345", "012345"),
            with_id("record id 12345.0", "12345.0"),
            with_id("record id empty", ""),
            with_id("record id in Arabic digits", "١٢٣٤٥"),
            with_id("record id 2^63", "9223372036854775808"),
            with_id("record id 2^64 + 12345", "18446744073709563961"),
            with_id("record id 2^63 - 1", "9223372036854775807"),
            with_id("record id as large as the log", "70000"),
            refused("record with CR LF", |scene| {
                answer_edited(scene, |honest| honest.replacen(".mod h1", ".mod\r h1", 1));
            }),
            refused("record with a NUL", |scene| {
                answer_edited(scene, |honest| honest.replacen("toolchain", "tool\0chain", 1));
            }),
            refused("record that is not UTF-8", |scene| {
                let mut answer = scene.world.answer(WANTED_ID, NOW);
                answer[10] = 0xff;
                scene.answer(answer);
            }),
            refused("record with a blank line in it", |scene| {
                answer_edited(scene, |honest| honest.replacen('\n', "\n\n", 2));
            }),
            refused("record without a signed head", |scene| {
                answer_edited(scene, |honest| honest.split("\n\n").next().unwrap().to_owned());
            }),
            refused("answer cut in the middle", |scene| {
                answer_edited(scene, |honest| honest[..honest.len() / 2].to_owned());
            }),
            refused("answer: an HTML page with status 200", |scene| {
                scene.answer("<html>\n<body>please log in</body>\n</html>\n");
            }),
            refused("answer: endless", |scene| {
                answer_edited(scene, |honest| honest + &"x".repeat(70_000));
            }),
            refused("answer: the head alone", |scene| scene.answer(scene.head_now())),
            refused("answer: 404, though the proxy has the zip", |scene| {
                scene.status(&lookup(WANTED), 404);
            }),
            refused("answer: 410, though the proxy has the zip", |scene| {
                scene.status(&lookup(WANTED), 410);
            }),
            broken("answer: 403", |scene| scene.status(&lookup(WANTED), 403)),
            broken("answer: 500, 500, 500, 500", |scene| scene.status(&lookup(WANTED), 500)),
            broken("answer: 429, 429, 429, 429", |scene| scene.status(&lookup(WANTED), 429)),
            refused("answer of another release's lookup", |scene| {
                scene.answer(fs_err::read(scene.world.www().join(lookup(KNOWN))).unwrap());
            }),
            refused("answer that is signed, but of an empty tree", |scene| {
                scene.answer_with_note(&signed(&head_text(0, &crate::log::root(&[]))));
            }),
        ],
    );
}
