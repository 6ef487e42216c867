//! Toolchains from disk: release archives, installed only with proof, and GOROOTs, used where they
//! lie with the proof or the reason why there is none.

use gosurvey::module::TreeDigest;
use gosurvey::store::local_release;

use super::*;

/// Packs a GOROOT like an official release archive.
fn pack(goroot: &Path, archive: &Path) {
    let file = fs_err::File::create(archive).unwrap();
    let gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let mut tar = tar::Builder::new(gzip);
    tar.append_dir_all("go", goroot).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
}

/// What is appended to an archive, and what the refusal says.
type Addition = (&'static [u8], tar::EntryType, &'static str);

fn pack_with(goroot: &Path, archive: &Path, (name, kind, _): Addition) {
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_dir_all("go", goroot).unwrap();
    let mut header = tar::Header::new_gnu();
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.as_old_mut().linkname[..4].copy_from_slice(b"/etc");
    header.set_entry_type(kind);
    header.set_size(1);
    header.set_cksum();
    tar.append(&header, b"x".as_slice()).unwrap();
    compress(&tar.into_inner().unwrap(), archive);
}

fn compress(bytes: &[u8], into: &Path) {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(bytes).unwrap();
    fs_err::write(into, gzip.finish().unwrap()).unwrap();
}

impl World {
    fn take(&self, store: &Store, path: &Path, goproxy: &str) -> Result<Toolchain, InstallError> {
        take(store, path, goproxy, &self.mirror.gosumdb())
    }

    fn take_it(&self, path: &Path) -> Result<Toolchain, InstallError> {
        self.take(&self.store("store"), path, &self.mirror.goproxy_file())
    }

    fn archive(&self, release: &str) -> PathBuf {
        let archive = self.path("archive.tar.gz");
        pack(&self.path(release), &archive);
        archive
    }

    /// What the mirror has on record.
    fn h1(&self, release: &str) -> TreeDigest {
        let store = self.store("other-store");
        let toolchain = self.install(&store, release, &self.mirror.goproxy_file()).unwrap();
        proven(&toolchain).h1
    }
}

fn take(
    store: &Store,
    path: &Path,
    goproxy: &str,
    gosumdb: &str,
) -> Result<Toolchain, InstallError> {
    let proxies = Proxies::with_retry(&GoproxyList::parse(goproxy).unwrap(), RetryPolicy::ONCE);
    let setting = SumdbSetting::parse(gosumdb).unwrap();
    let database = ChecksumDatabase::new(&proxies, &setting);
    store.take_local(path, &database, &|| false)
}

fn proven(toolchain: &Toolchain) -> &gosurvey::store::Proven {
    let Evidence::Proven(proven) = &toolchain.evidence else { panic!("{toolchain:?}") };
    proven
}

fn reason(toolchain: &Toolchain) -> (Option<TreeDigest>, &str) {
    let Evidence::Unproven { h1, reason } = &toolchain.evidence else { panic!("{toolchain:?}") };
    (*h1, reason)
}

#[test]
fn an_archive_is_installed_like_a_download() {
    let world = World::new();
    let archive = world.archive(TWO);
    let store = world.store("store");
    let toolchain = world.take(&store, &archive, &world.mirror.goproxy_file()).unwrap();

    let downloaded = world.store("other-store");
    let downloaded = world.install(&downloaded, TWO, &world.mirror.goproxy_file()).unwrap();
    assert_eq!(contents(&toolchain.root), contents(&downloaded.root));
    for name in contents(&toolchain.root).keys() {
        let metadata = |root: &Path| fs_err::metadata(root.join(name)).unwrap();
        let (found, expected) = (metadata(&toolchain.root), metadata(&downloaded.root));
        assert_eq!((found.mode(), found.mtime()), (expected.mode(), expected.mtime()), "{name}");
    }
    assert_eq!(proven(&toolchain).h1, proven(&downloaded).h1);
    let archive = fs_err::canonicalize(archive).unwrap();
    assert_eq!(proven(&toolchain).source, archive.display().to_string());
    assert_eq!(store.installed().unwrap(), [toolchain]);
    assert_eq!(contents(&store.root().join("tmp")), BTreeMap::new());
}

