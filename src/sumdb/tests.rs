//! The client against an honest database, every kind of hostile one, and damaged memories.

use std::sync::atomic::Ordering;

use proptest::prelude::*;

use super::fake::{Notebook, SIZE, Server, VERSION, key, lookup, module, record, signer};
use super::note::sign;
use super::*;

/// A record whose leaf tile and the tile above are full: the longest way to the root.
const DEEP: u64 = 5;

/// A record in the last, not full leaf tile.
const LAST: u64 = SIZE - 1;

fn prove(server: &Server, memory: &Notebook, id: u64) -> Result<Proof, SumdbError> {
    Client::new(server, memory, &key()).prove(&module(id), VERSION)
}

/// Checks that `server` fails to prove module `id` and leaves no trace in memory.
fn refused(server: &Server, memory: &Notebook, id: u64) -> SumdbError {
    let before = (memory.latest_note(), memory.paths());
    let error = prove(server, memory, id).unwrap_err();
    assert_eq!((memory.latest_note(), memory.paths()), before, "{error}");
    error
}

fn refused_first(server: &Server, id: u64) -> SumdbError {
    refused(server, &Notebook::default(), id)
}

/// Why an answer was refused as an answer.
fn fault(error: SumdbError) -> AnswerError {
    match error {
        SumdbError::Answer { source, .. } => source,
        other => panic!("not about the answer: {other:?}"),
    }
}

fn flip(position: usize) -> impl FnOnce(&mut Vec<u8>) {
    move |file| file[position] ^= 1
}

/// The tiles read to prove module `id` for somebody who remembers `latest`.
fn tiles_to_prove(server: &Server, latest: Option<String>, id: u64) -> Vec<String> {
    let memory = Notebook::default();
    *memory.latest.lock().unwrap() = latest;
    let before = server.read_below("tile/").len();
    prove(server, &memory, id).unwrap();
    server.read_below("tile/").split_off(before)
}

mod honest {
    use super::*;

    #[test]
    fn a_first_lookup_is_proven_and_remembered() {
        let (server, memory) = (Server::new(), Notebook::default());
        let proof = prove(&server, &memory, DEEP).unwrap();
        assert_eq!(proof.h1, record(DEEP).h1);
        assert_eq!(proof.go_mod_h1, record(DEEP).go_mod_h1);
        assert_eq!((proof.record_id, proof.tree_size), (DEEP, SIZE));
        assert!(server.head().contains(&format!("\n{}\n", proof.root)));
        assert_eq!(proof.database, "sum.example.test");
        assert_eq!(memory.latest_note(), Some(server.head()));
        assert_eq!(
            memory.paths(),
            [
                "lookup/example.test/m5@v1.0.0",
                "tile/8/0/000",
                "tile/8/0/390.p/160",
                "tile/8/1/000",
                "tile/8/1/001.p/134",
                "tile/8/2/000.p/1",
            ]
        );
    }

    #[test]
    fn tiles_are_read_once() {
        let server = Server::new();
        let tiles = tiles_to_prove(&server, Some(Server::at(70_000).head()), DEEP);
        let distinct: std::collections::BTreeSet<_> = tiles.iter().collect();
        assert_eq!(distinct.len(), tiles.len(), "{tiles:?}");
    }

    #[test]
    fn what_is_cached_needs_no_database() {
        let memory = Notebook::default();
        let proof = prove(&Server::new(), &memory, DEEP).unwrap();
        let keeps = memory.keeps.load(Ordering::Relaxed);
        assert_eq!(prove(&Server::down(), &memory, DEEP).unwrap(), proof);
        assert_eq!(memory.keeps.load(Ordering::Relaxed), keeps, "kept again what was there");
        let error = refused(&Server::down(), &memory, LAST);
        assert!(matches!(error, SumdbError::Unavailable { .. }));
    }

    #[test]
    fn an_older_head_is_accepted_as_the_past() {
        let memory = Notebook::with_latest(Server::new().head());
        let proof = prove(&Server::at(70_000), &memory, DEEP).unwrap();
        assert_eq!(proof.tree_size, SIZE);
        assert_eq!(memory.latest_note(), Some(Server::new().head()));
    }

    #[test]
    fn the_same_head_needs_no_replacement() {
        let memory = Notebook::with_latest(Server::new().head());
        memory.rivals.lock().unwrap().push("would be stored".to_owned());
        assert_eq!(prove(&Server::new(), &memory, DEEP).unwrap().tree_size, SIZE);
        assert_eq!(memory.latest_note(), Some(Server::new().head()));
    }

