//! Making mirrors of GOROOTs and adding to them.

use super::*;

#[test]
fn a_mirror_grows_and_who_knew_it_before_still_trusts_it() {
    let world = World::new();
    let folder = world.path("growing");
    let before = create(&folder, &[world.path(ONE)]).unwrap();
    let store = world.store("store");
    install(&store, ONE, &before.goproxy_file(), &before.gosumdb()).unwrap();
    let zip = module(ONE).zip_path();
    let zip_before = fs_err::read(before.www.join(&zip)).unwrap();

    let after = create(&folder, &[world.path(TWO), world.path(ONE)]).unwrap();
    assert_eq!(after.key, before.key);
    assert_eq!(after.added, [module(TWO)]);
    assert_eq!(after.unchanged, [module(ONE)]);
    assert_eq!(fs_err::read(after.www.join(&zip)).unwrap(), zip_before);
    let list = fs_err::read_to_string(after.www.join(module::LIST_PATH)).unwrap();
    assert_eq!(list, format!("{}\n{}\n", module(ONE).version(), module(TWO).version()));

    let two = install(&store, TWO, &after.goproxy_file(), &after.gosumdb()).unwrap();
    let Evidence::Proven(proven) = two.evidence else { panic!() };
    assert_eq!((proven.record_id, proven.tree_size), (1, 2));
    install(&store, ONE, &after.goproxy_file(), &after.gosumdb()).unwrap();
}

#[test]
fn a_mirror_takes_nothing_back() {
    let world = World::new();
    let before = contents(&world.mirror.www);
    write(world.path(TWO).join("src/x.go"), "package changed\n");
    make_goroot(&world.path("go1.97.3"), "go1.97.3");
    let goroots = [world.path("go1.97.3"), world.path(TWO)];
    let error = create(&world.path("mirror"), &goroots).unwrap_err();
    assert!(format!("{error:#}").contains("has golang.org/toolchain@"), "{error:#}");
    assert!(format!("{error:#}").contains("with other files"), "{error:#}");
    let after = contents(&world.mirror.www);
    let database = |files: &BTreeMap<String, String>| {
        let mut files = files.clone();
        files.retain(|path, _| path.starts_with("sumdb/") || path.ends_with("/list"));
        files
    };
    assert_eq!(database(&after), database(&before));
}

#[test]
fn a_mirror_that_lost_its_records_is_not_continued() {
    let world = World::new();
    fs_err::write(world.path("mirror/records"), "").unwrap();
    let error = create(&world.path("mirror"), &[world.path(ONE)]).unwrap_err();
    assert!(format!("{error:#}").contains("signed for other records"), "{error:#}");
}

#[test]
fn a_mirror_that_was_cut_off_is_made_good() {
    let world = World::new();
    let whole = contents(&world.mirror.www);
    // The records were written, and nothing after them.
    fs_err::remove_dir_all(world.mirror.www.join("sumdb")).unwrap();
    fs_err::remove_file(world.mirror.www.join(module(ONE).zip_path())).unwrap();
    create(&world.path("mirror"), &[world.path(ONE)]).unwrap();
    assert_eq!(contents(&world.mirror.www), whole);
}

#[test]
fn the_secret_key_is_private_and_not_served() {
    let world = World::new();
    let key = world.path("mirror/key");
    assert_eq!(fs_err::metadata(&key).unwrap().mode() & 0o777, 0o600);
    let secret = fs_err::read_to_string(key).unwrap();
    let secret = secret.trim().rsplit('+').next().unwrap();
    assert!(contents(&world.mirror.www).values().all(|content| !content.contains(secret)));
}

#[test]
fn the_database_has_the_name_that_was_asked_for() {
    let world = World::new();
    let options = MirrorOptions { database: Some("go.example.org/sum".to_owned()) };
    let make = |folder: &str, options: &MirrorOptions| {
        mirror::create(&world.path(folder), &[world.path(ONE)], options, &mut |_| ())
    };
    let named = make("named", &options).unwrap();
    assert_eq!(named.key.name(), "go.example.org/sum");
    install(&world.store("store"), ONE, &named.goproxy_file(), &named.gosumdb()).unwrap();
    make("named", &MirrorOptions::default()).unwrap();
    let error = make("named", &MirrorOptions { database: Some("other".to_owned()) }).unwrap_err();
    assert!(format!("{error:#}").contains("a log keeps its name"), "{error:#}");
    for bad in ["../up", "a b", "a+b", ""] {
        let bad_options = MirrorOptions { database: Some(bad.to_owned()) };
        assert!(make("bad", &bad_options).is_err(), "{bad:?}");
        assert!(!world.path("bad/key").exists(), "{bad:?}");
    }
}

#[test]
fn a_release_archive_gives_the_module_of_its_goroot() {
    let world = World::new();
    let archive = world.path("archive.tar.gz");
    let mut tar = tar::Builder::new(flate2::write::GzEncoder::new(
        fs_err::File::create(&archive).unwrap(),
        flate2::Compression::fast(),
    ));
    tar.append_dir_all("go", world.path(TWO)).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    // The same files have the same digest, so the mirror has them already.
    let again = create(&world.path("mirror"), &[archive]).unwrap();
    assert_eq!(again.unchanged, [module(TWO)]);
    assert_eq!(
        contents(&world.path("mirror")).keys().filter(|path| path.contains(".tmp-")).count(),
        0
    );
}

