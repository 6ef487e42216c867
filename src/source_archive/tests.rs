use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::os::unix::fs::symlink;
use zip::write::{SimpleFileOptions, ZipWriter};

fn zip_with(write: impl FnOnce(&mut ZipWriter<Cursor<Vec<u8>>>)) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    write(&mut writer);
    writer.finish().unwrap().into_inner()
}

fn zip_of(files: &[(&str, &[u8])]) -> Vec<u8> {
    zip_with(|writer| {
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
    })
}

/// Keeps the folder of the file alive.
fn opened(bytes: &[u8]) -> Result<SourceArchive, SourceArchiveError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.zip");
    fs_err::write(&path, bytes).unwrap();
    SourceArchive::open(&path)
}

fn refusal(bytes: &[u8]) -> String {
    match opened(bytes).unwrap_err() {
        SourceArchiveError::Refused { reason, .. } => reason,
        error => panic!("{error:?}"),
    }
}

/// What reading the file called `a` of a zip says.
fn read_refusal(bytes: &[u8]) -> String {
    opened(bytes).unwrap().read("a").unwrap_err().to_string()
}

/// Replaces a text in all places: a name in local header and directory.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
        }
    }
    bytes
}

#[test]
fn a_zip_and_a_folder_read_alike() {
    let bytes = zip_with(|writer| {
        writer.add_directory("nbody/", SimpleFileOptions::default()).unwrap();
        writer.start_file("nbody/nbody.go", SimpleFileOptions::default()).unwrap();
        writer.write_all(b"package main\n").unwrap();
        writer.start_file("LICENSE", SimpleFileOptions::default()).unwrap();
    });
    let folder = tempfile::tempdir().unwrap();
    fs_err::create_dir(folder.path().join("nbody")).unwrap();
    fs_err::write(folder.path().join("nbody/nbody.go"), "package main\n").unwrap();
    fs_err::write(folder.path().join("LICENSE"), "").unwrap();

    let zip = opened(&bytes).unwrap();
    assert_eq!(zip.sha256(), Some(hex(&Sha256::digest(&bytes)).as_str()));
    for mut archive in [zip, SourceArchive::open(folder.path()).unwrap()] {
        assert_eq!(archive.names().collect::<Vec<_>>(), ["LICENSE", "nbody/nbody.go"]);
        assert_eq!(archive.read("nbody/nbody.go").unwrap(), "package main\n");
        assert!(archive.read("nbody").unwrap_err().to_string().contains("no file nbody"));
    }
}

#[test]
fn a_comment_is_no_offence() {
    let bytes = zip_with(|writer| {
        writer.start_file("a", SimpleFileOptions::default()).unwrap();
        writer.set_comment("0123456789abcdef").unwrap();
    });
    assert_eq!(opened(&bytes).unwrap().names().count(), 1);
}

#[test]
fn what_is_no_zip_is_told() {
    assert_eq!(refusal(b"<html>not found</html>"), "not a zip: no end record");
    assert_eq!(refusal(b""), "not a zip: no end record");
    let zip = zip_of(&[("a", b"text")]);
    assert_eq!(refusal(&[&zip[..], b"more"].concat()), "damaged zip: bytes after its end");
    assert_eq!(
        refusal(&[&zip[..], &zip[..]].concat()),
        "not one zip: it has more than one end record"
    );
    assert!(refusal(&[b"before", &zip[..]].concat()).starts_with("damaged zip"));
    assert_eq!(refusal(&zip[..zip.len() - 1]), "not a zip: no end record");
    assert!(matches!(
        SourceArchive::open(Path::new("/dev/null")),
        Err(SourceArchiveError::Refused { .. })
    ));
    assert!(matches!(SourceArchive::open(Path::new("/nowhere")), Err(SourceArchiveError::Read(_))));
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for name in [
        "../evil",
        "/evil__",
        "a/../ev",
        "a//evil",
        "./evil_",
        "a\\evil_",
        "C:evil_",
        "a\nevil_",
        "\u{1b}[evil",
    ] {
        let plain = "x".repeat(name.len());
        let bytes = replaced(&zip_of(&[(&plain, b"")]), plain.as_bytes(), name.as_bytes());
        assert!(refusal(&bytes).contains("the name "), "{name:?}: {}", refusal(&bytes));
    }
    let bytes = replaced(&zip_of(&[("xx", b"")]), b"xx", b"\xff\xfe");
    assert!(refusal(&bytes).contains("not UTF-8"));
    assert!(refusal(&zip_of(&[(&"x".repeat(2_000), b"")])).contains("too long"));
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let bytes =
        replaced(&zip_of(&[("main.go1", b"1"), ("main.go2", b"2")]), b"main.go2", b"main.go1");
    assert!(refusal(&bytes).contains("some name is there twice"));
    assert!(refusal(&zip_of(&[("a", b""), ("a/b", b"")])).contains("a is a file, and a folder"));
}

