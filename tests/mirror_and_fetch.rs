//! Mirrors of small made-up GOROOTs, and installing from them over disk and loopback HTTP: honest
//! servers, broken ones and lying ones.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

#[path = "common/server.rs"]
mod server;

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gosurvey::mirror::{self, MirrorOptions, MirrorSummary};
use gosurvey::module::{self, ToolchainModule, limits};
use gosurvey::platform::Platform;
use gosurvey::proxy::{
    ChecksumDatabase, DirectorySource, FetchError, GoproxyList, Proxies, RetryPolicy, Source,
    SumdbSetting,
};
use gosurvey::store::{Evidence, FILE_TIME_S, InstallError, InstallFailure, Store, Toolchain};
use server::{Fault, Server};

const ONE: &str = "go1.98.1";
const TWO: &str = "go1.99.0";

/// A folder with two GOROOTs and a mirror of both.
struct World {
    folder: tempfile::TempDir,
    mirror: MirrorSummary,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for release in [ONE, TWO] {
            make_goroot(&folder.path().join(release), release);
        }
        let goroots = [folder.path().join(ONE), folder.path().join(TWO)];
        let mirror = create(&folder.path().join("mirror"), &goroots).unwrap();
        World { folder, mirror }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn serve(&self) -> Server {
        Server::start(&self.mirror.www)
    }

    fn store(&self, name: &str) -> Store {
        Store::open(&self.path(name)).unwrap()
    }

    fn install(
        &self,
        store: &Store,
        release: &str,
        goproxy: &str,
    ) -> Result<Toolchain, InstallError> {
        install(store, release, goproxy, &self.mirror.gosumdb())
    }
}

fn create(folder: &Path, goroots: &[PathBuf]) -> anyhow::Result<MirrorSummary> {
    mirror::create(folder, goroots, &MirrorOptions::default(), &mut |_| ())
}

fn module(release: &str) -> ToolchainModule {
    ToolchainModule { release: release.parse().unwrap(), platform: Platform::host() }
}

fn install(
    store: &Store,
    release: &str,
    goproxy: &str,
    gosumdb: &str,
) -> Result<Toolchain, InstallError> {
    let retry =
        RetryPolicy { attempts: 3, first_wait: Duration::ZERO, longest_wait: Duration::ZERO };
    let proxies = Proxies::with_retry(&GoproxyList::parse(goproxy).unwrap(), retry);
    let setting = SumdbSetting::parse(gosumdb).unwrap();
    let database = ChecksumDatabase::new(&proxies, &setting);
    store.install(&module(release), &proxies, &database, &mut |_, _| ())
}

fn write(path: PathBuf, content: &str) {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(path, content).unwrap();
}

/// The shape of a GOROOT in a dozen small files.
fn make_goroot(root: &Path, release: &str) {
    let platform = Platform::host();
    let tools = format!("pkg/tool/{}_{}", platform.os, platform.arch);
    let long_text = "some lines that compress well\n".repeat(40);
    for (path, content) in [
        ("VERSION", format!("{release}\ntime 2026-02-03T04:05:06Z\n")),
        ("LICENSE", long_text.clone()),
        ("bin/go", format!("#!/bin/sh\necho go version {release}\n")),
        ("bin/gofmt", "#!/bin/sh\n".to_owned()),
        (&format!("{tools}/compile"), "a compiler".to_owned()),
        ("lib/wasm/go_js_wasm_exec", "#!/bin/sh\n".to_owned()),
        ("lib/wasm/wasm_exec.js", String::new()),
        ("src/go.mod", "module std\n".to_owned()),
        ("src/cmd/go.mod", "module cmd\n".to_owned()),
        ("src/x.go", format!("package x // {release}\n{long_text}")),
        ("src/make.bash", "#!/bin/bash\n".to_owned()),
        ("api/go1.txt", "left out".to_owned()),
        ("doc/a/b.html", "left out".to_owned()),
        ("misc/wasm/go.mod", "left out".to_owned()),
        ("test/x.go", "left out".to_owned()),
    ] {
        write(root.join(path), &content);
    }
    fs_err::set_permissions(root.join("bin/go"), PermissionsExt::from_mode(0o755)).unwrap();
}