    #[test]
    fn unknown_signatures_are_ignored() {
        let mut server = Server::new();
        let other = SignerKey::from_seed("witness", &[9; 32]).unwrap();
        let head = server.head();
        let theirs = sign(&server.head_text(), &other);
        let their_line = theirs.rsplit_once("\n\n").unwrap().1;
        server.answer(DEEP, format!("{DEEP}\n{}\n{head}{their_line}", record(DEEP).text()));
        assert!(prove(&server, &Notebook::default(), DEEP).is_ok());
    }

    #[test]
    fn a_tile_that_has_filled_up_meanwhile_is_cut() {
        let mut server = Server::new();
        server.size = 70_000;
        let partial: Tile = "tile/8/0/273.p/112".parse().unwrap();
        server.answers.insert(partial.to_string(), None);
        let memory = Notebook::default();
        prove(&server, &memory, 69_999).unwrap();
        assert!(server.read_below("tile/").contains(&partial.full().to_string()));
        // The rest of the full tile is not covered by this head.
        assert!(!memory.paths().contains(&partial.full().to_string()));
        assert_eq!(memory.kept.lock().unwrap()[&partial.to_string()].len(), partial.bytes());
    }

    #[test]
    fn a_full_tile_in_memory_is_cut() {
        let server = Server::at(70_000);
        let full = "tile/8/0/273";
        let memory = Notebook::default();
        memory.keep(full, &server.read(full, u64::MAX).unwrap());
        prove(&server, &memory, 69_999).unwrap();
        assert_eq!(server.read_below("tile/8/0/273.p"), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_record_of_any_head_is_proven(id in 0..SIZE, a in 1..=SIZE, b in 1..=SIZE) {
            let shown = Server::at(a.max(id + 1));
            let memory = Notebook::with_latest(Server::at(b).head());
            let proof = prove(&shown, &memory, id).unwrap();
            prop_assert_eq!(proof.h1, record(id).h1);
            prop_assert_eq!(proof.tree_size, shown.size.max(b));
        }

        /// Consistency checks read every tile that an earlier proof will want when it is repeated
        /// in the grown tree.
        #[test]
        fn all_that_was_proven_is_proven_again_offline(
            lookups in prop::collection::vec((0..SIZE, 1..=SIZE), 1..6),
        ) {
            let memory = Notebook::default();
            for &(id, size) in &lookups {
                prove(&Server::at(size.max(id + 1)), &memory, id).unwrap();
            }
            for (id, _) in lookups {
                prove(&Server::down(), &memory, id).unwrap();
            }
        }
    }
}

/// CVE-2026-56865: tiles between the right end of the tree and the record were not authenticated.
mod tiles {
    use super::*;

    #[test]
    fn a_changed_tile_is_found_on_every_level() {
        for (latest, id) in [
            (None, DEEP),
            (None, LAST),
            (Some(Server::at(70_000).head()), 90_000),
            (Some(Server::at(1).head()), DEEP),
        ] {
            let tiles = tiles_to_prove(&Server::new(), latest.clone(), id);
            let has_level = |level| tiles.iter().any(|tile| tile.starts_with(level));
            assert!(["tile/8/0/", "tile/8/1/", "tile/8/2/"].into_iter().all(has_level));
            for path in tiles {
                let bytes = path.parse::<Tile>().unwrap().bytes();
                for position in [0, bytes / 2, bytes - 1] {
                    let mut server = Server::new();
                    server.edit(&path, flip(position));
                    let memory = Notebook::default();
                    *memory.latest.lock().unwrap() = latest.clone();
                    let error = refused(&server, &memory, id);
                    let SumdbError::TileMismatch { path: named, .. } = &error else {
                        panic!("{path} byte {position}: {error}");
                    };
                    assert!(named.contains(&path), "{named} is not {path}");
                }
            }
        }
    }

