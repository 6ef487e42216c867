//! Builds with real toolchains. Each test runs on every GOROOT of `tests/common/go.rs`.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test may end on what it did not expect, and talk about it"
)]

#[path = "common/go.rs"]
mod go;

use fs_err as fs;
use gosurvey::build::{Binary, Build, BuildFailure, BuildRequest, Era, Folders, build, go_version};
use gosurvey::platform::Platform;
use gosurvey::record::BuildStatus;
use gosurvey::release::{Minor, Release};
use gosurvey::suite::SourceTree;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Closures over a loop variable: one variable for the loop before go1.22's language, one for each
/// iteration from then on.
const LOOP_VARIABLE: &str = "\
package main

import \"fmt\"

func main() {
\tvar prints []func()
\tfor i := 0; i < 3; i++ {
\t\tprints = append(prints, func() { fmt.Print(i) })
\t}
\tfor _, print := range prints {
\t\tprint()
\t}
\tfmt.Println(\"\", greeting)
}
";

const GREETING: &str = "package main\n\nconst greeting = \"hello\"\n";

fn tree(files: &[(&str, &str)]) -> SourceTree {
    let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    SourceTree { files: files.collect() }
}

fn program() -> SourceTree {
    tree(&[("main.go", LOOP_VARIABLE), ("greeting.go", GREETING)])
}

/// A toolchain and the go command's cache for it, which is kept from test to test.
struct Toolchain {
    release: Release,
    platform: Platform,
    goroot: PathBuf,
    gocache: PathBuf,
}

/// The toolchains to test with; none if such tests are waived.
fn toolchains() -> Vec<Toolchain> {
    let found = go::goroots().unwrap_or_default().into_iter().map(|(release, goroot)| Toolchain {
        gocache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("gocache").join(release.to_string()),
        platform: Platform::host(),
        release,
        goroot,
    });
    found.collect()
}

impl Toolchain {
    fn since(&self, minor: u64) -> bool {
        self.release.minor() >= Minor { major: 1, minor }
    }
}

/// A store of its own, but for the go command's cache.
struct Store {
    /// Removed with the store, if the store is what it was made for.
    _folder: Option<tempfile::TempDir>,
    root: PathBuf,
    work: PathBuf,
    binaries: PathBuf,
}

impl Store {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::below(folder.path());
        Store { _folder: Some(folder), ..store }
    }

    fn below(folder: &Path) -> Self {
        let root = folder.join("store");
        fs::create_dir_all(&root).unwrap();
        let (work, binaries) = (root.join("work"), root.join("binaries"));
        Store { _folder: None, root, work, binaries }
    }

    fn request<'a>(&'a self, toolchain: &'a Toolchain, tree: &'a SourceTree) -> BuildRequest<'a> {
        BuildRequest {
            release: &toolchain.release,
            platform: &toolchain.platform,
            goroot: &toolchain.goroot,
            program: "loop-variable",
            tree,
            goamd64: "v1",
            experiments: None,
            cgo: false,
            repetitions: 0,
            time_limit: Duration::from_secs(600),
            folders: Folders {
                store: &self.root,
                gocache: &toolchain.gocache,
                work: &self.work,
                binaries: &self.binaries,
            },
        }
    }
}

fn built(request: &BuildRequest<'_>) -> Binary {
    let Build { outcome, environment } = build(request).unwrap();
    outcome.unwrap_or_else(|failure| panic!("{}: {failure}\n{environment}", request.release))
}

fn failure(request: &BuildRequest<'_>) -> BuildFailure {
    build(request).unwrap().outcome.expect_err("this should not build")
}

#[test]
fn a_toolchain_says_which_it_is() {
    for toolchain in toolchains() {
        let version = go_version(&toolchain.goroot).unwrap();
        let platform = toolchain.platform.to_string().replace('-', "/");
        assert_eq!(version, format!("go version {} {platform}", toolchain.release));
    }
}