/// All files below a folder with their contents.
fn contents(root: &Path) -> BTreeMap<String, String> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs_err::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(root, &path, found);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            let content = fs_err::read(&path).unwrap();
            found.insert(name, String::from_utf8_lossy(&content).into_owned());
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}

/// What a toolchain installed from `goroot` must hold.
fn expected_contents(goroot: &Path) -> BTreeMap<String, String> {
    let mut expected = contents(goroot);
    expected.retain(|path, _| {
        !["api", "doc", "misc", "test"].iter().any(|top| path.starts_with(&format!("{top}/")))
    });
    for folder in ["src/", "src/cmd/"] {
        let go_mod = expected[&format!("{folder}go.mod")].clone();
        expected.insert(format!("{folder}_go.mod"), go_mod);
    }
    expected
}

/// Fails if the store holds a toolchain, or anything private that was not cleaned up.
#[track_caller]
fn assert_nothing_installed(store: &Store) {
    for folder in ["toolchains", "tmp", "downloads"] {
        let left: Vec<_> = contents(&store.root().join(folder)).into_keys().collect();
        assert!(left.is_empty(), "left in {folder}: {left:?}");
    }
    assert_eq!(store.installed().unwrap(), []);
}

/// Walks over a file with one byte after another flipped; the file is whole again at the end.
struct Flips {
    path: PathBuf,
    whole: Vec<u8>,
    next: usize,
    step: usize,
}

impl Flips {
    fn of(path: &Path, step: usize) -> Self {
        Flips { path: path.to_owned(), whole: fs_err::read(path).unwrap(), next: 0, step }
    }
}