    #[test]
    fn a_forged_record_with_a_forged_leaf_is_found() {
        let mut server = Server::new();
        let forged = record(DEEP).text().replace("h1:A", "h1:B");
        server.answer_record(DEEP, DEEP, &forged);
        let leaf = super::tree::leaf_hash(forged.as_bytes());
        server.edit("tile/8/0/000", |tile| tile[5 * 32..6 * 32].copy_from_slice(&leaf.0));
        assert!(matches!(
            refused_first(&server, DEEP),
            SumdbError::TileMismatch { path, .. } if path == "tile/8/0/000"
        ));

        // Forge the tile above as well: then that one does not fit.
        let tile: Tile = "tile/8/0/000".parse().unwrap();
        let hashes = tile.hashes(&server.read("tile/8/0/000", 8192).unwrap()).unwrap();
        let above = super::tree::root_over(&hashes);
        server.edit("tile/8/1/000", |tile| tile[..32].copy_from_slice(&above.0));
        assert!(matches!(
            refused_first(&server, DEEP),
            SumdbError::TileMismatch { path, .. } if path == "tile/8/1/000"
        ));
    }

    #[test]
    fn a_tile_of_wrong_length_is_refused() {
        for path in tiles_to_prove(&Server::new(), None, DEEP) {
            let bytes = path.parse::<Tile>().unwrap().bytes();
            for length in [0, 31, bytes - 32, bytes - 1, bytes + 1, bytes + 32] {
                let mut server = Server::new();
                server.edit(&path, |tile| tile.resize(length, 0));
                let is_right_kind = match refused_first(&server, DEEP) {
                    SumdbError::TileLength { expected_bytes, found_bytes, .. } => {
                        (expected_bytes, found_bytes) == (bytes, length)
                    }
                    SumdbError::TooLarge { limit, .. } => length as u64 > limit,
                    _ => false,
                };
                assert!(is_right_kind, "{path} of {length} bytes");
            }
        }
    }

    #[test]
    fn a_full_tile_of_wrong_length_is_not_cut() {
        let mut server = Server::at(70_000);
        server.answers.insert("tile/8/0/273.p/112".to_owned(), None);
        server.edit("tile/8/0/273", |tile| tile.truncate(112 * 32));
        assert!(matches!(refused_first(&server, DEEP), SumdbError::TileLength { .. }));
    }

    #[test]
    fn a_missing_tile_is_no_answer() {
        for path in tiles_to_prove(&Server::new(), None, DEEP) {
            let mut server = Server::new();
            let full = path.parse::<Tile>().unwrap().full().to_string();
            server.answers.extend([(path.clone(), None), (full, None)]);
            let error = refused_first(&server, DEEP);
            assert!(
                matches!(&error, SumdbError::TileMissing { path: named, .. } if *named == path)
            );
        }
    }
}

mod answers {
    use super::*;

    fn fault_of(answer: impl Into<Vec<u8>>) -> AnswerError {
        let mut server = Server::new();
        server.answer(DEEP, answer);
        fault(refused_first(&server, DEEP))
    }

    fn no_line(id: u64) -> AnswerError {
        RecordError::NoLine { module: format!("{} {VERSION}", module(id)) }.into()
    }

    /// CVE-2026-42501: no line for the module counted as agreement.
    #[test]
    fn a_genuine_record_of_another_module_is_refused() {
        let mut server = Server::new();
        server.answer_record(DEEP, LAST, &record(LAST).text());
        assert_eq!(fault(refused_first(&server, DEEP)), no_line(DEEP));
    }

    /// CVE-2026-42501: no line for the module counted as agreement.
    #[test]
    fn an_answer_without_a_record_is_refused() {
        let head = Server::new().head();
        assert_eq!(fault_of(""), RecordError::Id { found: String::new() }.into());
        assert_eq!(fault_of(format!("5\n\n{head}")), RecordError::NoRecord.into());
        assert_eq!(fault_of(format!("5\n\n\n{head}")), RecordError::NoRecord.into());
        let error = fault_of(head);
        assert_eq!(error, RecordError::Id { found: "go.sum database tree".to_owned() }.into());
    }

    #[test]
    fn an_empty_record_in_the_log_is_refused() {
        let mut server = Server::with_record(10, DEEP, "other line\n");
        server.answer_record(DEEP, DEEP, "other line\n");
        assert_eq!(fault(refused_first(&server, DEEP)), no_line(DEEP));
    }

