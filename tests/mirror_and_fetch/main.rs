//! Mirrors of small made-up GOROOTs, and installing from them over disk and loopback HTTP: honest
//! servers, broken ones and lying ones.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod hostile;
mod installing;
mod local;
mod mirrors;
#[path = "../common/server.rs"]
mod server;
mod upkeep;

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
    let retry = RetryPolicy {
        attempts: 3,
        first_wait: Duration::ZERO,
        longest_wait: Duration::ZERO,
        ..RetryPolicy::default()
    };
    let proxies = Proxies::with_retry(&GoproxyList::parse(goproxy).unwrap(), retry);
    let setting = SumdbSetting::parse(gosumdb).unwrap();
    let database = ChecksumDatabase::new(&proxies, &setting);
    store.install(&module(release), &proxies, &database, &())
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