impl Iterator for Flips {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let (at, mut bytes) = (self.next, self.whole.clone());
        let flipped = bytes.get_mut(at).map(|byte| *byte ^= 1);
        fs_err::write(&self.path, bytes).unwrap();
        self.next += self.step;
        flipped.map(|()| at)
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[test]
fn a_toolchain_is_installed_from_disk_and_from_the_web_alike() {
    let world = World::new();
    let server = world.serve();
    for (name, goproxy) in [("from-disk", world.mirror.goproxy_file()), ("from-web", server.url())]
    {
        let store = world.store(name);
        let toolchain = world.install(&store, TWO, &goproxy).unwrap();

        assert_eq!(toolchain.release.to_string(), TWO);
        assert_eq!(contents(&toolchain.root), expected_contents(&world.path(TWO)));
        let Evidence::Proven(proven) = &toolchain.evidence else { panic!("{toolchain:?}") };
        assert_eq!(proven.source, format!("{goproxy}/{}", module(TWO).zip_path()));
        assert_eq!((proven.record_id, proven.tree_size), (1, 2));
        assert_eq!(proven.database, mirror::DEFAULT_DATABASE);
        assert_eq!(store.installed().unwrap(), std::slice::from_ref(&toolchain));

        let output = std::process::Command::new(toolchain.go()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("go version {TWO}\n"));
    }
}

#[test]
fn modes_and_times_are_set_whatever_the_zip_and_the_umask_say() {
    let world = World::new();
    let toolchain =
        world.install(&world.store("store"), TWO, &world.mirror.goproxy_file()).unwrap();
    let platform = Platform::host();
    let compile = format!("pkg/tool/{}_{}/compile", platform.os, platform.arch);
    let programs = ["bin/go", "bin/gofmt", "lib/wasm/go_js_wasm_exec", compile.as_str()];
    for name in contents(&toolchain.root).keys() {
        let metadata = fs_err::metadata(toolchain.root.join(name)).unwrap();
        let mode = if programs.contains(&name.as_str()) { 0o555 } else { 0o444 };
        assert_eq!(metadata.mode() & 0o7777, mode, "mode of {name}");
        assert_eq!(metadata.mtime(), FILE_TIME_S as i64, "time of {name}");
    }
    for folder in ["", "bin", "src/cmd"] {
        let mode = fs_err::metadata(toolchain.root.join(folder)).unwrap().mode();
        assert_eq!(mode & 0o7777, 0o755, "mode of {folder:?}");
    }
}

#[test]
fn an_installed_toolchain_is_proven_again_without_the_network() {
    let world = World::new();
    let store = world.store("store");
    let server = world.serve();
    let url = server.url();
    let first = world.install(&store, ONE, &url).unwrap();
    server.take_requests();
    let second = world.install(&store, ONE, &url).unwrap();
    assert_eq!(first, second);
    assert_eq!(server.take_requests(), [""; 0]);
    drop(server);
    assert_eq!(world.install(&store, ONE, &url).unwrap(), first);
}

#[test]
fn an_installed_toolchain_is_not_used_without_proof() {
    let world = World::new();
    let store = world.store("store");
    world.install(&store, ONE, &world.mirror.goproxy_file()).unwrap();
    fs_err::remove_dir_all(store.root().join("sumdb")).unwrap();
    let error = world.install(&store, ONE, "file:///nowhere|off").unwrap_err();
    assert_eq!(error.failure(), InstallFailure::Environment, "{}", chain(&error));
    // It is still there, and good again as soon as it can be proven.
    let again = world.install(&store, ONE, &world.mirror.goproxy_file()).unwrap();
    assert_eq!(contents(&again.root), expected_contents(&world.path(ONE)));
}

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
fn what_nobody_has_is_not_published() {
    let world = World::new();
    let store = world.store("store");
    let not_published = |release: &str| {
        let error = world.install(&store, release, &world.mirror.goproxy_file()).unwrap_err();
        assert_eq!(error.failure(), InstallFailure::NotPublished, "{}", chain(&error));
        error.to_string()
    };
    assert!(not_published("go1.97.3").ends_with("is not published"));
    let hint = not_published("go1.97");
    assert!(hint.contains("first release is go1.97.0"), "{hint}");
    // On record, but gone from the proxy.
    fs_err::remove_file(world.mirror.www.join(module(ONE).zip_path())).unwrap();
    not_published(ONE);
    assert_nothing_installed(&store);
}

#[test]
fn a_comma_passes_over_not_found_and_a_bar_over_every_error() {
    let world = World::new();
    let empty = Server::start(&world.path("nothing"));
    let full = world.serve();
    let database = full.url();
    let result = |separator: &str, fault: Option<u16>| {
        empty.heal();
        if let Some(status) = fault {
            empty.fault(&module(TWO).zip_path(), Fault::Status(status, &[]));
        }
        let store = tempfile::tempdir().unwrap();
        let store = Store::open(store.path()).unwrap();
        let goproxy = format!("{}{separator}{database}", empty.url());
        world.install(&store, TWO, &goproxy).map_err(|error| error.failure())
    };
    for status in [404, 410] {
        let Evidence::Proven(proven) = result(",", Some(status)).unwrap().evidence else {
            panic!()
        };
        assert!(proven.source.starts_with(&database), "{}", proven.source);
    }
    for status in [403, 500, 503] {
        assert_eq!(result(",", Some(status)), Err(InstallFailure::Environment), "{status}");
        assert!(result("|", Some(status)).is_ok(), "{status}");
    }
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
        let mut file = tempfile::tempfile().unwrap();
        let error = proxies.download(path, 1000, &mut file, &mut |_, _| ()).unwrap_err();
        assert!(matches!(error, FetchError::TooLarge { limit: 1000, .. }), "{error}");
        assert!(file.metadata().unwrap().len() <= 1000);
    }
    assert_eq!(proxies.read("fits", 1000).unwrap().value.len(), 1000);
}

