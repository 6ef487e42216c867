use insta::assert_snapshot;
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::module::TreeListing;

const PREFIX: &str = "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/";
const LINE: &[u8] = b"a line of some length that compresses, compresses, compresses\n";

fn zip_with(options: SimpleFileOptions, files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(format!("{PREFIX}{name}"), options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn deflated(files: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(SimpleFileOptions::default().compression_method(CompressionMethod::Deflated), files)
}

fn stored(files: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(SimpleFileOptions::default().compression_method(CompressionMethod::Stored), files)
}

fn open(bytes: &[u8]) -> Result<Archive, ArchiveError> {
    Archive::open(bytes.to_vec(), PREFIX)
}

/// Opens and unpacks all of it.
fn digest(bytes: &[u8]) -> Result<String, ArchiveError> {
    let mut archive = open(bytes)?;
    let mut listing = TreeListing::new();
    for place in 0..archive.entries().len() {
        let copied = archive.copy(place, &mut io::sink()).unwrap();
        if let Some(damage) = copied.damage {
            return Err(damage);
        }
        listing.add(&archive.entries()[place].name, copied.sha256).unwrap();
    }
    Ok(listing.digest().to_h1())
}

fn refusal(bytes: &[u8]) -> String {
    digest(bytes).unwrap_err().to_string()
}

/// Replaces every occurrence of `from`, which has the length of `to`; both headers have it.
fn patched(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> =
        (0..=bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "nothing to patch");
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Changes bytes at an offset in the first central header.
fn central(mut bytes: Vec<u8>, offset: usize, to: &[u8]) -> Vec<u8> {
    let start = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap() + offset;
    bytes[start..start + to.len()].copy_from_slice(to);
    bytes
}

#[test]
fn files_come_out_as_they_went_in() {
    for bytes in [deflated(&[("VERSION", b"go1.99.0\n"), ("empty", b"")]), stored(&[("a", LINE)])] {
        let mut archive = open(&bytes).unwrap();
        let mut content = Vec::new();
        let copied = archive.copy(0, &mut content).unwrap();
        assert!(copied.damage.is_none());
        assert_eq!(copied.sha256, <[u8; 32]>::from(Sha256::digest(&content)));
        assert_eq!(archive.entries()[0].size_bytes, content.len() as u64);
    }
}

#[test]
fn packing_does_not_change_the_digest() {
    let files: &[(&str, &[u8])] = &[("VERSION", b"go1.99.0\n"), ("src/a.go", LINE)];
    assert_eq!(digest(&deflated(files)).unwrap(), digest(&stored(files)).unwrap());
}

#[test]
fn nothing_may_stand_before_or_after() {
    let good = deflated(&[("a", LINE)]);
    let after = [good.as_slice(), b"x"].concat();
    let before = [b"x", good.as_slice()].concat();
    let twice = [good.as_slice(), good.as_slice()].concat();
    let mut commented = good.clone();
    *commented.iter_mut().nth_back(1).unwrap() = 1;
    commented.push(b'c');
    for bytes in
        [after, before, twice, commented.clone(), commented[..commented.len() - 1].to_vec()]
    {
        assert!(matches!(digest(&bytes), Err(ArchiveError::Shape(_))));
    }
}

#[test]
fn an_error_page_is_no_zip() {
    assert_snapshot!(refusal(b"<html><body>please log in</body></html>"), @"not a module zip: it does not end with the end record of a zip");
    assert_snapshot!(refusal(b""), @"not a module zip: only 0 bytes");
}

#[test]
fn names_follow_the_rules_of_module_zips() {
    let two = deflated(&[("src/aa.go", LINE), ("src/ab.go", LINE)]);
    assert_snapshot!(refusal(&patched(two.clone(), b"src/aa.go", b"../../a.g")), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/../../a.g": a path element consists of dots"#);
    assert_snapshot!(refusal(&patched(two.clone(), b"src/aa.go", b"src/AB.go")), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/src/ab.go": the name differs from "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/src/AB.go" only in the case of letters"#);
    assert_snapshot!(refusal(&patched(two.clone(), b"golang.org/", b"golang.com/")), @r#"zip entry "golang.com/toolchain@v0.0.1-go1.99.0.linux-amd64/src/aa.go": the name does not start with "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/""#);
    assert_snapshot!(refusal(&patched(two.clone(), b"src/aa.go", b"src/a\0.go")), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/src/a\0.go": the character '\0' is not allowed"#);
    assert_snapshot!(refusal(&patched(two.clone(), b"src/aa.go", b"src/a\xff.go")), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/src/a�.go": the name is not UTF-8"#);
    assert_snapshot!(refusal(&patched(two, b"src/aa.go", b"src/aago/")), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/src/aago/": a module zip holds files only, this names a folder"#);
}

#[test]
fn two_entries_of_a_name_are_refused() {
    let two = deflated(&[("src/aa.go", LINE), ("src/ab.go", b"other")]);
    assert_snapshot!(refusal(&patched(two, b"src/ab.go", b"src/aa.go")), @"not a module zip: 2 entries have only 1 names");
}

#[test]
fn headers_have_to_agree() {
    let mut other_name = deflated(&[("src/aa.go", LINE)]);
    let local = other_name.windows(9).position(|w| w == b"src/aa.go").unwrap();
    other_name[local + 5] = b'b';
    assert!(matches!(digest(&other_name), Err(ArchiveError::Shape(_))));
}

/// Found by the fuzz target `zip`: the reader underneath follows a record out of the directory.
#[test]
fn the_directory_ends_where_it_says() {
    let good = deflated(&[("a", LINE), ("b", LINE)]);
    let last = good.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    for field in [30, 32] {
        let mut bytes = good.clone();
        bytes[last + field] = 1;
        assert_eq!(refusal(&bytes), "not a module zip: its directory ends within a record");
    }
    let mut fewer = good;
    let end = fewer.len() - 22;
    fewer[end + 8] = 1;
    fewer[end + 10] = 1;
    assert_eq!(refusal(&fewer), "not a module zip: its directory has more than 1 records");
}

#[test]
fn only_plain_files_are_unpacked() {
    let link =
        zip_with(SimpleFileOptions::default().unix_permissions(0o777), &[("a", b"/etc/passwd")]);
    for mode in [0o120_777_u32, 0o040_755, 0o020_666, 0o010_666, 0o104_755] {
        let entry = central(link.clone(), 38, &(mode << 16).to_le_bytes());
        assert!(refusal(&entry).ends_with("it is not a regular file"), "{mode:o}");
    }
    let encrypted = central(link.clone(), 8, &[1, 0]);
    assert!(refusal(&encrypted).ends_with("it is encrypted"));
    let bzip2 = central(link, 10, &[12, 0]);
    assert!(refusal(&bzip2).ends_with("neither stored nor deflate"));
}

#[test]
fn declared_sizes_bind() {
    let size = |bytes: u32| {
        // Both headers have to say the same before it is believed at all.
        let honest = (LINE.len() as u32).to_le_bytes();
        patched(deflated(&[("a", LINE)]), &honest, &bytes.to_le_bytes())
    };
    assert_snapshot!(refusal(&size(10)), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/a": File is larger than its declared uncompressed size"#);
    assert_snapshot!(refusal(&size(100)), @r#"zip entry "golang.org/toolchain@v0.0.1-go1.99.0.linux-amd64/a": unpacks to 62 bytes, 100 declared"#);
    assert_snapshot!(refusal(&size(600 << 20)), @"not a module zip: its files have more than 524288000 bytes together");
}

#[test]
fn a_bomb_is_stopped_at_its_declared_size() {
    struct Counter(u64);
    impl Write for Counter {
        fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
            self.0 += piece.len() as u64;
            Ok(piece.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let zeros = vec![0; 10 << 20];
    let bomb = patched(
        deflated(&[("a", &zeros)]),
        &(10_u32 << 20).to_le_bytes(),
        &70_000_u32.to_le_bytes(),
    );
    let mut written = Counter(0);
    let error = open(&bomb).unwrap().copy(0, &mut written).unwrap().damage.unwrap();
    assert!(matches!(error, ArchiveError::Entry { .. }), "{error}");
    assert!(written.0 <= 70_000, "{} bytes written", written.0);
}

#[test]
fn a_flipped_bit_is_refused_or_changes_nothing() {
    let files: &[(&str, &[u8])] = &[("VERSION", b"go1.99.0\n"), ("src/a.go", LINE)];
    for good in [deflated(files), stored(files)] {
        let honest = digest(&good).unwrap();
        let mut refused = 0;
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match digest(&bytes) {
                Ok(found) => assert_eq!(found, honest, "bit {bit}"),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > good.len() * 4, "only {refused} of {} flips refused", good.len() * 8);
    }
}

#[test]
fn a_cut_off_zip_is_refused() {
    let good = deflated(&[("VERSION", b"go1.99.0\n"), ("src/a.go", LINE)]);
    for length in 0..good.len() {
        assert!(digest(&good[..length]).is_err(), "the first {length} bytes");
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>, places in prop::collection::vec((0..300_usize, any::<u8>()), 1..8)) {
        let _ = digest(&bytes);
        let mut zip = deflated(&[("a", LINE), ("b/c", b"x")]);
        for (at, byte) in places {
            let length = zip.len();
            zip[at % length] = byte;
        }
        let _ = digest(&zip);
    }
}