    /// CVE-2026-56864: lines were taken from the whole answer, not only from the record.
    #[test]
    fn lines_after_the_record_are_not_part_of_it() {
        let mut server = Server::new();
        let wanted = record(DEEP).text();
        let signed_text = format!("{}{wanted}", server.head_text());
        let note = sign(&signed_text, &signer());
        server.answer(DEEP, format!("{LAST}\n{}\n{note}", record(LAST).text()));
        assert_eq!(fault(refused_first(&server, DEEP)), no_line(DEEP));

        let unsigned = format!("{LAST}\n{}\n{wanted}\n{}", record(LAST).text(), server.head());
        server.answer(DEEP, unsigned);
        let error = fault(refused_first(&server, DEEP));
        assert_eq!(error, NoteError::BadSignature { key: key().to_string() }.into());

        let after = format!("{LAST}\n{}\n{}{wanted}", record(LAST).text(), server.head());
        server.answer(DEEP, after);
        let error = fault(refused_first(&server, DEEP));
        assert!(matches!(error, AnswerError::Note(NoteError::SignatureLine { .. })));
    }

    #[test]
    fn a_record_must_say_one_thing() {
        let text = record(DEEP).text();
        let twice = format!("{text}{}", text.replace("h1:A", "h1:B"));
        let other_hash = text.replace("h1:", "h2:");
        for (text, expected) in [
            (twice, "the record has 2 h1 lines for example.test/m5 v1.0.0, expected 1"),
            (
                other_hash,
                "the record has no h1 digest for example.test/m5 v1.0.0, only \
                 \"h2:AAAAAAAAAAUAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"",
            ),
            (
                text.lines().next().unwrap().to_owned() + "\n",
                "the record has no line for example.test/m5 v1.0.0/go.mod",
            ),
        ] {
            let mut server = Server::with_record(10, DEEP, &text);
            server.answer_record(DEEP, DEEP, &text);
            assert_eq!(fault(refused_first(&server, DEEP)).to_string(), expected);
        }
    }

    #[test]
    fn a_record_that_is_not_in_the_log_is_refused() {
        let mut server = Server::new();
        let forged = record(DEEP).text().replace("h1:A", "h1:B");
        server.answer_record(DEEP, DEEP, &forged);
        assert!(matches!(
            refused_first(&server, DEEP),
            SumdbError::RecordMismatch { id: DEEP, .. }
        ));
        server.answer_record(DEEP, DEEP + 1, &record(DEEP).text());
        assert!(matches!(refused_first(&server, DEEP), SumdbError::RecordMismatch { id: 6, .. }));
    }

    #[test]
    fn a_head_must_be_signed_by_the_key() {
        let server = Server::new();
        let answer = |note: &str| format!("{DEEP}\n{}\n{note}", record(DEEP).text());
        let unsigned: AnswerError = NoteError::Unsigned { key: key().to_string() }.into();

        let same_name = SignerKey::from_seed("sum.example.test", &[4; 32]).unwrap();
        assert_eq!(fault_of(answer(&sign(&server.head_text(), &same_name))), unsigned);
        let renamed = server.head().replace("— sum.example.test", "— sum.example.tesu");
        assert_eq!(fault_of(answer(&renamed)), unsigned);
        assert_eq!(fault_of(answer(&server.head_text())), NoteError::NoSignatures.into());
        let other_size = server.head().replace("100000", "100001");
        assert!(matches!(
            fault_of(answer(&other_size)),
            AnswerError::Note(NoteError::BadSignature { .. })
        ));
    }

    #[test]
    fn sizes_and_ids_must_be_canonical() {
        let server = Server::new();
        let text = server.head_text();
        for size in ["0", "-1", "+100000", "0100000", "9223372036854775808", "99999999999999999999"]
        {
            let note = sign(&text.replace("100000", size), &signer());
            assert_eq!(
                fault_of(format!("{DEEP}\n{}\n{note}", record(DEEP).text())),
                TreeHeadError::Size { found: size.to_owned() }.into()
            );
        }
        for id in ["", "-1", "+5", "05", "5 ", "18446744073709551616"] {
            assert_eq!(
                fault_of(format!("{id}\n{}\n{}", record(DEEP).text(), server.head())),
                RecordError::Id { found: id.to_owned() }.into()
            );
        }
    }

    #[test]
    fn the_largest_sizes_do_no_harm() {
        let mut server = Server::new();
        let size = i64::MAX.to_string();
        let note = sign(&server.head_text().replace("100000", &size), &signer());
        server.answer(DEEP, format!("{DEEP}\n{}\n{note}", record(DEEP).text()));
        assert!(matches!(refused_first(&server, DEEP), SumdbError::TileMissing { .. }));
        let last = i64::MAX as u64 - 1;
        server.answer(DEEP, format!("{last}\n{}\n{note}", record(DEEP).text()));
        assert!(matches!(refused_first(&server, DEEP), SumdbError::TileMissing { .. }));
    }