#[test]
fn redirects_are_followed_up_to_a_point() {
    let world = World::new();
    let storage = world.serve();
    let proxy = world.serve();
    let path = module(TWO).zip_path();
    proxy.fault(&path, Fault::Redirect(format!("{}/{path}", storage.url())));
    let toolchain = world.install(&world.store("store"), TWO, &proxy.url()).unwrap();
    // The address on record is the one that stays.
    let Evidence::Proven(proven) = toolchain.evidence else { panic!() };
    assert_eq!(proven.source, format!("{}/{path}", proxy.url()));

    proxy.fault(&path, Fault::Redirect(format!("{}/{path}", proxy.url())));
    proxy.take_requests();
    let error = world.install(&world.store("other"), TWO, &proxy.url()).unwrap_err();
    assert!(chain(&error).contains("more than 10 redirects"), "{}", chain(&error));
    let hops = proxy.take_requests().into_iter().filter(|asked| *asked == path).count();
    assert_eq!(hops, 11);
}

#[test]
fn many_who_want_one_toolchain_download_it_once() {
    let world = World::new();
    let server = world.serve();
    let store = world.store("store");
    let toolchains: Vec<Toolchain> = std::thread::scope(|scope| {
        let install = || world.install(&store, TWO, &server.url()).unwrap();
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(install)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(toolchains.iter().all(|toolchain| *toolchain == toolchains[0]));
    let path = module(TWO).zip_path();
    let downloads = server.take_requests().into_iter().filter(|asked| *asked == path).count();
    assert_eq!(downloads, 1);
}

#[test]
fn what_dead_processes_left_is_removed_and_trees_without_a_record_are_replaced() {
    let world = World::new();
    let store = world.store("store");
    let name = format!("{TWO}.{}", Platform::host());
    write(store.root().join(format!("tmp/{name}.dead/tree/bin/go")), "half");
    write(store.root().join(format!("downloads/{name}.dead")), "half");
    write(store.root().join(format!("toolchains/{name}/bin/go")), "planted");
    write(store.root().join(format!("tmp/{ONE}.{}.other/x", Platform::host())), "somebody else's");
    let toolchain = world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
    assert_eq!(contents(&toolchain.root), expected_contents(&world.path(TWO)));
    let left: Vec<_> = contents(&store.root().join("tmp")).into_values().collect();
    assert_eq!(left, ["somebody else's"]);
    assert!(contents(&store.root().join("downloads")).is_empty());
}

#[test]
fn a_record_that_does_not_fit_the_proof_is_not_believed() {
    let world = World::new();
    let store = world.store("store");
    let toolchain = world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap();
    let record = toolchain.root.with_file_name(format!("{TWO}.{}.toml", Platform::host()));
    let good = fs_err::read_to_string(&record).unwrap();
    let h1 = good.lines().find(|line| line.starts_with("h1 = ")).unwrap();
    let other_h1 = good.replace(h1, &format!("h1 = \"h1:{}=\"", "A".repeat(43)));
    for bad in [other_h1.as_str(), "", "not toml", &good.replace(TWO, ONE)] {
        assert_ne!(bad, good);
        fs_err::write(&record, bad).unwrap();
        let marker = toolchain.root.join("marker");
        fs_err::write(&marker, "of the old tree").unwrap();
        assert_eq!(world.install(&store, TWO, &world.mirror.goproxy_file()).unwrap(), toolchain);
        assert!(!marker.exists(), "the tree was not replaced for record {bad:?}");
    }
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
    assert!(text.contains("expected a release such as go1.27.1"), "{text}");
    let text = refusal(&|root| fs_err::remove_file(root.join("bin/go")).unwrap());
    assert!(text.contains("has no bin/go"), "{text}");
}

#[test]
fn a_goroot_given_by_its_path_is_unproven() {
    let world = World::new();
    let toolchain = Toolchain::from_goroot(&world.path(ONE)).unwrap();
    assert_eq!(toolchain.release.to_string(), ONE);
    assert_eq!(toolchain.platform, Platform::host());
    assert_eq!(toolchain.evidence, Evidence::Unproven);
    assert!(Toolchain::from_goroot(&world.path("nowhere")).is_err());
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