#[test]
fn what_is_installed_already_is_used_and_keeps_its_source() {
    let world = World::new();
    let store = world.store("store");
    let downloaded = world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
    let inode = fs_err::metadata(downloaded.go()).unwrap().ino();
    let archive = world.archive(TWO);
    // The database is not needed a second time.
    let taken = world.take(&store, &archive, "file:///nowhere|off").unwrap();
    assert_eq!(taken, downloaded);
    assert_eq!(fs_err::metadata(taken.go()).unwrap().ino(), inode);
    // And the other way round.
    let store = world.store("another");
    let taken = world.take(&store, &archive, &world.mirror.goproxy_file()).unwrap();
    assert_eq!(world.install(&store, TWO, "file:///nowhere|off").unwrap(), taken);
}

#[test]
fn an_archive_of_other_files_is_refused_with_both_digests() {
    let world = World::new();
    let expected = world.h1(TWO);
    write(world.path(TWO).join("src/x.go"), "package x // and something else\n");
    let archive = world.archive(TWO);
    let error = world.take_it(&archive).unwrap_err();
    let text = error.to_string();
    let InstallError::TarballMismatch { digests, .. } = &error else { panic!("{error:?}") };
    let path = fs_err::canonicalize(archive).unwrap().display().to_string();
    for part in [&*expected.to_h1(), &digests.found.to_h1(), &path, "unpack it and name the folder"]
    {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
    assert_eq!(error.failure(), InstallFailure::Refused);
    assert_nothing_installed(&world.store("store"));
}

#[test]
fn an_archive_without_a_record_is_refused_and_without_a_database_has_to_wait() {
    let world = World::new();
    make_goroot(&world.path("unheard-of"), "go1.97.3");
    let error = world.take_it(&world.archive("unheard-of")).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Refused, "{}", chain(&error));
    let text = chain(&error);
    assert!(text.contains("h1:") && text.contains("has no record of"), "{text}");
    assert!(text.contains("unpack it and name the folder"), "{text}");

    let archive = world.archive(TWO);
    let store = world.store("store");
    let error = world.take(&store, &archive, "file:///nowhere|off").unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Environment, "{}", chain(&error));
    assert_nothing_installed(&store);
    world.take_it(&archive).unwrap();
}

#[test]
fn a_lying_database_proves_no_archive() {
    let world = World::new();
    let archive = world.archive(TWO);
    let server = world.serve();
    server.fault(&format!("sumdb/{}/tile/8/0/000.p/2", mirror::DEFAULT_DATABASE), Fault::Flip(40));
    let store = world.store("store");
    let error = world.take(&store, &archive, &server.url()).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Refused, "{}", chain(&error));
    assert!(!error.to_string().contains("unpack it"), "{error}");
    assert_nothing_installed(&store);
    server.heal();
    world.take(&store, &archive, &server.url()).unwrap();
}