    #[test]
    fn a_record_beyond_the_head_is_refused_even_if_a_newer_head_covers_it() {
        let mut server = Server::at(1000);
        server.answer_record(LAST, LAST, &record(LAST).text());
        let memory = Notebook::with_latest(Server::new().head());
        assert!(matches!(
            refused(&server, &memory, LAST),
            SumdbError::RecordBeyondTree { id: LAST, size: 1000, .. }
        ));
        server.answer_record(LAST, 1000, &record(1000).text());
        assert!(matches!(refused(&server, &memory, LAST), SumdbError::RecordBeyondTree { .. }));
    }

    #[test]
    fn an_unknown_module_is_not_found_and_an_outage_is_not_an_answer() {
        let error = refused_first(&Server::new(), SIZE);
        assert!(matches!(error, SumdbError::NotFound { .. }));
        insta::assert_snapshot!(error, @"checksum database sum.example.test has no record of example.test/m100000 v1.0.0; nothing was installed (if it is new, try again later)");
        let error = refused_first(&Server::down(), DEEP);
        assert!(matches!(error, SumdbError::Unavailable { .. }));
        insta::assert_snapshot!(error, @"checksum database sum.example.test: cannot read lookup/example.test/m5@v1.0.0: no route to host");
    }

    #[test]
    fn names_are_checked_before_anything_is_asked() {
        let server = Server::new();
        for (path, version) in [("../latest", VERSION), ("a b", VERSION), ("a.test/b", "v1/../x")] {
            let client_error =
                Client::new(&server, &Notebook::default(), &key()).prove(path, version);
            assert!(matches!(client_error, Err(SumdbError::Name(_))), "{path} {version}");
        }
        assert_eq!(server.read_below(""), [""; 0]);
    }

    proptest! {
        #[test]
        fn arbitrary_answers_never_prove(answer: Vec<u8>) {
            let mut server = Server::new();
            server.answer(DEEP, answer);
            refused_first(&server, DEEP);
        }
    }
}

mod forks {
    use super::*;

    /// A log that differs from the honest one in record 60,000.
    fn fork(size: u64) -> Server {
        Server::forked_at(60_000, size)
    }

    fn is_fork(shown: &Server, remembered: String) {
        let memory = Notebook::with_latest(remembered.clone());
        let SumdbError::Fork { old_note, new_note, .. } = refused(shown, &memory, DEEP) else {
            panic!("not called a fork");
        };
        assert_eq!((old_note, new_note), (remembered, shown.head()));
    }

    #[test]
    fn another_root_for_the_same_size_is_a_fork() {
        is_fork(&fork(70_000), Server::at(70_000).head());

        let mut without_tiles = Server::at(70_000);
        without_tiles.answer(DEEP, fork(70_000).read(&lookup(DEEP), u64::MAX).unwrap());
        for tile in Tile::fringe(70_000) {
            without_tiles
                .answers
                .extend([(tile.to_string(), None), (tile.full().to_string(), None)]);
        }
        let memory = Notebook::with_latest(Server::at(70_000).head());
        assert!(matches!(refused(&without_tiles, &memory, DEEP), SumdbError::Fork { .. }));
    }

    #[test]
    fn a_newer_head_that_is_no_continuation_is_a_fork() {
        is_fork(&fork(80_000), Server::at(70_000).head());
        is_fork(&fork(80_000), Server::at(60_001).head());
    }

    #[test]
    fn an_older_head_that_is_not_the_past_is_a_fork() {
        let memory = Notebook::with_latest(Server::at(80_000).head());
        // Its tiles are those of the honest log, so that only the head convicts it.
        let mut shown = Server::at(70_000);
        let head = fork(70_000).head();
        shown.answer(DEEP, format!("{DEEP}\n{}\n{head}", record(DEEP).text()));
        assert!(matches!(refused(&shown, &memory, DEEP), SumdbError::Fork { .. }));
    }

    #[test]
    fn logs_that_part_later_are_no_fork_yet() {
        let memory = Notebook::with_latest(Server::at(60_000).head());
        assert!(prove(&fork(80_000), &memory, DEEP).is_ok());
    }