#[test]
fn a_program_is_built_in_the_language_of_its_release() {
    for toolchain in toolchains() {
        let store = Store::new();
        let tree = program();
        let binary = built(&store.request(&toolchain, &tree));
        let output = Command::new(&binary.path).output().unwrap();
        let expected = if toolchain.since(22) { "012 hello\n" } else { "333 hello\n" };
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{}", toolchain.release);
    }
}

#[test]
fn every_rebuild_compiles_the_program_and_nothing_of_the_standard_library() {
    for toolchain in toolchains() {
        let store = Store::new();
        let tree = program();
        // The standard library is compiled here, if it has to be.
        built(&store.request(&toolchain, &tree));

        let watched = WatchedGoroot::new(&toolchain.goroot);
        let request = BuildRequest {
            goroot: &watched.goroot,
            repetitions: 3,
            ..store.request(&toolchain, &tree)
        };
        let binary = built(&request);
        assert_eq!(binary.build_ns.len(), 3, "{}", toolchain.release);
        assert!(binary.build_ns.iter().all(|ns| *ns > 0));
        // From go1.10 on, the first build finds its text compiled in the cache.
        let expected = if toolchain.since(10) { 3 } else { 4 };
        let compiled = watched.compiled();
        assert_eq!(compiled.len(), expected, "{}: {compiled:#?}", toolchain.release);
        assert!(compiled.iter().all(|line| line.contains("main.go")), "{compiled:#?}");
    }
}

#[test]
fn the_same_text_gives_the_same_executable_anywhere_and_again() {
    for toolchain in toolchains() {
        let tree = program();
        let store = Store::new();
        let first = built(&store.request(&toolchain, &tree));
        let again = built(&BuildRequest { repetitions: 1, ..store.request(&toolchain, &tree) });
        assert_eq!(again.sha256, first.sha256, "{}", toolchain.release);
        // Releases without -trimpath write the folder into the executable.
        if toolchain.since(13) {
            let elsewhere = Store::new();
            let other = built(&elsewhere.request(&toolchain, &tree));
            assert_eq!(other.sha256, first.sha256, "{}", toolchain.release);
            assert_eq!(other.bytes, first.bytes);
        }
    }
}

/// What a caller's environment may hold that would change what is built.
const POISON: [(&str, &str); 12] = [
    ("GOFLAGS", "-ldflags=-s -tags=poison"),
    ("GOROOT", "/nonexistent"),
    ("GOPATH", "/nonexistent"),
    ("GOCACHE", "off"),
    ("GOEXPERIMENT", "bogus"),
    ("GO111MODULE", "off"),
    ("GOAMD64", "bogus"),
    ("GOARCH", "arm64"),
    ("GOOS", "windows"),
    ("GOTOOLCHAIN", "go1.99.0"),
    ("CGO_ENABLED", "1"),
    ("GODEBUG", "gctrace=1"),
];

/// Builds with every toolchain in this process's environment, below `folder`, one digest a line.
fn digests(folder: &Path) -> String {
    let tree = program();
    let store = Store::below(folder);
    let digest = |toolchain: &Toolchain| {
        format!("{} {}\n", toolchain.release, built(&store.request(toolchain, &tree)).sha256)
    };
    toolchains().iter().map(digest).collect()
}

#[test]
fn the_callers_environment_changes_nothing() {
    const NAME: &str = "the_callers_environment_changes_nothing";
    const FOLDER: &str = "GOSURVEY_TEST_POISONED_FOLDER";
    // A process's own environment cannot be changed safely, so this test runs itself once more.
    if let Some(folder) = std::env::var_os(FOLDER) {
        let folder = Path::new(&folder);
        fs::write(folder.join("digests"), digests(folder)).unwrap();
        return;
    }
    let goroots: Vec<String> =
        toolchains().iter().map(|toolchain| toolchain.goroot.display().to_string()).collect();
    if goroots.is_empty() {
        return;
    }
    // Both build in one place: releases without -trimpath write it into the executable.
    let folder = tempfile::tempdir().unwrap();
    let clean = digests(folder.path());
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", NAME])
        .env("GOSURVEY_TEST_GOROOTS", goroots.join(":"))
        .env(FOLDER, folder.path())
        .envs(POISON)
        .status()
        .unwrap();
    assert!(status.success());
    assert_eq!(fs::read_to_string(folder.path().join("digests")).unwrap(), clean);
}