#[test]
fn hostile_archives_are_refused_and_leave_nothing() {
    use tar::EntryType;
    let world = World::new();
    let archive = world.path("archive.tar.gz");
    let store = world.store("store");
    let refusal = || {
        let error = world.take_it(&archive).unwrap_err();
        assert_eq!(error.failure(), InstallFailure::Refused, "{}", chain(&error));
        assert_nothing_installed(&store);
        chain(&error)
    };
    let additions: [Addition; 10] = [
        (b"go/bin/link", EntryType::Symlink, "neither a file nor a folder"),
        (b"go/bin/hard", EntryType::Link, "neither a file nor a folder"),
        (b"go/bin/null", EntryType::Char, "neither a file nor a folder"),
        (b"/escaped", EntryType::Regular, "not below go/"),
        (b"go/../../escaped", EntryType::Regular, "not below go/"),
        (b"elsewhere/escaped", EntryType::Regular, "not below go/"),
        (b"go/VERSION", EntryType::Regular, "two entries of this name"),
        (b"go/version", EntryType::Regular, "only in the case of letters"),
        (b"go/src/cmd", EntryType::Regular, "a file here and a folder in"),
        (b"go/VERSION/x", EntryType::Regular, "a file here and a folder in"),
    ];
    for addition in additions {
        pack_with(&world.path(TWO), &archive, addition);
        let text = refusal();
        let name = str::from_utf8(addition.0).unwrap();
        assert!(text.contains(name) && text.contains(addition.2), "{text}");
    }
    assert!(!world.path("escaped").exists());

    pack(&world.path(TWO), &archive);
    let whole = fs_err::read(&archive).unwrap();
    fs_err::write(&archive, &whole[..whole.len() - 9]).unwrap();
    assert!(refusal().contains("cut short"));
    fs_err::write(&archive, [&*whole, &*whole].concat()).unwrap();
    assert!(refusal().contains("after the end of the gzip stream"));
    fs_err::write(&archive, "<html>Please log in.</html>").unwrap();
    assert!(refusal().contains("cannot be decompressed"));
    // Half a gigabyte of nothing in half a megabyte.
    let mut header = tar::Header::new_gnu();
    header.set_path("go/src/zeros").unwrap();
    header.set_size(limits::UNPACKED_BYTES + 1);
    header.set_cksum();
    compress(&[header.as_bytes().as_slice(), &[0; 4096]].concat(), &archive);
    assert!(refusal().contains("more than the 524288000 bytes of a module"));
}

#[test]
fn an_archive_of_something_else_is_no_toolchain() {
    let world = World::new();
    fs_err::remove_file(world.path(TWO).join("bin/go")).unwrap();
    let error = world.take_it(&world.archive(TWO)).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Unusable);
    assert!(chain(&error).contains("archive.tar.gz is not a GOROOT: it has no bin/go"));
    let error = world.take_it(&world.path("nowhere")).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Unusable);
    assert_nothing_installed(&world.store("store"));
}

#[test]
fn an_archive_is_left_when_its_user_stops() {
    let world = World::new();
    let archive = world.archive(TWO);
    let store = world.store("store");
    let proxies = Proxies::new(&GoproxyList::parse(&world.mirror.goproxy_file()).unwrap());
    let setting = SumdbSetting::parse(&world.mirror.gosumdb()).unwrap();
    let database = ChecksumDatabase::new(&proxies, &setting);
    for path in [archive, world.path(TWO)] {
        let error = store.take_local(&path, &database, &|| true).unwrap_err();
        assert_eq!(error.failure(), InstallFailure::Stopped, "{}", chain(&error));
        assert_nothing_installed(&store);
    }
}

#[test]
fn the_release_of_an_archive_is_known_from_its_beginning() {
    let world = World::new();
    let archive = world.archive(TWO);
    assert_eq!(local_release(&archive).unwrap().to_string(), TWO);
    assert_eq!(local_release(&world.path(ONE)).unwrap().to_string(), ONE);
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_path_with_name(world.path(ONE).join("VERSION"), "go/VERSION").unwrap();
    let mut bytes = tar.into_inner().unwrap();
    bytes.truncate(1024);
    compress(&bytes, &archive);
    assert_eq!(local_release(&archive).unwrap().to_string(), ONE, "the rest is not read");
    compress(&[0; 1024], &archive);
    assert!(local_release(&archive).is_err());
}

#[test]
fn a_goroot_whose_tree_is_on_record_is_proven_where_it_lies() {
    let world = World::new();
    let toolchain = world.take_it(&world.path(TWO)).unwrap();
    let root = fs_err::canonicalize(world.path(TWO)).unwrap();
    assert_eq!(toolchain.root, root);
    assert_eq!(toolchain.release.to_string(), TWO);
    assert_eq!(proven(&toolchain).h1, world.h1(TWO));
    assert_eq!(proven(&toolchain).source, root.display().to_string());
    assert_eq!(proven(&toolchain).record_id, 1);
    assert_nothing_installed(&world.store("store"));

    // One that came out of a module zip has copies of its _go.mod files.
    let installed =
        world.install(&world.store("store"), TWO, &world.mirror.goproxy_file()).unwrap();
    let copy = world.path("copy");
    copy_tree(&installed.root, &copy);
    assert_eq!(proven(&world.take_it(&copy).unwrap()).h1, world.h1(TWO));
}