    #[test]
    fn a_fork_in_the_cache_is_not_asked_about_again() {
        let memory = Notebook::with_latest(Server::at(70_000).head());
        let forked = fork(70_000);
        memory.keep(&lookup(DEEP), &forked.read(&lookup(DEEP), u64::MAX).unwrap());
        assert!(matches!(refused(&Server::new(), &memory, DEEP), SumdbError::Fork { .. }));
    }

    #[test]
    fn the_message_shows_both_notes() {
        let shown = Server::with_record(2, 1, "forged\n");
        let error = refused(&shown, &Notebook::with_latest(Server::at(2).head()), 0);
        insta::assert_snapshot!(error, @r"
        checksum database sum.example.test contradicts itself: it has signed two heads that no one log can have; nothing was installed, and the remembered head stays. Keep both notes, together they are the evidence:
          remembered:
            go.sum database tree
            2
            0rTdmJOcNn2GyVx8jGHidb0kprv+xwtqNfe8t7rDPQM=

            — sum.example.test 4+X8d2BDIM1Kh8IClck2YGPO043jgvw86zfm0lZ2RBAUsWZsGyoFWe21zsDH24qRYjhJKVGXZ1fk7L96syGL2rNb9go=
          shown now:
            go.sum database tree
            2
            YuCdBiC/5bCiP1V4ANhr11a6f91DlK6k5zurt0si5WM=

            — sum.example.test 4+X8d4E+U/Zln1RRNtjlM1FtvUUJ8WyM3VYFlDHzPJnCpAM3DytuHrXmYHNQQPsIJVASzIGOFkepMVU0MMBsXoo1ggE=
        ");
    }
}

mod memory {
    use super::*;

    /// Everything that was kept when module `DEEP` was proven.
    fn filled() -> Notebook {
        let memory = Notebook::default();
        prove(&Server::new(), &memory, DEEP).unwrap();
        memory
    }

    fn content(memory: &Notebook) -> std::collections::BTreeMap<String, Vec<u8>> {
        memory.kept.lock().unwrap().clone()
    }

    #[test]
    fn damage_in_the_cache_is_repaired_from_the_database() {
        let honest = content(&filled());
        for path in filled().paths() {
            let edits: [fn(&mut Vec<u8>); 4] = [
                |file| file[0] ^= 1,
                |file| *file.last_mut().unwrap() ^= 1,
                |file| file.truncate(file.len() / 2),
                |file| file.clear(),
            ];
            for edit in edits {
                let memory = filled();
                edit(memory.kept.lock().unwrap().get_mut(&path).unwrap());
                let server = Server::new();
                assert_eq!(prove(&server, &memory, DEEP).unwrap().h1, record(DEEP).h1);
                assert!(server.read_below("").contains(&path));
                assert_eq!(content(&memory), honest);
            }
        }
    }

    #[test]
    fn damage_in_the_cache_is_never_a_proof() {
        for path in filled().paths() {
            let memory = filled();
            memory.kept.lock().unwrap().get_mut(&path).unwrap()[0] ^= 1;
            let error = prove(&Server::down(), &memory, DEEP).unwrap_err();
            assert!(matches!(error, SumdbError::Unavailable { .. }), "{path}: {error}");
            // An answer that lies is dropped; a tile stays until there is a better one.
            assert_eq!(memory.paths().contains(&path), path.starts_with("tile/"), "{path}");
        }
    }

    #[test]
    fn a_damaged_full_tile_is_dropped_with_the_part_that_was_wanted() {
        let memory = Notebook::default();
        memory.keep("tile/8/0/390", &[1; 8192]);
        memory.keep("tile/8/2/000", &[1; 8192]);
        let server = Server::new();
        prove(&server, &memory, DEEP).unwrap();
        assert!(
            !memory.paths().iter().any(|path| path == "tile/8/0/390" || path == "tile/8/2/000")
        );
        let mut read = server.read_below("tile/");
        read.sort();
        read.dedup();
        assert_eq!(read.len(), server.read_below("tile/").len(), "read twice without need");
    }

    #[test]
    fn a_cache_of_another_record_is_replaced() {
        let memory = filled();
        let other = Server::new().read(&lookup(LAST), u64::MAX).unwrap();
        memory.keep(&lookup(DEEP), &other);
        assert_eq!(prove(&Server::new(), &memory, DEEP).unwrap().h1, record(DEEP).h1);
    }

