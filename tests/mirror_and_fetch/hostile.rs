//! Servers that break, lie or contradict themselves: nothing is installed, and an honest one helps.

use super::*;

#[test]
fn every_flipped_byte_of_a_proof_is_refused() {
    let world = World::new();
    let database = format!("sumdb/{}", mirror::DEFAULT_DATABASE);
    let lookup = format!("{database}/lookup/golang.org/toolchain@{}", module(TWO).version());
    let store = world.store("store");
    for path in [lookup, format!("{database}/tile/8/0/000.p/2")] {
        for flipped in Flips::of(&world.mirror.www.join(&path), 1) {
            let result = world.install(&store, TWO, &world.mirror.goproxy_file());
            let error = result.expect_err(&format!("{path} with byte {flipped} flipped"));
            assert_eq!(error.failure(), InstallFailure::Refused, "{}", chain(&error));
            assert!(matches!(error, InstallError::Unproven { .. }), "{}", chain(&error));
        }
        assert_nothing_installed(&store);
    }
    world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
}

#[test]
fn without_proof_nothing_is_downloaded() {
    let world = World::new();
    let server = world.serve();
    let tile = format!("sumdb/{}/tile/8/0/000.p/2", mirror::DEFAULT_DATABASE);
    server.fault(&tile, Fault::Flip(40));
    let store = world.store("store");
    world.install(&store, TWO, &server.url()).unwrap_err();
    assert!(!server.take_requests().contains(&module(TWO).zip_path()));
    server.heal();
    world.install(&store, TWO, &server.url()).unwrap();
}

#[test]
fn a_flipped_byte_of_a_zip_is_refused_or_changes_nothing() {
    let world = World::new();
    let (mut refused, mut accepted) = (0, 0);
    for flipped in Flips::of(&world.mirror.www.join(module(TWO).zip_path()), 17) {
        let store = world.store("store");
        match world.install(&store, TWO, &world.mirror.goproxy_file()) {
            // Times and modes in a zip, for example, count for nothing.
            Ok(toolchain) => {
                let expected = expected_contents(&world.path(TWO));
                assert_eq!(contents(&toolchain.root), expected, "byte {flipped}");
                accepted += 1;
            }
            Err(error) => {
                assert_eq!(error.failure(), InstallFailure::Refused, "{}", chain(&error));
                assert_nothing_installed(&store);
                refused += 1;
            }
        }
        fs_err::remove_dir_all(store.root()).unwrap();
    }
    assert!(refused > accepted, "{refused} flips refused, {accepted} accepted");
}

#[test]
fn damaged_memory_is_asked_for_again() {
    let world = World::new();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    let toolchain = world.install(&store, TWO, &goproxy).unwrap();
    let memory = store.root().join("sumdb");
    for path in contents(&memory).into_keys().filter(|path| !path.ends_with("/latest")) {
        for _ in Flips::of(&memory.join(&path), 50) {
            assert_eq!(world.install(&store, TWO, &goproxy).unwrap(), toolchain, "{path}");
        }
    }
}

#[test]
fn a_damaged_remembered_head_is_not_dropped_in_silence() {
    let world = World::new();
    let store = world.store("store");
    let goproxy = world.mirror.goproxy_file();
    world.install(&store, TWO, &goproxy).unwrap();
    let memory = store.root().join("sumdb");
    let latest = contents(&memory).into_keys().find(|path| path.ends_with("/latest")).unwrap();
    for _ in Flips::of(&memory.join(latest), 50) {
        let error = world.install(&store, TWO, &goproxy).unwrap_err();
        assert!(chain(&error).contains("remembered head"), "{}", chain(&error));
    }
    world.install(&store, TWO, &goproxy).unwrap();
}

#[test]
fn other_files_than_those_on_record_are_refused_with_both_digests() {
    let world = World::new();
    // A perfect zip of the release, made of a GOROOT in which one character is different.
    let changed = world.path("changed");
    make_goroot(&changed, TWO);
    write(changed.join("src/x.go"), "package x // and something else\n");
    let other = create(&world.path("other"), &[changed]).unwrap();
    let zip = fs_err::read(other.www.join(module(TWO).zip_path())).unwrap();

    let server = world.serve();
    server.fault(&module(TWO).zip_path(), Fault::Replace(zip));
    let store = world.store("store");
    let error = world.install(&store, TWO, &server.url()).unwrap_err();
    let InstallError::Mismatch { expected, found, .. } = &error else { panic!("{error:?}") };
    let text = error.to_string();
    assert_ne!(expected, found);
    for part in [expected.to_h1(), found.to_h1(), server.url(), "nothing was installed".to_owned()]
    {
        assert!(text.contains(&part), "{part:?} is not in {text:?}");
    }
    assert_eq!(error.failure(), InstallFailure::Refused);
    assert_nothing_installed(&store);

    server.heal();
    world.install(&store, TWO, &server.url()).unwrap();
}

