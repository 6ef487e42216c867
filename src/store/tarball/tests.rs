use flate2::Compression;
use flate2::write::GzEncoder;
use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

const FILE: EntryType = EntryType::Regular;

/// A header and what comes after it, filled up to whole blocks.
fn entry(kind: EntryType, name: &[u8], content: &[u8]) -> Vec<u8> {
    entry_of_size(kind, name, content.len() as u64, content)
}

fn entry_of_size(kind: EntryType, name: &[u8], size: u64, content: &[u8]) -> Vec<u8> {
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_size(size);
    header.set_mtime(1_700_000_000);
    header.set_cksum();
    let mut bytes = [header.as_bytes(), content].concat();
    bytes.resize(bytes.len().next_multiple_of(BLOCK_BYTES), 0);
    bytes
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

const END: [u8; 2 * BLOCK_BYTES] = [0; 2 * BLOCK_BYTES];

fn archive(entries: &[Vec<u8>]) -> Vec<u8> {
    gzip(&[entries.concat(), END.to_vec()].concat())
}

fn of_files(names: &[&str]) -> Vec<u8> {
    let entries: Vec<_> = names.iter().map(|name| entry(FILE, name.as_bytes(), b"x")).collect();
    archive(&entries)
}

type Files = Vec<(String, Vec<u8>)>;

fn read(archive: &[u8]) -> Result<Files, TarballError> {
    let mut tarball = Tarball::new(archive);
    let mut files = Vec::new();
    while let Some(file) = tarball.next_file()? {
        let mut content = Vec::new();
        let sha256 = tarball.copy(&mut content)?;
        assert_eq!(sha256, <[u8; 32]>::from(Sha256::digest(&content)));
        assert_eq!(file.size_bytes, content.len() as u64);
        files.push((file.name, content));
    }
    Ok(files)
}

fn names(archive: &[u8]) -> Vec<String> {
    read(archive).unwrap().into_iter().map(|(name, _)| name).collect()
}

fn refusal(archive: &[u8]) -> String {
    read(archive).unwrap_err().to_string()
}

fn pax(lines: &[&str]) -> Vec<u8> {
    let line = |text: &&str| {
        // The length of a line counts its own digits.
        let length = (1..).find(|n: &usize| n.to_string().len() + text.len() + 2 == *n).unwrap();
        format!("{length} {text}\n")
    };
    let text: String = lines.iter().map(line).collect();
    entry(EntryType::XHeader, b"pax", text.as_bytes())
}

fn small() -> Vec<u8> {
    archive(&[
        entry(EntryType::Directory, b"go/", b""),
        entry(FILE, b"go/VERSION", b"go1.99.0\n"),
        entry(FILE, b"go/api/go1.txt", b"left out"),
        entry(EntryType::Directory, b"go/src/", b""),
        entry(FILE, b"go/src/go.mod", b"module std\n"),
        entry(FILE, b"go/src/x.go", &[b'x'; 1000]),
    ])
}

#[test]
fn the_files_of_the_module_come_out() {
    assert_eq!(
        read(&small()).unwrap(),
        [
            ("VERSION".to_owned(), b"go1.99.0\n".to_vec()),
            ("src/_go.mod".to_owned(), b"module std\n".to_vec()),
            ("src/x.go".to_owned(), vec![b'x'; 1000]),
        ]
    );
    let archive = small();
    let mut tarball = Tarball::new(&*archive);
    let file = tarball.next_file().unwrap().unwrap();
    assert_eq!((&*file.entry, file.modified_s), ("go/VERSION", 1_700_000_000));
    // What is not read is passed over.
    assert_eq!(tarball.next_file().unwrap().unwrap().name, "src/_go.mod");
}

#[test]
fn long_names_of_both_kinds_are_read() {
    let long = format!("go/src/{}/x.go", "long".repeat(40));
    let gnu = archive(&[
        entry(EntryType::GNULongName, b"././@LongLink", format!("{long}\0").as_bytes()),
        entry(FILE, &long.as_bytes()[..100], b"x"),
        entry(FILE, b"go/src/y.go", b"y"),
    ]);
    assert_eq!(names(&gnu), [&long[3..], "src/y.go"]);
    let posix = archive(&[
        entry(EntryType::XGlobalHeader, b"g", b"16 comment=hello"),
        pax(&["mtime=1700000000.5", &format!("path={long}")]),
        entry(FILE, &long.as_bytes()[..100], b"x"),
        entry(FILE, b"go/src/y.go", b"y"),
    ]);
    assert!(refusal(&posix).contains("malformed pax extension"));
    let posix = archive(&[
        pax(&["mtime=1700000000.5", &format!("path={long}")]),
        entry(FILE, &long.as_bytes()[..100], b"x"),
        entry(FILE, b"go/src/y.go", b"y"),
    ]);
    assert_eq!(names(&posix), [&long[3..], "src/y.go"]);
}

#[test]
fn a_long_header_changes_nothing_but_a_name_and_is_bounded() {
    let with = |header: Vec<u8>| archive(&[header, entry(FILE, b"go/x", b"x")]);
    assert_snapshot!(refusal(&with(pax(&["size=9"]))), @r#"archive entry "pax": an extended header gives it another size or content"#);
    assert_snapshot!(refusal(&with(pax(&["GNU.sparse.major=1"]))), @r#"archive entry "pax": an extended header gives it another size or content"#);
    assert_snapshot!(refusal(&with(pax(&["path=go/../../x"]))), @r#"archive entry "go/../../x": it is not below go/, where a release has all its files"#);
    let huge = entry_of_size(EntryType::GNULongName, b"long", 1 << 33, b"x");
    assert_snapshot!(refusal(&with(huge)), @r#"archive entry "long": an extended header of 8589934592 bytes"#);
    let mut global = pax(&["path=go/x"]);
    global[156] = b'g';
    // The kind changed by ('g' - 'x'), and so does the sum.
    let sum = Header::from_byte_slice(&global[..BLOCK_BYTES]).cksum().unwrap() - 17;
    global[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    assert_snapshot!(refusal(&with(global)), @r#"archive entry "pax": it gives one name to all entries"#);
}

#[test]
fn names_stay_below_go() {
    for name in [
        "/etc/passwd",
        "go",
        "gone/x",
        "./go/x",
        "elsewhere/x",
        "go/../../x",
        "go/src/../x",
        "go/src/./x",
        "go//x",
        "go/",
        "go/src/",
        "go/test/../../x",
    ] {
        let text = refusal(&of_files(&["go/VERSION", name]));
        assert!(text.contains(&format!("{name:?}: it is not below go/")), "{text}");
    }
    let not_text = archive(&[entry(FILE, b"go/a\xff", b"")]);
    assert_snapshot!(refusal(&not_text), @r#"archive entry "go/a�": the name is not UTF-8"#);
}

#[test]
fn names_follow_the_rules_of_module_zips() {
    assert_snapshot!(refusal(&of_files(&["go/a\\b"])), @r#"archive entry "go/a\\b": the character '\\' is not allowed"#);
    assert_snapshot!(refusal(&of_files(&["go/src/..."])), @r#"archive entry "go/src/...": a path element consists of dots"#);
    assert_snapshot!(refusal(&of_files(&["go/aux.c"])), @r#"archive entry "go/aux.c": the path element "aux.c" names a device on Windows"#);
    assert_snapshot!(refusal(&of_files(&["go/a", "go/b", "go/a"])), @r#"archive entry "go/a": there are two entries of this name"#);
    assert_snapshot!(refusal(&of_files(&["go/a", "go/A"])), @r#"archive entry "go/A": the name differs from "a" only in the case of letters"#);
    assert_snapshot!(refusal(&of_files(&["go/src/go.mod", "go/src/_go.mod"])), @r#"archive entry "go/src/_go.mod": there are two entries of this name"#);
    assert_snapshot!(refusal(&of_files(&["go/a/b", "go/a"])), @r#"archive entry "go/a": the name is a file here and a folder in "a/b", or the reverse"#);
    assert_snapshot!(refusal(&of_files(&["go/a", "go/a/b"])), @r#"archive entry "go/a/b": the name is a file here and a folder in "a", or the reverse"#);
    let folder_first =
        archive(&[entry(EntryType::Directory, b"go/a/", b""), entry(FILE, b"go/a", b"")]);
    assert_snapshot!(refusal(&folder_first), @r#"archive entry "go/a": the name is a file here and a folder in "a", or the reverse"#);
}

#[test]
fn only_files_and_folders_come_out() {
    for kind in [
        EntryType::Link,
        EntryType::Symlink,
        EntryType::Char,
        EntryType::Block,
        EntryType::Fifo,
        EntryType::Continuous,
        EntryType::GNUSparse,
        EntryType::new(b'Z'),
    ] {
        let text = refusal(&archive(&[entry(kind, b"go/bin/go", b"")]));
        assert!(text.ends_with("\"go/bin/go\": it is neither a file nor a folder"), "{text}");
        // The module leaves it out, so nobody looks at it.
        assert_eq!(names(&archive(&[entry(kind, b"go/test/x", b"")])), [""; 0]);
    }
    let link_name = archive(&[entry(EntryType::GNULongLink, b"././@LongLink", b"/etc/passwd\0")]);
    assert!(refusal(&link_name).contains("not below go/"));
}

#[test]
fn sizes_are_bounded() {
    let limit = limits::UNPACKED_BYTES;
    let huge = archive(&[entry_of_size(FILE, b"go/a", limit + 1, b"x")]);
    assert_snapshot!(refusal(&huge), @"not a release archive: its files have more than the 524288000 bytes of a module");
    let largest = archive(&[entry_of_size(FILE, b"go/a", u64::MAX, b"x")]);
    assert_snapshot!(refusal(&largest), @"not a release archive: its files have more than the 524288000 bytes of a module");
    let no_number = {
        let mut header = entry(FILE, b"go/a", b"");
        header[124..136].copy_from_slice(b"99999999999\0");
        let mut as_header = Header::from_byte_slice(&header[..BLOCK_BYTES]).clone();
        as_header.set_cksum();
        archive(&[as_header.as_bytes().to_vec()])
    };
    assert_snapshot!(refusal(&no_number), @r#"archive entry "go/a": its size is no number"#);
    // What is passed over counts as well.
    let bomb = archive(&[entry(FILE, b"go/test/a", &[0; 100_000]), entry(FILE, b"go/a", b"")]);
    let mut tarball = Tarball::new(&*bomb);
    tarball.stream.left_bytes = 70_000;
    let text = tarball.next_file().unwrap_err().to_string();
    assert!(text.contains("it unpacks to more than"), "{text}");
}

#[test]
fn an_archive_ends_once() {
    let entries = entry(FILE, b"go/a", b"x");
    let one = gzip(&[&*entries, &END].concat());
    assert_eq!(names(&one), ["a"]);
    let padded = gzip(&[&*entries, &END, &[0; 9 * 1024]].concat());
    assert_eq!(names(&padded), ["a"]);

    for cut in [&[][..], &END[..BLOCK_BYTES]] {
        let text = refusal(&gzip(&[&*entries, cut].concat()));
        assert_eq!(text, "not a release archive: it is cut short");
    }
    let more = gzip(&[&*entries, &END, &entries, &END].concat());
    assert_snapshot!(refusal(&more), @"not a release archive: there is something after its end");
    for after in [one.as_slice(), b"x"] {
        let text = refusal(&[&one, after].concat());
        assert!(text.ends_with("there is something after the end of the gzip stream"), "{text}");
    }
    assert!(refusal(&gzip(&[])).ends_with("it is cut short"));
}

#[test]
fn what_is_no_archive_is_said_to_be_none() {
    assert_snapshot!(refusal(b"<html>Please log in.</html>"), @"not a release archive: it cannot be decompressed (invalid gzip header)");
    assert_snapshot!(refusal(&gzip(&[b'x'; 2000])), @"not a release archive: a block that should be a tar header is none");
}

#[test]
fn every_cut_is_refused_and_every_flipped_byte_refused_or_without_effect() {
    let whole = small();
    let files = read(&whole).unwrap();
    for length in 0..whole.len() {
        assert!(read(&whole[..length]).is_err(), "cut to {length} bytes");
    }
    let mut harmless = 0;
    for at in 0..whole.len() {
        let mut flipped = whole.clone();
        flipped[at] ^= 1;
        if let Ok(found) = read(&flipped) {
            assert_eq!(found, files, "byte {at} flipped");
            harmless += 1;
        }
    }
    // The time in the gzip header, say, or another distance between two places in a row of zeros.
    assert!(harmless < whole.len() / 4, "{harmless} of {}", whole.len());
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        let _ = read(&bytes);
        let _ = read(&gzip(&bytes));
    }

    #[test]
    fn what_comes_out_stays_below_its_folder(
        entries in prop::collection::vec(
            ("(go/)?[a-cA/.]{0,8}", prop::sample::select(vec![b'0', b'5', b'2', b'x', b'L', b'g']), 0..3_u64),
            1..5,
        ),
    ) {
        let entries: Vec<Vec<u8>> = entries
            .iter()
            .map(|(name, kind, size)| {
                entry(EntryType::new(*kind), name.as_bytes(), &vec![b'g'; *size as usize])
            })
            .collect();
        if let Ok(files) = read(&archive(&entries)) {
            for (name, _) in files {
                prop_assert!(!name.starts_with('/') && !name.split('/').any(|e| e.is_empty() || e == ".."));
            }
        }
    }
}