    #[test]
    fn a_poisoned_cache_and_a_forging_database_are_asked_once_each() {
        let memory = filled();
        memory.kept.lock().unwrap().get_mut("tile/8/0/000").unwrap()[0] ^= 1;
        let mut server = Server::new();
        server.edit("tile/8/0/000", flip(1));
        assert!(matches!(
            prove(&server, &memory, DEEP).unwrap_err(),
            SumdbError::TileMismatch { .. }
        ));
        assert_eq!(server.read_below(""), ["tile/8/0/000"]);
    }

    #[test]
    fn a_damaged_remembered_head_is_not_dropped_silently() {
        for note in [String::new(), "x".to_owned(), Server::new().head().replace('1', "3")] {
            let memory = Notebook::with_latest(note);
            let error = refused(&Server::new(), &memory, DEEP);
            assert!(matches!(error, SumdbError::RememberedHead { .. }), "{error}");
        }
    }

    #[test]
    fn a_rival_with_an_older_or_newer_head_only_costs_another_round() {
        for (rival, proven_in) in [(75_000, 80_000), (80_000, 80_000), (90_000, 90_000)] {
            let memory = Notebook::with_latest(Server::at(70_000).head());
            memory.rivals.lock().unwrap().push(Server::at(rival).head());
            let proof = prove(&Server::at(80_000), &memory, DEEP).unwrap();
            assert_eq!(proof.tree_size, proven_in);
            assert_eq!(memory.latest_note(), Some(Server::at(proven_in).head()));
        }
    }

    #[test]
    fn a_rival_with_a_forked_head_is_noticed() {
        let memory = Notebook::default();
        let forked = Server::with_record(100, 7, "forged\n").head();
        memory.rivals.lock().unwrap().push(forked.clone());
        let error = prove(&Server::at(1000), &memory, DEEP).unwrap_err();
        assert!(matches!(error, SumdbError::Fork { .. }));
        assert_eq!(memory.latest_note(), Some(forked));
    }

    #[test]
    fn endless_rivals_end_in_an_error() {
        let memory = Notebook::with_latest(Server::at(1).head());
        let rivals = (2..=20).rev().map(|size| Server::at(size).head());
        memory.rivals.lock().unwrap().extend(rivals);
        let error = prove(&Server::new(), &memory, DEEP).unwrap_err();
        assert!(matches!(error, SumdbError::Contended { attempts: 10, .. }));
    }

    #[test]
    fn a_memory_that_fails_is_an_error() {
        struct Broken;
        impl Memory for Broken {
            fn latest(&self) -> anyhow::Result<Option<String>> {
                anyhow::bail!("permission denied")
            }
            fn replace_latest(&self, _: Option<&str>, _: &str) -> anyhow::Result<bool> {
                anyhow::bail!("permission denied")
            }
            fn cached(&self, _: &str) -> Option<Vec<u8>> {
                None
            }
            fn keep(&self, _: &str, _: &[u8]) {}
            fn forget(&self, _: &str) {}
        }
        let error = Client::new(&Server::new(), &Broken, &key()).prove(&module(DEEP), VERSION);
        assert!(matches!(error, Err(SumdbError::Memory { .. })));
    }
}

#[test]
fn security_stops_say_that_nothing_was_installed() {
    let mut tile = Server::new();
    tile.edit("tile/8/0/000", flip(0));
    let mut line = Server::new();
    line.answer_record(DEEP, LAST, &record(LAST).text());
    let mut forged = Server::new();
    forged.answer_record(DEEP, DEEP, "forged\n");
    for server in [tile, line, forged] {
        let message = refused_first(&server, DEEP).to_string();
        assert!(message.contains("nothing was installed"), "{message}");
        assert!(message.contains("sum.example.test"), "{message}");
    }
    let mut tile = Server::new();
    tile.edit("tile/8/0/000", flip(0));
    insta::assert_snapshot!(refused_first(&tile, DEEP), @"checksum database sum.example.test: tile/8/0/000 does not belong to the signed tree of 100000 records: expected hash U1Rk2MloPi4APi3ZN3ouvWmfq4ElqPzAqTVCcDCrdtM=, found Z209Toi9Wiv7TfRMY/UuTAzwRidTBg0xIRkthsr6HH4=; nothing was installed (try another proxy, and tell the one who runs this one)");
}

/// What a valid text becomes when it is changed: refused, or just what it says.
mod changes {
    use super::*;