#[test]
fn what_does_not_compile_is_told_in_the_compilers_words() {
    for toolchain in toolchains() {
        let store = Store::new();
        let tree = tree(&[("main.go", "package main\n\nfunc main() {\n\tundefined()\n}\n")]);
        let failure = failure(&store.request(&toolchain, &tree));
        assert_eq!(failure.status, BuildStatus::Failed);
        // The wording differs from release to release; the place does not.
        assert!(
            failure.reason.starts_with("build: go build: exit ")
                && failure.reason.contains("main.go:4")
                && !failure.reason.contains(store.root.to_str().unwrap()),
            "{}: {failure}",
            toolchain.release
        );
    }
}

#[test]
fn an_experiment_no_release_knows_is_a_failure() {
    for toolchain in toolchains() {
        let store = Store::new();
        let tree = program();
        let request =
            BuildRequest { experiments: Some("bogus"), ..store.request(&toolchain, &tree) };
        let failure = failure(&request);
        let expected =
            if toolchain.since(17) { BuildStatus::Failed } else { BuildStatus::Unsupported };
        assert_eq!(failure.status, expected, "{}: {failure}", toolchain.release);
        assert!(failure.reason.contains("bogus"), "{failure}");
    }
}

#[test]
fn a_go_command_that_takes_too_long_is_stopped() {
    for toolchain in toolchains() {
        let store = Store::new();
        let tree = program();
        let request =
            BuildRequest { time_limit: Duration::ZERO, ..store.request(&toolchain, &tree) };
        let failure = failure(&request);
        assert!(failure.reason.starts_with("build: go build: timed out"), "{failure}");
        assert!(!store.work.join("build").exists(), "the private folder is gone");
    }
}

#[test]
fn the_package_is_found_by_the_era_of_its_release() {
    let eras = ["1.2.2", "1.10.8", "1.11", "1.27.1"].map(|text| Era::of(&text.parse().unwrap()));
    assert_eq!(eras, [Era::Gopath, Era::Gopath, Era::Modules, Era::Modules]);
}

/// A GOROOT that is another by symbolic links, with a compiler that notes what it compiles.
struct WatchedGoroot {
    folder: tempfile::TempDir,
    goroot: PathBuf,
}

impl WatchedGoroot {
    fn new(goroot: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let watched = WatchedGoroot { goroot: folder.path().join("goroot"), folder };
        let platform = Platform::host().to_string().replace('-', "_");
        let tools = Path::new("pkg/tool").join(platform);
        let compiler = ["compile", "6g"]
            .map(|name| tools.join(name))
            .into_iter()
            .find(|path| goroot.join(path).exists())
            .expect("a toolchain has a compiler");
        watched.link(goroot, Path::new(""), &compiler);
        let script = format!(
            "#!/bin/sh\ncase $* in -V=full) ;; *) echo \"$*\" >>{} ;; esac\nexec {} \"$@\"\n",
            watched.log().display(),
            goroot.join(&compiler).display()
        );
        let path = watched.goroot.join(compiler);
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        watched
    }

    /// Links everything below `folder` but `except`, whose place is left free.
    fn link(&self, goroot: &Path, folder: &Path, except: &Path) {
        let here = self.goroot.join(folder);
        fs::create_dir_all(&here).unwrap();
        for entry in fs::read_dir(goroot.join(folder)).unwrap() {
            let entry = entry.unwrap();
            let name = folder.join(entry.file_name());
            match except {
                _ if name == except => {}
                _ if except.starts_with(&name) => self.link(goroot, &name, except),
                _ => symlink(entry.path(), here.join(entry.file_name())).unwrap(),
            }
        }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// The compiler's arguments, one line a compilation.
    fn compiled(&self) -> Vec<String> {
        let log = fs::read_to_string(self.log()).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }
}