#[test]
fn a_zip_that_is_served_but_not_on_record_is_refused() {
    let world = World::new();
    let server = world.serve();
    let unlisted = module("go1.97.3");
    server.fault(&unlisted.info_path(), Fault::Replace(b"{}".to_vec()));
    server.fault(&unlisted.zip_path(), Fault::Replace(b"PK".to_vec()));
    let store = world.store("store");
    let error = world.install(&store, "go1.97.3", &server.url()).unwrap_err();
    assert!(matches!(error, InstallError::Unproven { .. }), "{error:?}");
    assert_eq!(error.failure(), InstallFailure::Refused);
    assert_nothing_installed(&store);
}

#[test]
fn a_proxy_that_carries_the_database_is_the_only_one_asked() {
    let world = World::new();
    let (first, second) = (world.serve(), world.serve());
    let lookup = format!(
        "sumdb/{}/lookup/golang.org/toolchain@{}",
        mirror::DEFAULT_DATABASE,
        module(TWO).version()
    );
    first.fault(&lookup, Fault::Status(404, &[]));
    let store = world.store("store");
    let goproxy = format!("{}|{}", first.url(), second.url());
    let error = world.install(&store, TWO, &goproxy).unwrap_err();
    assert!(matches!(error, InstallError::Unproven { .. }), "{}", chain(&error));
    assert_eq!(second.take_requests(), [""; 0]);
    assert_nothing_installed(&store);
}

#[test]
fn a_transfer_that_breaks_off_is_begun_again_and_in_the_end_given_up() {
    let world = World::new();
    let server = world.serve();
    let path = module(TWO).zip_path();
    let store = world.store("store");
    server.fault(&path, Fault::BreakOff(100));
    let error = world.install(&store, TWO, &server.url()).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Environment, "{}", chain(&error));
    assert!(chain(&error).contains("broke off after 100 of "), "{}", chain(&error));
    let tries = server.take_requests().into_iter().filter(|asked| *asked == path).count();
    assert_eq!(tries, 3);
    assert_nothing_installed(&store);

    // After a first part of other bytes: what is installed is the second transfer alone.
    let whole = Fault::Replace(fs_err::read(world.mirror.www.join(&path)).unwrap());
    server
        .faults(&path, vec![Fault::BreakOff(500), Fault::Status(503, &["Retry-After: 0"]), whole]);
    world.install(&store, TWO, &server.url()).unwrap();
}

#[test]
fn what_is_not_a_zip_is_refused() {
    let world = World::new();
    let server = world.serve();
    let page = b"<html><body>Please log in.</body></html>".to_vec();
    server.fault(&module(TWO).zip_path(), Fault::Replace(page));
    let store = world.store("store");
    let error = world.install(&store, TWO, &server.url()).unwrap_err();
    assert!(matches!(error, InstallError::Archive { .. }), "{error:?}");
    assert!(chain(&error).contains(&server.url()), "{}", chain(&error));
    assert_nothing_installed(&store);
}

#[test]
fn bodies_are_bounded_with_and_without_a_length() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    server.fault("known", Fault::Replace(vec![b'x'; 1001]));
    server.fault("unknown", Fault::Endless(vec![b'x'; 1001]));
    server.fault("fits", Fault::Endless(vec![b'x'; 1000]));
    let proxies = Proxies::new(&GoproxyList::parse(&server.url()).unwrap());
    for path in ["known", "unknown"] {
        let error = proxies.read(path, 1000).unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { limit: 1000, .. }), "{error}");
    }
    assert_eq!(proxies.read("fits", 1000).unwrap().value.len(), 1000);
}

#[test]
fn a_database_that_contradicts_itself_is_refused_and_what_is_installed_stays() {
    let world = World::new();
    let store = world.store("store");
    world.install(&store, ONE, &world.mirror.goproxy_file()).unwrap();
    // The same key signs another log.
    let fork = world.path("fork");
    fs_err::create_dir(&fork).unwrap();
    fs_err::copy(world.path("mirror/key"), fork.join("key")).unwrap();
    let fork = create(&fork, &[world.path(TWO), world.path(ONE)]).unwrap();
    assert_eq!(fork.gosumdb(), world.mirror.gosumdb());
    let error = world.install(&store, TWO, &fork.goproxy_file()).unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Refused);
    assert!(chain(&error).contains("contradicts itself"), "{}", chain(&error));
    let installed: Vec<String> =
        store.installed().unwrap().iter().map(|toolchain| toolchain.release.to_string()).collect();
    assert_eq!(installed, [ONE]);
}