#[test]
fn a_release_archive_stays_below_its_folder() {
    let world = World::new();
    for (path, kind) in [
        ("go/../../escaped", tar::EntryType::Regular),
        ("elsewhere/x", tar::EntryType::Regular),
        ("go/src/link", tar::EntryType::Symlink),
    ] {
        let archive = world.path("archive.tar.gz");
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut tar = tar::Builder::new(gzip);
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..4].copy_from_slice(b"/etc");
        header.set_cksum();
        tar.append(&header, std::io::empty()).unwrap();
        fs_err::write(&archive, tar.into_inner().unwrap().finish().unwrap()).unwrap();
        let error = create(&world.path("other"), &[archive]).unwrap_err();
        assert!(format!("{error:#}").contains(path), "{error:#}");
    }
    assert!(!world.path("escaped").exists());
}

#[test]
fn links_are_followed_and_those_that_lead_out_are_named() {
    let world = World::new();
    let linked = world.path("linked");
    make_goroot(&linked, TWO);
    fs_err::create_dir(world.path("share")).unwrap();
    fs_err::rename(linked.join("src"), world.path("share/src")).unwrap();
    symlink(world.path("share/src"), linked.join("src")).unwrap();
    fs_err::rename(linked.join("LICENSE"), linked.join("lib/LICENSE")).unwrap();
    symlink("lib/LICENSE", linked.join("LICENSE")).unwrap();
    // Left out of the module, so nobody minds.
    symlink("/nowhere", linked.join("doc/dangling")).unwrap();

    let plain = world.path("plain");
    make_goroot(&plain, TWO);
    fs_err::copy(plain.join("LICENSE"), plain.join("lib/LICENSE")).unwrap();

    let summary = create(&world.path("other"), &[linked.clone(), plain]).unwrap();
    assert_eq!(summary.unchanged, [module(TWO)], "same files, linked or not");
    let linked = fs_err::canonicalize(linked).unwrap();
    assert_eq!(summary.links_out, [linked.join("src")]);
}

#[test]
fn what_is_no_file_is_not_packed() {
    let world = World::new();
    let refusal = |spoil: &dyn Fn(&Path)| {
        let goroot = world.path("spoilt");
        make_goroot(&goroot, TWO);
        spoil(&goroot);
        let error = create(&world.path("other"), std::slice::from_ref(&goroot)).unwrap_err();
        fs_err::remove_dir_all(goroot).unwrap();
        format!("{error:#}")
    };
    let text = refusal(&|root| {
        let mode = nix::sys::stat::Mode::from_bits_truncate(0o600);
        nix::unistd::mkfifo(&root.join("src/pipe"), mode).unwrap();
    });
    assert!(text.contains("src/pipe is neither a file nor a folder"), "{text}");
    let text = refusal(&|root| symlink("..", root.join("src/up")).unwrap());
    assert!(text.contains("a symbolic link to a folder that it is in"), "{text}");
    let text = refusal(&|root| symlink("/nowhere", root.join("src/gone")).unwrap());
    assert!(text.contains("src/gone is a symbolic link to nothing"), "{text}");
    let text = refusal(&|root| write(root.join("src/X.go"), "clashes with x.go"));
    assert!(text.contains("cannot be packed as a module"), "{text}");
    let text = refusal(&|root| write(root.join("VERSION"), "devel +0123abcd\n"));
    assert!(
        text.contains("expected a release such as go1.27.1 in the first line, found"),
        "{text}"
    );
    let text = refusal(&|root| fs_err::remove_file(root.join("bin/go")).unwrap());
    assert!(text.contains("has no bin/go"), "{text}");
}

#[test]
fn the_zip_says_what_the_protocol_wants() {
    let world = World::new();
    let source = DirectorySource::new(&world.mirror.www);
    let read = |path: String| source.read(&path, limits::INFO_BYTES).unwrap();
    let info: serde_json::Value = serde_json::from_slice(&read(module(TWO).info_path())).unwrap();
    assert_eq!(info["Version"], module(TWO).version());
    assert_eq!(info["Time"], "2026-02-03T04:05:06Z");
    assert_eq!(read(module(TWO).mod_path()), module::GO_MOD_TEXT.as_bytes());
    let mut zip = tempfile::tempfile().unwrap();
    zip.write_all(&read(module(TWO).zip_path())).unwrap();
    let zip = zip::ZipArchive::new(zip).unwrap();
    let prefix = module(TWO).zip_prefix();
    let names: Vec<&str> =
        zip.file_names_raw().map(|name| std::str::from_utf8(name).unwrap()).collect();
    assert!(names.is_sorted());
    assert!(names.iter().all(|name| name.starts_with(&prefix)));
    assert!(names.contains(&format!("{prefix}src/_go.mod").as_str()));
    assert!(!names.iter().any(|name| name.ends_with("/go.mod")));
}
