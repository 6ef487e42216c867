//! Module zips with a changed directory: refused, or unpacked to exactly what the directory says.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../fuzz/zips.rs"]
#[expect(dead_code, reason = "the fuzz target's own entry is not used here")]
mod zips;

use std::io::Write as _;

use proptest::prelude::*;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use zips::{PREFIX, unpack};

/// A file of a zip: name, content, and whether it is deflated.
type Packed = (String, Vec<u8>, bool);

fn packed() -> impl Strategy<Value = Vec<Packed>> {
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80),
        (any::<u8>(), 0..5000_usize).prop_map(|(byte, count)| vec![byte; count]),
    ];
    let file = ("[a-c]{1,2}(/[d-f]{1,2}){0,2}\\.go", content, any::<bool>());
    prop::collection::vec(file, 0..5).prop_map(|mut files| {
        files.sort();
        files.dedup_by(|a, b| a.0 == b.0);
        files
    })
}

fn zip_of(files: &[Packed]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content, is_deflated) in files {
        let method =
            if *is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method);
        zip.start_file(format!("{PREFIX}{name}"), options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The number of bytes of the directory and the record after it.
fn directory_bytes(zip: &[u8]) -> usize {
    let end = zip.len() - 22;
    22 + u32::from_le_bytes(zip[end + 12..end + 16].try_into().unwrap()) as usize
}

/// Bytes as zip fields have them: anything, small numbers, and the ends of their range.
fn field_byte() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), 0..4_u8, Just(0xff), Just(8)]
}

fn unpacked(files: &[Packed]) -> Vec<(String, Vec<u8>)> {
    files.iter().map(|(name, content, _)| (format!("{PREFIX}{name}"), content.clone())).collect()
}

proptest! {
    #[test]
    fn what_is_packed_is_unpacked(files in packed()) {
        prop_assert_eq!(unpack(&zip_of(&files)), Some(unpacked(&files)));
    }

    #[test]
    fn arbitrary_bytes_are_no_zip(bytes: Vec<u8>, count: u16) {
        prop_assert_eq!(unpack(&bytes), None);
        // With the right end, too: that says how long a directory there is.
        let directory = bytes.len() as u32;
        let end = [
            b"PK\x05\x06\0\0\0\0", &count.to_le_bytes()[..], &count.to_le_bytes(),
            &directory.to_le_bytes(), &0_u32.to_le_bytes(), &[0; 2],
        ];
        let unpacked = unpack(&[&bytes[..], &end.concat()].concat());
        prop_assert!(unpacked.is_none_or(|files| files.is_empty() && bytes.is_empty()));
    }

    /// `unpack` itself holds what comes out against what the directory declares.
    #[test]
    fn a_changed_directory_is_refused_or_obeyed(
        files in packed(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), field_byte()), 1..4),
    ) {
        let mut bytes = zip_of(&files);
        let start = bytes.len() - directory_bytes(&bytes);
        for (place, byte) in changes {
            let place = start + place.index(bytes.len() - start);
            bytes[place] = byte;
        }
        if let Some(unpacked) = unpack(&bytes) {
            // Contents are covered by checksums, and a name by the one in front of the content.
            prop_assert_eq!(unpacked, self::unpacked(&files));
        }
    }

    #[test]
    fn a_change_anywhere_is_refused_or_changes_nothing(
        files in packed(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), field_byte(), 0..3_u8), 1..3),
    ) {
        let mut bytes = zip_of(&files);
        for (place, byte, kind) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes.insert(place, byte),
                1 => drop(bytes.remove(place)),
                _ => bytes[place] = byte,
            }
        }
        if let Some(unpacked) = unpack(&bytes) {
            prop_assert_eq!(unpacked, self::unpacked(&files));
        }
    }

    #[test]
    fn entries_of_two_zips_do_not_mix(one in packed(), other in packed(), cut: prop::sample::Index) {
        let (one, other) = (zip_of(&one), zip_of(&other));
        let cut = cut.index(one.len() + 1);
        let both = [&one[..cut], &other[..]].concat();
        prop_assert!(cut == 0 || unpack(&both).is_none());
    }
}
