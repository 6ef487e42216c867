//! Every lookup is proven in the newest head of its folder.

use super::*;

#[test]
fn the_key_is_the_published_one() {
    let published = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
    assert_eq!(key().to_string(), published);
}

#[test]
fn every_lookup_is_proven_in_the_newest_head() {
    let mut proven = BTreeSet::new();
    let mut lookups = 0;
    for folder in folders() {
        let latest = folder.latest();
        for version in folder.versions() {
            let shown = head_of(folder.answer(version).note);
            let remembered = Latest::new(latest);
            let proof = prove(&Served::new(&folder), &remembered, version)
                .unwrap_or_else(|error| panic!("{} {version}: {error:?}", folder.name));

            let newest = latest.map_or(shown, head_of);
            assert_eq!(head_of(&remembered.note().unwrap()), newest);
            assert_eq!(proof.tree_size, newest.size);
            assert_eq!(proof.root, newest.root.to_string());
            assert!(proof.record_id < shown.size);
            assert_eq!(proof.go_mod_h1.to_h1(), module::GO_MOD_H1);
            assert_eq!(proof.database, "sum.golang.org");
            proven.insert((version.to_owned(), proof.record_id, proof.h1.to_h1()));
            lookups += 1;
        }
    }
    println!("{lookups} lookups of {} module versions proven", proven.len());
    // Digests that were also computed from the files of these toolchains.
    for (version, id, h1) in [
        ("1.23.1", 29_517_969, "h1:TmiC7kE4hHuA7UwTcrWUtL/Curn//Xchpqc+HHYEv2M="),
        ("1.25.5", 47_680_624, "h1:IkknVKy/4hLMR+ZwWfP4Oqhjz2sKqNtEXz1meP8P3Nc="),
    ] {
        let expected = (format!("v0.0.1-go{version}.linux-amd64"), id, h1.to_owned());
        assert!(proven.is_empty() || proven.contains(&expected), "{version}");
    }
}

#[test]
fn a_first_lookup_reads_at_most_seven_tiles() {
    let mut first_lookups = 0;
    for folder in folders() {
        for version in folder.versions() {
            let served = Served::new(&folder);
            // Where the folder has the tiles of the latest head only, the proof ends for lack of
            // them.
            match prove(&served, &Latest::new(None), version) {
                Ok(_) => first_lookups += 1,
                Err(error) => assert!(matches!(error, SumdbError::TileMissing { .. }), "{error:?}"),
            }
            assert!(served.tiles_read().len() <= 7, "{:?}", served.tiles_read());
        }
    }
    println!("{first_lookups} first lookups");
}