#[test]
fn a_header_that_disagrees_with_the_directory_is_refused() {
    let mut bytes = zip_of(&[("main.go1", b"1")]);
    let at = bytes.windows(8).position(|window| window == b"main.go1").unwrap();
    bytes[at..at + 8].copy_from_slice(b"main.go2");
    assert!(refusal(&bytes).starts_with("damaged zip"), "{}", refusal(&bytes));
}

#[test]
fn a_bomb_is_read_up_to_the_limit() {
    let bytes = zip_of(&[("a", &vec![b'x'; 200 << 20])]);
    assert!(bytes.len() < 1 << 20);
    assert!(read_refusal(&bytes).contains("a has more than 1048576 bytes"));
}

#[test]
fn too_many_entries_are_refused() {
    let bytes = zip_with(|writer| {
        for number in 0..=ENTRIES {
            writer.start_file(number.to_string(), SimpleFileOptions::default()).unwrap();
        }
    });
    assert_eq!(refusal(&bytes), "20001 entries, expected at most 20000");
}

#[test]
fn only_whole_plain_text_is_read() {
    assert!(read_refusal(&zip_of(&[("a", b"\xff")])).contains("a is not UTF-8 text"));
    assert!(read_refusal(&zip_of(&[("a", b"x\0")])).contains("a is not UTF-8 text"));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let bytes = zip_with(|writer| {
        writer.start_file("a", stored).unwrap();
        writer.write_all(b"content").unwrap();
    });
    let damaged = replaced(&bytes, b"content", b"context");
    assert!(read_refusal(&damaged).contains("hecksum"), "{}", read_refusal(&damaged));
    let link = zip_with(|writer| {
        writer.add_symlink("a", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    });
    assert!(read_refusal(&link).contains("not a regular file"));
}

#[test]
fn links_in_a_folder_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    symlink("/etc", folder.path().join("etc")).unwrap();
    symlink("/etc/passwd", folder.path().join("a")).unwrap();
    fs_err::write(folder.path().join("b"), "text").unwrap();
    let mut archive = SourceArchive::open(folder.path()).unwrap();
    assert_eq!(archive.names().collect::<Vec<_>>(), ["b"]);
    fs_err::remove_file(folder.path().join("b")).unwrap();
    symlink("/etc/passwd", folder.path().join("b")).unwrap();
    assert!(archive.read("b").is_err());
}

#[test]
fn a_large_file_in_a_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs_err::File::create(folder.path().join("a")).unwrap().file().set_len(1 << 40).unwrap();
    let mut archive = SourceArchive::open(folder.path()).unwrap();
    assert!(archive.read("a").unwrap_err().to_string().contains("more than"));
}

proptest! {
    #[test]
    fn any_damage_is_refused_or_harmless(at in 0_usize..400, value in any::<u8>(), cut in 0_usize..400) {
        let mut bytes = zip_of(&[("nbody/nbody.go", b"package main"), ("LICENSE", b"text of it")]);
        let length = bytes.len();
        bytes[at % length] = value;
        bytes.truncate(length - cut % 3 / 2 * (cut % length));
        let Ok((mut zip, names)) = read_zip(bytes) else { return Ok(()) };
        for name in names {
            prop_assert!(!name.starts_with('/') && !name.contains(".."));
            let _ = read_entry(&mut zip, &name);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        prop_assert!(read_zip(bytes).is_err());
    }
}