    const MODULE: &str = "example.test/m5";

    /// A byte put in, taken out or replaced.
    #[derive(Clone, Debug)]
    struct Change {
        place: prop::sample::Index,
        kind: u8,
        byte: u8,
    }

    impl Change {
        fn make(&self, bytes: &mut Vec<u8>) {
            let place = self.place.index(bytes.len());
            match self.kind {
                0 => bytes.insert(place, self.byte),
                1 => drop(bytes.remove(place)),
                _ => bytes[place] = self.byte,
            }
        }
    }

    /// One change, of a byte that is likely to matter.
    fn change() -> impl Strategy<Value = Change> {
        let byte =
            prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'\n'), Just(b' '), Just(b'x'), Just(b'/')];
        (any::<prop::sample::Index>(), 0..3_u8, byte).prop_map(|(place, kind, byte)| Change {
            place,
            kind,
            byte,
        })
    }

    fn changed(text: &str, changes: &[Change]) -> Vec<u8> {
        let mut bytes = text.as_bytes().to_vec();
        changes.iter().for_each(|change| {
            if !bytes.is_empty() {
                change.make(&mut bytes);
            }
        });
        bytes
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        prop::collection::vec(change(), 1..4)
    }

    proptest! {
        #[test]
        fn a_changed_note_is_refused_or_says_the_same(
            text in "([ -~é—]{0,20}\n){1,4}", changes in changes()
        ) {
            let note = changed(&sign(&text, &signer()), &changes);
            if let Ok(opened) = note::open(&note, &key()) {
                prop_assert_eq!(opened, text);
            }
        }

        #[test]
        fn a_changed_head_is_refused_or_another_head(
            size in 1..=i64::MAX as u64, root: [u8; 32], changes in changes()
        ) {
            let head = TreeHead { size, root: Hash(root) };
            let text = changed(&head.text(), &changes);
            let Ok(text) = str::from_utf8(&text) else { return Ok(()) };
            if let Ok(other) = TreeHead::parse(text) {
                prop_assert!(text.starts_with(&other.text()), "{} became {:?}", text, other);
            }
        }

        #[test]
        fn a_changed_tile_path_is_refused_or_of_another_tile(
            index: u64, size in 1..=i64::MAX as u64, level in 0..8_u32, changes in changes()
        ) {
            let tile = Tile::in_tree(level, index % (1 + (size >> (8 * level)) / 256), size);
            let Some(tile) = tile else { return Ok(()) };
            prop_assert_eq!(tile.to_string().parse(), Ok(tile));
            let path = changed(&tile.to_string(), &changes);
            let Ok(path) = str::from_utf8(&path) else { return Ok(()) };
            if let Ok(other) = path.parse::<Tile>() {
                prop_assert_eq!(other.to_string(), path);
                prop_assert!(other.bytes() <= 8192);
            }
        }

        #[test]
        fn a_changed_answer_is_refused_or_just_what_it_says(
            id in 0..SIZE, h1: [u8; 32], changes in changes()
        ) {
            let module = ModuleRecord {
                path: MODULE.to_owned(),
                h1: crate::module::TreeDigest::from_bytes(h1),
                ..record(5)
            };
            let answer = format!("{id}\n{}\n{}", module.text(), Server::at(1).head());
            let answer = changed(&answer, &changes);
            let Ok(Answer { id, record, note }) = Answer::parse(&answer) else { return Ok(()) };
            let written = format!("{id}\n{record}\n{note}");
            prop_assert_eq!(written.as_bytes(), &answer[..]);
            if let Ok(found) = find_module(record, MODULE, VERSION) {
                for line in found.text().lines() {
                    prop_assert_eq!(record.lines().filter(|other| *other == line).count(), 1);
                }
            }
        }

        #[test]
        fn a_changed_key_is_refused(name in "[a-z./]{1,20}", seed: [u8; 32], changes in changes()) {
            let key = SignerKey::from_seed(&name, &seed).unwrap().verifier().to_string();
            let text = changed(&key, &changes);
            let Ok(text) = str::from_utf8(&text) else { return Ok(()) };
            if let Ok(other) = VerifierKey::parse(text) {
                prop_assert_eq!(other.to_string(), key);
            }
        }
    }
}