#[test]
fn a_goroot_that_is_not_proven_has_its_digest_and_the_reason() {
    let world = World::new();
    let on_record = world.h1(TWO);
    let goproxy = world.mirror.goproxy_file();

    let store = world.store("offline");
    let toolchain = world.take(&store, &world.path(TWO), "file:///nowhere|off").unwrap();
    let (h1, because) = reason(&toolchain);
    assert_eq!(h1, Some(on_record), "as it will be when it is proven");
    let expected =
        format!("the checksum database {} could not be asked: ", mirror::DEFAULT_DATABASE);
    assert!(because.starts_with(&expected), "{because}");
    assert_eq!(proven(&world.take(&store, &world.path(TWO), &goproxy).unwrap()).h1, on_record);

    make_goroot(&world.path("unheard-of"), "go1.97.3");
    let toolchain = world.take_it(&world.path("unheard-of")).unwrap();
    let (h1, because) = reason(&toolchain);
    let expected = format!(
        "the checksum database {name} at {goproxy}/sumdb/{name} has no record of {}",
        module("go1.97.3"),
        name = mirror::DEFAULT_DATABASE,
    );
    assert_eq!((h1.is_some(), because), (true, &*expected));

    write(world.path(TWO).join("src/x.go"), "package x // and something else\n");
    let toolchain = world.take_it(&world.path(TWO)).unwrap();
    let (h1, because) = reason(&toolchain);
    let expected = format!(
        "the checksum database {} has {on_record} on record for {}, this tree is {}",
        mirror::DEFAULT_DATABASE,
        module(TWO),
        h1.unwrap()
    );
    assert_eq!(because, expected);

    write(world.path(ONE).join("src/X.go"), "clashes with x.go");
    let toolchain = world.take_it(&world.path(ONE)).unwrap();
    let (h1, because) = reason(&toolchain);
    assert_eq!(h1, None);
    assert!(because.starts_with("the tree cannot be a module: "), "{because}");
}

#[test]
fn a_go_mod_that_is_no_copy_is_not_overlooked() {
    let world = World::new();
    let installed =
        world.install(&world.store("store"), TWO, &world.mirror.goproxy_file()).unwrap();
    let copy = world.path("copy");
    copy_tree(&installed.root, &copy);
    write(copy.join("src/cmd/go.mod"), "module cmd // with something more\n");
    let toolchain = world.take_it(&copy).unwrap();
    let (h1, because) = reason(&toolchain);
    assert_eq!(h1, None);
    assert!(because.contains("src/cmd/go.mod is no copy of "), "{because}");
}

#[test]
fn a_database_that_lies_is_no_reason_to_use_a_goroot_unproven() {
    let world = World::new();
    let server = world.serve();
    let tile = format!("sumdb/{}/tile/8/0/000.p/2", mirror::DEFAULT_DATABASE);
    server.fault(&tile, Fault::Flip(40));
    let store = world.store("store");
    let error = world.take(&store, &world.path(TWO), &server.url()).unwrap_err();
    assert!(matches!(error, InstallError::Untrustworthy { .. }), "{error:?}");
    assert_eq!(error.failure(), InstallFailure::Refused);
    let text = chain(&error);
    assert!(text.contains("does not belong to the signed tree"), "{text}");
}

#[test]
fn one_toolchain_is_installed_once_whoever_wants_it() {
    let world = World::new();
    let archive = world.archive(TWO);
    let goproxy = world.mirror.goproxy_file();
    let roots: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6)
            .map(|number| {
                let (world, archive, goproxy) = (&world, &archive, &goproxy);
                scope.spawn(move || {
                    let store = world.store("store");
                    match number % 2 {
                        0 => world.take(&store, archive, goproxy).unwrap().root,
                        _ => world.install(&store, TWO, goproxy).unwrap().root,
                    }
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(roots.iter().all(|root| *root == roots[0]), "{roots:?}");
    assert_eq!(contents(&roots[0]), expected_contents(&world.path(TWO)));
}

fn copy_tree(from: &Path, to: &Path) {
    for (name, content) in contents(from) {
        write(to.join(name), &content);
    }
}
